/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holds SEED ROUNDS: two threads allocate in functions of known names, in sizes by chance, small
 * ones of a thread's cache and large ones of the system, and keep one of two. Prints the bytes that
 * each function keeps; leak() keeps the most. Of those that fail() asks for, none is there, and
 * what cannot be enlarged is still there.
 */
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST_MEMORY ((size_t)64 << 30)
#define KEEP	    __attribute__((noinline))

enum kind { SMALL, MEDIUM, LARGE, ZEROED, GROWN, ALIGNED, MADE, MADE_LARGE, LEAK, NR_KINDS };
static const char *const names[NR_KINDS] = { "small",	"medium", "large",	"zeroed", "grown",
					     "aligned", "made",	  "made_large", "leak" };

struct worker {
	uint64_t chance;
	uint64_t rounds;
	uint64_t kept[NR_KINDS];
};

static void *volatile seen;
static void *volatile nothing; /* a compiler that sees it makes realloc() malloc() */
static volatile size_t impossible = (size_t)1 << 62;

static size_t between(struct worker *w, size_t least, size_t most)
{
	w->chance = w->chance * 6364136223846793005u + 1442695040888963407u;
	return least + (w->chance >> 33) % (most - least);
}

/* Nobody may find out that what is allocated is not used. */
static KEEP void *used(void *at)
{
	if (!at)
		abort();
	*(volatile char *)at = 1;
	seen = at;
	return at;
}

static KEEP void small(struct worker *w)
{
	size_t kept = between(w, 16, 300);

	w->kept[SMALL] += kept;
	used(malloc(kept));
	free(used(malloc(between(w, 16, 300))));
}

static KEEP void medium(struct worker *w)
{
	size_t kept = between(w, 1000, 16000);

	w->kept[MEDIUM] += kept;
	if (realloc(used(malloc(kept)), impossible))
		abort();
	free(used(malloc(between(w, 1000, 16000))));
}

static KEEP void large(struct worker *w)
{
	size_t kept = between(w, 40000, 400000);

	w->kept[LARGE] += kept;
	used(malloc(kept));
	free(used(malloc(between(w, 40000, 400000))));
}

static KEEP void zeroed(struct worker *w)
{
	size_t kept = between(w, 1, 30);

	w->kept[ZEROED] += kept * 40;
	used(calloc(40, kept));
	free(used(calloc(between(w, 1, 30), 40)));
}

static KEEP void grown(struct worker *w)
{
	size_t kept = between(w, 1000, 20000);

	w->kept[GROWN] += kept;
	used(realloc(used(realloc(nothing, between(w, 10, 1000))), kept));
}

static KEEP void aligned(struct worker *w)
{
	size_t kept = between(w, 100, 4000);
	void *at = NULL;

	w->kept[ALIGNED] += kept;
	if (posix_memalign(&at, 64, kept))
		abort();
	used(at);
	free(used(aligned_alloc(64, 64 * between(w, 1, 50))));
}

static KEEP void made(struct worker *w)
{
	size_t kept = between(w, 20, 500);

	w->kept[MADE] += kept;
	used(::operator new(kept));
	::operator delete(used(::operator new(between(w, 20, 500))));
}

static KEEP void made_large(struct worker *w)
{
	size_t kept = between(w, 5000, 80000);

	w->kept[MADE_LARGE] += kept;
	used(::operator new(kept));
	::operator delete(used(::operator new(between(w, 5000, 80000))));
}

static KEEP void leak(struct worker *w)
{
	size_t kept = between(w, 1000, 2000);

	w->kept[LEAK] += kept;
	used(malloc(kept));
}

static KEEP void fail(void)
{
	void *at = NULL;
	volatile size_t more = MOST_MEMORY * 16;

	for (int i = 0; i < 10; i++) {
		seen = malloc(more);
		if (seen || malloc(impossible) || posix_memalign(&at, 64, more) != ENOMEM)
			abort();
	}
}

static void *work(void *arg)
{
	struct worker *w = static_cast<struct worker *>(arg);

	for (uint64_t i = 0; i < w->rounds; i++) {
		small(w);
		zeroed(w);
		made(w);
		for (int k = 0; k < 5; k++)
			leak(w);
		if (i % 10 == 0) {
			medium(w);
			grown(w);
			aligned(w);
		}
		if (i % 50 == 0)
			made_large(w);
		if (i % 200 == 0)
			large(w);
		if (i % 1000 == 500)
			fail();
		if (i == 20) /* until it is known how to unwind all this */
			usleep(500000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	struct worker workers[2] = {};
	struct rlimit most = { MOST_MEMORY, MOST_MEMORY };
	pthread_t threads[2];

	if (setrlimit(RLIMIT_AS, &most))
		abort();
	for (uint64_t i = 0; i < 2; i++) {
		workers[i].chance = seed * 2 + i;
		workers[i].rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
		if (pthread_create(&threads[i], NULL, work, &workers[i]))
			abort();
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int k = 0; k < NR_KINDS; k++)
		printf("%s %llu\n", names[k],
		       (unsigned long long)(workers[0].kept[k] + workers[1].kept[k]));
	fflush(stdout);
	_exit(0);
}

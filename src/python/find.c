/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "python/find.h"

#include <errno.h>
#include <string.h>

#define MAX_THREADS 64	 /* that are looked at; one would do */
#define BLOCK_BYTES 2304 /* what glibc keeps of a thread (struct pthread) */
#define BLOCK_LEAST 192	 /* musl */
#define BLOCK_WORDS (BLOCK_BYTES / 8)
#define MAX_KEYS    1024
#define GLIBC_BLOCK 32	 /* keys of a block: a word that says whether it is set, and the value */
#define MAX_SEQ	    4096 /* of which glibc counts up the first, odd while the key is in use */

struct thread {
	uint64_t state, id; /* PyThreadState, pthread_self() */
	uint64_t block[BLOCK_WORDS];
	size_t nr;
};

/* What the C library keeps of a thread, as far as it can be read. */
static bool read_block(const struct memory *m, struct thread *t, int32_t self)
{
	size_t sz = self ? (size_t)-self : BLOCK_BYTES;

	if (sz > BLOCK_BYTES)
		sz = BLOCK_BYTES;
	for (; sz >= BLOCK_LEAST; sz /= 2)
		if (memory_read(m, t->id, t->block, sz & ~7ull)) {
			t->nr = sz / 8;
			return true;
		}
	return false;
}

static bool next_thread(const struct memory *m, const struct python_offsets *o, uint64_t interp,
			uint64_t state, struct thread *t)
{
	uint64_t of;

	t->state = state;
	return state && memory_word(m, state + PYTHON_THREAD_INTERP, &of) && of == interp &&
	       memory_word(m, state + o->thread, &t->id) && t->id;
}

/* A way from pthread_self() to the state. */
struct way {
	int32_t state, state_in;
};

static bool leads_to(const struct memory *m, const struct thread *t, const struct way *w)
{
	uint64_t at = t->id + w->state, word;

	if (w->state_in != PYTHON_DIRECT) {
		if (!memory_word(m, at, &at))
			return false;
		at += w->state_in;
	}
	return memory_word(m, at, &word) && word == t->state;
}

/* In the thread's own block: only values behind a word that says that their key is in use. */
static bool find_direct(const struct thread *t, size_t *i, struct way *w)
{
	for (; *i < t->nr; ++*i) {
		if (!*i || t->block[*i] != t->state || !(t->block[*i - 1] & 1) ||
		    t->block[*i - 1] > MAX_SEQ)
			continue;
		*w = (struct way){ *i * 8, PYTHON_DIRECT };
		++*i;
		return true;
	}
	return false;
}

/* Behind an address in it: of musl always, of glibc for keys beyond those of the first block. */
static bool find_indirect(const struct memory *m, const struct thread *t, uint32_t key,
			  struct way *w)
{
	const int32_t ins[] = { key * 8, key % GLIBC_BLOCK * 16 + 8 };

	for (size_t i = 0; i < t->nr; i++)
		for (size_t k = 0; k < 2; k++) {
			*w = (struct way){ i * 8, ins[k] };
			if (t->block[i] && !(t->block[i] & 7) && leads_to(m, t, w))
				return true;
		}
	return false;
}

/* Does it lead to the state of each thread that has one there? Of one that begins it may not. */
static size_t count_threads(const struct memory *m, const struct thread *all, size_t nr,
			    const struct way *w)
{
	size_t n = 0;

	for (size_t i = 0; i < nr; i++)
		n += leads_to(m, &all[i], w);
	return n;
}

static bool find_way(const struct memory *m, const struct thread *all, size_t nr, uint32_t key,
		     struct way *best)
{
	size_t most = 0, i, n;
	struct way w;

	for (size_t t = 0; t < nr && !most; t++) {
		for (i = 0; find_direct(&all[t], &i, &w);) {
			n = count_threads(m, all, nr, &w);
			if (n > most)
				*best = w;
			most = n > most ? n : most;
		}
		if (!most && key && key < MAX_KEYS && find_indirect(m, &all[t], key, best))
			most = 1;
	}
	return most;
}

/* Those of the first interpreter: others keep their threads in the same place. */
static size_t list_threads(const struct memory *m, const struct python_offsets *o, uint64_t runtime,
			   int32_t self, struct thread all[MAX_THREADS])
{
	uint64_t interp, state;
	size_t nr = 0;

	if (!memory_word(m, runtime + o->interpreters, &interp) || !interp ||
	    !memory_word(m, interp + o->threads, &state))
		return 0;
	while (nr < MAX_THREADS && next_thread(m, o, interp, state, &all[nr])) {
		if (!memory_word(m, state + o->next, &state))
			state = 0;
		nr += read_block(m, &all[nr], self);
	}
	return nr;
}

int python_find(struct python_found *found, const struct memory *m, const struct elf_file *f,
		uint64_t bias, const struct elf_file *libc)
{
	static struct thread all[MAX_THREADS];
	struct python_build b;
	struct python_offsets o;
	uint32_t key = 0;
	struct way w;
	int32_t self = 0;
	size_t nr;
	int err = python_build_read(&b, f);

	if (err)
		return err;
	if (f->header.e_machine != EM_X86_64 && (!libc || !python_self_offset(libc, &self)))
		return -ENOTSUP;
	if (!python_offsets_get(&o, b.version, m, b.runtime + bias))
		return b.version < PYTHON_VERSION(3, 13) ? -ENOTSUP : -EAGAIN;
	nr = list_threads(m, &o, b.runtime + bias, self, all);
	memory_u32(m, b.runtime + bias + o.key, &key);
	if (!nr || !find_way(m, all, nr, key, &w))
		return -EAGAIN;
	*found = (struct python_found){
		.version = b.version, .nr_ranges = b.nr_ranges, .frame = o.frame, .code = o.code
	};
	found->frame.state = self + w.state;
	found->frame.state_in = w.state_in;
	found->code.type = b.code_type + bias;
	for (size_t i = 0; i < b.nr_ranges; i++)
		found->evaluator[i] = (struct python_range){ b.evaluator[i].start + bias,
							     b.evaluator[i].end + bias };
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Windows that share a file of names are what they were, also when its end is damaged. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/naming.h"
#include "agent/ring.h"
#include "base/mem.h"
#include "profile/save.h"

#define SECOND	   1000000000ull
#define NR	   5
#define FILE_NAMES "20261125T140510.000Z.names"

struct folder {
	char path[64];
	int dir;
};

static int make_folder(void **state)
{
	struct folder *f = xcalloc(1, sizeof(*f));

	strcpy(f->path, "/tmp/test_naming.XXXXXX");
	*state = f;
	if (!mkdtemp(f->path))
		return -1;
	f->dir = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return f->dir < 0;
}

static int remove_folder(void **state)
{
	struct folder *f = *state;
	char name[16];

	for (int i = 0; i < NR; i++) {
		snprintf(name, sizeof(name), "%d", i);
		unlinkat(f->dir, name, 0);
	}
	unlinkat(f->dir, FILE_NAMES, 0);
	close(f->dir);
	rmdir(f->path);
	free(f);
	return 0;
}

static uint32_t stack_of(struct profile *p, uint32_t module, int first, int nr)
{
	uint32_t frames[16];
	char name[32];

	for (int i = 0; i < nr; i++) {
		frames[i] = profile_frame(p, FRAME_USER, module, 16 * (first + i));
		snprintf(name, sizeof(name), "function_%d", first + i);
		profile_name_frame(p, frames[i], profile_string(p, name), 0);
	}
	return profile_stack(p, frames, nr, UNWIND_END_CFI_ROOT, 0);
}

/* Half of the stacks of each are those of the one before. */
static struct profile *window(int i)
{
	struct profile *p = profile_new();
	uint32_t module = profile_add_module(p, i & 1 ? "/bin/odd" : "/bin/even");
	uint32_t other = profile_add_module(p, "/bin/same");
	char name[16];

	p->meta.command = profile_string(p, "agent");
	p->meta.is_time = 1;
	p->meta.start_ns = (1795615510ull + 10 * i) * SECOND;
	p->meta.duration_ns = 10 * SECOND;
	p->meta.cpu_ns = 1000 + i;
	for (int k = 0; k < 8; k++) {
		snprintf(name, sizeof(name), "thread %d", i + k);
		profile_add_sample(p,
				   &(struct sample){ .count = 1 + k,
						     .weight = 1000003ull * (k + 1) + i,
						     .pid = 100 + k,
						     .tid = 200 + k,
						     .process = profile_string(p, "x"),
						     .thread = profile_string(p, name),
						     .ustack = stack_of(p, k & 1 ? other : module,
									4 * i + k, 3 + k),
						     .wait = PROF_WAIT(PROF_BLOCKED, 1, 0) });
	}
	p->counters[PROF_SEEN] = p->counters[PROF_RECORDED] = 36 + i;
	return p;
}

static int open_window(const struct folder *f, int i, int flags)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", i);
	return openat(f->dir, name, flags | O_CLOEXEC, 0600);
}

/* Where the names of each end, if at is not NULL. */
static void write_all(const struct folder *f, uint64_t *at)
{
	struct naming *n = naming_new(xstrdup(FILE_NAMES), 1 << 20);
	struct naming_pack packed;
	struct profile *p;
	int fd;

	for (int i = 0; i < NR; i++) {
		p = window(i);
		assert_true(naming_pack(n, p, &packed));
		assert_int_equal(naming_append(n, f->dir, &packed, p->meta.start_ns), 0);
		fd = open_window(f, i, O_WRONLY | O_CREAT | O_TRUNC);
		assert_int_equal(write(fd, packed.window, packed.window_len), packed.window_len);
		close(fd);
		if (at)
			at[i] = naming_bytes(n);
		naming_pack_release(&packed);
		profile_free(p);
	}
	naming_free(n);
}

static struct profile *load(const struct folder *f, int i)
{
	char *path = xasprintf("%s/%d", f->path, i);
	struct profile *p = profile_load(path);

	free(path);
	return p;
}

/* A line for each sample, in any order: the sum of their hashes. */
static uint64_t sum_of(const struct profile *p)
{
	uint64_t sum = p->nr_samples;

	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];
		uint64_t hash = s->count * 31 + s->weight * 7 + s->pid + s->tid * 3 + s->wait;
		uint32_t nr;
		const uint32_t *frames = profile_stack_frames(p, s->ustack, &nr);

		for (const char *c = profile_str(p, s->thread); *c; c++)
			hash = hash * 33 + *c;
		for (uint32_t k = 0; k < nr; k++) {
			const struct frame *frame = profile_frame_at(p, frames[k]);

			hash = hash * 33 + frame->offset;
			for (const char *c = profile_frame_name(p, frames[k]); *c; c++)
				hash = hash * 33 + *c;
			for (const char *c = profile_str(p, p->modules[frame->module].path); *c;
			     c++)
				hash = hash * 33 + *c;
		}
		sum += hash;
	}
	return sum;
}

static void assert_is_window(struct profile *q, int i)
{
	struct profile *p = window(i);

	assert_non_null(q);
	assert_int_equal(sum_of(q), sum_of(p));
	assert_int_equal(q->meta.start_ns, p->meta.start_ns);
	assert_int_equal(q->meta.cpu_ns, p->meta.cpu_ns);
	assert_string_equal(profile_str(q, q->meta.command), "agent");
	assert_int_equal(q->counters[PROF_SEEN], p->counters[PROF_SEEN]);
	assert_int_equal(q->nr_samples, p->nr_samples);
	profile_free(p);
	profile_free(q);
}

static void windows_are_what_they_were(void **state)
{
	write_all(*state, NULL);
	for (int i = NR; i-- > 0;)
		assert_is_window(load(*state, i), i);
}

static void one_file_of_names_is_read_once(void **state)
{
	struct shared_names *names = shared_names_new();
	const struct folder *f = *state;
	const char *why;
	char *path;

	write_all(f, NULL);
	for (int i = 0; i < NR; i++) {
		path = xasprintf("%s/%d", f->path, i);
		assert_is_window(profile_load_window(path, names, &why), i);
		free(path);
	}
	shared_names_free(names);
}

static void names_that_are_cut_cost_what_came_behind(void **state)
{
	const struct folder *f = *state;
	uint64_t at[NR];
	int fd;

	write_all(f, at);
	fd = openat(f->dir, FILE_NAMES, O_RDWR | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, at[2] + 9), 0);
	for (int i = 0; i < NR; i++) {
		if (i <= 2)
			assert_is_window(load(f, i), i);
		else
			assert_null(load(f, i));
	}
	/* A damaged part, with whole ones behind it. */
	assert_int_equal(pwrite(fd, "\xff\xff\xff", 3, (at[0] + at[1]) / 2), 3);
	assert_is_window(load(f, 0), 0);
	assert_null(load(f, 1));
	assert_null(load(f, 2));
	close(fd);
	unlinkat(f->dir, FILE_NAMES, 0);
	assert_null(load(f, 0));
	assert_int_equal(mkfifoat(f->dir, FILE_NAMES, 0600), 0);
	assert_null(load(f, 0)); /* and waits for nobody */
}

static void another_file_begins(void **state)
{
	struct naming *n = naming_new(xstrdup(FILE_NAMES), 1 << 20);
	const struct folder *f = *state;
	struct naming_pack packed;
	struct profile *p = window(1), *before = window(0);

	assert_true(naming_pack(n, p, &packed));
	assert_int_equal(naming_append(n, f->dir, &packed, p->meta.start_ns), 0);
	naming_pack_release(&packed);
	assert_false(naming_pack(n, before, &packed)); /* the clock was set back */
	p->meta.start_ns += SECOND;
	p->samples[0].count++;
	assert_true(naming_pack(n, p, &packed));
	assert_int_equal(packed.names_len, 0);
	unlinkat(f->dir, FILE_NAMES, 0);
	assert_int_equal(naming_append(n, f->dir, &packed, p->meta.start_ns), -ENOENT);
	naming_pack_release(&packed);
	profile_free(p);
	profile_free(before);
	naming_free(n);
}

static void windows_know_their_names(void **state)
{
	struct ring r = {};

	(void)state;
	ring_set_names(&r, "20261125T140510.003Z.names", 5, 0);
	ring_set_names(&r, "20261125T140510.003Z.names", 50, 1795615520ull * SECOND);
	ring_set_names(&r, "20261125T150510.003Z.names", 7, 0);
	ring_set_names(&r, "20261125T150510.003Z.names.x", 7, 0);
	ring_add(&r, "20261125T140515.003Z-5000ms.bpfprof", 10);
	ring_add(&r, "20261125T140525.003Z-5000ms.bpfprof", 10);
	assert_int_equal(r.nr_names, 2);
	assert_int_equal(ring_bytes(&r), 77);
	assert_true(ring_names_have(&r.names[0], &r.v[0]));
	assert_false(ring_names_have(&r.names[0], &r.v[1]));
	assert_false(ring_names_are_over(&r));
	ring_drop_first(&r);
	assert_true(ring_names_are_over(&r));
	ring_drop_first_names(&r);
	assert_int_equal(r.nr_names, 1);
	ring_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(windows_are_what_they_were, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(one_file_of_names_is_read_once, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(names_that_are_cut_cost_what_came_behind,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(another_file_begins, make_folder, remove_folder),
		cmocka_unit_test(windows_know_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

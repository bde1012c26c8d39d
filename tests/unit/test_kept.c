/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is kept of files: found again for the ranges that it holds for, and of that file alone. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/kept.h"

static struct answer named(const char *name, uint64_t from, uint64_t to)
{
	return (struct answer){
		.found = { .chain = { { name, NULL, 0, 0 } }, .nr = 1, .from = from, .to = to }
	};
}

static void assert_name(const struct kept_file *f, uint64_t offset, const char *name)
{
	struct answer a;

	assert_int_equal(kept_find(f, offset, &a), name != NULL);
	if (name)
		assert_string_equal(a.found.chain[0].name, name);
}

static struct file_id file(uint64_t nr)
{
	return (struct file_id){ 1, nr, 4096, 1000, 1000 };
}

static void ranges_hold_as_far_as_they_say(void **state)
{
	struct kept *k = kept_new(1 << 20);
	struct file_id id = file(1);
	struct kept_file *f = kept_get(k, &id);
	struct answer b = named("b", 200, 300), a = named("a", 100, 250), one = named("one", 0, 0),
		      lie = named("lie", 5000, 6000);

	assert_null(kept_head(f));
	kept_add(f, 220, &b);
	kept_add(f, 150, &a); /* claims a part of b, which was said before */
	kept_add(f, 400, &one);
	kept_add(f, 500, &lie); /* of another place than was asked for */
	assert_name(f, 99, NULL);
	assert_name(f, 100, "a");
	assert_name(f, 199, "a");
	assert_name(f, 200, "b");
	assert_name(f, 299, "b");
	assert_name(f, 300, NULL);
	assert_name(f, 400, "one");
	assert_name(f, 401, NULL);
	assert_name(f, 500, "lie");
	assert_name(f, 5500, NULL);
	assert_name(f, UINT64_MAX, NULL);
	kept_free(k);
}

static void a_changed_file_is_another(void **state)
{
	struct kept *k = kept_new(1 << 20);
	struct file_id id = file(1), other;
	struct answers_head head = { .build_id_len = 20 };
	struct answer a = named("old", 0, 100);

	kept_add(kept_get(k, &id), 10, &a);
	kept_set_head(kept_get(k, &id), &head);
	for (int i = 0; i < 5; i++) {
		other = id;
		(&other.dev)[i]++;
		assert_name(kept_get(k, &other), 10, NULL);
		assert_null(kept_head(kept_get(k, &other)));
	}
	kept_end(k);
	assert_name(kept_get(k, &id), 10, "old");
	assert_non_null(kept_head(kept_get(k, &id)));
	other = (struct file_id){};
	assert_null(kept_get(k, &other)); /* nothing may be kept of it */
	kept_free(k);
}

/* Those that were asked last stay; nobody, however many names it has, has all of the memory. */
static void memory_has_a_bound(void **state)
{
	const size_t most = 256 << 10;
	struct kept *k = kept_new(most);
	char name[64];
	struct answer a = named(name, 0, 0);
	struct file_id first = file(1), id;

	for (uint64_t nr = 1; nr < 200; nr++) {
		id = file(nr);
		for (uint64_t i = 0; i < 100; i++) {
			snprintf(name, sizeof(name), "function_%d_of_%d", (int)i, (int)nr);
			kept_add(kept_get(k, &id), i * 16, &a);
		}
		assert_name(kept_get(k, &first), 0, "function_0_of_1");
		kept_end(k);
		assert_true(kept_bytes(k) <= most);
	}
	assert_name(kept_get(k, &id), 16, "function_1_of_199");
	id = file(100);
	assert_name(kept_get(k, &id), 16, NULL);
	id = file(1000);
	for (uint64_t i = 0; i < 100000; i++)
		kept_add(kept_get(k, &id), i, &a);
	kept_end(k);
	assert_true(kept_bytes(k) <= most);
	assert_name(kept_get(k, &first), 0, "function_0_of_1");
	assert_name(kept_get(k, &id), 99999, name);
	kept_free(k);
}

/* Answers of so many bytes are kept whole, with those that follow one by one. */
static void more_than_was_asked_for_has_room_once(void **state)
{
	struct kept *k = kept_new(1 << 20);
	struct file_id id = file(1);
	struct kept_file *f = kept_get(k, &id);
	struct answers_head head = {};
	struct answer a = named("function", 0, 0);
	size_t room, nr;

	assert_int_equal(kept_claim(f), 0);
	kept_set_head(f, &head);
	room = kept_claim(f);
	assert_in_range(room, 1 << 15, 1 << 18);
	assert_int_equal(kept_claim(f), 0);
	nr = room / answers_size(&a);
	for (size_t i = 0; i < nr + 100; i++) {
		a = named("function", 16 * i, 16 * i + 16);
		kept_add(f, 16 * i, &a);
	}
	kept_end(k);
	f = kept_get(k, &id);
	assert_name(f, 0, "function");
	assert_name(f, 16 * (nr + 99), "function");
	assert_int_equal(kept_claim(f), 0);
	kept_free(k);
}

static void nothing_is_kept_of_what_just_changed(void **state)
{
	char path[] = "/tmp/bpfprof-kept.XXXXXX";
	int fd = mkstemp(path);
	struct file_id young, old, again;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "one", 3), 3);
	young = file_id_read(fd);
	assert_true(file_id_is_known(&young));
	assert_false(file_id_is_settled(&young));
	nanosleep(&(struct timespec){ .tv_sec = 2, .tv_nsec = 100000000 }, NULL);
	old = file_id_read(fd);
	assert_true(file_id_is_settled(&old));
	assert_true(file_id_equals(&old, &young));
	assert_int_equal(pwrite(fd, "two", 3, 0), 3);
	/* As it was, by all that its owner can set. */
	assert_int_equal(futimens(fd, (struct timespec[]){ { 1, 0 }, { 1, 0 } }), 0);
	nanosleep(&(struct timespec){ .tv_sec = 2, .tv_nsec = 100000000 }, NULL);
	again = file_id_read(fd);
	assert_true(file_id_is_settled(&again));
	assert_false(file_id_equals(&old, &again));
	assert_false(file_id_has_bytes_of(&old, &again));
	assert_int_equal(fchmod(fd, 0700), 0);
	young = file_id_again(fd);
	assert_false(file_id_equals(&again, &young));
	assert_true(file_id_has_bytes_of(&again, &young));
	close(fd);
	unlink(path);
	fd = open("/dev/null", O_RDONLY);
	again = file_id_read(fd);
	assert_false(file_id_is_known(&again));
	close(fd);
}

/* --- what sources say of ranges is true of each offset in them --- */

static void read_headers(struct elf_file *f, uint64_t *from, uint64_t *bytes)
{
	for (size_t i = 0; i < f->nr_segments; i++)
		if (f->segments[i].p_type == PT_LOAD && f->segments[i].p_flags & PF_X) {
			*from = f->segments[i].p_offset;
			*bytes = f->segments[i].p_filesz;
		}
}

/* Compares offsets with others that the answer claims to hold for; how many claimed any. */
static int compare_all(struct symbol_sources *sources, uint64_t first, uint64_t bytes)
{
	struct symbol_found a, b;
	char name[4096];
	int nr = 0;

	for (int i = 0; i < 4000; i++) {
		uint64_t at = first + random() % bytes, other;

		symbol_sources_find(sources, at, &a);
		if (!a.to)
			continue;
		assert_true(a.from <= at && at < a.to);
		snprintf(name, sizeof(name), "%s", a.nr ? a.chain[0].name : "");
		for (int k = 0; k < 4; k++) {
			other = k == 0	 ? a.from
				: k == 1 ? a.to - 1
					 : a.from + random() % (a.to - a.from);
			symbol_sources_find(sources, other, &b);
			assert_int_equal(b.nr, a.nr);
			assert_string_equal(b.nr ? b.chain[0].name : "", name);
			if (!a.nr)
				assert_int_equal(b.start, a.start);
		}
		nr++;
	}
	return nr;
}

static void a_range_has_one_answer(void **state)
{
	const char *const paths[] = { "/proc/self/exe", "/usr/bin/bash", "/usr/bin/redis-benchmark",
				      "/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
				      "/lib/x86_64-linux-gnu/libc.so.6" };
	int nr = 0;

	srandom(1);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		int fd = open(paths[i], O_RDONLY);
		struct elf_file *f = fd < 0 ? NULL : elf_file_open(fd);
		struct symbol_module m = { .kind = FRAME_USER, .path = paths[i], .file = f };
		struct symbol_sources sources;
		uint64_t first = 0, bytes = 0;

		if (f)
			read_headers(f, &first, &bytes);
		if (bytes) {
			symbol_sources_open(&sources, &m);
			nr += compare_all(&sources, first, bytes);
			symbol_sources_close(&sources);
		}
		elf_file_close(f);
		if (fd >= 0)
			close(fd);
	}
	/* This one has symbols, whatever others there are. */
	assert_true(nr > 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_hold_as_far_as_they_say),
		cmocka_unit_test(a_changed_file_is_another),
		cmocka_unit_test(memory_has_a_bound),
		cmocka_unit_test(more_than_was_asked_for_has_room_once),
		cmocka_unit_test(nothing_is_kept_of_what_just_changed),
		cmocka_unit_test(a_range_has_one_answer),
	};

	return cmocka_run_group_tests_name("kept", tests, NULL, NULL);
}

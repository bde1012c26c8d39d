/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes and mappings over time. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "proc/maps.h"
#include "proc/proc.h"

static void map(struct proc_table *t, uint32_t pid, uint64_t start, uint64_t len, uint64_t offset,
		uint64_t ino, uint64_t time)
{
	char path[32];
	struct proc_mmap m = { pid, start, len, offset, { ino, 8, 1, 0 }, path };

	snprintf(path, sizeof(path), ino ? "/lib/%lu.so" : "//anon", ino);
	proc_on_mmap(t, &m, time);
}

/* "ino+offset" of what held addr at that time; "anon", "none". */
static const char *at(struct proc_table *t, uint32_t pid, uint64_t addr, uint64_t time)
{
	static char text[64];
	const struct process *p = proc_find(t, pid);
	const struct proc_mapping *m = p ? proc_mapping_at(p, addr, time) : NULL;

	if (!m)
		return "none";
	if (!m->file)
		return "anon";
	snprintf(text, sizeof(text), "%lu+%lx", m->file->key.ino, addr - m->start + m->file_offset);
	return text;
}

static void a_mapping_replaced_stays_known_for_its_time(void **state)
{
	struct proc_table t;

	proc_init(&t, true, true);
	map(&t, 1, 0x1000, 0x4000, 0, 11, 10);
	map(&t, 1, 0x2000, 0x1000, 0x500, 22, 20); /* a hole in the middle */
	assert_string_equal(at(&t, 1, 0x2100, 15), "11+1100");
	assert_string_equal(at(&t, 1, 0x2100, 25), "22+600");
	assert_string_equal(at(&t, 1, 0x1100, 25), "11+100");
	assert_string_equal(at(&t, 1, 0x3100, 25), "11+2100");
	assert_string_equal(at(&t, 1, 0x5000, 25), "none");
	assert_string_equal(at(&t, 1, 0x2100, 5), "none");
	proc_release(&t);
}

static void covering_mappings_are_cut_at_both_ends(void **state)
{
	struct proc_table t;

	proc_init(&t, true, true);
	map(&t, 1, 0x1000, 0x1000, 0, 11, 1);
	map(&t, 1, 0x3000, 0x1000, 0, 22, 2);
	map(&t, 1, 0x5000, 0x1000, 0, 33, 3);
	map(&t, 1, 0x1800, 0x4000, 0, 0, 4); /* ends within the third */
	assert_string_equal(at(&t, 1, 0x1700, 9), "11+700");
	assert_string_equal(at(&t, 1, 0x1800, 9), "anon");
	assert_string_equal(at(&t, 1, 0x3000, 9), "anon");
	assert_string_equal(at(&t, 1, 0x57ff, 9), "anon");
	assert_string_equal(at(&t, 1, 0x5800, 9), "33+800");
	assert_string_equal(at(&t, 1, 0x3000, 3), "22+0");
	proc_release(&t);
}

static void exec_begins_anew_and_the_old_image_stays(void **state)
{
	struct proc_table t;

	proc_init(&t, true, true);
	map(&t, 1, 0x1000, 0x1000, 0, 11, 10);
	proc_on_comm(&t, 1, 1, "old", false, 11);
	proc_image_at(proc_find(&t, 1), 15)->module = 4;
	proc_on_comm(&t, 1, 1, "new", true, 20);
	assert_int_equal(proc_image_at(proc_find(&t, 1), 19)->module, 4);
	assert_int_equal(proc_image_at(proc_find(&t, 1), 20)->module, 0);
	map(&t, 1, 0x1000, 0x1000, 0, 22, 21);
	assert_string_equal(at(&t, 1, 0x1000, 15), "11+0");
	assert_string_equal(at(&t, 1, 0x1000, 25), "22+0");
	assert_string_equal(proc_find(&t, 1)->name, "new");
	proc_release(&t);
}

/* From the moment the new program's name is there until its first instruction. */
static void within_an_exec_there_is_no_user_stack(void **state)
{
	struct proc_table t;
	const struct process *p;

	(void)state;
	proc_init(&t, true, true);
	map(&t, 1, 0x1000, 0x1000, 0, 11, 10);
	proc_on_comm(&t, 1, 1, "new", true, 20);
	map(&t, 1, 0x8000, 0x1000, 0, 22, 21);
	p = proc_find(&t, 1);
	assert_true(proc_was_replaced(p, 0x1800, 22));
	assert_false(proc_was_replaced(p, 0x1800, 19));			/* before: it was mapped */
	assert_false(proc_was_replaced(p, 0x8800, 22));			/* of the new one */
	assert_false(proc_was_replaced(p, 0x5000, 22));			/* of neither */
	assert_false(proc_was_replaced(p, 0x1800, 20 + 2000000000ull)); /* so long takes no exec */
	proc_release(&t);
}

static void a_fork_inherits_until_it_execs(void **state)
{
	struct proc_table t;

	proc_init(&t, true, true);
	map(&t, 1, 0x1000, 0x1000, 0, 11, 10);
	proc_on_fork(&t, 1, 2, 2, 20);
	proc_on_fork(&t, 1, 1, 9, 21); /* a thread: nothing new */
	map(&t, 1, 0x1000, 0x1000, 0, 33, 22);
	assert_string_equal(at(&t, 2, 0x1000, 25), "11+0");
	assert_string_equal(at(&t, 1, 0x1000, 25), "33+0");
	assert_null(proc_find(&t, 9));
	proc_release(&t);
}

static void only_targets_and_their_children_are_followed(void **state)
{
	struct proc_table t;

	proc_init(&t, false, true);
	assert_int_equal(proc_snapshot(&t, getpid(), 1), 0);
	proc_on_fork(&t, getpid(), 400000001, 400000001, 5);
	proc_on_fork(&t, 400000007, 400000008, 400000008, 5);
	map(&t, 400000009, 0x1000, 0x1000, 0, 11, 6);
	assert_non_null(proc_find(&t, 400000001));
	assert_null(proc_find(&t, 400000008));
	assert_null(proc_find(&t, 400000009));
	proc_release(&t);
}

static void exited_processes_are_forgotten_unless_sampled(void **state)
{
	struct proc_table t;

	proc_init(&t, true, true);
	proc_on_comm(&t, 400000001, 400000001, "kept", false, 1);
	proc_on_comm(&t, 400000002, 400000002, "dropped", false, 1);
	proc_find(&t, 400000001)->sampled = true;
	proc_on_exit(&t, 400000001, 400000001, 5);
	proc_on_exit(&t, 400000002, 400000002, 5);
	proc_prune(&t, 5);
	assert_non_null(proc_find(&t, 400000002));
	proc_prune(&t, 6);
	assert_null(proc_find(&t, 400000002));
	assert_null(proc_find(&t, 400000001));
	assert_string_equal(proc_name(&t, 400000001), "kept");
	assert_null(proc_name(&t, 400000002));
	proc_release(&t);
}

/* While a stack waits, and a process maps one new file after the other. */
static void files_have_an_end(void **state)
{
	struct proc_table t;
	size_t most = 0;

	proc_init(&t, true, true);
	map(&t, 1, 0x1000, 0x1000, 0, 11, 1);
	map(&t, 1, 0x1000, 0x1000, 0, 12, 2);
	proc_mapping_at(proc_find(&t, 1), 0x1000, 1)->file->users = 1;
	for (uint64_t i = 0; i < 100000; i++) {
		map(&t, 1, 0x3000, 0x1000, 0, 100 + i, 3 + i);
		if (i % 400)
			continue;
		proc_limit(&t);
		proc_prune(&t, 1);
		most = HASH_COUNT(t.files) > most ? HASH_COUNT(t.files) : most;
	}
	assert_in_range(most, 8000, 9000);
	assert_in_range(t.nr_cut, 80000, 100000);
	assert_string_equal(at(&t, 1, 0x1000, 1), "11+0"); /* somebody refers to it */
	assert_string_equal(at(&t, 1, 0x1000, 3), "12+0");
	assert_string_equal(at(&t, 1, 0x3000, 100002), "100099+0");
	proc_release(&t);
}

/* No turn looks at them again: neither here nor in /proc. */
static void of_those_that_ended_only_names_stay(void **state)
{
	enum { FIRST = 400000001, NR = 1000 };
	struct proc_table t;

	proc_init(&t, true, true);
	map(&t, 1, 0x1000, 0x1000, 0, 11, 1);
	for (uint32_t i = 0; i < NR; i++) {
		proc_on_fork(&t, 1, FIRST + i, FIRST + i, 10 + i);
		proc_find(&t, FIRST + i)->sampled = i % 2;
		proc_on_exit(&t, FIRST + i, FIRST + i, 11 + i);
		proc_prune(&t, 12 + i);
		assert_int_equal(HASH_COUNT(t.processes), 1);
		assert_null(t.ended);
	}
	assert_int_equal(HASH_COUNT(t.names), NR / 2);
	assert_false(proc_all_ended(&t));
	proc_on_exit(&t, 1, 1, 2000);
	assert_int_equal(t.nr_ended, 1);
	proc_release(&t);
}

/* The process that runs this is alive, and /proc would say so if it were asked. */
static void one_seen_from_its_birth_ends_with_its_last_thread(void **state)
{
	uint32_t pid = getpid();
	struct proc_table t;

	proc_init(&t, true, true);
	map(&t, 1, 0x1000, 0x1000, 0, 11, 1);
	proc_on_fork(&t, 1, pid, pid, 10);
	proc_on_fork(&t, pid, pid, 400000001, 11);
	assert_false(proc_has_ended(proc_find(&t, pid)));
	proc_on_exit(&t, pid, pid, 12);
	assert_false(proc_has_ended(proc_find(&t, pid)));
	proc_prune(&t, 13);
	assert_non_null(proc_find(&t, pid));
	assert_string_equal(at(&t, pid, 0x1000, 13), "11+0");
	proc_on_exit(&t, pid, 400000001, 14);
	assert_true(proc_has_ended(proc_find(&t, pid)));
	proc_prune(&t, 15);
	assert_null(proc_find(&t, pid));
	proc_release(&t);
}

static void of_one_not_seen_from_its_birth_proc_is_asked(void **state)
{
	uint32_t pid = getpid();
	struct proc_table t;

	proc_init(&t, true, true);
	proc_on_comm(&t, pid, pid, "older", false, 1);
	proc_on_exit(&t, pid, pid, 12);
	assert_false(proc_has_ended(proc_find(&t, pid)));
	proc_prune(&t, 13);
	assert_non_null(proc_find(&t, pid));
	assert_false(proc_all_ended(&t));
	proc_on_comm(&t, pid, pid, "newer", true, 14); /* another thread of it went on */
	assert_null(t.ended);
	proc_release(&t);
}

static int code_in_this_program(void)
{
	return 42;
}

static void a_snapshot_finds_our_own_code_and_opens_its_file(void **state)
{
	struct proc_table t;
	const struct proc_mapping *m;
	char magic[4];

	proc_init(&t, false, true);
	assert_int_equal(proc_snapshot(&t, getpid(), 7), 0);
	m = proc_mapping_at(proc_find(&t, getpid()), (uintptr_t)code_in_this_program, 8);
	assert_non_null(m);
	assert_non_null(strstr(m->file->path, "test_proc"));
	proc_file_open(m->file, getpid(), m);
	assert_true(m->file->fd >= 0);
	assert_int_equal(pread(m->file->fd, magic, 4, 0), 4);
	assert_memory_equal(magic, "\177ELF", 4);
	proc_release(&t);
}

/* Records were lost from 30 on: by 40 our own code is there again. */
static void what_is_found_after_a_gap_was_there_since_it_began(void **state)
{
	uint64_t addr = (uintptr_t)code_in_this_program;
	const struct proc_mapping *m;
	struct proc_table t;

	proc_init(&t, false, true);
	assert_int_equal(proc_snapshot(&t, getpid(), 10), 0);
	map(&t, getpid(), addr, 0x10, 0, 99, 20);
	assert_string_equal(at(&t, getpid(), addr, 35), "99+0");
	proc_recheck(&t, 30, 40);
	assert_string_equal(at(&t, getpid(), addr, 29), "99+0");
	m = proc_mapping_at(proc_find(&t, getpid()), addr, 31);
	assert_non_null(m);
	assert_non_null(strstr(m->file->path, "test_proc"));
	proc_release(&t);
}

/* The same path, another inode: no name is better than a wrong one. */
static void a_replaced_file_is_not_opened(void **state)
{
	struct proc_file f = { .key = { 1, 99, 99, 0 }, .path = "/bin/true", .fd = -1 };
	struct proc_mapping m = { .start = 0x1000, .end = 0x2000 };

	proc_file_open(&f, getpid(), &m);
	assert_int_equal(f.fd, -1);
	assert_true(f.tried);
}

static int open_path(void *arg, struct proc_open *what)
{
	int fd = open(what->path, O_RDONLY | O_CLOEXEC);

	(*(int *)arg)++;
	what->id = file_id_read(fd);
	return fd;
}

static struct proc_file *run_program(struct proc_table *t, uint32_t pid, const char *path,
				     uint64_t time)
{
	struct stat st;
	struct proc_mmap m = { pid, 0x1000, 0x1000, 0, { .dev_major = 8 }, path };

	assert_int_equal(stat(path, &st), 0);
	m.key.ino = st.st_ino;
	proc_on_mmap(t, &m, time);
	return proc_mapping_at(proc_find(t, pid), 0x1000, time)->file;
}

static void write_bytes(const char *path, const char *bytes)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	usleep(20000); /* ticks of the file system's clock */
	assert_int_equal(write(fd, bytes, 3), 3);
	close(fd);
	usleep(20000);
}

/* The same device and inode, and even the same size: what ran before has its names, or none. */
static void a_file_that_was_written_to_is_another(void **state)
{
	char path[] = "/tmp/bpfprof-proc.XXXXXX", bytes[4] = "";
	int fd = mkstemp(path), nr_opened = 0;
	const struct proc_opener opener = { open_path, &nr_opened };
	struct proc_file *one, *two, *between, *three;
	uint64_t first = now_ns(), before;
	struct proc_table t;

	proc_init(&t, true, true);
	t.opener = &opener;
	write_bytes(path, "one");
	one = run_program(&t, 1, path, first);
	proc_file_open(one, 1, proc_mapping_at(proc_find(&t, 1), 0x1000, first));
	assert_true(one->fd >= 0);
	assert_ptr_equal(run_program(&t, 2, path, now_ns()), one);
	before = now_ns();
	write_bytes(path, "two");
	assert_false(proc_file_is_same(one));
	between = run_program(&t, 3, path, before); /* it may have been written to twice */
	assert_ptr_not_equal(between, one);
	assert_int_equal(between->fd, -1);
	two = run_program(&t, 4, path, now_ns());
	assert_ptr_not_equal(two, one);
	assert_ptr_not_equal(two, between);
	assert_int_equal(pread(two->fd, bytes, 3, 0), 3);
	assert_string_equal(bytes, "two");
	assert_true(proc_file_is_same(two));
	assert_ptr_equal(run_program(&t, 5, path, now_ns()), two);
	/* Who has it mapped all the while. */
	assert_ptr_equal(proc_file_at(&t, one, first, false), one);
	assert_ptr_equal(proc_file_at(&t, one, before, false), between);
	assert_ptr_equal(proc_file_at(&t, one, now_ns(), false), two);
	/* A change that tells nothing of its bytes is one for what is mapped from then on. */
	before = now_ns();
	usleep(20000);
	assert_int_equal(fchmod(fd, 0700), 0);
	usleep(20000);
	assert_ptr_equal(proc_file_at(&t, two, now_ns(), false), two);
	three = run_program(&t, 6, path, now_ns());
	assert_ptr_not_equal(three, two);
	assert_ptr_equal(proc_file_at(&t, two, before, false), two);
	assert_true(proc_file_is_same(two));
	assert_int_equal(nr_opened, 1);
	for (uint32_t pid = 1; pid <= 6; pid++)
		proc_on_exit(&t, pid, pid, now_ns());
	for (int i = 0; i < 5; i++) {
		t.max_files = 0;
		for (uint32_t pid = 1; pid <= 6; pid++)
			if (proc_find(&t, pid))
				proc_find(&t, pid)->is_counted = true;
		proc_prune(&t, now_ns());
	}
	assert_int_equal(HASH_COUNT(t.files), 0);
	proc_release(&t);
	close(fd);
	unlink(path);
}

static void parses_lines_of_maps(void **state)
{
	struct maps_line l;
	char text[] =
		"7f00-8f00 r-xp 00001000 fe:01 123456                   /opt/a b/x (deleted)\n";
	char data[] = "7f00-8f00 rw-p 00001000 fe:01 123456 /x\n",
	     anon[] = "10-20 rwxp 00000000 00:00 0 \n";
	char next[] = "10-20 r-xp 00000000 00:00 0 \n/next\nline";
	char feed[] = "10-20 r-xp 0 0:0 7 /tmp/a\\0121\\01\\\\012\n";
	char junk[] = "hello\n", back[] = "20-10 r-xp 0 0:0 0 \n";

	assert_true(maps_parse(text, &l));
	assert_int_equal(l.start, 0x7f00);
	assert_int_equal(l.file_offset, 0x1000);
	assert_int_equal(l.dev_major, 0xfe);
	assert_int_equal(l.ino, 123456);
	assert_string_equal(l.path, "/opt/a b/x (deleted)");
	assert_false(maps_parse(data, &l));
	assert_true(maps_parse(anon, &l));
	assert_string_equal(l.path, "");
	assert_true(maps_parse(next, &l));
	assert_string_equal(l.path, "");
	/* As the kernel writes line feeds; so the path is that of records of mappings, too. */
	assert_true(maps_parse(feed, &l));
	assert_string_equal(l.path, "/tmp/a\n1\\01\\\n");
	assert_false(maps_parse(junk, &l));
	assert_false(maps_parse(back, &l));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapping_replaced_stays_known_for_its_time),
		cmocka_unit_test(covering_mappings_are_cut_at_both_ends),
		cmocka_unit_test(exec_begins_anew_and_the_old_image_stays),
		cmocka_unit_test(within_an_exec_there_is_no_user_stack),
		cmocka_unit_test(a_fork_inherits_until_it_execs),
		cmocka_unit_test(only_targets_and_their_children_are_followed),
		cmocka_unit_test(exited_processes_are_forgotten_unless_sampled),
		cmocka_unit_test(files_have_an_end),
		cmocka_unit_test(of_those_that_ended_only_names_stay),
		cmocka_unit_test(one_seen_from_its_birth_ends_with_its_last_thread),
		cmocka_unit_test(of_one_not_seen_from_its_birth_proc_is_asked),
		cmocka_unit_test(a_snapshot_finds_our_own_code_and_opens_its_file),
		cmocka_unit_test(what_is_found_after_a_gap_was_there_since_it_began),
		cmocka_unit_test(a_replaced_file_is_not_opened),
		cmocka_unit_test(a_file_that_was_written_to_is_another),
		cmocka_unit_test(parses_lines_of_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

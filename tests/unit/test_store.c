/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The store, over our own mappings: what is built for whom, what the kernel is told, what goes. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "proc/maps.h"
#include "unwind/store_parts.h"
#include "unwind/store.h"

#define MB (1ull << 20)

struct kernel {
	struct table_exe exes[TABLE_MAX_EXES];
	uint32_t epoch;
	struct table_proc procs[TABLE_PROC_ROWS];
	int slow; /* memory is asked for so often until it is there */
};

static int make(void *arg, uint32_t index, void *at)
{
	struct kernel *k = arg;

	if (k->slow && k->slow--)
		return -EINPROGRESS;
	assert_true(mmap(at, TABLE_SEGMENT_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == at);
	return 0;
}

static void drop(void *arg, uint32_t index, void *at)
{
}

/* What the kernel knows of this process. */
static const struct table_proc *row_of(const struct kernel *k)
{
	const struct table_proc *row = &k->procs[TABLE_PROC_HOME(getpid())];

	assert_true(!row->pid || row->pid == (uint32_t)getpid());
	assert_false(row->seq & 1);
	return row;
}

/* How often it was told. */
static uint32_t nr_set(const struct kernel *k)
{
	return row_of(k)->seq / 2;
}

static const struct store_ops ops = { make, drop };

struct scene {
	struct kernel *kernel;
	struct store *store;
	struct proc_table procs;
	struct process *self;
	struct proc_mapping code; /* where this test's own code lies */
	uint64_t start_stack;
};

/* As a recording opens files: with what tells them from others. */
static int open_known(void *arg, struct proc_open *what)
{
	int fd = proc_open_mapped(what);

	if (fd >= 0)
		what->id = file_id_read(fd);
	return fd;
}

static const struct proc_opener opener = { open_known, NULL };

static void setup_by(struct scene *s, uint64_t max_bytes, int slow, struct shelf *shelf)
{
	struct store_opts o = { .ops = &ops, .max_bytes = max_bytes, .shelf = shelf };

	s->kernel = calloc(1, sizeof(*s->kernel));
	s->kernel->slow = slow;
	o.arg = s->kernel;
	o.exes = s->kernel->exes;
	o.procs = s->kernel->procs;
	o.epoch = &s->kernel->epoch;
	s->store = store_new(&o);
	assert_non_null(s->store);
	proc_init(&s->procs, false, false);
	s->procs.opener = shelf ? &opener : NULL;
	assert_int_equal(proc_snapshot(&s->procs, getpid(), 1), 0);
	s->self = proc_find(&s->procs, getpid());
	assert_non_null(proc_mapping_at(s->self, (uintptr_t)setup_by, 1));
	s->code = *proc_mapping_at(s->self, (uintptr_t)setup_by, 1);
	assert_int_equal(maps_read_start_stack(getpid(), &s->start_stack), 0);
}

static void setup(struct scene *s, uint64_t max_bytes, int slow)
{
	setup_by(s, max_bytes, slow, NULL);
}

static void teardown(struct scene *s)
{
	store_free(s->store);
	proc_release(&s->procs);
	free(s->kernel);
}

static struct walk_rule rule_of(struct scene *s, const void *function)
{
	struct walk_rule r = {};

	assert_true(store_rule(s->store, getpid(), &s->code, (uintptr_t)function, &r));
	return r;
}

static void tables_are_built_when_they_are_wanted(void **state)
{
	struct walk_rule r;
	struct scene s;

	setup(&s, 64 * MB, 0);
	assert_int_equal(store_build(s.store, 1), -ENOENT);
	assert_false(store_rule(s.store, getpid(), &s.code, (uintptr_t)setup, &r));
	assert_int_equal(store_build(s.store, 1), 0);
	assert_int_equal(store_build(s.store, 1), -ENOENT);
	assert_false(rule_of(&s, setup).anon);
#if defined(__x86_64__)
	/* At a function's entry the return address is what the stack pointer points to. */
	assert_int_equal(rule_of(&s, setup).rule, 8 / 8 << 7);
#endif
	assert_int_equal(store_stats(s.store).nr_tables, 1);
	teardown(&s);
}

static uint32_t build_rule(struct scene *s, size_t *nr_taken)
{
	struct walk_rule r;

	assert_false(store_rule(s->store, getpid(), &s->code, (uintptr_t)setup, &r));
	assert_int_equal(store_build(s->store, 1), 0);
	*nr_taken = store_stats(s->store).nr_taken;
	return rule_of(s, setup).rule;
}

/* The next store takes the table, one after it has none to take: it is put there once more. */
static void tables_of_a_store_that_is_over_are_taken(void **state)
{
	struct shelf *shelf = shelf_new(64 * MB);
	uint32_t first;
	struct scene s;
	size_t taken;

	sleep(3); /* this test may have been compiled just now */
	setup_by(&s, 64 * MB, 0, shelf);
	first = build_rule(&s, &taken);
	assert_int_equal(taken, 0);
	if (!s.code.file->was_settled) { /* its file system says nothing of changes */
		teardown(&s);
		shelf_free(shelf);
		skip();
	}
	for (int i = 0; i < 2; i++) {
		teardown(&s);
		setup_by(&s, 64 * MB, 0, shelf);
		assert_int_equal(build_rule(&s, &taken), first);
		assert_int_equal(taken, 1);
	}
	teardown(&s);
	shelf_free(shelf);
}

static uint32_t limit_beside(const struct store *earlier, uint64_t max_bytes, bool alone)
{
	struct kernel *k = calloc(1, sizeof(*k));
	struct store_opts o = { .ops = &ops,
				.max_bytes = max_bytes,
				.arg = k,
				.exes = k->exes,
				.procs = k->procs,
				.epoch = &k->epoch,
				.earlier = earlier };
	struct store *s = store_new(&o);
	uint32_t max;

	assert_non_null(s);
	if (alone)
		store_go_alone(s);
	max = s->segments.max;
	store_free(s);
	free(k);
	return max;
}

static void beside_an_earlier_store_there_is_less_room(void **state)
{
	struct scene s;
	size_t taken;

	setup(&s, 64 * MB, 0);
	build_rule(&s, &taken);
	assert_int_equal(store_stats(s.store).segment_bytes, TABLE_SEGMENT_BYTES);
	assert_int_equal(limit_beside(NULL, 24 * MB, false), 6);
	assert_int_equal(limit_beside(s.store, 24 * MB, false), 5);
	assert_int_equal(limit_beside(s.store, 24 * MB, true), 6);
	assert_int_equal(limit_beside(s.store, 8 * MB, false), 1);
	assert_int_equal(limit_beside(s.store, 4 * MB, false), 1);
	teardown(&s);
}

/* Nor is a table kept that has no room. */
static void a_full_shelf_keeps_nothing(void **state)
{
	struct shelf *shelf = shelf_new(0);
	struct scene s;
	size_t taken;

	for (int i = 0; i < 2; i++) {
		setup_by(&s, 64 * MB, 0, shelf);
		build_rule(&s, &taken);
		assert_int_equal(taken, 0);
		teardown(&s);
	}
	shelf_free(shelf);
}

static void the_most_wanted_comes_first(void **state)
{
	const struct proc_mapping *libc;
	struct walk_rule r;
	struct scene s;

	setup(&s, 64 * MB, 0);
	libc = proc_mapping_at(s.self, (uintptr_t)getpid, 1);
	if (!libc || libc->file == s.code.file)
		libc = proc_mapping_at(s.self, (uintptr_t)_run_test, 1);
	if (!libc || libc->file == s.code.file) {
		teardown(&s);
		skip();
	}
	assert_false(store_rule(s.store, getpid(), libc, libc->start, &r));
	assert_false(store_rule(s.store, getpid(), &s.code, (uintptr_t)setup, &r));
	assert_false(store_rule(s.store, getpid(), &s.code, (uintptr_t)setup, &r));
	assert_int_equal(store_build(s.store, 1), 0);
	rule_of(&s, setup);
	assert_false(store_rule(s.store, getpid(), libc, libc->start, &r));
	teardown(&s);
}

static void code_without_a_file_has_no_table(void **state)
{
	struct proc_mapping anon = { .start = 0x1000, .end = 0x2000 };
	struct walk_rule r;
	struct scene s;

	setup(&s, 64 * MB, 0);
	assert_true(store_rule(s.store, getpid(), &anon, 0x1800, &r));
	assert_true(r.anon);
	teardown(&s);
}

/* Memory that is on its way delays a table, which is not built twice for that. */
static void a_table_waits_for_memory(void **state)
{
	struct walk_rule r;
	struct scene s;

	setup(&s, 64 * MB, 3);
	assert_false(store_rule(s.store, getpid(), &s.code, (uintptr_t)setup, &r));
	assert_int_equal(store_build(s.store, 1), -EINPROGRESS);
	assert_int_equal(store_stats(s.store).nr_tables, 0);
	assert_int_equal(store_build(s.store, 1), 0);
	rule_of(&s, setup);
	teardown(&s);
}

static void the_kernel_is_told_of_mappings(void **state)
{
	struct scene s;

	setup(&s, 64 * MB, 0);
	store_publish(s.store, s.self, s.start_stack + 16, false); /* of another image */
	assert_int_equal(nr_set(s.kernel), 0);
	store_publish(s.store, s.self, s.start_stack, false);
	assert_int_equal(nr_set(s.kernel), 1);
	assert_int_equal(row_of(s.kernel)->nr_mappings, s.self->image->nr_maps);
	assert_int_equal(row_of(s.kernel)->start_stack, s.start_stack);
	store_publish(s.store, s.self, s.start_stack, false); /* nothing new */
	assert_int_equal(nr_set(s.kernel), 1);
	store_publish(s.store, s.self, s.start_stack, true);
	assert_int_equal(nr_set(s.kernel), 2);
	assert_int_equal(row_of(s.kernel)->final, 1);
	teardown(&s);
}

/* A library in the place of another: the list is new, and walks are deferred for a while. */
static void addresses_that_change_hands_are_deferred(void **state)
{
	struct proc_mmap m = { .pid = getpid(), .key = { 12345, 1, 1 }, .path = "/tmp/other.so" };
	uint64_t now;
	uint32_t space;
	struct scene s;

	setup(&s, 64 * MB, 0);
	store_publish(s.store, s.self, s.start_stack, false);
	space = row_of(s.kernel)->space;
	now = s.self->listed_ns + 1000;
	m.start = s.code.start;
	m.len = s.code.end - s.code.start;
	proc_on_mmap(&s.procs, &m, now);
	store_turn(s.store, &s.procs, now + 1000);
	assert_int_equal(nr_set(s.kernel), 2);
	assert_int_equal(row_of(s.kernel)->defer, 1);
	assert_int_not_equal(row_of(s.kernel)->space, space);
	store_turn(s.store, &s.procs, now + 5000000000ull);
	assert_int_equal(nr_set(s.kernel), 3);
	assert_int_equal(row_of(s.kernel)->defer, 0);
	teardown(&s);
}

/* 4 MiB in all: lists that rest take the room, and the table that is there has to go. */
/* A process with as many mappings as a list may have: 1 MB. */
static struct process *crowded(struct scene *s, pid_t pid)
{
	struct proc_mmap m = { .pid = pid, .len = 4096, .key = { 1, 1, 1 }, .path = "/tmp/x" };

	if (pid != getpid())
		assert_int_equal(proc_snapshot(&s->procs, pid, 1), 0);
	for (int i = 0; i < 33000; i++) {
		m.start = 0x10000000 + i * 8192ull;
		proc_on_mmap(&s->procs, &m, 2);
	}
	return proc_find(&s->procs, pid);
}

/* Its /proc belongs to that user. */
static pid_t sleeper_as(uid_t uid)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid && setuid(uid))
		_exit(1);
	if (!pid) {
		prctl(PR_SET_DUMPABLE, 1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	}
	while (!pid)
		pause();
	usleep(50000);
	return pid;
}

static pid_t sleeper(void)
{
	return sleeper_as(getuid());
}

/* What rests will be room soon, so nothing goes for its sake. A list that has none drives a table
 * out, even one in use: without it no stack of its process can be walked. */
static void without_room_the_oldest_table_goes(void **state)
{
	struct proc_mmap m = { .start = 4096, .len = 4096, .key = { 1, 1, 1 }, .path = "/tmp/y" };
	pid_t pids[] = { getpid(), sleeper(), sleeper() };
	struct walk_rule r;
	struct scene s;

	setup(&s, 4 * MB, 0);
	for (int i = 0; i < 3; i++)
		store_publish(s.store, crowded(&s, pids[i]), s.start_stack, false);
	assert_int_equal(store_stats(s.store).nr_processes, 3);
	assert_false(store_rule(s.store, getpid(), &s.code, (uintptr_t)setup, &r));
	assert_int_equal(store_build(s.store, 1), 0);
	m.pid = pids[1];
	proc_on_mmap(&s.procs, &m, 2);
	store_turn(s.store, &s.procs, 3);
	assert_int_equal(store_stats(s.store).nr_evicted, 1);
	assert_int_equal(store_stats(s.store).nr_tables, 0);
	assert_int_equal(s.kernel->epoch, 1);
	m.pid = getpid();
	proc_on_mmap(&s.procs, &m, 2);
	store_turn(s.store, &s.procs, 4); /* there will be room, so nothing is asked to go */
	r = rule_of(&s, setup);		  /* for a while walks end here */
	assert_int_equal(r.rule & 0xff, RULE_REFUSED);
	store_turn(s.store, &s.procs, 1ull << 62);
	assert_false(store_rule(s.store, getpid(), &s.code, (uintptr_t)setup, &r));
	for (int i = 1; i < 3; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	teardown(&s);
}

/* Each refusal ends when its own time is over, however many come after it. */
static void a_refusal_is_not_put_off_by_the_next(void **state)
{
	struct proc_mmap m = { .pid = getpid(), .len = 4096, .key = { 1, 1, 1 }, .path = "/tmp/x" };
	const uint64_t second = 1000000000ull;
	const struct proc_mapping *found;
	struct proc_mapping other;
	struct walk_rule r;
	struct scene s;

	setup(&s, 4 * MB, 0);
	found = proc_mapping_at(s.self, (uintptr_t)_run_test, 1);
	if (!found || found->file == s.code.file)
		found = proc_mapping_at(s.self, (uintptr_t)getpid, 1);
	if (!found || found->file == s.code.file) {
		teardown(&s);
		skip();
	}
	other = *found;
	for (int i = 0; i < 33000; i++) {
		m.start = 0x10000000 + i * 8192ull;
		proc_on_mmap(&s.procs, &m, 2);
	}
	for (int i = 0; i < 6; i++) { /* lists of 1 MB each, until there is no room */
		m.start += 8192;
		proc_on_mmap(&s.procs, &m, 2);
		store_publish(s.store, s.self, s.start_stack, false);
	}
	assert_false(store_rule(s.store, getpid(), &s.code, (uintptr_t)setup, &r));
	assert_int_equal(store_build(s.store, 1 * second), 0);
	assert_true(store_rule(s.store, getpid(), &s.code, (uintptr_t)setup, &r));
	assert_int_equal(r.rule & 0xff, RULE_REFUSED);
	assert_int_equal(store_stats(s.store).nr_evicted, 0);
	assert_false(store_rule(s.store, getpid(), &other, other.start, &r));
	assert_int_equal(store_build(s.store, 4 * second), 0);
	store_turn(s.store, &s.procs, 7 * second);
	assert_false(store_rule(s.store, getpid(), &s.code, (uintptr_t)setup, &r));
	assert_true(store_rule(s.store, getpid(), &other, other.start, &r));
	teardown(&s);
}

/* A copy of this program, mapped like the original: the same build-id, and another file. */
static void equal_build_ids_share_nothing(void **state)
{
	char path[] = "/tmp/bpfprof-store.XXXXXX", command[64];
	const struct proc_mapping *copy;
	int fd = mkstemp(path);
	struct walk_rule r;
	struct scene s;
	char *at;

	assert_true(fd >= 0);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", getpid(), path);
	assert_int_equal(system(command), 0);
	setup(&s, 64 * MB, 0);
	at = mmap(NULL, s.code.end - s.code.start, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		  s.code.file_offset);
	assert_true(at != MAP_FAILED);
	assert_int_equal(proc_snapshot(&s.procs, getpid(), now_ns()), 0);
	copy = proc_mapping_at(s.self, (uintptr_t)at, now_ns());
	assert_non_null(copy);
	assert_false(store_rule(s.store, getpid(), &s.code, (uintptr_t)setup, &r));
	assert_int_equal(store_build(s.store, 1), 0);
	assert_false(store_rule(s.store, getpid(), copy, copy->start, &r));
	assert_int_equal(store_build(s.store, 1), 0);
	assert_int_equal(store_stats(s.store).nr_tables, 2);
	teardown(&s);
	munmap(at, s.code.end - s.code.start);
	unlink(path);
	close(fd);
}

/* Maps one piece of a file after the other; returns how many have a row. */
static uint32_t map_pieces(struct scene *s, pid_t pid, const struct proc_mapping *of, uint32_t nr)
{
	struct proc_mapping piece = *of;
	struct walk_rule r;
	uint32_t rows = 0;

	for (uint32_t i = 0; i < nr; i++) {
		piece.file_offset = 4096ull * (i + 1) + (1ull << 40);
		rows += !store_rule(s->store, pid, &piece, piece.start, &r);
	}
	return rows;
}

/* What is mapped in between, and by another user, has its table all the same. */
static void nobody_takes_all_rows(void **state)
{
	const uint64_t second = 1000000000ull;
	pid_t user = sleeper_as(getuid() ? getuid() : 1234);
	uint32_t most = TABLE_MAX_EXES / 4, rows;
	struct walk_rule r;
	struct scene s;

	setup(&s, 64 * MB, 0);
	rows = map_pieces(&s, user, &s.code, TABLE_MAX_EXES + 100);
	assert_int_equal(rows, most);
	if (!getuid()) {
		assert_false(store_rule(s.store, getpid(), &s.code, (uintptr_t)setup, &r));
		/* Root may; one row is of code without a file, one of ours. */
		rows = map_pieces(&s, getpid(), &s.code, TABLE_MAX_EXES);
		assert_int_equal(rows, TABLE_MAX_EXES - 2);
	}
	/* Nobody has these mapped, so that the next ones find room after a while. */
	store_turn(s.store, &s.procs, now_ns() - 3 * second);
	assert_int_equal(map_pieces(&s, user, &s.code, 10), 10);
	assert_false(store_rule(s.store, user, &s.code, (uintptr_t)setup, &r));
	assert_int_equal(store_stats(s.store).nr_tables, 0);
	kill(user, SIGKILL);
	waitpid(user, NULL, 0);
	teardown(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_built_when_they_are_wanted),
		cmocka_unit_test(tables_of_a_store_that_is_over_are_taken),
		cmocka_unit_test(beside_an_earlier_store_there_is_less_room),
		cmocka_unit_test(a_full_shelf_keeps_nothing),
		cmocka_unit_test(equal_build_ids_share_nothing),
		cmocka_unit_test(nobody_takes_all_rows),
		cmocka_unit_test(the_most_wanted_comes_first),
		cmocka_unit_test(code_without_a_file_has_no_table),
		cmocka_unit_test(a_table_waits_for_memory),
		cmocka_unit_test(the_kernel_is_told_of_mappings),
		cmocka_unit_test(addresses_that_change_hands_are_deferred),
		cmocka_unit_test(without_room_the_oldest_table_goes),
		cmocka_unit_test(a_refusal_is_not_put_off_by_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

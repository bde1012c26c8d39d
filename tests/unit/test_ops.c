/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What I/O and locks of the kernel are called, and which I/O a kernel shows. */
#include "bpf/ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "collect/ops.h"
#include "collect/sizes.h"
#include "output/output.h"
#include "tests/unit/made.h"

/* Flags beside the operation, as REQ_SYNC and REQ_BACKGROUND are. */
#define FLAGS 0xffffff00u

static void bios_by_operation(void **state)
{
	assert_int_equal(io_block_event(FLAGS | 0, 4096, false), IO_BLOCK_READ);
	assert_int_equal(io_block_event(0, 4096, true), IO_BLOCK_READ);
	assert_int_equal(io_block_event(FLAGS | 1, 4096, false), IO_BLOCK_WRITE);
	assert_int_equal(io_block_event(1, 4096, true), IO_BLOCK_WRITEBACK);
	assert_int_equal(io_block_event(7, 4096, false), IO_BLOCK_WRITE); /* append to a zone */
	assert_int_equal(io_block_event(FLAGS | 1, 0, false), IO_BLOCK_FLUSH);
	assert_int_equal(io_block_event(1, 0, true), IO_BLOCK_FLUSH);
	assert_int_equal(io_block_event(2, 0, false), IO_BLOCK_FLUSH);
	assert_int_equal(io_block_event(3, 1 << 20, false), IO_BLOCK_DISCARD);
	assert_int_equal(io_block_event(FLAGS | 5, 1 << 20, true), IO_BLOCK_DISCARD);
	assert_int_equal(io_block_event(9, 1 << 20, false), IO_BLOCK_DISCARD);
}

static void locks_by_flags(void **state)
{
	assert_int_equal(klock_event(0), KLOCK_SEMAPHORE);
	assert_int_equal(klock_event(CONTENTION_SPIN), KLOCK_SPINLOCK);
	assert_int_equal(klock_event(CONTENTION_SPIN | CONTENTION_READ), KLOCK_RWLOCK_READ);
	assert_int_equal(klock_event(CONTENTION_SPIN | CONTENTION_WRITE), KLOCK_RWLOCK_WRITE);
	assert_int_equal(klock_event(CONTENTION_READ), KLOCK_RWSEM_READ);
	assert_int_equal(klock_event(CONTENTION_WRITE), KLOCK_RWSEM_WRITE);
	assert_int_equal(klock_event(CONTENTION_PERCPU | CONTENTION_READ), KLOCK_PERCPU_READ);
	assert_int_equal(klock_event(CONTENTION_PERCPU | CONTENTION_WRITE), KLOCK_PERCPU_WRITE);
	assert_int_equal(klock_event(CONTENTION_RT), KLOCK_RTMUTEX);
	assert_int_equal(klock_event(CONTENTION_RT | CONTENTION_WRITE), KLOCK_RWLOCK_WRITE);
	assert_int_equal(klock_event(CONTENTION_MUTEX), KLOCK_MUTEX);
	assert_int_equal(klock_event(CONTENTION_MUTEX | CONTENTION_SPIN), KLOCK_MUTEX);
}

/* Only a mutex says twice that somebody waits for it. */
static void only_mutexes_go_on(void **state)
{
	for (uint32_t i = 0; i < KLOCK_NR_EVENTS; i++)
		assert_int_equal(klock_goes_on(i), i == KLOCK_MUTEX);
}

static bool has_in(void *arg, const char *tracepoint)
{
	for (const char *const *t = arg; *t; t++)
		if (!strcmp(*t, tracepoint))
			return true;
	return false;
}

static void parts_by_tracepoints(void **state)
{
	const char *new[] = {
		"block_bio_queue",     "block_bio_complete",	    "block_rq_complete",
		"io_uring_submit_req", "io_uring_queue_async_work", "io_uring_poll_arm",
		"io_uring_complete",   "inet_sock_set_state",	    NULL
	};
	const char *old[] = { "io_uring_submit_sqe", "io_uring_queue_async_work",
			      "io_uring_poll_arm", "io_uring_complete", NULL };
	const char *few[] = { "block_bio_queue", "io_uring_submit_req", "inet_sock_set_state",
			      NULL };

	assert_int_equal(ops_io_parts(has_in, new),
			 OPS_BLOCK | OPS_URING | OPS_URING_REQUEST | OPS_CONNECT);
	assert_int_equal(ops_io_parts(has_in, old), OPS_URING | OPS_URING_SQE);
	assert_int_equal(ops_io_parts(has_in, few), OPS_CONNECT);
}

/* An unknown kind is a mistake, on whatever kernel. */
static void kinds_have_names(void **state)
{
	struct calls_opts calls = {};
	struct ops_opts o = {};

	assert_int_equal(ops_choose_io(&o, &calls, "block1"), -EINVAL);
	assert_int_equal(ops_choose_io(&o, &calls, "block,urin"), -EINVAL);
	assert_int_equal(ops_choose_io(&o, &calls, ""), -EINVAL);
	assert_int_equal(ops_choose_io(&o, &calls, ","), -EINVAL);
	assert_int_equal(calls.nr_events, 0);
}

static void buckets_have_room(void **state)
{
	assert_int_equal(sizes_ops_buckets(0), 4096);
	assert_int_equal(sizes_ops_buckets(8192), 4096);
	assert_int_equal(sizes_ops_buckets(8194), 8192);
	assert_int_equal(sizes_ops_buckets(16), 16);
}

/* Operations of us, of two kinds: the kind is behind the thread, and no frames are of BPF. */
static void stacks_have_their_kind(void **state)
{
	struct profile *p = made_profile("io");
	struct view v = {};
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	p->meta.is_time = 0;
	p->meta.timed = p->meta.by_weight = 1;
	profile_add_event(p, &(struct sampled_event){ .name = profile_string(p, "block read") });
	profile_add_event(p, &(struct sampled_event){ .name = profile_string(p, "connect") });
	made_wait(p, 1, "a", PROF_WAIT_OF_EVENT(0), 3000, "pread;main",
		  "bpf_prog_x;bpf_trace_run1;__traceiter_block_bio_queue;submit_bio;vfs_read");
	made_wait(p, 1, "a", PROF_WAIT_OF_EVENT(1), 2000, "connect;main", "tcp_v4_connect");
	folded_write(p, &v, f);
	fclose(f);
	assert_string_equal(text, "a;[block read];main;pread;vfs_read;submit_bio 3\n"
				  "a;[connect];main;connect;tcp_v4_connect 2\n");
	free(text);
	profile_free(p);
}

static void who_spins_does_nothing_else(void **state)
{
	assert_true(klock_spins(CONTENTION_SPIN));
	assert_true(klock_spins(CONTENTION_SPIN | CONTENTION_READ));
	assert_false(klock_spins(CONTENTION_SPIN | CONTENTION_MUTEX));
	assert_false(klock_spins(CONTENTION_RT | CONTENTION_WRITE));
	assert_false(klock_spins(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_spins_does_nothing_else),
		cmocka_unit_test(bios_by_operation),
		cmocka_unit_test(locks_by_flags),
		cmocka_unit_test(only_mutexes_go_on),
		cmocka_unit_test(parts_by_tracepoints),
		cmocka_unit_test(kinds_have_names),
		cmocka_unit_test(buckets_have_room),
		cmocka_unit_test(stacks_have_their_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

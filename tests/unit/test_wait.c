/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What threads waited for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/wait.h"
#include "tests/unit/made.h"

#define READ  0 /* on x86-64 */
#define WRITE 1
#define POLL  7
#define FUTEX 202
#define NANO  35
#define RECV  45
#define FSYNC 74
#define NONE  (-1)

#define SWITCH	"__schedule;schedule"
#define SYSCALL "do_syscall_64;entry_SYSCALL_64_after_hwframe"
#define TAKEN                                                                                      \
	"bpf_prog_6deef7357e7b4530_offcpu_switch;bpf_trace_run4;__bpf_trace_sched_switch;"         \
	"__traceiter_sched_switch"
#define FAULT "handle_mm_fault;do_user_addr_fault;exc_page_fault;asm_exc_page_fault"

static enum wait_class class_of(uint32_t wait, const char *user, const char *kernel)
{
	struct profile *p = made_profile("offcpu");
	enum wait_class class = wait_class(p, made_wait(p, 101, "app", wait, 1, user, kernel));

	profile_free(p);
	return class;
}

struct row {
	enum wait_class class;
	int state, nr;
	const char *kernel;
};

static void check_rows(const struct row *rows, size_t nr, const char *user)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t wait = PROF_WAIT(PROF_BLOCKED, rows[i].state, rows[i].nr);
		enum wait_class class = class_of(wait, user, rows[i].kernel);

		if (class != rows[i].class)
			fail_msg("%s: %s, not %s", rows[i].kernel, wait_class_names[class],
				 wait_class_names[rows[i].class]);
	}
}

static void the_innermost_known_function_decides(void **state)
{
	static const struct row rows[] = {
		{ WAIT_PIPE, TASK_S, READ, SWITCH ";pipe_read;vfs_read;ksys_read;" SYSCALL },
		{ WAIT_PIPE, TASK_S, READ, SWITCH ";anon_pipe_read;vfs_read;" SYSCALL },
		{ WAIT_PIPE, TASK_S, READ,
		  SWITCH ";schedule_timeout;wait_woken;n_tty_read;tty_read;vfs_read;" SYSCALL },
		{ WAIT_PIPE, TASK_S, READ, SWITCH ";eventfd_read;vfs_read;" SYSCALL },
		{ WAIT_POLL, TASK_S, READ, SWITCH ";wait_woken;inotify_read;vfs_read;" SYSCALL },
		{ WAIT_SLEEP, TASK_S, READ, SWITCH ";timerfd_read;vfs_read;" SYSCALL },
		{ WAIT_NET, TASK_S, READ,
		  SWITCH ";schedule_timeout;unix_stream_read_generic;unix_stream_recvmsg;"
			 "sock_recvmsg;sock_read_iter;vfs_read;" SYSCALL },
		{ WAIT_NET, TASK_S, RECV,
		  SWITCH ";schedule_timeout;wait_woken;sk_wait_data;tcp_recvmsg_locked;"
			 "tcp_recvmsg;inet_recvmsg;__sys_recvfrom;" SYSCALL },
		{ WAIT_IO, TASK_D, READ,
		  SWITCH ";io_schedule;folio_wait_bit_common;filemap_read;ext4_file_read_iter;"
			 "vfs_read;" SYSCALL },
		{ WAIT_IO, TASK_D, FSYNC,
		  SWITCH ";jbd2_log_wait_commit;ext4_sync_file;do_fsync;" SYSCALL },
		{ WAIT_IO, TASK_D, WRITE,
		  SWITCH ";schedule_timeout;io_schedule_timeout;balance_dirty_pages;" SYSCALL },
		/* A mutex of the kernel within write(). */
		{ WAIT_LOCK, TASK_D, WRITE,
		  SWITCH
		  ";schedule_preempt_disabled;__mutex_lock.isra.0;pipe_write;vfs_write;" SYSCALL },
		{ WAIT_LOCK, TASK_D, WRITE,
		  SWITCH ";schedule_preempt_disabled;rwsem_down_write_slowpath;down_write;"
			 "ext4_buffered_write_iter;vfs_write;" SYSCALL },
		{ WAIT_LOCK, TASK_S, FUTEX,
		  SWITCH ";futex_wait_queue;futex_wait;do_futex;__x64_sys_futex;" SYSCALL },
		{ WAIT_POLL, TASK_S, 232,
		  SWITCH ";schedule_hrtimeout_range_clock;ep_poll;do_epoll_wait;" SYSCALL },
		{ WAIT_POLL, TASK_S, POLL,
		  SWITCH ";schedule_hrtimeout_range;poll_schedule_timeout.constprop.0;"
			 "do_sys_poll;" SYSCALL },
		{ WAIT_SLEEP, TASK_S, NANO,
		  SWITCH ";do_nanosleep;hrtimer_nanosleep;__x64_sys_nanosleep;" SYSCALL },
		{ WAIT_OTHER, TASK_S, 61, SWITCH ";do_wait;kernel_wait4;" SYSCALL },
		{ WAIT_OTHER, TASK_S, NONE, SWITCH ";do_signal_stop;get_signal;" SYSCALL },
	};

	check_rows(rows, ARRAY_SIZE(rows), "main");
}

static void what_a_fault_waits_for_is_the_faults(void **state)
{
	static const struct row rows[] = {
		{ WAIT_PAGEFAULT, TASK_D, NONE,
		  SWITCH ";io_schedule;folio_wait_bit_common;filemap_fault;__do_fault;" FAULT },
		/* Within write(), and within futex(). */
		{ WAIT_PAGEFAULT, TASK_D, WRITE,
		  SWITCH ";io_schedule;folio_wait_bit_common;filemap_fault;" FAULT
			 ";copy_page_from_iter;tcp_sendmsg;ksys_write;" SYSCALL },
		{ WAIT_PAGEFAULT, TASK_D, FUTEX,
		  SWITCH ";io_schedule;" FAULT ";futex_wait_setup;futex_wait;do_futex;" SYSCALL },
		{ WAIT_PAGEFAULT, TASK_D, NONE,
		  SWITCH ";io_schedule;folio_wait_bit_common;filemap_fault;do_page_fault;"
			 "do_mem_abort;el0_da;el0t_64_sync_handler;el0t_64_sync" },
		{ WAIT_PAGEFAULT, TASK_S, NONE, SWITCH ";handle_userfault;" FAULT },
		/* The lock on the mappings is one. */
		{ WAIT_LOCK, TASK_D, NONE,
		  SWITCH ";rwsem_down_read_slowpath;down_read_killable;lock_mm_and_find_vma;"
			 "do_user_addr_fault;exc_page_fault;asm_exc_page_fault" },
	};

	check_rows(rows, ARRAY_SIZE(rows), "main");
}

static void plumbing_decides_nothing(void **state)
{
	static const struct row rows[] = {
		{ WAIT_PIPE, TASK_S, READ, TAKEN ";" SWITCH ";pipe_read;vfs_read;" SYSCALL },
		/* What could be taken for a class in it is none. */
		{ WAIT_SLEEP, TASK_S, NANO,
		  "bpf_get_stack_raw_tp;mutex_in_plumbing;" TAKEN ";" SWITCH
		  ";do_nanosleep;" SYSCALL },
	};
	struct profile *p = made_profile("offcpu");

	check_rows(rows, ARRAY_SIZE(rows), "main");
	assert_int_equal(wait_plumbing(p, 0), 0);
	assert_int_equal(wait_plumbing(p, made_stack(p, FRAME_KERNEL, TAKEN ";" SWITCH)), 4);
	assert_int_equal(wait_plumbing(p, made_stack(p, FRAME_KERNEL, SWITCH ";bpf_map_update")),
			 0);
	assert_int_equal(
		wait_plumbing(p, made_stack(p, FRAME_KERNEL,
					    "bpf_prog_0_wakeup;[kernel];bpf_trace_run1;"
					    "__traceiter_sched_waking;try_to_wake_up;pipe_write")),
		4);
	profile_free(p);
}

static void without_a_stack_the_system_call_says_it(void **state)
{
	static const struct row rows[] = {
		{ WAIT_LOCK, TASK_S, FUTEX, "" },
		{ WAIT_POLL, TASK_S, POLL, "" },
		{ WAIT_SLEEP, TASK_S, NANO, "" },
		{ WAIT_NET, TASK_S, RECV, "" },
		{ WAIT_IO, TASK_D, FSYNC, "" },
		{ WAIT_IO, TASK_D, READ, "" },
		{ WAIT_OTHER, TASK_S, READ, "" },
		{ WAIT_OTHER, TASK_S, 61, "" },
		{ WAIT_PAGEFAULT, TASK_D, NONE, "" },
		{ WAIT_OTHER, TASK_S, 4000, "" },
		/* Names that say nothing. */
		{ WAIT_IO, TASK_D, FSYNC, SWITCH ";[kernel];[kernel]" },
	};

	check_rows(rows, ARRAY_SIZE(rows), "main");
	assert_int_equal(class_of(PROF_WAIT(PROF_BLOCKED, TASK_S, READ) | PROF_WAIT_IO, "main", ""),
			 WAIT_IO);
}

/* What the kernel takes for a lock, and the program for time; but not what it does in a sleep. */
static void who_sleeps_by_a_futex_waits_for_time(void **state)
{
	static const struct row futex[] = {
		{ WAIT_SLEEP, TASK_S, FUTEX, SWITCH ";futex_wait;do_futex;" SYSCALL },
		{ WAIT_SLEEP, TASK_S, FUTEX, "" },
	};
	static const struct row others[] = {
		{ WAIT_PAGEFAULT, TASK_D, NONE, SWITCH ";io_schedule;filemap_fault;" FAULT },
		{ WAIT_IO, TASK_D, FSYNC, "" },
	};
	static const struct row locks[] = {
		{ WAIT_LOCK, TASK_S, FUTEX, SWITCH ";futex_wait;do_futex;" SYSCALL },
		{ WAIT_LOCK, TASK_S, FUTEX, "" },
	};

	(void)state;
	check_rows(futex, ARRAY_SIZE(futex), "pthread_cond_timedwait;JavaThread::sleep;JVM_Sleep");
	check_rows(futex, ARRAY_SIZE(futex), "JavaThread::sleep_nanos");
	check_rows(others, ARRAY_SIZE(others), "JavaThread::sleep;JVM_Sleep");
	check_rows(locks, ARRAY_SIZE(locks), "pthread_cond_timedwait;ObjectMonitor::wait");
}

/* Those of a timeline, where a number says that the thread is none of the kernel. */
static void a_profile_without_stacks_has_classes(void **state)
{
	const struct sample s = { .wait = PROF_WAIT(PROF_BLOCKED, TASK_S, FUTEX), .ustack = 1 };
	struct profile *p = profile_new();

	(void)state;
	assert_int_equal(wait_class(p, &s), WAIT_LOCK);
	profile_free(p);
}

static void numbers_are_those_of_the_architecture(void **state)
{
	struct profile *p = made_profile("offcpu");
	struct sample *s;

	p->meta.arch = profile_string(p, "aarch64");
	s = made_wait(p, 1, "app", PROF_WAIT(PROF_BLOCKED, TASK_S, 98), 1, "main", "");
	assert_int_equal(wait_class(p, s), WAIT_LOCK);
	s->wait = PROF_WAIT(PROF_BLOCKED, TASK_S, 22);
	assert_int_equal(wait_class(p, s), WAIT_POLL);
	s->wait = PROF_WAIT(PROF_BLOCKED, TASK_S, 202);
	assert_int_equal(wait_class(p, s), WAIT_NET);
	s->wait = PROF_WAIT(PROF_BLOCKED, TASK_D, 0);
	assert_int_equal(wait_class(p, s), WAIT_OTHER);
	profile_free(p);
}

static void who_could_run_waits_for_a_cpu(void **state)
{
	assert_int_equal(class_of(PROF_WAIT(PROF_PREEMPTED, 0, FUTEX), "main", ""), WAIT_PREEMPTED);
	assert_int_equal(class_of(PROF_WAIT(PROF_WOKEN, 0, NONE), "main", SWITCH ";ep_poll"),
			 WAIT_WOKEN);
	assert_int_equal(class_of(PROF_WAIT(PROF_THROTTLED, 0, NONE), "main", SWITCH ";ep_poll"),
			 WAIT_THROTTLED);
	assert_int_equal(class_of(15u << 12, "main", ""), WAIT_OTHER);
}

static void kernel_threads_wait_for_devices_or_for_work(void **state)
{
	static const struct row rows[] = {
		{ WAIT_OTHER, TASK_S, NONE, SWITCH ";worker_thread;kthread;ret_from_fork_asm" },
		{ WAIT_OTHER, TASK_S, NONE,
		  SWITCH ";schedule_timeout;kcompactd;kthread;ret_from_fork" },
		{ WAIT_IO, TASK_D, NONE,
		  SWITCH ";io_schedule;blk_mq_get_tag;wb_workfn;process_one_work;worker_thread;"
			 "kthread;ret_from_fork" },
		{ WAIT_LOCK, TASK_D, NONE,
		  SWITCH ";__mutex_lock;some_work;process_one_work;worker_thread;kthread" },
		{ WAIT_OTHER, TASK_S, NONE, "" },
		{ WAIT_OTHER, 0x402, NONE, "" },
		{ WAIT_IO, TASK_D, NONE, "" },
	};

	check_rows(rows, ARRAY_SIZE(rows), "");
	/* A program, of which only the kernel's half was kept. */
	assert_int_equal(class_of(PROF_WAIT(PROF_BLOCKED, TASK_D, NONE), "",
				  SWITCH ";[kernel];irqentry_exit"),
			 WAIT_PAGEFAULT);
}

static int parse_lokc(void *arg)
{
	return wait_parse_classes("io,lokc", arg);
}

static int parse_nonsense(void *arg)
{
	return wait_parse_classes("xyzzyx", arg);
}

static void lists_of_classes_are_parsed(void **state)
{
	uint32_t classes;
	char *text;
	int err;

	assert_int_equal(wait_parse_classes("lock,io", &classes), 0);
	assert_int_equal(classes, 1u << WAIT_LOCK | 1u << WAIT_IO);
	assert_int_equal(wait_parse_classes("runnable", &classes), 0);
	assert_int_equal(classes, 1u << WAIT_WOKEN | 1u << WAIT_PREEMPTED);
	/* As it was called before. */
	assert_int_equal(wait_parse_classes("preempt,throttled", &classes), 0);
	assert_int_equal(classes, WAIT_RUNNABLE | 1u << WAIT_THROTTLED);
	text = made_errors(parse_lokc, &classes, &err);
	assert_int_equal(err, -EINVAL);
	assert_string_equal(text, "bpfprof: --class: unknown class 'lokc'; did you mean 'lock'?\n");
	free(text);
	text = made_errors(parse_nonsense, &classes, &err);
	assert_int_equal(err, -EINVAL);
	assert_non_null(strstr(text, "woken, preempted, runnable (both), throttled or other"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_known_function_decides),
		cmocka_unit_test(what_a_fault_waits_for_is_the_faults),
		cmocka_unit_test(plumbing_decides_nothing),
		cmocka_unit_test(without_a_stack_the_system_call_says_it),
		cmocka_unit_test(who_sleeps_by_a_futex_waits_for_time),
		cmocka_unit_test(a_profile_without_stacks_has_classes),
		cmocka_unit_test(numbers_are_those_of_the_architecture),
		cmocka_unit_test(who_could_run_waits_for_a_cpu),
		cmocka_unit_test(kernel_threads_wait_for_devices_or_for_work),
		cmocka_unit_test(lists_of_classes_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

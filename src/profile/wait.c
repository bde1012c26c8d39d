/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Classes of waits, from three tables: functions of the kernel, system calls, and plumbing. */
#include "profile/wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#define STATE_SLEEPS  0x001 /* TASK_INTERRUPTIBLE */
#define STATE_BLOCKED 0x002 /* TASK_UNINTERRUPTIBLE */
#define STATE_NOLOAD  0x400 /* and with this one, idle */
#define MAX_PLUMBING  24    /* frames; a BPF program and all around it are half as many */

const char *const wait_class_names[WAIT_NR_CLASSES] = {
	[WAIT_WOKEN] = "woken",
	[WAIT_PREEMPTED] = "preempted",
	[WAIT_THROTTLED] = "throttled",
	[WAIT_LOCK] = "lock",
	[WAIT_POLL] = "poll",
	[WAIT_SLEEP] = "sleep",
	[WAIT_IO] = "io",
	[WAIT_NET] = "net",
	[WAIT_PIPE] = "pipe",
	[WAIT_PAGEFAULT] = "pagefault",
	[WAIT_OTHER] = "other",
};

/* clang-format off */
/*
 * Beginnings of names; behind a '*', anywhere in the name. The compiler hangs ".isra.0" and the
 * like behind them.
 */
static const struct function {
	enum wait_class class;
	const char *name;
} functions[] = {
	/* Locks of the kernel, and those it keeps for programs. */
	{ WAIT_LOCK, "*mutex_lock" },	      { WAIT_LOCK, "mutex_" },
	{ WAIT_LOCK, "__mutex" },	      { WAIT_LOCK, "__ww_mutex" },
	{ WAIT_LOCK, "ww_mutex" },	      { WAIT_LOCK, "rwsem_" },
	{ WAIT_LOCK, "down" },		      { WAIT_LOCK, "__down" },
	{ WAIT_LOCK, "percpu_rwsem" },	      { WAIT_LOCK, "percpu_down" },
	{ WAIT_LOCK, "__percpu_down" },	      { WAIT_LOCK, "rt_mutex" },
	{ WAIT_LOCK, "__rt_mutex" },	      { WAIT_LOCK, "rtlock" },
	{ WAIT_LOCK, "rtmutex" },	      { WAIT_LOCK, "rt_spin_lock" },
	{ WAIT_LOCK, "futex_" },	      { WAIT_LOCK, "__futex" },
	{ WAIT_LOCK, "do_futex" },	      { WAIT_LOCK, "do_semtimedop" },
	{ WAIT_LOCK, "__do_semtimedop" },     { WAIT_LOCK, "__lock_sock" },
	{ WAIT_LOCK, "lock_sock" },	      { WAIT_LOCK, "locks_lock_" },
	{ WAIT_LOCK, "flock_lock" },	      { WAIT_LOCK, "posix_lock" },
	{ WAIT_LOCK, "fcntl_setlk" },	      { WAIT_LOCK, "do_lock_file_wait" },

	/* Any of several things. */
	{ WAIT_POLL, "ep_poll" },	      { WAIT_POLL, "do_epoll_wait" },
	{ WAIT_POLL, "poll_schedule" },	      { WAIT_POLL, "do_poll" },
	{ WAIT_POLL, "do_sys_poll" },	      { WAIT_POLL, "do_select" },
	{ WAIT_POLL, "core_sys_select" },     { WAIT_POLL, "io_cqring_wait" },
	{ WAIT_POLL, "__io_cqring_wait" },    { WAIT_POLL, "inotify_read" },
	{ WAIT_POLL, "fanotify_read" },	      { WAIT_POLL, "signalfd_" },
	{ WAIT_POLL, "perf_read" },

	/* Time. */
	{ WAIT_SLEEP, "hrtimer_nanosleep" },  { WAIT_SLEEP, "do_nanosleep" },
	{ WAIT_SLEEP, "common_nsleep" },      { WAIT_SLEEP, "timerfd_read" },
	{ WAIT_SLEEP, "alarm_timer_nsleep" }, { WAIT_SLEEP, "alarmtimer_do_nsleep" },
	{ WAIT_SLEEP, "msleep" },	      { WAIT_SLEEP, "usleep_range" },

	/* Pipes and what is read like one. */
	{ WAIT_PIPE, "pipe_" },		      { WAIT_PIPE, "anon_pipe_" },
	{ WAIT_PIPE, "fifo_open" },	      { WAIT_PIPE, "wait_for_partner" },
	{ WAIT_PIPE, "splice_from_pipe" },    { WAIT_PIPE, "wait_for_space" },
	{ WAIT_PIPE, "tty_" },		      { WAIT_PIPE, "n_tty_" },
	{ WAIT_PIPE, "eventfd_" },	      { WAIT_PIPE, "do_msgrcv" },
	{ WAIT_PIPE, "do_msgsnd" },	      { WAIT_PIPE, "do_mq_" },
	{ WAIT_PIPE, "wq_sleep" },

	/* Sockets. */
	{ WAIT_NET, "sk_wait_" },	      { WAIT_NET, "sk_stream_wait" },
	{ WAIT_NET, "inet_" },		      { WAIT_NET, "tcp_" },
	{ WAIT_NET, "__inet_" },	      { WAIT_NET, "udp_" },
	{ WAIT_NET, "udpv6_" },		      { WAIT_NET, "__skb_" },
	{ WAIT_NET, "skb_" },		      { WAIT_NET, "sock_" },
	{ WAIT_NET, "__sock_" },	      { WAIT_NET, "unix_" },
	{ WAIT_NET, "__unix_" },	      { WAIT_NET, "netlink_" },
	{ WAIT_NET, "packet_recvmsg" },	      { WAIT_NET, "vsock_" },
	{ WAIT_NET, "sctp_" },		      { WAIT_NET, "mptcp_" },

	/* Devices and file systems. */
	{ WAIT_IO, "io_schedule" },	      { WAIT_IO, "submit_bio" },
	{ WAIT_IO, "blk_" },		      { WAIT_IO, "__blk_" },
	{ WAIT_IO, "blkdev_" },		      { WAIT_IO, "bio_" },
	{ WAIT_IO, "rq_qos_" },		      { WAIT_IO, "wbt_" },
	{ WAIT_IO, "folio_" },		      { WAIT_IO, "__folio_" },
	{ WAIT_IO, "wait_on_page" },	      { WAIT_IO, "__lock_page" },
	{ WAIT_IO, "__wait_on_buffer" },      { WAIT_IO, "filemap_" },
	{ WAIT_IO, "__filemap_" },	      { WAIT_IO, "generic_file_" },
	{ WAIT_IO, "balance_dirty_pages" },   { WAIT_IO, "writeback_" },
	{ WAIT_IO, "wb_" },		      { WAIT_IO, "sync_inode" },
	{ WAIT_IO, "inode_dio_wait" },	      { WAIT_IO, "__inode_dio_wait" },
	{ WAIT_IO, "iomap_" },		      { WAIT_IO, "__iomap_" },
	{ WAIT_IO, "vfs_fsync" },	      { WAIT_IO, "read_events" },
	{ WAIT_IO, "ext4_" },		      { WAIT_IO, "__ext4_" },
	{ WAIT_IO, "jbd2_" },		      { WAIT_IO, "start_this_handle" },
	{ WAIT_IO, "xfs_" },		      { WAIT_IO, "xlog_" },
	{ WAIT_IO, "btrfs_" },		      { WAIT_IO, "f2fs_" },
	{ WAIT_IO, "nfs_" },		      { WAIT_IO, "nfs4_" },
	{ WAIT_IO, "nfs3_" },		      { WAIT_IO, "rpc_wait" },
	{ WAIT_IO, "fuse_" },		      { WAIT_IO, "cifs_" },
	{ WAIT_IO, "smb2_" },		      { WAIT_IO, "p9_" },
	{ WAIT_IO, "v9fs_" },		      { WAIT_IO, "ceph_" },
	{ WAIT_IO, "zfs_" },		      { WAIT_IO, "nvme_" },
	{ WAIT_IO, "scsi_" },		      { WAIT_IO, "md_" },
	{ WAIT_IO, "dm_" },		      { WAIT_IO, "swap_read" },

	/* Memory; only where nothing above stands on the stack too is it looked for here. */
	{ WAIT_PAGEFAULT, "handle_userfault" },

	/* Known, and none of these: a child, a debugger, the end. */
	{ WAIT_OTHER, "do_wait" },	      { WAIT_OTHER, "kernel_wait" },
	{ WAIT_OTHER, "do_exit" },	      { WAIT_OTHER, "do_group_exit" },
	{ WAIT_OTHER, "ptrace_stop" },	      { WAIT_OTHER, "do_signal_stop" },
	{ WAIT_OTHER, "wait_for_vfork_done" }, { WAIT_OTHER, "do_coredump" },
	{ WAIT_OTHER, "do_sigtimedwait" },    { WAIT_OTHER, "sigsuspend" },
	{ WAIT_OTHER, "do_freezer_trap" },
};

/* On the way from a fault to the page that makes it good. */
static const char *const fault_functions[] = {
	"exc_page_fault", "asm_exc_page_fault", "do_page_fault", "do_user_addr_fault",
	"do_mem_abort",	  "el0_da",		"el0_ia",	 "el1_abort",
	"faultin_page",	  "handle_mm_fault",	"__handle_mm_fault",
};

/* Roots of threads of the kernel. */
static const char *const kernel_roots[] = { "ret_from_fork", "kthread" };

/*
 * System calls by number. A file descriptor may be anything: FILE rows are io when the state says
 * that nothing can interrupt the wait, and otherwise not known.
 */
enum { FILE_ROW = WAIT_NR_CLASSES };
static const struct syscall_row {
	int class;
	int16_t x86, arm64; /* -1 = not there */
	const char *name;
} syscalls[] = {
	{ WAIT_LOCK, 202, 98, "futex" },	     { WAIT_LOCK, 449, 449, "futex_waitv" },
	{ WAIT_LOCK, 455, 455, "futex_wait" },
	{ WAIT_LOCK, 65, 193, "semop" },	     { WAIT_LOCK, 220, 192, "semtimedop" },
	{ WAIT_LOCK, 73, 32, "flock" },		     { WAIT_LOCK, 72, 25, "fcntl" },
	/* Those that change mappings wait for the lock on them. */
	{ WAIT_LOCK, 9, 222, "mmap" },		     { WAIT_LOCK, 11, 215, "munmap" },
	{ WAIT_LOCK, 10, 226, "mprotect" },	     { WAIT_LOCK, 12, 214, "brk" },
	{ WAIT_LOCK, 25, 216, "mremap" },	     { WAIT_LOCK, 28, 233, "madvise" },

	{ WAIT_POLL, 7, -1, "poll" },		     { WAIT_POLL, 271, 73, "ppoll" },
	{ WAIT_POLL, 23, -1, "select" },	     { WAIT_POLL, 270, 72, "pselect6" },
	{ WAIT_POLL, 232, -1, "epoll_wait" },	     { WAIT_POLL, 281, 22, "epoll_pwait" },
	{ WAIT_POLL, 441, 441, "epoll_pwait2" },     { WAIT_POLL, 426, 426, "io_uring_enter" },

	{ WAIT_SLEEP, 35, 101, "nanosleep" },	     { WAIT_SLEEP, 230, 115, "clock_nanosleep" },

	{ WAIT_NET, 42, 203, "connect" },	     { WAIT_NET, 43, 202, "accept" },
	{ WAIT_NET, 288, 242, "accept4" },	     { WAIT_NET, 44, 206, "sendto" },
	{ WAIT_NET, 45, 207, "recvfrom" },	     { WAIT_NET, 46, 211, "sendmsg" },
	{ WAIT_NET, 47, 212, "recvmsg" },	     { WAIT_NET, 307, 269, "sendmmsg" },
	{ WAIT_NET, 299, 243, "recvmmsg" },	     { WAIT_NET, 48, 210, "shutdown" },

	{ WAIT_PIPE, 70, 188, "msgrcv" },	     { WAIT_PIPE, 69, 189, "msgsnd" },
	{ WAIT_PIPE, 242, 182, "mq_timedsend" },     { WAIT_PIPE, 243, 183, "mq_timedreceive" },
	{ WAIT_PIPE, 276, 77, "tee" },		     { WAIT_PIPE, 278, 75, "vmsplice" },

	{ WAIT_IO, 74, 82, "fsync" },		     { WAIT_IO, 75, 83, "fdatasync" },
	{ WAIT_IO, 26, 227, "msync" },		     { WAIT_IO, 162, 81, "sync" },
	{ WAIT_IO, 306, 267, "syncfs" },	     { WAIT_IO, 277, 84, "sync_file_range" },
	{ WAIT_IO, 208, 4, "io_getevents" },	     { WAIT_IO, 333, 292, "io_pgetevents" },
	{ WAIT_IO, 209, 2, "io_submit" },	     { WAIT_IO, 17, 67, "pread64" },
	{ WAIT_IO, 18, 68, "pwrite64" },	     { WAIT_IO, 295, 69, "preadv" },
	{ WAIT_IO, 296, 70, "pwritev" },	     { WAIT_IO, 327, 286, "preadv2" },
	{ WAIT_IO, 328, 287, "pwritev2" },	     { WAIT_IO, 285, 47, "fallocate" },
	{ WAIT_IO, 76, 45, "truncate" },	     { WAIT_IO, 77, 46, "ftruncate" },
	{ WAIT_IO, 4, -1, "stat" },		     { WAIT_IO, 5, 80, "fstat" },
	{ WAIT_IO, 6, -1, "lstat" },		     { WAIT_IO, 262, 79, "newfstatat" },
	{ WAIT_IO, 332, 291, "statx" },		     { WAIT_IO, 217, 61, "getdents64" },
	{ WAIT_IO, 82, -1, "rename" },		     { WAIT_IO, 316, 276, "renameat2" },
	{ WAIT_IO, 87, -1, "unlink" },		     { WAIT_IO, 263, 35, "unlinkat" },
	{ WAIT_IO, 83, -1, "mkdir" },		     { WAIT_IO, 258, 34, "mkdirat" },
	{ WAIT_IO, 187, 213, "readahead" },	     { WAIT_IO, 59, 221, "execve" },

	{ FILE_ROW, 0, 63, "read" },		     { FILE_ROW, 1, 64, "write" },
	{ FILE_ROW, 19, 65, "readv" },		     { FILE_ROW, 20, 66, "writev" },
	{ FILE_ROW, 2, -1, "open" },		     { FILE_ROW, 257, 56, "openat" },
	{ FILE_ROW, 3, 57, "close" },		     { FILE_ROW, 40, 71, "sendfile" },
	{ FILE_ROW, 275, 76, "splice" },	     { FILE_ROW, 326, 285, "copy_file_range" },
	{ FILE_ROW, 16, 29, "ioctl" },

	/* With a name, and no class of their own. */
	{ WAIT_OTHER, 61, 260, "wait4" },	     { WAIT_OTHER, 247, 95, "waitid" },
	{ WAIT_OTHER, 56, 220, "clone" },	     { WAIT_OTHER, 435, 435, "clone3" },
	{ WAIT_OTHER, 58, -1, "vfork" },	     { WAIT_OTHER, 24, 124, "sched_yield" },
	{ WAIT_OTHER, 34, -1, "pause" },	     { WAIT_OTHER, 231, 94, "exit_group" },
};

/* Functions of programs that sleep, by what the kernel takes for a lock. */
static const char *const sleepers[] = { "JVM_Sleep", "JavaThread::sleep" };
/* Who takes stacks where threads are switched and woken. */
static const char *const plumbing[] = {
	"bpf_",	     "__bpf_",	  "*__traceiter_", "__traceiter_", "*trace_sched_", "trace_event_",
	"perf_trace_", "*ftrace_", "__SCT__tp_func_", "perf_",	   "get_perf_callchain",
	"syscall_exit_work",
};
/* And where the thread's own frames begin at last. */
static const char *const scheduler[] = { "__schedule", "schedule", "try_to_wake_up",
					 "wake_up_new_task",
					 "ttwu_", "preempt_schedule" };
/* clang-format on */

#define NR(table) (sizeof(table) / sizeof((table)[0]))

static bool matches(const char *name, const char *pattern)
{
	if (*pattern == '*')
		return strstr(name, pattern + 1);
	return *name == *pattern && !strncmp(name, pattern, strlen(pattern));
}

static bool any(const char *name, const char *const *patterns, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (matches(name, patterns[i]))
			return true;
	return false;
}

uint32_t wait_plumbing(const struct profile *p, uint32_t kstack)
{
	uint32_t nr, found = 0;
	const uint32_t *frames = profile_stack_frames(p, kstack, &nr);

	for (uint32_t i = 0; i < nr && i < MAX_PLUMBING; i++) {
		const char *name = profile_frame_name(p, frames[i]);

		if (any(name, scheduler, NR(scheduler)))
			break;
		if (any(name, plumbing, NR(plumbing)))
			found = i + 1;
	}
	return found;
}

static bool has_function(const struct profile *p, uint32_t stack, const char *const *names,
			 size_t nr)
{
	uint32_t nr_frames;
	const uint32_t *frames = profile_stack_frames(p, stack, &nr_frames);

	for (uint32_t i = 0; i < nr_frames; i++)
		if (any(profile_frame_name(p, frames[i]), names, nr))
			return true;
	return false;
}

/* By the innermost function of the table; -1 when there is none. */
static int class_by_function(const struct profile *p, uint32_t kstack)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(p, kstack, &nr);

	for (uint32_t i = wait_plumbing(p, kstack); i < nr; i++)
		for (size_t k = 0; k < NR(functions); k++)
			if (matches(profile_frame_name(p, frames[i]), functions[k].name))
				return functions[k].class;
	return -1;
}

/*
 * Whatever was waited for on behalf of a fault is that fault's: a page is read from a device for
 * it. Only a lock (of the mappings, above all) is another matter.
 */
static int class_by_stack(const struct profile *p, uint32_t kstack)
{
	int class = class_by_function(p, kstack);

	if (class != WAIT_LOCK && has_function(p, kstack, fault_functions, NR(fault_functions)))
		return WAIT_PAGEFAULT;
	return class;
}

/* Timelines have no stacks, and say by any number that there is one. */
bool wait_sleeps(const struct profile *p, uint32_t ustack)
{
	return ustack < p->nr_stacks && has_function(p, ustack, sleepers, NR(sleepers));
}

static bool is_blocked_hard(uint32_t wait)
{
	uint32_t state = PROF_WAIT_STATE(wait);

	return (state & STATE_BLOCKED) && !(state & STATE_NOLOAD);
}

/* NULL: none, or one that tells nothing. */
static const struct syscall_row *syscall_of(const struct profile *p, uint32_t wait)
{
	bool arm64 = !strcmp(profile_str(p, p->meta.arch), "aarch64");
	int nr = PROF_WAIT_SYSCALL(wait);

	for (size_t i = 0; nr >= 0 && i < NR(syscalls); i++)
		if ((arm64 ? syscalls[i].arm64 : syscalls[i].x86) == nr)
			return &syscalls[i];
	return NULL;
}

const char *wait_syscall(const struct profile *p, uint32_t wait)
{
	const struct syscall_row *row = syscall_of(p, wait);

	return row ? row->name : NULL;
}

enum prof_futex wait_futex(const struct profile *p, uint32_t wait)
{
	const char *name = PROF_WAIT_KIND(wait) == PROF_BLOCKED ? wait_syscall(p, wait) : NULL;

	/* Of a task state all of whose bits below are that it sleeps. */
	if (!name || strcmp(name, "futex") || (PROF_WAIT_STATE(wait) & 0xff) != STATE_SLEEPS)
		return PROF_FUTEX_UNKNOWN;
	return PROF_WAIT_FUTEX(wait);
}

uint32_t wait_epoll(const struct profile *p, uint32_t wait)
{
	const char *name = PROF_WAIT_KIND(wait) == PROF_BLOCKED ? wait_syscall(p, wait) : NULL;

	if (!name || strncmp(name, "epoll_", 6) || (PROF_WAIT_STATE(wait) & 0xff) != STATE_SLEEPS)
		return 0;
	return PROF_WAIT_FUTEX(wait);
}

static int class_by_syscall(const struct profile *p, uint32_t wait)
{
	const struct syscall_row *row = syscall_of(p, wait);

	if (row && row->class != FILE_ROW)
		return row->class;
	return row && is_blocked_hard(wait) ? WAIT_IO : WAIT_OTHER;
}

/* Without a user stack and outside of system calls: its kernel stack tells it, if there is one. */
static bool is_kernel_thread(const struct profile *p, const struct sample *s)
{
	return !s->ustack && PROF_WAIT_SYSCALL(s->wait) < 0 &&
	       (!s->kstack || has_function(p, s->kstack, kernel_roots, NR(kernel_roots)));
}

/* They have no sockets and no pipes of their own, and sleep for many reasons. */
static enum wait_class class_of_kernel_thread(const struct sample *s, int by_stack)
{
	if (by_stack == WAIT_LOCK || by_stack == WAIT_IO)
		return by_stack;
	return s->wait & PROF_WAIT_IO || (!s->kstack && is_blocked_hard(s->wait)) ? WAIT_IO
										  : WAIT_OTHER;
}

static enum wait_class class_of_blocked(const struct profile *p, const struct sample *s)
{
	int class = s->kstack ? class_by_stack(p, s->kstack) : -1;

	if (is_kernel_thread(p, s))
		return class_of_kernel_thread(s, class);
	if (class >= 0)
		return class;
	if (PROF_WAIT_SYSCALL(s->wait) < 0)
		return WAIT_PAGEFAULT;
	return s->wait & PROF_WAIT_IO ? WAIT_IO : class_by_syscall(p, s->wait);
}

enum wait_class wait_class(const struct profile *p, const struct sample *s)
{
	enum wait_class class;

	switch (PROF_WAIT_KIND(s->wait)) {
	case PROF_PREEMPTED:
		return WAIT_PREEMPTED;
	case PROF_WOKEN:
		return WAIT_WOKEN;
	case PROF_THROTTLED:
		return WAIT_THROTTLED;
	case PROF_BLOCKED:
		class = class_of_blocked(p, s);
		return class == WAIT_LOCK && wait_sleeps(p, s->ustack) ? WAIT_SLEEP : class;
	default:
		return WAIT_OTHER;
	}
}

/* Words for several classes. "preempt" is what versions before called these two. */
static const struct group {
	const char *name;
	uint32_t classes;
} groups[] = {
	{ "runnable", WAIT_RUNNABLE },
	{ "preempt", WAIT_RUNNABLE },
};

/* 0: there is no such word. */
static uint32_t classes_named(const char *word)
{
	for (size_t i = 0; i < WAIT_NR_CLASSES; i++)
		if (!strcmp(word, wait_class_names[i]))
			return 1u << i;
	for (size_t i = 0; i < NR(groups); i++)
		if (!strcmp(word, groups[i].name))
			return groups[i].classes;
	return 0;
}

/* Of classes and groups, NULL when none is near. */
static const char *nearest_class(const char *word)
{
	const char *names[WAIT_NR_CLASSES + NR(groups)];

	for (size_t i = 0; i < WAIT_NR_CLASSES; i++)
		names[i] = wait_class_names[i];
	for (size_t i = 0; i < NR(groups); i++)
		names[WAIT_NR_CLASSES + i] = groups[i].name;
	return text_nearest(word, names, NR(names));
}

static int parse_class(const char *word, uint32_t *classes)
{
	uint32_t named = classes_named(word);
	const char *near;
	char *shown, *hint;

	*classes |= named;
	if (named)
		return 0;
	near = nearest_class(word);
	shown = text_frame(word, strlen(word), 0);
	hint = near ? text_meant("", near)
		    : xstrdup(" (use lock, poll, sleep, io, net, pipe, pagefault, woken, "
			      "preempted, runnable (both), throttled or other)");
	log_err(0, "--class: unknown class '%s'%s", *word ? shown : "", hint);
	free(hint);
	free(shown);
	return -EINVAL;
}

int wait_parse_classes(const char *list, uint32_t *classes)
{
	char *copy = xstrdup(list), *rest = copy, *word;
	int err = 0;

	*classes = 0;
	while (!err && (word = strsep(&rest, ",")))
		err = parse_class(word, classes);
	free(copy);
	return err;
}

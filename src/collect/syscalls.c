/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of system calls by number, as the headers of the kernel have them. */
#include "collect/syscalls.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#define BATCHES	  20
#define PER_BATCH 500

/* -1 = not there; those that both have at one number came after the two were one. */
/* clang-format off */
static const struct {
	int16_t x86, arm64;
	const char *name;
} syscalls[] = {
	{ 0, 63, "read" }, { 1, 64, "write" }, { 2, -1, "open" }, { 3, 57, "close" },
	{ 4, -1, "stat" }, { 5, 80, "fstat" }, { 6, -1, "lstat" }, { 7, -1, "poll" },
	{ 8, 62, "lseek" }, { 9, 222, "mmap" }, { 10, 226, "mprotect" }, { 11, 215, "munmap" },
	{ 12, 214, "brk" }, { 13, 134, "rt_sigaction" }, { 14, 135, "rt_sigprocmask" },
	{ 15, 139, "rt_sigreturn" }, { 16, 29, "ioctl" }, { 17, 67, "pread64" },
	{ 18, 68, "pwrite64" }, { 19, 65, "readv" }, { 20, 66, "writev" }, { 21, -1, "access" },
	{ 22, -1, "pipe" }, { 23, -1, "select" }, { 24, 124, "sched_yield" },
	{ 25, 216, "mremap" }, { 26, 227, "msync" }, { 27, 232, "mincore" },
	{ 28, 233, "madvise" }, { 29, 194, "shmget" }, { 30, 196, "shmat" },
	{ 31, 195, "shmctl" }, { 32, 23, "dup" }, { 33, -1, "dup2" }, { 34, -1, "pause" },
	{ 35, 101, "nanosleep" }, { 36, 102, "getitimer" }, { 37, -1, "alarm" },
	{ 38, 103, "setitimer" }, { 39, 172, "getpid" }, { 40, 71, "sendfile" },
	{ 41, 198, "socket" }, { 42, 203, "connect" }, { 43, 202, "accept" },
	{ 44, 206, "sendto" }, { 45, 207, "recvfrom" }, { 46, 211, "sendmsg" },
	{ 47, 212, "recvmsg" }, { 48, 210, "shutdown" }, { 49, 200, "bind" },
	{ 50, 201, "listen" }, { 51, 204, "getsockname" }, { 52, 205, "getpeername" },
	{ 53, 199, "socketpair" }, { 54, 208, "setsockopt" }, { 55, 209, "getsockopt" },
	{ 56, 220, "clone" }, { 57, -1, "fork" }, { 58, -1, "vfork" }, { 59, 221, "execve" },
	{ 60, 93, "exit" }, { 61, 260, "wait4" }, { 62, 129, "kill" }, { 63, 160, "uname" },
	{ 64, 190, "semget" }, { 65, 193, "semop" }, { 66, 191, "semctl" }, { 67, 197, "shmdt" },
	{ 68, 186, "msgget" }, { 69, 189, "msgsnd" }, { 70, 188, "msgrcv" },
	{ 71, 187, "msgctl" }, { 72, 25, "fcntl" }, { 73, 32, "flock" }, { 74, 82, "fsync" },
	{ 75, 83, "fdatasync" }, { 76, 45, "truncate" }, { 77, 46, "ftruncate" },
	{ 78, -1, "getdents" }, { 79, 17, "getcwd" }, { 80, 49, "chdir" }, { 81, 50, "fchdir" },
	{ 82, -1, "rename" }, { 83, -1, "mkdir" }, { 84, -1, "rmdir" }, { 85, -1, "creat" },
	{ 86, -1, "link" }, { 87, -1, "unlink" }, { 88, -1, "symlink" }, { 89, -1, "readlink" },
	{ 90, -1, "chmod" }, { 91, 52, "fchmod" }, { 92, -1, "chown" }, { 93, 55, "fchown" },
	{ 94, -1, "lchown" }, { 95, 166, "umask" }, { 96, 169, "gettimeofday" },
	{ 97, 163, "getrlimit" }, { 98, 165, "getrusage" }, { 99, 179, "sysinfo" },
	{ 100, 153, "times" }, { 101, 117, "ptrace" }, { 102, 174, "getuid" },
	{ 103, 116, "syslog" }, { 104, 176, "getgid" }, { 105, 146, "setuid" },
	{ 106, 144, "setgid" }, { 107, 175, "geteuid" }, { 108, 177, "getegid" },
	{ 109, 154, "setpgid" }, { 110, 173, "getppid" }, { 111, -1, "getpgrp" },
	{ 112, 157, "setsid" }, { 113, 145, "setreuid" }, { 114, 143, "setregid" },
	{ 115, 158, "getgroups" }, { 116, 159, "setgroups" }, { 117, 147, "setresuid" },
	{ 118, 148, "getresuid" }, { 119, 149, "setresgid" }, { 120, 150, "getresgid" },
	{ 121, 155, "getpgid" }, { 122, 151, "setfsuid" }, { 123, 152, "setfsgid" },
	{ 124, 156, "getsid" }, { 125, 90, "capget" }, { 126, 91, "capset" },
	{ 127, 136, "rt_sigpending" }, { 128, 137, "rt_sigtimedwait" },
	{ 129, 138, "rt_sigqueueinfo" }, { 130, 133, "rt_sigsuspend" },
	{ 131, 132, "sigaltstack" }, { 132, -1, "utime" }, { 133, -1, "mknod" },
	{ 134, -1, "uselib" }, { 135, 92, "personality" }, { 136, -1, "ustat" },
	{ 137, 43, "statfs" }, { 138, 44, "fstatfs" }, { 139, -1, "sysfs" },
	{ 140, 141, "getpriority" }, { 141, 140, "setpriority" }, { 142, 118, "sched_setparam" },
	{ 143, 121, "sched_getparam" }, { 144, 119, "sched_setscheduler" },
	{ 145, 120, "sched_getscheduler" }, { 146, 125, "sched_get_priority_max" },
	{ 147, 126, "sched_get_priority_min" }, { 148, 127, "sched_rr_get_interval" },
	{ 149, 228, "mlock" }, { 150, 229, "munlock" }, { 151, 230, "mlockall" },
	{ 152, 231, "munlockall" }, { 153, 58, "vhangup" }, { 154, -1, "modify_ldt" },
	{ 155, 41, "pivot_root" }, { 156, -1, "_sysctl" }, { 157, 167, "prctl" },
	{ 158, -1, "arch_prctl" }, { 159, 171, "adjtimex" }, { 160, 164, "setrlimit" },
	{ 161, 51, "chroot" }, { 162, 81, "sync" }, { 163, 89, "acct" },
	{ 164, 170, "settimeofday" }, { 165, 40, "mount" }, { 166, 39, "umount2" },
	{ 167, 224, "swapon" }, { 168, 225, "swapoff" }, { 169, 142, "reboot" },
	{ 170, 161, "sethostname" }, { 171, 162, "setdomainname" }, { 172, -1, "iopl" },
	{ 173, -1, "ioperm" }, { 174, -1, "create_module" }, { 175, 105, "init_module" },
	{ 176, 106, "delete_module" }, { 177, -1, "get_kernel_syms" },
	{ 178, -1, "query_module" }, { 179, 60, "quotactl" }, { 180, 42, "nfsservctl" },
	{ 181, -1, "getpmsg" }, { 182, -1, "putpmsg" }, { 183, -1, "afs_syscall" },
	{ 184, -1, "tuxcall" }, { 185, -1, "security" }, { 186, 178, "gettid" },
	{ 187, 213, "readahead" }, { 188, 5, "setxattr" }, { 189, 6, "lsetxattr" },
	{ 190, 7, "fsetxattr" }, { 191, 8, "getxattr" }, { 192, 9, "lgetxattr" },
	{ 193, 10, "fgetxattr" }, { 194, 11, "listxattr" }, { 195, 12, "llistxattr" },
	{ 196, 13, "flistxattr" }, { 197, 14, "removexattr" }, { 198, 15, "lremovexattr" },
	{ 199, 16, "fremovexattr" }, { 200, 130, "tkill" }, { 201, -1, "time" },
	{ 202, 98, "futex" }, { 203, 122, "sched_setaffinity" },
	{ 204, 123, "sched_getaffinity" }, { 205, -1, "set_thread_area" },
	{ 206, 0, "io_setup" }, { 207, 1, "io_destroy" }, { 208, 4, "io_getevents" },
	{ 209, 2, "io_submit" }, { 210, 3, "io_cancel" }, { 211, -1, "get_thread_area" },
	{ 212, 18, "lookup_dcookie" }, { 213, -1, "epoll_create" }, { 214, -1, "epoll_ctl_old" },
	{ 215, -1, "epoll_wait_old" }, { 216, 234, "remap_file_pages" },
	{ 217, 61, "getdents64" }, { 218, 96, "set_tid_address" },
	{ 219, 128, "restart_syscall" }, { 220, 192, "semtimedop" }, { 221, 223, "fadvise64" },
	{ 222, 107, "timer_create" }, { 223, 110, "timer_settime" },
	{ 224, 108, "timer_gettime" }, { 225, 109, "timer_getoverrun" },
	{ 226, 111, "timer_delete" }, { 227, 112, "clock_settime" },
	{ 228, 113, "clock_gettime" }, { 229, 114, "clock_getres" },
	{ 230, 115, "clock_nanosleep" }, { 231, 94, "exit_group" }, { 232, -1, "epoll_wait" },
	{ 233, 21, "epoll_ctl" }, { 234, 131, "tgkill" }, { 235, -1, "utimes" },
	{ 236, -1, "vserver" }, { 237, 235, "mbind" }, { 238, 237, "set_mempolicy" },
	{ 239, 236, "get_mempolicy" }, { 240, 180, "mq_open" }, { 241, 181, "mq_unlink" },
	{ 242, 182, "mq_timedsend" }, { 243, 183, "mq_timedreceive" }, { 244, 184, "mq_notify" },
	{ 245, 185, "mq_getsetattr" }, { 246, 104, "kexec_load" }, { 247, 95, "waitid" },
	{ 248, 217, "add_key" }, { 249, 218, "request_key" }, { 250, 219, "keyctl" },
	{ 251, 30, "ioprio_set" }, { 252, 31, "ioprio_get" }, { 253, -1, "inotify_init" },
	{ 254, 27, "inotify_add_watch" }, { 255, 28, "inotify_rm_watch" },
	{ 256, 238, "migrate_pages" }, { 257, 56, "openat" }, { 258, 34, "mkdirat" },
	{ 259, 33, "mknodat" }, { 260, 54, "fchownat" }, { 261, -1, "futimesat" },
	{ 262, 79, "newfstatat" }, { 263, 35, "unlinkat" }, { 264, 38, "renameat" },
	{ 265, 37, "linkat" }, { 266, 36, "symlinkat" }, { 267, 78, "readlinkat" },
	{ 268, 53, "fchmodat" }, { 269, 48, "faccessat" }, { 270, 72, "pselect6" },
	{ 271, 73, "ppoll" }, { 272, 97, "unshare" }, { 273, 99, "set_robust_list" },
	{ 274, 100, "get_robust_list" }, { 275, 76, "splice" }, { 276, 77, "tee" },
	{ 277, 84, "sync_file_range" }, { 278, 75, "vmsplice" }, { 279, 239, "move_pages" },
	{ 280, 88, "utimensat" }, { 281, 22, "epoll_pwait" }, { 282, -1, "signalfd" },
	{ 283, 85, "timerfd_create" }, { 284, -1, "eventfd" }, { 285, 47, "fallocate" },
	{ 286, 86, "timerfd_settime" }, { 287, 87, "timerfd_gettime" }, { 288, 242, "accept4" },
	{ 289, 74, "signalfd4" }, { 290, 19, "eventfd2" }, { 291, 20, "epoll_create1" },
	{ 292, 24, "dup3" }, { 293, 59, "pipe2" }, { 294, 26, "inotify_init1" },
	{ 295, 69, "preadv" }, { 296, 70, "pwritev" }, { 297, 240, "rt_tgsigqueueinfo" },
	{ 298, 241, "perf_event_open" }, { 299, 243, "recvmmsg" }, { 300, 262, "fanotify_init" },
	{ 301, 263, "fanotify_mark" }, { 302, 261, "prlimit64" },
	{ 303, 264, "name_to_handle_at" }, { 304, 265, "open_by_handle_at" },
	{ 305, 266, "clock_adjtime" }, { 306, 267, "syncfs" }, { 307, 269, "sendmmsg" },
	{ 308, 268, "setns" }, { 309, 168, "getcpu" }, { 310, 270, "process_vm_readv" },
	{ 311, 271, "process_vm_writev" }, { 312, 272, "kcmp" }, { 313, 273, "finit_module" },
	{ 314, 274, "sched_setattr" }, { 315, 275, "sched_getattr" }, { 316, 276, "renameat2" },
	{ 317, 277, "seccomp" }, { 318, 278, "getrandom" }, { 319, 279, "memfd_create" },
	{ 320, 294, "kexec_file_load" }, { 321, 280, "bpf" }, { 322, 281, "execveat" },
	{ 323, 282, "userfaultfd" }, { 324, 283, "membarrier" }, { 325, 284, "mlock2" },
	{ 326, 285, "copy_file_range" }, { 327, 286, "preadv2" }, { 328, 287, "pwritev2" },
	{ 329, 288, "pkey_mprotect" }, { 330, 289, "pkey_alloc" }, { 331, 290, "pkey_free" },
	{ 332, 291, "statx" }, { 333, 292, "io_pgetevents" }, { 334, 293, "rseq" },
	{ 424, 424, "pidfd_send_signal" }, { 425, 425, "io_uring_setup" },
	{ 426, 426, "io_uring_enter" }, { 427, 427, "io_uring_register" },
	{ 428, 428, "open_tree" }, { 429, 429, "move_mount" }, { 430, 430, "fsopen" },
	{ 431, 431, "fsconfig" }, { 432, 432, "fsmount" }, { 433, 433, "fspick" },
	{ 434, 434, "pidfd_open" }, { 435, 435, "clone3" }, { 436, 436, "close_range" },
	{ 437, 437, "openat2" }, { 438, 438, "pidfd_getfd" }, { 439, 439, "faccessat2" },
	{ 440, 440, "process_madvise" }, { 441, 441, "epoll_pwait2" },
	{ 442, 442, "mount_setattr" }, { 443, 443, "quotactl_fd" },
	{ 444, 444, "landlock_create_ruleset" }, { 445, 445, "landlock_add_rule" },
	{ 446, 446, "landlock_restrict_self" }, { 447, 447, "memfd_secret" },
	{ 448, 448, "process_mrelease" }, { 449, 449, "futex_waitv" },
	{ 450, 450, "set_mempolicy_home_node" }, { -1, 403, "clock_gettime64" },
	{ -1, 404, "clock_settime64" }, { -1, 405, "clock_adjtime64" },
	{ -1, 406, "clock_getres_time64" }, { -1, 407, "clock_nanosleep_time64" },
	{ -1, 408, "timer_gettime64" }, { -1, 409, "timer_settime64" },
	{ -1, 410, "timerfd_gettime64" }, { -1, 411, "timerfd_settime64" },
	{ -1, 412, "utimensat_time64" }, { -1, 413, "pselect6_time64" },
	{ -1, 414, "ppoll_time64" }, { -1, 416, "io_pgetevents_time64" },
	{ -1, 417, "recvmmsg_time64" }, { -1, 418, "mq_timedsend_time64" },
	{ -1, 419, "mq_timedreceive_time64" }, { -1, 420, "semtimedop_time64" },
	{ -1, 421, "rt_sigtimedwait_time64" }, { -1, 422, "futex_time64" },
	{ -1, 423, "sched_rr_get_interval_time64" },
};
/* clang-format on */
#define NR_SYSCALLS (sizeof(syscalls) / sizeof(*syscalls))

static int number_of(size_t i)
{
#if defined(__x86_64__)
	return syscalls[i].x86;
#else
	return syscalls[i].arm64;
#endif
}

const char *syscalls_name(uint32_t nr)
{
	for (size_t i = 0; i < NR_SYSCALLS; i++)
		if (number_of(i) == (int)nr)
			return syscalls[i].name;
	return NULL;
}

static uint64_t batch_ns(void)
{
	uint64_t start = now_ns();

	for (int i = 0; i < PER_BATCH; i++)
		syscall(SYS_getppid);
	return now_ns() - start;
}

double syscalls_price_ns(void)
{
	uint64_t least = UINT64_MAX, ns;

	for (int i = 0; i < BATCHES; i++) {
		ns = batch_ns();
		least = ns < least ? ns : least;
	}
	return (double)least / PER_BATCH;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Giving up rights, the ones that others depend on last. */
#include "reader/jail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

#define NOBODY 65534

static const int allowed[] = {
	SCMP_SYS(read),		SCMP_SYS(pread64),
	SCMP_SYS(readv),	SCMP_SYS(lseek),
	SCMP_SYS(fstat),	SCMP_SYS(fcntl),
	SCMP_SYS(close),	SCMP_SYS(write),
	SCMP_SYS(munmap),	SCMP_SYS(mremap),
	SCMP_SYS(madvise),	SCMP_SYS(brk),
	SCMP_SYS(futex),	SCMP_SYS(clock_gettime),
	SCMP_SYS(getrandom),	SCMP_SYS(getpid),
	SCMP_SYS(gettid),	SCMP_SYS(sysinfo),
	SCMP_SYS(sched_yield),	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall),
	SCMP_SYS(exit),		SCMP_SYS(exit_group),
	SCMP_SYS(sigaltstack),
};

static uint64_t allowed_bytes; /* see jail_allow_bytes() */

static int limit(int what, uint64_t most)
{
	struct rlimit l = { most, most };
	struct rlimit now;

	if (!getrlimit(what, &now) && now.rlim_max < most) /* it takes rights to raise it */
		l.rlim_cur = l.rlim_max = now.rlim_max;
	return setrlimit(what, &l) ? -errno : 0;
}

/* What ends it with its parent goes with the user that it was. */
static int become_nobody(void)
{
	int signal = 0;

	if (geteuid())
		return 0;
	prctl(PR_GET_PDEATHSIG, &signal);
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return -errno;
	return prctl(PR_SET_PDEATHSIG, signal) ? -errno : 0;
}

int jail_keep(uint64_t caps)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_capget, &head, data))
		return -errno;
	for (size_t i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(caps >> 32 * i);
		data[i].effective &= data[i].permitted;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

static int drop_capabilities(void)
{
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ? -errno : jail_keep(0);
}

static int allow(scmp_filter_ctx ctx)
{
	/* Memory that could be run is none that a reader needs. */
	const struct scmp_arg_cmp not_run = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	/* Of open files only, which is what fstat() is. */
	const struct scmp_arg_cmp is_open =
		SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH);
	int err = 0;

	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed) && !err; i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	if (!err)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, not_run);
	if (!err)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, not_run);
	if (!err)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1, is_open);
	return err ? err : seccomp_load(ctx);
}

static int filter_calls(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = ctx ? allow(ctx) : -ENOMEM;

	seccomp_release(ctx);
	return err;
}

void jail_allow_bytes(uint64_t more)
{
	allowed_bytes = more;
}

__attribute__((unused)) static uint64_t most_bytes(void) /* under sanitizers */
{
	unsigned long long data = 0;
	FILE *f;

	if (!allowed_bytes)
		return JAIL_MAX_BYTES;
	f = fopen("/proc/self/statm", "re");
	if (f) {
		if (fscanf(f, "%*u %*u %*u %*u %*u %llu", &data) != 1)
			data = 0;
		fclose(f);
	}
	data = data * sysconf(_SC_PAGESIZE) + allowed_bytes;
	return data < JAIL_MAX_BYTES ? data : JAIL_MAX_BYTES;
}

static int set_limits(uint64_t cpu_ns)
{
	int err = 0;

#ifndef __SANITIZE_ADDRESS__ /* whose shadow is larger than any limit */
	err = limit(RLIMIT_DATA, most_bytes());
#endif
	if (!err)
		err = limit(RLIMIT_CPU, cpu_ns / 1000000000 + 1);
	return err ? err : limit(RLIMIT_CORE, 0);
}

void jail_go_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	limit(RLIMIT_CORE, 0);
	if (fd < 0)
		return;
	if (write(fd, "1000", 4) != 4)
		log_info("cannot tell the kernel that a reader is to go first: %s",
			 strerror(errno));
	close(fd);
}

/* Of links, programs, maps and iterators, and of the events themselves. */
static bool is_probe(int folder, const char *fd)
{
	static const char bpf[] = "anon_inode:bpf", event[] = "anon_inode:[perf_event]";
	char to[64];
	ssize_t sz = readlinkat(folder, fd, to, sizeof(to) - 1);

	to[sz < 0 ? 0 : sz] = '\0';
	return !strncmp(to, bpf, sizeof(bpf) - 1) || !strcmp(to, event);
}

void jail_leave_probes(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_probe(dirfd(d), e->d_name))
			close(atoi(e->d_name));
	if (d)
		closedir(d);
}

int jail_enter(uint64_t cpu_ns)
{
	int err = set_limits(cpu_ns);

	if (!err)
		err = become_nobody();
	if (!err)
		err = drop_capabilities();
	return err ? err : filter_calls();
}

/* --- lean --- */

#define WRITES                                                                                     \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                           \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |                           \
	 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |                               \
	 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |                             \
	 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

/* A kernel without it, or that was told to do without, forbids nothing. */
static int write_only_into(int folder)
{
	const struct landlock_ruleset_attr all = { .handled_access_fs =
							   WRITES | LANDLOCK_ACCESS_FS_EXECUTE };
	const struct landlock_path_beneath_attr but = { .allowed_access =
								LANDLOCK_ACCESS_FS_WRITE_FILE |
								LANDLOCK_ACCESS_FS_MAKE_REG |
								LANDLOCK_ACCESS_FS_REMOVE_FILE,
							.parent_fd = folder };
	int rules = syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0), err = 0;

	if (rules < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;
	if (folder >= 0 &&
	    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &but, 0))
		err = -errno;
	if (!err && syscall(SYS_landlock_restrict_self, rules, 0))
		err = -errno;
	close(rules);
	return err;
}

static int forbid(scmp_filter_ctx ctx)
{
	static const int never[] = {
		SCMP_SYS(execve),
		SCMP_SYS(execveat),
		SCMP_SYS(kill),
		SCMP_SYS(tkill),
		SCMP_SYS(tgkill),
		SCMP_SYS(pidfd_send_signal),
		SCMP_SYS(ptrace),
		SCMP_SYS(process_vm_readv),
		SCMP_SYS(process_vm_writev),
		SCMP_SYS(bpf),
		SCMP_SYS(perf_event_open),
		SCMP_SYS(mount),
		SCMP_SYS(umount2),
		SCMP_SYS(setns),
		SCMP_SYS(unshare),
		SCMP_SYS(init_module),
		SCMP_SYS(finit_module),
		SCMP_SYS(keyctl),
		SCMP_SYS(io_uring_setup),
		SCMP_SYS(socket),
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(never) / sizeof(*never) && !err; i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), never[i], 0);
	return err ? err : seccomp_load(ctx);
}

int jail_enter_lean(uint64_t cpu_ns, int folder)
{
	int err = set_limits(cpu_ns);
	scmp_filter_ctx ctx;

	if (!err)
		err = drop_capabilities();
	if (!err)
		err = write_only_into(folder);
	if (err)
		return err;
	ctx = seccomp_init(SCMP_ACT_ALLOW);
	err = ctx ? forbid(ctx) : -ENOMEM;
	seccomp_release(ctx);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks of the host before the start. */
#include "event/host.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"

#define MIN_MAJOR 5
#define MIN_MINOR 15
#define BTF_PATH  "/sys/kernel/btf/vmlinux"

static int check_kernel(void)
{
	struct utsname u;
	int major, minor;

	if (uname(&u) || sscanf(u.release, "%d.%d", &major, &minor) != 2)
		return log_err(-errno, "cannot read the kernel's version");
	if (major > MIN_MAJOR || (major == MIN_MAJOR && minor >= MIN_MINOR))
		return 0;
	log_err(0,
		"kernel %s is too old: bpfprof needs %d.%d or newer "
		"(BPF atomics and task registers)",
		u.release, MIN_MAJOR, MIN_MINOR);
	return -EOPNOTSUPP;
}

static int check_btf(void)
{
	if (!access(BTF_PATH, R_OK))
		return 0;
	log_err(-errno,
		"no kernel type information at %s "
		"(a kernel with CONFIG_DEBUG_INFO_BTF=y is needed)",
		BTF_PATH);
	return -EOPNOTSUPP;
}

static uint64_t effective_caps(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &head, data))
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

static int check_proc(void)
{
	if (!access("/proc/self/maps", R_OK))
		return 0;
	log_err(0, "/proc is not mounted here: processes and their mappings are not to be seen");
	return -EOPNOTSUPP;
}

static int check_caps(void)
{
	static const struct {
		int cap;
		const char *name, *use;
	} needed[] = {
		{ CAP_BPF, "CAP_BPF", "load BPF programs" },
		{ CAP_PERFMON, "CAP_PERFMON", "open perf events and read stacks" },
	};
	uint64_t caps = effective_caps();

	if (caps >> CAP_SYS_ADMIN & 1)
		return 0;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (caps >> needed[i].cap & 1)
			continue;
		log_err(0, "%s is missing (to %s): run with sudo, or grant CAP_BPF and CAP_PERFMON",
			needed[i].name, needed[i].use);
		return -EPERM;
	}
	return 0;
}

int host_check(void)
{
	int err = check_kernel();

	if (!err)
		err = check_caps();
	if (!err)
		err = check_proc();
	if (!err)
		err = check_btf();
	return err;
}

long host_sysctl(const char *name, long fallback)
{
	char path[128];
	long value;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	f = fopen(path, "re");
	if (!f)
		return fallback;
	if (fscanf(f, "%ld", &value) != 1)
		value = fallback;
	fclose(f);
	return value;
}

uint32_t host_max_rate(void)
{
	return host_sysctl("kernel/perf_event_max_sample_rate", 100000);
}

/* Does the process that we see as pid call itself inner in its own, inner PID namespace? */
static bool is_called(const char *pid, uint32_t inner)
{
	char path[300], line[256];
	bool called = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *last;

		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		called = last > line + 6 && strtoul(last, NULL, 10) == inner;
		break;
	}
	if (f)
		fclose(f);
	return called;
}

static uint32_t find_inner_pid(uint32_t inner)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	uint32_t found = 0;

	while (dir && !found && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]) && is_called(e->d_name, inner))
			found = strtoul(e->d_name, NULL, 10);
	if (dir)
		closedir(dir);
	return found;
}

int host_check_pid(uint32_t pid, bool thread)
{
	const char *what = thread ? "thread" : "process";
	char path[64];
	uint32_t outer;

	/*
	 * /proc/TID exists for threads too, but only a process is its own group leader's entry in
	 * /proc/PID/task.
	 */
	snprintf(path, sizeof(path), "/proc/%u/task/%u", pid, pid);
	if (!access(path, F_OK))
		return 0;
	outer = thread ? 0 : find_inner_pid(pid);
	if (outer)
		log_err(0,
			"no process %u here; process %u calls itself %u "
			"inside its PID namespace: use -p %u",
			pid, outer, pid, outer);
	else
		log_err(0, "no %s %u", what, pid);
	return -ESRCH;
}

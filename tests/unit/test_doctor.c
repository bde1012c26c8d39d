/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each row of doctor in each of its states, on machines that we do not have. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/capability.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "doctor/doctor.h"
#include "tests/unit/catalogs.h"

#define MAX_MS	  50 /* what commands may take for the rows that come first */
#define ALL_CAPS  (~0ull)
#define BIT(cap)  (1ull << (cap))
#define FIRST_NS  "pid:[4026531836]"
#define FIRST_MAP "/proc/self/uid_map 0 0 4294967295"

static struct machine m;

static const struct doctor_row *row_named(const char *name)
{
	for (size_t i = 0; i < doctor_nr_rows; i++)
		if (!strcmp(doctor_rows[i].name, name))
			return &doctor_rows[i];
	fail_msg("no row '%s'", name);
	return NULL;
}

/* A machine on which all is well, as far as system calls tell. */
static void made(void)
{
	m = (struct machine){
		.root = root,
		.uts = { .release = "6.12.0", .machine = "x86_64", .version = "#1 SMP" },
		.caps = ALL_CAPS,
		.nofile = { 1024, 1u << 20 },
		.memlock = { RLIM_INFINITY, RLIM_INFINITY },
		.as = { RLIM_INFINITY, RLIM_INFINITY },
		.nr_cpus = 4,
		.libdw = "0.188",
		.may_ask = true,
		.catalog = catalog,
		.counters = 6,
	};
	m.hazards = hazards_host_named(&m.uts);
}

static void link_to(const char *path, const char *to)
{
	char full[512];

	machine_put(root, path, "");
	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(unlink(full), 0);
	assert_int_equal(symlink(to, full), 0);
}

/* What it found, and of rows that are not ok what the row says. */
static void expect(const char *name, enum doctor_state state, const char *value, const char *text)
{
	struct finding f;

	doctor_look(row_named(name), &m, &f);
	if (f.state != state || !strstr(f.found, value))
		fail_msg("%s: %s, '%s'", name, doctor_state_text(f.state), f.found);
	if (state == DOCTOR_OK) {
		assert_string_equal(f.consequence, "");
		return;
	}
	/* Whatever is wrong, what follows and what helps is said. */
	assert_true(*f.consequence && *f.remedy);
	if (text && !strstr(f.consequence, text) && !strstr(f.remedy, text))
		fail_msg("%s: '%s' is not in: %s: %s", name, text, f.consequence, f.remedy);
}

/* Rows of files -------------------------------------------------------------------------------- */

static const struct {
	const char *row, *files;
	enum doctor_state state;
	const char *found, *said;
} cases[] = {
	{ "type information", "/sys/kernel/btf/vmlinux x", DOCTOR_OK, "btf", NULL },
	{ "type information", "/sys/kernel/x y", DOCTOR_MISSING, "none", "CONFIG_DEBUG_INFO_BTF" },
	{ "type information", "", DOCTOR_MISSING, "not shown", "mount -t sysfs" },
	{ "JIT for BPF", "/proc/sys/net/core/bpf_jit_enable 1", DOCTOR_OK, "1", NULL },
	{ "JIT for BPF", "/proc/sys/net/core/bpf_jit_enable 0", DOCTOR_LIMITED, "0",
	  "interpreted" },
	{ "JIT for BPF", "", DOCTOR_OK, "not shown", NULL },
	{ "lockdown", "", DOCTOR_OK, "none", NULL },
	{ "lockdown", "/sys/kernel/security/lockdown none [integrity] confidentiality", DOCTOR_OK,
	  "integrity", NULL },
	{ "lockdown", "/sys/kernel/security/lockdown none integrity [confidentiality]",
	  DOCTOR_MISSING, "confidentiality", "lockdown=integrity" },
	{ "/proc", "", DOCTOR_MISSING, "not mounted", "mount -t proc" },
	{ "/proc", "/proc/self/maps x", DOCTOR_OK, "mounted", NULL },
	{ "tracefs", "/sys/kernel/tracing/events/x y", DOCTOR_OK, "/sys/kernel/tracing", NULL },
	{ "tracefs", "/sys/kernel/debug/tracing/events/x y", DOCTOR_OK, "debug/tracing", NULL },
	{ "tracefs", "/sys/kernel/tracing/x y", DOCTOR_OK, "not mounted", NULL },
	{ "tracefs", "/sys/kernel/x y", DOCTOR_LIMITED, "not mounted", "root" },
	{ "tracefs", "", DOCTOR_LIMITED, "not shown", "mount -t sysfs" },
	{ "probes at functions", "@uprobe/type 9", DOCTOR_OK, "offered", NULL },
	{ "probes at functions", "@kprobe/type 8", DOCTOR_LIMITED, "not offered",
	  "CONFIG_UPROBE_EVENTS" },
	{ "probes at functions", "", DOCTOR_LIMITED, "not shown", "mount -t sysfs" },
	{ "probes of the kernel", "@kprobe/type 8", DOCTOR_OK, "offered", NULL },
	{ "probes of the kernel", "@uprobe/type 9", DOCTOR_LIMITED, "not offered", "tracepoints" },
	{ "probes of the kernel", "", DOCTOR_LIMITED, "not shown", "mount -t sysfs" },

	{ "user namespace", FIRST_MAP, DOCTOR_OK, "the host's", NULL },
	{ "user namespace", "/proc/self/uid_map 0 1000 1", DOCTOR_MISSING, "another", "host" },
	{ "user namespace", "/proc/self/uid_map 0 100000 65536", DOCTOR_MISSING, "another", NULL },
	{ "container", "", DOCTOR_OK, "none", NULL },
	{ "container", "/.dockerenv x", DOCTOR_LIMITED, "docker", "host" },
	{ "container", "/run/.containerenv x", DOCTOR_LIMITED, "podman", NULL },
	{ "container", "/run/systemd/container systemd-nspawn", DOCTOR_LIMITED, "nspawn", NULL },
	{ "seccomp", "/proc/self/status Name:\tx|Seccomp:\t0|Seccomp_filters:\t0", DOCTOR_OK,
	  "no filter", NULL },
	{ "seccomp", "/proc/self/status Name:\tx|Seccomp:\t2|Seccomp_filters:\t3", DOCTOR_OK,
	  "filters: 3, denied: nothing", NULL },
	{ "perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid 2", DOCTOR_OK, "2", NULL },
	{ "perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid 4", DOCTOR_OK, "4", NULL },
	{ "perf_event_paranoid", "", DOCTOR_OK, "not shown", NULL },
	{ "kptr_restrict", "/proc/sys/kernel/kptr_restrict 1", DOCTOR_OK, "1", NULL },
	{ "kptr_restrict", "/proc/sys/kernel/kptr_restrict 2", DOCTOR_LIMITED, "2",
	  "kptr_restrict=0" },
	{ "unprivileged BPF", "/proc/sys/kernel/unprivileged_bpf_disabled 2", DOCTOR_OK,
	  "2, denied", NULL },
	{ "unprivileged BPF", "/proc/sys/kernel/unprivileged_bpf_disabled 0", DOCTOR_OK, "allowed",
	  NULL },

	{ "control groups", "/sys/kernel/x y", DOCTOR_LIMITED, "version 1", "cgroup2" },
	{ "control groups", "", DOCTOR_LIMITED, "not shown", "mount -t sysfs" },
	{ "control groups", "/sys/fs/cgroup/cgroup.controllers cpu", DOCTOR_OK, "version 2", NULL },
	{ "control groups", "/sys/fs/cgroup/unified/cgroup.controllers cpu", DOCTOR_OK, "both",
	  NULL },
	{ "memory of the cgroup", "", DOCTOR_OK, "unlimited", NULL },
	{ "memory of the cgroup",
	  "/sys/fs/cgroup/cgroup.controllers memory\n/proc/self/cgroup 0::/a/b\n"
	  "/sys/fs/cgroup/a/memory.max 67108864\n/sys/fs/cgroup/a/b/memory.max max",
	  DOCTOR_LIMITED, "64 MB", "--stack-mem" },
	{ "memory of the cgroup",
	  "/sys/fs/cgroup/cgroup.controllers memory\n/proc/self/cgroup 0::/a/b\n"
	  "/sys/fs/cgroup/a/memory.max 67108864000\n/sys/fs/cgroup/a/b/memory.max 1073741824",
	  DOCTOR_OK, "1 GB", NULL },
	{ "memory of the cgroup",
	  "/proc/self/cgroup 4:memory:/a|0::/\n"
	  "/sys/fs/cgroup/memory/a/memory.limit_in_bytes 33554432\n"
	  "/sys/fs/cgroup/memory/memory.limit_in_bytes 9223372036854771712",
	  DOCTOR_LIMITED, "32 MB", "refuse" },
	{ "sampling rate", "/proc/sys/kernel/perf_event_max_sample_rate 500", DOCTOR_LIMITED,
	  "500 Hz", "at most 500" },
	{ "sampling rate",
	  "/proc/sys/kernel/perf_event_max_sample_rate 100000\n"
	  "/proc/sys/kernel/perf_cpu_time_max_percent 25",
	  DOCTOR_OK, "100000 Hz", NULL },
	{ "sampling rate",
	  "/proc/sys/kernel/perf_event_max_sample_rate 100000\n"
	  "/proc/sys/kernel/perf_cpu_time_max_percent 0",
	  DOCTOR_LIMITED, "100000 Hz", "perf_cpu_time_max_percent=25" },

	{ "debug files", "/usr/lib/debug/.build-id/00/x.debug y", DOCTOR_OK, ".build-id", NULL },
	{ "debug files", "", DOCTOR_LIMITED, "none", "dbgsym" },
	{ "DWARF", "", DOCTOR_OK, "libdw 0.188", NULL },

	{ "SMT", "/sys/devices/system/cpu/smt/active 1", DOCTOR_LIMITED, "on", "smt/control" },
	{ "SMT", "/sys/devices/system/cpu/smt/active 0", DOCTOR_OK, "off", NULL },
	{ "SMT", "", DOCTOR_OK, "not shown", NULL },
	{ "governor", "", DOCTOR_OK, "none here", NULL },
	{ "governor",
	  "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor performance\n"
	  "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor performance",
	  DOCTOR_OK, "performance", NULL },
	{ "governor",
	  "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor performance\n"
	  "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor powersave",
	  DOCTOR_LIMITED, "powersave on 1 of 2 CPUs", "cpupower" },
	{ "turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo 0", DOCTOR_LIMITED, "on",
	  "no_turbo" },
	{ "turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo 1", DOCTOR_OK, "off", NULL },
	{ "turbo", "/sys/devices/system/cpu/cpufreq/boost 1", DOCTOR_LIMITED, "on", NULL },
	{ "turbo", "/sys/devices/system/cpu/cpufreq/boost 0", DOCTOR_OK, "off", NULL },
	{ "turbo", "", DOCTOR_OK, "none here", NULL },
	{ "ASLR", "/proc/sys/kernel/randomize_va_space 2", DOCTOR_LIMITED, "on", "setarch -R" },
	{ "ASLR", "/proc/sys/kernel/randomize_va_space 0", DOCTOR_OK, "off", NULL },
	{ "isolated CPUs", "/sys/devices/system/cpu/isolated  ", DOCTOR_OK, "none", NULL },
	{ "isolated CPUs", "/sys/devices/system/cpu/isolated 2-3", DOCTOR_OK, "isolated 2-3",
	  NULL },
	{ "isolated CPUs", "/sys/devices/system/cpu/nohz_full (null)", DOCTOR_OK, "none", NULL },
	{ "isolated CPUs",
	  "/sys/devices/system/cpu/isolated 2-3\n/sys/devices/system/cpu/nohz_full 3",
	  DOCTOR_LIMITED, "isolated 2-3, nohz_full 3", "-C LIST" },
	{ "virtual machine", "/proc/cpuinfo flags\t\t: fpu hypervisor sse", DOCTOR_LIMITED, "yes",
	  "stat -r" },
	{ "virtual machine",
	  "/proc/cpuinfo flags\t\t: fpu sse\n/sys/class/dmi/id/sys_vendor Amazon EC2", DOCTOR_OK,
	  "Amazon EC2", NULL },
	{ "virtual machine", "/sys/hypervisor/type xen", DOCTOR_LIMITED, "xen", NULL },
	{ "clock", "/sys/devices/system/clocksource/clocksource0/current_clocksource tsc",
	  DOCTOR_OK, "tsc", NULL },
	{ "clock", "/sys/devices/system/clocksource/clocksource0/current_clocksource hpet",
	  DOCTOR_LIMITED, "hpet", "clocksource=tsc" },
	{ "load", "/proc/loadavg 0.50 0.4 0.3 1/200 999", DOCTOR_OK, "0.50 on 4", NULL },
	{ "load", "/proc/loadavg 9.50 0.4 0.3 1/200 999", DOCTOR_LIMITED, "9.50 on 4", "idle" },
	{ "other tracers", "/proc/7/stat 7 (nginx) S 1 1 1 0", DOCTOR_OK, "none", NULL },
	{ "other tracers",
	  "/proc/7/stat 7 (perf) S 1 1 1 0\n/proc/8/stat 8 (perf) S 7 1 1 0\n"
	  "/proc/9/stat 9 (runqlat-bpfcc) S 1 1 1 0",
	  DOCTOR_LIMITED, "perf (7), runqlat-bpfcc (9)", "stop them" },
};

static void test_rows_of_files(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		enter_files(cases[i].files);
		made();
		expect(cases[i].row, cases[i].state, cases[i].found, cases[i].said);
	}
}

/* Rows of system calls ------------------------------------------------------------------------- */

static void test_kernels(void **state)
{
	static const struct {
		const char *release;
		enum doctor_state state;
	} kernels[] = { { "5.14.21", DOCTOR_MISSING },
			{ "5.15.0-91-generic", DOCTOR_OK },
			{ "4.19.0", DOCTOR_MISSING },
			{ "10.0.1", DOCTOR_OK },
			{ "nonsense", DOCTOR_MISSING } };

	enter_files("");
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		made();
		strcpy(m.uts.release, kernels[i].release);
		expect("kernel", kernels[i].state, kernels[i].release, "is too old");
	}
	expect("architecture", DOCTOR_OK, "x86_64", NULL);
	strcpy(m.uts.machine, "aarch64");
	expect("architecture", DOCTOR_OK, "aarch64", NULL);
	strcpy(m.uts.machine, "riscv64");
	expect("architecture", DOCTOR_MISSING, "riscv64", "no stacks of riscv64");
}

static void named(const char *release, const char *version, const char *machine)
{
	struct utsname u = {};

	strcpy(u.release, release);
	strcpy(u.version, version);
	strcpy(u.machine, machine);
	m.hazards = hazards_host_named(&u);
}

static void test_known_bad_kernels(void **state)
{
	enter_files("");
	made();
	expect("known-bad kernel", DOCTOR_OK, "none known", NULL);
	named("6.1.25-37.47.amzn2023.x86_64", "#1 SMP", "x86_64");
	expect("known-bad kernel", DOCTOR_MISSING, "it is", "lock up");
	m.uses = USE_PROBE;
	expect("known-bad kernel", DOCTOR_OK, "none known", NULL);
	m.uses = 0;
	named("6.1.26", "#1 SMP", "x86_64");
	expect("known-bad kernel", DOCTOR_OK, "none known", NULL);
	/* Debian hides the number in the version; where there is none, nothing is known. */
	named("6.1.0-7-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.20-1 (2023-03-19)", "x86_64");
	expect("known-bad kernel", DOCTOR_MISSING, "it is", "--unsafe-kernel");
	named("6.1.0-13-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1 (2023-09-29)", "x86_64");
	expect("known-bad kernel", DOCTOR_OK, "none known", NULL);
	named("6.1.0-custom", "#1 SMP", "x86_64");
	expect("known-bad kernel", DOCTOR_OK, "none known", NULL);
	/* Of Arm the one that is shown only. */
	named("6.12.40-64.114.amzn2023.aarch64", "#1 SMP", "aarch64");
	expect("known-bad kernel", DOCTOR_LIMITED, "it is", "-U");
	named("6.12.40-64.114.amzn2023.x86_64", "#1 SMP", "x86_64");
	expect("known-bad kernel", DOCTOR_OK, "none known", NULL);
	/* Probes, by whether the kernel can be preempted, and programs can forbid it. */
	named("6.14.1", "#1 SMP PREEMPT", "x86_64");
	expect("known-bad kernel", DOCTOR_MISSING, "it is", "panics");
	m.hazards.can_forbid = true;
	expect("known-bad kernel", DOCTOR_OK, "none known", NULL);
	m.hazards.can_forbid = m.hazards.preemptible = false;
	expect("known-bad kernel", DOCTOR_OK, "none known", NULL);
	named("6.12.117+deb13-rt-amd64", "#1 SMP PREEMPT_RT Debian 6.12.117-1", "x86_64");
	expect("known-bad kernel", DOCTOR_LIMITED, "it is", "no-thread-state");
	m.hazards.can_forbid = true;
	expect("known-bad kernel", DOCTOR_OK, "none known", NULL);
	/* Those that bpfprof steps around, or that do no harm. */
	named("6.18.1", "#1 SMP PREEMPT_DYNAMIC", "x86_64");
	m.hazards.preemptible = false;
	m.hazards.has_uprobe_call = true;
	expect("known-bad kernel", DOCTOR_LIMITED, "it is", "5-byte nop");
	m.hazards.debugs_ext4 = true;
	expect("known-bad kernel", DOCTOR_LIMITED, "it is", "ext4_check_map_extents_env");
	m.hazards.has_uprobe_call = false;
	expect("known-bad kernel", DOCTOR_LIMITED, "it is", "CONFIG_EXT4_DEBUG");
	m.uses = USE_SAMPLE;
	expect("known-bad kernel", DOCTOR_OK, "none known", NULL);
	named("6.12.1", "#1 SMP", "x86_64");
	m.hazards.debugs_ext4 = true;
	m.uses = 0;
	expect("known-bad kernel", DOCTOR_OK, "none known", NULL);
}

static void test_capabilities(void **state)
{
	enter_files("");
	made();
	expect("capabilities", DOCTOR_OK, "CAP_SYS_ADMIN", NULL);
	expect("other capabilities", DOCTOR_OK, "all", NULL);
	m.caps = BIT(CAP_BPF) | BIT(CAP_PERFMON);
	expect("capabilities", DOCTOR_OK, "CAP_BPF and CAP_PERFMON", NULL);
	expect("other capabilities", DOCTOR_LIMITED, "without SYS_PTRACE", "CAP_SYS_PTRACE");
	m.caps = ALL_CAPS & ~BIT(CAP_SETGID);
	expect("other capabilities", DOCTOR_LIMITED, "without SETGID", "be nobody");
	m.uid = 1000; /* whose children stay what they are */
	expect("other capabilities", DOCTOR_OK, "all", NULL);
	m.caps = BIT(CAP_PERFMON);
	expect("capabilities", DOCTOR_MISSING, "some", "CAP_BPF is missing");
	m.caps = BIT(CAP_BPF);
	expect("capabilities", DOCTOR_MISSING, "some", "CAP_PERFMON is missing");
	m.caps = 0;
	expect("capabilities", DOCTOR_MISSING, "none", "sudo");
}

static void test_file_capabilities(void **state)
{
	enter_files("");
	made();
	expect("file capabilities", DOCTOR_OK, "none", NULL);
	m.uid = 1000;
	expect("file capabilities", DOCTOR_LIMITED, "none", "setcap");
	m.file_caps = BIT(CAP_SYS_PTRACE);
	expect("file capabilities", DOCTOR_LIMITED, "others", NULL);
	m.file_caps = BIT(CAP_BPF) | BIT(CAP_PERFMON);
	expect("file capabilities", DOCTOR_OK, "with CAP_BPF", NULL);
}

static void test_settings_that_capabilities_pass(void **state)
{
	enter_files("/proc/sys/kernel/perf_event_paranoid 4\n"
		    "/proc/sys/kernel/kptr_restrict 1\n/proc/self/maps x\n"
		    "/proc/self/mounts proc /proc proc rw,hidepid=2 0 0\n"
		    "/proc/sys/kernel/perf_event_mlock_kb 64");
	made();
	expect("/proc", DOCTOR_OK, "with hidepid", NULL);
	expect("locked memory", DOCTOR_OK, "not limited", NULL);
	m.caps = BIT(CAP_BPF) | BIT(CAP_PERFMON);
	expect("perf_event_paranoid", DOCTOR_LIMITED, "4", "Debian");
	expect("kptr_restrict", DOCTOR_LIMITED, "1", NULL);
	m.memlock.rlim_cur = 65536;
	expect("locked memory", DOCTOR_LIMITED, "64 KB", "CAP_IPC_LOCK");
	m.memlock.rlim_cur = 1 << 20;
	expect("locked memory", DOCTOR_OK, "1 MB", NULL);
	m.caps = 0;
	expect("/proc", DOCTOR_LIMITED, "with hidepid", "other users");
}

static void test_pid_namespaces(void **state)
{
	enter_files("");
	made();
	expect("PID namespace", DOCTOR_OK, "the host's", NULL);
	link_to("/proc/self/ns/pid", FIRST_NS);
	expect("PID namespace", DOCTOR_OK, "the host's", NULL);
	link_to("/proc/self/ns/pid", "pid:[4026532001]");
	expect("PID namespace", DOCTOR_MISSING, "4026532001", "--pid=host");
	/* An image of a container that a machine was made of. */
	enter_files("/.dockerenv x");
	made();
	link_to("/proc/self/ns/pid", FIRST_NS);
	expect("container", DOCTOR_LIMITED, "docker", NULL);
	link_to("/proc/self/ns/uts", "uts:[4026531838]");
	link_to("/proc/self/ns/ipc", "ipc:[4026531839]");
	expect("container", DOCTOR_OK, "none", NULL);
	link_to("/proc/self/ns/mnt", "mnt:[1]");
	expect("container", DOCTOR_OK, "none", NULL);
	link_to("/proc/1/ns/mnt", "mnt:[1]");
	expect("container", DOCTOR_OK, "none", NULL);
	link_to("/proc/self/ns/mnt", "mnt:[2]");
	expect("container", DOCTOR_LIMITED, "docker", NULL);
}

/* Each layer that may say no to bpf() and to perf_event_open(). */
static void test_calls_and_who_denies_them(void **state)
{
	enter_files("/proc/self/status Seccomp:\t2|Seccomp_filters:\t1");
	made();
	expect("bpf()", DOCTOR_OK, "allowed", NULL);
	expect("perf_event_open()", DOCTOR_OK, "allowed", NULL);
	m.bpf = (struct machine_call){ .err = -EPERM, .filtered = true };
	expect("bpf()", DOCTOR_MISSING, "Operation not permitted", "seccomp filter denies bpf()");
	expect("seccomp", DOCTOR_OK, "denied: bpf()", NULL);
	m.bpf = (struct machine_call){ .killed = true, .filtered = true };
	expect("bpf()", DOCTOR_MISSING, "ends the process", "SystemCallFilter");
	m.bpf = (struct machine_call){ .err = -ENOSYS };
	expect("bpf()", DOCTOR_MISSING, "not implemented", "built without bpf()");
	m.bpf = (struct machine_call){ .err = -EACCES };
	expect("bpf()", DOCTOR_MISSING, "Permission denied", "security module");
	m.caps = 0;
	expect("bpf()", DOCTOR_OK, "with CAP_BPF", NULL);
	enter_files("/proc/self/uid_map 0 1000 1"); /* whose root is nobody for the kernel */
	made();
	m.bpf = m.sampler = (struct machine_call){ .err = -EPERM };
	expect("bpf()", DOCTOR_OK, "with CAP_BPF", NULL);
	expect("perf_event_open()", DOCTOR_OK, "with CAP_PERFMON", NULL);
	enter_files("/proc/self/status Seccomp:\t2|Seccomp_filters:\t1");
	made();
	m.perf = (struct machine_call){ .err = -EPERM, .filtered = true };
	m.sampler = m.perf;
	expect("perf_event_open()", DOCTOR_MISSING, "not permitted", "seccomp filter denies perf");
	expect("seccomp", DOCTOR_OK, "denied: perf_event_open()", NULL);
	m.bpf = m.perf;
	expect("seccomp", DOCTOR_OK, "denied: bpf(), perf_event_open()", NULL);
	made();
	m.sampler.err = -EACCES;
	expect("perf_event_open()", DOCTOR_MISSING, "Permission denied", "security module");
	m.caps = 0;
	expect("perf_event_open()", DOCTOR_OK, "of own threads", NULL);
}

static void test_limits(void **state)
{
	enter_files("");
	made();
	expect("open files", DOCTOR_OK, "1048576", NULL);
	m.nofile.rlim_max = RLIM_INFINITY;
	expect("open files", DOCTOR_OK, "unlimited", NULL);
	m.nofile.rlim_max = 1024;
	expect("open files", DOCTOR_OK, "1024", NULL);
	m.nr_cpus = 256;
	expect("open files", DOCTOR_LIMITED, "1024", "ulimit -Hn 1280");
	expect("address space", DOCTOR_OK, "unlimited", NULL);
	m.as.rlim_cur = 512 << 20;
	expect("address space", DOCTOR_LIMITED, "MB", "ulimit -v");
	m.as.rlim_cur = 8ull << 30;
	expect("address space", DOCTOR_OK, "8 GB", NULL);
}

/* Counters ------------------------------------------------------------------------------------- */

static const char *const of_pmu[] = { "free counters", "events that count", "branch records" };

static void test_counters(void **state)
{
	enter("n1");
	made();
	strcpy(m.uts.machine, "aarch64");
	expect("PMU", DOCTOR_OK, "Neoverse", NULL);
	expect("free counters", DOCTOR_OK, "6 free for any event, and one for cycles", NULL);
	m.counters = 2;
	expect("free counters", DOCTOR_LIMITED, "2 free", "takes turns");
	m.counters = 0;
	expect("free counters", DOCTOR_LIMITED, "0 free", "no counter is free");
	m.nr_events = 2;
	m.events[0] = (struct machine_event){ "cycles", TRIAL_COUNTS };
	m.events[1] = (struct machine_event){ "branches", TRIAL_USER_ONLY };
	expect("events that count", DOCTOR_OK, "2 of 2", NULL);
	m.events[1].state = TRIAL_ZERO;
	expect("events that count", DOCTOR_LIMITED, "1 of 2", "branches (opens, counted 0)");
	m.nr_events = MACHINE_MAX_EVENTS;
	for (size_t i = 0; i < MACHINE_MAX_EVENTS; i++)
		m.events[i] = (struct machine_event){ "br_mis_pred_retired", TRIAL_NOT_SUPPORTED };
	m.events[MACHINE_MAX_EVENTS - 1].name = "the_last";
	expect("events that count", DOCTOR_LIMITED, "0 of 16", "the_last (not supported)");
	expect("branch records", DOCTOR_LIMITED, "none", "--branches");
	expect("NMI watchdog", DOCTOR_OK, "off", NULL);
	machine_put(root, "/proc/sys/kernel/nmi_watchdog", "1");
	expect("NMI watchdog", DOCTOR_LIMITED, "on", "nmi_watchdog=0");
	expect("pseudo-NMI", DOCTOR_LIMITED, "off", "gicv3_pseudo_nmi=1");
	machine_put(root, "/proc/cmdline", "root=/dev/vda irqchip.gicv3_pseudo_nmi=1 quiet");
	expect("pseudo-NMI", DOCTOR_OK, "on", NULL);
	strcpy(m.uts.machine, "x86_64");
	expect("pseudo-NMI", DOCTOR_OK, "not needed", NULL);
}

static void test_no_counters(void **state)
{
	struct finding pmu, f;

	enter_files("/proc/sys/kernel/nmi_watchdog 1\n@software/type 1");
	made();
	expect("PMU", DOCTOR_LIMITED, "none", "no hardware counters");
	doctor_look(row_named("PMU"), &m, &pmu);
	/* The others have the same cause, and say so in the same words. */
	for (size_t i = 0; i < ARRAY_SIZE(of_pmu); i++) {
		expect(of_pmu[i], DOCTOR_LIMITED, "no PMU", NULL);
		doctor_look(row_named(of_pmu[i]), &m, &f);
		assert_string_equal(f.consequence, pmu.consequence);
	}
	expect("NMI watchdog", DOCTOR_OK, "on", NULL);
}

static void test_branch_records(void **state)
{
	enter_files("@cpu/type 4\n@cpu/caps/branches 32\n"
		    "/proc/cpuinfo vendor_id\t: GenuineIntel");
	made();
	expect("branch records", DOCTOR_OK, "32 deep", NULL);
}

/* Moments -------------------------------------------------------------------------------------- */

static void test_moments(void **state)
{
	enter_files("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq 3000000\n"
		    "/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq 2000000\n"
		    "/proc/stat cpu 10 0 10 80 0 0 0 5 0 0\n"
		    "/proc/7/stat 7 (a) b) S 1 1 1 0 -1 0 0 0 0 0 30 12 0 0\n"
		    "/proc/8/stat 8 (idle) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0\n"
		    "/proc/9/stat 9 (kworker) S 2 1 1 0 -1 0 0 0 0 0 90 90 0 0");
	made();
	expect("frequency", DOCTOR_OK, "not shown", NULL);
	moment_measure(&m.moment, root, 1000000);
	assert_int_equal(m.moment.nr_busy, 1);
	assert_int_equal(m.moment.busy[0].pid, 7);
	assert_int_equal(m.moment.busy[0].before, 42);
	expect("frequency", DOCTOR_LIMITED, "2000 to 3000 MHz", "different");
	m.moment.lowest = 2990000;
	expect("frequency", DOCTOR_OK, "2990 to 3000 MHz", NULL);
	expect("steal", DOCTOR_OK, "0.0%", NULL);
	m.moment.steal_pct = 7.5;
	expect("steal", DOCTOR_LIMITED, "7.5%", "hypervisor");
}

static void test_tracers_by_their_programs(void **state)
{
	enter_files("");
	made();
	m.may_ask = false;
	expect("other tracers", DOCTOR_OK, "by their names", NULL);
	m.may_ask = true;
	m.nr_programs = 3;
	expect("other tracers", DOCTOR_LIMITED, "3 BPF programs", NULL);
}

/* Names ---------------------------------------------------------------------------------------- */

/* A process whose program is our own file (unit tests have debug information), or a made-up one. */
static void run_program(uint32_t pid, const char *program, const char *command_line)
{
	char path[64], stat[96];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	snprintf(stat, sizeof(stat), "%u (x) S 1 1 1 0 -1 0 0 0 0 0 5 5 0 0", pid);
	machine_put(root, path, stat);
	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	machine_put(root, path, command_line);
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	link_to(path, program);
}

static void test_busiest_programs(void **state)
{
	char own[512] = "";

	enter_files("/var/lib/dpkg/info/base:amd64.list /usr/bin/other|/bin/true\n"
		    "/var/lib/dpkg/info/coreutils.list /.|/bin/true|/bin/sleep");
	made();
	expect("busiest programs", DOCTOR_OK, "none are busy", NULL);
	/* One that this user may not look at. */
	run_program(69, "/nowhere/at/all", "x");
	moment_measure(&m.moment, root, 1000);
	expect("busiest programs", DOCTOR_LIMITED, "not shown", "run as root");
	assert_true(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
	run_program(70, own, "own");
	run_program(71, own, "the same again");
	moment_measure(&m.moment, root, 1000);
	expect("busiest programs", DOCTOR_OK, "1 of 1", NULL);
	/* What is no ELF file is passed over. */
	machine_put(root, "/script", "#!/bin/sh");
	run_program(72, "/nowhere/at/all", "x");
	moment_measure(&m.moment, root, 1000);
	expect("busiest programs", DOCTOR_OK, "1 of 1", NULL);
}

/* A program of the distribution: stripped, of a package. */
static void test_busiest_program_without_symbols(void **state)
{
	char path[PATH_MAX] = "", list[PATH_MAX + 16];
	const char *usual[] = { "/usr/bin/true", "/bin/true" };

	for (size_t i = 0; i < ARRAY_SIZE(usual) && !*path; i++)
		if (!realpath(usual[i], path))
			*path = '\0';
	if (!*path)
		skip();
	enter_files("");
	snprintf(list, sizeof(list), "/.|%s|/x", strncmp(path, "/usr", 4) ? path : path + 4);
	machine_put(root, "/var/lib/dpkg/info/made-up.list", list);
	made();
	run_program(70, path, "x");
	moment_measure(&m.moment, root, 1000);
	expect("busiest programs", DOCTOR_LIMITED, "0 of 1", "made-up-dbgsym");
}

static void test_runtimes(void **state)
{
	enter_files("");
	made();
	expect("runtimes", DOCTOR_OK, "none are running", NULL);
	run_program(70, "/usr/bin/node", "node|--perf-basic-prof|x.js");
	run_program(71, "/usr/bin/python3.11", "python3");
	run_program(72, "/usr/lib/jvm/bin/java", "java|-jar");
	expect("runtimes", DOCTOR_OK, "3, of which 3", NULL);
	run_program(73, "/usr/bin/node", "node|x.js");
	expect("runtimes", DOCTOR_LIMITED, "4, of which 3", "node --perf-basic-prof");
	machine_put(root, "/proc/73/environ", "NODE_OPTIONS=--perf-basic-prof");
	expect("runtimes", DOCTOR_OK, "4, of which 4", NULL);
	run_program(74, "/usr/bin/java", "java|-XX:+DisableAttachMechanism");
	expect("runtimes", DOCTOR_LIMITED, "5, of which 4", "DisableAttachMechanism");
	run_program(74, "/usr/bin/python3.7", "x");
	expect("runtimes", DOCTOR_LIMITED, "5, of which 4", "not of python3.7");
	run_program(74, "/usr/bin/python2.7", "x");
	expect("runtimes", DOCTOR_LIMITED, "5, of which 4", "python2.7");
	run_program(74, "/usr/bin/python3.14", "x");
	expect("runtimes", DOCTOR_OK, "5, of which 5", NULL);
}

static void test_debuginfod(void **state)
{
	enter_files("");
	made();
	expect("debuginfod", DOCTOR_OK, "no server", NULL);
	m.debuginfod_urls = "https://debuginfod.example";
	expect("debuginfod", DOCTOR_LIMITED, "debuginfod.example", "libdebuginfod1");
	m.has_debuginfod = true;
	expect("debuginfod", DOCTOR_OK, "debuginfod.example", NULL);
}

/* Commands ------------------------------------------------------------------------------------- */

static char said[1024];

/* The result, with what was said in the meantime. */
static int checked(unsigned int uses, bool unsafe_kernel)
{
	char path[] = "/tmp/bpfprof-said.XXXXXX";
	int to = mkstemp(path), old = dup(2), err;
	ssize_t sz;

	unlink(path);
	dup2(to, 2);
	m.uses = uses;
	err = doctor_check_machine(&m, uses, unsafe_kernel);
	dup2(old, 2);
	close(old);
	sz = pread(to, said, sizeof(said) - 1, 0);
	close(to);
	said[sz > 0 ? sz : 0] = '\0';
	return err;
}

static void enter_well(void)
{
	enter_files("/sys/kernel/btf/vmlinux x\n/proc/self/maps x\n" FIRST_MAP);
	made();
}

static void test_commands_refuse_with_the_same_sentence(void **state)
{
	unsigned int uses;
	struct finding f;
	char *sentence;

	assert_true(doctor_uses("oncpu", &uses));
	enter_well();
	assert_int_equal(checked(uses, false), 0);
	assert_string_equal(said, "");
	m.caps = 0;
	assert_int_equal(checked(uses, false), -EPERM);
	doctor_look(row_named("capabilities"), &m, &f);
	sentence = xasprintf("bpfprof: %s: %s\n", f.consequence, f.remedy);
	assert_string_equal(said, sentence);
	free(sentence);
	/* Counting without BPF programs needs none of them. */
	assert_int_equal(checked(USE_PERF, false), 0);
	/* What is limited for all may be missing for one. */
	m.uses = 0;
	expect("probes of the kernel", DOCTOR_LIMITED, "not offered", NULL);
	assert_int_equal(checked(USE_KPROBE, false), -EOPNOTSUPP);
	assert_non_null(strstr(said, "bpfprof tracepoint"));
	expect("probes of the kernel", DOCTOR_MISSING, "not offered", NULL);
	m.perf = (struct machine_call){ .err = -EPERM, .filtered = true };
	assert_int_equal(checked(USE_PERF, false), -EPERM);
	assert_non_null(strstr(said, "seccomp"));
	enter_files("");
	made();
	assert_int_equal(checked(uses, false), -EOPNOTSUPP);
	assert_non_null(strstr(said, "/proc is not mounted"));
}

static void test_unsafe_kernel_overrides_that_row_only(void **state)
{
	enter_well();
	named("6.1.25", "#1 SMP", "x86_64");
	assert_int_equal(checked(USE_BPF | USE_SAMPLE, false), -EOPNOTSUPP);
	assert_non_null(strstr(said, "--unsafe-kernel"));
	assert_int_equal(checked(USE_BPF | USE_SAMPLE, true), 0);
	assert_non_null(strstr(said, "can lock up"));
	/* Waits are not taken in interrupts. */
	assert_int_equal(checked(USE_BPF, false), 0);
	m.caps = 0;
	assert_int_equal(checked(USE_BPF | USE_SAMPLE, true), -EPERM);
}

/* What is not needed is never missing, and who reads a row finds what to do in each state. */
static void test_table_is_sound(void **state)
{
	unsigned int uses;

	for (size_t i = 0; i < doctor_nr_rows; i++) {
		const struct doctor_row *row = &doctor_rows[i];

		assert_true(*row->name && *row->group && *row->how && row->look);
		assert_true(!row->overridden || row->needed);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(row->name, doctor_rows[k].name);
	}
	assert_false(doctor_uses("nosuch", &uses));
	assert_true(doctor_uses("growth", &uses)); /* which records, and has no row */
	assert_int_equal(uses & (USE_BPF | USE_SAMPLE), USE_BPF | USE_SAMPLE);
	assert_true(doctor_concerns(row_named("other tracers"), USE_NAMES));
	assert_true(doctor_concerns(row_named("ASLR"), 0));
	assert_false(doctor_concerns(row_named("ASLR"), USE_NAMES));
}

/* What all commands ask, and what those ask that have probes. */
static void check_time(bool probes)
{
	uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID), ns;
	struct finding f;

	machine_ask(&m, probes);
	for (size_t i = 0; i < doctor_nr_rows; i++)
		if (doctor_rows[i].first)
			doctor_look(&doctor_rows[i], &m, &f);
	ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
	print_message("%s: %.3f ms of CPU time\n", probes ? "with probes" : "without", ns / 1e6);
	assert_true(ns < MAX_MS * 1000000ull);
}

static void test_first_rows_take_little_time(void **state)
{
	check_time(false);
	check_time(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_rows_of_files, teardown),
		cmocka_unit_test_teardown(test_kernels, teardown),
		cmocka_unit_test_teardown(test_known_bad_kernels, teardown),
		cmocka_unit_test_teardown(test_capabilities, teardown),
		cmocka_unit_test_teardown(test_file_capabilities, teardown),
		cmocka_unit_test_teardown(test_settings_that_capabilities_pass, teardown),
		cmocka_unit_test_teardown(test_pid_namespaces, teardown),
		cmocka_unit_test_teardown(test_calls_and_who_denies_them, teardown),
		cmocka_unit_test_teardown(test_limits, teardown),
		cmocka_unit_test_teardown(test_counters, teardown),
		cmocka_unit_test_teardown(test_no_counters, teardown),
		cmocka_unit_test_teardown(test_branch_records, teardown),
		cmocka_unit_test_teardown(test_moments, teardown),
		cmocka_unit_test_teardown(test_tracers_by_their_programs, teardown),
		cmocka_unit_test_teardown(test_busiest_programs, teardown),
		cmocka_unit_test_teardown(test_busiest_program_without_symbols, teardown),
		cmocka_unit_test_teardown(test_runtimes, teardown),
		cmocka_unit_test_teardown(test_debuginfod, teardown),
		cmocka_unit_test_teardown(test_commands_refuse_with_the_same_sentence, teardown),
		cmocka_unit_test_teardown(test_unsafe_kernel_overrides_that_row_only, teardown),
		cmocka_unit_test_teardown(test_table_is_sound, teardown),
		cmocka_unit_test_teardown(test_first_rows_take_little_time, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of a machine, and what system calls tell of this one. */
#include "doctor/machine.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "doctor/doctor.h"
#include "event/cpus.h"
#include "event/perf.h"
#include "symbol/debuginfod.h"

#define ALL_USERS  "4294967295"
#define NO_FLAGS   (~0ul)     /* of perf_event_open(): the kernel refuses it before all else */
#define NO_COMMAND 0x7fffffff /* of bpf() */
#define WORK_NS	   2000000    /* of the trial of one event */
#define SAMPLE_NS  150000000
#define SCAN_MAX   4096 /* BPF programs */

static int open_below(const struct machine *m, const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", m->root, path);
	return open(full, O_RDONLY | O_CLOEXEC);
}

bool machine_text(const struct machine *m, const char *path, char *text, size_t sz)
{
	int fd = open_below(m, path);
	size_t len = 0;
	ssize_t got;

	text[0] = '\0';
	if (fd < 0)
		return false;
	while (len + 1 < sz && (got = read(fd, text + len, sz - 1 - len)) > 0)
		len += got;
	close(fd);
	while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
		len--;
	text[len] = '\0';
	return true;
}

bool machine_number(const struct machine *m, const char *path, long *number)
{
	char text[64], *end;

	if (!machine_text(m, path, text, sizeof(text)))
		return false;
	errno = 0;
	*number = strtol(text, &end, 10);
	return end != text && !errno;
}

static bool can(const struct machine *m, const char *path, int how)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", m->root, path);
	return !access(full, how);
}

bool machine_has(const struct machine *m, const char *path)
{
	return can(m, path, F_OK);
}

bool machine_can_read(const struct machine *m, const char *path)
{
	return can(m, path, R_OK);
}

void machine_field(const struct machine *m, const char *path, const char *key, char *text,
		   size_t sz)
{
	size_t len = strlen(key);
	char file[8192], *line;

	text[0] = '\0';
	if (!machine_text(m, path, file, sizeof(file)))
		return;
	for (char *rest = file; (line = strsep(&rest, "\n"));) {
		if (strncmp(line, key, len) || line[len] != ':')
			continue;
		line += len + 1;
		snprintf(text, sz, "%s", line + strspn(line, " \t"));
		return;
	}
}

bool machine_may(const struct machine *m, int cap)
{
	bool all = cap == CAP_BPF || cap == CAP_PERFMON || cap == CAP_SYSLOG ||
		   cap == CAP_CHECKPOINT_RESTORE;

	return m->caps >> cap & 1 || (all && m->caps >> CAP_SYS_ADMIN & 1);
}

/* "0 0 4294967295": all users, as they are. */
bool machine_has_first_users(const struct machine *m)
{
	char map[256];
	unsigned int inside, outside;
	char nr[16];

	if (!machine_text(m, "/proc/self/uid_map", map, sizeof(map)))
		return true;
	return sscanf(map, "%u %u %15s", &inside, &outside, nr) != 3 ||
	       (!inside && !outside && !strcmp(nr, ALL_USERS));
}

bool machine_may_on_host(const struct machine *m, int cap)
{
	return machine_may(m, cap) && machine_has_first_users(m);
}

/* Calls ---------------------------------------------------------------------------------------- */

static uint64_t effective_caps(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &head, data))
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

static uint64_t program_caps(void)
{
	struct vfs_ns_cap_data data = {};
	ssize_t got = getxattr("/proc/self/exe", "security.capability", &data, sizeof(data));

	if (got < (ssize_t)sizeof(struct vfs_cap_data))
		return 0;
	return le32toh(data.data[0].permitted) | (uint64_t)le32toh(data.data[1].permitted) << 32;
}

static int call_bpf(void)
{
	union bpf_attr attr = {};

	return syscall(SYS_bpf, NO_COMMAND, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

static int call_perf(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, NO_FLAGS) < 0 ? -errno : 0;
}

/* A filter may end who calls: that is a child. */
static struct machine_call try_call(int (*call)(void))
{
	struct machine_call result = {};
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return result;
	if (!pid)
		_exit(-call());
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return result;
	if (WIFEXITED(status))
		result.err = -WEXITSTATUS(status);
	else
		result.killed = true;
	return result;
}

/*
 * What filters return; any other error says that the call has reached the kernel, which finds
 * fault with it. certain: the kernel itself would return none of them.
 */
static struct machine_call judge(struct machine_call c, bool certain)
{
	if (c.err != -EPERM && c.err != -EACCES && c.err != -ENOSYS)
		c.err = 0;
	c.filtered = c.killed || (c.err && certain);
	return c;
}

static bool is_filtered(const struct machine *m)
{
	char mode[16];

	machine_field(m, "/proc/self/status", "Seccomp", mode, sizeof(mode));
	return *mode && *mode != '0';
}

void machine_ask(struct machine *m, bool probes)
{
	struct cpus cpus = {};

	*m = (struct machine){ .root = "", .uid = geteuid() };
	uname(&m->uts);
	m->caps = effective_caps();
	if (is_filtered(m)) {
		m->bpf = judge(try_call(call_bpf), machine_may_on_host(m, CAP_BPF));
		m->perf = judge(try_call(call_perf), true);
	}
	getrlimit(RLIMIT_NOFILE, &m->nofile);
	getrlimit(RLIMIT_MEMLOCK, &m->memlock);
	getrlimit(RLIMIT_AS, &m->as);
	if (!cpus_online(&cpus))
		m->nr_cpus = cpus.nr;
	cpus_release(&cpus);
	m->hazards = hazards_host_read(probes);
}

/* Trials --------------------------------------------------------------------------------------- */

static void try_map(struct machine *m)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "doctor", 4, 8, 1, NULL);

	m->bpf.err = fd < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
}

static void try_sampler(struct machine *m)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000,
		.disabled = 1,
	};
	int fd = perf_open(&attr, -1, 0, -1);

	m->sampler.err = fd < 0 ? fd : 0;
	if (fd >= 0)
		close(fd);
}

static bool is_tracer(uint32_t type)
{
	return type == BPF_PROG_TYPE_KPROBE || type == BPF_PROG_TYPE_TRACEPOINT ||
	       type == BPF_PROG_TYPE_PERF_EVENT || type == BPF_PROG_TYPE_RAW_TRACEPOINT ||
	       type == BPF_PROG_TYPE_TRACING;
}

/* We have loaded none yet, so all of them are of others. */
static void count_programs(struct machine *m)
{
	uint32_t id = 0;

	for (int i = 0; i < SCAN_MAX && !bpf_prog_get_next_id(id, &id); i++) {
		struct bpf_prog_info info = {};
		uint32_t len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		m->may_ask = true;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) && is_tracer(info.type))
			m->nr_programs++;
		close(fd);
	}
}

/* What metrics of stat are made of: on Arm by their own names, elsewhere by the kernel's. */
static const char *const of_arm[] = {
	"cpu_cycles",	       "inst_retired", "stall_frontend",   "stall_backend",    "br_retired",
	"br_mis_pred_retired", "l1d_cache",    "l1d_cache_refill", "l2d_cache_refill", "dtlb_walk",
};
static const char *const of_others[] = {
	"cycles",
	"instructions",
	"branches",
	"branch-misses",
	"cache-references",
	"cache-misses",
	"L1-dcache-load-misses",
	"dTLB-load-misses",
};

static void try_event(struct machine *m, const struct catalog *c, const char *name)
{
	struct machine_event *e = &m->events[m->nr_events++];
	struct event *v = NULL;
	size_t nr = 0;

	*e = (struct machine_event){ name, TRIAL_NOT_SUPPORTED };
	if (catalog_has(c, name) && !catalog_find(c, name, &v, &nr))
		e->state = trial_run(c, &v[0], WORK_NS).state;
	events_free(v, nr);
}

static void try_events(struct machine *m, const struct catalog *c)
{
	bool arm = catalog_core(c)->vendor == CORE_ARM;
	size_t nr = arm ? sizeof(of_arm) / sizeof(*of_arm) : sizeof(of_others) / sizeof(*of_others);

	if (!catalog_core_pmu(c))
		return;
	m->counters = trial_counters(c);
	for (size_t i = 0; i < nr && m->nr_events < MACHINE_MAX_EVENTS; i++)
		try_event(m, c, arm ? of_arm[i] : of_others[i]);
}

static bool asks(const struct machine *m, unsigned int uses)
{
	return !m->uses || m->uses & uses;
}

void machine_try(struct machine *m, const struct catalog *c)
{
	m->file_caps = program_caps();
	m->debuginfod_urls = getenv("DEBUGINFOD_URLS");
	m->has_debuginfod = debuginfod_has_library();
	m->libdw = dwfl_version(NULL);
	if (!m->bpf.killed && !m->bpf.err)
		try_map(m);
	if (!m->perf.killed && !m->perf.err)
		try_sampler(m);
	else
		m->sampler = m->perf;
	if (!m->bpf.killed && !m->bpf.err)
		count_programs(m);
	if (asks(m, USE_NAMES | USE_FIGURES))
		moment_measure(&m->moment, m->root, SAMPLE_NS);
	m->catalog = c;
	if (!m->perf.killed && asks(m, USE_COUNTER))
		try_events(m, c);
}

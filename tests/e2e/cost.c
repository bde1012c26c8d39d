/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cost PROGS [TEXT]: what a run of each BPF program costs under fixed workloads (or those with TEXT
 * in their names), from the kernel's run-time statistics: "NAME RUNS NS-PER-RUN". Where a guest
 * counts time in instructions, so is this. One process runs per case, and nobody reads the maps
 * meanwhile, so that every sample is of it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/log.h"
#include "collect/accounts.h"
#include "collect/glob.h"
#include "collect/session.h"
#include "event/perf.h"
#include "tables/tables.h"

#define WARM_UP_US 200000
#define RUN_US	   2000000
#define RATE_HZ	   499

struct workload {
	const char *probe;
	const char *name;
	const char *program; /* of ours, whose runs are told */
	const char *argv[3]; /* argv[0] is below PROGS; what to run besides */
	struct prof_config config;
};

#define FP     .call_graph = CALL_GRAPH_FP
#define HOLDER .hops = 1, .lock_slots = 1
#define STACKS .stacks = 1, .walk_ns = 1, .wait_hists = 1

static const struct workload workloads[] = {
	{ "oncpu", "5-frames", "oncpu_sample", { "deep_fp", "4" }, { FP } },
	{ "oncpu", "30-frames", "oncpu_sample", { "deep_fp", "28" }, { FP } },
	{ "oncpu", "100-frames", "oncpu_sample", { "deep_fp", "98" }, { FP } },
	{ "oncpu", "unwound-5-frames", "oncpu_sample", { "nofp_deep", "4" }, {} },
	{ "oncpu", "unwound-30-frames", "oncpu_sample", { "nofp_deep", "28" }, {} },
	{ "oncpu", "unwound-100-frames", "oncpu_sample", { "nofp_deep", "98" }, {} },
	{ "oncpu", "in-kernel", "oncpu_sample", { "in_kernel" }, { FP } },
	{ "oncpu", "by-name", "oncpu_sample", { "deep_fp", "28" }, { FP, .filter_comm = 1 } },
	{ "oncpu", "other-process", "oncpu_sample", { "deep_fp", "28" }, { .filter_pid = 1 } },
	{ "oncpu", "fork", "filter_fork", { "forks" }, { .filter_pid = 1 } },
	{ "offcpu", "verified", "sched_switch", { "waits_switcher" }, { STACKS, .remember = 1 } },
	{ "offcpu",
	  "verified-deep",
	  "sched_switch",
	  { "deep_switcher" },
	  { STACKS, .remember = 1 } },
	{ "offcpu", "walked", "sched_switch", { "waits_switcher" }, { STACKS } },
	{ "offcpu", "no-stacks", "sched_switch", { "waits_switcher" }, { .wait_hists = 1 } },
	{ "offcpu", "other-process", "sched_switch", { "waits_switcher" }, { .filter_pid = 1 } },
	{ "offcpu", "fork", "sched_fork", { "forks" }, { STACKS, .remember = 1 } },
	/*
	 * The same waits without their holders, and with them: what holders cost. lock-… are
	 * measured where TEXT asks for them: tests/kept has no figure.
	 */
	{ "offcpu",
	  "lock-wait",
	  "sched_switch",
	  { "locks_held", "relay" },
	  { STACKS, .remember = 1 } },
	{ "lock",
	  "lock-wait",
	  "sched_switch",
	  { "locks_held", "relay" },
	  { STACKS, .remember = 1, HOLDER } },
	{ "lock",
	  "lock-wake-up",
	  "sched_waking",
	  { "locks_held", "relay" },
	  { STACKS, .remember = 1, HOLDER } },
	{ "wall",
	  "verified",
	  "sched_switch",
	  { "waits_switcher" },
	  { STACKS, .remember = 1, .running = 1 } },
	{ "runqlat",
	  "by-cpu",
	  "sched_switch",
	  { "waits_switcher" },
	  { .hist_rows = 1, .wakeups = 1 } },
	{ "runqlat",
	  "wake-up",
	  "sched_wakeup",
	  { "waits_switcher" },
	  { .hist_rows = 1, .wakeups = 1 } },
};

static int find_program(const char *name)
{
	__u32 id = 0;
	int found = -1;

	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = {};
		__u32 len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) && !strcmp(info.name, name)) {
			if (found >= 0)
				close(found);
			found = fd;
		} else {
			close(fd);
		}
	}
	return found;
}

static struct bpf_prog_info stats(int prog)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(prog, &info, &len))
		memset(&info, 0, sizeof(info));
	return info;
}

static pid_t start(const char *progs, const struct workload *w)
{
	static char *const no_environment[] = { NULL };
	char path[4096];
	pid_t child = fork();

	if (child)
		return child;
	snprintf(path, sizeof(path), "%s/%s", progs, w->argv[0]);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	/* Where in its page a stack begins would change how many windows of it are read. */
	personality(ADDR_NO_RANDOMIZE);
	execle(path, w->argv[0], w->argv[1] ? w->argv[1] : "1000", "1000", NULL, no_environment);
	fprintf(stderr, "cost: %s: %s\n", path, strerror(errno));
	_exit(127);
}

/* The first child of a process, 0 = none. */
static pid_t child_of(pid_t pid)
{
	char path[64];
	FILE *f;
	int child = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%d", &child) != 1)
		child = 0;
	if (f)
		fclose(f);
	return child;
}

/* The tables of a process and its child. NULL: none are used. */
static struct tables *give_tables(struct session *s, pid_t child)
{
	pid_t pids[2] = { child, child_of(child) };

	return tables_give(s, pids, pids[1] ? 2 : 1, false);
}

static struct session *open_session(const struct workload *w)
{
	struct prof_glob glob;
	struct session_opts o = {
		.probe = probe_get(w->probe),
		.config = w->config,
		.glob = &glob,
		.cgroup_fd = -1,
	};

	glob_compile(&glob, "*deep_f[a-p]");
	o.config.pc_mask = ~0ull >> 16;
	o.config.own_pid = getpid();
	o.config.max_depth = 127;
	return session_open(&o);
}

/* Events of the probe's: samples, or what the scheduler does. */
static int begin_events(struct session *s, const struct workload *w, struct perf_events *events)
{
	if (probe_program(probe_get(w->probe), PROBE_TASKS))
		return session_start(s);
	events->prog_fd = session_perf_program(s);
	return perf_events_open(events, "cpu-clock", RATE_HZ);
}

static int print_cost(const char *program, const char *name, int prog, pid_t child)
{
	struct bpf_prog_info from, to;
	unsigned long long runs;

	usleep(WARM_UP_US);
	from = stats(prog);
	usleep(RUN_US);
	to = stats(prog);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(prog);
	runs = to.run_cnt - from.run_cnt;
	if (runs < 100)
		return log_err(-1, "%s/%s: %llu runs only", program, name, runs);
	printf("%s/%s %llu %.0f\n", program, name, runs,
	       (double)(to.run_time_ns - from.run_time_ns) / runs);
	return 0;
}

/* 0, or -1 when nothing was measured. */
static int measure(const char *progs, const struct workload *w)
{
	struct perf_events events = {};
	struct session *s = open_session(w);
	struct tables *tables;
	char name[64];
	pid_t child;
	int err;

	if (!s || session_attach(s))
		return -1;
	child = start(progs, w);
	usleep(WARM_UP_US);
	tables = give_tables(s, child);
	err = begin_events(s, w, &events);
	snprintf(name, sizeof(name), "%s%s%s", strcmp(w->probe, "oncpu") ? w->probe : "",
		 strcmp(w->probe, "oncpu") ? "-" : "", w->name);
	if (!err)
		err = print_cost(w->program, name, find_program(w->program), child);
	perf_events_close(&events);
	tables_free(tables);
	session_close(s);
	return err;
}

/* Cycles and instructions, where they are counted, and as many more as a question needs. */
static const uint32_t hardware[] = { PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS };
static const uint32_t software[] = { PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CPU_CLOCK,
				     PERF_COUNT_SW_CONTEXT_SWITCHES };

static int open_counter(size_t i)
{
	bool is_hardware = i < 2;
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = is_hardware ? PERF_TYPE_HARDWARE
							    : PERF_TYPE_SOFTWARE,
					.config = is_hardware ? hardware[i] : software[i - 2] };
	int fd = perf_open(&attr, -1, 0, -1);

	if (fd >= 0 || !is_hardware)
		return fd;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = software[2 - i];
	return perf_open(&attr, -1, 0, -1);
}

/* What a switch costs, with so many counters on CPU 0, where the workload runs. */
static int measure_switch(const char *progs, size_t nr_events)
{
	static const struct workload switcher = { .argv = { "waits_switcher", "1000" } };
	struct accounts_opts o = { .by = ACCOUNT_BY_THREAD, .nr_events = nr_events };
	struct accounts *a = accounts_open(&o);
	int fd, err = a ? 0 : -1;
	char name[16];

	for (size_t i = 0; i < nr_events && !err; i++) {
		fd = open_counter(i);
		err = fd < 0 ? fd : accounts_add(a, 0, i, fd);
		close(fd);
	}
	if (err || accounts_start(a))
		return -1;
	snprintf(name, sizeof(name), "%zu-events", nr_events);
	err = print_cost("accounts_switch", name, find_program("accounts_switch"),
			 start(progs, &switcher));
	accounts_close(a);
	return err;
}

int main(int argc, char **argv)
{
	int on = bpf_enable_stats(BPF_STATS_RUN_TIME), bad = 0;

	if (argc < 2 || on < 0) {
		fprintf(stderr, "usage: cost PROGS [TEXT], as root\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
		if (argc < 3 ? !!strncmp(workloads[i].name, "lock-", 5)
			     : strstr(workloads[i].name, argv[2]) != NULL)
			bad |= measure(argv[1], &workloads[i]);
	if (argc < 3)
		bad |= measure_switch(argv[1], 1) | measure_switch(argv[1], 3) |
		       measure_switch(argv[1], 5);
	close(on);
	return bad ? 1 : 0;
}

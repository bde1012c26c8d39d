/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The recording: a loop of ten turns a second around the kernel's work. */
#include "collect/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/capture.h"
#include "collect/groups.h"
#include "collect/lifetimes.h"
#include "collect/sampling.h"
#include "collect/session.h"
#include "collect/suspend.h"
#include "collect/target.h"
#include "event/cgroup.h"
#include "event/cpus.h"
#include "collect/glob.h"
#include "event/host.h"
#include "event/sideband.h"
#include "profile/kind.h"

#define TURN_NS		 100000000ull
#define RATE_WITH_TARGET 99
#define RATE_SYSTEM_WIDE 49
#define HASTE_NS	 300000000ull /* after the start, and after a walk was deferred */
#define HURRY_NICE	 (-10)
#define HASTE_MS	 5 /* between turns then: what is deferred has to be fetched soon */
#define WARM_NS		 50000000ull  /* at most, before a given process is sampled */
#define WARM_WORDS	 (128u << 10) /* a table of 512 KB: some 6 ms */
#define WARM_EVENTS_NS	 80000000ull
#define UNWIND_BYTES	 (64ull << 20)
#define SLOW_TURNS	 5 /* CPUs and memory are looked at every so many turns */
#define BRANCH_SLOTS	 16384
#define RECHECK_SHARE	 10 /* a host that outruns us is looked at a tenth of the time */

struct record {
	const struct record_opts *opts;
	struct session *session;
	struct store *store; /* NULL without unwind tables */
	struct sampling sampling;
	struct groups groups;
	struct sideband *sideband;
	struct proc_table procs;
	struct capture capture;
	struct lifetimes *lifetimes; /* NULL but for wall */
	struct target target;
	struct profile *profile;
	struct prof_glob glob;
	int cgroup_fd, timer, signals;
	sigset_t old_mask;
	uint64_t begin_ns;
	uint64_t asleep_ns;  /* that the machine had been suspended when it began */
	uint64_t gap_ns;     /* since when records are missing that nobody looked up; 0 = none */
	uint64_t recheck_ns; /* /proc is not read anew before */
	uint64_t next_interval_ns;
	uint64_t haste_ns;  /* turns are short until then */
	bool hurried;	    /* nice was 0 and is HURRY_NICE */
	uint64_t dither_ns; /* when sampling periods change; 0 = never */
	enum capture_state state;
	struct table_pause pause;
	size_t nr_cpus; /* profiled at the end */
};

/*
 * The kernel counts threads in its first PID namespace; ours must be that one for -p to mean the
 * same.
 */
static int check_namespace(void)
{
	char link[64] = "";

	if (readlink("/proc/self/ns/pid", link, sizeof(link) - 1) < 0 ||
	    !strcmp(link, "pid:[4026531836]"))
		return 0;
	log_err(0,
		"bpfprof runs inside a PID namespace, where process numbers are not the kernel's: "
		"run it on the host (nsenter -t 1 -p -m), or the container with the host's PID "
		"namespace (--pid=host)");
	return -EOPNOTSUPP;
}

static int check_ids(const struct opt_ids *ids, bool thread)
{
	int err = 0;

	for (size_t i = 0; i < ids->nr && !err; i++)
		err = host_check_pid(ids->v[i], thread);
	return err;
}

static bool any_online(const struct opt_ids *cpus, const struct cpus *online)
{
	for (size_t i = 0; i < cpus->nr; i++)
		if (cpus_has(online, cpus->v[i]))
			return true;
	return false;
}

static int no_such_cpu(const struct cpus *wanted, const struct cpus *online, int err)
{
	char *w = cpus_text(wanted), *o = cpus_text(online);

	log_err(0, "-C %s: no such CPU is online; those online are %s", w, o);
	free(w);
	free(o);
	return err;
}

/* CPUs that are offline are passed over, unless all are; one that can never be is a mistake. */
static int check_cpus(const struct opt_ids *cpus)
{
	struct cpus wanted = { .v = cpus->v, .nr = cpus->nr }, online = {};
	struct cpus highest = { .nr = 1 };
	int err = 0;

	if (!cpus->nr || cpus_online(&online))
		return 0;
	highest.v = &cpus->v[cpus->nr - 1];
	if (*highest.v >= cpus_possible())
		err = no_such_cpu(&highest, &online, -EINVAL);
	else if (!any_online(cpus, &online))
		err = no_such_cpu(&wanted, &online, -ENODEV);
	cpus_release(&online);
	return err;
}

static int check_glob(struct record *r)
{
	int err = r->opts->comm ? glob_compile(&r->glob, r->opts->comm) : 0;

	if (err == -E2BIG)
		log_err(0, "-n '%s': too long, all patterns together may have 63 elements",
			r->opts->comm);
	else if (err)
		log_err(0, "-n '%s': '[' without ']'", r->opts->comm);
	return err ? -EINVAL : 0;
}

static bool has_target(const struct record_opts *o)
{
	return o->pids.nr || o->tids.nr || o->comm || o->cgroup || o->program;
}

static int check(struct record *r)
{
	const struct record_opts *o = r->opts;
	int err = check_glob(r);

	if (!err)
		err = check_cpus(&o->cpus);
	if (!err)
		err = host_check();
	if (!err)
		err = check_namespace();
	if (!err)
		err = check_ids(&o->pids, false);
	if (!err)
		err = check_ids(&o->tids, true);
	if (!err && o->cgroup) {
		r->cgroup_fd = cgroup_open(o->cgroup);
		err = r->cgroup_fd < 0 ? r->cgroup_fd : 0;
	}
	return err;
}

static void configure_waits(struct prof_config *c, const struct record_opts *o)
{
	const struct kind *kind = kind_of(o->command);
	bool rows = kind->histograms;

	c->per_thread = o->per_thread;
	c->stacks = !o->no_stacks && !rows;
	c->remember = c->stacks && !o->no_memory;
	c->audit = o->audit;
	c->running = kind->running;
	c->wakeups = o->wakeups || rows || c->running;
	c->hops = o->hops;
	c->state_mask = o->state_mask;
	c->min_ns = o->min_us * 1000;
	c->max_ns = o->max_us * 1000;
	c->walk_ns = 1000000000u / (o->walks ? o->walks : WALKS_PER_SECOND);
	c->hist_rows = rows;
	c->hist_by = o->by;
	c->outlier_ns = o->outlier_us * 1000;
	if (c->stacks)
		return;
	c->no_kstacks = 1;
	c->no_ustacks = 1;
	c->call_graph = CALL_GRAPH_FP;
}

struct prof_config record_config(const struct record_opts *o)
{
	struct prof_config c = {
		.pc_mask = (1ull << 48) -
			   1, /* user code lies below; above are pointer authentication and tags */
		.own_pid = getpid(),
		.max_depth = o->max_depth,
		.filter_pid = o->pids.nr || o->program,
		.filter_tid = o->tids.nr != 0,
		.filter_comm = o->comm != NULL,
		.filter_cgroup = o->cgroup != NULL,
		.keep_idle = o->idle,
		.no_kthreads = o->user_threads,
		.no_uthreads = o->kernel_threads,
		.no_kstacks = o->user_stacks,
		.no_ustacks = o->kernel_stacks,
		.no_children = o->no_children,
		.call_graph = o->kernel_stacks ? CALL_GRAPH_FP : o->call_graph,
	};

	if (kind_of(o->command)->waits)
		configure_waits(&c, o);
	if (o->nr_events > 1) {
		c.events = 1;
		c.per_thread = 1; /* their counts are not merged, as those of waits are */
	}
	c.nr_values = 2 * o->nr_columns;
	c.branch_slots = o->branches ? BRANCH_SLOTS : 0;
	/* Waits and branches refer to slots that were taken long ago. */
	c.two_generations = !kind_of(o->command)->waits && !o->branches;
	return c;
}

static const struct store_ops store_ops = { kernel_segments_make, kernel_segments_drop };

static uint64_t fetch(struct record *r, bool last, bool *done);

/* What the kernel has deferred must not fill its slots meanwhile. */
static void fetch_meanwhile(void *arg)
{
	bool done;

	fetch(arg, false, &done);
}

static struct store *open_store(struct record *r)
{
	const struct session_maps *maps = session_maps(r->session);
	struct store_opts o = { .ops = &store_ops,
				.arg = session_segments(r->session),
				.exes = maps->exes,
				.procs = maps->procs,
				.epoch = maps->table_epoch,
				.pause = &r->pause,
				.max_bytes = r->opts->unwind_bytes ? r->opts->unwind_bytes
								   : UNWIND_BYTES };

	r->pause = (struct table_pause){ fetch_meanwhile, r };
	r->store = store_new(&o);
	return r->store;
}

static int open_session(struct record *r)
{
	struct session_opts so = {
		.probe = probe_get(r->opts->command),
		.config = record_config(r->opts),
		.glob = &r->glob,
		.cgroup_fd = r->cgroup_fd,
		.max_stacks = r->opts->max_stacks,
		.max_bytes = r->opts->max_bytes,
	};

	if (r->cgroup_fd >= 0)
		so.config.cgroup_id = cgroup_id(r->cgroup_fd);
	r->session = session_open(&so);
	if (!r->session)
		return -errno;
	if (so.config.call_graph != CALL_GRAPH_FP && !open_store(r))
		return -errno;
	return session_attach(r->session);
}

/* Signals become readable, so that nothing is interrupted half-way. */
static int open_loop(struct record *r)
{
	struct itimerspec turn = { .it_interval.tv_nsec = TURN_NS, .it_value.tv_nsec = TURN_NS };
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, &r->old_mask);
	r->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->signals < 0 || r->timer < 0 || timerfd_settime(r->timer, 0, &turn, NULL))
		return log_err(-errno, "cannot set up timer and signals");
	return 0;
}

/* -EINVAL is a mistake on the command line. Once that is checked, it is the kernel that objects. */
static int not_usage(int err)
{
	return err == -EINVAL ? -EIO : err;
}

static int prepare(struct record *r)
{
	const struct record_opts *o = r->opts;
	int err = o->program ? target_start(&r->target, o->program) : 0;

	if (!err)
		err = open_session(r);
	if (!err)
		err = open_loop(r);
	if (err)
		return not_usage(err);
	r->sideband = sideband_open();
	return r->sideband ? 0 : not_usage(-errno);
}

struct record *record_open(const struct record_opts *o)
{
	struct rlimit files;
	struct record *r = xcalloc(1, sizeof(*r));
	int err;

	*r = (struct record){
		.opts = o, .cgroup_fd = -1, .target.pidfd = -1, .timer = -1, .signals = -1
	};
	sigprocmask(SIG_SETMASK, NULL, &r->old_mask);
	if (!getrlimit(RLIMIT_NOFILE, &files)) { /* an event per CPU, a file per module */
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	err = check(r);
	if (!err)
		err = prepare(r);
	if (!err)
		return r;
	record_close(r);
	errno = -err;
	return NULL;
}

static void on_mmap(void *arg, const struct sideband_mmap *m, uint64_t time_ns)
{
	struct proc_mmap pm = { .pid = m->pid,
				.start = m->start,
				.len = m->len,
				.file_offset = m->file_offset,
				.key = { m->ino, m->dev_major, m->dev_minor },
				.path = m->path };

	proc_on_mmap(&((struct record *)arg)->procs, &pm, time_ns);
}

static void on_comm(void *arg, uint32_t pid, uint32_t tid, const char *name, int exec,
		    uint64_t time_ns)
{
	proc_on_comm(&((struct record *)arg)->procs, pid, tid, name, exec, time_ns);
}

/* One that is born when threads are merged has no count of its own. */
static bool is_merged(const struct record *r, uint64_t born_ns)
{
	uint64_t since_ns = *(volatile const uint64_t *)session_maps(r->session)->merging_ns;

	return since_ns && born_ns >= since_ns;
}

static void on_fork(void *arg, uint32_t parent, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct record *r = arg;

	proc_on_fork(&r->procs, parent, pid, tid, time_ns);
	if (!is_merged(r, time_ns))
		lifetimes_begin(r->lifetimes, pid, tid, time_ns);
}

static void on_exit_record(void *arg, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct record *r = arg;

	proc_on_exit(&r->procs, pid, tid, time_ns);
	lifetimes_end(r->lifetimes, pid, tid, time_ns);
}

static const struct sideband_ops sideband_ops = { on_mmap, on_comm, on_fork, on_exit_record };

static void look_again(struct record *r, uint64_t since_ns)
{
	uint64_t now = now_ns();

	proc_recheck(&r->procs, since_ns, now);
	r->recheck_ns = now + RECHECK_SHARE * (now_ns() - now);
}

/* When records were lost, /proc says what became of it all. */
static void fill_gap(struct record *r, bool last)
{
	uint64_t since = sideband_take_gap(r->sideband);

	if (!r->gap_ns)
		r->gap_ns = since;
	if (!r->gap_ns || (!last && now_ns() < r->recheck_ns))
		return;
	look_again(r, r->gap_ns);
	r->gap_ns = 0;
}

/*
 * Takes over records and stacks up to the time that it returns. A stack's addresses are resolved
 * once, so what is missing is looked up before.
 */
static uint64_t fetch(struct record *r, bool last, bool *done)
{
	uint64_t horizon = sideband_drain(r->sideband, &sideband_ops, r, last);

	fill_gap(r, last);
	*done = capture_drain(&r->capture, last ? UINT64_MAX : horizon);
	return horizon;
}

static void drain(struct record *r, bool last)
{
	bool done;
	uint64_t horizon = fetch(r, last, &done);

	if (r->store)
		store_turn(r->store, &r->procs, now_ns());
	lifetimes_drop(r->lifetimes, session_maps(r->session)->counts,
		       session_maps(r->session)->nr_counts, horizon);
	r->state = capture_walk(&r->capture);
	if (r->state != CAPTURE_QUIET || r->capture.fills)
		r->haste_ns = now_ns() + HASTE_NS;
	if (done)
		proc_prune(&r->procs, capture_needs_since(&r->capture, horizon));
}

/*
 * What is profiled is known. Samples come slowly enough for stacks to be deferred while large
 * tables are built of what the first ones need; other events do not.
 */
static void warm_up(struct record *r)
{
	bool seldom = kind_of(r->opts->command)->seldom;
	uint64_t until = now_ns() + (seldom ? WARM_NS : WARM_EVENTS_NS);
	struct process *p;

	for (size_t i = 0; r->store && i < r->opts->pids.nr; i++) {
		p = proc_find(&r->procs, r->opts->pids.v[i]);
		if (p)
			store_warm(r->store, p, seldom ? WARM_WORDS : UINT64_MAX, until);
	}
}

static int open_events(struct record *r)
{
	const struct record_opts *o = r->opts;
	struct sampling_opts so = { .events = o->events,
				    .nr = o->nr_events,
				    .force = o->event,
				    .period = o->period,
				    .rate_hz = o->rate_hz,
				    .by_rate = o->rate_hz != 0,
				    .precise = o->precise,
				    .branches = o->branches,
				    .note = o->note,
				    .cpus = &o->cpus };
	struct core core;
	int err = session_start(r->session, o->file, o->function);

	core_read(&core, "/");
	so.imprecise = core.vendor == CORE_ARM; /* its drivers take any, and sample as ever */
	if (err || !probe_program(probe_get(o->command), PROBE_PERF))
		return err;
	if (o->nr_columns)
		err = groups_open(&r->groups, o->columns, o->nr_columns, &o->cpus, r->session);
	if (err)
		return err;
	so.records = r->sideband;
	so.prog_fd = session_perf_program(r->session);
	if (!so.rate_hz)
		so.rate_hz = has_target(o) ? RATE_WITH_TARGET : RATE_SYSTEM_WIDE;
	return sampling_open(&r->sampling, &so);
}

/*
 * Order matters: side-band records flow already, so what /proc says now plus the records is
 * complete. Targets enter the filter before the events start, and before a started program is
 * released.
 */
static int start(struct record *r)
{
	const struct record_opts *o = r->opts;
	uint64_t now = now_ns();
	bool by_pid = (o->pids.nr || o->program) && !o->tids.nr;
	struct capture_opts co = { .procs = &r->procs,
				   .store = r->store,
				   .session = r->session,
				   .config = record_config(o),
				   .own_child = r->target.pid };
	int err;

	proc_init(&r->procs, !by_pid, !o->no_children);
	r->profile = profile_new();
	co.profile = r->profile;
	capture_init(&r->capture, &co);
	for (size_t i = 0; i < o->pids.nr; i++) {
		session_add_pid(r->session, o->pids.v[i]);
		proc_snapshot(&r->procs, o->pids.v[i], now);
	}
	for (size_t i = 0; i < o->tids.nr; i++)
		session_add_tid(r->session, o->tids.v[i]);
	if (o->program) {
		session_add_pid(r->session, r->target.pid);
		proc_snapshot(&r->procs, r->target.pid, now);
	}
	warm_up(r);
	err = open_events(r);
	if (record_config(o).running)
		r->lifetimes = lifetimes_new(session_began(r->session));
	r->begin_ns = now_ns();
	r->asleep_ns = suspend_read_ns();
	r->next_interval_ns = o->interval_ns;
	r->haste_ns = r->store || session_maps(r->session)->sleepers ? r->begin_ns + HASTE_NS : 0;
	if (!err && o->program)
		err = target_release(&r->target, o->program[0]);
	if (!err && !by_pid)
		proc_snapshot_all(&r->procs, now_ns());
	return err;
}

static bool signalled(struct record *r)
{
	struct signalfd_siginfo info;

	return read(r->signals, &info, sizeof(info)) == sizeof(info);
}

static bool is_over(struct record *r)
{
	const struct record_opts *o = r->opts;
	uint64_t elapsed = now_ns() - r->begin_ns;

	if (signalled(r) || (o->duration_ns && elapsed >= o->duration_ns))
		return true;
	if (o->interval_ns && elapsed >= r->next_interval_ns) {
		r->next_interval_ns += o->interval_ns;
		if (!o->on_interval(o->arg, r, false))
			return true;
	}
	if (o->program)
		return target_ended(&r->target, o->program[0]);
	if (!r->procs.track_all && proc_all_ended(&r->procs)) {
		log_info("all profiled processes have exited");
		return true;
	}
	return false;
}

static void show_progress(struct record *r)
{
	uint64_t c[PROF_NR_COUNTERS], elapsed = now_ns() - r->begin_ns, lost = 0;
	char total[32] = "";

	session_counters(r->session, c);
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		if (profile_counters[i].kind == COUNTER_LOST)
			lost += c[i];
	if (r->opts->duration_ns)
		snprintf(total, sizeof(total), " of %s", text_ns(r->opts->duration_ns));
	log_progress("recording: %s%s, %s samples, %s lost, %s of CPU in BPF (Ctrl-C ends)",
		     text_ns(elapsed / TURN_NS * TURN_NS), total, text_count(c[PROF_RECORDED]),
		     text_count(lost),
		     text_ns(c[PROF_TIMED_RUNS]
				     ? c[PROF_TIMED_NS] / c[PROF_TIMED_RUNS] * c[PROF_RUNS]
				     : 0));
}

static int ms_until(uint64_t then, uint64_t now)
{
	return then > now ? (then - now + 999999) / 1000000 : 0;
}

/* Milliseconds until the next turn matters: the end of the recording does not wait for it. */
static int until_end(const struct record *r)
{
	uint64_t now = now_ns(), elapsed = now - r->begin_ns;
	uint64_t until = r->opts->duration_ns;
	int haste = now < r->haste_ns ? HASTE_MS : -1, end;

	if (r->state == CAPTURE_BUSY)
		return 0;
	if (r->opts->interval_ns && (!until || r->next_interval_ns < until))
		until = r->next_interval_ns;
	if (!until)
		return haste;
	end = ms_until(until, elapsed);
	return haste >= 0 && haste < end ? haste : end;
}

/* Nor do sampling periods, which would keep step with the turns. */
static int until_turn(const struct record *r)
{
	int end = until_end(r), dither = r->dither_ns ? ms_until(r->dither_ns, now_ns()) : -1;

	return dither >= 0 && (end < 0 || dither < end) ? dither : end;
}

static void loop(struct record *r)
{
	struct pollfd fds[] = { { r->timer, POLLIN, 0 },
				{ r->signals, POLLIN, 0 },
				{ sideband_fd(r->sideband), POLLIN, 0 },
				{ r->target.pidfd, POLLIN, 0 } };
	unsigned int turn = 0;
	uint64_t ticks;

	while (!is_over(r)) {
		poll(fds, 4, until_turn(r));
		r->dither_ns =
			sampling_dither(&r->sampling, session_maps(r->session)->counters, now_ns());
		drain(r, false);
		groups_look(&r->groups, now_ns());
		if (read(r->timer, &ticks, sizeof(ticks)) != sizeof(ticks) || ++turn % SLOW_TURNS)
			continue;
		/*
		 * First hear of a CPU, then ask /proc what was missed, then sample it: no stack of
		 * it is named by what its process was before.
		 */
		if (sideband_refresh(r->sideband))
			look_again(r, now_ns());
		sampling_refresh(&r->sampling);
		show_progress(r);
	}
	log_progress(NULL);
}

char *record_target(struct record *r)
{
	const struct record_opts *o = r->opts;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (o->program)
		for (char **a = o->program; *a; a++)
			fprintf(f, "%s%s", a == o->program ? "" : " ", *a);
	else if (!has_target(o))
		fputs("system-wide", f);
	for (size_t i = 0; i < o->pids.nr && i < 8; i++) {
		const char *name = proc_name(&r->procs, o->pids.v[i]);

		fprintf(f, "%s%u%s%s%s", i ? ", " : "process ", o->pids.v[i], name ? " (" : "",
			name ? name : "", name ? ")" : "");
	}
	if (o->pids.nr > 8)
		fprintf(f, " and %zu more", o->pids.nr - 8);
	for (size_t i = 0; i < o->tids.nr && i < 8; i++)
		fprintf(f, "%s%u", i ? ", " : "thread ", o->tids.v[i]);
	if (o->comm)
		fprintf(f, "%snamed %s", ftell(f) ? ", " : "threads ", o->comm);
	if (o->cgroup)
		fprintf(f, "%scgroup %s", ftell(f) ? ", " : "", o->cgroup);
	fclose(f);
	return text;
}

static uint32_t describe_target(struct record *r)
{
	char *text = record_target(r);
	uint32_t id = profile_string(r->profile, text);

	free(text);
	return id;
}

static void describe_host(struct profile *p)
{
	struct utsname u;

	if (uname(&u))
		return;
	p->meta.host = profile_string(p, u.nodename);
	p->meta.kernel = profile_string(p, u.release);
	p->meta.arch = profile_string(p, u.machine);
}

static void tell_tables(const struct record *r)
{
	struct store_stats s;

	if (!r->store)
		return;
	s = store_stats(r->store);
	log_info("unwind tables: %zu of %s in %s, built in %s, %zu evicted, "
		 "%zu without room, %zu not to be had; "
		 "%zu processes; %s stacks deferred, %s found no room, %zu slots not given back",
		 s.nr_tables, text_count(s.nr_rows), text_bytes(s.segment_bytes),
		 text_ns(s.build_ns), s.nr_evicted, s.nr_no_room, s.nr_failed, s.nr_processes,
		 text_count(r->profile->counters[PROF_DEFERRED]),
		 text_count(r->profile->counters[PROF_DEFER_FULL]),
		 defer_nr_taken(&r->capture.defer));
}

static void tell_waits(const struct record *r)
{
	const uint64_t *c = r->profile->counters;
	const struct capture *k = &r->capture;

	if (k->sleepers_ns)
		log_info("%zu threads were asleep at the start: their stacks were read within %s",
			 k->defer.nr_sleepers, text_ns(k->sleepers_ns - r->begin_ns));

	if (r->profile->meta.is_time)
		log_info("waits: %s switches; %s stacks verified, %s but for the kernel's half, "
			 "%s walked, %s not sampled, %s wrong by the audit; %s counts merged",
			 text_count(c[PROF_SWITCHES]), text_count(c[PROF_VERIFIED]),
			 text_count(c[PROF_HALF_WALKED]), text_count(c[PROF_WALKED]),
			 text_count(c[PROF_NOT_SAMPLED]), text_count(c[PROF_AUDIT_WRONG]),
			 text_count(c[PROF_MERGED]));
}

static void tell_generations(const struct record *r)
{
	if (r->capture.generations.nr_turns)
		log_info("stack tables emptied while recording: %s times",
			 text_count(r->capture.generations.nr_turns));
}

static uint64_t since_start(const struct record *r, uint64_t time_ns)
{
	return time_ns > r->opts->start_ns ? time_ns - r->opts->start_ns : 0;
}

static const char *const call_graphs[] = { "auto", "fp", "dwarf" }; /* enum prof_call_graph */

static void describe(struct record *r, uint64_t end_ns, uint64_t end_real_ns)
{
	struct profile *p = r->profile;
	struct profile_meta *m = &p->meta;
	struct sideband_throttled throttled;
	struct rusage usage;

	describe_host(p);
	getrusage(RUSAGE_SELF, &usage);
	m->command = profile_string(p, r->opts->command);
	m->event = m->command;
	m->by_weight = r->opts->nr_events != 0;
	sampling_describe(&r->sampling, p);
	m->target = describe_target(r);
	m->version = profile_string(p, BPFPROF_VERSION);
	m->call_graph = profile_string(p, call_graphs[record_config(r->opts).call_graph]);
	m->max_depth = r->opts->max_depth;
	m->is_time = kind_of(r->opts->command)->is_time;
	m->duration_ns = end_ns - r->begin_ns;
	m->start_ns = end_real_ns - m->duration_ns;
	m->nr_cpus = r->nr_cpus;
	m->cpu_ns = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ull +
		    (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ull;
	m->rss_bytes = usage.ru_maxrss * 1024ull;
	m->map_bytes = session_map_bytes(r->session);
	m->suspended_ns = suspend_between_ns(r->asleep_ns, suspend_read_ns());
	m->missed = session_missed(r->session);
	m->sideband_lost = sideband_lost(r->sideband);
	throttled = sideband_throttled(r->sideband, end_ns);
	m->throttles = throttled.times;
	m->throttled_ns = throttled.ns;
	m->first_sample_ns = since_start(r, r->capture.first_ns);
	m->first_root_ns = since_start(r, r->capture.first_root_ns);
	if (p->counters[PROF_TIMED_RUNS])
		m->bpf_ns = p->counters[PROF_TIMED_NS] / p->counters[PROF_TIMED_RUNS] *
			    p->counters[PROF_RUNS];
}

static int ask_kernel(void *session, struct prof_ksym *questions, size_t nr)
{
	return session_ask_kernel(session, questions, nr);
}

/* Those that were sampled; where nothing is, all that are online. */
static size_t nr_profiled(const struct record *r)
{
	struct cpus online = {};
	size_t nr = sampling_cpus(&r->sampling);

	if (!nr && !cpus_online(&online))
		nr = online.nr;
	cpus_release(&online);
	return nr;
}

/*
 * Slots for stacks that are deferred have to be emptied every few milliseconds, also where many
 * others want the CPUs. So while it records, bpfprof raises its priority, unless it was started
 * with one of its own.
 */
static void hurry(struct record *r, bool on)
{
	errno = 0;
	if (!on && r->hurried)
		setpriority(PRIO_PROCESS, 0, 0);
	r->hurried = on && !getpriority(PRIO_PROCESS, 0) && !errno &&
		     !setpriority(PRIO_PROCESS, 0, HURRY_NICE);
}

int record_run(struct record *r)
{
	struct symbol_kernel kernel = { ask_kernel, r->session };
	uint64_t counters[PROF_NR_COUNTERS], end_ns, end_real_ns;
	int err = not_usage(start(r));

	if (err)
		return err;
	hurry(r, true);
	loop(r);
	end_ns = now_ns();
	end_real_ns = clock_ns(CLOCK_REALTIME);
	r->nr_cpus = nr_profiled(r);
	sampling_stop(&r->sampling);
	groups_describe(&r->groups, r->profile);
	err = session_stop(r->session);
	if (err)
		return not_usage(err);
	drain(r, true);
	hurry(r, false);
	session_counters(r->session, counters);
	if (r->opts->on_interval)
		r->opts->on_interval(r->opts->arg, r, true);
	capture_finish(&r->capture, counters);
	lifetimes_write(r->lifetimes, r->profile, session_ended(r->session));
	target_terminate(&r->target);
	/* From here on a second Ctrl-C ends bpfprof the usual way. */
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	symbolizer_run(r->profile, r->capture.sources, &kernel);
	describe(r, end_ns, end_real_ns);
	tell_tables(r);
	tell_generations(r);
	tell_waits(r);
	return 0;
}

struct session *record_session(struct record *r)
{
	return r->session;
}

uint64_t record_begin_ns(const struct record *r)
{
	return r->begin_ns;
}

struct profile *record_take(struct record *r)
{
	struct profile *p = r->profile;

	r->profile = NULL;
	return p;
}

void record_close(struct record *r)
{
	if (!r)
		return;
	sampling_release(&r->sampling);
	groups_close(&r->groups);
	target_stop(&r->target);
	sideband_close(r->sideband);
	store_free(r->store);
	lifetimes_free(r->lifetimes);
	session_close(r->session);
	capture_release(&r->capture);
	proc_release(&r->procs);
	profile_free(r->profile);
	if (r->timer >= 0)
		close(r->timer);
	if (r->signals >= 0)
		close(r->signals);
	if (r->cgroup_fd >= 0)
		close(r->cgroup_fd);
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	free(r);
}

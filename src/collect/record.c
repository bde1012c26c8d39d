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
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/klocks.h"
#include "collect/record_parts.h"
#include "collect/syscalls.h"
#include "collect/suspend.h"
#include "event/cgroup.h"
#include "event/cpus.h"
#include "event/host.h"
#include "profile/bpf_cost.h"
#include "profile/kind.h"

#define RATE_WITH_TARGET 99
#define RATE_SYSTEM_WIDE 49
#define MAX_SCANS	 3	      /* of /proc, for who descends from the selected processes */
#define HASTE_NS	 300000000ull /* after the start, and after a walk was deferred */
#define HURRY_NICE	 (-10)
#define WARM_NS		 50000000ull  /* at most, before a given process is sampled */
#define WARM_WORDS	 (128u << 10) /* a table of 512 KB: some 6 ms */
#define WARM_EVENTS_NS	 80000000ull
#define SLOW_TURNS	 5 /* CPUs and memory are looked at every so many turns */

static void drain(struct record *r, bool last)
{
	bool done;
	uint64_t horizon = record_fetch(r, last, &done);

	if (r->store)
		store_turn(r->store, &r->procs, now_ns());
	lifetimes_drop(r->lifetimes, session_maps(r->session)->counts,
		       session_maps(r->session)->nr_counts, horizon);
	r->state = capture_walk(&r->capture);
	if (r->state != CAPTURE_QUIET || r->capture.fills)
		r->haste_ns = now_ns() + HASTE_NS;
	proc_limit(&r->procs);
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

/* The program at tracepoints runs on all CPUs, those left out by -C included. */
static int prepare_hits(struct record *r)
{
	const struct opt_ids *cpus = &r->opts->cpus;

	if (!r->opts->sampling.nr_tracepoints)
		return -1;
	for (uint32_t cpu = 0; cpus->nr && cpu < cpus_possible(); cpu++)
		if (!opt_ids_has(cpus, cpu))
			session_leave_out_cpu(r->session, cpu);
	return session_hits_program(r->session);
}

static int open_events(struct record *r)
{
	const struct record_opts *o = r->opts;
	struct sampling_opts so = { .events = o->sampling.events,
				    .nr = o->sampling.nr_events,
				    .force = o->sampling.event,
				    .period = o->sampling.period,
				    .rate_hz = o->sampling.rate_hz,
				    .by_rate = o->sampling.rate_hz != 0,
				    .precise = o->sampling.precise,
				    .branches = o->sampling.branches,
				    .note = o->sampling.note,
				    .used = record_confine(r),
				    .cpus = &o->cpus };
	struct core core;
	double alone_ns = kind_of(o->command)->syscalls ? syscalls_price_ns() : 0;
	int err = session_start(r->session);

	core_read(&core, "/");
	so.imprecise = core.vendor == CORE_ARM; /* its drivers take any, and sample as ever */
	session_pause_allocs(r->session, o->alloc.duty > 0);
	if (!err && o->calls.nr_points)
		err = record_probe(r);
	if (!err)
		record_begin_duty(r);
	if (!err && alone_ns > 0)
		record_price(r, alone_ns);
	if (err || !probe_program(probe_get(record_row(o)), PROBE_PERF))
		return err;
	if (o->sampling.nr_columns)
		err = groups_open(&r->groups, o->sampling.columns, o->sampling.nr_columns, &o->cpus,
				  r->session);
	if (err)
		return err;
	if (kind_of(record_row(o))->samples) {
		so.cookie = PROF_WAIT(PROF_ON_CPU, 0, -1);
		so.force = "cpu-clock";
	}
	so.records = r->sideband;
	so.prog_fd = session_perf_program(r->session);
	so.hits_fd = prepare_hits(r);
	if (!so.rate_hz)
		so.rate_hz = record_has_target(o) ? RATE_WITH_TARGET : RATE_SYSTEM_WIDE;
	return sampling_open(&r->sampling, &so);
}

static void add_process(struct record *r, uint32_t pid, uint64_t now)
{
	session_add_pid(r->session, pid);
	proc_snapshot(&r->procs, pid, now);
}

/*
 * The filter follows forks of all that are in it already. What a descendant forks between its turn
 * in /proc and its way into the filter is found by the next scan; one that keeps forking has
 * somebody new at each, so the scans are few.
 */
static void add_processes(struct record *r, uint64_t now)
{
	const struct record_opts *o = r->opts;
	struct opt_ids all = {};
	struct running running;
	size_t nr_new = o->pids.nr, scans = 0;

	for (size_t i = 0; i < o->pids.nr; i++) {
		opt_ids_add(&all, o->pids.v[i]);
		add_process(r, o->pids.v[i], now);
	}
	while (nr_new && scans++ < MAX_SCANS && !o->no_children) {
		running_read(&running, "");
		nr_new = running_add_descendants(&running, &all);
		running_release(&running);
		for (size_t i = 0; i < all.nr && nr_new; i++)
			if (!opt_ids_has(&o->pids, all.v[i]))
				add_process(r, all.v[i], now);
	}
	opt_ids_release(&all);
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
	const struct kind *kind = kind_of(o->command);
	bool by_pid = (o->pids.nr || (o->program && !o->all)) && !o->tids.nr;
	struct capture_opts co = { .procs = &r->procs,
				   .store = r->store,
				   .session = r->session,
				   .config = record_config(o),
				   .most_bytes = record_wait_bytes(r),
				   .heatmap = o->moments,
				   .long_wait_ns = o->waits.gap_ns / LONG_WAITS,
				   .own_child = r->target.pid,
				   .reader = r->reading->reader,
				   .take_call =
					   kind->calls && !kind->waits ? record_take_call : NULL,
				   .ledger_event = o->alloc.live ? ALLOC_LIVE_EVENTS : 0,
				   .weigh = record_weigher(o),
				   .whole = o->alloc.every ? record_whole : NULL,
				   .arg = r };
	int err;

	proc_init(&r->procs, !by_pid, !o->no_children);
	r->procs.opener = &r->reading->opener;
	r->procs.mapper = &r->reading->mapper;
	r->profile = profile_new();
	co.profile = r->profile;
	capture_init(&r->capture, &co);
	add_processes(r, now);
	for (size_t i = 0; i < o->tids.nr; i++)
		session_add_tid(r->session, o->tids.v[i]);
	if (o->program)
		add_process(r, r->target.pid, now);
	warm_up(r);
	err = open_events(r);
	if (record_config(o).running && !record_config(o).slow_poll_ns)
		r->lifetimes = lifetimes_new(session_began(r->session));
	r->begin_ns = now_ns();
	if (!o->live.turn)
		capture_begin(&r->capture, r->begin_ns, o->duration_ns);
	if (!err)
		record_begin_overhead(r);
	record_begin_expected(r);
	r->asleep_ns = suspend_read_ns();
	r->next_interval_ns = o->runqlat.interval_ns;
	r->haste_ns = r->store || session_maps(r->session)->sleepers ? r->begin_ns + HASTE_NS : 0;
	if (!err && o->program && r->target.go > 0)
		err = target_release(&r->target, o->program[0]);
	if (!err && !by_pid)
		proc_snapshot_all(&r->procs, now_ns());
	return err;
}

static bool signalled(struct record *r)
{
	struct signalfd_siginfo info;

	const struct live_opts *o = &r->opts->live;

	while (read(r->signals, &info, sizeof(info)) == sizeof(info))
		r->interrupted |= !o->signal || !o->signal(o->arg, info.ssi_signo);
	return r->interrupted;
}

/* A timeline goes on a little behind an outlier. */
static bool has_tripped(const struct record *r)
{
	const struct timeline_opts *o = &r->opts->timeline;
	uint64_t trip = o->outlier_us ? session_trip(r->session) : 0;

	return trip && now_ns() >= trip + o->around_ns;
}

static bool is_over(struct record *r)
{
	const struct record_opts *o = r->opts;
	uint64_t elapsed = now_ns() - r->begin_ns;

	if (signalled(r) || (o->duration_ns && elapsed >= o->duration_ns))
		return true;
	if (o->runqlat.interval_ns && elapsed >= r->next_interval_ns) {
		r->next_interval_ns += o->runqlat.interval_ns;
		if (!o->runqlat.on_interval(o->runqlat.arg, r, false))
			return true;
	}
	r->ended_by = record_probes_are_dear(r) ? ENDED_BY_PROBES : record_ends_above(r);
	if (r->ended_by || has_tripped(r))
		return true;
	return r->outlived = o->program ? target_ended(&r->target, o->program[0])
					: !r->procs.track_all && proc_all_ended(&r->procs);
}

static void show_progress(struct record *r)
{
	uint64_t c[PROF_NR_COUNTERS], elapsed = now_ns() - r->begin_ns, lost, gone;
	char total[32] = "";

	/* The programs count what waits were recorded in the waits only. */
	session_counters(r->session, c);
	lost = counters_sum(c, COUNTER_LOST);
	gone = counters_sum(c, COUNTER_FILTER) + lost;
	if (r->opts->duration_ns)
		snprintf(total, sizeof(total), " of %s", text_ns(r->opts->duration_ns));
	log_progress("%s%s, %s %ss, %s lost, %s in BPF (Ctrl-C ends)",
		     text_ns(elapsed / RECORD_TURN_NS * RECORD_TURN_NS), total,
		     text_count(c[PROF_SEEN] > gone ? c[PROF_SEEN] - gone : 0),
		     kind_noun(kind_of(r->opts->command)), text_count(lost),
		     text_ns(counters_bpf_ns(c)));
}

static int ms_until(uint64_t then, uint64_t now)
{
	return then > now ? (then - now + 999999) / 1000000 : 0;
}

/* Of two times in milliseconds, below 0 = never. */
static int sooner(int a, int b)
{
	return a >= 0 && (b < 0 || a < b) ? a : b;
}

/* Milliseconds until the next turn matters: the end of the recording does not wait for it. */
static int until_end(const struct record *r)
{
	uint64_t now = now_ns(), elapsed = now - r->begin_ns, until = r->opts->duration_ns;
	int haste = now < r->haste_ns ? record_haste_ms(r) : -1;

	if (r->state == CAPTURE_BUSY)
		return 0;
	if (r->opts->runqlat.interval_ns && (!until || r->next_interval_ns < until))
		until = r->next_interval_ns;
	return sooner(haste, until ? ms_until(until, elapsed) : -1);
}

/* Nor do sampling periods, which would keep step with the turns. */
static int until_turn(const struct record *r)
{
	int end = until_end(r), dither = r->dither_ns ? ms_until(r->dither_ns, now_ns()) : -1;
	int duty = r->duty.share > 0 ? ms_until(r->duty.turn_ns, now_ns()) : -1;

	return sooner(sooner(duty, r->beside_ms), sooner(dither, end));
}

/* Of the loop, once there is something to do. 0 or negative errno, logged. */
static int take_turn(struct record *r)
{
	uint64_t ticks;
	int err;

	r->beside_ms = -1;
	r->dither_ns = sampling_dither(&r->sampling, session_maps(r->session)->counters, now_ns());
	drain(r, false);
	err = record_turn_duty(r) ?: record_turn_overhead(r);
	if (err)
		return err;
	record_probe_more(r);
	groups_look(&r->groups, now_ns());
	if (read(r->timer, &ticks, sizeof(ticks)) != sizeof(ticks) || ++r->nr_turns % SLOW_TURNS)
		return 0;
	/*
	 * First hear of a CPU, then ask /proc what was missed, then sample it: no stack of it is
	 * named by what its process was before.
	 */
	if (sideband_refresh(r->sideband))
		record_look_again(r, now_ns());
	record_refresh_events(r);
	if (!r->opts->live.turn)
		show_progress(r);
	return 0;
}

static int loop(struct record *r)
{
	struct pollfd fds[] = { { r->timer, POLLIN, 0 },
				{ r->signals, POLLIN, 0 },
				{ sideband_fd(r->sideband), POLLIN, 0 },
				{ r->target.pidfd, POLLIN, 0 },
				{ r->opts->live.turn ? r->opts->live.fd : -1, POLLIN, 0 } };
	int err;

	while (!is_over(r)) {
		if (record_probe_too_often(r))
			return -EBUSY;
		poll(fds, 5, until_turn(r));
		err = take_turn(r);
		if (err)
			return err;
		if (r->opts->live.turn && !r->opts->live.turn(r->opts->live.arg, r))
			break;
	}
	log_progress(NULL);
	record_end_duty(r);
	return 0;
}

/* Those that were sampled; where nothing is, all that are online. */
size_t record_nr_cpus(const struct record *r)
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

int record_begin(struct record *r)
{
	int err = record_not_usage(start(r));

	if (err)
		return err;
	hurry(r, true);
	record_drop_rights(r);
	return 0;
}

int record_turn(struct record *r, struct record *beside)
{
	int err = take_turn(r);

	beside->beside_ms = until_turn(r);
	return err;
}

int record_go_on(struct record *r)
{
	int err = loop(r);

	if (!err)
		drain(r, true);
	return err;
}

int record_run(struct record *r)
{
	uint64_t counters[PROF_NR_COUNTERS], end_real_ns;
	int err = record_begin(r);

	if (!err && r->opts->live.turn)
		return record_go_on(r);
	if (!err)
		err = loop(r);
	if (err)
		return err;
	r->end_ns = now_ns();
	end_real_ns = clock_ns(CLOCK_REALTIME);
	r->nr_cpus = record_nr_cpus(r);
	sampling_stop(&r->sampling);
	record_end_expected(r);
	groups_describe(&r->groups, r->profile);
	err = session_stop(r->session);
	if (err)
		return record_not_usage(err);
	drain(r, true);
	hurry(r, false);
	session_counters(r->session, counters);
	if (r->opts->runqlat.on_interval)
		r->opts->runqlat.on_interval(r->opts->runqlat.arg, r, true);
	if (r->opts->alloc.live)
		record_add_live(r, r->end_ns);
	if (kind_of(r->opts->command)->klocks)
		r->klock_names = klock_names_new(r->session);
	capture_finish(&r->capture, counters, r->end_ns);
	if (kind_of(r->opts->command)->calls)
		record_describe_calls(r);
	if (kind_of(r->opts->command)->timeline) {
		timeline_read(&r->opts->timeline, &r->marks, session_maps(r->session), r->profile,
			      r->begin_ns, r->end_ns);
		timeline_name_processes(r->profile, &r->procs);
	}
	lifetimes_write(r->lifetimes, r->profile, session_ended(r->session));
	capture_find_jit(&r->capture, r->opts->java_names);
	target_terminate(&r->target);
	record_name(r);
	record_survive(true);
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	record_find_packages(r);
	if (r->opts->alloc.every)
		record_describe_allocs(r);
	record_describe(r, r->end_ns, end_real_ns);
	record_tell(r);
	return 0;
}

struct session *record_session(struct record *r)
{
	return r->session;
}

bool record_was_interrupted(const struct record *r)
{
	return r->interrupted;
}

bool record_has_outlived(const struct record *r)
{
	return r->outlived;
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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The loop of windows, and how one recording takes over from another. */
#include "agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/notify.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/window.h"
#include "profile/gather.h"

#define TURN_NS	  200000000ull	 /* between turns */
#define LEAD_NS	  2000000000ull	 /* before the end of a window a successor begins, */
#define SETTLE_NS 300000000ull	 /* and knows of all threads so much later */
#define RETRY_NS  60000000000ull /* when there was no memory for it */
#define LASTS_NS  10000000000ull /* each at least: to begin one takes half a second of a CPU */
#define SHORT_NS  60000000000ull /* tables that last no longer are too small */
#define LEAST_NS  10000000ull	 /* of what is left at the end, to be a window */
#define FILES	  4096		 /* that may be open, if whoever started us allows so many */
#define COUNT_NS  5000000000ull	 /* between counts of them */
#define NAMES_OF  4		 /* one part in so many of the budget is for files with names */
#define NAMES_NS  3000000000ull	 /* and so much at the beginning, when all is new */
#define NAMELESS  "[name not read]"

struct agent {
	const struct agent_opts *o;
	struct record *record, *next; /* next: takes over, NULL = none is needed so far */
	struct live *live, *next_live;
	struct live_names names;
	struct notify notify;
	int fds; /* epoll of all sinks, -1 = they have none */
	uint64_t begin_ns, boundary_ns, since_ns, next_begin_ns, retry_ns;
	uint64_t gap_ns, all_gaps_ns, nr_windows, nr_hand_overs;
	uint64_t nr_files, max_files, counted_ns; /* open, and when they were counted */
	bool is_close, next_is_close;		  /* how this recording looks, and the next one */
	struct agent_looks usual;
	bool reload, handed_over, over, failed;
};

/* --- open files --- */

/* Each program and library that was ever seen stays open until tables are renewed. */
static uint64_t raise_limit(void)
{
	struct rlimit l = {};

	getrlimit(RLIMIT_NOFILE, &l);
	if (l.rlim_cur >= FILES || l.rlim_cur == l.rlim_max)
		return l.rlim_cur;
	l.rlim_cur = l.rlim_max < FILES ? l.rlim_max : FILES;
	setrlimit(RLIMIT_NOFILE, &l);
	return l.rlim_cur;
}

static void count_files(struct agent *a)
{
	DIR *d = opendir("/proc/self/fd");

	a->counted_ns = now_ns();
	a->nr_files = 0;
	while (d && readdir(d))
		a->nr_files++;
	if (d)
		closedir(d);
}

/* Half of them are for the next recording. */
static bool is_full(const struct agent *a)
{
	return live_is_full(a->live) || a->nr_files > a->max_files / 2;
}

/* Nothing is gained by waiting for the end of a window in which things get lost. */
static bool is_short(const struct agent *a)
{
	return live_is_short(a->live) || a->nr_files > a->max_files / 8 * 5;
}

/* --- windows --- */

/* By the clock that people read, so that hosts have the same windows. */
static void set_boundary(struct agent *a)
{
	uint64_t interval = a->o->interval_ns, real = clock_ns(CLOCK_REALTIME);
	uint64_t left = interval - real % interval;

	if (left < interval / 4)
		left += interval;
	a->boundary_ns = now_ns() + left;
}

/*
 * Who starts other programs all the time has code without names in each window. To read the files
 * that have them may take a part of the budget: what runs most is read first, and code that is left
 * over, which ran for a moment, is known by its place only.
 */
static struct live *new_live(struct agent *a, struct record *r)
{
	a->names.first_ns = NAMES_NS;
	a->names.share = a->usual.max_overhead * sysconf(_SC_NPROCESSORS_ONLN) / NAMES_OF;
	return live_new(r, WINDOW_UNTIL_FORGOTTEN, a->usual.max_overhead > 0 ? &a->names : NULL);
}

static void turn_sinks(struct agent *a)
{
	for (size_t i = 0; i < a->o->nr_sinks; i++)
		if (a->o->sinks[i].turn)
			a->o->sinks[i].turn(a->o->sinks[i].arg);
}

static void reload_sinks(struct agent *a)
{
	int err = 0;

	notify_reloading(&a->notify);
	for (size_t i = 0; i < a->o->nr_sinks; i++)
		if (a->o->sinks[i].reload && a->o->sinks[i].reload(a->o->sinks[i].arg))
			err = -EINVAL;
	log_info(err ? "not reloaded: all is as before" : "reloaded");
	notify_ready(&a->notify);
	a->reload = false;
}

static void tell(struct agent *a, const struct profile *p, const struct agent_facts *f)
{
	uint64_t lost = profile_sum(p, COUNTER_LOST);
	double own = 100.0 * (p->meta.cpu_ns + p->meta.bpf_ns) /
		     ((double)p->meta.duration_ns * (p->meta.nr_cpus ? p->meta.nr_cpus : 1) + 1);
	char *text = xasprintf("%" PRIu64 " windows, the last of %s: %s recorded, %s lost, cost "
			       "%s of the CPUs, %s",
			       a->nr_windows, text_ns(p->meta.duration_ns),
			       text_count(p->counters[PROF_RECORDED]), text_count(lost),
			       text_pct(own), text_bytes(f->live.rss_bytes));

	log_progress("%s", text);
	notify_status(&a->notify, text);
	log_info("%s", text);
	free(text);
}

/* To be freed. What is of its samples is of those of the result then. */
static struct profile *gather_window(struct agent *a, struct agent_facts *f)
{
	const struct profile *w = live_window(a->live);
	uint32_t *ids = xcalloc(w->nr_samples + 1, sizeof(*ids));
	struct gather *g = gather_new(0);
	struct ended *ended = live_ended(a->live, &f->nr_ended);

	gather_map(g, ids);
	gather_add(g, w, NAMELESS);
	for (size_t i = 0; i < f->nr_ended; i++)
		ended[i].sample = ids[ended[i].sample];
	f->ended = ended;
	free(ids);
	return gather_take(g);
}

/* What was looked at last, as a window. */
static void give_window(struct agent *a)
{
	struct agent_facts f = { .nr = a->nr_windows, .gap_ns = a->gap_ns };
	struct profile *p = gather_window(a, &f);

	live_facts(a->live, &f.live);
	p->meta.bpf_ns = f.live.bpf_ns;
	a->gap_ns = 0;
	a->nr_windows++;
	for (size_t i = 0; i < a->o->nr_sinks; i++)
		if (a->o->sinks[i].window)
			a->o->sinks[i].window(a->o->sinks[i].arg, p, &f);
	tell(a, p, &f);
	profile_free(p);
	mem_give_back(); /* copies of us that read files share what is left */
}

/* --- taking over --- */

static void drop_next(struct agent *a)
{
	live_free(a->next_live);
	record_close(a->next);
	a->next_live = NULL;
	a->next = NULL;
}

static bool wants_close(const struct agent *a)
{
	return a->o->is_close && a->o->is_close(a->o->close_arg);
}

static void set_looks(struct agent *a, bool close)
{
	const struct agent_looks *l = close ? &a->o->closely : &a->usual;

	a->next_is_close = close;
	a->o->record->sampling.rate_hz = l->rate_hz;
	a->o->record->max_overhead = l->max_overhead;
}

/* Another recording begins meanwhile, with larger tables if they were too small. */
static void begin_next(struct agent *a)
{
	uint32_t *max_stacks = &a->o->record->max_stacks;
	int err;

	if (live_is_full(a->live) && now_ns() < a->since_ns + SHORT_NS &&
	    *max_stacks * 2 <= a->o->most_stacks)
		*max_stacks *= 2;
	set_looks(a, wants_close(a));
	live_tell_full(a->live);
	a->o->record->before = a->record;
	a->next = record_open(a->o->record);
	a->o->record->before = NULL;
	err = a->next ? record_begin(a->next) : -errno;
	if (err) {
		log_warn("no second recording to take over from this one, whose tables are nearly "
			 "full; tried again in %s",
			 text_ns(RETRY_NS));
		drop_next(a);
		a->retry_ns = now_ns() + RETRY_NS;
		return;
	}
	a->next_live = new_live(a, a->next);
	a->next_begin_ns = now_ns();
}

/* The next recording does not wait for the end of a window. */
static bool is_urgent(const struct agent *a)
{
	return is_short(a) || (!a->is_close && wants_close(a));
}

static void turn_next(struct agent *a)
{
	uint64_t now = now_ns();
	bool may = !a->next && now >= a->retry_ns && now >= a->since_ns + LASTS_NS;
	bool at_end = is_full(a) || (a->is_close && !wants_close(a));

	if (a->next && record_turn(a->next, a->record)) {
		drop_next(a);
		a->retry_ns = now + RETRY_NS;
	}
	if (!a->next && now >= a->counted_ns + COUNT_NS)
		count_files(a);
	if (may && (is_urgent(a) || (a->boundary_ns < now + LEAD_NS && at_end)))
		begin_next(a);
}

static bool may_take_over(const struct agent *a)
{
	return a->next && now_ns() >= a->next_begin_ns + SETTLE_NS;
}

static int end_window(struct agent *a)
{
	bool take_over = may_take_over(a);
	int err = live_look(a->live);

	if (!err && take_over)
		err = live_look(a->next_live);
	if (err)
		return err;
	if (take_over) {
		a->handed_over = true;
		a->nr_hand_overs++;
	}
	give_window(a);
	if (take_over) {
		a->gap_ns = live_hand_over(a->live, a->next_live);
		a->all_gaps_ns += a->gap_ns;
	}
	return 0;
}

/* --- the loop --- */

static bool turn(void *arg, struct record *r)
{
	struct agent *a = arg;
	uint64_t now = now_ns();

	if (!a->live) {
		a->live = new_live(a, r);
		set_boundary(a);
		notify_ready(&a->notify);
	}
	a->failed = live_recycle(a->live) != 0;
	turn_sinks(a);
	notify_alive(&a->notify);
	if (a->reload)
		reload_sinks(a);
	turn_next(a);
	if (a->o->duration_ns && now >= a->begin_ns + a->o->duration_ns)
		a->over = true;
	if (!a->over && !a->failed &&
	    (now >= a->boundary_ns || (is_urgent(a) && may_take_over(a)))) {
		a->failed = end_window(a) != 0;
		set_boundary(a);
	}
	return !a->over && !a->failed && !a->handed_over;
}

static bool on_signal(void *arg, int nr)
{
	struct agent *a = arg;

	if (nr != SIGHUP)
		return false;
	a->reload = true;
	return true;
}

/* The other one is the recording now. Its signals and its timer are read from here on. */
static void take_over(struct agent *a)
{
	struct record *old = a->record;
	bool was_close = a->is_close;

	live_free(a->live);
	a->record = a->next;
	a->live = a->next_live;
	a->next = NULL;
	a->next_live = NULL;
	a->handed_over = false;
	a->is_close = a->next_is_close;
	a->since_ns = a->next_begin_ns;
	record_go_alone(a->record);
	record_close(old);
	mem_give_back(); /* of two recordings one is left */
	count_files(a);
	log_info("tables renewed for the %" PRIu64 ". time: %s in no window", a->nr_hand_overs,
		 text_ns(a->gap_ns));
	if (was_close != a->is_close)
		log_warn("%" PRIu32 " samples a second%s", a->o->record->sampling.rate_hz,
			 a->is_close ? " from now on, since a condition is met" : " again");
}

static int run_all(struct agent *a)
{
	int err;

	a->record = record_open(a->o->record);
	err = a->record ? record_begin(a->record) : -errno;
	if (err)
		return err;
	a->begin_ns = a->since_ns = now_ns();
	for (;;) {
		err = record_go_on(a->record);
		if (err || !a->handed_over)
			break;
		take_over(a);
	}
	notify_stopping(&a->notify);
	/* What is left is a window with its true duration. */
	if (!err && !a->failed && a->live && !live_look(a->live) &&
	    live_window_ns(a->live) >= LEAST_NS)
		give_window(a);
	return err ? err : a->failed ? -EIO : 0;
}

/* Sinks that are written to or read from wake the loop. */
static int watch_sinks(const struct agent_opts *o)
{
	struct epoll_event e = { .events = EPOLLIN };
	int all = -1, fd;

	for (size_t i = 0; i < o->nr_sinks; i++) {
		fd = o->sinks[i].fd ? o->sinks[i].fd(o->sinks[i].arg) : -1;
		if (fd < 0)
			continue;
		if (all < 0)
			all = epoll_create1(EPOLL_CLOEXEC);
		epoll_ctl(all, EPOLL_CTL_ADD, fd, &e);
	}
	return all;
}

int agent_run(const struct agent_opts *o)
{
	struct agent a = { .o = o, .fds = watch_sinks(o), .max_files = raise_limit() };
	const struct record_opts *r = o->record;
	sigset_t mask, old;
	int err;

	/* So they stay blocked while a recording is closed that had blocked them. */
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, &old);
	notify_open(&a.notify);
	mem_for_long();
	a.usual = (struct agent_looks){ r->sampling.rate_hz, r->max_overhead };
	o->record->command = "agent";
	o->record->live = (struct live_opts){
		.fd = a.fds, .turn_ns = TURN_NS, .turn = turn, .signal = on_signal, .arg = &a
	};
	err = run_all(&a);
	log_progress(NULL);
	for (size_t i = 0; i < o->nr_sinks; i++)
		if (o->sinks[i].close)
			o->sinks[i].close(o->sinks[i].arg);
	live_free(a.live);
	drop_next(&a);
	record_close(a.record);
	notify_close(&a.notify);
	if (a.fds >= 0)
		close(a.fds);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return err;
}

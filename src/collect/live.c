/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looks, and what the window is as a profile. */
#include "collect/live.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/radix.h"
#include "collect/latency.h"
#include "collect/record_parts.h"
#include "collect/recycle.h"
#include "collect/window.h"
#include "profile/bpf_cost.h"
#include "profile/copy.h"

#define NAMES_FIRST_NS 1000000000ull /* for names, at the beginning, */
#define NAMES_SHARE    0.002	     /* and from then on such a part of time, if nothing is said */
#define MAX_STRINGS    (64u << 20)
#define SELF_WEIGHT    16u /* of a sample, for the frame that ran; others count as one */
#define NONE	       UINT32_MAX
#define SELF_MOST      65536u /* samples of a stack: more are no more wanted */

/* Of each look, in the same place of a ring as the window has it. */
struct facts {
	uint64_t counters[PROF_NR_COUNTERS]; /* as of its begin */
	uint64_t cpu_ns;
	struct prof_hist queue; /* what it grew by */
};

/* Facts of a recording since its begin, of which a window of its own has a part. */
static const size_t since_begin[] = {
	offsetof(struct profile_meta, missed),	      offsetof(struct profile_meta, sideband_lost),
	offsetof(struct profile_meta, throttles),     offsetof(struct profile_meta, throttled_ns),
	offsetof(struct profile_meta, thinned_ns),    offsetof(struct profile_meta, over_ns),
	offsetof(struct profile_meta, interrupts_ns), offsetof(struct profile_meta, suspended_ns),
};
#define NR_SINCE_BEGIN (sizeof(since_begin) / sizeof(*since_begin))

struct live {
	struct record *r;
	struct window window;
	struct recycle recycle;
	struct latency latency;
	struct facts before[WINDOW_MAX_LOOKS];
	struct facts now;
	struct ended *ended; /* of the window, by samples of the profile */
	size_t nr_ended, cap_ended;
	struct live_names *names;      /* NULL = they may take what they take */
	uint64_t named_ns;	       /* as of the begin of the last pass */
	uint64_t told[NR_SINCE_BEGIN]; /* as of the last window */
	bool given;		       /* what was looked at is no part of the next window */
	uint64_t nr_stay;	       /* counts whose threads were there at the last look */
};

struct live *live_new(struct record *r, uint64_t window_ns, struct live_names *names)
{
	const struct session_maps *maps = session_maps(r->session);
	struct live *l = xcalloc(1, sizeof(*l));

	l->r = r;
	l->names = names;
	if (names && !names->begin_ns)
		names->begin_ns = r->begin_ns;
	l->now.cpu_ns = record_own_ns(r);
	window_init(&l->window, maps->counts, maps->nr_counts, window_ns,
		    session_began(r->session));
	window_take_lengths(&l->window, maps->wait_hists);
	recycle_init(&l->recycle, maps->counts, &maps->counts_used[0].value, NULL);
	return l;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	window_release(&l->window);
	recycle_release(&l->recycle);
	latency_release(&l->latency);
	free(l->ended);
	free(l);
}

static void see(void *arg, const struct prof_look *row)
{
	window_see(arg, row);
}

/* Waits of both kinds on all CPUs. */
static void take_queue(struct live *l, struct prof_hist *to)
{
	size_t nr;
	struct runqlat_row *rows = latency_rows(&l->latency, l->r->session, &nr);

	memset(to, 0, sizeof(*to));
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < PROF_NR_HISTS; k++)
			runqlat_add(to, &rows[i].hist[k]);
	free(rows);
}

int live_look(struct live *l)
{
	struct facts *f = &l->before[l->window.nr_looks % WINDOW_MAX_LOOKS];
	const struct session_maps *m = session_maps(l->r->session);
	int err;

	if (l->given)
		window_forget(&l->window);
	l->given = false;
	memcpy(f, &l->now, sizeof(*f));
	take_queue(l, &f->queue);
	window_begin(&l->window, now_ns());
	err = session_look(l->r->session, see, &l->window);
	window_end(&l->window);
	if (l->r->opts->always_on) {
		window_shrink(&l->window);
		recycle_look(&l->recycle, &l->window, now_ns());
		l->nr_stay = m->counts_used[0].value - l->recycle.nr;
	}
	session_counters(l->r->session, l->now.counters);
	l->now.counters[PROF_DEFER_FULL] += l->r->capture.nr_no_room;
	l->now.cpu_ns = record_own_ns(l->r);
	return err;
}

/* One part of a whole in percent. */
static unsigned int percent(uint64_t part, uint64_t all)
{
	return all ? 100 * part / all : 0;
}

/* The last look of a window needs a place. */
static bool has_many_new(const struct live *l)
{
	const struct session_maps *m = session_maps(l->r->session);

	return l->window.nr + 1 < WINDOW_MAX_LOOKS &&
	       m->counts_used[0].value > l->recycle.nr + l->nr_stay + m->nr_counts / 8;
}

int live_recycle(struct live *l)
{
	recycle_turn(&l->recycle, &l->window, now_ns());
	if (!has_many_new(l))
		return 0;
	log_info("another look: %u%% of counts in use",
		 percent(session_maps(l->r->session)->counts_used[0].value,
			 session_maps(l->r->session)->nr_counts));
	return live_look(l);
}

static const struct facts *first_facts(const struct live *l)
{
	return &l->before[window_first(&l->window) % WINDOW_MAX_LOOKS];
}

static void add_rows(const struct live *l, struct live_facts *f)
{
	const struct tally *t = &l->window.sums;

	for (size_t i = 0; i < t->nr; i++) {
		if (PROF_WAIT_KIND(t->counts[i].wait) == PROF_RUNNING)
			f->running_ns += t->counts[i].weight;
		else if (PROF_WAIT_KIND(t->counts[i].wait) == PROF_ON_CPU)
			f->samples += t->counts[i].samples;
	}
}

void live_facts(const struct live *l, struct live_facts *f)
{
	const struct facts *first = first_facts(l);
	uint64_t before = counters_bpf_ns(first->counters);
	struct record_taken taken = record_taken(l->r);
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	*f = (struct live_facts){
		.window_ns = window_end_ns(&l->window) - window_begin_ns(&l->window),
		.cpu_ns = l->now.cpu_ns - first->cpu_ns,
		.bpf_ns = counters_bpf_ns(l->now.counters),
		.rss_bytes = usage.ru_maxrss * 1024ull,
		.budget = l->r->opts->max_overhead,
		.samples_one_in = taken.samples,
		.stacks_one_in = taken.stacks,
		.nr_cpus = record_nr_cpus(l->r),
	};
	f->bpf_ns -= before < f->bpf_ns ? before : f->bpf_ns;
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		if (profile_counters[i].kind == COUNTER_LOST)
			f->lost[i] = l->now.counters[i] - first->counters[i];
	for (uint64_t i = window_first(&l->window); i < l->window.nr_looks; i++)
		runqlat_add(&f->queue, &l->before[i % WINDOW_MAX_LOOKS].queue);
	add_rows(l, f);
}

static void want(const struct profile *p, uint32_t *wanted, uint32_t stack, uint64_t itself)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(p, stack, &nr);

	for (uint32_t i = 0; i < nr; i++)
		wanted[frames[i]] += !wanted[frames[i]];
	if (nr)
		wanted[frames[0]] += SELF_WEIGHT * (itself < SELF_MOST ? itself : SELF_MOST);
}

/* Of frames that are in the window: what ran most is seen first. To be freed. */
static uint32_t *wanted_frames(const struct profile *p)
{
	uint32_t *wanted = xcalloc(p->nr_frames, sizeof(*wanted));

	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];
		uint64_t itself = PROF_WAIT_KIND(s->wait) == PROF_ON_CPU ? s->count : 0;

		want(p, wanted, s->kstack, itself);
		want(p, wanted, s->ustack, s->kstack ? 0 : itself);
	}
	return wanted;
}

/* Names that were found before cost next to nothing. Reading files does. */
static bool may_read(void *arg)
{
	const struct live *l = arg;
	uint64_t first = (l->names->first_ns ? l->names->first_ns : NAMES_FIRST_NS) +
			 l->r->opts->symbols.time_ns;
	uint64_t spent = l->names->spent_ns + record_own_ns(l->r) - l->named_ns;
	double share = l->names->share > 0 ? l->names->share : NAMES_SHARE;

	return spent <= first + (now_ns() - l->names->begin_ns) * share;
}

static void name(struct live *l, bool all)
{
	struct symbol_options o = l->r->opts->symbols;
	uint32_t *wanted = all ? NULL : wanted_frames(l->r->profile);

	l->named_ns = record_own_ns(l->r);
	if (!all && l->names) {
		o.wanted = wanted;
		o.may_read = may_read;
		o.arg = l;
	}
	capture_fill_sources(&l->r->capture);
	capture_try_jit(&l->r->capture);
	record_name_by(l->r, &o);
	if (l->names)
		l->names->spent_ns += record_own_ns(l->r) - l->named_ns;
	free(wanted);
}

/* Of waits that found no room for their samples nothing is said. */
static void add_ended(struct live *l, const uint32_t *sample_of)
{
	const struct endings *e = &l->window.endings;

	l->nr_ended = 0;
	for (size_t i = 0; i < e->nr; i++) {
		struct ended row = e->rows[i];

		row.sample = sample_of[row.sample];
		if (row.sample == NONE)
			continue;
		l->ended = xgrow(l->ended, l->nr_ended, &l->cap_ended, sizeof(row));
		l->ended[l->nr_ended++] = row;
	}
}

static void add_samples(struct live *l)
{
	struct profile *p = l->r->profile;
	const struct tally *t = &l->window.sums;
	uint32_t *sample_of = xcalloc(t->nr + 1, sizeof(*sample_of));

	for (size_t i = 0; i < t->nr; i++) {
		struct prof_count n = t->counts[i];
		struct sample s;

		sample_of[i] = NONE;
		if (!n.samples && !n.weight)
			continue;
		n.samples += !n.samples; /* a wait that has not ended is one all the same */
		n.ustack = capture_slot_ref(&l->r->capture, n.ustack);
		n.kstack = capture_slot_ref(&l->r->capture, n.kstack);
		if (!capture_sample(&l->r->capture, &n, &s))
			continue;
		sample_of[i] = (uint32_t)p->nr_samples;
		profile_add_sample(p, &s);
	}
	add_ended(l, sample_of);
	free(sample_of);
}

/* How much of the window each thread lived that has samples, in the order of their ids. */
static void add_threads(struct live *l)
{
	struct profile *p = l->r->profile;
	uint64_t begin_ns = window_begin_ns(&l->window), end_ns = window_end_ns(&l->window);
	struct radix_row *rows = xcalloc(p->nr_samples + 1, sizeof(*rows));

	for (size_t i = 0; i < p->nr_samples; i++)
		rows[i] = (struct radix_row){ (uint64_t)p->samples[i].pid << 32 | p->samples[i].tid,
					      i };
	radix_sort(rows, p->nr_samples, 0);
	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[rows[i].rest];
		struct thread_time t = { s->pid, s->tid, s->process, s->thread, 0 };

		if (!t.tid || (i && rows[i - 1].key == rows[i].key))
			continue;
		t.wall_ns = lifetimes_between(l->r->lifetimes, t.pid, t.tid, begin_ns, end_ns);
		profile_add_thread(p, &t);
	}
	free(rows);
}

/* Those that are in the window; what was seen of it, besides what was lost and left out. */
static void set_ledger(struct live *l)
{
	struct profile *p = l->r->profile;
	const uint64_t *first = first_facts(l)->counters;
	uint64_t recorded = 0;

	for (size_t i = 0; i < p->nr_samples; i++)
		recorded += sample_is_recorded(&p->samples[i]) ? p->samples[i].count : 0;
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		p->counters[i] = l->now.counters[i] - first[i];
	p->counters[PROF_RECORDED] = recorded;
	p->counters[PROF_SEEN] =
		recorded + profile_sum(p, COUNTER_FILTER) + profile_sum(p, COUNTER_LOST);
}

static void fill(struct live *l, bool all_names)
{
	uint64_t end_ns = window_end_ns(&l->window);
	struct profile *p = l->r->profile;

	p->nr_samples = p->nr_threads = p->nr_events = 0;
	p->meta.cpu_ns = l->now.cpu_ns - first_facts(l)->cpu_ns;
	add_samples(l);
	name(l, all_names);
	add_threads(l);
	set_ledger(l);
	l->r->nr_cpus = record_nr_cpus(l->r);
	record_describe_what(l->r, window_begin_ns(&l->window), end_ns,
			     clock_ns(CLOCK_REALTIME) - (now_ns() - end_ns));
}

struct profile *live_profile(struct live *l, bool all_names)
{
	fill(l, all_names);
	return profile_copy(l->r->profile, LIVE_NAMELESS);
}

const struct profile *live_window(struct live *l)
{
	struct profile_meta *m = &l->r->profile->meta;
	struct rusage usage;
	uint64_t *fact, now;

	fill(l, !l->names);
	for (size_t i = 0; i < NR_SINCE_BEGIN; i++) {
		fact = (uint64_t *)((char *)m + since_begin[i]);
		now = *fact;
		*fact -= l->told[i] < now ? l->told[i] : now;
		l->told[i] = now;
	}
	getrusage(RUSAGE_SELF, &usage);
	m->rss_bytes = usage.ru_maxrss * 1024ull;
	l->given = true;
	return l->r->profile;
}

struct ended *live_ended(const struct live *l, size_t *nr)
{
	*nr = l->nr_ended;
	return l->ended;
}

uint64_t live_hand_over(struct live *from, struct live *to)
{
	window_forget(&to->window);
	return to->window.last_ns - from->window.last_ns;
}

uint64_t live_window_ns(const struct live *l)
{
	return window_end_ns(&l->window) - window_begin_ns(&l->window);
}

bool live_is_full(const struct live *l)
{
	const struct session_maps *m = session_maps(l->r->session);
	const struct generations *g = &l->r->capture.generations;

	return m->counts_used[0].value > m->nr_counts / 8 * 3 ||
	       m->frame_cursors[0].value > m->nr_frame_words / 4 * 3 ||
	       g->nr_records > m->nr_stack_slots / 8 * 5 || l->now.counters[PROF_MERGED] ||
	       l->r->profile->strings.len > MAX_STRINGS;
}

void live_tell_full(const struct live *l)
{
	const struct session_maps *m = session_maps(l->r->session);

	log_info("tables: %u%% of counts, %u%% of stacks, %u%% of the log of frames in use",
		 percent(m->counts_used[0].value, m->nr_counts),
		 percent(l->r->capture.generations.nr_records, m->nr_stack_slots),
		 percent(m->frame_cursors[0].value, m->nr_frame_words));
}

bool live_is_short(const struct live *l)
{
	const struct session_maps *m = session_maps(l->r->session);

	return m->counts_used[0].value > m->nr_counts / 8 * 5 ||
	       m->frame_cursors[0].value > m->nr_frame_words / 8 * 7 ||
	       l->r->capture.generations.nr_records > m->nr_stack_slots / 4 * 3;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recording costs, and what it leaves out so that it costs no more than --max-overhead. In
 * this order: stacks of waits, switches, then samples. How long threads waited is never left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "bpf/thin.h"
#include "collect/memory_fit.h"
#include "collect/record_parts.h"
#include "event/interrupt.h"
#include "profile/kind.h"

#define MOST_STACKS	 PROF_MOST_THINNED
#define MOST_SKIPS	 PROF_MOST_SKIPS
#define MOST_SAMPLES	 6    /* halvings of samples: 99 a second are 1.5 */
#define LIVE_HZ		 49   /* of each CPU, that a live view keeps: a thousandth of its time */
#define SAMPLE_NS	 5000 /* of a sample in BPF, cold */
#define SWITCH_NS	 50   /* that the way into a program at a tracepoint takes, and back */
#define WAIT_BYTES	 (64u << 20) /* some hundred milliseconds of a busy machine */
#define FEW_WAIT_BYTES	 (8u << 20)
#define TIGHT_WAIT_BYTES (2u << 20)
#define MEMORY_LOOK_NS	 10000000
#define ENDS_NS		 2000000000ull /* above the limit, that a recording ends after */

static uint64_t usage_ns(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000ull +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000ull;
}

uint64_t record_own_ns(const struct record *r)
{
	uint64_t ns = usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN);

	if (r->opts->reading) /* its children stay for the next recording */
		ns += reader_running_ns(r->reading->reader);

	return ns - (r->target.cpu_ns < ns ? r->target.cpu_ns : ns);
}

/*
 * Of waits. Where it matters who ended each, or that one long wait has its stack, nothing is left
 * out.
 */
static bool takes_stacks(const struct record *r)
{
	struct prof_config c = record_config(r->opts);

	return kind_of(r->opts->command)->waits && c.stacks && !c.audit && !c.hops &&
	       (!r->opts->waits.gap_ns || c.long_wait_ns);
}

static unsigned int most_stacks(const struct record *r)
{
	return takes_stacks(r) ? MOST_STACKS : 0;
}

static unsigned int most_skips(const struct record *r)
{
	return takes_stacks(r) && record_config(r->opts).skip_slots ? MOST_SKIPS : 0;
}

/* The part of a level that is above the first levels, of which there are that many. */
static unsigned int above(unsigned int level, unsigned int first, unsigned int most)
{
	level = level > first ? level - first : 0;
	return level < most ? level : most;
}

static unsigned int of_stacks(const struct record *r, unsigned int level)
{
	return above(level, 0, most_stacks(r));
}

static unsigned int of_skips(const struct record *r, unsigned int level)
{
	return above(level, most_stacks(r), most_skips(r));
}

/* Halvings of samples at a level. */
static unsigned int of_samples(const struct record *r, unsigned int level)
{
	return above(level, most_stacks(r) + most_skips(r), MOST_SAMPLES);
}

/* Can be sampled more seldom: one event, by a rate. */
static double rate_hz(const struct record *r)
{
	const struct sampling *s = &r->sampling;

	return s->nr == 1 && s->v[0].attr.freq ? s->v[0].attr.sample_freq : 0;
}

static void apply(struct record *r, unsigned int level)
{
	int shift = rate_hz(r) > 0 ? sampling_thin(&r->sampling, of_samples(r, level)) : 0;

	session_thin(r->session, of_stacks(r, level), of_skips(r, level), shift > 0 ? shift : 0);
	r->dither_ns = 0;
}

struct record_taken record_taken(const struct record *r)
{
	unsigned int level = r->overhead.level;

	return (struct record_taken){ 1ull << (rate_hz(r) > 0 ? of_samples(r, level) : 0),
				      1ull << of_stacks(r, level) };
}

static void tell_rate(struct record *r)
{
	double share = rate_hz(r) * r->interrupt_price_ns / 1e9;

	if (share <= r->opts->max_overhead || r->opts->max_overhead <= 0)
		return;
	log_warn("%.0f samples a second take %s of each CPU by their interrupts alone (%s each "
		 "here), and --max-overhead is %.3g %%: fewer are taken, each counts for more",
		 rate_hz(r), text_pct(share * 100), text_ns(r->interrupt_price_ns),
		 r->opts->max_overhead * 100);
}

/* What the kernel counts on its way (page faults, tracepoints) interrupts nobody. */
static bool interrupts(const struct sampling *s)
{
	const struct perf_event_attr *attr;

	for (size_t i = 0; i < s->nr; i++) {
		attr = &s->v[i].attr;
		if (perf_is_clock(attr) ||
		    (attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT))
			return true;
	}
	return false;
}

/* Beside waits they are seldom what costs: none is left out that would save less than a quarter. */
static unsigned int most_beside_waits(const struct record *r)
{
	double share = rate_hz(r) * (r->interrupt_price_ns + SAMPLE_NS) / 1e9;
	unsigned int most = 0;

	while (most < MOST_SAMPLES && share > r->opts->max_overhead / 4 * (1u << most))
		most++;
	return most;
}

static unsigned int most_samples(const struct record *r)
{
	unsigned int most = 0, enough = MOST_SAMPLES;

	if (kind_of(r->opts->command)->waits)
		enough = most_beside_waits(r);
	if (!r->opts->live.turn)
		return enough;
	while (most < enough && rate_hz(r) / (2u << most) >= LIVE_HZ)
		most++;
	return most;
}

void record_begin_overhead(struct record *r)
{
	/* Samples that say what ran in a gap are few as they are. */
	bool samples =
		rate_hz(r) > 0 && !r->opts->always_on && !kind_of(record_row(r->opts))->samples;
	unsigned int most;

	r->overhead_ns = now_ns();
	r->overhead_cpus = record_nr_cpus(r);
	r->interrupt_price_ns = interrupts(&r->sampling) ? interrupt_price_ns() : 0;
	most = most_stacks(r) + most_skips(r) + (samples ? most_samples(r) : 0);
	overhead_init(&r->overhead, r->opts->max_overhead, most, r->overhead_ns);
	if (most > most_stacks(r))
		r->overhead.ends[0] = most_stacks(r);
	if (most > most_stacks(r) + most_skips(r))
		r->overhead.ends[1] = most_stacks(r) + most_skips(r);
	r->overhead.apart = !r->opts->always_on;
	tell_rate(r);
}

/* As many as the rate promises; those of an event by its period are its samples. */
static void add_interrupts(struct record *r, const uint64_t counters[PROF_NR_COUNTERS],
			   uint64_t now)
{
	double nr = rate_hz(r) / (1u << of_samples(r, r->overhead.level));

	if (nr > 0)
		r->interrupts_ns += nr * r->overhead_cpus * ((now - r->overhead_ns) / 1e9) *
				    r->interrupt_price_ns;
	else if (r->sampling.nr)
		r->interrupts_ns = counters[PROF_RUNS] * r->interrupt_price_ns;
	r->overhead_ns = now;
}

static uint64_t kernel_ns(struct record *r)
{
	uint64_t c[PROF_NR_COUNTERS], ns;

	session_counters(r->session, c);
	add_interrupts(r, c, now_ns());
	ns = overhead_charge(&r->runs, c[PROF_RUNS], c[PROF_TIMED_RUNS], c[PROF_TIMED_NS]);
	ns += overhead_charge(&r->wakes, c[PROF_WAKES], c[PROF_TIMED_WAKES], c[PROF_WAKES_NS]);
	if (kind_of(r->opts->command)->waits)
		ns += (c[PROF_RUNS] + c[PROF_WAKES]) * SWITCH_NS;
	return ns + r->interrupts_ns;
}

static int refuse(const struct record *r)
{
	return log_as(-EBUSY,
		      "even with as little as can be taken, this costs %s of the CPUs here, and "
		      "--max-overhead is %.3g %%: select fewer threads or CPUs, or say "
		      "--max-overhead %.0f",
		      text_pct(r->overhead.last * 100), r->opts->max_overhead * 100,
		      r->overhead.last * 120 + 1);
}

/* Of several events, by a period, and where each stack is asked for. */
static void tell_too_much(const struct record *r, bool before)
{
	if (before || !r->overhead.spent || r->overhead.most)
		return;
	log_warn("this costs %s of the CPUs here, and --max-overhead is %.3g %%: as it was "
		 "asked for, nothing can be left out of it%s",
		 text_pct(r->overhead.last * 100), r->opts->max_overhead * 100,
		 r->opts->ends_above ? "; after two seconds of that it ends"
				     : " (with --max-overhead PCT it ends above PCT %)");
}

size_t record_wait_bytes(const struct record *r)
{
	return r->is_tight ? TIGHT_WAIT_BYTES : r->opts->always_on ? FEW_WAIT_BYTES : WAIT_BYTES;
}

/* Where programs start all the time, a profile grows by tens of megabytes in a second. */
static bool is_short_of_memory(struct record *r)
{
	struct memory_given given = { .max_bytes = r->opts->max_bytes };

	if ((!r->is_tight && !given.max_bytes) || r->opts->live.turn ||
	    now_ns() < r->looked_ns + MEMORY_LOOK_NS)
		return false;
	r->looked_ns = now_ns();
	if (given.max_bytes)
		given.map_bytes = session_map_bytes(r->session);
	return memory_runs_out(&given, r->capture.tally.nr * sizeof(struct sample), r->begin_ns);
}

enum profile_end record_ends_above(struct record *r)
{
	if (is_short_of_memory(r))
		return ENDED_BY_MEMORY;
	if (!r->opts->ends_above || r->opts->always_on || r->overhead.most ||
	    r->overhead.over_run_ns < ENDS_NS)
		return ENDED_ON_TIME;
	log_warn("ended after %s: it has cost more than --max-overhead %.3g %% for two seconds, "
		 "%s lately; select fewer threads, or say --max-overhead %.0f",
		 text_ns(now_ns() - r->begin_ns), r->opts->max_overhead * 100,
		 text_pct(r->overhead.last * 100), r->overhead.last * 120 + 1);
	return ENDED_BY_OVERHEAD;
}

int record_turn_overhead(struct record *r)
{
	unsigned int before = r->overhead.level;
	bool told = r->overhead.spent;
	int level;

	if (r->opts->max_overhead <= 0 || now_ns() - r->overhead.window_ns < OVERHEAD_WINDOW_NS)
		return 0;
	level = overhead_turn(&r->overhead, now_ns(), kernel_ns(r), record_own_ns(r),
			      r->overhead_cpus);
	r->overhead_cpus = record_nr_cpus(r); /* some may have joined, or left */
	if (level == OVERHEAD_REFUSED && !r->opts->always_on)
		return refuse(r);
	tell_too_much(r, told);
	if ((unsigned int)level != before) {
		log_info("--max-overhead: it costs %s of the CPUs, so %s is taken (level %d)",
			 text_pct(r->overhead.last * 100),
			 (unsigned int)level > before ? "less" : "more", level);
		apply(r, level);
	}
	return 0;
}

void record_describe_overhead(struct record *r, uint64_t end_ns)
{
	struct profile_meta *m = &r->profile->meta;
	uint64_t one_in; /* what was taken of stacks is there already */

	if (end_ns > r->overhead_ns) /* since the last turn; without a limit, since the begin */
		add_interrupts(r, r->profile->counters, end_ns);
	m->budget_ppm = r->overhead.share * 1e6;
	m->unlimited = r->opts->max_overhead <= 0 && r->overhead.most && !r->opts->calls.slow_ns;
	m->interrupts_ns = r->interrupts_ns;
	m->thinned_ns = r->overhead.thinned_ns;
	one_in = 1ull << of_samples(r, r->overhead.highest);
	m->thinnest = one_in > m->thinnest ? one_in : m->thinnest;
	m->over_ns = r->overhead.over_ns;
	m->by_weight |= of_samples(r, r->overhead.highest) > 0;
}

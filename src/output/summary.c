/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The summary for people: what was measured, where time went, what is missing, what it cost. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/allocations.h"
#include "output/calls.h"
#include "output/columns.h"
#include "output/contexts.h"
#include "output/locks.h"
#include "output/memory.h"
#include "output/names_summary.h"
#include "output/output.h"
#include "output/slow_polls.h"
#include "output/wakers.h"
#include "output/waits_summary.h"
#include "profile/breaks.h"
#include "profile/kind.h"
#include "profile/top.h"

#define MAX_TARGET  70
#define FULL_DUTY   99.5 /* percent, above which a counter was not shared */
#define REMEDY_ROWS 2
#define HINT_SHARE  0.01 /* of broken weight, above which there is something to look into */

static double pct(uint64_t part, uint64_t all)
{
	return all ? 100.0 * part / all : 0;
}

static void print_safe(FILE *out, const struct profile *p, uint32_t string)
{
	const char *s = profile_str(p, string);

	text_clean(out, s, strlen(s));
}

/* A started program's command line may be as long as it likes. */
static void print_target(const struct profile *p, FILE *out)
{
	char *safe = text_cleaned(profile_str(p, p->meta.target));

	text_fit(out, safe, MAX_TARGET, 0);
	free(safe);
}

/* "cycles at 99 Hz", "page-faults", "cycles every 1,000,000". */
static void print_event(const struct profile *p, const struct sampled_event *e, FILE *out)
{
	double duty = 100 * sampled_event_duty(e);

	print_safe(out, p, e->name);
	if (e->rate_hz)
		fprintf(out, " at %" PRIu64 " Hz", e->rate_hz);
	else if (e->period > 1)
		fprintf(out, " every %s", text_count(e->period));
	if (duty < FULL_DUTY)
		fprintf(out, " (counted %.2f%% of the time)", duty);
}

/* Without a list the profile is of one event, by a rate. */
static void print_events(const struct profile *p, FILE *out)
{
	const struct profile_meta *m = &p->meta;
	struct sampled_event one = { .name = m->event, .rate_hz = m->rate_hz };

	for (size_t i = 0; i < p->nr_events; i++) {
		fputs(i ? ", " : "", out);
		print_event(p, &p->events[i], out);
	}
	if (!p->nr_events)
		print_event(p, &one, out);
	fprintf(out, " on %" PRIu64 " CPU%s\n", m->nr_cpus, m->nr_cpus == 1 ? "" : "s");
}

static void print_note(const struct profile *p, uint32_t name, uint32_t note, FILE *out)
{
	if (!note)
		return;
	fputs("  (", out);
	print_safe(out, p, name);
	fputs(name ? ": " : "", out);
	print_safe(out, p, note);
	fputs(")\n", out);
}

void summary_put_end(uint64_t ended_by, FILE *out)
{
	static const char *const ends[] = {
		[ENDED_BY_MEMORY] = "cut short for want of memory",
		[ENDED_BY_OVERHEAD] = "cut short for its cost",
		[ENDED_BY_PROBES] = "cut short for the cost of its probes",
	};

	if (ended_by < sizeof(ends) / sizeof(*ends) && ends[ended_by])
		fprintf(out, ", %s", ends[ended_by]);
}

void summary_put_head(const struct profile *p, const struct view *v, FILE *out)
{
	const struct profile_meta *m = &p->meta;

	print_safe(out, p, m->command);
	fprintf(out, ": %s of ", text_ns(m->duration_ns));
	print_target(p, out);
	summary_put_end(m->ended_by, out);
	fputs("; ", out);
	if (m->slow_poll_ns)
		slow_polls_put_sum(p, out);
	else if (m->is_time)
		waits_put_sum(p, v, out);
	else if (kind_of_profile(p)->calls)
		calls_put_sum(p, out);
	else if (kind_of_profile(p)->memory)
		memory_put_sum(p, out);
	else if (kind_of_profile(p)->grows)
		memory_put_growth(p, out);
	else if (kind_of_profile(p)->faults)
		memory_put_faults(p, out);
	else
		print_events(p, out);
	if (p->nr_events < 2)
		print_note(p, 0, m->event_note, out);
	for (size_t i = 0; i < p->nr_events && profile_is_mixed(p); i++)
		print_note(p, p->events[i].name, p->events[i].note, out);
}

static void print_row(struct grid *g, const struct tree *t, const struct top_row *row)
{
	grid_row(g, STYLE_PLAIN, NULL);
	columns_put_share(g, t, row->self);
	columns_put_share(g, t, row->total);
	columns_put_place(g, t->profile, t->names.bytes + row->name, row->module);
}

static void print_top(const struct profile *p, const struct view *v, FILE *out)
{
	static const struct grid_column columns[] = { { "SELF", .rank = 1 },
						      { "TOTAL", .rank = 2 } };
	size_t most = v->rows ? v->rows : VALUED_FUNCTIONS, nr;
	struct tree *t = tree_new(p, v);
	struct top_row *rows;
	struct grid g;

	rows = top_rows(t, &nr);
	grid_init(&g, out, columns, 2);
	columns_add_place(&g);
	for (size_t i = 0; i < nr && i < most; i++)
		print_row(&g, t, &rows[i]);
	grid_end(&g);
	columns_put_more(nr, most, out);
	columns_put_left_out(t, out);
	free(rows);
	tree_free(t);
}

static void print_causes(const uint64_t *counters, enum counter_kind kind, const char *what,
			 enum style style, FILE *out)
{
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++) {
		if (profile_counters[i].kind != kind || !counters[i])
			continue;
		style_put(out, style);
		fprintf(out, "  %13s %s: %s", text_count(counters[i]), what,
			profile_counters[i].text);
		style_put(out, STYLE_PLAIN);
		fputc('\n', out);
	}
}

void ledger_put_causes(const uint64_t counters[PROF_NR_COUNTERS], FILE *out)
{
	print_causes(counters, COUNTER_FILTER, "filtered", STYLE_PLAIN, out);
	print_causes(counters, COUNTER_LOST, "LOST", STYLE_BAD, out);
}

void ledger_put(const uint64_t counters[PROF_NR_COUNTERS], const char *what, FILE *out)
{
	fprintf(out, "\n%-9s %s seen = %s recorded + %s filtered + %s lost\n", what,
		text_count(counters[PROF_SEEN]), text_count(counters[PROF_RECORDED]),
		text_count(counters_sum(counters, COUNTER_FILTER)),
		text_count(counters_sum(counters, COUNTER_LOST)));
	ledger_put_causes(counters, out);
}

static const char *ledger_noun(const struct profile *p)
{
	const struct kind *kind = kind_of_profile(p);

	if (kind->operation)
		return kind->klocks ? "waits" : "operations";
	if (kind->timeline)
		return "events";
	return kind->faults ? "faults" : kind->calls || kind->memory ? "calls" : "samples";
}

/* Of recordings that sample and follow waits, both. */
static const char *expected_noun(const struct profile *p)
{
	const struct kind *kind = kind_of_profile(p);

	if (kind->timeline)
		return "switches";
	return !kind->waits ? "samples" : p->nr_events ? "switches and samples" : "switches";
}

void expected_put(const struct expected *x, const char *what, FILE *out)
{
	double pct = expected_difference_pct(x);

	if (!x->most)
		return;
	fprintf(out, "expected  %s", text_count(x->least));
	if (x->most != x->least)
		fprintf(out, " to %s", text_count(x->most));
	fprintf(out, " %s, %s counted: ", what, text_count(x->seen));
	if (pct <= -EXPECTED_MUCH)
		style_put(out, STYLE_BAD);
	if (pct < 0 && pct > -EXPECTED_LITTLE)
		fputs("<0.01% missing", out);
	else
		fprintf(out, pct ? "%.2f%% %s" : "none missing", pct < 0 ? -pct : pct,
			pct >= 0	       ? "too many"
			: pct > -EXPECTED_MUCH ? "missing"
					       : "MISSING");
	style_put(out, STYLE_PLAIN);
	fputc('\n', out);
}

void summary_put_ledger(const struct profile *p, FILE *out)
{
	struct expected x;

	if (p->meta.is_time)
		waits_put_ledger(p, out);
	else
		ledger_put(p->counters, ledger_noun(p), out);
	allocations_put_missed(p, out);
	if (expected_init(&x, p))
		expected_put(&x, expected_noun(p), out);
	if (p->meta.incomplete)
		fputs("     INCOMPLETE a part of the recording could not be read (its file was "
		      "truncated, or windows are missing)\n",
		      out);
	if (p->meta.missed)
		fprintf(out,
			"  %13s runs skipped by the kernel: "
			"another BPF program was running on that CPU\n",
			text_count(p->meta.missed));
	if (profile_was_throttled(p))
		fprintf(out,
			"  %13s of CPU time not sampled: the kernel throttled the event %s times "
			"(lower -F, or raise kernel.perf_event_max_sample_rate)\n",
			text_ns(p->meta.throttled_ns), text_count(p->meta.throttles));
	if (p->meta.suspended_ns)
		fprintf(out, "  %13s the machine was suspended: that is in no time above\n",
			text_ns(p->meta.suspended_ns));
	if (p->meta.sideband_lost)
		fprintf(out,
			"  %13s process and mapping records lost: some frames may have no name\n",
			text_count(p->meta.sideband_lost));
}

/* Those ends that broke something, heaviest first; returns how many. */
static size_t sort_ends(const struct profile_broken by_end[UNWIND_NR_ENDS],
			enum unwind_end order[UNWIND_NR_ENDS])
{
	size_t nr = 0, k;

	for (enum unwind_end end = 0; end < UNWIND_NR_ENDS; end++) {
		if (!by_end[end].samples)
			continue;
		for (k = nr++; k && by_end[order[k - 1]].weight < by_end[end].weight; k--)
			order[k] = order[k - 1];
		order[k] = end;
	}
	return nr;
}

static void print_ends(const struct profile *p, FILE *out)
{
	struct profile_broken by_end[UNWIND_NR_ENDS];
	enum unwind_end order[UNWIND_NR_ENDS];
	uint64_t all = profile_stack_weight(p);
	size_t nr;

	profile_broken_ends(p, by_end);
	nr = sort_ends(by_end, order);
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "  %13s broken: %s\n", text_pct(pct(by_end[order[i]].weight, all)),
			unwind_end_texts[order[i]]);
}

/* The rest of the rows from i on that is the same program's, with the same remedy. */
static uint64_t take_alike(struct breaks *b, size_t i)
{
	const struct break_row *first = &b->rows[i];
	uint64_t sum = 0;

	for (size_t k = i; k < b->nr; k++) {
		struct break_row *row = &b->rows[k];

		if (row->kind == FRAME_ANON && row->process == first->process &&
		    !strcmp(row->remedy, first->remedy)) {
			sum += row->weight;
			row->weight = 0;
		}
	}
	return sum;
}

/* Generated code that keeps no frame pointers ends stacks: what its runtime can do about that. */
static void print_generated(const struct profile *p, FILE *out)
{
	struct breaks b;
	uint64_t weight;

	breaks_init(&b, p);
	for (size_t i = 0, nr = 0; i < b.nr && nr < REMEDY_ROWS; i++) {
		if (b.rows[i].kind != FRAME_ANON || !b.rows[i].weight)
			continue;
		weight = take_alike(&b, i);
		if (weight < HINT_SHARE * b.all)
			continue;
		fprintf(out, "  %13s ", text_pct(pct(weight, b.all)));
		print_safe(out, p, b.rows[i].process);
		fprintf(out, ": %s\n", b.rows[i].remedy);
		nr++;
	}
	breaks_release(&b);
}

static const char *weight_noun(const struct profile *p)
{
	return p->meta.is_time || p->meta.timed ? "the time"
	       : kind_of_profile(p)->calls	? "the calls"
						: "the samples";
}

static void print_stacks(const struct profile *p, bool several, FILE *out)
{
	double rooted = profile_rooted_share(p), guessed = profile_guessed_share(p);

	if (!p->nr_samples)
		return;
	fprintf(out, "stacks    %s of ", text_pct(100 * rooted));
	if (several)
		print_safe(out, p, p->meta.event);
	else
		fputs(weight_noun(p), out);
	fputs(" in complete stacks\n", out);
	print_ends(p, out);
	print_generated(p, out);
	if (guessed > 0)
		fprintf(out, "  %13s contains frames unwound by frame pointer\n",
			text_pct(100 * guessed));
	waits_put_stacks(p, out);
	if (1 - rooted > HINT_SHARE)
		fputs("          --broken lists where; so does "
		      "bpfprof report --broken FILE.bpfprof\n",
		      out);
}

/* Calls may have been counted without. */
static bool has_stacks(const struct profile *p)
{
	return !kind_of_profile(p)->calls || p->nr_stacks > 1;
}

static void print_late(const struct profile *p, FILE *out)
{
	if (p->meta.frames_late)
		fprintf(out,
			"          %s frames without source lines and inlined calls: no time was "
			"left (--symbol-time)\n",
			text_count(p->meta.frames_late));
}

static void print_all_stacks(const struct profile *p, FILE *out)
{
	struct profile one;

	if (!has_stacks(p))
		return;
	if (!profile_is_mixed(p))
		print_stacks(p, false, out);
	for (size_t i = 0; i < p->nr_events && profile_is_mixed(p); i++) {
		one = profile_of_event(p, i);
		print_stacks(&one, true, out);
		profile_of_event_release(&one);
	}
}

static void put_unlimited(FILE *out)
{
	fputs("          ", out);
	style_put(out, STYLE_BAD);
	fputs("without a limit (--max-overhead 0)", out);
	style_put(out, STYLE_PLAIN);
	fputc('\n', out);
}

/* What samples stand for, and what was left out, to cost no more. */
void summary_put_budget(const struct profile *p, FILE *out)
{
	const struct profile_meta *m = &p->meta;
	uint64_t cpus_ns = m->duration_ns * m->nr_cpus;

	if (m->interrupts_ns)
		fprintf(out, "          interrupts for samples %.3f%% of the profiled CPUs\n",
			pct(m->interrupts_ns, cpus_ns));
	if (m->unlimited)
		put_unlimited(out);
	if (!m->budget_ppm)
		return;
	if (!m->thinned_ns && !m->over_ns)
		fprintf(out, "          within --max-overhead %.3g%%: nothing was left out\n",
			m->budget_ppm / 1e4);
	else if (m->thinned_ns)
		fprintf(out, "          for --max-overhead %.3g%%, fewer %s were taken for %s\n",
			m->budget_ppm / 1e4, p->counters[PROF_THINNED] ? "stacks" : "samples",
			text_ns(m->thinned_ns));
	if (m->spread_ns)
		fprintf(out,
			"          %s of waits without a stack are shown by other ones of their "
			"thread\n",
			text_ns(m->spread_ns));
	if (m->over_ns)
		fprintf(out,
			"          it cost more than --max-overhead %.3g%% for %s: nothing %s"
			"can be left out\n",
			m->budget_ppm / 1e4, text_ns(m->over_ns), m->thinned_ns ? "else " : "");
}

void summary_put_cost(const struct profile *p, FILE *out)
{
	const struct profile_meta *m = &p->meta;
	uint64_t seen = p->counters[PROF_SEEN];

	fprintf(out, "cost      %s per %s in BPF, %.3f%% of the profiled CPUs\n",
		text_ns(seen ? m->bpf_ns / seen : 0), profile_noun(p),
		pct(m->bpf_ns, m->duration_ns * m->nr_cpus));
	summary_put_budget(p, out);
	if (kind_of_profile(p)->syscalls)
		fprintf(out, "          other processes paid %s more for each system call\n",
			text_ns(m->others_ns));
	fprintf(out, "          bpfprof itself %s of CPU, %s of memory, %s of maps\n",
		text_ns(m->cpu_ns), text_bytes(m->rss_bytes), text_bytes(m->map_bytes));
	if (m->readers_ns)
		fprintf(out,
			"          of it %s of CPU, %s of memory in processes that read files\n",
			text_ns(m->readers_ns), text_bytes(m->readers_bytes));
}

int summary_write(const struct profile *p, const struct view *view, FILE *out)
{
	struct view whole = *view, *v = &whole;

	whole.gaps = false; /* which have a line of their own */
	summary_put_head(p, v, out);
	slow_polls_put(p, out);
	if (p->meta.is_time)
		waits_put_classes(p, v, out);
	contexts_put(p, v, out);
	wakers_put(p, v, out);
	locks_put(p, v, out);
	calls_put(p, v, out);
	if (kind_of_profile(p)->memory)
		allocations_put(p, v, out);
	else if (profile_is_mixed(p) || p->nr_columns)
		columns_put(p, v, out);
	else if (has_stacks(p))
		print_top(p, v, out);
	summary_put_ledger(p, out);
	print_all_stacks(p, out);
	if (has_stacks(p) && !profile_is_mixed(p))
		names_put_summary(p, weight_noun(p), out);
	print_late(p, out);
	summary_put_cost(p, out);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Facts and tables of saved profiles. Rows come at the end only: their order is that of files. */
#include "profile/save_parts.h"

_Static_assert(sizeof(struct module) == 28 && sizeof(struct frame) == 24 &&
		       sizeof(struct stack) == 12 && sizeof(struct sample) == 48 &&
		       sizeof(struct waker) == 32 && sizeof(struct lock) == 40 &&
		       sizeof(struct thread_time) == 24 && sizeof(struct merged_time) == 24 &&
		       sizeof(struct pair) == 16 && sizeof(struct sampled_event) == 40 &&
		       sizeof(struct value_column) == 16 && sizeof(struct prof_event_count) == 24 &&
		       sizeof(struct branch) == 48 && sizeof(struct disagreement) == 40 &&
		       sizeof(struct frame_detail) == 16 && sizeof(struct frame_function) == 16 &&
		       sizeof(struct hist_row) == 64 && sizeof(struct hist_bucket) == 16 &&
		       sizeof(struct prof_outlier) == 192 && sizeof(struct call_row) == 40 &&
		       sizeof(struct call_bucket) == 16 && sizeof(struct title) == 8 &&
		       sizeof(struct sliced) == 16 && sizeof(struct moment) == 24 &&
		       sizeof(struct linked) == 32 && sizeof(struct wait_bucket) == 16 &&
		       sizeof(struct timeline_event) == 64 && sizeof(struct begin) == 12 &&
		       sizeof(struct long_wait) == 24,
	       "these reach the file");

const struct fact save_facts[] = {
#define STRING(x)                                                                                  \
	{                                                                                          \
#x, offsetof(struct profile_meta, x), true                                         \
	}
#define NUMBER(x)                                                                                  \
	{                                                                                          \
#x, offsetof(struct profile_meta, x), false                                        \
	}
	STRING(command),
	STRING(event),
	STRING(event_note),
	STRING(target),
	STRING(host),
	STRING(kernel),
	STRING(arch),
	STRING(version),
	STRING(call_graph),
	STRING(runtimes),
	/* Ids of strings above, plain numbers below. */
	NUMBER(is_time),
	NUMBER(by_weight),
	NUMBER(start_ns),
	NUMBER(duration_ns),
	NUMBER(rate_hz),
	NUMBER(max_depth),
	NUMBER(nr_cpus),
	NUMBER(cpu_ns),
	NUMBER(bpf_ns),
	NUMBER(rss_bytes),
	NUMBER(missed),
	NUMBER(map_bytes),
	NUMBER(sideband_lost),
	NUMBER(first_sample_ns),
	NUMBER(first_root_ns),
	NUMBER(suspended_ns),
	NUMBER(throttles),
	NUMBER(throttled_ns),
	NUMBER(timed),
	NUMBER(others_ns),
	NUMBER(frames_late),
	NUMBER(readers_ns),
	NUMBER(readers_bytes),
	NUMBER(hist_by),
	NUMBER(hist_split),
	NUMBER(threshold_ns),
	NUMBER(outliers_from_ns),
	NUMBER(outliers_lost),
	NUMBER(moment_ns),
	NUMBER(long_wait_ns),
	NUMBER(timeline_begin_ns),
	NUMBER(timeline_wanted_ns),
	NUMBER(timeline_from_ns),
	NUMBER(timeline_end_ns),
	NUMBER(timeline_short_cpu),
	NUMBER(timeline_outlier_ns),
	NUMBER(timeline_around_ns),
	NUMBER(budget_ppm),
	NUMBER(unlimited),
	NUMBER(interrupts_ns),
	NUMBER(thinned_ns),
	NUMBER(thinnest),
	NUMBER(over_ns),
	NUMBER(spread_ns),
	NUMBER(expected_least),
	NUMBER(expected_most),
	NUMBER(expected_seen),
	NUMBER(slow_poll_ns),
	NUMBER(incomplete),
	NUMBER(ended_by),
	STRING(debug_packages),
	STRING(debug_missing),
	STRING(lacks),
#undef STRING
#undef NUMBER
};
const size_t save_nr_facts = sizeof(save_facts) / sizeof(save_facts[0]);

uint64_t save_fact(const struct profile *p, const struct fact *f)
{
	const char *at = (const char *)&p->meta + f->offset;

	return f->is_string ? *(const uint32_t *)at : *(const uint64_t *)at;
}

void save_set_fact(struct profile *p, const struct fact *f, uint64_t value)
{
	char *at = (char *)&p->meta + f->offset;

	if (f->is_string)
		*(uint32_t *)at = value;
	else
		*(uint64_t *)at = value;
}

const struct table save_tables[] = {
#define ROW(tag, late, shared, x, strings)                                                         \
	{                                                                                          \
		tag, late, shared, sizeof(*((struct profile *)NULL)->x),                           \
			offsetof(struct profile, x), offsetof(struct profile, nr_##x), strings     \
	}
#define NAMED(tag, late, x, strings)  ROW(tag, late, false, x, strings)
#define COMMON(tag, late, x, strings) ROW(tag, late, true, x, strings)
#define TABLE(tag, late, x)	      NAMED(tag, late, x, 0)
	COMMON("MODS", false, modules, WORD(module, path)),
	COMMON("FRMS", false, frames, WORD(frame, name) | WORD(frame, linkage)),
	COMMON("SFRM", false, stack_frames, 0),
	COMMON("STKS", false, stacks, 0),
	TABLE("EVNT", true, events),
	NAMED("SMPL", false, samples, WORD(sample, process) | WORD(sample, thread)),
	TABLE("COLS", true, columns),
	TABLE("CNTD", true, counted),
	TABLE("BRCH", true, branches),
	TABLE("WAKR", false, wakers),
	NAMED("THRD", false, threads, WORD(thread_time, process) | WORD(thread_time, thread)),
	TABLE("AUDT", true, disagreements),
	TABLE("MRGD", true, merged),
	COMMON("DETL", true, details, 0),
	COMMON("INLN", true, inlines,
	       WORD(frame_function, name) | WORD(frame_function, linkage) |
		       WORD(frame_function, file)),
	TABLE("HROW", true, hist_rows),
	TABLE("HBKT", true, hist_buckets),
	TABLE("OUTL", true, outliers),
	TABLE("CALL", true, call_rows),
	TABLE("CBKT", true, call_buckets),
	TABLE("LOCK", true, locks),
	TABLE("TITL", true, titles),
	TABLE("SLCS", true, slices),
	TABLE("SLCD", true, sliced),
	TABLE("MMNT", true, moments),
	TABLE("LNKD", true, linked),
	TABLE("WBKT", true, wait_buckets),
	TABLE("WMAX", true, longest),
	TABLE("TMLN", true, timeline),
	TABLE("BGNS", true, begins),
	TABLE("LNGW", true, long_waits),
#undef TABLE
#undef COMMON
#undef NAMED
#undef ROW
};
#define NR_TABLES (sizeof(save_tables) / sizeof(save_tables[0]))
_Static_assert(NR_TABLES + 3 <= MOST_SECTIONS, "all that are written are read");
const size_t save_nr_tables = NR_TABLES;

void **save_rows(const struct table *t, const struct profile *p)
{
	return (void **)((char *)p + t->rows);
}

size_t *save_nr(const struct table *t, const struct profile *p)
{
	return (size_t *)((char *)p + t->nr);
}

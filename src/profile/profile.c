/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Building the profile model. */
#include "profile/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/kind.h"

const struct counter_info profile_counters[PROF_NR_COUNTERS] = {
#define X(name, kind, key, text) [PROF_##name] = { COUNTER_##kind, key, text },
	PROF_COUNTERS(X)
#undef X
};

const char *const unwind_end_keys[UNWIND_NR_ENDS] = {
#define X(name, key, text) [UNWIND_END_##name] = key,
	UNWIND_ENDS(X)
#undef X
};

const char *const unwind_end_texts[UNWIND_NR_ENDS] = {
#define X(name, key, text) [UNWIND_END_##name] = text,
	UNWIND_ENDS(X)
#undef X
};

/* Entry 0 of these tables means "none". */
struct profile *profile_new(void)
{
	struct profile *p = xcalloc(1, sizeof(*p));

	strings_init(&p->strings);
	profile_add_module(p, "");
	profile_frames_init(p);
	profile_add_waker(p, &(struct waker){});
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	profile_frames_release(p);
	strings_release(&p->strings);
	free(p->modules);
	free(p->events);
	free(p->samples);
	free(p->columns);
	free(p->counted);
	free(p->branches);
	free(p->wakers);
	free(p->locks);
	free(p->wait_buckets);
	free(p->longest);
	free(p->slices);
	free(p->sliced);
	free(p->moments);
	free(p->long_waits);
	free(p->threads);
	free(p->disagreements);
	free(p->merged);
	free(p->titles);
	free(p->hist_rows);
	free(p->hist_buckets);
	free(p->outliers);
	free(p->timeline);
	free(p->call_rows);
	free(p->call_buckets);
	free(p->linked);
	free(p->begins);
	free(p);
}

uint32_t profile_string(struct profile *p, const char *s)
{
	return strings_add(&p->strings, s, strlen(s));
}

uint32_t profile_string_n(struct profile *p, const char *s, size_t len)
{
	return strings_add(&p->strings, s, len);
}

uint32_t profile_add_module(struct profile *p, const char *path)
{
	p->modules = xgrow(p->modules, p->nr_modules, &p->cap_modules, sizeof(*p->modules));
	p->modules[p->nr_modules] = (struct module){ .path = profile_string(p, path) };
	return p->nr_modules++;
}

uint32_t profile_add_generated(struct profile *p, uint32_t pid)
{
	uint32_t id = profile_add_module(p, PROFILE_JIT);

	p->modules[id].kind = MODULE_GENERATED;
	p->modules[id].pid = pid;
	return id;
}

void profile_add_event(struct profile *p, const struct sampled_event *e)
{
	p->events = xgrow(p->events, p->nr_events, &p->cap_events, sizeof(*e));
	p->events[p->nr_events++] = *e;
}

void profile_add_sample(struct profile *p, const struct sample *s)
{
	p->samples = xgrow(p->samples, p->nr_samples, &p->cap_samples, sizeof(*s));
	p->samples[p->nr_samples++] = *s;
}

uint32_t profile_add_waker(struct profile *p, const struct waker *w)
{
	assert(!w->next || w->next < p->nr_wakers);
	p->wakers = xgrow(p->wakers, p->nr_wakers, &p->cap_wakers, sizeof(*w));
	p->wakers[p->nr_wakers] = *w;
	return p->nr_wakers++;
}

static void add_lock(struct profile *p, const struct lock *l)
{
	p->locks = xgrow(p->locks, p->nr_locks, &p->cap_locks, sizeof(*l));
	p->locks[p->nr_locks++] = *l;
}

uint32_t profile_add_holder(struct profile *p, const struct waker *w, const struct lock *l)
{
	if (!p->nr_locks)
		add_lock(p, &(struct lock){});
	assert(p->nr_locks == p->nr_wakers);
	add_lock(p, l);
	return profile_add_waker(p, w);
}

int profile_by_ids(const void *x, const void *y)
{
	const struct thread_time *a = x, *b = y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

void profile_add_thread(struct profile *p, const struct thread_time *t)
{
	p->threads = xgrow(p->threads, p->nr_threads, &p->cap_threads, sizeof(*t));
	p->threads[p->nr_threads++] = *t;
}

void profile_add_disagreement(struct profile *p, const struct disagreement *d)
{
	p->disagreements =
		xgrow(p->disagreements, p->nr_disagreements, &p->cap_disagreements, sizeof(*d));
	p->disagreements[p->nr_disagreements++] = *d;
}

void profile_add_merged(struct profile *p, const struct merged_time *t)
{
	p->merged = xgrow(p->merged, p->nr_merged, &p->cap_merged, sizeof(*t));
	p->merged[p->nr_merged++] = *t;
}

void profile_add_hist_row(struct profile *p, const struct hist_row *row)
{
	p->hist_rows = xgrow(p->hist_rows, p->nr_hist_rows, &p->cap_hist_rows, sizeof(*row));
	p->hist_rows[p->nr_hist_rows++] = *row;
}

void profile_add_hist_bucket(struct profile *p, const struct hist_bucket *b)
{
	p->hist_buckets =
		xgrow(p->hist_buckets, p->nr_hist_buckets, &p->cap_hist_buckets, sizeof(*b));
	p->hist_buckets[p->nr_hist_buckets++] = *b;
}

void profile_add_outlier(struct profile *p, const struct prof_outlier *o)
{
	p->outliers = xgrow(p->outliers, p->nr_outliers, &p->cap_outliers, sizeof(*o));
	p->outliers[p->nr_outliers++] = *o;
}

void profile_add_timeline(struct profile *p, const struct timeline_event *e)
{
	p->timeline = xgrow(p->timeline, p->nr_timeline, &p->cap_timeline, sizeof(*e));
	p->timeline[p->nr_timeline++] = *e;
}

void profile_add_call_row(struct profile *p, const struct call_row *row)
{
	p->call_rows = xgrow(p->call_rows, p->nr_call_rows, &p->cap_call_rows, sizeof(*row));
	p->call_rows[p->nr_call_rows++] = *row;
}

void profile_add_call_bucket(struct profile *p, const struct call_bucket *b)
{
	p->call_buckets =
		xgrow(p->call_buckets, p->nr_call_buckets, &p->cap_call_buckets, sizeof(*b));
	p->call_buckets[p->nr_call_buckets++] = *b;
}

void profile_add_column(struct profile *p, const struct value_column *c)
{
	p->columns = xgrow(p->columns, p->nr_columns, &p->cap_columns, sizeof(*c));
	p->columns[p->nr_columns++] = *c;
}

void profile_add_counted(struct profile *p, const struct prof_event_count *counted)
{
	for (size_t i = 0; i < 2 * p->nr_columns; i++) {
		p->counted = xgrow(p->counted, p->nr_counted, &p->cap_counted, sizeof(*counted));
		p->counted[p->nr_counted++] = counted[i];
	}
}

void profile_add_branch(struct profile *p, const struct branch *b)
{
	p->branches = xgrow(p->branches, p->nr_branches, &p->cap_branches, sizeof(*b));
	p->branches[p->nr_branches++] = *b;
}

void profile_add_linked(struct profile *p, const struct linked *l)
{
	p->linked = xgrow(p->linked, p->nr_linked, &p->cap_linked, sizeof(*l));
	p->linked[p->nr_linked++] = *l;
}

bool profile_linked_at(const struct profile *p, uint32_t module, uint64_t offset, uint64_t *address)
{
	const struct linked *l;

	for (size_t i = 0; i < p->nr_linked; i++) {
		l = &p->linked[i];
		if (l->module != module || offset - l->offset >= l->bytes)
			continue;
		*address = offset - l->offset + l->address;
		return true;
	}
	return false;
}

void profile_add_longest(struct profile *p, uint64_t ns)
{
	p->longest = xgrow(p->longest, p->nr_longest, &p->cap_longest, sizeof(*p->longest));
	p->longest[p->nr_longest++] = ns;
}

void profile_add_wait_bucket(struct profile *p, const struct wait_bucket *b)
{
	p->wait_buckets =
		xgrow(p->wait_buckets, p->nr_wait_buckets, &p->cap_wait_buckets, sizeof(*b));
	p->wait_buckets[p->nr_wait_buckets++] = *b;
}

void profile_add_slice(struct profile *p, uint64_t end_ns)
{
	p->slices = xgrow(p->slices, p->nr_slices, &p->cap_slices, sizeof(*p->slices));
	p->slices[p->nr_slices++] = end_ns;
}

void profile_add_sliced(struct profile *p, const struct sliced *s)
{
	p->sliced = xgrow(p->sliced, p->nr_sliced, &p->cap_sliced, sizeof(*s));
	p->sliced[p->nr_sliced++] = *s;
}

void profile_add_moment(struct profile *p, const struct moment *m)
{
	p->moments = xgrow(p->moments, p->nr_moments, &p->cap_moments, sizeof(*m));
	p->moments[p->nr_moments++] = *m;
}

void profile_add_long_wait(struct profile *p, const struct long_wait *w)
{
	p->long_waits = xgrow(p->long_waits, p->nr_long_waits, &p->cap_long_waits, sizeof(*w));
	p->long_waits[p->nr_long_waits++] = *w;
}

static void name_event(struct profile *one, uint32_t event)
{
	if (event >= one->nr_events)
		return;
	one->events += event;
	one->nr_events = 1;
	one->meta.event = one->events->name;
	one->meta.event_note = one->events->note;
	one->meta.rate_hz = one->events->rate_hz;
}

struct profile profile_of_event(const struct profile *p, uint32_t event)
{
	struct profile one = *p;
	uint32_t *sample1_of = xcalloc(p->nr_samples + 1, sizeof(*sample1_of));

	name_event(&one, event);
	one.samples = xcalloc(p->nr_samples, sizeof(*one.samples));
	one.nr_samples = 0;
	one.counted = NULL;
	one.nr_counted = one.cap_counted = 0;
	one.wait_buckets = NULL; /* waits are of one event */
	one.longest = NULL;
	one.nr_wait_buckets = one.nr_longest = 0;
	one.sliced = NULL;
	one.nr_sliced = one.cap_sliced = 0;
	one.moments = NULL;
	one.nr_moments = one.cap_moments = 0;
	one.long_waits = NULL; /* waits are of one event */
	one.nr_long_waits = one.cap_long_waits = 0;
	for (size_t i = 0; i < p->nr_samples; i++) {
		struct sample s = p->samples[i];

		if (PROF_WAIT_EVENT(s.wait) != event)
			continue;
		if (PROF_WAIT_KIND(s.wait) == PROF_EVENT)
			s.wait = 0;
		one.samples[one.nr_samples++] = s;
		sample1_of[i] = one.nr_samples;
		if (p->nr_columns)
			profile_add_counted(&one, &p->counted[i * 2 * p->nr_columns]);
	}
	for (size_t i = 0; i < PROF_NR_COUNTERS && p->nr_events > 1; i++)
		if (profile_counters[i].kind == COUNTER_LOST)
			one.counters[i] = 0;
	for (size_t i = 0; i < p->nr_sliced; i++) {
		struct sliced part = p->sliced[i];

		if (!sample1_of[part.sample])
			continue;
		part.sample = sample1_of[part.sample] - 1;
		profile_add_sliced(&one, &part);
	}
	free(sample1_of);
	return one;
}

void profile_of_event_release(struct profile *one)
{
	free(one->samples);
	free(one->counted);
	free(one->sliced);
}

bool profile_is_clock(const char *event)
{
	size_t len = strcspn(event, ":");

	return (len == 9 && !strncmp(event, "cpu-clock", len)) ||
	       (len == 10 && !strncmp(event, "task-clock", len));
}

bool profile_is_mixed(const struct profile *p)
{
	const struct kind *kind = kind_of_profile(p);

	return p->nr_events > 1 && !kind->calls && !kind->faults;
}

const char *profile_noun(const struct profile *p)
{
	return kind_noun(kind_of_profile(p));
}

const char *profile_unit(const struct profile *p)
{
	const char *event = profile_str(p, p->meta.event);

	if (p->meta.is_time || p->meta.timed)
		return "ns";
	if (kind_of_profile(p)->calls)
		return "calls";
	if (kind_of_profile(p)->faults)
		return kind_of_profile(p)->grows ? "bytes" : "faults";
	if (!p->meta.by_weight)
		return "samples";
	return profile_is_clock(event) ? "ns" : event;
}

int profile_find_event(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->nr_events; i++)
		if (!strcmp(profile_str(p, p->events[i].name), name))
			return i;
	return -1;
}

double sampled_event_duty(const struct sampled_event *e)
{
	return e->enabled_ns ? (double)e->running_ns / e->enabled_ns : 1;
}

uint64_t counters_sum(const uint64_t counters[PROF_NR_COUNTERS], enum counter_kind kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		if (profile_counters[i].kind == kind)
			sum += counters[i];
	return sum;
}

uint64_t profile_sum(const struct profile *p, enum counter_kind kind)
{
	return counters_sum(p->counters, kind);
}

uint64_t profile_weight(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->nr_samples; i++)
		sum += p->samples[i].weight;
	return sum;
}

bool sample_is_recorded(const struct sample *s)
{
	uint32_t kind = PROF_WAIT_KIND(s->wait);

	return kind != PROF_WOKEN && kind != PROF_RUNNING;
}

bool sample_has_stack(const struct sample *s)
{
	return PROF_WAIT_KIND(s->wait) != PROF_RUNNING && !(s->wait & PROF_WAIT_NOT_SAMPLED);
}

uint64_t profile_stack_weight(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->nr_samples; i++)
		if (sample_has_stack(&p->samples[i]))
			sum += p->samples[i].weight;
	return sum;
}

bool profile_is_rooted(const struct profile *p, const struct sample *s)
{
	return p->stacks[sample_outer_half(s)].flags & STACK_ROOTED;
}

static bool is_guessed(const struct profile *p, const struct sample *s)
{
	return p->stacks[s->ustack].guessed;
}

/* Of weight. */
static double share_of(const struct profile *p,
		       bool (*has)(const struct profile *p, const struct sample *s))
{
	uint64_t part = 0, all = profile_stack_weight(p);

	for (size_t i = 0; i < p->nr_samples; i++)
		if (sample_has_stack(&p->samples[i]) && has(p, &p->samples[i]))
			part += p->samples[i].weight;
	return all ? (double)part / all : 0;
}

double profile_rooted_share(const struct profile *p)
{
	return share_of(p, profile_is_rooted);
}

double profile_guessed_share(const struct profile *p)
{
	return share_of(p, is_guessed);
}

enum unwind_end stack_end(const struct stack *s)
{
	return s->end < UNWIND_NR_ENDS ? s->end : UNWIND_END_NONE;
}

void profile_broken_ends(const struct profile *p, struct profile_broken by_end[UNWIND_NR_ENDS])
{
	memset(by_end, 0, UNWIND_NR_ENDS * sizeof(*by_end));
	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];
		enum unwind_end end = stack_end(&p->stacks[sample_outer_half(s)]);

		if (!sample_has_stack(s) || profile_is_rooted(p, s))
			continue;
		by_end[end].samples += s->count;
		by_end[end].weight += s->weight;
	}
}

bool profile_was_throttled(const struct profile *p)
{
	size_t nr_events = p->nr_events ? p->nr_events : 1;

	return p->meta.throttled_ns > p->meta.duration_ns / 1000 * p->meta.nr_cpus * nr_events;
}

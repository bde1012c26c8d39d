/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From samples down: a sample brings its stacks, these their frames, these their modules. What is
 * equal in all that views show is the same row.
 */
#include "profile/gather.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "profile/lacks.h"

struct gather {
	struct profile *to;
	struct index modules, frames, samples, threads;
	/* Of the profile that is added: ids in to, 0 = not yet. */
	const struct profile *from;
	uint32_t *string_of, *module_of, *frame_of, *stack_of;
	uint32_t *ids; /* frames of a stack */
	size_t cap_ids;
	const char *nameless;
	uint64_t short_ns;
	bool slices;
	uint32_t *map;	      /* of the samples of the next profile; NULL = nobody asks */
	struct sliced *parts; /* of windows, in their order */
	size_t nr_parts, cap_parts;
};

struct gather *gather_new(uint64_t short_ns)
{
	struct gather *g = xcalloc(1, sizeof(*g));

	g->short_ns = short_ns;
	g->to = profile_new();
	return g;
}

void gather_slices(struct gather *g)
{
	g->slices = true;
}

void gather_map(struct gather *g, uint32_t *ids)
{
	g->map = ids;
}

static uint32_t add_string(struct gather *g, uint32_t id)
{
	if (id && !g->string_of[id])
		g->string_of[id] = profile_string(g->to, profile_str(g->from, id));
	return g->string_of[id];
}

/* --- modules, frames, stacks --- */

struct key {
	const struct profile *p;
	const void *row;
};

static bool is_module(const void *arg, uint32_t id)
{
	const struct key *k = arg;

	return !memcmp(&k->p->modules[id], k->row, sizeof(struct module));
}

static uint32_t add_module(struct gather *g, uint32_t id)
{
	struct module m = g->from->modules[id];
	struct key key = { g->to, &m };
	uint32_t hash, *to = &g->module_of[id];

	if (!id || *to)
		return *to;
	m.path = add_string(g, m.path);
	hash = index_hash(0, &m, sizeof(m));
	if (index_find(&g->modules, hash, is_module, &key, to))
		return *to;
	*to = profile_add_module(g->to, profile_str(g->to, m.path));
	g->to->modules[*to] = m;
	index_add(&g->modules, hash, *to);
	return *to;
}

/* A frame with all functions in it. */
struct whole_frame {
	struct frame f;
	uint32_t nr, pad;
	struct frame_function functions[FRAME_MAX_FUNCTIONS];
};

static struct frame_function add_function(struct gather *g, struct frame_function f)
{
	return (struct frame_function){ add_string(g, f.name), add_string(g, f.linkage),
					add_string(g, f.file), f.line };
}

static bool is_frame(const void *arg, uint32_t id)
{
	const struct key *k = arg;
	const struct whole_frame *w = k->row;

	if (memcmp(&k->p->frames[id], &w->f, sizeof(w->f)) ||
	    profile_frame_functions(k->p, id) != w->nr)
		return false;
	for (uint32_t i = 0; i < w->nr; i++) {
		struct frame_function f = profile_frame_function(k->p, id, i);

		if (memcmp(&f, &w->functions[i], sizeof(f)))
			return false;
	}
	return true;
}

static void describe_frame(struct gather *g, uint32_t id, struct whole_frame *w)
{
	w->f = g->from->frames[id];
	w->f.module = add_module(g, w->f.module);
	if (!w->f.name && g->nameless) {
		w->f.name = profile_string(g->to, g->nameless);
		w->f.linkage = 0;
		if (w->f.kind == FRAME_KERNEL)
			w->f.offset = 0;
	} else {
		w->f.name = add_string(g, w->f.name);
		w->f.linkage = add_string(g, w->f.linkage);
	}
	w->nr = profile_frame_functions(g->from, id);
	w->pad = 0;
	for (uint32_t i = 0; i < w->nr; i++)
		w->functions[i] = add_function(g, profile_frame_function(g->from, id, i));
	w->functions[w->nr - 1].name = w->f.name;
	w->functions[w->nr - 1].linkage = w->f.linkage;
}

/* Past the interning of profile_frame(): a name belongs to what makes it the same. */
static uint32_t add_row(struct gather *g, const struct whole_frame *w)
{
	struct profile *p = g->to;
	uint32_t id = p->nr_frames;

	p->frames = xgrow(p->frames, p->nr_frames, &p->cap_frames, sizeof(w->f));
	p->frames[p->nr_frames++] = w->f;
	profile_set_functions(p, id, w->functions, w->nr);
	return id;
}

static uint32_t add_frame(struct gather *g, uint32_t id)
{
	struct whole_frame w;
	struct key key = { g->to, &w };
	uint32_t hash, *to = &g->frame_of[id];

	if (!id || *to)
		return *to;
	describe_frame(g, id, &w);
	hash = index_hash(0, &w.f, sizeof(w.f));
	hash = index_hash(hash, w.functions, w.nr * sizeof(*w.functions));
	if (index_find(&g->frames, hash, is_frame, &key, to))
		return *to;
	*to = add_row(g, &w);
	index_add(&g->frames, hash, *to);
	return *to;
}

static uint32_t add_stack(struct gather *g, uint32_t id)
{
	const struct stack *s = &g->from->stacks[id];
	const uint32_t *frames;
	uint32_t nr;

	if (!id || g->stack_of[id])
		return g->stack_of[id];
	frames = profile_stack_frames(g->from, id, &nr);
	if (nr > g->cap_ids) {
		g->cap_ids = nr;
		g->ids = xreallocarray(g->ids, nr, sizeof(*g->ids));
	}
	for (uint32_t i = 0; i < nr; i++)
		g->ids[i] = add_frame(g, frames[i]);
	g->stack_of[id] = profile_stack(g->to, g->ids, nr, s->end, s->guessed);
	g->to->stacks[g->stack_of[id]].flags |= s->flags;
	return g->stack_of[id];
}

/* --- samples, times of threads --- */

/* A window has the times of its threads in the order of their ids. */
static bool is_short(const struct gather *g, uint32_t pid, uint32_t tid)
{
	const struct profile *p = g->from;
	struct thread_time key = { .pid = pid, .tid = tid };
	const struct thread_time *t;

	if (!g->short_ns || !p->nr_threads)
		return false;
	t = bsearch(&key, p->threads, p->nr_threads, sizeof(key), profile_by_ids);
	return t && t->wall_ns < g->short_ns && t->wall_ns < p->meta.duration_ns / 2;
}

static bool is_sample(const void *arg, uint32_t id)
{
	const struct key *k = arg;
	const struct sample *a = k->row, *b = &k->p->samples[id];

	return a->pid == b->pid && a->tid == b->tid && a->process == b->process &&
	       a->thread == b->thread && a->ustack == b->ustack && a->kstack == b->kstack &&
	       a->wait == b->wait;
}

static void add_part(struct gather *g, uint32_t id, const struct sample *s)
{
	struct sliced part = { id, g->to->nr_slices, s->weight ? s->weight : s->count };

	if (!g->slices)
		return;
	g->parts = xgrow(g->parts, g->nr_parts, &g->cap_parts, sizeof(part));
	g->parts[g->nr_parts++] = part;
}

static int by_sample(const void *x, const void *y)
{
	const struct sliced *a = x, *b = y;

	if (a->sample != b->sample)
		return a->sample < b->sample ? -1 : 1;
	return a->slice < b->slice ? -1 : a->slice > b->slice;
}

/* Several samples of a window may have become one. */
static void put_slices(struct gather *g)
{
	struct profile *p = g->to;

	if (g->nr_parts)
		qsort(g->parts, g->nr_parts, sizeof(*g->parts), by_sample);
	for (size_t i = 0; i < g->nr_parts; i++) {
		if (i && !by_sample(&g->parts[i - 1], &g->parts[i]))
			p->sliced[p->nr_sliced - 1].weight += g->parts[i].weight;
		else
			profile_add_sliced(p, &g->parts[i]);
	}
}

static void add_sample(struct gather *g, const struct sample *from)
{
	struct sample s = *from;
	struct key key = { g->to, &s };
	uint32_t hash, id;

	s.process = add_string(g, s.process);
	s.thread = add_string(g, s.thread);
	s.ustack = add_stack(g, s.ustack);
	s.kstack = add_stack(g, s.kstack);
	s.waker = 0;
	if (is_short(g, s.pid, s.tid))
		s.pid = s.tid = 0;
	hash = index_hash(0, &s.pid, offsetof(struct sample, waker) - offsetof(struct sample, pid));
	if (index_find(&g->samples, hash, is_sample, &key, &id)) {
		g->to->samples[id].count += s.count;
		g->to->samples[id].weight += s.weight;
	} else {
		id = g->to->nr_samples;
		index_add(&g->samples, hash, id);
		profile_add_sample(g->to, &s);
	}
	add_part(g, id, &s);
	if (g->map)
		*g->map++ = id;
}

static bool is_thread(const void *arg, uint32_t id)
{
	const struct key *k = arg;

	return !memcmp(&k->p->threads[id], k->row, offsetof(struct thread_time, wall_ns));
}

static void add_thread(struct gather *g, const struct thread_time *from)
{
	struct thread_time t = *from;
	struct key key = { g->to, &t };
	uint32_t hash, id;

	if (is_short(g, t.pid, t.tid))
		t.pid = t.tid = 0;
	t.process = add_string(g, t.process);
	t.thread = add_string(g, t.thread);
	hash = index_hash(0, &t, offsetof(struct thread_time, wall_ns));
	if (index_find(&g->threads, hash, is_thread, &key, &id)) {
		g->to->threads[id].wall_ns += t.wall_ns;
		return;
	}
	index_add(&g->threads, hash, g->to->nr_threads);
	profile_add_thread(g->to, &t);
}

/* --- facts --- */

#define FACT(x) offsetof(struct profile_meta, x)
/* Of several windows the sum, or the most; of others, that of the first one. */
static const size_t sums[] = {
	FACT(duration_ns), FACT(cpu_ns),	FACT(bpf_ns),	    FACT(readers_ns),
	FACT(missed),	   FACT(sideband_lost), FACT(throttles),    FACT(throttled_ns),
	FACT(thinned_ns),  FACT(over_ns),	FACT(suspended_ns), FACT(interrupts_ns),
	FACT(spread_ns),   FACT(others_ns),
};
static const size_t mosts[] = {
	FACT(rss_bytes), FACT(map_bytes), FACT(readers_bytes), FACT(thinnest),
	FACT(nr_cpus),	 FACT(max_depth), FACT(incomplete),    FACT(ended_by),
};
static const size_t names[] = {
	FACT(command), FACT(event),	     FACT(event_note),	  FACT(target),	    FACT(host),
	FACT(kernel),  FACT(arch),	     FACT(version),	  FACT(call_graph), FACT(runtimes),
	FACT(lacks),   FACT(debug_packages), FACT(debug_missing),
};
#define NR(x) (sizeof(x) / sizeof(*(x)))

static uint64_t *number(struct profile *p, size_t offset)
{
	return (uint64_t *)((char *)&p->meta + offset);
}

static uint32_t *name(struct profile *p, size_t offset)
{
	return (uint32_t *)((char *)&p->meta + offset);
}

static void take_over(struct gather *g)
{
	struct sampled_event e;

	g->to->meta = g->from->meta;
	for (size_t i = 0; i < NR(names); i++)
		*name(g->to, names[i]) = add_string(g, *name(g->to, names[i]));
	for (size_t i = 0; i < g->from->nr_events; i++) {
		e = g->from->events[i];
		e.name = add_string(g, e.name);
		e.note = add_string(g, e.note);
		profile_add_event(g->to, &e);
	}
}

static void add_facts(struct gather *g)
{
	struct profile_meta from = g->from->meta;
	struct profile *to = g->to;

	for (size_t i = 0; i < NR(sums); i++)
		*number(to, sums[i]) += *(uint64_t *)((char *)&from + sums[i]);
	for (size_t i = 0; i < NR(mosts); i++) {
		uint64_t nr = *(uint64_t *)((char *)&from + mosts[i]);

		if (nr > *number(to, mosts[i]))
			*number(to, mosts[i]) = nr;
	}
	lacks_join(to, profile_str(g->from, from.lacks));
	if (from.start_ns < to->meta.start_ns)
		to->meta.start_ns = from.start_ns;
	to->meta.by_weight |= from.by_weight;
	if (from.rate_hz != to->meta.rate_hz)
		to->meta.rate_hz = 0;
	for (size_t i = 0; i < to->nr_events; i++)
		if (g->from->events[i].rate_hz != to->events[i].rate_hz)
			to->events[i].rate_hz = 0;
}

static bool is_alike(const struct profile *a, const struct profile *b)
{
	return !strcmp(profile_str(a, a->meta.command), profile_str(b, b->meta.command)) &&
	       a->meta.is_time == b->meta.is_time && a->nr_events == b->nr_events;
}

/* Ids have 32 bits, and it stays in memory. */
static bool fits(const struct profile *to, const struct profile *from)
{
	return (uint64_t)to->strings.len + from->strings.len < INT32_MAX &&
	       (uint64_t)to->nr_stack_frames + from->nr_stack_frames < INT32_MAX &&
	       (uint64_t)to->nr_samples + from->nr_samples < INT32_MAX;
}

static void add_all(struct gather *g)
{
	const struct profile *from = g->from;

	g->string_of = xcalloc(from->strings.len, sizeof(*g->string_of));
	g->module_of = xcalloc(from->nr_modules, sizeof(*g->module_of));
	g->frame_of = xcalloc(from->nr_frames, sizeof(*g->frame_of));
	g->stack_of = xcalloc(from->nr_stacks, sizeof(*g->stack_of));
	if (!g->to->meta.command)
		take_over(g);
	else
		add_facts(g);
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		g->to->counters[i] += from->counters[i];
	for (size_t i = 0; i < from->nr_samples; i++)
		add_sample(g, &from->samples[i]);
	for (size_t i = 0; i < from->nr_threads; i++)
		add_thread(g, &from->threads[i]);
	if (g->slices)
		profile_add_slice(g->to, g->to->meta.duration_ns);
	free(g->string_of);
	free(g->module_of);
	free(g->frame_of);
	free(g->stack_of);
}

int gather_add(struct gather *g, const struct profile *from, const char *nameless)
{
	if (g->to->meta.command && !is_alike(g->to, from))
		return -EINVAL;
	if (!fits(g->to, from))
		return -EFBIG;
	g->from = from;
	g->nameless = nameless;
	add_all(g);
	g->from = NULL;
	g->map = NULL;
	return 0;
}

struct profile *gather_result(struct gather *g)
{
	return g->to;
}

void gather_clear(struct gather *g)
{
	struct profile *p = g->to;

	index_release(&g->samples);
	index_release(&g->threads);
	g->samples = g->threads = (struct index){};
	p->nr_samples = p->nr_threads = p->nr_events = p->nr_slices = p->nr_sliced = 0;
	memset(p->counters, 0, sizeof(p->counters));
	p->meta = (struct profile_meta){};
}

struct profile *gather_take(struct gather *g)
{
	struct profile *p = g->to;

	if (!p->meta.command) {
		profile_free(p);
		p = NULL;
	}
	if (p)
		put_slices(g);
	free(g->parts);
	index_release(&g->modules);
	index_release(&g->frames);
	index_release(&g->samples);
	index_release(&g->threads);
	free(g->ids);
	free(g);
	return p;
}

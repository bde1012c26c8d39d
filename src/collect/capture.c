/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arena records to profile stacks, and walks that the kernel left to us. */
#include "collect/capture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/capture_parts.h"
#include "unwind/rule.h"

#define SLEEPERS_NS 4000000ull	 /* of each turn, for reading stacks of sleeping threads */
#define SLEEPERS    32		 /* at a time */
#define MOST_ITEMS  1024	 /* that wait for tables; no more sleepers are read then */
#define STACK_REACH (8ull << 20) /* from a stack pointer to the top, at most */

void capture_init(struct capture *c, const struct capture_opts *o)
{
	const struct session_maps *maps = session_maps(o->session);

	*c = (struct capture){ .profile = o->profile,
			       .procs = o->procs,
			       .store = o->store,
			       .session = o->session,
			       .maps = maps,
			       .config = o->config,
			       .most_bytes = o->most_bytes,
			       .heatmap = o->heatmap,
			       .long_wait_ns = o->long_wait_ns,
			       .nr_slots = maps->nr_generations * maps->nr_stack_slots,
			       .own_child = o->own_child,
			       .reader = o->reader,
			       .take_call = o->take_call,
			       .ledger_event = o->ledger_event,
			       .weigh = o->weigh,
			       .whole = o->whole,
			       .arg = o->arg };
	generations_init(&c->generations, maps);
	c->defer = (struct defer){ .slots = maps->deferred,
				   .nr_slots = maps->nr_deferred,
				   .taken = maps->deferred_taken,
				   .rows = maps->sleepers,
				   .nr_rows = maps->nr_sleepers,
				   .reader = o->reader };
	c->python = (struct capture_python){ .profile = o->profile,
					     .store = o->store,
					     .reader = o->reader,
					     .lacks = &c->lacks,
					     .begun_ns = now_ns(),
					     .rows = o->store ? maps->pythons : NULL };
	c->stack_of_slot = xcalloc(c->nr_slots, sizeof(*c->stack_of_slot));
	capture_put_source(c, 0, (struct symbol_file){ .fd = -1 });
}

struct lookup {
	struct capture *capture;
	struct process *process;
	uint64_t time_ns;
	bool asked; /* /proc, after that time, and it knew no such code */
};

static bool find_rule(void *arg, uint64_t pc, struct walk_rule *rule)
{
	struct lookup *l = arg;
	const struct proc_mapping *m = NULL;

	if (!l->capture->store) { /* by frame pointers alone */
		*rule = (struct walk_rule){ .rule = rule_special(RULE_OUR_ARCH, RULE_NONE),
					    .anon = true };
		return true;
	}
	if (l->process)
		m = capture_find_mapping(l->capture, l->process, pc, l->time_ns);
	if (m)
		return store_rule(l->capture->store, l->process->pid, m, pc, rule);
	l->asked = l->process && l->process->checked_ns > l->time_ns;
	rule->rule = rule_special(RULE_OUR_ARCH, RULE_NO_CODE);
	return true;
}

static bool find_code(void *arg, uint64_t at, uint64_t *bytes)
{
	struct lookup *l = arg;

	return l->capture->reader && l->process && !l->process->exit_ns &&
	       capture_code(l->capture, l->process->pid, at, bytes);
}

/* Is it the stack that a walk wanted to read, beyond what was copied? */
static bool is_beyond(const struct defer_item *item, const struct walk *w)
{
	uint64_t reach = w->unread - item->start.sp;

	return w->end == UNWIND_END_READ && reach >= item->start.stack_bytes && reach < STACK_REACH;
}

static enum unwind_end end_of(const struct capture *c, const struct defer_item *item,
			      const struct walk *w)
{
	if (is_beyond(item, w))
		return item->cut;
	/* As the kernel calls it. */
	if (c->config.call_graph == CALL_GRAPH_FP && w->end == UNWIND_END_NO_CFI)
		return UNWIND_END_BAD_FP;
	return w->end;
}

/* Memory that defer_read() may bring. */
static bool wants_more(struct defer_item *item, const struct walk *w)
{
	if (w->end != UNWIND_END_READ)
		return false;
	return (is_beyond(item, w) && defer_want(item, w->unread)) ||
	       defer_want_other(item, w->unread);
}

/* Does it still wait for what it waited for last? */
static bool is_waiting(const struct capture *c, const struct defer_item *item)
{
	return item->wants && store_is_missing(c->store, item->wants);
}

/* False: a table is wanted, or memory. */
static bool walk_item(struct capture *c, struct defer_item *item)
{
	struct arena_stack s = { .pid = item->pid, .time_ns = item->time_ns };
	struct lookup l = { .capture = c,
			    .process = capture_find_process(c, &s),
			    .time_ns = item->time_ns };
	__u64 frames[PROF_MAX_FRAMES];
	struct walk w;

	item->start.code = find_code;
	if (!walk_run(&w, &item->start, c->config.max_depth, c->config.call_graph, find_rule, &l)) {
		item->wants = store_missing(c->store);
		return false;
	}
	item->wants = 0;
	if (wants_more(item, &w))
		return false;
	for (uint32_t i = 0; i < w.nr; i++)
		frames[i] = w.frames[i] | (w.exact[i] ? PROF_FRAME_EXACT : 0);
	s.frames = (const uint64_t *)frames;
	s.nr_frames = w.nr;
	s.end = end_of(c, item, &w);
	s.guessed = w.guessed < 255 ? w.guessed : 255;
	if (item->thread && l.process)
		capture_read_python(c, l.process, item, &s);
	s.python = item->python;
	s.nr_python = item->nr_python;
	c->late[item->ref] = capture_user_stack(c, &s);
	if (w.end == UNWIND_END_CFI_ROOT && c->first_root_ns == item->time_ns)
		c->first_root_ns = now_ns(); /* sampled then, walked now */
	if (l.process && c->store) {
		store_publish(c->store, l.process, item->start_stack, l.asked);
		/* Memory that the kernel could not copy ends this walk, but may not end its own. */
		if (w.end == UNWIND_END_READ)
			store_want(c->store, l.process);
	}
	return true;
}

/*
 * Stacks of sleeping threads, some at a time: there may be very many, and what else is deferred has
 * to be fetched meanwhile.
 */
static void add_sleepers(struct capture *c)
{
	struct defer *d = &c->defer;

	for (size_t i = 0; i < SLEEPERS && d->nr < MOST_ITEMS; i++)
		if (!defer_next_sleeper(d, c->config.pc_mask))
			break;
}

/* All that can be walked now; memory that several want is read at once. */
static void walk_items(struct capture *c)
{
	do
		for (size_t i = c->defer.nr; i-- > 0;)
			if (!is_waiting(c, &c->defer.items[i]) && walk_item(c, &c->defer.items[i]))
				defer_done(&c->defer, i);
	while (defer_read(&c->defer));
}

enum capture_state capture_walk(struct capture *c)
{
	struct defer *d = &c->defer;
	bool any = defer_left(d);
	uint64_t until_ns = now_ns() + SLEEPERS_NS;
	size_t before;

	free(c->codes); /* it may be other code by now */
	c->codes = NULL;
	do {
		before = d->first_sleeper;
		add_sleepers(c);
		walk_items(c);
	} while (d->first_sleeper != before && now_ns() < until_ns);
	if (!c->sleepers_ns && d->nr_sleepers && d->first_sleeper == d->nr_sleepers)
		c->sleepers_ns = now_ns();
	if (any && c->store && !store_build(c->store, now_ns()))
		return CAPTURE_BUSY;
	return any || c->names ? CAPTURE_HASTE : CAPTURE_QUIET;
}

uint64_t capture_needs_since(const struct capture *c, uint64_t until_ns)
{
	const struct defer *d = &c->defer;

	/* They come in order of time. */
	if (d->first_sleeper < d->nr_sleepers && d->sleepers[d->first_sleeper].time_ns < until_ns)
		until_ns = d->sleepers[d->first_sleeper].time_ns;
	for (size_t i = 0; i < c->defer.nr; i++)
		if (c->defer.items[i].time_ns < until_ns)
			until_ns = c->defer.items[i].time_ns;
	return until_ns;
}

/* A walk that does not get what it needs. */
static void give_up(struct capture *c, size_t i, enum unwind_end why)
{
	const struct defer_item *item = &c->defer.items[i];
	uint64_t pc = item->start.pc | PROF_FRAME_EXACT;
	struct arena_stack s = { .pid = item->pid,
				 .time_ns = item->time_ns,
				 .frames = &pc,
				 .nr_frames = 1,
				 .end = why };

	c->late[item->ref] = capture_user_stack(c, &s);
	defer_done(&c->defer, i);
}

void capture_give_up(struct capture *c)
{
	while (c->defer.nr)
		give_up(c, 0, UNWIND_END_NO_TABLE);
	while (defer_next_sleeper(&c->defer, c->config.pc_mask))
		give_up(c, 0, UNWIND_END_LATE);
}

static uint32_t add_late_stack(struct capture *c, const struct arena_stack *s)
{
	c->late = xgrow(c->late, c->nr_late, &c->cap_late, sizeof(*c->late));
	c->late[c->nr_late] = 0;
	defer_take(&c->defer, s, c->nr_late, c->config.pc_mask);
	if (s->kind == PROF_STACK_DEFERRED && defer_bytes(&c->defer) > c->most_bytes) {
		give_up(c, c->defer.nr - 1, UNWIND_END_NO_ROOM);
		c->nr_no_room++;
	}
	return REF_LATE | c->nr_late++;
}

static void take(struct capture *c, struct arena_stack *s)
{
	uint32_t *to = &c->stack_of_slot[s->slot], id;

	python_split(s);
	if (!c->first_ns)
		c->first_ns = s->time_ns;
	if (s->kind == PROF_STACK_DEFERRED || s->kind == PROF_STACK_SLEEPER) {
		*to = add_late_stack(c, s);
		return;
	}
	id = s->kind == PROF_STACK_USER ? capture_user_stack(c, s) : capture_kernel_stack(c, s);
	*to = id ? id : REF_NONE;
}

uint32_t capture_slot_ref(const struct capture *c, uint32_t slot1)
{
	uint32_t ref = slot1 && slot1 <= c->nr_slots ? c->stack_of_slot[slot1 - 1] : 0, id;

	if (!ref)
		return slot1 ? REF_LOST : 0;
	id = ref & REF_LATE && ref < REF_NONE ? c->late[ref & ~REF_LATE] : 0;
	return id ? id : ref;
}

void capture_add(struct capture *c, const struct prof_count *count)
{
	struct prof_count n = *count;

	n.ustack = capture_slot_ref(c, n.ustack);
	n.kstack = capture_slot_ref(c, n.kstack);
	if (c->weigh)
		c->weigh(c->arg, &c->tally, &n);
	else
		tally_add(&c->tally, &n, NULL, 0);
}

static void take_count(struct capture *c, size_t slot)
{
	const struct session_maps *m = c->maps;
	struct prof_count n = m->counts[slot];
	uint32_t id;

	n.ustack = capture_slot_ref(c, n.ustack);
	n.kstack = capture_slot_ref(c, n.kstack);
	if (c->weigh) {
		c->weigh(c->arg, &c->tally, &n);
		return;
	}
	id = tally_add(&c->tally, &n, m->nr_values ? &m->values[slot * m->nr_values] : NULL,
		       m->nr_values);
	if (m->wait_hists)
		tally_add_lengths(&c->tally, id, &m->wait_hists[slot]);
	slices_take(&c->slices, slot, id);
	moments_take(&c->moments, slot, id);
}

void capture_take_counts(struct capture *c, uint32_t generation)
{
	const struct session_maps *m = c->maps;

	for (size_t i = generation * m->nr_counts; i < (generation + 1) * m->nr_counts; i++) {
		const struct prof_count *n = &m->counts[i];

		if (n->samples || PROF_WAIT_KIND(n->wait) == PROF_LIVED)
			take_count(c, i);
	}
	slices_empty(&c->slices, generation * m->nr_counts, m->nr_counts);
	moments_empty(&c->moments, generation * m->nr_counts, m->nr_counts);
}

static void take_generation(struct capture *c)
{
	struct generations *g = &c->generations;
	size_t nr = c->maps->nr_stack_slots;

	capture_take_counts(c, g->read);
	memset(c->stack_of_slot + g->read * nr, 0, nr * sizeof(*c->stack_of_slot));
	generations_empty(g);
}

void capture_begin(struct capture *c, uint64_t begin_ns, uint64_t duration_ns)
{
	const struct session_maps *m = c->maps;

	if (c->weigh)
		return;
	slices_begin(&c->slices, m->counts, m->nr_generations * m->nr_counts, begin_ns,
		     duration_ns);
	c->moments = (struct moments){ .ring = m->moments,
				       .heads = m->moment_heads,
				       .counts = m->counts,
				       .nr_cpus = m->nr_cpus,
				       .nr_slots = m->nr_moments,
				       .nr_counts = m->nr_generations * m->nr_counts,
				       .no_slices = !c->heatmap,
				       .long_waits.least_ns = c->long_wait_ns };
	if (m->moments)
		moments_begin(&c->moments, begin_ns);
}

static void settle(void *session)
{
	session_settle(session);
}

bool capture_drain(struct capture *c, uint64_t until_ns)
{
	struct arena_stack s;
	bool quiet;

	moments_drain(&c->moments); /* before a generation that it refers to is emptied */
	for (;;) {
		while (generations_next(&c->generations, until_ns, &s))
			if (s.slot < c->nr_slots)
				take(c, &s);
		if (!generations_is_over(&c->generations))
			break;
		take_generation(c);
	}
	c->names = capture_python_name(&c->python, until_ns == UINT64_MAX);
	slices_turn(&c->slices, now_ns());
	quiet = generations_is_quiet(&c->generations);
	c->fills = generations_turn(&c->generations, settle, c->session);
	return quiet;
}

void capture_release(struct capture *c)
{
	defer_release(&c->defer);
	capture_python_release(&c->python);
	sleeping_release(&c->sleeping);
	tally_release(&c->tally);
	slices_release(&c->slices);
	moments_release(&c->moments);
	free(c->codes);
	free(c->late);
	free(c->stack_of_slot);
	free(c->waker_of_slot);
	for (size_t i = 0; i < c->nr_sources; i++)
		jit_files_free(c->sources[i].jit);
	free(c->sources);
	lacks_release(&c->lacks);
}

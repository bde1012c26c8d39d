/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arena records to profile stacks, counts to samples. */
#include "collect/capture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/target.h"
#include "proc/maps.h"

/* An address that nothing explains may make us read /proc/PID/maps again, so often. */
#define RECHECK_NS 1000000000ull

/* Mappings that were made about when addresses last changed hands, of a library's several. */
#define REUSE_NS 10000000ull

#define LAST_WALKS_NS 2000000000ull /* for what is still to be walked at the end */
#define SLEEPERS_NS   4000000ull    /* of each turn, for reading stacks of sleeping threads */
#define MOST_ITEMS    1024	    /* that wait for tables; no more sleepers are read then */
#define MOST_BYTES    (64u << 20)   /* of stacks that wait for tables */
#define STACK_REACH   (8ull << 20)  /* from a stack pointer to the top, at most */

/*
 * What we call a stack: its id in the profile or, with this bit, a number in late[]. One whose
 * frames did not fit the log, and one that turns out to be none.
 */
#define REF_LATE (1u << 31)
#define REF_LOST UINT32_MAX
#define REF_NONE (UINT32_MAX - 1)

static void put_source(struct capture *c, uint32_t module, struct symbol_file source)
{
	while (c->nr_sources <= module) {
		c->sources = xgrow(c->sources, c->nr_sources, &c->cap_sources, sizeof(*c->sources));
		c->sources[c->nr_sources++] = (struct symbol_file){ .fd = -1 };
	}
	c->sources[module] = source;
}

void capture_init(struct capture *c, const struct capture_opts *o)
{
	const struct session_maps *maps = session_maps(o->session);

	*c = (struct capture){ .profile = o->profile,
			       .procs = o->procs,
			       .store = o->store,
			       .session = o->session,
			       .maps = maps,
			       .config = o->config,
			       .nr_slots = maps->nr_generations * maps->nr_stack_slots,
			       .own_child = o->own_child };
	generations_init(&c->generations, maps);
	c->defer = (struct defer){ .slots = maps->deferred,
				   .nr_slots = maps->nr_deferred,
				   .taken = maps->deferred_taken,
				   .rows = maps->sleepers,
				   .nr_rows = maps->nr_sleepers };
	c->stack_of_slot = xcalloc(c->nr_slots, sizeof(*c->stack_of_slot));
	put_source(c, 0, (struct symbol_file){ .fd = -1 });
}

static void vdso_line(void *arg, const struct maps_line *line)
{
	struct symbol_file *source = arg;

	if (!strcmp(line->path, "[vdso]"))
		*source = (struct symbol_file){ -1, (void *)line->start, line->end - line->start };
}

/* All 64-bit processes have the same vDSO, so ours serves. */
static struct symbol_file vdso_source(void)
{
	struct symbol_file source = { .fd = -1 };

	maps_read(getpid(), vdso_line, &source);
	return source;
}

/*
 * The profile's module of a mapped file. On first sight the file is opened, while the process that
 * mapped it still lives.
 */
static uint32_t module_of(struct capture *c, const struct process *p, const struct proc_mapping *m)
{
	struct proc_file *f = m->file;

	if (f->module)
		return f->module;
	f->module = profile_add_module(c->profile, f->path);
	if (f->path[0] == '[') {
		put_source(c, f->module, vdso_source());
		return f->module;
	}
	proc_file_open(f, p->pid, m);
	put_source(c, f->module, (struct symbol_file){ .fd = f->fd });
	return f->module;
}

/*
 * Side-band records can be lost, and processes older than the recording may have been missed: ask
 * /proc, but not often.
 */
static const struct proc_mapping *find_mapping(struct capture *c, struct process *p, uint64_t addr,
					       uint64_t time_ns)
{
	const struct proc_mapping *m = proc_mapping_at(p, addr, time_ns);

	if (m || p->exit_ns || time_ns < p->checked_ns + RECHECK_NS)
		return m;
	if (proc_snapshot(c->procs, p->pid, time_ns))
		p->checked_ns = time_ns;
	return proc_mapping_at(p, addr, time_ns);
}

static struct process *find_process(struct capture *c, const struct arena_stack *s)
{
	struct process *p = proc_find(c->procs, s->pid);

	if (!p && !proc_snapshot(c->procs, s->pid, s->time_ns))
		p = proc_find(c->procs, s->pid);
	if (p)
		p->sampled = true;
	return p;
}

/*
 * Return addresses are looked up one byte lower: a call can be the last instruction of its
 * function.
 */
static uint64_t lookup_address(const struct arena_stack *s, uint32_t i)
{
	return PROF_FRAME_ADDRESS(s->frames[i]) - (i > 0 && !(s->frames[i] & PROF_FRAME_EXACT));
}

/* The profile's module of the code that a process generated. */
static uint32_t generated_of(struct capture *c, const struct process *p, uint64_t time_ns)
{
	struct proc_image *image = proc_image_at(p, time_ns);

	if (!image->module)
		image->module = profile_add_generated(c->profile, p->pid);
	return image->module;
}

static uint32_t user_frame(struct capture *c, struct process *p, const struct proc_mapping *m,
			   uint64_t addr, uint64_t time_ns)
{
	if (!m->file)
		return profile_frame(c->profile, FRAME_ANON, generated_of(c, p, time_ns), addr);
	return profile_frame(c->profile, FRAME_USER, module_of(c, p, m),
			     addr - m->start + m->file_offset);
}

/*
 * The kernel left this frame by a table of other code, since it had not yet been told that the
 * addresses have changed hands: what it found beyond is nothing.
 */
static bool was_left_wrong(const struct process *p, const struct proc_mapping *m, uint64_t time_ns)
{
	return p->reused_ns && m->from_ns && m->from_ns <= time_ns && time_ns < p->listed_ns &&
	       m->from_ns >= p->reused_ns - REUSE_NS;
}

/* 0: the thread has none any more, it was within an exec. */
static uint32_t add_user_stack(struct capture *c, const struct arena_stack *s)
{
	struct process *p = find_process(c, s);
	uint32_t ids[PROF_MAX_FRAMES], nr = 0;
	uint8_t end = s->end;

	for (uint32_t i = 0; p && i < s->nr_frames; i++) {
		uint64_t addr = lookup_address(s, i);
		const struct proc_mapping *m = find_mapping(c, p, addr, s->time_ns);

		if (!m && i > 0) { /* no return address, but whatever the walk was led to */
			end = c->config.call_graph == CALL_GRAPH_FP || s->guessed
				      ? UNWIND_END_BAD_PC
				      : UNWIND_END_NO_CODE;
			break;
		}
		if (!m && s->nr_frames == 1 && proc_was_replaced(p, addr, s->time_ns))
			return 0;
		ids[nr++] = m ? user_frame(c, p, m, addr, s->time_ns)
			      : profile_frame(c->profile, FRAME_UNKNOWN, 0, 0);
		if (m && s->kind == PROF_STACK_USER && was_left_wrong(p, m, s->time_ns)) {
			end = UNWIND_END_NO_TABLE;
			break;
		}
	}
	if (end == UNWIND_END_CFI_ROOT && !c->first_root_ns)
		c->first_root_ns = s->time_ns;
	if (!nr && s->nr_frames)
		ids[nr++] = profile_frame(c->profile, FRAME_UNKNOWN, 0, 0);
	return profile_stack(c->profile, ids, nr, end, s->guessed);
}

static uint32_t add_kernel_stack(struct capture *c, const struct arena_stack *s)
{
	bool asleep = s->kind == PROF_STACK_KERNEL_ASLEEP;
	uint32_t ids[PROF_MAX_FRAMES], id, nr = c->profile->nr_stacks;

	for (uint32_t i = 0; i < s->nr_frames; i++)
		ids[i] = profile_frame(c->profile, FRAME_KERNEL, 0,
				       s->frames[i] - (i > 0 || asleep));
	id = profile_stack(c->profile, ids, s->nr_frames, s->end, 0);
	if (asleep && id == nr)
		sleeping_add(&c->sleeping, id);
	return id;
}

struct lookup {
	struct capture *capture;
	struct process *process;
	uint64_t time_ns;
	bool asked; /* /proc, after that time, and it knew no such code */
};

static uint32_t special(uint32_t code)
{
#if defined(__x86_64__)
	return RULE_X86_SPECIAL | code;
#else
	return RULE_ARM64_SPECIAL | code;
#endif
}

static bool find_rule(void *arg, uint64_t pc, struct walk_rule *rule)
{
	struct lookup *l = arg;
	const struct proc_mapping *m = NULL;

	if (!l->capture->store) { /* by frame pointers alone */
		*rule = (struct walk_rule){ .rule = special(RULE_NONE), .anon = true };
		return true;
	}
	if (l->process)
		m = find_mapping(l->capture, l->process, pc, l->time_ns);
	if (m)
		return store_rule(l->capture->store, l->process->pid, m, pc, rule);
	l->asked = l->process && l->process->checked_ns > l->time_ns;
	rule->rule = special(RULE_NO_CODE);
	return true;
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

/* Does it still wait for what it waited for last? */
static bool is_waiting(const struct capture *c, const struct defer_item *item)
{
	return item->wants && store_is_missing(c->store, item->wants);
}

/* False: a table is wanted. */
static bool walk_item(struct capture *c, struct defer_item *item)
{
	struct arena_stack s = { .pid = item->pid, .time_ns = item->time_ns };
	struct lookup l = { .capture = c,
			    .process = find_process(c, &s),
			    .time_ns = item->time_ns };
	__u64 frames[PROF_MAX_FRAMES];
	struct walk w;

	do
		if (!walk_run(&w, &item->start, c->config.max_depth, c->config.call_graph,
			      find_rule, &l)) {
			item->wants = store_missing(c->store);
			return false;
		}
	while (is_beyond(item, &w) && defer_read_on(item, w.unread));
	for (uint32_t i = 0; i < w.nr; i++)
		frames[i] = w.frames[i] | (w.exact[i] ? PROF_FRAME_EXACT : 0);
	s.frames = (const uint64_t *)frames;
	s.nr_frames = w.nr;
	s.end = end_of(c, item, &w);
	s.guessed = w.guessed < 255 ? w.guessed : 255;
	c->late[item->ref] = add_user_stack(c, &s);
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
 * The stacks of sleeping threads, one after the other: there may be very many, and what else is
 * deferred has to be fetched meanwhile.
 */
static void walk_sleepers(struct capture *c)
{
	struct defer *d = &c->defer;
	uint64_t until_ns = now_ns() + SLEEPERS_NS;

	while (d->nr < MOST_ITEMS && now_ns() < until_ns &&
	       defer_next_sleeper(d, c->config.pc_mask))
		if (walk_item(c, &d->items[d->nr - 1]))
			defer_done(d, d->nr - 1);
	if (!c->sleepers_ns && d->nr_sleepers && d->first_sleeper == d->nr_sleepers)
		c->sleepers_ns = now_ns();
}

enum capture_state capture_walk(struct capture *c)
{
	bool any = defer_left(&c->defer);

	for (size_t i = c->defer.nr; i-- > 0;)
		if (!is_waiting(c, &c->defer.items[i]) && walk_item(c, &c->defer.items[i]))
			defer_done(&c->defer, i);
	walk_sleepers(c);
	if (any && c->store && !store_build(c->store, now_ns()))
		return CAPTURE_BUSY;
	return any ? CAPTURE_HASTE : CAPTURE_QUIET;
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

	c->late[item->ref] = add_user_stack(c, &s);
	defer_done(&c->defer, i);
}

/* There is no more time. */
static void give_up_all(struct capture *c)
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
	if (s->kind == PROF_STACK_DEFERRED && c->defer.bytes > MOST_BYTES) {
		give_up(c, c->defer.nr - 1, UNWIND_END_NO_ROOM);
		c->nr_no_room++;
	}
	return REF_LATE | c->nr_late++;
}

static void take(struct capture *c, const struct arena_stack *s)
{
	uint32_t *to = &c->stack_of_slot[s->slot], id;

	if (!c->first_ns)
		c->first_ns = s->time_ns;
	if (s->kind == PROF_STACK_DEFERRED || s->kind == PROF_STACK_SLEEPER) {
		*to = add_late_stack(c, s);
		return;
	}
	id = s->kind == PROF_STACK_USER ? add_user_stack(c, s) : add_kernel_stack(c, s);
	*to = id ? id : REF_NONE;
}

/* By its slot + 1. What has been walked meanwhile is a stack like others: equal ones are one. */
static uint32_t ref_of(const struct capture *c, uint32_t slot1)
{
	uint32_t ref = slot1 && slot1 <= c->nr_slots ? c->stack_of_slot[slot1 - 1] : 0, id;

	if (!ref)
		return slot1 ? REF_LOST : 0;
	id = ref & REF_LATE && ref < REF_NONE ? c->late[ref & ~REF_LATE] : 0;
	return id ? id : ref;
}

/* Everything is there but what late stacks are. */
static void take_counts(struct capture *c, uint32_t generation)
{
	const struct session_maps *m = c->maps;
	struct prof_count n;

	for (size_t i = generation * m->nr_counts; i < (generation + 1) * m->nr_counts; i++) {
		n = m->counts[i];
		if (!n.samples && PROF_WAIT_KIND(n.wait) != PROF_LIVED)
			continue;
		n.ustack = ref_of(c, n.ustack);
		n.kstack = ref_of(c, n.kstack);
		tally_add(&c->tally, &n, m->nr_values ? &m->values[i * m->nr_values] : NULL,
			  m->nr_values);
	}
}

static void take_generation(struct capture *c)
{
	struct generations *g = &c->generations;
	size_t nr = c->maps->nr_stack_slots;

	take_counts(c, g->read);
	memset(c->stack_of_slot + g->read * nr, 0, nr * sizeof(*c->stack_of_slot));
	generations_empty(g);
}

static void settle(void *session)
{
	session_settle(session);
}

bool capture_drain(struct capture *c, uint64_t until_ns)
{
	struct arena_stack s;
	bool quiet;

	for (;;) {
		while (generations_next(&c->generations, until_ns, &s))
			if (s.slot < c->nr_slots)
				take(c, &s);
		if (!generations_is_over(&c->generations))
			break;
		take_generation(c);
	}
	quiet = generations_is_quiet(&c->generations);
	c->fills = generations_turn(&c->generations, settle, c->session);
	return quiet;
}

/* The profile's stack of what we call it. False when its frames did not fit the log. */
static bool stack_of(const struct capture *c, uint32_t ref, uint32_t *id)
{
	*id = ref & REF_LATE ? 0 : ref;
	if (ref & REF_LATE && ref < REF_NONE)
		*id = c->late[ref & ~REF_LATE];
	return ref != REF_LOST;
}

/* The same by the kernel's slot + 1, while its generation lasts. */
static bool stack_of_slot(const struct capture *c, uint32_t slot1, uint32_t *id)
{
	return stack_of(c, ref_of(c, slot1), id);
}

static uint32_t process_name(struct capture *c, uint32_t pid, uint32_t thread)
{
	const char *name = proc_name(c->procs, pid);

	return name && name[0] ? profile_string(c->profile, name) : thread;
}

/* The kernel counts samples one by one; a wait that was recorded is one that was added. */
static bool is_whole_wait(const struct prof_count *n)
{
	uint32_t kind = PROF_WAIT_KIND(n->wait);

	return kind == PROF_BLOCKED || kind == PROF_PREEMPTED || kind == PROF_THROTTLED;
}

/* What the kernel recorded turns out to be something else. The sum stays. */
static void recount(struct capture *c, const struct prof_count *n, enum prof_counter as)
{
	uint32_t kind = PROF_WAIT_KIND(n->wait);
	bool event = !n->wait || kind == PROF_EVENT;
	uint64_t nr = event || kind == PROF_ON_CPU || is_whole_wait(n) ? n->samples : 0;

	c->profile->counters[as] += nr;
	c->profile->counters[PROF_RECORDED] -= nr;
	if (!event)
		c->profile->counters[as == PROF_FILTER_SELF ? PROF_FILTER_NS : PROF_LOST_NS] +=
			n->weight;
}

/* The profile's waker of a slot + 1, and before it its own wakers. */
static uint32_t waker_of(struct capture *c, uint32_t slot1, int hops)
{
	const struct prof_waker *from;
	struct waker w = {};
	uint32_t *known;

	if (!slot1 || slot1 > c->maps->nr_wakers || hops > PROF_MAX_HOPS)
		return 0;
	known = &c->waker_of_slot[slot1 - 1];
	from = &c->maps->wakers[slot1 - 1];
	if (*known || !from->ready)
		return *known;
	w = (struct waker){ .pid = from->pid, .tid = from->tid };
	w.next = waker_of(c, from->next, hops + 1);
	if (!stack_of_slot(c, from->ustack, &w.ustack))
		w.ustack = 0;
	if (!stack_of_slot(c, from->kstack, &w.kstack))
		w.kstack = 0;
	w.thread = profile_string_n(c->profile, from->comm, sizeof(from->comm));
	w.process = process_name(c, from->pid, w.thread);
	*known = profile_add_waker(c->profile, &w);
	return *known;
}

/* How long merged threads lived. What bpfprof's own child did before its exec is no part of it. */
static void add_merged(struct capture *c, const struct prof_count *n)
{
	struct merged_time t = { .pid = n->pid, .nr = n->samples, .wall_ns = n->weight };

	if (n->pid == c->own_child && !strncmp(n->comm, TARGET_HELD_NAME, sizeof(n->comm)))
		return;
	t.thread = profile_string_n(c->profile, n->comm, sizeof(n->comm));
	t.process = process_name(c, n->pid, t.thread);
	profile_add_merged(c->profile, &t);
}

static void add_sample(struct capture *c, size_t i)
{
	const struct tally *t = &c->tally;
	const struct prof_count *n = &t->counts[i];
	struct sample s = { .count = n->samples,
			    .weight = n->weight,
			    .pid = n->pid,
			    .tid = n->tid,
			    .wait = n->wait };

	if (is_whole_wait(n))
		c->profile->counters[PROF_RECORDED] += n->samples;
	if (n->pid == c->own_child && !strncmp(n->comm, TARGET_HELD_NAME, sizeof(n->comm))) {
		recount(c, n, PROF_FILTER_SELF);
		return;
	}
	if (!stack_of(c, n->ustack, &s.ustack) || !stack_of(c, n->kstack, &s.kstack)) {
		recount(c, n, PROF_LOST_FRAMES);
		return;
	}
	s.kstack = sleeping_instead(&c->sleeping, s.kstack);
	s.thread = profile_string_n(c->profile, n->comm, sizeof(n->comm));
	s.process = process_name(c, n->pid, s.thread);
	s.waker = waker_of(c, n->chain, 1);
	profile_add_sample(c->profile, &s);
	if (t->nr_values)
		profile_add_counted(c->profile, &t->values[i * t->nr_values]);
}

/* The frame of a stack of one, by its slot + 1. Of code that nobody knows it has none. */
static uint32_t frame_of(const struct capture *c, uint32_t slot1)
{
	uint32_t id;

	return stack_of_slot(c, slot1, &id) ? profile_stack_leaf(c->profile, id) : 0;
}

static void add_branch(struct capture *c, const struct prof_branch *from)
{
	struct branch b = { .from = frame_of(c, from->from),
			    .to = frame_of(c, from->to),
			    .count = from->count,
			    .mispredicted = from->mispredicted,
			    .untold = from->untold,
			    .cycles = from->cycles,
			    .timed = from->timed };

	profile_add_branch(c->profile, &b);
}

/* Of a stack whose frames did not fit the log there is nothing to show. */
static void add_disagreement(struct capture *c, const struct prof_disagreement *from)
{
	struct disagreement d = {
		.times = from->times, .pid = from->pid, .tid = from->tid, .half = from->kind
	};

	if (!from->ready || !stack_of_slot(c, from->remembered, &d.remembered) ||
	    !stack_of_slot(c, from->walked, &d.walked))
		return;
	d.thread = profile_string_n(c->profile, from->comm, sizeof(from->comm));
	d.process = process_name(c, from->pid, d.thread);
	profile_add_disagreement(c->profile, &d);
}

/* Where threads were seen to leave their CPU is known with all frames. */
static void complete_sleeping(struct capture *c)
{
	const struct prof_count *n;
	uint32_t id;

	sleeping_index(&c->sleeping, c->profile);
	for (size_t i = 0; i < c->tally.nr; i++) {
		n = &c->tally.counts[i];
		if (n->samples && PROF_WAIT_KIND(n->wait) == PROF_BLOCKED &&
		    !(n->wait & PROF_WAIT_BEFORE) && stack_of(c, n->kstack, &id) && id)
			sleeping_look(&c->sleeping, c->profile, id);
	}
}

void capture_finish(struct capture *c, const uint64_t counters[PROF_NR_COUNTERS])
{
	const struct session_maps *maps = c->maps;
	uint64_t until_ns = now_ns() + LAST_WALKS_NS;

	/* Memory for tables may still be on its way. */
	while (defer_left(&c->defer) && now_ns() < until_ns)
		if (capture_walk(c) != CAPTURE_BUSY && c->defer.nr)
			usleep(1000);
	give_up_all(c);
	memcpy(c->profile->counters, counters, sizeof(c->profile->counters));
	c->profile->counters[PROF_DEFER_FULL] += c->nr_no_room;
	for (size_t i = 0; i < maps->nr_generations; i++)
		take_counts(c, i);
	complete_sleeping(c);
	c->waker_of_slot = xcalloc(maps->nr_wakers, sizeof(*c->waker_of_slot));
	for (size_t i = 0; i < c->tally.nr; i++)
		if (PROF_WAIT_KIND(c->tally.counts[i].wait) == PROF_LIVED)
			add_merged(c, &c->tally.counts[i]);
		else
			add_sample(c, i);
	for (size_t i = 0; i < maps->nr_branches; i++)
		if (maps->branches[i].count)
			add_branch(c, &maps->branches[i]);
	for (size_t i = 0; i < maps->nr_disagreements; i++)
		if (maps->disagreements[i].times)
			add_disagreement(c, &maps->disagreements[i]);
	while (c->nr_sources < c->profile->nr_modules)
		put_source(c, c->nr_sources, (struct symbol_file){ .fd = -1 });
}

void capture_release(struct capture *c)
{
	defer_release(&c->defer);
	sleeping_release(&c->sleeping);
	tally_release(&c->tally);
	free(c->late);
	free(c->stack_of_slot);
	free(c->waker_of_slot);
	free(c->sources);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was counted, as samples of the profile, once the recording is over. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/capture_parts.h"
#include "collect/lock_holders.h"
#include "collect/spread.h"
#include "collect/target.h"

#define LAST_WALKS_NS 2000000000ull /* for what is still to be walked at the end */

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
	return stack_of(c, capture_slot_ref(c, slot1), id);
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

	if (c->weigh && PROF_WAIT_EVENT(n->wait) != c->ledger_event)
		nr = 0;

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

/* The same of a lock and who held it, with the locks that one waited for. */
static uint32_t holder_of(struct capture *c, uint32_t slot1, int depth)
{
	const struct prof_lock *from;
	struct waker w = {};
	uint32_t *known;

	if (!slot1 || slot1 > c->maps->nr_locks || depth > LOCK_HOLDERS_SHOWN)
		return 0;
	known = &c->waker_of_slot[slot1 - 1];
	from = &c->maps->locks[slot1 - 1];
	if (*known || !from->ready)
		return *known;
	w = (struct waker){ .pid = from->holder_pid, .tid = from->holder_tid };
	w.next = holder_of(c, from->next, depth + 1);
	if (!stack_of_slot(c, from->ustack, &w.ustack))
		w.ustack = 0;
	if (!stack_of_slot(c, from->kstack, &w.kstack))
		w.kstack = 0;
	w.kstack = sleeping_instead(&c->sleeping, w.kstack);
	if (w.tid) {
		w.thread = profile_string_n(c->profile, from->comm, sizeof(from->comm));
		w.process = process_name(c, w.pid, w.thread);
	}
	*known = profile_add_holder(c->profile, &w,
				    &(struct lock){ .word = from->word,
						    .max_ns = from->max_ns,
						    .op = from->op,
						    .kind = from->kind,
						    .role = from->role,
						    .wait = from->wait });
	return *known;
}

/* What bpfprof's own child did before its exec, and what reads files for it. */
static bool is_own(const struct capture *c, const struct prof_count *n)
{
	return (n->pid == c->own_child && !strncmp(n->comm, TARGET_HELD_NAME, sizeof(n->comm))) ||
	       reader_is_child(c->reader, n->pid);
}

/* How long merged threads lived. What bpfprof's own child did before its exec is no part of it. */
static void add_merged(struct capture *c, const struct prof_count *n)
{
	struct merged_time t = { .pid = n->pid, .nr = n->samples, .wall_ns = n->weight };

	if (is_own(c, n))
		return;
	t.thread = profile_string_n(c->profile, n->comm, sizeof(n->comm));
	t.process = process_name(c, n->pid, t.thread);
	profile_add_merged(c->profile, &t);
}

/* Of the sample that was just added. */
static void add_lengths(struct capture *c, const struct tally_lengths *of)
{
	struct wait_bucket b = { .sample = c->profile->nr_samples - 1 };

	profile_add_longest(c->profile, of->max_ns);
	for (; b.index < PROF_WAIT_BUCKETS; b.index++) {
		b.count = of->count[b.index];
		if (b.count)
			profile_add_wait_bucket(c->profile, &b);
	}
}

bool capture_sample(struct capture *c, const struct prof_count *n, struct sample *to)
{
	struct sample s = { .count = n->samples,
			    .weight = n->weight,
			    .pid = n->pid,
			    .tid = n->tid,
			    .wait = n->wait };

	if (is_whole_wait(n))
		c->profile->counters[PROF_RECORDED] += n->samples;
	if (is_own(c, n)) {
		recount(c, n, PROF_FILTER_SELF);
		return false;
	}
	if (!stack_of(c, n->ustack, &s.ustack) || !stack_of(c, n->kstack, &s.kstack)) {
		recount(c, n, PROF_LOST_FRAMES);
		return false;
	}
	if (c->config.events && PROF_WAIT_KIND(n->wait) == PROF_ON_CPU)
		s.count = s.weight = 0; /* it only says what ran when */
	s.kstack = sleeping_instead(&c->sleeping, s.kstack);
	s.thread = profile_string_n(c->profile, n->comm, sizeof(n->comm));
	s.process = process_name(c, n->pid, s.thread);
	*to = s;
	return true;
}

/* False when it turns out to be none. */
static bool add_sample(struct capture *c, size_t i)
{
	const struct tally *t = &c->tally;
	const struct prof_count *n = &t->counts[i];
	struct sample s;

	if (!capture_sample(c, n, &s))
		return false;
	s.waker = c->maps->nr_locks ? holder_of(c, n->chain, 1) : waker_of(c, n->chain, 1);
	if (c->whole)
		c->whole(c->arg, &s);
	if (c->take_call)
		c->take_call(c->arg, n, &s);
	profile_add_sample(c->profile, &s);
	if (t->nr_values)
		profile_add_counted(c->profile, &t->values[i * t->nr_values]);
	if (t->nr_lengths)
		add_lengths(c, &t->lengths[i]);
	return true;
}

/* first_ns of the profile is when capture began: so are the slices. */
static void add_slices(struct capture *c, const uint32_t *sample1_of, const double *factors,
		       uint64_t end_ns)
{
	struct slices *s = &c->slices;
	uint32_t sample1;

	slices_end(s, end_ns);
	for (size_t i = 0; i < s->nr; i++)
		profile_add_slice(c->profile, s->ends_ns[i]);
	for (size_t i = 0; i < s->nr_parts; i++) {
		sample1 = sample1_of[s->parts[i].id];
		if (sample1)
			profile_add_sliced(
				c->profile,
				&(struct sliced){ sample1 - 1, s->parts[i].slice,
						  s->parts[i].weight * factors[s->parts[i].id] });
	}
}

/* In the order of counts, then of time. */
static void add_long_waits(struct capture *c, const uint32_t *sample1_of)
{
	const struct long_waits *w = &c->moments.long_waits;
	uint32_t id1, sample1;

	c->profile->meta.long_wait_ns = w->least_ns;
	c->profile->counters[PROF_MOMENTS_LOST] += w->lost;
	for (size_t i = 0; i < w->nr; i++) {
		id1 = w->id1[w->v[i].slot];
		sample1 = id1 ? sample1_of[id1 - 1] : 0;
		if (sample1)
			profile_add_long_wait(c->profile,
					      &(struct long_wait){ sample1 - 1, 0, w->v[i].begin_ns,
								   w->v[i].end_ns });
	}
}

static void add_moments(struct capture *c, const uint32_t *sample1_of, const double *factors)
{
	struct moments *m = &c->moments;
	uint32_t sample1, id;

	if (!m->read)
		return;
	moments_end(m);
	add_long_waits(c, sample1_of);
	c->profile->counters[PROF_MOMENTS_LOST] += m->lost;
	if (m->no_slices)
		return;
	c->profile->meta.moment_ns = m->slice_ns;
	for (size_t i = 0; i < m->nr_parts; i++) {
		const struct moment_part *part = &m->parts[i];

		id = part->owner & ~MOMENTS_TAKEN;
		sample1 = sample1_of[id];
		if (sample1)
			profile_add_moment(c->profile,
					   &(struct moment){ sample1 - 1, part->first, part->nr,
							     part->count,
							     part->weight * factors[id] });
	}
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

/* One stack in how many was taken, at worst. */
static uint64_t thinnest_stacks(const struct capture *c)
{
	uint32_t halvings = 0, chain, own;

	for (size_t i = 0; i < c->tally.nr; i++) {
		chain = c->tally.counts[i].chain;
		own = chain < PROF_CHAIN_SKIP ? chain : chain / PROF_CHAIN_SKIP;
		if (own > halvings)
			halvings = own;
	}
	return 1ull << (halvings & 31);
}

/* How much the weight of each count has grown by waits whose stacks were left out. */
static double *spread(struct capture *c)
{
	double *factors = xcalloc(c->tally.nr + 1, sizeof(*factors));

	if (c->profile->counters[PROF_THINNED]) {
		c->profile->meta.thinnest = thinnest_stacks(c);
		c->profile->meta.spread_ns = spread_waits(&c->tally, factors);
	} else
		for (size_t i = 0; i < c->tally.nr; i++)
			factors[i] = 1;
	return factors;
}

/*
 * Counts that stay even if all of their time went to others: waits are left in them, or some say
 * when. To be freed.
 */
static bool *have_waits(const struct capture *c)
{
	const struct long_waits *w = &c->moments.long_waits;
	bool *have = xcalloc(c->tally.nr + 1, sizeof(*have));

	for (size_t i = 0; i < c->tally.nr; i++)
		have[i] = c->tally.counts[i].samples;
	for (size_t i = 0; i < w->nr; i++)
		if (w->id1[w->v[i].slot])
			have[w->id1[w->v[i].slot] - 1] = true;
	return have;
}

void capture_fill_sources(struct capture *c)
{
	while (c->nr_sources < c->profile->nr_modules)
		capture_put_source(c, c->nr_sources, (struct symbol_file){ .fd = -1 });
}

void capture_finish(struct capture *c, const uint64_t counters[PROF_NR_COUNTERS], uint64_t end_ns)
{
	const struct session_maps *maps = c->maps;
	uint32_t *sample1_of;
	double *factors;
	bool *have;
	uint64_t until_ns = now_ns() + LAST_WALKS_NS;

	/* Memory for tables may still be on its way. */
	while (defer_left(&c->defer) && now_ns() < until_ns)
		if (capture_walk(c) != CAPTURE_BUSY && c->defer.nr)
			usleep(1000);
	capture_give_up(c);
	capture_python_name(&c->python, true);
	memcpy(c->profile->counters, counters, sizeof(c->profile->counters));
	c->profile->counters[PROF_DEFER_FULL] += c->nr_no_room;
	for (size_t i = 0; i < maps->nr_generations; i++)
		capture_take_counts(c, i);
	complete_sleeping(c);
	c->waker_of_slot = xcalloc(maps->nr_locks ? maps->nr_locks : maps->nr_wakers,
				   sizeof(*c->waker_of_slot));
	sample1_of = xcalloc(c->tally.nr + 1, sizeof(*sample1_of));
	factors = spread(c);
	have = have_waits(c);
	for (size_t i = 0; i < c->tally.nr; i++)
		if (PROF_WAIT_KIND(c->tally.counts[i].wait) == PROF_LIVED)
			add_merged(c, &c->tally.counts[i]);
		else if ((factors[i] > 0 || have[i]) && add_sample(c, i))
			sample1_of[i] = c->profile->nr_samples;
	add_slices(c, sample1_of, factors, end_ns);
	add_moments(c, sample1_of, factors);
	free(sample1_of);
	free(have);
	free(factors);
	if (maps->nr_locks)
		lock_holders_find(c->profile, c->reader);
	for (size_t i = 0; i < maps->nr_branches; i++)
		if (maps->branches[i].count)
			add_branch(c, &maps->branches[i]);
	for (size_t i = 0; i < maps->nr_disagreements; i++)
		if (maps->disagreements[i].times)
			add_disagreement(c, &maps->disagreements[i]);
	capture_fill_sources(c);
}

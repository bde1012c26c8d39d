/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rings that are read while they are filled, and slices that become longer. */
#include "collect/moments.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SLICE_NS 20000000ull
#define FEW_NS	 500000000ull /* up to here a second is divided by five, then by two */

void moments_begin(struct moments *m, uint64_t begin_ns)
{
	m->begin_ns = begin_ns;
	m->slice_ns = SLICE_NS;
	if (!m->max_parts)
		m->max_parts = MOMENTS_MAX_PARTS;
	m->read = xcalloc(m->nr_cpus, sizeof(*m->read));
	m->slots = xcalloc(m->nr_counts, sizeof(*m->slots));
	if (m->long_waits.least_ns)
		long_waits_begin(&m->long_waits, m->counts, m->nr_counts, m->nr_cpus);
}

/* What a thread does again and again adds to its latest part. */
static void add(struct moments *m, struct moment_part part)
{
	struct moment_slot *of = part.owner & MOMENTS_TAKEN ? NULL : &m->slots[part.owner];
	struct moment_part *last = of && of->last1 ? &m->parts[of->last1 - 1] : NULL;

	if (last && last->first == part.first && last->nr == part.nr) {
		last->count += part.count;
		last->weight += part.weight;
		return;
	}
	m->parts = xgrow(m->parts, m->nr_parts, &m->cap_parts, sizeof(*m->parts));
	m->parts[m->nr_parts++] = part;
	if (of)
		of->last1 = m->nr_parts;
}

/*
 * From begin to end, in steps of which each has that weight, so many to a slice: the slice in which
 * it begins, those that it fills, and the one in which it ends.
 */
static void spread(struct moments *m, uint32_t owner, uint64_t begin, uint64_t end, uint64_t steps,
		   uint32_t count, uint64_t weight)
{
	uint32_t first = begin / steps, last = end / steps;

	if (first == last) {
		add(m, (struct moment_part){ owner, first, 1, count, (end - begin) * weight });
		return;
	}
	add(m,
	    (struct moment_part){ owner, first, 1, count, ((first + 1) * steps - begin) * weight });
	if (last > first + 1)
		add(m,
		    (struct moment_part){ owner, first + 1, last - first - 1, 0, steps * weight });
	if (end > last * steps)
		add(m, (struct moment_part){ owner, last, 1, 0, (end - last * steps) * weight });
}

static int by_owner(const void *x, const void *y)
{
	const struct moment_part *a = x, *b = y;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->nr < b->nr ? -1 : a->nr > b->nr;
}

static int by_time(const void *x, const void *y)
{
	const struct moment_part *a = x, *b = y;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return by_owner(a, b);
}

/* Of each owner and time one part is left. */
static void merge(struct moments *m)
{
	size_t nr = 0;

	if (m->nr_parts)
		qsort(m->parts, m->nr_parts, sizeof(*m->parts), by_owner);
	for (size_t i = 0; i < m->nr_parts; i++) {
		if (nr && !by_owner(&m->parts[nr - 1], &m->parts[i])) {
			m->parts[nr - 1].count += m->parts[i].count;
			m->parts[nr - 1].weight += m->parts[i].weight;
		} else {
			m->parts[nr++] = m->parts[i];
		}
	}
	m->nr_parts = nr;
	for (size_t i = 0; i < nr; i++)
		if (!(m->parts[i].owner & MOMENTS_TAKEN))
			m->slots[m->parts[i].owner].last1 = i + 1;
}

static void forget_last(struct moments *m)
{
	for (size_t i = 0; i < m->nr_counts; i++)
		m->slots[i].last1 = 0;
}

static void lengthen(struct moments *m)
{
	uint32_t factor = m->slice_ns < FEW_NS ? 5 : 2;
	struct moment_part *from = m->parts;
	size_t nr = m->nr_parts;

	m->parts = NULL;
	m->nr_parts = m->cap_parts = 0;
	m->slice_ns *= factor;
	forget_last(m);
	for (size_t i = 0; i < nr; i++)
		spread(m, from[i].owner, from[i].first, (uint64_t)from[i].first + from[i].nr,
		       factor, from[i].count, from[i].weight);
	free(from);
	merge(m);
}

static bool is_one_slice(const struct moments *m)
{
	for (size_t i = 0; i < m->nr_parts; i++)
		if (m->parts[i].first)
			return false;
	return true;
}

/* So few that there is room for as many again; one slice is no longer any time. */
static void make_room(struct moments *m)
{
	merge(m);
	while (m->nr_parts > m->max_parts / 2 && !is_one_slice(m))
		lengthen(m);
}

/* A wait is what lasts; samples are taken at a time. */
static bool lasts(uint32_t wait)
{
	uint32_t kind = PROF_WAIT_KIND(wait);

	return kind == PROF_BLOCKED || kind == PROF_PREEMPTED || kind == PROF_WOKEN ||
	       kind == PROF_THROTTLED || kind == PROF_RUNNING;
}

static void take_entry(struct moments *m, size_t cpu, const struct prof_moment *e)
{
	uint64_t end = e->end_ns > m->begin_ns ? e->end_ns - m->begin_ns : 0;
	uint64_t begin = end > e->weight ? end - e->weight : 0;
	uint32_t slot = e->count - 1;

	if (!e->count || e->count > m->nr_counts)
		return;
	if (m->long_waits.least_ns &&
	    (lasts(m->counts[slot].wait) || PROF_WAIT_KIND(m->counts[slot].wait) == PROF_ON_CPU))
		long_waits_add(&m->long_waits, cpu, &(struct long_wait_entry){ slot, begin, end });
	if (m->no_slices)
		return;
	while (end / m->slice_ns >= MOMENTS_MAX_SLICES)
		lengthen(m);
	if (lasts(m->counts[slot].wait))
		spread(m, slot, begin, end, m->slice_ns, 1, 1);
	else
		add(m, (struct moment_part){ slot, end / m->slice_ns, 1, 1, e->weight });
}

/* The head moves before an entry is written: what lies a ring behind it may be in the making. */
static bool is_lapped(const struct moments *m, size_t cpu, uint64_t nr)
{
	uint64_t head = __atomic_load_n(&m->heads[cpu].value, __ATOMIC_ACQUIRE);

	if (head - nr <= m->nr_slots)
		return false;
	m->read[cpu] = head - m->nr_slots / 2; /* the writer is fast: leave it some room */
	return true;
}

/* False: there is none that is complete. */
static bool read_entry(struct moments *m, size_t cpu)
{
	uint64_t nr = m->read[cpu];
	const struct prof_moment *e = &m->ring[cpu * m->nr_slots + (nr & (m->nr_slots - 1))];
	struct prof_moment copy;

	if (nr == __atomic_load_n(&m->heads[cpu].value, __ATOMIC_ACQUIRE))
		return false;
	copy.nr = __atomic_load_n(&e->nr, __ATOMIC_ACQUIRE);
	memcpy(&copy.end_ns, (const void *)&e->end_ns, sizeof(copy) - sizeof(copy.nr));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (is_lapped(m, cpu, nr)) {
		m->lost += m->read[cpu] - nr;
		if (m->long_waits.least_ns)
			long_waits_miss(&m->long_waits, cpu);
		return true;
	}
	if (copy.nr != nr + 1)
		return false;
	take_entry(m, cpu, &copy);
	m->read[cpu] = nr + 1;
	return true;
}

void moments_drain(struct moments *m)
{
	if (!m->read)
		return;
	for (size_t cpu = 0; cpu < m->nr_cpus; cpu++)
		while (read_entry(m, cpu))
			if (m->nr_parts > m->max_parts)
				make_room(m);
}

void moments_take(struct moments *m, size_t slot, uint32_t id)
{
	if (m->read)
		m->slots[slot].id1 = id + 1;
	if (m->long_waits.id1)
		m->long_waits.id1[slot] = id + 1;
}

void moments_empty(struct moments *m, size_t first, size_t nr)
{
	size_t left = 0;

	if (!m->read)
		return;
	for (size_t i = 0; i < m->nr_parts; i++) {
		struct moment_part part = m->parts[i];

		if (part.owner >= first && part.owner < first + nr) {
			if (!m->slots[part.owner].id1)
				continue;
			part.owner = MOMENTS_TAKEN | (m->slots[part.owner].id1 - 1);
		}
		m->parts[left++] = part;
	}
	m->nr_parts = left;
	memset(m->slots + first, 0, nr * sizeof(*m->slots));
	forget_last(m); /* parts have moved */
}

void moments_end(struct moments *m)
{
	/* What stands behind one that was never finished. */
	for (size_t cpu = 0; cpu < m->nr_cpus && m->nr_slots; cpu++)
		m->lost += m->heads[cpu].value - m->read[cpu];
	long_waits_end(&m->long_waits);
	merge(m);
	if (m->nr_parts)
		qsort(m->parts, m->nr_parts, sizeof(*m->parts), by_time);
}

void moments_release(struct moments *m)
{
	free(m->read);
	free(m->slots);
	free(m->parts);
	long_waits_release(&m->long_waits);
	*m = (struct moments){};
}

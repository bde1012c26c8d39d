/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rings of all CPUs, as one list in the order of time. */
#include "collect/timeline.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/session.h"
#include "proc/maps.h"
#include "proc/proc.h"
#include "profile/timeline.h"

#define BYTES_PER_CPU (16ull << 20)
#define MAX_BYTES     (256ull << 20)
#define LEAST_SLOTS   16u
#define MORE_NS	      1000000000ull /* kept with an outlier: until user space hears of it */

/* How old events may get before they are not wanted any more. */
static uint64_t wanted_ns(const struct timeline_opts *o)
{
	if (o->last_ns)
		return o->last_ns;
	return o->outlier_us ? o->outlier_us * 1000 + 2 * o->around_ns + MORE_NS : UINT64_MAX;
}

struct timeline_config timeline_configure(const struct timeline_opts *o, uint32_t nr_cpus)
{
	struct timeline_config c = { .last_ns = wanted_ns(o),
				     .outlier_ns = o->outlier_us * 1000,
				     .slots = LEAST_SLOTS,
				     .others = o->outlier_us != 0 };
	uint64_t bytes = o->ring_bytes ? o->ring_bytes : nr_cpus * BYTES_PER_CPU;

	if (!o->ring_bytes && bytes > MAX_BYTES)
		bytes = MAX_BYTES;
	if (!o->ring_bytes && o->most_bytes && bytes > o->most_bytes)
		bytes = o->most_bytes;
	while (c.slots * 2ull * sizeof(struct timeline_event) * nr_cpus <= bytes)
		c.slots *= 2;
	return c;
}

static size_t slot_of(uint64_t mark, size_t nr_cpus)
{
	return mark % TIMELINE_MARKS * nr_cpus;
}

/* The time comes last: what was recorded until then may be more, never less. */
void timeline_mark(struct timeline_marks *m, const struct timeline_opts *o,
		   const struct session_maps *maps)
{
	uint64_t apart = wanted_ns(o) / (TIMELINE_MARKS / 2), *to;

	if (m->nr && now_ns() - m->time_ns[(m->nr - 1) % TIMELINE_MARKS] < apart)
		return;
	if (!m->recorded)
		m->recorded = xcalloc(TIMELINE_MARKS * maps->nr_cpus, sizeof(*m->recorded));
	to = m->recorded + slot_of(m->nr, maps->nr_cpus);
	for (size_t cpu = 0; cpu < maps->nr_cpus; cpu++)
		to[cpu] = __atomic_load_n(&maps->counters[cpu].value[PROF_RECORDED],
					  __ATOMIC_RELAXED);
	m->time_ns[m->nr++ % TIMELINE_MARKS] = now_ns();
}

void timeline_marks_release(struct timeline_marks *m)
{
	free(m->recorded);
	*m = (struct timeline_marks){};
}

/* What each CPU had recorded when the wanted time began, or a little before; NULL = nothing. */
static const uint64_t *recorded_before(const struct timeline_marks *m, uint64_t wanted_ns,
				       size_t nr_cpus)
{
	for (uint64_t i = m->nr; i && m->nr - i < TIMELINE_MARKS; i--)
		if (m->time_ns[(i - 1) % TIMELINE_MARKS] <= wanted_ns)
			return m->recorded + slot_of(i - 1, nr_cpus);
	return NULL;
}

/* What is in the ring of a CPU: events first to nr - 1 of all that it ever recorded. */
struct ring {
	const struct timeline_event *events;
	uint64_t first, nr, mask;
};

static struct ring ring_of(const struct session_maps *m, size_t cpu)
{
	uint64_t nr = m->counters[cpu].value[PROF_RECORDED];

	return (struct ring){ .events = m->timeline + cpu * m->nr_timeline,
			      .first = nr > m->nr_timeline ? nr - m->nr_timeline : 0,
			      .nr = nr,
			      .mask = m->nr_timeline - 1 };
}

static const struct timeline_event *ring_at(const struct ring *r, uint64_t i)
{
	return &r->events[i & r->mask];
}

/* From when on all rings have all: what one of them lacks, no thread can be followed through. */
static void find_begin(struct profile_meta *m, const struct session_maps *maps)
{
	for (size_t cpu = 0; cpu < maps->nr_cpus; cpu++) {
		struct ring r = ring_of(maps, cpu);

		if (!r.first || ring_at(&r, r.first)->time_ns <= m->timeline_from_ns)
			continue;
		m->timeline_from_ns = ring_at(&r, r.first)->time_ns;
		m->timeline_short_cpu = cpu + 1;
	}
}

/* When an event is overwritten, nobody knows yet whether it will be wanted in the end. */
static void count_overwritten(struct profile *p, const struct timeline_marks *marks,
			      const struct session_maps *maps)
{
	const uint64_t *before = recorded_before(marks, p->meta.timeline_wanted_ns, maps->nr_cpus);
	uint64_t gone, wanted = 0;

	for (size_t cpu = 0; cpu < maps->nr_cpus; cpu++) {
		gone = ring_of(maps, cpu).first;
		wanted += !before ? gone : gone > before[cpu] ? gone - before[cpu] : 0;
	}
	if (wanted >= p->counters[PROF_LOST_RING])
		return;
	p->counters[PROF_FILTER_OUTSIDE] += p->counters[PROF_LOST_RING] - wanted;
	p->counters[PROF_LOST_RING] = wanted;
}

static void take(struct profile *p, const struct timeline_event *e)
{
	const struct profile_meta *m = &p->meta;

	if (e->time_ns >= m->timeline_from_ns && e->time_ns <= m->timeline_end_ns) {
		profile_add_timeline(p, e);
		return;
	}
	p->counters[PROF_RECORDED]--;
	if (e->time_ns < m->timeline_from_ns && e->time_ns >= m->timeline_wanted_ns)
		p->counters[PROF_LOST_RING]++;
	else
		p->counters[PROF_FILTER_OUTSIDE]++;
}

static int by_time(const void *pa, const void *pb)
{
	const struct timeline_event *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->cpu != b->cpu ? a->cpu - b->cpu : a->kind - b->kind;
}

void timeline_read(const struct timeline_opts *o, const struct timeline_marks *marks,
		   const struct session_maps *maps, struct profile *p, uint64_t begin_ns,
		   uint64_t end_ns)
{
	struct profile_meta *m = &p->meta;
	uint64_t wanted = wanted_ns(o);

	m->timeline_begin_ns = begin_ns;
	m->timeline_end_ns = end_ns;
	m->timeline_wanted_ns = end_ns - begin_ns > wanted ? end_ns - wanted : begin_ns;
	m->timeline_from_ns = m->timeline_wanted_ns;
	m->timeline_outlier_ns = o->outlier_us * 1000;
	m->timeline_around_ns = o->around_ns;
	find_begin(m, maps);
	count_overwritten(p, marks, maps);
	for (size_t cpu = 0; cpu < maps->nr_cpus; cpu++) {
		struct ring r = ring_of(maps, cpu);

		p->counters[PROF_RECORDED] -= r.first;
		for (uint64_t i = r.first; i < r.nr; i++)
			take(p, ring_at(&r, i));
	}
	if (p->nr_timeline)
		qsort(p->timeline, p->nr_timeline, sizeof(*p->timeline), by_time);
}

static const char *name_of(const struct proc_table *procs, uint32_t pid, char read[PROF_COMM_LEN])
{
	const char *name = proc_name(procs, pid);

	return name && *name ? name : maps_read_name(pid, read, PROF_COMM_LEN) ? NULL : read;
}

void timeline_name_processes(struct profile *p, const struct proc_table *procs)
{
	struct timeline t;
	struct timeline_row *rows;
	char read[PROF_COMM_LEN];
	size_t nr;

	if (!timeline_can(p))
		return;
	timeline_init(&t, p);
	rows = timeline_rows(&t, TIMELINE_BY_RUNTIME, true, &nr);
	for (size_t i = 0; i < nr; i++) {
		const char *name = !rows[i].has_first ? name_of(procs, rows[i].pid, read) : NULL;
		uint32_t id = name ? profile_string(p, name) : 0;

		if (id)
			profile_add_thread(
				p, &(struct thread_time){ rows[i].pid, rows[i].pid, id, id, 0 });
	}
	free(rows);
	timeline_release(&t);
}

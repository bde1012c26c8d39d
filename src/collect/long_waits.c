/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A wait and the time behind it for a CPU are counted one after the other, by the same CPU. */
#include "collect/long_waits.h"

#include <stdlib.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "bpf/thin.h"

#define SAME_NS 100000 /* two clock readings with interrupts off are not further apart */

void long_waits_begin(struct long_waits *w, const struct prof_count *counts, size_t nr_counts,
		      size_t nr_cpus)
{
	w->counts = counts;
	w->nr_counts = nr_counts;
	w->nr_cpus = nr_cpus;
	w->max = w->max ? w->max : LONG_WAITS_MAX;
	w->of_cpu = xcalloc(nr_cpus, sizeof(*w->of_cpu));
	w->at_ns = xcalloc(nr_cpus, sizeof(*w->at_ns));
	w->misses = xcalloc(nr_cpus, sizeof(*w->misses));
	w->last = xcalloc(nr_counts, sizeof(*w->last));
	w->seen = xcalloc(nr_counts, sizeof(*w->seen));
	w->kept = xcalloc(nr_counts, sizeof(*w->kept));
	w->stretch1 = xcalloc(nr_counts, sizeof(*w->stretch1));
	w->id1 = xcalloc(nr_counts, sizeof(*w->id1));
}

static bool keep(struct long_waits *w, const struct long_wait_entry *e)
{
	if (w->nr == w->max) {
		w->lost++;
		return false;
	}
	w->v = xgrow(w->v, w->nr, &w->cap, sizeof(*w->v));
	w->v[w->nr++] = *e;
	return true;
}

/* Whether e is how long the thread waited for a CPU after the wait that was kept before. */
static bool goes_on(const struct long_waits *w, const struct long_wait_entry *before,
		    const struct long_wait_entry *e)
{
	const struct prof_count *a = &w->counts[before->slot], *b = &w->counts[e->slot];

	return PROF_WAIT_KIND(b->wait) == PROF_WOKEN && a->pid == b->pid && a->tid == b->tid &&
	       e->begin_ns + SAME_NS > before->end_ns && before->end_ns + SAME_NS > e->begin_ns;
}

static bool is_for_events(uint32_t wait)
{
	int nr = PROF_WAIT_SYSCALL(wait);

	if (wait == PROF_GAP(PROF_BLOCKED)) /* for events as well as for others */
		return true;
#ifdef SYS_epoll_wait
	if (nr == SYS_epoll_wait)
		return true;
#endif
	return nr == SYS_epoll_pwait || nr == SYS_epoll_pwait2;
}

/* Rings of CPUs are read one after the other, so it may be older than those before. */
static size_t add_for_events(struct long_waits *w, const struct long_wait_entry *e)
{
	size_t *to1 = &w->stretch1[e->slot];
	struct long_wait_entry *last = *to1 ? &w->v[*to1 - 1] : NULL;

	if (last && e->begin_ns <= last->end_ns + w->least_ns &&
	    last->begin_ns <= e->end_ns + w->least_ns) {
		last->begin_ns = e->begin_ns < last->begin_ns ? e->begin_ns : last->begin_ns;
		last->end_ns = e->end_ns > last->end_ns ? e->end_ns : last->end_ns;
	} else {
		*to1 = keep(w, e) ? w->nr : 0;
	}
	return *to1;
}

void long_waits_miss(struct long_waits *w, size_t cpu)
{
	w->misses[cpu] = true;
	w->of_cpu[cpu] = 0;
}

/* From the entry before those that are missing to the one behind them. */
static void note_missed(struct long_waits *w, size_t cpu, uint64_t at_ns)
{
	if (w->misses[cpu]) {
		w->missed = xgrow(w->missed, w->nr_missed, &w->cap_missed, sizeof(*w->missed));
		w->missed[w->nr_missed++] = (struct long_wait_missed){ w->at_ns[cpu], at_ns };
	}
	w->misses[cpu] = false;
	w->at_ns[cpu] = at_ns;
}

void long_waits_add(struct long_waits *w, size_t cpu, const struct long_wait_entry *e)
{
	struct long_wait_entry *before = w->of_cpu[cpu] ? &w->v[w->of_cpu[cpu] - 1] : NULL;
	bool is_long = e->end_ns - e->begin_ns >= w->least_ns;

	note_missed(w, cpu, e->end_ns);
	if (PROF_WAIT_KIND(w->counts[e->slot].wait) == PROF_ON_CPU) {
		keep(w, e);
		return;
	}
	if (before && goes_on(w, before, e)) {
		before->end_ns = e->end_ns;
		is_long = false;
		w->of_cpu[cpu] = 0;
	} else if (is_for_events(w->counts[e->slot].wait)) {
		w->of_cpu[cpu] = add_for_events(w, e);
		w->kept[e->slot] = true;
	} else {
		w->kept[e->slot] = (is_long || !w->seen[e->slot]) && keep(w, e);
		w->of_cpu[cpu] = w->kept[e->slot] ? w->nr : 0;
	}
	w->seen[e->slot] = true;
	w->last[e->slot] = *e;
}

/* Who waits for events may have done so. */
static void fill_missed(struct long_waits *w, size_t slot)
{
	uint32_t wait = w->counts[slot].wait;

	if (!is_for_events(wait) || PROF_WAIT_KIND(wait) != PROF_BLOCKED)
		return;
	for (size_t i = 0; i < w->nr_missed; i++)
		keep(w,
		     &(struct long_wait_entry){ slot, w->missed[i].begin_ns, w->missed[i].end_ns });
}

void long_waits_end(struct long_waits *w)
{
	for (size_t i = 0; i < w->nr_counts && w->least_ns; i++)
		if (w->seen[i] && !w->kept[i])
			keep(w, &w->last[i]);
	for (size_t i = 0; i < w->nr_counts && w->nr_missed; i++)
		if (w->seen[i])
			fill_missed(w, i);
}

void long_waits_release(struct long_waits *w)
{
	free(w->v);
	free(w->of_cpu);
	free(w->missed);
	free(w->at_ns);
	free(w->misses);
	free(w->last);
	free(w->seen);
	free(w->kept);
	free(w->stretch1);
	free(w->id1);
	*w = (struct long_waits){};
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joining the events of a timeline. What a thread did before its first event, that event tells: who
 * leaves a CPU ran, who is given one could run, and who is woken waited.
 */
#include "profile/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define STATE_GONE (0x10 | 0x20 | 0x80) /* EXIT_DEAD, EXIT_ZOMBIE, TASK_DEAD */
#define MAX_NS	   (1ull << 62)

const char *const timeline_state_names[TIMELINE_NR_STATES] = {
	[TIMELINE_RUNS] = "running",	[TIMELINE_RUNNABLE] = "runnable",
	[TIMELINE_WAITS] = "waiting",	[TIMELINE_THROTTLED] = "throttled",
	[TIMELINE_UNKNOWN] = "unknown",
};

/*
 * Who has a CPU, as of its last switch. A switch from another thread shows that some were not seen:
 * a host can hide its own threads in a guest.
 */
struct timeline_cpu {
	uint32_t thread1; /* index + 1; 0 = nobody who is followed */
	bool seen;	  /* it had a switch, at: */
	uint64_t since_ns;
};

/* A thread in an event: the one or the other. */
struct who {
	uint32_t pid, tid;
	const char *comm;
	bool selected, kernel;
};

static struct who first_of(const struct timeline_event *e)
{
	return (struct who){ e->pid, e->tid, e->comm, e->flags & TIMELINE_FIRST,
			     e->flags & TIMELINE_FIRST_KERNEL };
}

static struct who second_of(const struct timeline_event *e)
{
	return (struct who){ e->pid2, e->tid2, e->comm2, e->flags & TIMELINE_SECOND,
			     e->flags & TIMELINE_SECOND_KERNEL };
}

struct key {
	const struct timeline *t;
	const struct who *who;
};

static bool is_it(const void *arg, uint32_t id)
{
	const struct key *k = arg;
	const struct timeline_thread *thread = &k->t->threads[id];

	return thread->tid == k->who->tid && thread->pid == k->who->pid && !thread->gone;
}

static struct timeline_thread *thread_add(struct timeline *t, const struct who *w, uint32_t hash)
{
	t->threads = xgrow(t->threads, t->nr_threads, &t->cap_threads, sizeof(*t->threads));
	t->threads[t->nr_threads] = (struct timeline_thread){ .pid = w->pid, .tid = w->tid };
	t->threads[t->nr_threads].now.since_ns = t->from_ns;
	t->threads[t->nr_threads].now.before = true;
	index_add(&t->by_tid, hash, t->nr_threads);
	return &t->threads[t->nr_threads++];
}

/* NULL: it is idle, or not to be followed. */
static struct timeline_thread *thread_get(struct timeline *t, const struct who *w)
{
	struct key k = { t, w };
	uint32_t hash = index_hash(0, &w->tid, sizeof(w->tid)), id;
	struct timeline_thread *thread;

	if (!w->tid || (!w->selected && !t->profile->meta.timeline_outlier_ns))
		return NULL;
	thread = index_find(&t->by_tid, hash, is_it, &k, &id) ? &t->threads[id]
							      : thread_add(t, w, hash);
	memcpy(thread->name, w->comm, PROF_COMM_LEN);
	thread->kernel = w->kernel;
	thread->selected |= w->selected;
	return thread;
}

static void note_longest(struct timeline *t, struct timeline_thread *thread, uint64_t ns)
{
	const struct timeline_span *longest =
		thread->longest1 ? &t->spans[thread->longest1 - 1] : NULL;

	thread->delays++;
	if (!longest || ns > longest->end_ns - longest->start_ns)
		thread->longest1 = t->nr_spans;
}

/* What it has done since now.since_ns, it does until then. */
static void span_add(struct timeline *t, struct timeline_thread *thread, enum timeline_state state,
		     uint32_t wait, uint64_t end_ns)
{
	struct timeline_span *s;
	uint64_t ns = end_ns - thread->now.since_ns;

	t->spans = xgrow(t->spans, t->nr_spans, &t->cap_spans, sizeof(*t->spans));
	s = &t->spans[t->nr_spans++];
	*s = (struct timeline_span){ .start_ns = thread->now.since_ns,
				     .end_ns = end_ns,
				     .thread = thread - t->threads,
				     .wait = wait,
				     .waker1 = thread->now.waker1,
				     .cpu = thread->now.cpu,
				     .state = state,
				     .before = thread->now.before };
	thread->ns[state] += ns;
	if (state == TIMELINE_RUNNABLE)
		note_longest(t, thread, ns);
	thread->now.since_ns = end_ns;
	thread->now.before = false;
}

/* When its wait ended: not before it began, though it may be woken on its way to sleep. */
static uint64_t woken_ns(const struct timeline *t, const struct timeline_thread *thread)
{
	const struct profile *p = t->profile;
	uint64_t ns = p->timeline[thread->now.waker1 - 1].time_ns - p->meta.timeline_begin_ns;

	return ns > thread->now.since_ns ? ns : thread->now.since_ns;
}

/* The wait of a thread that does not run, until then: for something, for a CPU, or both. */
static void spans_of_wait(struct timeline *t, struct timeline_thread *thread, uint64_t end_ns)
{
	uint32_t wait = thread->now.wait;
	bool woken = thread->now.waker1;
	uint64_t at_ns;

	if (PROF_WAIT_KIND(wait) == PROF_THROTTLED) {
		span_add(t, thread, TIMELINE_THROTTLED, wait, end_ns);
	} else if (PROF_WAIT_KIND(wait) != PROF_BLOCKED) {
		span_add(t, thread, TIMELINE_RUNNABLE, wait, end_ns);
	} else {
		at_ns = woken ? woken_ns(t, thread) : end_ns;
		if (at_ns > thread->now.since_ns)
			span_add(t, thread, TIMELINE_WAITS, wait, at_ns);
		if (woken)
			span_add(t, thread, TIMELINE_RUNNABLE, PROF_WAIT(PROF_WOKEN, 0, -1),
				 end_ns);
	}
}

/* Nothing is known of it yet: it has done that all the time. */
static void assume(struct timeline_thread *thread, int state, uint32_t wait)
{
	if (thread->now.state != THREAD_NEW)
		return;
	thread->now.state = state;
	thread->now.wait = wait;
}

/*
 * That a thread got its CPU was not seen: it was not before the CPU's last switch, nor before the
 * thread was woken.
 */
static void entered(struct timeline *t, struct timeline_thread *thread, uint64_t switched_ns,
		    uint64_t ns)
{
	uint64_t at_ns = thread->now.since_ns > switched_ns ? thread->now.since_ns : switched_ns;

	if (thread->now.waker1 && woken_ns(t, thread) > at_ns)
		at_ns = woken_ns(t, thread);
	spans_of_wait(t, thread, at_ns < ns ? at_ns : ns);
	thread->now.waker1 = 0;
}

/* That a thread left its CPU was not seen: it was before another one did. */
static void left(struct timeline *t, struct timeline_thread *thread, uint64_t ns)
{
	if (thread->now.state != THREAD_RUNS)
		return;
	span_add(t, thread, TIMELINE_UNKNOWN, 0, ns);
	thread->now.state = THREAD_NEW;
}

static void leaves(struct timeline *t, const struct timeline_event *e, uint64_t ns)
{
	struct timeline_cpu *cpu = &t->cpus[e->cpu];
	struct who w = first_of(e);
	struct timeline_thread *thread = thread_get(t, &w);
	bool ran, could = PROF_WAIT_KIND(e->wait) != PROF_BLOCKED;

	if (cpu->thread1 && thread != &t->threads[cpu->thread1 - 1])
		left(t, &t->threads[cpu->thread1 - 1], ns);
	if (!thread)
		return;
	if (!cpu->seen) /* else it was not there when another thread left or came */
		assume(thread, THREAD_RUNS, 0);
	ran = thread->now.state == THREAD_RUNS;
	if (thread->now.state == THREAD_WAITS)
		entered(t, thread, cpu->since_ns, ns);
	thread->now.cpu = e->cpu;
	span_add(t, thread, ran ? TIMELINE_RUNS : TIMELINE_UNKNOWN, e->wait, ns);
	thread->switches++;
	thread->preempted += could;
	if (could) /* who has woken it while it ran ended no wait */
		thread->now.waker1 = 0;
	thread->now.state = THREAD_WAITS;
	thread->now.wait = e->wait;
	if (!could && PROF_WAIT_STATE(e->wait) & STATE_GONE) {
		thread->now.state = THREAD_GONE;
		thread->gone = true;
	}
}

static void enters(struct timeline *t, const struct timeline_event *e, uint64_t ns)
{
	struct who w = second_of(e);
	struct timeline_thread *thread = thread_get(t, &w);

	t->cpus[e->cpu] = (struct timeline_cpu){ thread ? thread - t->threads + 1 : 0, true, ns };
	if (!thread)
		return;
	assume(thread, THREAD_WAITS, PROF_WAIT(PROF_PREEMPTED, 0, -1));
	if (thread->now.state == THREAD_RUNS)
		span_add(t, thread, TIMELINE_UNKNOWN, 0, ns);
	else
		spans_of_wait(t, thread, ns);
	thread->now.state = THREAD_RUNS;
	thread->now.cpu = e->cpu;
	thread->now.waker1 = 0;
}

static void wakes(struct timeline *t, const struct timeline_event *e)
{
	struct who w = first_of(e);
	struct timeline_thread *thread = thread_get(t, &w);

	if (!thread)
		return;
	assume(thread, THREAD_WAITS, e->wait | PROF_WAIT_BEFORE);
	thread->now.waker1 = e - t->profile->timeline + 1;
}

static void born(struct timeline *t, const struct timeline_event *e, uint64_t ns)
{
	struct who w = first_of(e);
	struct timeline_thread *thread = thread_get(t, &w);

	if (thread && thread->now.state != THREAD_NEW) { /* its number is used again */
		thread->gone = true;
		thread->now.state = THREAD_GONE;
		thread = thread_get(t, &w);
	}
	if (!thread)
		return;
	thread->now.state = THREAD_WAITS;
	thread->now.since_ns = ns;
	thread->now.before = false;
	thread->now.wait = PROF_WAIT(PROF_WOKEN, 0, -1);
	thread->now.waker1 = e - t->profile->timeline + 1;
}

static void join(struct timeline *t, const struct timeline_event *e)
{
	uint64_t ns = e->time_ns - t->profile->meta.timeline_begin_ns;

	switch (e->kind) {
	case TIMELINE_SWITCH:
		leaves(t, e, ns);
		enters(t, e, ns);
		break;
	case TIMELINE_WAKING:
		wakes(t, e);
		break;
	case TIMELINE_BORN:
		born(t, e, ns);
		break;
	}
}

/* What it still does when all is over. */
static void finish(struct timeline *t, struct timeline_thread *thread)
{
	size_t first = t->nr_spans;

	if (thread->now.state == THREAD_NEW)
		span_add(t, thread, TIMELINE_UNKNOWN, 0, t->end_ns);
	else if (thread->now.state == THREAD_RUNS)
		span_add(t, thread, TIMELINE_RUNS, 0, t->end_ns);
	else if (thread->now.state == THREAD_WAITS)
		spans_of_wait(t, thread, t->end_ns);
	if (t->nr_spans > first)
		t->spans[t->nr_spans - 1].open = true;
}

static void find_outlier(struct timeline *t)
{
	uint64_t longest = t->profile->meta.timeline_outlier_ns;

	for (size_t i = 0; i < t->nr_spans && longest; i++) {
		const struct timeline_span *s = &t->spans[i];
		uint64_t ns = s->end_ns - s->start_ns;

		if (s->state != TIMELINE_RUNNABLE || !t->threads[s->thread].selected ||
		    ns < longest)
			continue;
		longest = ns;
		t->outlier1 = i + 1;
	}
}

void timeline_init(struct timeline *t, const struct profile *p)
{
	const struct profile_meta *m = &p->meta;

	*t = (struct timeline){ .profile = p,
				.from_ns = m->timeline_from_ns - m->timeline_begin_ns,
				.end_ns = m->timeline_end_ns - m->timeline_begin_ns };
	t->cpus = xcalloc(UINT16_MAX + 1, sizeof(*t->cpus));
	for (size_t i = 0; i < p->nr_timeline; i++)
		join(t, &p->timeline[i]);
	for (size_t i = 0; i < t->nr_threads; i++)
		finish(t, &t->threads[i]);
	find_outlier(t);
}

void timeline_release(struct timeline *t)
{
	index_release(&t->by_tid);
	free(t->threads);
	free(t->spans);
	free(t->cpus);
	*t = (struct timeline){};
}

const char *timeline_wait_key(const struct timeline_span *s)
{
	return s->state == TIMELINE_RUNS || s->state == TIMELINE_UNKNOWN ? "then" : "class";
}

enum wait_class timeline_class(const struct timeline *t, uint32_t thread, uint32_t wait)
{
	/* Without stacks, whether there is a user stack tells threads of the kernel from others. */
	struct sample s = { .wait = wait, .ustack = !t->threads[thread].kernel };

	if (wait & PROF_WAIT_BEFORE)
		return WAIT_OTHER;
	return wait_class(t->profile, &s);
}

const char *timeline_word(const struct timeline *t, uint32_t thread, uint32_t wait)
{
	enum wait_class class = timeline_class(t, thread, wait);
	const char *call = wait_syscall(t->profile, wait);

	if (PROF_WAIT_KIND(wait) == PROF_BLOCKED && PROF_WAIT_STATE(wait) & STATE_GONE)
		return "exit";
	if (wait & PROF_WAIT_BEFORE)
		return "unknown";
	return class == WAIT_OTHER && call ? call : wait_class_names[class];
}

bool timeline_can(const struct profile *p)
{
	const struct profile_meta *m = &p->meta;
	uint64_t last = m->timeline_from_ns;

	if (m->timeline_begin_ns > m->timeline_wanted_ns ||
	    m->timeline_wanted_ns > m->timeline_from_ns || m->timeline_end_ns > MAX_NS ||
	    (p->nr_timeline && m->timeline_from_ns > m->timeline_end_ns))
		return false;
	for (size_t i = 0; i < p->nr_timeline; i++) {
		const struct timeline_event *e = &p->timeline[i];

		if (e->time_ns < last || e->time_ns > m->timeline_end_ns || !e->kind ||
		    e->kind >= TIMELINE_NR_KINDS)
			return false;
		last = e->time_ns;
	}
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits for locks, merged by lock. */
#include "profile/locks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/trim.h"
#include "profile/wait.h"
#include "profile/waits.h"
#include "profile/woken.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

const char *const lock_role_keys[LOCK_NR_ROLES] = {
	[LOCK_NOBODY] = "unknown", [LOCK_HOLDS] = "holds", [LOCK_RUNS] = "runs",
	[LOCK_FREES] = "frees",	   [LOCK_WAKES] = "wakes",
};

/* clang-format off */
/*
 * Parts of names of the waiter's functions; the innermost one that means something counts. What a
 * runtime makes of the locks of libraries goes before these.
 */
struct meaning {
	const char *part, *kind;
};

static const struct meaning of_runtimes[] = {
	{ "ObjectMonitor::wait", "wait() (Java)" }, { "ObjectMonitor", "monitor (Java)" },
	{ "Unsafe_Park", "parking (Java)" },	  { "PlatformMonitor", "monitor (JVM)" },
	{ "runtime.stopm", "idle thread (Go)" },  { "runtime.sysmon", "idle thread (Go)" },
	{ "runtime.templateThread", "idle thread (Go)" },
	{ "runtime.lock2", "lock (Go's runtime)" },
};

static const struct meaning functions[] = {
	{ "pthread_mutex", "mutex" },		  { "lll_lock_wait", "mutex" },
	{ "rwlock_rdlock", "rwlock (read)" },	  { "rwlock_timedrdlock", "rwlock (read)" },
	{ "rwlock_clockrdlock", "rwlock (read)" }, { "rwlock_wrlock", "rwlock (write)" },
	{ "rwlock_timedwrlock", "rwlock (write)" }, { "rwlock_clockwrlock", "rwlock (write)" },
	{ "pthread_cond_", "condition variable" }, { "pthread_clockjoin", "join" },
	{ "pthread_timedjoin", "join" },	  { "pthread_join", "join" },
	{ "sem_wait", "semaphore" },		  { "sem_timedwait", "semaphore" },
	{ "sem_clockwait", "semaphore" },	  { "barrier_wait", "barrier" },
	{ "pthread_once", "once" },		  { "std::call_once", "once" },
	{ "parking_lot", "parking_lot (Rust)" },  { "Mutex::lock_contended", "mutex (Rust)" },
	{ "Mutex>::lock_contended", "mutex (Rust)" },
	{ "RwLock::read_contended", "rwlock (Rust)" },
	{ "RwLock::write_contended", "rwlock (Rust)" },
	{ "RwLock>::read_contended", "rwlock (Rust)" },
	{ "RwLock>::write_contended", "rwlock (Rust)" },
	{ "Condvar::wait", "condition variable (Rust)" },
	{ "Condvar>::wait", "condition variable (Rust)" },
	{ "Parker::park_timeout", "parking" },	  { "Parker::park", "parking" },
	{ "thread::park", "parking" },
	{ "runtime.futexsleep", "parking (Go)" }, { "runtime.futex", "parking (Go)" },
	{ "absl::", "mutex (absl)" },		  { "folly::", "mutex (folly)" },
};
/* clang-format on */

/* What the word itself and the operation say, and nobody else does. */
static const char *const kinds[LOCK_NR_KINDS] = {
	[LOCK_FUTEX] = "futex", [LOCK_MUTEX] = "mutex",	  [LOCK_ROBUST] = "robust mutex",
	[LOCK_PI] = "PI mutex", [LOCK_RWLOCK] = "rwlock", [LOCK_JOIN] = "join",
};

static const char *kind_of_function(const char *name, const struct meaning *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (strstr(name, v[i].part))
			return v[i].kind;
	return NULL;
}

static const char *kind_by(const struct profile *p, uint32_t stack, const struct meaning *v,
			   size_t nr_meanings)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(p, stack, &nr);
	const char *kind = NULL;

	for (uint32_t i = 0; i < nr && !kind; i++)
		kind = kind_of_function(profile_frame_name(p, frames[i]), v, nr_meanings);
	return kind;
}

static const char *kind_of_stack(const struct profile *p, uint32_t stack)
{
	const char *kind = kind_by(p, stack, of_runtimes, NR(of_runtimes));

	return kind ? kind : kind_by(p, stack, functions, NR(functions));
}

static const struct lock *lock_of(const struct profile *p, const struct sample *s)
{
	static const struct lock none;

	return s->waker < p->nr_locks ? &p->locks[s->waker] : &none;
}

/* What a PI mutex and a robust one are no function tells. */
const char *locks_kind(const struct profile *p, const struct sample *s)
{
	uint32_t kind = lock_of(p, s)->kind;
	const char *by_stack;

	if (kind == LOCK_PI || kind == LOCK_ROBUST)
		return kinds[kind];
	by_stack = kind_of_stack(p, s->ustack);
	return by_stack ? by_stack : kinds[kind < LOCK_NR_KINDS ? kind : LOCK_FUTEX];
}

/* A sample, as it is sorted. */
struct item {
	const struct sample *sample;
	uint64_t word, ns;
	const struct waker *by;
	uint32_t holder, function; /* strings */
	uint32_t role;
};

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_lock(const struct item *a, const struct item *b)
{
	int c = compare(a->sample->pid, b->sample->pid);

	return c ? c : compare(a->word, b->word);
}

static int by_waiter(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	int c = by_lock(a, b);

	return c ? c : compare(a->sample->tid, b->sample->tid);
}

static int by_holder(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	int c = by_lock(a, b);

	if (!c)
		c = compare(a->by->pid, b->by->pid);
	if (!c)
		c = compare(a->holder, b->holder);
	if (!c)
		c = compare(a->function, b->function);
	return c ? c : compare(a->role, b->role);
}

/* Of a runtime's thread that of the program, of others the innermost that is not a library's. */
static uint32_t function_of(struct trim *t, const struct context_of *of, uint32_t stack)
{
	const struct trimmed *f = of && stack ? trim_function(t, of, stack) : NULL;

	if (f)
		return profile_frame_at(t->p, f->frame)->name;
	return stack ? woken_user_function(t->p, stack) : 0;
}

static struct item item_of(struct trim *t, const struct sample *s, uint64_t ns)
{
	const struct profile *p = t->p;
	struct context_of of;
	const struct waker *w = &p->wakers[s->waker];
	const struct lock *l = lock_of(p, s);

	return (struct item){ .sample = s,
			      .word = l->word,
			      .ns = ns,
			      .by = w,
			      .holder = w->thread,
			      .function = function_of(
				      t, trim_runner(t, w->ustack, &of) ? &of : NULL, w->ustack),
			      .role = l->role < LOCK_NR_ROLES ? l->role : LOCK_NOBODY };
}

/* Items [first, first + nr) are of one lock, by thread. */
static struct locks_row row_of(struct trim *t, const struct item *first, size_t nr)
{
	const struct profile *p = t->p;
	struct locks_row row = { .word = first->word,
				 .pid = first->sample->pid,
				 .process = first->sample->process };
	const struct item *most = first;

	for (const struct item *i = first; i < first + nr; i++) {
		const struct lock *l = lock_of(p, i->sample);

		row.ns += i->ns;
		if (PROF_WAIT_KIND(i->sample->wait) == PROF_BLOCKED)
			row.nr += i->sample->count;
		row.max_ns = l->max_ns > row.max_ns ? l->max_ns : row.max_ns;
		row.waiters += i == first || i->sample->tid != i[-1].sample->tid;
		row.deadlock |= l->flags & LOCK_DEADLOCK;
		most = i->ns > most->ns ? i : most;
	}
	row.kind = locks_kind(p, most->sample);
	row.function =
		function_of(t, trim_context(t, most->sample - p->samples), most->sample->ustack);
	return row;
}

/* The same, by holder. */
static void add_holder(struct locks_row *row, const struct item *first, size_t nr)
{
	uint64_t sum = 0, most = 0;

	for (size_t i = 0; i < nr; i++) {
		sum = i && !by_holder(&first[i - 1], &first[i]) ? sum + first[i].ns : first[i].ns;
		if (sum <= most || first[i].role == LOCK_NOBODY)
			continue;
		most = sum;
		row->holder = first[i].holder;
		row->holder_pid = first[i].by->pid;
		row->holder_process = first[i].by->process;
		row->holder_function = first[i].function;
		row->role = first[i].role;
	}
}

static size_t length(const struct item *first, const struct item *end)
{
	const struct item *i = first;

	while (i < end && !by_lock(first, i))
		i++;
	return i - first;
}

static int by_time(const void *x, const void *y)
{
	const struct locks_row *a = x, *b = y;

	if (a->deadlock != b->deadlock)
		return a->deadlock ? -1 : 1;
	return a->ns != b->ns ? compare(b->ns, a->ns) : compare(a->word, b->word);
}

static void make_rows(struct locks *l, struct trim *t, struct item *items, size_t nr)
{
	size_t row = 0;

	qsort(items, nr, sizeof(*items), by_waiter);
	for (size_t i = 0, n; i < nr; i += n) {
		n = length(&items[i], items + nr);
		l->v[l->nr++] = row_of(t, &items[i], n);
	}
	qsort(items, nr, sizeof(*items), by_holder);
	for (size_t i = 0, n; i < nr; i += n) {
		n = length(&items[i], items + nr);
		add_holder(&l->v[row++], &items[i], n);
	}
	qsort(l->v, l->nr, sizeof(*l->v), by_time);
}

/* After an idle wait the thread waits for a CPU, which is no wait for a lock either. */
static bool was_idle(const struct trim *t, size_t sample)
{
	const struct context_of *of = trim_context(t, sample);

	return of && of->was_idle && t->v->idle != IDLE_SHOW;
}

void locks_init(struct locks *l, const struct profile *p, const struct view *v)
{
	struct item *items = xcalloc(p->nr_samples + 1, sizeof(*items));
	struct waits waits;
	struct trim trim;
	size_t nr = 0;

	*l = (struct locks){ .v = xcalloc(p->nr_samples + 1, sizeof(*l->v)) };
	waits_init(&waits, p, v);
	trim_init(&trim, p, v);
	for (size_t i = 0; i < p->nr_samples; i++) {
		if (waits.fate[i] != WAITS_SHOWN || wait_sleeps(p, p->samples[i].ustack) ||
		    was_idle(&trim, i))
			continue;
		items[nr] = item_of(&trim, &p->samples[i], waits.ns[i]);
		l->ns += items[nr].ns;
		l->known_ns += items[nr].role != LOCK_NOBODY ? items[nr].ns : 0;
		nr++;
	}
	waits_release(&waits);
	make_rows(l, &trim, items, nr);
	trim_release(&trim);
	for (size_t i = 0; i < l->nr; i++)
		l->waits += l->v[i].nr;
	free(items);
}

void locks_release(struct locks *l)
{
	free(l->v);
	*l = (struct locks){};
}

bool locks_is_deadlock(const struct profile *p, const struct sample *s)
{
	uint32_t id = s->waker;

	if (!(lock_of(p, s)->flags & LOCK_DEADLOCK))
		return false;
	while (id && p->wakers[id].tid > s->tid)
		id = p->wakers[id].next;
	return id && p->wakers[id].tid == s->tid;
}

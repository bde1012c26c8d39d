/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who waits in the driver goes there through the functions that park a worker:
 *
 *	way in (the loop of a worker)   parks           driver
 *	start ... run, Context::run     park_internal   Driver::turn, Poll::poll, epoll_wait   idle
 *	                                park_internal   Condvar::wait, syscall (futex)         idle
 *	                                run_task        raw::poll, ... a task
 *
 * So what all stacks of the driver share is one chain of functions, and the other stacks leave it
 * somewhere: parked workers a few functions before they wait for a futex, tasks in any way. The
 * chain is cut behind the place where tasks leave it. Its leaf side parks, its root side is the way
 * in. A thread of the pool shares its beginning with workers, which are jobs of the pool
 * themselves, but not the whole way in.
 */
#include "profile/context_form.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/context_rows.h"
#include "profile/wait.h"

#define MAX_CHAIN   64
#define MAX_WAYS_IN 16
#define MAX_WAITERS 8
/* Parker::park, Condvar::wait, syscall; an inlined task and its lock are more. */
#define PARK_FRAMES 3
#define POOL_FRAMES 2
/* Of its own: each thread begins with one function of std, those of the pool with more. */
#define POOL_SHARES 2
/* Percent: another driver within a task, or a strange wait below it, changes nothing. */
#define MOST  90
#define STRAY 1

/* What a stack was waited with. */
enum way { WAY_DRIVER, WAY_PARK, WAY_LOCK, WAY_FUTEX, WAY_CALL, NR_WAYS, WAY_NONE = NR_WAYS };

struct form_stack {
	uint32_t pid, thread, stack, pad;
	uint64_t ns, nr[NR_WAYS];
};

struct way_in {
	uint32_t stack, len; /* its outermost frames */
};

struct form {
	uint32_t pid, thread;
	size_t first, nr; /* of its stacks */
	uint32_t parks[MAX_CHAIN], nr_parks;
	struct way_in ways_in[MAX_WAYS_IN];
	uint32_t nr_ways_in;
	uint32_t run; /* the function behind a way in that runs tasks */
	uint32_t waiters[MAX_WAITERS], nr_waiters; /* by which threads of the pool wait */
};

/* --- stacks --- */

/* The i-th frame from the root, as its function. */
static uint32_t function_at(const struct context_forms *f, uint32_t stack, uint32_t i)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(f->p, stack, &nr);

	return i < nr ? profile_frame_at(f->p, frames[nr - 1 - i])->name : 0;
}

static bool is_own(const struct context_forms *f, uint32_t stack, uint32_t i)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(f->p, stack, &nr);

	return i < nr && f->nameless[profile_frame_at(f->p, frames[nr - 1 - i])->module];
}

static uint32_t depth(const struct context_forms *f, uint32_t stack)
{
	uint32_t nr;

	profile_stack_frames(f->p, stack, &nr);
	return nr;
}

static bool is_among(const uint32_t *v, uint32_t nr, uint32_t what)
{
	for (uint32_t i = 0; i < nr; i++)
		if (v[i] == what)
			return true;
	return false;
}

/* From the root: where one of these functions is first; the stack's depth if it has none. */
static uint32_t first_of(const struct context_forms *f, uint32_t stack, const uint32_t *v,
			 uint32_t nr)
{
	uint32_t all = depth(f, stack), i = 0;

	while (i < all && !is_among(v, nr, function_at(f, stack, i)))
		i++;
	return i;
}

static uint32_t nr_shared(const struct context_forms *f, uint32_t a, uint32_t b, uint32_t most)
{
	uint32_t i = 0;

	while (i < most && i < depth(f, a) && function_at(f, a, i) == function_at(f, b, i))
		i++;
	return i;
}

static uint32_t own_frames(const struct context_forms *f, uint32_t stack, uint32_t most)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < most; i++)
		nr += is_own(f, stack, i);
	return nr;
}

/* --- waits --- */

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names;
}

/* Memory is mapped and given back wherever it is used: that tells nothing. */
static enum way way_of(const struct profile *p, const struct sample *s)
{
	static const char *const drivers[] = { "epoll_wait", "epoll_pwait", "epoll_pwait2", NULL };
	static const char *const memory[] = { "mmap",	"munmap", "mprotect", "madvise", "brk",
					      "mremap", "exit",	  "execve",   NULL };
	static const enum way futexes[PROF_NR_FUTEXES] = {
		[PROF_FUTEX_UNKNOWN] = WAY_PARK,     [PROF_FUTEX_COUNTER] = WAY_PARK,
		[PROF_FUTEX_PARKING_LOT] = WAY_PARK, [PROF_FUTEX_MUTEX] = WAY_LOCK,
		[PROF_FUTEX_RWLOCK] = WAY_FUTEX,     [PROF_FUTEX_PARK] = WAY_FUTEX,
		[PROF_FUTEX_JOIN] = WAY_FUTEX,	     [PROF_FUTEX_LIBC_MUTEX] = WAY_FUTEX,
	};
	const char *name = wait_syscall(p, s->wait);

	if (PROF_WAIT_KIND(s->wait) != PROF_BLOCKED || !name || is_one_of(name, memory))
		return WAY_NONE;
	if (is_one_of(name, drivers))
		return WAY_DRIVER;
	return strcmp(name, "futex") ? WAY_CALL : futexes[wait_futex(p, s->wait)];
}

static int by_thread_and_stack(const void *x, const void *y)
{
	const struct form_stack *a = x, *b = y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static void find_stacks(struct context_forms *f)
{
	size_t nr = 0;

	f->stacks = xcalloc(f->p->nr_samples, sizeof(*f->stacks));
	for (size_t i = 0; i < f->p->nr_samples; i++) {
		const struct sample *s = &f->p->samples[i];
		enum way way = way_of(f->p, s);

		if (way == WAY_NONE || !s->ustack)
			continue;
		f->stacks[nr] = (struct form_stack){
			.pid = s->pid, .thread = s->thread, .stack = s->ustack, .ns = s->weight
		};
		f->stacks[nr++].nr[way] = s->count;
	}
	qsort(f->stacks, nr, sizeof(*f->stacks), by_thread_and_stack);
	for (size_t i = 0; i < nr; i++) {
		struct form_stack *to = f->nr_stacks ? &f->stacks[f->nr_stacks - 1] : NULL;

		if (!to || by_thread_and_stack(to, &f->stacks[i])) {
			f->stacks[f->nr_stacks++] = f->stacks[i];
			continue;
		}
		to->ns += f->stacks[i].ns;
		for (int way = 0; way < NR_WAYS; way++)
			to->nr[way] += f->stacks[i].nr[way];
	}
}

/* Most of a condition variable's waits are known as such: a stack without any is of a lock. */
static bool is_lock(const struct form_stack *s)
{
	return s->nr[WAY_LOCK] && !s->nr[WAY_PARK];
}

/* --- forms --- */

static uint64_t nr_drivers(const struct context_forms *f, const struct form *of, uint32_t function)
{
	uint64_t nr = 0;

	for (size_t i = of->first; i < of->first + of->nr; i++) {
		const struct form_stack *s = &f->stacks[i];

		if (s->nr[WAY_DRIVER] &&
		    (!function || first_of(f, s->stack, &function, 1) < depth(f, s->stack)))
			nr += s->nr[WAY_DRIVER];
	}
	return nr;
}

/* Functions of most stacks of the driver, from the root on. */
static void find_chain(const struct context_forms *f, struct form *of)
{
	const struct form_stack *most = NULL;
	uint64_t all = nr_drivers(f, of, 0);

	for (size_t i = of->first; i < of->first + of->nr; i++)
		if (!most || f->stacks[i].nr[WAY_DRIVER] > most->nr[WAY_DRIVER])
			most = &f->stacks[i];
	for (uint32_t i = 0; all && i < depth(f, most->stack) && of->nr_parks < MAX_CHAIN; i++) {
		uint32_t function = function_at(f, most->stack, i);

		if (is_own(f, most->stack, i) && !is_among(of->parks, of->nr_parks, function) &&
		    nr_drivers(f, of, function) * 100 >= all * MOST)
			of->parks[of->nr_parks++] = function;
	}
}

/* How many functions of the chain are not the parking ones' for the sake of that stack. */
static uint32_t stays_until(const struct context_forms *f, const struct form *of,
			    const struct form_stack *s)
{
	uint32_t i = of->nr_parks;

	if (s->nr[WAY_DRIVER])
		return 0;
	while (i && first_of(f, s->stack, &of->parks[i - 1], 1) == depth(f, s->stack))
		i--;
	if (!i || s->nr[WAY_CALL] || s->nr[WAY_FUTEX])
		return i;
	return depth(f, s->stack) - first_of(f, s->stack, &of->parks[i - 1], 1) - 1 > PARK_FRAMES
		       ? i
		       : 0;
}

/* Leaves the functions that park; hardly anything else was waited for below them. */
static void cut_chain(const struct context_forms *f, struct form *of)
{
	uint64_t ns[MAX_CHAIN + 1] = {}, all = 0, below = 0;
	uint32_t cut = of->nr_parks;

	for (size_t i = of->first; i < of->first + of->nr; i++) {
		uint32_t at = stays_until(f, of, &f->stacks[i]);

		ns[at] += at ? f->stacks[i].ns : 0;
		all += at ? f->stacks[i].ns : 0;
	}
	while (cut && (below + ns[cut]) * 100 <= all * STRAY)
		below += ns[cut--];
	of->nr_parks -= cut;
	memmove(of->parks, of->parks + cut, of->nr_parks * sizeof(*of->parks));
}

static const struct way_in *way_in_of(const struct context_forms *f, const struct form *of,
				      uint32_t stack)
{
	for (uint32_t i = 0; i < of->nr_ways_in; i++) {
		const struct way_in *w = &of->ways_in[i];

		if (nr_shared(f, w->stack, stack, w->len) == w->len)
			return w;
	}
	return NULL;
}

static void find_ways_in(const struct context_forms *f, struct form *of)
{
	for (size_t i = of->first; i < of->first + of->nr && of->nr_ways_in < MAX_WAYS_IN; i++) {
		uint32_t stack = f->stacks[i].stack;
		uint32_t len = first_of(f, stack, of->parks, of->nr_parks);

		if (len < depth(f, stack) && !way_in_of(f, of, stack))
			of->ways_in[of->nr_ways_in++] = (struct way_in){ stack, len };
	}
}

/* The function behind the way in; 0: the stack has none, or parks. */
static uint32_t behind_way_in(const struct context_forms *f, const struct form *of, uint32_t stack)
{
	const struct way_in *w = way_in_of(f, of, stack);
	uint32_t function = w ? function_at(f, stack, w->len) : 0;

	return is_among(of->parks, of->nr_parks, function) ? 0 : function;
}

/* Most different stacks are those of tasks. */
static void find_run(const struct context_forms *f, struct form *of)
{
	uint32_t most = 0;

	for (size_t i = of->first; i < of->first + of->nr; i++) {
		uint32_t function = behind_way_in(f, of, f->stacks[i].stack), nr = 0;

		for (size_t k = i; function && k < of->first + of->nr; k++)
			nr += behind_way_in(f, of, f->stacks[k].stack) == function;
		if (nr > most) {
			most = nr;
			of->run = function;
		}
	}
}

/* How much of its beginning a stack shares with a worker's; 0: it is no thread of the pool. */
static uint32_t pool_part(const struct context_forms *f, const struct form *of, uint32_t stack)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < of->nr_ways_in; i++) {
		uint32_t nr = nr_shared(f, of->ways_in[i].stack, stack, of->ways_in[i].len);

		most = nr > most ? nr : most;
	}
	return own_frames(f, stack, most) < POOL_SHARES ? 0 : most;
}

static void find_waiters(const struct context_forms *f, struct form *of)
{
	for (size_t i = of->first; i < of->first + of->nr && of->nr_waiters < MAX_WAITERS; i++) {
		const struct form_stack *s = &f->stacks[i];
		uint32_t part = way_in_of(f, of, s->stack) ? 0 : pool_part(f, of, s->stack);

		if (part && s->nr[WAY_PARK] && depth(f, s->stack) <= part + POOL_FRAMES)
			of->waiters[of->nr_waiters++] = function_at(f, s->stack, part);
	}
}

static void form_init(const struct context_forms *f, struct form *of)
{
	find_chain(f, of);
	cut_chain(f, of);
	if (!of->nr_parks)
		return;
	find_ways_in(f, of);
	find_run(f, of);
	find_waiters(f, of);
}

/* Those that have a driver. */
static void find_forms(struct context_forms *f)
{
	f->v = xcalloc(f->nr_stacks + 1, sizeof(*f->v));
	for (size_t i = 0, end; i < f->nr_stacks; i = end) {
		struct form *of = &f->v[f->nr];

		for (end = i; end < f->nr_stacks && f->stacks[end].pid == f->stacks[i].pid &&
			      f->stacks[end].thread == f->stacks[i].thread;)
			end++;
		*of = (struct form){ .pid = f->stacks[i].pid,
				     .thread = f->stacks[i].thread,
				     .first = i,
				     .nr = end - i };
		form_init(f, of);
		f->nr += of->nr_parks != 0;
	}
}

/* "tokio 1.54.1 in /srv/app, tokio ..." */
static bool is_named(const char *runtimes, const char *path)
{
	size_t len = strlen(path);

	for (const char *at = runtimes; len && (at = strstr(at, path)); at++)
		if (at - runtimes >= 4 && !strncmp(at - 4, " in ", 4) &&
		    (!at[len] || at[len] == ','))
			return true;
	return false;
}

static bool find_modules(struct context_forms *f)
{
	const char *runtimes = profile_str(f->p, f->p->meta.runtimes);

	for (size_t i = 1; i < f->p->nr_modules; i++)
		f->nameless[i] = is_named(runtimes, profile_str(f->p, f->p->modules[i].path));
	for (size_t i = 1; i < f->p->nr_frames; i++)
		if (strstr(profile_frame_name(f->p, i), context_needle("tokio")))
			f->nameless[profile_frame_at(f->p, i)->module] = false;
	return memchr(f->nameless, true, f->p->nr_modules);
}

void context_forms_init(struct context_forms *f, const struct profile *p)
{
	*f = (struct context_forms){ .p = p };
	if (!p->meta.is_time || !*profile_str(p, p->meta.runtimes))
		return;
	f->nameless = xcalloc(p->nr_modules, sizeof(*f->nameless));
	if (!find_modules(f))
		return;
	find_stacks(f);
	find_forms(f);
}

void context_forms_release(struct context_forms *f)
{
	free(f->nameless);
	free(f->stacks);
	free(f->v);
}

/* --- samples --- */

static const struct form *form_of(const struct context_forms *f, const struct sample *s, bool *near)
{
	for (size_t i = 0; i < f->nr; i++) {
		*near |= f->v[i].pid == s->pid;
		if (f->v[i].pid == s->pid && f->v[i].thread == s->thread)
			return &f->v[i];
	}
	return NULL;
}

static const struct form_stack *stack_of(const struct context_forms *f, const struct sample *s)
{
	static const struct form_stack none;
	struct form_stack like = { .pid = s->pid, .thread = s->thread, .stack = s->ustack };
	const struct form_stack *found =
		bsearch(&like, f->stacks, f->nr_stacks, sizeof(like), by_thread_and_stack);

	return found ? found : &none;
}

static enum context of_parking(enum way way, const struct form_stack *stack)
{
	if (way == WAY_CALL || way == WAY_NONE)
		return CONTEXT_RUNTIME;
	if (way == WAY_DRIVER)
		return CONTEXT_IDLE_DRIVER;
	return is_lock(stack) ? CONTEXT_RUNTIME : CONTEXT_IDLE_PARK;
}

static enum context of_task(const struct context_forms *f, const struct form *of, uint32_t stack,
			    uint32_t in, struct context_of *to)
{
	uint32_t left = depth(f, stack) - in;

	to->own = left ? left - 1 : 0;
	if (left > PARK_FRAMES || (left > 2 && function_at(f, stack, in) == of->run))
		return CONTEXT_TASK;
	return CONTEXT_RUNTIME;
}

static enum context of_pool(const struct context_forms *f, const struct form *of, uint32_t stack,
			    uint32_t part, enum way way, struct context_of *to)
{
	uint32_t left = depth(f, stack) - part;

	if (!part)
		return CONTEXT_OTHER;
	to->role = ROLE_POOL;
	to->own = left;
	if (!is_among(of->waiters, of->nr_waiters, function_at(f, stack, part)))
		return left > POOL_FRAMES ? CONTEXT_POOL_JOB : CONTEXT_RUNTIME;
	return left <= POOL_FRAMES && way != WAY_NONE && way != WAY_LOCK ? CONTEXT_IDLE_POOL
									 : CONTEXT_RUNTIME;
}

static enum context context_of_form(const struct context_forms *f, const struct form *of,
				    const struct sample *s, struct context_of *to)
{
	const struct way_in *w = way_in_of(f, of, s->ustack);
	enum way way = way_of(f->p, s);

	to->own = depth(f, s->ustack);
	if (!w)
		return of_pool(f, of, s->ustack, pool_part(f, of, s->ustack), way, to);
	to->role = s->tid == s->pid ? ROLE_BLOCK_ON : ROLE_WORKER;
	if (first_of(f, s->ustack, of->parks, of->nr_parks) < depth(f, s->ustack))
		return of_parking(way, stack_of(f, s));
	return of_task(f, of, s->ustack, w->len, to);
}

bool context_form_of(const struct context_forms *f, size_t i, struct context_of *to)
{
	const struct sample *s = &f->p->samples[i];
	bool near = false;
	const struct form *of = form_of(f, s, &near);

	if (!near)
		return false;
	to->runtime = 1; /* Tokio is the first row, and the only one whose version is looked for */
	to->context = !s->ustack ? CONTEXT_NOT_SAMPLED
		      : !of	 ? CONTEXT_OTHER
				 : context_of_form(f, of, s, to);
	return true;
}

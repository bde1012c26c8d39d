/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk over stacks by the rows of runtimes. What a stack says is found once for each stack;
 * what the system call, the task's state and the thread add to it, for each sample.
 */
#include "profile/context.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/mem.h"
#include "profile/context_form.h"
#include "profile/context_rows.h"
#include "profile/context_stack.h"
#include "profile/threads.h"

const char *const context_names[CONTEXT_NR] = {
	[CONTEXT_NONE] = "none",
	[CONTEXT_TASK] = "task",
	[CONTEXT_POOL_JOB] = "pool-job",
	[CONTEXT_MAIN_FUTURE] = "main-future",
	[CONTEXT_RUNTIME] = "runtime",
	[CONTEXT_IDLE_PARK] = "idle-park",
	[CONTEXT_IDLE_DRIVER] = "idle-driver",
	[CONTEXT_IDLE_POOL] = "idle-pool",
	[CONTEXT_IDLE_BLOCK_ON] = "idle-block_on",
	[CONTEXT_OTHER] = "other",
	[CONTEXT_NOT_SAMPLED] = "not-sampled",
};

const char *const context_frames[CONTEXT_NR] = {
	[CONTEXT_NONE] = "none",
	[CONTEXT_TASK] = "task",
	[CONTEXT_POOL_JOB] = "pool-job",
	[CONTEXT_MAIN_FUTURE] = "main-future",
	[CONTEXT_RUNTIME] = "runtime",
	[CONTEXT_IDLE_PARK] = "park",
	[CONTEXT_IDLE_DRIVER] = "driver",
	[CONTEXT_IDLE_POOL] = "pool",
	[CONTEXT_IDLE_BLOCK_ON] = "block_on",
	[CONTEXT_OTHER] = "other",
	[CONTEXT_NOT_SAMPLED] = "not sampled",
};

const char *const context_roles[ROLE_NR] = {
	[ROLE_NONE] = "",
	[ROLE_WORKER] = "worker",
	[ROLE_POOL] = "pool",
	[ROLE_BLOCK_ON] = "block_on",
};

/* Threads of one process and name that have run a runtime; or one thread. */
struct group {
	struct {
		uint32_t pid, id;
	} key;
	uint8_t runtime;
	UT_hash_handle hh;
};

struct context_work {
	struct context_stacks stacks;
	struct context_forms forms;
	struct group *names, *block_ons;
};

uint32_t context_nr_runtimes(void)
{
	return context_nr;
}

const char *context_runtime(uint32_t runtime)
{
	return context_runtimes[runtime].name;
}

const char *context_needle(const char *name)
{
	uint32_t r = 0;

	while (r + 1 < context_nr && strcmp(context_runtimes[r].name, name))
		r++;
	return context_runtimes[r].needle;
}

bool context_is_automatic(uint32_t runtime)
{
	return context_runtimes[runtime].automatic;
}

bool context_has_driver(uint32_t runtime)
{
	return context_runtimes[runtime].one_driver;
}

/* --- samples --- */

static void group_add(struct group **groups, uint32_t pid, uint32_t id, uint8_t runtime)
{
	struct group *g, like = { .key = { pid, id } };

	HASH_FIND(hh, *groups, &like.key, sizeof(like.key), g);
	if (g)
		return;
	g = xcalloc(1, sizeof(*g));
	g->key.pid = pid;
	g->key.id = id;
	g->runtime = runtime;
	HASH_ADD(hh, *groups, key, sizeof(g->key), g);
}

static uint8_t group_has(struct group *groups, uint32_t pid, uint32_t id)
{
	struct group *g, like = { .key = { pid, id } };

	HASH_FIND(hh, groups, &like.key, sizeof(like.key), g);
	return g ? g->runtime : 0;
}

static void groups_free(struct group *groups)
{
	struct group *g, *tmp;

	HASH_ITER (hh, groups, g, tmp) {
		HASH_DEL(groups, g);
		free(g);
	}
}

#define ALL_OF_PROCESS 0 /* as the name of threads */

/* Which threads are those of a runtime: by name, and in which a main future runs. */
static void find_groups(struct contexts *c)
{
	struct context_work *w = c->work;

	for (size_t i = 0; i < c->p->nr_samples; i++) {
		const struct sample *s = &c->p->samples[i];
		const struct context_shape *shape =
			s->ustack ? context_shape(&c->work->stacks, s->ustack) : NULL;

		if (!shape || !shape->runtime)
			continue;
		group_add(&w->names, s->pid, ALL_OF_PROCESS, shape->runtime);
		if (shape->role == ROLE_WORKER || shape->role == ROLE_POOL)
			group_add(&w->names, s->pid, s->thread, shape->runtime);
		else if (shape->role == ROLE_BLOCK_ON && s->tid)
			group_add(&w->block_ons, s->pid, s->tid, shape->runtime);
	}
}

static bool is_waiting(const struct sample *s)
{
	return PROF_WAIT_KIND(s->wait) == PROF_BLOCKED;
}

static bool calls(const struct contexts *c, const struct sample *s, const char *names)
{
	const char *name = wait_syscall(c->p, s->wait), *at = names;
	size_t len = name ? strlen(name) : 0;

	for (; len && (at = strstr(at, name)); at += len)
		if ((at == names || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

/* Without any of the runtime's functions: in a thread that is known to be one of its own. */
static uint8_t context_by_thread(const struct contexts *c, const struct sample *s,
				 struct context_of *to)
{
	to->runtime = group_has(c->work->names, s->pid, ALL_OF_PROCESS);
	if (!to->runtime)
		return CONTEXT_NONE;
	if (group_has(c->work->names, s->pid, s->thread) &&
	    context_is_bare(&c->work->stacks, s->ustack)) {
		to->role = ROLE_POOL;
		if (context_shape(&c->work->stacks, s->ustack)->clues & CLUE_LOCK || !is_waiting(s))
			return CONTEXT_RUNTIME;
		return calls(c, s, "futex futex_wait") ? CONTEXT_IDLE_POOL : CONTEXT_OTHER;
	}
	if (!group_has(c->work->block_ons, s->pid, s->tid))
		return CONTEXT_OTHER;
	to->role = ROLE_BLOCK_ON;
	return CONTEXT_MAIN_FUTURE;
}

/* Whether its thread went on, or the like, before more than the first frames could be read. */
static bool is_cut_off(const struct contexts *c, const struct sample *s)
{
	enum unwind_end end = stack_end(&c->p->stacks[s->ustack]);

	return end == UNWIND_END_MOVED || end == UNWIND_END_NO_ROOM || end == UNWIND_END_LATE ||
	       end == UNWIND_END_SILENT;
}

static uint8_t context_of_sample(const struct contexts *c, const struct sample *s,
				 struct context_of *to)
{
	const struct context_shape *shape =
		s->ustack ? context_shape(&c->work->stacks, s->ustack) : NULL;
	uint8_t context;

	if ((!shape || !shape->runtime) && context_form_of(&c->work->forms, s - c->p->samples, to))
		return to->context;
	if (!shape || (!shape->runtime && is_cut_off(c, s))) {
		to->runtime = group_has(c->work->names, s->pid, ALL_OF_PROCESS);
		return to->runtime ? CONTEXT_NOT_SAMPLED : CONTEXT_NONE;
	}
	to->own = shape->own;
	if (!shape->runtime)
		return context_by_thread(c, s, to);
	to->runtime = shape->runtime;
	to->role = shape->role;
	context = shape->context;
	if (!context_is_idle(context))
		return context;
	to->was_idle = !is_waiting(s); /* who has a reason to run is not idle */
	if (to->was_idle)
		return CONTEXT_RUNTIME;
	if (context == CONTEXT_IDLE_PARK && calls(c, s, "epoll_wait epoll_pwait epoll_pwait2 poll"))
		return CONTEXT_IDLE_DRIVER;
	return context;
}

static bool fits(const struct contexts *c, const struct sample *s,
		 const struct context_shape *shape, const struct context_kind *row)
{
	if (row->syscalls && !calls(c, s, row->syscalls))
		return false;
	if (row->clues && !(row->clues & (shape ? shape->clues : 0)))
		return false;
	if (row->futex && wait_futex(c->p, s->wait) != row->futex)
		return false;
	return !row->classes || row->classes & 1u << wait_class(c->p, s);
}

/* Of a thread that runs or only waits for a CPU, that is all there is to say. */
static const char *kind_of_sample(const struct contexts *c, const struct sample *s, uint8_t context)
{
	const struct context_shape *shape =
		s->ustack ? context_shape(&c->work->stacks, s->ustack) : NULL;
	const char *name = wait_syscall(c->p, s->wait);
	uint32_t kind = PROF_WAIT_KIND(s->wait);
	size_t i = 0;

	if (context_is_idle(context) || context == CONTEXT_NONE)
		return "";
	if (!c->p->meta.is_time || kind == PROF_RUNNING || kind == PROF_ON_CPU)
		return "on-cpu";
	if (kind != PROF_BLOCKED)
		return name && !strcmp(name, "sched_yield") ? "spin"
							    : wait_class_names[wait_class(c->p, s)];
	if (shape && shape->block_on)
		return "block_on";
	while (i + 1 < context_nr_kinds && !fits(c, s, shape, &context_kinds[i]))
		i++;
	if (context_kinds[i].kind)
		return context_kinds[i].kind;
	return name ? name : wait_class_names[wait_class(c->p, s)];
}

/* The role that a thread had for most of the time is that of its other samples, too. */
static void learn_roles(struct contexts *c)
{
	struct thread_groups groups;
	uint64_t(*by_role)[ROLE_NR];

	thread_groups_init(&groups, c->p);
	by_role = xcalloc(groups.nr + 1, sizeof(*by_role));
	for (size_t i = 0; i < c->p->nr_samples; i++)
		by_role[groups.of_sample[i]][c->v[i].role] += c->p->samples[i].weight + 1;
	for (size_t i = 0; i < c->p->nr_samples; i++) {
		const uint64_t *of = by_role[groups.of_sample[i]];
		uint8_t most = ROLE_NONE;

		for (uint8_t role = ROLE_WORKER; role < ROLE_NR; role++)
			if (of[role] && (!most || of[role] > of[most]))
				most = role;
		c->v[i].learned = most;
		if (!c->v[i].role && c->v[i].context != CONTEXT_OTHER)
			c->v[i].role = most;
	}
	free(by_role);
	thread_groups_release(&groups);
}

void contexts_init(struct contexts *c, const struct profile *p)
{
	*c = (struct contexts){ .p = p, .work = xcalloc(1, sizeof(*c->work)) };
	if (!context_stacks_init(&c->work->stacks, p))
		return;
	find_groups(c);
	context_forms_init(&c->work->forms, p);
	if (!c->work->names && !c->work->forms.nr)
		return;
	c->v = xcalloc(p->nr_samples, sizeof(*c->v));
	for (size_t i = 0; i < p->nr_samples; i++) {
		struct context_of *to = &c->v[i];

		to->kind = "";
		to->context = context_of_sample(c, &p->samples[i], to);
		to->kind = kind_of_sample(c, &p->samples[i], to->context);
	}
	learn_roles(c);
}

void contexts_release(struct contexts *c)
{
	if (!c->work)
		return;
	groups_free(c->work->names);
	groups_free(c->work->block_ons);
	context_stacks_release(&c->work->stacks);
	context_forms_release(&c->work->forms);
	free(c->work);
	free(c->v);
	*c = (struct contexts){};
}

const struct context_of *contexts_at(const struct contexts *c, size_t i)
{
	static const struct context_of none = { .kind = "" };

	return c->v ? &c->v[i] : &none;
}

bool contexts_of_stack(const struct contexts *c, uint32_t ustack, struct context_of *to)
{
	const struct context_shape *shape =
		c->v && ustack ? context_shape(&c->work->stacks, ustack) : NULL;

	if (!shape || !shape->runtime)
		return false;
	*to = (struct context_of){ .runtime = shape->runtime,
				   .context = context_is_idle(shape->context) ? CONTEXT_RUNTIME
									      : shape->context,
				   .role = shape->role,
				   .own = shape->own,
				   .kind = "" };
	return true;
}

bool contexts_polls(const struct contexts *c, size_t i)
{
	const struct sample *s = &c->p->samples[i];

	return c->v && s->ustack &&
	       context_is_idle(context_shape(&c->work->stacks, s->ustack)->context);
}

bool contexts_by_form(const struct contexts *c)
{
	return c->v && c->work->forms.nr;
}

bool contexts_have(const struct contexts *c, uint32_t runtime)
{
	for (size_t i = 0; c->v && i < c->p->nr_samples; i++)
		if (c->v[i].runtime == runtime + 1)
			return true;
	return false;
}

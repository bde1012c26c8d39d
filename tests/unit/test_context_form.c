/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contexts of stacks without names, as stripped programs of Tokio have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/context.h"
#include "tests/unit/made.h"

#define FUTEX	  202
#define EPOLL	  232
#define NANOSLEEP 230
#define MUNMAP	  11

/* Letters are functions of the program, as they are in the release and the fat LTO build. */
#define POOL   "R;Q;T;start_thread;clone3"
#define WAY_IN "W;H;I;" POOL
#define FAT_IN "H;" POOL

struct row {
	enum context context;
	enum context_role role;
	int syscall;
	enum prof_futex futex;
	const char *stack; /* % is the way in */
};

/* P parks, D and E drive, X runs tasks, Y and Z are of two tasks, C is a condition variable. */
static const struct row rows[] = {
	{ CONTEXT_IDLE_DRIVER, ROLE_WORKER, EPOLL, 0, "epoll_wait;E;D;P;%" },
	{ CONTEXT_IDLE_PARK, ROLE_WORKER, FUTEX, PROF_FUTEX_COUNTER, "syscall;C;P;%" },
	{ CONTEXT_RUNTIME, ROLE_WORKER, FUTEX, PROF_FUTEX_MUTEX, "syscall;L;D;P;%" },
	{ CONTEXT_TASK, ROLE_WORKER, FUTEX, PROF_FUTEX_MUTEX, "syscall;L;Y;X;%" },
	{ CONTEXT_TASK, ROLE_WORKER, FUTEX, PROF_FUTEX_COUNTER, "syscall;C;K;Y;X;%" },
	{ CONTEXT_TASK, ROLE_WORKER, FUTEX, PROF_FUTEX_PARK, "syscall;Z;X;%" },
	{ CONTEXT_TASK, ROLE_WORKER, NANOSLEEP, 0, "clock_nanosleep;Z;X;%" },
	{ CONTEXT_RUNTIME, ROLE_WORKER, FUTEX, PROF_FUTEX_MUTEX, "syscall;L;M;%" },
	{ CONTEXT_IDLE_POOL, ROLE_POOL, FUTEX, PROF_FUTEX_COUNTER, "syscall;C;" POOL },
	{ CONTEXT_RUNTIME, ROLE_POOL, FUTEX, PROF_FUTEX_MUTEX, "syscall;L;C;" POOL },
	{ CONTEXT_POOL_JOB, ROLE_POOL, NANOSLEEP, 0, "clock_nanosleep;J;N;" POOL },
	{ CONTEXT_POOL_JOB, ROLE_POOL, FUTEX, PROF_FUTEX_MUTEX, "syscall;L;J;N;" POOL },
	/* A task began it: it shares no more than how threads of std begin. */
	{ CONTEXT_OTHER, 0, NANOSLEEP, 0, "clock_nanosleep;O;U;V;T;start_thread;clone3" },
};

static char *with_way_in(const char *stack, const char *way_in)
{
	const char *at = strchr(stack, '%');
	char *text = calloc(1, 256);

	if (at)
		snprintf(text, 256, "%.*s%s", (int)(at - stack), stack, way_in);
	else
		snprintf(text, 256, "%s", stack);
	return text;
}

/* Functions of one letter are of the program. */
static uint32_t stack_of(struct profile *p, uint32_t module, char *names)
{
	uint32_t frames[64], nr = 0;
	char *rest = names, *name, text[32];

	while ((name = strsep(&rest, ";"))) {
		bool own = !name[1];
		uint32_t s, id;

		snprintf(text, sizeof(text), own ? "[app+0x%s0]" : "%s", name);
		s = profile_string(p, text);
		id = profile_frame(p, FRAME_USER, own ? module : 0, s);
		profile_name_frame(p, id, s, 0);
		frames[nr++] = id;
	}
	return profile_stack(p, frames, nr, UNWIND_END_CFI_ROOT, 0);
}

static void add(struct profile *p, uint32_t module, uint32_t tid, uint32_t wait, const char *stack,
		const char *way_in)
{
	char *names = with_way_in(stack, way_in);
	struct sample s = { .pid = 100, .tid = tid, .count = 100, .weight = 1000, .wait = wait };

	s.process = profile_string(p, "app");
	s.thread = profile_string(p, "tokio-rt-worker");
	s.ustack = stack_of(p, module, names);
	profile_add_sample(p, &s);
	free(names);
}

static struct profile *made(uint32_t *module)
{
	struct profile *p = made_profile("offcpu");

	*module = profile_add_module(p, "/srv/app");
	p->meta.runtimes = profile_string(p, "tokio 1.54.1 in /srv/app");
	return p;
}

static void check_rows(const char *way_in)
{
	uint32_t module;
	struct profile *p = made(&module);
	struct contexts c;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		add(p, module, 101 + i,
		    PROF_WAIT(PROF_BLOCKED, TASK_S | rows[i].futex << 8, rows[i].syscall),
		    rows[i].stack, way_in);
	contexts_init(&c, p);
	assert_true(contexts_by_form(&c));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct context_of *of = contexts_at(&c, i);

		if (of->context != rows[i].context || of->role != rows[i].role)
			fail_msg("%s %s, expected %s %s: %s", context_names[of->context],
				 context_roles[of->role], context_names[rows[i].context],
				 context_roles[rows[i].role], rows[i].stack);
	}
	contexts_release(&c);
	profile_free(p);
}

static void contexts_are_by_the_form(void **state)
{
	check_rows(WAY_IN);
	check_rows(FAT_IN);
}

/* Locks are waited for by futexes as parked workers wait: only the form is left. */
static void tasks_with_nothing_but_a_lock(void **state)
{
	uint32_t module;
	struct profile *p = made(&module);
	struct contexts c;

	for (size_t i = 0; i < 4; i++)
		add(p, module, 101 + i,
		    PROF_WAIT(PROF_BLOCKED, TASK_S | rows[i].futex << 8, rows[i].syscall),
		    rows[i].stack, WAY_IN);
	contexts_init(&c, p);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(contexts_at(&c, i)->context, rows[i].context);
	assert_string_equal(contexts_at(&c, 3)->kind, "lock");
	contexts_release(&c);
	profile_free(p);
}

/* Memory that the driver gives back, and one strange wait in it, are no tasks. */
static void strange_waits_change_nothing(void **state)
{
	uint32_t module;
	struct profile *p = made(&module);
	struct contexts c;

	add(p, module, 101, PROF_WAIT(PROF_BLOCKED, TASK_S, EPOLL), rows[0].stack, WAY_IN);
	add(p, module, 102, PROF_WAIT(PROF_BLOCKED, TASK_S | PROF_FUTEX_COUNTER << 8, FUTEX),
	    rows[1].stack, WAY_IN);
	add(p, module, 103, PROF_WAIT(PROF_BLOCKED, TASK_S, NANOSLEEP), rows[6].stack, WAY_IN);
	add(p, module, 104, PROF_WAIT(PROF_BLOCKED, TASK_D, MUNMAP), "munmap;D;P;%", WAY_IN);
	contexts_init(&c, p);
	assert_int_equal(contexts_at(&c, 1)->context, CONTEXT_IDLE_PARK);
	assert_int_equal(contexts_at(&c, 2)->context, CONTEXT_TASK);
	assert_int_equal(contexts_at(&c, 3)->context, CONTEXT_RUNTIME);
	contexts_release(&c);
	profile_free(p);
}

/* Without a driver there is no chain, and nothing is made up. */
static void no_driver_no_contexts(void **state)
{
	uint32_t module;
	struct profile *p = made(&module);
	struct contexts c;

	add(p, module, 101, PROF_WAIT(PROF_BLOCKED, TASK_S, NANOSLEEP), rows[6].stack, WAY_IN);
	contexts_init(&c, p);
	assert_int_equal(contexts_at(&c, 0)->context, CONTEXT_NONE);
	assert_false(contexts_by_form(&c));
	contexts_release(&c);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contexts_are_by_the_form),
		cmocka_unit_test(tasks_with_nothing_but_a_lock),
		cmocka_unit_test(strange_waits_change_nothing),
		cmocka_unit_test(no_driver_no_contexts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

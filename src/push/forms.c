/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that Pyroscope and Parca know where there are such. Each series has a period type, without
 * which Parca dies; off_cpu has period 0, by which Pyroscope knows it.
 */
#include "push/forms.h"

#include <string.h>

#include "profile/kind.h"
#include "profile/waits.h"

#define NS "nanoseconds"

struct form {
	const char *name, *type;
	uint64_t period; /* 0 = none */
};

static const struct form off_cpu = { "off_cpu", "off_cpu", 0 };
static const struct form run_queue = { "runq", "runq", 1 };
static const struct form on_cpu = { "process_cpu", "cpu", 1 };

/* What was recorded, where its name is not good enough. */
static const struct {
	const char *command, *name;
} names[] = {
	{ "alloc", "memory" },	     { "lock --kernel", "kernel_lock" },
	{ "polls --runs", "polls" }, { "polls --slower-polls", "slow_polls" },
	{ "lock", "mutex" },
};

static bool by_class(const struct profile *p)
{
	return p->meta.is_time && !kind_of_profile(p)->locks;
}

uint32_t form_class(const struct profile *p, uint32_t class)
{
	return by_class(p) ? class : WAITS_NR;
}

static const struct form *form_of(uint32_t class)
{
	if (class == WAITS_ON_CPU)
		return &on_cpu;
	return 1u << class & WAIT_RUNNABLE ? &run_queue : &off_cpu;
}

static void set_type(struct value_type *t, const char *type, const char *unit)
{
	*t = (struct value_type){ .unit = unit };
	strncpy(t->type, type, sizeof(t->type) - 1);
}

void form_figures(struct value_types *t, const char *type, const char *unit)
{
	*t = (struct value_types){ .nr = 1, .period = 1 };
	set_type(&t->v[0], type, unit);
	t->every = t->v[0];
}

/* A window has one value of waits: how long they took. */
static void form_time(struct series *s, const struct profile *p, uint32_t class)
{
	const struct form *f = form_of(class);

	s->name = f->name;
	s->wait_class = waits_name(class);
	form_figures(&s->types, f->type, NS);
	s->types.period = f->period;
	if (class == WAITS_ON_CPU && p->meta.rate_hz)
		s->types.period = 1000000000 / p->meta.rate_hz;
	s->columns[0] = s->from->types.shown;
}

static const char *name_of(const struct profile *p, const struct value_types *t)
{
	const char *command = profile_str(p, p->meta.command);

	if (!strcmp(t->every.type, "cpu"))
		return on_cpu.name;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(command, names[i].command))
			return names[i].name;
	for (const char *c = command; *c; c++)
		if (*c < 'a' || *c > 'z')
			return "profile";
	return *command ? command : "profile";
}

void form_series(struct series *s, const struct profile *p, uint32_t class)
{
	if (by_class(p)) {
		form_time(s, p, class);
		return;
	}
	s->types = s->from->types;
	s->name = name_of(p, &s->types);
	for (size_t i = 0; i < s->types.nr; i++)
		s->columns[i] = i;
}

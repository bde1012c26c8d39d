/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lists that points are made of. */
#include "collect/points.h"

#include <stdlib.h>

#include "base/mem.h"
#include "collect/points_files.h"
#include "collect/points_parts.h"

void points_init(struct points *p, const struct points_opts *o)
{
	*p = (struct points){ .opts = o };
}

const char *points_string(struct points *p, char *s)
{
	p->strings = xgrow(p->strings, p->nr_strings, &p->cap_strings, sizeof(*p->strings));
	p->strings[p->nr_strings++] = s;
	return s;
}

uint32_t points_add_event(struct points *p, const struct call_event *e)
{
	p->events = xgrow(p->events, p->nr_events, &p->cap_events, sizeof(*p->events));
	p->events[p->nr_events] = *e;
	return p->nr_events++;
}

uint32_t points_add_args(struct points *p, const struct call_args *a)
{
	p->args = xgrow(p->args, p->nr_args, &p->cap_args, sizeof(*p->args));
	p->args[p->nr_args] = *a;
	return p->nr_args++;
}

void points_add(struct points *p, const struct point *point)
{
	p->v = xgrow(p->v, p->nr, &p->cap, sizeof(*p->v));
	p->v[p->nr++] = *point;
	p->nr_dear += point->is_dear;
}

void points_end(struct points *p)
{
	if (p->files)
		points_files_end(p->files);
}

void points_release(struct points *p)
{
	for (size_t i = 0; i < p->nr_strings; i++)
		free(p->strings[i]);
	free(p->strings);
	free(p->events);
	free(p->args);
	free(p->v);
	points_files_free(p->files);
	*p = (struct points){};
}

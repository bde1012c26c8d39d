/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the makers of points share: points.c, points_names.c and points_usdt.c those of files,
 * kernel_points.c those of the kernel.
 */
#ifndef BPFPROF_COLLECT_POINTS_PARTS_H
#define BPFPROF_COLLECT_POINTS_PARTS_H

#include "collect/points.h"
#include "uprobe/functions.h"
#include "uprobe/leaving.h"
#include "uprobe/place.h"

/* A probe on a return instruction: the kernel emulates it, or single-steps it. */
#if defined(__x86_64__)
#define RETURN_IS_DEAR true
#else
#define RETURN_IS_DEAR false
#endif

/* A file that points are looked for in. */
struct points_file {
	const char *path; /* belongs to the points */
	struct functions *functions;
	struct places *places;
	enum leaving_file leaving;
};
/* 0 or negative errno, not logged. */
int points_open_file(struct points_file *f, const char *path);
void points_close_file(struct points_file *f);

/*
 * Where on the function the probe stands: where it is cheap, if anywhere. 0 or negative errno,
 * logged.
 */
int points_choose_place(struct points *p, struct points_file *f, const struct uprobe_spec *spec,
			const struct uprobe_function *fn, struct place *place);
/*
 * A return probe might end the program: each instruction that leaves the function gets a point like
 * the one at its entry. 0 or negative errno, logged.
 */
int points_add_returns(struct points *p, struct points_file *f, const struct uprobe_function *fn,
		       struct point point);
/* How many were found is added. 0 or negative errno, logged. */
int points_add_usdt(struct points *p, struct points_file *f, const struct uprobe_spec *spec,
		    size_t *found);
/* For -v. */
void points_tell_place(const struct points_file *f, const char *name, const struct place *place);

/* Takes over s. */
const char *points_string(struct points *p, char *s);
/* These return numbers. */
uint32_t points_add_event(struct points *p, const struct call_event *e);
uint32_t points_add_args(struct points *p, const struct call_args *a);
void points_add(struct points *p, const struct point *point);

#endif

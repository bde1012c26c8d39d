/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the makers of points share. Those of files run in a child: points_functions.c,
 * points_names.c, points_tokio.c, points_usdt.c. kernel_points.c makes those of the kernel.
 */
#ifndef BPFPROF_COLLECT_POINTS_PARTS_H
#define BPFPROF_COLLECT_POINTS_PARTS_H

#include "collect/points_answer.h"
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
	const char *path;  /* belongs to the question, as the next */
	const char *shown; /* what it was called when it was mapped */
	struct functions *functions;
	struct places *places;
	enum leaving_file leaving;
	const struct points_question *question;
	struct points_told *told;
};

/* Each looks for what the question says. 0 or negative errno, logged. */
int points_find_spec(struct points *p, struct points_file *f, const char *text);
int points_find_usdt(struct points *p, struct points_file *f, const struct uprobe_spec *spec);
int points_find_polls(struct points *p, struct points_file *f);
int alloc_find(struct points *p, struct points_file *f, bool rust);

/* Functions by the linker's names, in the order of strcmp(); args is the upper half of cookies. */
struct points_name {
	const char *name;
	uint32_t args;
	bool no_return; /* only wanted where calls are timed, and then only their entries */
};
struct points_table {
	const struct points_name *v;
	size_t nr;
	/* By what they promise: no exception or end of a thread passes through them, be it in a
	 * file through which some do. */
	bool throw_nothing;
	const struct points_table *also; /* others that are probed in that file; NULL = none */
};
/* Those that a file has, each address once. 0 or negative errno, logged. */
int points_find_names(struct points *p, struct points_file *f, const struct points_table *names);

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
/* The address that was asked for, 0 = the entry. */
uint64_t points_inside_at(const struct uprobe_spec *spec, const struct uprobe_function *fn);
/*
 * What functions are called in the result (points_shown.c): as people write them, with parameters
 * if they were typed or another one has the same name, with the address if that does not tell them
 * apart. An array and texts to be freed.
 */
char **points_names_of(const struct points_file *f, const struct uprobe_spec *spec,
		       const struct uprobe_function *v, size_t nr);
/* The same of a place: "f", "f+0x12"; of a function without a name "+0x1a40". To be freed. */
char *points_name_of_place(const struct uprobe_spec *spec, const struct uprobe_function *fn,
			   const char *shown);
/* For -v. */
void points_tell_place(const struct points_file *f, const char *name, const struct place *place);

/* Takes over s. */
const char *points_string(struct points *p, char *s);
/* These return numbers. */
uint32_t points_add_event(struct points *p, const struct call_event *e);
uint32_t points_add_args(struct points *p, const struct call_args *a);
void points_add(struct points *p, const struct point *point);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the makers of points share: points.c, points_names.c and points_usdt.c those of files,
 * kernel_points.c those of the kernel.
 */
#ifndef BPFPROF_COLLECT_POINTS_PARTS_H
#define BPFPROF_COLLECT_POINTS_PARTS_H

#include <sys/stat.h>

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

/* The files that processes have mapped, each once, by a path that we can open, and by their own. */
struct points_mapped {
	char **v, **names;
	struct stat *st;
	size_t nr, cap, cap_names, cap_st;
	const uint32_t *pids; /* that are looked at, */
	uint32_t pid;	      /* of these the one whose turn it is */
};

/* Of processes that answer: where one keeps the lock of its mappings, no probe can be placed. */
void points_read_mapped(struct points_mapped *m, const struct opt_ids *pids);
void points_release_mapped(struct points_mapped *m);
/* For target_find(): what the i-th was called when it was mapped. */
const char *points_nth_mapped(void *arg, size_t i);
/* Which of them a path means: the file that runs may have been replaced since. nr = none. */
size_t points_find_mapped(const struct points_mapped *m, const char *path);

/* A file that points are looked for in. */
struct points_file {
	const char *path;  /* belongs to the points */
	const char *shown; /* what it was called when it was mapped */
	struct functions *functions;
	struct places *places;
	enum leaving_file leaving;
};
/* 0 or negative errno, not logged. */
int points_open_file(struct points_file *f, const char *path, const char *shown);
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

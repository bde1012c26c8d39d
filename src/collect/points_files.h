/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that points may be in. They belong to whoever is probed: children find and open them, and
 * children look into them (reader/reader.h). The main process holds descriptors that it reads
 * nothing of.
 */
#ifndef BPFPROF_COLLECT_POINTS_FILES_H
#define BPFPROF_COLLECT_POINTS_FILES_H

#include "collect/points_answer.h"
#include "collect/reading.h"
#include "reader/reader.h"

/* The tasks of children, see collect/reading.c. */
int points_do_find(struct reader_work *w);   /* a target; gives a descriptor */
int points_do_debug(struct reader_work *w);  /* struct companion_wants; gives one */
int points_do_search(struct reader_work *w); /* of open files; points_answer.h */
int points_do_touch(struct reader_work *w);  /* reads at offsets */

/* Those that the processes have mapped: how many. */
size_t points_nr_mapped(struct points *p);
/* What one was called when it was mapped. */
const char *points_mapped_name(const struct points *p, size_t i);
/* 0, or negative errno: it has gone, say. f stays as long as p. */
int points_open_mapped(struct points *p, size_t i, const struct point_file **f);

/*
 * The file that a target means (uprobe/target.h), as it is mapped if it is. 0 or negative errno,
 * logged unless why, to be freed, says it; -ENOENT: there is none.
 */
int points_open_target(struct points *p, const char *target, const struct point_file **f,
		       char **why);
bool points_is_mapped(const struct points *p, const struct point_file *f);

/* Of all that the processes have mapped, until fn returns an error. */
int points_for_each_file(struct points *p, int (*fn)(void *arg, const struct point_file *f),
			 void *arg);

/*
 * Has a child look for points in a file, and adds them: what and found of q are set, text is what
 * is looked for. 0 or negative errno, logged; -ENOEXEC, which is not: it is no ELF file.
 */
int points_search(struct points *p, const struct point_file *f, struct points_question *q,
		  const char *text, struct points_told *told);
void points_told_release(struct points_told *told);
/* Is it an error of that file alone, so that others may be looked at? */
bool points_may_pass(int err);

/* All processes have exited, so that nothing of them can be found: then that is logged. */
bool points_are_gone(const struct points *p);

/*
 * The same question to the files that points are in, just before probes are placed, when the kernel
 * reads them while nobody can fork: are they what they were, and do they answer? 0 or negative
 * errno, logged.
 */
int points_check_files(struct reader *r, const struct calls_opts *o);
/* And do all processes answer? To be asked by who places probes. */
int points_check(struct reading *r, const struct calls_opts *o);
/* The same before points_end(), of some of p that are tried out. */
int points_check_early(struct points *p, const struct calls_opts *o);

/* Nothing more is asked; the files stay open. */
void points_files_end(struct points_files *files);
void points_files_free(struct points_files *files);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What symbolizer.c, which sorts frames and writes names into the profile, shares with
 * symbolizer_file.c, which has files of processes read, and symbolizer_patience.c. For these only.
 */
#ifndef BPFPROF_SYMBOL_SYMBOLIZER_PARTS_H
#define BPFPROF_SYMBOL_SYMBOLIZER_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/lacks.h"
#include "profile/profile.h"
#include "reader/cost.h"
#include "reader/fork.h"
#include "symbol/answers.h"
#include "symbol/symbolizer.h"

/*
 * Work on one profile. Sorted frames make equal names neighbours, so remembering one name is
 * enough.
 */
struct symbolizer {
	struct profile *profile;
	uint32_t *order; /* frames without a name, by kind, module and offset */
	bool *is_entry;	 /* per frame: an entry of threads, known by its place (see below) */
	size_t nr;
	bool has_python; /* frames of it are in the place of others */
	const struct symbol_kernel *kernel;
	struct symbol_lines *lines; /* NULL = neither lines nor inlined calls */
	struct kept *kept;	    /* NULL = nothing is */
	const uint32_t *wanted;	    /* as in symbol_options */
	bool (*may_read)(void *arg);
	bool (*hurry)(void *arg);
	void *arg;
	bool hurries, hurried;	  /* as that read was told; and that it was */
	size_t nr_hurried;	  /* frames that have no lines for it */
	uint64_t lines_until_ns;  /* when those of the file that is read are given up; 0 = never */
	size_t nr_given_up;	  /* frames that have no lines for that */
	size_t nr_read, nr_known; /* files that were read, frames that were known without */
	size_t nr_late;		  /* frames whose files could not be read so far */
	uint64_t until_ns;	  /* as in symbol_options */
	uint64_t servers_ns;	  /* until when servers may be asked, 0 = never */
	size_t first_module;	  /* that was not there before: those of the kernel */
	uint32_t raw;		  /* the name seen last, as the symbol table has it */
	uint32_t shown;		  /* and what it was demangled to */
	struct reader_cost cost;  /* of reading */
	struct reader_left own_left, *left; /* those who read and hang on; own unless kept */
	struct reader_late *late;	    /* those who write what is kept; or NULL */
	uint32_t nr_hung;		    /* files whose names were not to be had in time */
	uint64_t hung_ns, ended_ns;	    /* lost to them, and to readers that somebody ended */
	uint32_t nr_told;		    /* and those that had none at all */
	struct lacks lacks;		    /* why names are missing */
};

/* symbolizer.c */

const struct frame *symbolizer_frame(const struct symbolizer *s, size_t i);
/* is_frame: a frame is there, which may be returned to. */
void symbolizer_ask(struct symbol_sources *sources, const struct symbol_module *m, uint64_t address,
		    bool is_frame, struct answer *a);
void symbolizer_take(struct symbolizer *s, uint32_t frame, const struct symbol_module *m,
		     const struct answer *a);
/* What a file says of itself, once; and whether that is there. */
bool symbolizer_is_described(const struct profile *p, uint32_t module);
void symbolizer_describe(struct symbolizer *s, const struct answers_head *head, uint32_t module);
/* What a file's debug information leads to, and is not there. */
void symbolizer_note_missing(struct symbolizer *s, const struct symbol_missing *m, uint32_t module);

/* symbolizer_file.c */

/*
 * Names the frames [from, to) by what their file says, now or before; addresses: of the module,
 * which it writes to.
 */
void symbolizer_name_file(struct symbolizer *s, struct symbol_module *m,
			  const struct symbol_file *file, uint64_t *addresses, size_t from,
			  size_t to);

/* symbolizer_patience.c */

/* For the names of one file, besides its lines. */
struct patience {
	uint64_t time_ns;
	uint64_t idle_ns; /* that it may wait for a disk, say */
};

struct patience symbolizer_patience(const struct symbolizer *s, const struct symbol_file *file);
/* With what its lines may take; generated code has none that are read by themselves. */
uint64_t symbolizer_time(const struct symbolizer *s, const struct symbol_module *m, uint64_t ns);
/* As reader_copy_run(), tried again; or -EBUSY or -ECANCELED: too much time was lost so far. */
int symbolizer_run_copy(struct symbolizer *s, const struct reader_copy *c, struct symbol_module *m,
			const struct symbol_file *file, struct reader_answer *got);
void symbolizer_tell_hung(struct symbolizer *s, const char *path, int err);

#endif

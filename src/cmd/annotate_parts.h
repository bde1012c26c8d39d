/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpfprof annotate brings to a recording: machine code of files, and source text. */
#ifndef BPFPROF_CMD_ANNOTATE_PARTS_H
#define BPFPROF_CMD_ANNOTATE_PARTS_H

#include "base/opt.h"
#include "profile/annotation.h"

/*
 * Adds the instructions of all functions, each with its line, from the files that the recording
 * names, below a folder ("" = /). A file that is gone, or is another one than was recorded, is
 * noted in the annotations.
 */
void annotate_code(struct annotations *all, const char *root);

/*
 * Adds the text of the source files that finished annotations have lines of: of a path from DWARF,
 * or below one of the folders, which are asked first, under any end of the path.
 */
void annotate_source(struct annotations *all, const struct opt_strings *folders);

/*
 * What annotate prints about functions of that name, at most so many columns wide. NULL: there is
 * none, logged. To be freed.
 */
char *annotate_text(const struct profile *p, const struct view *v, const char *name, size_t width);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Output files that are whole or absent. A file is written beside its final name, without a name of
 * its own where the file system can do that, and takes the name in one step when everything is on
 * disk. Until then, and after any failure, an older file of that name stays as it was.
 *
 * What cannot be replaced is written directly: "-" and /dev/stdout, /dev/null, FIFOs, terminals.
 */
#ifndef BPFPROF_BASE_OUTFILE_H
#define BPFPROF_BASE_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct outfile;

/*
 * Call before the work whose result goes to path: everything that can be found out early fails
 * here, and so do links and FIFOs that others have put there. Returns NULL with errno set after a
 * message that names path and the reason.
 */
struct outfile *outfile_open(const char *path);
/* The same for a name in a folder, whose descriptor stays the caller's. */
struct outfile *outfile_open_at(int dir, const char *name);

/* Its permissions, instead of 0600 or those of the file that it replaces; 0 = these. */
void outfile_set_mode(struct outfile *o, mode_t mode);

/*
 * Does it take more than the rights of a folder's owner to write there: the folder is another
 * user's, or its files shall be? dir: its descriptor, or AT_FDCWD.
 */
bool outfile_needs_rights(const struct outfile *o);
bool outfile_folder_needs_rights(int dir);

/* To print to; not to be closed. It has no descriptor of its own: no fileno(). */
FILE *outfile_stream(struct outfile *o);

/*
 * Makes the file appear. Frees o in any case. Returns 0, or a negative errno after a message, when
 * any write so far, or this, failed. Run through sudo, a new file in a directory that the caller's
 * user can write belongs to that user.
 */
int outfile_commit(struct outfile *o);

/*
 * Standard output is complete: it is flushed and closed, so that whoever reads it waits for nobody;
 * what is printed to it from now on goes nowhere. 0, or negative errno after a message, when any
 * write failed. That nobody reads it any more (head, less) is no failure. May be called again.
 */
int outfile_end_stdout(void);
/* The same, but for the end: more will be printed. */
int outfile_flush_stdout(void);

/* Drops what was written and frees o; NULL is fine. */
void outfile_abort(struct outfile *o);

#endif

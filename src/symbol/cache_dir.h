/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where answers are kept on disk from one run to the next: $CACHE_DIRECTORY, which systemd sets for
 * services, else /var/cache/bpfprof for root, $XDG_CACHE_HOME/bpfprof or ~/.cache/bpfprof for
 * others. The folder (0700) and its files (0600) have to belong to whoever runs this, and nobody
 * else may write there; else nothing is read or written. Files appear whole. Together they take
 * CACHE_MAX_BYTES at most: those that were not used for longest go first. This is the only place
 * that opens them.
 */
#ifndef BPFPROF_SYMBOL_CACHE_DIR_H
#define BPFPROF_SYMBOL_CACHE_DIR_H

#include <stddef.h>
#include <stdint.h>

#define CACHE_MAX_BYTES	     (256ull << 20)
#define CACHE_MAX_FILE_BYTES (128ull << 20)

/* The folder, made when it is missing; -1 when there is none to be used. To be closed. */
int cache_dir_open(void);

/* The same of a folder by its path, whose parent exists. */
int cache_dir_open_at(const char *path);

/* A file to be read, marked as used now; -1 when there is none. */
int cache_dir_read(int dir, const char *name);

/* A file without a name yet, to be written; -1 when that cannot be. */
int cache_dir_write(int dir);

/* Gives it its name, in place of an older one, makes room, and closes it. */
void cache_dir_keep(int dir, int fd, const char *name);

#endif

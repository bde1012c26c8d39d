/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tells an open file from all others, and from itself as it was before it changed, for who
 * keeps what a file says. The kernel says so, not the file: a build-id is a claim that anybody can
 * make.
 */
#ifndef BPFPROF_BASE_FILE_ID_H
#define BPFPROF_BASE_FILE_ID_H

#include <stdbool.h>
#include <stdint.h>

struct file_id {
	uint64_t dev, ino, size, changed_ns; /* all 0: nothing may be kept of it */
};

/*
 * Nothing may be kept of a file that changed in the last two seconds, and may change again within a
 * tick of its clock; of one whose file system is a program (FUSE), which may say what it likes, or
 * on another machine, which may be down; and of what is no file. A file system may never answer
 * this: who asks must not matter. Who has an answer may ask again.
 */
struct file_id file_id_read(int fd);
bool file_id_is_known(const struct file_id *id);
bool file_id_equals(const struct file_id *a, const struct file_id *b);
/* It is known, and still what the file has. */
bool file_id_holds(const struct file_id *id, int fd);

#endif

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
	uint64_t dev, ino, size;
	uint64_t changed_ns; /* its bytes or whatever else there is of it; CLOCK_REALTIME */
	uint64_t written_ns; /* its bytes; who owns it can set this to what he likes */
};			     /* all 0: nobody can tell whether it is another one by now */

/*
 * That is so with a file whose file system is a program (FUSE), which may say what it likes, or on
 * another machine, which may be down; and with what is no file. A file system may never answer
 * this: who asks must not matter.
 */
struct file_id file_id_read(int fd);
/* Of a file that has one, as it is now: this never waits. */
struct file_id file_id_again(int fd);

bool file_id_is_known(const struct file_id *id);
bool file_id_equals(const struct file_id *a, const struct file_id *b);
/*
 * Was nothing written between them? A file that was linked, unlinked or given to somebody else has
 * changed, too, and has its bytes all the same.
 */
bool file_id_has_bytes_of(const struct file_id *a, const struct file_id *b);
/*
 * It has not changed in the last two seconds; else it may change again within a tick of its clock,
 * and what is read now must not be kept.
 */
bool file_id_is_settled(const struct file_id *id);

#endif

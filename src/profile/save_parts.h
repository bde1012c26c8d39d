/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What of a profile reaches a file, for save.c and load.c only. */
#ifndef BPFPROF_PROFILE_SAVE_PARTS_H
#define BPFPROF_PROFILE_SAVE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

#define FILE_VERSION  SHARED_STREAM
#define SHARED_STREAM 8 /* ... and parts of these that go on: who knows of none would find damage */
#define SHARED	      7 /* of windows that share names: who knows of none would miss them */
#define TIMELINES     6 /* who knows of none would show nothing */
#define CALLS	      5 /* of calls: who knows of none would show samples */
#define HISTOGRAMS    4 /* who knows of none would show nothing */
#define MANY_EVENTS   3 /* of several events: who knows of none would add them up */
#define ONE_EVENT     2 /* the version of all others */

struct file_head {
	char magic[8];
	uint32_t version, nr_sections;
};

struct section_head {
	char tag[4];
	uint32_t crc;
	uint64_t len; /* bytes that follow, padded to 8 */
};

/* A named number; the name and string values are ids in the file's own string table. */
struct pair {
	uint32_t name, pad;
	uint64_t value;
};

/* The bit of a word in a row, for tables whose rows have ids of strings. */
#define WORD(row, x) (1u << offsetof(struct row, x) / sizeof(uint32_t))

/* A fact of struct profile_meta. */
struct fact {
	const char *name;
	size_t offset;
	bool is_string;
};
extern const struct fact save_facts[];
extern const size_t save_nr_facts;

uint64_t save_fact(const struct profile *p, const struct fact *f);
void save_set_fact(struct profile *p, const struct fact *f, uint64_t value);

/* A table of a profile; all of them in the order of the file. */
struct table {
	char tag[5];
	bool late;   /* files from before it came do not have it */
	bool shared; /* by windows, see profile/save.h */
	size_t size, rows, nr;
	uint32_t strings; /* a bit for each word of a row that is one's id */
};
extern const struct table save_tables[];
extern const size_t save_nr_tables;

/* Of a window: which file beside it has its strings and shared tables, and how much of that. */
#define SHARED_TAG  "SHRD"
#define SHARED_NAME 64
struct shared_head {
	char file[SHARED_NAME];
	uint64_t bytes;
};

/*
 * In front of each part of such a file, which is packed as a window is (before version 8), or goes
 * on with the ones before it. All parts of a file are alike.
 */
#define SHARED_GOES_ON 1
struct shared_part {
	uint32_t bytes, how;
};

#define MOST_SECTIONS 64 /* that are read: those of later versions, too */

/* How far a file that was truncated goes. */
struct left {
	size_t table;	 /* of save_tables, that is cut or the first that is missing */
	uint64_t of;	 /* rows that it had; 0: not known */
	bool incomplete; /* else the file is whole */
};

/*
 * Makes what is left of a profile one that refers to nothing that is missing. False: nothing is
 * left that could be shown.
 */
bool left_repair(struct profile *p, const struct left *left);
/* "12 of 400 samples are left"; to be freed. */
char *left_text(const struct profile *p, const struct left *left);

void **save_rows(const struct table *t, const struct profile *p);
size_t *save_nr(const struct table *t, const struct profile *p);

#endif

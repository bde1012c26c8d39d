/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What sources of names say of a module, as bytes: from whoever asked them to whoever writes it
 * into the profile, which may be two processes. So reading believes nothing.
 */
#ifndef BPFPROF_SYMBOL_ANSWERS_H
#define BPFPROF_SYMBOL_ANSWERS_H

#include "symbol/crate_version.h"
#include "symbol/source.h"

#define ANSWERS_MAX_LINK   96
#define ANSWERS_MAX_LINKED 4 /* who has more was not made by a linker */

/* Why it may lack names: bits of answers_head.lacks. */
enum {
	ANSWERS_NO_ELF = 1,
	ANSWERS_NO_SECTIONS = 2, /* its section table does not lie in it */
	ANSWERS_NO_BUILD_ID = 4,
	ANSWERS_LINK_IS_OTHER = 8,
	ANSWERS_NO_TABLE = 16,	/* it has no section table */
	ANSWERS_MAP_LINES = 32, /* of generated code: no line of its perf map is one */
	ANSWERS_MAP_LARGE = 64, /* ... it was read to JIT_FILE_MAX only */
};

/* Of the module. */
struct answers_head {
	uint64_t nr_late, deadline_ns; /* as in struct symbol_lines */
	uint8_t build_id[20];
	uint8_t build_id_len;
	uint8_t nr_linked;
	uint8_t lacks, server;			  /* enum debuginfod_answer */
	uint16_t server_status;			  /* of one that failed */
	struct linked linked[ANSWERS_MAX_LINKED]; /* its executable parts */
	char tokio[CRATE_VERSION_BYTES];	  /* its version, "" = none */
	struct symbol_missing missing;
	char link[ANSWERS_MAX_LINK]; /* of a debug file that it has not; it may be cut */
};

/* Of an address: what was found, in the order of the addresses. */
struct answer {
	struct symbol_found found; /* chain, and where else it holds */
	uint64_t place;		   /* what to call it by, when there is no name */
	bool is_entry;
};

struct answers {
	uint8_t *bytes;
	size_t nr, max; /* used, and room for; what does not fit is left out */
};

void answers_begin(struct answers *a, const struct answers_head *head);
void answers_put(struct answers *a, const struct answer *one);
size_t answers_size(const struct answer *one);

/* Begins to read: false when there is not even a head. */
bool answers_read(struct answers *a, struct answers_head *head);
/* The next one; strings lie in the bytes. False: there are no more, or it makes no sense. */
bool answers_next(struct answers *a, struct answer *one);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One function with what each of its instructions and source lines cost. Who made it may say what
 * code the function has (annotation_add_insn) and what stands in source files
 * (annotation_add_file); annotation_finish() puts the costs where they belong. What nobody said of
 * an address, the recording did: its function, file and line.
 *
 * A line is of a file and of a function, the annotated one or one that was inlined: inlined code
 * has lines of its own.
 */
#ifndef BPFPROF_PROFILE_ANNOTATION_H
#define BPFPROF_PROFILE_ANNOTATION_H

#include "profile/costs.h"

/* Strings are those of annotation.strings, 0 = not known. */
struct annotation_insn {
	uint32_t module;  /* of the profile, as in struct frame */
	uint32_t len;	  /* bytes; 0 = the code is not known */
	uint64_t offset;  /* as in struct frame */
	uint64_t address; /* as linked, else the offset */
	uint32_t text;	  /* as an assembler has it */
	uint32_t line;	  /* index of lines */
};

struct annotation_line {
	uint32_t function, file, line;
	bool inlined;
	uint32_t first, nr; /* of annotation.by_line: its instructions, by address */
};

/* A source file in memory. */
struct annotation_file {
	uint32_t file;
	char *text;
	size_t sz;
	size_t *starts; /* of its lines */
	size_t nr_lines;
};

/* Where code lies, when that is not known of the frame itself. */
struct annotation_place {
	uint32_t function, file, line;
	bool inlined;
};

struct annotation {
	const struct costs *costs;
	struct cost_function function;
	bool of_all;
	struct strings strings;
	char *note;			 /* sentences, a line each; NULL = none */
	struct annotation_insn *insns;	 /* by module and address */
	struct annotation_place *places; /* of insns, until it is finished */
	struct cost *insn_costs;	 /* nr_events of each */
	size_t nr_insns, cap_insns, cap_places;
	struct annotation_line *lines; /* by file, function and line */
	struct cost *line_costs;
	size_t nr_lines, cap_lines;
	uint32_t *by_line; /* instructions, by line and address */
	uint32_t *hottest; /* lines with a cost, most of the event first */
	size_t nr_hottest;
	struct annotation_file *files;
	size_t nr_files, cap_files;
};

/* Of a function by its number; c must stay. */
struct annotation *annotation_new(const struct costs *c, size_t function);
/* Of all code: lines are of files only, whatever function they were put into. */
struct annotation *annotation_new_of_all(const struct costs *c);
void annotation_free(struct annotation *a);

/* Its own frames, leaf addresses of samples, by module and offset. */
const uint32_t *annotation_frames(const struct annotation *a, size_t *nr);

/*
 * An instruction, at a place that stands in frame of another profile, which knows about names and
 * lines of that code. In any order, each once.
 */
void annotation_add_insn(struct annotation *a, const struct annotation_insn *insn, const char *text,
			 const struct profile *from, uint32_t frame);

/* A sentence without an end about what is missing. Told twice, it is kept once. */
__attribute__((format(printf, 2, 3))) void annotation_note(struct annotation *a, const char *format,
							   ...);

void annotation_finish(struct annotation *a);

/* The text of a file, once finished; taken over. */
void annotation_add_file(struct annotation *a, uint32_t file, char *text, size_t sz);

/* A line of a file, without its end, NULL when that is not known. */
const char *annotation_source(const struct annotation *a, uint32_t file, uint32_t line,
			      size_t *len);

static inline const char *annotation_str(const struct annotation *a, uint32_t string)
{
	return a->strings.bytes + string;
}

/* By event. */
const struct cost *annotation_insn_cost(const struct annotation *a, size_t insn);
const struct cost *annotation_line_cost(const struct annotation *a, size_t line);

/* enum frame_kind of its first frame. */
uint32_t annotation_kind(const struct annotation *a);

/* What annotate shows: functions, or the lines of all. */
struct annotations {
	const struct profile *profile;
	struct costs costs;
	struct annotation **v;
	size_t nr;
	bool file_lines; /* v has one, of all functions */
	/* For people: all lines; all instructions of lines that are shown, or none. */
	bool whole, all_insns, no_insns;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "python/offsets.h"

#include <string.h>

#include "python/build.h"

#define FRAME_OF_C 3 /* from 3.12 on: FRAME_OWNED_BY_CSTACK */

/* struct _frame, and struct _PyInterpreterFrame from 3.11 on. */
static const struct {
	uint32_t version;
	struct python_offsets o;
} tables[] = {
	{ PYTHON_VERSION(3, 8),
	  { .frame = { .newest = 24,
		       .newest_in = PYTHON_NONE,
		       .previous = 24,
		       .code = 32,
		       .at = 104,
		       .at_shift = 32,
		       .span = 112 },
	    .code = { .first_line = 40,
		      .file = 104,
		      .name = 112,
		      .lines = 120,
		      .ascii = 48,
		      .compact = 72,
		      .how = LINES_LNOTAB },
	    .threads = 8,
	    .interpreters = 32,
	    .thread = 176,
	    .key = 1396 } },
	{ PYTHON_VERSION(3, 9),
	  { .frame = { .newest = 24,
		       .newest_in = PYTHON_NONE,
		       .previous = 24,
		       .code = 32,
		       .at = 104,
		       .at_shift = 32,
		       .span = 112 },
	    .code = { .first_line = 40,
		      .file = 104,
		      .name = 112,
		      .lines = 120,
		      .ascii = 48,
		      .compact = 72,
		      .how = LINES_LNOTAB },
	    .threads = 8,
	    .interpreters = 32,
	    .thread = 176,
	    .key = 588 } },
	{ PYTHON_VERSION(3, 10),
	  { .frame = { .newest = 24,
		       .newest_in = PYTHON_NONE,
		       .previous = 24,
		       .code = 32,
		       .at = 96,
		       .at_shift = 32,
		       .unit_shift = 1,
		       .span = 104 },
	    .code = { .first_line = 40,
		      .file = 104,
		      .name = 112,
		      .lines = 120,
		      .ascii = 48,
		      .compact = 72,
		      .how = LINES_LINETABLE },
	    .threads = 8,
	    .interpreters = 32,
	    .thread = 176,
	    .key = 588 } },
	{ PYTHON_VERSION(3, 11),
	  { .frame = { .newest = 56,
		       .newest_in = 8,
		       .code = 32,
		       .previous = 48,
		       .at = 56,
		       .entry = 68,
		       .entry_mask = 0xff,
		       .entry_is = 1,
		       .span = 72,
		       .header = 184 },
	    .code = { .first_line = 72,
		      .file = 112,
		      .name = 120,
		      .qualname = 128,
		      .lines = 136,
		      .ascii = 48,
		      .compact = 72,
		      .how = LINES_LOCATIONS },
	    .threads = 16,
	    .interpreters = 40,
	    .thread = 152,
	    .key = 596 } },
	{ PYTHON_VERSION(3, 12),
	  { .frame = { .newest = 56,
		       .newest_in = 0,
		       .code = 0,
		       .previous = 8,
		       .at = 56,
		       .entry = 70,
		       .entry_mask = 0xff,
		       .entry_is = FRAME_OF_C,
		       .is_shim = 1,
		       .span = 72,
		       .header = 192 },
	    .code = { .first_line = 68,
		      .file = 112,
		      .name = 120,
		      .qualname = 128,
		      .lines = 136,
		      .ascii = 40,
		      .compact = 56,
		      .how = LINES_LOCATIONS },
	    .threads = 72,
	    .interpreters = 40,
	    .thread = 136,
	    .key = 1548 } },
};

/* struct _Py_DebugOffsets: 64-bit numbers in groups, each of which begins with a size. */
#define COOKIE	   "xdebugpy"
#define MAX_FIELDS 64
enum { VERSION = 1, FREE_THREADED = 2, RUNTIME = 3, INTERPRETER = 6 };
/* In their groups: */
enum { RUNTIME_INTERPRETERS = 2 };
enum { INTERPRETER_THREADS = 3 };
enum { THREAD_NEXT = 2, THREAD_INTERP = 3, THREAD_FRAME = 4, THREAD_ID = 5, NR_THREAD = 9 };
enum { FRAME_PREVIOUS = 1, FRAME_CODE = 2, FRAME_AT = 3, FRAME_OWNER = 5 };
enum { CODE_FILE = 1, CODE_NAME = 2, CODE_QUALNAME = 3, CODE_LINES = 4, CODE_FIRST_LINE = 5 };

/* Groups that have grown. Of a code object the size is that of its header. */
static const struct groups {
	uint32_t version;
	unsigned int nr_interpreter, nr_frame, code_header, key;
} groups[] = {
	{ PYTHON_VERSION(3, 13), 13, 6, 9, 2164 },
	{ PYTHON_VERSION(3, 14), 16, 8, 9, 2340 },
};

/* Offsets of anything sane. */
static bool are_sane(const uint64_t *fields, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (fields[i] >= 0xffff)
			return false;
	return true;
}

static bool take_debug(struct python_offsets *o, const struct groups *g, const uint64_t *fields)
{
	const uint64_t *interpreter = fields + INTERPRETER,
		       *thread = interpreter + g->nr_interpreter, *frame = thread + NR_THREAD,
		       *code = frame + g->nr_frame;

	if (!are_sane(fields + RUNTIME + RUNTIME_INTERPRETERS, 1) || !are_sane(thread, NR_THREAD) ||
	    !are_sane(frame, g->nr_frame) || !are_sane(code, g->code_header + 1) ||
	    !are_sane(interpreter + INTERPRETER_THREADS, 1))
		return false;
	*o = (struct python_offsets){
		.frame = { .newest = thread[THREAD_FRAME],
			   .newest_in = PYTHON_NONE,
			   .code = frame[FRAME_CODE],
			   .previous = frame[FRAME_PREVIOUS],
			   .at = frame[FRAME_AT],
			   .entry = frame[FRAME_OWNER],
			   .entry_mask = 0xff,
			   .entry_is = FRAME_OF_C,
			   .is_shim = 1,
			   .header = code[g->code_header] },
		.code = { .first_line = code[CODE_FIRST_LINE],
			  .file = code[CODE_FILE],
			  .name = code[CODE_NAME],
			  .qualname = code[CODE_QUALNAME],
			  .lines = code[CODE_LINES],
			  .ascii = 40,
			  .compact = 56,
			  .how = LINES_LOCATIONS },
		.interpreters = fields[RUNTIME + RUNTIME_INTERPRETERS],
		.threads = interpreter[INTERPRETER_THREADS],
		.next = thread[THREAD_NEXT],
		.thread = thread[THREAD_ID],
		.key = g->key,
	};
	o->frame.span = (o->frame.entry | 7) + 1;
	return thread[THREAD_INTERP] == PYTHON_THREAD_INTERP && !(o->frame.code & 7) &&
	       !(o->frame.previous & 7) && !(o->frame.at & 7) && o->frame.code < o->frame.span &&
	       o->frame.previous < o->frame.span && o->frame.at < o->frame.span &&
	       o->frame.span < PYTHON_WORDS * 8;
}

static bool get_debug(struct python_offsets *o, uint32_t version, const struct memory *m,
		      uint64_t runtime)
{
	uint64_t fields[MAX_FIELDS];

	if (!memory_read(m, runtime, fields, sizeof(fields)) ||
	    memcmp(fields, COOKIE, sizeof(*fields)) || fields[VERSION] >> 16 != version)
		return false;
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if (groups[i].version == version)
			return take_debug(o, &groups[i], fields);
	return false;
}

bool python_offsets_get(struct python_offsets *o, uint32_t version, const struct memory *m,
			uint64_t runtime)
{
	if (version >= PYTHON_VERSION(3, 13))
		return get_debug(o, version, m, runtime);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		if (tables[i].version != version)
			continue;
		*o = tables[i].o;
		o->next = 8;
		return true;
	}
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of a profile and the stacks that are made of them. Their tables belong to this file:
 * everybody else reads and names frames through the functions below.
 *
 * A frame is one exact location, and so has one function that the linker knows; the compiler may
 * have put others into it, of which views show all.
 */
#ifndef BPFPROF_PROFILE_FRAME_H
#define BPFPROF_PROFILE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/prof.h"

struct profile;

/* Values reach the saved file: append only. */
enum frame_kind {
	FRAME_NONE = 0,
	FRAME_USER = 1,	  /* code of a file: module and offset are set */
	FRAME_KERNEL = 2, /* offset is the address until the symbolizer makes name + offset of it */
	FRAME_ANON = 3,	  /* executable memory without a file, JIT code: offset is the address */
	FRAME_UNKNOWN = 4, /* nothing is known of the address */
	FRAME_PYTHON = 5,  /* a function of Python: offset is a word of bpf/python.h */
	FRAME_NR_KINDS,
};

struct frame {
	uint64_t offset;  /* bytes into the file; of a return address minus one: in the call */
	uint32_t module;  /* 0 = none */
	uint32_t name;	  /* what to show: demangled, or "[module+0xaddr]"; 0 until symbolized */
	uint32_t linkage; /* as in the symbol table; 0 when there is no other than name */
	uint32_t kind;	  /* enum frame_kind */
};

/* A function that code at a frame belongs to. */
struct frame_function {
	uint32_t name, linkage; /* as in struct frame */
	uint32_t file;		/* of the source code, a string; 0 = not known */
	uint32_t line; /* in that file: of the code, or of the call to the function further in */
};

/* What is known of a frame beyond its name; frames behind the table's end have none of it. */
struct frame_detail {
	uint32_t first, nr;  /* functions that were put into the frame's own, innermost first */
	uint32_t file, line; /* of the frame's own function */
};

/* A frame's own and those put into it, at most. */
#define FRAME_MAX_FUNCTIONS 32

/* What generated code is called that nobody has a better name for. */
#define PROFILE_JIT "[jit]"
/* And a function of Python whose process was gone before its name was read. */
#define PROFILE_PYTHON "[python]"

enum module_kind {
	MODULE_FILE = 0,
	MODULE_GENERATED = 1, /* the generated code of one process, while it ran one program */
};

struct module {
	uint32_t path; /* as the process saw it; "[jit]" of generated code */
	union {
		uint8_t build_id[20]; /* of a file: zero-filled when shorter or unknown */
		struct {	      /* of generated code: whose it was */
			uint32_t pid;
			uint32_t unused[4];
		};
	};
	uint8_t build_id_len; /* of generated code 0 */
	uint8_t kind;	      /* enum module_kind */
	uint8_t pad[2];
};

enum stack_flags {
	STACK_ROOTED = 1, /* the outermost frame is a thread's entry: nothing is missing */
};

struct stack {
	uint32_t first; /* into stack_frames; leaf first */
	uint32_t nr;
	uint8_t end; /* enum unwind_end */
	uint8_t flags;
	uint8_t guessed; /* frames found by frame pointer for want of unwind data, at most 255 */
	uint8_t pad;
};

/* Entry 0 of both tables; and all memory of frames and stacks. */
void profile_frames_init(struct profile *p);
void profile_frames_release(struct profile *p);
/*
 * Of an empty profile: the tables of another one. Frames without a name get that one, and those of
 * the kernel no address. No frame or stack can be added then.
 */
void profile_frames_copy(struct profile *to, const struct profile *from, uint32_t nameless);

/* Interning: the same content gives the same id. */
uint32_t profile_frame(struct profile *p, enum frame_kind kind, uint32_t module, uint64_t offset);
/* Copies the frame ids. Interned as well: the same code of another process is the same stack. */
uint32_t profile_stack(struct profile *p, const uint32_t *frames, size_t nr, enum unwind_end end,
		       uint32_t guessed);

/* Reading. Pointers move on the next add. */
/* The frame ids of a stack, leaf first. */
const uint32_t *profile_stack_frames(const struct profile *p, uint32_t stack, uint32_t *nr);
/* The outermost frame of a stack, 0 when it has none; the innermost one likewise. */
uint32_t profile_stack_root(const struct profile *p, uint32_t stack);
uint32_t profile_stack_leaf(const struct profile *p, uint32_t stack);
const struct frame *profile_frame_at(const struct profile *p, uint32_t frame);
/* The functions of a frame, at least one: i = 0 is the innermost, the last is the frame's own. */
uint32_t profile_frame_functions(const struct profile *p, uint32_t frame);
struct frame_function profile_frame_function(const struct profile *p, uint32_t frame, uint32_t i);
/* What to show of the frame's own function, "" before there is a name. */
const char *profile_frame_name(const struct profile *p, uint32_t frame);
/* What a function is called where the linker or a compiler reads: a string. */
uint32_t function_key(const struct frame_function *f);
/*
 * The module that views show a frame under: 0 of generated code, which has no file, so that the
 * processes that run it are shown as one.
 */
uint32_t profile_frame_module(const struct profile *p, uint32_t frame);
/* The name that the linker knows, which may be the one to show. */
const char *profile_frame_linkage(const struct profile *p, uint32_t frame);

/* Writing names: those who find them out, and nobody else. Both are strings, linkage 0 = none. */
void profile_name_frame(struct profile *p, uint32_t frame, uint32_t name, uint32_t linkage);
/* The same with all functions, as profile_frame_function() will give them: 1 to the maximum. */
void profile_set_functions(struct profile *p, uint32_t frame, const struct frame_function *chain,
			   uint32_t nr);
/* Where code lies turns out to be another module; the frame keeps its id. */
void profile_move_frame(struct profile *p, uint32_t frame, uint32_t module, uint64_t offset);

#endif

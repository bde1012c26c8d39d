/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses to frames of the profile, as of the moment they were seen. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/capture_parts.h"
#include "proc/maps.h"

/* An address that nothing explains may make us read /proc/PID/maps again, so often. */
#define RECHECK_NS 1000000000ull

#define MAX_IDS (2 * PROF_MAX_FRAMES) /* native frames, and those of Python */

/* Mappings that were made about when addresses last changed hands, of a library's several. */
#define REUSE_NS 10000000ull

void capture_put_source(struct capture *c, uint32_t module, struct symbol_file source)
{
	while (c->nr_sources <= module) {
		c->sources = xgrow(c->sources, c->nr_sources, &c->cap_sources, sizeof(*c->sources));
		c->sources[c->nr_sources++] = (struct symbol_file){ .fd = -1 };
	}
	c->sources[module] = source;
}

static void vdso_line(void *arg, const struct maps_line *line)
{
	struct symbol_file *source = arg;

	if (!strcmp(line->path, "[vdso]"))
		*source = (struct symbol_file){ .fd = -1,
						.image = (void *)line->start,
						.image_sz = line->end - line->start };
}

/* All 64-bit processes have the same vDSO, so ours serves. */
static struct symbol_file vdso_source(void)
{
	struct symbol_file source = { .fd = -1 };

	maps_read(getpid(), vdso_line, &source);
	return source;
}

/*
 * The profile's module of a mapped file as it was then. On first sight the file is opened, while
 * the process that mapped it still lives.
 */
static uint32_t module_of(struct capture *c, const struct process *p, const struct proc_mapping *m,
			  uint64_t time_ns)
{
	struct proc_file *f = proc_file_at(c->procs, m->file, time_ns, false);

	if (f->module)
		return f->module;
	f->module = profile_add_module(c->profile, f->path);
	if (f->path[0] == '[') {
		capture_put_source(c, f->module, vdso_source());
		return f->module;
	}
	proc_file_open(f, p->pid, m);
	capture_put_source(c, f->module, (struct symbol_file){ .fd = f->fd, .id = f->id });
	return f->module;
}

/*
 * Side-band records can be lost, and processes older than the recording may have been missed: ask
 * /proc, but not often.
 */
const struct proc_mapping *capture_find_mapping(struct capture *c, struct process *p, uint64_t addr,
						uint64_t time_ns)
{
	const struct proc_mapping *m = proc_mapping_at(p, addr, time_ns);

	if (m || p->exit_ns || time_ns < p->checked_ns + RECHECK_NS)
		return m;
	if (proc_snapshot(c->procs, p->pid, time_ns))
		p->checked_ns = time_ns;
	return proc_mapping_at(p, addr, time_ns);
}

struct process *capture_find_process(struct capture *c, const struct arena_stack *s)
{
	struct process *p = proc_find(c->procs, s->pid);

	if (!p && !proc_snapshot(c->procs, s->pid, s->time_ns))
		p = proc_find(c->procs, s->pid);
	if (p)
		p->sampled = true;
	return p;
}

/*
 * Return addresses are looked up one byte lower: a call can be the last instruction of its
 * function.
 */
static uint64_t lookup_address(const struct arena_stack *s, uint32_t i)
{
	return PROF_FRAME_ADDRESS(s->frames[i]) - (i > 0 && !(s->frames[i] & PROF_FRAME_EXACT));
}

/* The profile's module of the code that a process generated. */
static uint32_t generated_of(struct capture *c, const struct process *p, uint64_t time_ns)
{
	struct proc_image *image = proc_image_at(p, time_ns);
	const struct jit_opener opener = { capture_open_jit, c };
	struct symbol_file source = { .fd = -1 };

	if (image->module)
		return image->module;
	image->module = profile_add_generated(c->profile, p->pid);
	source.jit = jit_files_new(p->pid, &opener);
	if (source.jit)
		jit_files_find_dump(source.jit, image);
	capture_put_source(c, image->module, source);
	return image->module;
}

static uint32_t user_frame(struct capture *c, struct process *p, const struct proc_mapping *m,
			   uint64_t addr, uint64_t time_ns)
{
	if (!m->file)
		return profile_frame(c->profile, FRAME_ANON, generated_of(c, p, time_ns), addr);
	return profile_frame(c->profile, FRAME_USER, module_of(c, p, m, time_ns),
			     addr - m->start + m->file_offset);
}

/*
 * The kernel left this frame by a table of other code, since it had not yet been told that the
 * addresses have changed hands: what it found beyond is nothing.
 */
static bool was_left_wrong(const struct process *p, const struct proc_mapping *m, uint64_t time_ns)
{
	return p->reused_ns && m->from_ns && m->from_ns <= time_ns && time_ns < p->listed_ns &&
	       m->from_ns >= p->reused_ns - REUSE_NS;
}

/* By the first native frame that is of an interpreter. */
static const struct python_program *find_python(struct capture *c, struct process *p,
						const struct arena_stack *s)
{
	const struct python_program *program = NULL;
	const struct proc_mapping *m;

	for (uint32_t i = 0; i < s->nr_frames && !program; i++) {
		m = proc_mapping_at(p, lookup_address(s, i), s->time_ns);
		if (m && m->file && m->file->has_python)
			program =
				capture_python_find(&c->python, p, proc_image_at(p, s->time_ns), m);
	}
	return program;
}

void capture_read_python(struct capture *c, struct process *p, struct defer_item *item,
			 const struct arena_stack *s)
{
	const struct python_program *program = find_python(c, p, s);

	if (program)
		capture_python_read(&c->python, program, item);
}

#define NOWHERE (UINT32_MAX - 1) /* of frames in a stack */

static bool is_complete(enum unwind_end end)
{
	return end == UNWIND_END_CFI_ROOT || end == UNWIND_END_ROOT || end == UNWIND_END_ENTRY;
}

/* NULL: the stack has no such frames. */
static const struct python_program *begin_python(struct capture *c, struct process *p,
						 const struct arena_stack *s,
						 struct python_merge *merge)
{
	const struct python_program *program = p && s->nr_python ? find_python(c, p, s) : NULL;
	uint64_t addresses[PROF_MAX_FRAMES];

	if (!program)
		return NULL;
	c->python.nr_stacks++;
	c->python.nr_cut += s->python[s->nr_python - 1] != PYTHON_WHOLE;
	for (uint32_t i = 0; i < s->nr_frames; i++)
		addresses[i] = lookup_address(s, i);
	python_merge_begin(merge, &program->found, s, addresses, is_complete(s->end));
	return program;
}

/* What became of the calls of the evaluator that were last seen: where they are in the stack. */
struct evaluator {
	uint32_t at;	     /* it has gone */
	uint32_t trampoline; /* what the program generated and what called it */
	bool has_words;	     /* frames of Python are in its place */
};

/* The frames of Python in the place of one of the evaluator, i. False: it stays. */
static bool add_python(struct capture *c, struct process *p, const struct arena_stack *s,
		       const struct python_program *program, struct python_merge *merge, uint32_t i,
		       struct evaluator *e, uint32_t *ids, uint32_t *nr)
{
	const uint64_t *words;
	size_t nr_words;

	if (!python_merge_next(merge, lookup_address(s, i), &words, &nr_words) ||
	    (!nr_words && !*nr && i + 1 == s->nr_frames))
		return false;
	*e = (struct evaluator){ i, NOWHERE, nr_words };
	for (size_t k = 0; k < nr_words && *nr < MAX_IDS; k++)
		ids[(*nr)++] = capture_python_frame(
			&c->python, p->pid, generated_of(c, p, s->time_ns), program, words[k]);
	return true;
}

/*
 * With python -X perf: a trampoline, which is generated code that calls the evaluator at once, and
 * is named as the function that it calls, so the frame of Python is enough; and the function of the
 * interpreter that calls trampolines.
 */
static bool is_trampoline(const struct proc_mapping *m, uint32_t i, struct evaluator *e)
{
	if (m && !m->file && i == e->at + 1) {
		e->trampoline = i;
		return e->has_words;
	}
	return m && m->file && m->file->has_python && i == e->trampoline + 1;
}

/* 0: the thread has none any more, it was within an exec. */
uint32_t capture_user_stack(struct capture *c, const struct arena_stack *s)
{
	struct process *p = capture_find_process(c, s);
	struct evaluator evaluator = { NOWHERE, NOWHERE, false };
	uint32_t ids[MAX_IDS], nr = 0;
	const struct python_program *program;
	struct python_merge merge;
	uint8_t end = s->end;

	program = begin_python(c, p, s, &merge);
	for (uint32_t i = 0; p && i < s->nr_frames; i++) {
		uint64_t addr = lookup_address(s, i);
		const struct proc_mapping *m;

		if (s->frames[i] == PROF_FRAME_NONE && i > 0)
			continue;
		m = capture_find_mapping(c, p, addr, s->time_ns);

		if (!m && i > 0) { /* no return address, but whatever the walk was led to */
			end = c->config.call_graph == CALL_GRAPH_FP || s->guessed
				      ? UNWIND_END_BAD_PC
				      : UNWIND_END_NO_CODE;
			break;
		}
		if (m && m->file && m->file->has_python && !s->nr_python)
			capture_python_find(&c->python, p, proc_image_at(p, s->time_ns), m);
		if (m && program && add_python(c, p, s, program, &merge, i, &evaluator, ids, &nr))
			continue;
		if (is_trampoline(m, i, &evaluator))
			continue;
		if (!m && s->nr_frames == 1 && proc_was_replaced(p, addr, s->time_ns))
			return 0;
		ids[nr++] = m ? user_frame(c, p, m, addr, s->time_ns)
			      : profile_frame(c->profile, FRAME_UNKNOWN, 0, 0);
		if (m && s->kind == PROF_STACK_USER && was_left_wrong(p, m, s->time_ns)) {
			end = UNWIND_END_NO_TABLE;
			break;
		}
	}
	if (end == UNWIND_END_CFI_ROOT && !c->first_root_ns)
		c->first_root_ns = s->time_ns;
	if (!nr && s->nr_frames)
		ids[nr++] = profile_frame(c->profile, FRAME_UNKNOWN, 0, 0);
	return profile_stack(c->profile, ids, nr, end, s->guessed);
}

uint32_t capture_kernel_stack(struct capture *c, const struct arena_stack *s)
{
	bool asleep = s->kind == PROF_STACK_KERNEL_ASLEEP;
	uint32_t ids[PROF_MAX_FRAMES], id, nr = c->profile->nr_stacks;

	for (uint32_t i = 0; i < s->nr_frames; i++)
		ids[i] = profile_frame(c->profile, FRAME_KERNEL, 0,
				       s->frames[i] - (i > 0 || asleep));
	id = profile_stack(c->profile, ids, s->nr_frames, s->end, 0);
	if (asleep && id == nr)
		sleeping_add(&c->sleeping, id);
	return id;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames by their place in a hash table, stacks by their frames in an index. */
#include "profile/frame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/mem.h"
#include "profile/profile.h"

struct frame_key {
	uint64_t offset;
	uint32_t module, kind;
};

struct frame_entry {
	struct frame_key key;
	uint32_t id;
	UT_hash_handle hh;
};

static uint32_t add_stack(struct profile *p, const uint32_t *frames, size_t nr, struct stack s)
{
	for (size_t i = 0; i < nr; i++) {
		p->stack_frames = xgrow(p->stack_frames, p->nr_stack_frames, &p->cap_stack_frames,
					sizeof(*frames));
		p->stack_frames[p->nr_stack_frames++] = frames[i];
	}
	p->stacks = xgrow(p->stacks, p->nr_stacks, &p->cap_stacks, sizeof(s));
	p->stacks[p->nr_stacks] = s;
	return p->nr_stacks++;
}

void profile_frames_init(struct profile *p)
{
	profile_frame(p, FRAME_NONE, 0, 0);
	add_stack(p, NULL, 0, (struct stack){}); /* none is not one without frames */
}

void profile_frames_release(struct profile *p)
{
	struct frame_entry *e, *tmp;

	HASH_ITER (hh, p->frame_index, e, tmp) {
		HASH_DEL(p->frame_index, e);
		free(e);
	}
	index_release(&p->stack_index);
	free(p->frames);
	free(p->details);
	free(p->inlines);
	free(p->stack_frames);
	free(p->stacks);
}

void profile_frames_copy(struct profile *to, const struct profile *from, uint32_t nameless)
{
	to->nr_frames = to->cap_frames = from->nr_frames;
	to->frames = xcopy(from->frames, from->nr_frames, sizeof(*from->frames));
	to->nr_details = to->cap_details = from->nr_details;
	to->details = xcopy(from->details, from->nr_details, sizeof(*from->details));
	to->nr_inlines = to->cap_inlines = from->nr_inlines;
	to->inlines = xcopy(from->inlines, from->nr_inlines, sizeof(*from->inlines));
	to->nr_stack_frames = to->cap_stack_frames = from->nr_stack_frames;
	to->stack_frames =
		xcopy(from->stack_frames, from->nr_stack_frames, sizeof(*from->stack_frames));
	to->nr_stacks = to->cap_stacks = from->nr_stacks;
	to->stacks = xcopy(from->stacks, from->nr_stacks, sizeof(*from->stacks));
	for (size_t i = 1; i < to->nr_frames; i++) {
		struct frame *f = &to->frames[i];

		if (f->name)
			continue;
		f->name = nameless;
		f->offset = f->kind == FRAME_KERNEL ? 0 : f->offset;
	}
}

uint32_t profile_frame(struct profile *p, enum frame_kind kind, uint32_t module, uint64_t offset)
{
	struct frame_key key = { offset, module, kind };
	struct frame_entry *e;

	HASH_FIND(hh, p->frame_index, &key, sizeof(key), e);
	if (e)
		return e->id;
	e = xmalloc(sizeof(*e));
	e->key = key;
	e->id = p->nr_frames;
	HASH_ADD(hh, p->frame_index, key, sizeof(key), e);
	p->frames = xgrow(p->frames, p->nr_frames, &p->cap_frames, sizeof(*p->frames));
	p->frames[p->nr_frames] =
		(struct frame){ .offset = offset, .module = module, .kind = kind };
	return p->nr_frames++;
}

const struct frame *profile_frame_at(const struct profile *p, uint32_t frame)
{
	return &p->frames[frame];
}

uint32_t profile_frame_module(const struct profile *p, uint32_t frame)
{
	uint32_t module = p->frames[frame].module;

	return p->modules[module].kind == MODULE_GENERATED ? 0 : module;
}

const char *profile_frame_name(const struct profile *p, uint32_t frame)
{
	return profile_str(p, p->frames[frame].name);
}

const char *profile_frame_linkage(const struct profile *p, uint32_t frame)
{
	const struct frame *f = &p->frames[frame];

	return profile_str(p, f->linkage ? f->linkage : f->name);
}

static struct frame_detail detail_of(const struct profile *p, uint32_t frame)
{
	return frame < p->nr_details ? p->details[frame] : (struct frame_detail){};
}

uint32_t profile_frame_functions(const struct profile *p, uint32_t frame)
{
	return detail_of(p, frame).nr + 1;
}

struct frame_function profile_frame_function(const struct profile *p, uint32_t frame, uint32_t i)
{
	const struct frame *f = &p->frames[frame];
	struct frame_detail d = detail_of(p, frame);

	return i < d.nr ? p->inlines[d.first + i]
			: (struct frame_function){ f->name, f->linkage, d.file, d.line };
}

uint32_t function_key(const struct frame_function *f)
{
	return f->linkage ? f->linkage : f->name;
}

static void set_detail(struct profile *p, uint32_t frame, struct frame_detail d)
{
	while (p->nr_details <= frame) {
		p->details = xgrow(p->details, p->nr_details, &p->cap_details, sizeof(d));
		p->details[p->nr_details++] = (struct frame_detail){};
	}
	p->details[frame] = d;
}

void profile_set_functions(struct profile *p, uint32_t frame, const struct frame_function *chain,
			   uint32_t nr)
{
	const struct frame_function *own = &chain[nr - 1];
	struct frame_detail d = { p->nr_inlines, nr - 1, own->file, own->line };

	assert(nr > 0 && nr <= FRAME_MAX_FUNCTIONS);
	profile_name_frame(p, frame, own->name, own->linkage);
	if (!d.nr && !d.file && !d.line && frame >= p->nr_details)
		return;
	set_detail(p, frame, d);
	for (uint32_t i = 0; i < d.nr; i++) {
		p->inlines = xgrow(p->inlines, p->nr_inlines, &p->cap_inlines, sizeof(*p->inlines));
		p->inlines[p->nr_inlines++] = chain[i];
	}
}

void profile_name_frame(struct profile *p, uint32_t frame, uint32_t name, uint32_t linkage)
{
	p->frames[frame].name = name;
	p->frames[frame].linkage = linkage;
}

void profile_move_frame(struct profile *p, uint32_t frame, uint32_t module, uint64_t offset)
{
	p->frames[frame].module = module;
	p->frames[frame].offset = offset;
}

struct stack_key {
	const struct profile *profile;
	const struct stack *stack;
	const uint32_t *frames;
};

static bool is_stack(const void *arg, uint32_t id)
{
	const struct stack_key *key = arg;
	const struct stack *a = key->stack, *b = &key->profile->stacks[id];

	return a->nr == b->nr && a->end == b->end && a->guessed == b->guessed &&
	       (!a->nr || !memcmp(key->frames, key->profile->stack_frames + b->first,
				  a->nr * sizeof(*key->frames)));
}

uint32_t profile_stack(struct profile *p, const uint32_t *frames, size_t nr, enum unwind_end end,
		       uint32_t guessed)
{
	struct stack s = { .first = p->nr_stack_frames,
			   .nr = nr,
			   .end = end,
			   .guessed = guessed < UINT8_MAX ? guessed : UINT8_MAX };
	struct stack_key key = { p, &s, frames };
	uint32_t hash = index_hash(s.end | (uint32_t)s.guessed << 16, frames, nr * sizeof(*frames));
	uint32_t id;

	if (index_find(&p->stack_index, hash, is_stack, &key, &id))
		return id;
	id = add_stack(p, frames, nr, s);
	index_add(&p->stack_index, hash, id);
	return id;
}

const uint32_t *profile_stack_frames(const struct profile *p, uint32_t stack, uint32_t *nr)
{
	*nr = p->stacks[stack].nr;
	return p->stack_frames + p->stacks[stack].first;
}

uint32_t profile_stack_root(const struct profile *p, uint32_t stack)
{
	const struct stack *s = &p->stacks[stack];

	return s->nr ? p->stack_frames[s->first + s->nr - 1] : 0;
}

uint32_t profile_stack_leaf(const struct profile *p, uint32_t stack)
{
	const struct stack *s = &p->stacks[stack];

	return s->nr ? p->stack_frames[s->first] : 0;
}

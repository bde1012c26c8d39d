/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of functions as views have them. */
#include "profile/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/pattern.h"

const char *const view_by_words[VIEW_NR_BY] = {
	[VIEW_BY_FUNCTION] = "function", [VIEW_BY_MODULE] = "module",
	[VIEW_BY_FILE] = "file",	 [VIEW_BY_LINE] = "line",
	[VIEW_BY_THREAD] = "thread",	 [VIEW_BY_PROCESS] = "process",
	[VIEW_BY_CLASS] = "class",	 [VIEW_BY_CONTEXT] = "context",
	[VIEW_BY_KIND] = "kind",	 [VIEW_BY_ROLE] = "role",
	[VIEW_BY_TASK] = "task",
};

bool view_by_owner(enum view_by by)
{
	return by >= VIEW_BY_THREAD;
}

uint32_t view_event(const struct view *v, const struct profile *p)
{
	int event = v->value ? profile_find_event(p, v->value) : 0;

	return event > 0 ? event : 0;
}

const char *view_frame_name(const struct view *v, const struct profile *p, uint32_t frame)
{
	return v->no_demangle ? profile_frame_linkage(p, frame) : profile_frame_name(p, frame);
}

char *view_safe(const char *name, int spaces, const char *suffix)
{
	char *safe = text_frame(name, strlen(name), spaces),
	     *whole = xasprintf("%s%s", safe, suffix);

	free(safe);
	return whole;
}

uint32_t view_functions(const struct view *v, const struct profile *p, uint32_t frame,
			uint32_t *first)
{
	uint32_t nr = profile_frame_functions(p, frame);

	*first = v->no_inline ? nr - 1 : 0;
	return nr - *first;
}

static const char *annotation(const struct view *v, uint32_t kind, bool waker, bool inlined)
{
	if (!v->annotations)
		return "";
	if (waker)
		return "_[w]";
	if (kind == FRAME_PYTHON)
		return "_[p]";
	return kind == FRAME_KERNEL ? "_[k]" : kind == FRAME_ANON ? "_[j]" : inlined ? "_[i]" : "";
}

char *view_function(const struct view *v, const struct profile *p, uint32_t frame, uint32_t i,
		    bool waker)
{
	struct frame_function f = profile_frame_function(p, frame, i);
	uint32_t name = v->no_demangle && f.linkage ? f.linkage : f.name;

	return view_safe(name ? profile_str(p, name) : "[unknown]", 0,
			 annotation(v, profile_frame_at(p, frame)->kind, waker,
				    i + 1 < profile_frame_functions(p, frame)));
}

/* Takes a closure from the end of a name, which an async function is compiled to; false: none. */
static bool cut_closure(char *name)
{
	static const char *const ends[] = {
		"::{{closure}}",   "::{async_fn_env#",	  "::{closure#",
		"::{async_block#", "::{async_block_env#", "::{async_fn#"
	};
	char *at = strrchr(name, '{');

	while (at > name && at[-1] == '{')
		at--;
	at = at && at > name + 2 ? at - 2 : NULL;
	for (size_t i = 0; at && i < sizeof(ends) / sizeof(*ends); i++)
		if (!strncmp(at, ends[i], strlen(ends[i])) && name[strlen(name) - 1] == '}') {
			*at = '\0';
			return true;
		}
	return false;
}

bool view_is_closure(const char *name)
{
	char *copy = xstrdup(name);
	bool is = cut_closure(copy);

	free(copy);
	return is;
}

/* "f::{{closure}}" is f, "f::{{closure}}::{{closure}}" a block in it. To be freed. */
static char *async_name(char *name)
{
	char *block;

	if (!cut_closure(name) || !cut_closure(name))
		return name;
	while (cut_closure(name))
		;
	block = xasprintf("%s::{async block}", name);
	free(name);
	return block;
}

char *view_short_function(const struct view *v, const struct profile *p, uint32_t frame, uint32_t i,
			  bool poll)
{
	struct frame_function f = profile_frame_function(p, frame, i);
	const char *name = profile_str(p, f.name);
	char *shown, *safe;

	if (v->full_names || v->no_demangle || !f.name || !strstr(name, "::"))
		return view_function(v, p, frame, i, false);
	shown = pattern_of_parameter(name, pattern_normal(name));
	if (poll)
		shown = async_name(shown);
	safe = view_safe(shown, 0,
			 annotation(v, profile_frame_at(p, frame)->kind, false,
				    i + 1 < profile_frame_functions(p, frame)));
	free(shown);
	return safe;
}

char *view_leaf(const struct view *v, const struct profile *p, const struct sample *s)
{
	uint32_t halves[] = { v->user_only ? 0 : s->kstack, v->kernel_only ? 0 : s->ustack };
	uint32_t leaf, first;

	for (size_t i = 0; i < 2; i++) {
		if (!p->stacks[halves[i]].nr)
			continue;
		leaf = profile_stack_leaf(p, halves[i]);
		view_functions(v, p, leaf, &first);
		return view_function(v, p, leaf, first, false);
	}
	return NULL;
}

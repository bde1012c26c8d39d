/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of instances by what they call. */
#include "uprobe/tokio.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "uprobe/place_parts.h"

#define POLL	  "tokio::runtime::task::raw::poll"
#define MAX_DEPTH 10 /* functions of Tokio between an instance and the body, without optimization */
#define MAX_CALLS 4096
#define NR(a)	  (sizeof(a) / sizeof(*(a)))

const char *tokio_named_text(enum tokio_named named)
{
	static const char *const texts[TOKIO_NR_NAMED] = {
		[TOKIO_BY_TYPE] = "by its type",
		[TOKIO_BY_CALL] = "by the body that it calls",
		[TOKIO_BY_DROP] = "by the type that it drops",
		[TOKIO_BY_FUTURE] = "by the first future that it polls",
		[TOKIO_BY_ADDRESS] = "nothing names it",
	};

	return texts[named];
}

bool tokio_is_run(const char *shown)
{
	static const char runtime[] = "tokio::runtime::", context[] = "::Context",
			  run[] = "::run_task";
	const char *at;

	shown += *shown == '<';
	at = strstr(shown, context);
	if (strncmp(shown, runtime, sizeof(runtime) - 1) || !at)
		return false;
	at += sizeof(context) - 1;
	at += *at == '>';
	if (strncmp(at, run, sizeof(run) - 1))
		return false;
	at += sizeof(run) - 1;
	return !*at || !strncmp(at, "::<", 3);
}

static bool begins_with_any(const char *s, const char *const *with, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strncmp(s, with[i], strlen(with[i])))
			return true;
	return false;
}

/* What lies between an instance and the body. */
static bool is_between(const char *shown)
{
	static const char *const crates[] = { "tokio::", "std::", "core::" };
	static const char *const words[] = { "::poll",	"catch_unwind", "::try",
					     "do_call", "call_once",	"with_mut" };

	shown += strspn(shown, "<");
	if (!begins_with_any(shown, crates, NR(crates)) || strstr(shown, "drop_in_place"))
		return false;
	for (size_t i = 0; i < NR(words); i++)
		if (strstr(shown, words[i]))
			return true;
	return false;
}

/* How long what stands at s is, to the comma or bracket that ends it. */
static size_t type_length(const char *s)
{
	int depth = 0;
	size_t i;

	for (i = 0; s[i]; i++) {
		bool arrow = s[i] == '>' && i && s[i - 1] == '-';

		if (!depth && (s[i] == ',' || (s[i] == '>' && !arrow)))
			break;
		depth += strchr("<([{", s[i]) != NULL;
		depth -= strchr(">)]}", s[i]) != NULL && !arrow;
	}
	return i;
}

/* The type behind a word, to be freed; NULL without. */
static char *type_behind(const char *shown, const char *word)
{
	const char *at = strstr(shown, word);

	if (!at)
		return NULL;
	at += strlen(word);
	return xstrndup(at, type_length(at));
}

/* Where the last part of a path begins. */
static const char *last_part(const char *path)
{
	const char *at = path;

	for (const char *p = path; (p = strstr(p, "::")); p += 2)
		at = p + 2;
	return at;
}

static bool is_closure(const char *path)
{
	const char *last = last_part(path);

	return !strncmp(last, "{{closure}}", 11) || !strncmp(last, "{closure#", 9);
}

/* The body of an async function or block that is no part of the runtime. */
static bool is_body(const char *shown)
{
	static const char *const crates[] = { "tokio::", "std::", "core::", "alloc::" };

	return is_closure(shown) &&
	       !begins_with_any(shown + strspn(shown, "<&"), crates, NR(crates));
}

/* "<T as core::future::future::Future>::poll": a future that is written by hand. */
static char *future_of(const char *shown)
{
	const char *as = strstr(shown, " as core::future::future::Future>::poll");

	if (*shown != '<' || !as || !strncmp(shown, "<tokio::", 8) || !strncmp(shown, "<core::", 7))
		return NULL;
	return xstrndup(shown + 1, as - shown - 1);
}

/* What is found on the way. */
struct search {
	struct functions *fs;
	struct places *places;
	unsigned int nr_calls;
	const struct uprobe_function *body, *drop;
	char *future, *dropped;
	bool is_job;
};

static void look_into(struct search *s, const struct uprobe_function *f, unsigned int depth);

static void look_at(struct search *s, uint64_t address, unsigned int depth)
{
	const struct uprobe_function *f = functions_at(s->fs, address);
	const char *shown;

	if (!f || f->address != address || s->nr_calls++ > MAX_CALLS)
		return;
	shown = functions_shown(s->fs, f);
	s->is_job |= strstr(shown, "runtime::blocking::task::BlockingTask") ||
		     (strstr(shown, "::worker::run") && !strncmp(shown, "tokio::", 7));
	if (!s->drop && strstr(shown, "drop_in_place")) {
		s->dropped = type_behind(shown, "task::core::Stage<");
		s->dropped = s->dropped ? s->dropped : type_behind(shown, "task::core::Cell<");
		s->drop = s->dropped ? f : NULL;
	}
	if (!s->body && is_body(shown))
		s->body = f;
	if (!s->future)
		s->future = future_of(shown);
	if (is_between(shown) && depth < MAX_DEPTH)
		look_into(s, f, depth + 1);
}

/* Its direct calls, in the order of its code. */
static void look_into(struct search *s, const struct uprobe_function *f, unsigned int depth)
{
	struct insn insn;

	for (uint64_t at = f->address; at - f->address < f->size; at += insn.len) {
		if (!place_decode(s->places, f, at, &insn))
			return;
		if (insn.calls_to)
			look_at(s, insn.calls_to, depth);
		else if (insn.jumps_to && insn.jumps_to - f->address >= f->size)
			look_at(s, insn.jumps_to, depth);
	}
}

/* An instance, and what may name it. */
struct candidate {
	struct tokio_poll poll;
	char *type, *dropped, *future; /* as the linker has them; NULL = none was found */
	const struct uprobe_function *body, *drop;
};

static struct candidate candidate_of(struct functions *fs, struct places *p,
				     const struct uprobe_function *f, const char *type)
{
	struct candidate c = { .poll.function = f };
	struct search s = { .fs = fs, .places = p };

	if (p)
		look_into(&s, f, 0);
	c.poll.named = type ? TOKIO_BY_TYPE : s.body ? TOKIO_BY_CALL : TOKIO_BY_ADDRESS;
	if (type)
		c.type = xstrndup(type, type_length(type));
	else if (s.body)
		c.type = xstrdup(functions_shown(fs, s.body));
	c.poll.is_job =
		type ? strstr(c.type, "runtime::blocking::task::BlockingTask") != NULL : s.is_job;
	c.body = s.body;
	c.drop = s.drop;
	c.dropped = s.dropped;
	c.future = s.future;
	return c;
}

static void release(struct candidate *c)
{
	free(c->type);
	free(c->dropped);
	free(c->future);
}

static bool same_task(const struct candidate *a, const struct candidate *b)
{
	return a->type && b->type && a->body == b->body && !strcmp(a->type, b->type);
}

/*
 * Equal glue is one function: who drops by it may be of any type that has such glue. It is believed
 * of a type alone, which has an instance for each of two schedulers.
 */
static bool is_own_drop(const struct candidate *c, size_t nr, size_t of)
{
	size_t users = 0;

	for (size_t i = 0; i < nr; i++) {
		if (c[i].drop != c[of].drop)
			continue;
		users++;
		if (c[i].type && c[i].poll.named != TOKIO_BY_DROP &&
		    strcmp(c[i].type, c[of].dropped))
			return false;
	}
	return users <= 2;
}

static void guess_types(struct candidate *c, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (c[i].type)
			continue;
		if (c[i].dropped && is_own_drop(c, nr, i)) {
			c[i].poll.named = TOKIO_BY_DROP;
			c[i].type = xstrdup(c[i].dropped);
		} else if (c[i].future) {
			c[i].poll.named = TOKIO_BY_FUTURE;
			c[i].type = xstrdup(c[i].future);
		}
	}
}

/* The type without the closure that an async function is, where that leaves it unique. */
static char *short_name(const struct candidate *c, size_t nr, size_t of)
{
	const char *type = c[of].type;
	size_t len = is_closure(type) ? (size_t)(last_part(type) - type - 2) : strlen(type);

	for (size_t i = 0; i < nr; i++) {
		if (!c[i].type || same_task(&c[i], &c[of]) || strncmp(c[i].type, type, len))
			continue;
		if (!c[i].type[len] || last_part(c[i].type) == c[i].type + len + 2)
			return NULL;
	}
	return xstrndup(type, len);
}

static char *full_name(const struct candidate *c, size_t nr, size_t of)
{
	for (size_t i = 0; i < nr; i++)
		if (c[i].type && !same_task(&c[i], &c[of]) && !strcmp(c[i].type, c[of].type))
			return xasprintf("%s@+0x%" PRIx64, c[of].type,
					 c[of].body ? c[of].body->offset
						    : c[of].poll.function->offset);
	return xstrdup(c[of].type);
}

static void name_all(struct candidate *c, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct tokio_poll *p = &c[i].poll;

		char *name = NULL;

		if (c[i].type)
			name = short_name(c, nr, i);
		if (c[i].type && !name)
			name = full_name(c, nr, i);
		if (!name)
			p->name = xasprintf("task@+0x%" PRIx64, p->function->offset);
		else
			p->name = xasprintf("%s%s", name, p->named >= TOKIO_BY_DROP ? "?" : "");
		free(name);
	}
}

/* NULL: it is no instance. Else its type, or "" where the name has none. */
static const char *type_of_instance(const char *shown)
{
	if (strncmp(shown, POLL, sizeof(POLL) - 1))
		return NULL;
	shown += sizeof(POLL) - 1;
	return !*shown ? shown : !strncmp(shown, "::<", 3) ? shown + 3 : NULL;
}

/* Demangling all names of a large program takes seconds. */
static bool may_be_instance(const char *linkage)
{
	return strstr(linkage, "4task3raw4poll") != NULL;
}

bool tokio_has_polls(const struct functions *fs)
{
	size_t nr;
	const struct uprobe_function *all = functions_all(fs, &nr);

	for (size_t i = 0; i < nr; i++)
		if (may_be_instance(all[i].name))
			return true;
	return false;
}

size_t tokio_polls_find(struct functions *fs, struct places *p, struct tokio_poll **v)
{
	struct candidate *c = NULL;
	size_t nr_all, nr = 0, cap = 0;
	const struct uprobe_function *all = functions_all(fs, &nr_all);
	const char *type;

	for (size_t i = 0; i < nr_all; i++) {
		if (!may_be_instance(all[i].name))
			continue;
		type = type_of_instance(functions_shown(fs, &all[i]));
		if (!type)
			continue;
		c = xgrow(c, nr, &cap, sizeof(*c));
		c[nr++] = candidate_of(fs, p, &all[i], *type ? type : NULL);
	}
	guess_types(c, nr);
	name_all(c, nr);
	*v = nr ? xcalloc(nr, sizeof(**v)) : NULL;
	for (size_t i = 0; i < nr; i++) {
		(*v)[i] = c[i].poll;
		release(&c[i]);
	}
	free(c);
	return nr;
}

void tokio_polls_free(struct tokio_poll *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(v[i].name);
	free(v);
}

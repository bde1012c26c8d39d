/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contended locks, and deadlocks. */
#include "output/locks.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>

#include "base/text.h"
#include "output/grid.h"
#include "output/json_put.h"
#include "profile/kind.h"
#include "profile/locks.h"
#include "profile/waits.h"
#include "profile/woken.h"

#define MAX_ROWS 20

static const char *name_of(const struct profile *p, uint32_t string, const char *otherwise)
{
	return string ? profile_str(p, string) : otherwise;
}

/* What the holder's function is about, where it is no place at which it waits itself. */
static const char *const role_notes[LOCK_NR_ROLES] = {
	[LOCK_NOBODY] = "", [LOCK_HOLDS] = "", [LOCK_RUNS] = "[running]",
	[LOCK_FREES] = "",  [LOCK_WAKES] = "",
};

/* One of another process with that. The name first: it is what a narrow terminal must show. */
static void put_holder(struct grid *g, const struct profile *p, const struct locks_row *r)
{
	const char *role = r->role == LOCK_WAKES ? " (waker)" : "";
	const char *name = name_of(p, r->role == LOCK_NOBODY ? 0 : r->holder, "[unknown]");

	if (!r->holder_pid || r->holder_pid == r->pid)
		grid_cell(g, "%s%s", name, role);
	else if (r->holder == r->holder_process)
		grid_cell(g, "%s (%" PRIu32 ")%s", name, r->holder_pid, role);
	else
		grid_cell(g, "%s of %s (%" PRIu32 ")%s", name,
			  name_of(p, r->holder_process, "[unknown]"), r->holder_pid, role);
}

static void put_row(struct grid *g, const struct profile *p, const struct locks_row *r,
		    const struct locks *l)
{
	grid_row(g, r->deadlock ? STYLE_BAD : STYLE_PLAIN, NULL);
	grid_cell(g, "%s", text_ns(r->ns));
	grid_cell(g, "%s", text_pct(l->ns ? 100.0 * r->ns / l->ns : 0));
	grid_cell(g, "%s", text_count(r->nr));
	grid_cell(g, "%s", text_ns(r->max_ns));
	grid_cell(g, "%s", text_count(r->waiters));
	grid_cell(g, "%s", r->kind);
	grid_cell(g, "0x%" PRIx64, r->word);
	grid_cell(g, "%s", name_of(p, r->function, ""));
	put_holder(g, p, r);
	grid_cell(g, "%s", name_of(p, r->holder_function, role_notes[r->role]));
}

static void put_table(const struct profile *p, const struct locks *l, FILE *out)
{
	static const struct grid_column columns[] = {
		{ .head = "TIME" },
		{ .head = "SHARE", .rank = 4 },
		{ .head = "WAITS", .rank = 2 },
		{ .head = "MAX", .rank = 3 },
		{ .head = "WAITERS", .rank = 5 },
		{ .head = "KIND", .kind = GRID_TEXT, .rank = 1, .min = 6 },
		{ .head = "LOCK", .rank = 6 },
		{ .head = "WAITED IN", .kind = GRID_FUNCTION, .min = 16 },
		{ .head = "HELD BY", .kind = GRID_TEXT, .min = 8 },
		{ .head = "IN", .kind = GRID_FUNCTION, .min = 16 },
	};
	struct grid g;

	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < l->nr && i < MAX_ROWS; i++)
		put_row(&g, p, &l->v[i], l);
	grid_end(&g);
	if (l->nr > MAX_ROWS)
		fprintf(out, "  … %s more locks (--json has all)\n", text_count(l->nr - MAX_ROWS));
}

static void put_safe(const char *before, const struct profile *p, uint32_t string, FILE *out)
{
	const char *s = profile_str(p, string);

	if (!*s)
		return;
	fputs(before, out);
	text_clean(out, s, strlen(s));
}

/* A thread of a ring, which waits for lock id. */
static void put_link(const struct profile *p, uint32_t thread, uint32_t tid, uint32_t stack,
		     uint32_t id, FILE *out)
{
	fputs("  ", out);
	put_safe("", p, thread, out);
	fprintf(out, "/%" PRIu32 " waits for 0x%" PRIx64, tid, p->locks[id].word);
	if (stack)
		put_safe(" in ", p, woken_user_function(p, stack), out);
	fputs(", held by ", out);
	put_safe("", p, p->wakers[id].thread, out);
	fprintf(out, "/%" PRIu32 "\n", p->wakers[id].tid);
}

static void put_deadlock(const struct profile *p, const struct sample *s, FILE *out)
{
	uint32_t thread = s->thread, tid = s->tid, stack = s->ustack;

	fputs("DEADLOCK in ", out);
	put_safe("", p, s->process, out);
	fprintf(out, " (%" PRIu32 "): each of these threads waits for the next one, for ever\n",
		s->pid);
	for (uint32_t id = s->waker; id; id = p->wakers[id].next) {
		const struct waker *w = &p->wakers[id];

		put_link(p, thread, tid, stack, id, out);
		if (w->tid == s->tid)
			break;
		thread = w->thread;
		tid = w->tid;
		stack = w->ustack;
	}
}

/* Threads of Go were seen to wait. */
static bool has_go(const struct locks *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (strstr(l->v[i].kind, "(Go)"))
			return true;
	return false;
}

void locks_put(const struct profile *p, const struct view *v, FILE *out)
{
	struct locks l;

	if (!kind_of_profile(p)->locks)
		return;
	locks_init(&l, p, v);
	for (size_t i = 0; i < p->nr_samples; i++)
		if (locks_is_deadlock(p, &p->samples[i]))
			put_deadlock(p, &p->samples[i], out);
	put_table(p, &l, out);
	if (l.ns)
		fprintf(out, "  %s of the time has a holder, or at least who ended the wait\n",
			text_pct(100.0 * l.known_ns / l.ns));
	if (has_go(&l))
		fputs("  goroutines wait for Go's mutexes inside the program: "
		      "those waits are not seen\n",
		      out);
	locks_release(&l);
}

static void put_address(struct json_object *o, uint64_t word)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, word);
	json_object_object_add(o, "address", json_object_new_string(text));
}

static struct json_object *row_json(const struct profile *p, const struct locks_row *r)
{
	struct json_object *o = json_object_new_object();

	put_address(o, r->word);
	json_put_count(o, "pid", r->pid);
	json_put_string(o, "process", p, r->process);
	json_object_object_add(o, "kind", json_object_new_string(r->kind));
	json_put_count(o, "us", waits_us(r->ns));
	json_put_count(o, "waits", r->nr);
	json_put_count(o, "max_us", waits_us(r->max_ns));
	json_put_count(o, "waiters", r->waiters);
	json_put_string(o, "function", p, r->function);
	json_put_string(o, "holder", p, r->holder);
	json_put_count(o, "holder_pid", r->holder_pid);
	json_put_string(o, "holder_process", p, r->holder_process);
	json_put_string(o, "holder_function", p, r->holder_function);
	json_object_object_add(o, "holder_role", json_object_new_string(lock_role_keys[r->role]));
	json_object_object_add(o, "deadlock", json_object_new_boolean(r->deadlock));
	return o;
}

static struct json_object *link_json(const struct profile *p, uint32_t thread, uint32_t tid,
				     uint32_t id)
{
	struct json_object *o = json_object_new_object();

	json_put_string(o, "thread", p, thread);
	json_put_count(o, "tid", tid);
	put_address(o, p->locks[id].word);
	return o;
}

static struct json_object *deadlock_json(const struct profile *p, const struct sample *s)
{
	struct json_object *ring = json_object_new_array();
	uint32_t thread = s->thread, tid = s->tid;

	for (uint32_t id = s->waker; id; id = p->wakers[id].next) {
		json_object_array_add(ring, link_json(p, thread, tid, id));
		thread = p->wakers[id].thread;
		tid = p->wakers[id].tid;
		if (tid == s->tid)
			break;
	}
	return ring;
}

struct json_object *locks_json(const struct profile *p, const struct view *v)
{
	struct json_object *o, *rows, *deadlocks;
	struct locks l;

	if (!kind_of_profile(p)->locks)
		return NULL;
	o = json_object_new_object();
	rows = json_object_new_array();
	deadlocks = json_object_new_array();
	locks_init(&l, p, v);
	for (size_t i = 0; i < l.nr; i++)
		json_object_array_add(rows, row_json(p, &l.v[i]));
	for (size_t i = 0; i < p->nr_samples; i++)
		if (locks_is_deadlock(p, &p->samples[i]))
			json_object_array_add(deadlocks, deadlock_json(p, &p->samples[i]));
	json_put_count(o, "us", waits_us(l.ns));
	json_put_count(o, "known_us", waits_us(l.known_ns));
	json_object_object_add(o, "locks", rows);
	json_object_object_add(o, "deadlocks", deadlocks);
	locks_release(&l);
	return o;
}

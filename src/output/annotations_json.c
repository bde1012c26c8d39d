/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Annotated functions for programs: all lines and instructions, and what each event has of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "output/annotations.h"
#include "output/json_put.h"

struct writer {
	const struct annotations *all;
	const struct costs *costs;
	const struct annotation *a;
};

static double share(uint64_t value, uint64_t of)
{
	return of ? 100.0 * value / of : 0;
}

static struct json_object *number(double x)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.4f", x);
	return json_object_new_double_s(x, digits);
}

/* Weights and samples of each event, and shares of what the events have in all of it. */
static void put_costs(const struct writer *w, struct json_object *o, const struct cost *costs,
		      const struct cost *of)
{
	struct json_object *weights = json_object_new_array(), *samples = json_object_new_array(),
			   *shares = json_object_new_array();

	for (size_t e = 0; e < w->costs->nr_events; e++) {
		json_object_array_add(weights, json_object_new_uint64(costs[e].value));
		json_object_array_add(samples, json_object_new_uint64(costs[e].samples));
		json_object_array_add(shares, number(share(costs[e].value, of[e].value)));
	}
	json_object_object_add(o, "weights", weights);
	json_object_object_add(o, "samples", samples);
	json_object_object_add(o, "share_pct", shares);
}

static void put_text(const struct writer *w, struct json_object *o, const char *key,
		     uint32_t string)
{
	json_object_object_add(o, key, string ? json_text(annotation_str(w->a, string)) : NULL);
}

static void put_place(const struct writer *w, struct json_object *o,
		      const struct annotation_line *l)
{
	put_text(w, o, "file", l->file);
	if (l->line)
		json_put_count(o, "line", l->line);
	else
		json_object_object_add(o, "line", NULL);
	put_text(w, o, "function", l->function);
	json_object_object_add(o, "inlined", json_object_new_boolean(l->inlined));
}

static void put_source(const struct writer *w, struct json_object *o,
		       const struct annotation_line *l)
{
	size_t len;
	const char *s = annotation_source(w->a, l->file, l->line, &len);
	char *copy = s ? annotations_expanded(s, len) : NULL;

	json_object_object_add(o, "source", s ? json_text(copy) : NULL);
	free(copy);
}

static struct json_object *lines_of(const struct writer *w)
{
	struct json_object *lines = json_object_new_array(), *o;

	for (size_t i = 0; i < w->a->nr_hottest; i++) {
		uint32_t line = w->a->hottest[i];

		o = json_object_new_object();
		put_place(w, o, &w->a->lines[line]);
		put_source(w, o, &w->a->lines[line]);
		put_costs(w, o, annotation_line_cost(w->a, line), w->a->function.sums);
		json_object_array_add(lines, o);
	}
	return lines;
}

static struct json_object *insns_of(const struct writer *w)
{
	struct json_object *insns = json_object_new_array(), *o;

	for (size_t i = 0; i < w->a->nr_insns; i++) {
		const struct annotation_insn *insn = &w->a->insns[i];

		o = json_object_new_object();
		json_put_count(o, "address", insn->address);
		put_text(w, o, "text", insn->text);
		put_place(w, o, &w->a->lines[insn->line]);
		put_costs(w, o, annotation_insn_cost(w->a, i), w->a->function.sums);
		json_object_array_add(insns, o);
	}
	return insns;
}

static struct json_object *notes_of(const struct annotation *a)
{
	struct json_object *notes = json_object_new_array();
	char *copy = xstrdup(a->note ? a->note : ""), *rest = copy, *note;

	while (a->note && (note = strsep(&rest, "\n")))
		json_object_array_add(notes, json_text(note));
	free(copy);
	return notes;
}

static const char *kind_of_frames(const struct writer *w)
{
	static const char *const kinds[FRAME_NR_KINDS] = {
		[FRAME_NONE] = "unknown",   [FRAME_USER] = "user",	 [FRAME_KERNEL] = "kernel",
		[FRAME_ANON] = "generated", [FRAME_UNKNOWN] = "unknown", [FRAME_PYTHON] = "python",
	};
	uint32_t kind = annotation_kind(w->a);

	return kinds[kind < FRAME_NR_KINDS ? kind : FRAME_UNKNOWN];
}

static struct json_object *function_of(const struct writer *w)
{
	const struct cost_function *f = &w->a->function;
	const struct profile *p = w->all->profile;
	struct json_object *o = json_object_new_object();

	json_put_string(o, "function", p, f->name);
	json_put_string(o, "module", p, p->modules[f->module].path);
	json_object_object_add(o, "kind", json_text(kind_of_frames(w)));
	json_object_object_add(o, "inlined", json_object_new_boolean(f->inlined));
	put_costs(w, o, f->sums, w->costs->totals);
	json_object_object_add(o, "lines", lines_of(w));
	json_object_object_add(o, "instructions", insns_of(w));
	json_object_object_add(o, "notes", notes_of(w->a));
	return o;
}

static struct json_object *events_of(const struct costs *c)
{
	const struct profile *p = c->profile;
	struct json_object *events = json_object_new_array();

	for (size_t e = 0; e < c->nr_events; e++)
		json_object_array_add(events,
				      json_text(c->nr_events > 1 ? profile_str(p, p->events[e].name)
								 : profile_str(p, p->meta.event)));
	return events;
}

int annotations_write_json(const struct annotations *all, const struct view *v, FILE *out)
{
	struct json_object *o = json_document("bpfprof-annotate"),
			   *functions = json_object_new_array();

	json_object_object_add(o, "unit", json_text(profile_unit(all->profile)));
	json_object_object_add(o, "events", events_of(&all->costs));
	json_object_object_add(o, "functions", functions);
	for (size_t i = 0; i < all->nr; i++) {
		const struct writer w = { all, &all->costs, all->v[i] };

		if (all->file_lines)
			json_object_object_add(o, "file_lines", lines_of(&w));
		else
			json_object_array_add(functions, function_of(&w));
	}
	json_print(o, true, out);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The format of https://www.speedscope.app: frames once, and for each thread name a profile of its
 * stacks with their weights. Printed as it goes: stacks are many, and only names need care.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "output/json_put.h"
#include "output/output.h"
#include "profile/waits.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
	const struct tree *t;
	FILE *out;
	uint32_t *frame_of; /* node -> frame: its function, of one module */
	uint32_t *node_of;  /* frame -> one of its nodes */
	size_t nr_frames;
	/* The profile that is being printed. */
	uint32_t thread; /* a child of the root, 0 = none so far */
	uint64_t *weights;
	size_t nr, cap;
};

static void put_text(const char *s, FILE *out)
{
	struct json_object *o = json_text(s);

	fputs(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							JSON_C_TO_STRING_NOSLASHESCAPE),
	      out);
	json_object_put(o);
}

static int by_place(const void *x, const void *y, void *arg)
{
	const struct tree_node *nodes = arg;
	const struct tree_node *a = &nodes[*(const uint32_t *)x], *b = &nodes[*(const uint32_t *)y];

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return a->module < b->module ? -1 : a->module > b->module;
}

static void find_frames(struct speedscope *s)
{
	struct tree_node *nodes = s->t->nodes;
	uint32_t *order = xcalloc(s->t->nr, sizeof(*order));
	size_t nr = 0;

	s->frame_of = xcalloc(s->t->nr, sizeof(*s->frame_of));
	s->node_of = xcalloc(s->t->nr, sizeof(*s->node_of));
	for (uint32_t i = 0; i < s->t->nr; i++)
		order[i] = i;
	qsort_r(order, s->t->nr, sizeof(*order), by_place, nodes);
	for (size_t i = 0; i < s->t->nr; i++) {
		if (!nr || by_place(&s->node_of[nr - 1], &order[i], nodes))
			s->node_of[nr++] = order[i];
		s->frame_of[order[i]] = nr - 1;
	}
	s->nr_frames = nr;
	free(order);
}

static void put_frames(const struct speedscope *s)
{
	const struct profile *p = s->t->profile;

	for (size_t i = 0; i < s->nr_frames; i++) {
		const struct tree_node *n = &s->t->nodes[s->node_of[i]];

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", s->out);
		put_text(tree_name(s->t, n), s->out);
		if (n->module) {
			fputs(",\"file\":", s->out);
			put_text(profile_str(p, p->modules[n->module].path), s->out);
		}
		fputc('}', s->out);
	}
}

static const char *unit_of(const struct profile *p)
{
	if (p->meta.is_time || p->meta.timed)
		return "microseconds";
	if (!strcmp(profile_unit(p), "ns"))
		return "nanoseconds"; /* samples that stand for more than others */
	return strstr(profile_unit(p), "bytes") ? "bytes" : "none";
}

static void end_profile(struct speedscope *s)
{
	uint64_t sum = 0;

	if (!s->thread)
		return;
	fputs("],\n\"weights\":[", s->out);
	for (size_t i = 0; i < s->nr; i++) {
		fprintf(s->out, i ? ",%" PRIu64 : "%" PRIu64, s->weights[i]);
		sum += s->weights[i];
	}
	fprintf(s->out, "],\n\"startValue\":0,\"endValue\":%" PRIu64 "}", sum);
}

static void begin_profile(struct speedscope *s, uint32_t thread)
{
	end_profile(s);
	fputs(s->thread ? ",\n{\"type\":\"sampled\",\"name\":"
			: "\n{\"type\":\"sampled\",\"name\":",
	      s->out);
	put_text(tree_name(s->t, &s->t->nodes[thread]), s->out);
	fprintf(s->out, ",\"unit\":\"%s\",\"samples\":[", unit_of(s->t->profile));
	s->thread = thread;
	s->nr = 0;
}

static void put_stack(const struct tree *t, const uint32_t *path, size_t nr, void *arg)
{
	struct speedscope *s = arg;
	const struct profile *p = t->profile;
	uint64_t weight = t->nodes[path[nr - 1]].self;

	if (p->meta.is_time || p->meta.timed)
		weight = waits_us(weight);
	if (!weight)
		return;
	if (path[0] != s->thread) /* stacks of one thread come together */
		begin_profile(s, path[0]);
	fputs(s->nr ? ",\n[" : "\n[", s->out);
	for (size_t i = 1; i < nr; i++)
		fprintf(s->out, i > 1 ? ",%" PRIu32 : "%" PRIu32, s->frame_of[path[i]]);
	fputc(']', s->out);
	s->weights = xgrow(s->weights, s->nr, &s->cap, sizeof(*s->weights));
	s->weights[s->nr++] = weight;
}

int speedscope_write(const struct profile *p, const struct view *v, FILE *out)
{
	struct tree *t = tree_new(p, v);
	struct speedscope s = { .t = t, .out = out };

	find_frames(&s);
	fputs("{\"$schema\":\"" SCHEMA "\",\"exporter\":", out);
	put_text("bpfprof " BPFPROF_VERSION, out);
	fputs(",\"name\":", out);
	put_text(profile_str(p, p->meta.target), out);
	fputs(",\n\"shared\":{\"frames\":[", out);
	put_frames(&s);
	fputs("]},\n\"profiles\":[", out);
	tree_for_each_stack(t, put_stack, &s);
	end_profile(&s);
	fputs("]}\n", out);
	free(s.frame_of);
	free(s.node_of);
	free(s.weights);
	tree_free(t);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Words and numbers of comparisons, and the forms for programs other than JSON. */
#include "output/changes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/round.h"
#include "base/text.h"
#include "output/output.h"
#include "output/markup.h"
#include "profile/waits.h"

#define NR_BUFFERS 8

static char *next_buffer(void)
{
	static char bufs[NR_BUFFERS][32];
	static unsigned int i;

	return bufs[i++ % NR_BUFFERS];
}

static bool is_time(const struct changes *c)
{
	return c->both->meta.is_time || c->both->meta.timed;
}

double changes_pct(const struct changes *c, uint64_t value, int side)
{
	return changes_all(c, side) ? 100.0 * value / changes_all(c, side) : 0;
}

const char *changes_value(const struct changes *c, uint64_t value, int side)
{
	char *to;

	if (c->opts.absolute)
		return strcmp(profile_unit(c->both), "ns") ? text_count(value) : text_ns(value);
	to = next_buffer();
	snprintf(to, 32, "%.2f%%", changes_pct(c, value, side));
	return to;
}

const char *changes_text(const struct change *row)
{
	char *to = next_buffer();

	if (isinf(row->change_pct))
		return "new";
	if (row->self[0] && !row->self[1])
		return "gone";
	snprintf(to, 32, fabs(row->change_pct) < 1e5 ? "%+.1f%%" : "%+.1e%%", row->change_pct);
	return to;
}

bool changes_is_unjudged(const struct changes *c)
{
	return changes_incomplete(c) && !isnan(c->opts.fail_above_pct);
}

const char *changes_verdict(const struct changes *c, const struct change *row)
{
	if (!row->judged)
		return "";
	if (row->failed)
		return "REGRESSION";
	return !row->real ? "noise" : row->change_pct > 0 ? "more" : "less";
}

char *changes_sentence(const struct changes *c, const struct change *row)
{
	bool is_number = isfinite(row->change_pct) && row->self[1];
	char limit[48] = "";

	if (!isnan(c->opts.fail_above_pct) && !changes_incomplete(c))
		snprintf(limit, sizeof(limit), ", %s --fail-above %.10g%%",
			 row->failed ? "fails" : "passes", c->opts.fail_above_pct);
	return xasprintf("%s: %s to %s, %s%s%s%s", c->tree->names.bytes + row->name,
			 changes_value(c, row->self[0], 0), changes_value(c, row->self[1], 1),
			 is_number ? "cost " : "", changes_text(row), row->real ? "" : " (noise)",
			 limit);
}

char *changes_side_text(const struct changes *c, int side)
{
	const struct changes_side *s = &c->sides[side];
	const struct profile *p = s->profile;
	char recordings[48] = "", lost[48] = "", incomplete[48] = "";
	char *target = text_cleaned(profile_str(p, p->meta.target)), *text;

	if (s->nr > 1)
		snprintf(recordings, sizeof(recordings), "%zu recordings of ", s->nr);
	if (s->lost)
		snprintf(lost, sizeof(lost), ", %s lost", text_count(s->lost));
	if (s->nr_incomplete && s->nr > 1)
		snprintf(incomplete, sizeof(incomplete), ", %zu of them INCOMPLETE",
			 s->nr_incomplete);
	else if (s->nr_incomplete)
		snprintf(incomplete, sizeof(incomplete), ", INCOMPLETE");
	text = xasprintf("%s%s, %s%s, %s %ss%s%s", recordings, target, text_ns(p->meta.duration_ns),
			 s->nr > 1 ? " each" : "", text_count(s->recorded), profile_noun(p), lost,
			 incomplete);
	free(target);
	return text;
}

/* --- folded --- */

struct lines {
	const struct changes *c;
	FILE *out;
};

static uint64_t shown(const struct changes *c, double value)
{
	return is_time(c) ? waits_us(round_u64(value)) : round_u64(value);
}

/* Nodes that one side alone ends at are there too, so this walks them all by itself. */
static void put_line(struct lines *l, const uint32_t *path, size_t nr)
{
	const struct changes *c = l->c;
	uint32_t leaf = path[nr - 1];
	uint64_t before = shown(c, changes_scale(c) * c->self[0][leaf]);
	uint64_t after = shown(c, c->self[1][leaf]);

	if (!before && !after)
		return;
	for (size_t i = 0; i < nr; i++)
		fprintf(l->out, "%s%s", i ? ";" : "", tree_name(c->tree, &c->tree->nodes[path[i]]));
	fprintf(l->out, " %" PRIu64 " %" PRIu64 "\n", before, after);
}

int changes_write_folded(const struct changes *c, const struct view *v, FILE *out)
{
	const struct tree_node *nodes = c->tree->nodes;
	struct lines l = { c, out };
	uint32_t *path = NULL, at = nodes[0].first_child;
	size_t nr = 0, cap = 0;

	while (at) {
		path = xgrow(path, nr, &cap, sizeof(*path));
		path[nr++] = at;
		put_line(&l, path, nr);
		if (nodes[at].first_child) {
			at = nodes[at].first_child;
			continue;
		}
		while (nr && !nodes[path[nr - 1]].next)
			nr--;
		at = nr ? nodes[path[--nr]].next : 0;
	}
	free(path);
	return 0;
}

/* --- JUnit --- */

static void put_case(const struct changes *c, const struct change *row, FILE *out)
{
	char *text = changes_sentence(c, row);

	fputs("    <testcase classname=\"bpfprof.diff\" name=\"", out);
	xml_put(c->tree->names.bytes + row->name, out);
	fprintf(out, "\" time=\"0.000\">\n      %s",
		row->failed ? "<failure type=\"regression\" message=\"" : "<system-out>");
	xml_put(text, out);
	fprintf(out, "%s\n    </testcase>\n", row->failed ? "\"/>" : "</system-out>");
	free(text);
}

int changes_write_junit(const struct changes *c, const struct view *v, FILE *out)
{
	double seconds = c->sides[1].profile->meta.duration_ns / 1e9 * c->sides[1].nr;
	size_t nr = changes_is_unjudged(c), errors = nr;

	for (size_t i = 0; i < c->nr; i++)
		nr += c->v[i].judged;
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites name=\"bpfprof diff\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		"time=\"%.3f\">\n"
		"  <testsuite name=\"",
		nr, c->nr_failed, errors, seconds);
	xml_put(profile_str(c->both, c->both->meta.target), out);
	fprintf(out,
		"\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\" "
		"time=\"%.3f\" hostname=\"",
		nr, c->nr_failed, errors, seconds);
	xml_put(profile_str(c->sides[1].profile, c->sides[1].profile->meta.host), out);
	fputs("\">\n", out);
	if (errors)
		fputs("    <testcase classname=\"bpfprof.diff\" name=\"--fail-above\" "
		      "time=\"0.000\">\n"
		      "      <error type=\"incomplete\" message=\"" CHANGES_NOT_JUDGED "\"/>\n"
		      "    </testcase>\n",
		      out);
	for (size_t i = 0; i < c->nr; i++)
		if (c->v[i].judged)
			put_case(c, &c->v[i], out);
	fputs("  </testsuite>\n</testsuites>\n", out);
	return 0;
}

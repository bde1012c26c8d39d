/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A comparison as JUnit XML, the form that build servers show: a test case per rule, which fails as
 * the rule does and is an error where the rule could not be judged. Without rules a case per row,
 * none of which fails. Cases take no time of their own: that of the runs of B is the suite's.
 */
#include <math.h>
#include <time.h>

#include "output/diff.h"
#include "output/stat.h"
#include "output/markup.h"

static bool is_shown(const struct diff_row *row, bool rules)
{
	return rules ? row->rule != NULL : row->known;
}

static void put_outcome(const struct diff *c, const struct diff_row *row, FILE *out)
{
	char text[1024];

	diff_sentence(c, row, text, sizeof(text));
	if (row->failed || !row->known) {
		fprintf(out, "      <%s type=\"%s\" message=\"", row->failed ? "failure" : "error",
			row->failed ? "regression" : "not-measured");
		xml_put(text, out);
		fprintf(out, "\"/>\n");
		return;
	}
	fputs("      <system-out>", out);
	xml_put(text, out);
	fputs("</system-out>\n", out);
}

static void put_case(const struct diff *c, const struct diff_row *row, FILE *out)
{
	char name[300];

	fputs("    <testcase classname=\"bpfprof.diff\" name=\"", out);
	if (row->rule)
		diff_rule_text(row->rule, name, sizeof(name));
	xml_put(row->rule ? name : row->name, out);
	fputs("\" time=\"0.000\">\n", out);
	put_outcome(c, row, out);
	fputs("    </testcase>\n", out);
}

static double total_s(const struct stat_number *seconds)
{
	return isnan(seconds->mean) ? 0 : seconds->mean * stat_number_nr(seconds);
}

/* Of the start, in UTC; the schema has no place for a zone. */
static void put_timestamp(const struct stat_report *r, FILE *out)
{
	time_t start = (time_t)(r->start_real_ns / 1000000000);
	char text[32];
	struct tm tm;

	if (r->start_real_ns && gmtime_r(&start, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		fprintf(out, " timestamp=\"%s\"", text);
}

int diff_write_junit(const struct diff *c, FILE *out)
{
	double seconds = total_s(&c->b->seconds);
	bool rules = false;
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++)
		rules = rules || c->v[i].rule;
	for (size_t i = 0; i < c->nr; i++)
		nr += is_shown(&c->v[i], rules);
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites name=\"bpfprof diff\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		"time=\"%.3f\">\n"
		"  <testsuite name=\"",
		nr, c->nr_failed, c->nr_unknown, seconds);
	xml_put(c->b->target, out);
	fprintf(out,
		"\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\" "
		"time=\"%.3f\" hostname=\"",
		nr, c->nr_failed, c->nr_unknown, seconds);
	xml_put(c->b->host, out);
	fputs("\"", out);
	put_timestamp(c->b, out);
	fputs(">\n", out);
	for (size_t i = 0; i < c->nr; i++)
		if (is_shown(&c->v[i], rules))
			put_case(c, &c->v[i], out);
	fputs("  </testsuite>\n</testsuites>\n", out);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Human forms of counts and metrics. */
#include "output/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NR_BUFS 16
#define BUF_SZ	96
#define EXACT	9e15 /* beyond it a double is no whole number of ones any more */

static char *next_buf(void)
{
	static char bufs[NR_BUFS][BUF_SZ];
	static unsigned int i;

	return bufs[i++ % NR_BUFS];
}

const char *figure_count(double x)
{
	char *to = next_buf();

	if (isnan(x))
		return "n/a";
	if (fabs(x) > EXACT)
		snprintf(to, BUF_SZ, "%.4g", x);
	else if (fabs(x) < 1000 && x != rint(x))
		snprintf(to, BUF_SZ, "%.2f", x);
	else
		snprintf(to, BUF_SZ, "%s%s", x < 0 ? "-" : "",
			 text_count((unsigned long long)llrint(fabs(x))));
	return to;
}

const char *figure_number(double x)
{
	char *to = next_buf();
	double size = fabs(x);

	if (isnan(x) || size >= 1000)
		return figure_count(x);
	if (!x)
		return "0";
	snprintf(to, BUF_SZ, size >= 100 ? "%.1f" : size >= 0.1 ? "%.2f" : "%.2g", x);
	return to;
}

const char *figure_short(double x)
{
	static const char prefixes[] = "kMGTPE";
	char *to = next_buf();
	size_t i = 0;

	if (isnan(x) || fabs(x) < 99999.5)
		return figure_number(x);
	for (x /= 1000; fabs(x) >= 999.95 && prefixes[i + 1]; i++)
		x /= 1000;
	snprintf(to, BUF_SZ, "%.4g%c", x, prefixes[i]);
	return to;
}

const char *figure_four(double x)
{
	char *to = next_buf();

	if (!x || !(fabs(x) < 999.95))
		return figure_number(x);
	snprintf(to, BUF_SZ, fabs(x) < 0.001 ? "%.3e" : "%#.4g", x);
	return to;
}

const char *figure_exact(double x)
{
	char *to = next_buf();

	for (int precision = 15; precision <= 17; precision++) {
		snprintf(to, BUF_SZ, "%.*g", precision, x);
		if (strtod(to, NULL) == x)
			break;
	}
	return to;
}

const char *figure_error(const struct stat_number *n)
{
	char *to = next_buf();

	if (stat_number_nr(n) < 2 || !isfinite(n->mean))
		return "";
	snprintf(to, BUF_SZ, "+- %.2f%%", stat_number_error_pct(n));
	return to;
}

const char *figure_seconds(double s)
{
	return s >= 0 && s < 1e9 ? text_ns((unsigned long long)(s * 1e9 + 0.5)) : "n/a";
}

/* Rates only: counts are to be read digit by digit. */
const char *figure_scaled(double x, const char *unit, const char **shown)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P" };
	size_t len = strlen(unit), i = 0;
	char *to;

	*shown = unit;
	if (len < 2 || strcmp(unit + len - 2, "/s") || !(fabs(x) >= 10000))
		return figure_number(x);
	for (; fabs(x) >= 1000 && i < 5; i++)
		x /= 1000;
	to = next_buf();
	snprintf(to, BUF_SZ, "%s%s", prefixes[i], strcmp(unit, "bytes/s") ? unit : "B/s");
	*shown = to;
	return figure_number(x);
}

static const char *milliseconds(double ns)
{
	unsigned long long hundredths = llrint(fabs(ns) / 1e4);
	char *to = next_buf();

	snprintf(to, BUF_SZ, "%s%s.%02llu", ns < 0 ? "-" : "", text_count(hundredths / 100),
		 hundredths % 100);
	return to;
}

const char *figure_amount(double x, const char *unit)
{
	char *to;

	if (isnan(x) || strcmp(unit, "ns"))
		return figure_count(x);
	to = next_buf();
	snprintf(to, BUF_SZ, "%s ms", milliseconds(x));
	return to;
}

const char *figure_event(const struct stat_event *e, const char **shown)
{
	bool time = !strcmp(e->unit, "ns");
	double value = stat_event_value(e);

	*shown = e->unit;
	if (!count_is_there(&e->count))
		return count_state_text(e->count.state);
	if (!time)
		return figure_count(value);
	*shown = "ms";
	return milliseconds(value);
}

const char *figure_rate(const struct stat_event *e, double seconds)
{
	char *to;

	if (*e->unit || !count_is_there(&e->count) || !(seconds > 0))
		return "";
	to = next_buf();
	snprintf(to, BUF_SZ, "%s/s", figure_short(stat_event_value(e) / seconds));
	return to;
}

const char *figure_value(double x, const char *unit)
{
	char *to = next_buf();
	const char *shown, *number = figure_scaled(x, unit, &shown);

	snprintf(to, BUF_SZ, "%s%s%s", number, *shown && !isnan(x) ? " " : "",
		 isnan(x) ? "" : shown);
	return to;
}

void figure_threshold(const struct stat_metric *m, char *to, size_t sz)
{
	double past = m->verdict == METRIC_INVESTIGATE ? m->high : m->ok;

	*to = '\0';
	if (m->verdict != METRIC_INVESTIGATE && m->verdict != METRIC_WATCH)
		return;
	if (isnan(past))
		past = isnan(m->ok) ? m->high : m->ok;
	if (isnan(past))
		return;
	snprintf(to, sz, "%s %g%s%s%s%s", m->ok > m->high ? "below" : "above", past,
		 *m->unit == '%' ? " %" : "", *m->source ? " (" : "", m->source,
		 *m->source ? ")" : "");
}

const char *figure_state(enum count_state state)
{
	static const char *const texts[COUNT_NR_STATES] = {
		[COUNT_NOT_COUNTED] =
			"never counted: nothing selected ran, or others had all counters",
		[COUNT_NOT_SUPPORTED] = "this PMU or kernel has no such event",
		[COUNT_NOT_ADVERTISED] = "read 0, and the kernel does not list it: this PMU may "
					 "not have it",
		[COUNT_LOST] = "its counter was taken away by one with priority, such as the "
			       "kernel's watchdog",
		[COUNT_NO_PERMISSION] = "needs CAP_PERFMON, or root",
		[COUNT_NOT_AVAILABLE] = "this machine has no such event",
	};

	return texts[state] ? texts[state] : "";
}

/* Bytes of the next word of s. */
static size_t word_len(const char *s)
{
	return strcspn(s, " ");
}

static size_t columns(const char *s, size_t len)
{
	size_t nr = 0;

	for (size_t i = 0; i < len; i++)
		nr += ((unsigned char)s[i] & 0xc0) != 0x80;
	return nr;
}

void figure_wrap(const char *s, size_t at, size_t indent, size_t width, FILE *out)
{
	char *safe = text_cleaned(s), *word = safe;
	size_t column = at, len;

	while (*(word += strspn(word, " "))) {
		len = word_len(word);
		if (column > at && column + 1 + columns(word, len) > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = at = indent;
		} else if (column > at) {
			fputc(' ', out);
			column++;
		}
		fwrite(word, 1, len, out);
		column += columns(word, len);
		word += len;
	}
	fputc('\n', out);
	free(safe);
}

void figure_fit(const char *s, size_t width, FILE *out)
{
	char *safe = text_cleaned(s);

	text_fit(out, safe, width, 1);
	free(safe);
}

size_t figure_width(const char *s)
{
	char *safe = text_cleaned(s);
	size_t width = text_width(safe);

	free(safe);
	return width;
}

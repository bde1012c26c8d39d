/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A report from a file that anybody may have written: each value is fetched by its key and checked
 * for type and range. The first that is wrong is named in one sentence; from there on everything
 * reads as nothing, so that what follows needs no checks of its own.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/trust.h"
#include "metric/stat.h"

#define MAX_FILE  (64 << 20)
#define MAX_DEPTH 8 /* report, rows, row, events, event, runs, and one that is too much */
#define MAX_TEXT  65536
#define MAX_LIST  1000000
#define MAX_NAMES 4096 /* of events and of metrics in a row, which are looked up by name */

struct reader {
	const char *path;
	bool bad; /* something was said */
};

__attribute__((format(printf, 2, 3))) static void refuse(struct reader *in, const char *fmt, ...)
{
	char text[256];
	va_list args;

	if (in->bad)
		return;
	in->bad = true;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	log_err(0, "%s %s", in->path, text);
}

static void damaged(struct reader *in, const char *key, const char *want)
{
	refuse(in, "is damaged: '%s' is not %s", key, want);
}

/* Keys that are younger than the format. */
static bool has(struct json_object *o, const char *key)
{
	return json_object_object_get_ex(o, key, NULL);
}

/* NULL without a word when it is null. */
static struct json_object *get(struct reader *in, struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	if (!in->bad && !json_object_object_get_ex(o, key, &value))
		refuse(in, "is damaged: '%s' is missing", key);
	return value;
}

/* NULL only for null, where that is allowed, and after something was wrong. */
static char *text_of(struct reader *in, struct json_object *o, const char *key, bool optional)
{
	struct json_object *value = get(in, o, key);
	const char *s =
		json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;

	if (s && strlen(s) == (size_t)json_object_get_string_len(value) && strlen(s) <= MAX_TEXT)
		return xstrdup(s);
	if (value || !optional)
		damaged(in, key, "a text");
	return NULL;
}

static char *text(struct reader *in, struct json_object *o, const char *key)
{
	return text_of(in, o, key, false);
}

static uint64_t count_upto(struct reader *in, struct json_object *o, const char *key, uint64_t max)
{
	struct json_object *value = get(in, o, key);

	/* A number above INT64_MAX reads as that, one below 0 as it is. */
	if (json_object_is_type(value, json_type_int) && json_object_get_int64(value) >= 0 &&
	    json_object_get_uint64(value) <= max)
		return json_object_get_uint64(value);
	damaged(in, key, "a count");
	return 0;
}

/* NAN for null. */
static double number_of(struct reader *in, struct json_object *value, const char *key)
{
	double x;

	if (!value)
		return NAN;
	if (json_object_is_type(value, json_type_double) ||
	    json_object_is_type(value, json_type_int)) {
		x = json_object_get_double(value);
		if (isfinite(x))
			return x;
	}
	damaged(in, key, "a number");
	return NAN;
}

static double number(struct reader *in, struct json_object *o, const char *key)
{
	return number_of(in, get(in, o, key), key);
}

/* Which of nr keys: its index. */
static size_t choice(struct reader *in, struct json_object *o, const char *key, size_t nr,
		     const char *(*key_of)(size_t i))
{
	char *s = text(in, o, key);
	size_t i = 0;

	while (s && i < nr && strcmp(s, key_of(i)))
		i++;
	if (s && i == nr)
		damaged(in, key, "one of its words");
	free(s);
	return i < nr ? i : 0;
}

/* Elements of a list, 0 when it is none or has more than max. */
static size_t list(struct reader *in, struct json_object *o, const char *key, size_t max,
		   struct json_object **value)
{
	*value = get(in, o, key);
	if (json_object_is_type(*value, json_type_array) && json_object_array_length(*value) <= max)
		return json_object_array_length(*value);
	damaged(in, key, "a list");
	return 0;
}

/* Element i, an object; NULL after something was wrong. */
static struct json_object *element(struct reader *in, struct json_object *v, size_t i,
				   const char *key)
{
	struct json_object *o = in->bad ? NULL : json_object_array_get_idx(v, i);

	if (json_object_is_type(o, json_type_object))
		return o;
	damaged(in, key, "a list of objects");
	return NULL;
}

static void read_runs(struct reader *in, struct json_object *o, struct stat_number *n)
{
	struct json_object *runs;

	n->nr_runs = list(in, o, "runs", MAX_LIST, &runs);
	n->runs = xcalloc(n->nr_runs ? n->nr_runs : 1, sizeof(*n->runs));
	for (size_t i = 0; i < n->nr_runs; i++)
		n->runs[i] = number_of(in, json_object_array_get_idx(runs, i), "runs");
	stat_number_finish(n);
	if (!n->nr_runs)
		n->mean = number(in, o, "mean");
	/* The sum of finite numbers may be none. */
	if (isinf(n->mean) || !isfinite(n->error) || (isnan(n->mean) && stat_number_nr(n)))
		damaged(in, "runs", "a list of numbers");
}

static const char *state_key(size_t i)
{
	return count_state_key(i);
}

static void read_event(struct reader *in, struct json_object *o, struct stat_event *e)
{
	e->name = text(in, o, "name");
	e->unit = text(in, o, "unit");
	e->meaning = text(in, o, "meaning");
	e->why = has(o, "why") ? text(in, o, "why") : xstrdup("");
	e->count.state = choice(in, o, "state", COUNT_NR_STATES, state_key);
	e->count.value = number(in, o, "value");
	e->count.raw = count_upto(in, o, "raw", UINT64_MAX);
	e->count.enabled_ns = count_upto(in, o, "enabled_ns", UINT64_MAX);
	e->count.running_ns = count_upto(in, o, "running_ns", UINT64_MAX);
	read_runs(in, o, &e->number);
	if (count_is_there(&e->count) && isnan(e->count.value))
		damaged(in, "value", "a number though its state says so");
	if (!count_is_there(&e->count))
		e->count.value = 0;
}

static enum metric_verdict read_verdict(struct reader *in, struct json_object *o,
					const struct stat_metric *m)
{
	char *key = text(in, o, "verdict");
	int verdict = key ? metric_verdict_read(key, m->number.mean, m->ok, m->high) : -1;

	if (key && verdict < 0)
		damaged(in, "verdict", "one of its words");
	free(key);
	return verdict < 0 ? METRIC_NONE : verdict;
}

static void read_metric(struct reader *in, struct json_object *o, struct stat_metric *m)
{
	m->set = text(in, o, "set");
	m->name = text(in, o, "name");
	m->label = text(in, o, "label");
	m->unit = text(in, o, "unit");
	m->formula = text(in, o, "formula");
	m->advice = text(in, o, "advice");
	m->source = text(in, o, "source");
	m->why = text(in, o, "why");
	m->inputs = text(in, o, "inputs");
	m->ok = number(in, o, "ok");
	m->high = number(in, o, "high");
	m->raw = number(in, o, "raw");
	read_runs(in, o, &m->number);
	m->verdict = read_verdict(in, o, m);
}

static void read_row(struct reader *in, struct json_object *o, struct stat_row *row)
{
	struct json_object *v, *one;
	size_t nr;

	row->name = text(in, o, "name");
	row->pid = count_upto(in, o, "pid", UINT32_MAX);
	row->tid = count_upto(in, o, "tid", UINT32_MAX);
	row->switches = count_upto(in, o, "switches", UINT64_MAX);
	row->running_ns = count_upto(in, o, "running_ns", UINT64_MAX);
	nr = list(in, o, "events", MAX_NAMES, &v);
	row->events = xcalloc(nr ? nr : 1, sizeof(*row->events));
	for (; row->nr_events < nr && (one = element(in, v, row->nr_events, "events"));
	     row->nr_events++)
		read_event(in, one, &row->events[row->nr_events]);
	nr = list(in, o, "metrics", MAX_NAMES, &v);
	row->metrics = xcalloc(nr ? nr : 1, sizeof(*row->metrics));
	for (; row->nr_metrics < nr && (one = element(in, v, row->nr_metrics, "metrics"));
	     row->nr_metrics++)
		read_metric(in, one, &row->metrics[row->nr_metrics]);
}

static void read_part(struct reader *in, struct json_object *o, const char *key,
		      struct stat_row *row, bool optional)
{
	struct json_object *part = get(in, o, key);

	if (json_object_is_type(part, json_type_object))
		read_row(in, part, row);
	else if (part || !optional)
		damaged(in, key, "an object");
}

static void read_texts(struct reader *in, struct json_object *o, const char *key, char ***to,
		       size_t *nr)
{
	struct json_object *v, *one;
	size_t all = list(in, o, key, MAX_LIST, &v);

	*to = xcalloc(all ? all : 1, sizeof(**to));
	for (; *nr < all; ++*nr) {
		one = json_object_array_get_idx(v, *nr);
		if (!json_object_is_type(one, json_type_string)) {
			damaged(in, key, "a list of texts");
			break;
		}
		(*to)[*nr] = xstrdup(json_object_get_string(one));
	}
}

static void read_target(struct reader *in, struct json_object *o, struct stat_report *r)
{
	struct json_object *program;

	r->target = text(in, o, "target");
	if (!has(o, "selection"))
		return;
	read_texts(in, o, "selection", &r->selection, &r->nr_selection);
	program = get(in, o, "program");
	if (!json_object_is_type(program, json_type_boolean))
		damaged(in, "program", "true or false");
	r->program = json_object_get_boolean(program);
}

static void read_environment(struct reader *in, struct json_object *o, struct stat_report *r)
{
	r->version = text(in, o, "bpfprof");
	r->host = text(in, o, "host");
	r->kernel = text(in, o, "kernel");
	r->arch = text(in, o, "arch");
	r->cpu = text(in, o, "cpu");
	r->core_ident = text(in, o, "core_ident");
	r->nr_cpus = count_upto(in, o, "nr_cpus", UINT32_MAX);
	r->counters = count_upto(in, o, "counters", UINT32_MAX);
	r->command = text(in, o, "command");
	read_target(in, o, r);
	read_texts(in, o, "notes", &r->notes, &r->nr_notes);
}

static void read_time(struct reader *in, struct json_object *o, struct stat_report *r)
{
	struct json_object *seconds = get(in, o, "seconds");

	r->start_real_ns = count_upto(in, o, "start_real_ns", UINT64_MAX);
	r->interval = count_upto(in, o, "interval", UINT32_MAX);
	r->elapsed_s = number(in, o, "elapsed_s");
	if (json_object_is_type(seconds, json_type_object))
		read_runs(in, seconds, &r->seconds);
	else
		damaged(in, "seconds", "an object");
}

static void read_facts(struct reader *in, struct json_object *o, struct stat_report *r)
{
	struct json_object *v, *one;
	size_t nr = has(o, "facts") ? list(in, o, "facts", MAX_LIST, &v) : 0;

	r->facts = xcalloc(nr ? nr : 1, sizeof(*r->facts));
	for (; r->nr_facts < nr && (one = element(in, v, r->nr_facts, "facts")); r->nr_facts++)
		r->facts[r->nr_facts] =
			(struct stat_fact){ text(in, one, "name"), text(in, one, "value"),
					    text(in, one, "advice") };
}

static void read_hotspots(struct reader *in, struct json_object *o, struct stat_report *r)
{
	struct json_object *v, *one;
	size_t nr = list(in, o, "hotspots", MAX_LIST, &v);

	r->hotspots_event = text_of(in, o, "hotspots_event", true);
	r->nr_samples = has(o, "nr_samples") ? count_upto(in, o, "nr_samples", UINT64_MAX) : 0;
	r->hotspots = xcalloc(nr ? nr : 1, sizeof(*r->hotspots));
	for (; r->nr_hotspots < nr && (one = element(in, v, r->nr_hotspots, "hotspots"));
	     r->nr_hotspots++) {
		r->hotspots[r->nr_hotspots].symbol = text(in, one, "symbol");
		r->hotspots[r->nr_hotspots].module = text(in, one, "module");
		r->hotspots[r->nr_hotspots].self_pct = number(in, one, "self_pct");
		if (has(one, "samples")) /* since there are some */
			r->hotspots[r->nr_hotspots].samples =
				count_upto(in, one, "samples", UINT64_MAX);
	}
}

static const char *by_key(size_t i)
{
	return stat_by_keys[i];
}

static void read_report(struct reader *in, struct json_object *o, struct stat_report *r)
{
	struct json_object *v, *one;
	size_t nr;

	read_environment(in, o, r);
	read_time(in, o, r);
	r->by = choice(in, o, "by", STAT_BY_CPU + 1, by_key);
	r->nr_named = has(o, "named") ? count_upto(in, o, "named", MAX_NAMES) : 0;
	read_part(in, o, "all", &r->all, false);
	nr = list(in, o, "rows", MAX_LIST, &v);
	r->rows = xcalloc(nr ? nr : 1, sizeof(*r->rows));
	for (; r->nr_rows < nr && (one = element(in, v, r->nr_rows, "rows")); r->nr_rows++)
		read_row(in, one, &r->rows[r->nr_rows]);
	read_part(in, o, "idle", &r->idle, true);
	read_part(in, o, "filtered", &r->filtered, true);
	read_part(in, o, "lost", &r->lost, true);
	read_facts(in, o, r);
	read_hotspots(in, o, r);
}

/* Before anything else is read, since another version may have anything. */
static void check_format(struct reader *in, struct json_object *o)
{
	struct json_object *format = NULL, *version = NULL;

	if (!json_object_is_type(o, json_type_object) ||
	    !json_object_object_get_ex(o, "format", &format) ||
	    !json_object_is_type(format, json_type_string) ||
	    strcmp(json_object_get_string(format), "bpfprof-stat"))
		refuse(in, "is no result of 'bpfprof stat --json'");
	else if (!json_object_object_get_ex(o, "version", &version) ||
		 !json_object_is_type(version, json_type_int))
		damaged(in, "version", "a number");
	else if (json_object_get_int64(version) != 1)
		refuse(in, "has version %lld of the format, this bpfprof reads 1: write it anew",
		       (long long)json_object_get_int64(version));
}

/* All of it, NULL after a message. *len: how much. */
static char *slurp(struct reader *in, size_t *len)
{
	FILE *f = trust_fopen(in->path);
	size_t cap = 65536, got;
	char *to = NULL;

	if (!f) {
		log_err(-errno, "cannot open %s", in->path);
		return NULL;
	}
	*len = 0;
	do {
		cap *= 2;
		to = xreallocarray(to, cap, 1);
		got = fread(to + *len, 1, cap - *len, f);
		*len += got;
	} while (*len == cap && *len <= MAX_FILE);
	if (ferror(f))
		log_err(-errno, "cannot read %s", in->path);
	else if (*len > MAX_FILE)
		refuse(in, "is larger than 64 MB: that is no result of 'bpfprof stat --json'");
	in->bad = in->bad || ferror(f);
	fclose(f);
	if (in->bad)
		free(to);
	return in->bad ? NULL : to;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* What stands behind the first value. */
static void check_rest(struct reader *in, const char *s, size_t len)
{
	while (len && is_space(*s)) {
		s++;
		len--;
	}
	if (len && *s == '{')
		refuse(in, "has several results, of 'stat -I': write it without -I, or keep one "
			   "of its lines");
	else if (len)
		refuse(in, "is no result of 'bpfprof stat --json': it goes on behind its end");
}

/*
 * json-c 0.18 (Debian 13), when strict, takes bytes above 0x7f for control characters where char
 * is signed. Without it the syntax may be a little wrong; format and numbers are checked still.
 */
static int strict_flag(void)
{
	return json_c_version_num() >> 8 == 18 ? 0 : JSON_TOKENER_STRICT;
}

static struct json_object *parse(struct reader *in, const char *s, size_t len)
{
	struct json_tokener *tok = json_tokener_new_ex(MAX_DEPTH);
	enum json_tokener_error err;
	struct json_object *o;

	if (!tok)
		abort();
	json_tokener_set_flags(tok, strict_flag() | JSON_TOKENER_VALIDATE_UTF8 |
					    JSON_TOKENER_ALLOW_TRAILING_CHARS);
	o = json_tokener_parse_ex(tok, s, (int)len);
	err = json_tokener_get_error(tok);
	if (err == json_tokener_success)
		check_format(in, o);
	else if (err == json_tokener_continue)
		refuse(in, "is truncated, or empty");
	else
		refuse(in, "is no result of 'bpfprof stat --json' (%s)",
		       json_tokener_error_desc(err));
	if (err == json_tokener_success)
		check_rest(in, s + json_tokener_get_parse_end(tok),
			   len - json_tokener_get_parse_end(tok));
	json_tokener_free(tok);
	return o;
}

int stat_read_json(struct stat_report *r, const char *path)
{
	struct reader in = { .path = path };
	struct json_object *o;
	size_t len;
	char *s;

	*r = (struct stat_report){};
	errno = 0;
	s = slurp(&in, &len);
	if (!s)
		return errno ? -errno : -EINVAL;
	o = parse(&in, s, len);
	free(s);
	if (!in.bad)
		read_report(&in, o, r);
	json_object_put(o);
	if (in.bad)
		stat_report_release(r);
	return in.bad ? -EINVAL : 0;
}

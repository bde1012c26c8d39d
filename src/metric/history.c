/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file of a history: columns are found by their names, so it may have more than we know. */
#include "metric/history.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#define MAX_FILE    (256u << 20)
#define MAX_LINE    65536
#define MAX_RUNS    100000u
#define MAX_NUMBERS 4096u

static const char header[] = "start_s,label,host,cpu,target,kind,name,unit,value,stderr,runs\n";

/* --- appending --- */

/* Where others write, a second name of a file of ours may be all that is theirs. */
static bool has_one_name(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && (!S_ISREG(st.st_mode) || st.st_nlink == 1);
}

static int open_to_append(const char *path)
{
	char *name;
	int dir = folder_locate(path, &name), fd, err = 0;

	if (dir < 0)
		return dir;
	fd = openat(dir, name, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		err = -errno;
	else if (!has_one_name(fd))
		err = -EMLINK;
	close(dir);
	free(name);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

int history_open(const char *path)
{
	int fd = open_to_append(path);
	char head[sizeof(header)];
	ssize_t got;

	if (fd < 0)
		return log_err(fd, "cannot open %s", path);
	got = pread(fd, head, sizeof(header) - 1, 0);
	if (!got || (got == sizeof(header) - 1 && !memcmp(head, header, got)))
		return fd;
	close(fd);
	if (got < 0)
		return log_err(-errno, "cannot read %s", path);
	return log_err(0,
		       "%s is no history of stat (its first line is another one): nothing is "
		       "appended to it",
		       path);
}

struct writer {
	FILE *out;
	const struct stat_report *r;
	const char *label, *target;
};

static void put_text(const char *s, FILE *out)
{
	csv_put(s, out);
	fputc(',', out);
}

static void put_number(double x, FILE *out)
{
	if (isfinite(x))
		fprintf(out, fabs(x) >= 1e9 && fabs(x) < 1e15 ? "%.0f" : "%.10g", x);
}

static void put_row(const struct writer *w, const char *kind, const char *name, const char *unit,
		    const struct stat_number *n, double value)
{
	if (!isfinite(value))
		return;
	fprintf(w->out, "%.3f,", w->r->start_real_ns / 1e9);
	put_text(w->label, w->out);
	put_text(w->r->host, w->out);
	put_text(w->r->cpu, w->out);
	put_text(w->target, w->out);
	fprintf(w->out, "%s,", kind);
	put_text(name, w->out);
	put_text(unit, w->out);
	put_number(value, w->out);
	fputc(',', w->out);
	put_number(stat_number_nr(n) > 1 ? n->error : NAN, w->out);
	fprintf(w->out, ",%zu\n", stat_number_nr(n));
}

static void put_rows(const struct writer *w)
{
	const struct stat_row *all = &w->r->all;

	put_row(w, "time", "time", "s", &w->r->seconds, w->r->seconds.mean);
	for (size_t i = 0; i < all->nr_metrics; i++)
		put_row(w, "metric", all->metrics[i].name, all->metrics[i].unit,
			&all->metrics[i].number, all->metrics[i].number.mean);
	for (size_t i = 0; i < all->nr_events; i++)
		put_row(w, "event", all->events[i].name, all->events[i].unit,
			&all->events[i].number, stat_event_value(&all->events[i]));
}

/* A line that was cut off, by a full disk or a crash, goes. Negative errno. */
static int end_in_a_line(int fd)
{
	char tail[MAX_LINE];
	struct stat st;
	ssize_t got;

	if (fstat(fd, &st))
		return -errno;
	if (!st.st_size)
		return 0;
	got = pread(fd, tail, st.st_size < MAX_LINE ? st.st_size : MAX_LINE,
		    st.st_size < MAX_LINE ? 0 : st.st_size - MAX_LINE);
	for (ssize_t i = got; i > 0; i--)
		if (tail[i - 1] == '\n')
			return i < got && ftruncate(fd, st.st_size - got + i) ? -errno : 0;
	return got < 0 ? -errno : -EINVAL;
}

static int write_all(int fd, const char *text, size_t len)
{
	ssize_t n;

	for (; len; text += n, len -= n) {
		n = write(fd, text, len);
		if (n < 0)
			return -errno;
	}
	return 0;
}

int history_append(int fd, const char *path, const struct stat_report *r, const char *label)
{
	struct stat st;
	char *text = NULL, *target = xasprintf("%s%s", r->program ? "-- " : "", r->target);
	size_t len = 0;
	struct writer w = { open_memstream(&text, &len), r, label, target };
	int err;

	if (!w.out)
		abort();
	flock(fd, LOCK_EX);
	err = end_in_a_line(fd);
	if (!fstat(fd, &st) && !st.st_size)
		fputs(header, w.out);
	put_rows(&w);
	fclose(w.out);
	if (!err)
		err = write_all(fd, text, len);
	flock(fd, LOCK_UN);
	free(text);
	free(target);
	return err ? log_err(err, "cannot append to %s", path) : 0;
}

/* --- reading --- */

enum column { START, LABEL, HOST, CPU, TARGET, SCOPE, INTERVAL, KIND, NAME, UNIT, VALUE, NR };

static const char *const column_names[NR] = {
	"start_s",  "label", "host", "cpu",  "target", "scope",
	"interval", "kind",  "name", "unit", "value",
};

struct reader {
	struct history *h;
	int columns[NR]; /* of the file; -1 = it does not have it */
	size_t line;
};

static const char *field(const struct reader *in, const struct csv_row *row, enum column column)
{
	int at = in->columns[column];

	return at >= 0 && (size_t)at < row->nr ? row->v[at] : "";
}

static bool is_header(const struct csv_row *row)
{
	return row->nr && !strcmp(row->v[0], column_names[START]);
}

static int read_header(struct reader *in, const struct csv_row *row)
{
	for (int i = 0; i < NR; i++) {
		in->columns[i] = -1;
		for (size_t k = 0; k < row->nr; k++)
			if (!strcmp(row->v[k], column_names[i]))
				in->columns[i] = k;
	}
	if (is_header(row) && in->columns[NAME] >= 0 && in->columns[VALUE] >= 0)
		return 0;
	return log_err(0,
		       "%s is no history of stat: its first line does not name start_s, name "
		       "and value",
		       in->h->path);
}

static bool is_run(const struct reader *in, const struct csv_row *row, double start_s)
{
	const struct history_run *last = in->h->nr_runs ? &in->h->runs[in->h->nr_runs - 1] : NULL;

	return last && last->start_s == start_s && !strcmp(last->label, field(in, row, LABEL)) &&
	       !strcmp(last->host, field(in, row, HOST)) &&
	       !strcmp(last->target, field(in, row, TARGET));
}

/* The lines of one run stand together. */
static void begin_run(struct reader *in, const struct csv_row *row, double start_s)
{
	struct history *h = in->h;

	h->runs = xreallocarray(h->runs, h->nr_runs + 1, sizeof(*h->runs));
	h->runs[h->nr_runs] = (struct history_run){ .start_s = start_s,
						    .label = xstrdup(field(in, row, LABEL)),
						    .host = xstrdup(field(in, row, HOST)),
						    .cpu = xstrdup(field(in, row, CPU)),
						    .target = xstrdup(field(in, row, TARGET)) };
	for (size_t i = 0; i < h->nr; i++) {
		h->v[i].v = xreallocarray(h->v[i].v, h->nr_runs + 1, sizeof(*h->v[i].v));
		h->v[i].v[h->nr_runs] = NAN;
	}
	h->nr_runs++;
}

static struct history_series *series_of(struct reader *in, const struct csv_row *row)
{
	const char *kind = field(in, row, KIND), *name = field(in, row, NAME);
	struct history *h = in->h;
	struct history_series *s;

	for (size_t i = 0; i < h->nr; i++)
		if (!strcmp(h->v[i].name, name) && !strcmp(h->v[i].kind, kind))
			return &h->v[i];
	if (h->nr == MAX_NUMBERS)
		return NULL;
	h->v = xreallocarray(h->v, h->nr + 1, sizeof(*h->v));
	s = &h->v[h->nr++];
	*s = (struct history_series){ .kind = xstrdup(kind),
				      .name = xstrdup(name),
				      .unit = xstrdup(field(in, row, UNIT)),
				      .v = xcalloc(h->nr_runs, sizeof(*s->v)) };
	for (size_t i = 0; i < h->nr_runs; i++)
		s->v[i] = NAN;
	return s;
}

static bool parse_number(const char *text, double *to)
{
	char *end;

	*to = strtod(text, &end);
	return end != text && !*end && isfinite(*to);
}

static int damaged(const struct reader *in, const char *what)
{
	return log_err(0, "%s, line %zu: %s", in->h->path, in->line, what);
}

/* Of what was counted for all; rows of threads and intervals are no runs. */
static int read_row(struct reader *in, const struct csv_row *row)
{
	const char *scope = field(in, row, SCOPE), *value = field(in, row, VALUE);
	struct history_series *s;
	double start_s, x;

	if (is_header(row) || (*scope && strcmp(scope, "all")) || *field(in, row, INTERVAL) ||
	    !*value)
		return 0;
	if (!parse_number(row->v[0], &start_s) || !parse_number(value, &x))
		return damaged(in, "its time or its value is no number");
	if (!*field(in, row, NAME))
		return damaged(in, "it has no name");
	if (!is_run(in, row, start_s))
		begin_run(in, row, start_s);
	s = series_of(in, row);
	if (!s || in->h->nr_runs > MAX_RUNS)
		return damaged(in, s ? "more than 100,000 runs" : "more than 4,096 numbers");
	s->v[in->h->nr_runs - 1] = x;
	return 0;
}

static int read_lines(struct history *h, char *text)
{
	struct reader in = { .h = h };
	struct csv_row row;
	char *end;
	int err = 0;

	for (char *line = text; *line && !err; line = end + 1) {
		in.line++;
		end = strchr(line, '\n');
		if (!end) {
			log_warn("%s: its last line is not whole, and left out", h->path);
			break;
		}
		*end = 0;
		if (end > line && end[-1] == '\r')
			end[-1] = 0;
		if (!*line)
			continue;
		if (!csv_split(line, &row))
			err = damaged(&in, "it is no line of CSV");
		else
			err = in.line == 1 ? read_header(&in, &row) : read_row(&in, &row);
	}
	if (!err && !h->nr_runs)
		err = log_err(0, "%s has no runs", h->path);
	return err;
}

/* To be freed; NULL after one sentence. */
static char *read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0, cap = 1 << 16;
	char *text = NULL;
	ssize_t n = -1;

	if (fd < 0) {
		log_err(-errno, "cannot open %s", path);
		return NULL;
	}
	do {
		if (!text || len + 1 >= cap)
			text = xreallocarray(text, cap *= 2, 1);
		n = read(fd, text + len, cap - 1 - len);
		len += n > 0 ? n : 0;
	} while (n > 0 && len < MAX_FILE);
	text[len] = 0;
	if (n)
		log_err(n < 0 ? -errno : 0, n < 0 ? "cannot read %s" : "%s is too large", path);
	else if (strlen(text) != len)
		log_err(0, "%s is no text", path);
	close(fd);
	if (!n && strlen(text) == len)
		return text;
	free(text);
	return NULL;
}

/* --- order --- */

static int by_time(const void *x, const void *y, void *arg)
{
	const struct history_run *runs = arg;
	size_t a = *(const size_t *)x, b = *(const size_t *)y;

	if (runs[a].start_s != runs[b].start_s)
		return runs[a].start_s < runs[b].start_s ? -1 : 1;
	return a < b ? -1 : 1;
}

/* Of running processes by whatever number; a program has its own arguments. */
static bool is_same_target(const char *a, const char *b)
{
	if (!strncmp(a, "-- ", 3))
		return !strcmp(a, b);
	for (;; a++, b++) {
		a += strspn(a, "0123456789");
		b += strspn(b, "0123456789");
		if (*a != *b || !*a)
			return *a == *b;
	}
}

static bool compares(const struct history_run *a, const struct history_run *b)
{
	return is_same_target(a->target, b->target) && !strcmp(a->cpu, b->cpu);
}

static void release_run(struct history_run *r)
{
	free(r->label);
	free(r->host);
	free(r->cpu);
	free(r->target);
}

/* Oldest first, and only what compares with the latest. */
static void put_in_order(struct history *h)
{
	size_t *order = xcalloc(h->nr_runs, sizeof(*order)), nr = 0;
	struct history_run *runs = xcalloc(h->nr_runs, sizeof(*runs)), *latest;
	double *v;

	for (size_t i = 0; i < h->nr_runs; i++)
		order[i] = i;
	qsort_r(order, h->nr_runs, sizeof(*order), by_time, h->runs);
	latest = &h->runs[order[h->nr_runs - 1]];
	for (size_t i = 0; i < h->nr_runs; i++)
		if (compares(&h->runs[order[i]], latest))
			order[nr++] = order[i];
	for (size_t k = 0; k < h->nr; k++) {
		v = xcalloc(nr, sizeof(*v));
		for (size_t i = 0; i < nr; i++)
			v[i] = h->v[k].v[order[i]];
		free(h->v[k].v);
		h->v[k].v = v;
	}
	for (size_t i = 0; i < nr; i++) {
		runs[i] = h->runs[order[i]];
		h->runs[order[i]] = (struct history_run){};
	}
	for (size_t i = 0; i < h->nr_runs; i++)
		release_run(&h->runs[i]);
	free(h->runs);
	free(order);
	h->nr_other = h->nr_runs - nr;
	h->runs = runs;
	h->nr_runs = nr;
}

int history_read(struct history *h, const char *path)
{
	char *text = read_file(path);
	int err;

	*h = (struct history){ .path = path };
	if (!text)
		return -EIO;
	err = read_lines(h, text);
	free(text);
	if (!err)
		put_in_order(h);
	return err;
}

void history_release(struct history *h)
{
	for (size_t i = 0; i < h->nr_runs; i++)
		release_run(&h->runs[i]);
	for (size_t i = 0; i < h->nr; i++) {
		free(h->v[i].kind);
		free(h->v[i].name);
		free(h->v[i].unit);
		free(h->v[i].v);
		free(h->v[i].unusual);
		free(h->v[i].steps);
	}
	free(h->runs);
	free(h->v);
	*h = (struct history){};
}

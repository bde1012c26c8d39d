/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of windows, and windows of a time as one profile. */
#include "agent/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "profile/gather.h"
#include "profile/save.h"

#define SECOND	    UINT64_C(1000000000)
#define MOST_SLICES 360 /* windows, each of which is one then; of more they would take too much */
#define MS	    UINT64_C(1000000)
#define TOLD	    3		  /* windows that could not be read; of the others their number */
#define AHEAD_NS    (60 * SECOND) /* of another host's clock, when a window is no mistake */

#define NAMES ".names"

static char *date_text(uint64_t begin_ns)
{
	time_t seconds = begin_ns / SECOND;
	char date[32];
	struct tm tm;

	strftime(date, sizeof(date), "%Y%m%dT%H%M%S", gmtime_r(&seconds, &tm));
	return xasprintf("%s.%03" PRIu64 "Z", date, begin_ns % SECOND / MS);
}

char *ring_name(uint64_t begin_ns, uint64_t length_ns)
{
	char *date = date_text(begin_ns);
	char *name = xasprintf("%s-%" PRIu64 "ms.bpfprof", date, (length_ns + MS / 2) / MS);

	free(date);
	return name;
}

char *ring_names_name(uint64_t begin_ns)
{
	char *date = date_text(begin_ns), *name = xasprintf("%s" NAMES, date);

	free(date);
	return name;
}

/* What is behind the time; NULL: none is there. */
static const char *parse_date(const char *name, uint64_t *begin_ns)
{
	struct tm tm = {};
	unsigned int ms;
	int end = 0;

	if (sscanf(name, "%4d%2d%2dT%2d%2d%2d.%3uZ%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		   &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &ms, &end) != 7 ||
	    !end)
		return NULL;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	*begin_ns = (uint64_t)timegm(&tm) * SECOND + ms * MS;
	return name + end;
}

static bool parse_name(const char *name, struct ring_file *f)
{
	const char *rest = parse_date(name, &f->begin_ns);
	unsigned long long length;
	int end = 0;

	if (!rest || sscanf(rest, "-%llums.bpfprof%n", &length, &end) != 1 || !end || rest[end] ||
	    length > 7 * 24 * 3600 * 1000ull)
		return false;
	f->length_ns = length * MS;
	return true;
}

/* --- names --- */

void ring_set_names(struct ring *r, const char *name, uint64_t bytes, uint64_t last_ns)
{
	struct ring_file *f = r->nr_names ? &r->names[r->nr_names - 1] : NULL;
	struct ring_file fresh = {};
	const char *rest = parse_date(name, &fresh.begin_ns);

	if (!rest || strcmp(rest, NAMES))
		return;
	if (!f || strcmp(f->name, name)) {
		fresh.name = xstrdup(name);
		r->names = xgrow(r->names, r->nr_names, &r->cap_names, sizeof(fresh));
		r->names[r->nr_names] = fresh;
		f = &r->names[r->nr_names++];
	}
	f->bytes = bytes;
	f->length_ns = last_ns > f->begin_ns ? last_ns - f->begin_ns : 0;
}

bool ring_names_have(const struct ring_file *names, const struct ring_file *window)
{
	return window->begin_ns >= names->begin_ns &&
	       window->begin_ns <= names->begin_ns + names->length_ns;
}

bool ring_names_are_over(const struct ring *r)
{
	for (size_t i = 0; i < r->nr && r->nr_names; i++)
		if (ring_names_have(&r->names[0], &r->v[i]))
			return false;
	return r->nr_names > 0;
}

void ring_drop_first_names(struct ring *r)
{
	free(r->names[0].name);
	memmove(&r->names[0], &r->names[1], --r->nr_names * sizeof(*r->names));
}

uint64_t ring_bytes(const struct ring *r)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < r->nr; i++)
		bytes += r->v[i].bytes;
	for (size_t i = 0; i < r->nr_names; i++)
		bytes += r->names[i].bytes;
	return bytes;
}

/* --- windows --- */

void ring_add(struct ring *r, const char *name, uint64_t bytes)
{
	struct ring_file f = { .bytes = bytes };

	if (!parse_name(name, &f))
		return;
	f.name = xstrdup(name);
	r->v = xgrow(r->v, r->nr, &r->cap, sizeof(f));
	r->v[r->nr++] = f;
}

void ring_drop_first(struct ring *r)
{
	free(r->v[0].name);
	memmove(&r->v[0], &r->v[1], --r->nr * sizeof(*r->v));
}

void ring_release(struct ring *r)
{
	for (size_t i = 0; i < r->nr; i++)
		free(r->v[i].name);
	for (size_t i = 0; i < r->nr_names; i++)
		free(r->names[i].name);
	free(r->names);
	free(r->v);
	*r = (struct ring){};
}

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct ring_file *)x)->name, ((const struct ring_file *)y)->name);
}

int ring_read(struct ring *r, int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;
	struct stat st;

	*r = (struct ring){};
	if (!d)
		return -errno;
	while ((e = readdir(d)))
		if (!fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode)) {
			ring_add(r, e->d_name, st.st_size);
			ring_set_names(r, e->d_name, st.st_size,
				       st.st_mtim.tv_sec * SECOND + st.st_mtim.tv_nsec);
		}
	closedir(d);
	if (r->nr_names)
		qsort(r->names, r->nr_names, sizeof(*r->names), by_name);
	if (r->nr)
		qsort(r->v, r->nr, sizeof(*r->v), by_name);
	return 0;
}

/* --- times --- */

/* How long what is said lasts follows from how exactly it is said. */
static const struct form {
	const char *text;
	bool dated;
	uint64_t ns;
} forms[] = {
	{ "%H:%M:%S", false, SECOND },
	{ "%H:%M", false, 60 * SECOND },
	{ "%Y-%m-%dT%H:%M:%S", true, SECOND },
	{ "%Y-%m-%d %H:%M:%S", true, SECOND },
	{ "%Y-%m-%dT%H:%M", true, 60 * SECOND },
	{ "%Y-%m-%d %H:%M", true, 60 * SECOND },
	{ "%Y-%m-%d", true, 24 * 3600 * SECOND },
};

/* 2026-02-30 is none: it would be another one. By UTC, where each day has all its hours. */
static bool is_day(const struct tm *said)
{
	struct tm made = *said;

	timegm(&made);
	return said->tm_mday == made.tm_mday;
}

static time_t make_time(struct tm *tm, bool utc)
{
	tm->tm_isdst = -1;
	return utc ? timegm(tm) : mktime(tm);
}

/* since_ns: it is not before that if it can be later, though it has not been yet. */
static bool try_form(const struct form *f, const char *text, uint64_t now_ns, uint64_t since_ns,
		     struct ring_span *to)
{
	time_t now = now_ns / SECOND, since = since_ns / SECOND, at, before;
	bool utc = *text && text[strlen(text) - 1] == 'Z';
	struct tm tm, day;
	const char *end;

	(utc ? gmtime_r : localtime_r)(&now, &day);
	tm = day;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	end = strptime(text, f->text, &tm);
	if (!end || strcmp(end, utc ? "Z" : "") || !is_day(&tm))
		return false;
	at = make_time(&tm, utc);
	if (!f->dated && at > now) { /* yesterday, then */
		tm.tm_mday--;
		before = make_time(&tm, utc);
		at = before < since ? at : before;
	}
	*to = (struct ring_span){ at * SECOND, at * SECOND + f->ns, 0 };
	return at >= 0;
}

bool ring_parse_end(const char *text, uint64_t now_ns, uint64_t since_ns, struct ring_span *to)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (try_form(&forms[i], text, now_ns, since_ns, to))
			return true;
	return false;
}

static bool parse_last(const char *text, struct ring_span *to)
{
	*to = (struct ring_span){ .to_ns = UINT64_MAX };
	return !opt_seconds(text, &to->last_ns);
}

bool ring_parse(const char *text, uint64_t now_ns, struct ring_span *to)
{
	const char *dots = strstr(text, "..");
	struct ring_span first, last = {};
	char *begin;
	bool ok;

	if (text[0] == '-')
		return parse_last(text + 1, to);
	if (!dots)
		return ring_parse_end(text, now_ns, 0, to);
	begin = xstrndup(text, dots - text);
	ok = ring_parse_end(begin, now_ns, 0, &first) &&
	     ring_parse_end(dots + 2, now_ns, first.from_ns, &last);
	free(begin);
	*to = (struct ring_span){ first.from_ns, last.to_ns, 0 };
	return ok && first.from_ns < last.to_ns;
}

/* --- loading --- */

static bool is_in(const struct ring_file *f, const struct ring_span *s)
{
	uint64_t middle = f->begin_ns + f->length_ns / 2;

	return middle >= s->from_ns && middle < s->to_ns;
}

static bool has(const struct ring_file *f, uint64_t ns)
{
	return f->begin_ns <= ns && ns < f->begin_ns + f->length_ns;
}

/* Windows that have not been yet are of a clock that was ahead. Is there no other, the newest. */
static const struct ring_file *last_of(const struct ring *r)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME) + AHEAD_NS;

	for (size_t i = r->nr; i-- > 0;)
		if (r->v[i].begin_ns <= now_ns)
			return &r->v[i];
	return r->nr ? &r->v[r->nr - 1] : NULL;
}

/* A second lies in a window of ten. */
static void narrow(const struct ring *r, struct ring_span *s)
{
	const struct ring_file *last = last_of(r);
	bool any = false;

	if (s->last_ns && last) {
		s->to_ns = last->begin_ns + last->length_ns;
		s->from_ns = s->to_ns > s->last_ns ? s->to_ns - s->last_ns : 0;
	}
	for (size_t i = 0; i < r->nr && !any; i++)
		any = is_in(&r->v[i], s);
	for (size_t i = 0; i < r->nr && !any; i++)
		if (has(&r->v[i], s->from_ns)) {
			s->from_ns = r->v[i].begin_ns;
			s->to_ns = s->from_ns + r->v[i].length_ns;
			return;
		}
}

static char *time_text(uint64_t ns)
{
	time_t seconds = ns / SECOND;
	char date[32];
	struct tm tm;

	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &tm));
	return xstrdup(date);
}

static void refuse(const char *folder, const struct ring *r)
{
	char *from, *to;

	if (!r->nr) {
		log_err(0, "%s has no windows (bpfprof agent --keep %s records some)", folder,
			folder);
		return;
	}
	from = time_text(r->v[0].begin_ns);
	to = time_text(r->v[r->nr - 1].begin_ns + r->v[r->nr - 1].length_ns);
	log_err(0, "%s has no window of that time: it has %s to %s", folder, from, to);
	free(from);
	free(to);
}

/* Files that are deleted meanwhile had their time. */
static void add_file(struct gather *g, const char *folder, const struct ring_file *f,
		     struct shared_names *names, size_t *nr_bad)
{
	char *path = xasprintf("%s/%s", folder, f->name);
	const char *why = strerror(ENOENT);
	struct profile *p = access(path, F_OK) && errno == ENOENT
				    ? NULL
				    : profile_load_window(path, names, &why);
	int err = p ? gather_add(g, p, NULL) : -EIO;

	if (err)
		++*nr_bad;
	if (p && err)
		why = err == -EFBIG ? "more would be too large" : "another kind of recording";
	if (err && *nr_bad <= TOLD)
		log_warn("%s is left out: %s", path, why);
	profile_free(p);
	free(path);
}

static struct profile *gather(const char *folder, const struct ring *r,
			      const struct ring_span *span)
{
	struct shared_names *names = shared_names_new();
	struct gather *g = gather_new(0);
	size_t nr_bad = 0, nr = 0;
	struct profile *p;

	for (size_t i = 0; i < r->nr; i++)
		nr += is_in(&r->v[i], span);
	if (nr <= MOST_SLICES)
		gather_slices(g);
	for (size_t i = 0; i < r->nr; i++)
		if (is_in(&r->v[i], span))
			add_file(g, folder, &r->v[i], names, &nr_bad);
	shared_names_free(names);
	p = gather_take(g);
	if (nr_bad && !p)
		log_err(0, "none of %zu windows of %s could be read", nr_bad, folder);
	else if (!p)
		refuse(folder, r);
	if (nr_bad && p) {
		log_warn("%zu windows could not be read and are missing", nr_bad);
		p->meta.incomplete = 1;
	}
	return p;
}

struct profile *ring_load(const char *folder, const struct ring_span *span)
{
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = dir < 0 ? -errno : 0;
	struct ring_span s = *span;
	struct profile *p = NULL;
	struct ring r = {};

	if (!err)
		err = ring_read(&r, dir);
	if (dir >= 0)
		close(dir);
	if (err) {
		log_err(err, "cannot read %s", folder);
		errno = -err;
		return NULL;
	}
	narrow(&r, &s);
	p = gather(folder, &r, &s);
	ring_release(&r);
	errno = p ? 0 : ENOENT;
	return p;
}

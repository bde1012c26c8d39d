/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Points of files. */
#include "collect/points.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/call_args.h"
#include "collect/points_parts.h"
#include "collect/reading.h"
#include "proc/maps.h"
#include "reader/peek.h"
#include "uprobe/functions.h"
#include "uprobe/leaving.h"
#include "uprobe/place.h"
#include "uprobe/target.h"

void points_init(struct points *p, const struct points_opts *o)
{
	*p = (struct points){ .opts = o };
}

const char *points_string(struct points *p, char *s)
{
	p->strings = xgrow(p->strings, p->nr_strings, &p->cap_strings, sizeof(*p->strings));
	p->strings[p->nr_strings++] = s;
	return s;
}

uint32_t points_add_event(struct points *p, const struct call_event *e)
{
	p->events = xgrow(p->events, p->nr_events, &p->cap_events, sizeof(*p->events));
	p->events[p->nr_events] = *e;
	return p->nr_events++;
}

uint32_t points_add_args(struct points *p, const struct call_args *a)
{
	p->args = xgrow(p->args, p->nr_args, &p->cap_args, sizeof(*p->args));
	p->args[p->nr_args] = *a;
	return p->nr_args++;
}

void points_add(struct points *p, const struct point *point)
{
	p->v = xgrow(p->v, p->nr, &p->cap, sizeof(*p->v));
	p->v[p->nr++] = *point;
}

void points_release(struct points *p)
{
	for (size_t i = 0; i < p->nr_strings; i++)
		free(p->strings[i]);
	free(p->strings);
	free(p->events);
	free(p->args);
	free(p->v);
	*p = (struct points){};
}

/* The files that processes have mapped, each once, by a path that we can open. */
struct mapped {
	char **v;
	struct stat *st;
	size_t nr, cap, cap_st;
	const uint32_t *pids; /* that are looked at, */
	uint32_t pid;	      /* of these the one whose turn it is */
};

static bool is_that_file(const char *path, const struct maps_line *line, struct stat *st)
{
	return !stat(path, st) && st->st_ino == line->ino && S_ISREG(st->st_mode);
}

/* As the process sees it, which may be another root; a file that was deleted by its mapping. */
static char *openable(uint32_t pid, const struct maps_line *line, struct stat *st)
{
	char *path = xstrdup(line->path);

	if (is_that_file(path, line, st))
		return path;
	free(path);
	path = xasprintf("/proc/%u/root%s", pid, line->path);
	if (is_that_file(path, line, st))
		return path;
	free(path);
	path = xasprintf("/proc/%u/map_files/%" PRIx64 "-%" PRIx64, pid, line->start, line->end);
	if (is_that_file(path, line, st))
		return path;
	free(path);
	return NULL;
}

static void add_mapped(void *arg, const struct maps_line *line)
{
	struct mapped *m = arg;
	struct stat st;
	char *path = line->path[0] == '/' ? openable(m->pid, line, &st) : NULL;

	for (size_t i = 0; path && i < m->nr; i++)
		if (m->st[i].st_ino == st.st_ino && m->st[i].st_dev == st.st_dev) {
			free(path);
			return;
		}
	if (!path)
		return;
	m->v = xgrow(m->v, m->nr, &m->cap, sizeof(*m->v));
	m->st = xgrow(m->st, m->nr, &m->cap_st, sizeof(*m->st));
	m->st[m->nr] = st;
	m->v[m->nr++] = path;
}

static void take_lines(void *arg, size_t i, const void *lines, ssize_t len)
{
	struct mapped *m = arg;
	char *text;

	if (len <= 0)
		return;
	m->pid = m->pids[i];
	text = xmalloc(len);
	memcpy(text, lines, len);
	maps_take(text, len, add_mapped, m);
	free(text);
}

/* Of processes that answer: where one keeps the lock of its mappings, no probe can be placed. */
static void read_mapped(struct mapped *m, const struct opt_ids *pids)
{
	uint32_t *asked = xcalloc(pids ? pids->nr + 1 : 1, sizeof(*asked));
	struct reading r;
	size_t nr = 0;

	*m = (struct mapped){ .pids = asked };
	if (pids && pids->nr && !reading_open(&r)) {
		for (size_t i = 0; i < pids->nr; i++)
			if (peek_answers(r.reader, pids->v[i]))
				asked[nr++] = pids->v[i];
		r.mapper.read(r.mapper.arg, asked, nr, take_lines, m);
		reading_close(&r);
	}
	free(asked);
}

static void release_mapped(struct mapped *m)
{
	for (size_t i = 0; i < m->nr; i++)
		free(m->v[i]);
	free(m->v);
	free(m->st);
}

int points_for_each_file(const struct opt_ids *pids, int (*fn)(void *arg, const char *path),
			 void *arg)
{
	struct mapped m;
	int err = 0;

	read_mapped(&m, pids);
	for (size_t i = 0; i < m.nr && !err; i++)
		err = fn(arg, m.v[i]);
	release_mapped(&m);
	return err;
}

static const char *nth_mapped(void *arg, size_t i)
{
	const struct mapped *m = arg;

	return i < m->nr ? m->v[i] : NULL;
}

int points_open_file(struct points_file *f, const char *path)
{
	*f = (struct points_file){ .path = path, .functions = functions_open(path) };
	if (!f->functions)
		return -errno;
	f->leaving = leaving_of_file(f->functions, path);
	return 0;
}

void points_close_file(struct points_file *f)
{
	places_free(f->places);
	functions_free(f->functions);
}

void points_tell_place(const struct points_file *f, const char *name, const struct place *place)
{
	static const char *const prices[] = { [PLACE_EMULATED] = "cheap",
					      [PLACE_OPTIMISED] = "without a trap",
					      [PLACE_STEPPED] = "dear: single-stepped",
					      [PLACE_REFUSED] = "refused by the kernel" };

	log_info("%s in %s: at 0x%" PRIx64 ", \"%s\" (%s; %s)", name, f->path, place->address,
		 place->insn, prices[place->price], place->why);
}

int points_choose_place(struct points *p, struct points_file *f, const struct uprobe_spec *spec,
			const struct uprobe_function *fn, struct place *place)
{
	unsigned int flags =
		p->opts->place_flags | (p->opts->timed || p->opts->sessions ? PLACE_RETURN : 0);
	bool inside = (spec->kind == UPROBE_OFFSET && spec->offset != fn->address) ||
		      (spec->kind == UPROBE_NAME && spec->offset);
	uint64_t at = spec->kind == UPROBE_OFFSET ? spec->offset : fn->address + spec->offset;
	int err;

	if (!f->places)
		f->places = places_open(f->functions);
	if (!f->places)
		return log_err(-errno, "cannot read the code of %s", f->path);
	err = inside ? place_at(f->places, fn, at, flags, place)
		     : place_choose(f->places, fn, flags, place);
	if (err == -EINVAL)
		return log_as(err, "no instruction of %s begins at 0x%" PRIx64,
			      functions_shown(f->functions, fn), at);
	return err ? log_err(err, "cannot read the code of %s", fn->name) : 0;
}

/* Several functions may go on as one. */
static bool has_return(const struct points *p, const char *path, uint64_t offset)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->v[i].is_return && p->v[i].offset == offset && !strcmp(p->v[i].where, path))
			return true;
	return false;
}

int points_add_returns(struct points *p, struct points_file *f, const struct uprobe_function *fn,
		       struct point point)
{
	uint32_t args = point.args;
	struct leaving *v;
	size_t nr;
	int err = p->opts->at_last ? leaving_find_last(f->places, f->functions, fn, &v, &nr)
				   : leaving_find(f->places, f->functions, fn, &v, &nr);

	if (err)
		return log_as(err, "cannot find where %s returns: it cannot be decoded", fn->name);
	if (!nr)
		log_warn("%s does not return: its calls are not timed", fn->name);
	log_info("%s in %s: its return is seen where it is executed (%zu), since a return probe "
		 "could end the program",
		 functions_shown(f->functions, fn), f->path, nr);
	point.is_return = true;
	point.is_dear = RETURN_IS_DEAR;
	for (size_t i = 0; i < nr; i++) {
		point.offset = v[i].offset;
		point.args = args | (v[i].jumps ? p->opts->args_of_jumps : 0);
		if (p->opts->at_last && has_return(p, f->path, point.offset))
			continue;
		points_add(p, &point);
	}
	p->nr_dear += RETURN_IS_DEAR ? nr : 0;
	free(v);
	return 0;
}

/* Several words may mean a function. */
static bool is_probed(const struct points *p, const struct points_file *f, uint64_t offset)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->v[i].offset == offset && !p->v[i].is_return &&
		    !strcmp(p->v[i].where, f->path))
			return true;
	return false;
}

/* passed: functions that no probe can be placed at; NULL = that is an error. */
static int add_function(struct points *p, struct points_file *f, const struct uprobe_spec *spec,
			const struct uprobe_function *fn, size_t *passed)
{
	const char *shown = functions_shown(f->functions, fn);
	struct call_event e = { .where = f->path };
	struct point point = { .kind = POINT_UPROBE, .where = f->path };
	struct call_args args = {};
	struct place place;
	int err = points_choose_place(p, f, spec, fn, &place);

	if (err || is_probed(p, f, place.offset))
		return err;
	points_tell_place(f, shown, &place);
	if (fn->is_ifunc)
		log_warn("%s in %s is chosen when the program starts (IFUNC): calls go to one of "
			 "its implementations, and the probe does not see them",
			 shown, f->path);
	if (place.price == PLACE_REFUSED && passed) {
		++*passed;
		return 0;
	}
	if (place.price == PLACE_REFUSED)
		return log_as(-EINVAL, "no probe can stand on \"%s\", where %s begins", place.insn,
			      shown);
	p->nr_dear += place.price == PLACE_STEPPED;
	e.name = points_string(p, xstrdup(shown));
	err = f->leaving == LEAVING_GO ? call_args_of_go(&args, p->opts->args)
				       : call_args_of_function(&args, p->opts->args);
	if (err)
		return err;
	args.by_goroutine = p->opts->timed && f->leaving == LEAVING_GO;
	point.event = points_add_event(p, &e);
	point.args = points_add_args(p, &args);
	point.offset = place.offset;
	point.by_probe = p->opts->timed && leaving_by_probe(f->leaving, fn);
	points_add(p, &point);
	return p->opts->timed && !point.by_probe ? points_add_returns(p, f, fn, point) : 0;
}

static int too_many(size_t nr, const char *text)
{
	return log_as(-EINVAL,
		      "'%s' means %zu functions, and each of their calls costs: narrow it down, "
		      "or give --all",
		      text, nr);
}

/* Of several functions, some may be left out. */
static int tell_passed(const char *text, size_t passed, size_t nr)
{
	if (passed && passed == nr)
		return log_as(-EINVAL,
			      "'%s' means %zu functions, and no probe can stand where they begin",
			      text, nr);
	if (passed)
		log_warn("'%s': %zu of %zu functions are left out, since no probe can stand "
			 "where they begin (-v lists them)",
			 text, passed, nr);
	return 0;
}

static int add_functions(struct points *p, struct points_file *f, const struct uprobe_spec *spec,
			 const char *text, size_t *found)
{
	struct uprobe_function *v;
	size_t nr, passed = 0;
	char *why = NULL;
	int err = functions_find(f->functions, spec, &v, &nr, &why);

	if (err) {
		log_err(0, "%s", why);
		free(why);
		return err;
	}
	if (*found + nr > POINTS_WITHOUT_ALL && !p->opts->all)
		err = too_many(*found + nr, text);
	if (p->nr_events + nr > CALL_MAX_EVENTS)
		err = log_as(-EINVAL, "'%s': more than %d functions", text, CALL_MAX_EVENTS);
	for (size_t i = 0; i < nr && !err; i++)
		err = add_function(p, f, spec, &v[i], nr > 1 ? &passed : NULL);
	err = err ? err : tell_passed(text, passed, nr);
	*found += nr;
	free(v);
	return err;
}

static int add_from(struct points *p, const char *path, const struct uprobe_spec *spec,
		    const char *text, size_t *found, char **near)
{
	struct points_file f;
	int err = points_open_file(&f, path);
	const char *name;

	if (err)
		return err;
	err = spec->kind == UPROBE_USDT ? points_add_usdt(p, &f, spec, found)
					: add_functions(p, &f, spec, text, found);
	if (!err && !*found && !*near && spec->function && spec->kind != UPROBE_USDT) {
		name = functions_near(f.functions, spec->function);
		*near = name ? xstrdup(name) : NULL;
	}
	points_close_file(&f);
	return err;
}

static int nothing_found(const struct uprobe_spec *spec, const char *path, const char *text,
			 const char *near)
{
	char *hint = text_meant("", near);

	if (spec->kind == UPROBE_USDT)
		log_err(0, "no USDT probe %s:%s in %s (readelf -n lists them)", spec->provider,
			spec->function, path ? path : "these processes");
	else if (!path)
		log_err(0, "no file of these processes has a function '%s'%s", text, hint);
	else
		log_err(0, "%s has no function '%s'%s", path,
			spec->function ? spec->function : text, hint);
	free(hint);
	return -ENOENT;
}

static int open_failed(int err, const char *path)
{
	if (err == -ENOEXEC)
		return log_as(-EINVAL, "%s is no ELF file", path);
	return log_err(err, "cannot open %s", path);
}

/* In all files of the processes: those that cannot be read are passed over. */
static int add_anywhere(struct points *p, struct mapped *m, const struct uprobe_spec *spec,
			const char *text)
{
	size_t found = 0;
	char *near = NULL;
	int err = 0;

	for (size_t i = 0; i < m->nr && !err; i++) {
		const char *path = points_string(p, xstrdup(m->v[i]));

		err = add_from(p, path, spec, text, &found, &near);
		if (err == -ENOEXEC || err == -ENOENT || err == -EACCES)
			err = 0;
	}
	if (!err && !found)
		err = nothing_found(spec, NULL, text, near);
	free(near);
	return err;
}

static int add_target(struct points *p, struct mapped *m, const struct uprobe_spec *spec,
		      const char *text)
{
	char *why = NULL, *near = NULL;
	char *path = target_find(spec->target, m->nr ? nth_mapped : NULL, m, &why);
	size_t found = 0, nr = p->nr_events;
	int err;

	if (!path) {
		log_err(0, "%s", why);
		free(why);
		return -ENOENT;
	}
	points_string(p, path);
	err = add_from(p, path, spec, text, &found, &near);
	if (err == -ENOEXEC || (err && p->nr_events == nr && access(path, R_OK)))
		err = open_failed(err, path);
	else if (!err && !found)
		err = nothing_found(spec, path, text, near);
	free(near);
	return err;
}

int points_add_uprobes(struct points *p, const char *text)
{
	bool has_process = p->opts->pids && p->opts->pids->nr;
	struct uprobe_spec spec;
	struct mapped mapped;
	char *why = NULL;
	int err = uprobe_spec_parse(&spec, text, has_process, &why);

	if (err) {
		log_err(0, "%s", why);
		free(why);
		return err;
	}
	if (spec.is_return && !p->opts->timed) {
		uprobe_spec_release(&spec);
		return log_as(-EINVAL, "'%s': returns are seen when calls are timed: add --latency",
			      text);
	}
	read_mapped(&mapped, p->opts->pids);
	if (spec.target)
		err = add_target(p, &mapped, &spec, text);
	else
		err = add_anywhere(p, &mapped, &spec, text);
	release_mapped(&mapped);
	uprobe_spec_release(&spec);
	return err;
}

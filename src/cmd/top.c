/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpfprof top: a recording of all time of threads, looked at while it goes on: on a screen, or as
 * tables one after the other where there is none.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/pipes.h"
#include "base/text.h"
#include "cmd/interactive.h"
#include "cmd/recording.h"
#include "cmd/top_parts.h"
#include "collect/live.h"
#include "collect/reading.h"
#include "collect/target.h"
#include "collect/window.h"
#include "output/style.h"
#include "profile/save.h"
#include "symbol/kept.h"
#include "terminal/screen.h"
#include "terminal/top.h"
#include "unwind/shelf.h"

#define LEAST_NS	100000000ull /* of an interval */
#define USUAL_WINDOW_NS 5000000000ull
#define LAST_LOOK_NS	50000000ull /* of what is left at the end, to be shown */
#define NAMES_BYTES	(48u << 20) /* of what files said, for the next look and recording */
#define TABLES_BYTES	(32u << 20) /* of unwind tables, for the next recording */

struct top_args {
	struct recording_args common; /* first */
	bool batch;
	const char *page;
	uint64_t window_ns, interval_ns, symbol_ns;
	uint32_t rows, count;
	enum overview_page first;
};

const struct opt top_opts[] = {
	TARGET_ROWS,
	OPT_GROUP("What is shown"),
	OPT_TIME('w', "window", struct top_args, window_ns, 1000000000, 100000000,
		 3600 * 1000000000ull, "TIME",
		 "the last TIME of the recording (default: 5s, or an INTERVAL that is longer)"),
	OPT_STRING(0, "page", struct top_args, page, "PAGE",
		   "the first page: functions, processes, threads, or waits; without a screen the "
		   "only one"),
	OPT_FLAG('b', "batch", struct top_args, batch,
		 "tables on stdout, one after the other (the default when it is no terminal)"),
	OPT_U32('r', "rows", struct top_args, rows, 1, 1000000, "N",
		"without a screen: rows of each table (default 10)"),
	OPT_GROUP("How"),
	SAMPLING_ROWS,
	COST_ROWS,
	OPT_FLAG('g', NULL, struct recording_args, stacks, "accepted: stacks are always taken"),
	OPT_STRING(
		0, "call-graph", struct recording_args, call_graph, "HOW",
		"walk user stacks by unwind tables (dwarf), by frame pointers (fp), or by tables "
		"and by frame pointers where there are none (auto, the default)"),
	OPT_FLAG(0, "no-python", struct recording_args, record.no_python,
		 "show the interpreter of Python, not its functions"),
	OPT_TIME(0, "symbol-time", struct top_args, symbol_ns, 1000000000, 0, 60 * 1000000000ull,
		 "TIME",
		 "inlined calls and source lines, with so much time for them at each look "
		 "that has new code (default 0: without)"),
	OPT_U32(0, "max-stacks", struct recording_args, record.max_stacks, 1, 1 << 24, "N",
		"slots for distinct stacks, rounded up to a power of two (default 131072; more "
		"above 16 CPUs): when they are in use, another recording begins"),
	OPT_U32(0, "walks", struct recording_args, record.waits.walks, 1, 1000000, "N",
		"walk at most N stacks per second and CPU (default 10000); other waits count as "
		"[not sampled]"),
	MEMORY_ROW,
	STRICT_ROW,
	UNSAFE_ROW,
	OPT_GROUP("Output"),
	COLOR_ROW(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

/* A run, of several recordings if it takes long. */
struct watch {
	struct top_args *args;
	struct record *record;
	struct live *live;
	struct top *top; /* NULL: tables instead */
	struct target target;
	char *target_text;
	struct live_names names;
	uint64_t begin_ns, next_ns, last_ns;
	uint32_t nr_shown, nr_restarts;
	struct profile *sum; /* of all recordings, for --strict; NULL without */
	bool quit, full, failed;
};

static struct top_data data_of(struct watch *w, bool all_names)
{
	struct live_facts f;
	struct top_data d = { .profile = live_profile(w->live, all_names) };

	live_facts(w->live, &f);
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		d.lost += profile_counters[i].kind == COUNTER_LOST ? f.lost[i] : 0;
	d.heads[0] = xasprintf("the last %s of %s, every %s: %s", text_ns(f.window_ns),
			       text_ns(now_ns() - w->begin_ns), text_ns(w->args->interval_ns),
			       w->target_text);
	d.heads[1] = top_cost_text(&f, d.lost);
	d.heads[2] = top_load_text(&f, w->nr_restarts);
	return d;
}

static void release(struct top_data *d)
{
	profile_free(d->profile);
	for (size_t i = 0; i < TOP_HEADS; i++)
		free(d->heads[i]);
}

static void print(struct watch *w)
{
	struct top_data d = data_of(w, false);
	struct overview_sums sums = { .profile = d.profile };
	bool all = !w->args->page;

	if (w->nr_shown)
		putchar('\n');
	for (size_t i = 0; i < TOP_HEADS; i++)
		puts(d.heads[i]);
	for (size_t page = 0; page < OVERVIEW_NR; page++)
		if (all || page == w->args->first)
			top_print(&sums, page, w->args->rows, stdout);
	if (fflush(stdout) || ferror(stdout)) {
		w->failed = true;
		if (errno != EPIPE)
			log_err(-errno, "cannot write to standard output");
	}
	overview_sums_release(&sums);
	release(&d);
}

/* What came since the last look, on the screen or as tables. */
static void look(struct watch *w)
{
	struct top_data d;

	w->last_ns = now_ns();
	if (live_look(w->live)) {
		w->failed = w->quit = true;
		return;
	}
	if (!w->top) {
		print(w);
		w->quit |= w->failed;
	} else if (top_wants(w->top)) {
		d = data_of(w, false);
		top_give(w->top, &d);
		top_draw(w->top);
	}
	w->nr_shown++;
	w->quit |= w->args->count && w->nr_shown >= w->args->count;
}

/* A file that is not there yet. To be freed. */
static char *file_name(void)
{
	time_t now = time(NULL);
	struct tm tm;
	char date[32], *path = NULL;

	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	for (int i = 1; !path || !access(path, F_OK); i++) {
		free(path);
		path = i == 1 ? xasprintf("top-%s.bpfprof", date)
			      : xasprintf("top-%s-%d.bpfprof", date, i);
	}
	return path;
}

static int save_as(struct watch *w, const char *path)
{
	struct profile part = overview_all(top_profile(w->top), top_process(w->top));
	struct outfile *file = outfile_open(path);
	int err = file ? 0 : -errno;

	if (file) {
		profile_save(&part, outfile_stream(file));
		err = outfile_commit(file);
	}
	overview_part_release(&part);
	return err;
}

/* Unless it is frozen, what is shown first gets the names that were not looked up yet. */
static void save(struct watch *w)
{
	char *path = file_name(), *folder = getcwd(NULL, 0), *text, *why;
	struct top_data d;

	if (w->live && top_wants(w->top)) {
		d = data_of(w, true);
		top_give(w->top, &d);
	}
	if (save_as(w, path)) {
		why = screen_message();
		text = xasprintf("not saved: %s", why ? why : path);
		free(why);
		top_tell(w->top, text, true);
	} else {
		text = xasprintf("saved: %s%s%s", folder ? folder : "", folder ? "/" : "", path);
		top_tell(w->top, text, false);
	}
	free(text);
	free(folder);
	free(path);
	top_draw(w->top);
}

static void do_keys(struct watch *w, int timeout_ms)
{
	enum top_wish wish = top_keys(w->top, timeout_ms);

	if (wish == TOP_SAVE)
		save(w);
	w->quit |= wish == TOP_QUIT;
}

/* Before the next look, which would take the time of a busy host to be read by nobody. */
static bool is_unread(struct watch *w)
{
	if (w->top || pipes_is_read(STDOUT_FILENO))
		return false;
	raise(SIGPIPE); /* unless who started us ignores it */
	return w->failed = w->quit = true;
}

static bool turn(void *arg, struct record *r)
{
	struct watch *w = arg;
	uint64_t now = now_ns(), interval = w->args->interval_ns;

	if (is_unread(w))
		return false;
	if (!w->live) {
		w->live = live_new(r, w->args->window_ns, &w->names);
		w->next_ns = record_begin_ns(r) + interval;
	}
	if (w->top)
		do_keys(w, 0);
	if (now >= w->next_ns && !w->quit) {
		look(w);
		w->next_ns = w->next_ns + interval > now ? w->next_ns + interval : now + interval;
		w->full = live_is_full(w->live);
		if (w->full)
			live_tell_full(w->live);
	}
	return !w->quit && !w->full;
}

static char *target_text(struct record *r)
{
	char *text = record_target(r), *safe = text_cleaned(text);

	free(text);
	return safe;
}

static const char *open_screen(struct watch *w)
{
	struct top_opts o = { .colour = style_is_on(stdout),
			      .page = w->args->first,
			      .annotate = annotate_of_browse };
	const char *why = NULL;

	if (w->args->batch)
		return NULL;
	w->top = top_open(&o, &why);
	if (w->top)
		top_draw(w->top);
	return why;
}

/*
 * Tables that are full are not emptied while threads wait by them: another recording begins. Its
 * program is one of its processes by then, and their children are found.
 */
static int record_once(struct watch *w)
{
	struct record_opts *o = &w->args->common.record;
	const char *why;
	sigset_t mask;
	int err;

	/* Where what is shown can be saved. */
	o->foreign_folder = !w->args->batch && outfile_folder_needs_rights(AT_FDCWD);
	w->record = record_open(o);
	if (!w->record)
		return -errno;
	if (!w->begin_ns) {
		w->begin_ns = now_ns();
		w->target_text = target_text(w->record);
		why = open_screen(w);
		if (why)
			log_warn("%s; these are tables, one after the other", why);
	}
	err = record_run(w->record);
	w->quit |= w->top && record_was_interrupted(w->record);
	if (!err && !w->quit && !w->full && w->live && now_ns() - w->last_ns > LAST_LOOK_NS)
		look(w);
	if (!err && w->sum)
		err = record_sum_up(w->record, w->sum);
	live_free(w->live);
	w->live = NULL;
	if (w->full && o->program)
		record_hand_over(w->record, &w->target);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	record_close(w->record);
	w->record = NULL;
	if (w->full) /* the next one is to find signals as they are on a screen */
		sigprocmask(SIG_SETMASK, &mask, NULL);
	return err;
}

/* The last picture stays until it has been seen. */
static void linger(struct watch *w)
{
	if (!w->top || w->quit || !top_profile(w->top))
		return;
	top_tell(w->top, "the recording has ended; q quits", false);
	top_draw(w->top);
	while (!w->quit)
		do_keys(w, -1);
}

static int watch_all(struct watch *w)
{
	struct record_opts *o = &w->args->common.record;
	uint64_t duration_ns = o->duration_ns, gone;
	int err;

	for (;;) {
		w->full = false;
		err = record_once(w);
		if (err || !w->full || w->quit)
			break;
		gone = now_ns() - w->begin_ns;
		if (duration_ns && gone >= duration_ns)
			break;
		o->duration_ns = duration_ns ? duration_ns - gone : 0;
		if (w->target.pid)
			opt_ids_add(&o->pids, w->target.pid);
		w->nr_restarts++;
	}
	return err;
}

static enum cmd_result run(struct recording_args *common)
{
	struct watch w = { .args = (struct top_args *)common };
	struct reading reading = {};
	struct record_opts *o = &common->record;
	sigset_t mask;
	int err;

	record_tell_early(false); /* a screen has handlers of its own */
	sigprocmask(SIG_SETMASK, NULL, &mask);
	w.args->batch |= !isatty(STDOUT_FILENO);
	o->live = (struct live_opts){ .fd = w.args->batch ? -1 : STDIN_FILENO,
				      .turn = turn,
				      .arg = &w,
				      .target = &w.target };
	o->symbols.time_ns = w.args->symbol_ns;
	o->symbols.kept = kept_new(NAMES_BYTES);
	o->shelf = shelf_new(TABLES_BYTES);
	o->reading = &reading;
	if (common->strict_pct >= 0)
		w.sum = profile_new();
	err = watch_all(&w);
	if (!err)
		linger(&w);
	top_close(w.top);
	if (!err && w.sum && recording_judge(common, w.sum) != CMD_OK)
		w.failed = true;
	profile_free(w.sum);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	reading_close(&reading);
	shelf_free(o->shelf);
	kept_free(o->symbols.kept);
	free(w.target_text);
	return err ? cmd_failed(err) : w.failed ? CMD_FAILED : CMD_OK;
}

static int parse_page(struct top_args *a)
{
	char *hint;

	for (size_t i = 0; a->page && i < OVERVIEW_NR; i++)
		if (!strcmp(a->page, overview_names[i])) {
			a->first = i;
			return 0;
		}
	if (!a->page)
		return 0;
	hint = text_meant("", text_nearest(a->page, overview_names, OVERVIEW_NR));
	log_err(0, "--page '%s': functions, processes, threads or waits%s", a->page, hint);
	free(hint);
	return -EINVAL;
}

static int parse_window(struct top_args *a)
{
	uint64_t interval = a->interval_ns;

	if (!a->window_ns)
		a->window_ns = interval > USUAL_WINDOW_NS ? interval : USUAL_WINDOW_NS;
	if (a->window_ns < interval)
		return log_err(0, "--window %s is shorter than the interval of %s",
			       text_ns(a->window_ns), text_ns(interval));
	if (a->window_ns / interval > WINDOW_MAX_LOOKS)
		return log_err(0, "--window %s: at most %d intervals of %s", text_ns(a->window_ns),
			       WINDOW_MAX_LOOKS, text_ns(interval));
	return 0;
}

/* [INTERVAL [COUNT]] */
static int parse_words(struct recording_args *common, char **words, int nr)
{
	struct top_args *a = (struct top_args *)common;
	uint64_t *interval = &a->interval_ns;
	int err;

	*interval = 1000000000;
	err = recording_intervals(words, nr, interval, &a->count);
	if (!err && *interval < LEAST_NS)
		return log_err(0, "'%s': an interval is at least 100 ms", words[0]);
	if (!err)
		err = parse_page(a);
	return err ? err : parse_window(a);
}

enum cmd_result cmd_top(const struct command *self, int argc, char **argv)
{
	struct top_args a = { .common = { .parse_words = parse_words }, .rows = 10 };

	return recording_main(self, argc, argv, &a.common, run);
}

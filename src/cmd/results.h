/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where results of every kind go: any number of files by extension, and standard output. There the
 * options choose the form; without one it is the summary on a terminal, and in a pipe folded lines
 * of stacks and the summary of all else, but nothing when there are files. Which forms there are,
 * the table of outputs knows (output/output.h).
 */
#ifndef BPFPROF_CMD_RESULTS_H
#define BPFPROF_CMD_RESULTS_H

#include <stdbool.h>

#include "base/opt.h"
#include "output/output.h"
#include "profile/kind.h"
#include "profile/profile.h"
#include "profile/tree.h"

struct results_opts {
	enum result_kind kind; /* of stacks unless somebody says so */
	/* What stdout gets; none = by whether it is a terminal. */
	bool folded, json, csv, summary, broken, budget, branches, tree;
	const char *sort;   /* view.timeline_sort in a word */
	bool interactive;   /* what stdout gets where that cannot be */
	const char *report; /* "md" */
	const char *by;	    /* view.by in a word */
	const char *junit;  /* of comparisons: a file, whatever its name, or "-" */
	struct opt_strings files;
	uint32_t mode; /* of them; 0 = as usual */
	struct view view;
	/* Of waits; results_check() makes parts of the view of them. */
	const char *classes, *idle;
	/* Of threads of a runtime, likewise. */
	const char *runtime, *frames, *group;
	const char *color;
	/* Of flame graphs, likewise. */
	const char *colors, *min_width;
};

/* In both of the sets below. */
#define MODE_ROW(s, r)                                                                             \
	OPT_MODE(0, "mode", s, r.mode, "OCTAL",                                                    \
		 "permissions of the files (default 600, or those of what is replaced)")
#define COLOR_ROW(s, r)                                                                            \
	OPT_STRING(0, "color", s, r.color, "WHEN",                                                 \
		   "colour in tables: auto (on a terminal, unless NO_COLOR is set; the default), " \
		   "always, or never")

/* Rows for an options table; r is the struct results_opts within struct s. */
#define RESULTS_ROWS(s, r)                                                                         \
	RESULTS_ROWS_OF(s, r, RESULTS_EXTENSIONS,                                                  \
			"folded stacks on stdout (the default when it is no terminal)")
#define CALLS_RESULTS_ROWS(s, r)                                                                   \
	RESULTS_ROWS_OF(s, r, CALLS_EXTENSIONS, "folded stacks on stdout"), CSV_ROW(s, r),         \
		MILLISECONDS_ROW(s, r), TABLE_ROWS_ROW(s, r)
#define RESULTS_ROWS_OF(s, r, extensions, folded_text)                                             \
	OPT_GROUP("Output"),                                                                       \
		OPT_STRINGS('o', "output", s, r.files, "FILE",                                     \
			    "write FILE, by extension: " extensions " (repeatable)"),              \
		MODE_ROW(s, r), OPT_FLAG('f', "folded", s, r.folded, folded_text),                 \
		OPT_FLAG('s', "summary", s, r.summary,                                             \
			 "the summary on stdout (the default on a terminal)"),                     \
		OPT_FLAG(0, "broken", s, r.broken,                                                 \
			 "where stacks break, and what helps, on stdout"),                         \
		OPT_FLAG(0, "json", s, r.json, "the summary (or --broken) as JSON on stdout"),     \
		OPT_FLAG('D', "delimited", s, r.view.delimiter,                                    \
			 "a '-' frame between user and kernel frames"),                            \
		OPT_FLAG('A', "annotations", s, r.view.annotations,                                \
			 "mark kernel frames _[k], inlined calls _[i], JIT _[j], Python _[p]"),    \
		OPT_FLAG(0, "per-thread", s, r.view.per_thread,                                    \
			 "tell threads of the same name apart (name/tid)"),                        \
		OPT_FLAG(0, "merge-threads", s, r.view.merge_threads,                              \
			 "worker-1, worker-2 … as one: worker-"),                                  \
		OPT_FLAG(0, "no-demangle", s, r.view.no_demangle,                                  \
			 "C++ and Rust names as the linker has them"),                             \
		OPT_FLAG(0, "no-inline", s, r.view.no_inline,                                      \
			 "without inlined calls: functions as the linker has them"),               \
		FLAME_ROWS(s, r), COLOR_ROW(s, r)

/* In all commands that write flame graphs. */
#define FLAME_ROWS(s, r)                                                                           \
	OPT_STRING(0, "title", s, r.view.title, "TEXT", "of flame graphs: their title"),           \
		OPT_STRING(0, "colors", s, r.colors, "WHAT",                                       \
			   "of flame graphs, what colours say: cpu (the kind of code, the "        \
			   "default), io (nothing: blue), class (of waits), module, or diff (of "  \
			   "comparisons)"),                                                        \
		OPT_STRING(0, "min-width", s, r.min_width, "PX",                                   \
			   "of flame graphs: leave out frames that are narrower (default 0.5, "    \
			   "of svg 0.3)")

/* Further rows, of commands whose profiles are of waits. */
#define WAIT_ROWS(s, r)                                                                            \
	OPT_FLAG(0, "by-class", s, r.view.by_class,                                                \
		 "what was waited for as the first frame: [lock], [poll], [sleep] …"),             \
		OPT_STRING(0, "class", s, r.classes, "LIST",                                       \
			   "only waits of these classes: lock, poll, sleep, io, net, pipe, "       \
			   "pagefault, woken, preempted, runnable (both), throttled, other"),      \
		OPT_STRING(0, "idle", s, r.idle, "MODE",                                           \
			   "waits of workers without work: fold (one frame [idle], the default), " \
			   "hide, or show them")

/* Further rows, of commands whose profiles may have threads of a runtime such as Tokio. */
#define RUNTIME_ROWS(s, r)                                                                         \
	OPT_GROUP("Runtimes"),                                                                     \
		OPT_STRING(0, "runtime", s, r.runtime, "NAME",                                     \
			   "say what threads of a runtime do: auto (of Tokio where there is one, " \
			   "the default), tokio, go, or none"),                                    \
		OPT_STRING(0, "frames", s, r.frames, "WHICH",                                      \
			   "of its threads: task (the program's frames, the default), app "        \
			   "(without those of hyper, tower, axum … as well), or all"),             \
		OPT_STRING(                                                                        \
			0, "group", s, r.group, "HOW",                                             \
			"of its threads: role (one group, the default), thread (name/w2(tid)), "   \
			"name (digits behind names left out), or none"),                           \
		OPT_FLAG(0, "full-names", s, r.view.full_names,                                    \
			 "of its threads: names with generic arguments and {{closure}}")

/* And of those that know when waits began and ended. */
#define GAP_ROWS(s, r)                                                                             \
	OPT_FLAG(0, "gaps", s, r.view.gaps,                                                        \
		 "in stacks and flame graphs, only what kept a runtime's driver from being "       \
		 "polled, and for how long"),                                                      \
		OPT_TIME(0, "gap", s, r.view.gap_ns, 1000000, 1000, 3600 * 1000000000ull, "TIME",  \
			 "how long nobody polls the driver at least, for the summary and --gaps: " \
			 "20, 20ms (default 20ms)")

/* And of those that record how long waits were. */
#define HISTOGRAM_ROW(s, r)                                                                        \
	OPT_FLAG(0, "histogram", s, r.view.histogram,                                              \
		 "in the summary, how long the waits of each class were, by powers of two; with "  \
		 "--by, those of each row")

/* And of those that show shares. */
#define BY_ROW(s, r)                                                                               \
	OPT_STRING(                                                                                \
		0, "by", s, r.by, "KEY",                                                           \
		"shares by function, module, file, line, thread, process, class (of waits), or "   \
		"of a runtime's threads by context, kind, role or task, on stdout (also --csv, "   \
		"--json)")

/* And of those that account for all time of threads. */
#define TABLE_ROW(s, r)                                                                            \
	OPT_FLAG(0, "table", s, r.budget, "where the time of each thread went, on stdout")

/* And of those whose samples or waits have a time. */
#define HEATMAP_ROW(s, r)                                                                          \
	OPT_FLAG(0, "heatmap", s, r.view.heatmap,                                                  \
		 "of -o FILE.html: when samples were taken, second by second, and the flame "      \
		 "graph of what is selected there; -o FILE.bpfprof keeps it too")

/* And of those that may be of several events. */
#define VALUE_ROW(s, r)                                                                            \
	OPT_STRING(0, "value", s, r.view.value, "EVENT",                                           \
		   "of several events, the one that stacks show (default: the first)")

/* And of timelines. */
#define SCHED_PROCESS_ROW(s, r)                                                                    \
	OPT_FLAG('P', "per-process", s, r.view.per_process, "a row of the table for each process")
#define SCHED_ROWS(s, r)                                                                           \
	OPT_STRING(0, "sort", s, r.sort, "KEY",                                                    \
		   "the table by max (longest wait for a CPU, the default), avg, runtime or "      \
		   "switches"),                                                                    \
		SCHED_PROCESS_ROW(s, r)

#define BRANCHES_ROW(s, r, text) OPT_FLAG(0, "branches", s, r.branches, text)

/* And of those whose results have other forms; extensions as output_extensions() has them. */
#define CSV_ROW(s, r)	       OPT_FLAG(0, "csv", s, r.csv, "CSV on stdout")
#define REPORT_ROW(s, r, text) OPT_STRING(0, "report", s, r.report, "FORM", text)
#define MILLISECONDS_ROW(s, r)                                                                     \
	OPT_FLAG('m', "milliseconds", s, r.view.milliseconds, "histograms in milliseconds")
#define TABLE_ROWS_ROW(s, r)                                                                       \
	OPT_U32(0, "rows", s, r.view.rows, 1, 1000000, "N",                                        \
		"rows of tables (default 40, in summaries 20 of functions and of stacks)")
#define FORMS_ROWS(s, r, extensions)                                                               \
	OPT_STRINGS('o', "output", s, r.files, "FILE",                                             \
		    "write FILE, by extension: " extensions " (repeatable)"),                      \
		MODE_ROW(s, r),                                                                    \
		OPT_FLAG('s', "summary", s, r.summary,                                             \
			 "text on stdout (the default, but with -o and no terminal)"),             \
		OPT_FLAG(0, "json", s, r.json, "JSON on stdout"), COLOR_ROW(s, r)

#define RESULTS_EXTENSIONS                                                                         \
	".folded .svg .html .json .speedscope.json .firefox.json .pb.gz .pprof .fdata "            \
	".afdo.txt .txt .bpfprof"
#define CALLS_EXTENSIONS                                                                           \
	".folded .svg .html .json .speedscope.json .firefox.json .pb.gz .pprof"                    \
	" .csv .stacks.csv .txt .bpfprof"
#define RUNQLAT_EXTENSIONS  ".json .csv .bpfprof .txt"
#define TIMELINE_EXTENSIONS ".trace.json .json .csv .bpfprof .txt"
#define STAT_EXTENSIONS	    ".json .csv .md .bpfprof .txt"
#define DIFF_EXTENSIONS	    ".json .xml .txt"
#define CHANGES_EXTENSIONS  ".folded .svg .html .json .xml .md .txt"
#define EVENTS_EXTENSIONS   ".json .csv .txt"
#define ANNOTATE_EXTENSIONS ".json .txt"
#define HISTORY_EXTENSIONS  ".json .txt"
#define CHECKS_EXTENSIONS   ".json .txt"
#define NAMED_EXTENSIONS    ".json .txt"

struct results;

/* How a recording of a kind is looked at, where options do not say. */
void results_default(struct results_opts *o, const struct kind *kind);

/* Which of some words; NULL is the first one. -EINVAL: none, logged. */
int results_word(const char *option, const char *word, const char *const *words, size_t nr);

/* What options say in words, and what excludes what. 0 or -EINVAL, logged. */
int results_check(struct results_opts *o);

/* Is an output of this name asked for, by --report or for a file? */
bool results_wants(const struct results_opts *o, const char *name);

/*
 * Opens all files, so that what cannot be written is known before anything is recorded. NULL with
 * errno set, logged; EINVAL: a result of o->kind has no such form. o must stay.
 */
struct results *results_open(const struct results_opts *o);

/* Is one of its files in a folder of another user, see outfile_needs_rights()? */
bool results_need_rights(const struct results *r);

/*
 * Writes a result into all files, makes these appear, and shows it on standard output. 0 or
 * negative errno, logged; files that failed do not appear, nor do those that the result lacks
 * something for. -EINVAL: it lacks all that was asked for, or what was to be shown, and nothing was
 * written; what was recorded is, in results_write().
 */
int results_write(struct results *r, const struct profile *p);
int results_write_all(struct results *r, const struct result *result);
/* The same without standard output: it is shown otherwise, or by results_show(). */
int results_write_files(struct results *r, const struct result *result);

/* The steps of it, of results that come one by one. 0 or negative errno. */
int results_show(struct results *r, const struct result *result);
int results_add(struct results *r, const struct result *result);
int results_commit(struct results *r);

/* Drops what was not written; NULL is fine. */
void results_close(struct results *r);

#endif

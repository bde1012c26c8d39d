/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Short texts, of people and of the kernel. The first byte says which: options (a word a line),
 * events, what to probe, formulas, conditions of --on and of --fail-on, mangled names, lines of
 * /proc/PID/maps, patterns of thread names, histories of stat, durations and numbers. A refusal is
 * one sentence; what is taken keeps to what its header says.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/trigger.h"
#include "base/opt.h"
#include "bpf/prof.h"
#include "collect/glob.h"
#include "event/spelling.h"
#include "metric/diff.h"
#include "metric/formula.h"
#include "metric/history.h"
#include "proc/maps.h"
#include "symbol/demangle.h"
#include "tests/fuzz/limits.h"
#include "uprobe/spec.h"

#define MAX_WORDS 64

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Refusals are no news. What a sanitizer says does not go through stdio. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	stderr = fopen("/dev/null", "w");
	return !stderr;
}

static uint32_t limit_of_host(void)
{
	return 5000;
}

struct args {
	struct opt_ids tids, cpus;
	struct opt_strings words;
	uint32_t rate, least, mode;
	uint64_t count, bytes, ns;
	bool flag;
	int times;
	const char *text;
	char **program;
};

static const struct opt options[] = {
	OPT_GROUP("All kinds"),
	OPT_TIDS('t', "tid", struct args, tids, "LIST", "threads"),
	OPT_CPUS('C', "cpu", struct args, cpus, "LIST", "CPUs"),
	OPT_STRINGS('o', "output", struct args, words, "FILE", "files"),
	OPT_U32('F', "freq", struct args, rate, 1, 100000, "HZ", "a number"),
	OPT_U32_UPTO('R', "rate", struct args, least, 1, limit_of_host, "kernel.limit", "HZ",
		     "one more"),
	OPT_MODE(0, "mode", struct args, mode, "MODE", "octal"),
	OPT_U64('c', "count", struct args, count, 1, UINT64_MAX, "N", "a long one"),
	OPT_SIZE(0, "max-mem", struct args, bytes, 1 << 20, 1 << 20, 4ull << 30, "SIZE", "bytes"),
	OPT_TIME('m', "least", struct args, ns, 1000000000, 1000, 3600000000000ull, "TIME",
		 "a time"),
	OPT_FLAG('I', "idle", struct args, flag, "a switch"),
	OPT_COUNT('v', "verbose", struct args, times, "more of it"),
	OPT_STRING('e', "event", struct args, text, "TEXT", "a text"),
	OPT_ALIAS('L', NULL, "tid"),
	OPT_PROGRAM(struct args, program),
	OPT_END
};

static void check_options(char *text)
{
	char *argv[MAX_WORDS + 1] = { (char *)"command" }, **rest = NULL, *word;
	struct args a = { .rate = 1, .least = 1 };
	int argc = 1, nr = 0;

	while (argc < MAX_WORDS && (word = strsep(&text, "\n")))
		argv[argc++] = word;
	if (!opt_parse("command", options, argc, argv, &a, &rest, &nr)) {
		assert(nr >= 0 && nr < argc);
		assert(a.rate >= 1 && a.rate <= 100000 && a.least >= 1 && a.least <= 5000);
		assert(!a.bytes || (a.bytes >= 1 << 20 && a.bytes <= 4ull << 30));
		assert(!a.ns || (a.ns >= 1000 && a.ns <= 3600000000000ull));
		assert(a.mode <= 0777);
		for (int i = 0; i < nr; i++)
			assert(rest[i]);
	}
	opt_release(options, &a);
}

static void check_spelling(const char *text)
{
	struct spelling s;
	char *why = NULL;

	if (spelling_parse(&s, text, &why))
		assert(why && *why);
	else
		assert(s.name && s.text && s.modifiers);
	assert(spelling_len(text) <= strlen(text));
	free(why);
	spelling_release(&s);
}

static void check_spec(const char *text, bool has_process)
{
	struct uprobe_spec s;
	char *why = NULL;

	if (uprobe_spec_parse(&s, text, has_process, &why))
		assert(why && *why && !s.target && !s.function);
	else
		assert(s.kind == UPROBE_ALL || s.kind == UPROBE_OFFSET || s.function);
	free(why);
	uprobe_spec_release(&s);
}

static double value_of(void *arg, const char *name)
{
	return *name == 'a' ? NAN : strlen(name) - 1.0;
}

static void check_formula(const char *text)
{
	struct formula f;
	struct formula_ratio ratio;
	const char *zero;
	size_t at = 0;

	if (!formula_parse(&f, text, &at)) {
		assert(at <= strlen(text));
		return;
	}
	assert(f.nr && f.nr <= FORMULA_STEPS_MAX);
	formula_eval(&f, value_of, NULL, &zero);
	formula_ratio(&f, &ratio);
}

static void check_names(const char *text)
{
	char *name = demangle_name(text), *signature = demangle_signature(text);

	assert(!name || strlen(name) <= 20000);
	assert(!signature || strlen(signature) <= 20000);
	free(name);
	free(signature);
}

static void check_maps(char *text)
{
	size_t len = strcspn(text, "\n");
	struct maps_line line;

	if (maps_parse(text, &line)) /* of one line; the kernel writes \012 for a line feed in it */
		assert(line.start < line.end && line.path > text &&
		       line.path + strlen(line.path) <= text + len);
}

static void check_history(const char *text, size_t len)
{
	int fd = memfd_create("history", MFD_CLOEXEC);
	struct history h;
	char path[32];

	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!history_read(&h, path))
		assert(h.nr_runs);
	history_release(&h);
	close(fd);
}

static void check_numbers(const char *text)
{
	static const struct opt_number percent = { "--alpha", 0, 100, "%" };
	double number = 1;
	uint64_t ns = 1;

	if (!opt_seconds(text, &ns))
		assert(ns && ns <= 7 * 86400 * 1000000000ull);
	if (!opt_number(&percent, text, &number))
		assert(number >= 0 && number <= 100);
}

static void check_conditions(const char *text)
{
	struct diff_rules rules = {};
	struct trigger t;

	if (!trigger_parse(&t, text))
		assert(t.of && isfinite(t.value));
	diff_rules_parse(&rules, text);
	diff_rules_release(&rules);
}

int fuzz_target(const uint8_t *data, size_t sz)
{
	struct prof_glob glob;
	char *text;

	if (!sz)
		return 0;
	text = malloc(sz);
	memcpy(text, data + 1, sz - 1);
	text[sz - 1] = '\0';
	switch (*data % 11) {
	case 0:
		check_options(text);
		break;
	case 1:
		check_spelling(text);
		break;
	case 2:
		check_spec(text, *data & 16);
		break;
	case 3:
		check_formula(text);
		break;
	case 4:
		check_conditions(text);
		break;
	case 5:
	case 6:
		check_names(text);
		break;
	case 7:
		check_maps(text);
		break;
	case 8:
		glob_compile(&glob, text);
		break;
	case 9:
		check_history(text, sz - 1);
		break;
	default:
		check_numbers(text);
	}
	free(text);
	return 0;
}

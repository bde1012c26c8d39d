/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base/opt: each row is a command line and what must come of it: fields, words, or one sentence. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/opt.h"

#define ROWS(t)	 (sizeof(t) / sizeof(*(t)))
#define MAX_ARGS 32
#define S	 1000000000ull

struct args {
	struct opt_ids pids, tids, cpus;
	struct opt_strings outs;
	uint32_t freq;
	uint64_t count, mem, block;
	bool idle, mangled;
	int verbose;
	const char *event;
	char **program;
};

static uint32_t limit_of_host(void)
{
	return 5000;
}

static const struct opt opts[] = {
	OPT_GROUP("What to record"),
	OPT_TIDS('p', "pid", struct args, pids, "LIST", "only these processes"),
	OPT_TIDS('t', "tid", struct args, tids, "LIST", "only these threads"),
	OPT_ALIAS('L', NULL, "tid"),
	OPT_CPUS('C', "cpu", struct args, cpus, "LIST", "only these CPUs"),
	OPT_U32('F', "freq", struct args, freq, 1, 100000, "HZ", "samples per second and CPU"),
	OPT_ALIAS(0, "frequency", "freq"),
	OPT_U32_UPTO('R', "rate", struct args, freq, 1, limit_of_host, "kernel.limit", "HZ",
		     "as the host allows"),
	OPT_U64('c', "count", struct args, count, 1, UINT64_MAX, "N", "one sample every N events"),
	OPT_SIZE(0, "max-mem", struct args, mem, 1 << 20, 1 << 20, 4ull << 30, "SIZE", "memory"),
	OPT_TIME('m', "min-block-time", struct args, block, S, 1000, 3600 * S, "TIME",
		 "leave out less"),
	OPT_FLAG('I', "include-idle", struct args, idle, "idle CPUs too"),
	OPT_FLAG(0, "no-demangle", struct args, mangled, "names as the linker sees them"),
	OPT_GROUP("How to show it"),
	OPT_STRING('e', "event", struct args, event, "EVENT", "what to count"),
	OPT_STRINGS(
		'o', "output", struct args, outs, "FILE",
		"write FILE; its extension says what; several are allowed, and this text goes on "
		"so long that it has to be wrapped at least once"),
	OPT_COUNT('v', "verbose", struct args, verbose, "say more"),
	OPT_PROGRAM(struct args, program),
	OPT_END
};

/* A table without a program and with its own --help row. */
static const struct opt plain_opts[] = {
	OPT_FLAG('h', "help", struct args, idle, "not the usual help"), OPT_END
};

struct run {
	struct args args;
	char *line, *argv[MAX_ARGS + 1], **rest, *message;
	int argc, nr_rest, ret;
};

/* Splits line at spaces (the word '' is empty) and parses it; what went to stderr is in message. */
static void run_opts(struct run *r, const struct opt *table, const char *line)
{
	FILE *saved = stderr;
	char *word, *next;
	size_t sz;

	memset(r, 0, sizeof(*r));
	r->line = next = xasprintf("oncpu %s", line);
	while ((word = strsep(&next, " ")) && r->argc < MAX_ARGS)
		if (*word)
			r->argv[r->argc++] = !strcmp(word, "''") ? word + 2 : word;
	stderr = open_memstream(&r->message, &sz);
	r->ret = opt_parse("oncpu", table, r->argc, r->argv, &r->args, &r->rest, &r->nr_rest);
	fclose(stderr);
	stderr = saved;
}

static void run_release(struct run *r)
{
	opt_ids_release(&r->args.pids);
	opt_ids_release(&r->args.tids);
	opt_ids_release(&r->args.cpus);
	opt_strings_release(&r->args.outs);
	free(r->line);
	free(r->message);
}

static void print_ids(FILE *out, const char *name, const struct opt_ids *ids)
{
	size_t i;

	for (i = 0; i < ids->nr; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : name, ids->v[i]);
}

/* All that differs from an empty run, in one line. */
static char *describe(const struct run *r)
{
	const struct args *a = &r->args;
	char *text = NULL, **p;
	size_t sz, i;
	FILE *out = open_memstream(&text, &sz);
	int w;

	print_ids(out, " pids=", &a->pids);
	print_ids(out, " tids=", &a->tids);
	print_ids(out, " cpus=", &a->cpus);
	for (i = 0; i < a->outs.nr; i++)
		fprintf(out, " out=%s", a->outs.v[i]);
	if (a->freq)
		fprintf(out, " freq=%" PRIu32, a->freq);
	if (a->count || a->mem || a->block)
		fprintf(out, " n=%" PRIu64, a->count + a->mem + a->block);
	fprintf(out, "%s%s%s%s", a->idle ? " idle" : "", a->mangled ? " mangled" : "",
		a->event ? " event=" : "", a->event ? a->event : "");
	if (a->verbose)
		fprintf(out, " v=%d", a->verbose);
	for (w = 0; w < r->nr_rest; w++)
		fprintf(out, " [%s]", r->rest[w]);
	for (p = a->program; p && *p; p++)
		fprintf(out, " {%s}", *p);
	fclose(out);
	return text;
}

static const struct {
	const char *line, *found;
} good[] = {
	{ "", "" },
	{ "30", " [30]" },
	{ "-p 12 30", " pids=12 [30]" },
	{ "30 -p 12", " pids=12 [30]" },
	{ "-p12 a -I b --pid=3 c", " pids=3,12 idle [a] [b] [c]" },
	{ "-p 9,3,9,1 -p 4", " pids=1,3,4,9" },
	{ "-p 2147483647", " pids=2147483647" },
	{ "-t 5 -L 6 --tid 7", " tids=5,6,7" },
	{ "-C 0-3,8,2", " cpus=0,1,2,3,8" },
	{ "-F 49 -F 99", " freq=99" },
	{ "--frequency 7", " freq=7" },
	{ "-R 5k", " freq=5000" },
	{ "-c 1000003", " n=1000003" },
	{ "-c 10k", " n=10000" },
	{ "-c 18446744073709551615", " n=18446744073709551615" },
	{ "--max-mem 64", " n=67108864" },
	{ "--max-mem 64M", " n=67108864" },
	{ "--max-mem 2048K", " n=2097152" },
	{ "--max-mem 1GiB", " n=1073741824" },
	{ "-m 1.5ms", " n=1500000" },
	{ "-Ivvv --verbose", " idle v=4" },
	{ "--no-demangle", " mangled" },
	{ "-o a.svg -o b.html", " out=a.svg out=b.html" },
	{ "-e -x", " event=-x" },
	{ "-o -- 3", " out=-- [3]" },
	{ "-p 1 -- ls -l --pid x -- y", " pids=1 {ls} {-l} {--pid} {x} {--} {y}" },
	{ "5 -- prog", " [5] {prog}" },
	{ "-", " [-]" },
	{ "''", " []" },
};

static void good_lines_fill_fields(void **state)
{
	struct run r;
	char *found;
	size_t i;

	for (i = 0; i < ROWS(good); i++) {
		run_opts(&r, opts, good[i].line);
		found = describe(&r);
		assert_string_equal(found, good[i].found);
		assert_string_equal(r.message, "");
		assert_int_equal(r.ret, 0);
		free(found);
		run_release(&r);
	}
}

static const struct {
	const char *line, *message;
} bad[] = {
	{ "--pdi 3",
	  "unknown option '--pdi' of oncpu; did you mean '--pid'? (bpfprof oncpu --help)" },
	{ "--inc", "unknown option '--inc' of oncpu; did you mean '--include-idle'? "
		   "(bpfprof oncpu --help)" },
	{ "--in=3", "unknown option '--in' of oncpu; did you mean '--include-idle'? "
		    "(bpfprof oncpu --help)" },
	{ "--zebra-crossing", "unknown option '--zebra-crossing' of oncpu (bpfprof oncpu --help)" },
	{ "--hel",
	  "unknown option '--hel' of oncpu; did you mean '--help'? (bpfprof oncpu --help)" },
	{ "-x", "unknown option '-x' of oncpu (bpfprof oncpu --help)" },
	{ "-Ix 3", "unknown option '-x' of oncpu (bpfprof oncpu --help)" },
	{ "-\x1b", "unknown option '-?' of oncpu (bpfprof oncpu --help)" },
	{ "-p", "option '-p' needs a value" },
	{ "3 --pid", "option '--pid' needs a value" },
	{ "--include-idle=1", "option '--include-idle' takes no value" },
	{ "--help=me", "option '--help' takes no value" },
	{ "-F 0", "'-F 0': must be a number from 1 to 100000" },
	{ "--freq=100001", "'--freq 100001': must be a number from 1 to 100000" },
	{ "-F -5", "'-F -5': must be a number from 1 to 100000" },
	{ "-F +5", "'-F +5': must be a number from 1 to 100000" },
	{ "-F 99x", "'-F 99x': must be a number from 1 to 100000" },
	{ "-F 0x10", "'-F 0x10': must be a number from 1 to 100000" },
	{ "-F ''", "'-F ''': must be a number from 1 to 100000" },
	{ "-F 4294967297", "'-F 4294967297': must be a number from 1 to 100000" },
	{ "-R 0", "'-R 0': must be a number from 1 to 5000 (kernel.limit)" },
	{ "-R -5", "'-R -5': must be a number from 1 to 5000 (kernel.limit)" },
	{ "-R 1e3", "'-R 1e3': must be a number from 1 to 5000 (kernel.limit)" },
	{ "--rate=5001", "'--rate 5001': must be a number from 1 to 5000 (kernel.limit)" },
	{ "-R 4294967297", "'-R 4294967297': must be a number from 1 to 5000 (kernel.limit)" },
	{ "-c 18446744073709551616",
	  "'-c 18446744073709551616': must be a number from 1 to 18446744073709551615" },
	{ "-c 18446744073709551G",
	  "'-c 18446744073709551G': must be a number from 1 to 18446744073709551615" },
	{ "-p 12,x", "'-p 12,x': 'x' is not a thread id" },
	{ "-p 12,,13", "'-p 12,,13': '' is not a thread id" },
	{ "-p 0", "'-p 0': '0' is not a thread id" },
	{ "-p -1", "'-p -1': '-1' is not a thread id" },
	{ "-p 1-3", "'-p 1-3': '1-3' is not a thread id" },
	{ "-p 2147483648", "'-p 2147483648': '2147483648' is not a thread id" },
	{ "-L a", "'-L a': 'a' is not a thread id" },
	{ "-C 3-1", "'-C 3-1': '3-1' is not a CPU or a range such as 0-3" },
	{ "-C 0-4294967295",
	  "'-C 0-4294967295': '0-4294967295' is not a CPU or a range such as 0-3" },
	{ "-C 1-", "'-C 1-': '1-' is not a CPU or a range such as 0-3" },
	{ "--max-mem 1X", "'--max-mem 1X': must be a size from 1 MB to 4 GB, such as 64M" },
	{ "--max-mem 0", "'--max-mem 0': must be a size from 1 MB to 4 GB, such as 64M" },
	{ "--max-mem 99999999999G",
	  "'--max-mem 99999999999G': must be a size from 1 MB to 4 GB, such as 64M" },
	{ "-m 5d", "'-m 5d': must be a time from 1 us to 60 min, such as 10s or 500us" },
	{ "-e \x1b[31m -F 0", "'-F 0': must be a number from 1 to 100000" },
	{ "-F \x1b[31m", "'-F ?[31m': must be a number from 1 to 100000" },
	{ "30 --", "'--' needs a program after it" },
};

static void bad_lines_get_one_sentence(void **state)
{
	struct run r;
	char *want;
	size_t i;

	for (i = 0; i < ROWS(bad); i++) {
		run_opts(&r, opts, bad[i].line);
		want = xasprintf("bpfprof: %s\n", bad[i].message);
		assert_string_equal(r.message, want);
		assert_int_equal(r.ret, -EINVAL);
		free(want);
		run_release(&r);
	}
}

static void help_is_left_to_the_caller(void **state)
{
	static const char *const lines[] = { "-h", "--help", "-p 3 -Ih", "3 --help --bad" };
	struct run r;
	size_t i;

	for (i = 0; i < ROWS(lines); i++) {
		run_opts(&r, opts, lines[i]);
		assert_int_equal(r.ret, OPT_HELP);
		assert_string_equal(r.message, "");
		run_release(&r);
	}
	/* Behind "--" it belongs to the program. */
	run_opts(&r, opts, "-- prog --help");
	assert_int_equal(r.ret, 0);
	run_release(&r);
}

static void a_row_may_replace_help(void **state)
{
	struct run r;

	run_opts(&r, plain_opts, "-h x -- -y");
	assert_int_equal(r.ret, 0);
	assert_true(r.args.idle);
	assert_int_equal(r.nr_rest, 2);
	assert_string_equal(r.rest[1], "-y");
	run_release(&r);
}

static void help_text_is_aligned_and_narrow(void **state)
{
	char *text = NULL, *line, *next;
	size_t sz;
	FILE *out = open_memstream(&text, &sz);

	opt_help(out, opts);
	fclose(out);
	assert_non_null(strstr(text, "What to record:\n  -p, --pid LIST             only these"));
	assert_non_null(strstr(text, "\n\nHow to show it:\n"));
	assert_non_null(strstr(text, "\n      --max-mem SIZE         memory\n"));
	assert_non_null(strstr(text, "\n  -h, --help                 this text\n"));
	assert_null(strstr(text, "frequency"));
	for (next = text; (line = strsep(&next, "\n"));)
		assert_true(strlen(line) <= 80);
	free(text);
}

static const struct {
	const char *word;
	int ret;
	uint64_t ns;
} seconds[] = {
	{ "30", 0, 30 * S },
	{ "0.5", 0, S / 2 },
	{ ".5", 0, S / 2 },
	{ "10s", 0, 10 * S },
	{ "2m", 0, 120 * S },
	{ "1h", 0, 3600 * S },
	{ "500ms", 0, S / 2 },
	{ "250us", 0, 250000 },
	{ "1.000000001", 0, S + 1 },
	{ "0.0000000019", 0, 1 },
	{ "168h", 0, 7 * 24 * 3600 * S },
	{ "604800", 0, 7 * 24 * 3600 * S },
	{ "604800.1", -ERANGE, 0 },
	{ "604801", -ERANGE, 0 },
	{ "0", -ERANGE, 0 },
	{ "0.0000000001", -ERANGE, 0 },
	{ "18446744073709551616", -ERANGE, 0 },
	{ "99999999999999999999999999999999h", -ERANGE, 0 },
	{ "", -EINVAL, 0 },
	{ ".", -EINVAL, 0 },
	{ "5.", -EINVAL, 0 },
	{ "s", -EINVAL, 0 },
	{ "-5", -EINVAL, 0 },
	{ "+5", -EINVAL, 0 },
	{ " 5", -EINVAL, 0 },
	{ "5 s", -EINVAL, 0 },
	{ "1.5.5", -EINVAL, 0 },
	{ "1e3", -EINVAL, 0 },
	{ "10S", -EINVAL, 0 },
	{ "nan", -EINVAL, 0 },
};

static void durations_are_exact(void **state)
{
	uint64_t ns;
	size_t i;

	for (i = 0; i < ROWS(seconds); i++) {
		ns = 0;
		assert_int_equal(opt_seconds(seconds[i].word, &ns), seconds[i].ret);
		if (!seconds[i].ret)
			assert_int_equal(ns, seconds[i].ns);
	}
}

static void ids_can_be_looked_up(void **state)
{
	struct run r;

	run_opts(&r, opts, "-p 9,3,7");
	assert_true(opt_ids_has(&r.args.pids, 3));
	assert_true(opt_ids_has(&r.args.pids, 9));
	assert_false(opt_ids_has(&r.args.pids, 4));
	assert_false(opt_ids_has(&r.args.tids, 4));
	run_release(&r);
}

/* No limit on the list: 100,000 ids in one word, given backwards. */
static void lists_are_unlimited(void **state)
{
	char *list = xmalloc(800000), *p = list, *argv[] = { "oncpu", "-p", list, NULL }, **rest;
	struct args a = { 0 };
	int nr_rest;
	uint32_t i;

	for (i = 100000; i; i--)
		p += sprintf(p, "%" PRIu32 "%s", i, i > 1 ? "," : "");
	assert_int_equal(opt_parse("oncpu", opts, 3, argv, &a, &rest, &nr_rest), 0);
	assert_int_equal(a.pids.nr, 100000);
	assert_int_equal(a.pids.v[99999], 100000);
	opt_ids_release(&a.pids);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_lines_fill_fields),
		cmocka_unit_test(bad_lines_get_one_sentence),
		cmocka_unit_test(help_is_left_to_the_caller),
		cmocka_unit_test(a_row_may_replace_help),
		cmocka_unit_test(help_text_is_aligned_and_narrow),
		cmocka_unit_test(durations_are_exact),
		cmocka_unit_test(ids_can_be_looked_up),
		cmocka_unit_test(lists_are_unlimited),
	};

	return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}

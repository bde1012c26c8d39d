/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The profile model, its file, the call tree and the folded lines. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/packed.h"
#include "cmd/results.h"
#include "output/output.h"
#include "profile/missing.h"
#include "profile/nameless.h"
#include "profile/packing.h"
#include "profile/profile.h"
#include "profile/save.h"
#include "profile/top.h"
#include "profile/tree.h"

static uint32_t named(struct profile *p, enum frame_kind kind, uint32_t module, uint64_t offset,
		      const char *name)
{
	uint32_t id = profile_frame(p, kind, module, offset);

	profile_name_frame(p, id, profile_string(p, name), 0);
	return id;
}

static void add(struct profile *p, uint32_t tid, const char *thread, uint32_t ustack,
		uint32_t kstack, uint64_t count)
{
	struct sample s = { .pid = 100,
			    .tid = tid,
			    .count = count,
			    .weight = count * 10,
			    .ustack = ustack,
			    .kstack = kstack };

	s.thread = s.process = profile_string(p, thread);
	profile_add_sample(p, &s);
}

/* main -> parse -> {leaf 6, leaf at another offset 2}, main 1, a kernel half, and 3 lost. */
static struct profile *small(void)
{
	struct profile *p = profile_new();
	uint32_t m = profile_add_module(p, "/usr/bin/app"), k = profile_add_module(p, "[kernel]");
	uint32_t main_f = named(p, FRAME_USER, m, 1, "main"),
		 parse = named(p, FRAME_USER, m, 2, "parse");
	uint32_t leaf = named(p, FRAME_USER, m, 3, "leaf"),
		 leaf2 = named(p, FRAME_USER, m, 4, "leaf");
	uint32_t sys = named(p, FRAME_KERNEL, k, 5, "do_syscall_64");
	uint32_t a = profile_stack(p, (uint32_t[]){ leaf, parse, main_f }, 3, UNWIND_END_ROOT, 0);
	uint32_t b = profile_stack(p, (uint32_t[]){ leaf2, parse, main_f }, 3, UNWIND_END_ROOT, 0);
	uint32_t c = profile_stack(p, (uint32_t[]){ main_f }, 1, UNWIND_END_ROOT, 0);
	uint32_t d = profile_stack(p, (uint32_t[]){ sys }, 1, UNWIND_END_ROOT, 0);

	p->stacks[a].flags = STACK_ROOTED;
	p->frames[leaf].linkage = profile_string(p, "_Z4leafv");
	add(p, 101, "app-1", a, 0, 6);
	add(p, 102, "app-2", b, 0, 2);
	add(p, 101, "app-1", c, d, 1);
	p->counters[PROF_SEEN] = 15;
	p->counters[PROF_RECORDED] = 9;
	p->counters[PROF_FILTER_IDLE] = 3;
	p->counters[PROF_LOST_STACKS] = 3;
	p->meta.event = profile_string(p, "cpu-clock");
	p->meta.rate_hz = 99;
	return p;
}

static char *folded(const struct profile *p, struct view v)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	folded_write(p, &v, f);
	fclose(f);
	return text;
}

static void check_folded(const struct profile *p, struct view v, const char *expected)
{
	char *text = folded(p, v);

	assert_string_equal(text, expected);
	free(text);
}

static void folded_lines_are_sorted_and_complete(void **state)
{
	struct profile *p = small();

	check_folded(p, (struct view){},
		     "app-1;main;parse;leaf 6\n"
		     "[lost];[stack-table-full] 3\n"
		     "app-2;main;parse;leaf 2\n"
		     "app-1;main;do_syscall_64 1\n");
	profile_free(p);
}

static void views_change_what_is_shown_and_never_the_sum(void **state)
{
	struct profile *p = small();

	check_folded(p,
		     (struct view){ .merge_threads = true, .annotations = true, .delimiter = true },
		     "app-;main;parse;leaf 8\n[lost];[stack-table-full] 3\n"
		     "app-;main;-;do_syscall_64_[k] 1\n");
	check_folded(p, (struct view){ .per_thread = true, .no_demangle = true, .user_only = true },
		     "app-1/101;main;parse;_Z4leafv 6\n[lost];[stack-table-full] 3\n"
		     "app-2/102;main;parse;leaf 2\n"
		     "app-1/101;main 1\n");
	check_folded(p, (struct view){ .kernel_only = true },
		     "app-1 6\n[lost];[stack-table-full] 3\napp-2 2\napp-1;do_syscall_64 1\n");
	profile_free(p);
}

static void hostile_names_stay_one_frame(void **state)
{
	struct profile *p = profile_new();
	uint32_t f[] = { named(p, FRAME_USER, 0, 1, "worker 3 100"),
			 named(p, FRAME_USER, 0, 2, "a;b\nc\033[31m") };

	add(p, 1, "my thread 7", profile_stack(p, f, 2, UNWIND_END_ROOT, 0), 0, 5);
	check_folded(p, (struct view){}, "my_thread_7;a:b?c?[31m;worker 3_100 5\n");
	profile_free(p);
}

static void recursion_counts_once_in_total(void **state)
{
	struct profile *p = profile_new();
	uint32_t f = named(p, FRAME_USER, 0, 1, "f"), g = named(p, FRAME_USER, 0, 2, "g");
	struct tree *t;
	struct top_row *rows;
	size_t nr;

	add(p, 1, "x", profile_stack(p, (uint32_t[]){ f, g, f, f }, 4, 0, 0), 0, 7);
	add(p, 1, "x", profile_stack(p, (uint32_t[]){ g }, 1, 0, 0), 0, 3);
	t = tree_new(p, &(struct view){});
	rows = top_rows(t, &nr);
	assert_int_equal(nr, 2);
	assert_string_equal(t->names.bytes + rows[0].name, "f");
	assert_int_equal(rows[0].self, 7);
	assert_int_equal(rows[0].total, 7);
	assert_int_equal(rows[1].self, 3);
	assert_int_equal(rows[1].total, 10);
	assert_int_equal(t->nodes[0].total, 10);
	free(rows);
	tree_free(t);
	profile_free(p);
}

static void the_ledger_adds_up(void **state)
{
	struct profile *p = small();

	assert_int_equal(p->counters[PROF_SEEN], p->counters[PROF_RECORDED] +
							 profile_sum(p, COUNTER_FILTER) +
							 profile_sum(p, COUNTER_LOST));
	assert_true(profile_rooted_share(p) > 0.66 && profile_rooted_share(p) < 0.67); /* 6 of 9 */
	profile_free(p);
}

/* Shares are of weight: few long periods count for more than many short ones. */
static void honesty_is_a_share_of_weight(void **state)
{
	struct profile *p = small();
	struct profile_broken by_end[UNWIND_NR_ENDS];
	uint64_t sum = 0;

	p->samples[0].weight = 700; /* 6 samples, rooted */
	p->samples[1].weight = 250; /* 2 */
	p->samples[2].weight = 50;  /* 1 */
	p->stacks[p->samples[1].ustack].guessed = 1;
	p->stacks[p->samples[2].ustack].end = 200; /* of a newer bpfprof */
	assert_int_equal(profile_weight(p), 1000);
	assert_true(profile_rooted_share(p) == 0.7);
	assert_true(profile_guessed_share(p) == 0.25);
	profile_broken_ends(p, by_end);
	assert_int_equal(by_end[UNWIND_END_ROOT].samples, 2);
	assert_int_equal(by_end[UNWIND_END_ROOT].weight, 250);
	assert_int_equal(by_end[UNWIND_END_NONE].weight, 50);
	for (size_t i = 0; i < UNWIND_NR_ENDS; i++)
		sum += by_end[i].weight;
	assert_int_equal(sum, 300);
	profile_free(p);
}

static void equal_stacks_are_one(void **state)
{
	struct profile *p = profile_new();
	uint32_t f = named(p, FRAME_USER, 0, 1, "f"), g = named(p, FRAME_USER, 0, 2, "g");
	uint32_t one = profile_stack(p, (uint32_t[]){ f, g }, 2, UNWIND_END_ROOT, 0);

	(void)state;
	assert_int_equal(profile_stack(p, (uint32_t[]){ f, g }, 2, UNWIND_END_ROOT, 0), one);
	assert_int_not_equal(profile_stack(p, (uint32_t[]){ g, f }, 2, UNWIND_END_ROOT, 0), one);
	assert_int_not_equal(profile_stack(p, (uint32_t[]){ f }, 1, UNWIND_END_ROOT, 0), one);
	assert_int_not_equal(profile_stack(p, (uint32_t[]){ f, g }, 2, UNWIND_END_READ, 0), one);
	assert_int_not_equal(profile_stack(p, (uint32_t[]){ f, g }, 2, UNWIND_END_ROOT, 1), one);
	/* One without frames has an end; none has not. */
	assert_int_not_equal(profile_stack(p, NULL, 0, UNWIND_END_NONE, 0), 0);
	profile_free(p);
}

/* A kernel thread is judged by its kernel half, and a program by its user half alone. */
static void the_half_that_counts_is_the_outer_one(void **state)
{
	struct profile *p = profile_new();
	uint32_t f = named(p, FRAME_USER, 0, 1, "f"), k = named(p, FRAME_KERNEL, 0, 2, "k");
	uint32_t kstack = profile_stack(p, &k, 1, UNWIND_END_ROOT, 0);
	uint32_t deep = profile_stack(p, &k, 1, UNWIND_END_DEPTH, 0);
	uint32_t ustack = profile_stack(p, &f, 1, UNWIND_END_NO_CFI, 0);
	struct profile_broken by_end[UNWIND_NR_ENDS];

	p->stacks[kstack].flags = STACK_ROOTED;
	add(p, 1, "kthread", 0, kstack, 5);
	add(p, 2, "program", ustack, kstack, 3);
	add(p, 3, "kthread", 0, deep, 2);
	assert_true(profile_rooted_share(p) == 0.5);
	profile_broken_ends(p, by_end);
	assert_int_equal(by_end[UNWIND_END_NO_CFI].samples, 3);
	assert_int_equal(by_end[UNWIND_END_DEPTH].samples, 2);
	profile_free(p);
}

static void guesses_are_counted_up_to_255(void **state)
{
	struct profile *p = profile_new();
	uint32_t f = named(p, FRAME_USER, 0, 1, "f");

	assert_int_equal(p->stacks[profile_stack(p, &f, 1, 0, 255)].guessed, 255);
	assert_int_equal(p->stacks[profile_stack(p, &f, 1, 0, 256)].guessed, 255);
	assert_int_equal(p->stacks[profile_stack(p, &f, 1, 0, 1)].guessed, 1);
	profile_free(p);
}

/* The summary's lines on stacks. */
static char *summary_of_stacks(const struct profile *p)
{
	char *text = NULL, *from, *to;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	summary_write(p, &(struct view){}, f);
	fclose(f);
	from = strstr(text, "\nstacks ");
	to = strstr(text, "\ncost ");
	assert_true(from && to);
	memmove(text, from + 1, to - from);
	text[to - from] = '\0';
	return text;
}

static void the_summary_tells_what_broke(void **state)
{
	struct profile *p = small();
	char *text;

	p->samples[0].weight = 7000;
	p->samples[1].weight = 250;
	p->samples[2].weight = 2750;
	p->stacks[p->samples[0].ustack].guessed = 3;
	p->stacks[p->samples[1].ustack].end = UNWIND_END_READ;
	p->stacks[p->samples[2].ustack].end = UNWIND_END_LOST_REG;
	text = summary_of_stacks(p);
	assert_string_equal(
		text,
		"stacks    70.0% of the samples in complete stacks\n"
		"          27.5% broken: only the innermost frame has the register that leads on\n"
		"           2.5% broken: stack memory could not be read\n"
		"          70.0% contains frames unwound by frame pointer\n"
		"          --broken lists where; so does bpfprof report --broken FILE.bpfprof\n"
		"names     100.0% of the samples in user code that has names\n");
	free(text);
	p->samples[0].weight = 10000000; /* so that the rest is 0.03 % */
	p->stacks[p->samples[0].ustack].guessed = 0;
	text = summary_of_stacks(p);
	assert_string_equal(
		text,
		"stacks    99.9% of the samples in complete stacks\n"
		"          <0.1% broken: only the innermost frame has the register that leads on\n"
		"          <0.1% broken: stack memory could not be read\n"
		"names     100.0% of the samples in user code that has names\n");
	free(text);
	profile_free(p);
}

static uint32_t stack_of(struct profile *p, enum frame_kind kind, uint32_t module, const char *name)
{
	uint32_t frame = profile_frame(p, kind, module, 0x1000 + strlen(name));

	profile_name_frame(p, frame, profile_string(p, name), 0);
	return profile_stack(p, &frame, 1, UNWIND_END_ROOT, 0);
}

/* Where names lack most comes first, with what would give them; the kernel is no matter. */
static void the_summary_tells_where_names_lack(void **state)
{
	struct profile *p = profile_new();
	uint32_t lib = profile_add_module(p, "/usr/lib/libz.so.1");
	uint32_t own = profile_add_module(p, "/srv/app/server");
	uint32_t local = profile_add_module(p, "/usr/local/bin/tool");
	uint32_t code = profile_add_generated(p, 100);
	const struct sample samples[] = {
		{ .ustack = stack_of(p, FRAME_USER, lib, "[libz.so.1+0x2340]"), .weight = 30 },
		{ .ustack = stack_of(p, FRAME_USER, lib, "inflate"), .weight = 20 },
		{ .ustack = stack_of(p, FRAME_USER, lib, "[not+0x1] a place"), .weight = 10 },
		{ .ustack = stack_of(p, FRAME_ANON, code, PROFILE_JIT), .weight = 40 },
		{ .kstack = stack_of(p, FRAME_KERNEL, 0, "[kernel]"), .weight = 900 },
		{ .ustack = stack_of(p, FRAME_USER, own, "[server+0x10]"), .weight = 2 },
		{ .ustack = stack_of(p, FRAME_USER, local, "[tool+0x10]"), .weight = 1 },
	};
	struct nameless n;

	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		struct sample s = samples[i];

		s.count = 1;
		s.pid = s.tid = 100;
		s.process = s.thread = profile_string(p, "node");
		profile_add_sample(p, &s);
	}
	nameless_init(&n, p);
	assert_int_equal(n.all, 103);
	assert_int_equal(n.weight, 73);
	assert_int_equal(n.inlined, 0);
	assert_int_equal(n.nr, 4);
	assert_int_equal(n.rows[0].weight, 40);
	assert_non_null(strstr(n.rows[0].remedy, "--perf-basic-prof"));
	assert_int_equal(n.rows[1].module, lib);
	assert_non_null(strstr(n.rows[1].remedy, "-dbgsym"));
	assert_int_equal(n.rows[2].module, own); /* no package has symbols of these */
	assert_null(strstr(n.rows[2].remedy, "-dbgsym"));
	assert_int_equal(n.rows[3].module, local);
	assert_null(strstr(n.rows[3].remedy, "-dbgsym"));
	nameless_release(&n);
	profile_free(p);
}

/* The remedy for code of a file, after what was found of its package. */
static char *remedy_with(const char *path, const char *packages)
{
	struct profile *p = profile_new();
	uint32_t lib = profile_add_module(p, path);
	struct sample s = { .ustack = stack_of(p, FRAME_USER, lib, "[x+0x2340]"), .weight = 30 };
	struct nameless n;
	char *remedy;

	profile_add_sample(p, &s);
	p->meta.debug_packages = profile_string(p, packages);
	nameless_init(&n, p);
	assert_int_equal(n.nr, 1);
	remedy = xstrdup(n.rows[0].remedy);
	nameless_release(&n);
	profile_free(p);
	return remedy;
}

static void remedy_has(const char *path, const char *packages, const char *what, bool yes)
{
	char *remedy = remedy_with(path, packages);

	assert_true(yes == (strstr(remedy, what) != NULL));
	free(remedy);
}

static void the_package_is_named_where_it_is_known(void **state)
{
	static const char lib[] = "/usr/lib/libz.so.1";
	static const char *const general = "(a package -dbgsym";

	remedy_has(lib, "", general, true);
	remedy_has(lib, "/usr/lib/libz.so.1 zlib1g-dbgsym\n", "apt install zlib1g-dbgsym (arch",
		   true);
	remedy_has(lib, "/usr/lib/x.so y\n/usr/lib/libz.so.1 z-dbg\n", "apt install z-dbg,", true);
	remedy_has(lib, "/usr/lib/libz.so.1 z-dbg", "apt install z-dbg,", true);
	remedy_has(lib, "/usr/lib/libz.so.1 .\n", "is installed", true);
	remedy_has(lib, "/usr/lib/libz.so.1 ?\n",
		   "dnf debuginfo-install $(rpm -qf /usr/lib/libz.so.1)", true);
	/* Of another file, and what a recording from elsewhere may say. */
	remedy_has(lib, "/usr/lib/libz.so zlib1g-dbgsym\n", general, true);
	remedy_has(lib, "/usr/lib/libz.so.1 $(reboot)\n", general, true);
	remedy_has(lib, "/usr/lib/libz.so.1 \n", general, true);
	remedy_has(lib, "/usr/lib/libz.so.1", general, true);
	remedy_has("/usr/lib/$(reboot)", "/usr/lib/$(reboot) ?\n", general, true);
	remedy_has("/srv/x", "/srv/x zlib1g-dbgsym\n", "dbgsym", false);
}

/* An inlined call is nameless when DWARF has lost its name; the file that has it is told. */
static void what_is_missing_is_told(void **state)
{
	struct profile *p = profile_new();
	uint32_t app = profile_add_module(p, "/srv/app");
	struct sample s = { .ustack = stack_of(p, FRAME_USER, app, "work"), .weight = 30 };
	uint32_t leaf = profile_stack_leaf(p, s.ustack);
	struct frame_function chain[2] = { { .name = profile_string(p, "[inlined]") },
					   { .name = profile_string(p, "work") } };
	struct missing m = {};
	struct nameless n;
	size_t at = 0;

	profile_add_sample(p, &s);
	assert_false(nameless_frame(p, leaf));
	profile_set_functions(p, leaf, chain, 2);
	assert_true(nameless_frame(p, leaf));
	nameless_init(&n, p);
	assert_int_equal(n.weight, 30);
	assert_non_null(strstr(n.rows[0].remedy, "a file that is missing"));
	nameless_release(&n);

	assert_false(missing_next(p, &at, &m));
	missing_note(p, &(struct missing){ "/srv/a\tpp", "/srv/x.dwz", "", 0 });
	missing_note(p, &(struct missing){ "/srv/b", "", "/b\n.dwo", 7 });
	assert_true(missing_next(p, &at, &m));
	assert_string_equal(m.path, "/srv/a?pp");
	assert_string_equal(m.alt, "/srv/x.dwz");
	assert_string_equal(m.dwo, "");
	missing_release(&m);
	assert_true(missing_next(p, &at, &m));
	assert_string_equal(m.path, "/srv/b");
	assert_string_equal(m.dwo, "/b?.dwo");
	assert_int_equal(m.nr, 7);
	missing_release(&m);
	assert_false(missing_next(p, &at, &m));

	/* Of a recording that says anything. */
	p->meta.debug_missing = profile_string(p, "x\n\n\ta");
	for (at = 0; missing_next(p, &at, &m);)
		missing_release(&m);
	assert_int_equal(at, 5);
	for (int i = 0; i < 5000; i++)
		missing_note(p, &(struct missing){ "/srv/app", "/srv/x.dwz", "", 0 });
	assert_true(strlen(profile_str(p, p->meta.debug_missing)) <= 16384);
	profile_free(p);
}

/* The remedy after what was found out about the file: text of lacks.c. */
static void lacks_have(const char *path, const char *lacks, const char *what)
{
	struct profile *p = profile_new();
	uint32_t module = profile_add_module(p, path);
	struct sample s = { .ustack = stack_of(p, FRAME_USER, module, "[x+0x2340]"), .weight = 30 };
	struct nameless n;

	profile_add_sample(p, &s);
	p->meta.lacks = profile_string(p, lacks);
	nameless_init(&n, p);
	assert_int_equal(n.nr, 1);
	assert_string_equal(n.rows[0].remedy, what);
	nameless_release(&n);
	profile_free(p);
}

static void nothing_is_advised_that_cannot_help(void **state)
{
	static const char app[] = "/srv/app";

	lacks_have(app, "", "stripped: build it without strip and -s, or --debuginfod");
	lacks_have(app, "no-build-id\t/srv/app\t\n",
		   "stripped, without a build-id: build it without strip and -s");
	lacks_have(app, "not-served\t/srv/app\t\n",
		   "stripped: build it without strip and -s; debuginfod gave no debug file "
		   "of it");
	lacks_have(app, "no-server\t/srv/app\t\nno-linked\t/srv/app\ta.debug\n",
		   "stripped, and its debug file a.debug is missing: put that file beside it; no "
		   "debuginfod server was reached");
	lacks_have(app, "no-elf\t/srv/app\t\nlate-server\t/srv/app\t\n",
		   "it is no ELF file that can be read: damaged, or not of 64 bits");
	lacks_have(app, "not-read\t/srv/app\tit was written to after it ran\n",
		   "it could not be read: it was written to after it ran");
	lacks_have("/usr/lib/libz.so.1", "late-server\t/usr/lib/libz.so.1\t\n",
		   "stripped: install its debug symbols (a package -dbgsym, -dbg or -debuginfo); "
		   "debuginfod did not answer in time");
	lacks_have(app, "not-served\t/srv/app2\t\n",
		   "stripped: build it without strip and -s, or --debuginfod");
}

/* Whose map was read is not told to write one. */
static void a_map_that_was_read_is_not_advised(void **state)
{
	struct profile *p = profile_new();
	uint32_t code = profile_add_generated(p, 100), other = profile_add_generated(p, 200);
	const struct sample samples[] = {
		{ .ustack = stack_of(p, FRAME_ANON, code, PROFILE_JIT), .weight = 4 },
		{ .ustack = stack_of(p, FRAME_ANON, code, "Main.run"), .weight = 9 },
		{ .ustack = stack_of(p, FRAME_ANON, other, PROFILE_JIT), .weight = 3 },
	};
	struct nameless n;

	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		struct sample s = samples[i];

		s.process = s.thread = profile_string(p, "java");
		profile_add_sample(p, &s);
	}
	nameless_init(&n, p);
	assert_int_equal(n.nr, 2);
	assert_int_equal(n.rows[0].module, code);
	assert_null(strstr(n.rows[0].remedy, "--java-names"));
	assert_non_null(strstr(n.rows[1].remedy, "--java-names"));
	nameless_release(&n);
	profile_free(p);
}

static char path[] = "/tmp/test_profile.XXXXXX";

/* Loads without the message that a refusal prints. */
static struct profile *quietly(struct profile *(*load)(const char *path))
{
	int err = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
	struct profile *p;

	dup2(null, STDERR_FILENO);
	p = load(path);
	dup2(err, STDERR_FILENO);
	close(err);
	close(null);
	return p;
}

static struct profile *load_quietly(void)
{
	return quietly(profile_load);
}

static size_t save(const struct profile *p)
{
	FILE *f = fopen(path, "w");
	size_t len;

	assert_non_null(f);
	profile_save(p, f);
	len = ftell(f);
	fclose(f);
	return len;
}

static void a_saved_profile_comes_back_whole(void **state)
{
	struct profile *p = small(), *q;
	char *before, *after;

	p->stacks[1].guessed = 7;
	p->stacks[1].end = UNWIND_END_LOST_REG;
	p->meta.call_graph = profile_string(p, "auto");
	p->meta.max_depth = 127;
	p->meta.ended_by = ENDED_BY_MEMORY;
	save(p);
	q = profile_load(path);
	assert_non_null(q);
	assert_memory_equal(p->stacks, q->stacks, p->nr_stacks * sizeof(*p->stacks));
	assert_string_equal(profile_str(q, q->meta.call_graph), "auto");
	assert_int_equal(q->meta.max_depth, 127);
	assert_int_equal(q->meta.ended_by, ENDED_BY_MEMORY);
	before = folded(p, (struct view){ .per_thread = true });
	after = folded(q, (struct view){ .per_thread = true });
	assert_string_equal(before, after);
	assert_memory_equal(p->counters, q->counters, sizeof(p->counters));
	assert_int_equal(q->meta.rate_hz, 99);
	assert_string_equal(profile_str(q, q->meta.event), "cpu-clock");
	assert_true(profile_rooted_share(q) == profile_rooted_share(p));
	free(before);
	free(after);
	profile_free(p);
	profile_free(q);
}

static void write_bytes(const void *bytes, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

/* Packed it has all tables as they were, also those with ids of no string. */
static void a_packed_profile_comes_back_whole(void **state)
{
	struct profile *p = small(), *q;
	char *before, *after;
	size_t len, plain = save(p);
	void *packed;

	p->samples[0].weight = UINT64_MAX - 3;
	packed = profile_pack(p, &len);
	assert_true(packed_is(packed, len) && len < plain / 2);
	write_bytes(packed, len);
	q = profile_load(path);
	assert_non_null(q);
	assert_int_equal(p->nr_samples, q->nr_samples);
	assert_memory_equal(p->samples, q->samples, p->nr_samples * sizeof(*p->samples));
	assert_memory_equal(p->frames, q->frames, p->nr_frames * sizeof(*p->frames));
	assert_memory_equal(p->stacks, q->stacks, p->nr_stacks * sizeof(*p->stacks));
	assert_memory_equal(p->modules, q->modules, p->nr_modules * sizeof(*p->modules));
	assert_memory_equal(p->counters, q->counters, sizeof(p->counters));
	assert_memory_equal(p->strings.bytes, q->strings.bytes, p->strings.len);
	before = folded(p, (struct view){ .per_thread = true });
	after = folded(q, (struct view){ .per_thread = true });
	assert_string_equal(before, after);
	free(before);
	free(after);
	free(packed);
	profile_free(p);
	profile_free(q);
}

/* In the packing, and in what is packed: every cut and every flipped bit. */
static void damaged_packed_files_are_refused(void **state)
{
	struct profile *p = small(), *q;
	char *expected = folded(p, (struct view){}), *bytes, *text;
	size_t len, refused = 0;

	bytes = profile_pack(p, &len);
	for (int opened = 0; opened < 2; opened++) {
		for (size_t i = 0; i < len; i += 3) {
			write_bytes(bytes, i);
			assert_null(load_quietly());
		}
		for (size_t i = 0; i < len; i++) {
			bytes[i] ^= 1 << i % 8;
			write_bytes(bytes, len);
			bytes[i] ^= 1 << i % 8;
			q = load_quietly();
			refused += !q;
			if (!q)
				continue;
			text = folded(q, (struct view){});
			assert_string_equal(text, expected);
			free(text);
			profile_free(q);
		}
		assert_true(refused > len * 8 / 10);
		refused = 0;
		if (!opened)
			assert_null(packed_open(&bytes, &len, 1 << 20));
	}
	free(bytes);
	free(expected);
	profile_free(p);
}

/* Rows from outside, without a checksum that says so. */
static void packed_rows_are_bounded(void **state)
{
	static const char strings[] = "\0one\0two";
	uint32_t rows[] = { 1, 0, 5, 7, 3, UINT32_MAX }, state_of = 1, *back;
	struct packing p;
	size_t len, nr;
	uint8_t *bytes;

	packing_init(&p, strings, sizeof(strings));
	assert_int_equal(p.nr, 3);
	bytes = packing_make(&p, rows, 3, 8, 1, &len);
	back = packing_open(&p, bytes, len, 8, 1, &nr);
	assert_int_equal(nr, 3);
	assert_memory_equal(back, rows, sizeof(rows));
	free(back);
	assert_null(packing_open(&p, bytes, len - 1, 8, 1, &nr));
	assert_null(packing_open(&p, bytes, 3, 8, 1, &nr));
	for (int i = 0; i < 100000; i++) {
		state_of = state_of * 1664525 + 1013904223;
		bytes[(state_of >> 8) % len] ^= state_of >> 24;
		back = packing_open(&p, bytes, len, 8, 1, &nr);
		assert_true(!back || nr <= len);
		free(back);
	}
	free(bytes);
	packing_release(&p);
}

/* Every truncation is refused; every flipped bit is refused, or (in padding) changes nothing. */
static void damaged_files_are_refused(void **state)
{
	struct profile *p = small(), *q;
	char *expected = folded(p, (struct view){}), *bytes, *text;
	size_t len = save(p), refused = 0;
	FILE *f = fopen(path, "r");

	bytes = malloc(len);
	assert_int_equal(fread(bytes, 1, len, f), len);
	fclose(f);
	for (size_t i = 0; i < len; i += 3) {
		assert_int_equal(truncate(path, len - 1 - i), 0);
		assert_null(load_quietly());
		f = fopen(path, "w");
		fwrite(bytes, 1, len, f);
		fclose(f);
	}
	for (size_t i = 0; i < len; i++) {
		bytes[i] ^= 1 << i % 8;
		f = fopen(path, "w");
		fwrite(bytes, 1, len, f);
		fclose(f);
		bytes[i] ^= 1 << i % 8;
		q = load_quietly();
		refused += !q;
		if (!q)
			continue;
		text = folded(q, (struct view){});
		assert_string_equal(text, expected);
		free(text);
		profile_free(q);
	}
	assert_true(refused > len * 9 / 10);
	free(bytes);
	free(expected);
	profile_free(p);
}

/* What is left is a beginning of what was, and the ledger says how much is missing. */
static void check_left(const struct profile *p, const struct profile *left)
{
	uint64_t count = 0;

	assert_true(left->meta.incomplete && left->nr_samples <= p->nr_samples);
	assert_memory_equal(p->samples, left->samples, left->nr_samples * sizeof(*p->samples));
	for (size_t i = 0; i < left->nr_samples; i++)
		count += left->samples[i].count;
	assert_int_equal(left->counters[PROF_RECORDED], count);
	assert_int_equal(left->counters[PROF_SEEN], count + profile_sum(left, COUNTER_FILTER) +
							    profile_sum(left, COUNTER_LOST));
	assert_int_equal(left->counters[PROF_LOST_FILE], p->counters[PROF_RECORDED] - count);
}

static void of_truncated_files_the_rest_is_left(void **state)
{
	struct profile *p = small(), *q;
	size_t len, seen[4] = {};
	char *bytes, *text;
	FILE *f;

	len = save(p);
	bytes = malloc(len);
	f = fopen(path, "r");
	assert_int_equal(fread(bytes, 1, len, f), len);
	fclose(f);
	for (size_t i = 0; i < len; i++) {
		write_bytes(bytes, i);
		q = quietly(profile_load_left);
		if (!q)
			continue;
		check_left(p, q);
		seen[q->nr_samples]++;
		text = folded(q, (struct view){ .per_thread = true });
		assert_int_equal(!strstr(text, "[lost];[truncated-file]"), q->nr_samples == 3);
		free(text);
		/* Nor does it become whole again. */
		save(q);
		profile_free(q);
		q = quietly(profile_load);
		assert_non_null(q);
		check_left(p, q);
		profile_free(q);
	}
	assert_true(!seen[0] && seen[1] == sizeof(*p->samples) && seen[2] >= seen[1] && seen[3]);
	write_bytes(bytes, len);
	q = profile_load_left(path);
	assert_true(q && !q->meta.incomplete);
	profile_free(q);
	free(bytes);
	profile_free(p);
}

/* Packed tables are whole or gone. */
static void of_truncated_packed_files_too(void **state)
{
	struct profile *p = small(), *q;
	size_t len, left = 0;
	char *bytes = profile_pack(p, &len);

	assert_null(packed_open(&bytes, &len, 1 << 20));
	for (size_t i = 0; i < len; i++) {
		write_bytes(bytes, i);
		q = quietly(profile_load_left);
		left += q != NULL;
		if (!q)
			continue;
		assert_int_equal(q->nr_samples, 3);
		check_left(p, q);
		profile_free(q);
	}
	assert_true(left);
	free(bytes);
	profile_free(p);
}

/* A sleeper woken by one thread, which was woken by another; the times of both. */
static struct profile *waits(void)
{
	struct profile *p = small();
	uint32_t name = profile_string(p, "waker"), first, second;

	first = profile_add_waker(
		p, &(struct waker){ .pid = 7, .tid = 8, .thread = name, .kstack = 4 });
	second = profile_add_waker(
		p,
		&(struct waker){ .pid = 9, .tid = 9, .process = name, .ustack = 1, .next = first });
	p->meta.is_time = 1;
	p->samples[0].wait = PROF_WAIT(PROF_BLOCKED, 1, 202) | PROF_WAIT_OPEN;
	p->samples[0].waker = second;
	profile_add_thread(p, &(struct thread_time){ 100, 101, name, name, 5000000 });
	profile_add_merged(p, &(struct merged_time){ 100, 7, name, name, 9000000 });
	return p;
}

static void waits_come_back_whole(void **state)
{
	struct profile *p = waits(), *q;

	save(p);
	q = profile_load(path);
	assert_non_null(q);
	assert_int_equal(q->meta.is_time, 1);
	assert_int_equal(q->nr_wakers, 3);
	assert_int_equal(q->nr_threads, 1);
	assert_memory_equal(p->samples, q->samples, p->nr_samples * sizeof(*p->samples));
	assert_memory_equal(p->wakers, q->wakers, p->nr_wakers * sizeof(*p->wakers));
	assert_memory_equal(p->threads, q->threads, p->nr_threads * sizeof(*p->threads));
	assert_int_equal(q->nr_merged, 1);
	assert_memory_equal(p->merged, q->merged, sizeof(*p->merged));
	profile_free(p);
	profile_free(q);
}

/* Each change alone makes the file one that is refused. */
static void forged_wakers_are_refused(void **state)
{
	static const struct {
		size_t waker, field;
		uint32_t value;
	} forged[] = {
		{ 1, offsetof(struct waker, next), 1 },
		{ 1, offsetof(struct waker, next), 2 },
		{ 2, offsetof(struct waker, next), 99 },
		{ 0, offsetof(struct waker, next), 1 },
		{ 1, offsetof(struct waker, ustack), 99 },
		{ 1, offsetof(struct waker, kstack), 99 },
		{ 2, offsetof(struct waker, thread), 1u << 30 },
		{ 2, offsetof(struct waker, process), 1u << 30 },
	};
	struct profile *p = waits();

	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		uint32_t *at = (void *)((char *)&p->wakers[forged[i].waker] + forged[i].field);
		uint32_t before = *at;

		*at = forged[i].value;
		save(p);
		assert_null(load_quietly());
		*at = before;
	}
	p->samples[0].waker = 3;
	save(p);
	assert_null(load_quietly());
	p->samples[0].waker = 0;
	p->threads[0].thread = 1u << 30;
	save(p);
	assert_null(load_quietly());
	profile_free(p);
}

static void other_versions_are_refused(void **state)
{
	struct profile *p = small(), *q;

	for (uint32_t version = 1; version <= 9; version++) {
		FILE *f;

		save(p);
		f = fopen(path, "r+");
		fseek(f, 8, SEEK_SET);
		fwrite(&version, sizeof(version), 1, f);
		fclose(f);
		q = load_quietly();
		assert_true(version >= 2 && version <= 8 ? !!q : !q);
		profile_free(q);
	}
	profile_free(p);
}

/* A file whose checksums are right can still be hostile: references out of range. */
static void forged_references_are_refused(void **state)
{
	struct profile *p;

	p = small();
	p->stack_frames[1] = 1000000;
	save(p);
	assert_null(load_quietly());
	profile_free(p);
	p = small();
	p->samples[0].kstack = 99;
	save(p);
	assert_null(load_quietly());
	profile_free(p);
	p = small();
	p->stacks[1].first = UINT32_MAX;
	save(p);
	assert_null(load_quietly());
	profile_free(p);
	p = small();
	p->frames[2].name = 1u << 30;
	save(p);
	assert_null(load_quietly());
	profile_free(p);
	p = small();
	p->stacks[1].nr = PROF_MAX_FRAMES + 1;
	save(p);
	assert_null(load_quietly());
	profile_free(p);
}

/* The help text repeats what the table of outputs says. */
static void the_help_names_all_outputs(void **state)
{
	assert_string_equal(RESULTS_EXTENSIONS, output_extensions(RESULT_STACKS));
	assert_string_equal(RUNQLAT_EXTENSIONS, output_extensions(RESULT_RUNQLAT));
	assert_string_equal(STAT_EXTENSIONS, output_extensions(RESULT_STAT));
	assert_string_equal(DIFF_EXTENSIONS, output_extensions(RESULT_DIFF));
	assert_string_equal(CHANGES_EXTENSIONS, output_extensions(RESULT_CHANGES));
	assert_string_equal(EVENTS_EXTENSIONS, output_extensions(RESULT_EVENTS));
	assert_string_equal(ANNOTATE_EXTENSIONS, output_extensions(RESULT_ANNOTATIONS));
	assert_string_equal(HISTORY_EXTENSIONS, output_extensions(RESULT_HISTORY));
}

static void an_empty_profile_is_fine_everywhere(void **state)
{
	struct profile *p = profile_new(), *q;

	check_folded(p, (struct view){}, "");
	save(p);
	q = load_quietly();
	assert_non_null(q);
	profile_free(q);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_lines_are_sorted_and_complete),
		cmocka_unit_test(views_change_what_is_shown_and_never_the_sum),
		cmocka_unit_test(hostile_names_stay_one_frame),
		cmocka_unit_test(recursion_counts_once_in_total),
		cmocka_unit_test(the_ledger_adds_up),
		cmocka_unit_test(honesty_is_a_share_of_weight),
		cmocka_unit_test(equal_stacks_are_one),
		cmocka_unit_test(the_half_that_counts_is_the_outer_one),
		cmocka_unit_test(guesses_are_counted_up_to_255),
		cmocka_unit_test(the_summary_tells_what_broke),
		cmocka_unit_test(the_summary_tells_where_names_lack),
		cmocka_unit_test(the_package_is_named_where_it_is_known),
		cmocka_unit_test(what_is_missing_is_told),
		cmocka_unit_test(nothing_is_advised_that_cannot_help),
		cmocka_unit_test(a_map_that_was_read_is_not_advised),
		cmocka_unit_test(a_saved_profile_comes_back_whole),
		cmocka_unit_test(damaged_files_are_refused),
		cmocka_unit_test(of_truncated_files_the_rest_is_left),
		cmocka_unit_test(of_truncated_packed_files_too),
		cmocka_unit_test(a_packed_profile_comes_back_whole),
		cmocka_unit_test(damaged_packed_files_are_refused),
		cmocka_unit_test(packed_rows_are_bounded),
		cmocka_unit_test(waits_come_back_whole),
		cmocka_unit_test(forged_wakers_are_refused),
		cmocka_unit_test(other_versions_are_refused),
		cmocka_unit_test(forged_references_are_refused),
		cmocka_unit_test(the_help_names_all_outputs),
		cmocka_unit_test(an_empty_profile_is_fine_everywhere),
	};
	int failed, fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}

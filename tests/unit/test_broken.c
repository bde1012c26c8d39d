/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where stacks break: rows, remedies, and both outputs, of profiles made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json.h>

#include "base/text.h"
#include "output/output.h"
#include "profile/breaks.h"

/* Modules. */
enum { APP = 1, LIB, JVM, KERNEL };

static struct profile *profile_with_modules(const char *call_graph)
{
	struct profile *p = profile_new();

	profile_add_module(p, "/usr/bin/app");
	profile_add_module(p, "/opt/app/libold.so");
	profile_add_module(p, "/usr/lib/jvm/lib/libjvm.so");
	profile_add_module(p, "[kernel]");
	p->meta.call_graph = profile_string(p, call_graph);
	return p;
}

static uint32_t frame(struct profile *p, enum frame_kind kind, uint32_t module, const char *name)
{
	uint32_t id = profile_frame(p, kind, module, profile_string(p, name));

	profile_name_frame(p, id, profile_string(p, name), 0);
	return id;
}

/* A stack of two frames, or with outermost 0 of none. Each sample stands for ten of weight. */
static void add(struct profile *p, const char *process, uint32_t outermost, enum unwind_end end,
		uint64_t count)
{
	uint32_t frames[] = { frame(p, FRAME_USER, APP, "leaf"), outermost };
	struct sample s = { .count = count, .weight = count * 10 };

	s.process = s.thread = profile_string(p, process);
	s.ustack = profile_stack(p, frames, outermost ? 2 : 0, end, 0);
	if (end == UNWIND_END_CFI_ROOT)
		p->stacks[s.ustack].flags = STACK_ROOTED;
	profile_add_sample(p, &s);
}

/* 1,000 of weight: 800 whole, 110 + 20 end in libold.so, 40 in JIT code, 30 without frames. */
static struct profile *known(void)
{
	struct profile *p = profile_with_modules("auto");
	uint32_t hot = frame(p, FRAME_USER, LIB, "hot"), cold = frame(p, FRAME_USER, LIB, "cold");
	uint32_t jit = frame(p, FRAME_ANON, 0, "[jit]");

	add(p, "app", frame(p, FRAME_USER, APP, "_start"), UNWIND_END_CFI_ROOT, 80);
	add(p, "app", cold, UNWIND_END_NO_CFI, 5);
	add(p, "app", hot, UNWIND_END_NO_CFI, 3);
	add(p, "other", hot, UNWIND_END_NO_CFI, 3);
	add(p, "app", hot, UNWIND_END_NO_TABLE, 2);
	add(p, "java", jit, UNWIND_END_NO_CFI, 4);
	add(p, "old\033[31m", 0, UNWIND_END_COMPAT, 3);
	return p;
}

static void check_row(const struct profile *p, const struct break_row *row, const char *module,
		      const char *function, enum unwind_end end, uint64_t samples)
{
	assert_string_equal(break_module(p, row), module);
	assert_string_equal(profile_frame_name(p, row->frame), function);
	assert_int_equal(row->end, end);
	assert_int_equal(row->samples, samples);
	assert_int_equal(row->weight, samples * 10);
}

/* hot is the heaviest function of libold.so, since two processes share it. */
static void rows_are_modules_and_reasons(void **state)
{
	struct profile *p = known();
	struct breaks b;

	breaks_init(&b, p);
	assert_int_equal(b.nr, 4);
	check_row(p, &b.rows[0], "/opt/app/libold.so", "hot", UNWIND_END_NO_CFI, 11);
	check_row(p, &b.rows[1], "[jit]", "[jit]", UNWIND_END_NO_CFI, 4);
	check_row(p, &b.rows[2], "[none]", "", UNWIND_END_COMPAT, 3);
	check_row(p, &b.rows[3], "/opt/app/libold.so", "hot", UNWIND_END_NO_TABLE, 2);
	assert_int_equal(b.all, 1000);
	assert_int_equal(b.weight, 200);
	assert_int_equal(b.samples, 20);
	breaks_release(&b);
	profile_free(p);
}

/* Code without a file is told apart by whose it is. */
static void jit_code_has_a_row_per_process(void **state)
{
	struct profile *p = profile_with_modules("auto");
	uint32_t jit = frame(p, FRAME_ANON, 0, "[jit]");
	struct breaks b;

	add(p, "java", jit, UNWIND_END_NO_CFI, 1);
	add(p, "beam", jit, UNWIND_END_NO_CFI, 2);
	add(p, "java", jit, UNWIND_END_NO_CFI, 3);
	breaks_init(&b, p);
	assert_int_equal(b.nr, 2);
	assert_string_equal(profile_str(p, b.rows[0].process), "java");
	assert_int_equal(b.rows[0].samples, 4);
	assert_string_equal(profile_str(p, b.rows[1].process), "beam");
	breaks_release(&b);
	profile_free(p);
}

static void check_remedy(const char *call_graph, enum frame_kind kind, uint32_t module,
			 enum unwind_end end, const char *process, const char *part)
{
	struct profile *p = profile_with_modules(call_graph);
	struct breaks b;

	add(p, process, kind ? frame(p, kind, module, "f") : 0, end, 1);
	breaks_init(&b, p);
	assert_int_equal(b.nr, 1);
	if (!strstr(b.rows[0].remedy, part))
		fail_msg("%s in kind %d, %s: '%s' is without '%s'", unwind_end_keys[end], kind,
			 call_graph, b.rows[0].remedy, part);
	breaks_release(&b);
	profile_free(p);
}

static const struct {
	const char *call_graph;
	enum frame_kind kind;
	uint32_t module;
	enum unwind_end end;
	const char *process, *part;
} remedies[] = {
	{ "auto", FRAME_USER, LIB, UNWIND_END_NO_CFI, "app", "-fasynchronous-unwind-tables" },
	{ "dwarf", FRAME_USER, LIB, UNWIND_END_NO_CFI, "app", "--call-graph auto" },
	{ "fp", FRAME_USER, LIB, UNWIND_END_BAD_FP, "app", "--call-graph auto" },
	{ "", FRAME_USER, LIB, UNWIND_END_BAD_PC, "app", "--call-graph auto" },
	{ "auto", FRAME_USER, LIB, UNWIND_END_BAD_PC, "app", "-fno-omit-frame-pointer" },
	{ "fp", FRAME_USER, LIB, UNWIND_END_READ, "app", "--call-graph auto" },
	{ "auto", FRAME_USER, LIB, UNWIND_END_READ, "app", "swapped out" },
	{ "auto", FRAME_NONE, 0, UNWIND_END_READ, "app", "starting or ending" },
	{ "auto", FRAME_USER, LIB, UNWIND_END_NO_TABLE, "app", "--unwind-mem" },
	{ "auto", FRAME_USER, LIB, UNWIND_END_MOVED, "app", "woke within moments" },
	{ "auto", FRAME_USER, LIB, UNWIND_END_NO_ROOM, "app", "record less" },
	{ "auto", FRAME_USER, LIB, UNWIND_END_LATE, "app", "record longer" },
	{ "auto", FRAME_USER, LIB, UNWIND_END_BAD_CFA, "app", "hand-written" },
	{ "auto", FRAME_USER, LIB, UNWIND_END_NO_CODE, "app", "hand-written" },
	{ "auto", FRAME_USER, LIB, UNWIND_END_LOST_REG, "app", "-fno-omit-frame-pointer" },
	{ "auto", FRAME_USER, LIB, UNWIND_END_DEPTH, "app", "raise --max-depth" },
	{ "auto", FRAME_KERNEL, KERNEL, UNWIND_END_DEPTH, "app", "perf_event_max_stack" },
	{ "auto", FRAME_NONE, 0, UNWIND_END_COMPAT, "app", "64-bit" },
	{ "auto", FRAME_NONE, 0, UNWIND_END_NONE, "app", "-K" },
	{ "auto", FRAME_ANON, 0, UNWIND_END_NO_CFI, "java", "PreserveFramePointer" },
	{ "auto", FRAME_ANON, 0, UNWIND_END_NO_CFI, "postgres", "jit = off" },
	{ "auto", FRAME_ANON, 0, UNWIND_END_BAD_PC, "node", "--interpreted-frames-native-stack" },
	{ "fp", FRAME_ANON, 0, UNWIND_END_BAD_FP, "guile", "option for profilers" },
	{ "auto", FRAME_UNKNOWN, 0, UNWIND_END_NO_CFI, "app", "mappings" },
	{ "auto", FRAME_USER, LIB, UNWIND_END_ENTRY, "app", "no remedy is known" },
};

static void remedies_fit_the_reason(void **state)
{
	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
		check_remedy(remedies[i].call_graph, remedies[i].kind, remedies[i].module,
			     remedies[i].end, remedies[i].process, remedies[i].part);
}

/* Whatever a file says, there is a row and a sentence. */
static void every_reason_everywhere_has_a_remedy(void **state)
{
	static const char *const walks[] = { "", "auto", "fp", "dwarf", "hostile" };

	for (size_t w = 0; w < sizeof(walks) / sizeof(walks[0]); w++)
		for (int kind = FRAME_NONE; kind <= FRAME_UNKNOWN; kind++)
			for (int end = 0; end < UNWIND_NR_ENDS; end++)
				if (end != UNWIND_END_CFI_ROOT)
					check_remedy(walks[w], kind, 0, end, "x", "");
}

/* An embedded Java runtime is one, whatever its program is called. */
static void a_runtime_is_known_by_its_library(void **state)
{
	struct profile *p = profile_with_modules("auto");
	struct breaks b;

	add(p, "catalina", frame(p, FRAME_ANON, 0, "[jit]"), UNWIND_END_NO_CFI, 5);
	add(p, "catalina", frame(p, FRAME_USER, JVM, "gc"), UNWIND_END_CFI_ROOT, 1);
	breaks_init(&b, p);
	assert_int_equal(b.nr, 1);
	assert_non_null(strstr(b.rows[0].remedy, "PreserveFramePointer"));
	breaks_release(&b);
	profile_free(p);
}

static void the_depth_is_told(void **state)
{
	struct profile *p = profile_with_modules("auto");
	struct breaks b;

	add(p, "app", frame(p, FRAME_USER, LIB, "f"), UNWIND_END_DEPTH, 1);
	p->meta.max_depth = 127;
	breaks_init(&b, p);
	assert_string_equal(b.rows[0].remedy, "raise --max-depth (it was 127)");
	breaks_release(&b);
	p->meta.max_depth = PROF_MAX_FRAMES;
	breaks_init(&b, p);
	assert_non_null(strstr(b.rows[0].remedy, "deeper than 1024 frames"));
	breaks_release(&b);
	profile_free(p);
}

static char *written(const struct profile *p,
		     int (*write)(const struct profile *p, const struct view *v, FILE *out))
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	write(p, &(struct view){}, f);
	fclose(f);
	return text;
}

static const char golden[] =
	"SHARE  SAMPLES  MODULE           STOPPED IN  WHY\n"
	"11.0%       11  libold.so        hot         no-unwind-data [1]\n"
	" 4.0%        4  [jit] java       [jit]       no-unwind-data [2]\n"
	" 3.0%        3  [none] old?[31m  -           32-bit [3]\n"
	" 2.0%        2  libold.so        hot         no-table [4]\n"
	"\n"
	"[1] code without unwind data, and no frame pointer to go by\n"
	"    -> built without unwind tables: build with -fasynchronous-unwind-tables or\n"
	"       -fno-omit-frame-pointer\n"
	"\n"
	"[2] code without unwind data, and no frame pointer to go by\n"
	"    -> Java code without frame pointers: run it with java\n"
	"       -XX:+PreserveFramePointer\n"
	"\n"
	"[3] 32-bit process, not walked\n"
	"    -> nothing: only 64-bit processes are walked\n"
	"\n"
	"[4] the unwind table of the code was not ready\n"
	"    -> record longer; raise --unwind-mem if the tables did not fit\n"
	"\n"
	"20.0% of the weight in broken stacks, 20 samples; 80.0% in complete ones\n";

static void the_table_is_as_expected(void **state)
{
	struct profile *p = known();
	char *text = written(p, broken_write);

	assert_string_equal(text, golden);
	free(text);
	profile_free(p);
}

static void nothing_broken_is_said(void **state)
{
	struct profile *p = profile_with_modules("auto");
	char *text = written(p, broken_write);

	assert_string_equal(text, "no stacks were recorded\n");
	free(text);
	add(p, "app", frame(p, FRAME_USER, APP, "_start"), UNWIND_END_CFI_ROOT, 80);
	text = written(p, broken_write);
	assert_string_equal(text, "every stack reaches its root\n");
	free(text);
	profile_free(p);
}

/* However long names are, a row keeps to 80 columns as far as its reason lets it. */
static void long_names_are_cut(void **state)
{
	struct profile *p = profile_with_modules("auto");
	uint32_t module = profile_add_module(p, "/lib/libaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.so");
	char *text, *end;

	add(p, "app", frame(p, FRAME_USER, module, "ffffffffffffffffffffffffffffffffffffffff"),
	    UNWIND_END_BAD_PC, 1);
	text = written(p, broken_write);
	end = strchr(strchr(text, '\n') + 1, '\n');
	*end = '\0';
	assert_in_range(text_width(strchr(text, '\n') + 1), 70, 80);
	assert_non_null(strstr(text, "…  bad-return-address [1]"));
	free(text);
	profile_free(p);
}

static struct json_object *parsed(const struct profile *p,
				  int (*write)(const struct profile *p, const struct view *v,
					       FILE *out))
{
	char *text = written(p, write);
	struct json_object *o = json_tokener_parse(text);

	assert_non_null(o);
	free(text);
	return o;
}

static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(o, key, &value))
		fail_msg("no '%s'", key);
	return value;
}

static void the_table_is_json_too(void **state)
{
	struct profile *p = known();
	struct json_object *o = parsed(p, broken_json_write), *rows = member(o, "broken"), *row;
	double sum = 0;

	assert_true(json_object_get_double(member(o, "rooted_pct")) == 80);
	assert_true(json_object_get_double(member(o, "broken_pct")) == 20);
	assert_int_equal(json_object_array_length(rows), 4);
	for (size_t i = 0; i < 4; i++)
		sum += json_object_get_double(member(json_object_array_get_idx(rows, i), "pct"));
	assert_true(sum == 20);
	row = json_object_array_get_idx(rows, 0);
	assert_string_equal(json_object_get_string(member(row, "module")), "/opt/app/libold.so");
	assert_string_equal(json_object_get_string(member(row, "function")), "hot");
	assert_string_equal(json_object_get_string(member(row, "end")), "no-unwind-data");
	assert_int_equal(json_object_get_int(member(row, "samples")), 11);
	row = json_object_array_get_idx(rows, 1);
	assert_string_equal(json_object_get_string(member(row, "process")), "java");
	json_object_put(o);
	profile_free(p);
}

/* The summary's shares of weight: what reaches the root and all ends make 100. */
static void the_summary_in_json_adds_up(void **state)
{
	struct profile *p = known();
	struct json_object *o, *stacks, *ends;
	double sum;

	p->stacks[p->samples[1].ustack].guessed = 2;
	o = parsed(p, json_write);
	stacks = member(o, "stacks");
	ends = member(stacks, "ends");
	sum = json_object_get_double(member(stacks, "rooted_pct"));
	assert_true(sum == 80);
	assert_true(json_object_get_double(member(stacks, "guessed_pct")) == 5);
	json_object_object_foreach(ends, key, value)
	{
		assert_non_null(key);
		sum += json_object_get_double(value);
	}
	assert_true(sum > 99.999 && sum < 100.001);
	assert_true(json_object_get_double(member(ends, "no-unwind-data")) == 15);
	assert_int_equal(json_object_get_int(member(member(o, "broken_by"), "32-bit")), 3);
	assert_true(json_object_get_double(member(o, "rooted_share")) == 0.8);
	json_object_put(o);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_modules_and_reasons),
		cmocka_unit_test(jit_code_has_a_row_per_process),
		cmocka_unit_test(remedies_fit_the_reason),
		cmocka_unit_test(every_reason_everywhere_has_a_remedy),
		cmocka_unit_test(a_runtime_is_known_by_its_library),
		cmocka_unit_test(the_depth_is_told),
		cmocka_unit_test(the_table_is_as_expected),
		cmocka_unit_test(nothing_broken_is_said),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(the_table_is_json_too),
		cmocka_unit_test(the_summary_in_json_adds_up),
	};

	return cmocka_run_group_tests_name("broken", tests, NULL, NULL);
}

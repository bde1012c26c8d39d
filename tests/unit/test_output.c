/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of outputs, and those of events, with names made to hurt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json.h>

#include "output/output.h"

static const enum result_kind kinds[] = { RESULT_STACKS, RESULT_RUNQLAT, RESULT_STAT, RESULT_DIFF,
					  RESULT_EVENTS };
#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char *found(enum result_kind kind, const char *path)
{
	const struct output *o = output_find(kind, path);

	return o ? o->name : "none";
}

static void an_extension_means_what_its_kind_says(void **state)
{
	assert_string_equal(found(RESULT_STACKS, "x.svg"), "svg");
	assert_string_equal(found(RESULT_STACKS, "a.b/x.tar.json"), "json");
	assert_string_equal(found(RESULT_STACKS, "x.csv"), "none");
	assert_string_equal(found(RESULT_RUNQLAT, "x.csv"), "csv");
	assert_string_equal(found(RESULT_STAT, "x.svg"), "none");
	assert_string_equal(found(RESULT_STAT, "x.md"), "md");
	assert_string_equal(found(RESULT_DIFF, "x.xml"), "junit");
	assert_string_equal(found(RESULT_EVENTS, "x.txt"), "summary");
	/* The longest one decides, of whichever kind it is. */
	assert_string_equal(found(RESULT_STACKS, "x.afdo.txt"), "autofdo");
	assert_string_equal(found(RESULT_CALLS, "x.afdo.txt"), "none");
	assert_string_equal(found(RESULT_RUNQLAT, "x.speedscope.json"), "none");
	assert_string_equal(found(RESULT_STACKS, "svg"), "none");
	assert_string_equal(found(RESULT_STACKS, "a.svg/x"), "none");
	assert_string_equal(found(RESULT_STACKS, ""), "none");
}

static void a_mistyped_extension_has_a_nearest_one(void **state)
{
	assert_string_equal(output_nearest(RESULT_STACKS, "x.svgz"), ".svg");
	assert_string_equal(output_nearest(RESULT_STACKS, "x.foldd"), ".folded");
	assert_string_equal(output_nearest(RESULT_STAT, "x.jsn"), ".json");
	assert_string_equal(output_nearest(RESULT_STACKS, "v1.2.svgz"), ".svg");
	assert_null(output_nearest(RESULT_STACKS, "x.parquet"));
	assert_null(output_nearest(RESULT_STACKS, "svg"));
	assert_null(output_nearest(RESULT_STACKS, "a.svgz/x"));
}

/* What commands count on: text and JSON of every kind, and folded stacks. */
static void every_kind_has_text_and_json(void **state)
{
	for (size_t i = 0; i < NR_KINDS; i++) {
		assert_non_null(output_get(kinds[i], "summary"));
		assert_non_null(output_get(kinds[i], "json"));
		assert_non_null(output_kind_text(kinds[i]));
	}
	assert_non_null(output_get(RESULT_STACKS, "folded"));
	assert_null(output_get(RESULT_STAT, "folded"));
	assert_non_null(output_get(RESULT_STACKS, "csv"));
	assert_null(output_find(RESULT_STACKS, "x.csv"));
}

static void the_table_says_what_a_profile_lacks(void **state)
{
	struct profile *p = profile_new();
	struct result r = { RESULT_STACKS, .profile = p };

	assert_null(output_lacks(output_get(RESULT_STACKS, "summary"), &r));
	assert_non_null(output_lacks(output_get(RESULT_STACKS, "table"), &r));
	assert_non_null(output_lacks(output_get(RESULT_STACKS, "table-json"), &r));
	profile_add_thread(p, &(struct thread_time){ .pid = 1, .tid = 1, .wall_ns = 1 });
	assert_null(output_lacks(output_get(RESULT_STACKS, "table"), &r));
	profile_free(p);
}

static const struct events_row rows[] = {
	{ .name = "cpu-clock",
	  .pmu = "kernel",
	  .source = "software",
	  .state = "counts",
	  .state_text = "counts",
	  .unit = "",
	  .meaning = "",
	  .per_task = true,
	  .type = 1 },
	{ .name = "a,\"b\"",
	  .pmu = "armv8_pmuv3_0",
	  .source = "kernel's list",
	  .state = "counts-user",
	  .state_text = "counts, :u only",
	  .unit = "MiB",
	  .meaning = "moves\x1b[2J the \xff cursor",
	  .advertised = true,
	  .type = 8,
	  .config = UINT64_MAX },
};

static const struct events_report known = {
	.cpu = "Neoverse-N1",
	.core = "Neoverse-N1",
	.core_ident = "0x41:0xd0c",
	.nr_cpus = 4,
	.arm = true,
	.rows = rows,
	.nr_rows = 2,
};

static char *written(const char *output)
{
	const struct result r = { RESULT_EVENTS, .events = &known };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(output_write(output_get(RESULT_EVENTS, output), &r, &(struct view){}, out),
			 0);
	fclose(out);
	return text;
}

static void events_for_people(void **state)
{
	char *text = written("summary");

	assert_string_equal(
		text,
		"CPU: Neoverse-N1, 4 online (0x41:0xd0c)\n"
		"PMU: none. This machine shows no hardware counters (virtual machines often do\n"
		"     not): cycles, instructions, caches, TLBs and branches cannot be counted;\n"
		"     software events can.\n\n"
		"NAME       PMU            SOURCE         STATE            MEANING\n"
		"cpu-clock  kernel         software       counts\n"
		"a,\"b\"      armv8_pmuv3_0  kernel's list  counts, :u only  moves?[2J the "
		"\xef\xbf\xbd cursor\n\n"
		"Branch stacks: none.\n"
		"SPE: none (cloud instances have it on bare metal only).\n");
	free(text);
}

static void events_for_spreadsheets(void **state)
{
	char *text = written("csv");

	assert_string_equal(
		text, "name,pmu,source,state,advertised,per_task,type,config,config1,unit,meaning\n"
		      "\"cpu-clock\",\"kernel\",\"software\",\"counts\",0,1,1,0,0,,\n"
		      "\"a,\"\"b\"\"\",\"armv8_pmuv3_0\",\"kernel's list\",\"counts-user\",1,0,8,"
		      "18446744073709551615,0,\"MiB\",\"moves?[2J the \xef\xbf\xbd cursor\"\n");
	free(text);
}

static void events_for_programs(void **state)
{
	char *text = written("json");
	struct json_object *o = json_tokener_parse(text), *pmu, *events, *config;

	assert_non_null(o);
	assert_true(json_object_object_get_ex(o, "pmu", &pmu));
	assert_null(pmu);
	assert_true(json_object_object_get_ex(o, "events", &events));
	assert_int_equal(json_object_array_length(events), 2);
	assert_true(
		json_object_object_get_ex(json_object_array_get_idx(events, 1), "config", &config));
	assert_true(json_object_get_uint64(config) == UINT64_MAX);
	json_object_put(o);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_extension_means_what_its_kind_says),
		cmocka_unit_test(a_mistyped_extension_has_a_nearest_one),
		cmocka_unit_test(every_kind_has_text_and_json),
		cmocka_unit_test(the_table_says_what_a_profile_lacks),
		cmocka_unit_test(events_for_people),
		cmocka_unit_test(events_for_spreadsheets),
		cmocka_unit_test(events_for_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

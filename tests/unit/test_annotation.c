/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Costs of frames, functions, instructions and lines, of samples that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made.h"
#include "profile/annotation.h"

struct made {
	struct profile *p;
	uint32_t module;
	struct costs costs;
};

static uint32_t made_place(struct made *m, uint64_t offset, const char *own, uint32_t own_line,
			   const char *inlined, uint32_t line)
{
	uint32_t id = profile_frame(m->p, FRAME_USER, m->module, offset);
	uint32_t file = profile_string(m->p, "a.c");
	struct frame_function chain[2] = {
		{ .name = profile_string(m->p, inlined ? inlined : own),
		  .file = file,
		  .line = line },
		{ .name = profile_string(m->p, own), .file = file, .line = own_line },
	};

	if (!line && !inlined)
		chain[1].file = 0;
	profile_set_functions(m->p, id, inlined ? chain : chain + 1, inlined ? 2 : 1);
	return id;
}

static void sample(struct made *m, uint32_t leaf, uint64_t count, uint32_t wait)
{
	uint32_t frames[] = { leaf, made_place(m, 1, "main", 1, NULL, 1) };

	profile_add_sample(m->p, &(struct sample){ .count = count,
						   .weight = 10 * count,
						   .wait = wait,
						   .ustack = profile_stack(m->p, frames, 2,
									   UNWIND_END_ROOT, 0) });
}

/* hot has 60 samples at 100 and 10 at 108 (line 5), 20 at 104 (inner's line 9); cold has 10. */
static void make(struct made *m, bool two_events)
{
	static const struct view view;

	*m = (struct made){ .p = made_profile("oncpu") };
	m->p->meta.is_time = 0;
	m->module = profile_add_module(m->p, "/bin/x");
	if (two_events) {
		m->p->meta.command = profile_string(m->p, "pmu");
		profile_add_event(m->p,
				  &(struct sampled_event){ .name = profile_string(m->p, "one") });
		profile_add_event(m->p,
				  &(struct sampled_event){ .name = profile_string(m->p, "two") });
	}
	sample(m, made_place(m, 100, "hot", 5, NULL, 5), 60, 0);
	sample(m, made_place(m, 104, "hot", 6, "inner", 9), 20, 0);
	sample(m, made_place(m, 108, "hot", 5, NULL, 5), 10, 0);
	sample(m, made_place(m, 200, "cold", 0, NULL, 0), 10, 0);
	if (two_events)
		sample(m, made_place(m, 200, "cold", 0, NULL, 0), 70, PROF_WAIT_OF_EVENT(1));
	costs_init(&m->costs, m->p, &view);
}

static void release(struct made *m)
{
	costs_release(&m->costs);
	profile_free(m->p);
}

static const struct annotation_line *hottest(const struct annotation *a, size_t i)
{
	return &a->lines[a->hottest[i]];
}

static uint64_t heat(const struct annotation *a, size_t i)
{
	return annotation_line_cost(a, a->hottest[i])->value;
}

static void functions_have_what_is_their_own(void **state)
{
	struct made m;

	make(&m, false);
	assert_int_equal(m.costs.nr, 2); /* main has none */
	assert_int_equal(m.costs.totals[0].value, 100);
	assert_string_equal(profile_str(m.p, m.costs.functions[0].name), "hot");
	assert_int_equal(m.costs.functions[0].sums[0].value, 90);
	assert_int_equal(m.costs.functions[1].sums[0].samples, 10);
	release(&m);
}

static void names_are_found(void **state)
{
	const char *near[COSTS_MAX_NEAR];
	struct made m;
	size_t nr, *found;

	make(&m, false);
	found = costs_find(&m.costs, "cold", &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(found[0], 1);
	free(found);
	for (int again = 0; again < 2; again++) {
		found = costs_find(&m.costs, "inner", &nr);
		assert_int_equal(nr, 1);
		assert_true(m.costs.functions[found[0]].inlined);
		assert_int_equal(m.costs.functions[found[0]].sums[0].value, 20);
		free(found);
	}
	found = costs_find(&m.costs, "main", &nr);
	assert_int_equal(nr, 0);
	free(found);
	assert_true(costs_has(&m.costs, "main"));
	assert_false(costs_has(&m.costs, "mai"));
	assert_int_equal(costs_near(&m.costs, "ol", near), 1);
	assert_string_equal(near[0], "cold");
	assert_int_equal(costs_near(&m.costs, "zzzzzzzz", near), 0);
	release(&m);
}

/* How many functions a word finds; the name of the first. */
static size_t finds(struct made *m, const char *word, const char **name)
{
	size_t nr, *found = costs_find(&m->costs, word, &nr);

	*name = nr ? profile_str(m->p, m->costs.functions[found[0]].name) : NULL;
	free(found);
	return nr;
}

static void the_last_part_of_one_name_is_enough(void **state)
{
	static const char push[] = "lib::Queue<int>::push(int)";
	struct made m;
	const char *name;

	make(&m, false);
	costs_release(&m.costs);
	sample(&m, made_place(&m, 300, push, 0, NULL, 0), 5, 0);
	sample(&m, made_place(&m, 400, "a::pop", 0, NULL, 0), 5, 0);
	sample(&m, made_place(&m, 500, "b::pop", 0, NULL, 0), 5, 0);
	sample(&m, made_place(&m, 550, "std::max<std::pair<int, int> >", 0, NULL, 0), 5, 0);
	sample(&m, made_place(&m, 600, "main.(*Heap).Fix", 0, NULL, 0), 5, 0);
	costs_init(&m.costs, m.p, &(struct view){});
	assert_int_equal(finds(&m, "push", &name), 1);
	assert_string_equal(name, push);
	assert_int_equal(finds(&m, "Queue", &name), 0);
	assert_int_equal(finds(&m, "max", &name), 1);
	assert_string_equal(name, "std::max<std::pair<int, int> >");
	assert_int_equal(finds(&m, "Fix", &name), 1);
	assert_string_equal(name, "main.(*Heap).Fix");
	assert_int_equal(finds(&m, "a::pop", &name), 1);
	assert_int_equal(finds(&m, "pop", &name), 0); /* which? */
	assert_int_equal(finds(&m, "pus", &name), 0);
	assert_int_equal(finds(&m, "", &name), 0);
	release(&m);
}

static void lines_are_of_files_and_functions(void **state)
{
	struct annotation *a;
	struct made m;

	make(&m, false);
	a = annotation_new(&m.costs, 0);
	annotation_finish(a);
	assert_int_equal(a->nr_insns, 3);
	assert_int_equal(a->nr_hottest, 2);
	assert_int_equal(hottest(a, 0)->line, 5);
	assert_int_equal(hottest(a, 0)->nr, 2);
	assert_int_equal(heat(a, 0), 70);
	assert_false(hottest(a, 0)->inlined);
	assert_int_equal(hottest(a, 1)->line, 9);
	assert_int_equal(heat(a, 1), 20);
	assert_string_equal(annotation_str(a, hottest(a, 1)->function), "inner");
	assert_true(hottest(a, 1)->inlined);
	annotation_free(a);

	a = annotation_new(&m.costs, 1);
	annotation_finish(a);
	assert_int_equal(hottest(a, 0)->file, 0);
	assert_int_equal(heat(a, 0), 10);
	annotation_free(a);
	release(&m);
}

/* Instructions of 8 bytes: 108 is in the second one, whose code another profile knows. */
static void costs_belong_to_the_instruction_around(void **state)
{
	struct annotation *a;
	struct made m, code;

	make(&m, false);
	make(&code, false);
	a = annotation_new(&m.costs, 0);
	for (uint64_t at = 120; at >= 96; at -= 8)
		annotation_add_insn(a,
				    &(struct annotation_insn){ .module = m.module,
							       .len = 8,
							       .offset = at,
							       .address = at + 0x1000 },
				    "nop", code.p, made_place(&code, at, "hot", 7, NULL, 7));
	annotation_finish(a);
	assert_int_equal(a->nr_insns, 4);
	assert_int_equal(a->insns[0].address, 96 + 0x1000);
	assert_string_equal(annotation_str(a, a->insns[0].text), "nop");
	assert_int_equal(annotation_insn_cost(a, 0)->value, 60);
	assert_int_equal(annotation_insn_cost(a, 1)->value, 30);
	assert_int_equal(annotation_insn_cost(a, 2)->value, 0);
	/* Lines of samples are the recording's, those of others the code's. */
	assert_int_equal(a->lines[a->insns[0].line].line, 5);
	assert_int_equal(a->lines[a->insns[2].line].line, 7);
	annotation_free(a);
	release(&code);
	release(&m);
}

static void all_code_has_lines_of_files(void **state)
{
	struct annotation *a;
	struct made m;

	make(&m, false);
	a = annotation_new_of_all(&m.costs);
	annotation_finish(a);
	assert_int_equal(a->nr_hottest, 3);
	assert_int_equal(hottest(a, 0)->line, 5);
	assert_int_equal(hottest(a, 0)->function, 0);
	assert_int_equal(heat(a, 0), 70);
	annotation_free(a);
	release(&m);
}

static void each_event_has_its_costs(void **state)
{
	const struct view second = { .value = "two" };
	struct costs costs;
	struct made m;

	make(&m, true);
	assert_int_equal(m.costs.nr_events, 2);
	assert_string_equal(profile_str(m.p, m.costs.functions[0].name), "hot");
	assert_int_equal(m.costs.functions[1].sums[0].value, 10);
	assert_int_equal(m.costs.functions[1].sums[1].value, 70);
	costs_init(&costs, m.p, &second);
	assert_string_equal(profile_str(m.p, costs.functions[0].name), "cold");
	costs_release(&costs);
	release(&m);
}

static void waits_are_of_who_waited(void **state)
{
	static const struct view view = { .idle = IDLE_SHOW };
	uint32_t wait = PROF_WAIT(PROF_BLOCKED, TASK_S, -1);
	struct profile *p = made_profile("offcpu");
	struct costs c;

	made_wait(p, 1, "t", wait, 700, "read;main", "schedule;pipe_read");
	made_wait(p, 2, "k", wait, 300, "", "schedule;kthread_work");
	costs_init(&c, p, &view);
	assert_int_equal(c.nr, 2);
	assert_string_equal(profile_str(p, c.functions[0].name), "read");
	assert_int_equal(c.functions[0].sums[0].value, 700);
	assert_int_equal(c.functions[1].sums[0].value, 300);
	costs_release(&c);
	profile_free(p);
}

static void source_files_have_lines(void **state)
{
	struct annotation *a;
	struct made m;
	size_t len;
	uint32_t file;

	make(&m, false);
	a = annotation_new(&m.costs, 0);
	annotation_finish(a);
	file = hottest(a, 0)->file;
	assert_null(annotation_source(a, file, 1, &len));
	annotation_add_file(a, file, strdup("one\r\n\nthree"), 11);
	assert_memory_equal(annotation_source(a, file, 1, &len), "one", 3);
	assert_int_equal(len, 3);
	assert_non_null(annotation_source(a, file, 2, &len));
	assert_int_equal(len, 0);
	assert_memory_equal(annotation_source(a, file, 3, &len), "three", 5);
	assert_int_equal(len, 5);
	assert_null(annotation_source(a, file, 0, &len));
	assert_null(annotation_source(a, file, 4, &len));
	assert_null(annotation_source(a, file + 1, 1, &len));
	annotation_note(a, "%d", 1);
	annotation_note(a, "%d", 2);
	annotation_note(a, "%d", 1);
	assert_string_equal(a->note, "1\n2");
	annotation_free(a);
	release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_what_is_their_own),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(the_last_part_of_one_name_is_enough),
		cmocka_unit_test(lines_are_of_files_and_functions),
		cmocka_unit_test(costs_belong_to_the_instruction_around),
		cmocka_unit_test(all_code_has_lines_of_files),
		cmocka_unit_test(each_event_has_its_costs),
		cmocka_unit_test(waits_are_of_who_waited),
		cmocka_unit_test(source_files_have_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

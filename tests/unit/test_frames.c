/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a frame keeps that views do not show, or show as more than one function; and its files. */
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
#include "output/output.h"
#include "profile/breaks.h"
#include "profile/save.h"
#include "profile/top.h"

static char path[] = "/tmp/bpfprof-frames.XXXXXX";

static uint32_t named(struct profile *p, enum frame_kind kind, uint32_t module, uint64_t offset,
		      const char *name)
{
	uint32_t id = profile_frame(p, kind, module, offset);

	profile_name_frame(p, id, profile_string(p, name), 0);
	return id;
}

/* frames are leaf first and end with 0. */
static void add(struct profile *p, uint32_t pid, const uint32_t *frames, uint64_t count)
{
	struct sample s = { .pid = pid, .tid = pid, .count = count, .weight = count };
	size_t nr = 0;

	while (frames[nr])
		nr++;
	s.thread = s.process = profile_string(p, "node");
	s.ustack = profile_stack(p, frames, nr, UNWIND_END_NO_CFI, 0);
	profile_add_sample(p, &s);
}

static void check_text(const struct profile *p, const char *name, struct view v,
		       const char *expected)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(output_find(RESULT_STACKS, name)->write.profile(p, &v, f), 0);
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
}

static void check_folded(const struct profile *p, struct view v, const char *expected)
{
	check_text(p, "x.folded", v, expected);
}

static void save(const struct profile *p)
{
	FILE *f = fopen(path, "w");

	profile_save(p, f);
	assert_int_equal(fclose(f), 0);
}

/* What a refusal says goes nowhere. */
static struct profile *load_quietly(void)
{
	int err = dup(2);
	struct profile *p;

	assert_non_null(freopen("/dev/null", "w", stderr));
	p = profile_load(path);
	fflush(stderr);
	dup2(err, 2);
	close(err);
	return p;
}

/* --- generated code --- */

/* Two processes that run two places of generated code each, one of them at the same address. */
static struct profile *generated(void)
{
	struct profile *p = profile_new();

	for (uint32_t pid = 7; pid <= 8; pid++) {
		uint32_t module = profile_add_generated(p, pid);
		uint32_t a = named(p, FRAME_ANON, module, 0x7000, PROFILE_JIT);
		uint32_t b = named(p, FRAME_ANON, module, 0x7000 + pid, PROFILE_JIT);

		add(p, pid, (uint32_t[]){ a, b, 0 }, 10);
		add(p, pid, (uint32_t[]){ b, a, 0 }, 1);
	}
	return p;
}

static void generated_code_is_shown_as_one(void **state)
{
	struct profile *p = generated();
	struct tree *t = tree_new(p, &(struct view){});
	struct top_row *rows;
	struct breaks b;
	size_t nr;

	check_folded(p, (struct view){}, "node;[jit];[jit] 22\n");
	check_folded(p, (struct view){ .annotations = true }, "node;[jit]_[j];[jit]_[j] 22\n");
	rows = top_rows(t, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(rows[0].module, 0);
	assert_int_equal(rows[0].total, 22);
	breaks_init(&b, p);
	assert_int_equal(b.nr, 1);
	assert_int_equal(b.rows[0].samples, 22);
	assert_string_equal(break_module(p, &b.rows[0]), "[jit]");
	breaks_release(&b);
	free(rows);
	tree_free(t);
	profile_free(p);
}

static void generated_code_keeps_its_process_and_address(void **state)
{
	struct profile *p = generated(), *q;
	const struct module *m;

	assert_int_equal(p->nr_frames, 5);
	save(p);
	q = load_quietly();
	assert_non_null(q);
	assert_int_equal(q->nr_frames, p->nr_frames);
	for (uint32_t i = 1; i < q->nr_frames; i++) {
		const struct frame *f = profile_frame_at(q, i);

		m = &q->modules[f->module];
		assert_int_equal(f->offset, profile_frame_at(p, i)->offset);
		assert_int_equal(m->kind, MODULE_GENERATED);
		assert_int_equal(m->pid, i <= 2 ? 7 : 8);
		assert_string_equal(profile_str(q, m->path), "[jit]");
	}
	profile_free(q);
	p->modules[1].kind = MODULE_GENERATED + 1;
	save(p);
	assert_null(load_quietly());
	profile_free(p);
}

/* --- inlined functions --- */

static struct frame_function function(struct profile *p, const char *name, const char *linkage,
				      const char *file, uint32_t line)
{
	return (struct frame_function){ profile_string(p, name),
					linkage ? profile_string(p, linkage) : 0,
					file ? profile_string(p, file) : 0, line };
}

/* main calls work, into which the compiler put step and within it add; a plain leaf calls none. */
static struct profile *inlined(void)
{
	struct profile *p = profile_new();
	uint32_t module = profile_add_module(p, "/usr/bin/app");
	uint32_t main_f = named(p, FRAME_USER, module, 1, "main");
	uint32_t work = profile_frame(p, FRAME_USER, module, 2);
	uint32_t leaf = profile_frame(p, FRAME_USER, module, 3);
	const struct frame_function chain[] = {
		function(p, "add", "_Z3addi", "add.h", 10),
		function(p, "step", NULL, "work.c", 20),
		function(p, "work", "_Z4workv", "work.c", 30),
	};
	const struct frame_function plain = function(p, "leaf", NULL, "leaf.c", 40);

	profile_set_functions(p, work, chain, 3);
	profile_set_functions(p, leaf, &plain, 1);
	add(p, 7, (uint32_t[]){ work, main_f, 0 }, 5);
	add(p, 7, (uint32_t[]){ leaf, work, main_f, 0 }, 2);
	named(p, FRAME_USER, module, 4, "later"); /* behind the table of details */
	return p;
}

static void check_function(const struct profile *p, uint32_t frame, uint32_t i, const char *name,
			   const char *file, uint32_t line)
{
	struct frame_function f = profile_frame_function(p, frame, i);

	assert_string_equal(profile_str(p, f.name), name);
	assert_string_equal(profile_str(p, f.file), file);
	assert_int_equal(f.line, line);
}

static void check_inlined(const struct profile *p)
{
	assert_int_equal(profile_frame_functions(p, 1), 1);
	check_function(p, 1, 0, "main", "", 0);
	assert_int_equal(profile_frame_functions(p, 2), 3);
	check_function(p, 2, 0, "add", "add.h", 10);
	check_function(p, 2, 1, "step", "work.c", 20);
	check_function(p, 2, 2, "work", "work.c", 30);
	assert_string_equal(profile_frame_name(p, 2), "work");
	assert_int_equal(profile_frame_functions(p, 3), 1);
	check_function(p, 3, 0, "leaf", "leaf.c", 40);
	assert_int_equal(profile_frame_functions(p, 4), 1);
	check_function(p, 4, 0, "later", "", 0);
	check_folded(p, (struct view){},
		     "node;main;work;step;add 5\nnode;main;work;step;add;leaf 2\n");
	check_folded(p, (struct view){ .no_demangle = true },
		     "node;main;_Z4workv;step;_Z3addi 5\n"
		     "node;main;_Z4workv;step;_Z3addi;leaf 2\n");
}

static void inlined_functions_are_shown_each(void **state)
{
	static const struct {
		const char *name;
		uint64_t self, total;
	} expected[] = {
		{ "add", 5, 7 },  { "leaf", 2, 2 }, { "main", 0, 7 },
		{ "step", 0, 7 }, { "work", 0, 7 },
	};
	struct profile *p = inlined();
	struct tree *t = tree_new(p, &(struct view){});
	struct top_row *rows;
	char *leaf;
	size_t nr;

	check_inlined(p);
	rows = top_rows(t, &nr);
	assert_int_equal(nr, 5);
	for (size_t i = 0; i < nr; i++) {
		assert_string_equal(t->names.bytes + rows[i].name, expected[i].name);
		assert_int_equal(rows[i].self, expected[i].self);
		assert_int_equal(rows[i].total, expected[i].total);
		assert_int_equal(rows[i].module, 1);
	}
	leaf = view_leaf(&(struct view){}, p, &p->samples[0]);
	assert_string_equal(leaf, "add");
	free(leaf);
	free(rows);
	tree_free(t);
	profile_free(p);
}

/* A waker's stack is shown from its leaf on, and so is a chain. */
static void a_waker_meets_the_innermost_first(void **state)
{
	struct profile *p = inlined();
	struct waker w = { .pid = 9, .tid = 9 };
	char *text = NULL;
	size_t len;
	FILE *f;

	p->meta.is_time = 1;
	p->meta.command = profile_string(p, "wakeup");
	w.thread = w.process = profile_string(p, "waker");
	w.ustack = p->samples[0].ustack;
	p->nr_samples = 1;
	p->samples[0].waker = profile_add_waker(p, &w);
	p->samples[0].weight = 5000;
	p->samples[0].wait = PROF_WAIT(PROF_BLOCKED, 1, -1);
	f = open_memstream(&text, &len);
	folded_write(p, &(struct view){ .idle = IDLE_SHOW }, f);
	fclose(f);
	assert_non_null(strstr(text, ";main;work;step;add;--;add;step;work;main;waker "));
	free(text);
	profile_free(p);
}

/* Of a stack deeper than any, with all the inlines that there can be, the view stays in bounds. */
static void long_chains_are_cut_in_views(void **state)
{
	struct profile *p = profile_new();
	struct frame_function chain[FRAME_MAX_FUNCTIONS];
	uint32_t ids[PROF_MAX_FRAMES + 1] = {};
	struct tree *t;

	for (size_t i = 0; i < FRAME_MAX_FUNCTIONS; i++)
		chain[i] = function(p, "f", NULL, NULL, 0);
	for (size_t i = 0; i < PROF_MAX_FRAMES; i++) {
		ids[i] = profile_frame(p, FRAME_USER, 0, i);
		profile_set_functions(p, ids[i], chain, FRAME_MAX_FUNCTIONS);
	}
	add(p, 7, ids, 1);
	t = tree_new(p, &(struct view){});
	assert_in_range(t->nr, PROF_MAX_FRAMES, 2 * PROF_MAX_FRAMES + FRAME_MAX_FUNCTIONS + 2);
	tree_free(t);
	profile_free(p);
}

/* --- files --- */

static void chains_come_back_whole(void **state)
{
	struct profile *p = inlined(), *q;

	save(p);
	q = load_quietly();
	assert_non_null(q);
	check_inlined(q);
	assert_int_equal(q->nr_details, p->nr_details);
	assert_int_equal(q->nr_inlines, p->nr_inlines);
	profile_free(q);
	profile_free(p);
}

static void forged_chains_are_refused(void **state)
{
	struct profile *p = inlined();
	const struct {
		uint32_t *at, value;
	} forged[] = {
		{ &p->details[2].first, 1 },	      { &p->details[2].first, 3 },
		{ &p->details[2].first, UINT32_MAX }, { &p->details[2].nr, 3 },
		{ &p->details[2].nr, UINT32_MAX },    { &p->details[3].file, 1u << 30 },
		{ &p->inlines[0].name, 1u << 30 },    { &p->inlines[1].linkage, 1u << 30 },
		{ &p->inlines[1].file, 1u << 30 },
	};

	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		uint32_t before = *forged[i].at;

		*forged[i].at = forged[i].value;
		save(p);
		assert_null(load_quietly());
		*forged[i].at = before;
	}
	profile_set_functions(p, 4, &(struct frame_function){ .line = 1 }, 1);
	p->nr_frames--; /* one less than there are details; no stack has it */
	save(p);
	assert_null(load_quietly());
	profile_free(p);
}

/* More than the most in one chain: as much as the table has, and still refused. */
static void chains_have_a_bound_in_files(void **state)
{
	struct profile *p = inlined();

	p->details[2].first = 0;
	p->details[2].nr = FRAME_MAX_FUNCTIONS;
	p->inlines = xreallocarray(p->inlines, FRAME_MAX_FUNCTIONS, sizeof(*p->inlines));
	memset(p->inlines, 0, FRAME_MAX_FUNCTIONS * sizeof(*p->inlines));
	p->nr_inlines = FRAME_MAX_FUNCTIONS;
	save(p);
	assert_null(load_quietly());
	p->details[2].nr--;
	save(p);
	profile_free(p);
	p = load_quietly();
	assert_non_null(p);
	profile_free(p);
}

/* "gen_profile broken", written before frames had details and generated code had processes. */
static void old_files_are_read(void **state)
{
	struct profile *p = profile_load("tests/data/frames-only.bpfprof");
	struct view v = {};

	assert_non_null(p);
	assert_int_equal(p->nr_details, 0);
	assert_int_equal(p->nr_inlines, 0);
	for (uint32_t i = 0; i < p->nr_modules; i++)
		assert_int_equal(p->modules[i].kind, MODULE_FILE);
	check_folded(p, v,
		     "app;_start;memcpy 310\n"
		     "app;cold(int);memcpy 60\n"
		     "app;hot(int);memcpy 40\n"
		     "setup.exe?[31m 30\n"
		     "java;[jit];memcpy 25\n"
		     "app;recurse;memcpy 20\n"
		     "app;late;memcpy 15\n");
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generated_code_is_shown_as_one),
		cmocka_unit_test(generated_code_keeps_its_process_and_address),
		cmocka_unit_test(inlined_functions_are_shown_each),
		cmocka_unit_test(a_waker_meets_the_innermost_first),
		cmocka_unit_test(long_chains_are_cut_in_views),
		cmocka_unit_test(chains_come_back_whole),
		cmocka_unit_test(forged_chains_are_refused),
		cmocka_unit_test(chains_have_a_bound_in_files),
		cmocka_unit_test(old_files_are_read),
	};
	int failed, fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}

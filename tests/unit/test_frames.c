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

	assert_int_equal(output_find(name)->write(p, &v, f), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generated_code_is_shown_as_one),
		cmocka_unit_test(generated_code_keeps_its_process_and_address),
	};
	int failed, fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}

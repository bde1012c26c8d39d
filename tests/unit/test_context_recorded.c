/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contexts and kinds of stacks that were recorded of programs of Tokio (tests/data/tokio-stacks):
 * of what those said themselves that they wait for, and of how their threads park.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/context.h"
#include "tests/unit/made.h"

#define MAX_FRAMES 1024
#define MAX_STACK  16384

struct recorded {
	char *names[MAX_FRAMES];
	size_t nr_names, nr_rows, nr_wrong;
};

struct row {
	char variant[16], what[32], context[32], kind[32];
	uint32_t wait;
	char user[MAX_STACK], kernel[MAX_STACK];
};

static void add_name(struct recorded *r, char *line)
{
	assert_true(r->nr_names < MAX_FRAMES);
	r->names[r->nr_names++] = strdup(line + strlen("frame "));
}

/* Numbers of names, up to what is none: how much was read. */
static size_t parse_stack(const struct recorded *r, char *stack, const char *text)
{
	size_t at = 0, len = 0;
	unsigned int name;

	*stack = '\0';
	for (int n; sscanf(text + at, "%u%n", &name, &n) == 1; at += n) {
		assert_true(name < r->nr_names);
		len += snprintf(stack + len, MAX_STACK - len, "%s%s", len ? ";" : "",
				r->names[name]);
		assert_true(len < MAX_STACK);
	}
	return at;
}

static bool parse_row(const struct recorded *r, struct row *row, const char *line)
{
	int at;

	if (sscanf(line, "%15s %31s %31s %31s %u%n", row->variant, row->what, row->context,
		   row->kind, &row->wait, &at) != 5)
		return false;
	line += at;
	line += parse_stack(r, row->user, line);
	return !strncmp(line, " | ", 3) && parse_stack(r, row->kernel, line + 3) && *row->user;
}

static void judge(struct recorded *r, const struct row *row)
{
	struct profile *p = made_profile("offcpu");
	const struct context_of *of;
	const char *kind;
	struct contexts c;

	made_wait(p, 101, "tokio-rt-worker", row->wait, 1, row->user, row->kernel);
	contexts_init(&c, p);
	of = contexts_at(&c, 0);
	kind = *of->kind ? of->kind : "-";
	if (strcmp(context_names[of->context], row->context) || strcmp(kind, row->kind)) {
		print_message("%s %s is %s %s, not %s %s: %s\n", row->variant, row->what,
			      context_names[of->context], kind, row->context, row->kind, row->user);
		r->nr_wrong++;
	}
	r->nr_rows++;
	contexts_release(&c);
	profile_free(p);
}

static void each_is_what_the_program_said(void **state)
{
	FILE *f = fopen("tests/data/tokio-stacks", "r");
	struct recorded r = {};
	static struct row row;
	static char line[4096];

	if (!f)
		skip();
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "frame ", strlen("frame ")))
			add_name(&r, line);
		else if (*line != '#') {
			assert_true(parse_row(&r, &row, line));
			judge(&r, &row);
		}
	}
	fclose(f);
	while (r.nr_names)
		free(r.names[--r.nr_names]);
	print_message("%zu of %zu recorded stacks are what they were\n", r.nr_rows - r.nr_wrong,
		      r.nr_rows);
	assert_true(r.nr_rows > 150);
	assert_int_equal(r.nr_wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_what_the_program_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the screen's pages are made of, without a screen: rows of trees, scrolling, typing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "made.h"
#include "terminal/outline.h"
#include "terminal/page.h"
#include "terminal/prompt.h"
#include "terminal/sheet.h"

/* Names leaf first. */
static void add(struct profile *p, const char *thread, const char *names, uint64_t count)
{
	struct sample s = { .pid = 1, .tid = 1, .count = count, .weight = count };

	s.process = s.thread = profile_string(p, thread);
	s.ustack = made_stack(p, FRAME_USER, names);
	profile_add_sample(p, &s);
}

struct fixture {
	struct profile *p;
	struct tree *t;
	struct outline o;
};

static struct fixture made(uint32_t root)
{
	struct fixture f = { .p = made_profile("oncpu") };

	f.p->meta.is_time = 0;
	add(f.p, "app", "leaf;f;f;main", 40);
	add(f.p, "app", "f;g;f;main", 20);
	add(f.p, "app", "leaf;g;main", 30);
	add(f.p, "app", "main", 5);
	add(f.p, "helper", "leaf;start", 5);
	f.t = tree_new(f.p, &(struct view){});
	outline_init(&f.o, f.t, root);
	return f;
}

static void drop(struct fixture *f)
{
	outline_release(&f->o);
	tree_free(f->t);
	profile_free(f->p);
}

/* Rows as "0+app" (indent, mark, name), with spaces between them. */
static void check(const struct outline *o, const char *expected)
{
	char text[1024] = "";

	for (size_t i = 0; i < o->nr; i++) {
		bool has = outline_has_children(o, i);
		char mark = has && !outline_is_open(o, i) ? '+'
			    : outline_is_link(o, i)	  ? '|'
			    : has			  ? '-'
							  : '.';

		sprintf(text + strlen(text), "%s%u%c%s", i ? " " : "", o->rows[i].indent, mark,
			tree_name(o->t, &o->t->nodes[o->rows[i].node]));
	}
	assert_string_equal(text, expected);
}

#define ALL "0-app 0|main 1-f 2-f 2|leaf 2-g 2|f 1-g 1|leaf 0+helper"

static void rows_open_with_the_only_one_that_is_called(void **state)
{
	struct fixture f = made(0);

	check(&f.o, "0+app 0+helper");
	outline_expand(&f.o, 1);
	check(&f.o, "0+app 0-helper 0|start 0|leaf");
	outline_expand(&f.o, 0);
	check(&f.o, "0-app 0+main 0-helper 0|start 0|leaf");
	assert_int_equal(outline_parent(&f.o, 1), 0);
	assert_int_equal(outline_parent(&f.o, 4), 3);
	assert_int_equal(outline_parent(&f.o, 0), 0);
	outline_collapse(&f.o, 2);
	outline_expand(&f.o, 1);
	check(&f.o, "0-app 0|main 1+f 1+g 0+helper");
	outline_collapse(&f.o, 0);
	check(&f.o, "0+app 0+helper");
	outline_expand(&f.o, 0);
	check(&f.o, "0-app 0|main 1+f 1+g 0+helper");
	drop(&f);
}

static void all_that_is_below_opens_and_closes(void **state)
{
	struct fixture f = made(0);

	assert_true(outline_expand_all(&f.o, 0, 100));
	check(&f.o, ALL);
	outline_collapse_all(&f.o, 0);
	outline_expand(&f.o, 0);
	check(&f.o, "0-app 0+main 0+helper");
	/* More than there may be: only the first step. */
	assert_false(outline_expand_all(&f.o, 0, 6));
	check(&f.o, "0-app 0+main 0+helper");
	assert_true(outline_expand_all(&f.o, 1, 100));
	check(&f.o, ALL);
	drop(&f);
}

static void a_root_is_a_row(void **state)
{
	struct fixture f = made(0);
	uint32_t main_node = f.t->nodes[f.t->nodes[0].first_child].first_child;

	outline_release(&f.o);
	outline_init(&f.o, f.t, main_node);
	check(&f.o, "0-main 1+f 1+g");
	outline_collapse(&f.o, 0);
	check(&f.o, "0+main");
	outline_expand(&f.o, 0);
	check(&f.o, "0-main 1+f 1+g");
	drop(&f);
}

static bool is_leaf(void *arg, uint32_t node)
{
	struct tree *t = arg;

	return !strcmp(tree_name(t, &t->nodes[node]), "leaf");
}

static bool is_nothing(void *arg, uint32_t node)
{
	return false;
}

static void a_search_goes_round_in_both_directions(void **state)
{
	struct fixture f = made(0);
	uint32_t first, second, third;

	first = outline_find(&f.o, f.o.rows[0].node, false, is_leaf, f.t);
	second = outline_find(&f.o, first, false, is_leaf, f.t);
	third = outline_find(&f.o, second, false, is_leaf, f.t);
	assert_true(first && second && third && first != second && second != third);
	assert_int_equal(f.t->nodes[first].total, 40);
	assert_int_equal(f.t->nodes[second].total, 30);
	assert_int_equal(f.t->nodes[third].total, 5);
	assert_int_equal(outline_find(&f.o, third, false, is_leaf, f.t), first);
	assert_int_equal(outline_find(&f.o, first, true, is_leaf, f.t), third);
	assert_int_equal(outline_find(&f.o, third, true, is_leaf, f.t), second);
	assert_int_equal(outline_find(&f.o, third, false, is_nothing, f.t), 0);
	assert_int_equal(outline_find(&f.o, third, true, is_nothing, f.t), 0);
	/* Only the way to what was found opens, and what was open before can come back. */
	uint8_t *kept = outline_keep(&f.o);

	assert_int_equal(outline_reveal(&f.o, second), 4);
	check(&f.o, "0-app 0|main 1+f 1-g 1|leaf 0+helper");
	outline_go_back(&f.o, kept);
	check(&f.o, "0+app 0+helper");
	free(kept);
	drop(&f);
}

static void siblings_can_be_sorted(void **state)
{
	struct fixture f = made(0);

	add(f.p, "app", "a;main", 1);
	add(f.p, "app", "z;main", 10);
	outline_release(&f.o);
	tree_free(f.t);
	f.t = tree_new(f.p, &(struct view){});
	outline_init(&f.o, f.t, 0);
	outline_expand(&f.o, 0);
	outline_expand(&f.o, 1);
	check(&f.o, "0-app 0|main 1+f 1+g 1.z 1.a 0+helper");
	outline_sort(&f.o, TREE_BY_SELF);
	check(&f.o, "0-app 0|main 1.z 1.a 1+f 1+g 0+helper");
	outline_sort(&f.o, TREE_BY_NAME);
	check(&f.o, "0-app 0|main 1.a 1+f 1+g 1.z 0+helper");
	outline_sort(&f.o, TREE_BY_TOTAL);
	check(&f.o, "0-app 0|main 1+f 1+g 1.z 1.a 0+helper");
	drop(&f);
}

static void the_selected_row_stays_in_view(void **state)
{
	struct sheet s = { .nr = 100, .height = 10 };

	assert_true(sheet_key(&s, SCREEN_END));
	assert_int_equal(s.selected, 99);
	assert_int_equal(s.first, 90);
	sheet_key(&s, SCREEN_PAGE_UP);
	assert_int_equal(s.selected, 90);
	assert_int_equal(s.first, 90);
	sheet_key(&s, 'k');
	assert_int_equal(s.first, 89);
	sheet_resize(&s, 5);
	assert_int_equal(s.selected, 4);
	assert_int_equal(s.first, 0);
	sheet_resize(&s, 0);
	assert_int_equal(s.selected, 0);
	sheet_key(&s, SCREEN_DOWN);
	sheet_key(&s, SCREEN_PAGE_UP);
	assert_int_equal(s.selected, 0);
	sheet_shift(&s, -8);
	assert_int_equal(s.shift, 0);
	assert_false(sheet_key(&s, 'x'));
}

static void type(struct prompt *p, const int *keys)
{
	for (; *keys; keys++)
		assert_int_equal(prompt_key(p, *keys), PROMPT_TYPING);
}

static void what_is_typed_is_text(void **state)
{
	struct prompt p = {};

	type(&p, (int[]){ 'a', 0xe9, 0x5024, 0x1f600, 0x1b + 1, 0x9b, SCREEN_UP, 0 });
	assert_string_equal(p.text, "a\xc3\xa9\xe5\x80\xa4\xf0\x9f\x98\x80");
	type(&p, (int[]){ SCREEN_BACKSPACE, SCREEN_BACKSPACE, ' ', 'b', 'c', 0 });
	assert_string_equal(p.text, "a\xc3\xa9 bc");
	type(&p, (int[]){ SCREEN_CTRL('w'), 0 });
	assert_string_equal(p.text, "a\xc3\xa9 ");
	for (int i = 0; i < 2 * PROMPT_SZ; i++)
		prompt_key(&p, 0x5024);
	assert_true(p.len < PROMPT_SZ && strlen(p.text) == p.len);
	type(&p, (int[]){ SCREEN_CTRL('u'), 0 });
	assert_int_equal(p.len, 0);
	assert_int_equal(prompt_key(&p, SCREEN_BACKSPACE), PROMPT_GIVEN_UP);
	assert_int_equal(prompt_key(&p, SCREEN_ESCAPE), PROMPT_GIVEN_UP);
	assert_int_equal(prompt_key(&p, SCREEN_ENTER), PROMPT_DONE);
}

static void capitals_count_where_they_are_typed(void **state)
{
	assert_true(page_matches("serverCron", "servercron"));
	assert_true(page_matches("serverCron", "Cron"));
	assert_false(page_matches("serverCron", "CRON"));
	assert_false(page_matches("servercron", "Cron"));
}

/* Lenses leave stacks out by whole names, each of them. */
static void lenses_keep_stacks_with_each_name(void **state)
{
	struct fixture f = made(0);
	struct lens *all = lens_new(f.p, &(struct view){}), *with_g = lens_within(all, "g");
	struct lens *with_both = lens_within(with_g, "leaf");
	struct lens *last = with_both;

	assert_int_equal(lens_tree(all, LENS_DOWN)->nodes[0].total, 100);
	assert_int_equal(lens_tree(with_g, LENS_DOWN)->nodes[0].total, 50);
	assert_int_equal(lens_tree(with_g, LENS_UP)->left_out, 50);
	assert_int_equal(lens_tree(with_both, LENS_DOWN)->nodes[0].total, 30);
	while (last->view.nr_within < VIEW_MAX_WITHIN)
		last = lens_within(last, "main");
	assert_int_equal(lens_tree(last, LENS_DOWN)->nodes[0].total, 30);
	assert_null(lens_within(last, "main"));
	for (struct lens *outer; last; last = outer) {
		outer = last->outer;
		lens_free(last);
	}
	drop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_open_with_the_only_one_that_is_called),
		cmocka_unit_test(all_that_is_below_opens_and_closes),
		cmocka_unit_test(a_root_is_a_row),
		cmocka_unit_test(a_search_goes_round_in_both_directions),
		cmocka_unit_test(siblings_can_be_sorted),
		cmocka_unit_test(the_selected_row_stays_in_view),
		cmocka_unit_test(what_is_typed_is_text),
		cmocka_unit_test(capitals_count_where_they_are_typed),
		cmocka_unit_test(lenses_keep_stacks_with_each_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

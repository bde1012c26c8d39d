/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who allocates, and how sure the figures of a row are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "made.h"
#include "profile/allocations.h"

enum { BYTES, OBJECTS };

static void put(struct profile *p, uint32_t event, uint64_t count, uint64_t weight,
		const char *user)
{
	made_wait(p, 101, "app", PROF_WAIT_OF_EVENT(event), weight, user, "")->count = count;
}

static struct profile *begin(void)
{
	static const char *const names[] = { "bytes", "objects", "live-bytes", "live-objects" };
	struct profile *p = made_profile("alloc");

	p->meta.is_time = 0;
	p->meta.by_weight = 1;
	for (size_t i = 0; i < 2; i++) {
		struct sampled_event e = { .name = profile_string(p, names[i]), .period = 1 };

		profile_add_event(p, &e);
	}
	p->meta.event = p->events[BYTES].name;
	return p;
}

/* The one row that a stack makes. */
static void check_who(const char *user, const char *function, const char *callers)
{
	struct profile *p = begin();
	struct view v = {};
	struct allocations a;

	put(p, BYTES, 1, 100, user);
	allocations_init(&a, p, &v);
	assert_int_equal(a.nr, 1);
	assert_string_equal(a.rows[0].function, function);
	assert_string_equal(a.rows[0].callers, callers);
	allocations_release(&a);
	profile_free(p);
}

static void it_is_the_innermost_that_is_no_allocator(void **state)
{
	check_who("malloc;work;main", "work", "main");
	check_who("malloc;xmalloc;work;main", "work", "main");
	check_who("malloc;operator new(unsigned long);work;main", "work", "main");
	check_who("tc_new;work;main", "work", "main");
	check_who("mi_malloc;_mi_heap_x;work;main", "work", "main");
	check_who("malloc;__rust_alloc;alloc::alloc::alloc;shop::cart;main", "shop::cart", "main");
	/* A caller that is an allocator too is a caller. */
	check_who("malloc;work;xmalloc;main", "work", "xmalloc < main");
	/* A method of somebody's that only sounds alike is no wrapper. */
	check_who("malloc;shop::reallocate;main", "shop::reallocate", "main");
	check_who("malloc;my::Allocator::allocate;work;main", "work", "main");
}

static void three_callers_tell_rows_apart(void **state)
{
	struct profile *p = begin();
	struct view v = {};
	struct allocations a;

	check_who("malloc;work;a;b;c;d", "work", "a < b < c");
	put(p, BYTES, 1, 100, "malloc;work;a;b;c;d");
	put(p, BYTES, 1, 20, "calloc;work;a;b;c;other");
	put(p, BYTES, 1, 3, "malloc;work;a;b;other;d");
	allocations_init(&a, p, &v);
	assert_int_equal(a.nr, 2);
	assert_int_equal(a.rows[0].value[ALLOCATIONS_BYTES], 120);
	assert_int_equal(a.rows[0].samples[ALLOCATIONS_BYTES], 2);
	assert_int_equal(a.rows[1].value[ALLOCATIONS_BYTES], 3);
	assert_int_equal(a.all.value[ALLOCATIONS_BYTES], 123);
	assert_int_equal(a.all.samples[ALLOCATIONS_BYTES], 3);
	allocations_release(&a);
	profile_free(p);
}

static void nothing_but_allocators_is_the_innermost(void **state)
{
	check_who("malloc;xmalloc;operator new(unsigned long)", "malloc",
		  "xmalloc < operator new(unsigned long)");
}

static void rows_have_all_values_and_are_ordered_by_the_views(void **state)
{
	struct view v = { .value = "objects" };
	struct profile *p = begin();
	struct allocations a;

	put(p, BYTES, 4, 4000, "malloc;large;main");
	put(p, BYTES, 2, 200, "malloc;many;main");
	put(p, OBJECTS, 4, 4, "malloc;large;main");
	put(p, OBJECTS, 2, 20, "malloc;many;main");
	allocations_init(&a, p, &v);
	assert_true(a.has[ALLOCATIONS_BYTES] && a.has[ALLOCATIONS_OBJECTS]);
	assert_false(a.has[ALLOCATIONS_IN_USE] || a.has[ALLOCATIONS_OBJECTS_IN_USE]);
	assert_int_equal(a.by, ALLOCATIONS_OBJECTS);
	assert_int_equal(a.nr, 2);
	assert_string_equal(a.rows[0].function, "many");
	assert_int_equal(a.rows[0].value[ALLOCATIONS_BYTES], 200);
	assert_int_equal(a.rows[0].value[ALLOCATIONS_OBJECTS], 20);
	assert_int_equal(a.rows[1].samples[ALLOCATIONS_BYTES], 4);
	allocations_release(&a);
	profile_free(p);
}

static double error_of(uint64_t samples, uint64_t objects)
{
	struct allocations_row r = {};

	r.samples[ALLOCATIONS_BYTES] = samples;
	r.value[ALLOCATIONS_OBJECTS] = objects;
	return allocations_error(&r, ALLOCATIONS_BYTES);
}

static void errors_are_two_standard_errors(void **state)
{
	assert_true(fabs(error_of(100, 1000000000) - 0.2) < 1e-4);
	assert_true(fabs(error_of(100, 200) - 2 * sqrt(0.5 / 100)) < 1e-12);
	/* Each was sampled, or none was. */
	assert_true(error_of(100, 100) == 0);
	assert_true(error_of(0, 100) == 0);
	assert_true(error_of(100, 50) == 0); /* sums that were rounded */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_innermost_that_is_no_allocator),
		cmocka_unit_test(three_callers_tell_rows_apart),
		cmocka_unit_test(nothing_but_allocators_is_the_innermost),
		cmocka_unit_test(rows_have_all_values_and_are_ordered_by_the_views),
		cmocka_unit_test(errors_are_two_standard_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Timed calls by stack: samples of one stack are its histogram, whoever called and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bpf/hist.h"
#include "profile/call_stacks.h"
#include "tests/unit/made.h"

static const struct view plain;

static struct profile *made_calls(const char *command, uint64_t every)
{
	struct profile *p = made_profile(command);

	p->meta.is_time = 0;
	p->meta.by_weight = 1;
	p->meta.timed = 1;
	for (int i = 0; i < 2; i++)
		profile_add_event(p, &(struct sampled_event){
					     .name = profile_string(p, i ? "free" : "malloc"),
					     .period = every });
	return p;
}

/* Calls that took ns each, by a thread. */
static void add(struct profile *p, uint32_t tid, uint32_t event, uint64_t nr, uint64_t ns,
		const char *user, const char *kernel)
{
	uint32_t wait = PROF_WAIT_OF_CALL(event, prof_hist_index(ns));
	struct sample *s =
		made_wait(p, tid, "app", wait, ns * nr * p->events[event].period, user, kernel);

	s->count = nr;
}

static void is_row(const struct call_stacks *c, size_t i, const char *function, uint64_t calls,
		   uint64_t total_ns, uint64_t max_ns)
{
	assert_true(i < c->nr);
	assert_string_equal(c->rows[i].function, function);
	assert_int_equal(c->rows[i].stats.count, calls);
	assert_int_equal(c->rows[i].stats.total_ns, total_ns);
	assert_int_equal(c->rows[i].stats.max_ns, max_ns);
}

static void samples_of_a_stack_are_one_row(void **state)
{
	struct profile *p = made_calls("uprobe", 1);
	struct call_stacks c;

	add(p, 100, 0, 90, 100, "malloc;grow;main", "");
	add(p, 101, 0, 9, 100, "malloc;grow;main", "");
	add(p, 100, 0, 1, 9000, "malloc;grow;main", "");
	add(p, 100, 0, 3, 5000, "malloc;main", "");
	add(p, 100, 1, 3, 5000, "malloc;main", ""); /* another function, whatever it is called */
	call_stacks_init(&c, p, &plain);
	assert_int_equal(c.nr, 3);
	is_row(&c, 0, "malloc", 100, 99 * 100 + 9000, 9000);
	assert_int_equal(c.rows[0].nr_names, 3);
	assert_string_equal(call_stacks_name(&c, &c.rows[0], 0), "main");
	assert_string_equal(call_stacks_name(&c, &c.rows[0], 2), "malloc");
	assert_true(c.rows[0].stats.pct_ns[0] >= 96 && c.rows[0].stats.pct_ns[0] < 112);
	assert_true(c.rows[0].stats.pct_ns[3] > 100 && c.rows[0].stats.pct_ns[3] <= 9000);
	assert_true(c.rows[0].per_s == 10);
	is_row(&c, 1, "malloc", 3, 15000, 5000);
	is_row(&c, 2, "free", 3, 15000, 5000);
	call_stacks_release(&c);
	profile_free(p);
}

/* At most a fifth below the longest: the mean of those in the last bucket. */
static void the_longest_is_that_of_the_last_bucket(void **state)
{
	struct profile *p = made_calls("kprobe", 1);
	struct call_stacks c;

	add(p, 100, 0, 1, 1025, "", "vfs_read;read");
	add(p, 101, 0, 1, 1270, "", "vfs_read;read");
	add(p, 100, 0, 5, 900, "", "vfs_read;read");
	assert_int_equal(prof_hist_index(1025), prof_hist_index(1270));
	call_stacks_init(&c, p, &plain);
	assert_int_equal(c.nr, 1);
	is_row(&c, 0, "malloc", 7, 1025 + 1270 + 4500, 1270);
	call_stacks_release(&c);
	profile_free(p);
}

static void one_in_so_many_stands_for_others(void **state)
{
	struct profile *p = made_calls("uprobe", 10);
	struct call_stacks c;

	add(p, 100, 0, 7, 1000, "malloc;main", "");
	call_stacks_init(&c, p, &plain);
	assert_int_equal(c.nr, 1);
	is_row(&c, 0, "malloc", 70, 70000, 1000);
	call_stacks_release(&c);
	profile_free(p);
}

/* Of system calls the kernel's half is the way into the kernel; which one it was comes first. */
static void system_calls_have_their_callers(void **state)
{
	struct profile *p = made_calls("syscalls", 1);
	struct call_stacks c;

	add(p, 100, 0, 1, 1000, "read;main", "exit_work;do_syscall");
	add(p, 100, 0, 1, 1000, "read;main", "exit_slow;do_syscall");
	call_stacks_init(&c, p, &plain);
	assert_int_equal(c.nr, 1);
	is_row(&c, 0, "malloc", 2, 2000, 1000);
	assert_int_equal(c.rows[0].nr_names, 3);
	assert_string_equal(call_stacks_name(&c, &c.rows[0], 0), "[malloc]");
	assert_string_equal(call_stacks_name(&c, &c.rows[0], 1), "main");
	assert_string_equal(call_stacks_name(&c, &c.rows[0], 2), "read");
	call_stacks_release(&c);
	profile_free(p);
}

/* Of paths that a view leaves out there are fewer than samples. */
static void only_what_is_in_focus_has_rows(void **state)
{
	struct profile *p = made_calls("uprobe", 1);
	struct view focused = plain;
	struct call_stacks c;
	regex_t re;

	for (size_t i = 0; i < 40; i++)
		add(p, 100, 0, 1, 1000, i == 20 ? "malloc;wanted;main" : "malloc;main", "");
	assert_int_equal(regcomp(&re, "wanted", REG_NOSUB), 0);
	focused.focus = &re;
	call_stacks_init(&c, p, &focused);
	assert_int_equal(c.nr, 1);
	is_row(&c, 0, "malloc", 1, 1000, 1000);
	call_stacks_release(&c);
	regfree(&re);
	assert_int_equal(regcomp(&re, "nobody", REG_NOSUB), 0);
	call_stacks_init(&c, p, &focused);
	assert_int_equal(c.nr, 0);
	call_stacks_release(&c);
	regfree(&re);
	profile_free(p);
}

static void without_times_or_stacks_there_is_nothing(void **state)
{
	struct profile *p = made_calls("uprobe", 1);
	struct call_stacks c;

	add(p, 100, 0, 7, 1000, "", "");
	made_wait(p, 100, "app", PROF_WAIT_OF_EVENT(1), 5, "free;main", "");
	made_wait(p, 100, "app", PROF_WAIT(PROF_EVENT, 1, 4000), 5, "free;main", "");
	call_stacks_init(&c, p, &plain);
	assert_int_equal(c.nr, 0);
	call_stacks_release(&c);
	p->meta.timed = 0;
	add(p, 100, 0, 7, 1000, "malloc;main", "");
	call_stacks_init(&c, p, &plain);
	assert_int_equal(c.nr, 0);
	call_stacks_release(&c);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_a_stack_are_one_row),
		cmocka_unit_test(the_longest_is_that_of_the_last_bucket),
		cmocka_unit_test(one_in_so_many_stands_for_others),
		cmocka_unit_test(system_calls_have_their_callers),
		cmocka_unit_test(only_what_is_in_focus_has_rows),
		cmocka_unit_test(without_times_or_stacks_there_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

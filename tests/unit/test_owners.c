/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A slot that goes from thread to thread: who reads it meanwhile is told of one of them. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* What another CPU does at the next pauses; each pause is one less. */
static void (*other)(void);
static int other_at;

static inline void pause_here(void)
{
	void (*does)(void) = other;

	if (!does || other_at-- > 0)
		return;
	other = NULL;
	does();
}

#define OWNER_PAUSE() pause_here()
#include "bpf/owner.bpf.h"

#define NR_PAUSES 16 /* more than there are in what is done */
#define ENOUGH	  1000000u
#define MOST_NS	  2000000000ull

static struct owner slot;
static uint64_t nr_wrong, nr_read, nr_waits;

static uint64_t hash_nr(uint32_t i)
{
	return owner_hash((i + 1) * 0x9e3779b97f4a7c15ull);
}

static void take(uint32_t i)
{
	char comm[PROF_COMM_LEN] = "0-and-so-on....";

	comm[0] = (char)('0' + i % 64);
	assert_true(owner_take(&slot, hash_nr(i), 100 + i, comm, i));
}

/* All that is told of the n-th wait of thread i; no two begin at one time. */
static void wait_nr(uint32_t i, uint32_t n)
{
	uint32_t of = n * 2 + i % 2;

	owner_wait(&slot, n + 1ull, of, of + 1, of + 2, of + 3);
}

/* Whether all that was read of thread i is its own, and of one wait. */
static bool is_right(uint32_t i, const struct prof_lock *l, uint64_t task)
{
	if (l->holder_tid != 100 + i || task != i || l->comm[0] != (char)('0' + i % 64))
		return false;
	if (l->role == LOCK_RUNS)
		return !(l->ustack | l->kstack | l->next);
	return l->role == LOCK_HOLDS && l->wait % 2 == i % 2 && l->ustack == l->wait + 1 &&
	       l->kstack == l->wait + 2 && l->next == l->wait + 3;
}

static void look(uint32_t i)
{
	struct prof_lock l = {};
	unsigned long long task = 0, own = 0;

	if (!owner_is(&slot, hash_nr(i)) || !owner_read(&slot, hash_nr(i), &l, &task, &own))
		return;
	nr_read++;
	nr_waits += l.role == LOCK_HOLDS;
	nr_wrong += !is_right(i, &l, task);
}

static void look_for_both(void)
{
	look(0);
	look(1);
}

static void run_and_wait(void)
{
	owner_run(&slot);
	wait_nr(0, 7);
}

static void run(void)
{
	owner_run(&slot);
}

static void leave(void)
{
	owner_leave(&slot);
}

static void hand_over(void)
{
	owner_leave(&slot);
	take(1);
}

static void hand_over_and_wait(void)
{
	hand_over();
	wait_nr(1, 9);
}

static void hand_over_and_back(void)
{
	hand_over_and_wait();
	owner_leave(&slot);
	take(0);
	wait_nr(0, 3);
}

/* Each of these while a reader is at each of its steps. */
static void test_writer_comes_in_between(void **state)
{
	static void (*const actions[])(void) = {
		run, run_and_wait, leave, hand_over, hand_over_and_wait, hand_over_and_back,
	};

	(void)state;
	nr_wrong = nr_read = 0;
	for (size_t k = 0; k < sizeof(actions) / sizeof(*actions); k++)
		for (int at = 0; at < NR_PAUSES; at++) {
			memset(&slot, 0, sizeof(slot));
			take(0);
			wait_nr(0, 1);
			other_at = at;
			other = actions[k];
			look(0);
			other = NULL;
		}
	assert_int_equal(nr_wrong, 0);
	assert_true(nr_read > NR_PAUSES);
}

/* A reader at each step of a writer, which takes what another thread has left. */
static void test_reader_comes_in_between(void **state)
{
	(void)state;
	nr_wrong = nr_read = 0;
	for (int at = 0; at < NR_PAUSES; at++) {
		memset(&slot, 0, sizeof(slot));
		take(1);
		wait_nr(1, 4);
		other_at = at;
		other = look_for_both;
		owner_leave(&slot);
		take(0);
		wait_nr(0, 5);
		wait_nr(0, 6); /* it was not seen to run */
		owner_run(&slot);
		other = NULL;
		look_for_both();
	}
	assert_int_equal(nr_wrong, 0);
	assert_true(nr_read > NR_PAUSES);
}

/* The same of a slot whose thread had this number, and whose end was not seen. */
static void test_number_is_used_again(void **state)
{
	(void)state;
	nr_wrong = nr_read = 0;
	for (int at = 0; at < NR_PAUSES; at++) {
		memset(&slot, 0, sizeof(slot));
		take(0);
		wait_nr(0, 4);
		slot.tid = 7; /* as the first namespace has it, it was another one */
		slot.comm[0] = 'x';
		other_at = at + 1; /* the slot is the new thread's from the second pause on */
		other = look_for_both;
		take(0);
		wait_nr(0, 5);
		other = NULL;
	}
	assert_int_equal(nr_wrong, 0);
	assert_true(nr_read > 0);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static uint32_t current; /* whose the slot is; each thread has it once */

static void *write_on(void *ended)
{
	uint32_t n = 0;

	while (!__atomic_load_n((int *)ended, __ATOMIC_RELAXED)) {
		take(current);
		for (uint32_t k = 0; k < 4; k++) {
			wait_nr(current, n++);
			owner_run(&slot);
		}
		owner_leave(&slot);
		__atomic_store_n(&current, current + 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* The same on two CPUs at once, where there are two. */
static void test_on_two_cpus(void **state)
{
	uint64_t until = now_ns() + MOST_NS;
	pthread_t thread;
	int ended = 0;

	(void)state;
	memset(&slot, 0, sizeof(slot));
	nr_wrong = nr_read = nr_waits = 0;
	assert_int_equal(pthread_create(&thread, NULL, write_on, &ended), 0);
	while (nr_waits < ENOUGH && now_ns() < until)
		for (int i = 0; i < 1000; i++)
			look(__atomic_load_n(&current, __ATOMIC_RELAXED));
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	printf("# %lu reads, %lu of waits, %lu wrong\n", (unsigned long)nr_read,
	       (unsigned long)nr_waits, (unsigned long)nr_wrong);
	assert_int_equal(nr_wrong, 0);
}

static void test_a_slot_is_taken_once(void **state)
{
	const char comm[PROF_COMM_LEN] = "two";

	(void)state;
	memset(&slot, 0, sizeof(slot));
	take(0);
	assert_false(owner_take(&slot, hash_nr(1), 101, comm, 1));
	assert_true(owner_is(&slot, hash_nr(0)));
	assert_int_equal(slot.tid, 100);
	owner_leave(&slot);
	take(1);
	assert_false(owner_is(&slot, hash_nr(0)));
	/* No hash is that of a slot which is free, or not ready. */
	for (uint64_t h = 0; h < 8; h++)
		assert_true(owner_hash(h) & 1 && owner_hash(h) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_slot_is_taken_once),
		cmocka_unit_test(test_writer_comes_in_between),
		cmocka_unit_test(test_reader_comes_in_between),
		cmocka_unit_test(test_number_is_used_again),
		cmocka_unit_test(test_on_two_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Words of locks as the C library leaves them, and who holds these; rows of made-up waits. */
#include "bpf/lock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "profile/locks.h"
#include "tests/unit/made.h"

#define LOCK PROF_WAIT(PROF_BLOCKED, TASK_S, 202)
#define WAIT (LOCK_PRIVATE | LOCK_OP_WAIT)

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* What the kernel is told follows from what the C library does. */
static void kinds_are_guessed_by_call(void **state)
{
	assert_int_equal(lock_guess(WAIT, 2), LOCK_MUTEX);
	assert_int_equal(lock_guess(LOCK_PRIVATE | LOCK_OP_BITSET | 256, 3), LOCK_RWLOCK);
	assert_int_equal(lock_guess(LOCK_PRIVATE | LOCK_OP_LOCK, 0), LOCK_PI);
	assert_int_equal(lock_guess(LOCK_OP_LOCK2, 7), LOCK_PI);
	assert_int_equal(lock_guess(WAIT, LOCK_WAITERS | 1234), LOCK_ROBUST);
	assert_int_equal(lock_guess(LOCK_OP_BITSET, 1234), LOCK_JOIN);
	assert_int_equal(lock_guess(WAIT, 1234), LOCK_FUTEX);
	assert_int_equal(lock_guess(WAIT, 0), LOCK_FUTEX);
	assert_int_equal(lock_guess(1, 2), LOCK_FUTEX);
}

/* A real one, held by this thread, as another one waits for it. */
static void owners_of_mutexes(void **state)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	uint32_t word[LOCK_WORDS];

	assert_int_equal(pthread_mutex_lock(&m), 0);
	memcpy(word, &m, sizeof(word));
	assert_int_equal(lock_owner(LOCK_MUTEX, word), 0); /* nobody waits */
	word[0] = 2;
	assert_int_equal(lock_owner(LOCK_MUTEX, word), own_tid());
	word[3] = 0; /* nobody uses it */
	assert_int_equal(lock_owner(LOCK_MUTEX, word), 0);
	word[3] = 1;
	word[4] = 0x12345678; /* no kind of mutex */
	assert_int_equal(lock_owner(LOCK_MUTEX, word), 0);
	pthread_mutex_unlock(&m);
}

static void owners_of_mutexes_that_inherit(void **state)
{
	uint32_t word[LOCK_WORDS] = { LOCK_WAITERS | 1u << 30 | 4321 };

	assert_int_equal(lock_owner(LOCK_PI, word), 4321);
	assert_int_equal(lock_owner(LOCK_ROBUST, word), 4321);
	word[0] = LOCK_WAITERS | LOCK_TID_MASK; /* no such number */
	assert_int_equal(lock_owner(LOCK_PI, word), 0);
}

/* Readers wait 8 bytes behind its begin, writers 12. */
static void writers_of_rwlocks(void **state)
{
	pthread_rwlock_t rw[2] = { PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER };
	uint32_t word[LOCK_WORDS];

	assert_int_equal(pthread_rwlock_wrlock(&rw[0]), 0);
	memcpy(word, (char *)rw + 8, sizeof(word));
	assert_int_equal(lock_owner(LOCK_RWLOCK, word), own_tid());
	memcpy(word, (char *)rw + 12, sizeof(word));
	assert_int_equal(lock_owner(LOCK_RWLOCK, word), own_tid());
	pthread_rwlock_unlock(&rw[0]);
	pthread_rwlock_rdlock(&rw[0]);
	memcpy(word, (char *)rw + 12, sizeof(word));
	assert_int_equal(lock_owner(LOCK_RWLOCK, word), 0);
	pthread_rwlock_unlock(&rw[0]);
}

/* Of thread tid, which waits for a word that holder has; its id. */
static uint32_t add_holder(struct profile *p, uint32_t tid, uint64_t word, uint32_t next,
			   enum lock_role role, uint32_t flags)
{
	struct waker w = { .pid = 100, .tid = tid, .next = next };
	char name[16];

	snprintf(name, sizeof(name), "t%u", tid);
	w.thread = profile_string(p, name);
	w.ustack = made_stack(p, FRAME_USER, "hold;main");
	return profile_add_holder(p, &w,
				  &(struct lock){ .word = word,
						  .max_ns = tid * 1000,
						  .kind = LOCK_MUTEX,
						  .role = role,
						  .flags = flags });
}

static void rows_are_by_lock(void **state)
{
	struct profile *p = made_profile("lock");
	uint32_t a = add_holder(p, 7, 0xa0, 0, LOCK_HOLDS, 0);
	uint32_t b = add_holder(p, 8, 0xa0, 0, LOCK_FREES, 0);
	uint32_t other = add_holder(p, 0, 0xb0, 0, LOCK_NOBODY, 0);
	struct locks l;

	made_wait(p, 1, "x", LOCK, 4000, "pthread_mutex_lock;want;main", "")->waker = a;
	made_wait(p, 2, "y", LOCK, 3000, "pthread_mutex_lock;take;main", "")->waker = b;
	made_wait(p, 2, "y", LOCK, 3000, "pthread_mutex_lock;get;main", "")->waker = b;
	made_wait(p, 1, "x", LOCK, 1000, "sem_wait;main", "")->waker = other;
	locks_init(&l, p, &(struct view){ .idle = IDLE_SHOW });
	assert_int_equal(l.nr, 2);
	assert_int_equal(l.ns, 11000);
	assert_int_equal(l.known_ns, 10000);
	assert_int_equal(l.v[0].word, 0xa0);
	assert_int_equal(l.v[0].ns, 10000);
	assert_int_equal(l.v[0].nr, 3);
	assert_int_equal(l.v[0].waiters, 2);
	assert_int_equal(l.v[0].max_ns, 8000);
	assert_string_equal(l.v[0].kind, "mutex");
	assert_string_equal(profile_str(p, l.v[0].holder), "t8"); /* 6 us, the other one 4 */
	assert_int_equal(l.v[0].role, LOCK_FREES);
	assert_string_equal(profile_str(p, l.v[0].holder_function), "hold");
	assert_string_equal(l.v[1].kind, "semaphore");
	assert_int_equal(l.v[1].role, LOCK_NOBODY);
	assert_int_equal(l.v[1].holder, 0);
	locks_release(&l);
	profile_free(p);
}

/* Threads 1 and 2; 3 waits for one of them. */
static void rings_are_told_once(void **state)
{
	struct profile *p = made_profile("lock");
	uint32_t ids[3], back;
	size_t nr = 0;

	back = add_holder(p, 1, 0xb0, 0, LOCK_HOLDS, LOCK_DEADLOCK);
	ids[0] = add_holder(p, 2, 0xa0, back, LOCK_HOLDS, LOCK_DEADLOCK);
	back = add_holder(p, 2, 0xa0, 0, LOCK_HOLDS, LOCK_DEADLOCK);
	ids[1] = add_holder(p, 1, 0xb0, back, LOCK_HOLDS, LOCK_DEADLOCK);
	ids[2] = add_holder(p, 1, 0xc0, ids[0], LOCK_HOLDS, 0);
	for (uint32_t i = 0; i < 3; i++)
		made_wait(p, i + 1, "t", LOCK | PROF_WAIT_OPEN, 1000, "lock", "")->waker = ids[i];
	for (size_t i = 0; i < p->nr_samples; i++)
		nr += locks_is_deadlock(p, &p->samples[i]);
	assert_int_equal(nr, 1);
	assert_true(locks_is_deadlock(p, &p->samples[0]));
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_are_guessed_by_call),
		cmocka_unit_test(owners_of_mutexes),
		cmocka_unit_test(owners_of_mutexes_that_inherit),
		cmocka_unit_test(writers_of_rwlocks),
		cmocka_unit_test(rows_are_by_lock),
		cmocka_unit_test(rings_are_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of Tokio's tasks, by code made here as compilers lay it out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/made_elf.h"
#include "uprobe/tokio.h"

#define HASH(n) "17h0123456789abcde" #n "E"
#define POLL(n) "_ZN5tokio7runtime4task3raw4poll" HASH(n)

static struct made_elf image;

/* A function of calls and, if any, a jump at its end; returns where the next one may stand. */
static uint64_t put(const char *name, uint64_t at, const uint64_t *calls, size_t nr, uint64_t jump)
{
	uint8_t code[64] = {};
	size_t len = 0;
	int32_t to;

	for (size_t i = 0; i < nr + (jump != 0); i++) {
		uint64_t target = i < nr ? calls[i] : jump;

		code[len] = i < nr ? 0xe8 : 0xe9;
		to = target - (at + len + 5);
		memcpy(&code[len + 1], &to, sizeof(to));
		len += 5;
	}
	if (!jump)
		code[len++] = 0xc3;
	made_code(&image, at, code, len);
	made_symbol(&image, name, at, len, STB_LOCAL, STT_FUNC);
	return at;
}

static uint64_t put_leaf(const char *name, uint64_t at)
{
	return put(name, at, NULL, 0, 0);
}

/* The one of the instance at that place. */
static const struct tokio_poll *at(const struct tokio_poll *v, size_t nr, uint64_t place)
{
	for (size_t i = 0; i < nr; i++)
		if (v[i].function->address == CODE_VADDR + place)
			return &v[i];
	return NULL;
}

static size_t find(struct functions **fs, struct places **p, struct tokio_poll **v)
{
	*fs = functions_open_image(image.bytes, sizeof(image.bytes));
	assert_non_null(*fs);
	*p = places_open(*fs);
	assert_non_null(*p);
	return tokio_polls_find(*fs, *p, v);
}

static void release(struct functions *fs, struct places *p, struct tokio_poll *v, size_t nr)
{
	tokio_polls_free(v, nr);
	places_free(p);
	functions_free(fs);
}

/* As in a release build: two functions between, and another closure behind the body. */
static void instances_are_named_by_the_body(void **state)
{
	struct tokio_poll *v;
	struct functions *fs;
	struct places *p;
	uint64_t body, inner, core, harness, fmt;
	size_t nr;

	made_init(&image, EM_X86_64);
	fmt = put_leaf("_ZN4core3fmt5write28_$u7b$$u7b$closure$u7d$$u7d$" HASH(1), 0x10);
	body = put_leaf("_ZN3app5login28_$u7b$$u7b$closure$u7d$$u7d$" HASH(2), 0x20);
	inner = put_leaf("_ZN3app5other28_$u7b$$u7b$closure$u7d$$u7d$" HASH(3), 0x30);
	core = put("_ZN5tokio7runtime4task4core17Core$LT$T$C$S$GT$4poll" HASH(4), 0x40,
		   (uint64_t[]){ fmt, body, inner }, 3, 0);
	harness = put("_ZN5tokio7runtime4task7harness20Harness$LT$T$C$S$GT$4poll" HASH(5), 0x60,
		      (uint64_t[]){ fmt, core }, 2, 0);
	put(POLL(6), 0x80, NULL, 0, harness);
	put(POLL(7), 0x90, (uint64_t[]){ body }, 1, 0);
	put(POLL(8), 0xa0, (uint64_t[]){ fmt }, 1, 0);
	nr = find(&fs, &p, &v);
	assert_int_equal(nr, 3);
	assert_string_equal(at(v, nr, 0x80)->name, "app::login");
	assert_int_equal(at(v, nr, 0x80)->named, TOKIO_BY_CALL);
	assert_string_equal(at(v, nr, 0x90)->name, "app::login");
	assert_int_equal(at(v, nr, 0xa0)->named, TOKIO_BY_ADDRESS);
	assert_memory_equal(at(v, nr, 0xa0)->name, "task@+0x", 8);
	release(fs, p, v, nr);
}

/* Two blocks of one function have names of their own. */
static void equal_names_get_their_place(void **state)
{
	struct tokio_poll *v;
	struct functions *fs;
	struct places *p;
	uint64_t a, b;
	size_t nr;

	made_init(&image, EM_X86_64);
	a = put_leaf("_ZN3app4main28_$u7b$$u7b$closure$u7d$$u7d$" HASH(1), 0x10);
	b = put_leaf("_ZN3app4main28_$u7b$$u7b$closure$u7d$$u7d$" HASH(2), 0x20);
	put(POLL(3), 0x30, (uint64_t[]){ a }, 1, 0);
	put(POLL(4), 0x40, (uint64_t[]){ b }, 1, 0);
	nr = find(&fs, &p, &v);
	assert_int_equal(nr, 2);
	assert_memory_equal(v[0].name, "app::main::{{closure}}@+0x", 26);
	assert_string_not_equal(v[0].name, v[1].name);
	release(fs, p, v, nr);
}

/* A type that is dropped is a guess, and none where another type is dropped by the same code. */
static void shared_glue_names_nobody(void **state)
{
	struct tokio_poll *v;
	struct functions *fs;
	struct places *p;
	uint64_t own, shared, body, job;
	size_t nr;

	made_init(&image, EM_X86_64);
	own = put_leaf("_ZN4core3ptr72drop_in_place$LT$tokio..runtime..task..core..Stage$LT$app.."
		       "Relay$GT$$GT$" HASH(1),
		       0x10);
	shared =
		put_leaf("_ZN4core3ptr72drop_in_place$LT$tokio..runtime..task..core..Stage$LT$app.."
			 "Other$GT$$GT$" HASH(2),
			 0x20);
	body = put_leaf("_ZN3app5login28_$u7b$$u7b$closure$u7d$$u7d$" HASH(3), 0x30);
	job = put_leaf("_ZN5tokio7runtime9scheduler12multi_thread6worker3run" HASH(4), 0x40);
	put(POLL(5), 0x50, (uint64_t[]){ own }, 1, 0);
	put(POLL(6), 0x60, (uint64_t[]){ shared }, 1, 0);
	put(POLL(7), 0x70, (uint64_t[]){ body, shared }, 2, 0);
	put(POLL(8), 0x80, (uint64_t[]){ job }, 1, 0);
	nr = find(&fs, &p, &v);
	assert_int_equal(nr, 4);
	assert_string_equal(at(v, nr, 0x50)->name, "app::Relay?");
	assert_int_equal(at(v, nr, 0x60)->named, TOKIO_BY_ADDRESS);
	assert_string_equal(at(v, nr, 0x70)->name, "app::login");
	assert_true(at(v, nr, 0x80)->is_job);
	assert_false(at(v, nr, 0x70)->is_job);
	release(fs, p, v, nr);
}

static void runs_are_known(void **state)
{
	assert_true(
		tokio_is_run("tokio::runtime::scheduler::multi_thread::worker::Context::run_task"));
	assert_true(tokio_is_run(
		"<tokio::runtime::scheduler::multi_thread::worker::Context>::run_task"));
	assert_true(tokio_is_run(
		"<tokio::runtime::scheduler::current_thread::Context>::run_task::<(), app::f>"));
	assert_false(tokio_is_run(
		"tokio::runtime::scheduler::multi_thread::worker::Context::run_task::{{closure}}"));
	assert_false(tokio_is_run("app::runtime::Context::run_task"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instances_are_named_by_the_body),
		cmocka_unit_test(equal_names_get_their_place),
		cmocka_unit_test(shared_glue_names_nobody),
		cmocka_unit_test(runs_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

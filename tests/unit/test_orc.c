/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The directory of made-up tables of a kernel: each address is found as among all entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "collect/orc.h"

#define NR   (3 * PROF_ORC_CHUNK + 77)
#define TEXT 0xffffffff81000000ull
#define IPS  0xffffffff83000004ull

struct kernel {
	struct prof_orc orc;
	uint64_t begins[NR];
	uint64_t text_end;
	uint32_t nr;
	uint8_t reg_sp;
	int fails_at, nr_reads;
};

static bool read_made(void *arg)
{
	struct kernel *k = arg;

	if (k->nr_reads++ == k->fails_at)
		return false;
	if (!k->orc.from) {
		k->orc.text = TEXT;
		k->orc.text_end = k->text_end;
		k->orc.ips = IPS;
		k->orc.ips_end = IPS + 4ull * k->nr;
		k->orc.entries = IPS + 4ull * k->nr;
		return true;
	}
	if (k->orc.from == k->orc.entries) {
		uint8_t *entry = (uint8_t *)k->orc.chunk;

		memset(entry, 0, sizeof(k->orc.chunk));
		for (size_t i = 0; i < sizeof(k->orc.chunk) / 6; i++)
			entry[6 * i + 4] = 0x10 | (i % 8 ? k->reg_sp : i / 8 % 16);
		return true;
	}
	for (uint64_t i = 0, at = k->orc.from; i < PROF_ORC_CHUNK; i++, at += 4) {
		assert_true(at >= IPS && at < IPS + 4ull * k->nr);
		k->orc.chunk[i] = (uint32_t)(k->begins[(at - IPS) / 4] - at);
	}
	return true;
}

/* Entries of 1 to most bytes; gap: now and then some KiB. */
static struct kernel *make(uint32_t nr, uint32_t most, bool gaps)
{
	struct kernel *k = xcalloc(1, sizeof(*k));
	uint64_t at = TEXT;

	srandom(7);
	k->nr = nr;
	k->reg_sp = 5;
	k->fails_at = -1;
	for (uint32_t i = 0; i < nr; i++) {
		k->begins[i] = at;
		at += 1 + random() % most;
		if (gaps && random() % 1000 == 0)
			at += random() % 10000;
	}
	k->text_end = at;
	return k;
}

/* As bpf/orc.bpf.c does it: among the entries that the directory leaves. */
static uint32_t find(const struct kernel *k, uint64_t pc)
{
	uint64_t page = (pc - TEXT) >> PROF_ORC_SHIFT;
	uint32_t at = k->orc.pages[page], last = k->orc.pages[page + 1];

	assert_true(last >= at && last < k->nr);
	while (at < last && k->begins[at + 1] <= pc)
		at++;
	return at;
}

static void check_all(const struct kernel *k)
{
	uint32_t truth = 0;

	assert_int_equal(k->orc.ready, 1);
	for (uint64_t pc = TEXT; pc < k->text_end; pc++) {
		while (truth + 1 < k->nr && k->begins[truth + 1] <= pc)
			truth++;
		if (find(k, pc) != truth)
			fail_msg("0x%llx", (unsigned long long)pc);
	}
}

static void test_each_address_is_found(void **state)
{
	static const struct {
		uint32_t nr, most;
		bool gaps;
	} cases[] = { { NR, 80, false },
		      { NR, 3, false },
		      { NR, 60, true },
		      { PROF_ORC_CHUNK, 90, true },
		      { PROF_ORC_CHUNK + 1, 40, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct kernel *k = make(cases[i].nr, cases[i].most, cases[i].gaps);

		assert_true(orc_fill(&k->orc, read_made, k));
		check_all(k);
		free(k);
	}
}

static void test_what_cannot_be_is_not_used(void **state)
{
	struct kernel *k = make(NR, 80, false);

	(void)state;
	for (int at = 0; at < 6; at++) { /* the kernel stops to answer */
		k->fails_at = at;
		k->nr_reads = 0;
		assert_false(orc_fill(&k->orc, read_made, k));
		assert_int_equal(k->orc.ready, 0);
	}
	k->fails_at = -1;
	k->begins[20000] = TEXT; /* not sorted */
	assert_false(orc_fill(&k->orc, read_made, k));
	free(k);
	k = make(NR, 80, false);
	k->text_end = TEXT + ((uint64_t)PROF_ORC_PAGES << PROF_ORC_SHIFT); /* too large */
	assert_false(orc_fill(&k->orc, read_made, k));
	k->text_end = TEXT;
	assert_false(orc_fill(&k->orc, read_made, k));
	k->text_end = TEXT + 100000;
	k->nr = PROF_ORC_CHUNK - 1;
	assert_false(orc_fill(&k->orc, read_made, k));
	assert_int_equal(k->orc.ready, 0);
	free(k);
}

static void test_registers_are_recognised(void **state)
{
	static const struct {
		uint8_t sp;
		uint32_t cfa;
	} cases[] = { { 5, 1 }, { 3, 8 }, { 4, 0 }, { 0, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct kernel *k = make(PROF_ORC_CHUNK, 40, false);

		k->reg_sp = cases[i].sp;
		assert_int_equal(orc_fill(&k->orc, read_made, k), cases[i].cfa != 0);
		assert_int_equal(k->orc.reg_cfa, cases[i].cfa);
		assert_int_equal(k->orc.ready, cases[i].cfa != 0);
		free(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_address_is_found),
		cmocka_unit_test(test_what_cannot_be_is_not_used),
		cmocka_unit_test(test_registers_are_recognised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

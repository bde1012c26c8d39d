/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places FILE [return]: where probes on all functions of a file would go, one line each:
 *
 *	ENTRY PLACE SKIPPED PRICE NAME INSTRUCTION
 *
 * in hexadecimal but for SKIPPED, and on the last line "table: n cheap at the entry, n moved, n
 * dear", with the milliseconds that reading and choosing took.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "uprobe/place.h"

static const char *const prices[] = {
	[PLACE_EMULATED] = "emulated",
	[PLACE_OPTIMISED] = "optimised",
	[PLACE_STEPPED] = "stepped",
	[PLACE_REFUSED] = "refused",
};

struct sums {
	size_t cheap, moved, dear;
};

static int list(struct places *p, const struct uprobe_function *f, unsigned int flags,
		struct sums *sums)
{
	struct place at;

	if (place_choose(p, f, flags, &at))
		return 1;
	if (at.price >= PLACE_STEPPED)
		sums->dear++;
	else if (at.skipped)
		sums->moved++;
	else
		sums->cheap++;
	printf("%lx %lx %u %s %s %s\n", f->address, at.address, at.skipped, prices[at.price],
	       f->name, at.insn);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t begin = now_ns(), opened;
	struct functions *fs = argc > 1 ? functions_open(argv[1]) : NULL;
	struct places *p = fs ? places_open(fs) : NULL;
	const struct uprobe_function *all;
	struct sums sums = {};
	size_t nr, bad = 0;

	if (!p) {
		fprintf(stderr, "places: cannot read %s\n", argc > 1 ? argv[1] : "FILE");
		return 1;
	}
	opened = now_ns();
	all = functions_all(fs, &nr);
	for (size_t i = 0; i < nr; i++)
		bad += list(p, &all[i], argc > 2 ? PLACE_RETURN : 0, &sums);
	printf("table: %zu cheap at the entry, %zu moved, %zu dear, %zu not decoded; ", sums.cheap,
	       sums.moved, sums.dear, bad);
	printf("%lu ms to read, %lu ms to choose\n", (opened - begin) / 1000000,
	       (now_ns() - opened) / 1000000);
	places_free(p);
	functions_free(fs);
	return 0;
}

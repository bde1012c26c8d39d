/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * place_price [CALLS]: what a call of a function of this program costs without a probe, with one at
 * its entry, and with one at the chosen place: "bare ENTRY PLACE" in nanoseconds, then the
 * instructions. Both probes must count every call.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "tests/e2e/uprobe_event.h"
#include "uprobe/place.h"

/* As compilers write the beginning of functions with landing pads. */
int place_price_target(int n);
#if defined(__x86_64__)
__asm__(".text\n.globl place_price_target\n.type place_price_target, @function\n"
	"place_price_target: endbr64\n push %rbp\n lea 1(%rdi), %eax\n pop %rbp\n ret\n"
	".size place_price_target, . - place_price_target\n");
#else
__asm__(".text\n.globl place_price_target\n.type place_price_target, %function\n"
	"place_price_target: mov w9, #1\n cbz w9, 1f\n1: add w0, w0, w9\n ret\n"
	".size place_price_target, . - place_price_target\n");
#endif

static double calls_ns(unsigned long nr)
{
	uint64_t begin = now_ns();
	int sum = 0;

	for (unsigned long i = 0; i < nr; i++)
		sum = place_price_target(sum);
	return (double)(now_ns() - begin) / nr;
}

static double probed_ns(uint64_t offset, unsigned long nr)
{
	int fd = uprobe_event_open("/proc/self/exe", offset, 0);
	double ns = calls_ns(nr);
	uint64_t hits = uprobe_event_hits(fd);

	if (hits != nr) {
		printf("%lu calls, %lu hits at 0x%lx\n", nr, hits, offset);
		exit(1);
	}
	return ns;
}

int main(int argc, char **argv)
{
	unsigned long nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
	struct uprobe_spec spec = { .kind = UPROBE_NAME, .function = "place_price_target" };
	struct functions *fs = functions_open("/proc/self/exe");
	struct places *p = fs ? places_open(fs) : NULL;
	struct uprobe_function *f;
	struct place place;
	size_t found;
	char *why;

	if (!p || functions_find(fs, &spec, &f, &found, &why) || found != 1 ||
	    place_choose(p, f, PLACE_RETURN, &place))
		return 2;
	printf("%.0f ", calls_ns(nr));
	printf("%.0f ", probed_ns(f->offset, nr));
	printf("%.0f %u skipped, %s\n", probed_ns(place.offset, nr), place.skipped, place.insn);
	free(f);
	places_free(p);
	functions_free(fs);
	return 0;
}

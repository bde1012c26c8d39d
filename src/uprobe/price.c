/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two functions, a counting event on each, and a clock. */
#include "uprobe/price.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define HITS	25
#define ROUNDS	16 /* of which the shortest counts: the thread may be preempted in others */
#define BURSTS	4  /* so far apart: what slows a CPU of a shared host lasts for some of them */
#define REST_NS 2000000
#define TYPE	"/sys/bus/event_source/devices/uprobe/type"
#define IMAGE	"/proc/self/exe"

void price_cheap(void);
void price_dear(void);

/* Their first instructions: one that every kernel emulates, and one that none does. */
#if defined(__x86_64__)
#define CHEAP "nop"
#define DEAR  "mov %eax, %eax"
#else
#define CHEAP "b 1f\n1:"
#define DEAR  "mov x9, x9"
#endif
__asm__(".text\n"
	".globl price_cheap\n.hidden price_cheap\n.type price_cheap, %function\n"
	"price_cheap: " CHEAP "\nret\n.size price_cheap, . - price_cheap\n"
	".globl price_dear\n.hidden price_dear\n.type price_dear, %function\n"
	"price_dear: " DEAR "\nret\n.size price_dear, . - price_dear\n");

/* Where an address of ours lies in the file; 0 = in none. */
static uint64_t file_offset(uint64_t address)
{
	unsigned long start, end, offset, found = 0;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    address >= start && address < end)
			found = address - start + offset;
	if (f)
		fclose(f);
	return found;
}

static int probe_type(void)
{
	FILE *f = fopen(TYPE, "re");
	int type = -1;

	if (f && fscanf(f, "%d", &type) != 1)
		type = -1;
	if (f)
		fclose(f);
	return type;
}

/* The counter of a probe on ourselves alone; < 0 = there are none. */
static int open_probe(int type, void (*function)(void))
{
	uint64_t offset = file_offset((uintptr_t)function);
	struct perf_event_attr attr = { .type = type,
					.size = sizeof(attr),
					.uprobe_path = (uintptr_t)IMAGE,
					.probe_offset = offset };

	if (type < 0 || !offset)
		return -1;
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t time_of(void (*function)(void))
{
	uint64_t start = now_ns();

	for (int i = 0; i < HITS; i++)
		function();
	return (now_ns() - start) / HITS;
}

static void look_again(uint64_t *least, void (*function)(void))
{
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t ns = time_of(function);

		if (!*least || ns < *least)
			*least = ns;
	}
}

struct price price_measure(void)
{
	int type = probe_type();
	int cheap = open_probe(type, price_cheap), dear = open_probe(type, price_dear);
	struct price price = {};

	for (int i = 0; i < BURSTS && (cheap >= 0 || dear >= 0); i++) {
		if (i)
			nanosleep(&(struct timespec){ .tv_nsec = REST_NS }, NULL);
		if (cheap >= 0)
			look_again(&price.emulated_ns, price_cheap);
		if (dear >= 0)
			look_again(&price.stepped_ns, price_dear);
	}
	if (cheap >= 0)
		close(cheap);
	if (dear >= 0)
		close(dear);
	return price;
}

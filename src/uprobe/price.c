/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two functions, a counting event on each, and a clock. */
#include "uprobe/price.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#define HITS   25
#define ROUNDS 16 /* of which the shortest counts: the thread may be preempted in others */
#define TYPE   "/sys/bus/event_source/devices/uprobe/type"
#define IMAGE  "/proc/self/exe"

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

/* The counter of a probe on ourselves alone. */
static int open_probe(int type, uint64_t offset)
{
	struct perf_event_attr attr = { .type = type,
					.size = sizeof(attr),
					.uprobe_path = (uintptr_t)IMAGE,
					.probe_offset = offset };

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t time_of(void (*function)(void))
{
	uint64_t start = now_ns();

	for (int i = 0; i < HITS; i++)
		function();
	return (now_ns() - start) / HITS;
}

static uint64_t price_of(int type, void (*function)(void))
{
	uint64_t offset = file_offset((uintptr_t)function), least = UINT64_MAX, ns;
	int fd = type < 0 || !offset ? -1 : open_probe(type, offset);

	if (fd < 0)
		return 0;
	for (int i = 0; i < ROUNDS; i++) {
		ns = time_of(function);
		least = ns < least ? ns : least;
	}
	close(fd);
	return least;
}

struct price price_measure(void)
{
	int type = probe_type();

	return (struct price){ price_of(type, price_cheap), price_of(type, price_dear) };
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * place_steps FILE PROGRAM ARGS...: runs PROGRAM, of one thread, with breakpoints at the entry E
 * and at the chosen place P of all functions of FILE where the two differ. Whoever passes E must
 * come to P next, and nobody may come to P otherwise; then the registers that hold arguments, the
 * stack pointer and the return address are what they were at E. After LIMIT calls a function is
 * left alone. Prints a line for each mistake,
 *
 *	ran ENTRY COUNT NAME		for each function that ran
 *	N functions moved, N of them ran N times, N mistakes
 *
 * and exits with 1 when there are mistakes. Linux on x86-64 only.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uprobe/place.h"

#define LIMIT 200

#if defined(__x86_64__)

struct call {
	const struct uprobe_function *function;
	struct place place;
	struct user_regs_struct at_entry;
	uint64_t return_address;
	uint64_t count;
	bool pending; /* at E, not yet at P */
};

/* A breakpoint: of the entry of one function, the place of one, or both. */
struct point {
	uint64_t address;
	struct call *entry, *place;
	uint8_t byte; /* what was there */
	bool set;
};

struct run {
	pid_t pid;
	int memory;
	uint64_t base; /* FILE's in the process */
	struct call *calls;
	size_t nr_calls;
	struct point *points;
	size_t nr_points;
	uint64_t mistakes;
};

static void die(const char *what)
{
	fprintf(stderr, "place_steps: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int compare_points(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	return p->address < q->address ? -1 : p->address > q->address;
}

static struct point *find_point(struct run *r, uint64_t address)
{
	struct point key = { .address = address };

	return bsearch(&key, r->points, r->nr_points, sizeof(key), compare_points);
}

static void point_set(struct run *r, struct point *p, bool on)
{
	uint8_t trap = 0xcc;

	if (on && pread(r->memory, &p->byte, 1, p->address) != 1)
		die("pread");
	if (pwrite(r->memory, on ? &trap : &p->byte, 1, p->address) != 1)
		die("pwrite");
	p->set = on;
}

/* Two points for each call; those of one address become one. */
static void make_points(struct run *r)
{
	struct point *all = calloc(2 * r->nr_calls, sizeof(*all));
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_calls; i++) {
		struct call *c = &r->calls[i];

		all[nr++] = (struct point){ r->base + c->function->address, .entry = c };
		all[nr++] = (struct point){ r->base + c->place.address, .place = c };
	}
	qsort(all, nr, sizeof(*all), compare_points);
	for (size_t i = 0; i < nr; i++) {
		struct point *last = r->nr_points ? &all[r->nr_points - 1] : NULL;

		if (last && last->address == all[i].address) {
			last->entry = last->entry ?: all[i].entry;
			last->place = last->place ?: all[i].place;
		} else {
			all[r->nr_points++] = all[i];
		}
	}
	r->points = all;
}

static void mistake(struct run *r, const struct call *c, const char *what)
{
	r->mistakes++;
	printf("%s at %" PRIx64 ", placed at %" PRIx64 " (%s): %s\n", c->function->name,
	       c->function->address, c->place.address, c->place.insn, what);
}

static uint64_t word_at(struct run *r, uint64_t address)
{
	uint64_t word = 0;

	if (pread(r->memory, &word, sizeof(word), address) != sizeof(word))
		die("pread of the stack");
	return word;
}

static bool same_arguments(const struct user_regs_struct *a, const struct user_regs_struct *b)
{
	return a->rdi == b->rdi && a->rsi == b->rsi && a->rdx == b->rdx && a->rcx == b->rcx &&
	       a->r8 == b->r8 && a->r9 == b->r9 && a->rax == b->rax && a->r10 == b->r10;
}

static void at_entry(struct run *r, struct call *c, const struct user_regs_struct *regs)
{
	if (c->pending)
		mistake(r, c, "entered again before the place was reached");
	if (c->count == LIMIT) {
		point_set(r, find_point(r, r->base + c->function->address), false);
		point_set(r, find_point(r, r->base + c->place.address), false);
		return;
	}
	c->pending = true;
	c->count++;
	c->at_entry = *regs;
	c->return_address = word_at(r, regs->rsp);
}

static void at_place(struct run *r, struct call *c, const struct user_regs_struct *regs)
{
	if (!c->pending)
		mistake(r, c, "somebody came here past the entry");
	else if (!same_arguments(&c->at_entry, regs))
		mistake(r, c, "an argument changed");
	else if (regs->rsp != c->at_entry.rsp || word_at(r, regs->rsp) != c->return_address)
		mistake(r, c, "the return address moved");
	c->pending = false;
}

static int wait_stop(struct run *r)
{
	int status;

	if (waitpid(r->pid, &status, 0) != r->pid)
		die("waitpid");
	return status;
}

/* Executes the instruction that the breakpoint stands on. */
static int step_over(struct run *r, struct point *p)
{
	bool was_set = p->set;
	int status;

	if (!was_set)
		return 0;
	point_set(r, p, false);
	if (ptrace(PTRACE_SINGLESTEP, r->pid, NULL, NULL))
		die("PTRACE_SINGLESTEP");
	status = wait_stop(r);
	if (WIFSTOPPED(status))
		point_set(r, p, true);
	return status;
}

/* The signal to deliver: 0 when it was one of our breakpoints. */
static int at_stop(struct run *r, int signal)
{
	struct user_regs_struct regs;
	struct point *p;
	int status;

	if (signal != SIGTRAP)
		return signal;
	if (ptrace(PTRACE_GETREGS, r->pid, NULL, &regs))
		die("PTRACE_GETREGS");
	p = find_point(r, regs.rip - 1);
	if (!p)
		return SIGTRAP;
	regs.rip--;
	if (ptrace(PTRACE_SETREGS, r->pid, NULL, &regs))
		die("PTRACE_SETREGS");
	if (p->place)
		at_place(r, p->place, &regs);
	if (p->entry)
		at_entry(r, p->entry, &regs);
	status = step_over(r, p);
	return WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP ? WSTOPSIG(status) : 0;
}

static uint64_t entry_of(pid_t pid)
{
	char path[64];
	Elf64_auxv_t v;
	uint64_t entry = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	f = fopen(path, "r");
	while (f && fread(&v, sizeof(v), 1, f) == 1)
		if (v.a_type == AT_ENTRY)
			entry = v.a_un.a_val;
	if (f)
		fclose(f);
	return entry;
}

/* Where the process has the beginning of FILE; its segments keep their distances. */
static uint64_t base_of(pid_t pid, const char *file, const struct elf_file *elf)
{
	char path[64], line[4096], *name;
	uint64_t start, offset, base = UINT64_MAX;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	while (f && base == UINT64_MAX && fgets(line, sizeof(line), f)) {
		name = strchr(line, '/');
		if (!name || strncmp(name, file, strlen(file)) || name[strlen(file)] != '\n')
			continue;
		if (sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64, &start, &offset) == 2 && !offset)
			base = elf->header.e_type == ET_EXEC ? 0 : start;
	}
	if (f)
		fclose(f);
	return base;
}

/* To the first instruction of the program itself: its libraries are there then. */
static void run_to_entry(struct run *r)
{
	struct user_regs_struct regs;
	struct point p = { .address = entry_of(r->pid) };

	point_set(r, &p, true);
	if (ptrace(PTRACE_CONT, r->pid, NULL, NULL) || !WIFSTOPPED(wait_stop(r)) ||
	    ptrace(PTRACE_GETREGS, r->pid, NULL, &regs))
		die("running to the entry");
	point_set(r, &p, false);
	regs.rip = p.address;
	if (ptrace(PTRACE_SETREGS, r->pid, NULL, &regs))
		die("PTRACE_SETREGS");
}

static void start(struct run *r, char **argv)
{
	char path[64];
	int null;

	r->pid = fork();
	if (!r->pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(null, 1);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (!WIFSTOPPED(wait_stop(r)))
		die(argv[0]);
	ptrace(PTRACE_SETOPTIONS, r->pid, NULL, PTRACE_O_EXITKILL);
	snprintf(path, sizeof(path), "/proc/%d/mem", r->pid);
	r->memory = open(path, O_RDWR);
	if (r->memory < 0)
		die(path);
}

static int run(struct run *r)
{
	int signal = 0, status;

	for (;;) {
		if (ptrace(PTRACE_CONT, r->pid, NULL, (void *)(uintptr_t)signal))
			die("PTRACE_CONT");
		status = wait_stop(r);
		if (!WIFSTOPPED(status))
			return status;
		signal = at_stop(r, WSTOPSIG(status));
	}
}

static void find_moved(struct run *r, struct places *p, const struct functions *fs)
{
	size_t nr;
	const struct uprobe_function *all = functions_all(fs, &nr);

	r->calls = calloc(nr, sizeof(*r->calls));
	for (size_t i = 0; i < nr; i++) {
		struct call *c = &r->calls[r->nr_calls];

		if (place_choose(p, &all[i], PLACE_RETURN, &c->place) || !c->place.skipped)
			continue;
		c->function = &all[i];
		r->nr_calls++;
	}
}

static int report(struct run *r, int status)
{
	size_t ran = 0;
	uint64_t hits = 0;

	for (size_t i = 0; i < r->nr_calls; i++) {
		struct call *c = &r->calls[i];

		if (c->pending)
			mistake(r, c, "entered and left past the place");
		if (!c->count)
			continue;
		printf("ran %" PRIx64 " %" PRIu64 " %s\n", c->function->address, c->count,
		       c->function->name);
		ran++;
		hits += c->count;
	}
	printf("%zu functions moved, %zu of them ran %" PRIu64 " times, %" PRIu64 " mistakes\n",
	       r->nr_calls, ran, hits, r->mistakes);
	if (status)
		fprintf(stderr, "place_steps: the program ended with status 0x%x\n", status);
	return r->mistakes || status ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct functions *fs = argc > 2 ? functions_open(argv[1]) : NULL;
	struct places *p = fs ? places_open(fs) : NULL;
	struct run r = {};

	if (!p)
		die("cannot read FILE");
	find_moved(&r, p, fs);
	start(&r, argv + 2);
	run_to_entry(&r);
	r.base = base_of(r.pid, argv[1], functions_file(fs));
	if (r.base == UINT64_MAX)
		die("the program has not mapped FILE");
	make_points(&r);
	for (size_t i = 0; i < r.nr_points; i++)
		point_set(&r, &r.points[i], true);
	return report(&r, run(&r));
}

#else

int main(void)
{
	fprintf(stderr, "place_steps: only for x86-64\n");
	return 77;
}

#endif

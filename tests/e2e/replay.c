/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* LDLIBS: -ldw -lelf */
/*
 * Walks the stacks that "perf record --call-graph dwarf" (or tests/e2e/recorder.c) has copied, on
 * the host, by the kernel's step and the tables that bpfprof makes:
 *
 *	replay compare FILE...	against libdw, frame by frame
 *	replay frames FILE...	prints "TIME TID END PC..." of each sample, sorted by time
 *
 *	--root DIR	the machine's files are below DIR: by path, else by name
 *	-v		show the last three kinds, too
 *	--spoil		one rule of each walk is wrong (the second frame's), to see that it is found
 *
 * compare prints "FILE samples N frames M identical K different D stubs S torn T lost L", and
 * before that the first different ones. Exit status 1 when any is. In the last three kinds both say
 * the same as far as one of them goes:
 *
 *   stubs	bpfprof knows code without call frame information (src/unwind/stubs.h)
 *   torn	libdw goes on to a frame that lies below the one before, and bpfprof does not: in
 *		the middle of a longjmp, stack and frame pointer are of two frames
 *   lost	bpfprof does not follow the register that leads on (bpf/table.h)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libelf.h>

#include "tests/e2e/stacks/libdw.h"
#include "tests/e2e/stacks/recording.h"
#include "unwind/rule.h"
#include "unwind/walk.h"

#define MAX_SHOWN 3 /* differences per recording */
#define MAX_ENTRY 33

static bool is_spoilt, is_verbose;

struct counts {
	size_t samples, frames, identical, different, stubs, torn, lost;
};

/* --- our walk --- */

struct looking {
	const struct recording *r;
	uint32_t nr;  /* rules so far */
	bool no_code; /* at the last address */
};

static bool look_up(void *arg, uint64_t pc, struct walk_rule *rule)
{
	struct looking *l = arg;
	enum table_arch arch = l->r->arch;
	const struct mapping *m = process_find(l->r->proc, pc);
	uint64_t vaddr;

	l->no_code = !m;
	rule->rule = rule_special(arch, m ? RULE_NONE : RULE_NO_CODE);
	rule->anon = m && !m->file;
	if (!m || !m->file || !m->file->table.words || m->file->table.arch != arch)
		return true;
	elf_file_vaddr(m->file->elf, pc - m->start + m->offset, &vaddr);
	rule->rule = table_rule(&m->file->table, vaddr);
	rule->exception = table_exception(&m->file->table, rule->rule);
	if (++l->nr == 2 && is_spoilt && !rule->exception)
		rule->rule ^= arch == TABLE_X86 ? 1 << 7 : 1 << 9;
	return true;
}

/* struct pt_regs of x86-64, by perf's numbers; that of aarch64 is in their order. */
static const uint8_t x86_entry[] = { 23, 22, 21, 20, 6, 1, 19, 18, 17, 16, 0,
				     2,	 3,  4,	 5,  0, 8, 10, 9,  7,  11 };

static void start_of(const struct recording *r, struct walk_start *start, uint64_t entry[MAX_ENTRY])
{
	const uint64_t *regs = r->sample.regs;
	bool is_x86 = r->arch == TABLE_X86;

	for (size_t i = 0; i < (is_x86 ? sizeof(x86_entry) : MAX_ENTRY); i++)
		entry[i] = regs[is_x86 ? x86_entry[i] : i];
	*start = (struct walk_start){
		.arch = r->arch,
		.pc = recording_reg(r, X86_IP, ARM64_PC),
		.sp = recording_reg(r, X86_SP, ARM64_SP),
		.fp = recording_reg(r, X86_BP, ARM64_FP),
		.lr = is_x86 ? 0 : regs[ARM64_LR],
		.pc_mask = is_x86 ? UINT64_MAX : ARM64_MASK,
		.regs = entry,
		.stack = r->sample.stack,
		.stack_bytes = r->sample.stack_bytes,
	};
}

static enum outcome outcome_of(const struct walk *w, const struct looking *l)
{
	switch (w->end) {
	case UNWIND_END_CFI_ROOT:
		return ROOT;
	case UNWIND_END_NO_CODE: /* or the return address is 0 */
		return l->no_code ? UNKNOWN_CODE : ROOT;
	case UNWIND_END_NO_CFI:
		return UNKNOWN_CODE;
	case UNWIND_END_DEPTH:
		return TOO_DEEP;
	default:
		return FAILED;
	}
}

static void walk_ours(const struct recording *r, struct walk *w, struct result *ours)
{
	struct looking l = { .r = r };
	struct walk_start start;
	uint64_t entry[MAX_ENTRY];

	start_of(r, &start, entry);
	walk_run(w, &start, PROF_MAX_FRAMES, CALL_GRAPH_DWARF, look_up, &l);
	memcpy(ours->frames, w->frames, w->nr * sizeof(*w->frames));
	ours->nr = w->nr;
	ours->end = outcome_of(w, &l);
}

/* --- comparing --- */

static void show_frame(const struct recording *r, const char *who, const struct result *res,
		       uint32_t i)
{
	const struct mapping *m = i < res->nr ? process_find(r->proc, res->frames[i]) : NULL;

	printf("   %s #%u", who, i);
	if (i >= res->nr)
		printf(" none\n");
	else
		printf(" %#" PRIx64 " %s+%#" PRIx64 "\n", res->frames[i],
		       m && m->file ? m->file->path : "?",
		       m ? res->frames[i] - m->start + m->offset : 0);
}

static void show(const struct recording *r, const struct walk *w, const struct result *ours,
		 const struct result *theirs, uint32_t same)
{
	static const char *const names[] = { "root", "unknown code", "failed", "too deep" };

	printf("%s: tid %u at %" PRIu64 ": ours %u frames, %s (%d); libdw %u, %s; stack %zu\n",
	       r->name, r->sample.tid, r->sample.time, ours->nr, names[ours->end], w->end,
	       theirs->nr, names[theirs->end], r->sample.stack_bytes);
	if (same)
		show_frame(r, "both ", ours, same - 1);
	show_frame(r, "ours ", ours, same);
	show_frame(r, "libdw", theirs, same);
}

static uint32_t count_same(const struct result *a, const struct result *b)
{
	uint32_t i = 0;

	while (i < a->nr && i < b->nr && a->frames[i] == b->frames[i])
		i++;
	return i;
}

static void compare(struct recording *r, void *arg)
{
	static struct result ours, theirs;
	static struct walk w;
	struct counts *counts = arg;
	size_t *kind = &counts->different;
	uint32_t same;

	walk_ours(r, &w, &ours);
	libdw_walk(r, &theirs);
	same = count_same(&ours, &theirs);
	if (same == ours.nr && same == theirs.nr && ours.end == theirs.end)
		kind = &counts->identical;
	else if (same == theirs.nr && theirs.end == UNKNOWN_CODE)
		kind = &counts->stubs;
	else if (same == ours.nr && w.end == UNWIND_END_BAD_CFA && theirs.goes_down)
		kind = &counts->torn;
	else if (same == ours.nr && w.end == UNWIND_END_LOST_REG)
		kind = &counts->lost;
	counts->samples++;
	counts->frames += same;
	if ((*kind)++ < (kind == &counts->different ? MAX_SHOWN : 0) ||
	    (is_verbose && kind != &counts->identical))
		show(r, &w, &ours, &theirs, same);
}

static void print_frames(struct recording *r, void *arg)
{
	static const char *const ends[] = {
#define X(name, key, text) key,
		UNWIND_ENDS(X)
#undef X
	};
	static struct result ours;
	static struct walk w;

	walk_ours(r, &w, &ours);
	printf("%" PRIu64 " %u %s", r->sample.time, r->sample.tid, ends[w.end]);
	for (uint32_t i = 0; i < w.nr; i++)
		printf(" %#" PRIx64, w.frames[i]);
	putchar('\n');
}

static bool replay(const char *name, const char *root, bool is_compare)
{
	struct recording r = { .name = name, .root = root };
	struct counts c = {};

	recording_open(&r);
	recording_for_each(&r, is_compare ? compare : print_frames, &c);
	if (is_compare)
		printf("%s samples %zu frames %zu identical %zu different %zu stubs %zu torn %zu "
		       "lost %zu\n",
		       name, c.samples, c.frames, c.identical, c.different, c.stubs, c.torn,
		       c.lost);
	libdw_forget();
	recording_close(&r);
	return !c.different;
}

int main(int argc, char **argv)
{
	bool is_compare = argc > 1 && !strcmp(argv[1], "compare"), ok = true;
	const char *root = NULL;
	int i = 2;

	for (; i < argc && argv[i][0] == '-'; i++)
		if (!strcmp(argv[i], "--spoil"))
			is_spoilt = true;
		else if (!strcmp(argv[i], "-v"))
			is_verbose = true;
		else if (!strcmp(argv[i], "--root") && i + 1 < argc)
			root = argv[++i];
	if (i >= argc || (!is_compare && strcmp(argv[1], "frames"))) {
		fprintf(stderr,
			"usage: replay compare|frames [--root DIR] [-v] [--spoil] FILE...\n");
		return 2;
	}
	elf_version(EV_CURRENT);
	for (; i < argc; i++)
		ok = replay(argv[i], root, is_compare) && ok;
	return !ok;
}

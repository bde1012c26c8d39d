/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * helpers: what the programs at the scheduler call, one line each: "PROGRAM HELPER". Taken from the
 * instructions as they are handed to the kernel, with all functions that they reach, whether or not
 * a configuration would use them. A look-up in the storage of a task that may create is called
 * task_storage_create.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/prof.h"
#include "bpf/table.h"
#include "bpf/alloc.h"
#include "bpf/calls.h"
#include "bpf/ops.h"
#include "bpf/thin.h"
#include "bpf/timeline.h"
#include "bpf/account.h"
#include "bpfprof.skel.h"

#define CALL   (BPF_JMP | BPF_CALL)
#define ABSENT 100000000u /* libbpf marks so what is not there on this kernel, or not created */

static const char *const names[] = {
#define NAME(name) #name
	__BPF_FUNC_MAPPER(NAME)
#undef NAME
};

/* The last value that a register was given before instruction i, -1 if that is no constant. */
static int constant(const struct bpf_insn *insns, size_t i, int reg)
{
	while (i-- > 0) {
		const struct bpf_insn *in = &insns[i];
		int class = BPF_CLASS(in->code);

		if (class != BPF_ALU64 && class != BPF_ALU && class != BPF_LDX && class != BPF_LD)
			continue;
		if (in->dst_reg != reg)
			continue;
		if (in->code == (BPF_ALU64 | BPF_MOV | BPF_K) ||
		    in->code == (BPF_ALU | BPF_MOV | BPF_K))
			return in->imm;
		return -1;
	}
	return -1;
}

static void print_calls(const char *program, const struct bpf_insn *insns, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		unsigned int helper = insns[i].imm;

		if (insns[i].code != CALL || insns[i].src_reg == BPF_PSEUDO_CALL ||
		    helper >= ABSENT)
			continue;
		if (insns[i].src_reg == BPF_PSEUDO_KFUNC_CALL)
			printf("%s kernel_function\n", program);
		else if (helper == BPF_FUNC_task_storage_get && constant(insns, i, 4) != 0)
			printf("%s task_storage_create\n", program);
		else
			printf("%s %s\n", program,
			       helper < sizeof(names) / sizeof(*names) ? names[helper] : "unknown");
	}
}

/* As much as can be, without the maps that need more than a size. */
static int load(struct bpfprof_bpf *skel)
{
	struct prof_config c = { .stacks = 1,
				 .remember = 1,
				 .max_depth = 127,
				 .call_graph = CALL_GRAPH_FP,
				 .stack_slots = 16,
				 .count_slots = 16,
				 .frame_words = 2048,
				 .nr_cpus = 1 };
	struct bpf_map *map;

	memcpy((void *)&skel->rodata->prof_cfg, &c, sizeof(c));
	bpf_object__for_each_map (map, skel->obj)
		if (!bpf_map__is_internal(map))
			bpf_map__set_autocreate(map, false);
	bpf_map__set_autocreate(skel->maps.stacks, true);
	bpf_map__set_autocreate(skel->maps.counts, true);
	bpf_map__set_autocreate(skel->maps.frames, true);
	bpf_map__set_autocreate(skel->maps.counters, true);
	bpf_map__set_autocreate(skel->maps.scratches, true);
	bpf_map__set_autocreate(skel->maps.threads, true);
	bpf_map__set_autocreate(skel->maps.shapes, true);
	bpf_map__set_autocreate(skel->maps.walk_times, true);
	bpf_map__set_max_entries(skel->maps.stacks, c.stack_slots);
	bpf_map__set_max_entries(skel->maps.counts, c.count_slots);
	bpf_map__set_max_entries(skel->maps.frames, c.frame_words);
	bpf_program__set_autoload(skel->progs.sched_switch, true);
	bpf_program__set_autoload(skel->progs.sched_wakeup, true);
	bpf_program__set_autoload(skel->progs.sched_fork, true);
	return bpfprof_bpf__load(skel);
}

int main(void)
{
	struct bpfprof_bpf *skel = bpfprof_bpf__open();
	struct bpf_program *program;

	if (!skel || load(skel))
		return 1;
	bpf_object__for_each_program (program, skel->obj)
		if (bpf_program__autoload(program))
			print_calls(bpf_program__name(program), bpf_program__insns(program),
				    bpf_program__insn_cnt(program));
	bpfprof_bpf__destroy(skel);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads what "perf record --call-graph dwarf" or tests/e2e/recorder.c have written, and follows
 * what each process had mapped when a sample was taken.
 */
#ifndef BPFPROF_STACKS_RECORDING_H
#define BPFPROF_STACKS_RECORDING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/table.h"

/* Registers by perf's number. */
#define MAX_REGS 64
#define X86_BP	 6
#define X86_SP	 7
#define X86_IP	 8
#define ARM64_FP 29
#define ARM64_LR 30
#define ARM64_SP 31
#define ARM64_PC 32 /* x86-64 has none of this number */

/* Signatures of return addresses lie above. */
#define ARM64_MASK ((1ull << 48) - 1)

struct file {
	char *path;
	int fd; /* -1: there is none to read */
	struct elf_file *elf;
	struct table table;
};

struct mapping {
	uint64_t start, end, offset;
	struct file *file; /* NULL: memory without one */
};

struct process {
	uint32_t pid;
	struct mapping *list;
	size_t nr, cap;
	uint64_t version; /* different for every list there ever was */
};

struct event {
	const struct perf_event_header *head;
	uint64_t time;
};

struct sample {
	uint32_t pid, tid;
	uint64_t time;
	uint64_t regs[MAX_REGS]; /* by perf's number */
	const uint8_t *stack;
	size_t stack_bytes;
	bool has_user;
};

struct recording {
	const char *name;
	const char
		*root; /* the machine's files are below: by path, else by name; NULL: this one's */
	uint8_t *bytes;
	size_t sz;
	struct perf_event_attr attr;
	enum table_arch arch;
	struct event *events; /* by time */
	size_t nr_events, cap_events;
	struct process **procs;
	size_t nr_procs, cap_procs;
	struct sample sample; /* the present one, and whose it is */
	struct process *proc;
};

/* name and root are set. What makes no sense ends the program. */
void recording_open(struct recording *r);
void recording_close(struct recording *r);

/* The samples that have user registers, by time. */
void recording_for_each(struct recording *r, void (*fn)(struct recording *r, void *arg), void *arg);

/* A register of the present sample by its number on either architecture. */
uint64_t recording_reg(const struct recording *r, int x86, int arm64);

/* NULL: nothing is mapped there. */
const struct mapping *process_find(const struct process *p, uint64_t pc);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a machine offers to bpfprof and what it lacks, row by row of one table (rows.c). doctor
 * shows them all; commands look at those that they need before they load anything, and a refusal
 * is the sentence that doctor shows for that row.
 */
#ifndef BPFPROF_DOCTOR_DOCTOR_H
#define BPFPROF_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "doctor/machine.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_LIMITED, /* bpfprof works, with less or with more noise */
	DOCTOR_MISSING, /* of rows that are needed: bpfprof refuses */
	DOCTOR_NR_STATES
};

/* What commands use of a machine. A row without any concerns all of them. */
enum doctor_use {
	USE_BPF = 1 << 0,     /* BPF programs */
	USE_PERF = 1 << 1,    /* perf events */
	USE_RECORD = 1 << 2,  /* processes by the kernel's numbers, and their files */
	USE_SAMPLE = 1 << 3,  /* stacks taken in interrupts */
	USE_COUNTER = 1 << 4, /* counters of the hardware */
	USE_PROBE = 1 << 5,   /* probes at functions of programs */
	USE_KPROBE = 1 << 6,  /* and of the kernel */
	USE_TRACE = 1 << 7,   /* tracepoints by name */
	USE_NAMES = 1 << 8,   /* names of functions */
	USE_FIGURES = 1 << 9, /* figures that are compared */
};

/* What a row came to. Texts may hold anything. */
struct finding {
	enum doctor_state state;
	char found[160];       /* the value */
	char consequence[640]; /* what is lost; "" = what the row says */
	char remedy[320];      /* the same of what to do */
};

struct doctor_row {
	const char *name, *group;
	const char *how;   /* where the value is from */
	unsigned int uses; /* of enum doctor_use, 0 = all */
	void (*look)(const struct machine *m, struct finding *f);
	bool needed;		/* else the worst that it can be is limited, … */
	unsigned int needed_by; /* … except for commands that use that */
	bool first;		/* takes microseconds: commands look at it before they start */
	bool about_rights;	/* who runs it lacks them, not the machine */
	bool overridden;	/* by --unsafe-kernel */
	bool of_sys;		/* what it lacks is not shown where /sys is not mounted */
	const char *consequence, *remedy; /* unless the finding says it */
};

/* The table. */
extern const struct doctor_row doctor_rows[];
extern const size_t doctor_nr_rows;

/* Looks at one row, and fills in what the finding left to it. */
void doctor_look(const struct doctor_row *row, const struct machine *m, struct finding *f);

/*
 * What a command uses; 0 and false for one that there is not. A command that records is not in the
 * table unless it uses something else than stacks taken in interrupts.
 */
bool doctor_uses(const char *command, unsigned int *uses);

/* Can who uses that not do without it? */
bool doctor_is_needed(const struct doctor_row *row, unsigned int uses);

/* Does a row concern who uses that? */
bool doctor_concerns(const struct doctor_row *row, unsigned int uses);

/*
 * The rows that come first. 0, or a negative errno after the sentence of the first one that is
 * missing: -EPERM where rights are, else -EOPNOTSUPP. unsafe_kernel: kernels that are known to be
 * bad are warned of only.
 */
int doctor_check(unsigned int uses, bool unsafe_kernel);
/* The same of a machine that was asked already, and of all rows of it that come first. */
int doctor_check_machine(const struct machine *m, unsigned int uses, bool unsafe_kernel);

const char *doctor_state_text(enum doctor_state state);

/* In look functions. */
__attribute__((format(printf, 2, 3))) void finding_found(struct finding *f, const char *fmt, ...);
__attribute__((format(printf, 3, 4))) void finding_judge(struct finding *f, enum doctor_state state,
							 const char *consequence, ...);
/* The number in a file. False where it is not shown, which is what was found then. */
bool finding_number(struct finding *f, const struct machine *m, const char *path, long *number);
__attribute__((format(printf, 2, 3))) void finding_remedy(struct finding *f, const char *fmt, ...);

#endif

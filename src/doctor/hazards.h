/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernels that are known to be bad for what bpfprof does, a row each, and what kernels do to the
 * instruction under a probe at a function of a program.
 */
#ifndef BPFPROF_DOCTOR_HAZARDS_H
#define BPFPROF_DOCTOR_HAZARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/utsname.h>

/* What is known of a kernel. */
struct hazards_host {
	unsigned int version; /* 6018 = 6.18 */
	unsigned int stable;  /* of 6.1.25 it is 25; 0 = not known, or none */
	bool x86, arm;
	bool amazon;	      /* of Amazon Linux 2023 */
	bool realtime;	      /* CONFIG_PREEMPT_RT */
	bool preemptible;     /* threads in the kernel give way to others, or that is not known */
	bool can_forbid;      /* programs can forbid it (bpf/kernel.bpf.h) */
	bool has_uprobe_call; /* the kernel makes calls of probes on long nops */
	bool debugs_ext4;     /* CONFIG_EXT4_DEBUG */
};
/* Probes: all of it, which takes some ms; else without the last three. */
struct hazards_host hazards_host_read(bool probes);
/* What uname() alone tells. */
struct hazards_host hazards_host_named(const struct utsname *u);

enum hazard_does {
	HAZARD_REFUSED, /* commands refuse, unless --unsafe-kernel */
	HAZARD_LISTED,	/* doctor shows it */
};

struct hazard {
	bool (*applies)(const struct hazards_host *h);
	unsigned int uses; /* of enum doctor_use: whom it hurts */
	enum hazard_does does;
	const char *text, *remedy;
};

/* The worst one that applies to who uses that; then those behind it. NULL = none. */
const struct hazard *hazards_find(const struct hazards_host *host, unsigned int uses,
				  const struct hazard *behind);

/* PLACE_KERNEL_* of uprobe/place.h. */
unsigned int hazards_place_flags(const struct hazards_host *host);

#endif

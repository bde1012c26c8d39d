/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which core this is: event tables and formulas are chosen by it. Read from below a root directory,
 * "/" but for tests, so that other machines can be looked at.
 */
#ifndef BPFPROF_EVENT_CORE_H
#define BPFPROF_EVENT_CORE_H

#include <stdint.h>

enum core_id {
	CORE_UNKNOWN,
	CORE_NEOVERSE_N1,
	CORE_NEOVERSE_V1,
	CORE_NEOVERSE_N2,
	CORE_NEOVERSE_V2,
	CORE_NEOVERSE_V3,
	CORE_SKYLAKE_X, /* and Cascade Lake */
	CORE_ICELAKE_X,
	CORE_SAPPHIRE_RAPIDS, /* and Emerald Rapids */
	CORE_GRANITE_RAPIDS,
	CORE_ZEN4,
	CORE_ZEN5,
	CORE_NR
};
/* Sets of cores, for tables. */
#define CORE_BIT(id) (1u << (id))

enum core_vendor { CORE_OTHER, CORE_ARM, CORE_INTEL, CORE_AMD };

struct core {
	enum core_id id;
	enum core_vendor vendor; /* known for unknown cores too */
	const char *name; /* "Neoverse N1"; static; of unknown cores "unknown Arm core" … */
	uint32_t implementer, part, variant, revision; /* Arm: fields of MIDR_EL1 */
	uint32_t family, model, stepping;	       /* x86 */
	uint32_t slots; /* operations per cycle that dispatch can take, 0 = not known */
	char ident[64]; /* "midr 0x414fd0c1" or "GenuineIntel 6-143-8": equal for equal cores */
	char cpu[96];	/* the model name of /proc/cpuinfo, or name */
};

/* Never fails: what cannot be read is CORE_UNKNOWN. slots is what sysfs says, else the table. */
void core_read(struct core *core, const char *root);

/* "Neoverse N1", of whatever core. */
const char *core_name(enum core_id id);

#endif

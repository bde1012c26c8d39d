/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arm cores tell their MIDR_EL1, in sysfs or field by field in /proc/cpuinfo; x86 cores vendor,
 * family and model, in /proc/cpuinfo. All of it may be masked by a hypervisor: then the core is not
 * known, and only what the kernel lists is offered.
 */
#include "event/core.h"

#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define IMPLEMENTER_ARM	      0x41
#define IMPLEMENTER_MICROSOFT 0x6d

static const struct {
	const char *name;
	uint32_t slots;
} cores[CORE_NR] = {
	[CORE_UNKNOWN] = { "unknown core", 0 },
	[CORE_NEOVERSE_N1] = { "Neoverse N1", 0 }, /* has no events of slots */
	[CORE_NEOVERSE_V1] = { "Neoverse V1", 8 },
	[CORE_NEOVERSE_N2] = { "Neoverse N2", 5 },
	[CORE_NEOVERSE_V2] = { "Neoverse V2", 8 },
	[CORE_NEOVERSE_V3] = { "Neoverse V3", 10 },
	[CORE_SKYLAKE_X] = { "Skylake-X", 4 },
	[CORE_ICELAKE_X] = { "Ice Lake", 5 },
	[CORE_SAPPHIRE_RAPIDS] = { "Sapphire Rapids", 6 },
	[CORE_GRANITE_RAPIDS] = { "Granite Rapids", 6 },
	[CORE_ZEN4] = { "Zen 4", 6 },
	[CORE_ZEN5] = { "Zen 5", 8 },
};

static const char *const unknown[] = {
	[CORE_OTHER] = "unknown core",
	[CORE_ARM] = "unknown Arm core",
	[CORE_INTEL] = "unknown Intel core",
	[CORE_AMD] = "unknown AMD core",
};

static const struct {
	uint32_t implementer, part;
	enum core_id id;
} arm_parts[] = {
	{ IMPLEMENTER_ARM, 0xd0c, CORE_NEOVERSE_N1 },
	{ IMPLEMENTER_ARM, 0xd40, CORE_NEOVERSE_V1 },
	{ IMPLEMENTER_ARM, 0xd49, CORE_NEOVERSE_N2 },
	{ IMPLEMENTER_MICROSOFT, 0xd49, CORE_NEOVERSE_N2 }, /* Azure Cobalt 100 */
	{ IMPLEMENTER_ARM, 0xd4f, CORE_NEOVERSE_V2 },
	{ IMPLEMENTER_ARM, 0xd84, CORE_NEOVERSE_V3 },
	{ IMPLEMENTER_ARM, 0xd83, CORE_NEOVERSE_V3 }, /* V3AE */
};

/* Ranges of models, inclusive; the first that fits. */
static const struct {
	enum core_vendor vendor;
	uint32_t family, from, to;
	enum core_id id;
} x86_models[] = {
	{ CORE_INTEL, 6, 85, 85, CORE_SKYLAKE_X },
	{ CORE_INTEL, 6, 106, 106, CORE_ICELAKE_X },
	{ CORE_INTEL, 6, 108, 108, CORE_ICELAKE_X },
	{ CORE_INTEL, 6, 143, 143, CORE_SAPPHIRE_RAPIDS },
	{ CORE_INTEL, 6, 207, 207, CORE_SAPPHIRE_RAPIDS },
	{ CORE_INTEL, 6, 173, 174, CORE_GRANITE_RAPIDS },
	{ CORE_AMD, 25, 0x10, 0x1f, CORE_ZEN4 },
	{ CORE_AMD, 25, 0x60, 0x7f, CORE_ZEN4 },
	{ CORE_AMD, 25, 0xa0, 0xaf, CORE_ZEN4 },
	{ CORE_AMD, 26, 0x00, 0x2f, CORE_ZEN5 },
	{ CORE_AMD, 26, 0x40, 0x4f, CORE_ZEN5 },
	{ CORE_AMD, 26, 0x60, 0x7f, CORE_ZEN5 },
};

const char *core_name(enum core_id id)
{
	return cores[id].name;
}

/* First line of a file; false if there is none. */
static bool read_line(const char *root, const char *path, char *line, size_t sz)
{
	char *full = xasprintf("%s%s", root, path);
	FILE *f = fopen(full, "re");
	bool ok = f && fgets(line, (int)sz, f);

	if (f)
		fclose(f);
	free(full);
	return ok;
}

/* A whole number that fits 32 bits, in C's notation. */
static bool number(const char *text, uint64_t max, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(text, &end, 0);
	return end > text && !errno && (!*end || *end == '\n') && *n <= max;
}

static void take_midr(struct core *core, uint32_t midr)
{
	core->vendor = CORE_ARM;
	core->implementer = midr >> 24;
	core->variant = midr >> 20 & 0xf;
	core->part = midr >> 4 & 0xfff;
	core->revision = midr & 0xf;
}

/* What of /proc/cpuinfo, up to the end of the first CPU, tells the core. */
struct cpuinfo {
	char vendor[32];
	char model_name[96];
	uint64_t numbers[8];
	bool is_arm;
};

enum {
	INFO_FAMILY,
	INFO_MODEL,
	INFO_STEPPING,
	INFO_IMPLEMENTER,
	INFO_VARIANT,
	INFO_PART,
	INFO_REV
};

static void take_info(struct cpuinfo *info, const char *key, const char *value)
{
	static const char *const keys[] = {
		[INFO_FAMILY] = "cpu family",	[INFO_MODEL] = "model",
		[INFO_STEPPING] = "stepping",	[INFO_IMPLEMENTER] = "CPU implementer",
		[INFO_VARIANT] = "CPU variant", [INFO_PART] = "CPU part",
		[INFO_REV] = "CPU revision",
	};
	uint64_t n;

	if (!strcmp(key, "vendor_id"))
		snprintf(info->vendor, sizeof(info->vendor), "%s", value);
	else if (!strcmp(key, "model name"))
		snprintf(info->model_name, sizeof(info->model_name), "%s", value);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(key, keys[i]) || !number(value, UINT32_MAX, &n))
			continue;
		info->numbers[i] = n;
		info->is_arm |= i >= INFO_IMPLEMENTER;
	}
}

static void read_info(struct cpuinfo *info, const char *root)
{
	char *path = xasprintf("%s/proc/cpuinfo", root), line[4096], *colon, *end;
	FILE *f = fopen(path, "re");

	free(path);
	while (f && fgets(line, sizeof(line), f) && *line != '\n') {
		colon = strchr(line, ':');
		if (!colon)
			continue;
		for (end = colon; end > line && (end[-1] == '\t' || end[-1] == ' ');)
			end--;
		*end = '\0';
		colon += 1 + (colon[1] == ' ');
		colon[strcspn(colon, "\n")] = '\0';
		take_info(info, line, colon);
	}
	if (f)
		fclose(f);
}

static void find_arm(struct core *core)
{
	for (size_t i = 0; i < sizeof(arm_parts) / sizeof(arm_parts[0]); i++)
		if (arm_parts[i].implementer == core->implementer &&
		    arm_parts[i].part == core->part)
			core->id = arm_parts[i].id;
	snprintf(core->ident, sizeof(core->ident), "midr 0x%08x",
		 core->implementer << 24 | core->variant << 20 | 0xfu << 16 | core->part << 4 |
			 core->revision);
}

static void find_x86(struct core *core, const struct cpuinfo *info)
{
	core->vendor = !strcmp(info->vendor, "GenuineIntel")   ? CORE_INTEL
		       : !strcmp(info->vendor, "AuthenticAMD") ? CORE_AMD
							       : CORE_OTHER;
	core->family = info->numbers[INFO_FAMILY];
	core->model = info->numbers[INFO_MODEL];
	core->stepping = info->numbers[INFO_STEPPING];
	for (size_t i = sizeof(x86_models) / sizeof(x86_models[0]); i-- > 0;)
		if (x86_models[i].vendor == core->vendor && x86_models[i].family == core->family &&
		    core->model >= x86_models[i].from && core->model <= x86_models[i].to)
			core->id = x86_models[i].id;
	snprintf(core->ident, sizeof(core->ident), "%s %u-%u-%u",
		 *info->vendor ? info->vendor : "unknown", core->family, core->model,
		 core->stepping);
}

/* Arm PMUs tell the width; 0, as under hypervisors, is "not known". */
static uint32_t read_slots(const char *root)
{
	char *pattern = xasprintf("%s/sys/bus/event_source/devices/armv[89]_*/caps/slots", root);
	uint64_t slots = 0, n;
	char line[64];
	glob_t found = {};

	if (!glob(pattern, 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc && !slots; i++)
			if (read_line("", found.gl_pathv[i], line, sizeof(line)) &&
			    number(line, 255, &n))
				slots = n;
	globfree(&found);
	free(pattern);
	return slots;
}

/* Whoever writes these names (firmware, a hypervisor), they are printed. */
static void take_name(struct core *core, const char *model_name)
{
	char *clean = text_cleaned(*model_name ? model_name : core->name);

	snprintf(core->cpu, sizeof(core->cpu), "%s", clean);
	free(clean);
}

void core_read(struct core *core, const char *root)
{
	struct cpuinfo info = {};
	uint64_t midr;
	char line[64];

	*core = (struct core){};
	read_info(&info, root);
	if (read_line(root, "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", line,
		      sizeof(line)) &&
	    number(line, UINT32_MAX, &midr)) {
		take_midr(core, midr);
	} else if (info.is_arm) {
		take_midr(core, info.numbers[INFO_IMPLEMENTER] << 24 |
					(info.numbers[INFO_VARIANT] & 0xf) << 20 |
					(info.numbers[INFO_PART] & 0xfff) << 4 |
					(info.numbers[INFO_REV] & 0xf));
	}
	if (core->vendor == CORE_ARM)
		find_arm(core);
	else
		find_x86(core, &info);
	core->name = core->id ? cores[core->id].name : unknown[core->vendor];
	core->slots = core->vendor == CORE_ARM ? read_slots(root) : 0;
	if (!core->slots)
		core->slots = cores[core->id].slots;
	take_name(core, info.model_name);
}

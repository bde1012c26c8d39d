/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Machines that we do not have: their files below /sys and /proc, as far as events go, written to a
 * directory of their own. Include behind cmocka.h.
 */
#ifndef BPFPROF_TESTS_UNIT_MACHINES_H
#define BPFPROF_TESTS_UNIT_MACHINES_H

#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEVICES "/sys/bus/event_source/devices/"
#define MIDR	"/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"

/* One line per file: its path, a blank, what is in it. "@" stands for the devices of sysfs. */
struct made_machine {
	const char *key;
	const char *files;
};

/* An Arm server with its PMU as ACPI names it. */
#define ARM_FILES(midr, slots, more)                                                               \
	MIDR " " midr "\n"                                                                         \
	     "@armv8_pmuv3_0/type 10\n"                                                            \
	     "@armv8_pmuv3_0/cpus 0-63\n"                                                          \
	     "@armv8_pmuv3_0/caps/slots " slots "\n"                                               \
	     "@armv8_pmuv3_0/format/event config:0-15\n"                                           \
	     "@armv8_pmuv3_0/format/long config1:0\n"                                              \
	     "@armv8_pmuv3_0/events/cpu_cycles event=0x0011\n"                                     \
	     "@armv8_pmuv3_0/events/inst_retired event=0x0008\n"                                   \
	     "@armv8_pmuv3_0/events/l1d_cache event=0x0004\n"                                      \
	     "@armv8_pmuv3_0/events/bus_cycles event=0x001d\n"                                     \
	     "@armv8_pmuv3_0/events/stall_frontend event=0x0023\n"                                 \
	     "@armv8_pmuv3_0/events/stall_backend event=0x0024\n"                                  \
	     "@armv8_pmuv3_0/events/br_mis_pred_retired event=0x0022\n"                            \
	     "@armv8_pmuv3_0/events/ll_cache_miss_rd event=0x0037\n"                               \
	     "@arm_spe_0/type 11\n"                                                                \
	     "@arm_spe_0/cpumask 0-63\n"                                                           \
	     "@arm_spe_0/format/ts_enable config:0\n"                                              \
	     "@arm_dsu_0/type 12\n"                                                                \
	     "@arm_dsu_0/cpumask 0\n"                                                              \
	     "@arm_dsu_0/format/event config:0-31\n"                                               \
	     "@arm_dsu_0/events/cycles event=0x11\n"                                               \
	     "@arm_dsu_0/events/l3d_cache_wb event=0x2c\n" more

#define SLOT_EVENTS                                                                                \
	"@armv8_pmuv3_0/events/op_retired event=0x003a\n"                                          \
	"@armv8_pmuv3_0/events/op_spec event=0x003b\n"                                             \
	"@armv8_pmuv3_0/events/stall_slot event=0x003f\n"                                          \
	"@armv8_pmuv3_0/events/stall_slot_backend event=0x003d\n"                                  \
	"@armv8_pmuv3_0/events/stall_slot_frontend event=0x003e\n"

#define CPUINFO(vendor, family, model, name)                                                       \
	"/proc/cpuinfo processor\t: 0|vendor_id\t: " vendor "|cpu family\t: " family               \
	"|model\t\t: " model "|model name\t: " name                                                \
	"|stepping\t: 8||processor\t: 1|model\t\t: 1\n"

#define X86_FORMAT(pmu, event)                                                                     \
	"@" pmu "/format/event " event "\n@" pmu "/format/umask config:8-15\n@" pmu                \
	"/format/edge config:18\n@" pmu "/format/inv config:23\n@" pmu                             \
	"/format/cmask config:24-31\n"

#define INTEL_PMU(pmu, type)                                                                       \
	"@" pmu "/type " type                                                                      \
	"\n" X86_FORMAT(pmu, "config:0-7") "@" pmu "/format/any config:21\n@" pmu                  \
					   "/format/frontend config1:0-23\n@" pmu                  \
					   "/format/ldlat config1:0-15\n@" pmu                     \
					   "/events/instructions event=0xc0\n@" pmu                \
					   "/events/cpu-cycles event=0x3c\n@" pmu                  \
					   "/events/cache-misses event=0x2e,umask=0x41\n"

#define TOPDOWN(pmu)                                                                               \
	"@" pmu "/events/slots event=0x00,umask=0x4\n@" pmu                                        \
	"/events/topdown-retiring event=0x00,umask=0x80\n"

/* Two controllers, and what looks like one. */
#define IMC                                                                                        \
	"@uncore_imc_0/type 20\n@uncore_imc_0/cpumask 0,32\n"                                      \
	"@uncore_imc_0/format/event config:0-7\n@uncore_imc_0/format/umask config:8-15\n"          \
	"@uncore_imc_0/events/cas_count_read event=0x04,umask=0x03\n"                              \
	"@uncore_imc_0/events/cas_count_read.scale 6.103515625e-5\n"                               \
	"@uncore_imc_0/events/cas_count_read.unit MiB\n"                                           \
	"@uncore_imc_10/type 21\n@uncore_imc_10/cpumask 0,32\n"                                    \
	"@uncore_imc_10/format/event config:0-7\n@uncore_imc_10/format/umask config:8-15\n"        \
	"@uncore_imc_10/events/cas_count_read event=0x04,umask=0x03\n"                             \
	"@uncore_imc_free_running_0/type 22\n@uncore_imc_free_running_0/cpumask 0\n"               \
	"@uncore_imc_free_running_0/format/event config:0-7\n"

#define AMD_PMU                                                                                    \
	"@cpu/type 4\n" X86_FORMAT("cpu", "config:0-7,32-35") "@cpu/events/cpu-cycles event=0x76\n"

#define AMD_UNCORE                                                                                 \
	"@amd_l3/type 13\n@amd_l3/cpumask 0,8\n@amd_l3/format/event config:0-7\n"                  \
	"@amd_l3/format/umask config:8-15\n"                                                       \
	"@amd_umc_0/type 14\n@amd_umc_0/cpumask 0\n@amd_umc_0/format/event config:0-7\n"           \
	"@amd_umc_0/format/rdwrmask config:8-9\n@amd_umc_1/type 15\n@amd_umc_1/cpumask 0\n"

#define AMD_FILES AMD_PMU AMD_UNCORE

#define MSR	 "@msr/type 9\n@msr/format/event config:0-63\n@msr/events/tsc event=0x00\n"
#define SOFTWARE "@software/type 1\n"

static const struct made_machine machines[] = {
	{ "n1", SOFTWARE ARM_FILES("0x00000000413fd0c1", "0x00000000", "") },
	{ "v1", SOFTWARE ARM_FILES("0x00000000411fd401", "0x00000008", SLOT_EVENTS) },
	{ "v1-vm", SOFTWARE ARM_FILES("0x00000000411fd401", "0x00000000", "") },
	{ "n2", SOFTWARE ARM_FILES("0x00000000410fd490", "0x00000005", SLOT_EVENTS) },
	{ "n2-r0p3", SOFTWARE ARM_FILES("0x00000000410fd493", "0x00000000", SLOT_EVENTS) },
	{ "cobalt", SOFTWARE ARM_FILES("0x000000006d0fd490", "0x00000005", SLOT_EVENTS) },
	{ "v2", SOFTWARE ARM_FILES("0x00000000410fd4f1", "0x00000008", SLOT_EVENTS) },
	{ "v3", SOFTWARE ARM_FILES("0x00000000411fd840", "0x0000000a", SLOT_EVENTS) },
	{ "v3ae", SOFTWARE ARM_FILES("0x00000000411fd830", "0x00000000", SLOT_EVENTS) },
	{ "arm", SOFTWARE ARM_FILES("0x00000000000f0510", "0x00000000", "") },
	/* Without the register in sysfs, as old kernels are. */
	{ "n1-cpuinfo",
	  "/proc/cpuinfo processor\t: 0|BogoMIPS\t: 243.75|CPU implementer\t: 0x41|"
	  "CPU architecture: 8|CPU variant\t: 0x3|CPU part\t: 0xd0c|CPU revision\t: 1\n" },
	{ "skx", SOFTWARE CPUINFO("GenuineIntel", "6", "85", "Intel(R) Xeon(R) Platinum 8175M")
			 INTEL_PMU("cpu", "4") IMC },
	{ "icx", SOFTWARE CPUINFO("GenuineIntel", "6", "106", "Intel(R) Xeon(R) Platinum 8375C")
			 INTEL_PMU("cpu", "4") TOPDOWN("cpu") },
	{ "spr", SOFTWARE CPUINFO("GenuineIntel", "6", "143", "Intel(R) Xeon(R) Platinum 8488C")
			 INTEL_PMU("cpu", "4") TOPDOWN("cpu") },
	{ "emr", SOFTWARE CPUINFO("GenuineIntel", "6", "207", "Intel(R) Xeon(R) Platinum 8592+")
			 INTEL_PMU("cpu", "4") },
	{ "gnr", SOFTWARE CPUINFO("GenuineIntel", "6", "173", "Intel(R) Xeon(R) 6972P")
			 INTEL_PMU("cpu", "4") TOPDOWN("cpu") },
	{ "zen4", SOFTWARE CPUINFO("AuthenticAMD", "25", "17", "AMD EPYC 9R14") AMD_FILES },
	{ "zen5", SOFTWARE CPUINFO("AuthenticAMD", "26", "2", "AMD EPYC 9R45") AMD_FILES },
	{ "zen3", SOFTWARE CPUINFO("AuthenticAMD", "25", "1", "AMD EPYC 7R13") AMD_FILES },
	{ "hybrid",
	  SOFTWARE CPUINFO("GenuineIntel", "6", "151", "12th Gen Intel(R) Core(TM) i9-12900K")
		  INTEL_PMU("cpu_core", "4") TOPDOWN("cpu_core") INTEL_PMU(
			  "cpu_atom", "10") "@cpu_core/cpus 0-15\n@cpu_atom/cpus 16-23\n" },
	/* A virtual machine without counters. */
	{ "none", SOFTWARE CPUINFO("GenuineIntel", "6", "143", "Intel(R) Xeon(R) Processor") MSR },
};
#define NR_MACHINES (sizeof(machines) / sizeof(machines[0]))

/* A file with all the directories above it; '|' ends a line of it. */
static inline void machine_put(const char *root, const char *path, const char *text)
{
	char full[4096];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s%s", root, *path == '@' ? DEVICES : "",
		 path + (*path == '@'));
	for (char *p = full + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(full, 0755);
	}
	/* Never through a link, which may lead to a file of the host. */
	assert_true(!unlink(full) || errno == ENOENT);
	f = fopen(full, "wxe");
	assert_non_null(f);
	for (; *text; text++)
		fputc(*text == '|' ? '\n' : *text, f);
	fputc('\n', f);
	assert_int_equal(fclose(f), 0);
}

static inline void machine_put_all(const char *root, const char *files)
{
	char *copy = strdup(files), *rest = copy, *line, *text;

	while ((line = strsep(&rest, "\n")) && *line) {
		text = strchr(line, ' ');
		assert_non_null(text);
		*text++ = '\0';
		machine_put(root, line, text);
	}
	free(copy);
}

static inline int machine_remove_one(const char *path, const struct stat *st, int type,
				     struct FTW *ftw)
{
	return remove(path);
}

/*
 * A new directory, to be freed by machine_remove(); in memory if it can be: machines have tens of
 * thousands of files, for which a busy disk takes minutes.
 */
static inline char *machine_new(void)
{
	const bool shm = !access("/dev/shm", W_OK);
	char *root =
		strdup(shm ? "/dev/shm/bpfprof-machine.XXXXXX" : "/tmp/bpfprof-machine.XXXXXX");

	assert_non_null(mkdtemp(root));
	return root;
}

static inline char *machine_make(const char *key)
{
	char *root = machine_new();

	for (size_t i = 0; i < NR_MACHINES; i++)
		if (!strcmp(machines[i].key, key)) {
			machine_put_all(root, machines[i].files);
			return root;
		}
	fail_msg("no machine '%s'", key);
	return NULL;
}

static inline void machine_remove(char *root)
{
	assert_int_equal(nftw(root, machine_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	free(root);
}

#endif

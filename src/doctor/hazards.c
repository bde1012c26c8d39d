/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of kernels that are known to be bad. */
#include "doctor/hazards.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <zlib.h>

#include "doctor/doctor.h"
#include "event/memory.h"
#include "uprobe/place.h"

#define VERSION(major, minor) ((major)*1000u + (minor))
#define PREEMPT_PATH	      "/sys/kernel/debug/sched/preempt"
#define TYPES_BYTES	      (16u << 20)
#define SYS_UPROBE	      336 /* x86-64, kernel >= 6.18 */

/*
 * kernel >= 6.13: runs of a program that preempt each other share one stack
 * (open-telemetry/opentelemetry-ebpf-instrumentation #3056). Kernels that cannot be preempted, and
 * programs that can forbid it, are safe.
 */
static bool shares_stacks(const struct hazards_host *h)
{
	return h->version >= VERSION(6, 13) && h->preemptible && !h->can_forbid;
}

/*
 * kernel 5.18 to 6.3: reading the memory of a program in an interrupt takes a lock that the
 * interrupted code may hold (parca-dev/parca-agent #1675: 6.1.25; cured by "mm: Fix
 * copy_from_user_nofault()"). Stable releases got the cure, with which number nobody has told us:
 * those up to the one reported are refused, and kernels that hide their number are not accused.
 */
static bool locks_up_reading(const struct hazards_host *h)
{
	return h->version == VERSION(6, 1) && h->stable && h->stable <= 25;
}

/* parca-dev/parca-agent #3112, one report without a cause. */
static bool oopses_walking(const struct hazards_host *h)
{
	return h->arm && h->amazon && h->version == VERSION(6, 12);
}

/*
 * kernel >= 6.18, x86-64, until it takes 10-byte nops (July 2026, which cannot be seen): the call
 * it makes of a probe on a 5-byte nop writes 8 bytes below the stack pointer.
 */
static bool writes_red_zones(const struct hazards_host *h)
{
	return h->has_uprobe_call;
}

/*
 * kernel < 6.15: while a thread gets its first state, no other thread on that CPU can get one
 * (bpf_task_storage_busy), and with PREEMPT_RT who gets it can be preempted there. Of 4,000 calls
 * 433 were lost in one run; in ten of twelve none.
 */
static bool loses_first_calls(const struct hazards_host *h)
{
	return h->realtime && !h->can_forbid;
}

/* kernel >= 6.16 built to debug ext4: fs/ext4/inode.c, ext4_check_map_extents_env(). */
static bool warns_of_ext4(const struct hazards_host *h)
{
	return h->version >= VERSION(6, 16) && h->debugs_ext4;
}

/* The worst ones first. */
static const struct hazard hazards[] = {
	{ shares_stacks, USE_PROBE, HAZARD_REFUSED,
	  "this kernel can preempt programs at probes, which then write over each other's stack: "
	  "under load it panics",
	  "it is cured in 6.15; booting with preempt=none avoids it" },
	{ locks_up_reading, USE_SAMPLE, HAZARD_REFUSED,
	  "this kernel can lock up when a sample reads the stack of a program in an interrupt",
	  "install a later 6.1 kernel" },
	{ oopses_walking, USE_SAMPLE, HAZARD_LISTED,
	  "a kernel of this line has crashed once while another profiler walked kernel stacks",
	  "on a host that must not fail, leave out kernel stacks (-U)" },
	{ loses_first_calls, USE_PROBE, HAZARD_LISTED,
	  "this kernel has PREEMPT_RT: while a thread whose first call is being noted is "
	  "preempted, first calls of others on that CPU are lost, and counted (no-thread-state)",
	  "record for longer; from 6.15 on programs forbid it" },
	{ writes_red_zones, USE_PROBE, HAZARD_LISTED,
	  "a probe on a 5-byte nop that is no function's entry writes over local variables of the "
	  "program here",
	  "bpfprof places none there; other tools do" },
	{ warns_of_ext4, USE_PROBE, HAZARD_LISTED,
	  "this kernel debugs ext4: starting a program from ext4 while it is probed prints a "
	  "warning (ext4_check_map_extents_env), once",
	  "it does no harm; CONFIG_EXT4_DEBUG prints it" },
};

const struct hazard *hazards_find(const struct hazards_host *host, unsigned int uses,
				  const struct hazard *behind)
{
	for (size_t i = behind ? behind - hazards + 1 : 0; i < sizeof(hazards) / sizeof(*hazards);
	     i++)
		if (hazards[i].uses & uses && hazards[i].applies(host))
			return &hazards[i];
	return NULL;
}

/* "none voluntary (full) lazy": the one in brackets. Without debugfs the kernel's own name. */
static bool is_preemptible(const struct utsname *u)
{
	char modes[128] = "";
	FILE *f = fopen(PREEMPT_PATH, "re");

	if (f) {
		if (!fgets(modes, sizeof(modes), f))
			modes[0] = '\0';
		fclose(f);
		return !strstr(modes, "(none)") && !strstr(modes, "(voluntary)");
	}
	return strstr(u->version, "PREEMPT") != NULL;
}

/* The kernel's types are some 10 MB once they are read: what has less left is killed for it. */
static bool can_read_types(void)
{
	struct memory_limit m;

	return !access(BTF_PATH, R_OK) &&
	       (!memory_limit_read("", &m) || m.free_bytes >= TYPES_BYTES);
}

/* As bpf/kernel.bpf.h decides it. Where no types are shown nothing is loaded, nor accused. */
static bool can_forbid(void)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL); /* another row says what is wrong */
	struct btf *btf = can_read_types() ? btf__load_vmlinux_btf() : NULL;
	bool yes = !btf || (btf__find_by_name_kind(btf, "bpf_res_spin_lock", BTF_KIND_STRUCT) > 0 &&
			    btf__find_by_name_kind(btf, "bpf_preempt_disable", BTF_KIND_FUNC) > 0);

	btf__free(btf);
	libbpf_set_print(print);
	return yes;
}

/* "CONFIG_EXT4_DEBUG=y", in a file that may be compressed. */
static bool has_option(const char *path, const char *option)
{
	gzFile f = gzopen(path, "rbe");
	size_t len = strlen(option);
	char line[256];
	bool found = false;

	while (f && !found && gzgets(f, line, sizeof(line)))
		found = !strncmp(line, option, len) && !strcmp(line + len, "=y\n");
	if (f)
		gzclose(f);
	return found;
}

static bool debugs_ext4(const struct utsname *u)
{
	char path[sizeof(u->release) + 16];

	snprintf(path, sizeof(path), "/boot/config-%s", u->release);
	return has_option("/proc/config.gz", "CONFIG_EXT4_DEBUG") ||
	       has_option(path, "CONFIG_EXT4_DEBUG");
}

/* Debian's release has no third number ("6.1.0-13-amd64"); its version has ("Debian 6.1.55-1"). */
static unsigned int stable_of(const struct utsname *u)
{
	const char *debian = strstr(u->version, "Debian ");
	unsigned int stable = 0;

	if (!debian || sscanf(debian, "Debian %*u.%*u.%u", &stable) != 1)
		sscanf(u->release, "%*u.%*u.%u", &stable);
	return stable;
}

struct hazards_host hazards_host_named(const struct utsname *u)
{
	struct hazards_host h = { .preemptible = true };
	unsigned int major = 0, minor = 0;

	if (sscanf(u->release, "%u.%u", &major, &minor) == 2)
		h.version = VERSION(major, minor);
	h.stable = stable_of(u);
	h.x86 = !strcmp(u->machine, "x86_64");
	h.arm = !strcmp(u->machine, "aarch64");
	h.realtime = strstr(u->version, "PREEMPT_RT") != NULL;
	h.amazon = strstr(u->release, ".amzn2023") != NULL;
	return h;
}

struct hazards_host hazards_host_read(bool probes)
{
	struct hazards_host h = { .preemptible = true };
	struct utsname u;

	if (uname(&u))
		return h;
	h = hazards_host_named(&u);
	h.preemptible = is_preemptible(&u);
	if (!probes)
		return h;
	h.can_forbid = h.version >= VERSION(6, 13) && h.preemptible && can_forbid();
	h.has_uprobe_call = h.x86 && (syscall(SYS_UPROBE), errno) == ENXIO;
	h.debugs_ext4 = debugs_ext4(&u);
	return h;
}

/*
 * The call that the kernel makes of a 5-byte nop writes below the stack pointer, where leaf
 * functions keep data: PLACE_KERNEL_NOP5 has such places avoided. Which kernels make it of a
 * 10-byte nop instead is not known to any of their interfaces.
 */
unsigned int hazards_place_flags(const struct hazards_host *host)
{
	unsigned int flags = host->has_uprobe_call ? PLACE_KERNEL_NOP5 : 0;

	if (host->version >= (host->x86 ? VERSION(6, 16) : VERSION(6, 13)))
		flags |= PLACE_KERNEL_NOPS;
	return flags;
}

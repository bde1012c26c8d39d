/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of kernels that are bad for probes. */
#include "collect/hazards.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "base/log.h"
#include "uprobe/place.h"

#define VERSION(major, minor) ((major)*1000u + (minor))
#define PREEMPT_PATH	      "/sys/kernel/debug/sched/preempt"
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

static const struct hazard {
	bool (*applies)(const struct hazards_host *h);
	bool refused;
	const char *text;
} hazards[] = {
	{ shares_stacks, true,
	  "this kernel can preempt programs at probes, which then write over each other's stack: "
	  "under load it panics. It is cured in 6.15; booting with preempt=none avoids it" },
};

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

/* As bpf/kernel.bpf.h decides it. */
static bool can_forbid(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool yes = btf && btf__find_by_name_kind(btf, "bpf_res_spin_lock", BTF_KIND_STRUCT) > 0 &&
		   btf__find_by_name_kind(btf, "bpf_preempt_disable", BTF_KIND_FUNC) > 0;

	btf__free(btf);
	return yes;
}

struct hazards_host hazards_host_read(void)
{
	struct hazards_host h = { .preemptible = true };
	unsigned int major = 0, minor = 0;
	struct utsname u;

	if (uname(&u))
		return h;
	if (sscanf(u.release, "%u.%u", &major, &minor) == 2)
		h.version = VERSION(major, minor);
	h.x86 = !strcmp(u.machine, "x86_64");
	h.preemptible = is_preemptible(&u);
	h.can_forbid = h.version >= VERSION(6, 13) && h.preemptible && can_forbid();
	h.has_uprobe_call = h.x86 && (syscall(SYS_UPROBE), errno) == ENXIO;
	return h;
}

int hazards_check(const struct hazards_host *host, bool force)
{
	for (size_t i = 0; i < sizeof(hazards) / sizeof(*hazards); i++) {
		if (!hazards[i].applies(host))
			continue;
		if (hazards[i].refused && !force)
			return log_as(-EOPNOTSUPP, "%s (--force probes all the same)",
				      hazards[i].text);
		log_warn("%s", hazards[i].text);
	}
	return 0;
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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows about what makes two measurements of the same thing differ. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/looks.h"
#include "proc/running.h"

#define CPUS	    "/sys/devices/system/cpu/"
#define STEAL_PCT   1.0
#define CHANGED_PCT 5.0 /* between the lowest and the highest frequency seen */
#define VM_NONE	    "none that it tells of"

void look_smt(const struct machine *m, struct finding *f)
{
	long on;

	if (!finding_number(f, m, CPUS "smt/active", &on))
		return;
	finding_found(f, "%s", on ? "on" : "off");
	if (on)
		f->state = DOCTOR_LIMITED;
}

/* Of all CPUs: how many have that governor, and one that is another. */
void look_governor(const struct machine *m, struct finding *f)
{
	char pattern[512], name[32], other[32] = "";
	size_t nr = 0, nr_other = 0;
	glob_t files;

	snprintf(pattern, sizeof(pattern), "%s" CPUS "cpu[0-9]*/cpufreq/scaling_governor", m->root);
	if (glob(pattern, 0, NULL, &files)) {
		finding_found(f, "none here");
		return;
	}
	for (; nr < files.gl_pathc; nr++) {
		machine_text(m, files.gl_pathv[nr] + strlen(m->root), name, sizeof(name));
		if (!strcmp(name, "performance"))
			continue;
		nr_other++;
		snprintf(other, sizeof(other), "%s", name);
	}
	globfree(&files);
	if (!nr_other) {
		finding_found(f, "performance");
		return;
	}
	finding_found(f, "%s on %zu of %zu CPUs", other, nr_other, nr);
	f->state = DOCTOR_LIMITED;
}

void look_turbo(const struct machine *m, struct finding *f)
{
	long no_turbo = 1, boost = 0;
	bool intel = machine_number(m, CPUS "intel_pstate/no_turbo", &no_turbo);
	bool any = machine_number(m, CPUS "cpufreq/boost", &boost) || intel;

	finding_found(f, "%s", !any ? "none here" : !no_turbo || boost ? "on" : "off");
	if (!no_turbo || boost)
		f->state = DOCTOR_LIMITED;
}

void look_frequency(const struct machine *m, struct finding *f)
{
	uint64_t low = m->moment.lowest, high = m->moment.highest;

	if (!low) {
		finding_found(f, "not shown");
		return;
	}
	finding_found(f, "%.0f to %.0f MHz", low / 1e3, high / 1e3);
	if (100.0 * (high - low) > CHANGED_PCT * high)
		f->state = DOCTOR_LIMITED;
}

void look_aslr(const struct machine *m, struct finding *f)
{
	long level;

	if (!finding_number(f, m, "/proc/sys/kernel/randomize_va_space", &level))
		return;
	finding_found(f, "%s", level ? "on" : "off");
	if (level)
		f->state = DOCTOR_LIMITED;
}

/* No measurement needs them; those that there are, somebody else must not disturb. */
void look_isolated(const struct machine *m, struct finding *f)
{
	char isolated[128], nohz[128];

	machine_text(m, CPUS "isolated", isolated, sizeof(isolated));
	machine_text(m, CPUS "nohz_full", nohz, sizeof(nohz));
	if (!strcmp(nohz, "(null)"))
		*nohz = '\0';
	if (!*isolated && !*nohz) {
		finding_found(f, "none");
		return;
	}
	finding_found(f, "%s%s%s%s%s", *isolated ? "isolated " : "", isolated,
		      *isolated && *nohz ? ", " : "", *nohz ? "nohz_full " : "", nohz);
	if (*nohz)
		f->state = DOCTOR_LIMITED;
}

static bool has_hypervisor_flag(const struct machine *m)
{
	char text[8192];

	machine_text(m, "/proc/cpuinfo", text, sizeof(text));
	return strstr(text, " hypervisor") != NULL;
}

void look_virtual_machine(const struct machine *m, struct finding *f)
{
	char name[64] = "";

	if (!machine_text(m, "/sys/hypervisor/type", name, sizeof(name)) || !*name)
		machine_text(m, "/sys/class/dmi/id/sys_vendor", name, sizeof(name));
	if (!has_hypervisor_flag(m) && !machine_has(m, "/sys/hypervisor/type")) {
		finding_found(f, "%s", *name ? name : VM_NONE);
		return;
	}
	finding_found(f, "yes%s%s", *name ? ", " : "", name);
	f->state = DOCTOR_LIMITED;
}

void look_steal(const struct machine *m, struct finding *f)
{
	finding_found(f, "%.1f%%", m->moment.steal_pct);
	if (m->moment.steal_pct >= STEAL_PCT)
		f->state = DOCTOR_LIMITED;
}

/* Those that a thread reads without a system call. */
void look_clock(const struct machine *m, struct finding *f)
{
	static const char *const fast[] = { "tsc", "arch_sys_counter", "kvm-clock",
					    "hyperv_clocksource_tsc_page" };
	char name[64];

	if (!machine_text(m, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
			  name, sizeof(name))) {
		finding_found(f, "not shown");
		return;
	}
	finding_found(f, "%s", name);
	for (size_t i = 0; i < sizeof(fast) / sizeof(*fast); i++)
		if (!strcmp(name, fast[i]))
			return;
	f->state = DOCTOR_LIMITED;
}

void look_load(const struct machine *m, struct finding *f)
{
	char text[64];
	double load;

	if (!machine_text(m, "/proc/loadavg", text, sizeof(text))) {
		finding_found(f, "not shown");
		return;
	}
	load = strtod(text, NULL);
	finding_found(f, "%.2f on %u CPUs", load, m->nr_cpus);
	if (m->nr_cpus && load > m->nr_cpus)
		f->state = DOCTOR_LIMITED;
}

/* Others --------------------------------------------------------------------------------------- */

#define FOUND_BYTES                                                                                \
	35 /* of names, so that the row fits a narrow terminal; there may be programs, too: */
#define PROGRAMS_BYTES 16

static const char *const tracers[] = {
	"perf",	     "bpftrace",     "bpfprof",	  "parca-agent",    "otelcol-ebpf",
	"falco",     "tetragon",     "sysdig",	  "pyroscope",	    "ebpf-profiler",
	"trace-cmd", "system-probe", "beyla",	  "coroot-node-ag", "strace",
	"vtune",     "numatop",	     "turbostat", "offcputime",	    "stapio",
};

static bool is_tracer(const struct running *r, const struct running_process *p)
{
	const struct running_process *parent = running_find(r, p->parent);

	/* Helpers of one are not told of. */
	if (parent && is_tracer(r, parent))
		return false;
	for (size_t i = 0; i < sizeof(tracers) / sizeof(*tracers); i++)
		if (running_is_named(p, tracers[i]))
			return true;
	return strstr(p->name, "-bpfcc") != NULL;
}

/* False: the cell is full. */
static bool add_tracer(char *names, size_t *at, size_t room, const struct running_process *p)
{
	char one[64];
	int len = snprintf(one, sizeof(one), "%s%s (%u)", *at ? ", " : "", p->name, p->pid);

	if (*at + len >= room)
		return false;
	memcpy(names + *at, one, len + 1);
	*at += len;
	return true;
}

void look_tracers(const struct machine *m, struct finding *f)
{
	char names[FOUND_BYTES] = "", programs[32] = "";
	struct running r;
	size_t at = 0, more = 0, room = FOUND_BYTES - (m->nr_programs ? PROGRAMS_BYTES : 0);

	running_read(&r, m->root);
	for (size_t i = 0; i < r.nr; i++)
		if (is_tracer(&r, &r.v[i]) && !add_tracer(names, &at, room, &r.v[i]))
			more++;
	running_release(&r);
	if (!at && !m->nr_programs) {
		finding_found(f, "none%s", m->may_ask ? "" : " that are known by their names");
		return;
	}
	if (m->nr_programs)
		snprintf(programs, sizeof(programs), "%s%u BPF programs", at ? ", " : "",
			 m->nr_programs);
	if (more)
		finding_found(f, "%s +%zu%s", names, more, programs);
	else
		finding_found(f, "%s%s", names, programs);
	f->state = DOCTOR_LIMITED;
}

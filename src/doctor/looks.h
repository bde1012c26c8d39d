/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions behind the rows of doctor (rows.c), by the file that they are in. */
#ifndef BPFPROF_DOCTOR_LOOKS_H
#define BPFPROF_DOCTOR_LOOKS_H

#include "doctor/doctor.h"

/* Of all rows that have nothing to say without one. */
#define NO_PMU                                                                                     \
	"this machine shows no hardware counters (virtual machines often do not): oncpu samples "  \
	"by cpu-clock, and stat counts software events only"
#define NO_PMU_REMEDY "use a larger instance, bare metal, or a hypervisor that passes the PMU on"

#define LOOK(name) void look_##name(const struct machine *m, struct finding *f)

/* kernel.c */
LOOK(kernel);
LOOK(architecture);
LOOK(known_bad);
LOOK(types);
LOOK(jit);
LOOK(lockdown);
LOOK(proc);
LOOK(tracefs);
LOOK(uprobes);
LOOK(kprobes);

/* rights.c */
LOOK(capabilities);
LOOK(other_capabilities);
LOOK(file_capabilities);
LOOK(user_namespace);
LOOK(pid_namespace);
LOOK(container);
LOOK(seccomp);
LOOK(bpf);
LOOK(perf);
LOOK(paranoid);
LOOK(kptr);
LOOK(unprivileged_bpf);

/* limits.c */
LOOK(open_files);
LOOK(locked_memory);
LOOK(address_space);
LOOK(cgroup_version);
LOOK(cgroup_memory);
LOOK(sample_rate);

/* pmu.c */
LOOK(pmu);
LOOK(counters);
LOOK(events);
LOOK(watchdog);
LOOK(branches);
LOOK(pseudo_nmi);

/* noise.c */
LOOK(smt);
LOOK(governor);
LOOK(turbo);
LOOK(frequency);
LOOK(aslr);
LOOK(isolated);
LOOK(virtual_machine);
LOOK(steal);
LOOK(clock);
LOOK(load);
LOOK(tracers);

/* names.c */
LOOK(dwarf);
LOOK(debug_files);
LOOK(debuginfod);
LOOK(busiest);
LOOK(runtimes);

#undef LOOK

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows about counters of the hardware: what there is, and what a trial of it came to. */
#include <stdio.h>
#include <string.h>

#include "doctor/looks.h"
#include "event/core.h"
#include "event/pmus.h"

#define FEW_COUNTERS 4 /* what metrics of one set need at once */

static const struct pmu *pmu_of(const struct machine *m)
{
	return m->catalog ? catalog_core_pmu(m->catalog) : NULL;
}

/* Rows that have nothing to say where there is no PMU. */
static bool has_none(const struct machine *m, struct finding *f)
{
	if (pmu_of(m))
		return false;
	finding_found(f, "no PMU");
	finding_judge(f, DOCTOR_LIMITED, NO_PMU);
	finding_remedy(f, NO_PMU_REMEDY);
	return true;
}

void look_pmu(const struct machine *m, struct finding *f)
{
	const struct pmu *p = pmu_of(m);
	const struct core *core = m->catalog ? catalog_core(m->catalog) : NULL;

	if (p) {
		finding_found(f, "%s, %s", p->name, core->name);
		return;
	}
	finding_found(f, "none (%s)", core ? core->cpu : "not looked at");
	f->state = DOCTOR_LIMITED;
}

void look_counters(const struct machine *m, struct finding *f)
{
	bool arm;

	if (has_none(m, f))
		return;
	arm = catalog_core(m->catalog)->vendor == CORE_ARM;
	finding_found(f, "%u free for any event%s", m->counters, arm ? ", and one for cycles" : "");
	if (m->counters >= FEW_COUNTERS)
		return;
	if (!m->counters)
		finding_judge(
			f, DOCTOR_LIMITED,
			"no counter is free, or none may be asked for: events are not counted");
	else
		finding_judge(f, DOCTOR_LIMITED,
			      "with %u counters the kernel takes turns: figures of stat are "
			      "extrapolated from parts of the time",
			      m->counters);
}

static bool counts(const struct machine_event *e)
{
	return e->state == TRIAL_COUNTS || e->state == TRIAL_USER_ONLY;
}

void look_events(const struct machine *m, struct finding *f)
{
	char missing[600] = ""; /* of all that are tried */
	size_t nr = 0, at = 0;

	if (has_none(m, f))
		return;
	for (size_t i = 0; i < m->nr_events; i++) {
		nr += counts(&m->events[i]);
		if (!counts(&m->events[i]) && at < sizeof(missing))
			at += snprintf(missing + at, sizeof(missing) - at, "%s%s (%s)",
				       at ? ", " : "", m->events[i].name,
				       trial_text(m->events[i].state));
	}
	finding_found(f, "%zu of %zu tried count", nr, m->nr_events);
	if (nr < m->nr_events)
		finding_judge(f, DOCTOR_LIMITED, "these do not count here: %s", missing);
}

void look_watchdog(const struct machine *m, struct finding *f)
{
	long on = 0;

	machine_number(m, "/proc/sys/kernel/nmi_watchdog", &on);
	finding_found(f, "%s", on ? "on" : "off");
	if (on && pmu_of(m))
		f->state = DOCTOR_LIMITED;
}

void look_branches(const struct machine *m, struct finding *f)
{
	const struct pmu *p = pmu_of(m);
	unsigned long long depth;

	if (has_none(m, f))
		return;
	depth = pmu_cap(p, "branches", 0);
	if (depth)
		finding_found(f, "%llu deep", depth);
	else
		finding_found(f, "none");
	if (!depth)
		f->state = DOCTOR_LIMITED;
}

/* On x86 the interrupts of counters are NMIs always. */
void look_pseudo_nmi(const struct machine *m, struct finding *f)
{
	char line[4096];
	bool on;

	if (strcmp(m->uts.machine, "aarch64")) {
		finding_found(f, "not needed on %s", m->uts.machine);
		return;
	}
	on = machine_text(m, "/proc/cmdline", line, sizeof(line)) &&
	     (strstr(line, "irqchip.gicv3_pseudo_nmi=1") ||
	      strstr(line, "irqchip.gicv3_pseudo_nmi=y"));
	finding_found(f, "%s", on ? "on" : "off");
	if (!on)
		f->state = DOCTOR_LIMITED;
}

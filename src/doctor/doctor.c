/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looking at rows, and what commands make of them. */
#include "doctor/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "profile/kind.h"

#define STACKS	(USE_BPF | USE_PERF | USE_RECORD | USE_NAMES)
#define SAMPLES (STACKS | USE_SAMPLE | USE_COUNTER | USE_FIGURES)

static const struct {
	const char *command;
	unsigned int uses;
} commands[] = {
	{ "oncpu", SAMPLES },
	{ "pmu", SAMPLES },
	{ "offcpu", STACKS },
	{ "runqlat", USE_BPF | USE_PERF | USE_RECORD },
	{ "sched", USE_BPF | USE_PERF | USE_RECORD },
	{ "timeline", STACKS },
	{ "wakeup", STACKS },
	{ "lock", STACKS },
	{ "syscalls", STACKS },
	{ "wall", STACKS | USE_SAMPLE },
	{ "top", STACKS | USE_SAMPLE },
	{ "agent", STACKS | USE_SAMPLE },
	{ "uprobe", STACKS | USE_PROBE },
	{ "polls", STACKS | USE_PROBE },
	{ "kprobe", STACKS | USE_KPROBE },
	{ "tracepoint", STACKS | USE_TRACE },
	{ "alloc", STACKS | USE_PROBE },
	{ "faults", STACKS | USE_TRACE },
	{ "io", STACKS },
	{ "stat", USE_PERF | USE_COUNTER | USE_FIGURES },
	{ "list", USE_PERF | USE_COUNTER },
	{ "report", USE_NAMES },
	{ "annotate", USE_NAMES },
	{ "diff", USE_FIGURES },
	{ "history", USE_FIGURES },
	{ "who", USE_RECORD },
};

bool doctor_uses(const char *command, unsigned int *uses)
{
	*uses = 0;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(commands[i].command, command))
			continue;
		*uses = commands[i].uses;
		return true;
	}
	if (*kind_of(command)->command)
		*uses = STACKS | USE_SAMPLE;
	return *uses;
}

bool doctor_concerns(const struct doctor_row *row, unsigned int uses)
{
	return !uses || !row->uses || row->uses & uses;
}

bool doctor_is_needed(const struct doctor_row *row, unsigned int uses)
{
	return row->needed || row->needed_by & uses;
}

/* Where it is, these are there whatever the kernel was built with. */
static bool shows_sys(const struct machine *m)
{
	return machine_has(m, "/sys/kernel") || machine_has(m, "/sys/devices") ||
	       machine_has(m, "/sys/bus");
}

void doctor_look(const struct doctor_row *row, const struct machine *m, struct finding *f)
{
	*f = (struct finding){ .state = DOCTOR_OK };
	row->look(m, f);
	if (f->state == DOCTOR_OK)
		return;
	if (!doctor_is_needed(row, m->uses))
		f->state = DOCTOR_LIMITED;
	if (row->of_sys && !shows_sys(m)) {
		finding_found(f, "not shown");
		finding_judge(f, f->state,
			      "/sys is not mounted here: the kernel's type information, probes and "
			      "counters are not shown");
		finding_remedy(f, "mount -t sysfs sysfs /sys");
	}
	if (!*f->consequence)
		snprintf(f->consequence, sizeof(f->consequence), "%s", row->consequence);
	if (!*f->remedy)
		snprintf(f->remedy, sizeof(f->remedy), "%s", row->remedy);
}

int doctor_check_machine(const struct machine *m, unsigned int uses, bool unsafe_kernel)
{
	struct finding f;

	for (size_t i = 0; i < doctor_nr_rows; i++) {
		const struct doctor_row *row = &doctor_rows[i];

		if (!row->first || !doctor_is_needed(row, uses) || !doctor_concerns(row, uses))
			continue;
		doctor_look(row, m, &f);
		if (f.state != DOCTOR_MISSING)
			continue;
		if (!unsafe_kernel || !row->overridden)
			return log_as(row->about_rights ? -EPERM : -EOPNOTSUPP, "%s: %s",
				      f.consequence, f.remedy);
		log_warn("%s", f.consequence);
	}
	return 0;
}

int doctor_check(unsigned int uses, bool unsafe_kernel)
{
	struct machine m;

	machine_ask(&m, uses & USE_PROBE);
	m.uses = uses;
	return doctor_check_machine(&m, uses, unsafe_kernel);
}

const char *doctor_state_text(enum doctor_state state)
{
	static const char *const texts[] = { "ok", "limited", "missing" };

	return texts[state];
}

void finding_found(struct finding *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(f->found, sizeof(f->found), fmt, args);
	va_end(args);
}

void finding_judge(struct finding *f, enum doctor_state state, const char *consequence, ...)
{
	va_list args;

	f->state = state;
	va_start(args, consequence);
	vsnprintf(f->consequence, sizeof(f->consequence), consequence, args);
	va_end(args);
}

void finding_remedy(struct finding *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(f->remedy, sizeof(f->remedy), fmt, args);
	va_end(args);
}

bool finding_number(struct finding *f, const struct machine *m, const char *path, long *number)
{
	if (machine_number(m, path, number))
		return true;
	finding_found(f, "not shown");
	return false;
}

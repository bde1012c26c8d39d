/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which capabilities a recording keeps when all is attached: those of the table (doctor/caps.c)
 * that its command still uses, for CPUs and processes that come later and for names at the end.
 * The nursery of readers was forked before, and has its own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "collect/record_parts.h"
#include "doctor/caps.h"
#include "doctor/doctor.h"
#include "event/host.h"
#include "reader/jail.h"

#define PARANOID 2 /* above it kernels of distributions ask for CAP_SYS_ADMIN */

static unsigned int needs_of(const struct record_opts *o)
{
	unsigned int needs = 0;

	if (o->foreign_folder || o->symbols.debuginfod)
		needs |= CAP_FOR_FOLDER;
	if (o->program)
		needs |= CAP_FOR_PROGRAM;
	if (host_sysctl("kernel/perf_event_paranoid", 0) > PARANOID)
		needs |= CAP_FOR_PARANOID;
	return needs;
}

void record_drop_rights(const struct record *r)
{
	unsigned int uses;
	uint64_t caps;
	char *text;
	int err;

	if (!doctor_uses(r->opts->command, &uses))
		return;
	caps = caps_kept(uses, needs_of(r->opts));
	err = jail_keep(caps);
	if (err) {
		log_warn("bpfprof keeps all its rights while it records: %s", strerror(-err));
		return;
	}
	text = caps_text(caps);
	log_info("of its capabilities it keeps at most %s", text);
	free(text);
}

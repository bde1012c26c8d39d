/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Giving up capabilities by the table. The nursery of readers, forked before, has its own. */
#include "collect/rights.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "doctor/caps.h"
#include "doctor/doctor.h"
#include "event/host.h"
#include "reader/jail.h"

#define PARANOID 2 /* above it kernels of distributions ask for CAP_SYS_ADMIN */

void rights_drop(const char *command, unsigned int uses, unsigned int needs)
{
	unsigned int own;
	uint64_t caps;
	char *text;
	int err;

	if (!doctor_uses(command, &own))
		return;
	if (host_sysctl("kernel/perf_event_paranoid", 0) > PARANOID)
		needs |= CAP_FOR_PARANOID;
	caps = caps_kept(own | uses, needs);
	err = jail_keep(caps);
	if (err) {
		log_warn("bpfprof keeps all its rights until it ends: %s", strerror(-err));
		return;
	}
	text = caps_text(caps);
	log_info("of its capabilities it keeps at most %s", text);
	free(text);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks of a recording before anything is loaded: the host, and who and what is to be recorded. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "collect/glob.h"
#include "collect/record_parts.h"
#include "doctor/doctor.h"
#include "event/cgroup.h"
#include "event/host.h"

/* Of probes it is asked before functions are looked for (src/cmd/uprobe.c). */
static int check_host(const struct record_opts *o)
{
	unsigned int uses;

	doctor_uses(o->command, &uses);
	return doctor_check(uses & ~USE_PROBE, o->unsafe_kernel);
}

static int check_ids(const struct opt_ids *ids, bool thread)
{
	int err = 0;

	for (size_t i = 0; i < ids->nr && !err; i++)
		err = host_check_pid(ids->v[i], thread);
	return err;
}

static int check_glob(struct record *r)
{
	int err = r->opts->comm ? glob_compile(&r->glob, r->opts->comm) : 0;

	if (err == -E2BIG)
		log_err(0, "-n '%s': too long, all patterns together may have 63 elements",
			r->opts->comm);
	else if (err == -ENOENT)
		log_err(0, "-n '%s': an empty name matches no thread", r->opts->comm);
	else if (err)
		log_err(0, "-n '%s': '[' without ']'", r->opts->comm);
	return err ? -EINVAL : 0;
}

int record_check(struct record *r)
{
	const struct record_opts *o = r->opts;
	int err = check_glob(r);

	if (!err)
		err = host_check_cpus(&o->cpus);
	if (!err)
		err = check_host(o);
	if (!err)
		err = check_ids(&o->pids, false);
	if (!err)
		err = check_ids(&o->tids, true);
	if (!err && o->cgroup) {
		r->cgroup_fd = cgroup_open(o->cgroup);
		err = r->cgroup_fd < 0 ? r->cgroup_fd : 0;
	}
	return err;
}

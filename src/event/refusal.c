/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The way out, by errno. */
#include "event/refusal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/log.h"
#include "base/mem.h"

static const struct {
	int error;
	const char *way_out;
} ways_out[] = {
	{ EPERM, "needs CAP_BPF and CAP_PERFMON or root; lockdown=confidentiality and container "
		 "seccomp profiles forbid it too" },
	{ EACCES,
	  "needs CAP_BPF and CAP_PERFMON or root; container seccomp profiles forbid it too" },
	{ ENOMEM, "lower --stack-mem, or raise the cgroup's memory limit" },
	{ EMFILE, "raise the limit of open files: ulimit -n" },
	{ ENFILE, "the host has too many open files: raise the sysctl fs.file-max" },
	{ ENOSPC, "it has no room for more: fewer events at a time" },
};

/* The kernel says less than it knows: what libbpf adds has the rest. */
static const char unknown[] = "-v shows why; a memory limit, ulimit -n or a container's seccomp "
			      "profile can be behind it";

static bool is_limited(int what)
{
	struct rlimit l;

	return !getrlimit(what, &l) && l.rlim_cur != RLIM_INFINITY;
}

bool refusal_memory_is_limited(void)
{
	return is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA);
}

const char *refusal_way_out(int err)
{
	if (err == -ENOMEM && refusal_memory_is_limited())
		return "raise the limits of memory, ulimit -v and -d, or lower --stack-mem";
	for (size_t i = 0; i < sizeof(ways_out) / sizeof(*ways_out); i++)
		if (ways_out[i].error == -err)
			return ways_out[i].way_out;
	return unknown;
}

int refusal_tell(int err, const char *what, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, what);
	if (vasprintf(&text, what, ap) < 0)
		text = xstrdup("cannot go on");
	va_end(ap);
	log_err(err, "%s (the kernel refused; %s)", text, refusal_way_out(err));
	free(text);
	return err == -EINVAL ? -EIO : err;
}

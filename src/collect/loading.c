/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libbpf often fails some steps after what was refused, with another error: without a map that it
 * could not create, say, a program is invalid. The first thing that it warned of is the cause, and
 * its error is still in errno while it warns.
 */
#include "collect/loading.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include <bpf/libbpf.h>

#include "base/log.h"
#include "base/pipes.h"
#include "event/refusal.h"

static int first_error;

/* Of these the way out is known. */
static int is_cause(int error)
{
	return error == EPERM || error == ENOMEM || error == EMFILE || error == ENFILE ||
	       error == ENOSPC;
}

static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	int nr;

	if (level == LIBBPF_WARN && !first_error)
		first_error = errno ? errno : EIO;
	if (log_verbosity < (level == LIBBPF_DEBUG ? 2 : 1))
		return 0;
	pipes_spare();
	nr = vfprintf(stderr, fmt, ap);
	pipes_spare_end();
	return nr;
}

void loading_begin(void)
{
	first_error = 0;
	errno = 0;
	libbpf_set_print(print_libbpf);
}

int loading_explain(int err)
{
	if (!is_cause(-err) && is_cause(first_error))
		err = -first_error;
	if (err == -ESRCH && refusal_memory_is_limited())
		err = -ENOMEM;
	if (err == -ESRCH) /* libbpf found none that it can read */
		return log_err(0, "the kernel's type information, /sys/kernel/btf/vmlinux, is "
				  "damaged: is something mounted over it? (findmnt)")
			       ?: -EIO;
	log_err(err, "the kernel refused to load the BPF programs (%s)", refusal_way_out(err));
	return err == -EINVAL ? -EIO : err;
}

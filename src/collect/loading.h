/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What libbpf says while it loads programs: shown with -v, and heard for the cause of a failure. */
#ifndef BPFPROF_COLLECT_LOADING_H
#define BPFPROF_COLLECT_LOADING_H

/* Before an object is opened and loaded. */
void loading_begin(void);

/*
 * Says why that failed, and the way out. Returns the cause: never -EINVAL, which would be a mistake
 * on the command line.
 */
int loading_explain(int err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The form of what standard output gets, as options choose it. */
#ifndef BPFPROF_CMD_FORM_H
#define BPFPROF_CMD_FORM_H

#include "cmd/results.h"

/* Chooses what other options need. */
void form_imply(struct results_opts *o);
/* Options that exclude each other: -EINVAL, logged. */
int form_check(const struct results_opts *o);
/* What is asked for and is in no form that it is to be shown in, the same. o->kind is known. */
int form_check_shown(const struct results_opts *o);
/* The output, NULL: by what standard output is. */
const char *form_name(const struct results_opts *o);
/* That results of this kind have no such form: -EINVAL, logged. */
int form_refuse(const struct results_opts *o);

#endif

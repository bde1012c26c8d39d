/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bytes as text (RFC 4648): requests in JSON carry profiles so. */
#ifndef BPFPROF_PUSH_BASE64_H
#define BPFPROF_PUSH_BASE64_H

#include <stddef.h>
#include <stdio.h>

void base64_put(FILE *out, const void *bytes, size_t len);

#endif

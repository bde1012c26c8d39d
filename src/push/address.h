/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where requests of an engine go, and what says to it who sends them. */
#ifndef BPFPROF_PUSH_ADDRESS_H
#define BPFPROF_PUSH_ADDRESS_H

#include "push/engines.h"

struct address {
	const struct engine *engine;
	char *url;
	char *ca_file, *cert_file, *key_file, *token_file; /* NULL = none */
	char *tenant;
	char **headers; /* "k: v", by OTEL_EXPORTER_OTLP_HEADERS */
	size_t nr_headers, cap_headers;
	uint64_t timeout_ns;
	bool plain; /* bodies of a Collector are not gzipped */
};

/* Of "pyroscope=URL". 0, or -EINVAL after a sentence. */
int address_init(struct address *a, const char *word, const struct push_opts *o);
void address_release(struct address *a);

/*
 * The token, NULL with *err 0 = there is none. Read whenever it is used, since others may change
 * it. Why a file gives none (trust_token) is logged.
 * Wipe it by trust_forget.
 */
char *address_token(const struct address *a, int *err);

#endif

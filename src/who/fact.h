/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a child that looks at a process finds out about it (who/visit.h): a value of a kind each. */
#ifndef BPFPROF_WHO_FACT_H
#define BPFPROF_WHO_FACT_H

#include <stddef.h>

/* Of facts that say the same, the first one counts. */
enum fact {
	FACT_SERVICE_VARIABLE,	/* OTEL_SERVICE_NAME */
	FACT_SERVICE_ATTRIBUTE, /* service.name in OTEL_RESOURCE_ATTRIBUTES */
	FACT_SERVICE_CONTEXT,	/* the same of the process context */
	FACT_SERVICE_DATADOG,	/* DD_SERVICE */
	FACT_VERSION_ATTRIBUTE, /* service.version */
	FACT_VERSION_CONTEXT,
	FACT_VERSION_DATADOG,
	FACT_ENVIRONMENT_ATTRIBUTE, /* deployment.environment.name */
	FACT_ENVIRONMENT_CONTEXT,
	FACT_ENVIRONMENT_DATADOG,
	/* Of the container, by the files of its runtime. */
	FACT_CONTAINER,
	FACT_IMAGE,
	FACT_POD,
	FACT_NAMESPACE,
	FACT_COMPOSE, /* service of docker compose, or of a swarm */
	/* Of its pod, by the folder of its logs. */
	FACT_POD_LOGS,
	FACT_NAMESPACE_LOGS,
	/* What the process sees of Kubernetes. */
	FACT_NAMESPACE_ACCOUNT,
	FACT_HOSTNAME,
	FACT_NR,
};

/* A value without a zero in it, of at most so many bytes. */
#define FACT_MAX_LEN 255
typedef void (*fact_fn)(void *arg, enum fact fact, const char *value, size_t len);

#endif

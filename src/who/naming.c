/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order of service names is that of OpenTelemetry's resources, then Datadog's variable, then
 * what the process runs in, then its program.
 */
#include "who/naming.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define SHORT_ID 12

static void set_clean(struct labels *to, const char *name, const char *value)
{
	char *clean;

	if (!value || !*value)
		return;
	clean = text_cleaned(value);
	labels_set(to, name, clean);
	free(clean);
}

static const char *first_of(const struct naming *n, const enum fact *facts, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (n->facts[facts[i]] && *n->facts[facts[i]])
			return n->facts[facts[i]];
	return NULL;
}
#define FIRST(n, ...)                                                                              \
	first_of(n, (const enum fact[]){ __VA_ARGS__ },                                            \
		 sizeof((const enum fact[]){ __VA_ARGS__ }) / sizeof(enum fact))

static const struct {
	enum fact fact;
	const char *from;
} services[] = {
	{ FACT_SERVICE_VARIABLE, "OTEL_SERVICE_NAME" },
	{ FACT_SERVICE_ATTRIBUTE, "OTEL_RESOURCE_ATTRIBUTES" },
	{ FACT_SERVICE_CONTEXT, "process context" },
	{ FACT_SERVICE_DATADOG, "DD_SERVICE" },
	{ FACT_COMPOSE, "compose" },
	{ FACT_CONTAINER, "container" },
};

static void set_service(struct labels *to, const char *name, const char *from)
{
	set_clean(to, "service_name", name);
	labels_set(to, "service_from", from);
}

static bool name_by_unit(const struct container_place *place, struct labels *to)
{
	size_t len = strlen(place->unit);
	char *name;

	if (!place->is_service)
		return false;
	if (len > strlen(".service") && !strcmp(place->unit + len - strlen(".service"), ".service"))
		len -= strlen(".service");
	name = xstrndup(place->unit, len);
	set_service(to, name, "unit");
	free(name);
	return true;
}

static void name_service(const struct naming *n, struct labels *to)
{
	const char *program = n->exe && *n->exe ? n->exe : n->comm;
	char *unknown;

	for (size_t i = 0; i < sizeof(services) / sizeof(*services); i++)
		if (n->facts[services[i].fact] && *n->facts[services[i].fact]) {
			set_service(to, n->facts[services[i].fact], services[i].from);
			return;
		}
	if (n->place->name[0]) {
		set_service(to, n->place->name, "container");
		return;
	}
	if (name_by_unit(n->place, to))
		return;
	if (n->is_kernel || !program || !*program) {
		set_service(to, n->is_kernel ? "kernel" : "unknown_service",
			    n->is_kernel ? "kernel" : "nothing");
		return;
	}
	unknown = xasprintf("unknown_service:%s", program);
	set_service(to, unknown, "program");
	free(unknown);
}

static void name_container(const struct naming *n, struct labels *to)
{
	const struct container_place *place = n->place;
	const char *name = FIRST(n, FACT_CONTAINER);
	char *id = xstrndup(place->id, SHORT_ID);

	set_clean(to, "container_id", place->id);
	set_clean(to, "container", name ? name : place->name[0] ? place->name : id);
	set_clean(to, "image", n->facts[FACT_IMAGE]);
	free(id);
}

/* A process outside of pods is in none, whatever its environment says. */
static void name_pod(const struct naming *n, struct labels *to)
{
	if (!n->place->pod_uid[0] && !n->facts[FACT_POD])
		return;
	set_clean(to, "pod_uid", n->place->pod_uid);
	set_clean(to, "pod", FIRST(n, FACT_POD, FACT_POD_LOGS, FACT_HOSTNAME));
	set_clean(to, "namespace",
		  FIRST(n, FACT_NAMESPACE, FACT_NAMESPACE_LOGS, FACT_NAMESPACE_ACCOUNT));
}

void naming_labels(const struct naming *n, struct labels *to)
{
	set_clean(to, "host", n->host);
	set_clean(to, "comm", n->comm);
	set_clean(to, "exe", n->exe);
	set_clean(to, "unit", n->place->unit);
	name_container(n, to);
	name_pod(n, to);
	set_clean(to, "version",
		  FIRST(n, FACT_VERSION_ATTRIBUTE, FACT_VERSION_CONTEXT, FACT_VERSION_DATADOG));
	set_clean(to, "environment",
		  FIRST(n, FACT_ENVIRONMENT_ATTRIBUTE, FACT_ENVIRONMENT_CONTEXT,
			FACT_ENVIRONMENT_DATADOG));
	name_service(n, to);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A row for each place: containerd 1.x and 2.x, CRI-O, podman, docker. Of the JSON a row's values
 * are looked up by their path, and nothing else of it is kept.
 */
#include "who/runtime_files.h"

#include <json-c/json.h>
#include <string.h>

#include "base/mem.h"

#define MAX_DEPTH 32

struct value_at {
	enum fact fact;
	const char *path[3];
};

static const struct value_at of_cri[] = {
	{ FACT_CONTAINER, { "annotations", "io.kubernetes.cri.container-name" } },
	{ FACT_IMAGE, { "annotations", "io.kubernetes.cri.image-name" } },
	{ FACT_POD, { "annotations", "io.kubernetes.cri.sandbox-name" } },
	{ FACT_NAMESPACE, { "annotations", "io.kubernetes.cri.sandbox-namespace" } },
	{ FACT_CONTAINER, { "annotations", "nerdctl/name" } },
	{}
};
static const struct value_at of_crio[] = {
	{ FACT_CONTAINER, { "annotations", "io.kubernetes.container.name" } },
	{ FACT_IMAGE, { "annotations", "io.kubernetes.cri-o.ImageName" } },
	{ FACT_POD, { "annotations", "io.kubernetes.pod.name" } },
	{ FACT_NAMESPACE, { "annotations", "io.kubernetes.pod.namespace" } },
	{ FACT_IMAGE, { "annotations", "io.podman.annotations.image" } },
	{}
};
static const struct value_at of_docker[] = {
	{ FACT_CONTAINER, { "Config", "Labels", "io.kubernetes.container.name" } },
	{ FACT_POD, { "Config", "Labels", "io.kubernetes.pod.name" } },
	{ FACT_NAMESPACE, { "Config", "Labels", "io.kubernetes.pod.namespace" } },
	{ FACT_COMPOSE, { "Config", "Labels", "com.docker.swarm.service.name" } },
	{ FACT_COMPOSE, { "Config", "Labels", "com.docker.compose.service" } },
	{ FACT_CONTAINER, { "Name" } },
	{ FACT_IMAGE, { "Config", "Image" } },
	{}
};

static const struct {
	const char *before, *behind; /* the id */
	const struct value_at *values;
} files[] = {
	{ "run/containerd/io.containerd.runtime.v2.task/k8s.io/", "/config.json", of_cri },
	{ "run/containerd/io.containerd.runtime.v2.task/default/", "/config.json", of_cri },
	{ "run/containers/storage/overlay-containers/", "/userdata/config.json", of_crio },
	{ "var/lib/containers/storage/overlay-containers/", "/userdata/config.json", of_crio },
	{ "var/lib/docker/containers/", "/config.v2.json", of_docker },
};
#define NR_FILES (sizeof(files) / sizeof(*files))

char *runtime_file_path(size_t i, const char *id)
{
	return i < NR_FILES ? xasprintf("%s%s%s", files[i].before, id, files[i].behind) : NULL;
}

static void tell_value(json_object *o, const struct value_at *v, fact_fn fn, void *arg)
{
	const char *text;
	size_t len;

	for (size_t i = 0; i < 3 && v->path[i]; i++)
		if (!json_object_is_type(o, json_type_object) ||
		    !json_object_object_get_ex(o, v->path[i], &o))
			return;
	if (!json_object_is_type(o, json_type_string))
		return;
	text = json_object_get_string(o);
	text += *text == '/' && v->fact == FACT_CONTAINER; /* docker's names have one */
	len = strlen(text);
	if (len)
		fn(arg, v->fact, text, len < FACT_MAX_LEN ? len : FACT_MAX_LEN);
}

void runtime_file_parse(size_t i, const char *text, size_t len, fact_fn fn, void *arg)
{
	json_tokener *t;
	json_object *o;

	if (i >= NR_FILES || len > RUNTIME_FILE_MAX_BYTES)
		return;
	t = json_tokener_new_ex(MAX_DEPTH);
	if (!t)
		return;
	o = json_tokener_parse_ex(t, text, (int)len);
	for (const struct value_at *v = files[i].values; o && v->path[0]; v++)
		tell_value(o, v, fn, arg);
	json_object_put(o);
	json_tokener_free(t);
}

/* Names of Kubernetes have no '_'. */
void runtime_log_folder(const char *folder, const char *pod_uid, fact_fn fn, void *arg)
{
	const char *pod = strchr(folder, '_'), *uid = strrchr(folder, '_');

	if (!pod || uid == pod || strcmp(uid + 1, pod_uid) || uid - folder > FACT_MAX_LEN)
		return;
	fn(arg, FACT_NAMESPACE_LOGS, folder, pod - folder);
	fn(arg, FACT_POD_LOGS, pod + 1, uid - pod - 1);
}

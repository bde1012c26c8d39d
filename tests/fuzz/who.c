/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What names processes: rules, and what control groups, environments, files of container runtimes
 * and processes themselves say. The first byte says which; of rules, labels that they apply to come
 * after a zero. What is found has no zero in it, and keeps to its length; labels keep their order.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/limits.h"
#include "who/container.h"
#include "who/environment.h"
#include "who/naming.h"
#include "who/process_context.h"
#include "who/relabel.h"
#include "who/runtime_files.h"

static struct naming naming;
static char *facts[FACT_NR];

static void keep(void *arg, enum fact fact, const char *value, size_t len)
{
	assert(fact >= 0 && fact < FACT_NR && len <= FACT_MAX_LEN);
	assert(!memchr(value, 0, len));
	free(facts[fact]);
	facts[fact] = strndup(value, len);
	naming.facts[fact] = facts[fact];
}

static void check_labels(const struct labels *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		assert(*l->v[i].name && *l->v[i].value);
		assert(!i || strcmp(l->v[i - 1].name, l->v[i].name) < 0);
	}
}

/* What was found of a process makes labels; frees it. */
static void check_facts(const struct container_place *place)
{
	struct labels l = {};

	naming.place = place;
	naming.comm = "comm";
	naming.exe = "exe";
	naming.host = "host";
	naming_labels(&naming, &l);
	check_labels(&l);
	labels_release(&l);
	for (size_t i = 0; i < FACT_NR; i++) {
		free(facts[i]);
		facts[i] = NULL;
		naming.facts[i] = NULL;
	}
}

static void check_rules(char *text, size_t len)
{
	const char *end = memchr(text, 0, len), *at = end ? end + 1 : text + len;
	char *error = NULL;
	struct labels l = {};
	struct relabel *r;

	r = relabel_parse(text, end ? (size_t)(end - text) : len, &error);
	if (!r) {
		assert(error && *error >= '0' && *error <= '9');
		free(error);
		return;
	}
	while (at < text + len) {
		char *name = strndup(at, text + len - at), *value;

		at += strlen(name) + 1;
		value = at < text + len ? strndup(at, text + len - at) : strdup("");
		at += strlen(value) + 1;
		if (*name)
			labels_set(&l, name, value);
		free(name);
		free(value);
	}
	relabel_apply(r, &l);
	check_labels(&l);
	relabel_sets(r, "service_name");
	labels_release(&l);
	relabel_free(r);
}

struct memory {
	const uint8_t *bytes;
	size_t sz;
};

static bool read_memory(void *arg, uint64_t address, void *to, size_t sz)
{
	const struct memory *m = arg;

	if (address > m->sz || sz > m->sz - address)
		return false;
	memcpy(to, m->bytes + address, sz);
	return true;
}

static void check_cgroup(const char *text, size_t len)
{
	struct container_place place;

	container_parse(text, len, &place);
	assert(memchr(place.id, 0, sizeof(place.id)) && memchr(place.name, 0, sizeof(place.name)));
	assert(memchr(place.pod_uid, 0, sizeof(place.pod_uid)));
	assert(memchr(place.unit, 0, sizeof(place.unit)));
	for (size_t i = 0; *place.id;) {
		char *path = runtime_file_path(i++, place.id);

		if (!path)
			break;
		assert(*path != '/' && !strstr(path, "../"));
		free(path);
	}
	check_facts(&place);
}

static void check_folder(char *text, size_t len)
{
	char *folder = strndup(text, len);
	size_t at = strlen(folder) + 1;
	char *uid = at < len ? strndup(text + at, len - at) : strdup("");

	runtime_log_folder(folder, uid, keep, NULL);
	free(folder);
	free(uid);
}

int fuzz_target(const uint8_t *data, size_t sz)
{
	static const struct container_place nowhere;
	struct memory memory;
	char *text;

	if (sz < 2)
		return 0;
	/* Of just that size, so that what is read behind it shows. */
	sz--;
	text = malloc(sz);
	memcpy(text, data + 1, sz);
	memory = (struct memory){ (uint8_t *)text, sz };
	switch (*data % 8) {
	case 0:
		check_rules(text, sz);
		break;
	case 1:
		check_cgroup(text, sz);
		break;
	case 2:
		environment_parse(text, sz, keep, NULL);
		break;
	case 3:
		environment_attributes(text, sz, keep, NULL);
		break;
	case 4:
		process_context_parse((uint8_t *)text, sz, keep, NULL);
		break;
	case 5:
		process_context_find(text, sz);
		process_context_get(0, read_memory, &memory, keep, NULL);
		break;
	case 6:
		check_folder(text, sz);
		break;
	default:
		runtime_file_parse(*data / 8 % 8, text, sz, keep, NULL);
	}
	check_facts(&nowhere);
	free(text);
	return 0;
}

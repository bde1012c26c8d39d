/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Asking the catalog of a machine that we do not have. Include behind cmocka.h. */
#ifndef BPFPROF_TESTS_UNIT_CATALOGS_H
#define BPFPROF_TESTS_UNIT_CATALOGS_H

#include <errno.h>
#include <fcntl.h>

#include "event/catalog.h"
#include "tests/unit/machines.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Machine and catalog, one at a time. */
static char *root;
static struct catalog *catalog;
static struct event *found;
static size_t nr_found;

static inline void forget(void)
{
	events_free(found, nr_found);
	found = NULL;
	nr_found = 0;
}

static inline void leave(void)
{
	forget();
	catalog_close(catalog);
	catalog = NULL;
	if (root)
		machine_remove(root);
	root = NULL;
}

static inline void enter_files(const char *files)
{
	leave();
	root = machine_new();
	machine_put_all(root, files);
	catalog = catalog_open(root);
	assert_non_null(catalog);
}

static inline void enter(const char *key)
{
	leave();
	root = machine_make(key);
	catalog = catalog_open(root);
	assert_non_null(catalog);
}

static inline int teardown(void **state)
{
	leave();
	return 0;
}

/* The only event of a name. */
static inline const struct event *one(const char *name)
{
	forget();
	assert_int_equal(catalog_find(catalog, name, &found, &nr_found), 0);
	assert_int_equal(nr_found, 1);
	return &found[0];
}

/* What is said while f runs; what went before stays in the buffer until the next call. */
static inline const char *said_of(int (*f)(const struct catalog *, const char *, struct event **,
					   size_t *),
				  const char *text, int err)
{
	static char said[4096];
	char path[] = "/tmp/bpfprof-said.XXXXXX";
	int to = mkstemp(path), old = dup(2), got;
	ssize_t sz;

	assert_true(to >= 0 && old >= 0);
	unlink(path);
	forget();
	dup2(to, 2);
	got = f(catalog, text, &found, &nr_found);
	dup2(old, 2);
	close(old);
	sz = pread(to, said, sizeof(said) - 1, 0);
	close(to);
	said[sz > 0 ? sz : 0] = '\0';
	assert_int_equal(got, err);
	if (err) {
		assert_int_equal(nr_found, 0);
		/* One sentence, one line. */
		assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	}
	return said;
}

static inline void refused(const char *name, int err, const char *part)
{
	const char *said = said_of(catalog_find, name, err);

	if (!strstr(said, part))
		fail_msg("'%s': '%s' is not in: %s", name, part, said);
	assert_false(catalog_has(catalog, name));
}

static inline void list_refused(const char *list, int err, const char *part)
{
	const char *said = said_of(catalog_find_list, list, err);

	if (!strstr(said, part))
		fail_msg("'%s': '%s' is not in: %s", list, part, said);
}

static inline void is(const char *name, uint32_t type, uint64_t config)
{
	const struct event *e = one(name);

	if (e->type != type || e->config != config)
		fail_msg("%s is %u:0x%llx, not %u:0x%llx", name, e->type,
			 (unsigned long long)e->config, type, (unsigned long long)config);
	assert_string_equal(e->name, name);
}

#endif

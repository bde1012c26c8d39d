/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The running kernel as a source of names for its own addresses, which it is asked for by many at
 * once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "symbol/ksym.h"
#include "symbol/source.h"

struct kernel {
	const struct symbol_module *module;
	struct prof_ksym batch[PROF_KSYM_BATCH];
	size_t first, nr; /* the module's addresses that batch holds */
	char text[sizeof(((struct prof_ksym *)NULL)->text)]; /* the last one, taken apart */
	int err;
};

static void *open_kernel(const struct symbol_module *m)
{
	struct kernel *k;

	if (!m->kernel || !m->kernel->ask)
		return NULL;
	k = xcalloc(1, sizeof(*k));
	k->module = m;
	return k;
}

static void ask(struct kernel *k, size_t first)
{
	const struct symbol_module *m = k->module;
	size_t left = m->nr - first;

	memset(k->batch, 0, sizeof(k->batch));
	k->first = first;
	k->nr = left < PROF_KSYM_BATCH ? left : PROF_KSYM_BATCH;
	for (size_t i = 0; i < k->nr; i++)
		k->batch[i].addr = m->addresses[first + i];
	k->err = m->kernel->ask(m->kernel->arg, k->batch, k->nr);
}

static const struct prof_ksym *in_batch(const struct kernel *k, uint64_t address)
{
	for (size_t i = 0; i < k->nr; i++)
		if (k->batch[i].addr == address)
			return &k->batch[i];
	return NULL;
}

static const struct prof_ksym *answer(struct kernel *k, uint64_t address)
{
	const struct prof_ksym *known = in_batch(k, address);

	if (known || k->first + k->nr == k->module->nr)
		return known;
	ask(k, k->first + k->nr);
	return in_batch(k, address);
}

static bool find(void *source, uint64_t address, struct symbol_found *found)
{
	struct kernel *k = source;
	const struct prof_ksym *known = answer(k, address);
	struct ksym sym;

	if (!known)
		return false;
	memcpy(k->text, known->text, sizeof(k->text));
	if (ksym_parse(k->text, &sym))
		found->chain[found->nr++].name = sym.name;
	found->module = sym.module;
	found->offset = sym.offset;
	return true;
}

static void close_kernel(void *source)
{
	struct kernel *k = source;

	if (k->err)
		log_info("no names of kernel functions: %s", strerror(-k->err));
	free(k);
}

const struct symbol_source_ops symbol_source_kernel = {
	"the running kernel", SYMBOL_NAMES, FRAME_KERNEL, open_kernel, find, close_kernel,
};

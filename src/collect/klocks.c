/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel says lies at the addresses of locks. */
#include "collect/klocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbol/ksym.h"

struct klock_names {
	char **v; /* by slot, NULL = no lock */
	size_t nr;
};

static const char *const places[] = {
	[KLOCK_ANYWHERE] = NULL,
	[KLOCK_MMAP] = "mmap_lock",
	[KLOCK_SIGNALS] = "siglock",
};

/* Where it belongs, or what is at its address. */
static char *name_of(struct session *s, const struct call_values *v)
{
	struct prof_ksym question = { .addr = v->value[0] };
	struct ksym sym;

	if (v->args < sizeof(places) / sizeof(*places) && places[v->args])
		return xstrdup(places[v->args]);
	if (session_ask_kernel(s, &question, 1) || !ksym_parse(question.text, &sym))
		return NULL;
	if (!sym.offset)
		return xstrdup(sym.name);
	return xasprintf("%s+0x%llx", sym.name, (unsigned long long)sym.offset);
}

struct klock_names *klock_names_new(struct session *s)
{
	const struct session_maps *m = session_maps(s);
	struct klock_names *n = xcalloc(1, sizeof(*n));
	unsigned int number = 0;

	n->nr = m->nr_call_values;
	n->v = xcalloc(n->nr + 1, sizeof(*n->v));
	for (size_t i = 0; i < n->nr; i++) {
		if (!m->call_values[i].ready)
			continue;
		n->v[i] = name_of(s, &m->call_values[i]);
		if (!n->v[i])
			n->v[i] = xasprintf("lock %u", ++number);
	}
	return n;
}

void klock_names_free(struct klock_names *n)
{
	for (size_t i = 0; n && i < n->nr; i++)
		free(n->v[i]);
	if (n)
		free(n->v);
	free(n);
}

const char *klock_name(const struct klock_names *n, uint32_t slot1)
{
	return slot1 && slot1 <= n->nr && n->v[slot1 - 1] ? n->v[slot1 - 1] : "";
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Equal names have equal numbers. */
#include "profile/module_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

void module_names_init(struct module_names *m, const struct profile *p)
{
	const char *name;

	*m = (struct module_names){ .of = xcalloc(p->nr_modules + 1, sizeof(*m->of)) };
	strings_init(&m->strings);
	for (size_t i = 0; i < p->nr_modules; i++) {
		name = text_base_name(profile_str(p, p->modules[i].path));
		m->of[i] = strings_add(&m->strings, name, strlen(name));
	}
}

void module_names_release(struct module_names *m)
{
	strings_release(&m->strings);
	free(m->of);
	*m = (struct module_names){};
}

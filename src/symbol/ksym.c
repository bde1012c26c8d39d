/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the end to the front: a name may hold anything, what follows it cannot. */
#include "symbol/ksym.h"

#include <stdlib.h>
#include <string.h>

bool ksym_parse(char *text, struct ksym *sym)
{
	char *module = strstr(text, " ["), *plus, *end;

	*sym = (struct ksym){ .module = "[kernel]" };
	if (module) {
		*module = '\0';
		if (strchr(module + 1, ']'))
			sym->module = module + 1;
	}
	plus = strrchr(text, '+');
	if (!plus || plus == text || !strncmp(text, "0x", 2))
		return false;
	sym->offset = strtoull(plus + 1, &end, 16);
	if (end == plus + 1 || *end != '/')
		return false;
	*plus = '\0';
	sym->name = text;
	return true;
}

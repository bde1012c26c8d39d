/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rules of naming.h, the same for files and for the kernel. */
#include "symbol/naming.h"

#include <string.h>

/*
 * AArch64 $x $d, 32-bit ARM $a $t $d $p; each may go on with '.'. RISC-V appends the instruction
 * set to $x.
 */
static bool is_mapping(const char *name)
{
	if (name[0] != '$' || !name[1] || !strchr("xdatp", name[1]))
		return false;
	return !name[2] || name[2] == '.' || (name[1] == 'x' && name[2] == 'r');
}

bool naming_is_marker(const char *name)
{
	return !name[0] || (name[0] == '.' && name[1] == 'L') || is_mapping(name);
}

int naming_compare(const char *a, const char *b)
{
	size_t underscores_a = strspn(a, "_"), underscores_b = strspn(b, "_");
	size_t len_a, len_b;

	if (underscores_a != underscores_b)
		return underscores_a < underscores_b ? -1 : 1;
	len_a = strlen(a);
	len_b = strlen(b);
	if (len_a != len_b)
		return len_a < len_b ? -1 : 1;
	return strcmp(a, b);
}

void naming_strip_version(char *name)
{
	char *at = strchr(name, '@');

	if (at && at > name)
		*at = '\0';
}

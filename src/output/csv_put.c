/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text as it may stand between commas. */
#include "output/csv_put.h"

#include <stdlib.h>

#include "base/text.h"

void csv_put(const char *s, FILE *out)
{
	char *safe = text_cleaned(s ? s : "");

	if (*safe)
		fputc('"', out);
	for (const char *c = safe; *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	if (*safe)
		fputc('"', out);
	free(safe);
}

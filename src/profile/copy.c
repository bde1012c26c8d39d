/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables copied as they are in memory: ids stay what they are. */
#include "profile/copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define COPY(field)                                                                                \
	do {                                                                                       \
		to->field = xcopy(from->field, from->nr_##field, sizeof(*from->field));            \
		to->nr_##field = to->cap_##field = from->nr_##field;                               \
	} while (0)

struct profile *profile_copy(struct profile *from, const char *nameless)
{
	uint32_t name = profile_string(from, nameless);
	struct profile *to = xcalloc(1, sizeof(*to));

	to->meta = from->meta;
	memcpy(to->counters, from->counters, sizeof(to->counters));
	strings_adopt(&to->strings, xcopy(from->strings.bytes, from->strings.len, 1),
		      from->strings.len);
	COPY(modules);
	profile_frames_copy(to, from, name);
	COPY(events);
	COPY(samples);
	COPY(threads);
	COPY(wakers);
	return to;
}

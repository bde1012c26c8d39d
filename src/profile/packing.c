/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is opened comes from outside; what its numbers mean is for profile/check.h to judge. */
#include "profile/packing.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/words.h"

void packing_init(struct packing *p, const char *strings, size_t len)
{
	size_t cap = 0;

	*p = (struct packing){ .strings = strings, .len = len };
	for (size_t at = 0; at < len; at += strnlen(strings + at, len - at) + 1) {
		p->begins = xgrow(p->begins, p->nr, &cap, sizeof(*p->begins));
		p->begins[p->nr++] = at;
	}
}

void packing_release(struct packing *p)
{
	free(p->begins);
}

/* An id that is no string's goes behind all numbers, so each has one. */
static uint32_t number_of(const struct packing *p, uint32_t id)
{
	uint32_t low = 0, high = p->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->begins[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->nr && p->begins[low] == id ? low : p->nr + id;
}

static uint32_t id_of(const struct packing *p, uint32_t number)
{
	return number < p->nr ? p->begins[number] : number - p->nr;
}

static void translate(const struct packing *p, uint32_t *words, size_t nr, size_t width,
		      uint32_t strings, uint32_t (*to)(const struct packing *p, uint32_t word))
{
	for (size_t column = 0; column < width && column < 32; column++)
		for (size_t i = 0; strings >> column & 1 && i < nr; i++)
			words[i * width + column] = to(p, words[i * width + column]);
}

void *packing_make(const struct packing *p, const void *rows, size_t nr, size_t row_bytes,
		   uint32_t strings, size_t *len)
{
	size_t width = row_bytes / sizeof(uint32_t);
	uint32_t *words = xreallocarray(NULL, nr * width + 1, sizeof(*words)), count = nr;
	uint8_t *to = xreallocarray(NULL, nr * width + 1, WORDS_MOST);

	if (nr)
		memcpy(words, rows, nr * row_bytes);
	translate(p, words, nr, width, strings, number_of);
	memcpy(to, &count, sizeof(count));
	*len = sizeof(count) + words_pack(words, nr, width, to + sizeof(count));
	free(words);
	return to;
}

void *packing_open(const struct packing *p, const void *bytes, size_t len, size_t row_bytes,
		   uint32_t strings, size_t *nr)
{
	size_t width = row_bytes / sizeof(uint32_t);
	uint32_t count, *words;

	if (len < sizeof(count))
		return NULL;
	memcpy(&count, bytes, sizeof(count));
	if ((uint64_t)count * width > len - sizeof(count))
		return NULL;
	words = xreallocarray(NULL, count * width + 1, sizeof(*words));
	if (!words_open((const uint8_t *)bytes + sizeof(count), len - sizeof(count), words, count,
			width)) {
		free(words);
		return NULL;
	}
	translate(p, words, count, width, strings, id_of);
	*nr = count;
	return words;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a child that looked for points may answer once it has been taken over. The first byte says
 * what was asked; of what is believed each part must be within the answer.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "collect/points_answer.h"
#include "tests/fuzz/limits.h"

static void check(const struct points_view *v, enum points_what what, const char *bytes, size_t sz)
{
	const struct points_head *h = v->head;
	bool is_how = what == POINTS_ALLOCATORS || what == POINTS_RUST;
	const char *text_end = v->text + h->text_sz;

	assert((const char *)h == bytes && text_end == bytes + sz && !text_end[-1]);
	assert(strlen(v->text + h->messages) + strlen(v->text + h->near) +
		       strlen(v->text + h->refused) <=
	       3 * (size_t)h->text_sz);
	for (size_t i = 0; i < h->nr_events; i++)
		assert(v->text + v->names[i] + strlen(v->text + v->names[i]) < text_end);
	for (size_t i = 0; i < h->nr_rows; i++) {
		assert(v->rows[i].event < h->nr_events);
		assert(is_how || v->rows[i].args < h->nr_args);
	}
	for (size_t i = 0; i < h->nr_args; i++)
		for (size_t k = 0; k < v->args[i].nr_args; k++)
			assert(v->args[i].v[k].kind <= CALL_ARG_MEMORY ||
			       v->args[i].v[k].kind >= CALL_ARG_TASK);
}

int fuzz_target(const uint8_t *data, size_t sz)
{
	struct points_view v;
	char *bytes;

	if (!sz)
		return 0;
	bytes = malloc(sz);
	memcpy(bytes, data + 1, sz - 1);
	if (!points_view_read(&v, data[0] % 4, bytes, sz - 1))
		check(&v, data[0] % 4, bytes, sz - 1);
	free(bytes);
	return 0;
}

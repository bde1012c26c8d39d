/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ways out through other functions of the file: a compiler makes a jump of a call that ends a
 * function. Stripped files have no symbols of these, but each has a row in the unwind tables.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "uprobe/leaving_parts.h"
#include "uprobe/place_parts.h"

#define MOST	  64	     /* functions; jumps to further ones stay ways out */
#define MOST_CODE (1u << 16) /* of one */

/* Functions that are looked through, the first one and its parts among them. */
struct bodies {
	struct places *places;
	const struct functions *functions;
	struct uprobe_function v[MOST];
	size_t nr;
};

static bool is_known(const struct bodies *b, uint64_t address)
{
	for (size_t i = 0; i < b->nr; i++)
		if (address - b->v[i].address < b->v[i].size)
			return true;
	return false;
}

static bool find_body(const struct bodies *b, uint64_t address, struct uprobe_function *body)
{
	const struct elf_file *file = functions_file(b->functions);
	bool is_stub = stubs_has(b->places->stubs, address);
	const struct uprobe_function *named = is_stub ? stubs_lead_to(b->places->stubs, address)
						      : functions_at(b->functions, address);
	uint64_t next = 0, start = fdes_find(&b->places->fdes, address, &next);

	if (named) {
		*body = *named;
	} else if (!is_stub && start && next) {
		*body = (struct uprobe_function){ .name = "",
						  .address = start,
						  .size = next - start };
		if (!elf_file_offset(file, start, &body->offset))
			return false;
	} else {
		return false;
	}
	return body->size <= MOST_CODE;
}

/* All of it can be decoded, so that no way out is missed. */
static bool is_legible(const struct bodies *b, const struct uprobe_function *body)
{
	struct insn insn;

	for (uint64_t at = body->address; at - body->address < body->size; at += insn.len)
		if (!place_decode(b->places, body, at, &insn))
			return false;
	return true;
}

static bool add_body(struct bodies *b, uint64_t address)
{
	struct uprobe_function body;

	if (is_known(b, address))
		return true;
	if (!find_body(b, address, &body))
		return false;
	if (is_known(b, body.address))
		return true;
	if (b->nr == MOST || !is_legible(b, &body))
		return false;
	b->v[b->nr++] = body;
	return true;
}

static bool leads_out(const struct uprobe_function *body, uint64_t to)
{
	return to && to - body->address >= body->size;
}

/* What jumps into a function that is looked through too is none. */
static bool is_way(struct bodies *b, const struct uprobe_function *body, const struct insn *insn)
{
	if (leads_out(body, insn->may_jump_to))
		add_body(b, insn->may_jump_to);
	return insn->is_return || (leads_out(body, insn->jumps_to) && !add_body(b, insn->jumps_to));
}

static void look_through(struct bodies *b, size_t nr, struct leaving_ways *to)
{
	struct uprobe_function body = b->v[nr];
	uint32_t computed = 0;
	struct insn insn;

	for (uint64_t at = body.address; at - body.address < body.size; at += insn.len) {
		if (!place_decode(b->places, &body, at, &insn))
			return;
		if (leaving_by_pointer(&insn, &computed) || is_way(b, &body, &insn))
			leaving_ways_add(to, &body, &insn);
	}
}

int leaving_find_last(struct places *p, const struct functions *fs, const struct uprobe_function *f,
		      struct leaving **v, size_t *nr)
{
	struct bodies *b = xcalloc(1, sizeof(*b));
	struct leaving_ways ways = {};
	int err = 0;

	*b = (struct bodies){ .places = p, .functions = fs, .v = { *f }, .nr = 1 };
	if (!is_legible(b, f))
		err = -EILSEQ;
	for (size_t i = 0; i < b->nr && !err; i++)
		look_through(b, i, &ways);
	free(b);
	*v = ways.v;
	*nr = ways.nr;
	return err;
}

/* Of a jump by which f is left for good. */
static const struct uprobe_function *successor(struct places *p, const struct functions *fs,
					       uint64_t to)
{
	const struct uprobe_function *next;

	if (stubs_has(p->stubs, to))
		return stubs_lead_to(p->stubs, to);
	next = functions_at(fs, to);
	return next && next->address == to ? next : NULL;
}

bool leaving_only_for(struct places *p, const struct functions *fs, const struct uprobe_function *f,
		      bool (*is_one)(void *arg, const struct uprobe_function *next), void *arg)
{
	const struct uprobe_function *next;
	uint32_t computed = 0;
	bool leaves = false;
	struct insn insn;
	uint64_t to;

	for (uint64_t at = f->address; at - f->address < f->size; at += insn.len) {
		if (!place_decode(p, f, at, &insn) || insn.is_return ||
		    leaving_by_pointer(&insn, &computed))
			return false;
		to = insn.jumps_to ? insn.jumps_to : insn.may_jump_to;
		if (!leads_out(f, to))
			continue;
		next = successor(p, fs, to);
		if (!next || next->address == f->address || !is_one(arg, next))
			return false;
		leaves = true;
	}
	return leaves;
}

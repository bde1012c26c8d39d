/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Notes -> probes. A note is three words (where, where .stapsdt.base was linked to, semaphore) and
 * three strings (provider, name, arguments). When a prelinker has moved the file, both addresses
 * moved like .stapsdt.base.
 */
#include "uprobe/usdt.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/section.h"

#define NT_STAPSDT 3
#define MAX_BYTES  (64u << 20) /* of notes; a large database has 100 KB */

/* A note as it was found, with strings in usdt.bytes. */
struct note {
	const char *provider, *name;
	struct usdt_location location;
};

struct usdt {
	char *bytes; /* the section */
	size_t sz;
	struct note *notes;
	size_t nr_notes, cap;
	struct usdt_location *locations;
	struct usdt_probe *probes;
	size_t nr_probes, nr_bad;
	uint64_t base; /* of .stapsdt.base, 0 = none */
};

/* The string at *at, which moves behind it; NULL when it does not end before end. */
static const char *take_string(const char **at, const char *end)
{
	const char *s = *at;
	const char *zero = s < end ? memchr(s, '\0', end - s) : NULL;

	if (!zero)
		return NULL;
	*at = zero + 1;
	return s;
}

static bool take_note(struct usdt *u, const struct elf_file *f, const char *desc, size_t sz)
{
	const char *at, *end = desc + sz;
	struct note n = {};
	uint64_t words[3], moved;

	if (sz < sizeof(words))
		return false;
	memcpy(words, desc, sizeof(words));
	at = desc + sizeof(words);
	n.provider = take_string(&at, end);
	n.name = n.provider ? take_string(&at, end) : NULL;
	n.location.args = n.name ? take_string(&at, end) : NULL;
	if (!n.location.args || !*n.provider || !*n.name)
		return false;
	moved = u->base && words[1] ? u->base - words[1] : 0;
	n.location.address = words[0] + moved;
	if (!elf_file_offset(f, n.location.address, &n.location.offset))
		return false;
	if (words[2] && !elf_file_offset(f, words[2] + moved, &n.location.semaphore))
		return false;
	u->notes = xgrow(u->notes, u->nr_notes, &u->cap, sizeof(*u->notes));
	u->notes[u->nr_notes++] = n;
	return true;
}

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Sizes are 32 bits each, so the sums below cannot overflow 64. */
static void take_notes(struct usdt *u, const struct elf_file *f)
{
	size_t desc, next;
	Elf64_Nhdr h;

	for (size_t at = 0; at < u->sz && u->sz - at >= sizeof(h); at = next) {
		memcpy(&h, u->bytes + at, sizeof(h));
		desc = at + sizeof(h) + align4(h.n_namesz);
		next = desc + align4(h.n_descsz);
		if (desc > u->sz || h.n_descsz > u->sz - desc) {
			u->nr_bad++;
			return;
		}
		if (h.n_type != NT_STAPSDT || h.n_namesz != sizeof("stapsdt") ||
		    memcmp(u->bytes + at + sizeof(h), "stapsdt", sizeof("stapsdt")))
			continue;
		if (!take_note(u, f, u->bytes + desc, h.n_descsz))
			u->nr_bad++;
	}
}

static int note_compare(const void *pa, const void *pb)
{
	const struct note *a = pa, *b = pb;
	int order = strcmp(a->provider, b->provider);

	if (!order)
		order = strcmp(a->name, b->name);
	if (order)
		return order;
	return a->location.address < b->location.address
		       ? -1
		       : a->location.address > b->location.address;
}

static bool is_same_probe(const struct note *a, const struct note *b)
{
	return !strcmp(a->provider, b->provider) && !strcmp(a->name, b->name);
}

static void make_probes(struct usdt *u)
{
	u->locations = xcalloc(u->nr_notes, sizeof(*u->locations));
	u->probes = xcalloc(u->nr_notes, sizeof(*u->probes));
	for (size_t i = 0; i < u->nr_notes; i++) {
		const struct note *n = &u->notes[i];

		u->locations[i] = n->location;
		if (!i || !is_same_probe(n, n - 1))
			u->probes[u->nr_probes++] = (struct usdt_probe){
				.provider = n->provider,
				.name = n->name,
				.locations = &u->locations[i],
			};
		u->probes[u->nr_probes - 1].nr_locations++;
	}
}

struct usdt *usdt_open(const struct elf_file *f)
{
	struct usdt *u = xcalloc(1, sizeof(*u));
	const Elf64_Shdr *notes = section_find(f, ".note.stapsdt");
	const Elf64_Shdr *base = section_find(f, ".stapsdt.base");

	u->base = base ? base->sh_addr : 0;
	u->bytes = notes ? section_read(f, notes, MAX_BYTES, &u->sz) : NULL;
	if (!u->bytes)
		return u;
	take_notes(u, f);
	if (!u->nr_notes)
		return u;
	qsort(u->notes, u->nr_notes, sizeof(*u->notes), note_compare);
	make_probes(u);
	return u;
}

void usdt_free(struct usdt *u)
{
	if (!u)
		return;
	free(u->bytes);
	free(u->notes);
	free(u->locations);
	free(u->probes);
	free(u);
}

const struct usdt_probe *usdt_all(const struct usdt *u, size_t *nr)
{
	*nr = u->nr_probes;
	return u->probes;
}

size_t usdt_nr_bad(const struct usdt *u)
{
	return u->nr_bad;
}

size_t usdt_find(const struct usdt *u, const char *provider, const char *name,
		 struct usdt_probe **out)
{
	size_t nr = 0, cap = 0;

	*out = NULL;
	for (size_t i = 0; i < u->nr_probes; i++) {
		if (fnmatch(provider, u->probes[i].provider, FNM_NOESCAPE) ||
		    fnmatch(name, u->probes[i].name, FNM_NOESCAPE))
			continue;
		*out = xgrow(*out, nr, &cap, sizeof(**out));
		(*out)[nr++] = u->probes[i];
	}
	return nr;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 *	header   buckets, first symbol, words of the filter, its shift
 *	filter   64-bit words, not needed to find anything
 *	buckets  the first symbol of each, 0 = none
 *	chains   a hash per symbol from the first on; its lowest bit ends a bucket
 */
#include "elf/gnu_hash.h"

#include <string.h>

#define MAX_CHAIN 4096 /* of one bucket; linkers make a few */
#define MAX_NAME  128

struct header {
	uint32_t nr_buckets, first, nr_words, shift;
};

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	return h;
}

static bool read_at(const struct elf_file *f, const Elf64_Shdr *s, uint64_t at, void *to, size_t sz)
{
	return at <= s->sh_size && sz <= s->sh_size - at &&
	       elf_file_read(f, s->sh_offset + at, to, sz) == sz;
}

/* The section that another one refers to. */
static const Elf64_Shdr *linked(const struct elf_file *f, const Elf64_Shdr *s)
{
	return s->sh_link < f->nr_sections ? &f->sections[s->sh_link] : NULL;
}

static bool is_named(const struct elf_file *f, const Elf64_Shdr *strings, uint32_t at,
		     const char *name)
{
	size_t sz = strlen(name) + 1;
	char found[MAX_NAME];

	return sz <= sizeof(found) && read_at(f, strings, at, found, sz) &&
	       !memcmp(found, name, sz);
}

bool gnu_hash_find(const struct elf_file *f, const char *name, Elf64_Sym *sym)
{
	const Elf64_Shdr *table = NULL, *symbols, *strings;
	uint32_t hash = hash_of(name), at, link;
	uint64_t buckets, chains;
	struct header h;

	for (size_t i = 0; i < f->nr_sections && !table; i++)
		table = f->sections[i].sh_type == SHT_GNU_HASH ? &f->sections[i] : NULL;
	symbols = table ? linked(f, table) : NULL;
	strings = symbols ? linked(f, symbols) : NULL;
	if (!strings || !read_at(f, table, 0, &h, sizeof(h)) || !h.nr_buckets)
		return false;
	buckets = sizeof(h) + 8ull * h.nr_words;
	chains = buckets + 4ull * h.nr_buckets;
	if (!read_at(f, table, buckets + 4ull * (hash % h.nr_buckets), &at, sizeof(at)))
		return false;
	for (uint32_t i = 0; i < MAX_CHAIN && at >= h.first; i++, at++) {
		if (!read_at(f, table, chains + 4ull * (at - h.first), &link, sizeof(link)))
			return false;
		if ((link | 1) == (hash | 1) &&
		    read_at(f, symbols, at * sizeof(*sym), sym, sizeof(*sym)) && sym->st_shndx &&
		    is_named(f, strings, sym->st_name, name))
			return true;
		if (link & 1)
			return false;
	}
	return false;
}

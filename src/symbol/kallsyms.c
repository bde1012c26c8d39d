/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines "ffffffff81000000 T _text" or "… t nft_do_chain\t[nf_tables]" -> one array sorted by
 * address, 16 bytes each, and one pool of names. 200,000 lines in about 40 ms, so no scanf: the
 * file is read in large pieces and cut by hand.
 */
#include "symbol/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbol/naming.h"

#define READ_BYTES   (1u << 18)
#define MAX_POOL     (1u << 30) /* names beyond are left out; positions are 32 bits */
#define MAX_MODULES  65536u
#define MAX_FUNCTION (1u << 20)

struct entry {
	uint64_t addr;
	uint32_t name; /* in the pool */
	uint16_t module;
	uint16_t rank; /* place of its type in types[] */
};
_Static_assert(sizeof(struct entry) == 16, "many of these");

static const char types[] = "TWtw";

struct kallsyms {
	struct entry *entries;
	size_t nr, cap;
	char *pool;
	size_t pool_len, pool_cap;
	uint32_t *modules; /* in the pool; 0 is "[kernel]" */
	size_t nr_modules, cap_modules;
};

/* One line taken apart; the strings are not terminated. */
struct line {
	uint64_t addr;
	char type;
	const char *name, *module;
	size_t name_len, module_len;
};

static uint32_t pool_add(struct kallsyms *k, const char *s, size_t len)
{
	uint32_t at = k->pool_len;

	while (k->pool_cap - k->pool_len < len + 1)
		k->pool = xgrow(k->pool, k->pool_cap, &k->pool_cap, 1);
	memcpy(k->pool + at, s, len);
	k->pool[at + len] = '\0';
	k->pool_len += len + 1;
	return at;
}

/*
 * Symbols of a module stand together, so the last one is nearly always it. O(modules) else, some
 * hundred.
 */
static size_t module_intern(struct kallsyms *k, const char *s, size_t len)
{
	for (size_t i = k->nr_modules; i-- > 0;) {
		const char *known = k->pool + k->modules[i];

		if (!strncmp(known, s, len) && !known[len])
			return i;
	}
	if (k->nr_modules == MAX_MODULES)
		return 0;
	k->modules = xgrow(k->modules, k->nr_modules, &k->cap_modules, sizeof(*k->modules));
	k->modules[k->nr_modules] = pool_add(k, s, len);
	return k->nr_modules++;
}

static const char *parse_hex(const char *s, const char *end, uint64_t *value)
{
	*value = 0;
	for (; s < end; s++) {
		unsigned int digit = (unsigned char)*s - '0',
			     letter = ((unsigned char)*s | 32) - 'a';

		if (digit > 9 && letter > 5)
			break;
		*value = *value << 4 | (digit <= 9 ? digit : letter + 10);
	}
	return s;
}

static bool line_parse(struct line *l, const char *s, const char *end)
{
	const char *tab;

	s = parse_hex(s, end, &l->addr);
	if (end - s < 4 || s[0] != ' ' || s[2] != ' ')
		return false;
	l->type = s[1];
	l->name = s + 3;
	tab = memchr(l->name, '\t', end - l->name);
	l->name_len = (tab ? tab : end) - l->name;
	l->module = tab ? tab + 1 : "[kernel]";
	l->module_len = tab ? (size_t)(end - l->module) : strlen(l->module);
	return true;
}

/* Padding in front of functions is not a function; the rest is no code or hidden from us. */
static bool line_counts(const struct line *l)
{
	char head[5] = "";

	if (!l->addr || !l->type || !strchr(types, l->type))
		return false;
	memcpy(head, l->name, l->name_len < 4 ? l->name_len : 4);
	return !naming_is_marker(head) && (l->name_len < 6 || memcmp(l->name, "__pfx_", 6));
}

static void kallsyms_add(struct kallsyms *k, const char *s, const char *end)
{
	struct line l;

	if (!line_parse(&l, s, end) || !line_counts(&l) || k->pool_len > MAX_POOL)
		return;
	k->entries = xgrow(k->entries, k->nr, &k->cap, sizeof(*k->entries));
	k->entries[k->nr++] = (struct entry){
		.addr = l.addr,
		.name = pool_add(k, l.name, l.name_len),
		.module = module_intern(k, l.module, l.module_len),
		.rank = strchr(types, l.type) - types,
	};
}

/*
 * Takes the whole lines of buf; returns how many bytes of a line that goes on are left at its end.
 */
static size_t add_lines(struct kallsyms *k, const char *buf, size_t len)
{
	const char *s = buf, *end = buf + len, *newline;

	while ((newline = memchr(s, '\n', end - s))) {
		kallsyms_add(k, s, newline);
		s = newline + 1;
	}
	return end - s;
}

/* A line longer than the buffer is not the kernel's; its pieces are bad lines and fall away. */
static int read_lines(struct kallsyms *k, int fd)
{
	char *buf = xmalloc(READ_BYTES);
	size_t len = 0, rest;
	ssize_t n;

	while ((n = read(fd, buf + len, READ_BYTES - len)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		rest = add_lines(k, buf, len + n);
		memmove(buf, buf + len + n - rest, rest);
		len = rest < READ_BYTES ? rest : 0;
	}
	if (!n)
		kallsyms_add(k, buf, buf + len);
	n = n < 0 ? -errno : 0;
	free(buf);
	return n;
}

static int entry_compare(const void *pa, const void *pb, void *pool)
{
	const struct entry *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return naming_compare((char *)pool + a->name, (char *)pool + b->name);
}

/* Sorts, and leaves the best name of each address. */
static void kallsyms_sort(struct kallsyms *k)
{
	size_t out = 0;

	qsort_r(k->entries, k->nr, sizeof(*k->entries), entry_compare, k->pool);
	for (size_t i = 0; i < k->nr; i++)
		if (!out || k->entries[out - 1].addr != k->entries[i].addr)
			k->entries[out++] = k->entries[i];
	k->nr = out;
}

struct kallsyms *kallsyms_load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct kallsyms *k;

	if (fd < 0)
		return NULL;
	k = xcalloc(1, sizeof(*k));
	module_intern(k, "[kernel]", strlen("[kernel]"));
	err = read_lines(k, fd);
	close(fd);
	if (err) {
		kallsyms_free(k);
		errno = -err;
		return NULL;
	}
	if (k->nr)
		kallsyms_sort(k);
	return k;
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	free(k->entries);
	free(k->pool);
	free(k->modules);
	free(k);
}

bool kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kallsym *sym)
{
	size_t low = 0, high = k->nr;
	const struct entry *e;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (k->entries[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || addr - k->entries[low - 1].addr >= MAX_FUNCTION)
		return false;
	e = &k->entries[low - 1];
	sym->name = k->pool + e->name;
	sym->module = k->pool + k->modules[e->module];
	sym->offset = addr - e->addr;
	return true;
}

size_t kallsyms_count(const struct kallsyms *k)
{
	return k->nr;
}

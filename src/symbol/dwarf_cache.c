/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays of units as they are in memory, one after the other, each unit with its checksum. */
#include "symbol/dwarf_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "base/mem.h"
#include "symbol/cache_dir.h"

#define MAGIC "bpfpdwf2"

struct head {
	char magic[8];
	uint64_t places_at, nr_places, nr_units;
	uint32_t crc; /* of places and units */
	uint32_t pad;
};

struct unit {
	uint64_t die, at, size;
	uint32_t crc, pad;
};

/* In front of a unit's arrays: ranges, nodes, rows, strings. */
struct unit_head {
	uint64_t nr_ranges, nr_nodes, nr_rows, strings;
};
_Static_assert(sizeof(struct head) == 40 && sizeof(struct unit) == 32 &&
		       sizeof(struct unit_head) == 32 && sizeof(struct dwarf_place) == 24 &&
		       sizeof(struct dwarf_range) == 16 && sizeof(struct dwarf_node) == 24 &&
		       sizeof(struct dwarf_row) == 16,
	       "these reach the file");

struct dwarf_cache {
	int dir, fd, out; /* fd: the file as it was; out: the new one, from the first put on */
	char name[160];
	struct dwarf_place *places;
	size_t nr_places;
	struct unit *units; /* of the file as it was */
	size_t nr_units;
	struct unit *added;
	size_t nr_added, cap_added;
	uint64_t at; /* in the new file */
	bool failed;
};

static bool read_at(int fd, uint64_t at, void *bytes, size_t sz)
{
	ssize_t nr;

	for (size_t done = 0; done < sz; done += nr) {
		nr = pread(fd, (char *)bytes + done, sz - done, at + done);
		if (nr <= 0)
			return false;
	}
	return true;
}

static void append(struct dwarf_cache *c, const void *bytes, size_t sz)
{
	ssize_t nr = 0;

	if (sz > CACHE_MAX_FILE_BYTES - c->at)
		c->failed = true;
	for (size_t done = 0; done < sz && !c->failed; done += nr) {
		nr = pwrite(c->out, (const char *)bytes + done, sz - done, c->at + done);
		c->failed = nr <= 0;
	}
	c->at += c->failed ? 0 : sz;
}

/* --- reading --- */

static bool read_tables(struct dwarf_cache *c, uint64_t size)
{
	struct head h;
	uint64_t places, units;
	uint32_t crc;

	if (!read_at(c->fd, 0, &h, sizeof(h)) || memcmp(h.magic, MAGIC, sizeof(h.magic)) ||
	    h.places_at > size || h.nr_places > size || h.nr_units > size)
		return false;
	places = h.nr_places * sizeof(*c->places);
	units = h.nr_units * sizeof(*c->units);
	if (places + units != size - h.places_at)
		return false;
	c->places = xmalloc(places + 1);
	c->units = xmalloc(units + 1);
	if (!read_at(c->fd, h.places_at, c->places, places) ||
	    !read_at(c->fd, h.places_at + places, c->units, units))
		return false;
	crc = crc32_z(crc32_z(0, (const void *)c->places, places), (const void *)c->units, units);
	if (crc != h.crc)
		return false;
	c->nr_places = h.nr_places;
	c->nr_units = h.nr_units;
	for (size_t i = 0; i < c->nr_units; i++)
		if (c->units[i].at > size || c->units[i].size > size - c->units[i].at)
			return false;
	return true;
}

/*
 * Of one and the same file only: a build-id and a size are easily forged, and then the names of a
 * program that is made to hurt would appear in others.
 */
static bool make_name(struct dwarf_cache *c, const struct elf_file *file,
		      const struct elf_file *from)
{
	struct stat st;
	size_t len = 0;

	if (from->fd < 0 || fstat(from->fd, &st) || file->build_id_len < 8)
		return false;
	for (size_t i = 0; i < file->build_id_len; i++)
		len += snprintf(c->name + len, sizeof(c->name) - len, "%02x", file->build_id[i]);
	snprintf(c->name + len, sizeof(c->name) - len, "-%llx-%llx-%llx-%llx",
		 (unsigned long long)st.st_size, (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino,
		 st.st_ctim.tv_sec * 1000000000ull + st.st_ctim.tv_nsec);
	return true;
}

struct dwarf_cache *dwarf_cache_open(int dir, const struct elf_file *file,
				     const struct elf_file *from)
{
	struct dwarf_cache *c;
	struct stat st;

	if (dir < 0)
		return NULL;
	c = xcalloc(1, sizeof(*c));
	c->dir = dir;
	c->fd = c->out = -1;
	if (!make_name(c, file, from)) {
		free(c);
		return NULL;
	}
	c->fd = cache_dir_read(dir, c->name);
	if (c->fd >= 0 && (fstat(c->fd, &st) || (uint64_t)st.st_size > CACHE_MAX_FILE_BYTES ||
			   !read_tables(c, st.st_size)))
		c->nr_places = c->nr_units = 0;
	return c;
}

bool dwarf_cache_index(const struct dwarf_cache *c, struct dwarf_index *x)
{
	if (!c || !c->nr_places)
		return false;
	*x = (struct dwarf_index){ .nr = c->nr_places, .cap = c->nr_places };
	x->places = xcalloc(x->nr, sizeof(*x->places));
	memcpy(x->places, c->places, x->nr * sizeof(*x->places));
	return true;
}

static bool is_string(const struct dwarf_unit *u, uint32_t id)
{
	return id < u->strings.len;
}

static bool ranges_are_whole(const struct dwarf_unit *u)
{
	for (size_t i = 0; i < u->nr_ranges; i++) {
		const struct dwarf_range *r = &u->ranges[i];

		if ((i && r->start < r[-1].start) || r->entry > r->start ||
		    (r->node >= u->nr_nodes && r->node != DWARF_NO_NODE))
			return false;
	}
	return true;
}

static bool nodes_are_whole(const struct dwarf_unit *u)
{
	for (size_t i = 0; i < u->nr_nodes; i++) {
		const struct dwarf_node *n = &u->nodes[i];

		if ((n->parent >= i && n->parent != DWARF_NO_NODE) || !is_string(u, n->name) ||
		    !is_string(u, n->call_file))
			return false;
	}
	return true;
}

static bool rows_are_whole(const struct dwarf_unit *u)
{
	for (size_t i = 0; i < u->nr_rows; i++) {
		const struct dwarf_row *r = &u->rows[i];

		if ((i && r->address < r[-1].address) ||
		    (!is_string(u, r->file) && r->file != DWARF_NO_FILE))
			return false;
	}
	return true;
}

static void *take(const char **at, uint64_t nr, size_t sz)
{
	void *bytes = xmalloc(nr * sz + 1);

	memcpy(bytes, *at, nr * sz);
	*at += nr * sz;
	return bytes;
}

/* Arrays of a unit whose checksum is right. */
static bool take_unit(struct dwarf_unit *u, const char *bytes, uint64_t size)
{
	struct unit_head h;
	const char *at = bytes + sizeof(h);

	if (size < sizeof(h))
		return false;
	memcpy(&h, bytes, sizeof(h));
	size -= sizeof(h);
	if (h.nr_ranges > size || h.nr_nodes > size || h.nr_rows > size || h.strings > size ||
	    16 * (h.nr_ranges + h.nr_rows) + 24 * h.nr_nodes + h.strings != size || !h.strings ||
	    bytes[sizeof(h) + size - 1] || bytes[sizeof(h) + size - h.strings])
		return false;
	u->ranges = take(&at, u->nr_ranges = h.nr_ranges, sizeof(*u->ranges));
	u->nodes = take(&at, u->nr_nodes = h.nr_nodes, sizeof(*u->nodes));
	u->rows = take(&at, u->nr_rows = h.nr_rows, sizeof(*u->rows));
	strings_adopt(&u->strings, take(&at, h.strings, 1), h.strings);
	return ranges_are_whole(u) && nodes_are_whole(u) && rows_are_whole(u);
}

static int by_die(const void *pa, const void *pb)
{
	const struct unit *a = pa, *b = pb;

	return a->die < b->die ? -1 : a->die > b->die;
}

static const struct unit *find_unit(const struct unit *units, size_t nr, uint64_t die)
{
	struct unit key = { .die = die };

	return nr ? bsearch(&key, units, nr, sizeof(key), by_die) : NULL;
}

bool dwarf_cache_get(const struct dwarf_cache *c, uint64_t die, struct dwarf_unit *u)
{
	const struct unit *unit = c ? find_unit(c->units, c->nr_units, die) : NULL;
	char *bytes = unit ? xmalloc(unit->size + 1) : NULL;
	bool ok;

	*u = (struct dwarf_unit){};
	ok = unit && read_at(c->fd, unit->at, bytes, unit->size) &&
	     crc32_z(0, (const void *)bytes, unit->size) == unit->crc &&
	     take_unit(u, bytes, unit->size);
	free(bytes);
	if (!ok)
		dwarf_unit_release(u);
	return ok;
}

/* --- writing --- */

static void begin(struct dwarf_cache *c)
{
	if (c->out >= 0 || c->failed)
		return;
	c->out = cache_dir_write(c->dir);
	c->failed = c->out < 0;
	c->at = sizeof(struct head);
}

static struct unit *add(struct dwarf_cache *c, uint64_t die)
{
	c->added = xgrow(c->added, c->nr_added, &c->cap_added, sizeof(*c->added));
	c->added[c->nr_added] = (struct unit){ .die = die, .at = c->at };
	return &c->added[c->nr_added++];
}

static void append_summed(struct dwarf_cache *c, struct unit *unit, const void *bytes, size_t sz)
{
	append(c, bytes, sz);
	unit->crc = crc32_z(unit->crc, bytes, sz);
	unit->size += sz;
}

void dwarf_cache_put(struct dwarf_cache *c, uint64_t die, struct dwarf_unit *u)
{
	struct unit_head h;
	struct unit *unit;

	if (!c)
		return;
	begin(c);
	if (c->failed)
		return;
	dwarf_unit_complete(u);
	h = (struct unit_head){ u->nr_ranges, u->nr_nodes, u->nr_rows, u->strings.len };
	unit = add(c, die);
	append_summed(c, unit, &h, sizeof(h));
	append_summed(c, unit, u->ranges, u->nr_ranges * sizeof(*u->ranges));
	append_summed(c, unit, u->nodes, u->nr_nodes * sizeof(*u->nodes));
	append_summed(c, unit, u->rows, u->nr_rows * sizeof(*u->rows));
	append_summed(c, unit, u->strings.bytes, u->strings.len);
}

/* A unit of the file as it was goes along, unread: its checksum does, too. */
static void copy_unit(struct dwarf_cache *c, const struct unit *from)
{
	char *bytes = xmalloc(from->size + 1);
	struct unit *unit = add(c, from->die);

	unit->size = from->size;
	unit->crc = from->crc;
	if (read_at(c->fd, from->at, bytes, from->size))
		append(c, bytes, from->size);
	else
		c->failed = true;
	free(bytes);
}

/* All but those that were broken and made again. */
static void copy_units(struct dwarf_cache *c)
{
	size_t nr = c->nr_added;

	qsort(c->added, nr, sizeof(*c->added), by_die);
	for (size_t i = 0; i < c->nr_units && !c->failed; i++)
		if (!find_unit(c->added, nr, c->units[i].die))
			copy_unit(c, &c->units[i]);
	qsort(c->added, c->nr_added, sizeof(*c->added), by_die);
}

static void save(struct dwarf_cache *c, const struct dwarf_index *x)
{
	size_t places = x->nr * sizeof(*x->places), units;
	struct head h = { .nr_places = x->nr };

	copy_units(c);
	memcpy(h.magic, MAGIC, sizeof(h.magic));
	h.places_at = c->at;
	h.nr_units = c->nr_added;
	units = c->nr_added * sizeof(*c->added);
	append(c, x->places, places);
	append(c, c->added, units);
	h.crc = crc32_z(crc32_z(0, (const void *)x->places, places), (const void *)c->added, units);
	if (!c->failed && pwrite(c->out, &h, sizeof(h), 0) == sizeof(h)) {
		cache_dir_keep(c->dir, c->out, c->name);
		c->out = -1;
	}
}

void dwarf_cache_close(struct dwarf_cache *c, const struct dwarf_index *x)
{
	if (!c)
		return;
	if (c->out >= 0 && !c->failed)
		save(c, x);
	if (c->out >= 0)
		close(c->out);
	if (c->fd >= 0)
		close(c->fd);
	free(c->places);
	free(c->units);
	free(c->added);
	free(c);
}

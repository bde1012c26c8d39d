/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a skeleton to the unit of the same id, and to an image of that. */
#include "symbol/dwarf_split.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "symbol/companion.h"
#include "symbol/debug_part.h"
#include "symbol/dwarf_half.h"
#include "symbol/dwarf_package.h"

#define MAX_BYTES (512ull << 20)
#define MAX_UNITS 65536 /* of a .dwo: those of types stand there, too */
#define MAX_TRIES 16	/* before version 5 it takes libdw to know the id */

/* Of the image: what is the same for all units, for those of a file, and for none. */
enum area {
	AREA_ADDR,
	AREA_RANGES,
	AREA_STR,
	AREA_INFO,
	AREA_ABBREV, /* behind room for the one that is put there */
	AREA_STR_OFFSETS,
	AREA_RNGLISTS,
	AREA_LINE,
	NR_AREAS,
};

struct dwarf_split {
	const struct elf_file *file;
	const struct debug_image *image;
	struct dwarf_package *packages[COMPANION_MAX_FILES];
	size_t nr_packages;
	/* The .dwo that is open. */
	int fd; /* -1 = none is */
	struct elf_file *dwo;
	struct dwarf_package *single;
	/* The image that is made of a unit. */
	uint8_t *bytes;
	uint64_t cap;
	struct dwarf_slice areas[NR_AREAS];
	bool has_shared;			/* areas of the program are there */
	const struct dwarf_package *strings_of; /* the same of strings; NULL = of none */
	Elf *elf;
	Dwarf *dwarf;
};

struct dwarf_split *dwarf_split_new(const struct elf_file *f, const struct debug_image *i,
				    struct elf_file *const *packages, size_t nr)
{
	struct dwarf_split *s = xcalloc(1, sizeof(*s));

	s->file = f;
	s->image = i;
	s->fd = -1;
	for (size_t k = 0; k < nr && k < COMPANION_MAX_FILES; k++) {
		s->packages[s->nr_packages] = dwarf_package_open(packages[k]);
		s->nr_packages += s->packages[s->nr_packages] != NULL;
	}
	return s;
}

static void close_unit(struct dwarf_split *s)
{
	if (s->dwarf)
		dwarf_end(s->dwarf);
	if (s->elf)
		elf_end(s->elf);
	s->dwarf = NULL;
	s->elf = NULL;
}

static void close_single(struct dwarf_split *s)
{
	if (s->single && s->strings_of == s->single)
		s->strings_of = NULL;
	dwarf_package_close(s->single);
	elf_file_close(s->dwo);
	if (s->fd >= 0)
		close(s->fd);
	s->single = NULL;
	s->dwo = NULL;
	s->fd = -1;
}

void dwarf_split_free(struct dwarf_split *s)
{
	if (!s)
		return;
	close_unit(s);
	close_single(s);
	for (size_t i = 0; i < s->nr_packages; i++)
		dwarf_package_close(s->packages[i]);
	free(s->bytes);
	free(s);
}

/* --- the image --- */

/* What is wanted of a unit, and where. */
struct asked {
	struct dwarf_package *package;
	struct dwarf_slice slices[DWARF_NR_SLICES];
	Dwarf_Die *skeleton;
	uint64_t id;
	unsigned int nr_tries;
};

static const uint8_t *of_image(const struct dwarf_split *s, const char *name, uint64_t *size)
{
	size_t sz = 0;
	const uint8_t *bytes = debug_image_section(s->image, name, &sz);

	*size = bytes ? sz : 0;
	return bytes;
}

/* How much each area takes: of the unit's own, and of what it shares. */
static void measure(const struct dwarf_split *s, const struct asked *a, uint64_t sizes[NR_AREAS])
{
	of_image(s, ".debug_addr", &sizes[AREA_ADDR]);
	of_image(s, ".debug_ranges", &sizes[AREA_RANGES]);
	sizes[AREA_STR] = dwarf_package_size(a->package, DWARF_PART_STR);
	sizes[AREA_INFO] = a->slices[DWARF_PART_INFO].size;
	sizes[AREA_ABBREV] = a->slices[DWARF_PART_ABBREV].size + DWARF_ROOT_MAX_ABBREV;
	sizes[AREA_STR_OFFSETS] = a->slices[DWARF_PART_STR_OFFSETS].size;
	sizes[AREA_LINE] = a->slices[DWARF_PART_LINE].size;
	sizes[AREA_RNGLISTS] = a->slices[DWARF_PART_RNGLISTS].size;
	if (!sizes[AREA_RNGLISTS])
		of_image(s, ".debug_rnglists", &sizes[AREA_RNGLISTS]);
}

/* Places areas one behind the other. False: that is too much. */
static bool make_room(struct dwarf_split *s, const struct asked *a)
{
	uint64_t sizes[NR_AREAS], at = DEBUG_LAYOUT_AT(sizeof(struct debug_layout)), own = 0;

	measure(s, a, sizes);
	for (size_t k = 0; k < NR_AREAS; k++) {
		if (sizes[k] > MAX_BYTES - at)
			return false;
		s->areas[k] = (struct dwarf_slice){ at, sizes[k] };
		at = DEBUG_LAYOUT_AT(at + sizes[k]);
		own += k == AREA_ADDR || k == AREA_RANGES || k == AREA_RNGLISTS ? 0 : sizes[k];
	}
	if (at > MAX_BYTES || !dwarf_package_is_paid_for(a->package, own))
		return false;
	if (at > s->cap) {
		s->bytes = xreallocarray(s->bytes, at, 1);
		s->cap = at;
	}
	return true;
}

static void copy_of_image(struct dwarf_split *s, enum area area, const char *name)
{
	uint64_t size;
	const uint8_t *bytes = of_image(s, name, &size);

	if (size)
		memcpy(s->bytes + s->areas[area].at, bytes, size);
}

static void fill(struct dwarf_split *s, const struct asked *a)
{
	static const struct {
		enum area area;
		enum dwarf_part part;
		uint64_t behind;
	} parts[] = { { AREA_INFO, DWARF_PART_INFO, 0 },
		      { AREA_ABBREV, DWARF_PART_ABBREV, DWARF_ROOT_MAX_ABBREV },
		      { AREA_STR_OFFSETS, DWARF_PART_STR_OFFSETS, 0 },
		      { AREA_LINE, DWARF_PART_LINE, 0 },
		      { AREA_RNGLISTS, DWARF_PART_RNGLISTS, 0 } };

	if (!s->has_shared) {
		copy_of_image(s, AREA_ADDR, ".debug_addr");
		copy_of_image(s, AREA_RANGES, ".debug_ranges");
	}
	s->has_shared = true;
	if (s->strings_of != a->package)
		dwarf_package_read(a->package, DWARF_PART_STR,
				   (struct dwarf_slice){ 0, s->areas[AREA_STR].size },
				   s->bytes + s->areas[AREA_STR].at);
	s->strings_of = a->package;
	if (!a->slices[DWARF_PART_RNGLISTS].size)
		copy_of_image(s, AREA_RNGLISTS, ".debug_rnglists");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		dwarf_package_read(a->package, parts[i].part, a->slices[parts[i].part],
				   s->bytes + s->areas[parts[i].area].at + parts[i].behind);
}

/* Adds an area from a place in it on. */
static void add(const struct dwarf_split *s, const char *name, enum area area, uint64_t from)
{
	const struct dwarf_slice *a = &s->areas[area];

	if (from < a->size)
		debug_layout_add((struct debug_layout *)s->bytes, name, a->at + from,
				 a->size - from);
}

static uint64_t number_of(Dwarf_Die *die, unsigned int name, unsigned int old_name)
{
	Dwarf_Attribute a;
	Dwarf_Word value;

	if (!dwarf_formudata(dwarf_attr(die, name, &a), &value))
		return value;
	return dwarf_formudata(dwarf_attr(die, old_name, &a), &value) ? 0 : value;
}

/* The unit of that head, with abbreviations from that place of their area on. */
static bool begin_unit(struct dwarf_split *s, const struct asked *a, const struct dwarf_head *h,
		       uint64_t abbrevs)
{
	close_unit(s);
	debug_layout_init((struct debug_layout *)s->bytes, s->file);
	debug_layout_add((struct debug_layout *)s->bytes, ".debug_info", s->areas[AREA_INFO].at,
			 h->size);
	add(s, ".debug_abbrev", AREA_ABBREV, abbrevs);
	add(s, ".debug_str", AREA_STR, 0);
	add(s, ".debug_str_offsets", AREA_STR_OFFSETS, 0);
	add(s, ".debug_rnglists", AREA_RNGLISTS, 0);
	add(s, ".debug_addr", AREA_ADDR,
	    number_of(a->skeleton, DW_AT_addr_base, DW_AT_GNU_addr_base));
	add(s, ".debug_ranges", AREA_RANGES, number_of(a->skeleton, DW_AT_GNU_ranges_base, 0));
	s->elf = elf_memory((char *)s->bytes, s->cap);
	if (s->elf)
		s->dwarf = dwarf_begin_elf(s->elf, DWARF_C_READ, NULL);
	return s->dwarf;
}

/* Where the topmost DIE ends and its first child begins; 0: that is not what was asked for. */
static uint64_t root_end(struct dwarf_split *s, const struct asked *a, const struct dwarf_head *h)
{
	Dwarf_Die root, child;
	uint64_t id = h->id;

	if (!begin_unit(s, a, h, DWARF_ROOT_MAX_ABBREV) ||
	    !dwarf_offdie(s->dwarf, h->die_at, &root) || dwarf_tag(&root) != DW_TAG_compile_unit)
		return 0;
	if (h->version < 5)
		id = number_of(&root, DW_AT_GNU_dwo_id, 0);
	return id != a->id || dwarf_child(&root, &child) ? 0 : dwarf_dieoffset(&child);
}

/* Behind the head of a table of version 5, which has so many bytes behind its version. */
static uint64_t entries_at(const struct dwarf_split *s, enum area area, uint64_t rest)
{
	const uint8_t *begin = s->bytes + s->areas[area].at;
	struct cursor c = { begin, begin + s->areas[area].size, false };

	if (cursor_uint(&c, 4) == 0xffffffff)
		cursor_uint(&c, 8);
	if (cursor_uint(&c, 2) != 5)
		return 0;
	cursor_take(&c, rest);
	return c.bad ? 0 : (uint64_t)(c.at - begin);
}

static struct dwarf_bases bases_of(const struct dwarf_split *s, const struct asked *a)
{
	struct dwarf_bases b = { .str_offsets = entries_at(s, AREA_STR_OFFSETS, 2),
				 .rnglists = entries_at(s, AREA_RNGLISTS, 6) };

	if (!a->slices[DWARF_PART_RNGLISTS].size)
		b.rnglists = number_of(a->skeleton, DW_AT_rnglists_base, 0);
	if (dwarf_lowpc(a->skeleton, &b.address))
		b.address = 0;
	return b;
}

static void take_lines(const struct dwarf_split *s, struct dwarf_line_sections *l)
{
	const struct dwarf_slice *line = &s->areas[AREA_LINE], *str = &s->areas[AREA_STR];

	*l = (struct dwarf_line_sections){ .line_sz = line->size, .str_sz = str->size };
	l->line = line->size ? s->bytes + line->at : NULL;
	l->str = str->size ? s->bytes + str->at : NULL;
}

/* a has the slices of that unit. */
static bool open_unit(struct dwarf_split *s, const struct asked *a, const struct dwarf_head *h,
		      struct dwarf_half *half)
{
	uint8_t abbrev[DWARF_ROOT_MAX_ABBREV], *unit;
	struct dwarf_bases bases;
	uint64_t root;
	size_t sz;

	close_unit(s);
	if (!make_room(s, a))
		return false;
	fill(s, a);
	unit = s->bytes + s->areas[AREA_INFO].at;
	dwarf_head_move_abbrevs(h, unit);
	bases = bases_of(s, a);
	root = dwarf_root_put(h, &bases, unit, root_end(s, a, h), abbrev, &sz);
	if (!root)
		return false;
	memcpy(s->bytes + s->areas[AREA_ABBREV].at + sizeof(abbrev) - sz, abbrev, sz);
	if (!begin_unit(s, a, h, sizeof(abbrev) - sz) || !dwarf_offdie(s->dwarf, root, &half->die))
		return false;
	take_lines(s, &half->lines);
	return true;
}

/* --- which unit --- */

/* The slice from a place in it on, or up to a size. */
static struct dwarf_slice part_of(struct dwarf_slice s, uint64_t from, uint64_t size)
{
	if (from > s.size)
		from = s.size;
	if (size > s.size - from)
		size = s.size - from;
	return (struct dwarf_slice){ s.at + from, size };
}

static bool may_be(struct asked *a, const struct dwarf_head *h)
{
	if (!h->is_half)
		return false;
	return h->version >= 5 ? h->id == a->id : a->nr_tries++ < MAX_TRIES;
}

/* One of several units in what the package says it has. */
static bool find_in(struct dwarf_split *s, struct dwarf_package *p, Dwarf_Die *skeleton,
		    uint64_t id, struct dwarf_half *half)
{
	struct asked a = { .package = p, .skeleton = skeleton, .id = id }, one;
	uint8_t bytes[DWARF_HEAD_MAX_BYTES];
	struct dwarf_slice left;
	struct dwarf_head h;

	if (!dwarf_package_find(p, id, a.slices))
		return false;
	left = a.slices[DWARF_PART_INFO];
	for (size_t i = 0; i < MAX_UNITS && left.size; i++) {
		struct dwarf_slice head = part_of(left, 0, sizeof(bytes));

		dwarf_package_read(p, DWARF_PART_INFO, head, bytes);
		if (!dwarf_head_read(&h, bytes, head.size) || h.size > left.size)
			return false;
		one = a;
		one.slices[DWARF_PART_INFO] = part_of(left, 0, h.size);
		one.slices[DWARF_PART_ABBREV] =
			part_of(a.slices[DWARF_PART_ABBREV], h.abbrevs, UINT64_MAX);
		if (may_be(&a, &h) && open_unit(s, &one, &h, half))
			return true;
		left = part_of(left, h.size, UINT64_MAX);
	}
	return false;
}

/* The path that the skeleton has for its .dwo; NULL: none that leads anywhere. */
static char *path_of(Dwarf_Die *skeleton)
{
	Dwarf_Attribute a;
	const char *name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_dwo_name, &a)), *dir;

	if (!name)
		name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &a));
	dir = dwarf_formstring(dwarf_attr(skeleton, DW_AT_comp_dir, &a));
	if (!name || (*name != '/' && (!dir || *dir != '/')))
		return NULL;
	return *name == '/' ? xstrdup(name) : xasprintf("%s/%s", dir, name);
}

static bool open_single(struct dwarf_split *s, const char *path)
{
	close_single(s);
	s->fd = companion_open_path(path);
	if (s->fd >= 0)
		s->dwo = elf_file_open(s->fd);
	if (s->dwo)
		s->single = dwarf_package_open_single(s->dwo);
	return s->single;
}

bool dwarf_split_find(struct dwarf_split *s, Dwarf_Die *skeleton, struct dwarf_half *half,
		      char **path)
{
	uint64_t id = 0;

	*path = NULL;
	if (dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, NULL, &id, NULL, NULL))
		return false;
	for (size_t i = 0; i < s->nr_packages; i++)
		if (find_in(s, s->packages[i], skeleton, id, half))
			return true;
	*path = path_of(skeleton);
	return *path && open_single(s, *path) && find_in(s, s->single, skeleton, id, half);
}

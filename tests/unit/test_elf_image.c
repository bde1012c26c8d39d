/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules of symbol/elf.h, one by one, on ELF images made here; and images made to cost.
 *
 * Layout: code of 0x1000 bytes at file offset 0x1000, linked to 0x403040 (so that an address is
 * never an offset plus a page number), then the tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf/elf_file.h"
#include "symbol/elf.h"

#define CODE_OFFSET 0x1000
#define CODE_VADDR  0x403040
#define CODE_SIZE   0x1000
#define TEXT	    1 /* sections */
#define TEXT2	    2 /* the last 0x100 bytes */
#define DATA	    3
#define SYMTAB	    4
#define STRTAB	    5
#define NR_SECTIONS 6

#if defined(__SANITIZE_ADDRESS__)
#define SLOWER 6 /* sanitizers on a machine shared with other builds */
#else
#define SLOWER 1
#endif

struct symbol {
	const char *name;
	uint64_t at, size; /* at: from the start of the code */
	unsigned int bind, type, section;
};

struct image {
	uint8_t *bytes;
	size_t sz;
	struct elf_file *file;
	struct elf_symbols *symbols;
};

static void fill_headers(Elf64_Ehdr *h, Elf64_Phdr *p, Elf64_Shdr *s)
{
	memcpy(h->e_ident, ELFMAG, SELFMAG);
	h->e_ident[EI_CLASS] = ELFCLASS64;
	h->e_ident[EI_DATA] = ELFDATA2LSB;
	h->e_phoff = sizeof(*h);
	h->e_phnum = 2;
	h->e_phentsize = sizeof(*p);
	h->e_shoff = sizeof(*h) + 2 * sizeof(*p);
	h->e_shnum = NR_SECTIONS;
	h->e_shentsize = sizeof(*s);
	p[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = CODE_OFFSET + 64 };
	p[1] = (Elf64_Phdr){ PT_LOAD,	 PF_R | PF_X, CODE_OFFSET, CODE_VADDR,
			     CODE_VADDR, CODE_SIZE,   CODE_SIZE,   1 };
	s[TEXT] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
				.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				.sh_addr = CODE_VADDR,
				.sh_offset = CODE_OFFSET,
				.sh_size = CODE_SIZE - 0x100 };
	s[TEXT2] = s[TEXT];
	s[TEXT2].sh_addr += s[TEXT].sh_size;
	s[TEXT2].sh_size = 0x100;
	s[DATA] = s[TEXT];
	s[DATA].sh_flags = SHF_ALLOC;
	s[SYMTAB].sh_type = SHT_SYMTAB;
	s[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	s[SYMTAB].sh_link = STRTAB;
	s[STRTAB].sh_type = SHT_STRTAB;
}

static Elf64_Shdr *image_sections(struct image *i)
{
	return (Elf64_Shdr *)(i->bytes + sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr));
}

/* An image with room for nr symbols and their strings. */
static void image_alloc(struct image *i, size_t nr, size_t strings)
{
	Elf64_Shdr *s;
	size_t tables = CODE_OFFSET + CODE_SIZE;

	memset(i, 0, sizeof(*i));
	i->sz = tables + nr * sizeof(Elf64_Sym) + strings;
	i->bytes = calloc(1, i->sz);
	s = image_sections(i);
	fill_headers((Elf64_Ehdr *)i->bytes, (Elf64_Phdr *)(i->bytes + sizeof(Elf64_Ehdr)), s);
	s[SYMTAB].sh_offset = tables;
	s[SYMTAB].sh_size = nr * sizeof(Elf64_Sym);
	s[STRTAB].sh_offset = tables + nr * sizeof(Elf64_Sym);
	s[STRTAB].sh_size = strings;
}

static Elf64_Sym *image_syms(struct image *i)
{
	return (Elf64_Sym *)(i->bytes + image_sections(i)[SYMTAB].sh_offset);
}

static char *image_strings(struct image *i)
{
	return (char *)i->bytes + image_sections(i)[STRTAB].sh_offset;
}

static void image_load(struct image *i)
{
	i->file = elf_file_open_image(i->bytes, i->sz);
	assert_non_null(i->file);
	i->symbols = elf_symbols_new(i->file, i->file, SHT_SYMTAB);
}

static void image_free(struct image *i)
{
	elf_symbols_free(i->symbols);
	elf_file_close(i->file);
	free(i->bytes);
}

static void image_fill(struct image *i, const struct symbol *list, size_t nr)
{
	size_t strings = 1, at = 1;

	for (size_t k = 0; k < nr; k++)
		strings += strlen(list[k].name) + 1;
	image_alloc(i, nr, strings);
	for (size_t k = 0; k < nr; k++) {
		image_syms(i)[k] = (Elf64_Sym){ at,
						ELF64_ST_INFO(list[k].bind, list[k].type),
						0,
						list[k].section,
						CODE_VADDR + list[k].at,
						list[k].size };
		strcpy(image_strings(i) + at, list[k].name);
		at += strlen(list[k].name) + 1;
	}
}

/* What [0, 0x1000) of the code is called, as "from-to:name " per piece; holes are left out. */
static void check(const struct symbol *list, size_t nr, const char *expected)
{
	char text[4096] = "", last[512] = "";
	struct image image;
	size_t len = 0, from = 0;

	image_fill(&image, list, nr);
	image_load(&image);
	for (size_t at = 0; at <= CODE_SIZE; at++) {
		const char *name = elf_symbols_find(image.symbols, CODE_OFFSET + at);

		name = name ? name : "";
		if (at && !strcmp(name, last))
			continue;
		if (last[0])
			len += snprintf(text + len, sizeof(text) - len, "%zx-%zx:%s ", from, at,
					last);
		snprintf(last, sizeof(last), "%s", name);
		from = at;
	}
	assert_string_equal(text, expected);
	image_free(&image);
}
#define CHECK(list, expected) check(list, sizeof(list) / sizeof(*(list)), expected)

#define FUNC(name, at, size)                                                                       \
	{                                                                                          \
		name, at, size, STB_GLOBAL, STT_FUNC, TEXT                                         \
	}
#define LABEL(name, at, size)                                                                      \
	{                                                                                          \
		name, at, size, STB_GLOBAL, STT_NOTYPE, TEXT                                       \
	}

static void a_symbol_covers_its_size_and_no_more(void **state)
{
	const struct symbol list[] = { FUNC("b", 0x200, 0x10), FUNC("a", 0x100, 0x20),
				       FUNC("c", 0x210, 1) };

	CHECK(list, "100-120:a 200-210:b 210-211:c ");
}

/* They end functions before them, of which there are none here. */
static void data_alone_names_nothing(void **state)
{
	const struct symbol list[] = { { "object", 0x100, 16, STB_GLOBAL, STT_OBJECT, TEXT } };
	struct image i;

	image_fill(&i, list, 1);
	image_load(&i);
	assert_null(i.symbols);
	image_free(&i);
}

static void the_innermost_wins(void **state)
{
	const struct symbol nested[] = { FUNC("outer", 0x100, 0x100), FUNC("in", 0x120, 0x40),
					 FUNC("inmost", 0x130, 0x10), FUNC("tail", 0x1f0, 0x10) };
	const struct symbol overlap[] = { FUNC("a", 0x100, 0x100), FUNC("b", 0x180, 0x100),
					  FUNC("c", 0x190, 0x10) };
	const struct symbol same_start[] = { FUNC("long", 0x100, 0x100),
					     FUNC("short", 0x100, 0x10) };
	const struct symbol across[] = { FUNC("all", 0, 0x800), FUNC("x", 0x100, 0x300),
					 FUNC("y", 0x200, 0x50), FUNC("z", 0x240, 0x40) };

	CHECK(nested,
	      "100-120:outer 120-130:in 130-140:inmost 140-160:in 160-1f0:outer 1f0-200:tail ");
	CHECK(overlap, "100-180:a 180-190:b 190-1a0:c 1a0-280:b ");
	CHECK(same_start, "100-110:short 110-200:long ");
	CHECK(across, "0-100:all 100-200:x 200-240:y 240-280:z 280-400:x 400-800:all ");
}

static void an_unsized_symbol_reaches_to_the_next(void **state)
{
	const struct symbol list[] = { FUNC("a", 0x100, 0), FUNC("b", 0x180, 0x10),
				       FUNC("c", 0x190, 0), LABEL("d", 0x200, 0) };
	const struct symbol last[] = { { "e", 0xf80, 0, STB_GLOBAL, STT_FUNC, TEXT2 },
				       FUNC("a", 0xe00, 0) };
	const struct symbol wrong[] = { { "a", 0x100, 0, STB_GLOBAL, STT_FUNC, TEXT2 },
					{ "b", 0x100, 0, STB_GLOBAL, STT_FUNC, 99 },
					{ "c", 0x100, 0, STB_GLOBAL, STT_FUNC, SHN_ABS } };

	CHECK(list, "100-180:a 180-190:b 190-200:c 200-f00:d ");
	CHECK(last, "e00-f00:a f80-1000:e "); /* not beyond its section */
	CHECK(wrong, "");
}

static void a_label_inside_a_function_says_nothing(void **state)
{
	const struct symbol list[] = { FUNC("f", 0x100, 0x80),	 LABEL("loop", 0x120, 0),
				       FUNC("in", 0x140, 0),	 LABEL("start", 0x100, 0),
				       LABEL("after", 0x180, 0), FUNC("g", 0x1a0, 0x10) };

	CHECK(list, "100-180:f 180-1a0:after 1a0-1b0:g ");
}

static void aliases_follow_the_rule(void **state)
{
	const struct symbol sized[] = { FUNC("a", 0x100, 0), FUNC("___b", 0x100, 0x10) };
	const struct symbol bind[] = { { "a", 0x100, 16, STB_LOCAL, STT_FUNC, TEXT },
				       { "b", 0x100, 16, STB_WEAK, STT_FUNC, TEXT },
				       { "__c", 0x100, 16, STB_GLOBAL, STT_FUNC, TEXT },
				       { "d", 0x200, 16, STB_LOCAL, STT_FUNC, TEXT },
				       { "__e", 0x200, 16, STB_WEAK, STT_FUNC, TEXT } };
	const struct symbol type[] = { LABEL("a", 0x100, 16), FUNC("__b", 0x100, 16) };
	const struct symbol dashes[] = { FUNC("_a", 0x100, 16), FUNC("longer_name", 0x100, 16) };
	const struct symbol shorter[] = { FUNC("aaaa", 0x100, 16), FUNC("zzz", 0x100, 16) };
	const struct symbol bytes[] = { FUNC("zb", 0x100, 16), FUNC("za", 0x100, 16),
					FUNC("zc", 0x100, 16) };
	const struct symbol unsized[] = { FUNC("_u", 0x100, 0), LABEL("v", 0x100, 0),
					  FUNC("w", 0x100, 0) };

	CHECK(sized, "100-110:___b ");
	CHECK(bind, "100-110:__c 200-210:__e ");
	CHECK(type, "100-110:__b ");
	CHECK(dashes, "100-110:longer_name ");
	CHECK(shorter, "100-110:zzz ");
	CHECK(bytes, "100-110:za ");
	CHECK(unsized, "100-f00:w ");
}

static void versions_are_cut_off(void **state)
{
	const struct symbol list[] = { FUNC("f@@GLIBC_2.14", 0x100, 16),
				       FUNC("g@VERS_1", 0x110, 16), FUNC("@h", 0x120, 16) };

	CHECK(list, "100-110:f 110-120:g 120-130:@h ");
}

static void what_is_no_code_has_no_name(void **state)
{
	const struct symbol list[] = {
		{ "object", 0x100, 16, STB_GLOBAL, STT_OBJECT, TEXT },
		{ "tls", 0x110, 16, STB_GLOBAL, STT_TLS, TEXT },
		{ "file", 0x120, 16, STB_LOCAL, STT_FILE, SHN_ABS },
		{ "undefined", 0x130, 16, STB_GLOBAL, STT_FUNC, SHN_UNDEF },
		{ "label_in_data", 0x140, 16, STB_GLOBAL, STT_NOTYPE, DATA },
		{ "", 0x150, 16, STB_LOCAL, STT_FUNC, TEXT },
		{ ".Lfoo", 0x160, 0, STB_LOCAL, STT_FUNC, TEXT },
		{ "$x", 0x170, 0, STB_LOCAL, STT_NOTYPE, TEXT },
		{ "$d.17", 0x180, 0, STB_LOCAL, STT_NOTYPE, TEXT },
		{ "$xrv64i2p1", 0x190, 0, STB_LOCAL, STT_NOTYPE, TEXT },
		{ "ifunc", 0x200, 16, STB_GLOBAL, STT_GNU_IFUNC, TEXT },
		{ "$dollar", 0x210, 16, STB_LOCAL, STT_FUNC, TEXT },
		{ "huge", 0x220, UINT64_MAX, STB_GLOBAL, STT_FUNC, TEXT },
		{ "far", UINT64_MAX - 0x500000, 16, STB_GLOBAL, STT_FUNC, TEXT },
	};

	CHECK(list, "200-210:ifunc 210-220:$dollar ");
}

static void offsets_outside_of_code_have_no_name(void **state)
{
	const struct symbol list[] = { { "all", -CODE_VADDR, UINT32_MAX, STB_GLOBAL, STT_FUNC,
					 TEXT } };
	struct image image;
	uint64_t vaddr = 0;

	image_fill(&image, list, 1);
	image_load(&image);
	assert_non_null(elf_symbols_find(image.symbols, CODE_OFFSET));
	assert_null(elf_symbols_find(image.symbols, CODE_OFFSET - 1));
	assert_null(elf_symbols_find(image.symbols, CODE_OFFSET + CODE_SIZE));
	assert_null(elf_symbols_find(image.symbols, UINT64_MAX));
	assert_true(elf_file_vaddr(image.file, CODE_OFFSET + 0x123, &vaddr));
	assert_int_equal(vaddr, CODE_VADDR + 0x123);
	assert_false(elf_file_vaddr(image.file, 0x80, &vaddr));
	assert_int_equal(vaddr, 0x80);
	image_free(&image);
}

/* Loads after one field was set to a wrong value; returns the number of functions found. */
static size_t count_with(size_t section, size_t field, uint64_t value, size_t sz)
{
	const struct symbol list[] = { FUNC("a", 0x100, 16), FUNC("b", 0x200, 16) };
	struct image image;
	size_t nr;

	image_fill(&image, list, 2);
	memcpy((uint8_t *)&image_sections(&image)[section] + field, &value, sz);
	image_load(&image);
	nr = elf_symbols_count(image.symbols);
	for (size_t at = 0; at < CODE_SIZE; at += 16)
		elf_symbols_find(image.symbols, CODE_OFFSET + at);
	image_free(&image);
	return nr;
}
#define COUNT_WITH(section, field, value)                                                          \
	count_with(section, offsetof(Elf64_Shdr, field), value, sizeof(((Elf64_Shdr *)0)->field))

static void forged_tables_are_absent(void **state)
{
	assert_int_equal(COUNT_WITH(SYMTAB, sh_info, 0), 2);
	assert_int_equal(COUNT_WITH(SYMTAB, sh_entsize, 0), 0);
	assert_int_equal(COUNT_WITH(SYMTAB, sh_entsize, 8), 0);
	assert_int_equal(COUNT_WITH(SYMTAB, sh_link, 1000), 0);
	assert_int_equal(COUNT_WITH(SYMTAB, sh_link, SYMTAB), 0);
	assert_int_equal(COUNT_WITH(SYMTAB, sh_size, UINT64_MAX), 0);
	assert_int_equal(COUNT_WITH(SYMTAB, sh_offset, UINT64_MAX), 0);
	assert_int_equal(COUNT_WITH(SYMTAB, sh_flags, SHF_COMPRESSED), 0);
	assert_int_equal(COUNT_WITH(STRTAB, sh_offset, UINT64_MAX - 4), 0);
	assert_int_equal(COUNT_WITH(STRTAB, sh_size, UINT64_MAX - 4), 0);
	assert_int_equal(COUNT_WITH(STRTAB, sh_size, 1), 0);
	assert_int_equal(COUNT_WITH(STRTAB, sh_size, 2), 1); /* "a" is there but not terminated */
}

static void a_name_that_does_not_end_is_none(void **state)
{
	const struct symbol list[] = { FUNC("abc", 0x100, 16), FUNC("def", 0x200, 16) };
	struct image image;

	image_fill(&image, list, 2);
	image_sections(&image)[STRTAB].sh_size = 7; /* \0abc\0de */
	image_load(&image);
	assert_string_equal(elf_symbols_find(image.symbols, CODE_OFFSET + 0x100), "abc");
	assert_null(elf_symbols_find(image.symbols, CODE_OFFSET + 0x200));
	assert_string_equal(elf_symbols_find(image.symbols, CODE_OFFSET + 0x100), "abc");
	image_free(&image);
}

static void other_files_are_refused(void **state)
{
	const struct symbol list[] = { FUNC("a", 0x100, 16) };
	struct image image;
	uint8_t *ident;

	image_fill(&image, list, 1);
	ident = image.bytes;
	ident[EI_CLASS] = ELFCLASS32;
	assert_null(elf_file_open_image(image.bytes, image.sz));
	ident[EI_CLASS] = ELFCLASS64;
	ident[EI_DATA] = ELFDATA2MSB;
	assert_null(elf_file_open_image(image.bytes, image.sz));
	ident[EI_DATA] = ELFDATA2LSB;
	assert_null(elf_file_open_image(image.bytes, sizeof(Elf64_Ehdr) - 1));
	ident[0] = 'e';
	assert_null(elf_file_open_image(image.bytes, image.sz));
	image_free(&image);
}

/* A note as the linker writes it, in a PT_NOTE segment in place of the first one. */
static size_t build_id_of(uint32_t name_sz, uint32_t desc_sz, uint32_t type, uint64_t filesz)
{
	const struct symbol list[] = { FUNC("a", 0x100, 16) };
	struct image image;
	Elf64_Phdr *p;
	uint32_t *note;
	size_t len;

	image_fill(&image, list, 1);
	p = (Elf64_Phdr *)(image.bytes + sizeof(Elf64_Ehdr));
	p[0] = (Elf64_Phdr){
		.p_type = PT_NOTE, .p_offset = 0x800, .p_filesz = filesz, .p_align = 4
	};
	note = (uint32_t *)(image.bytes + 0x800);
	note[0] = 8; /* another note in front: "other", 3 bytes */
	note[1] = 3;
	note[2] = type;
	memcpy(note + 3, "other\0\0\0", 8);
	note += 6;
	note[0] = name_sz;
	note[1] = desc_sz;
	note[2] = type;
	memcpy(note + 3, "GNU", 4);
	memset(note + 4, 0xab, 32);
	image_load(&image);
	len = image.file->build_id_len;
	for (size_t i = 0; i < len; i++)
		assert_int_equal(image.file->build_id[i], 0xab);
	image_free(&image);
	return len;
}

static void build_ids_are_found_and_bounded(void **state)
{
	assert_int_equal(build_id_of(4, 20, NT_GNU_BUILD_ID, 0x100), 20);
	assert_int_equal(build_id_of(4, 8, NT_GNU_BUILD_ID, 0x100), 8);
	assert_int_equal(build_id_of(4, 20, NT_GNU_BUILD_ID, UINT64_MAX), 20);
	assert_int_equal(build_id_of(4, 21, NT_GNU_BUILD_ID, 0x100), 0);
	assert_int_equal(build_id_of(4, UINT32_MAX, NT_GNU_BUILD_ID, 0x100), 0);
	assert_int_equal(build_id_of(UINT32_MAX, 20, NT_GNU_BUILD_ID, 0x100), 0);
	assert_int_equal(build_id_of(4, 20, NT_GNU_ABI_TAG, 0x100), 0);
	assert_int_equal(build_id_of(4, 20, NT_GNU_BUILD_ID, 24 + 16 + 19), 0);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void set_symbol(struct image *i, size_t k, uint64_t at, uint64_t size, uint32_t name)
{
	image_syms(i)[k] =
		(Elf64_Sym){ name, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, TEXT, CODE_VADDR + at,
			     size };
}

/* Loads within a second and, where no sanitizer blurs it, below 64 MB. Frees the image. */
static size_t check_cost(struct image *image, const char *what)
{
	double start = cpu_seconds(), took;
	struct rusage before, after;
	size_t nr;

	getrusage(RUSAGE_SELF, &before);
	image_load(image);
	for (size_t at = 0; at < CODE_SIZE; at++)
		elf_symbols_find(image->symbols, CODE_OFFSET + at);
	took = cpu_seconds() - start;
	getrusage(RUSAGE_SELF, &after);
	print_message("%s: %.0f ms, %ld MB\n", what, took * 1e3,
		      (after.ru_maxrss - before.ru_maxrss) >> 10);
	assert_true(took < 1.0 * SLOWER);
	if (SLOWER == 1)
		assert_true(after.ru_maxrss - before.ru_maxrss < 64 << 10);
	nr = elf_symbols_count(image->symbols);
	image_free(image);
	return nr;
}

/* In a child each, so that one's peak of memory does not hide the next one's. */
static void in_child(size_t (*run)(void), size_t expected)
{
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		size_t nr = run();

		if (nr != expected)
			print_message("%zu pieces, expected %zu\n", nr, expected);
		fflush(NULL);
		_exit(nr != expected);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static size_t many_nested(void)
{
	struct image image;
	size_t nr = 1100000;

	image_alloc(&image, nr, 8);
	memcpy(image_strings(&image), "\0name", 6);
	for (size_t k = 0; k < nr; k++)
		set_symbol(&image, k, k, 2 * (nr - k), 1);
	return check_cost(&image, "1.1 million functions, each in the one before");
}

static size_t too_many(void)
{
	struct image image;
	size_t nr = 1100001;

	image_alloc(&image, nr, 8);
	memcpy(image_strings(&image), "\0name", 6);
	for (size_t k = 0; k < nr; k++)
		set_symbol(&image, k, k, 1, 1);
	return check_cost(&image, "more functions than the limit");
}

static size_t long_aliases(void)
{
	struct image image;
	size_t nr = 1000000, strings = 8 << 20;

	image_alloc(&image, nr, strings);
	memset(image_strings(&image) + 1, '_', strings - 2);
	for (size_t k = 0; k < nr; k++)
		set_symbol(&image, k, 0, 16, 1 + k * 7919 % (strings - 2));
	return check_cost(&image, "a million aliases with names of 64 KB");
}

static size_t scattered_locals(void)
{
	struct image image;
	size_t nr = 1000000, strings = 32 << 20;

	image_alloc(&image, nr, strings);
	memset(image_strings(&image), 'n', strings - 1);
	for (size_t k = 0; k < nr; k++) {
		set_symbol(&image, k, k, 0, 1 + k * 7919 * 4099 % (strings - 2));
		image_syms(&image)[k].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
	}
	return check_cost(&image, "local names all over a large string table");
}

static size_t real_size(void)
{
	struct image image;
	size_t nr = 200000, strings = nr * 80;

	image_alloc(&image, nr, strings + 1);
	memset(image_strings(&image), 'n', strings);
	for (size_t k = 0; k < nr; k++) {
		image_strings(&image)[k * 80] = '\0';
		set_symbol(&image, k, k * 7919 % nr * 64, 64, 1 + k * 80);
		if (k & 1)
			image_syms(&image)[k].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
	}
	return check_cost(&image, "200,000 functions");
}

static void any_input_costs_little(void **state)
{
	in_child(many_nested, 2 * 1100000 - 1);
	in_child(too_many, 0);
	in_child(long_aliases, 1);
	in_child(scattered_locals, 0);
	in_child(real_size, 200000);
}

/* Files that are long but take no disk: the claims in their headers must not be believed. */
static void sparse_files_cost_little(void **state)
{
	const uint16_t counts[] = { SHN_LORESERVE - 1, 0 };
	char path[] = "/tmp/bpfprof-elf.XXXXXX";
	Elf64_Ehdr h = { .e_phnum = 0xfffe, .e_phentsize = sizeof(Elf64_Phdr), .e_phoff = 64 };
	Elf64_Shdr s[3] = { { .sh_size = 50000000 } };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	h.e_shoff = 64;
	h.e_shentsize = sizeof(*s);
	s[1] = (Elf64_Shdr){
		.sh_type = SHT_SYMTAB, .sh_link = 2, .sh_entsize = 24, .sh_offset = 64
	};
	s[1].sh_size = 1ull << 39;
	s[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = 64, .sh_size = 1ull << 39 };
	assert_int_equal(pwrite(fd, s, sizeof(s), 64), sizeof(s));
	assert_int_equal(ftruncate(fd, 1ull << 40), 0);
	for (size_t i = 0; i < 2; i++) {
		double start = cpu_seconds();
		struct elf_file *f;

		h.e_shnum = counts[i];
		assert_int_equal(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
		f = elf_file_open(fd);
		assert_non_null(f);
		assert_int_equal(f->nr_sections, counts[i]);
		elf_symbols_free(elf_symbols_new(f, f, SHT_SYMTAB));
		elf_file_close(f);
		assert_true(cpu_seconds() - start < 1.0 * SLOWER);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_symbol_covers_its_size_and_no_more),
		cmocka_unit_test(data_alone_names_nothing),
		cmocka_unit_test(the_innermost_wins),
		cmocka_unit_test(an_unsized_symbol_reaches_to_the_next),
		cmocka_unit_test(a_label_inside_a_function_says_nothing),
		cmocka_unit_test(aliases_follow_the_rule),
		cmocka_unit_test(versions_are_cut_off),
		cmocka_unit_test(what_is_no_code_has_no_name),
		cmocka_unit_test(offsets_outside_of_code_have_no_name),
		cmocka_unit_test(forged_tables_are_absent),
		cmocka_unit_test(a_name_that_does_not_end_is_none),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(build_ids_are_found_and_bounded),
		cmocka_unit_test(any_input_costs_little),
		cmocka_unit_test(sparse_files_cost_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Symbols of files as compilers and linkers make them. The oracle for file offsets is the running
 * program itself (what /proc/self/maps says of its functions), for names nm, for build-ids readelf.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf/elf_file.h"
#include "symbol/elf.h"

static char dir[] = "/tmp/bpfprof-elf.XXXXXX";

#if defined(__SANITIZE_ADDRESS__)
#define SLOWER 6
#else
#define SLOWER 1
#endif

/* Prints "NAME OFFSET" of own functions; one is static, one an alias, one in another section. */
static const char source[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"__attribute__((noinline, used)) int alpha(int x) { return x * 3 + rand(); }\n"
	"__attribute__((noinline, used)) static int beta(int x) { return x * 5 + alpha(x); }\n"
	"__attribute__((noinline, used, section(\".text.cold_one\"))) int gamma_(int x)\n"
	"{ return x + beta(x) + rand(); }\n"
	"int __delta(int x) __attribute__((alias(\"alpha\")));\n"
	"__asm__(\".pushsection .text\\n.globl unsized\\nunsized: nop\\nnop\\nnop\\nnop\\n\"\n"
	"	\".popsection\");\n"
	"extern char unsized[];\n"
	"void where(const char *name, void *at);\n"
	"void where(const char *name, void *at)\n"
	"{\n"
	"	unsigned long a, b, off, x = (unsigned long)at;\n"
	"	char line[512], flags[5];\n"
	"	FILE *f = fopen(\"/proc/self/maps\", \"r\");\n"
	"	while (fgets(line, sizeof(line), f))\n"
	"		if (sscanf(line, \"%lx-%lx %4s %lx\", &a, &b, flags, &off) == 4 &&\n"
	"		    a <= x && x < b)\n"
	"			printf(\"%s %lx\\n\", name, x - a + off);\n"
	"	fclose(f);\n"
	"}\n"
	"void report(void);\n"
	"void report(void)\n"
	"{\n"
	"	where(\"alpha\", alpha); where(\"alpha\", (char *)alpha + 5);\n"
	"	where(\"beta\", beta); where(\"gamma_\", gamma_); where(\"alpha\", __delta);\n"
	"	where(\"unsized\", unsized); where(\"unsized\", unsized + 3);\n"
	"}\n";

static const char main_source[] = "void report(void);\nint main(void) { report(); return 0; }\n";

__attribute__((format(printf, 1, 2))) static int run(const char *fmt, ...)
{
	char command[2048];
	size_t len;
	va_list ap;

	len = snprintf(command, sizeof(command), "cd %s && { ", dir);
	va_start(ap, fmt);
	len += vsnprintf(command + len, sizeof(command) - len, fmt, ap);
	va_end(ap);
	snprintf(command + len, sizeof(command) - len, "; } 2>>log");
	return system(command);
}
#define RUN(...) assert_int_equal(run(__VA_ARGS__), 0)

static FILE *open_file(const char *name, const char *mode)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, mode);
	assert_non_null(f);
	return f;
}

static int group_setup(void **state)
{
	FILE *f;

	if (!mkdtemp(dir))
		return -1;
	f = open_file("lib.c", "w");
	fputs(source, f);
	fclose(f);
	f = open_file("main.c", "w");
	fputs(main_source, f);
	fclose(f);
	return 0;
}

static int group_teardown(void **state)
{
	return run("rm -rf %s", dir);
}

/* A file and what is known of it. */
struct opened {
	int fd;
	struct elf_file *file;
	struct debug_files debug;
	struct symbol_module module;
	struct symbol_sources sources;
	struct symbol_found found;
};

static void open_elf(struct opened *o, const char *name, const char *debug)
{
	char path[256];

	snprintf(path, sizeof(path), name[0] == '/' ? "%.0s%s" : "%s/%s", dir, name);
	o->fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(o->fd >= 0);
	o->file = elf_file_open(o->fd);
	assert_non_null(o->file);
	debug_files_open(&o->debug, o->file, path, debug);
	o->module = (struct symbol_module){
		.kind = FRAME_USER, .path = name, .file = o->file, .debug_files = &o->debug
	};
	symbol_sources_open(&o->sources, &o->module);
}

static const char *find_name(struct opened *o, uint64_t offset)
{
	symbol_sources_find(&o->sources, offset, &o->found);
	return o->found.nr ? o->found.chain[0].name : NULL;
}

static void close_elf(struct opened *o)
{
	symbol_sources_close(&o->sources);
	debug_files_close(&o->debug);
	elf_file_close(o->file);
	close(o->fd);
}

/* Functions that the program reported are found under their names, or not. Returns how many. */
static int found_by_offset(const char *elf, const char *report, const char *debug)
{
	FILE *f = open_file(report, "r");
	unsigned long offset;
	struct opened o;
	char expected[64];
	int found = 0, lines = 0;

	open_elf(&o, elf, debug);
	for (; fscanf(f, "%63s %lx", expected, &offset) == 2; lines++) {
		const char *name = find_name(&o, offset);

		if (name)
			assert_string_equal(name, expected);
		found += name != NULL;
	}
	fclose(f);
	close_elf(&o);
	assert_int_equal(lines, 7);
	return found;
}

static void names_are_found_by_file_offset(void **state)
{
	static const char *const variants[] = {
		"-fPIE -pie",
		"-fno-pie -no-pie",
		"-fno-pie -no-pie -Wl,-Ttext-segment=0x30000000",
		"-fPIE -pie -Wl,-z,noseparate-code",
		"-fPIE -pie -Wl,-Ttext=0x7654320",
		"-fPIE -pie -Wl,--section-start=.text.cold_one=0x5000000",
		"-fno-pie -static",
	};

	for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++) {
		print_message("cc %s\n", variants[i]);
		RUN("cc -O1 %s lib.c main.c -o prog && ./prog > report", variants[i]);
		assert_int_equal(found_by_offset("prog", "report", NULL), 7);
	}
}

/* With lld address minus offset differs by segment; gold's segments share pages of the file. */
static void other_linkers_are_read(void **state)
{
	static const char *const linkers[] = { "lld", "gold" };

	for (size_t i = 0; i < 2; i++) {
		if (run("cc -O1 -fuse-ld=%s lib.c main.c -o prog", linkers[i])) {
			print_message("ld.%s is not here\n", linkers[i]);
			continue;
		}
		RUN("./prog > report");
		assert_int_equal(found_by_offset("prog", "report", NULL), 7);
	}
}

static uint64_t offset_of(const struct elf_file *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->nr_segments; i++) {
		const Elf64_Phdr *s = &f->segments[i];

		if (s->p_type == PT_LOAD && (s->p_flags & PF_X) && vaddr - s->p_vaddr < s->p_filesz)
			return vaddr - s->p_vaddr + s->p_offset;
	}
	return UINT64_MAX;
}

/* Hand-written code: no label has a size, but for that of data. */
static const char assembly[] = "	.text\n"
			       "	.p2align 12\n"
			       "long_one: nop\n"
			       "	.skip 0x2000\n"
			       "	.p2align 4\n"
			       "returns: nop\n"
			       "	ret\n"
			       "	.p2align 4\n"
			       "	nop; nop; nop; nop\n"
			       "	.p2align 6\n"
			       "before_fde: nop\n"
			       "	nop; nop; nop; nop; nop; nop; nop\n"
			       "	.cfi_startproc\n"
			       "	nop; nop; nop; nop\n"
			       "	.cfi_endproc\n"
			       "	.p2align 6\n"
			       "described: .cfi_startproc\n"
			       "	nop; nop; nop; nop\n"
			       "	.cfi_endproc\n"
			       "	nop; nop; nop; nop\n"
			       "	.p2align 6\n"
			       "before_data: nop\n"
			       "	nop; nop; nop\n"
			       "	.type data, %object\n"
			       "data:	.quad 1\n"
			       "	.size data, 8\n";

/* Where the file assembled from them has a label. */
static uint64_t label_at(struct opened *o, const char *label)
{
	unsigned long at = 0;
	FILE *f;

	RUN("nm unsized | awk '$3 == \"%s\" { print $1 }' > at", label);
	f = open_file("at", "r");
	assert_int_equal(fscanf(f, "%lx", &at), 1);
	fclose(f);
	return offset_of(o->file, at);
}

static void check_label(struct opened *o, const char *label, uint64_t at, bool named)
{
	const char *name = find_name(o, label_at(o, label) + at);

	print_message("%s+0x%lx: %s\n", label, (unsigned long)at, name ? name : "-");
	if (named)
		assert_string_equal(name, label);
	else
		assert_null(name);
}

static void names_without_a_size_hold_while_nothing_else_speaks(void **state)
{
	static const struct {
		const char *label;
		uint64_t last, other; /* that it names, and does not */
	} rows[] = {
		{ "long_one", 0xf00, 0x1000 }, /* a page */
		{ "returns", 1, 0x12 },	       /* padding behind a return */
		{ "before_fde", 7, 32 },       /* another function of .eh_frame_hdr */
		{ "described", 3, 17 },	       /* the end of its own */
		{ "before_data", 3, 16 },
	};
	struct opened o;
	FILE *f = open_file("unsized.s", "w");

	fputs(assembly, f);
	fclose(f);
	RUN("cc -shared -nostdlib -Wl,--eh-frame-hdr unsized.s -o unsized");
	open_elf(&o, "unsized", NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		check_label(&o, rows[i].label, 0, true);
		check_label(&o, rows[i].label, rows[i].last, true);
		check_label(&o, rows[i].label, rows[i].other, false);
	}
	close_elf(&o);
}

static void shared_objects_keep_what_they_export(void **state)
{
	RUN("cc -O1 -fPIC -shared lib.c -o lib.so");
	RUN("cc main.c ./lib.so -o prog && ./prog > report");
	assert_int_equal(found_by_offset("lib.so", "report", NULL), 7);
	RUN("strip lib.so");
	assert_int_equal(found_by_offset("lib.so", "report", NULL), 6); /* not the static one */
}

static void separate_debug_files_name_stripped_ones(void **state)
{
	char debug[64];

	snprintf(debug, sizeof(debug), "%s/debug", dir);
	RUN("cc -O1 -g -Wl,--build-id=0xabcdef0123456789 lib.c main.c -o prog && ./prog > report");
	RUN("mkdir -p debug/.build-id/ab && strip -o stripped prog");
	assert_int_equal(found_by_offset("stripped", "report", debug), 0);
	RUN("objcopy --only-keep-debug prog debug/.build-id/ab/cdef0123456789.debug");
	assert_int_equal(found_by_offset("stripped", "report", debug), 7);
	assert_int_equal(found_by_offset("stripped", "report", NULL), 0);
}

static void debug_files_of_another_build_are_not_used(void **state)
{
	char debug[64];

	snprintf(debug, sizeof(debug), "%s/other", dir);
	RUN("cc -O1 -g -Wl,--build-id=0xabcd lib.c main.c -o prog && ./prog > report");
	RUN("cc -O1 -g -Wl,--build-id=0xabce lib.c main.c -o prog2");
	RUN("mkdir -p other/.build-id/ab && strip prog && cp prog2 other/.build-id/ab/cd.debug");
	assert_int_equal(found_by_offset("prog", "report", debug), 0);
	RUN("rm other/.build-id/ab/cd.debug && mkfifo other/.build-id/ab/cd.debug");
	assert_int_equal(found_by_offset("prog", "report", debug), 0);
}

static void build_ids_are_what_the_linker_wrote(void **state)
{
	char expected[64] = "", hex[41] = "";
	struct opened o;
	FILE *f;

	RUN("cc lib.c main.c -Wl,--build-id=sha1 -o prog");
	RUN("readelf -n prog | sed -n 's/.*Build ID: //p' > id");
	f = open_file("id", "r");
	assert_int_equal(fscanf(f, "%63s", expected), 1);
	fclose(f);
	open_elf(&o, "prog", NULL);
	assert_int_equal(o.file->build_id_len, 20);
	for (size_t i = 0; i < 20; i++)
		snprintf(hex + 2 * i, 3, "%02x", o.file->build_id[i]);
	assert_string_equal(hex, expected);
	close_elf(&o);
	RUN("cc lib.c main.c -Wl,--build-id=none -o prog");
	open_elf(&o, "prog", NULL);
	assert_int_equal(o.file->build_id_len, 0);
	close_elf(&o);
}

/* What nm says of one address: all names there, as " a b c ". */
struct listing {
	unsigned long addr, size;
	char names[65536];
};

/* The first, middle and last byte of what starts at an address are called by one of its names. */
static void check_listing(struct opened *o, const struct listing *l, size_t *inner)
{
	const unsigned long at[] = { l->addr, l->addr + l->size / 2, l->addr + l->size - 1 };
	char needle[8192];

	for (size_t i = 0; i < 3; i++) {
		const char *name = find_name(o, offset_of(o->file, at[i]));

		assert_non_null(name);
		snprintf(needle, sizeof(needle), " %s ", name);
		if (strstr(l->names, needle))
			continue;
		if (i == 0)
			fail_msg("%lx is called %s, not one of%s", l->addr, name, l->names);
		++*inner; /* another function lies inside */
	}
}

/* Every sized function that nm lists is found. Returns how many addresses these were. */
static size_t check_against_nm(struct opened *o, const char *options, const char *path)
{
	static struct listing l;
	unsigned long addr, size;
	size_t nr = 0, inner = 0;
	char name[8192], type;
	FILE *f;

	RUN("nm -S -n --defined-only %s %s > names", options, path);
	f = open_file("names", "r");
	l.addr = 0;
	while (fscanf(f, "%lx", &addr) == 1) {
		if (fscanf(f, "%lx %c %8191s", &size, &type, name) != 3) {
			assert_int_equal(fscanf(f, "%*[^\n]"), 0); /* no size */
			continue;
		}
		if (!strchr("tTwWi", type) || !size || strlen(name) > 4000)
			continue;
		if (strchr(name + 1, '@'))
			*strchr(name + 1, '@') = '\0';
		if (addr != l.addr) {
			if (l.addr)
				check_listing(o, &l, &inner);
			l.addr = addr;
			l.size = size;
			strcpy(l.names, " ");
			nr++;
		}
		l.size = size < l.size ? size : l.size;
		if (strlen(l.names) < sizeof(l.names) - sizeof(name))
			strcat(strcat(l.names, name), " ");
	}
	fclose(f);
	check_listing(o, &l, &inner);
	print_message("%s: %zu addresses as in nm, %zu times another function inside\n", path, nr,
		      inner);
	assert_true(inner * 20 < nr);
	return nr;
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void check_real_file(const char *path, const char *options, size_t at_least)
{
	double start = cpu_ms();
	struct opened o;

	if (access(path, R_OK)) {
		print_message("%s is not here\n", path);
		return;
	}
	open_elf(&o, path, NULL);
	print_message("%s: loaded in %.1f ms\n", path, cpu_ms() - start);
	assert_true(cpu_ms() - start < 100 * SLOWER);
	assert_true(check_against_nm(&o, options, path) >= at_least);
	close_elf(&o);
}

static void real_files_agree_with_nm(void **state)
{
	char self[4096] = "";

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	check_real_file(self, "", 50);
	check_real_file("/usr/lib/x86_64-linux-gnu/libc.so.6", "-D", 1500);
	check_real_file("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "-D", 3000);
	check_real_file("/usr/bin/python3", "-D", 1000);
	check_real_file("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "-D", 20000);
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Where a change hurts: the header, the tables of segments, sections and symbols, or anywhere. */
static size_t mutation_target(const struct elf_file *f, uint64_t *x)
{
	const Elf64_Shdr *symtab = &f->sections[f->nr_sections - 3];
	uint64_t where = next_random(x), r = next_random(x);

	switch (where % 5) {
	case 0:
		return r % sizeof(f->header);
	case 1:
		return f->header.e_phoff + r % (f->nr_segments * sizeof(Elf64_Phdr));
	case 2:
		return f->header.e_shoff + r % (f->nr_sections * sizeof(Elf64_Shdr));
	case 3:
		return symtab->sh_offset + r % symtab->sh_size;
	default:
		return r % f->size;
	}
}

static void mutate(uint8_t *bytes, size_t sz, const struct elf_file *f, uint64_t *x)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };

	for (size_t n = 1 + next_random(x) % 6; n-- > 0;) {
		size_t at = mutation_target(f, x);

		if (at < sz)
			bytes[at] =
				next_random(x) & 1 ? values[next_random(x) % 5] : next_random(x);
	}
}

/* From an exact copy on the heap, so that the sanitizer sees each byte read beyond. */
static bool survive(const uint8_t *bytes, size_t sz, uint64_t *x)
{
	uint8_t *copy = malloc(sz ? sz : 1);
	struct elf_symbols *symbols;
	struct elf_file *f;
	bool named = false;

	memcpy(copy, bytes, sz);
	f = elf_file_open_image(copy, sz);
	if (f) {
		symbols = elf_symbols_new(f, f, SHT_SYMTAB);
		for (int i = 0; i < 50; i++)
			named |= elf_symbols_find(symbols, next_random(x) % (sz + 1)) != NULL;
		elf_symbols_free(symbols);
		elf_file_close(f);
	}
	free(copy);
	return named;
}

static void damaged_files_do_no_harm(void **state)
{
	uint8_t *bytes, *copy;
	struct opened o;
	double start, slowest = 0;
	size_t named = 0, sz;
	uint64_t x = 88172645463325252ull;

	RUN("cc -O1 lib.c main.c -o prog");
	open_elf(&o, "prog", NULL);
	sz = o.file->size;
	assert_int_equal(o.file->sections[o.file->nr_sections - 3].sh_type, SHT_SYMTAB);
	bytes = malloc(sz);
	copy = malloc(sz);
	assert_int_equal(elf_file_read(o.file, 0, bytes, sz), sz);
	for (int i = 0; i < 4000; i++) {
		memcpy(copy, bytes, sz);
		mutate(copy, sz, o.file, &x);
		start = cpu_ms();
		named += survive(copy, i % 4 ? sz : next_random(&x) % sz, &x);
		slowest = cpu_ms() - start > slowest ? cpu_ms() - start : slowest;
	}
	print_message("%zu of 4000 still had names, slowest %.1f ms\n", named, slowest);
	assert_true(named > 1000 && named < 3990);
	assert_true(slowest < 1000);
	free(bytes);
	free(copy);
	close_elf(&o);
}

/* A mapped file would end the program here. */
static void a_file_that_shrinks_meanwhile_is_harmless(void **state)
{
	struct elf_symbols *symbols;
	struct opened o;
	size_t nr;

	RUN("cc -O1 lib.c main.c -o prog");
	open_elf(&o, "prog", NULL);
	symbols = elf_symbols_new(o.file, o.file, SHT_SYMTAB);
	nr = elf_symbols_count(symbols);
	elf_symbols_free(symbols);
	RUN("truncate -s 1000 prog");
	assert_true(nr >= 5);
	assert_null(elf_symbols_new(o.file, o.file, SHT_SYMTAB));
	assert_null(find_name(&o, offset_of(o.file, o.file->header.e_entry)));
	close_elf(&o);
}

static void what_is_no_regular_file_is_refused(void **state)
{
	int fd = open(dir, O_RDONLY | O_CLOEXEC);

	assert_null(elf_file_open(fd));
	close(fd);
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	assert_null(elf_file_open(fd));
	close(fd);
	assert_null(elf_file_open(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_found_by_file_offset),
		cmocka_unit_test(other_linkers_are_read),
		cmocka_unit_test(names_without_a_size_hold_while_nothing_else_speaks),
		cmocka_unit_test(shared_objects_keep_what_they_export),
		cmocka_unit_test(separate_debug_files_name_stripped_ones),
		cmocka_unit_test(debug_files_of_another_build_are_not_used),
		cmocka_unit_test(build_ids_are_what_the_linker_wrote),
		cmocka_unit_test(real_files_agree_with_nm),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(a_file_that_shrinks_meanwhile_is_harmless),
		cmocka_unit_test(what_is_no_regular_file_is_refused),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

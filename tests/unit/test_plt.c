/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of the procedure linkage table, against the labels of objdump; and damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/source.h"

static char dir[] = "/tmp/bpfprof-plt.XXXXXX";

/* One function is only called, one called and pointed at (.plt.got when it is bound at once). */
static const char source[] =
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
	"int (*volatile pointer)(const char *);\n"
	"int main(int c, char **v)\n"
	"{\n"
	"	pointer = puts;\n"
	"	puts(v[0]);\n"
	"	return memcmp(v[0], v[c], c) + rand() + (int)write(1, v, 0) + atoi(getenv(v[0]));\n"
	"}\n";

static int group_setup(void **state)
{
	char path[64];
	FILE *f;

	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/main.c", dir);
	f = fopen(path, "w");
	if (!f)
		return -1;
	fputs(source, f);
	return fclose(f);
}

static int group_teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static struct elf_file *open_file(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return elf_file_open(open(path, O_RDONLY | O_CLOEXEC));
}

static void close_file(struct elf_file *f)
{
	int fd = f->fd;

	elf_file_close(f);
	close(fd);
}

/* What is called NAME@plt at a link address, "" = nothing. */
static const char *name_at(struct symbol_sources *s, uint64_t vaddr)
{
	static struct symbol_found found;
	uint64_t offset;

	assert_true(elf_file_offset(s->module->file, vaddr, &offset));
	symbol_sources_find(s, offset, &found);
	return found.nr ? found.chain[0].name : "";
}

/* Every label of objdump is found at its first byte and in the middle. Returns their number. */
static int check_labels(struct symbol_sources *s, const char *objdump)
{
	char command[128], line[512], name[256];
	int nr = 0;
	uint64_t at;
	FILE *p;

	snprintf(command, sizeof(command), "%s -d %s/prog", objdump, dir);
	p = popen(command, "r");
	while (fgets(line, sizeof(line), p)) {
		if (sscanf(line, "%" SCNx64 " <%255[^>]>:", &at, name) != 2)
			continue;
		/* Others are other code, "getenv@plt-0x10" the head of the table. */
		if (!strstr(name, "@plt") || strchr(name, '*') || strstr(name, "@plt-")) {
			assert_null(strstr(name_at(s, at), "@plt"));
			continue;
		}
		assert_string_equal(name_at(s, at), name);
		assert_string_equal(name_at(s, at + 4), name);
		nr++;
	}
	pclose(p);
	return nr;
}

static int check(const char *compiler, const char *objdump, const char *options)
{
	struct symbol_sources s;
	struct symbol_module m;
	char command[512];
	int nr;

	snprintf(command, sizeof(command), "cd %s && %s -O1 -fno-builtin %s main.c -o prog 2>&-",
		 dir, compiler, options);
	if (system(command)) {
		print_message("%s %s: not here\n", compiler, options);
		return 0;
	}
	m = (struct symbol_module){ .kind = FRAME_USER, .path = "", .file = open_file("prog") };
	assert_non_null(m.file);
	symbol_sources_open(&s, &m);
	nr = check_labels(&s, objdump);
	symbol_sources_close(&s);
	close_file((struct elf_file *)m.file);
	print_message("%s %s: %d entries\n", compiler, options, nr);
	assert_true(nr >= 6);
	return nr;
}

static const char *const ways[] = {
	"-fPIE -pie",
	"-fPIE -pie -s -Wl,-z,now",
	"-fno-pie -no-pie -Wl,-z,lazy",
	"-fPIE -pie -fuse-ld=lld -Wl,-z,lazy",
	"-fPIE -pie -fuse-ld=gold",
};

static void labels_of_objdump_are_found(void **state)
{
	int nr = 0;

	if (system("objdump --version >/dev/null 2>&1"))
		skip();
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		nr += check("cc", "objdump", ways[i]);
#if defined(__x86_64__)
	nr += check("cc", "objdump", "-fcf-protection -Wl,-z,ibtplt -Wl,-z,lazy");
	nr += check("cc", "objdump", "-fcf-protection -Wl,-z,ibtplt -Wl,-z,now");
#endif
	assert_true(nr >= 18);
}

static void labels_on_aarch64_are_found(void **state)
{
	static const char *const more[] = { "-Wl,-z,force-bti", "-Wl,-z,pac-plt",
					    "-Wl,-z,force-bti -Wl,-z,pac-plt" };

	if (system("aarch64-linux-gnu-gcc --version >/dev/null 2>&1 && "
		   "aarch64-linux-gnu-objdump --version >/dev/null 2>&1"))
		skip();
	for (size_t i = 0; i < 3; i++)
		check("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", ways[i]);
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		check("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", more[i]);
}

static void ask_everywhere(const uint8_t *bytes, size_t sz)
{
	struct symbol_module m = { .kind = FRAME_USER, .path = "" };
	struct symbol_found found;
	uint8_t *copy = malloc(sz);
	void *plt;

	memcpy(copy, bytes, sz);
	m.file = elf_file_open_image(copy, sz);
	plt = m.file ? symbol_source_plt.open(&m) : NULL;
	for (size_t at = 0; plt && at < sz; at += 4) {
		found = (struct symbol_found){};
		symbol_source_plt.find(plt, at, &found);
	}
	if (plt)
		symbol_source_plt.close(plt);
	elf_file_close((struct elf_file *)m.file);
	free(copy);
}

/* Headers, relocations, symbols and code: the sanitizers see what is read beyond. */
static void damaged_files_do_no_harm(void **state)
{
	struct elf_file *f;
	unsigned int seed = 11;
	uint8_t *bytes, *copy;
	size_t sz;

	check("cc", "objdump", ways[0]);
	f = open_file("prog");
	sz = f->size;
	bytes = malloc(sz);
	copy = malloc(sz);
	assert_int_equal(elf_file_read(f, 0, bytes, sz), sz);
	for (int i = 0; i < 300; i++) {
		size_t table = f->header.e_shoff, from = i % 2 ? table : 0;

		memcpy(copy, bytes, sz);
		for (int n = 1 + rand_r(&seed) % 8; n > 0; n--)
			copy[from + rand_r(&seed) % (sz - from)] = rand_r(&seed);
		ask_everywhere(copy, i % 3 ? sz : rand_r(&seed) % sz);
	}
	close_file(f);
	free(bytes);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_of_objdump_are_found),
		cmocka_unit_test(labels_on_aarch64_are_found),
		cmocka_unit_test(damaged_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * generates HOW MILLISECONDS [WHERE]: generates two functions, of which one takes three times as
 * long as the other, says what they are called as runtimes do, and calls them for that much CPU
 * time.
 *
 * HOW: map, in /tmp/perf-PID.map; dump, in jit-PID.dump of the working folder, with lines; late, a
 * map when all is done; net, a map in the form of .NET's; none. These maps are not to be believed:
 * stale (written before the program began), foreign (of another user), link (to a file of ours),
 * fifo, garbage (a page of HTML), large (what names this code is behind 256 MB of nothing).
 *
 * WHERE the code is: private memory, or as runtimes do: shared (anonymous) memory, twice (a memfd
 * that is written at one place and run at another).
 */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE 65536 /* the largest of any kernel we run on */

#ifdef __aarch64__
#define MACHINE EM_AARCH64
static const uint32_t code[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xf1000400, /* 1: subs x0, x0, #1 */
	0x54ffffe1, /* b.ne 1b */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
#else
#define MACHINE EM_X86_64
static const uint8_t code[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0x48, 0xff, 0xcf, /* 1: dec %rdi */
	0x75, 0xfb,	  /* jne 1b */
	0x5d,		  /* pop %rbp */
	0xc3,		  /* ret */
};
#endif

#define APART 256 /* the second function lies so far behind the first */

static const char *const names[] = { "generated;often (1)", "generated seldom" };

static void fatal(const char *what)
{
	perror(what);
	exit(1);
}

static char *map(int fd, int prot, int flags)
{
	char *page = mmap(NULL, PAGE, prot, flags | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	if (page == MAP_FAILED)
		fatal("mmap");
	return page;
}

static char *generate(const char *where)
{
	bool twice = !strcmp(where, "twice");
	int fd = twice ? memfd_create("doublemapper", MFD_CLOEXEC) : -1;
	char *page, *runs;

	if (twice && (fd < 0 || ftruncate(fd, PAGE)))
		fatal("memfd");
	page = map(fd, PROT_READ | PROT_WRITE, *where ? MAP_SHARED : MAP_PRIVATE);
	runs = twice ? map(fd, PROT_READ | PROT_EXEC, MAP_SHARED) : page;
	memcpy(page, code, sizeof(code));
	memcpy(page + APART, code, sizeof(code));
	__builtin___clear_cache(page, page + PAGE);
	__builtin___clear_cache(runs, runs + PAGE);
	if (!twice && mprotect(page, PAGE, PROT_READ | PROT_EXEC))
		fatal("mprotect");
	return runs;
}

static const char *const net_names[] = {
	"void [work] Work.Loop::Often(int64)[OptimizedTier1]",
	"instance void [work] Work.Loop`1[System.__Canon]::Seldom(int64)[Tier0]",
};

static void write_net_map(const char *path, const char *page)
{
	FILE *f = fopen(path, "w");

	if (!f)
		fatal(path);
	for (int i = 0; i < 2; i++)
		fprintf(f, "%016lX %zx %s\n", (unsigned long)page + i * APART, sizeof(code),
			net_names[i]);
	fclose(f);
}

static void write_map(const char *path, const char *page)
{
	FILE *f = fopen(path, "w");

	if (!f)
		fatal(path);
	for (int i = 0; i < 2; i++)
		fprintf(f, "%lx %zx %s\n", (unsigned long)page + i * APART, sizeof(code), names[i]);
	fclose(f);
}

static void write_garbage(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		fatal(path);
	fputs("<html>\n<p>404 page not found\n</html>\n", f);
	fclose(f);
}

static void write_large(const char *path, const char *page)
{
	FILE *f = fopen(path, "w");

	if (!f)
		fatal(path);
	fputs("1000 10 elsewhere\n", f);
	fseek(f, 257 << 20, SEEK_SET);
	fprintf(f, "\n%lx %zx %s\n", (unsigned long)page, sizeof(code), names[0]);
	fclose(f);
}

static void put(int fd, const void *bytes, size_t nr)
{
	if (write(fd, bytes, nr) != (ssize_t)nr)
		fatal("jitdump");
}

static void write_dump(const char *page)
{
	const uint32_t header[] = { 0x4A695444, 1, 40, MACHINE, 0, getpid(), 0, 0, 0, 0 };
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		fatal(path);
	put(fd, header, sizeof(header));
	if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		fatal("mmap");
	for (uint64_t i = 0; i < 2; i++) {
		const uint64_t at = (uint64_t)page + i * APART;
		const uint64_t lines[] = { at, 1, at, 41 + i };
		const uint64_t load[] = { getpid(), at, at, sizeof(code), i };
		uint32_t head[] = { 2, 16 + sizeof(lines) + 8, 0, 0 };

		put(fd, head, sizeof(head));
		put(fd, lines, sizeof(lines));
		put(fd, "made.up", 8);
		head[0] = 0;
		head[1] = 16 + sizeof(load) + strlen(names[i]) + 1 + sizeof(code);
		put(fd, head, sizeof(head));
		put(fd, load, sizeof(load));
		put(fd, names[i], strlen(names[i]) + 1);
		put(fd, code, sizeof(code));
	}
}

static void say(const char *how, const char *page)
{
	const struct timespec hour_ago[] = { { time(NULL) - 3600, 0 }, { time(NULL) - 3600, 0 } };
	char path[64], other[80];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	snprintf(other, sizeof(other), "%s.other", path);
	if (!strcmp(how, "dump"))
		write_dump(page);
	else if (!strcmp(how, "net"))
		write_net_map(path, page);
	else if (!strcmp(how, "link") && (write_map(other, page), symlink(other, path)))
		fatal("symlink");
	else if (!strcmp(how, "garbage"))
		write_garbage(path);
	else if (!strcmp(how, "large"))
		write_large(path, page);
	else if (!strcmp(how, "fifo") && mkfifo(path, 0600))
		fatal("mkfifo");
	else if (!strcmp(how, "map") || !strcmp(how, "foreign") || !strcmp(how, "stale"))
		write_map(path, page);
	if (!strcmp(how, "foreign") && chown(path, 12345, 12345))
		fatal("chown");
	if (!strcmp(how, "stale") && utimensat(AT_FDCWD, path, hour_ago, 0))
		fatal("utimensat");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "map";
	double seconds = argc > 2 ? atof(argv[2]) / 1000 : 1;
	char *page = generate(argc > 3 ? argv[3] : ""), path[64];

	say(how, page);
	while ((double)clock() / CLOCKS_PER_SEC < seconds) {
		((void (*)(uint64_t))page)(300000);
		((void (*)(uint64_t))(page + APART))(100000);
	}
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	if (!strcmp(how, "late"))
		write_map(path, page);
	return 0;
}

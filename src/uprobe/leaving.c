/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of names that tell, and the search for ways out. */
#include "uprobe/leaving.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/section.h"
#include "uprobe/leaving_parts.h"
#include "uprobe/place_parts.h"

#define NR(a)	  (sizeof(a) / sizeof(*(a)))
#define MOST_TEXT (64u << 20) /* of names */

/* A file that refers to one of these has code through which somebody unwinds. */
static const char *const unwinding[] = {
	"__gxx_personality_v0", "rust_eh_personality", "_Unwind_RaiseException",
	"_Unwind_Resume",	"pthread_exit",	       "pthread_cancel",
};

/*
 * Functions of the C library that call back what may throw, and POSIX's cancellation points, where
 * glibc unwinds the thread. Without leading underscores, and without "libc_".
 */
static const char *const passed[] = {
	"accept",
	"accept4",
	"aio_suspend",
	"bsearch",
	"call_once",
	"catopen",
	"clock_nanosleep",
	"clone",
	"clone3",
	"close",
	"closedir",
	"connect",
	"copy_file_range",
	"creat",
	"creat64",
	"dl_iterate_phdr",
	"epoll_pwait",
	"epoll_wait",
	"error",
	"exit",
	"fclose",
	"fcntl",
	"fcntl64",
	"fdatasync",
	"fflush",
	"fgetc",
	"fgets",
	"fopen",
	"fputc",
	"fputs",
	"fread",
	"freopen",
	"fscanf",
	"fseek",
	"fsync",
	"ftw",
	"ftw64",
	"fts_children",
	"fts_read",
	"fwrite",
	"getc",
	"getaddrinfo",
	"getline",
	"glob",
	"glob64",
	"lfind",
	"libc_start_call_main",
	"start_call_main",
	"start_main",
	"lockf",
	"lsearch",
	"mq_receive",
	"mq_send",
	"mq_timedreceive",
	"mq_timedsend",
	"msgrcv",
	"msgsnd",
	"msync",
	"nanosleep",
	"nftw",
	"nftw64",
	"open",
	"open64",
	"openat",
	"openat64",
	"opendir",
	"pause",
	"pclose",
	"poll",
	"popen",
	"ppoll",
	"pread",
	"pread64",
	"printf",
	"pselect",
	"pthread_cond_clockwait",
	"pthread_cond_timedwait",
	"pthread_cond_wait",
	"pthread_exit",
	"pthread_join",
	"pthread_once",
	"pthread_testcancel",
	"pthread_timedjoin_np",
	"puts",
	"pwrite",
	"pwrite64",
	"qsort",
	"qsort_r",
	"read",
	"readdir",
	"readv",
	"recv",
	"recvfrom",
	"recvmmsg",
	"recvmsg",
	"scandir",
	"scandir64",
	"scanf",
	"select",
	"sem_clockwait",
	"sem_timedwait",
	"sem_wait",
	"send",
	"sendmmsg",
	"sendmsg",
	"sendto",
	"sigpause",
	"sigsuspend",
	"sigtimedwait",
	"sigwait",
	"sigwaitinfo",
	"sleep",
	"splice",
	"start_thread",
	"system",
	"tcdrain",
	"tdelete",
	"tdestroy",
	"tee",
	"tfind",
	"tsearch",
	"twalk",
	"twalk_r",
	"usleep",
	"vfork",
	"vmsplice",
	"wait",
	"wait3",
	"wait4",
	"waitid",
	"waitpid",
	"write",
	"writev",
};

/* Is one of the names a whole word in text? */
static bool has_any(const char *text, size_t sz)
{
	for (size_t i = 0; i < NR(unwinding); i++) {
		size_t len = strlen(unwinding[i]) + 1; /* with the 0 behind it */

		if (memmem(text, sz, unwinding[i], len))
			return true;
	}
	return false;
}

static bool refers(const struct functions *fs, const char *section)
{
	const struct elf_file *file = functions_file(fs);
	const Elf64_Shdr *s = section_find(file, section);
	size_t sz = 0;
	char *text = s ? section_read(file, s, MOST_TEXT, &sz) : NULL;
	bool yes = text && has_any(text, sz);

	free(text);
	return yes;
}

/* It has tables for unwinders, but no names: it may be anything. */
static bool is_silent(const struct functions *fs)
{
	const struct elf_file *file = functions_file(fs);

	return section_find(file, ".gcc_except_table") && !section_find(file, ".dynstr") &&
	       !section_find(file, ".strtab");
}

static bool is_libc(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	return !strncmp(base, "libc.so", 7) || !strncmp(base, "libc-2.", 7) ||
	       !strncmp(base, "ld-", 3);
}

enum leaving_file leaving_of_file(const struct functions *fs, const char *path)
{
	if (functions_are_go(fs))
		return LEAVING_GO;
	if (is_libc(path))
		return LEAVING_LIBC;
	if (refers(fs, ".dynstr") || refers(fs, ".strtab") || is_silent(fs))
		return LEAVING_UNWINDS;
	return LEAVING_C;
}

static const char *plain_name(const char *name)
{
	name += strspn(name, "_");
	if (!strncmp(name, "GI_", 3))
		name += 3;
	name += strspn(name, "_");
	if (!strncmp(name, "libc_", 5))
		name += 5;
	return name;
}

/* Streams read and write below any of these. */
static bool is_of_stream(const char *plain)
{
	return !strncmp(plain, "IO_", 3) || strstr(plain, "cancel");
}

static bool is_passed(const struct uprobe_function *f)
{
	for (size_t k = 0; k < f->nr_names; k++) {
		if (is_of_stream(plain_name(f->names[k])))
			return true;
		for (size_t i = 0; i < NR(passed); i++)
			if (!strcmp(plain_name(f->names[k]), passed[i]))
				return true;
	}
	return false;
}

bool leaving_by_probe(enum leaving_file file, const struct uprobe_function *f)
{
	return file == LEAVING_C || (file == LEAVING_LIBC && !is_passed(f));
}

/* Is part a piece of f that the compiler has put elsewhere? */
static bool is_part(const struct uprobe_function *part, const struct uprobe_function *f)
{
	for (size_t k = 0; part && k < part->nr_names; k++)
		for (size_t i = 0; i < f->nr_names; i++) {
			size_t len = strlen(f->names[i]);

			if (!strncmp(part->names[k], f->names[i], len) &&
			    !strncmp(part->names[k] + len, ".cold", 5))
				return true;
		}
	return false;
}

static bool leaves(const struct functions *fs, const struct uprobe_function *f,
		   const struct insn *insn)
{
	uint64_t to = insn->jumps_to;

	if (insn->is_return)
		return true;
	if (!to || (to > f->address && to < f->address + f->size))
		return false;
	return to == f->address ? false : !is_part(functions_at(fs, to), f);
}

static void set_bit_to(uint32_t *bits, uint8_t nr, bool to)
{
	if (nr != INSN_NO_REGISTER)
		*bits = to ? *bits | 1u << nr : *bits & ~(1u << nr);
}

/*
 * Does it jump to where a pointer leads, and not by a table of its own cases? What a register holds
 * that a table was read or added up for has been computed; a pointer is copied. (A jump within the
 * function that is taken for a way out ends no call unless the stack pointer is where it was at the
 * entry.)
 */
bool leaving_by_pointer(const struct insn *insn, uint32_t *computed)
{
	set_bit_to(computed, insn->computed, true);
	set_bit_to(computed, insn->copied, false);
	return insn->jumps_through ||
	       (insn->jumps_by != INSN_NO_REGISTER && !(*computed >> insn->jumps_by & 1));
}

void leaving_ways_add(struct leaving_ways *to, const struct uprobe_function *in,
		      const struct insn *insn)
{
	to->v = xgrow(to->v, to->nr, &to->cap, sizeof(*to->v));
	to->v[to->nr++] = (struct leaving){ .offset = in->offset + (insn->address - in->address),
					    .jumps = !insn->is_return };
}

/* of: the function that in, itself or a part of it, belongs to. */
static int add_of(struct places *p, const struct functions *fs, const struct uprobe_function *of,
		  const struct uprobe_function *in, struct leaving_ways *to)
{
	uint32_t computed = 0;
	struct insn insn;
	bool away;

	for (uint64_t at = in->address; at - in->address < in->size; at += insn.len) {
		if (!place_decode(p, in, at, &insn))
			return -EILSEQ;
		away = leaving_by_pointer(&insn, &computed) || leaves(fs, of, &insn);
		if (!away ||
		    (insn.jumps_to >= in->address && insn.jumps_to < in->address + in->size))
			continue;
		leaving_ways_add(to, in, &insn);
	}
	return 0;
}

int leaving_find(struct places *p, const struct functions *fs, const struct uprobe_function *f,
		 struct leaving **v, size_t *nr)
{
	struct leaving_ways list = {};
	size_t nr_all;
	const struct uprobe_function *all = functions_all(fs, &nr_all);
	int err = add_of(p, fs, f, f, &list);

	for (size_t i = 0; i < nr_all && !err; i++)
		if (is_part(&all[i], f))
			err = add_of(p, fs, f, &all[i], &list);
	if (err) {
		free(list.v);
		list = (struct leaving_ways){};
	}
	*v = list.v;
	*nr = list.nr;
	return err;
}

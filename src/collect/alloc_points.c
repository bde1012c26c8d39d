/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of allocators' functions, and the files that have them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "collect/alloc.h"
#include "collect/points_files.h"
#include "collect/points_parts.h"

#define SIZE(nr)	    ALLOC_HOW(nr, 0, 0, 0), false
#define PRODUCT(nr, factor) ALLOC_HOW(nr, factor, 0, 0), false
#define RESIZE(size, freed) ALLOC_HOW(size, 0, freed, 0), false
#define STORED(nr)	    ALLOC_HOW(nr, 0, 0, ALLOC_IS_STORED), false
#define FREE(nr)	    ALLOC_HOW(0, 0, nr, 0), true

/*
 * Each table by the linker's names, in the order of strcmp(). reallocarray() is missing, since it
 * goes on as realloc().
 */
static const struct points_name function_rows[] = {
	{ "_rjem_calloc", PRODUCT(1, 2) },
	{ "_rjem_free", FREE(1) },
	{ "_rjem_malloc", SIZE(1) },
	{ "_rjem_mallocx", SIZE(1) },
	{ "_rjem_rallocx", RESIZE(2, 1) },
	{ "_rjem_realloc", RESIZE(2, 1) },
	{ "_rjem_sdallocx", FREE(1) },
	{ "aligned_alloc", SIZE(2) },
	{ "calloc", PRODUCT(1, 2) },
	{ "free", FREE(1) },
	{ "free_aligned_sized", FREE(1) },
	{ "free_sized", FREE(1) },
	{ "je_aligned_alloc", SIZE(2) },
	{ "je_calloc", PRODUCT(1, 2) },
	{ "je_free", FREE(1) },
	{ "je_malloc", SIZE(1) },
	{ "je_mallocx", SIZE(1) },
	{ "je_posix_memalign", STORED(3) },
	{ "je_rallocx", RESIZE(2, 1) },
	{ "je_realloc", RESIZE(2, 1) },
	{ "je_sdallocx", FREE(1) },
	{ "malloc", SIZE(1) },
	{ "mallocx", SIZE(1) },
	{ "memalign", SIZE(2) },
	{ "mi_calloc", PRODUCT(1, 2) },
	{ "mi_free", FREE(1) },
	{ "mi_malloc", SIZE(1) },
	{ "mi_malloc_aligned", SIZE(1) },
	{ "mi_malloc_small", SIZE(1) },
	{ "mi_mallocn", PRODUCT(1, 2) },
	{ "mi_posix_memalign", STORED(3) },
	{ "mi_realloc", RESIZE(2, 1) },
	{ "mi_realloc_aligned", RESIZE(2, 1) },
	{ "mi_reallocf", RESIZE(2, 1) },
	{ "mi_rezalloc", RESIZE(2, 1) },
	{ "mi_zalloc", SIZE(1) },
	{ "mi_zalloc_aligned", SIZE(1) },
	{ "mi_zalloc_small", SIZE(1) },
	{ "mmap", ALLOC_HOW(2, 0, 0, ALLOC_IS_MMAP), false },
	{ "mmap64", ALLOC_HOW(2, 0, 0, ALLOC_IS_MMAP), false },
	{ "munmap", FREE(1) },
	{ "posix_memalign", STORED(3) },
	{ "pvalloc", SIZE(1) },
	{ "rallocx", RESIZE(2, 1) },
	{ "realloc", RESIZE(2, 1) },
	{ "sdallocx", FREE(1) },
	{ "tc_calloc", PRODUCT(1, 2) },
	{ "tc_free", FREE(1) },
	{ "tc_malloc", SIZE(1) },
	{ "tc_memalign", SIZE(2) },
	{ "tc_posix_memalign", STORED(3) },
	{ "tc_realloc", RESIZE(2, 1) },
	{ "valloc", SIZE(1) },
};

/* Of files that have some of these: elsewhere C++'s operators call malloc() and free(). */
static const struct points_name operator_rows[] = {
	{ "_ZdaPv", FREE(1) },
	{ "_ZdaPvSt11align_val_t", FREE(1) },
	{ "_ZdaPvm", FREE(1) },
	{ "_ZdaPvmSt11align_val_t", FREE(1) },
	{ "_ZdlPv", FREE(1) },
	{ "_ZdlPvSt11align_val_t", FREE(1) },
	{ "_ZdlPvm", FREE(1) },
	{ "_ZdlPvmSt11align_val_t", FREE(1) },
	{ "_Znam", SIZE(1) },
	{ "_ZnamRKSt9nothrow_t", SIZE(1) },
	{ "_ZnamSt11align_val_t", SIZE(1) },
	{ "_ZnamSt11align_val_tRKSt9nothrow_t", SIZE(1) },
	{ "_Znwm", SIZE(1) },
	{ "_ZnwmRKSt9nothrow_t", SIZE(1) },
	{ "_ZnwmSt11align_val_t", SIZE(1) },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", SIZE(1) },
	{ "mi_new", SIZE(1) },
	{ "mi_new_aligned", SIZE(1) },
	{ "mi_new_aligned_nothrow", SIZE(1) },
	{ "mi_new_nothrow", SIZE(1) },
};

/* Its garbage collector frees, so nobody can say what is in use. */
static const struct points_name go_rows[] = {
	{ "runtime.mallocgc", ALLOC_HOW(1, 0, 0, ALLOC_IS_GO), false },
};

/* Of programs that have none of all these. */
static const struct points_name rust_rows[] = {
	{ "__rust_alloc", SIZE(1) },
	{ "__rust_alloc_zeroed", SIZE(1) },
	{ "__rust_dealloc", FREE(1) },
	{ "__rust_realloc", RESIZE(4, 1) },
};
#define NR(a) (sizeof(a) / sizeof(*(a)))

static const struct points_table functions = { function_rows, NR(function_rows), true, NULL };
static const struct points_table operators = { operator_rows, NR(operator_rows), false,
					       &functions };
static const struct points_table of_go = { go_rows, NR(go_rows), false, NULL };
static const struct points_table of_rust = { rust_rows, NR(rust_rows), false, NULL };

/* What programs may be linked with. Nobody runs into points in a library that he does not have. */
static const char *const libraries[] = { "c", "jemalloc", "tcmalloc", "tcmalloc_minimal",
					 "mimalloc" };

int alloc_find(struct points *p, struct points_file *f, bool rust)
{
	size_t nr = p->nr;
	int err = points_find_names(p, f, rust ? &of_rust : &functions);

	if (!err && !rust && p->nr > nr)
		err = points_find_names(p, f, &operators);
	if (!err && !rust && !p->opts->timed)
		err = points_find_names(p, f, &of_go);
	return err;
}

struct search {
	struct points *points;
	enum points_what what;
};

/* What cannot be read is passed over, as what is no ELF file. */
static int add_file(void *arg, const struct point_file *f)
{
	const struct search *s = arg;
	struct points_question q = { .what = s->what };
	struct points_told told;
	int err = points_search(s->points, f, &q, "", &told);

	points_told_release(&told);
	return points_may_pass(err) ? 0 : err;
}

/* By another path, perhaps. */
static bool has_file(const struct points *p, const struct point_file *f)
{
	for (size_t i = 0; i < p->nr; i++)
		if (file_id_equals(&p->v[i].file->id, &f->id))
			return true;
	return false;
}

/* What cannot be opened is passed over, too. */
static int add_target(struct search *s, const char *target)
{
	const struct point_file *f;
	char *why = NULL;
	int err = points_open_target(s->points, target, &f, &why);

	free(why);
	if (!err)
		return has_file(s->points, f) ? 0 : add_file(s, f);
	return points_may_pass(err) ? 0 : err;
}

/* The program inherits our environment, and may bring its allocator that way. */
static int add_preloaded(struct search *s)
{
	const char *list = getenv("LD_PRELOAD");
	char *copy = list ? xstrdup(list) : NULL, *save = NULL, *path;
	int err = 0;

	for (path = copy ? strtok_r(copy, ": ", &save) : NULL; path && !err;
	     path = strtok_r(NULL, ": ", &save))
		if (strchr(path, '/'))
			err = add_target(s, path);
	free(copy);
	return err;
}

/* The file of a program that is to be started, and libraries it may load. */
static int for_each_candidate(struct search *s, const char *program)
{
	int err = add_target(s, program);

	for (size_t i = 0; i < NR(libraries) && !err; i++)
		err = add_target(s, libraries[i]);
	return err ? err : add_preloaded(s);
}

static int for_each_file(struct search *s, const char *program)
{
	return program ? for_each_candidate(s, program)
		       : points_for_each_file(s->points, add_file, s);
}

int alloc_points(struct points *p, const char *program)
{
	struct search s = { p, POINTS_ALLOCATORS };
	int err = for_each_file(&s, program);

	s.what = POINTS_RUST;
	if (!err && !p->nr)
		err = for_each_file(&s, program);
	if (err || p->nr)
		return err;
	if (points_are_gone(p))
		return -ESRCH;
	return log_as(-ENOENT,
		      "no file of %s has malloc() or another allocator's functions%s: a static "
		      "program without symbols cannot be looked into",
		      program ? program : "these processes",
		      p->opts->timed ? " that free as well (of Go, --live knows nothing)" : "");
}

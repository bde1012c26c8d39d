/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What two metrics together say that neither says alone. */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "metric/stat.h"

/*
 * A metric that is to be watched or investigated, and one that tells why when it is, too. Which
 * leads to which: DIAGNOSES in man/bpfprof-stat.8.
 */
static const struct {
	const char *name, *evidence, *words;
} diagnoses[] = {
	{ "ipc", "backend_memory", "waits for memory" },
	{ "ipc", "memory_bound", "waits for memory" },
	{ "ipc", "backend_bound", "waits in the back end, for memory or long operations" },
	{ "ipc", "backend_stalls", "waits in the back end, for memory or long operations" },
	{ "ipc", "frontend_bound", "waits for instructions" },
	{ "ipc", "frontend_stalls", "waits for instructions" },
	{ "backend_bound", "llc_mpki", "data that no cache has" },
	{ "backend_bound", "l2_miss", "data that the L2 does not have" },
	{ "backend_bound", "l1d_miss", "data that the L1D does not have" },
	{ "backend_bound", "dtlb_walk", "walks of page tables for data" },
	{ "frontend_bound", "icache_miss", "instructions that the L1I does not have" },
	{ "frontend_bound", "itlb_walk", "walks of page tables for instructions" },
	{ "bad_speculation", "branch_mispredict", "mispredicted branches" },
};

static bool is_flagged(const struct stat_metric *m)
{
	return m && !isnan(m->number.mean) &&
	       (m->verdict == METRIC_WATCH || m->verdict == METRIC_INVESTIGATE);
}

bool stat_diagnoses(const struct stat_row *row, size_t *i, const struct stat_metric **m,
		    const struct stat_metric **evidence, const char **words)
{
	for (; *i < sizeof(diagnoses) / sizeof(*diagnoses); (*i)++) {
		*m = stat_row_metric(row, diagnoses[*i].name);
		*evidence = stat_row_metric(row, diagnoses[*i].evidence);
		*words = diagnoses[*i].words;
		if (is_flagged(*m) && is_flagged(*evidence)) {
			(*i)++;
			return true;
		}
	}
	return false;
}

void stat_diagnosis(const struct stat_row *row, const struct stat_metric *m, char *to, size_t sz)
{
	const struct stat_metric *of, *why;
	const char *words;

	*to = '\0';
	for (size_t i = 0; !*to && stat_diagnoses(row, &i, &of, &why, &words);)
		if (!strcmp(of->name, m->name))
			snprintf(to, sz, "%s (%s %.2f%s%s)", words, why->label, why->number.mean,
				 *why->unit ? " " : "", why->unit);
}

/* Functions whose names say what they do: of the kernel, the C library and runtimes. */
static const struct {
	const char *pattern, *does;
} names[] = {
	{ "*clear_page*", "zeroes new pages: bpfprof faults" },
	{ "*clear_huge_page*", "zeroes new pages: bpfprof faults" },
	{ "asm_exc_page_fault", "page faults: bpfprof faults" },
	{ "*handle_mm_fault", "page faults: bpfprof faults" },
	{ "do_anonymous_page", "page faults: bpfprof faults" },
	{ "*copy_*_user*", "copies between kernel and program: bpfprof syscalls" },
	{ "_copy_to_iter", "copies between kernel and program: bpfprof syscalls" },
	{ "rep_movs*", "copies between kernel and program: bpfprof syscalls" },
	{ "entry_SYSCALL_64*", "system calls: bpfprof syscalls" },
	{ "do_syscall_64", "system calls: bpfprof syscalls" },
	{ "el0_svc*", "system calls: bpfprof syscalls" },
	{ "*queued_spin_lock_slowpath", "waits for a lock of the kernel: bpfprof lock --kernel" },
	{ "finish_task_switch*", "switches of threads: bpfprof offcpu" },
	{ "*memcpy*", "copies memory" },
	{ "*memmove*", "copies memory" },
	{ "*memset*", "fills memory" },
	{ "*strlen*", "goes through strings" },
	{ "*strcmp*", "goes through strings" },
	{ "*memcmp*", "compares memory" },
	{ "*memchr*", "goes through memory" },
	{ "malloc", "allocates memory: bpfprof alloc" },
	{ "_int_malloc", "allocates memory: bpfprof alloc" },
	{ "calloc", "allocates memory: bpfprof alloc" },
	{ "operator new*", "allocates memory: bpfprof alloc" },
	{ "je_malloc*", "allocates memory: bpfprof alloc" },
	{ "cfree*", "frees memory: bpfprof alloc" },
	{ "free", "frees memory: bpfprof alloc" },
	{ "_int_free*", "frees memory: bpfprof alloc" },
	{ "malloc_consolidate", "frees memory: bpfprof alloc" },
	{ "*pthread_mutex_lock*", "takes locks: bpfprof lock" },
	{ "*lll_lock_wait*", "waits for locks: bpfprof lock" },
	{ "_PyEval_EvalFrameDefault", "interprets Python: bpfprof oncpu names its functions" },
};

const char *stat_function_does(const char *symbol)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!fnmatch(names[i].pattern, symbol, 0))
			return names[i].does;
	return NULL;
}

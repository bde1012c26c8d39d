/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What one input may take: between libFuzzer and each target, whose own function is fuzz_target()
 * here. libFuzzer's limits are of a single allocation, and of whole seconds of the clock, which a
 * busy machine takes, too. These are of all that is allocated at a time, and of CPU time. What was
 * the most is told at the end.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <sanitizer/allocator_interface.h>

#include "tests/fuzz/limits.h"

#define MOST_MS	   1000
#define MOST_BYTES (64ll << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static atomic_llong allocated, peak;
static long long most_bytes;
static int64_t most_us;

static void on_malloc(const volatile void *p, size_t sz)
{
	long long now = atomic_fetch_add(&allocated, sz) + sz, before = atomic_load(&peak);

	while (now > before && !atomic_compare_exchange_weak(&peak, &before, now))
		;
}

static void on_free(const volatile void *p)
{
	if (p)
		atomic_fetch_sub(&allocated, __sanitizer_get_allocated_size((const void *)p));
}

static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

/* Targets close stderr. */
static void tell_most(void)
{
	dprintf(2, "most of one input: %.3f s of CPU time, %.1f MB\n", most_us / 1e6,
		most_bytes / 1048576.);
}

static void init(void)
{
	static int done;

	if (done++)
		return;
	if (!__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free))
		abort();
	atexit(tell_most);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	int64_t from;
	long long before;
	int ret;

	init();
	before = atomic_load(&allocated);
	atomic_store(&peak, before);
	from = cpu_us();
	ret = fuzz_target(data, sz);
	from = cpu_us() - from;
	before = atomic_load(&peak) - before;
	most_us = from > most_us ? from : most_us;
	most_bytes = before > most_bytes ? before : most_bytes;
	if (from > MOST_MS * 1000ll || before > MOST_BYTES) {
		dprintf(2,
			"one input took %.3f s of CPU time (at most %d ms), "
			"%.1f MB (at most %lld)\n",
			from / 1e6, MOST_MS, before / 1048576., MOST_BYTES >> 20);
		abort(); /* libFuzzer keeps the input */
	}
	return ret;
}

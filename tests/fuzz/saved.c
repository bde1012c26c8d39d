/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Saved results of any bytes. The first one says of which kind: a profile, whose checksums are made
 * right here so that what is behind them is reached, or a result of stat. What can be loaded has to
 * be written in every form, and with a bit of that byte compares with itself.
 */
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zlib.h>

#include "cmd/saved.h"
#include "profile/changes.h"
#include "profile/save.h"
#include "tests/fuzz/limits.h"

#define HEAD_BYTES    16 /* magic, version, sections */
#define BOTH	      2
#define PACKED	      4
#define SECTION_BYTES 16 /* tag, checksum, length */

static regex_t any, none;

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Refusals are no news. What a sanitizer says does not go through stdio. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	if (regcomp(&any, "a", REG_EXTENDED | REG_NOSUB) || regcomp(&none, "none", REG_NOSUB))
		abort();
	stderr = fopen("/dev/null", "w");
	return !stderr;
}

static void repair(uint8_t *bytes, size_t sz)
{
	size_t at = HEAD_BYTES;
	uint64_t len;
	uint32_t crc;

	while (sz > at && sz - at >= SECTION_BYTES) {
		memcpy(&len, bytes + at + 8, sizeof(len));
		if (len > sz - at - SECTION_BYTES)
			return;
		crc = crc32_z(0, bytes + at + SECTION_BYTES, len);
		memcpy(bytes + at + 4, &crc, sizeof(crc));
		at += SECTION_BYTES + ((len + 7) & ~7ull);
	}
}

static void write_as(const char *const *names, const struct result *result, const struct view *v)
{
	FILE *out = fopen("/dev/null", "w");

	for (; out && *names; names++) {
		const struct output *o = output_get(result->kind, *names);

		if (o && !output_lacks(o, result))
			output_write(o, result, v, out);
	}
	if (out)
		fclose(out);
}

static void write_all(const struct result *result)
{
	static const char *const plain[] = {
		"folded",	 "svg",	   "html",	  "json",     "summary",
		"bpfprof",	 "broken", "broken-json", "branches", "branches-folded",
		"branches-json", "table",  "table-json",  "csv",      "pprof",
		"firefox",	 "md",	   "trace",	  NULL,
	};
	static const char *const chosen[] = { "tree",	    "peek",  "by",	"by-csv",
					      "speedscope", "pprof", "firefox", NULL };
	const struct view view = { .peek = &any,
				   .ignore = &none,
				   .bottom_up = true,
				   .by = VIEW_BY_LINE,
				   .percent_limit = 1 };

	write_as(plain, result, &(struct view){});
	write_as(chosen, result, &view);
}

/* With itself: every table is appended, and nothing has changed. */
static void compare(struct profile *p)
{
	static const char *const names[] = { "folded", "svg", "html",	 "json",
					     "junit",  "md",  "summary", NULL };
	const struct changes_opts opts = { .alpha = 0.01, .fail_above_pct = 5 };
	const struct view view = { .merge_threads = true };
	struct changes c;

	if (changes_make(&c, (struct profile *[]){ p, p }, (char *[]){ "a", "b" },
			 (size_t[]){ 1, 1 }, &view, &opts))
		return;
	if (c.nr_real)
		abort();
	write_as(names, &(struct result){ RESULT_CHANGES, .changes = &c }, &view);
	changes_release(&c);
}

/* All functions, as they are without any other file. */
static void write_annotations(const struct profile *p)
{
	static const char *const forms[] = { "json", "summary", NULL };
	static const struct view view;
	struct annotations all = { .profile = p, .whole = true };
	const struct result result = { RESULT_ANNOTATIONS, .annotations = &all };
	size_t nr;

	costs_init(&all.costs, p, &view);
	all.v = calloc(all.costs.nr + 1, sizeof(*all.v));
	if (!all.v)
		abort();
	for (size_t i = 0; i < all.costs.nr; i++)
		all.v[all.nr++] = annotation_new(&all.costs, i);
	for (size_t i = 0; i < all.nr; i++)
		annotation_finish(all.v[i]);
	write_as(forms, &result, &view);
	for (size_t i = 0; i < all.nr; i++)
		annotation_free(all.v[i]);
	free(all.v);
	free(costs_find(&all.costs, "main", &nr));
	costs_release(&all.costs);
}

static void check_file(const uint8_t *bytes, size_t sz, bool both)
{
	int fd = memfd_create("saved", MFD_CLOEXEC);
	struct saved saved;
	char path[32];

	if (fd < 0 || write(fd, bytes, sz) != (ssize_t)sz)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!saved_open(&saved, path)) {
		write_all(&saved.result);
		if (saved.profile)
			write_annotations(saved.profile);
	}
	if (both && saved.profile && saved.result.kind != RESULT_RUNQLAT &&
	    saved.result.kind != RESULT_TIMELINE && saved.result.kind != RESULT_SCHED)
		compare(saved.profile);
	saved_close(&saved);
	close(fd);
}

int fuzz_target(const uint8_t *data, size_t sz)
{
	uint8_t *copy;

	if (sz < 2)
		return 0;
	copy = malloc(sz - 1);
	memcpy(copy, data + 1, sz - 1);
	if (data[0] & PACKED && sz > HEAD_BYTES)
		memcpy(copy, PROFILE_PACKED_MAGIC, sizeof(PROFILE_PACKED_MAGIC) - 1);
	if (data[0])
		repair(copy, sz - 1);
	check_file(copy, sz - 1, data[0] & BOTH);
	free(copy);
	return 0;
}

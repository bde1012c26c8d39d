/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Saved results of any kind. */
#include "cmd/saved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/packed.h"
#include "base/trust.h"
#include "profile/kind.h"
#include "profile/save.h"

#define HEAD_BYTES (sizeof(PROFILE_MAGIC) - 1)

/* The first bytes of a regular file; what a pipe has can be read but once. */
static size_t read_head(const char *path, char head[HEAD_BYTES])
{
	struct stat st;
	size_t nr = 0;
	FILE *f;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	f = trust_fopen(path);
	if (f)
		nr = fread(head, 1, HEAD_BYTES, f);
	if (f)
		fclose(f);
	return nr;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* The folder, to be freed, and what is behind its @; NULL: path is no folder. */
static char *folder_of(const char *path, const char **time)
{
	const char *at = strrchr(path, '@');
	char *folder;

	*time = NULL;
	if (is_folder(path))
		return xstrdup(path);
	folder = at ? xstrndup(path, at - path) : NULL;
	if (folder && is_folder(folder)) {
		*time = at + 1;
		return folder;
	}
	free(folder);
	return NULL;
}

bool saved_is_folder(const char *path)
{
	const char *time;
	char *folder = folder_of(path, &time);

	free(folder);
	return folder != NULL;
}

bool saved_is_profile(const char *path)
{
	char head[HEAD_BYTES];

	if (saved_is_folder(path))
		return true;
	return read_head(path, head) == HEAD_BYTES &&
	       (!memcmp(head, PROFILE_MAGIC, HEAD_BYTES) || packed_is(head, HEAD_BYTES));
}

bool saved_is_json(const char *path)
{
	char head[HEAD_BYTES];

	return read_head(path, head) && head[0] == '{';
}

static int show_profile(struct saved *s)
{
	s->result = (struct result){ RESULT_STACKS, .profile = s->profile };
	if (kind_of_profile(s->profile)->calls && !kind_of_profile(s->profile)->waits)
		s->result.kind = RESULT_CALLS;
	if (kind_of_profile(s->profile)->timeline)
		s->result.kind =
			kind_of_profile(s->profile)->table ? RESULT_SCHED : RESULT_TIMELINE;
	if (!kind_of_profile(s->profile)->histograms)
		return 0;
	runqlat_report_make(&s->runqlat, s->profile);
	s->result = (struct result){ RESULT_RUNQLAT, .runqlat = &s->runqlat };
	return 0;
}

static int open_profile(struct saved *s, const char *path)
{
	s->profile = profile_load_left(path);
	return s->profile ? show_profile(s) : -EIO;
}

static int open_windows(struct saved *s, const char *folder, const struct ring_span *span)
{
	*s = (struct saved){ .profile = ring_load(folder, span) };
	return s->profile ? show_profile(s) : -errno;
}

int saved_open_span(struct saved *s, const char *folder, const struct ring_span *span)
{
	const char *time;

	*s = (struct saved){};
	free(folder_of(folder, &time));
	if (time)
		return log_as(-EINVAL,
			      "'@%s' says when already: leave out --at, --last, --from and --to",
			      time);
	return open_windows(s, folder, span);
}

static int open_folder(struct saved *s, const char *folder, const char *time)
{
	struct ring_span span = { .to_ns = UINT64_MAX };

	if (time && !ring_parse(time, clock_ns(CLOCK_REALTIME), &span))
		return log_as(-EINVAL, "'@%s' is no time: %s", time, RING_TIMES);
	return open_windows(s, folder, &span);
}

int saved_open(struct saved *s, const char *path)
{
	const char *time;
	char *folder = folder_of(path, &time);
	int err;

	*s = (struct saved){};
	if (folder) {
		err = open_folder(s, folder, time);
		free(folder);
		return err;
	}
	if (!saved_is_json(path))
		return open_profile(s, path);
	s->result = (struct result){ RESULT_STAT, .stat = &s->stat };
	err = stat_read_json(&s->stat, path);
	return err == -EINVAL ? -EIO : err; /* the file's fault, not the command line's */
}

void saved_close(struct saved *s)
{
	stat_report_release(&s->stat);
	runqlat_report_release(&s->runqlat);
	profile_free(s->profile);
}

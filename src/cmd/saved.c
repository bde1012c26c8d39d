/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Saved results of any kind. */
#include "cmd/saved.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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
	f = fopen(path, "re");
	if (f)
		nr = fread(head, 1, HEAD_BYTES, f);
	if (f)
		fclose(f);
	return nr;
}

bool saved_is_profile(const char *path)
{
	char head[HEAD_BYTES];

	return read_head(path, head) == HEAD_BYTES && !memcmp(head, PROFILE_MAGIC, HEAD_BYTES);
}

static bool is_json(const char *path)
{
	char head[HEAD_BYTES];

	return read_head(path, head) && head[0] == '{';
}

static int open_profile(struct saved *s, const char *path)
{
	s->profile = profile_load(path);
	if (!s->profile)
		return -EIO;
	s->result = (struct result){ RESULT_STACKS, .profile = s->profile };
	if (kind_of_profile(s->profile)->calls)
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

int saved_open(struct saved *s, const char *path)
{
	*s = (struct saved){};
	if (!is_json(path))
		return open_profile(s, path);
	s->result = (struct result){ RESULT_STAT, .stat = &s->stat };
	return stat_read_json(&s->stat, path);
}

void saved_close(struct saved *s)
{
	stat_report_release(&s->stat);
	runqlat_report_release(&s->runqlat);
	profile_free(s->profile);
}

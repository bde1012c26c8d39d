/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two looks at /proc and at frequencies. */
#include "doctor/moment.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "proc/running.h"

#define FREQUENCIES "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq"

struct cpu_times {
	uint64_t all, steal;
};

/* "cpu user nice system idle iowait irq softirq steal …"; guests are in user. */
static struct cpu_times read_cpus(const char *root)
{
	unsigned long long v[8] = {};
	struct cpu_times t = {};
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/stat", root);
	f = fopen(path, "re");
	if (!f)
		return t;
	if (fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3],
		   &v[4], &v[5], &v[6], &v[7]) == 8)
		t.steal = v[7];
	for (size_t i = 0; i < 8; i++)
		t.all += v[i];
	fclose(f);
	return t;
}

/* User and system time; the name before them may hold anything. */
static uint64_t read_ticks(const char *root, uint32_t pid)
{
	unsigned long long user = 0, kernel = 0;
	char path[512], text[1024] = "", *end;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/%u/stat", root, pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
			   &kernel) != 2)
		return 0;
	return user + kernel;
}

static void read_frequencies(struct doctor_moment *moment, const char *root)
{
	char pattern[512];
	glob_t files;

	snprintf(pattern, sizeof(pattern), "%s" FREQUENCIES, root);
	if (glob(pattern, 0, NULL, &files))
		return;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		FILE *f = fopen(files.gl_pathv[i], "re");
		unsigned long long khz;

		if (f && fscanf(f, "%llu", &khz) == 1 && khz) {
			if (!moment->lowest || khz < moment->lowest)
				moment->lowest = khz;
			if (khz > moment->highest)
				moment->highest = khz;
		}
		if (f)
			fclose(f);
	}
	globfree(&files);
}

static int by_ticks(const void *x, const void *y)
{
	const struct moment_busy *a = x, *b = y;

	if (a->ticks != b->ticks)
		return a->ticks > b->ticks ? -1 : 1;
	return a->before > b->before ? -1 : a->before < b->before;
}

static struct moment_busy *read_processes(const struct running *r, const char *root)
{
	struct moment_busy *v = xcalloc(r->nr + 1, sizeof(*v));

	for (size_t i = 0; i < r->nr; i++)
		v[i] = (struct moment_busy){ r->v[i].pid, 0, read_ticks(root, r->v[i].pid) };
	return v;
}

static void choose(struct doctor_moment *moment, const struct running *r, struct moment_busy *v,
		   const char *root)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->nr; i++) {
		uint64_t now = r->v[i].is_kernel ? 0 : read_ticks(root, v[i].pid);

		if (!now)
			continue;
		v[nr] = v[i];
		v[nr++].ticks = now > v[i].before ? now - v[i].before : 0;
	}
	if (nr)
		qsort(v, nr, sizeof(*v), by_ticks);
	moment->nr_busy = nr < MOMENT_MAX_BUSY ? nr : MOMENT_MAX_BUSY;
	memcpy(moment->busy, v, moment->nr_busy * sizeof(*v));
}

void moment_measure(struct doctor_moment *moment, const char *root, uint64_t ns)
{
	struct cpu_times from = read_cpus(root), to;
	struct moment_busy *v;
	struct running r;

	*moment = (struct doctor_moment){};
	running_read(&r, root);
	v = read_processes(&r, root);
	read_frequencies(moment, root);
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
	read_frequencies(moment, root);
	to = read_cpus(root);
	if (to.all > from.all && to.steal >= from.steal)
		moment->steal_pct = 100.0 * (to.steal - from.steal) / (to.all - from.all);
	choose(moment, &r, v, root);
	free(v);
	running_release(&r);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets of CPUs, read from sysfs. */
#include "event/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

#define ONLINE	  "/sys/devices/system/cpu/online"
#define CPU_LIMIT 65536 /* no kernel has more; keeps "0-4294967295" from filling memory */

static int add_range(struct cpus *c, unsigned long from, unsigned long to)
{
	if (to < from || to >= CPU_LIMIT)
		return -EINVAL;
	for (; from <= to; from++) {
		if (c->nr && from <= c->v[c->nr - 1])
			return -EINVAL;
		c->v = xgrow(c->v, c->nr, &c->cap, sizeof(*c->v));
		c->v[c->nr++] = from;
	}
	return 0;
}

int cpus_parse(struct cpus *c, const char *text)
{
	unsigned long from, to;
	char *end;

	while (*text && *text != '\n') {
		from = to = strtoul(text, &end, 10);
		if (end == text)
			return -EINVAL;
		if (*end == '-') {
			text = end + 1;
			to = strtoul(text, &end, 10);
			if (end == text)
				return -EINVAL;
		}
		if (add_range(c, from, to))
			return -EINVAL;
		text = *end == ',' ? end + 1 : end;
		if (text == end && *end && *end != '\n')
			return -EINVAL;
	}
	return 0;
}

static int cpus_read(struct cpus *c, const char *path)
{
	char text[4096];
	FILE *f = fopen(path, "re");
	int err = f ? 0 : -errno;

	if (f && !fgets(text, sizeof(text), f))
		err = -EIO;
	if (f)
		fclose(f);
	return err ? err : cpus_parse(c, text);
}

int cpus_online(struct cpus *c)
{
	return cpus_read(c, ONLINE);
}

int cpus_tell_none(void)
{
	if (access(ONLINE, R_OK))
		return log_as(-EOPNOTSUPP, "/sys is not mounted here: which CPUs there are is not "
					   "shown: mount -t sysfs sysfs /sys");
	return log_as(-ESRCH, "there is no thread and no CPU left to count");
}

uint32_t cpus_possible(void)
{
	struct cpus c = {};
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t n = configured > 0 ? configured : 1;

	if (!cpus_read(&c, "/sys/devices/system/cpu/possible") && c.nr)
		n = c.v[c.nr - 1] + 1;
	cpus_release(&c);
	return n;
}

char *cpus_text(const struct cpus *c)
{
	char *text = NULL;
	size_t len, last;
	FILE *f = open_memstream(&text, &len);

	for (size_t i = 0; i < c->nr; i = last + 1) {
		for (last = i; last + 1 < c->nr && c->v[last + 1] == c->v[last] + 1;)
			last++;
		fprintf(f, "%s%u", i ? "," : "", c->v[i]);
		if (last > i)
			fprintf(f, "-%u", c->v[last]);
	}
	fclose(f);
	return text;
}

bool cpus_has(const struct cpus *c, uint32_t cpu)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->v[i] == cpu)
			return true;
	return false;
}

void cpus_add(struct cpus *c, const struct cpus *more)
{
	size_t at;

	for (size_t i = 0; i < more->nr; i++) {
		for (at = 0; at < c->nr && c->v[at] < more->v[i]; at++)
			;
		if (at < c->nr && c->v[at] == more->v[i])
			continue;
		c->v = xgrow(c->v, c->nr, &c->cap, sizeof(*c->v));
		memmove(c->v + at + 1, c->v + at, (c->nr - at) * sizeof(*c->v));
		c->v[at] = more->v[i];
		c->nr++;
	}
}

void cpus_release(struct cpus *c)
{
	free(c->v);
	*c = (struct cpus){};
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows about limits of memory, descriptors and rates. */
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/looks.h"

#define FILES_PER_CPU 4		    /* events, rings */
#define FILES_ELSE    256	    /* maps, programs, files of processes */
#define RING_KB	      132	    /* of a CPU, with its first page (src/event/sideband.c) */
#define NEEDED_BYTES  (96ull << 20) /* of a recording of a machine of up to 16 CPUs */
#define ADDRESS_BYTES (1ull << 30)
#define LOW_RATE      1000

static void found_limit(struct finding *f, rlim_t limit)
{
	if (limit == RLIM_INFINITY)
		finding_found(f, "unlimited");
	else
		finding_found(f, "%llu", (unsigned long long)limit);
}

static void found_bytes(struct finding *f, rlim_t limit)
{
	if (limit == RLIM_INFINITY)
		finding_found(f, "unlimited");
	else
		finding_found(f, "%s", text_bytes(limit));
}

/* Recordings raise the soft limit to the hard one. */
void look_open_files(const struct machine *m, struct finding *f)
{
	rlim_t needed = FILES_ELSE + (rlim_t)m->nr_cpus * FILES_PER_CPU;

	found_limit(f, m->nofile.rlim_max);
	if (m->nofile.rlim_max == RLIM_INFINITY || m->nofile.rlim_max >= needed)
		return;
	finding_judge(f, DOCTOR_LIMITED,
		      "%u CPUs may need up to %llu open files: events will not open on all of them",
		      m->nr_cpus, (unsigned long long)needed);
	finding_remedy(f, "raise the hard limit (ulimit -Hn %llu; systemd: LimitNOFILE=)",
		       (unsigned long long)needed);
}

/* kernel >= 5.11 counts maps in cgroups; what is left are the rings of perf events. */
void look_locked_memory(const struct machine *m, struct finding *f)
{
	long per_cpu = 516;

	machine_number(m, "/proc/sys/kernel/perf_event_mlock_kb", &per_cpu);
	if (machine_may(m, CAP_IPC_LOCK) || machine_may(m, CAP_SYS_ADMIN)) {
		finding_found(f, "not limited (CAP_IPC_LOCK)");
		return;
	}
	found_bytes(f, m->memlock.rlim_cur);
	if (per_cpu >= RING_KB || m->memlock.rlim_cur == RLIM_INFINITY ||
	    m->memlock.rlim_cur >= (rlim_t)m->nr_cpus * (RING_KB - per_cpu) << 10)
		return;
	f->state = DOCTOR_LIMITED;
}

void look_address_space(const struct machine *m, struct finding *f)
{
	found_bytes(f, m->as.rlim_cur);
	if (m->as.rlim_cur != RLIM_INFINITY && m->as.rlim_cur < ADDRESS_BYTES)
		f->state = DOCTOR_LIMITED;
}

/* "0::/a/b" of version 2, where one is mounted. */
static bool own_cgroup(const struct machine *m, const char *prefix, char *path, size_t sz)
{
	char text[4096], *line, *at;

	if (!machine_text(m, "/proc/self/cgroup", text, sizeof(text)))
		return false;
	for (char *rest = text; (line = strsep(&rest, "\n"));) {
		at = strstr(line, prefix);
		if (!at)
			continue;
		snprintf(path, sz, "%s", at + strlen(prefix));
		return true;
	}
	return false;
}

static const char *unified_mount(const struct machine *m)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char path[96];

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/cgroup.controllers", places[i]);
		if (machine_has(m, path))
			return places[i];
	}
	return NULL;
}

void look_cgroup_version(const struct machine *m, struct finding *f)
{
	const char *mount = unified_mount(m);

	finding_found(f, "%s",
		      !mount				 ? "version 1, or none"
		      : !strcmp(mount, "/sys/fs/cgroup") ? "version 2"
							 : "both; --cgroup takes version 2");
	if (!mount)
		f->state = DOCTOR_LIMITED;
}

/* The least of memory.max from its own cgroup up; false: none limits it. */
static bool least_limit(const struct machine *m, const char *mount, const char *name, char *path,
			unsigned long long *least)
{
	char file[640], text[64], *slash;
	bool any = false;

	for (;;) {
		snprintf(file, sizeof(file), "%s%s/%s", mount, path, name);
		if (machine_text(m, file, text, sizeof(text)) && *text >= '0' && *text <= '9') {
			unsigned long long bytes = strtoull(text, NULL, 10);

			/* Version 1 has a number for none. */
			if (bytes < 1ull << 60 && (!any || bytes < *least)) {
				*least = bytes;
				any = true;
			}
		}
		slash = strrchr(path, '/');
		if (!slash || !*path)
			return any;
		*slash = '\0';
	}
}

void look_cgroup_memory(const struct machine *m, struct finding *f)
{
	const char *mount = unified_mount(m);
	unsigned long long least = 0;
	char path[512];
	bool any;

	any = mount && own_cgroup(m, "0::", path, sizeof(path)) &&
	      least_limit(m, mount, "memory.max", path, &least);
	if (!any && own_cgroup(m, ":memory:", path, sizeof(path)))
		any = least_limit(m, "/sys/fs/cgroup/memory", "memory.limit_in_bytes", path,
				  &least);
	finding_found(f, "%s", any ? text_bytes(least) : "unlimited");
	if (any && least < NEEDED_BYTES)
		finding_judge(f, DOCTOR_LIMITED,
			      "the kernel counts bpfprof's maps to this cgroup, which may have %s: "
			      "it may refuse them, or end bpfprof",
			      text_bytes(least));
}

void look_sample_rate(const struct machine *m, struct finding *f)
{
	long rate, share = 0;

	if (!finding_number(f, m, "/proc/sys/kernel/perf_event_max_sample_rate", &rate))
		return;
	finding_found(f, "%ld Hz", rate);
	machine_number(m, "/proc/sys/kernel/perf_cpu_time_max_percent", &share);
	if (rate >= LOW_RATE && share != 0 && share != 100)
		return;
	if (rate < LOW_RATE) {
		finding_judge(f, DOCTOR_LIMITED,
			      "the kernel takes at most %ld samples a second and CPU (it lowers "
			      "this when samples take long)",
			      rate);
		return;
	}
	finding_judge(f, DOCTOR_LIMITED,
		      "nothing brakes samples that take long (perf_cpu_time_max_percent is %ld)",
		      share);
	finding_remedy(f, "sysctl kernel.perf_cpu_time_max_percent=25");
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Side-band records: the kernel's own account of forks, execs, names, executable mappings and
 * exits, through one ring per CPU of a perf event that counts nothing. They tax none of the host's
 * syscalls.
 */
#ifndef BPFPROF_EVENT_SIDEBAND_H
#define BPFPROF_EVENT_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/cpus.h"

struct sideband;

/*
 * What the records say, in order of time. Strings are valid during the call only. Times are
 * CLOCK_MONOTONIC ns.
 */
struct sideband_mmap {
	uint32_t pid;
	uint64_t start, len, file_offset, ino;
	uint32_t dev_major, dev_minor;
	const char *path;
};
struct sideband_ops {
	void (*mmap)(void *arg, const struct sideband_mmap *m, uint64_t time_ns);
	void (*comm)(void *arg, uint32_t pid, uint32_t tid, const char *name, int exec,
		     uint64_t time_ns);
	void (*fork)(void *arg, uint32_t parent, uint32_t pid, uint32_t tid, uint64_t time_ns);
	void (*exit)(void *arg, uint32_t pid, uint32_t tid, uint64_t time_ns);
};

/* Opens on all online CPUs. NULL with errno set, logged. */
struct sideband *sideband_open(void);

/* What the rings of so many CPUs hold. */
uint64_t sideband_plan_bytes(uint32_t nr_cpus);

/*
 * Opens rings for CPUs that came online since. True when it did: what happened on them before is
 * not known.
 */
bool sideband_refresh(struct sideband *s);

/* A descriptor for poll(2) that is readable when some ring is half full. */
int sideband_fd(const struct sideband *s);

/*
 * Delivers all records up to a few milliseconds ago, in order of time over all CPUs; younger ones
 * wait for the next call, since others may still be on their way into a ring. With last set, when
 * sampling has ended, delivers all there are. Returns the time up to which everything was
 * delivered.
 */
uint64_t sideband_drain(struct sideband *s, const struct sideband_ops *ops, void *arg, bool last);

/*
 * The ring of a CPU, for other events there to report to by PERF_EVENT_IOC_SET_OUTPUT, -1 = none.
 * They must be opened with CLOCK_MONOTONIC. What they report is when they were throttled.
 */
int sideband_ring(const struct sideband *s, uint32_t cpu);

/* How often that was, and for how long in all, as far as it was drained; until now_ns. */
struct sideband_throttled {
	uint64_t times, ns;
};
struct sideband_throttled sideband_throttled(const struct sideband *s, uint64_t now_ns);

/* Records that did not fit their ring. */
uint64_t sideband_lost(const struct sideband *s);

/*
 * The time since when records may be missing, because a ring was found full; 0 = all are there.
 * Each gap is told once.
 */
uint64_t sideband_take_gap(struct sideband *s);

void sideband_close(struct sideband *s);

#endif

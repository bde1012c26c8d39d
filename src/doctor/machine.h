/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What rows of doctor look at: the files of a machine below a root directory, "" but for tests, and
 * what only system calls tell, which tests make up.
 */
#ifndef BPFPROF_DOCTOR_MACHINE_H
#define BPFPROF_DOCTOR_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/utsname.h>

#include "doctor/hazards.h"
#include "doctor/moment.h"
#include "event/catalog.h"
#include "event/trial.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux" /* the kernel's types */

/* What became of a system call. */
struct machine_call {
	int err;       /* negative errno, 0 = it did what it should */
	bool killed;   /* who calls it is ended */
	bool filtered; /* denied before the kernel looked at it */
};

/* Events that are tried. */
struct machine_event {
	const char *name;
	enum trial_state state;
};
#define MACHINE_MAX_EVENTS 16

struct machine {
	const char *root;
	struct utsname uts;
	uid_t uid;
	uint64_t caps;		     /* effective */
	uint64_t file_caps;	     /* of our program's file */
	struct machine_call bpf;     /* creating a map */
	struct machine_call perf;    /* asking for an event that there is not */
	struct machine_call sampler; /* opening a clock that samples a CPU */
	struct rlimit nofile, memlock, as;
	uint32_t nr_cpus;
	const char *debuginfod_urls; /* NULL = none */
	const char *libdw;	     /* its version */
	bool has_debuginfod;	     /* its library */
	uint32_t nr_programs;	     /* BPF programs of others that sample or trace, if may_ask */
	bool may_ask;
	struct hazards_host hazards;
	/* Counters; the catalog is borrowed, NULL = not looked at. */
	const struct catalog *catalog;
	uint32_t counters;
	struct machine_event events[MACHINE_MAX_EVENTS];
	size_t nr_events;
	unsigned int uses; /* of enum doctor_use: who asks, 0 = all */
	struct doctor_moment moment;
};

/*
 * What every command asks, some 100 us; seccomp filters are tried out only where there are some.
 * probes: also what is to be known for probes at functions.
 */
void machine_ask(struct machine *m, bool probes);

/* All else: opens and tries events, asks for BPF programs, looks on for a moment. c must stay. */
void machine_try(struct machine *m, const struct catalog *c);

/* The first nr - 1 bytes of a file below root, without the line end at their end. False: none. */
bool machine_text(const struct machine *m, const char *path, char *text, size_t sz);

/* One that is a number. */
bool machine_number(const struct machine *m, const char *path, long *number);

/* Is there such a path? Readable? */
bool machine_has(const struct machine *m, const char *path);
bool machine_can_read(const struct machine *m, const char *path);

/* The value of "Key:" in a file such as /proc/self/status, "" when it has none. */
void machine_field(const struct machine *m, const char *path, const char *key, char *text,
		   size_t sz);

/* Does this process have a capability (CAP_*), or the one that stands for all? */
bool machine_may(const struct machine *m, int cap);

/*
 * Is its user namespace the first one? For BPF programs and perf events the kernel looks for
 * capabilities there only: the second says whether it takes ours.
 */
bool machine_has_first_users(const struct machine *m);
bool machine_may_on_host(const struct machine *m, int cap);

#endif

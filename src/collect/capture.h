/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From what the kernel wrote to the profile model: takes stack records out of the arena, turns each
 * address into (file, offset) as of the moment it was sampled, keeps the files open, and at the end
 * turns counts into samples.
 */
#ifndef BPFPROF_COLLECT_CAPTURE_H
#define BPFPROF_COLLECT_CAPTURE_H

#include "collect/capture_python.h"
#include "collect/defer.h"
#include "collect/generations.h"
#include "collect/moments.h"
#include "collect/session.h"
#include "collect/sleeping.h"
#include "collect/slices.h"
#include "collect/tally.h"
#include "proc/proc.h"
#include "profile/lacks.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"
#include "unwind/store.h"

/* Bytes of code that a process generates, of one turn of walks: those of many lead there. */
#define CAPTURE_CODES 256
struct capture_code {
	uint32_t pid; /* 0 = none */
	uint64_t at, bytes;
};

struct capture {
	struct profile *profile;	 /* borrowed */
	struct proc_table *procs;	 /* borrowed */
	struct session *session;	 /* borrowed */
	const struct session_maps *maps; /* its */
	struct generations generations;
	bool fills;		 /* the arena, so fast that turns should be short */
	uint32_t *stack_of_slot; /* what we call the stack of the kernel's slot, 0 = none */
	size_t nr_slots;
	uint32_t *late; /* the profile's stacks that were or are to be walked here, 0 = not yet */
	size_t nr_late, cap_late;
	size_t most_bytes;
	uint64_t nr_no_room;	     /* stacks that waited for tables, when there were too many */
	struct tally tally;	     /* what generations that are over counted */
	struct slices slices;	     /* of that, when; none where counts are weighed */
	struct moments moments;	     /* the same to the hundredth of a second, if asked for */
	uint32_t *waker_of_slot;     /* profile's waker per slot, 0 = none; at the end */
	struct symbol_file *sources; /* per module of the profile; descriptors belong to procs */
	size_t nr_sources, cap_sources;
	struct store *store; /* borrowed; NULL when walks go by frame pointer only */
	struct defer defer;
	struct sleeping sleeping;
	struct capture_python python;
	bool names;		   /* were asked for in the last turn */
	struct prof_config config; /* what the kernel walks by */
	bool heatmap;		   /* as in struct capture_opts */
	uint64_t long_wait_ns;
	uint64_t first_ns; /* time of the first stack, 0 = none yet */
	uint64_t
		sleepers_ns; /* when the last thread asleep at the start had been read, 0 = never */
	uint64_t first_root_ns; /* when the first user stack had been walked to its root */
	uint32_t own_child;	/* the program that bpfprof started, 0 = none */
	struct reader *reader;	/* borrowed; its children are bpfprof itself */
	uint32_t jit_hung;	/* folders of runtimes that did not answer */
	struct lacks lacks;	/* why generated code and Python have no names */
	uint32_t java_hung;	/* JVMs that did not answer */
	void (*take_call)(void *arg, const struct prof_count *n, struct sample *s);
	uint32_t ledger_event;
	void (*weigh)(void *arg, struct tally *t, const struct prof_count *n);
	void (*whole)(void *arg, struct sample *s);
	struct capture_code *codes; /* CAPTURE_CODES, by where they lie; NULL = none were read */
	void *arg;
};

struct capture_opts {
	struct profile *profile;
	struct proc_table *procs;
	struct store *store; /* or NULL */
	struct session *session;
	struct prof_config config;
	size_t most_bytes;     /* of stacks that wait for tables */
	bool heatmap;	       /* moments are kept in slices, */
	uint64_t long_wait_ns; /* and waits of at least this length; 0 = none are */
	uint32_t own_child;
	struct reader *reader;
	/* See record_take_call(). */
	void (*take_call)(void *arg, const struct prof_count *n, struct sample *s);
	/* Counts as several events, of which that one is in the ledger. Or NULL. */
	uint32_t ledger_event;
	void (*weigh)(void *arg, struct tally *t, const struct prof_count *n);
	void (*whole)(void *arg, struct sample *s);
	void *arg;
};
void capture_init(struct capture *c, const struct capture_opts *o);

/*
 * Takes over all stacks taken up to until_ns, and what was counted in a generation of which all are
 * taken over. procs must know everything up to then. False when a record is still in the making, or
 * an older generation not over: others behind it wait for the next call.
 */
bool capture_drain(struct capture *c, uint64_t until_ns);

enum capture_state {
	CAPTURE_QUIET, /* nothing was deferred */
	CAPTURE_HASTE, /* something was, or has no name yet, so more is likely to come */
	CAPTURE_BUSY,  /* a table was built: look what came meanwhile, and call again at once */
};

/*
 * Walks what the kernel deferred, as far as its tables are there, then builds the one table that is
 * wanted most.
 */
enum capture_state capture_walk(struct capture *c);

/* Adds what the kernel did not count, by the slots of its stacks. Before capture_finish(). */
void capture_add(struct capture *c, const struct prof_count *n);

/* The time of the oldest stack that is still to be walked, if that is before until_ns. */
uint64_t capture_needs_since(const struct capture *c, uint64_t until_ns);

/* The recording begins: from here on slices of it are kept. duration_ns: 0 = not known. */
void capture_begin(struct capture *c, uint64_t begin_ns, uint64_t duration_ns);

/*
 * After the last drain: samples and ledger. counters are the sums over all CPUs; end_ns is when
 * counting ended.
 */
void capture_finish(struct capture *c, const uint64_t counters[PROF_NR_COUNTERS], uint64_t end_ns);

/*
 * A count as a sample, but for who woke it; its stacks are what capture_slot_ref() calls them. It
 * is counted as recorded, or as what it turns out to be: then false.
 */
bool capture_sample(struct capture *c, const struct prof_count *n, struct sample *to);
/*
 * What we call a stack, by the kernel's slot + 1, while its generation lasts. What has been walked
 * meanwhile is a stack like others: equal ones are one.
 */
uint32_t capture_slot_ref(const struct capture *c, uint32_t slot1);

/* Every module of the profile has a source from here on. Before its frames get names. */
void capture_fill_sources(struct capture *c);

/*
 * Opens what runtimes have written of the code they generated; ask: Java virtual machines are made
 * to write it (capture_jit.c). After capture_finish(), before what bpfprof started is ended.
 */
void capture_find_jit(struct capture *c, bool ask);
/* The same for names of a recording that goes on, however often: jit_files_try_map(). */
void capture_try_jit(struct capture *c);
/* For jit_files_new(); a child does it. arg: the capture. */
int capture_open_jit(void *arg, const struct jit_place *place, int tmp, struct jit_refusal *why);
/* In the child: READER_JIT_FILES. */
int capture_do_open_jit(struct reader_work *w);
/* Has a JVM write the names of its code. */
int capture_do_ask_java(struct reader_work *w);

void capture_release(struct capture *c);

#endif

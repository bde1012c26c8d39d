/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of processes: names, and which file was mapped executable where and when. Fed by
 * /proc at the start and by perf's side-band records from then on, each with its time, so that an
 * address can be asked about as of the moment it was sampled: after an exec, a dlclose or the end
 * of the process the answer is still the one of that moment.
 *
 * A process is a list of images, newest first; a fork or an exec begins one. An image holds its
 * present mappings sorted by address, and those that were replaced. Times are ns of
 * CLOCK_MONOTONIC.
 *
 * Of a process that has ended only its name is kept, and only if something refers to it: hosts
 * that compile start a thousand processes a second, and no turn may walk over those of an hour.
 *
 *	processes      exit seen, threads may go on      gone
 *	(by pid)  -->  (also in ended, in that order) --> name by pid, or nothing
 */
#ifndef BPFPROF_PROC_PROC_H
#define BPFPROF_PROC_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <uthash.h>

#include "base/file_id.h"

/* What is needed to open the file of a mapping so that it is certainly the mapped one. */
struct proc_open {
	uint64_t start, end; /* of the mapping in process pid */
	uint64_t ino;
	uint64_t seen_ns;
	uint32_t dev_major, dev_minor;
	uint32_t pid;
	bool by_path;	   /* not by /proc/PID/map_files, where the process can make us wait */
	bool is_system;	   /* out: root's alone, and where nothing can make us wait */
	struct file_id id; /* out: whoever opened it asked */
	char path[4096];   /* as the process sees it */
};

/* Who opens it: somebody else, since a file may lie where opening it takes forever. */
struct proc_opener {
	/* A descriptor or negative errno. */
	int (*open)(void *arg, struct proc_open *what);
	void *arg;
};

/* Who reads mappings: somebody else, since a process can keep the lock of its own. */
struct proc_mapper {
	/*
	 * Gives of each process in turn its executable mappings, len bytes of lines as in
	 * /proc/PID/maps; or negative errno.
	 */
	void (*read)(void *arg, const uint32_t *pids, size_t nr,
		     void (*take)(void *to, size_t i, const void *lines, ssize_t len), void *to);
	void *arg;
};

/*
 * Identity of a mapped file: never by path alone, since a path can be given to another file at any
 * time.
 */
struct proc_file_key {
	uint64_t ino;
	uint32_t dev_major, dev_minor;
	uint64_t past; /* 0: as it is now; else what it was before it was written to */
};

struct proc_file {
	struct proc_file_key key;
	char *path; /* as the process sees it, without " (deleted)" */
	int fd;	    /* -1 until opened, and when that failed */
	const struct proc_opener *opener;
	uint64_t seen_ns;  /* when it was first known to be mapped */
	bool tried;	   /* to open it */
	bool is_system;	   /* as in struct proc_open */
	struct file_id id; /* when it was opened, or last looked at */
	bool was_settled;  /* and could not change again unnoticed */
	/*
	 * Its bytes in the course of time, each from since_ns on. Those up to checked_ns were seen;
	 * what it was between that and a write that was noticed nobody knows.
	 */
	struct proc_file *newer; /* one of its users is the older one */
	uint64_t since_ns, checked_ns;
	bool has_python; /* for unwind/store: it holds an interpreter of Python */
	uint32_t module; /* for the collector's use, 0 at first */
	uint32_t users;	 /* who keep it besides: see proc_prune() */
	bool mapped;	 /* within proc_prune() only */
	UT_hash_handle hh;
};

struct proc_mapping {
	uint64_t start, end; /* [start, end) */
	uint64_t file_offset;
	uint64_t from_ns, to_ns; /* valid in [from, to); 0 = since ever, UINT64_MAX = still */
	struct proc_file *file;	 /* NULL: executable memory without a file */
};

struct proc_image {
	uint64_t from_ns, snapshot_ns;
	struct proc_mapping *maps; /* present ones, sorted, disjoint */
	size_t nr_maps, cap_maps;
	struct proc_mapping *old; /* replaced ones, in order of replacement */
	size_t nr_old, cap_old;
	size_t max_old;	 /* when there are more, those that are over are dropped */
	uint32_t module; /* for the collector's use: its code without a file; 0 at first */
	/* For the collector's use as well, of its interpreter of Python; 0 at first. */
	uint32_t python;
	uint16_t python_row; /* of the kernel's struct python_layout */
	uint64_t python_next_ns, python_wait_ns;
	int python_err;		 /* why it is not looked for any more; 0 = it is */
	uint64_t python_told_ns; /* when a recording was told so */
	struct proc_image *older;
};

struct process {
	uint32_t pid;
	char name[16];
	bool sampled;	      /* something refers to it: keep */
	uint64_t exit_ns;     /* its main thread left; then it is in the list of those that ended */
	uint32_t nr_threads;  /* that run besides the main one, if is_counted */
	bool is_counted;      /* seen from its birth, and no record was missed */
	uint64_t ask_ns;      /* /proc said that threads go on: not asked again before … */
	uint64_t ask_step_ns; /* … and then after twice that long */
	uint64_t checked_ns;  /* /proc was last read */
	uint32_t changes;     /* of its present mappings, counted */
	uint64_t reused_ns;   /* addresses of one file were last given to another; 0 = never */
	uint64_t listed_ns;   /* for unwind/store: the kernel was last told of its mappings */
	struct proc_image *image;
	struct process *prev, *next; /* of those that ended */
	UT_hash_handle hh;
};

/* What is left of one that ended. */
struct proc_name {
	uint32_t pid;
	char name[16];
	UT_hash_handle hh;
};

struct proc_table {
	bool track_all; /* else only processes added by hand … */
	bool follow;	/* … and what they start */
	struct process *processes;
	struct process *ended; /* of these: those whose main thread left, in order of time */
	uint32_t nr_ended;
	const struct proc_opener *opener; /* NULL = we do it ourselves */
	const struct proc_mapper *mapper; /* the same */
	struct proc_name *names;	  /* of those that were sampled and are gone */
	struct proc_file *files;
	uint64_t nr_past;    /* how often one was written to, twice counted */
	size_t max_files;    /* from where on files are forgotten that nobody has mapped any more */
	size_t most_files;   /* and from where on whoever still needs them */
	uint64_t nr_cut;     /* mappings that were forgotten for that */
	uint64_t settled_ns; /* nobody will ask for what was before */
};

void proc_init(struct proc_table *t, bool track_all, bool follow);
void proc_release(struct proc_table *t);

/*
 * Reads name and mappings of a live process from /proc. Adds it. 0, or negative errno when it is
 * gone or not readable.
 */
int proc_snapshot(struct proc_table *t, uint32_t pid, uint64_t now_ns);
/* All processes there are. */
void proc_snapshot_all(struct proc_table *t, uint64_t now_ns);
/*
 * After records since then were missed: looks at all that are tracked again, and who ended. What it
 * finds anew counts as mapped since then.
 */
void proc_recheck(struct proc_table *t, uint64_t since_ns, uint64_t now_ns);

struct process *proc_find(struct proc_table *t, uint32_t pid);

/* The name of a process, also of one that is gone if it was sampled. NULL when it is not known. */
const char *proc_name(const struct proc_table *t, uint32_t pid);

/* Side-band events, in order of time. */
struct proc_mmap {
	uint32_t pid;
	uint64_t start, len, file_offset;
	struct proc_file_key key;
	const char *path;
};
void proc_on_mmap(struct proc_table *t, const struct proc_mmap *m, uint64_t time_ns);
void proc_on_comm(struct proc_table *t, uint32_t pid, uint32_t tid, const char *name, bool exec,
		  uint64_t time_ns);
void proc_on_fork(struct proc_table *t, uint32_t parent, uint32_t pid, uint32_t tid,
		  uint64_t time_ns);
void proc_on_exit(struct proc_table *t, uint32_t pid, uint32_t tid, uint64_t time_ns);

/*
 * Forgets processes that ended before; of those that were sampled the name stays. From then on also
 * mappings that were over before, and files that are in no mapping, unless they have a module or
 * users: a process can map a new one 30,000 times a second. Call when no stack from before is
 * unread. Takes as long as there are processes that ended since the last call.
 */
void proc_prune(struct proc_table *t, uint64_t before_ns);

/*
 * For stacks that wait for a table what was over is kept, for seconds maybe. But memory has an end:
 * when there are more than 8,192 files, what is no longer mapped and was not referred to is
 * forgotten, and stacks that wait and pass through it end there. Call when nobody holds a mapping.
 */
void proc_limit(struct proc_table *t);

/* By its records: those of its threads that are not counted may still run. */
bool proc_has_ended(const struct process *p);

/* Have all processes of the table ended? */
bool proc_all_ended(const struct proc_table *t);

/*
 * Was p just being replaced by another program? The kernel still has its old registers then, and
 * addr is of code that is no longer mapped: there is no user stack.
 */
bool proc_was_replaced(const struct process *p, uint64_t addr, uint64_t time_ns);

/* What process p was at that time. */
struct proc_image *proc_image_at(const struct process *p, uint64_t time_ns);

/*
 * The mapping that held addr in process p at that time, NULL when none is known. Valid until the
 * next call above.
 */
const struct proc_mapping *proc_mapping_at(const struct process *p, uint64_t addr,
					   uint64_t time_ns);

/*
 * Opens the file of a mapping of pid so that it is certainly the mapped one: through
 * /proc/PID/map_files, else by path in the process's root, else by path in ours. By path it must be
 * the same device and inode, unchanged since it was seen mapped (an inode number is soon reused).
 * Tried once; file->fd stays -1 on failure.
 */
void proc_file_open(struct proc_file *f, uint32_t pid, const struct proc_mapping *m);

/*
 * What a mapped file was at that time, as a file of its own for each time that it was written to.
 * mapped: it was mapped then, so a time of change that tells nothing of its bytes makes it another,
 * too: its owner may have set the time of writing.
 */
struct proc_file *proc_file_at(struct proc_table *t, struct proc_file *f, uint64_t time_ns,
			       bool mapped);
/* It was not written to since it was opened, as far as one can know. */
bool proc_file_is_same(const struct proc_file *f);

/* The opening itself: a descriptor or negative errno. */
int proc_open_mapped(const struct proc_open *what);
/*
 * Only by a path that stays on the file system of that folder, and has the inode that was mapped;
 * at is what of the path is below the folder.
 */
int proc_open_below(const struct proc_open *what, int folder, const char *at);

#endif

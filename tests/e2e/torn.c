/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * torn PROGS SECONDS: rows of executables and processes are written all the time, right and wrong
 * ones in turns, while a program on each CPU is sampled whose stack is known. A wrong row is never
 * one to go by: its table is absent, or its process is another image. So a walk that goes wrong has
 * read parts of two. Prints "complete N", "waiting N" (for a table) and "wrong N".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "collect/session.h"
#include "event/cpus.h"
#include "event/perf.h"
#include "tables/tables.h"
#include "unwind/publish.h"

#define RATE_HZ	     4999
#define WARM_UP_US   300000
#define MAX_CHILDREN 8

static pid_t children[MAX_CHILDREN];
static size_t nr_children;

static void start(const char *progs)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/nofp_deep", progs);
	for (size_t i = 0; i < MAX_CHILDREN && i < cpus_possible(); i++, nr_children++) {
		children[i] = fork();
		if (children[i])
			continue;
		execl(path, path, "28", "1000", NULL);
		_exit(127);
	}
}

static struct table_proc *proc_of(const struct session_maps *maps, uint32_t pid)
{
	struct table_proc *row = &maps->procs[TABLE_PROC_HOME(pid)];

	while (row->pid != pid)
		row++;
	return row;
}

/* For as long as a walk may take to read a row. */
static void linger(void)
{
	for (volatile int i = 0; i < 200; i++)
		;
}

/*
 * As publish.c writes, but slowly: another image of the process, with another's mappings, becomes
 * the true one part by part.
 */
static void write_proc(const struct session_maps *maps, size_t i)
{
	struct table_proc *row = proc_of(maps, children[i]), right = *row, wrong = right;
	const struct table_proc *other = proc_of(maps, children[(i + 1) % nr_children]);

	wrong.start_stack ^= 1;
	wrong.list = other->list;
	wrong.nr_mappings = other->nr_mappings;
	publish_proc(maps->procs, &wrong);
	linger();
	__atomic_fetch_add(&row->seq, 1, __ATOMIC_SEQ_CST);
	row->start_stack = right.start_stack;
	linger();
	row->list = right.list;
	row->nr_mappings = right.nr_mappings;
	__atomic_fetch_add(&row->seq, 1, __ATOMIC_SEQ_CST);
	linger();
}

/* All that walks have kept has to be looked up again. */
static void forget(const struct session_maps *maps)
{
	__atomic_fetch_add(maps->table_epoch, 1, __ATOMIC_SEQ_CST);
}

/* A table is taken away, and becomes the true one again. */
static void write_exe(const struct session_maps *maps, struct table_exe *row)
{
	struct table_exe right = *row, wrong = right;

	wrong.state = TABLE_ABSENT;
	wrong.delta += 64;
	publish_exe(row, &wrong);
	forget(maps);
	linger();
	__atomic_fetch_add(&row->seq, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&row->state, TABLE_READY, __ATOMIC_SEQ_CST);
	linger();
	row->delta = right.delta;
	__atomic_fetch_add(&row->seq, 1, __ATOMIC_SEQ_CST);
	linger();
}

static void write_exes(const struct session_maps *maps)
{
	for (uint32_t i = 1; i < TABLE_MAX_EXES && maps->exes[i].state == TABLE_READY; i++)
		write_exe(maps, &maps->exes[i]);
	forget(maps);
}

static void write_all(const struct session_maps *maps, int seconds)
{
	time_t end = time(NULL) + seconds;

	while (time(NULL) < end)
		for (size_t i = 0; i < nr_children; i++) {
			write_proc(maps, i);
			write_exes(maps);
		}
}

/* Waiting for a table is an end that says so; any other but the root is wrong. */
static int judge(const struct session_maps *maps)
{
	uint64_t end = maps->frame_cursors[0].value, at = 0, complete = 0, waiting = 0, wrong = 0;
	struct prof_stack_head h;

	if (end > maps->nr_frame_words)
		end = maps->nr_frame_words;
	for (; at < end && maps->frames[at]; at += h.nr_frames + PROF_STACK_WORDS) {
		memcpy(&h, (const void *)&maps->frames[at], sizeof(h));
		if (h.kind == PROF_STACK_DEFERRED || h.end == UNWIND_END_NO_ROOM)
			waiting++;
		else if (h.kind == PROF_STACK_USER && h.end == UNWIND_END_CFI_ROOT)
			complete++;
		else if (h.kind == PROF_STACK_USER)
			wrong++;
	}
	printf("complete %llu\nwaiting %llu\nwrong %llu\n", (unsigned long long)complete,
	       (unsigned long long)waiting, (unsigned long long)wrong);
	return 0;
}

int main(int argc, char **argv)
{
	struct session_opts o = { .probe = probe_get("oncpu"), .cgroup_fd = -1 };
	struct perf_events events = {};
	const struct session_maps *maps;
	struct tables *tables;
	struct session *s;
	int err;

	if (argc != 3)
		return 2;
	o.config.pc_mask = ~0ull >> 16;
	o.config.own_pid = getpid();
	o.config.max_depth = 127;
	o.config.no_kstacks = 1;
	o.config.filter_pid = 1;
	s = session_open(&o);
	if (!s || session_attach(s))
		return 1;
	maps = session_maps(s);
	start(argv[1]);
	for (size_t i = 0; i < nr_children; i++)
		session_add_pid(s, children[i]);
	usleep(WARM_UP_US);
	tables = tables_give(s, children, nr_children, true);
	events.prog_fd = session_perf_program(s);
	err = perf_events_open(&events, "cpu-clock", RATE_HZ);
	if (!err)
		write_all(maps, atoi(argv[2]));
	perf_events_close(&events);
	for (size_t i = 0; i < nr_children; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	err = err ? 1 : judge(maps);
	tables_free(tables);
	session_close(s);
	return err;
}

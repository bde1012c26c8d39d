/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Subcommands. Each is one file: an arguments struct, its options table, glue. To add one: cmd/x.c
 * with cmd_x(), a line here, a row in commands.c, a page in man/, a test.
 */
#ifndef BPFPROF_CMD_CMD_H
#define BPFPROF_CMD_CMD_H

#include "base/opt.h"

/* What a command came to; main.c turns it into the exit code. */
enum cmd_result {
	CMD_OK,
	CMD_FAILED,
	CMD_USAGE,	/* the command line makes no sense */
	CMD_EMPTY,	/* nothing was recorded */
	CMD_REGRESSION, /* a rule of --fail-on applies */
	CMD_CANNOT,	/* this host cannot run it */
};

struct command {
	const char *name;
	enum cmd_result (*run)(const struct command *self, int argc, char **argv);
	const char *synopsis; /* behind the name */
	const char *summary;
	const struct opt *opts;
	const char *examples; /* lines, for the help */
};

/* The table. */
extern const struct command commands[];
extern const size_t nr_commands;

/* Prints the help of a command. */
void cmd_help(const struct command *c);

/* From a negative errno, as record_open and others return it. */
enum cmd_result cmd_failed(int err);

enum cmd_result cmd_oncpu(const struct command *self, int argc, char **argv);
enum cmd_result cmd_pmu(const struct command *self, int argc, char **argv);
enum cmd_result cmd_offcpu(const struct command *self, int argc, char **argv);
enum cmd_result cmd_runqlat(const struct command *self, int argc, char **argv);
enum cmd_result cmd_sched(const struct command *self, int argc, char **argv);
enum cmd_result cmd_timeline(const struct command *self, int argc, char **argv);
enum cmd_result cmd_wakeup(const struct command *self, int argc, char **argv);
enum cmd_result cmd_syscalls(const struct command *self, int argc, char **argv);
enum cmd_result cmd_lock(const struct command *self, int argc, char **argv);
enum cmd_result cmd_top(const struct command *self, int argc, char **argv);
enum cmd_result cmd_agent(const struct command *self, int argc, char **argv);
enum cmd_result cmd_wall(const struct command *self, int argc, char **argv);
enum cmd_result cmd_uprobe(const struct command *self, int argc, char **argv);
enum cmd_result cmd_kprobe(const struct command *self, int argc, char **argv);
enum cmd_result cmd_tracepoint(const struct command *self, int argc, char **argv);
enum cmd_result cmd_polls(const struct command *self, int argc, char **argv);
enum cmd_result cmd_alloc(const struct command *self, int argc, char **argv);
enum cmd_result cmd_faults(const struct command *self, int argc, char **argv);
enum cmd_result cmd_io(const struct command *self, int argc, char **argv);
enum cmd_result cmd_stat(const struct command *self, int argc, char **argv);
enum cmd_result cmd_doctor(const struct command *self, int argc, char **argv);
enum cmd_result cmd_who(const struct command *self, int argc, char **argv);
enum cmd_result cmd_list(const struct command *self, int argc, char **argv);
enum cmd_result cmd_report(const struct command *self, int argc, char **argv);
enum cmd_result cmd_annotate(const struct command *self, int argc, char **argv);
enum cmd_result cmd_diff(const struct command *self, int argc, char **argv);
enum cmd_result cmd_history(const struct command *self, int argc, char **argv);
enum cmd_result cmd_push(const struct command *self, int argc, char **argv);
enum cmd_result cmd_completion(const struct command *self, int argc, char **argv);

extern const struct opt oncpu_opts[], pmu_opts[], stat_opts[], offcpu_opts[], runqlat_opts[],
	sched_opts[], timeline_opts[], uprobe_opts[], kprobe_opts[], tracepoint_opts[],
	wakeup_opts[], wall_opts[], list_opts[], report_opts[], diff_opts[], completion_opts[],
	alloc_opts[], faults_opts[], lock_opts[], syscalls_opts[], io_opts[], annotate_opts[],
	history_opts[], top_opts[], doctor_opts[], polls_opts[], agent_opts[], who_opts[],
	push_opts[];

#endif

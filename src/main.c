/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof: finds the command, runs it, and is the only place that decides exit codes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/pipes.h"
#include "base/text.h"
#include "cmd/cmd.h"

static const int exit_codes[] = {
	[CMD_OK] = 0,	 [CMD_FAILED] = 1,     [CMD_USAGE] = 2,
	[CMD_EMPTY] = 3, [CMD_REGRESSION] = 4, [CMD_CANNOT] = 77,
};

static void print_commands(FILE *out)
{
	fputs("usage: bpfprof COMMAND [OPTIONS] [DURATION] [-- PROGRAM [ARGS...]]\n\n", out);
	for (size_t i = 0; i < nr_commands; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\nbpfprof COMMAND --help lists its options; "
	      "bpfprof --version prints the version.\n",
	      out);
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < nr_commands; i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

/* Names of other tools (perf, bcc, strace), and what does the same here. */
static const struct habit {
	const char *name, *command;
} habits[] = {
	{ "-v", "--version" },
	{ "argdist", "uprobe --arg" },
	{ "biolatency", "io" },
	{ "biosnoop", "io" },
	{ "cpudist", "sched" },
	{ "deadlock", "lock" },
	{ "flamegraph", "report -o x.svg" },
	{ "funccount", "uprobe" },
	{ "funclatency", "uprobe -l" },
	{ "klockstat", "lock --kernel" },
	{ "llcstat", "stat -M cache" },
	{ "memleak", "alloc --live" },
	{ "offcputime", "offcpu" },
	{ "offwaketime", "wakeup" },
	{ "probe", "uprobe" },
	{ "profile", "oncpu" },
	{ "record", "oncpu" },
	{ "runqslower", "runqlat --threshold" },
	{ "script", "report -f" },
	{ "stackcount", "uprobe -g" },
	{ "strace", "syscalls" },
	{ "syscount", "syscalls" },
	{ "tcpconnlat", "io --kind connect" },
	{ "timehist", "timeline" },
	{ "trace", "syscalls" },
	{ "version", "--version" },
	{ "wakeuptime", "wakeup" },
};

static bool is_habit(const char *name)
{
	for (size_t i = 0; i < sizeof(habits) / sizeof(*habits); i++) {
		if (strcmp(habits[i].name, name))
			continue;
		log_err(0, "there is no command '%s': 'bpfprof %s' does that", name,
			habits[i].command);
		return true;
	}
	return false;
}

static enum cmd_result unknown(const char *name)
{
	const char **names;
	char *hint;

	if (is_habit(name))
		return CMD_USAGE;
	names = xcalloc(nr_commands, sizeof(*names));
	for (size_t i = 0; i < nr_commands; i++)
		names[i] = commands[i].name;
	hint = text_meant("", text_nearest(name, names, nr_commands));
	log_err(0, "unknown command '%s'%s (bpfprof --help lists them)", name, hint);
	free(hint);
	free(names);
	return CMD_USAGE;
}

static enum cmd_result dispatch(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		print_commands(stderr);
		return CMD_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("bpfprof " BPFPROF_VERSION);
		return CMD_OK;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		c = argc > 2 ? find(argv[2]) : NULL;
		if (argc > 2 && !c)
			return unknown(argv[2]);
		if (c)
			cmd_help(c);
		else
			print_commands(stdout);
		return CMD_OK;
	}
	c = find(argv[1]);
	return c ? c->run(c, argc - 1, argv + 1) : unknown(argv[1]);
}

/*
 * One of these that is closed must not become a socket or a map, which output would then be
 * written to. To read only: who writes there is told.
 */
static void hold_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	enum cmd_result result;

	hold_standard_descriptors();
	pipes_begin();
	signal(SIGXFSZ, SIG_IGN); /* ulimit -f: whoever writes is told, and says so */
	result = dispatch(argc, argv);

	if (outfile_end_stdout() && result == CMD_OK)
		result = CMD_FAILED;
	return exit_codes[result];
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What all commands share. */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>

enum cmd_result cmd_failed(int err)
{
	if (err == -EINVAL)
		return CMD_USAGE;
	return err == -EPERM || err == -EACCES || err == -EOPNOTSUPP ? CMD_CANNOT : CMD_FAILED;
}

void cmd_help(const struct command *c)
{
	printf("bpfprof %s %s\n\n%s.\n\n", c->name, c->synopsis, c->summary);
	opt_help(stdout, c->opts);
	printf("\nExamples:\n%s", c->examples);
	printf("\nbpfprof-%s(8) has more.\n", c->name);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* At the end of a recording: what runtimes have written of the code they generated. */
#include <stdlib.h>

#include "base/log.h"
#include "collect/capture.h"
#include "proc/java.h"

#define JAVA_NS 3000000000ull /* an answer takes 0.2 s, and the cache of a large JVM longer */

static void ask_java(const struct jit_files *j, const struct process *p)
{
	char *why = java_is_jvm(p->image) ? java_write_names(j, JAVA_NS) : NULL;

	if (why)
		log_warn("no names of Java code of process %u: %s", p->pid, why);
	free(why);
}

void capture_find_jit(struct capture *c, bool ask)
{
	struct process *p;
	struct jit_files *j;

	for (size_t i = 0; i < c->nr_sources; i++) {
		j = c->sources[i].jit;
		if (!j)
			continue;
		p = proc_find(c->procs, j->pid);
		if (p)
			jit_files_find_dump(j, p->image);
		if (p && ask && !p->exit_ns)
			ask_java(j, p);
		jit_files_open_map(j);
	}
}

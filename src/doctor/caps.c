/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of capabilities. */
#include "doctor/caps.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "doctor/doctor.h"

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define FILES (USE_RECORD | USE_NAMES)

const struct cap_row cap_rows[] = {
	{ CAP_BPF, "CAP_BPF", "load BPF programs", CAP_NEEDED, USE_BPF, 0 },
	{ CAP_PERFMON, "CAP_PERFMON", "open perf events and read stacks", CAP_NEEDED,
	  USE_BPF | USE_PERF, 0 },
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "read mappings of processes of other users", CAP_WANTED,
	  FILES, 0 },
	{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "read files of other users", CAP_WANTED,
	  FILES, 0 },
	{ CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE", "open files by /proc/PID/map_files",
	  CAP_WANTED, FILES, 0 },
	{ CAP_SYSLOG, "CAP_SYSLOG", "read names of the kernel", CAP_WANTED, USE_NAMES | USE_KPROBE,
	  0 },
	{ CAP_IPC_LOCK, "CAP_IPC_LOCK", "map rings of CPUs that join later", CAP_SPARE, USE_PERF,
	  0 },
	{ CAP_SETUID, "CAP_SETUID", "let readers of files be nobody", CAP_OF_ROOT, FILES, 0 },
	{ CAP_SETGID, "CAP_SETGID", "let readers of files be nobody", CAP_OF_ROOT, FILES, 0 },
	{ CAP_KILL, "CAP_KILL", "end such readers, and the program", CAP_OF_ROOT, FILES,
	  CAP_FOR_PROGRAM },
	{ CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE", "write into folders of others", CAP_SPARE, 0,
	  CAP_FOR_FOLDER },
	{ CAP_FOWNER, "CAP_FOWNER", "replace files of others there", CAP_SPARE, 0, CAP_FOR_FOLDER },
	{ CAP_CHOWN, "CAP_CHOWN", "give files to who called sudo", CAP_SPARE, 0, CAP_FOR_FOLDER },
	{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN", "open perf events where only it may", CAP_SPARE, 0,
	  CAP_FOR_PARANOID },
};
const size_t cap_nr_rows = sizeof(cap_rows) / sizeof(*cap_rows);

uint64_t caps_kept(unsigned int uses, unsigned int needs)
{
	uint64_t caps = 0;

	for (size_t i = 0; i < cap_nr_rows; i++)
		if (cap_rows[i].uses & uses || cap_rows[i].needs & needs)
			caps |= 1ull << cap_rows[i].cap;
	return caps;
}

char *caps_text(uint64_t caps)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < cap_nr_rows; i++)
		if (caps >> cap_rows[i].cap & 1)
			fprintf(out, "%s%s", ftell(out) ? ", " : "", cap_rows[i].name + 4);
	fclose(out);
	return text;
}

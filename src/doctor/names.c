/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows about where names of functions come from. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor/binaries.h"
#include "doctor/looks.h"
#include "proc/running.h"
#include "profile/runtime.h"
#include "symbol/source.h"

#define WAIT_MS	    2000
#define MAX_SILENT  3
#define FIRST_MINOR 8 /* of Python 3, as src/python knows them */
#define LAST_MINOR  14

void look_dwarf(const struct machine *m, struct finding *f)
{
	finding_found(f, "libdw %s", m->libdw);
}

void look_debug_files(const struct machine *m, struct finding *f)
{
	bool there = machine_has(m, SYMBOL_DEBUG_DIR "/.build-id");

	finding_found(f, "%s", there ? SYMBOL_DEBUG_DIR "/.build-id" : "none installed");
	if (!there)
		f->state = DOCTOR_LIMITED;
}

/* They are asked on request only, so none is no loss. */
void look_debuginfod(const struct machine *m, struct finding *f)
{
	if (!m->debuginfod_urls || !*m->debuginfod_urls) {
		finding_found(f, "DEBUGINFOD_URLS names no server");
		return;
	}
	finding_found(f, "%s", m->debuginfod_urls);
	if (!m->has_debuginfod)
		f->state = DOCTOR_LIMITED;
}

/* Busiest programs ----------------------------------------------------------------------------- */

typedef void (*describe_fn)(const struct machine *m, uint32_t after, FILE *out);

/*
 * Files of processes may lie where nobody answers, and so may their command lines, so a child reads
 * them: it has a deadline, and what it says is text. False: it did not come to its end.
 */
static bool ask_child(const struct machine *m, describe_fn describe, uint32_t after, char *text,
		      size_t sz)
{
	int ends[2];
	struct pollfd p;
	size_t len = 0;
	ssize_t got = 1;
	pid_t pid;

	text[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return true;
	pid = fork();
	if (!pid) {
		FILE *out = fdopen(ends[1], "w");

		alarm(WAIT_MS / 1000);
		describe(m, after, out);
		fflush(out);
		_exit(0);
	}
	close(ends[1]);
	p = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	while (pid > 0 && got > 0 && len + 1 < sz && poll(&p, 1, WAIT_MS) > 0) {
		got = read(ends[0], text + len, sz - 1 - len);
		len += got > 0 ? got : 0;
	}
	text[len] = '\0';
	close(ends[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, WNOHANG);
	}
	return !got;
}

static void describe_busiest(const struct machine *m, uint32_t after, FILE *out)
{
	binaries_describe(m, out);
}

static void find_none(const struct machine *m, struct finding *f)
{
	if (!m->moment.nr_busy) {
		finding_found(f, "none are busy");
		return;
	}
	finding_found(f, "not shown to this user");
	finding_judge(f, DOCTOR_LIMITED,
		      "of programs of others it is not known whether they have debug information");
	finding_remedy(f, "run as root");
}

/* Lines of binaries_describe(): "name state package". */
void look_busiest(const struct machine *m, struct finding *f)
{
	char text[2048], missing[200] = "", packages[200] = "", *line;
	char name[64], package[96];
	size_t nr = 0, nr_poor = 0, at = 0, to = 0;
	int state;

	ask_child(m, describe_busiest, 0, text, sizeof(text));
	for (char *rest = text; (line = strsep(&rest, "\n"));) {
		if (sscanf(line, "%63s %d %95s", name, &state, package) != 3)
			continue;
		nr++;
		if (state == BINARY_FULL)
			continue;
		nr_poor++;
		if (at < sizeof(missing))
			at += snprintf(missing + at, sizeof(missing) - at, "%s%s (%s)",
				       at ? ", " : "", name,
				       state == BINARY_NAMES ? "no lines" : "no names");
		if (*package != '-' && to < sizeof(packages) && !strstr(packages, package))
			to += snprintf(packages + to, sizeof(packages) - to, " %s", package);
	}
	if (!nr) {
		find_none(m, f);
		return;
	}
	finding_found(f, "%zu of %zu have debug information", nr - nr_poor, nr);
	if (!nr_poor)
		return;
	finding_judge(f, DOCTOR_LIMITED, "without debug information: %s", missing);
	if (to)
		finding_remedy(f,
			       "apt install%s (Debian has them in its archive debian-debug), or "
			       "--debuginfod",
			       packages);
}

/* Runtimes ------------------------------------------------------------------------------------- */

/* The last part of what its program's file is called. */
static void program_of(const struct machine *m, uint32_t pid, char *name, size_t sz)
{
	char path[512], link[512] = "";
	const char *slash;

	snprintf(path, sizeof(path), "%s/proc/%u/exe", m->root, pid);
	if (readlink(path, link, sizeof(link) - 1) < 0)
		link[0] = '\0';
	slash = strrchr(link, '/');
	snprintf(name, sz, "%s", slash ? slash + 1 : link);
}

/* Does one of its words, or of its environment's, hold that? None of them is ever shown. */
static bool has_word(const struct machine *m, uint32_t pid, const char *word)
{
	static const char *const files[] = { "cmdline", "environ" };
	char path[64], text[16384];
	bool found = false;

	for (size_t i = 0; i < 2 && !found; i++) {
		char full[512];
		FILE *in;
		size_t len;

		snprintf(path, sizeof(path), "/proc/%u/%s", pid, files[i]);
		snprintf(full, sizeof(full), "%s%s", m->root, path);
		in = fopen(full, "re");
		if (!in)
			continue;
		len = fread(text, 1, sizeof(text), in);
		found = memmem(text, len, word, strlen(word)) != NULL;
		fclose(in);
	}
	return found;
}

/* "python3.15" is a version that is not known, "python3" says none. */
static bool is_unknown_python(const char *program)
{
	int major = 0, minor = -1;

	if (strncmp(program, "python", 6) || sscanf(program + 6, "%d.%d", &major, &minor) < 1)
		return false;
	return major != 3 || (minor >= 0 && (minor < FIRST_MINOR || minor > LAST_MINOR));
}

/* Runtimes whose code has names only with one of these words. */
static const struct {
	const char *program, *words[3];
} wanted[] = {
	{ "node", { "--perf-basic-prof", "--perf-prof" } },
	{ "dotnet", { "DOTNET_PerfMapEnabled=", "COMPlus_PerfMapEnabled=" } },
	{ "beam.smp", { "+JPperf" } },
	{ "julia", { "ENABLE_JITPROFILING=1" } },
};

/* NULL: it has names, or is no runtime that we know; else whose remedy is to be told. */
static const char *lacks_names(const struct machine *m, uint32_t pid, const char *program)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		if (strcmp(program, wanted[i].program))
			continue;
		for (size_t k = 0; wanted[i].words[k]; k++)
			if (has_word(m, pid, wanted[i].words[k]))
				return NULL;
		return wanted[i].program;
	}
	if (!strcmp(program, "java") && has_word(m, pid, "-XX:+DisableAttachMechanism"))
		return "java";
	return is_unknown_python(program) ? "python" : NULL;
}

static void judge_runtime(struct finding *f, const char *program, const char *runtime)
{
	if (!strcmp(runtime, "python"))
		finding_remedy(f, "bpfprof knows functions of CPython 3.%d to 3.%d, not of %s",
			       FIRST_MINOR, LAST_MINOR, program);
	else if (!strcmp(runtime, "java"))
		finding_remedy(f, "run it without -XX:+DisableAttachMechanism, which keeps "
				  "--java-names from asking");
	else
		finding_remedy(f, "%s", runtime_named(runtime)->named);
}

static bool is_runtime(const char *program)
{
	return !strncmp(program, "python", 6) || !strcmp(program, "java") ||
	       runtime_named(program)->process;
}

/* Lines "pid program", before what may not end, and then what it lacks, or "-". */
static void describe_runtimes(const struct machine *m, uint32_t after, FILE *out)
{
	char program[64];
	struct running r;

	running_read(&r, m->root);
	for (size_t i = 0; i < r.nr; i++) {
		const char *runtime;

		program_of(m, r.v[i].pid, program, sizeof(program));
		if (r.v[i].pid <= after || strpbrk(program, " \n") || !is_runtime(program))
			continue;
		fprintf(out, "%u %s ", r.v[i].pid, program);
		fflush(out);
		runtime = lacks_names(m, r.v[i].pid, program);
		fprintf(out, "%s\n", runtime ? runtime : "-");
		fflush(out);
	}
	running_release(&r);
}

struct runtimes {
	size_t nr, nr_poor, nr_silent, at;
	uint32_t last;	     /* that was told of */
	char missing[160];   /* those without names, with their numbers */
	char first[2][64];   /* program and runtime of the first one */
	uint32_t silent_pid; /* the first that did not answer */
	char silent[64];
};

/* One line of describe_runtimes(). */
static void add_runtime(struct runtimes *r, const char *line)
{
	char program[64], runtime[64];
	int nr = sscanf(line, "%u %63s %63s", &r->last, program, runtime);

	if (nr < 2)
		return;
	r->nr++;
	if (nr == 3 && !strcmp(runtime, "-"))
		return;
	r->nr_poor++;
	if (nr == 2 && !r->nr_silent++) {
		r->silent_pid = r->last;
		memcpy(r->silent, program, sizeof(program));
	}
	if (nr == 3 && !*r->first[0]) {
		memcpy(r->first[0], program, sizeof(program));
		memcpy(r->first[1], runtime, sizeof(runtime));
	}
	if (r->at < sizeof(r->missing))
		r->at += snprintf(r->missing + r->at, sizeof(r->missing) - r->at, "%s%s (%u)",
				  r->at ? ", " : "", program, r->last);
}

/* Who does not answer costs a child and its deadline: behind the third the rest is left out. */
static void read_runtimes(const struct machine *m, struct runtimes *r)
{
	char text[16384], *line;
	bool ended = false;

	*r = (struct runtimes){};
	for (int i = 0; i < MAX_SILENT && !ended; i++) {
		size_t before = r->nr;

		ended = ask_child(m, describe_runtimes, r->last, text, sizeof(text));
		for (char *rest = text; (line = strsep(&rest, "\n"));)
			add_runtime(r, line);
		if (r->nr == before)
			break;
	}
}

void look_runtimes(const struct machine *m, struct finding *f)
{
	struct runtimes r;

	read_runtimes(m, &r);
	if (r.nr_silent)
		finding_remedy(f,
			       "end %s (%u), or what its memory is mapped from: even ps waits "
			       "for its command line",
			       r.silent, r.silent_pid);
	else if (*r.first[0])
		judge_runtime(f, r.first[0], r.first[1]);
	if (r.nr)
		finding_found(f, "%zu, of which %zu have names", r.nr, r.nr - r.nr_poor);
	else
		finding_found(f, "none are running");
	if (r.nr_poor)
		finding_judge(f, DOCTOR_LIMITED, "generated code has no names in%s: %s",
			      r.nr_silent ? " (or they do not answer)" : "", r.missing);
}

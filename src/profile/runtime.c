/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of runtimes. */
#include "profile/runtime.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/mem.h"

/* By the name of the process, or by a file whose code it runs; the last row fits all. */
static const struct runtime runtimes[] = {
	/* at most 32 */
	{ "java", "libjvm.so",
	  "Java code without frame pointers: run it with java -XX:+PreserveFramePointer",
	  "Java code: --java-names has the JVM write down its names (JDK 17 and later)" },
	{ "node", "node",
	  "V8 keeps frame pointers except in stubs, so a little is normal; "
	  "node --interpreted-frames-native-stack gives interpreted functions frames",
	  "JavaScript: run it with node --perf-basic-prof, whose file grows as long as it runs" },
	{ "dotnet", "libcoreclr.so", ".NET code without frame pointers",
	  ".NET code: set DOTNET_PerfMapEnabled=1 in its environment" },
	{ "beam.smp", "beam.smp",
	  "Erlang code without frame pointers: run it with erl +JPperf true",
	  "Erlang code: run it with erl +JPperf true" },
	{ "ruby", "libruby.so", "Ruby code without frame pointers: run it with --yjit-perf",
	  "Ruby code: run it with --yjit-perf" },
	{ "julia", "libjulia-internal.so", "Julia code without frame pointers",
	  "Julia code: set ENABLE_JITPROFILING=1 in its environment" },
	{ "php", "php", "PHP code without frame pointers",
	  "PHP code: run it with -d opcache.jit_debug=0x10" },
	{ "php-fpm", "php-fpm", "PHP code without frame pointers",
	  "PHP code: set opcache.jit_debug=0x10 in its php.ini" },
	{ "apache2", "libphp", "PHP code without frame pointers",
	  "PHP code: set opcache.jit_debug=0x10 in its php.ini" },
	{ "luajit", "libluajit-5.1.so", "Lua code without frame pointers",
	  "Lua code: LuaJIT writes a map when it is built with -DLUAJIT_USE_PERFTOOLS" },
	{ "postgres", "llvmjit.so",
	  "PostgreSQL's generated code keeps no frame pointers: SET jit = off, to see its callers",
	  "PostgreSQL: connect with jit_profiling_support = on; LLVM then writes jitdump" },
	{ "python3", "libpython3", "Python's generated code without frame pointers",
	  "Python: code that was gone before its name was read (of imports), or generated code" },
	{ NULL, NULL,
	  "JIT code without frame pointers: its runtime may have an option for profilers that "
	  "keeps them",
	  "generated code: its runtime may have an option for perf that writes /tmp/perf-PID.map" },
};

/* "libruby.so" is that of libruby.so.3.1 too, and "php" that of php8.2. */
static bool is_file(const char *path, const char *file)
{
	const char *slash = strrchr(path, '/');
	size_t len = strlen(file);

	path = slash ? slash + 1 : path;
	return !strncmp(path, file, len) && (!path[len] || strchr(".0123456789", path[len]));
}

/* A bit for each row that code of this file is of. */
static uint32_t rows_of(const char *path)
{
	uint32_t rows = 0;

	for (size_t i = 0; runtimes[i].process; i++)
		rows |= (uint32_t)is_file(path, runtimes[i].file) << i;
	return rows;
}

static uint32_t rows_of_stack(const struct profile *p, uint32_t stack, const uint32_t *of_module)
{
	uint32_t nr, rows = 0;
	const uint32_t *frames = profile_stack_frames(p, stack, &nr);

	for (uint32_t i = 0; i < nr; i++)
		rows |= of_module[profile_frame_at(p, frames[i])->module];
	return rows;
}

struct runtime_process {
	uint32_t name, rows;
	UT_hash_handle hh;
};

static struct runtime_process *process_of(struct runtime_finder *r, uint32_t name)
{
	struct runtime_process *found;

	HASH_FIND(hh, r->processes, &name, sizeof(name), found);
	if (found)
		return found;
	found = xcalloc(1, sizeof(*found));
	found->name = name;
	HASH_ADD(hh, r->processes, name, sizeof(name), found);
	return found;
}

/* Each frame of each stack once, however many processes are asked for. */
static void look(struct runtime_finder *r)
{
	const struct profile *p = r->profile;
	uint32_t *of_module = xcalloc(p->nr_modules + 1, sizeof(*of_module));
	uint32_t *of_stack = xcalloc(p->nr_stacks + 1, sizeof(*of_stack));

	for (size_t i = 0; i < p->nr_modules; i++)
		of_module[i] = rows_of(profile_str(p, p->modules[i].path));
	for (size_t i = 0; i < p->nr_stacks; i++)
		of_stack[i] = rows_of_stack(p, i, of_module);
	for (size_t i = 0; i < p->nr_samples; i++)
		process_of(r, p->samples[i].process)->rows |= of_stack[p->samples[i].ustack];
	free(of_stack);
	free(of_module);
	r->known = true;
}

const struct runtime *runtime_find(struct runtime_finder *r, uint32_t process)
{
	const struct runtime *row = runtimes;
	uint32_t rows;

	if (!r->known)
		look(r);
	rows = process_of(r, process)->rows;
	while (row->process && strcmp(profile_str(r->profile, process), row->process) &&
	       !(rows & 1u << (row - runtimes)))
		row++;
	return row;
}

void runtime_finder_release(struct runtime_finder *r)
{
	struct runtime_process *each, *next;

	HASH_ITER (hh, r->processes, each, next) {
		HASH_DEL(r->processes, each);
		free(each);
	}
}

const struct runtime *runtime_named(const char *process)
{
	const struct runtime *r = runtimes;

	while (r->process && strcmp(process, r->process))
		r++;
	return r;
}

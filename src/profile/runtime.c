/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of runtimes. */
#include "profile/runtime.h"

#include <stdbool.h>
#include <string.h>

/* By the name of the process, or by a file whose code it runs; the last row fits all. */
static const struct runtime runtimes[] = {
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

static bool stack_is_of(const struct profile *p, uint32_t stack, const char *file)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(p, stack, &nr);
	const struct module *m;

	for (uint32_t i = 0; i < nr; i++) {
		m = &p->modules[profile_frame_at(p, frames[i])->module];
		if (is_file(profile_str(p, m->path), file))
			return true;
	}
	return false;
}

/* O(frames of all stacks of processes so named); asked for the few rows in generated code. */
static bool process_runs(const struct profile *p, uint32_t process, const char *file)
{
	for (size_t i = 0; i < p->nr_samples; i++)
		if (p->samples[i].process == process && stack_is_of(p, p->samples[i].ustack, file))
			return true;
	return false;
}

const struct runtime *runtime_of(const struct profile *p, uint32_t process)
{
	const struct runtime *r = runtimes;

	while (r->process && strcmp(profile_str(p, process), r->process) &&
	       !process_runs(p, process, r->file))
		r++;
	return r;
}

const struct runtime *runtime_named(const char *process)
{
	const struct runtime *r = runtimes;

	while (r->process && strcmp(process, r->process))
		r++;
	return r;
}

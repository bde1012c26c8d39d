/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes made-up profiles whose numbers are known, for tests of the outputs that need no recording:
 *
 *	gen_profile small FILE...   a server: 1,000 samples, user, kernel and JIT code, odd names
 *	gen_profile broken FILE...  10,000 of weight in 500 samples, 15 % of it in broken stacks
 *	gen_profile NR FILE...	    NR different stacks, about 31 deep, most forks near the leaf
 *
 * The extension of each file chooses the output. The same arguments give the same bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "output/output.h"
#include "profile/profile.h"

#define MAX_DEPTH 64

static struct profile *new_profile(void)
{
	struct profile *p = profile_new();

	p->meta.command = profile_string(p, "oncpu");
	p->meta.event = profile_string(p, "cpu-clock");
	p->meta.host = profile_string(p, "web-1");
	p->meta.kernel = profile_string(p, "6.1.0-37-amd64");
	p->meta.rate_hz = 99;
	p->meta.duration_ns = 10100000000;
	return p;
}

static uint32_t named_frame(struct profile *p, enum frame_kind kind, uint32_t module,
			    const char *name)
{
	uint32_t s = profile_string(p, name), id = profile_frame(p, kind, module, s);

	p->frames[id].name = s;
	return id;
}

/* Frames root first; a profile has them leaf first. */
static void add_stack(struct profile *p, const char *thread, const uint32_t *frames, size_t nr,
		      uint64_t count)
{
	struct sample s = { .pid = 1234, .tid = 1234, .count = count, .weight = count };
	uint32_t leaf_first[MAX_DEPTH];

	for (size_t i = 0; i < nr; i++)
		leaf_first[i] = frames[nr - 1 - i];
	s.process = s.thread = profile_string(p, thread);
	s.ustack = profile_add_stack(p, leaf_first, nr, UNWIND_END_ROOT, 0);
	profile_add_sample(p, &s);
}

/* --- small --- */

struct row {
	uint64_t count;
	const char *thread, *path; /* root first; k: kernel, c: libc, j: JIT, ?: unknown */
};

#define LOOP	"c:_start;main;aeMain;aeProcessEvents"
#define IO	"c:clone3;c:start_thread;IOThreadMain;writeToClient;connSocketWrite"
#define SYSCALL "k:entry_SYSCALL_64_after_hwframe;k:do_syscall_64"

/*
 * serverCron is in 600 samples, in 150 of them twice. memcpy is in 250 others. 20 samples have
 * names that must not be taken for markup.
 */
static const struct row small_rows[] = {
	{ 300, "redis-server", LOOP ";serverCron;databasesCron;activeExpireCycle;dictScan" },
	{ 90, "redis-server", LOOP ";serverCron;clientsCron;c:malloc_usable_size" },
	{ 60, "redis-server", LOOP ";serverCron;databasesCron" },
	{ 150, "redis-server",
	  LOOP ";serverCron;runLater;serverCron;c:madvise;" SYSCALL ";k:__x64_sys_madvise" },
	{ 170, "redis-server",
	  LOOP ";readQueryFromClient;processInputBuffer;call;std::map<std::string, "
	       "std::vector<int> >::insert(std::pair<std::string const, std::vector<int> > "
	       "const&);c:memcpy" },
	{ 80, "io_thd_1", IO ";c:memcpy" },
	{ 70, "io_thd_1", IO ";c:write;" SYSCALL ";k:ksys_write;k:vfs_write;k:tcp_sendmsg" },
	{ 50, "node",
	  "c:main;j:InterpretedFunction;j:LazyCompile:*processTicks;"
	  "j:Разобрать;j:値を計算する関数" },
	{ 10, "<script>alert",
	  "</script><script>alert(1)</script>;]]><svg onload=alert(2)>;"
	  "<!--<script>" },
	{ 10, "a\"b'c&d", "\"onmouseover=\"alert(3);&lt;&amp;\\u003c;?:[unknown]" },
	{ 5, "kworker/1:2", "k:ret_from_fork_asm;k:kthread;k:worker_thread;k:process_one_work" },
	{ 5, "exe", "?:[unknown]" },
};

static uint32_t small_frame(struct profile *p, const char *name)
{
	static const char prefixes[] = "kcj?";
	static const enum frame_kind kinds[] = { FRAME_KERNEL, FRAME_USER, FRAME_ANON,
						 FRAME_UNKNOWN };
	static const uint32_t modules[] = { 2, 3, 0, 0 };
	const char *prefix = name[1] == ':' ? strchr(prefixes, name[0]) : NULL;

	if (!prefix)
		return named_frame(p, FRAME_USER, 1, name);
	return named_frame(p, kinds[prefix - prefixes], modules[prefix - prefixes], name + 2);
}

static void add_path(struct profile *p, const char *thread, const char *path, uint64_t count)
{
	char *copy = xstrdup(path), *rest = copy, *name;
	uint32_t frames[MAX_DEPTH];
	size_t nr = 0;

	while ((name = strsep(&rest, ";")) && nr < MAX_DEPTH)
		frames[nr++] = small_frame(p, name);
	add_stack(p, thread, frames, nr, count);
	free(copy);
}

static struct profile *small_profile(void)
{
	struct profile *p = new_profile();

	p->meta.target = profile_string(p, "process 1234 (redis-server)");
	profile_add_module(p, "/usr/bin/redis-server");
	profile_add_module(p, "[kernel]");
	profile_add_module(p, "/usr/lib/x86_64-linux-gnu/libc.so.6");
	for (size_t i = 0; i < sizeof(small_rows) / sizeof(small_rows[0]); i++)
		add_path(p, small_rows[i].thread, small_rows[i].path, small_rows[i].count);
	return p;
}

/* --- broken --- */

/*
 * Weights are not in proportion to counts. libold.so breaks 7.5 % in two functions, 5 and 2.5; JIT
 * code of java 3 %; deep stacks 2 %; a 32-bit process 1.5 %; libnew.so, whose table was late, 0.9
 * %, and unreadable stacks of the same file 0.1 %. 85 % reaches the root, 4 % by guessed frames.
 */
static const struct broken_row {
	uint64_t count, weight;
	const char *process, *module, *function; /* where the walk stopped */
	enum frame_kind kind;
	enum unwind_end end;
	uint32_t guessed;
} broken_rows[] = {
	{ 300, 8100, "app", "/usr/bin/app", "_start", FRAME_USER, UNWIND_END_CFI_ROOT, 0 },
	{ 10, 400, "app", "/usr/bin/app", "_start", FRAME_USER, UNWIND_END_CFI_ROOT, 2 },
	{ 40, 500, "app", "/opt/app/lib/libold.so.2", "hot(int)", FRAME_USER, UNWIND_END_NO_CFI,
	  0 },
	{ 60, 250, "app", "/opt/app/lib/libold.so.2", "cold(int)", FRAME_USER, UNWIND_END_NO_CFI,
	  0 },
	{ 25, 300, "java", NULL, "[jit]", FRAME_ANON, UNWIND_END_NO_CFI, 0 },
	{ 20, 200, "app", "/usr/bin/app", "recurse", FRAME_USER, UNWIND_END_DEPTH, 0 },
	{ 30, 150, "setup.exe\033[31m", NULL, NULL, FRAME_NONE, UNWIND_END_COMPAT, 0 },
	{ 10, 90, "app", "/usr/lib/libnew.so (deleted)", "late", FRAME_USER, UNWIND_END_NO_TABLE,
	  0 },
	{ 5, 10, "app", "/usr/lib/libnew.so (deleted)", "late", FRAME_USER, UNWIND_END_READ, 0 },
};

static uint32_t broken_module(struct profile *p, const char *path)
{
	for (size_t i = 1; path && i < p->nr_modules; i++)
		if (!strcmp(profile_str(p, p->modules[i].path), path))
			return i;
	return path ? profile_add_module(p, path) : 0;
}

static void add_broken(struct profile *p, const struct broken_row *row, uint32_t leaf)
{
	uint32_t frames[] = { leaf, 0 }, module = broken_module(p, row->module);
	struct sample s = { .pid = 1, .tid = 1, .count = row->count, .weight = row->weight };

	if (row->function)
		frames[1] = named_frame(p, row->kind, module, row->function);
	s.process = s.thread = profile_string(p, row->process);
	s.ustack = profile_add_stack(p, frames, row->function ? 2 : 0, row->end, row->guessed);
	if (row->end == UNWIND_END_CFI_ROOT)
		p->stacks[s.ustack].flags = STACK_ROOTED;
	profile_add_sample(p, &s);
	p->counters[PROF_SEEN] += row->count;
	p->counters[PROF_RECORDED] += row->count;
}

static struct profile *broken_profile(void)
{
	struct profile *p = new_profile();
	uint32_t leaf =
		named_frame(p, FRAME_USER, broken_module(p, "/usr/lib/libc.so.6"), "memcpy");

	p->meta.target = profile_string(p, "system-wide");
	p->meta.call_graph = profile_string(p, "auto");
	p->meta.max_depth = 127;
	for (size_t i = 0; i < sizeof(broken_rows) / sizeof(broken_rows[0]); i++)
		add_broken(p, &broken_rows[i], leaf);
	return p;
}

/* --- NR stacks --- */

struct path {
	uint32_t frames[MAX_DEPTH]; /* root first */
	uint32_t nr, thread;
};

static uint32_t random_below(uint32_t n)
{
	static uint64_t state = 12345;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % n;
}

/* Low numbers more often: some functions, and some places to fork at, are hot. */
static uint32_t random_low(uint32_t n)
{
	uint32_t a = random_below(n), b = random_below(n);

	return a < b ? a : b;
}

static uint32_t random_frame(struct profile *p)
{
	uint32_t nr = random_low(4096), module = nr % 64;
	char name[80];

	if (module < 4) {
		snprintf(name, sizeof(name), "kernel_function_%u", nr);
		return named_frame(p, FRAME_KERNEL, 2, name);
	}
	snprintf(name, sizeof(name), "namespace::module_%u::function_%u(int, char const*)", module,
		 nr);
	return named_frame(p, FRAME_USER, module, name);
}

/* A copy of an earlier path up to a fork, then frames of its own. */
static void random_path(struct profile *p, struct path *paths, size_t i)
{
	struct path *path = &paths[i];
	uint32_t cut, end;

	*path = i < 8 ? (struct path){ .thread = i } : paths[random_below(i)];
	cut = random_low(30);
	path->nr = path->nr > cut ? path->nr - cut : 0;
	end = path->nr + 1 + random_low(12);
	if (end < 25)
		end = 25 + random_below(10);
	while (path->nr < end && path->nr < MAX_DEPTH)
		path->frames[path->nr++] = random_frame(p);
}

static struct profile *large_profile(size_t nr)
{
	struct path *paths = xcalloc(nr, sizeof(*paths));
	struct profile *p = new_profile();
	char thread[32], file[32];

	p->meta.target = profile_string(p, "system-wide");
	for (size_t i = 1; i < 64; i++) {
		snprintf(file, sizeof(file), i == 2 ? "[kernel]" : "/opt/app/lib/module_%zu.so", i);
		profile_add_module(p, file);
	}
	for (size_t i = 0; i < nr; i++) {
		random_path(p, paths, i);
		snprintf(thread, sizeof(thread), "worker-%u", paths[i].thread);
		add_stack(p, thread, paths[i].frames, paths[i].nr, 1 + random_below(20));
	}
	free(paths);
	return p;
}

static struct profile *made_up(const char *what)
{
	if (!strcmp(what, "small"))
		return small_profile();
	if (!strcmp(what, "broken"))
		return broken_profile();
	return large_profile(strtoul(what, NULL, 10));
}

int main(int argc, char **argv)
{
	const struct view view = { 0 };
	struct profile *p;

	if (argc < 3) {
		fprintf(stderr, "usage: gen_profile small|broken|NR FILE...\n");
		return 2;
	}
	p = made_up(argv[1]);
	for (int i = 2; i < argc; i++) {
		const struct output *output = output_find(argv[i]);
		FILE *out = output ? fopen(argv[i], "w") : NULL;

		if (!out || output->write(p, &view, out) || fclose(out)) {
			fprintf(stderr, "gen_profile: cannot write %s\n", argv[i]);
			return 1;
		}
	}
	profile_free(p);
	return 0;
}

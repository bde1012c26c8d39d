/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes made-up profiles whose numbers are known, for tests of the outputs that need no recording:
 *
 *	gen_profile small FILE...   a server: 1,000 samples, user, kernel and JIT code, odd names
 *	gen_profile broken FILE...  10,000 of weight in 500 samples, 15 % of it in broken stacks
 *	gen_profile offcpu FILE...  waits of a server and of kernel threads, a third of them idle
 *	gen_profile wakeup FILE...  the same, with who ended them
 *	gen_profile lock FILE...    the same, with who held a lock
 *	gen_profile wall FILE...    the same, with running time; all of it adds up
 *	gen_profile heat FILE...    2,000 stacks of 60 s, 99 Hz and 8 CPUs, and when they were taken
 *	gen_profile NR FILE...	    NR different stacks, about 31 deep, most forks near the leaf
 *
 * The extension of each file chooses the output. The same arguments give the same bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bpf/hist.h"
#include "output/output.h"
#include "profile/kind.h"
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

	profile_name_frame(p, id, s, 0);
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
	s.ustack = profile_stack(p, leaf_first, nr, UNWIND_END_ROOT, 0);
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
 * names that must not be taken for markup. Behind '@' is a line of server.c.
 */
static const struct row small_rows[] = {
	{ 300, "redis-server", LOOP ";serverCron@1320;databasesCron;activeExpireCycle;dictScan" },
	{ 90, "redis-server", LOOP ";serverCron@1320;clientsCron;c:malloc_usable_size" },
	{ 60, "redis-server", LOOP ";serverCron@1320;databasesCron" },
	{ 150, "redis-server",
	  LOOP ";serverCron@1402;runLater;serverCron@1402;c:madvise;" SYSCALL
	       ";k:__x64_sys_madvise" },
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

static uint32_t frame_at_line(struct profile *p, const char *name)
{
	size_t len = strcspn(name, "@");
	uint32_t id = profile_frame(p, FRAME_USER, 1, profile_string(p, name));
	struct frame_function f = { .name = profile_string_n(p, name, len),
				    .file = profile_string(p, "/src/redis/server.c"),
				    .line = strtoul(name + len + 1, NULL, 10) };

	profile_set_functions(p, id, &f, 1);
	return id;
}

static uint32_t small_frame(struct profile *p, const char *name)
{
	static const char prefixes[] = "kcj?";
	static const enum frame_kind kinds[] = { FRAME_KERNEL, FRAME_USER, FRAME_ANON,
						 FRAME_UNKNOWN };
	static const uint32_t modules[] = { 2, 3, 0, 0 };
	const char *prefix = name[1] == ':' ? strchr(prefixes, name[0]) : NULL;

	if (!prefix && strchr(name, '@'))
		return frame_at_line(p, name);
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
	s.ustack = profile_stack(p, frames, row->function ? 2 : 0, row->end, row->guessed);
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

	p->meta.target = profile_string(p, "the whole machine");
	p->meta.call_graph = profile_string(p, "auto");
	p->meta.max_depth = 127;
	for (size_t i = 0; i < sizeof(broken_rows) / sizeof(broken_rows[0]); i++)
		add_broken(p, &broken_rows[i], leaf);
	return p;
}

/* --- waits --- */

#define SWITCH "k:do_syscall_64;k:entry_SYSCALL_64_after_hwframe"
#define TAKEN                                                                                      \
	"k:bpf_prog_6deef7357e7b4530_offcpu_switch;k:bpf_trace_run4;k:__bpf_trace_sched_switch;"   \
	"k:__traceiter_sched_switch;k:__schedule;k:schedule;"
#define USER "c:start_thread;c:clone3"

/* Leaf first, as the kernel has them; the kernel's half ends where a name has no k: any more. */
static const struct wait_row {
	uint32_t tid;
	const char *thread;
	uint32_t wait, count;
	uint64_t us;
	const char *path;
	uint32_t waker; /* row of waker_rows + 1 */
} wait_rows[] = {
	{ 1234, "redis-server", PROF_WAIT(PROF_BLOCKED, 1, 232), 900, 6000000,
	  TAKEN "k:schedule_hrtimeout_range;k:ep_poll;k:do_epoll_wait;" SWITCH
		";c:epoll_wait;aeApiPoll;aeProcessEvents;aeMain;main",
	  1 },
	{ 1234, "redis-server", PROF_WAIT(PROF_BLOCKED, 2, 75), 40, 1500000,
	  TAKEN "k:jbd2_log_wait_commit;k:ext4_sync_file;k:do_fsync;" SWITCH
		";c:fdatasync;flushAppendOnlyFile;beforeSleep;aeProcessEvents;aeMain;main",
	  2 },
	{ 1234, "redis-server", PROF_WAIT(PROF_PREEMPTED, 0, -1), 70, 250000,
	  "k:__schedule;k:schedule;k:irqentry_exit_to_user_mode;dictScan;serverCron;"
	  "aeProcessEvents;aeMain;main",
	  0 },
	{ 1234, "redis-server", PROF_WAIT(PROF_WOKEN, 0, 232), 900, 50000,
	  TAKEN "k:ep_poll;" SWITCH ";c:epoll_wait;aeApiPoll;aeProcessEvents;aeMain;main", 0 },
	{ 1240, "io_thd_1", PROF_WAIT(PROF_BLOCKED, 1, 202), 300, 9000000,
	  TAKEN "k:futex_wait_queue;k:futex_wait;k:do_futex;" SWITCH
		";c:__lll_lock_wait;c:pthread_mutex_lock;IOThreadMain;" USER,
	  3 },
	{ 1240, "io_thd_1", PROF_WAIT(PROF_BLOCKED, 1, 202) | PROF_WAIT_OPEN, 1, 400000,
	  TAKEN "k:futex_wait_queue;k:futex_wait;k:do_futex;" SWITCH
		";c:__lll_lock_wait;c:pthread_mutex_lock;IOThreadMain;" USER,
	  0 },
	{ 1240, "io_thd_1", PROF_WAIT(PROF_BLOCKED, 1, 0) | PROF_WAIT_NOT_SAMPLED, 12, 3000, "",
	  0 },
	{ 1241, "bio_aof", PROF_WAIT(PROF_BLOCKED, 1, 202) | PROF_WAIT_BEFORE, 1, 9990000,
	  TAKEN "k:futex_wait_queue;k:futex_wait;k:do_futex;" SWITCH
		";c:pthread_cond_wait;bioProcessBackgroundJobs;" USER,
	  4 },
	{ 77, "kworker/1:2", PROF_WAIT(PROF_BLOCKED, 2, -1), 9, 20000,
	  TAKEN "k:io_schedule;k:blk_mq_get_tag;k:wb_workfn;k:process_one_work;k:worker_thread;"
		"k:kthread;k:ret_from_fork",
	  2 },
};

static const struct waker_row {
	uint32_t tid;
	const char *thread, *path;
	uint32_t next;
} waker_rows[] = {
	{ 900, "redis-cli",
	  "k:try_to_wake_up;k:ep_autoremove_wake_function;k:sock_def_readable;"
	  "k:tcp_rcv_established;k:handle_softirqs;k:do_softirq;"
	  "k:__local_bh_enable_ip;k:tcp_sendmsg;" SWITCH ";c:write;sendCommand;main",
	  0 },
	{ 0, "swapper/1",
	  "k:try_to_wake_up;k:bio_endio;k:nvme_irq;k:common_interrupt;"
	  "k:asm_common_interrupt;k:cpuidle_enter_state;k:do_idle",
	  1 },
	{ 1234, "redis-server",
	  "k:bpf_prog_1_wakeup;k:__traceiter_sched_waking;k:try_to_wake_up;"
	  "k:wake_up_q;k:futex_wake;k:do_futex;" SWITCH
	  ";c:pthread_mutex_unlock;handleClientsWithPendingReads;aeMain;main",
	  1 },
	{ 1234, "redis-server",
	  "k:try_to_wake_up;k:wake_up_q;k:futex_wake;" SWITCH
	  ";c:pthread_cond_signal;bioSubmitJob;aeMain;main",
	  0 },
};

/* What ran, in us by the clock and by samples. */
static const struct wait_row running_rows[] = {
	{ 1234, "redis-server", PROF_WAIT(PROF_RUNNING, 0, -1), 0, 2190000, "", 0 },
	{ 1234, "redis-server", PROF_WAIT(PROF_ON_CPU, 0, -1), 150, 1515000,
	  "dictScan;serverCron;aeProcessEvents;aeMain;main", 0 },
	{ 1234, "redis-server", PROF_WAIT(PROF_ON_CPU, 0, -1), 50, 505000,
	  "k:tcp_sendmsg;" SWITCH ";c:write;writeToClient;aeMain;main", 0 },
	{ 1240, "io_thd_1", PROF_WAIT(PROF_RUNNING, 0, -1), 0, 597000, "", 0 },
	{ 1240, "io_thd_1", PROF_WAIT(PROF_ON_CPU, 0, -1), 59, 595900,
	  "c:memcpy;IOThreadMain;" USER, 0 },
	{ 1241, "bio_aof", PROF_WAIT(PROF_RUNNING, 0, -1), 0, 10000, "", 0 },
};

/* The halves of a path that is leaf first. */
static void split_path(struct profile *p, const char *path, uint32_t *ustack, uint32_t *kstack)
{
	char *copy = xstrdup(path), *rest = copy, *name;
	uint32_t frames[2][MAX_DEPTH], nr[2] = {};

	while (*path && (name = strsep(&rest, ";"))) {
		bool kernel = !strncmp(name, "k:", 2);

		frames[kernel][nr[kernel]++] = small_frame(p, name);
	}
	*ustack = nr[0] ? profile_stack(p, frames[0], nr[0], UNWIND_END_CFI_ROOT, 0) : 0;
	*kstack = nr[1] ? profile_stack(p, frames[1], nr[1], UNWIND_END_ROOT, 0) : 0;
	p->stacks[*ustack].flags = *ustack ? STACK_ROOTED : 0;
	p->stacks[*kstack].flags = *kstack && !*ustack ? STACK_ROOTED : 0;
	free(copy);
}

/* Of the last sample: all waits as long as their mean, but one that is twice as long. */
static void add_lengths(struct profile *p, const struct wait_row *row)
{
	uint64_t kind = PROF_WAIT_KIND(row->wait), mean = row->us * 1000 / (row->count + 1);
	struct wait_bucket b = { p->nr_samples - 1, prof_wait_bucket(mean), row->count - 1 };

	if (kind == PROF_RUNNING || kind == PROF_ON_CPU || !row->count) {
		profile_add_longest(p, 0);
		return;
	}
	profile_add_longest(p, 2 * mean);
	if (b.count)
		profile_add_wait_bucket(p, &b);
	b.index = prof_wait_bucket(2 * mean);
	b.count = 1;
	profile_add_wait_bucket(p, &b);
}

static void add_wait(struct profile *p, const struct wait_row *row, bool wakers)
{
	bool kernel = row->tid == 77;
	struct sample s = { .pid = kernel ? 77 : 1234,
			    .tid = row->tid,
			    .count = row->count,
			    .weight = row->us * 1000,
			    .wait = row->wait,
			    .waker = wakers ? row->waker : 0 };

	s.thread = profile_string(p, row->thread);
	s.process = kernel ? s.thread : profile_string(p, "redis-server");
	split_path(p, row->path, &s.ustack, &s.kstack);
	profile_add_sample(p, &s);
	if (!wakers)
		add_lengths(p, row);
	p->counters[PROF_SEEN] += row->count;
	p->counters[PROF_RECORDED] += row->count;
}

/* All wait for the same lock. */
static uint32_t add_holder(struct profile *p, const struct waker *w, size_t i)
{
	return profile_add_holder(p, w,
				  &(struct lock){ .word = 0x7f0000001000,
						  .max_ns = 3000000,
						  .op = LOCK_PRIVATE,
						  .kind = LOCK_MUTEX,
						  .role = i % LOCK_NR_ROLES,
						  .wait = PROF_WAIT(PROF_RUNNING, 0, -1),
						  .flags = i == 1 ? LOCK_DEADLOCK : 0 });
}

static void add_wakers(struct profile *p, bool locks)
{
	for (size_t i = 0; i < sizeof(waker_rows) / sizeof(waker_rows[0]); i++) {
		const struct waker_row *row = &waker_rows[i];
		struct waker w = { .pid = row->tid, .tid = row->tid, .next = row->next };

		w.thread = w.process = profile_string(p, row->thread);
		split_path(p, row->path, &w.ustack, &w.kstack);
		if (locks)
			add_holder(p, &w, i);
		else
			profile_add_waker(p, &w);
	}
}

/* 10 ms of the first thread are accounted for by nothing. */
static void add_threads(struct profile *p)
{
	static const struct {
		uint32_t tid;
		const char *thread;
		uint64_t us;
	} rows[] = { { 1234, "redis-server", 10000000 },
		     { 1240, "io_thd_1", 10000000 },
		     { 1241, "bio_aof", 10000000 },
		     { 77, "kworker/1:2", 20000 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool kernel = rows[i].tid == 77;
		uint32_t thread = profile_string(p, rows[i].thread);
		uint32_t process = kernel ? thread : profile_string(p, "redis-server");

		profile_add_thread(p, &(struct thread_time){ kernel ? 77 : 1234, rows[i].tid,
							     process, thread, rows[i].us * 1000 });
	}
}

static struct profile *waits_profile(const char *command)
{
	struct profile *p = small_profile();
	bool wall = !strcmp(command, "wall");

	p->nr_samples = 0;
	p->meta.command = profile_string(p, command);
	p->meta.event = 0;
	p->meta.rate_hz = 0;
	p->meta.is_time = 1;
	p->meta.nr_cpus = 4;
	p->meta.arch = profile_string(p, "x86_64");
	add_wakers(p, !strcmp(command, "lock"));
	for (size_t i = 0; i < sizeof(wait_rows) / sizeof(wait_rows[0]); i++)
		add_wait(p, &wait_rows[i], kind_of(command)->wakers);
	for (size_t i = 0; wall && i < sizeof(running_rows) / sizeof(running_rows[0]); i++)
		add_wait(p, &running_rows[i], false);
	if (wall)
		add_threads(p);
	p->counters[PROF_SEEN] += 130;
	p->counters[PROF_FILTER_SHORT] = 120;
	p->counters[PROF_FILTER_NS] = 90000;
	p->counters[PROF_LOST_COUNTS] = 10;
	p->counters[PROF_LOST_NS] = 7000000;
	p->counters[PROF_WALKED] = 80;
	p->counters[PROF_VERIFIED] = 2141;
	p->counters[PROF_NOT_SAMPLED] = 12;
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

	p->meta.target = profile_string(p, "the whole machine");
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

#define HEAT_TICKS 5940 /* 60 s at 99 Hz */
#define HEAT_CPUS  8

/* At each tick a sample on each CPU, of a stack that differs from second to second. */
static struct profile *heat_profile(void)
{
	struct profile *p = large_profile(2000);
	struct moment m = { .nr = 1, .count = 1, .weight = 1 };

	p->meta.moment_ns = 20000000;
	p->meta.duration_ns = 60000000000;
	for (size_t i = 0; i < p->nr_samples; i++)
		p->samples[i].count = p->samples[i].weight = 0;
	for (uint64_t i = 0; i < HEAT_TICKS; i++)
		for (uint64_t cpu = 0; cpu < HEAT_CPUS; cpu++) {
			m.first = i * 1000 / 99 / 20;
			m.sample = (i * 7919 + cpu * 104729 + m.first / 50) % p->nr_samples;
			p->samples[m.sample].count++;
			p->samples[m.sample].weight++;
			profile_add_moment(p, &m);
		}
	return p;
}

static struct profile *made_up(const char *what)
{
	if (!strcmp(what, "small"))
		return small_profile();
	if (!strcmp(what, "broken"))
		return broken_profile();
	if (!strcmp(what, "heat"))
		return heat_profile();
	if (kind_of(what)->waits)
		return waits_profile(what);
	return large_profile(strtoul(what, NULL, 10));
}

int main(int argc, char **argv)
{
	struct view view = { 0 };
	struct profile *p;

	if (argc < 3) {
		fprintf(stderr, "usage: gen_profile small|broken|offcpu|wakeup|lock|wall|heat|NR "
				"FILE...\n");
		return 2;
	}
	p = made_up(argv[1]);
	view.heatmap = p->meta.moment_ns;
	for (int i = 2; i < argc; i++) {
		const struct result result = { RESULT_STACKS, .profile = p };
		const struct output *output = output_find(RESULT_STACKS, argv[i]);
		FILE *out = output ? fopen(argv[i], "w") : NULL;

		if (!out || output_write(output, &result, &view, out) || fclose(out)) {
			fprintf(stderr, "gen_profile: cannot write %s\n", argv[i]);
			return 1;
		}
	}
	profile_free(p);
	return 0;
}

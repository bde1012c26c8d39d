/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of functions that tell idleness, and the walk over a stack by it. */
#include "profile/idle.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/pattern.h"
#include "profile/wait.h"

enum meaning {
	CALL, /* a way to wait that everybody goes: decides nothing */
	BUSY, /* what waits below has work */
	IDLE, /* has none */
	LOOP, /* has none if it waits itself, by CALLs alone; else somebody it called waits */
	MAIN, /* as LOOP, also where a function without a name, its own, makes the CALLs */
};

/* clang-format off */
/*
 * '*' stands for anything. "worker<uv_cond_wait" is a worker() that has called uv_cond_wait().
 * Names of the kernel and of programs stand in one table: nobody has both.
 */
static const struct row {
	enum meaning meaning;
	const char *name;
} rows[] = {
	/* The C library, and what stands between it and all that wait. */
	{ CALL, "syscall" },			{ CALL, "__syscall*" },
	{ CALL, "epoll_*wait*" },		{ CALL, "__epoll_*wait*" },
	{ CALL, "poll" },			{ CALL, "ppoll" },
	{ CALL, "__poll*" },			{ CALL, "__ppoll*" },
	{ CALL, "__GI_*poll*" },		{ CALL, "__libc_poll" },
	{ CALL, "select" },			{ CALL, "pselect*" },
	{ CALL, "__select*" },			{ CALL, "__pselect*" },
	{ CALL, "pthread_cond_*wait*" },	{ CALL, "__pthread_cond_*wait*" },
	{ CALL, "___pthread_cond_*wait*" },	{ CALL, "__futex_abstimed_wait*" },
	{ CALL, "__GI___futex_abstimed*" },	{ CALL, "futex_wait*" },
	{ CALL, "sem_*wait*" },			{ CALL, "__new_sem_wait*" },
	{ CALL, "__GI___clock_nanosleep" },	{ CALL, "clock_nanosleep*" },
	{ CALL, "nanosleep*" },			{ CALL, "__nanosleep*" },
	{ CALL, "usleep" },			{ CALL, "sleep" },
	{ CALL, "sigwait*" },			{ CALL, "__sigtimedwait" },
	{ CALL, "sigsuspend" },			{ CALL, "__sigsuspend" },
	{ CALL, "*internal_syscall_cancel" },	{ CALL, "__syscall_cancel*" },
	{ CALL, "clone" },			{ CALL, "clone3" },
	{ CALL, "__clone*" },			{ CALL, "start_thread" },
	{ CALL, "thread_start" },
	{ CALL, "std::condition_variable*::wait*" },
	{ CALL, "std::__condvar::wait*" },	{ CALL, "__gthread_cond_*wait" },

	/* Locks: waiting for one is work, also of a thread that is about to park. */
	{ BUSY, "*Mutex::lock_contended" },	{ BUSY, "*ReentrantLock::lock*" },
	{ BUSY, "*RwLock::*_contended" },	{ BUSY, "*RawMutex::lock_slow" },
	{ BUSY, "*RawRwLock::lock_*_slow" },	{ BUSY, "*pthread_mutex_*lock*" },
	{ BUSY, "*pthread_rwlock_*" },		{ BUSY, "*__lll_lock_wait*" },
	{ BUSY, "take_gil" },

	/* Rust: std and parking_lot by themselves decide nothing. */
	{ CALL, "std::sys::*::futex_wait" },	{ CALL, "std::sys::*Condvar::wait*" },
	{ CALL, "std::sync::*Condvar::wait*" },	{ CALL, "std::sys::*Parker::park*" },
	{ CALL, "std::thread::*park*" },
	{ CALL, "parking_lot::condvar::Condvar::*" },
	{ CALL, "parking_lot_core::*" },
	{ CALL, "std::sys::*Thread::new::thread_start" },
	{ CALL, "*__rust_begin_short_backtrace" },
	{ CALL, "core::ops::function::FnOnce::call_once*" },
	{ CALL, "alloc::boxed::Box::call_once" },
	{ CALL, "std::thread::Builder::*" },	{ CALL, "std::panic*::*" },
	{ CALL, "mio::poll::Poll::poll" },	{ CALL, "mio::*::Selector::select" },

	/* Other runtimes of Rust. */
	{ IDLE, "rayon_core::sleep::Sleep::sleep" },
	{ LOOP, "rayon_core::registry::WorkerThread::wait_until_cold" },
	{ IDLE, "async_io::reactor::ReactorLock::react" },

	/* Threads of the JVM; of Java's own ones where JIT code has names. */
	{ CALL, "*Monitor::wait*" },		{ CALL, "Monitor::IWait" },
	{ CALL, "*MonitorLocker::wait" },	{ CALL, "*PlatformMonitor::wait" },
	{ CALL, "*PlatformEvent::park*" },	{ CALL, "*Semaphore::*wait*" },
	{ CALL, "Parker::park" },		{ CALL, "Unsafe_Park" },
	{ CALL, "os::signal_wait" },		{ CALL, "check_pending_signals" },
	{ IDLE, "WatcherThread::sleep" },	{ LOOP, "WatcherThread::run" },
	{ IDLE, "VMThread::wait_for_vm_operation" },
	{ LOOP, "VMThread::loop" },
	{ IDLE, "*Dispatcher::worker_wait_for_task" },
	{ IDLE, "*Dispatcher::worker_run_task<*Semaphore::wait*" },
	{ LOOP, "WorkerThread::run" },		{ LOOP, "GangWorker::loop" },
	{ IDLE, "GCTaskManager::get_task" },	{ IDLE, "CompileQueue::get" },
	{ LOOP, "CompileBroker::compiler_thread_loop" },
	{ LOOP, "MonitorDeflationThread::*" },
	{ LOOP, "ServiceThread::service_thread_entry" },
	{ LOOP, "NotificationThread::*" },	{ LOOP, "signal_thread_entry" },
	{ LOOP, "G1ConcurrentRefineThread*::wait_for_*" },
	{ LOOP, "G1ServiceThread::*" },
	{ LOOP, "G1ConcurrentMarkThread::wait_for_*" },
	{ LOOP, "JVM_WaitForReferencePendingList" },
	{ IDLE, "*ThreadPoolExecutor*getTask*" },
	{ IDLE, "*ForkJoinPool*awaitWork*" },

	/* Event loops call those they found events for: idle is who waits himself. */
	{ CALL, "uv_cond_*wait" },		{ LOOP, "uv__io_poll" },
	{ LOOP, "worker<uv_cond_wait" },	{ LOOP, "ngx_epoll_process_events" },
	{ LOOP, "ngx_poll_process_events" },	{ MAIN, "ngx_process_events_and_timers" },
	{ LOOP, "ngx_master_process_cycle" },	{ IDLE, "aeApiPoll" },
	{ MAIN, "aeProcessEvents" },		{ MAIN, "aeMain" },
	{ LOOP, "bioProcessBackgroundJobs" },
	{ IDLE, "epoll_dispatch" },		{ IDLE, "poll_dispatch" },
	{ LOOP, "event_base_loop" },		{ LOOP, "ev_run" },
	{ IDLE, "epoll_poll<epoll_wait" },	{ CALL, "g_poll" },
	{ CALL, "g_main_context_poll*" },	{ LOOP, "g_main_context_iterate*" },
	{ LOOP, "g_main_loop_run" },		{ CALL, "g_cond_wait*" },
	{ CALL, "g_async_queue_*pop*" },	{ LOOP, "g_thread_pool_thread_proxy" },
	{ LOOP, "g_thread_pool_wait_for_new_task" },
	{ IDLE, "*asio::detail::epoll_reactor::run" },
	{ CALL, "*asio::detail::posix_event::wait*" },
	{ CALL, "*conditionally_enabled_event::wait*" },
	{ LOOP, "*asio::detail::scheduler::*run*" },
	{ LOOP, "sd_event_wait" },		{ LOOP, "sd_event_run" },

	/* Node.js: threads that compile and collect garbage, and the one that a debugger wakes. */
	{ CALL, "uv_sem_wait" },		{ CALL, "uv__sem_wait" },
	{ CALL, "node::*TaskQueue*::BlockingPop" },
	{ LOOP, "node::*PlatformWorkerThread" },
	{ LOOP, "node::inspector::*StartIoThreadMain" },

	/* Servers. */
	{ LOOP, "assoc_maintenance_thread" },	{ LOOP, "lru_maintainer_thread" },
	{ LOOP, "logger_thread" },		{ LOOP, "item_crawler_thread" },
	{ LOOP, "slab_rebalance_thread" },	{ IDLE, "*background_work_sleep_once" },
	{ IDLE, "*block_until_new_connection" },
	{ IDLE, "*Protocol_classic::get_command" },

	/* PostgreSQL waits in WaitEventSetWait for everything; who called it tells. */
	{ BUSY, "LWLock*" },			{ BUSY, "ProcSleep" },
	{ BUSY, "XactLockTableWait*" },		{ BUSY, "ConditionVariable*Sleep" },
	{ BUSY, "Gather*" },			{ BUSY, "CreateCheckPoint" },
	{ BUSY, "CheckpointWriteDelay" },	{ BUSY, "XLogFlush" },
	{ BUSY, "XLogBackgroundFlush" },	{ BUSY, "BgBufferSync" },
	{ BUSY, "SyncRepWaitForLSN" },		{ BUSY, "do_autovacuum" },
	{ IDLE, "ReadCommand" },		{ IDLE, "SocketBackend" },
	{ IDLE, "secure_read" },		{ LOOP, "ServerLoop" },
	{ MAIN, "PostmasterMain" },		{ MAIN, "StartAutoVacLauncher" },
	{ CALL, "WaitEventSetWait*" },		{ CALL, "WaitLatch*" },
	{ LOOP, "BackgroundWriterMain" },	{ LOOP, "CheckpointerMain" },
	{ LOOP, "WalWriterMain" },		{ LOOP, "AutoVacLauncherMain" },
	{ LOOP, "ApplyLauncherMain" },		{ LOOP, "PgArchiverMain" },
	{ LOOP, "pgarch_MainLoop" },		{ LOOP, "PgstatCollectorMain" },

	/* OpenMP: threads of a team between parts of work for it. */
	{ CALL, "do_wait" },			{ CALL, "do_spin" },
	{ IDLE, "gomp_*barrier_wait*" },	{ LOOP, "gomp_thread_start" },
	{ IDLE, "*__kmp_fork_barrier*" },	{ LOOP, "__kmp_launch_worker" },

	/* Threads of the kernel. */
	{ CALL, "__schedule" },			{ CALL, "schedule" },
	{ CALL, "schedule_timeout*" },		{ CALL, "schedule_hrtimeout*" },
	{ CALL, "schedule_preempt_disabled" },	{ CALL, "do_nanosleep" },
	{ BUSY, "process_one_work" },		{ LOOP, "worker_thread" },
	{ LOOP, "rescuer_thread" },		{ LOOP, "kthread_worker_fn" },
	{ LOOP, "smpboot_thread_fn" },		{ LOOP, "kthreadd" },
	{ IDLE, "rcu_gp_kthread" },		{ IDLE, "rcu_nocb_*" },
	{ IDLE, "rcu_tasks_kthread" },		{ IDLE, "rcu_tasks_one_gp" },
	{ IDLE, "rcu_gp_fqs_loop" },		{ LOOP, "rcu_boost_kthread" },
	{ IDLE, "kswapd_try_to_sleep" },	{ LOOP, "kswapd" },
	{ LOOP, "kcompactd" },			{ LOOP, "khugepaged" },
	{ IDLE, "khugepaged_wait_work" },	{ LOOP, "ksm_scan_thread" },
	{ LOOP, "oom_reaper" },			{ LOOP, "kauditd_thread" },
	{ LOOP, "watchdog" },			{ LOOP, "kjournald2" },
	{ LOOP, "xfsaild" },			{ LOOP, "cleaner_kthread" },
	{ LOOP, "transaction_kthread" },	{ LOOP, "loop_thread" },
	{ LOOP, "md_thread" },			{ LOOP, "irq_thread" },
	{ LOOP, "irq_wait_for_interrupt" },	{ LOOP, "scsi_error_handler" },
	{ LOOP, "io_wq_worker" },		{ LOOP, "io_sq_thread" },
	{ LOOP, "devtmpfsd" },			{ LOOP, "devtmpfs_work_loop" },
	{ LOOP, "psi_rtpoll_worker" },		{ LOOP, "psi_poll_worker" },
	{ LOOP, "vhost_worker" },		{ LOOP, "vhost_task_fn" },
	{ LOOP, "svc_recv" },			{ LOOP, "hwrng_fillfn" },
	{ LOOP, "kdamond_fn" },			{ LOOP, "ipmi_thread" },
};

/*
 * A pool of Tokio with all of its functions inlined has none left to go by. Its threads do, where
 * nothing but the runtime's beginning of a thread and a wait stands on the stack.
 */
static const char *const pool_threads[] = { "tokio-runtime-w", "tokio-rt-worker",
					    "jemalloc_bg_thd" };
/*
 * Code without a name that is a way to wait as well: the C library's, and jemalloc's, which outside
 * of its own threads waits for nothing but locks (by functions that are BUSY).
 */
static const char *const nameless_calls[] = { "[libc.so", "[libpthread", "[libjemalloc.so" };
/* clang-format on */

#define NR(table)   (sizeof(table) / sizeof((table)[0]))
#define NR_ROWS	    NR(rows)
#define IDLE_NO_ROW UINT16_MAX

/* --- rows --- */

static uint16_t find_row(const struct profile *p, uint32_t frame)
{
	char *name = pattern_normal(profile_frame_name(p, frame));
	uint16_t row = IDLE_NO_ROW;

	for (size_t i = 0; i < NR_ROWS && row == IDLE_NO_ROW; i++)
		if (pattern_is(name, rows[i].name))
			row = i + 1;
	for (size_t i = 0; i < NR(nameless_calls) && row == IDLE_NO_ROW; i++)
		if (!strncmp(name, nameless_calls[i], strlen(nameless_calls[i])))
			row = 1;
	free(name);
	return row;
}

static const struct row *row_of(struct idle *idle, uint32_t frame)
{
	uint16_t *row = &idle->row[frame];

	if (!*row)
		*row = find_row(idle->p, frame);
	return *row == IDLE_NO_ROW ? NULL : &rows[*row - 1];
}

static bool is_named(const struct profile *p, uint32_t frame, const char *pattern)
{
	char *name = pattern_normal(profile_frame_name(p, frame));
	bool is = pattern_is(name, pattern);

	free(name);
	return is;
}

/* --- stacks --- */

/* The walk over one stack: what was found so far. */
struct walk {
	bool direct; /* only CALLs */
	bool inner;  /* and then nothing but one function without a name */
	int verdict; /* 1: idle, 0: not, -1: open */
};

static void judge(struct walk *w, const struct row *row, bool nameless)
{
	if (!row) {
		w->inner = w->direct && nameless;
		w->direct = false;
		return;
	}
	switch (row->meaning) {
	case CALL:
		w->inner = false;
		break;
	case LOOP:
		w->verdict = w->direct;
		break;
	case MAIN:
		w->verdict = w->direct || w->inner;
		break;
	case IDLE:
		w->verdict = 1;
		break;
	case BUSY:
		w->verdict = 0;
		break;
	}
}

/* "[redis-server+0x1234]" */
static bool is_nameless(const struct profile *p, uint32_t frame)
{
	const char *name = profile_frame_name(p, frame);

	return *name == '[' && strstr(name, "+0x");
}

static bool is_pool_thread(const struct profile *p, const struct sample *s)
{
	for (size_t i = 0; i < sizeof(pool_threads) / sizeof(pool_threads[0]); i++)
		if (!strcmp(profile_str(p, s->thread), pool_threads[i]))
			return true;
	return false;
}

/* A stack that has been seen to its root without a verdict. */
static bool judge_unknown(const struct profile *p, const struct sample *s, const struct walk *w,
			  bool user)
{
	return user && w->direct && profile_is_rooted(p, s) && is_pool_thread(p, s) &&
	       wait_class(p, s) == WAIT_LOCK;
}

static bool judge_stack(struct idle *idle, const struct sample *s)
{
	const struct profile *p = idle->p;
	bool user = s->ustack;
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(p, user ? s->ustack : s->kstack, &nr);
	struct walk w = { .direct = true, .verdict = -1 };
	uint32_t first = user ? 0 : wait_plumbing(p, s->kstack);

	for (uint32_t i = first; i < nr && w.verdict < 0; i++) {
		const struct row *row = row_of(idle, frames[i]);

		const char *callee = row ? strchr(row->name, '<') : NULL;

		if (callee && (i == first || !is_named(p, frames[i - 1], callee + 1)))
			row = NULL;
		judge(&w, row, is_nameless(p, frames[i]));
	}
	return w.verdict >= 0 ? w.verdict : judge_unknown(p, s, &w, user && nr);
}

void idle_init(struct idle *idle, const struct profile *p)
{
	*idle = (struct idle){ .p = p, .row = xcalloc(p->nr_frames, sizeof(*idle->row)) };
	contexts_init(&idle->contexts, p);
}

void idle_release(struct idle *idle)
{
	contexts_release(&idle->contexts);
	free(idle->row);
}

bool idle_is(struct idle *idle, const struct sample *s)
{
	const struct context_of *of = contexts_at(&idle->contexts, s - idle->p->samples);

	if (PROF_WAIT_KIND(s->wait) != PROF_BLOCKED)
		return false;
	/* Of threads that a runtime knows, its rows decide. */
	if (of->runtime && of->context != CONTEXT_OTHER && of->context != CONTEXT_NOT_SAMPLED)
		return context_is_idle(of->context);
	return judge_stack(idle, s);
}

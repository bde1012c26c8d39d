/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which waits are nothing but idleness. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/idle.h"
#include "profile/pattern.h"
#include "tests/unit/made.h"

#define FUTEX 202
#define EPOLL 232

static bool is_idle_as(const char *thread, uint32_t wait, const char *user, const char *kernel)
{
	struct profile *p = made_profile("offcpu");
	struct sample *s = made_wait(p, 101, thread, wait, 1, user, kernel);
	struct idle idle;
	bool is;

	idle_init(&idle, p);
	is = idle_is(&idle, s);
	idle_release(&idle);
	profile_free(p);
	return is;
}

static void check(bool expected, const char *user)
{
	if (is_idle_as("app", PROF_WAIT(PROF_BLOCKED, TASK_S, FUTEX), user, "") != expected)
		fail_msg("%s: %s", expected ? "not idle" : "idle", user);
}

static void check_kernel(bool expected, const char *kernel)
{
	if (is_idle_as("kthread", PROF_WAIT(PROF_BLOCKED, TASK_S, -1), "", kernel) != expected)
		fail_msg("%s: %s", expected ? "not idle" : "idle", kernel);
}

static void check_name(const char *name, const char *expected)
{
	char *normal = pattern_normal(name);

	assert_string_equal(normal, expected);
	free(normal);
}

static void names_lose_what_differs_between_builds(void **state)
{
	check_name("tokio::runtime::task::raw::poll", "tokio::runtime::task::raw::poll");
	check_name("tokio::runtime::task::raw::poll::h0123456789abcdef",
		   "tokio::runtime::task::raw::poll");
	check_name("tokio::runtime::task::raw::poll::<app::f::{closure#0}, "
		   "alloc::sync::Arc<multi_thread::handle::Handle>>",
		   "tokio::runtime::task::raw::poll");
	check_name("tokio::runtime::task::harness::Harness<T,S>::poll",
		   "tokio::runtime::task::harness::Harness::poll");
	check_name("<tokio::runtime::park::CachedParkThread>::park",
		   "tokio::runtime::park::CachedParkThread::park");
	check_name("<tokio::time::driver::Driver<P> as tokio::park::Park>::park_timeout",
		   "tokio::time::driver::Driver::park_timeout");
	check_name("<<A as B<C>>::D as E>::f", "A::D::f");
	check_name("do_work.llvm.1554212", "do_work");
	check_name("do_work.part.0.isra.1", "do_work");
	check_name("do_work(int) [clone .cold]", "do_work");
	check_name("std::map<int, std::vector<char> >::find(int const&) const", "std::map::find");
	check_name("(anonymous namespace)::run(void*)", "(anonymous namespace)::run");
	check_name("main.(*Server).serve", "main.(*Server).serve");
	check_name("runtime.findRunnable", "runtime.findRunnable");
	check_name("core::ops::function::FnOnce::call_once{{vtable.shim}}",
		   "core::ops::function::FnOnce::call_once{{vtable.shim}}");
	check_name("a::operator<<(int)", "a::operator<<(int)");
	check_name("Fn() -> T<int>", "Fn");
	check_name("<broken", "<broken");
	check_name("<>", "");
	check_name(">><<", ">><<");
	check_name("", "");
}

static void check_shown(const char *name, const char *expected)
{
	char *shown = pattern_of_parameter(name, pattern_normal(name));

	assert_string_equal(shown, expected);
	free(shown);
}

/* All handlers of axum are F::call. */
static void functions_of_parameters_have_their_trait(void **state)
{
	check_shown("<F as axum::handler::Handler<(M,T1),S>>::call::{{closure}}",
		    "<F as axum::handler::Handler>::call::{{closure}}");
	check_shown("<Fut as tower::Service<R>>::call", "<Fut as tower::Service>::call");
	check_shown("<app::f as axum::handler::Handler<T,S>>::call", "app::f::call");
	check_shown("<&F as a::T>::f", "F::f");
	check_shown("<u32 as a::T>::f", "u32::f");
	check_shown("<F as a::T", "<F as a::T");
	check_shown("F as a::T", "F as a::T");
	check_shown("app::f", "app::f");
}

#define ROOT                                                                                       \
	"std::sys_common::backtrace::__rust_begin_short_backtrace;"                                \
	"core::ops::function::FnOnce::call_once{{vtable.shim}};"                                   \
	"std::sys::unix::thread::Thread::new::thread_start;start_thread;clone3"
#define WORKER                                                                                     \
	"tokio::runtime::scheduler::multi_thread::worker::Context::run;"                           \
	"tokio::runtime::scheduler::multi_thread::worker::run;"                                    \
	"tokio::runtime::task::core::Core<T,S>::poll;"                                             \
	"tokio::runtime::task::harness::Harness<T,S>::poll;"                                       \
	"tokio::runtime::blocking::pool::Inner::run;" ROOT
#define TASK                                                                                       \
	"tokio::runtime::task::core::Core<T,S>::poll;"                                             \
	"tokio::runtime::task::harness::Harness<T,S>::poll;"                                       \
	"tokio::runtime::scheduler::multi_thread::worker::Context::run_task;" WORKER
#define STD_WAIT "syscall;std::sync::condvar::Condvar::wait;"

static void tokio_parks_and_runs_tasks(void **state)
{
	check(true, STD_WAIT
	      "tokio::runtime::scheduler::multi_thread::park::Parker::park;"
	      "tokio::runtime::scheduler::multi_thread::worker::Context::park_timeout;" WORKER);
	check(true,
	      "syscall;parking_lot::condvar::Condvar::wait_until_internal;"
	      "tokio::runtime::scheduler::multi_thread::worker::Context::park_timeout;" WORKER);
	check(true,
	      "epoll_wait;mio::poll::Poll::poll;tokio::runtime::io::driver::Driver::turn;"
	      "tokio::runtime::time::Driver::park_internal;"
	      "<tokio::runtime::scheduler::multi_thread::park::Parker>::park;"
	      "tokio::runtime::scheduler::multi_thread::worker::Context::park_internal;" WORKER);
	check(true, "syscall;std::sys::unix::locks::futex::Condvar::wait_optional_timeout;"
		    "tokio::runtime::blocking::pool::Inner::run;" ROOT);
	check(true, STD_WAIT "tokio::runtime::park::Inner::park;"
			     "tokio::runtime::park::CachedParkThread::block_on;"
			     "tokio::runtime::runtime::Runtime::block_on;app::main;main");
	/* Work. */
	check(false, "clock_nanosleep;std::thread::functions::sleep;app::do_blocking_sleep;"
		     "app::task_sleep::{{closure}};" TASK);
	check(false, "syscall;std::sys::unix::locks::futex::Mutex::lock_contended;app::f;" TASK);
	check(false, "recv;app::f;" TASK);
	/* The same leaf as a park, in a task; a future of block_on() that blocks. */
	check(false, STD_WAIT "app::wait_for_result;" TASK);
	check(false, "clock_nanosleep;app::main::{{closure}};"
		     "tokio::runtime::park::CachedParkThread::block_on;"
		     "tokio::runtime::runtime::Runtime::block_on;app::main;main");
	/* block_on() within a task, and in a job of the pool. */
	check(false, STD_WAIT "tokio::runtime::park::Inner::park;"
			      "tokio::runtime::park::CachedParkThread::block_on;app::f;" TASK);
	/* A lock within the runtime, below a park marker. */
	check(false,
	      "syscall;std::sys::sync::mutex::futex::Mutex::lock_contended;"
	      "tokio::runtime::time::Handle::process_at_time;"
	      "tokio::runtime::scheduler::multi_thread::park::Parker::park;"
	      "tokio::runtime::scheduler::multi_thread::worker::Context::park_timeout;" WORKER);
	check(false, "clock_nanosleep;app::do_pool_job;"
		     "tokio::runtime::task::harness::Harness<T,S>::poll;"
		     "tokio::runtime::blocking::pool::Inner::run;" ROOT);
}

/* Fat LTO leaves no function of Tokio on a pool's thread; its name is what is left. */
static void a_pool_without_functions_goes_by_its_name(void **state)
{
	uint32_t wait = PROF_WAIT(PROF_BLOCKED, TASK_S, FUTEX);
	const char *stack = "syscall;std::sys::unix::locks::futex::Condvar::wait_timeout;" ROOT;

	assert_true(is_idle_as("tokio-runtime-w", wait, stack, ""));
	assert_true(is_idle_as("tokio-rt-worker", wait, stack, ""));
	assert_false(is_idle_as("my-thread", wait, stack, ""));
	assert_false(is_idle_as("tokio-rt-worker", wait, "syscall;app::job;" ROOT, ""));
	assert_false(is_idle_as("tokio-rt-worker", PROF_WAIT(PROF_BLOCKED, TASK_S, 35),
				"clock_nanosleep;" ROOT, ""));
	stack = "__futex_abstimed_wait_common;pthread_cond_timedwait;[libjemalloc.so.2+0x39940];"
		"[libjemalloc.so.2+0x39c30];start_thread;clone3";
	assert_true(is_idle_as("jemalloc_bg_thd", wait, stack, ""));
	assert_false(is_idle_as("my-thread", wait, stack, ""));
	assert_false(is_idle_as("jemalloc_bg_thd", wait,
				"__lll_lock_wait;pthread_mutex_lock;[libjemalloc.so.2+0x39940];"
				"[libjemalloc.so.2+0x39c30];start_thread;clone3",
				""));
}

static void event_loops_are_idle_when_they_wait_themselves(void **state)
{
	check(true, "epoll_wait;ngx_epoll_process_events;ngx_process_events_and_timers;main");
	check(false, "__libc_pread64;ngx_read_file;ngx_http_handler;ngx_epoll_process_events;main");
	check(false, "poll;my_resolver;ngx_epoll_process_events;main");
	check(true, "epoll_wait;aeApiPoll;aeProcessEvents;aeMain;main");
	check(false, "fdatasync;flushAppendOnlyFile;beforeSleep;aeProcessEvents;aeMain;main");
	check(true, "[libc.so.6+0x1234];pthread_cond_wait@@GLIBC_2.3.2;"
		    "bioProcessBackgroundJobs;start_thread;clone3");
	check(true, "epoll_pwait;uv__io_poll;uv_run;node::Start;main");
	check(false, "read;uv__read;uv__stream_io;uv__io_poll;uv_run;main");
	check(true, "pthread_cond_wait;uv_cond_wait;worker;start_thread");
	check(false, "pthread_cond_wait;worker;start_thread");
	check(true, "pthread_cond_wait;uv_cond_wait;"
		    "node::(anonymous namespace)::PlatformWorkerThread;start_thread;clone3");
	check(true, "pthread_cond_wait;uv_cond_wait;node::TaskQueue<v8::Task>::BlockingPop;"
		    "node::(anonymous namespace)::PlatformWorkerThread(void*);start_thread");
	check(true, "__new_sem_wait_slow64.constprop.0;uv__sem_wait;uv_sem_wait;"
		    "node::inspector::(anonymous namespace)::StartIoThreadMain;start_thread");
	check(false, "pthread_cond_wait;uv_cond_wait;v8::internal::Sweeper::Wait;"
		     "node::(anonymous namespace)::PlatformWorkerThread;start_thread");
	check(false, "__lll_lock_wait;pthread_mutex_lock;uv_mutex_lock;"
		     "node::(anonymous namespace)::PlatformWorkerThread;start_thread");
	check(true, "epoll_wait;epoll_dispatch;event_base_loop;worker_libevent;start_thread");
	check(true,
	      "__poll;g_main_context_poll;g_main_context_iterate.isra.0;g_main_loop_run;main");
	check(false, "__poll;on_click;g_closure_invoke;g_main_context_iterate.isra.0;main");
}

/* Where only exported functions have names, as in packages of Debian. */
static void stripped_servers_are_idle_in_their_loop(void **state)
{
#define NGINX                                                                                      \
	"ngx_process_events_and_timers;[nginx+0x51af0];ngx_spawn_process;[nginx+0x51340];"         \
	"ngx_master_process_cycle;main"
#define CHILD "[libc.so.6+0x3c04f];__select;[postgres+0x3ee3c0];PostmasterMain;main"
	check(true, "epoll_wait;[redis-check-rdb+0x64da0];aeMain;main");
	check(false, "fdatasync;flushAppendOnlyFile;beforeSleep;[redis-check-rdb+0x64da0];aeMain");
	check(false, "epoll_wait;[redis-check-rdb+0x71230];[redis-check-rdb+0x64da0];aeMain;main");
	check(true, "epoll_wait;[nginx+0x54130];" NGINX);
	check(false, "epoll_wait;[nginx+0x70980];[nginx+0x54130];" NGINX);
	check(false, "recv;ngx_unix_recv;[nginx+0x71830];[nginx+0x54130];" NGINX);
	check(true, "__sigsuspend;ngx_master_process_cycle;main");
	check(true, "__select;[postgres+0x3ee3c0];PostmasterMain;main");
	check(true, "epoll_wait;WaitEventSetWait;WaitLatch;[postgres+0x3e54a0];"
		    "StartAutoVacLauncher;[postgres+0x3ed710];" CHILD);
	check(false, "epoll_wait;WaitEventSetWait;[postgres+0x472280];PostgresMain;"
		     "[postgres+0x3ed710];" CHILD);
}

static void other_runtimes(void **state)
{
	check(true, "runtime.futex;runtime.futexsleep;runtime.notesleep;runtime.mPark;"
		    "runtime.stopm;runtime.findRunnable;runtime.schedule;runtime.mcall");
	check(false, "syscall.Syscall;os.(*File).Read;main.main;runtime.main");
	check(false, "runtime.futex;runtime.lock2;runtime.findRunnable;runtime.schedule");
	check(true, "epoll_wait;WaitEventSetWaitBlock;WaitEventSetWait;secure_read;pq_recvbuf;"
		    "pq_getbyte;SocketBackend;ReadCommand;PostgresMain;main");
	check(false, "epoll_wait;WaitEventSetWait;WaitLatch;ProcSleep;LockAcquireExtended;"
		     "XactLockTableWait;heap_update;ExecutorRun;PostgresMain;main");
	check(true, "epoll_wait;WaitEventSetWait;WaitLatch;WalWriterMain;main");
	check(false, "fdatasync;pg_fdatasync;XLogWrite;XLogBackgroundFlush;WalWriterMain;main");
	check(true, "pthread_cond_timedwait;PlatformMonitor::wait(long);Monitor::wait(long);"
		    "WatcherThread::sleep() const;WatcherThread::run();start_thread");
	check(true, "pthread_cond_wait;PlatformMonitor::wait(long);VMThread::loop()");
	check(false, "pthread_cond_wait;Monitor::wait(long);SafepointSynchronize::begin();"
		     "VMThread::loop()");
	check(true, "futex_wait;do_wait;gomp_team_barrier_wait_end;gomp_thread_start");
	check(false, "pthread_cond_wait;consumer;main");
}

#define KTHREAD ";kthread;ret_from_fork;ret_from_fork_asm"

static void threads_of_the_kernel(void **state)
{
	check_kernel(true,
		     "bpf_prog_12_x;bpf_trace_run4;__schedule;schedule;worker_thread" KTHREAD);
	check_kernel(false, "__schedule;schedule;io_schedule;wb_workfn;process_one_work;"
			    "worker_thread" KTHREAD);
	check_kernel(true, "__schedule;schedule;smpboot_thread_fn" KTHREAD);
	check_kernel(true,
		     "__schedule;schedule;schedule_timeout;rcu_gp_fqs_loop;rcu_gp_kthread" KTHREAD);
	check_kernel(true, "__schedule;schedule;kswapd_try_to_sleep;kswapd" KTHREAD);
	check_kernel(false,
		     "__schedule;io_schedule;shrink_folio_list;balance_pgdat;kswapd" KTHREAD);
	check_kernel(true, "__schedule;schedule;kjournald2" KTHREAD);
	check_kernel(false,
		     "__schedule;schedule;jbd2_journal_commit_transaction;kjournald2" KTHREAD);
}

static void only_blocked_threads_are_idle(void **state)
{
	const char *stack = "epoll_wait;aeApiPoll;main";

	assert_true(is_idle_as("redis", PROF_WAIT(PROF_BLOCKED, TASK_S, EPOLL), stack, ""));
	assert_false(is_idle_as("redis", PROF_WAIT(PROF_WOKEN, 0, EPOLL), stack, ""));
	assert_false(is_idle_as("redis", PROF_WAIT(PROF_PREEMPTED, 0, EPOLL), stack, ""));
	assert_false(is_idle_as("redis", PROF_WAIT(PROF_ON_CPU, 0, -1), stack, ""));
	assert_false(is_idle_as("redis", 0, stack, ""));
	assert_false(is_idle_as("redis", PROF_WAIT(PROF_BLOCKED, TASK_S, EPOLL), "", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_lose_what_differs_between_builds),
		cmocka_unit_test(functions_of_parameters_have_their_trait),
		cmocka_unit_test(tokio_parks_and_runs_tasks),
		cmocka_unit_test(a_pool_without_functions_goes_by_its_name),
		cmocka_unit_test(event_loops_are_idle_when_they_wait_themselves),
		cmocka_unit_test(stripped_servers_are_idle_in_their_loop),
		cmocka_unit_test(other_runtimes),
		cmocka_unit_test(threads_of_the_kernel),
		cmocka_unit_test(only_blocked_threads_are_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contexts, kinds and roles of stacks as programs of Tokio and Go have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/context.h"
#include "profile/tree.h"
#include "tests/unit/made.h"

#define FUTEX	  202
#define EPOLL	  232
#define NANOSLEEP 230
#define READ	  0

/* Beginnings of threads: rustc 1.63, 1.95. */
#define ROOT63                                                                                     \
	"std::sys_common::backtrace::__rust_begin_short_backtrace;"                                \
	"core::ops::function::FnOnce::call_once{{vtable.shim}};"                                   \
	"std::sys::unix::thread::Thread::new::thread_start;start_thread;clone3"
#define ROOT                                                                                       \
	"std::sys::backtrace::__rust_begin_short_backtrace;"                                       \
	"core::ops::function::FnOnce::call_once{{vtable.shim}};"                                   \
	"<std::sys::thread::unix::Thread>::new::thread_start;start_thread;clone3"
#define POLL                                                                                       \
	"tokio::runtime::task::core::Core<T,S>::poll;"                                             \
	"tokio::runtime::task::harness::Harness<T,S>::poll;"
#define MT "tokio::runtime::scheduler::multi_thread::worker::"
/* Workers: release, as of 1.20, fat LTO, and that with worker::run inlined. */
#define WORKER MT "Context::run;" MT "run;" POLL "tokio::runtime::blocking::pool::Inner::run;" ROOT
#define WORKER120                                                                                  \
	"tokio::runtime::thread_pool::worker::Context::run;"                                       \
	"tokio::runtime::thread_pool::worker::run;" POLL                                           \
	"tokio::runtime::blocking::pool::Inner::run;" ROOT63
#define WORKER_FAT  MT "run;tokio::runtime::task::raw::poll;" ROOT
#define SERVER_FAT  "tokio::runtime::task::raw::poll;" ROOT
#define TASK	    POLL MT "Context::run_task;" WORKER
#define TASK120	    POLL "tokio::runtime::thread_pool::worker::Context::run_task;" WORKER120
#define TASK_FAT    "tokio::runtime::task::raw::poll;" MT "Context::run_task;" WORKER_FAT
#define TASK_SERVER "tokio::runtime::task::raw::poll;" MT "Context::run_task;" SERVER_FAT
#define JOB	    POLL "tokio::runtime::blocking::pool::Inner::run;" ROOT
#define JOB_FAT	    "tokio::runtime::task::raw::poll;" ROOT
#define TASK_V0                                                                                    \
	"tokio::runtime::task::raw::poll::<app::f::{closure#0}, Arc<mt::handle::Handle>>;"         \
	"<tokio::runtime::scheduler::multi_thread::worker::Context>::run_task;"                    \
	"tokio::runtime::scheduler::multi_thread::worker::run;" SERVER_FAT
#define LOCKED	"syscall;<std::sys::sync::mutex::futex::Mutex>::lock_contended;"
#define CONDVAR "syscall;<std::sys::sync::condvar::futex::Condvar>::wait_timeout;"

static const struct row {
	enum context context;
	enum context_role role;
	const char *kind;
	int syscall;
	enum prof_futex futex;
	const char *stack;
} rows[] = {
	/* Parked: 1.20, 1.24 to 1.48, from 1.49 on, tokio full, fat LTO. */
	{ CONTEXT_IDLE_PARK, ROLE_WORKER, "", FUTEX, 0,
	  "syscall;std::sync::condvar::Condvar::wait;"
	  "tokio::runtime::thread_pool::park::Inner::park;"
	  "tokio::runtime::thread_pool::worker::Context::park_timeout;" WORKER120 },
	{ CONTEXT_IDLE_PARK, ROLE_WORKER, "", FUTEX, PROF_FUTEX_COUNTER,
	  "syscall;std::sync::condvar::Condvar::wait;"
	  "tokio::runtime::scheduler::multi_thread::park::Parker::park;" MT
	  "Context::park_timeout;" WORKER },
	{ CONTEXT_IDLE_PARK, ROLE_WORKER, "", FUTEX, PROF_FUTEX_COUNTER,
	  "syscall;tokio::runtime::scheduler::multi_thread::park::Inner::park_condvar;" MT
	  "Context::park_internal;" WORKER_FAT },
	{ CONTEXT_IDLE_PARK, ROLE_WORKER, "", FUTEX, PROF_FUTEX_PARKING_LOT,
	  "syscall;parking_lot::condvar::Condvar::wait_until_internal;" MT
	  "Context::park_timeout;" WORKER_FAT },
	{ CONTEXT_IDLE_PARK, ROLE_WORKER, "", FUTEX, 0,
	  "syscall;" MT "Context::park_internal;" SERVER_FAT },
	/* The driver, and a runtime without one for events, which parks as block_on() does. */
	{ CONTEXT_IDLE_DRIVER, ROLE_WORKER, "", EPOLL, 0,
	  "epoll_wait;mio::poll::Poll::poll;tokio::runtime::io::driver::Driver::turn;"
	  "tokio::runtime::time::Driver::park_internal;" MT "Context::park_internal;" WORKER },
	{ CONTEXT_IDLE_PARK, ROLE_WORKER, "", FUTEX, 0,
	  "syscall;parking_lot::condvar::Condvar::wait_until_internal;"
	  "tokio::runtime::park::Inner::park;" MT "Context::park_internal;" WORKER },
	{ CONTEXT_IDLE_PARK, ROLE_WORKER, "", FUTEX, 0,
	  "syscall;tokio::runtime::driver::IoStack::park;" MT
	  "Context::park_internal;" WORKER_FAT },
	{ CONTEXT_IDLE_DRIVER, ROLE_BLOCK_ON, "", EPOLL, 0,
	  "epoll_wait;tokio::runtime::io::driver::Driver::turn;"
	  "tokio::runtime::time::Driver::park_internal;app::main;main" },
	{ CONTEXT_IDLE_POOL, ROLE_POOL, "", FUTEX, 0,
	  CONDVAR "tokio::runtime::blocking::pool::Inner::run;" ROOT },
	{ CONTEXT_IDLE_BLOCK_ON, ROLE_BLOCK_ON, "", FUTEX, 0,
	  "syscall;tokio::runtime::park::Inner::park;app::main;main" },
	/* Tasks. */
	{ CONTEXT_TASK, ROLE_WORKER, "lock", FUTEX, PROF_FUTEX_MUTEX,
	  LOCKED "app::do_lock;app::task::{{closure}};" TASK },
	{ CONTEXT_TASK, ROLE_WORKER, "lock", FUTEX, 0, LOCKED "app::do_lock;" TASK120 },
	{ CONTEXT_TASK, ROLE_WORKER, "lock", FUTEX, 0, LOCKED "app::do_lock;" TASK_SERVER },
	{ CONTEXT_TASK, ROLE_WORKER, "lock", FUTEX, 0,
	  "syscall;parking_lot::raw_mutex::RawMutex::lock_slow;app::do_lock;" TASK_V0 },
	{ CONTEXT_TASK, ROLE_WORKER, "sleep", NANOSLEEP, 0,
	  "clock_nanosleep;app::do_sleep;" TASK_FAT },
	{ CONTEXT_TASK, ROLE_WORKER, "condvar", FUTEX, 0, CONDVAR "app::do_wait;" TASK },
	{ CONTEXT_TASK, ROLE_WORKER, "channel", FUTEX, PROF_FUTEX_PARK,
	  "syscall;std::thread::Thread::park_timeout;"
	  "std::sync::mpmc::list::Channel<T>::recv;app::f;" TASK },
	{ CONTEXT_TASK, ROLE_WORKER, "thread-join", FUTEX, PROF_FUTEX_JOIN,
	  "__futex_abstimed_wait_common64;__pthread_clockjoin_ex;app::f;" TASK },
	{ CONTEXT_TASK, ROLE_WORKER, "dns", 7, 0,
	  "__poll;__res_context_send;_nss_dns_gethostbyname4_r;getaddrinfo;app::f;" TASK },
	{ CONTEXT_TASK, ROLE_WORKER, "block_on", FUTEX, 0,
	  "syscall;tokio::runtime::park::Inner::park;"
	  "tokio::runtime::park::CachedParkThread::block_on;app::f;" TASK },
	/* All inlined: the futex says it. */
	{ CONTEXT_TASK, ROLE_WORKER, "thread-park", FUTEX, PROF_FUTEX_PARK,
	  "syscall;app::f;" TASK_FAT },
	{ CONTEXT_TASK, ROLE_WORKER, "condvar", FUTEX, PROF_FUTEX_COUNTER,
	  "syscall;app::f;" TASK_FAT },
	{ CONTEXT_TASK, ROLE_WORKER, "lock", FUTEX, PROF_FUTEX_RWLOCK, "syscall;app::f;" TASK_FAT },
	{ CONTEXT_TASK, ROLE_WORKER, "futex (parking_lot)", FUTEX, PROF_FUTEX_PARKING_LOT,
	  "syscall;app::f;" TASK_FAT },
	{ CONTEXT_TASK, ROLE_WORKER, "futex", FUTEX, 0, "syscall;app::f;" TASK_FAT },
	/* Of a runtime of one thread, and of a LocalSet. */
	{ CONTEXT_TASK, ROLE_BLOCK_ON, "sleep", NANOSLEEP, 0,
	  "clock_nanosleep;app::f;" POLL
	  "tokio::runtime::scheduler::current_thread::Context::run_task;app::main;main" },
	{ CONTEXT_TASK, ROLE_BLOCK_ON, "sleep", NANOSLEEP, 0,
	  "clock_nanosleep;app::f;tokio::runtime::task::raw::poll;app::main;main" },
	/* Jobs of the pool. */
	{ CONTEXT_POOL_JOB, ROLE_POOL, "sleep", NANOSLEEP, 0, "clock_nanosleep;app::job;" JOB },
	{ CONTEXT_POOL_JOB, ROLE_POOL, "sleep", NANOSLEEP, 0, "clock_nanosleep;app::job;" JOB_FAT },
	{ CONTEXT_POOL_JOB, ROLE_POOL, "block_on", FUTEX, 0,
	  "syscall;tokio::runtime::park::Inner::park;app::job;" JOB },
	/* The runtime itself: a lock of one that is about to park, of its loop, of its pool. */
	{ CONTEXT_RUNTIME, ROLE_WORKER, "lock", FUTEX, 0,
	  LOCKED "tokio::runtime::time::Handle::process_at_time;" MT
		 "Context::park_timeout;" WORKER },
	{ CONTEXT_RUNTIME, ROLE_WORKER, "lock", FUTEX, 0,
	  LOCKED MT "Core::maintenance;" WORKER_FAT },
	{ CONTEXT_RUNTIME, ROLE_WORKER, "futex", FUTEX, 0,
	  "syscall;" MT "Context::run_task;" WORKER_FAT },
	{ CONTEXT_RUNTIME, ROLE_POOL, "lock", FUTEX, 0,
	  LOCKED "tokio::runtime::blocking::pool::Inner::run;" ROOT },
	/* The future of block_on(). */
	{ CONTEXT_MAIN_FUTURE, ROLE_BLOCK_ON, "sleep", NANOSLEEP, 0,
	  "clock_nanosleep;app::main::{{closure}};"
	  "tokio::runtime::runtime::Runtime::block_on;main" },
	/* Go. */
	{ CONTEXT_IDLE_PARK, ROLE_WORKER, "", FUTEX, 0,
	  "runtime.futex;runtime.futexsleep;runtime.notesleep;runtime.stopm;runtime.findRunnable;"
	  "runtime.schedule;runtime.park_m;runtime.mcall" },
	{ CONTEXT_IDLE_DRIVER, ROLE_WORKER, "", EPOLL, 0,
	  "runtime.epollwait;runtime.netpoll;runtime.findRunnable;runtime.schedule;runtime.mcall" },
	{ CONTEXT_TASK, ROLE_WORKER, "sleep", NANOSLEEP, 0,
	  "syscall.Syscall;main.work;main.main;runtime.main;runtime.goexit" },
	{ CONTEXT_RUNTIME, ROLE_WORKER, "lock", FUTEX, 0,
	  "runtime.futex;runtime.lock2;runtime.schedule;runtime.mcall" },
};

static void check_row(const struct row *row, uint32_t kind, enum context context, const char *as)
{
	struct profile *p = made_profile("offcpu");
	uint32_t wait = PROF_WAIT(kind, TASK_S | row->futex << 8, row->syscall);
	const struct context_of *of;
	struct contexts c;

	made_wait(p, 101, "tokio-rt-worker", wait, 1, row->stack, "");
	contexts_init(&c, p);
	of = contexts_at(&c, 0);
	if (of->context != context || strcmp(of->kind, as) || of->role != row->role)
		fail_msg("%s %s %s, expected %s %s %s: %s", context_names[of->context], of->kind,
			 context_roles[of->role], context_names[context], as,
			 context_roles[row->role], row->stack);
	contexts_release(&c);
	profile_free(p);
}

static void the_innermost_marker_decides(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_row(&rows[i], PROF_BLOCKED, rows[i].context, rows[i].kind);
	print_message("%zu stacks\n", ARRAY_SIZE(rows));
}

/* Who was woken is not idle: the runtime waits for a CPU. */
static void runnable_threads_are_not_idle(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_row(&rows[i], PROF_WOKEN,
			  context_is_idle(rows[i].context) ? CONTEXT_RUNTIME : rows[i].context,
			  "woken");
}

static enum context context_beside(const char *thread, int syscall, const char *stack)
{
	struct profile *p = made_profile("offcpu");
	enum context context;
	struct contexts c;

	made_wait(p, 101, "mine", PROF_WAIT(PROF_BLOCKED, TASK_S, FUTEX), 1,
		  "syscall;" MT "Context::park_internal;" WORKER_FAT, "");
	made_wait(p, 102, thread, PROF_WAIT(PROF_BLOCKED, TASK_S, syscall), 1, stack, "");
	contexts_init(&c, p);
	context = contexts_at(&c, 1)->context;
	contexts_release(&c);
	profile_free(p);
	return context;
}

/* Fat LTO leaves nothing of a pool's thread; its name is that of the workers. */
static void bare_stacks_go_by_their_thread(void **state)
{
	assert_int_equal(context_beside("mine", FUTEX, CONDVAR ROOT), CONTEXT_IDLE_POOL);
	assert_int_equal(context_beside("mine", FUTEX, LOCKED ROOT), CONTEXT_RUNTIME);
	assert_int_equal(context_beside("other", FUTEX, CONDVAR ROOT), CONTEXT_OTHER);
	/* A thread that a task began inherits the name. */
	assert_int_equal(context_beside("mine", NANOSLEEP,
					"clock_nanosleep;std::thread::functions::sleep;" ROOT),
			 CONTEXT_OTHER);
	assert_int_equal(context_beside("mine", FUTEX, CONDVAR "app::serve;" ROOT), CONTEXT_OTHER);
}

/* Of the leaf alone nobody knows what called it: the thread of a LocalSet was in no main future. */
static void stacks_that_were_cut_off_say_nothing(void **state)
{
	struct profile *p = made_profile("offcpu");
	struct contexts c;

	made_wait(p, 101, "mine", PROF_WAIT(PROF_BLOCKED, TASK_S, EPOLL), 1,
		  "epoll_wait;tokio::runtime::io::driver::Driver::turn;"
		  "tokio::runtime::time::Driver::park_internal;app::main;main",
		  "");
	made_wait(p, 101, "mine", PROF_WAIT(PROF_BLOCKED, TASK_S, NANOSLEEP), 1, "clock_nanosleep",
		  "");
	p->stacks[p->samples[1].ustack].flags = 0;
	contexts_init(&c, p);
	assert_int_equal(contexts_at(&c, 1)->context, CONTEXT_MAIN_FUTURE);
	contexts_release(&c);
	p->stacks[p->samples[1].ustack].end = UNWIND_END_MOVED;
	contexts_init(&c, p);
	assert_int_equal(contexts_at(&c, 1)->context, CONTEXT_NOT_SAMPLED);
	contexts_release(&c);
	profile_free(p);
}

static void check_view(const struct view *v, const char *expected)
{
	struct profile *p = made_profile("offcpu");
	char *text = calloc(1, 4096);
	struct tree *t;

	made_wait(p, 101, "worker-1", PROF_WAIT(PROF_BLOCKED, TASK_S, FUTEX), 1000,
		  LOCKED
		  "app::store::Map<K,V>::get;<hyper::service::S<T> as tower::Service<R>>::call;"
		  "<core::pin::Pin<P> as core::future::future::Future>::poll;"
		  "app::handler::{{closure}}::{{closure}};app::handler::{{closure}};" TASK,
		  "__schedule;futex_wait");
	t = tree_new(p, v);
	for (uint32_t at = t->nodes[0].first_child; at; at = t->nodes[at].first_child)
		strcat(strcat(text, ";"), tree_name(t, &t->nodes[at]));
	assert_string_equal(text + 1, expected);
	tree_free(t);
	profile_free(p);
	free(text);
}

static void views_leave_out_the_runtime(void **state)
{
	check_view(&(struct view){},
		   "worker-;[task];app::handler;app::handler::{async block};"
		   "hyper::service::S::call;app::store::Map::get;std::sync::Mutex::lock;[lock]");
	check_view(&(struct view){ .frames = FRAMES_APP, .group = GROUP_NONE },
		   "worker-1;[task];app::handler;app::handler::{async block};"
		   "app::store::Map::get;std::sync::Mutex::lock;[lock]");
	check_view(&(struct view){ .frames = FRAMES_APP, .group = GROUP_THREAD },
		   "worker-1/w0(101);[task];app::handler;app::handler::{async block};"
		   "app::store::Map::get;std::sync::Mutex::lock;[lock]");
	check_view(
		&(struct view){ .full_names = true, .frames = FRAMES_APP },
		"worker-;[task];app::handler::{{closure}};app::handler::{{closure}}::{{closure}};"
		"app::store::Map<K,V>::get;std::sync::Mutex::lock;[lock]");
	check_view(&(struct view){ .by = VIEW_BY_TASK, .frames = FRAMES_APP },
		   "app::handler;app::handler;app::handler::{async block};"
		   "app::store::Map::get;std::sync::Mutex::lock;[lock]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_marker_decides),
		cmocka_unit_test(runnable_threads_are_not_idle),
		cmocka_unit_test(bare_stacks_go_by_their_thread),
		cmocka_unit_test(stacks_that_were_cut_off_say_nothing),
		cmocka_unit_test(views_leave_out_the_runtime),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

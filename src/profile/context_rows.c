/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of runtimes, as rows: functions that tell contexts and roles, what tells the kind
 * of a wait, and which frames say nothing to who wrote the program.
 */
#include "profile/context_rows.h"

#include "profile/pattern.h"

#define NR(table) (sizeof(table) / sizeof((table)[0]))
#define W	  ROLE_WORKER
#define P	  ROLE_POOL
#define B	  ROLE_BLOCK_ON

/* clang-format off */

/*
 * Tokio 1.0 to 1.54, rustc 1.63 to 1.95, with and without LTO: which of them are left differs, and
 * raw::poll, run_task and park* always are. Parks before 1.18 and drivers before 1.22 have other
 * names.
 */
static const struct context_marker tokio[] = {
	{ MARK_PARK, W, 0, "tokio::runtime::scheduler::multi_thread*::worker::Context::park*" },
	{ MARK_PARK, W, 0, "tokio::runtime::thread_pool::worker::Context::park*" },
	{ MARK_PARK, B, 0, "tokio::runtime::scheduler::current_thread*::Context::park*" },
	{ MARK_PARK, B, 0, "tokio::runtime::basic_scheduler*::Context::park*" },
	{ MARK_PARK, W, 0, "tokio::runtime::scheduler::multi_thread*::park::Parker::park*" },
	{ MARK_PARK, W, 0, "tokio::runtime::scheduler::multi_thread*::park::Inner::park*" },
	{ MARK_PARK, W, 0, "tokio::runtime::thread_pool::park::*" },
	{ MARK_PARK, 0, 0, "tokio::runtime::*Driver::turn" },
	{ MARK_PARK, 0, 0, "tokio::runtime::*Driver::park*" },
	{ MARK_PARK, 0, 0, "tokio::runtime::driver::IoStack::park*" },
	{ MARK_PARK, 0, 0, "tokio::io::driver::*Driver*::turn" },
	{ MARK_PARK, 0, 0, "tokio::io::driver::*Driver*::park*" },
	{ MARK_PARK, 0, 0, "tokio::time::driver::*Driver*::park*" },

	/* Not block_on() itself, which also runs its future. */
	{ MARK_BLOCKON, 0, 0, "tokio::runtime::park::CachedParkThread::park*" },
	{ MARK_BLOCKON, 0, 0, "tokio::runtime::park::Inner::park*" },
	{ MARK_BLOCKON, 0, 0, "tokio::park::thread::*::park*" },

	{ MARK_TASK, 0, 1, "tokio::runtime::task::raw::poll" },
	{ MARK_TASK, 0, 0, "tokio::runtime::task::raw::RawTask::poll" },
	{ MARK_TASK, 0, 1, "tokio::runtime::task::harness::Harness::poll" },
	{ MARK_TASK, 0, 0, "tokio::runtime::task::harness::Harness::poll*" },
	{ MARK_TASK, 0, 0, "tokio::runtime::task::harness::poll_future*" },
	{ MARK_TASK, 0, 0, "tokio::runtime::task::core::Core::poll" },
	{ MARK_RUN, B, 0, "tokio::runtime::scheduler::current_thread*::Context::run_task" },
	{ MARK_RUN, B, 0, "tokio::runtime::basic_scheduler*::Context::run_task" },
	{ MARK_RUN, W, 0, "tokio::runtime::*::worker::Context::run_task*" },

	{ MARK_WORKER, W, 0, "tokio::runtime::*::worker::run" },
	{ MARK_WORKER, W, 0, "tokio::runtime::*::worker::Context::run" },
	{ MARK_WORKER, W, 0, "tokio::runtime::*::worker::Core::*" },
	{ MARK_POOL, 0, 0, "tokio::runtime::blocking::pool::Inner::run" },
	{ MARK_POOL, 0, 0, "tokio::runtime::blocking::pool::LockedImpl::*" },
	{ MARK_POOL, 0, 0, "tokio::runtime::blocking::sharded::ShardedImpl::run_worker" },
	{ MARK_ENTER, B, 0, "tokio::runtime::runtime::Runtime::block_on*" },
	{ MARK_ENTER, B, 0, "tokio::runtime::scheduler::current_thread*::CoreGuard::block_on" },
	{ MARK_ENTER, B, 0, "tokio::task::local::LocalSet::*" },

	{ MARK_THREAD, 0, 0, "*__rust_begin_short_backtrace" },
};

/* Goroutines block without their thread, so threads wait for one to run, or in system calls. */
static const struct context_marker go[] = {
	{ MARK_PARK, W, 0, "runtime.findRunnable" },	{ MARK_PARK, W, 0, "runtime.findrunnable" },
	{ MARK_PARK, W, 0, "runtime.stopm" },		{ MARK_PARK, W, 0, "runtime.stoplockedm" },
	{ MARK_PARK, W, 0, "runtime.netpoll" },		{ MARK_PARK, 0, 0, "runtime.sysmon" },
	{ MARK_PARK, 0, 0, "runtime.templateThread" },
	{ MARK_PARK, 0, 0, "os/signal.signal_recv" },
	{ MARK_WORKER, W, 0, "runtime.gcBgMarkWorker*" },
	{ MARK_WORKER, W, 0, "runtime.bgsweep" },	{ MARK_WORKER, W, 0, "runtime.bgscavenge" },
	{ MARK_WORKER, W, 0, "runtime.schedule" },	{ MARK_WORKER, W, 0, "runtime.mcall" },
	{ MARK_WORKER, W, 0, "runtime.mstart1" },
	{ MARK_WORKER, W, 0, "runtime.systemstack" },
	{ MARK_TASK, W, 1, "runtime.goexit" },		{ MARK_TASK, W, 0, "runtime.main" },
};

const struct context_runtime context_runtimes[] = {
	{ "tokio", "tokio::", true, true, tokio, NR(tokio) },
	{ "go", "runtime.", false, false, go, NR(go) },
};
const uint32_t context_nr = NR(context_runtimes);

const struct context_clue context_clues[] = {
	{ CLUE_LOCK, "*Mutex::lock_contended" },	{ CLUE_LOCK, "*ReentrantLock::lock*" },
	{ CLUE_LOCK, "*RwLock::*_contended" },		{ CLUE_LOCK, "*RawMutex::lock_slow" },
	{ CLUE_LOCK, "*RawRwLock::lock_*_slow" },
	{ CLUE_LOCK, "*RawRwLock::wait_for_readers" },
	{ CLUE_LOCK, "*pthread_mutex_*lock*" },		{ CLUE_LOCK, "*pthread_rwlock_*" },
	{ CLUE_LOCK, "*__lll_lock_wait*" },		{ CLUE_LOCK, "runtime.lock2" },
	{ CLUE_CHANNEL, "std::sync::mpsc::*" },		{ CLUE_CHANNEL, "std::sync::mpmc::*" },
	{ CLUE_CHANNEL, "crossbeam_channel::*" },	{ CLUE_CHANNEL, "flume::*" },
	{ CLUE_CHANNEL, "async_channel::*" },
	{ CLUE_CONDVAR, "std::*Condvar::wait*" },
	{ CLUE_CONDVAR, "parking_lot::*Condvar::wait*" },
	{ CLUE_CONDVAR, "*pthread_cond_*wait*" },
	{ CLUE_JOIN, "*pthread_join*" },		{ CLUE_JOIN, "*pthread_clockjoin*" },
	{ CLUE_JOIN, "std::thread::*JoinInner::join" },	{ CLUE_JOIN, "std::sys::*Thread::join" },
	{ CLUE_PARK, "std::thread::*park*" },		{ CLUE_PARK, "std::sys::*Parker::park*" },
	{ CLUE_PARK, "*::Thread::park*" },
	{ CLUE_SEMAPHORE, "sem_*wait*" },		{ CLUE_SEMAPHORE, "__new_sem_*wait*" },
	{ CLUE_DNS, "*getaddrinfo*" },			{ CLUE_DNS, "*getnameinfo*" },
	{ CLUE_DNS, "_nss_*" },				{ CLUE_DNS, "__res_*" },
	{ CLUE_DNS, "*gethostby*" },
};
const size_t context_nr_clues = NR(context_clues);

/* A channel waits by a condition variable or by parking, these by locks: the order matters. */
const struct context_kind context_kinds[] = {
	{ .kind = "sleep", .syscalls = "nanosleep clock_nanosleep" },
	{ .kind = "thread-join", .syscalls = "futex", .clues = CLUE_JOIN },
	{ .kind = "lock", .syscalls = "futex", .clues = CLUE_LOCK },
	{ .kind = "dns", .clues = CLUE_DNS },
	{ .kind = "channel", .syscalls = "futex", .clues = CLUE_CHANNEL },
	{ .kind = "condvar", .syscalls = "futex", .clues = CLUE_CONDVAR },
	{ .kind = "thread-park", .syscalls = "futex", .clues = CLUE_PARK },
	{ .kind = "semaphore", .syscalls = "futex", .clues = CLUE_SEMAPHORE },
	/* All of that inlined: what the futex was called with. */
	{ .kind = "lock", .syscalls = "futex", .futex = PROF_FUTEX_MUTEX },
	{ .kind = "lock", .syscalls = "futex", .futex = PROF_FUTEX_RWLOCK },
	{ .kind = "lock", .syscalls = "futex", .futex = PROF_FUTEX_LIBC_MUTEX },
	{ .kind = "thread-park", .syscalls = "futex", .futex = PROF_FUTEX_PARK },
	{ .kind = "condvar", .syscalls = "futex", .futex = PROF_FUTEX_COUNTER },
	{ .kind = "thread-join", .syscalls = "futex", .futex = PROF_FUTEX_JOIN },
	{ .kind = "futex (parking_lot)", .syscalls = "futex", .futex = PROF_FUTEX_PARKING_LOT },
	{ .kind = "futex", .syscalls = "futex futex_waitv futex_wait" },
	{ .kind = "poll", .syscalls = "poll ppoll select pselect6 epoll_wait epoll_pwait "
				      "epoll_pwait2" },
	{ .kind = "io_uring", .syscalls = "io_uring_enter" },
	{ .kind = "child", .syscalls = "wait4 waitid clone3 clone vfork" },
	{ .kind = "file-lock", .syscalls = "flock fcntl" },
	{ .kind = "mm", .syscalls = "mmap munmap mprotect brk mremap madvise" },
	/* A system call on any file says by its class which it was. */
	{ .kind = "net", .classes = 1u << WAIT_NET },
	{ .kind = "pagefault", .classes = 1u << WAIT_PAGEFAULT },
	{ .kind = "pipe", .classes = 1u << WAIT_PIPE },
	{ .kind = "file", .classes = 1u << WAIT_IO },
	{ .kind = "file",
	  .syscalls = "read write readv writev pread64 pwrite64 open openat close fsync fdatasync "
		      "stat newfstatat statx rename renameat2 unlink unlinkat getdents64 fallocate "
		      "truncate ftruncate mkdir mkdirat copy_file_range",
	  .classes = 1u << WAIT_LOCK },
	{ NULL },
};
const size_t context_nr_kinds = NR(context_kinds);

static const struct {
	enum context_noise noise;
	const char *name;
} noises[] = {
	{ NOISE_THREAD, "clone" },			{ NOISE_THREAD, "clone3" },
	{ NOISE_THREAD, "__clone*" },			{ NOISE_THREAD, "start_thread" },
	{ NOISE_THREAD, "*__rust_begin_short_backtrace" },
	{ NOISE_THREAD, "std::sys::*Thread::new::thread_start" },
	{ NOISE_THREAD, "_start" },			{ NOISE_THREAD, "__libc_start_*main*" },
	{ NOISE_THREAD, "std::rt::lang_start*" },
	{ NOISE_RUNTIME, "tokio::runtime::*" },
	{ NOISE_RUNTIME, "tokio::macros::scoped_tls::*" },
	{ NOISE_RUNTIME, "tokio::loom::*" },		{ NOISE_RUNTIME, "tokio::*coop::*" },
	{ NOISE_RUNTIME, "tokio::task::local::*" },	{ NOISE_RUNTIME, "tokio::park::*" },
	{ NOISE_THREAD, "core::ops::function::FnOnce::call_once*" },
	{ NOISE_RUNTIME, "core::ops::function::*" },
	{ NOISE_RUNTIME, "alloc::boxed::Box::call*" },
	{ NOISE_RUNTIME, "std::panicking::*" },		{ NOISE_RUNTIME, "std::panic::*" },
	{ NOISE_RUNTIME, "core::panic::unwind_safe::*" },
	{ NOISE_RUNTIME, "std::thread::local::*" },	{ NOISE_RUNTIME, "__rust_try*" },
	{ NOISE_RUNTIME, "core::pin::Pin::poll" },
	{ NOISE_RUNTIME, "alloc::boxed::Box::poll" },
	{ NOISE_RUNTIME, "core::future::future::Future::poll" },
	{ NOISE_RUNTIME, "core::future::poll_fn::PollFn::poll" },
	{ NOISE_RUNTIME, "futures_util::*::poll" },	{ NOISE_RUNTIME, "futures_core::*::poll*" },
	{ NOISE_RUNTIME, "tokio::future::poll_fn::*" },
	{ NOISE_RUNTIME, "tokio::task::task_local::*" },
	{ NOISE_RUNTIME, "tracing::instrument::Instrumented::poll" },
	{ NOISE_RUNTIME, "std::sys::backtrace::*" },
	{ NOISE_RUNTIME, "std::sys_common::backtrace::*" },
	{ NOISE_LIBRARY, "hyper::*" },			{ NOISE_LIBRARY, "hyper_util::*" },
	{ NOISE_LIBRARY, "tower::*" },			{ NOISE_LIBRARY, "tower_*" },
	{ NOISE_LIBRARY, "axum::*" },			{ NOISE_LIBRARY, "axum_core::*" },
	{ NOISE_LIBRARY, "tonic::*" },			{ NOISE_LIBRARY, "h2::*" },
	{ NOISE_LIBRARY, "reqwest::*" },		{ NOISE_LIBRARY, "futures_*" },
	{ NOISE_LIBRARY, "mio::*" },			{ NOISE_LIBRARY, "tracing*" },
	{ NOISE_CALL, "syscall" },
};

static const struct {
	const char *name, *known_as;
} known[] = {
	{ "std::sys::*Mutex::lock_contended", "std::sync::Mutex::lock" },
	{ "std::sys::*RwLock::read_contended", "std::sync::RwLock::read" },
	{ "std::sys::*RwLock::write_contended", "std::sync::RwLock::write" },
	{ "parking_lot::*RawMutex::lock_slow", "parking_lot::Mutex::lock" },
	{ "parking_lot::*RawRwLock::lock_shared_slow", "parking_lot::RwLock::read" },
	{ "parking_lot::*RawRwLock::lock_exclusive_slow", "parking_lot::RwLock::write" },
	{ "parking_lot::*Condvar::wait*", "parking_lot::Condvar::wait" },
	{ "std::sys::*Condvar::wait*", "std::sync::Condvar::wait" },
	{ "std::thread::functions::sleep", "std::thread::sleep" },
	{ "std::thread::functions::park*", "std::thread::park" },
	{ "std::thread::*Thread::park*", "std::thread::park" },
	{ "std::sync::mpmc::Receiver::recv*", "std::sync::mpsc::Receiver::recv" },
	{ "std::sync::mpmc::list::Channel::recv", "std::sync::mpsc::Receiver::recv" },
};
/* clang-format on */

enum context_noise context_noise_of(const char *normal)
{
	for (size_t i = 0; i < NR(noises); i++)
		if (pattern_is(normal, noises[i].name))
			return noises[i].noise;
	return NOISE_NOT;
}

const char *context_known_as(const char *normal)
{
	for (size_t i = 0; i < NR(known); i++)
		if (pattern_is(normal, known[i].name))
			return known[i].known_as;
	return NULL;
}

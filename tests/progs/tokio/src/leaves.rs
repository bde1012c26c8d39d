// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The leaves: what blocks, what it should be called, and how long it took so far.
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{mpsc, Condvar, Mutex, OnceLock, RwLock};
use std::time::{Duration, Instant};

const HOLD: Duration = Duration::from_millis(40);
const REST: Duration = Duration::from_millis(10);
const HOG: Duration = Duration::from_millis(100);
const FILE_BYTES: usize = 4 << 20;

/// What the current thread has run so far.
fn cpu_ns() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };

    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Times are added up around the call of the leaf, in its task: those in which it did not run.
pub struct Leaf {
    pub name: &'static str,
    pub context: &'static str,
    pub kind: &'static str,
    ns: AtomicU64,
    calls: AtomicU64,
}

impl Leaf {
    const fn new(name: &'static str, context: &'static str, kind: &'static str) -> Self {
        Leaf { name, context, kind, ns: AtomicU64::new(0), calls: AtomicU64::new(0) }
    }

    pub fn ns(&self) -> u64 {
        self.ns.load(Relaxed)
    }

    pub fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }

    fn time<T>(&self, f: impl FnOnce() -> T) -> T {
        let (begin, ran) = (Instant::now(), cpu_ns());
        let value = f();
        let ran = cpu_ns() - ran;

        self.ns.fetch_add((begin.elapsed().as_nanos() as u64).saturating_sub(ran), Relaxed);
        self.calls.fetch_add(1, Relaxed);
        value
    }
}

/// One leaf each: its name, context and kind, and the body of do_NAME(). Its task is task_NAME().
macro_rules! leaves {
    ($($name:ident $context:literal $kind:literal $body:block)*) => {
        pub static ALL: &[&Leaf] = &[$(&$name::LEAF),*];

        $(pub mod $name {
            #![allow(unused_imports)]
            use super::*;

            pub static LEAF: Leaf = Leaf::new(stringify!($name), $context, $kind);
        })*

        leaves_functions!($($name $body)*);

        /// So many tasks for each leaf that is wanted.
        pub fn spawn(end: Instant, each: usize, wanted: &dyn Fn(&Leaf) -> bool) -> Vec<tokio::task::JoinHandle<()>> {
            let mut tasks = Vec::new();

            $(for _ in 0..each {
                if wanted(&$name::LEAF) {
                    tasks.push(tokio::spawn(tasks::$name(end)));
                }
            })*
            tasks
        }
    };
}

macro_rules! leaves_functions {
    ($($name:ident $body:block)*) => {
        /// The blocking functions.
        pub mod blocking {
            use super::*;

            $(#[inline(never)]
            pub fn $name() {
                // So that equal bodies stay functions of their own.
                std::hint::black_box(stringify!($name));
                $body
                std::hint::black_box(stringify!($name));
            })*
        }

        /// The tasks around them.
        pub mod tasks {
            use super::*;

            $(pub async fn $name(end: Instant) {
                while Instant::now() + HOLD < end {
                    around::$name(&super::$name::LEAF).await;
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            })*
        }
    };
}

static STD_MUTEX: Mutex<u32> = Mutex::new(0);
static PL_MUTEX: parking_lot::Mutex<u32> = parking_lot::Mutex::new(0);
static HELD: Mutex<u32> = Mutex::new(0);
static RW_READ: RwLock<u32> = RwLock::new(0);
static RW_WRITE: RwLock<u32> = RwLock::new(0);
static NEVER: Mutex<bool> = Mutex::new(false);
static NOTIFIED: Condvar = Condvar::new();
static CHANNEL: OnceLock<Mutex<mpsc::Receiver<u32>>> = OnceLock::new();
static TCP: OnceLock<TcpStream> = OnceLock::new();
static PIPE: OnceLock<File> = OnceLock::new();
static LOCKED: OnceLock<File> = OnceLock::new();
static DATA: OnceLock<std::path::PathBuf> = OnceLock::new();

fn drop_cache(file: &File) {
    file.sync_all().expect("sync");
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

leaves! {
    std_mutex "task" "lock" {
        *STD_MUTEX.lock().unwrap() += 1;
    }
    pl_mutex "task" "lock" {
        *PL_MUTEX.lock() += 1;
    }
    rwlock_read "task" "lock" {
        std::hint::black_box(*RW_READ.read().unwrap());
    }
    rwlock_write "task" "lock" {
        *RW_WRITE.write().unwrap() += 1;
    }
    blocking_sleep "task" "sleep" {
        std::thread::sleep(HOLD);
    }
    condvar "task" "condvar" {
        let guard = NEVER.lock().unwrap();

        drop(NOTIFIED.wait_timeout(guard, HOLD).unwrap());
    }
    channel_recv "task" "channel" {
        CHANNEL.get().unwrap().lock().unwrap().recv().ok();
    }
    thread_park "task" "thread-park" {
        std::thread::park_timeout(HOLD);
    }
    thread_join "task" "thread-join" {
        std::thread::spawn(|| std::thread::sleep(HOLD)).join().unwrap();
    }
    executor_block_on "task" "thread-park" {
        let (sender, receiver) = tokio::sync::oneshot::channel::<u32>();

        std::thread::spawn(move || {
            std::thread::sleep(HOLD);
            sender.send(1)
        });
        futures_executor::block_on(receiver).unwrap();
    }
    handle_block_on "task" "block_on" {
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(tokio::time::sleep(HOLD));
        });
    }
    block_in_place "task" "sleep" {
        tokio::task::block_in_place(|| std::thread::sleep(HOLD));
    }
    pool_job "pool-job" "sleep" {
        std::thread::sleep(HOLD);
    }
    file_read "task" "file" {
        let mut bytes = vec![0; FILE_BYTES];
        let mut file = File::open(DATA.get().unwrap()).unwrap();

        file.read_exact(&mut bytes).unwrap();
    }
    fsync "task" "file" {
        let file = File::options().write(true).open(DATA.get().unwrap().with_extension("fsync")).unwrap();

        file.sync_all().unwrap();
    }
    mmap_read "task" "pagefault" {
        let file = File::open(DATA.get().unwrap().with_extension("mmap")).unwrap();
        let at = unsafe {
            libc::mmap(std::ptr::null_mut(), FILE_BYTES, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
        };

        assert!(at != libc::MAP_FAILED);
        for i in (0..FILE_BYTES).step_by(4096) {
            std::hint::black_box(unsafe { std::ptr::read_volatile((at as *const u8).add(i)) });
        }
        unsafe { libc::munmap(at, FILE_BYTES) };
    }
    dns "task" "dns" {
        ("no-such-host.invalid", 80).to_socket_addrs().ok();
    }
    tcp_read "task" "net" {
        TCP.get().unwrap().read(&mut [0; 1]).unwrap();
    }
    pipe_read "task" "pipe" {
        PIPE.get().unwrap().read(&mut [0; 1]).unwrap();
    }
    flock "task" "file-lock" {
        let fd = LOCKED.get().unwrap().as_raw_fd();

        unsafe {
            libc::flock(fd, libc::LOCK_EX);
            libc::flock(fd, libc::LOCK_UN);
        }
    }
    child "task" "child" {
        std::process::Command::new("sleep").arg("0.04").status().unwrap();
    }
    poll "task" "poll" {
        unsafe { libc::poll(std::ptr::null_mut(), 0, HOLD.as_millis() as i32) };
    }
    select "task" "poll" {
        let mut time = libc::timeval { tv_sec: 0, tv_usec: HOLD.as_micros() as i64 };
        let none = std::ptr::null_mut();

        unsafe { libc::select(0, none, none, none, &mut time) };
    }
    nested_sleep "task" "sleep" {
        std::thread::sleep(HOLD);
    }
    held_mutex "task" "lock" {
        *HELD.lock().unwrap() += 1;
    }
    holder "task" "sleep" {
        let guard = HELD.lock().unwrap();

        std::thread::sleep(HOLD);
        drop(guard);
    }
    driver_hog "task" "sleep" {
        std::thread::sleep(HOG);
    }
    cpu_burn "task" "" {
        let end = Instant::now() + HOG;

        while Instant::now() < end {
            std::hint::spin_loop();
        }
    }
    sleep_named "task" "sleep" {
        std::thread::sleep(HOLD);
    }
    sleep_driverless "task" "sleep" {
        std::thread::sleep(HOLD);
    }
    sleep_local "task" "sleep" {
        std::thread::sleep(HOLD);
    }
}

/// Those that run only where they are named: they keep others waiting, or belong to runtimes of their own.
pub const UNUSUAL: &[&str] =
    &["held_mutex", "holder", "driver_hog", "cpu_burn", "sleep_named", "sleep_driverless", "sleep_local"];

/// What a task does for one call: for most nothing but the call.
mod around {
    use super::*;

    macro_rules! plain {
        ($($name:ident)*) => {
            $(pub async fn $name(leaf: &Leaf) {
                leaf.time(blocking::$name);
            })*
        };
    }

    plain!(std_mutex pl_mutex rwlock_read rwlock_write blocking_sleep condvar channel_recv thread_park thread_join
           executor_block_on handle_block_on block_in_place dns tcp_read pipe_read flock child poll select held_mutex holder
           driver_hog cpu_burn sleep_named sleep_driverless sleep_local);

    pub async fn pool_job(leaf: &'static Leaf) {
        tokio::task::spawn_blocking(move || leaf.time(blocking::pool_job)).await.unwrap();
    }

    pub async fn file_read(leaf: &Leaf) {
        drop_cache(&File::open(DATA.get().unwrap()).unwrap());
        leaf.time(blocking::file_read);
    }

    pub async fn mmap_read(leaf: &Leaf) {
        drop_cache(&File::open(DATA.get().unwrap().with_extension("mmap")).unwrap());
        leaf.time(blocking::mmap_read);
    }

    pub async fn fsync(leaf: &Leaf) {
        let mut file = File::options().write(true).open(DATA.get().unwrap().with_extension("fsync")).unwrap();

        file.rewind().unwrap();
        file.write_all(&vec![1; FILE_BYTES]).unwrap();
        leaf.time(blocking::fsync);
    }

    pub async fn nested_sleep(leaf: &Leaf) {
        outer_async(leaf).await;
    }

    async fn outer_async(leaf: &Leaf) {
        middle_async(leaf).await;
        tokio::task::yield_now().await;
    }

    async fn middle_async(leaf: &Leaf) {
        inner_async(leaf).await;
        tokio::task::yield_now().await;
    }

    async fn inner_async(leaf: &Leaf) {
        leaf.time(blocking::nested_sleep);
        tokio::task::yield_now().await;
    }
}

/// Threads that let leaves wait; they end with the program.
fn helper(name: &str, mut f: impl FnMut() + Send + 'static) {
    std::thread::Builder::new()
        .name(name.into())
        .spawn(move || loop {
            f();
        })
        .unwrap();
}

/// Holds a lock most of the time, for as long as what take() gives lives.
fn hold<T>(name: &str, take: impl Fn() -> T + Send + 'static) {
    helper(name, move || {
        let guard = take();

        std::thread::sleep(HOLD);
        drop(guard);
        std::thread::sleep(REST);
    });
}

fn feed() {
    let (sender, receiver) = mpsc::channel();
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let mut out = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut ends = [0; 2];

    assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
    let mut pipe = unsafe { File::from_raw_fd(ends[1]) };

    PIPE.set(unsafe { File::from_raw_fd(ends[0]) }).unwrap();
    TCP.set(listener.accept().unwrap().0).unwrap();
    CHANNEL.set(Mutex::new(receiver)).unwrap();
    helper("feed", move || {
        std::thread::sleep(HOLD);
        sender.send(1).unwrap();
        out.write_all(b"x").unwrap();
        pipe.write_all(b"x").unwrap();
    });
}

fn make_files(dir: &str) {
    let path = std::path::Path::new(dir).join(format!("tokio_waits.{}", std::process::id()));
    let bytes = vec![7; FILE_BYTES];

    for end in ["data", "fsync", "mmap"] {
        std::fs::write(path.with_extension(end), &bytes).expect("--dir");
    }
    DATA.set(path.with_extension("data")).unwrap();

    let path = path.with_extension("lock");
    let held = File::create(&path).expect("--dir");

    LOCKED.set(File::open(&path).unwrap()).unwrap();
    helper("hold-file", move || {
        unsafe { libc::flock(held.as_raw_fd(), libc::LOCK_EX) };
        std::thread::sleep(HOLD);
        unsafe { libc::flock(held.as_raw_fd(), libc::LOCK_UN) };
        std::thread::sleep(REST);
    });
}

/// What the leaves need. Files lie in dir and are to be removed by who started the program.
pub fn prepare(dir: &str, wanted: &dyn Fn(&Leaf) -> bool) {
    let any = |names: &[&str]| ALL.iter().any(|l| wanted(l) && names.contains(&l.name));

    if any(&["std_mutex"]) {
        hold("hold-std", || STD_MUTEX.lock().unwrap());
    }
    if any(&["pl_mutex"]) {
        hold("hold-pl", || PL_MUTEX.lock());
    }
    if any(&["rwlock_read"]) {
        hold("hold-read", || RW_READ.write().unwrap());
    }
    if any(&["rwlock_write"]) {
        hold("hold-write", || RW_WRITE.read().unwrap());
    }
    if any(&["channel_recv", "tcp_read", "pipe_read"]) {
        feed();
    }
    if any(&["file_read", "fsync", "mmap_read", "flock"]) {
        make_files(dir);
    }
}

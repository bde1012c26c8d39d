// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A program of Tokio whose waits are known: each leaf blocks in a function do_LEAF() of its own, again and again, and
//! the program adds up how long. At its end it writes the sums as JSON.
//!
//!     tokio_waits SECONDS [--workers N] [--current] [--name NAME] [--leaves a,b,...] [--ticks] [--truth FILE] [--dir DIR]
//!
//! With --ticks a task looks at the clock every 5 ms, and the program says by how much it was late. --each N: so many tasks
//! of each leaf.
//!
//!     tokio_waits SECONDS --polls N [--workers N] [--current] [--truth FILE]: tasks that count their polls (polls.rs)
//!     tokio_waits SECONDS --pingpong [--workers N] [--truth FILE]: as many polls as there can be
//!     tokio_waits SECONDS --quiet [--workers N] [--truth FILE]: tasks that never block (quiet.rs)
//!     tokio_waits SECONDS --hogged [--workers N] [--truth FILE]: an echo that holds its worker (hogged.rs)
//!     tokio_waits SECONDS --several [--truth FILE]: several runtimes, with a leaf each (several.rs)
//!     tokio_waits SECONDS --twins [--truth FILE]: two of the same name, of which one blocks its driver
//!
//! Who blocks them are threads of the program that sleep between: nothing depends on how fast the machine is.
mod hogged;
mod leaves;
mod polls;
mod quiet;
mod several;

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

struct Options {
    seconds: f64,
    workers: usize,
    current: bool,
    name: Option<String>,
    leaves: Vec<String>,
    ticks: bool,
    truth: Option<String>,
    dir: String,
    polls: u32,
    pingpong: bool,
    quiet: bool,
    hogged: bool,
    several: bool,
    twins: bool,
    each: usize,
}

fn options() -> Options {
    let mut o = Options {
        seconds: 2.0,
        workers: 4,
        current: false,
        name: None,
        leaves: Vec::new(),
        ticks: false,
        truth: None,
        dir: std::env::temp_dir().to_string_lossy().into_owned(),
        polls: 0,
        pingpong: false,
        quiet: false,
        hogged: false,
        several: false,
        twins: false,
        each: 1,
    };
    let mut args = std::env::args().skip(1);

    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_else(|| panic!("{arg} needs a value"));

        match arg.as_str() {
            "--workers" => o.workers = value().parse().expect("--workers"),
            "--polls" => o.polls = value().parse().expect("--polls"),
            "--pingpong" => o.pingpong = true,
            "--quiet" => o.quiet = true,
            "--hogged" => o.hogged = true,
            "--several" => o.several = true,
            "--twins" => o.twins = true,
            "--each" => o.each = value().parse().expect("--each"),
            "--current" => o.current = true,
            "--name" => o.name = Some(value()),
            "--leaves" => o.leaves = value().split(',').map(String::from).collect(),
            "--ticks" => o.ticks = true,
            "--truth" => o.truth = Some(value()),
            "--dir" => o.dir = value(),
            seconds => o.seconds = seconds.parse().expect("SECONDS"),
        }
    }
    o
}

fn runtime(o: &Options) -> tokio::runtime::Runtime {
    let mut b = if o.current {
        tokio::runtime::Builder::new_current_thread()
    } else {
        tokio::runtime::Builder::new_multi_thread()
    };

    if !o.current {
        b.worker_threads(o.workers);
    }
    if let Some(name) = &o.name {
        b.thread_name(name.clone());
    }
    b.enable_all().build().expect("runtime")
}

const TICK: Duration = Duration::from_millis(5);
const TOO_LATE: Duration = Duration::from_millis(20);
static LATE_NS: AtomicU64 = AtomicU64::new(0);
static LATE: AtomicU64 = AtomicU64::new(0);
static NOT_QUEUED_NS: AtomicU64 = AtomicU64::new(0);

/// How long threads of this process have waited for a CPU so far, all of them together.
fn queued_ns() -> u64 {
    let threads = std::fs::read_dir("/proc/self/task").expect("/proc");
    let of = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path.join("schedstat")).ok()?;

        text.split(' ').nth(1)?.parse::<u64>().ok()
    };

    threads.flatten().filter_map(|t| of(t.path())).sum()
}

/// A timer that is late was not looked at, or who looks at it waits for a CPU: how often by more than TOO_LATE, by how much
/// in all, and by how much more than threads waited for a CPU meanwhile.
async fn ticks(end: Instant) {
    let mut queued = queued_ns();

    while Instant::now() < end {
        let due = Instant::now() + TICK;

        tokio::time::sleep_until(due.into()).await;
        let late = Instant::now().saturating_duration_since(due);
        let now_queued = queued_ns();
        let meanwhile = now_queued.saturating_sub(queued);

        if late >= TOO_LATE {
            LATE_NS.fetch_add(late.as_nanos() as u64, Relaxed);
            LATE.fetch_add(1, Relaxed);
            NOT_QUEUED_NS.fetch_add((late.as_nanos() as u64).saturating_sub(meanwhile), Relaxed);
        }
        queued = now_queued;
    }
}

/// What all threads have run so far.
fn cpu_ns() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };

    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

fn put_truth(o: &Options, workers: usize, begin: Instant) {
    let Some(path) = &o.truth else { return };
    let mut out = std::fs::File::create(path).expect("--truth");
    let rows: Vec<String> = leaves::ALL
        .iter()
        .filter(|l| l.calls() > 0)
        .map(|l| {
            format!(
                "\"{}\": {{\"ns\": {}, \"calls\": {}, \"context\": \"{}\", \"kind\": \"{}\"}}",
                l.name,
                l.ns(),
                l.calls(),
                l.context,
                l.kind
            )
        })
        .collect();

    writeln!(
        out,
        "{{\"wall_ns\": {}, \"cpu_ns\": {}, \"workers\": {}, \"late_ns\": {}, \"late\": {}, \"not_queued_ns\": {}, \"leaves\": {{\n  {}\n}}}}",
        begin.elapsed().as_nanos(),
        cpu_ns(),
        workers,
        LATE_NS.load(Relaxed),
        LATE.load(Relaxed),
        NOT_QUEUED_NS.load(Relaxed),
        rows.join(",\n  ")
    )
    .expect("--truth");
}

fn main() {
    let o = options();
    let begin = Instant::now();
    let end = begin + Duration::from_secs_f64(o.seconds);

    for name in &o.leaves {
        assert!(leaves::ALL.iter().any(|l| l.name == name), "unknown leaf {name}");
    }
    let wanted = |l: &leaves::Leaf| {
        o.leaves.iter().any(|n| n == l.name) || o.leaves.is_empty() && !leaves::UNUSUAL.contains(&l.name)
    };

    if o.several {
        return put_truth(&o, several::run(end), begin);
    }
    if o.twins {
        return put_truth(&o, several::twins(end), begin);
    }
    let rt = runtime(&o);
    let workers = if o.current { 1 } else { o.workers };

    if o.polls > 0 || o.pingpong || o.quiet || o.hogged {
        let truth = match (o.pingpong, o.quiet, o.hogged) {
            (true, ..) => polls::pingpong(&rt, end),
            (_, true, _) => quiet::run(&rt, workers, end),
            (.., true) => hogged::run(&rt, end),
            _ => polls::run(&rt, o.polls),
        };

        return o.truth.iter().for_each(|path| std::fs::write(path, &truth).expect("--truth"));
    }
    leaves::prepare(&o.dir, &wanted);
    rt.block_on(async {
        let mut tasks = leaves::spawn(end, o.each, &wanted);

        if o.ticks {
            tasks.push(tokio::spawn(ticks(end)));
        }

        for task in tasks {
            task.await.expect("task");
        }
        tokio::time::sleep_until(end.into()).await;
    });
    put_truth(&o, workers, begin);
}

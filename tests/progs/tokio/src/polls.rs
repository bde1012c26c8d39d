// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Tasks that count and time their own polls, each kind some known number of times.
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Mutex;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

/// Polls of that length are slow.
const SLOW_NS: u64 = 10_000_000;

/// What the polls of one kind of task came to, and which tasks they were of.
struct Truth {
    name: &'static str,
    polls: AtomicU64,
    ns: AtomicU64,
    max_ns: AtomicU64,
    slow: AtomicU64,
    slow_ns: AtomicU64,
    tasks: Mutex<Vec<(String, u64)>>,
}

impl Truth {
    const fn new(name: &'static str) -> Self {
        Truth {
            name,
            polls: AtomicU64::new(0),
            ns: AtomicU64::new(0),
            max_ns: AtomicU64::new(0),
            slow: AtomicU64::new(0),
            slow_ns: AtomicU64::new(0),
            tasks: Mutex::new(Vec::new()),
        }
    }

    fn time<T>(&self, f: impl FnOnce() -> T) -> T {
        // Before: a poll may panic.
        self.polls.fetch_add(1, Relaxed);

        let begin = Instant::now();
        let value = f();
        let ns = begin.elapsed().as_nanos() as u64;

        self.ns.fetch_add(ns, Relaxed);
        self.max_ns.fetch_max(ns, Relaxed);
        if ns >= SLOW_NS {
            self.slow.fetch_add(1, Relaxed);
            self.slow_ns.fetch_add(ns, Relaxed);
        }
        value
    }

    fn json(&self) -> String {
        let tasks: Vec<String> =
            self.tasks.lock().unwrap().iter().map(|(id, polls)| format!("\"{id}\": {polls}")).collect();

        format!(
            "\"{}\": {{\"polls\": {}, \"ns\": {}, \"max_ns\": {}, \"slow\": {}, \"slow_ns\": {}, \"tasks\": {{{}}}}}",
            self.name,
            self.polls.load(Relaxed),
            self.ns.load(Relaxed),
            self.max_ns.load(Relaxed),
            self.slow.load(Relaxed),
            self.slow_ns.load(Relaxed),
            tasks.join(", ")
        )
    }
}

/// Counts the polls of a future: those of its task, which does nothing else.
struct Counted<F> {
    truth: &'static Truth,
    future: Pin<Box<F>>,
    polls: u64,
}

/// Older ones keep it for themselves.
#[cfg(feature = "old")]
fn task_id() -> Option<u64> {
    None
}

#[cfg(not(feature = "old"))]
fn task_id() -> Option<tokio::task::Id> {
    tokio::task::try_id()
}

impl<F> Drop for Counted<F> {
    fn drop(&mut self) {
        if let Some(id) = task_id() {
            self.truth.tasks.lock().unwrap().push((id.to_string(), self.polls));
        }
    }
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let truth = self.truth;

        self.polls += 1;
        truth.time(|| self.future.as_mut().poll(cx))
    }
}

fn counted<F: Future>(truth: &'static Truth, future: F) -> Counted<F> {
    Counted { truth, future: Box::pin(future), polls: 0 }
}

static QUICK: Truth = Truth::new("tokio_waits::polls::tasks::quick");
static SLEEPER: Truth = Truth::new("tokio_waits::polls::tasks::sleeper");
static BURNER: Truth = Truth::new("tokio_waits::polls::tasks::burner");
static PANICKER: Truth = Truth::new("tokio_waits::polls::tasks::panicker");
static OUTER: Truth = Truth::new("tokio_waits::polls::tasks::outer");
static INNER: Truth = Truth::new("tokio_waits::polls::tasks::inner");
static COUNTDOWN: Truth = Truth::new("tokio_waits::polls::Countdown");

/// By hand: a future without a closure.
struct Countdown(u32);

impl Future for Countdown {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        COUNTDOWN.time(|| {
            if self.0 == 0 {
                return Poll::Ready(());
            }
            self.0 -= 1;
            cx.waker().wake_by_ref();
            Poll::Pending
        })
    }
}

#[inline(never)]
fn burn(time: Duration) {
    let end = Instant::now() + time;

    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

#[inline(never)]
fn block(time: Duration) {
    std::thread::sleep(std::hint::black_box(time));
}

mod tasks {
    use super::*;

    pub async fn quick(n: u32) {
        counted(&QUICK, async {
            for _ in 0..n * 100 {
                tokio::task::yield_now().await;
            }
        })
        .await
    }

    pub async fn sleeper(n: u32) {
        counted(&SLEEPER, async {
            for _ in 0..n {
                block(Duration::from_millis(20));
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
        .await
    }

    pub async fn burner(n: u32) {
        counted(&BURNER, async {
            for _ in 0..n {
                burn(Duration::from_millis(12));
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
        .await
    }

    pub async fn panicker() {
        counted(&PANICKER, async {
            tokio::task::yield_now().await;
            std::panic::resume_unwind(Box::new("as it should"));
        })
        .await
    }

    /// Its polls have polls of a task of another kind within, on the same thread.
    pub async fn outer(n: u32) {
        counted(&OUTER, async {
            for _ in 0..n {
                {
                    let local = tokio::task::LocalSet::new();

                    local.spawn_local(inner());
                    futures_executor::block_on(local);
                }
                tokio::task::yield_now().await;
            }
        })
        .await
    }

    pub async fn inner() {
        counted(&INNER, async {
            block(Duration::from_millis(2));
            // Not yield_now(): that waits for the worker, which waits for this.
            let mut woken = false;

            std::future::poll_fn(|cx| {
                cx.waker().wake_by_ref();
                if std::mem::replace(&mut woken, true) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        })
        .await
    }
}

/// Runs all, n times of whatever takes long; what it came to, as JSON.
pub fn run(rt: &Runtime, n: u32) -> String {
    rt.block_on(async {
        let tasks = [
            tokio::spawn(tasks::quick(n)),
            tokio::spawn(tasks::quick(n)),
            tokio::spawn(tasks::sleeper(n)),
            tokio::spawn(tasks::burner(n)),
            tokio::spawn(tasks::outer(n)),
            tokio::spawn(Countdown(n * 10)),
        ];
        // Where a panic would end the program, nobody panics.
        let nr_panics = if cfg!(panic = "unwind") { n } else { 0 };
        let panics: Vec<_> = (0..nr_panics).map(|_| tokio::spawn(tasks::panicker())).collect();

        for task in panics {
            assert!(task.await.unwrap_err().is_panic());
        }
        for task in tasks {
            task.await.expect("task");
        }
    });
    let rows: Vec<String> =
        [&QUICK, &SLEEPER, &BURNER, &PANICKER, &OUTER, &INNER, &COUNTDOWN].iter().map(|t| t.json()).collect();

    format!("{{\n  {}\n}}\n", rows.join(",\n  "))
}

/// Two tasks wake each other until the end. How often, as JSON, and in each tenth of the time how often and in how much CPU
/// time of the process.
pub fn pingpong(rt: &Runtime, end: Instant) -> String {
    let tenth = (end - Instant::now()) / 10;
    let (turns, marks) = rt.block_on(async {
        let (to, mut from) = tokio::sync::mpsc::channel::<()>(1);
        let (back, mut answers) = tokio::sync::mpsc::channel::<()>(1);
        let other = tokio::spawn(async move {
            while from.recv().await.is_some() {
                back.send(()).await.ok();
            }
        });
        let turns = tokio::spawn(async move {
            let (mut turns, mut marks) = (0u64, vec![(0, super::cpu_ns())]);
            let mut next = Instant::now() + tenth;

            loop {
                let now = Instant::now();

                if now >= next {
                    marks.push((turns, super::cpu_ns()));
                    next += tenth;
                }
                if now >= end {
                    return (turns, marks);
                }
                turns += 1;
                to.send(()).await.unwrap();
                answers.recv().await.unwrap();
            }
        })
        .await
        .unwrap();

        other.await.unwrap();
        turns
    });
    let tenths: Vec<String> = marks
        .windows(2)
        .map(|m| format!("{{\"turns\": {}, \"cpu_ns\": {}}}", m[1].0 - m[0].0, m[1].1 - m[0].1))
        .collect();

    format!("{{\"turns\": {turns}, \"tenths\": [{}]}}\n", tenths.join(", "))
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! shop WORKERS SECONDS: what is to be seen in the README. One task holds a mutex while it blocks, as long as a slow disk
//! would, and others wait for the mutex: both block their workers. Prints for how many us the one held it, and the others
//! waited.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

static LEDGER: Mutex<u64> = Mutex::new(0);
static HELD_US: AtomicU64 = AtomicU64::new(0);
static WAITED_US: AtomicU64 = AtomicU64::new(0);

fn add(to: &AtomicU64, begin: Instant) {
    to.fetch_add(begin.elapsed().as_micros() as u64, Relaxed);
}

async fn audit(end: Instant) {
    while Instant::now() < end {
        {
            let mut ledger = LEDGER.lock().expect("ledger");
            let begin = Instant::now();

            thread::sleep(Duration::from_millis(40));
            add(&HELD_US, begin);
            *ledger += 1;
        }
        tokio::time::sleep(Duration::from_millis(13)).await;
    }
}

async fn login(end: Instant) {
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(13)).await;
        let begin = Instant::now();
        let mut ledger = LEDGER.lock().expect("ledger");

        add(&WAITED_US, begin);
        *ledger += 1;
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, workers, seconds] = &args[..] else { panic!("usage: shop WORKERS SECONDS") };
    let end = Instant::now() + Duration::from_secs_f64(seconds.parse().expect("SECONDS"));

    tokio_servers::runtime(workers).block_on(async {
        let mut tasks: Vec<_> = (0..2).map(|_| tokio::spawn(login(end))).collect();

        tasks.push(tokio::spawn(audit(end)));
        for task in tasks {
            task.await.expect("task");
        }
    });
    println!("{} {}", HELD_US.load(Relaxed), WAITED_US.load(Relaxed));
}

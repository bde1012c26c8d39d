// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Several runtimes in one process, as those have it that keep work apart: each with a leaf of its own.
use std::time::Instant;

use tokio::runtime::{Builder, Runtime};

use super::leaves::tasks;

const WORKERS: usize = 2;

/// A runtime of the default name, one of an own name, one without a driver for events, and in a thread "local" one of that
/// thread alone, with a LocalSet. How many workers there were.
pub fn run(end: Instant) -> usize {
    let build = |b: &mut Builder| b.worker_threads(WORKERS).build().expect("runtime");
    let usual: Runtime = build(Builder::new_multi_thread().enable_all());
    let named = build(Builder::new_multi_thread().enable_all().thread_name("named"));
    let timed = build(Builder::new_multi_thread().enable_time().thread_name("driverless"));
    let local = std::thread::Builder::new()
        .name("local".into())
        .spawn(move || {
            let rt = Builder::new_current_thread().enable_all().build().expect("runtime");
            let set = tokio::task::LocalSet::new();

            set.spawn_local(tasks::sleep_local(end));
            rt.block_on(set);
        })
        .unwrap();
    let running = [
        usual.spawn(tasks::blocking_sleep(end)),
        named.spawn(tasks::sleep_named(end)),
        named.spawn(tasks::pool_job(end)),
        timed.spawn(tasks::sleep_driverless(end)),
    ];

    usual.block_on(async {
        for task in running {
            task.await.expect("task");
        }
    });
    local.join().unwrap();
    3 * WORKERS
}

/// Two runtimes whose workers have the same name: one blocks its driver again and again, the other is idle, and its driver is
/// waited in all the time.
pub fn twins(end: Instant) -> usize {
    let build = || Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().expect("runtime");
    let (hogged, idle) = (build(), build());
    let hog = hogged.spawn(tasks::driver_hog(end));
    let late = hogged.spawn(super::ticks(end));
    let quiet = idle.spawn(async move {
        while Instant::now() < end {
            tokio::time::sleep(std::time::Duration::from_millis(7)).await;
        }
    });

    idle.block_on(async {
        for task in [hog, late, quiet] {
            task.await.expect("task");
        }
    });
    2 * WORKERS
}

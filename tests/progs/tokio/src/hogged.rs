// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! An echo that is asked as fast as it answers, by a thread that is not Tokio's, and that holds its worker for 40 ms ten times
//! a second: in turns it sleeps and computes. Nobody polls the driver meanwhile.
use std::io::{Read, Write};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;

const HOLD: Duration = Duration::from_millis(40);
const EVERY: Duration = Duration::from_millis(100);

#[inline(never)]
pub fn hold_asleep() {
    std::thread::sleep(HOLD);
    std::hint::black_box(());
}

#[inline(never)]
pub fn hold_computing() {
    let begin = Instant::now();

    while begin.elapsed() < HOLD {
        std::hint::spin_loop();
    }
    std::hint::black_box(());
}

/// Answers, how often it held its worker, and for how long in all.
async fn answer(from: std::os::unix::net::UnixStream, end: Instant) -> (u64, u64, u128) {
    let mut stream = tokio::net::UnixStream::from_std(from).expect("stream");
    let (mut answers, mut calls, mut ns) = (0u64, 0u64, 0u128);
    let mut next = Instant::now() + EVERY;
    let mut byte = [0];

    while Instant::now() < end {
        stream.read_exact(&mut byte).await.expect("read");
        let begin = Instant::now();

        if begin >= next {
            if calls % 2 == 0 {
                hold_asleep();
            } else {
                hold_computing();
            }
            ns += begin.elapsed().as_nanos();
            calls += 1;
            next = Instant::now() + EVERY;
        }
        stream.write_all(&byte).await.expect("write");
        answers += 1;
    }
    (answers, calls, ns)
}

/// What it did, as JSON.
pub fn run(rt: &Runtime, end: Instant) -> String {
    let (here, mut there) = std::os::unix::net::UnixStream::pair().expect("socketpair");

    here.set_nonblocking(true).expect("nonblocking");
    let asking = std::thread::spawn(move || {
        let mut byte = [0];

        while there.write_all(&byte).is_ok() && matches!(there.read(&mut byte), Ok(1)) {}
    });
    let (answers, calls, ns) = rt.block_on(async { tokio::spawn(answer(here, end)).await.expect("task") });

    asking.join().expect("thread");
    format!("{{\"answers\": {answers}, \"calls\": {calls}, \"ns\": {ns}}}\n")
}

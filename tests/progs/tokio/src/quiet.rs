// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Tasks that never block their worker, as those of good programs: whatever they wait for, the worker is idle meanwhile.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, Mutex};

const PAUSE: Duration = Duration::from_millis(2);
const TASKS: u64 = 4;

/// How often each has come round.
static TIMERS: AtomicU64 = AtomicU64::new(0);
static TURNS: AtomicU64 = AtomicU64::new(0);
static LOCKS: AtomicU64 = AtomicU64::new(0);
static ECHOES: AtomicU64 = AtomicU64::new(0);

mod tasks {
    use super::*;

    pub async fn timer(end: Instant, period: Duration) {
        while Instant::now() < end {
            tokio::time::sleep(period).await;
            TIMERS.fetch_add(1, Relaxed);
        }
    }

    /// A burst of messages there and back, and a pause: as many as there can be would leave nobody idle.
    pub async fn ping(end: Instant, to: mpsc::Sender<u32>, mut back: mpsc::Receiver<u32>) {
        while Instant::now() < end {
            for i in 0..8 {
                to.send(i).await.expect("pong");
                TURNS.fetch_add(back.recv().await.map_or(0, |_| 1), Relaxed);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    pub async fn pong(mut from: mpsc::Receiver<u32>, to: mpsc::Sender<u32>) {
        while let Some(i) = from.recv().await {
            if to.send(i).await.is_err() {
                break;
            }
        }
    }

    /// Held while the task waits, so that there is always one that waits for it: by its future.
    pub async fn lock(end: Instant, lock: Arc<Mutex<u32>>) {
        while Instant::now() < end {
            let mut guard = lock.lock().await;

            tokio::time::sleep(PAUSE).await;
            *guard += 1;
            LOCKS.fetch_add(1, Relaxed);
        }
    }

    pub async fn serve(mut peer: TcpStream) {
        let mut bytes = [0; 64];

        while let Ok(n @ 1..) = peer.read(&mut bytes).await {
            peer.write_all(&bytes[..n]).await.expect("echo");
        }
    }

    pub async fn ask(end: Instant, mut peer: TcpStream) {
        let mut bytes = [7; 64];

        while Instant::now() < end {
            peer.write_all(&bytes).await.expect("ask");
            peer.read_exact(&mut bytes).await.expect("answer");
            ECHOES.fetch_add(1, Relaxed);
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Runs all until the end. How often each came round, as JSON.
pub fn run(rt: &tokio::runtime::Runtime, workers: usize, end: Instant) -> String {
    let begin = Instant::now();

    rt.block_on(async {
        let mut running = Vec::new();
        let locked = Arc::new(Mutex::new(0));
        let (to, from) = mpsc::channel(1);
        let (back, answers) = mpsc::channel(1);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");

        tokio::spawn(tasks::pong(from, back));
        running.push(tokio::spawn(tasks::ping(end, to, answers)));
        for i in 0..TASKS {
            let asks = TcpStream::connect(listener.local_addr().unwrap()).await.expect("connect");

            tokio::spawn(tasks::serve(listener.accept().await.expect("accept").0));
            running.push(tokio::spawn(tasks::ask(end, asks)));
            running.push(tokio::spawn(tasks::timer(end, PAUSE * (i as u32 + 1))));
            running.push(tokio::spawn(tasks::lock(end, locked.clone())));
        }
        for task in running {
            task.await.expect("task");
        }
    });
    format!(
        "{{\"wall_ns\": {}, \"workers\": {workers}, \"timers\": {}, \"turns\": {}, \"locks\": {}, \"echoes\": {}}}\n",
        begin.elapsed().as_nanos(),
        TIMERS.load(Relaxed),
        TURNS.load(Relaxed),
        LOCKS.load(Relaxed),
        ECHOES.load(Relaxed)
    )
}

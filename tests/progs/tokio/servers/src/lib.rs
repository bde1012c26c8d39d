// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What the programs share: a runtime of as many workers as the first argument says, and a socket of which the port is
//! printed.
use std::future::Future;
use tokio::net::TcpListener;

pub fn runtime(workers: &str) -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers.parse().expect("WORKERS"))
        .enable_all()
        .build()
        .expect("runtime")
}

/// Serves until it is killed.
pub fn serve<F: Future>(server: impl FnOnce(TcpListener) -> F) {
    let workers = std::env::args().nth(1).expect("usage: SERVER WORKERS");

    runtime(&workers).block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");

        println!("{}", listener.local_addr().expect("address").port());
        server(listener).await;
    });
}

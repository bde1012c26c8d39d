// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! mini_redis WORKERS: the server of mini-redis. Prints its port.
fn main() {
    tokio_servers::serve(|listener| mini_redis::server::run(listener, std::future::pending::<()>()));
}

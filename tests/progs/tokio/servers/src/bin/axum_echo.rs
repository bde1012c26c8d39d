// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! axum_echo WORKERS: an HTTP server that sends back what it is sent. Prints its port.
use axum::{body::Bytes, http::Uri, routing::get, Router};

async fn echo_path(uri: Uri) -> String {
    uri.path().to_string()
}

async fn echo_body(body: Bytes) -> Bytes {
    body
}

fn main() {
    let app = Router::new().fallback(get(echo_path).post(echo_body));

    tokio_servers::serve(|listener| async { axum::serve(listener, app).await.expect("serve") });
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! reqwest_client WORKERS SECONDS TASKS URL: tasks that get a page again and again. Prints how often all of them had it.
use std::time::{Duration, Instant};

async fn get_often(client: reqwest::Client, url: String, end: Instant) -> u64 {
    let mut pages = 0;

    while Instant::now() < end {
        let page = client.get(&url).send().await.expect("answer").bytes().await.expect("page");

        assert!(!page.is_empty());
        pages += 1;
    }
    pages
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, workers, seconds, tasks, url] = &args[..] else {
        panic!("usage: reqwest_client WORKERS SECONDS TASKS URL")
    };
    let end = Instant::now() + Duration::from_secs_f64(seconds.parse().expect("SECONDS"));

    tokio_servers::runtime(workers).block_on(async {
        let client = reqwest::Client::new();
        let tasks: Vec<_> = (0..tasks.parse().expect("TASKS"))
            .map(|_| tokio::spawn(get_often(client.clone(), url.clone(), end)))
            .collect();
        let mut pages = 0;

        for task in tasks {
            pages += task.await.expect("task");
        }
        println!("{pages}");
    });
}

//! Load test: 200 concurrent clients get no error, and the memory of the server does not grow.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rethread_testkit::real;
use rethread_testkit::web_server::WebServer;

use crate::new_home;

const CLIENTS: usize = 200;

/// Returns the duration of the test: 2 seconds, or as set by the environment for a benchmark.
fn duration_secs() -> u64 {
    real::env_number("RETHREAD_CROWD_SECONDS").unwrap_or(2)
}

#[test]
#[expect(clippy::print_stderr, reason = "the benchmark prints its results")]
fn concurrent_requests_succeed_and_memory_stays_bounded() {
    let server = match real::env_path("RETHREAD_CROWD_STORE") {
        Some(root) => WebServer::start_at_root(new_home(), &root),
        None => WebServer::start_demo(new_home()),
    };
    let list = server.get_body("/sessions");
    let keys: Vec<&str> =
        list.split("href=\"/s/").skip(1).filter_map(|rest| rest.split(['"', '/', '?']).next()).collect();
    let mut pages: Vec<String> = ["/", "/sessions", "/search?q=the", "/search/hits?q=table", "/home/figures"]
        .map(str::to_owned)
        .into();
    for key in keys.iter().take(20) {
        pages.push(format!("/s/{key}"));
        pages.push(format!("/s/{key}/chunk?number=0"));
    }
    // Fill the caches.
    for page in &pages {
        server.get_body(page);
    }
    let before = server.memory_kb();
    let latencies = Mutex::new(Vec::new());
    let request_count = AtomicUsize::new(0);
    let end = Instant::now() + Duration::from_secs(duration_secs());
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                // A client sends at least one request, even if it starts late.
                loop {
                    let page = &pages[request_count.fetch_add(1, Ordering::Relaxed) % pages.len()];
                    let start = Instant::now();
                    let response = server.get(page);
                    assert_eq!(response.status, 200, "{page}");
                    latencies.lock().unwrap().push(start.elapsed());
                    if Instant::now() >= end {
                        break;
                    }
                }
            });
        }
    });
    let mut latencies = latencies.into_inner().unwrap();
    latencies.sort();
    let percentile = |percent: usize| latencies[(latencies.len() - 1) * percent / 100].as_millis();
    let after = server.memory_kb();
    eprintln!(
        "{} responses, p50 {} ms, p99 {} ms, memory {before:?} → {after:?} kB",
        latencies.len(),
        percentile(50),
        percentile(99)
    );
    assert!(latencies.len() >= CLIENTS, "every client got a response");
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after < before + 64 * 1024, "{before} kB before, {after} kB after");
    }
}

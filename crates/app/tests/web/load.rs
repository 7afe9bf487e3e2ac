//! Many at once: nobody is turned away, and the server does not grow.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rethread_testkit::real;

use crate::client::Site;

const CLIENTS: usize = 200;

/// How long: a moment in tests, and as long as somebody says who measures.
fn seconds() -> u64 {
    real::number("RETHREAD_CROWD_SECONDS").unwrap_or(2)
}

#[test]
#[expect(clippy::print_stderr, reason = "who measures wants to see the times")]
fn a_crowd_is_served_without_an_error_and_without_growing() {
    let site = real::folder("RETHREAD_CROWD_STORE").map_or_else(Site::demo, |root| Site::root(&root));
    let list = site.page("/sessions");
    let keys: Vec<&str> =
        list.split("href=\"/s/").skip(1).filter_map(|rest| rest.split(['"', '/', '?']).next()).collect();
    let mut pages: Vec<String> = ["/", "/sessions", "/search?q=the", "/search/hits?q=table", "/home/figures"]
        .map(str::to_owned)
        .into();
    for key in keys.iter().take(20) {
        pages.push(format!("/s/{key}"));
        pages.push(format!("/s/{key}/leaf?no=0"));
    }
    // Once around, so that what is kept is kept.
    for page in &pages {
        site.page(page);
    }
    let before = site.memory();
    let took = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let end = Instant::now() + Duration::from_secs(seconds());
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while Instant::now() < end {
                    let page = &pages[next.fetch_add(1, Ordering::Relaxed) % pages.len()];
                    let start = Instant::now();
                    let answer = site.get(page);
                    assert_eq!(answer.status, 200, "{page}");
                    took.lock().unwrap().push(start.elapsed());
                }
            });
        }
    });
    let mut took = took.into_inner().unwrap();
    took.sort();
    let at = |share: usize| took[(took.len() - 1) * share / 100].as_millis();
    let after = site.memory();
    eprintln!(
        "{} answers, p50 {} ms, p99 {} ms, memory {before:?} → {after:?} kB",
        took.len(),
        at(50),
        at(99)
    );
    assert!(took.len() >= CLIENTS, "everybody was answered");
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after < before + 64 * 1024, "{before} kB before, {after} kB after");
    }
}

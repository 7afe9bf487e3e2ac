//! **index-is-a-shortcut**: a search gives the same hits in the same order with and without an index, after any change of
//! the files.

#![expect(clippy::disallowed_methods, reason = "the test writes the store that it searches")]

mod damage;
mod random;
mod store;

use rethread_engine::core::query::Query;
use rethread_engine::ops::search::{
    CancelToken, Search, SearchRequest, open_snapshot, search_sessions, search_snapshot,
};

use rethread_testkit::script;
use store::TestStore;

#[test]
fn match_in_a_source_that_is_not_searched_is_no_hit() {
    let store = TestStore::new();
    // Both entries have an answer, and `rake` occurs in the tool call of the first only.
    store.write(
        0,
        script::bytes(
            "u1: go\n  a1: I look | !Bash find rake\n    u2: =a1 none\n      a2: a rake | !Bash ls",
        ),
    );
    let cache = store.cache();
    let lines = |query: &str, cache| -> Vec<u32> {
        let mut lines: Vec<u32> = store.search(query, cache).expect("a query").map(|hit| hit.line).collect();
        lines.sort_unstable();
        lines
    };
    for (query, expected) in [
        ("rake", &[2, 4][..]),
        ("role:assistant rake", &[4]),
        ("role:tool rake", &[2]),
        ("-role:tool rake", &[4]),
    ] {
        assert_eq!(lines(query, None), expected, "{query}");
        assert_eq!(lines(query, Some(&cache)), expected, "{query} with an index");
    }
}

#[test]
fn empty_file_has_the_same_hits_with_an_index() {
    let store = TestStore::new();
    store.write(3, "");
    let query = "\"t\" OR -\"t\"";
    assert_eq!(store.hits(query, Some(&store.cache())), store.hits(query, None));
}

/// Some threads rebuild the index while others search.
#[test]
fn concurrent_searches_give_the_same_hits() {
    let store = TestStore::new();
    let line = |idx: usize| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-{idx:012}\",\"parentUuid\":null,\"sessionId\":\"x\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"common file{} word{idx}\"}}}}\n",
            idx % 3
        )
    };
    for file in 0..3 {
        store.write(file, (0..900).filter(|idx| idx % 3 == file).map(line).collect::<String>());
    }
    let queries = ["word77", "common file1", "word8 -word81"];
    let expected = queries.map(|query| store.hits(query, None));
    assert!(expected.iter().all(|hits| !hits.is_empty()), "{expected:?}");
    let roots = store.roots();
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let (store, roots, expected) = (&store, &roots, &expected);
            scope.spawn(move || {
                for _ in 0..8 {
                    if thread % 3 == 0 {
                        // A refresh fails if another thread holds the lock.
                        let _ =
                            rethread_engine::ops::index::refresh_index(roots, &store.cache(), true, &|_| {});
                    }
                    for (query, expected) in queries.iter().zip(expected) {
                        assert_eq!(store.hits(query, Some(&store.cache())), *expected, "{query}");
                    }
                }
            });
        }
    });
}

/// A search whose time budget is exhausted reports that it is incomplete.
#[test]
fn search_stops_when_its_budget_is_exhausted() {
    let store = TestStore::new();
    let line = "{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-000000000001\",\"message\":{\"role\":\"user\",\"content\":\"word\"}}\n";
    store.write(0, line);
    let query = Query::parse("word").expect("a query");
    let roots = store.roots();
    for (seconds, is_complete) in [(0, false), (3600, true)] {
        for cache in [None, Some(store.cache())] {
            let budget = Some(std::time::Duration::from_secs(seconds));
            let request = SearchRequest { query: query.clone(), budget, ..SearchRequest::default() };
            let mut search = search_sessions(&roots, &request, cache.as_ref());
            assert_eq!(search.next().is_some(), is_complete, "{seconds}");
            assert_eq!(search.is_incomplete(), !is_complete, "{seconds}");
            assert_eq!(search.hit_count().exact, is_complete, "{seconds}");
        }
    }
}

/// A cancelled search stops even in the middle of a file.
#[test]
fn search_stops_when_it_is_cancelled() {
    let store = TestStore::new();
    let line = "{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-000000000001\",\"message\":{\"role\":\"user\",\"content\":\"word\"}}\n";
    store.write(0, line.repeat(1_000_000));
    let query = Query::parse("/wo+rd/").expect("a query");
    let roots = store.roots();
    let cancel = CancelToken::default();
    let request = SearchRequest { query, cancel: cancel.clone(), ..SearchRequest::default() };
    let mut search = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            cancel.cancel();
        });
        search_sessions(&roots, &request, None)
    });
    assert!(search.is_incomplete() && search.next().is_none());
    assert!(search.failures.is_empty(), "cancelling is not a failure: {:?}", search.failures);
}

/// A search of a snapshot misses only the lines written after the snapshot.
#[test]
fn snapshot_can_be_searched_repeatedly() {
    let store = TestStore::new();
    let line = |idx: u32, text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-00000000000{idx}\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    store.write(0, line(1, "old words") + &line(2, "older words"));
    let request = |query: &str| SearchRequest {
        query: Query::parse(query).expect("a query"),
        ..SearchRequest::default()
    };
    let count = |search: Search| search.count();
    let cache = store.cache();
    let roots = store.roots();
    assert!(open_snapshot(&roots, None).is_none(), "without an index there is no snapshot");
    let snapshot = open_snapshot(&roots, Some(&cache)).expect("an index");
    store.write(1, line(3, "new words"));
    for (query, in_snapshot, in_store) in [("words", 2, 3), ("older", 1, 1), ("new", 0, 1), ("nothing", 0, 0)]
    {
        let hit_count = count(search_snapshot(&roots, &request(query), &snapshot, Some(&cache)));
        assert_eq!(hit_count, in_snapshot, "{query}");
        assert_eq!(count(search_sessions(&roots, &request(query), Some(&cache))), in_store, "{query}");
    }
    // A removed file has no hits.
    std::fs::remove_file(store.path(0)).expect("removed");
    assert_eq!(count(search_snapshot(&roots, &request("words"), &snapshot, Some(&cache))), 0);
}

/// Index entries of removed lines are removed.
#[test]
fn index_shrinks_when_files_shrink() {
    let store = TestStore::new();
    let line = |idx: usize| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-{idx:012}\",\"message\":{{\"role\":\"user\",\"content\":\"word{idx}\"}}}}\n"
        )
    };
    let roots = store.roots();
    let mut sizes = Vec::new();
    for count in [20_000, 1, 20_000, 2] {
        store.write(0, (0..count).map(line).collect::<String>());
        assert_eq!(store.hits("word0", Some(&store.cache())).len(), 1);
        let status = rethread_engine::ops::index::index_status(&roots, &store.cache()).expect("an index");
        assert_eq!(status.entries, count as u64);
        sizes.push(status.size);
    }
    assert!(sizes[1] * 10 < sizes[0] && sizes[3] * 10 < sizes[2], "{sizes:?}");
}

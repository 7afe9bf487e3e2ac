//! **index-is-a-shortcut**: a search gives the same hits in the same order with and without an index, after any change of
//! the files.

#![expect(clippy::disallowed_methods, reason = "the test writes the store that it searches")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::{Index as Pick, select};
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::query::Query;
use rethread_engine::ops::search::{
    CancelToken, Search, SearchRequest, open_snapshot, search_sessions, search_snapshot,
};
use rethread_engine::{CacheDir, Roots};
use tempfile::TempDir;

/// Fragments of texts and queries: identifiers in every style, similar characters, scripts without spaces.
const FRAGMENTS: &[&str] = &[
    "the",
    "he",
    "ad",
    "Header",
    "getHeader",
    "parentUuid",
    "parent_uuid",
    "PARENT_UUID",
    "uuid",
    "UUID",
    "u",
    "id",
    "src/main.rs",
    "foo/bar.rs",
    "main",
    "_x_",
    "__init__",
    "a_b",
    "aB",
    "AB",
    "x1Y",
    "v2",
    "0.27",
    "27",
    "->",
    "==",
    "漢字",
    "漢",
    "字典",
    "重跑gen-itgc后",
    "カタカナ",
    "ひらがな",
    "한국어",
    "국",
    "über",
    "ÜBER",
    "straße",
    "STRASSE",
    "İstanbul",
    "ﬁx",
    "e\u{301}",
    "\u{1f600}",
    "\"",
    "\\",
    "\n",
    "<b>",
    "\u{1b}[1m",
    "aVeryLongNameThatGoesOnAndOnUntilItIsLongerThanAnyNameShouldEverBeInAProgram_orIsIt",
    "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
];

const FIELDS: &[&str] = &[
    "role:user",
    "role:assistant",
    "role:tool",
    "role:thinking",
    "role:summary",
    "role:context",
    "-role:tool",
    "tool:Bash",
    "tool:read",
    "tool:github",
    "-tool:Bash",
    "file:main",
    "file:src/",
    "model:opus",
    "branch:main",
    "project:shed",
    "project:nowhere",
    "session:aaaa",
    "error:yes",
    "error:no",
    "is:active",
    "is:abandoned",
    "is:compacted",
    "is:subagent",
    "-is:active",
    "since:3",
    "until:5",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec((select(FRAGMENTS), select(&["", " ", " ", "_", "/"][..])), 1..6)
        .prop_map(|parts| parts.into_iter().flat_map(|(fragment, separator)| [fragment, separator]).collect())
}

/// Generates a text to search for: a whole text or a substring.
fn search_text() -> impl Strategy<Value = String> {
    (text(), any::<Pick>(), any::<Pick>(), any::<bool>()).prop_map(|(text, from, to, is_whole)| {
        let chars: Vec<char> = text.trim().chars().collect();
        if is_whole || chars.is_empty() {
            return text;
        }
        let (from, to) = (from.index(chars.len()), to.index(chars.len()));
        chars[from.min(to)..=from.max(to)].iter().collect()
    })
}

fn literal() -> impl Strategy<Value = String> {
    let quote = |text: String| format!("\"{}\"", text.replace('"', "\"\""));
    prop_oneof![
        6 => search_text().prop_map(quote),
        1 => search_text().prop_map(move |text| format!("-{}", quote(text))),
        3 => select(FIELDS).prop_map(str::to_owned),
        1 => select(&["/the|uuid/", "/[a-z]+_[a-z]+/", "/^.漢/"][..]).prop_map(str::to_owned),
    ]
}

fn query() -> impl Strategy<Value = String> {
    let group = prop::collection::vec(literal(), 1..3).prop_map(|literals| literals.join(" OR "));
    prop::collection::vec(group, 1..4).prop_map(|groups| groups.join(" "))
}

/// A line of a session.
#[derive(Debug, Clone)]
struct LineSpec {
    kind: u8,
    text: String,
    parent: Pick,
    uuid: u16,
    day: u8,
    /// 1 for a sidechain entry, 2 for a failed tool result.
    flag: u8,
}

fn line_spec() -> impl Strategy<Value = LineSpec> {
    (0..12u8, text(), any::<Pick>(), 0..400u16, 0..8u8, 0..40u8)
        .prop_map(|(kind, text, parent, uuid, day, flag)| LineSpec { kind, text, parent, uuid, day, flag })
}

fn write_line(spec: &LineSpec, previous_uuids: &[u16], session: &str) -> String {
    let text = serde_json::to_string(&spec.text).expect("a string");
    let uuid = |number: u16| format!("00000000-0000-4000-8000-{number:012}");
    let parent = previous_uuids
        .get(spec.parent.index(previous_uuids.len() + 1))
        .map_or("null".to_owned(), |number| format!("\"{}\"", uuid(*number)));
    let common = format!(
        "\"uuid\":\"{}\",\"parentUuid\":{parent},\"sessionId\":\"{session}\",\"timestamp\":\"2026-01-0{}T00:00:00.000Z\",\"cwd\":\"/home/ada/shed\",\"gitBranch\":\"main\",\"version\":\"2.1.104\",\"isSidechain\":{}",
        uuid(spec.uuid),
        spec.day + 1,
        spec.flag == 1,
    );
    let tool = ["Bash", "Read", "mcp__github__search"][usize::from(spec.day) % 3];
    let call_id = spec.uuid % 7;
    match spec.kind {
        0 | 1 => {
            format!("{{\"type\":\"user\",{common},\"message\":{{\"role\":\"user\",\"content\":{text}}}}}")
        }
        2 | 3 => format!(
            "{{\"type\":\"assistant\",{common},\"message\":{{\"id\":\"msg_{}\",\"model\":\"opus\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}",
            spec.uuid
        ),
        4 => format!(
            "{{\"type\":\"assistant\",{common},\"message\":{{\"id\":\"msg_{}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"thinking\",\"thinking\":{text}}}]}}}}",
            spec.uuid
        ),
        5 | 6 => format!(
            "{{\"type\":\"assistant\",{common},\"message\":{{\"id\":\"msg_{}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"then\"}},{{\"type\":\"tool_use\",\"id\":\"toolu_{call_id}\",\"name\":\"{tool}\",\"input\":{{\"command\":{text},\"file_path\":\"/home/ada/src/main.rs\"}}}}]}}}}",
            spec.uuid
        ),
        7 | 8 => format!(
            "{{\"type\":\"user\",{common},\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_{call_id}\",\"is_error\":{},\"content\":{text}}}]}}}}",
            spec.flag == 2
        ),
        9 => format!("{{\"type\":\"system\",{common},\"subtype\":\"compact_boundary\",\"content\":{text}}}"),
        10 => format!("{{\"type\":\"custom-title\",\"customTitle\":{text},\"sessionId\":\"{session}\"}}"),
        _ => format!(
            "{{\"type\":\"attachment\",{common},\"attachment\":{{\"type\":\"file\",\"content\":{text}}}}}"
        ),
    }
}

fn write_lines(specs: &[LineSpec], session: &str) -> String {
    let mut previous_uuids = Vec::new();
    let mut text = String::new();
    for spec in specs {
        let _ = writeln!(text, "{}", write_line(spec, &previous_uuids, session));
        previous_uuids.push(spec.uuid);
    }
    text
}

const FILES: [&str; 4] = [
    "-home-ada-shed/aaaaaaaa-0000-4000-8000-000000000001.jsonl",
    "-home-ada-shed/bbbbbbbb-0000-4000-8000-000000000002.jsonl",
    "-home-ada-shed/aaaaaaaa-0000-4000-8000-000000000001/subagents/agent-x.jsonl",
    "-home-ada-shed/aaaaaaaa-0000-4000-8000-000000000001/tool-results/big.txt",
];

/// A change of a file between two searches.
#[derive(Debug, Clone)]
enum Change {
    /// Appends lines. With `true`, the last one is not terminated.
    Append(usize, Vec<LineSpec>, bool),
    Rewrite(usize, Vec<LineSpec>),
    Truncate(usize, Pick),
    Remove(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let specs = || prop::collection::vec(line_spec(), 0..8);
    prop_oneof![
        4 => (0..FILES.len(), specs(), any::<bool>())
            .prop_map(|(file, specs, unterminated)| Change::Append(file, specs, unterminated)),
        2 => (0..FILES.len(), specs()).prop_map(|(file, specs)| Change::Rewrite(file, specs)),
        1 => (0..FILES.len(), any::<Pick>()).prop_map(|(file, at)| Change::Truncate(file, at)),
        1 => (0..FILES.len()).prop_map(Change::Remove),
    ]
}

struct TestStore {
    folder: TempDir,
}

impl TestStore {
    fn new() -> TestStore {
        TestStore { folder: tempfile::tempdir().expect("a folder") }
    }

    fn roots(&self) -> Roots {
        Roots { paths: vec![self.folder.path().join("projects")] }
    }

    fn path(&self, file: usize) -> PathBuf {
        self.folder.path().join("projects").join(FILES[file])
    }

    fn apply_change(&self, change: &Change) {
        let session_id = |file: usize| &FILES[file][15..51];
        match change {
            Change::Append(file, specs, unterminated) => {
                let path = self.path(*file);
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                let mut text = write_lines(specs, session_id(*file));
                if *unterminated {
                    // The next append may continue the last line.
                    text.pop();
                }
                let mut options = std::fs::OpenOptions::new();
                let mut file = options.append(true).create(true).open(path).expect("a file");
                file.write_all(text.as_bytes()).expect("written");
            }
            Change::Rewrite(file, specs) => {
                let path = self.path(*file);
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                std::fs::write(path, write_lines(specs, session_id(*file))).expect("written");
            }
            Change::Truncate(file, at) => {
                let path = self.path(*file);
                if let Ok(bytes) = std::fs::read(&path) {
                    std::fs::write(path, &bytes[..at.index(bytes.len() + 1)]).expect("written");
                }
            }
            Change::Remove(file) => {
                let _ = std::fs::remove_file(self.path(*file));
            }
        }
    }

    /// Counts the hits by session, with `group_by_session` or by iteration.
    fn count_by_session(&self, query: &str, cache: &CacheDir, grouped: bool) -> Vec<(PathBuf, usize)> {
        let Some(mut search) = self.search(query, Some(cache)) else { return Vec::new() };
        if grouped {
            return search
                .group_by_session()
                .into_iter()
                .map(|group| (group.best.session_path, group.hit_count))
                .collect();
        }
        let mut counts: Vec<(PathBuf, usize)> = Vec::new();
        for hit in search.by_ref() {
            match counts.iter_mut().find(|(path, _)| *path == hit.session_path) {
                Some((_, hits)) => *hits += 1,
                None => counts.push((hit.session_path, 1)),
            }
        }
        counts
    }

    fn cache(&self) -> CacheDir {
        CacheDir::new(self.folder.path().join("cache"))
    }

    fn search(&self, query: &str, cache: Option<&CacheDir>) -> Option<Search> {
        let parse_day =
            |day: &str| Some(Timestamp(1_767_225_600_000 + 86_400_000 * (day.parse::<i64>().ok()? - 1)));
        let query = Query::parse_with_times(query, &parse_day).ok()?;
        Some(search_sessions(&self.roots(), &SearchRequest { query, ..SearchRequest::default() }, cache))
    }

    /// Returns every hit as text: position, score and highlighted words. Panics if there are warnings.
    fn hits(&self, query: &str, cache: Option<&CacheDir>) -> Vec<String> {
        let (hits, warning_count) = self.hits_and_warnings(query, cache);
        assert_eq!(warning_count, 0);
        hits
    }

    /// Returns the hits as text and the number of warnings.
    fn hits_and_warnings(&self, query: &str, cache: Option<&CacheDir>) -> (Vec<String>, usize) {
        let Some(mut search) = self.search(query, cache) else { return Default::default() };
        let hit_count = search.hit_count();
        let mut hits = Vec::new();
        for hit in search.by_ref() {
            let copies: Vec<String> =
                hit.copies.iter().map(|copy| format_position(&copy.path, copy.line)).collect();
            let words: Vec<&str> =
                hit.excerpt.marks.iter().map(|mark| &hit.excerpt.text[mark.clone()]).collect();
            let position = format_position(&hit.path, hit.line);
            hits.push(format!(
                "{position} {} {:?} {:?} {:?} {copies:?} {words:?}",
                hit.score, hit.turn, hit.context_status, hit.time
            ));
        }
        let warning_count = search.warnings.len();
        let warning_count = warning_count + usize::from(search.finish().is_some());
        assert!(
            if hit_count.exact { hit_count.hits == hits.len() } else { hit_count.hits >= hits.len() },
            "{hit_count:?} {}",
            hits.len()
        );
        (hits, warning_count)
    }
}

fn format_position(path: &Path, line: u32) -> String {
    format!("{}:{line}", path.file_name().expect("a name").to_string_lossy())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn index_gives_the_same_hits_after_any_change(
        changes in prop::collection::vec((change(), prop::collection::vec(query(), 1..6)), 1..6),
    ) {
        let store = TestStore::new();
        std::fs::create_dir_all(store.folder.path().join("projects")).expect("a folder");
        let cache = store.cache();
        for (change, queries) in &changes {
            store.apply_change(change);
            for query in queries {
                prop_assert_eq!(store.hits(query, Some(&cache)), store.hits(query, None), "{}", query);
                let counts = [true, false].map(|grouped| store.count_by_session(query, &cache, grouped));
                prop_assert_eq!(&counts[0], &counts[1], "{}", query);
            }
        }
    }
}

/// Damages every page of every index file in turn.
#[test]
fn damaged_index_page_loses_no_hit() {
    let store = TestStore::new();
    let mut text = String::new();
    for idx in 0..9000 {
        let words = format!("common word{idx} parentUuid{idx} 漢字");
        let content = if idx % 3 == 0 {
            format!(
                "[{{\"type\":\"tool_use\",\"id\":\"toolu_{idx}\",\"name\":\"Bash\",\"input\":{{\"command\":\"{words}\"}}}}]"
            )
        } else {
            format!("\"{words}\"")
        };
        let _ = writeln!(
            text,
            "{{\"type\":\"assistant\",\"uuid\":\"00000000-0000-4000-8000-{idx:012}\",\"parentUuid\":null,\"sessionId\":\"x\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"assistant\",\"content\":{content}}}}}"
        );
    }
    let path = store.path(0);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, text).expect("written");
    let cache = store.cache();
    let queries = [
        "word8999",
        "parentuuid12",
        "common tool:Bash word77",
        "\"parentUuid5 漢\"",
        "is:abandoned word4242",
    ];
    let expected = queries.map(|query| store.hits(query, None));
    assert!(expected.iter().all(|hits| !hits.is_empty()), "{expected:?}");
    let list_files = |store: &TestStore| -> Vec<PathBuf> {
        let read_dir = |folder: PathBuf| {
            std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        };
        let folder = read_dir(store.folder.path().join("cache/2")).next().expect("an index");
        let mut files: Vec<PathBuf> =
            read_dir(folder).filter(|path| path.extension().is_none_or(|ext| ext == "words")).collect();
        files.sort();
        files
    };
    store.hits(queries[0], Some(&cache));
    let file_count = list_files(&store).len();
    let mut damaged_pages = 0;
    for file_idx in 0..file_count {
        for page in 0.. {
            let file = list_files(&store).swap_remove(file_idx);
            let mut bytes = std::fs::read(&file).expect("a file");
            let offset = page * 65_536 + 100;
            let Some(byte) = bytes.get_mut(offset) else { break };
            *byte ^= 0x55;
            std::fs::write(&file, bytes).expect("written");
            damaged_pages += 1;
            for (query, expected) in queries.iter().zip(&expected) {
                let (hits, warning_count) = store.hits_and_warnings(query, Some(&cache));
                assert_eq!(hits, *expected, "{query} {} {offset}", file.display());
                assert!(warning_count <= 1, "{query} {} {offset}: {warning_count} warnings", file.display());
            }
            // A page that no query read is still damaged, so the index is rebuilt.
            let roots = store.roots();
            rethread_engine::ops::index::refresh_index(&roots, &cache, true, &|_| {})
                .expect("the index can be built");
            store.hits(queries[0], Some(&cache));
        }
    }
    assert!(damaged_pages > 8, "{damaged_pages}");
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
        let path = store.path(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let lines: String = (0..900).filter(|idx| idx % 3 == file).map(line).collect();
        std::fs::write(path, lines).expect("written");
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
    let path = store.path(0);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let line = "{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-000000000001\",\"message\":{\"role\":\"user\",\"content\":\"word\"}}\n";
    std::fs::write(path, line).expect("written");
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
    let path = store.path(0);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let line = "{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-000000000001\",\"message\":{\"role\":\"user\",\"content\":\"word\"}}\n";
    std::fs::write(path, line.repeat(1_000_000)).expect("written");
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
    let path = store.path(0);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let line = |idx: u32, text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-00000000000{idx}\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    std::fs::write(&path, line(1, "old words") + &line(2, "older words")).expect("written");
    let request = |query: &str| SearchRequest {
        query: Query::parse(query).expect("a query"),
        ..SearchRequest::default()
    };
    let count = |search: Search| search.count();
    let cache = store.cache();
    let roots = store.roots();
    assert!(open_snapshot(&roots, None).is_none(), "without an index there is no snapshot");
    let snapshot = open_snapshot(&roots, Some(&cache)).expect("an index");
    std::fs::write(store.path(1), line(3, "new words")).expect("written");
    for (query, in_snapshot, in_store) in [("words", 2, 3), ("older", 1, 1), ("new", 0, 1), ("nothing", 0, 0)]
    {
        let hit_count = count(search_snapshot(&roots, &request(query), &snapshot, Some(&cache)));
        assert_eq!(hit_count, in_snapshot, "{query}");
        assert_eq!(count(search_sessions(&roots, &request(query), Some(&cache))), in_store, "{query}");
    }
    // A removed file has no hits.
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(count(search_snapshot(&roots, &request("words"), &snapshot, Some(&cache))), 0);
}

/// Index entries of removed lines are removed.
#[test]
fn index_shrinks_when_files_shrink() {
    let store = TestStore::new();
    let path = store.path(0);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let line = |idx: usize| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-{idx:012}\",\"message\":{{\"role\":\"user\",\"content\":\"word{idx}\"}}}}\n"
        )
    };
    let roots = store.roots();
    let mut sizes = Vec::new();
    for count in [20_000, 1, 20_000, 2] {
        std::fs::write(&path, (0..count).map(line).collect::<String>()).expect("written");
        assert_eq!(store.hits("word0", Some(&store.cache())).len(), 1);
        let status = rethread_engine::ops::index::index_status(&roots, &store.cache()).expect("an index");
        assert_eq!(status.entries, count as u64);
        sizes.push(status.size);
    }
    assert!(sizes[1] * 10 < sizes[0] && sizes[3] * 10 < sizes[2], "{sizes:?}");
}

//! **index-is-a-shortcut**: a search finds the same with an index and without, in the same order, whatever happened to the
//! files since the index was made.

#![expect(clippy::disallowed_methods, reason = "the test writes the store that it searches")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::{Index as Pick, select};
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::query::Query;
use rethread_engine::ops::{CancelToken, Search, SearchRequest, search, search_snapshot, stacks};
use rethread_engine::{CacheDir, Roots};
use tempfile::TempDir;

/// Pieces that texts and queries are made of: names in every style, what looks alike, what has no spaces.
const PIECES: &[&str] = &[
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

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec((select(PIECES), select(&["", " ", " ", "_", "/"][..])), 1..6)
        .prop_map(|pieces| pieces.into_iter().flat_map(|(piece, gap)| [piece, gap]).collect())
}

/// What is looked for: a piece, or a part of one.
fn needle() -> impl Strategy<Value = String> {
    (words(), any::<Pick>(), any::<Pick>(), any::<bool>()).prop_map(|(words, from, to, whole)| {
        let chars: Vec<char> = words.trim().chars().collect();
        if whole || chars.is_empty() {
            return words;
        }
        let (from, to) = (from.index(chars.len()), to.index(chars.len()));
        chars[from.min(to)..=from.max(to)].iter().collect()
    })
}

fn atom() -> impl Strategy<Value = String> {
    let quoted = |words: String| format!("\"{}\"", words.replace('"', "\"\""));
    prop_oneof![
        6 => needle().prop_map(quoted),
        1 => needle().prop_map(move |words| format!("-{}", quoted(words))),
        3 => select(FIELDS).prop_map(str::to_owned),
        1 => select(&["/the|uuid/", "/[a-z]+_[a-z]+/", "/^.漢/"][..]).prop_map(str::to_owned),
    ]
}

fn query() -> impl Strategy<Value = String> {
    let group = prop::collection::vec(atom(), 1..3).prop_map(|atoms| atoms.join(" OR "));
    prop::collection::vec(group, 1..4).prop_map(|groups| groups.join(" "))
}

/// A line of a session.
#[derive(Debug, Clone)]
struct Said {
    kind: u8,
    words: String,
    parent: Pick,
    uuid: u16,
    time: u8,
    odd: u8,
}

fn said() -> impl Strategy<Value = Said> {
    (0..12u8, words(), any::<Pick>(), 0..400u16, 0..8u8, 0..40u8)
        .prop_map(|(kind, words, parent, uuid, time, odd)| Said { kind, words, parent, uuid, time, odd })
}

fn line(said: &Said, before: &[u16], session: &str) -> String {
    let text = serde_json::to_string(&said.words).expect("a string");
    let uuid = |no: u16| format!("00000000-0000-4000-8000-{no:012}");
    let parent = before
        .get(said.parent.index(before.len() + 1))
        .map_or("null".to_owned(), |no| format!("\"{}\"", uuid(*no)));
    let frame = format!(
        "\"uuid\":\"{}\",\"parentUuid\":{parent},\"sessionId\":\"{session}\",\"timestamp\":\"2026-01-0{}T00:00:00.000Z\",\"cwd\":\"/home/ada/shed\",\"gitBranch\":\"main\",\"version\":\"2.1.104\",\"isSidechain\":{}",
        uuid(said.uuid),
        said.time + 1,
        said.odd == 1,
    );
    let tool = ["Bash", "Read", "mcp__github__search"][usize::from(said.time) % 3];
    let id = said.uuid % 7;
    match said.kind {
        0 | 1 => {
            format!("{{\"type\":\"user\",{frame},\"message\":{{\"role\":\"user\",\"content\":{text}}}}}")
        }
        2 | 3 => format!(
            "{{\"type\":\"assistant\",{frame},\"message\":{{\"id\":\"msg_{}\",\"model\":\"opus\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}",
            said.uuid
        ),
        4 => format!(
            "{{\"type\":\"assistant\",{frame},\"message\":{{\"id\":\"msg_{}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"thinking\",\"thinking\":{text}}}]}}}}",
            said.uuid
        ),
        5 | 6 => format!(
            "{{\"type\":\"assistant\",{frame},\"message\":{{\"id\":\"msg_{}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"then\"}},{{\"type\":\"tool_use\",\"id\":\"toolu_{id}\",\"name\":\"{tool}\",\"input\":{{\"command\":{text},\"file_path\":\"/home/ada/src/main.rs\"}}}}]}}}}",
            said.uuid
        ),
        7 | 8 => format!(
            "{{\"type\":\"user\",{frame},\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_{id}\",\"is_error\":{},\"content\":{text}}}]}}}}",
            said.odd == 2
        ),
        9 => format!("{{\"type\":\"system\",{frame},\"subtype\":\"compact_boundary\",\"content\":{text}}}"),
        10 => format!("{{\"type\":\"custom-title\",\"customTitle\":{text},\"sessionId\":\"{session}\"}}"),
        _ => format!(
            "{{\"type\":\"attachment\",{frame},\"attachment\":{{\"type\":\"file\",\"content\":{text}}}}}"
        ),
    }
}

fn session(said: &[Said], session: &str) -> String {
    let mut before = Vec::new();
    let mut text = String::new();
    for one in said {
        let _ = writeln!(text, "{}", line(one, &before, session));
        before.push(one.uuid);
    }
    text
}

const FILES: [&str; 4] = [
    "-home-ada-shed/aaaaaaaa-0000-4000-8000-000000000001.jsonl",
    "-home-ada-shed/bbbbbbbb-0000-4000-8000-000000000002.jsonl",
    "-home-ada-shed/aaaaaaaa-0000-4000-8000-000000000001/subagents/agent-x.jsonl",
    "-home-ada-shed/aaaaaaaa-0000-4000-8000-000000000001/tool-results/big.txt",
];

/// Something that happens to a file between two searches.
#[derive(Debug, Clone)]
enum Event {
    Append(usize, Vec<Said>, bool),
    Rewrite(usize, Vec<Said>),
    Cut(usize, Pick),
    Remove(usize),
}

fn event() -> impl Strategy<Value = Event> {
    let some = || prop::collection::vec(said(), 0..8);
    prop_oneof![
        4 => (0..FILES.len(), some(), any::<bool>()).prop_map(|(file, said, torn)| Event::Append(file, said, torn)),
        2 => (0..FILES.len(), some()).prop_map(|(file, said)| Event::Rewrite(file, said)),
        1 => (0..FILES.len(), any::<Pick>()).prop_map(|(file, at)| Event::Cut(file, at)),
        1 => (0..FILES.len()).prop_map(Event::Remove),
    ]
}

struct Store {
    folder: TempDir,
}

impl Store {
    fn path(&self, file: usize) -> PathBuf {
        self.folder.path().join("projects").join(FILES[file])
    }

    fn happen(&self, event: &Event) {
        let session_of = |file: usize| &FILES[file][15..51];
        match event {
            Event::Append(file, said, torn) => {
                let path = self.path(*file);
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                let mut text = session(said, session_of(*file));
                if *torn {
                    // The last line lacks its end: it may go on.
                    text.pop();
                }
                let mut open = std::fs::OpenOptions::new();
                let mut file = open.append(true).create(true).open(path).expect("a file");
                file.write_all(text.as_bytes()).expect("written");
            }
            Event::Rewrite(file, said) => {
                let path = self.path(*file);
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                std::fs::write(path, session(said, session_of(*file))).expect("written");
            }
            Event::Cut(file, at) => {
                let path = self.path(*file);
                if let Ok(bytes) = std::fs::read(&path) {
                    std::fs::write(path, &bytes[..at.index(bytes.len() + 1)]).expect("written");
                }
            }
            Event::Remove(file) => {
                let _ = std::fs::remove_file(self.path(*file));
            }
        }
    }

    /// Counts the hits of each session, one by one or at once.
    fn by_session(&self, query: &str, index: &CacheDir, at_once: bool) -> Vec<(PathBuf, usize)> {
        let Some(mut search) = self.search(query, Some(index)) else { return Vec::new() };
        if at_once {
            return search.by_session().into_iter().map(|one| (one.best.session_path, one.hits)).collect();
        }
        let mut counts: Vec<(PathBuf, usize)> = Vec::new();
        while let Some(hit) = search.next_hit() {
            match counts.iter_mut().find(|(path, _)| *path == hit.session_path) {
                Some((_, hits)) => *hits += 1,
                None => counts.push((hit.session_path, 1)),
            }
        }
        counts
    }

    fn cache(&self) -> CacheDir {
        CacheDir::at(self.folder.path().join("cache"))
    }

    fn search(&self, query: &str, index: Option<&CacheDir>) -> Option<Search> {
        let day =
            |day: &str| Some(Timestamp(1_767_225_600_000 + 86_400_000 * (day.parse::<i64>().ok()? - 1)));
        let query = Query::parse(query, &day).ok()?;
        let roots = Roots { paths: vec![self.folder.path().join("projects")] };
        Some(search(
            &SearchRequest { roots, query, all: false, budget: None, halt: CancelToken::default() },
            index,
        ))
    }

    /// Returns every hit as text: where, how good, and what of it is shown.
    fn hits(&self, query: &str, index: Option<&CacheDir>) -> Vec<String> {
        let (hits, notices) = self.hits_and_notices(query, index);
        assert_eq!(notices, 0);
        hits
    }

    /// Returns the hits, and how many things were said of the index.
    fn hits_and_notices(&self, query: &str, index: Option<&CacheDir>) -> (Vec<String>, usize) {
        let Some(mut search) = self.search(query, index) else { return Default::default() };
        let said = search.total();
        let mut hits = Vec::new();
        while let Some(hit) = search.next_hit() {
            let copies: Vec<String> = hit.copies.iter().map(|copy| name(&copy.path, copy.line)).collect();
            let words: Vec<&str> =
                hit.excerpt.marks.iter().map(|mark| &hit.excerpt.text[mark.clone()]).collect();
            let place = name(&hit.path, hit.line);
            hits.push(format!(
                "{place} {} {:?} {:?} {:?} {copies:?} {words:?}",
                hit.score, hit.turn, hit.standing, hit.time
            ));
        }
        let notices = search.notices.len();
        let notices = notices + usize::from(search.finish().is_some());
        assert!(
            if said.exact { said.hits == hits.len() } else { said.hits >= hits.len() },
            "{said:?} {}",
            hits.len()
        );
        (hits, notices)
    }
}

fn name(path: &Path, line: u32) -> String {
    format!("{}:{line}", path.file_name().expect("a name").to_string_lossy())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn index_is_a_shortcut(
        events in prop::collection::vec((event(), prop::collection::vec(query(), 1..6)), 1..6),
    ) {
        let store = Store { folder: tempfile::tempdir().expect("a folder") };
        std::fs::create_dir_all(store.folder.path().join("projects")).expect("a folder");
        let index = store.cache();
        for (event, queries) in &events {
            store.happen(event);
            for query in queries {
                prop_assert_eq!(store.hits(query, Some(&index)), store.hits(query, None), "{}", query);
                let counted = [true, false].map(|at_once| store.by_session(query, &index, at_once));
                prop_assert_eq!(&counted[0], &counted[1], "{}", query);
            }
        }
    }
}

/// Every page of every file of the index is damaged in turn: the hits stay, and the index heals.
#[test]
fn a_damaged_page_costs_no_hit() {
    let store = Store { folder: tempfile::tempdir().expect("a folder") };
    let mut text = String::new();
    for no in 0..9000 {
        let words = format!("common word{no} parentUuid{no} 漢字");
        let content = if no % 3 == 0 {
            format!(
                "[{{\"type\":\"tool_use\",\"id\":\"toolu_{no}\",\"name\":\"Bash\",\"input\":{{\"command\":\"{words}\"}}}}]"
            )
        } else {
            format!("\"{words}\"")
        };
        let _ = writeln!(
            text,
            "{{\"type\":\"assistant\",\"uuid\":\"00000000-0000-4000-8000-{no:012}\",\"parentUuid\":null,\"sessionId\":\"x\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"assistant\",\"content\":{content}}}}}"
        );
    }
    let path = store.path(0);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, text).expect("written");
    let index = store.cache();
    let queries = [
        "word8999",
        "parentuuid12",
        "common tool:Bash word77",
        "\"parentUuid5 漢\"",
        "is:abandoned word4242",
    ];
    let right = queries.map(|query| store.hits(query, None));
    assert!(right.iter().all(|hits| !hits.is_empty()), "{right:?}");
    let files = |store: &Store| -> Vec<PathBuf> {
        let walk = |folder: PathBuf| {
            std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        };
        let folder = walk(store.folder.path().join("cache/2")).next().expect("an index");
        let mut files: Vec<PathBuf> =
            walk(folder).filter(|path| path.extension().is_none_or(|ext| ext == "words")).collect();
        files.sort();
        files
    };
    store.hits(queries[0], Some(&index));
    let count = files(&store).len();
    let mut damaged = 0;
    for no in 0..count {
        for page in 0.. {
            let file = files(&store).swap_remove(no);
            let mut bytes = std::fs::read(&file).expect("a file");
            let at = page * 65_536 + 100;
            let Some(byte) = bytes.get_mut(at) else { break };
            *byte ^= 0x55;
            std::fs::write(&file, bytes).expect("written");
            damaged += 1;
            for (query, right) in queries.iter().zip(&right) {
                let (hits, notices) = store.hits_and_notices(query, Some(&index));
                assert_eq!(hits, *right, "{query} {} {at}", file.display());
                assert!(notices <= 1, "{query} {} {at}: {notices} notices", file.display());
            }
            // A page that nobody asked for is still damaged: all is made anew for the next.
            let roots = Roots { paths: vec![store.folder.path().join("projects")] };
            rethread_engine::ops::refresh_index(&roots, &index, true, &|_| {}).expect("it can be made");
            store.hits(queries[0], Some(&index));
        }
    }
    assert!(damaged > 8, "{damaged}");
}

/// Some processes make the index anew, others search: each finds what reading finds.
#[test]
fn many_at_once_find_the_same() {
    let store = Store { folder: tempfile::tempdir().expect("a folder") };
    let said = |no: usize| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-{no:012}\",\"parentUuid\":null,\"sessionId\":\"x\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"common file{} word{no}\"}}}}\n",
            no % 3
        )
    };
    for file in 0..3 {
        let path = store.path(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let lines: String = (0..900).filter(|no| no % 3 == file).map(said).collect();
        std::fs::write(path, lines).expect("written");
    }
    let queries = ["word77", "common file1", "word8 -word81"];
    let right = queries.map(|query| store.hits(query, None));
    assert!(right.iter().all(|hits| !hits.is_empty()), "{right:?}");
    let roots = Roots { paths: vec![store.folder.path().join("projects")] };
    std::thread::scope(|scope| {
        for hand in 0..6 {
            let (store, roots, right) = (&store, &roots, &right);
            scope.spawn(move || {
                for _ in 0..8 {
                    if hand % 3 == 0 {
                        // Who finds another at it does not wait.
                        let _ = rethread_engine::ops::refresh_index(roots, &store.cache(), true, &|_| {});
                    }
                    for (query, right) in queries.iter().zip(right) {
                        assert_eq!(store.hits(query, Some(&store.cache())), *right, "{query}");
                    }
                }
            });
        }
    });
}

/// Whoever has little time is told what was found by then, and that it is not all.
#[test]
fn a_search_ends_when_its_time_is_over() {
    let store = Store { folder: tempfile::tempdir().expect("a folder") };
    let path = store.path(0);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let line = "{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-000000000001\",\"message\":{\"role\":\"user\",\"content\":\"word\"}}\n";
    std::fs::write(path, line).expect("written");
    let query = Query::parse("word", &|_| None).expect("a query");
    let roots = Roots { paths: vec![store.folder.path().join("projects")] };
    for (seconds, found) in [(0, false), (3600, true)] {
        for index in [None, Some(store.cache())] {
            let budget = Some(std::time::Duration::from_secs(seconds));
            let halt = CancelToken::default();
            let request =
                SearchRequest { roots: roots.clone(), query: query.clone(), all: false, budget, halt };
            let mut search = search(&request, index.as_ref());
            assert_eq!(search.next_hit().is_some(), found, "{seconds}");
            assert_eq!(search.timed_out(), !found, "{seconds}");
            assert_eq!(search.total().exact, found, "{seconds}");
        }
    }
}

/// Who does not wait any more stops the search, also in the middle of a file.
#[test]
fn a_search_ends_when_it_is_stopped() {
    let store = Store { folder: tempfile::tempdir().expect("a folder") };
    let path = store.path(0);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let line = "{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-000000000001\",\"message\":{\"role\":\"user\",\"content\":\"word\"}}\n";
    std::fs::write(path, line.repeat(1_000_000)).expect("written");
    let query = Query::parse("/wo+rd/", &|_| None).expect("a query");
    let roots = Roots { paths: vec![store.folder.path().join("projects")] };
    let halt = CancelToken::default();
    let request = SearchRequest { roots, query, all: false, budget: None, halt: halt.clone() };
    let mut stopped = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            halt.stop();
        });
        search(&request, None)
    });
    assert!(stopped.timed_out() && stopped.next_hit().is_none());
    assert!(stopped.failures.is_empty(), "to be stopped is no failure: {:?}", stopped.failures);
}

/// What one search has looked through serves another; only what was written since is missing.
#[test]
fn what_was_looked_through_is_searched_again() {
    let store = Store { folder: tempfile::tempdir().expect("a folder") };
    let path = store.path(0);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let line = |no: u32, words: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-00000000000{no}\",\"message\":{{\"role\":\"user\",\"content\":\"{words}\"}}}}\n"
        )
    };
    std::fs::write(&path, line(1, "old words") + &line(2, "older words")).expect("written");
    let request = |words: &str| SearchRequest {
        roots: Roots { paths: vec![store.folder.path().join("projects")] },
        query: Query::parse(words, &|_| None).expect("a query"),
        all: false,
        budget: None,
        halt: CancelToken::default(),
    };
    let count = |mut search: Search| std::iter::from_fn(|| search.next_hit()).count();
    let index = store.cache();
    let roots = request("words").roots;
    assert!(stacks(&roots, None).is_none(), "without an index there is nothing to keep");
    let stacks = stacks(&roots, Some(&index)).expect("an index");
    std::fs::write(store.path(1), line(3, "new words")).expect("written");
    for (words, again, anew) in [("words", 2, 3), ("older", 1, 1), ("new", 0, 1), ("nothing", 0, 0)] {
        assert_eq!(count(search_snapshot(&request(words), &stacks, Some(&index))), again, "{words}");
        assert_eq!(count(search(&request(words), Some(&index))), anew, "{words}");
    }
    // What is gone is no hit, and no failure either.
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(count(search_snapshot(&request("words"), &stacks, Some(&index))), 0);
}

/// What was indexed of a file that is no longer so does not stay for ever.
#[test]
fn an_index_is_no_larger_than_what_is_there() {
    let store = Store { folder: tempfile::tempdir().expect("a folder") };
    let path = store.path(0);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let line = |no: usize| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-{no:012}\",\"message\":{{\"role\":\"user\",\"content\":\"word{no}\"}}}}\n"
        )
    };
    let roots = Roots { paths: vec![store.folder.path().join("projects")] };
    let mut sizes = Vec::new();
    for count in [20_000, 1, 20_000, 2] {
        std::fs::write(&path, (0..count).map(line).collect::<String>()).expect("written");
        assert_eq!(store.hits("word0", Some(&store.cache())).len(), 1);
        let status = rethread_engine::ops::index_status(&roots, &store.cache()).expect("an index");
        assert_eq!(status.entries, count as u64);
        sizes.push(status.size);
    }
    assert!(sizes[1] * 10 < sizes[0] && sizes[3] * 10 < sizes[2], "{sizes:?}");
}

//! Sessions that only the archive has are read like those on disk: every report is the same before and after files vanish.
#![expect(clippy::disallowed_methods, reason = "the test deletes the files that it archived")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use proptest::collection::vec;
use proptest::prelude::*;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::query::Query;
use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops::archive::{ArchiveLocation, update_archive};
use rethread_engine::ops::list::SessionFilter;
use rethread_engine::ops::search::{SearchRequest, search_sessions};
use rethread_engine::ops::show::{ShowRequest, show_session};
use rethread_engine::ops::stats::StatsReport;
use rethread_engine::ops::usage::{GroupBy, UsageRequest};
use rethread_engine::ops::{self, read::BranchSelector};
use rethread_engine::{ArchiveScope, CacheDir, KeptFilter, Roots};
use rethread_testkit::{random, script};
use tempfile::TempDir;

/// What the reports say about a store.
struct Description {
    /// The sessions, usage, search hits and turns.
    text: String,
    stats: StatsReport,
}

impl Description {
    #[track_caller]
    fn assert_equal(&self, other: &Description) {
        assert_eq!(self.text, other.text);
        assert_eq!(self.stats.counts, other.stats.counts);
        assert_eq!(self.stats.files, other.stats.files);
    }
}

/// A client folder with sessions, and an archive.
struct ArchivedStore {
    folder: TempDir,
}

impl ArchivedStore {
    fn new(files: &[Vec<u8>]) -> ArchivedStore {
        let store = ArchivedStore { folder: tempfile::tempdir().expect("a temporary folder") };
        for (idx, bytes) in files.iter().enumerate() {
            store.write(&store.file_path(idx), bytes);
            if idx % 4 == 2 {
                store.write(&store.file_path(idx).with_extension("meta.json"), br#"{"agentType":"scout"}"#);
                let result = store.file_path(idx - 2).with_extension("").join("tool-results/r.txt");
                store.write(&result, b"a large result");
            }
        }
        store
    }

    fn client_dir(&self) -> PathBuf {
        self.folder.path().join(".claude")
    }

    /// Returns the path of a session file, or of a subagent file in one of two layouts.
    fn file_path(&self, idx: usize) -> PathBuf {
        let session = |idx: usize| format!("-home-ada-p{}/{}", idx % 2, session_id(idx));
        let name = match idx % 4 {
            0 | 1 => format!("{}.jsonl", session(idx)),
            2 => format!("{}/subagents/agent-{idx}.jsonl", session(idx - 2)),
            _ => format!("-home-ada-p1/agent-{idx}.jsonl"),
        };
        self.client_dir().join("projects").join(name)
    }

    fn write(&self, path: &Path, bytes: &[u8]) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be created");
        std::fs::write(path, bytes).expect("the file can be written");
    }

    fn location(&self, machine: &str) -> ArchiveLocation {
        ArchiveLocation {
            dir: self.folder.path().join("archive"),
            machine_id: machine.to_owned(),
            machine_name: machine.to_owned(),
        }
    }

    fn archive(&self, machine: &str) {
        let roots = Roots::new(vec![self.client_dir()]);
        let update = update_archive(&self.location(machine), &roots, &[], Timestamp(1_800_000_000_000));
        assert!(update.expect("the archive can be written").failures.is_empty());
    }

    fn cache(&self) -> CacheDir {
        CacheDir::new(self.folder.path().join("cache"))
    }

    fn roots(&self, kept: KeptFilter) -> Roots {
        let dir = self.location("m1").dir;
        let archive = Some(ArchiveScope { dir, all_places: true, kept });
        Roots { archive, ..Roots::new(vec![self.client_dir()]) }
    }

    /// Deletes a file, its side files, and the folders that are empty then.
    fn delete(&self, path: &Path) {
        std::fs::remove_file(path).expect("the file exists");
        let _ = std::fs::remove_file(path.with_extension("meta.json"));
        let _ = std::fs::remove_dir_all(path.with_extension("").join("tool-results"));
        let mut folder = path.parent().expect("a folder");
        while std::fs::remove_dir(folder).is_ok() && folder != self.client_dir() {
            folder = folder.parent().expect("a folder");
        }
        std::fs::create_dir_all(self.client_dir().join("projects")).expect("the folder of the client");
    }

    /// Returns everything that the reports say about the store, apart from the mark of archived sessions.
    fn describe(&self, cache: Option<&CacheDir>) -> Description {
        self.describe_kept(KeptFilter::With, cache)
    }

    fn describe_kept(&self, kept: KeptFilter, cache: Option<&CacheDir>) -> Description {
        let roots = self.roots(kept);
        let mut text = String::new();
        let filter = SessionFilter { all: true, ..SessionFilter::default() };
        let list = ops::list::list_sessions(&roots, &filter, cache);
        assert!(list.failures.is_empty(), "{:?}", list.failures);
        let mut rows = list.rows;
        for row in &mut rows {
            assert_eq!(row.archived, !row.path.exists());
            row.archived = false;
        }
        let stats = ops::stats::collect_stats(&roots, true, cache);
        let prices = PriceTable::built_in();
        let request = UsageRequest {
            by: GroupBy::Session,
            then_by: None,
            since: None,
            until: None,
            session: None,
            project: None,
            model: None,
            by_context_status: true,
            zone: TimeZone::UTC,
            now: Timestamp(0),
            prices: &prices,
        };
        let usage = ops::usage::usage(&roots, &request, cache);
        writeln!(text, "{rows:#?}\n{:?}", list.hidden).expect("text");
        writeln!(text, "{:#?}", (usage.rows, usage.total)).expect("text");
        let query = Query::parse("role:user OR role:assistant OR result").expect("a query");
        let mut search = search_sessions(&roots, &SearchRequest { query, ..SearchRequest::default() }, cache);
        for mut hit in search.by_ref() {
            hit.archived = false;
            writeln!(text, "{hit:#?}").expect("text");
        }
        assert!(search.failures.is_empty() && search.warnings.is_empty());
        search.finish();
        for row in &rows {
            text.push_str(&describe_session(&row.path));
        }
        Description { text, stats }
    }
}

fn session_id(idx: usize) -> String {
    format!("{idx:08x}-0000-4000-8000-000000000000")
}

/// Returns the turns, subagents and source files of a session.
fn describe_session(path: &Path) -> String {
    let request = ShowRequest {
        path: path.to_owned(),
        turns: None,
        branch: BranchSelector::AllTurns,
        only_typed: false,
        ..ShowRequest::default()
    };
    let show = show_session(&request).expect("the session can be read");
    let turns: Vec<_> = show.map(|turn| turn.expect("the turn can be read")).collect();
    let agents = ops::agents::list_agents(path).expect("the subagents can be listed");
    assert!(agents.failures.is_empty());
    let files = ops::read::find_source_files(path);
    let result = ops::read_stored_result(path, "r.txt", 100).expect("the result can be read");
    format!("{turns:#?}\n{:#?}\n{files:#?}\n{result:?}\n", agents.rows)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reports_are_the_same_after_files_vanish(
        files in vec(random::file(), 1..9),
        deleted in vec(any::<bool>(), 9),
        has_cache: bool,
        machines in 1..3usize,
    ) {
        let store = ArchivedStore::new(&files);
        let cache = store.cache();
        let before = store.describe(None);
        if has_cache {
            store.describe(Some(&cache)).assert_equal(&before);
        }
        // A synchronised archive has the same sessions of several machines.
        ["m1", "m2"][..machines].iter().for_each(|machine| store.archive(machine));
        for (idx, _) in deleted.iter().take(files.len()).enumerate().filter(|(_, deleted)| **deleted) {
            store.delete(&store.file_path(idx));
        }
        store.describe(None).assert_equal(&before);
        // Twice: the second time everything comes from the cache.
        store.describe(Some(&cache)).assert_equal(&before);
        store.describe(Some(&cache)).assert_equal(&before);
    }
}

/// Returns a store of three sessions, the first with a subagent, and its reports.
fn new_store() -> ArchivedStore {
    let file = |idx: u32| {
        script::bytes(&format!("u{idx}: tidy shed {idx}\n  a{idx} #m{idx}: done\n    v{idx}: now?"))
    };
    ArchivedStore::new(&[file(1), file(2), file(3), file(4), file(5)])
}

#[test]
fn filters_select_by_whether_the_file_exists() {
    let store = new_store();
    store.archive("m1");
    store.delete(&store.file_path(4));
    let cache = store.cache();
    let list = |kept| {
        let filter = SessionFilter { all: true, ..SessionFilter::default() };
        let list = ops::list::list_sessions(&store.roots(kept), &filter, Some(&cache));
        let mut ids: Vec<_> = list.rows.into_iter().map(|row| (row.id, row.archived)).collect();
        ids.sort();
        ids
    };
    let search = |kept| {
        let query = Query::parse("tidy").expect("a query");
        let request = SearchRequest { query, ..SearchRequest::default() };
        let search = search_sessions(&store.roots(kept), &request, Some(&cache));
        let mut hits: Vec<_> = search.map(|hit| (hit.session, hit.archived)).collect();
        hits.sort();
        hits.dedup();
        hits
    };
    let rows = [(session_id(0), false), (session_id(1), false), (session_id(4), true)];
    // The filtered lists neither fill nor empty the cache and the index.
    for _ in 0..2 {
        assert_eq!(list(KeptFilter::With), rows);
        assert_eq!(list(KeptFilter::Without), rows[..2]);
        assert_eq!(list(KeptFilter::Only), rows[2..]);
        assert_eq!(search(KeptFilter::Without).len(), 3, "with the hit of the subagent");
        assert_eq!(search(KeptFilter::Only), [(session_id(4), true)]);
        assert_eq!(search(KeptFilter::With).len(), 4);
    }
    assert!(store.describe_kept(KeptFilter::Only, Some(&cache)).text.contains("tidy shed 5"));
}

#[test]
fn a_session_below_other_folders_is_found_unless_the_roots_are_named() {
    let store = new_store();
    store.archive("m1");
    let filter = SessionFilter { all: true, ..SessionFilter::default() };
    let elsewhere = tempfile::tempdir().expect("a folder");
    let mut roots = Roots { paths: vec![elsewhere.path().to_owned()], ..store.roots(KeptFilter::With) };
    let count = |roots: &Roots| ops::list::list_sessions(roots, &filter, None).rows.len();
    assert_eq!(count(&roots), 0, "the files exist, but not below the roots");
    std::fs::remove_dir_all(store.client_dir()).expect("the folder of the client");
    assert_eq!(count(&roots), 3);
    roots.archive.as_mut().expect("an archive").all_places = false;
    assert_eq!(count(&roots), 0);
    roots.paths = vec![store.client_dir()];
    assert_eq!(count(&roots), 3);
}

#[test]
fn a_damaged_pack_makes_only_its_sessions_unreadable() {
    let store = new_store();
    store.archive("m1");
    let rest = store.file_path(8);
    store.write(&rest, &script::bytes("u9: later\n  a9: done"));
    store.archive("m1");
    std::fs::remove_dir_all(store.client_dir().join("projects")).expect("the sessions");
    std::fs::create_dir_all(store.client_dir().join("projects")).expect("a folder");
    let packs = store.location("m1").dir.join("machines/m1/packs");
    let mut packs: Vec<PathBuf> =
        std::fs::read_dir(packs).expect("packs").map(|e| e.expect("a pack").path()).collect();
    packs.sort_by_key(|pack| std::fs::metadata(pack).expect("a pack").len());
    // The smallest pack has the session that was archived last.
    let mut bytes = std::fs::read(&packs[0]).expect("the pack");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&packs[0], bytes).expect("the pack");
    let filter = SessionFilter { all: true, ..SessionFilter::default() };
    let list = ops::list::list_sessions(&store.roots(KeptFilter::With), &filter, None);
    assert_eq!(list.rows.len(), 3);
    let failures: Vec<String> = list.failures.iter().map(ToString::to_string).collect();
    let expected = format!("cannot read `{}`: archived content is damaged", rest.display());
    assert_eq!(failures, [expected]);
    let error = ops::agents::list_agents(&rest).expect_err("the session is damaged");
    assert!(error.to_string().ends_with("archived content is damaged"), "{error}");
}

//! A store of a few files to search, with and without an index.

use std::path::{Path, PathBuf};

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::query::Query;
use rethread_engine::ops::search::{Search, SearchRequest, search_sessions};
use rethread_engine::{CacheDir, Roots};
use tempfile::TempDir;

pub(crate) const FILES: [&str; 4] = [
    "-home-ada-shed/aaaaaaaa-0000-4000-8000-000000000001.jsonl",
    "-home-ada-shed/bbbbbbbb-0000-4000-8000-000000000002.jsonl",
    "-home-ada-shed/aaaaaaaa-0000-4000-8000-000000000001/subagents/agent-x.jsonl",
    "-home-ada-shed/aaaaaaaa-0000-4000-8000-000000000001/tool-results/big.txt",
];

pub(crate) struct TestStore {
    pub(crate) folder: TempDir,
}

impl TestStore {
    pub(crate) fn new() -> TestStore {
        TestStore { folder: tempfile::tempdir().expect("a folder") }
    }

    pub(crate) fn roots(&self) -> Roots {
        Roots::new(vec![self.folder.path().join("projects")])
    }

    pub(crate) fn path(&self, file: usize) -> PathBuf {
        self.folder.path().join("projects").join(FILES[file])
    }

    /// Counts the hits by session, with `group_by_session` or by iteration.
    pub(crate) fn count_by_session(
        &self,
        query: &str,
        cache: &CacheDir,
        grouped: bool,
    ) -> Vec<(PathBuf, usize)> {
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

    /// Writes a file and creates its folder.
    pub(crate) fn write(&self, file: usize, text: impl AsRef<[u8]>) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    }

    pub(crate) fn cache(&self) -> CacheDir {
        CacheDir::new(self.folder.path().join("cache"))
    }

    pub(crate) fn search(&self, query: &str, cache: Option<&CacheDir>) -> Option<Search> {
        let parse_day =
            |day: &str| Some(Timestamp(1_767_225_600_000 + 86_400_000 * (day.parse::<i64>().ok()? - 1)));
        let query = Query::parse_with_times(query, &parse_day).ok()?;
        Some(search_sessions(&self.roots(), &SearchRequest { query, ..SearchRequest::default() }, cache))
    }

    /// Returns every hit as text: position, score and highlighted words. Panics if there are warnings.
    pub(crate) fn hits(&self, query: &str, cache: Option<&CacheDir>) -> Vec<String> {
        let (hits, warning_count) = self.hits_and_warnings(query, cache);
        assert_eq!(warning_count, 0);
        hits
    }

    /// Returns the hits as text and the number of warnings.
    pub(crate) fn hits_and_warnings(&self, query: &str, cache: Option<&CacheDir>) -> (Vec<String>, usize) {
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

//! The numbers of a status line equal those of `usage` at the same time, after any change of the files, with and without
//! a cache.

#![expect(clippy::disallowed_methods, reason = "the test writes the store that it reads")]

use std::path::PathBuf;

use jiff::tz::TimeZone;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index as Pick;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::{BLOCK_MILLIS, CostTotals, PriceTable};
use rethread_engine::ops;
use rethread_engine::ops::usage::{
    GroupBy, GroupKey, ReportedPromptCache, ReportedWindow, StatuslineRequest, StatuslineUsage, UsageRequest,
};
use rethread_engine::{CacheDir, Roots};
use tempfile::TempDir;

const SESSION_IDS: [&str; 3] = [
    "aaaaaaaa-0000-4000-8000-000000000001",
    "bbbbbbbb-0000-4000-8000-000000000002",
    "cccccccc-0000-4000-8000-000000000003",
];
/// 2026-02-10T12:34:56Z.
const NOW: i64 = 1_770_726_896_000;
const MINUTE: i64 = 60_000;

/// Returns the files: path below the store, and the index of the session id in its lines.
fn files() -> Vec<(String, usize)> {
    let [a, b, c] = SESSION_IDS;
    vec![
        (format!("one/{a}.jsonl"), 0),
        (format!("one/{a}/subagents/agent-1.jsonl"), 0),
        (format!("one/{b}.jsonl"), 1),
        ("one/agent-2.jsonl".to_owned(), 0),
        ("one/agent-3.jsonl".to_owned(), 1),
        (format!("two/{c}.jsonl"), 2),
        (format!("two/{a}.jsonl"), 0),
    ]
}

/// A line of a response.
#[derive(Debug, Clone)]
struct ResponseLine {
    message: u8,
    request: u8,
    output: u32,
    is_sidechain: bool,
    is_copy: bool,
    has_stop_reason: bool,
}

impl ResponseLine {
    fn to_json(&self, session: usize) -> String {
        // All lines of a message have the same timestamp, or none.
        let minutes_ago = [3, 20, 170, 290, 310, 420, 640, 751, 790, 1000, 1090, 1400, 3000]
            [usize::from(self.message) % 13];
        let time = jiff::Timestamp::from_millisecond(NOW - minutes_ago * MINUTE).expect("a timestamp");
        let timestamp =
            if self.message == 12 { String::new() } else { format!(r#""timestamp":"{time:.3}","#) };
        let request =
            if self.request == 0 { String::new() } else { format!(r#""requestId":"r{}","#, self.request) };
        let fork_marker =
            if self.is_copy { r#""forkedFrom":{"sessionId":"x","messageUuid":"y"},"# } else { "" };
        let model = if self.message == 5 { "unknown-model" } else { "claude-opus-4-5" };
        format!(
            r#"{{"type":"assistant","sessionId":"{}","cwd":"/work","isSidechain":{},{timestamp}{request}{fork_marker}"message":{{"id":"m{}","role":"assistant","model":"{model}","content":[{{"type":"text","text":"yes"}}],"stop_reason":{},"usage":{{"input_tokens":7,"output_tokens":{}}}}}}}"#,
            SESSION_IDS[session],
            self.is_sidechain,
            self.message,
            if self.has_stop_reason { "\"end_turn\"" } else { "null" },
            self.output,
        )
    }
}

fn response_line() -> impl Strategy<Value = ResponseLine> {
    (0..13_u8, 0..3_u8, 1..5000_u32, any::<[bool; 3]>()).prop_map(
        |(message, request, output, [is_sidechain, is_copy, has_stop_reason])| ResponseLine {
            message,
            request,
            output,
            is_sidechain,
            is_copy,
            has_stop_reason,
        },
    )
}

/// A change between two status lines.
#[derive(Debug, Clone)]
enum Change {
    /// Appends lines to a file.
    Append(Pick, Vec<ResponseLine>),
    /// Appends a part of a line.
    AppendPart(Pick, ResponseLine, Pick),
    /// Replaces all lines of a file.
    Rewrite(Pick, Vec<ResponseLine>),
    /// Removes a line.
    RemoveLine(Pick, Pick),
    /// Swaps two lines.
    SwapLines(Pick, Pick, Pick),
    DeleteFile(Pick),
    /// Advances the clock by a number of seconds.
    Wait(i64),
}

fn change() -> impl Strategy<Value = Change> {
    let pick = any::<Pick>;
    prop_oneof![
        6 => (pick(), vec(response_line(), 1..4)).prop_map(|(file, lines)| Change::Append(file, lines)),
        2 => (pick(), response_line(), pick()).prop_map(|(file, line, at)| Change::AppendPart(file, line, at)),
        2 => (pick(), vec(response_line(), 1..8)).prop_map(|(file, lines)| Change::Rewrite(file, lines)),
        1 => (pick(), pick()).prop_map(|(file, line)| Change::RemoveLine(file, line)),
        1 => (pick(), pick(), pick()).prop_map(|(file, a, b)| Change::SwapLines(file, a, b)),
        1 => pick().prop_map(Change::DeleteFile),
        2 => prop_oneof![Just(20), Just(61), 0..40_000_i64].prop_map(Change::Wait),
    ]
}

struct TestStore {
    folder: TempDir,
    cache: CacheDir,
    prices: PriceTable,
    now: i64,
}

impl TestStore {
    fn new() -> TestStore {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("store")).expect("a folder");
        let cache = CacheDir::new(folder.path().join("cache"));
        TestStore { folder, cache, prices: PriceTable::built_in(), now: NOW }
    }

    fn path(&self, file_idx: usize) -> PathBuf {
        self.folder.path().join("store").join(&files()[file_idx].0)
    }

    fn read(&self, file_idx: usize) -> Vec<u8> {
        std::fs::read(self.path(file_idx)).unwrap_or_default()
    }

    fn write(&self, file_idx: usize, bytes: &[u8]) {
        let path = self.path(file_idx);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be created");
        std::fs::write(path, bytes).expect("the file can be written");
    }

    /// Applies a change and returns the index of the changed file. Returns `None` if no file changed.
    fn apply_change(&mut self, change: &Change) -> Option<usize> {
        let file_count = files().len();
        let (file_idx, bytes) = match change {
            Change::Wait(seconds) => {
                self.now += seconds * 1000;
                return None;
            }
            Change::DeleteFile(file) => {
                let _ = std::fs::remove_file(self.path(file.index(file_count)));
                return Some(file.index(file_count));
            }
            Change::Append(file, lines) | Change::Rewrite(file, lines) => {
                let file_idx = file.index(file_count);
                let is_append = matches!(change, Change::Append(..));
                let mut bytes = if is_append { self.read(file_idx) } else { Vec::new() };
                for line in lines {
                    bytes.extend(format!("{}\n", line.to_json(files()[file_idx].1)).bytes());
                }
                (file_idx, bytes)
            }
            Change::AppendPart(file, line, at) => {
                let file_idx = file.index(file_count);
                let mut bytes = self.read(file_idx);
                let text = line.to_json(files()[file_idx].1);
                bytes.extend(&text.as_bytes()[..=at.index(text.len())]);
                (file_idx, bytes)
            }
            Change::RemoveLine(file, line) | Change::SwapLines(file, line, _) => {
                let file_idx = file.index(file_count);
                let bytes = self.read(file_idx);
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
                if lines.is_empty() {
                    return None;
                }
                let line_count = lines.len();
                let at = line.index(line_count);
                match change {
                    Change::SwapLines(_, _, other) => lines.swap(at, other.index(line_count)),
                    _ => drop(lines.remove(at)),
                }
                (file_idx, lines.concat())
            }
        };
        self.write(file_idx, &bytes);
        Some(file_idx)
    }

    fn roots(&self) -> Roots {
        Roots::new(vec![self.folder.path().join("store")])
    }

    fn statusline(&self, own: usize, cache: Option<&CacheDir>) -> StatuslineUsage {
        let request = StatuslineRequest {
            transcript: Some(self.path(own)),
            session: None,
            window: ReportedWindow::default(),
            block_end: None,
            includes_week: self.includes_week(),
            week_end: None,
            prompt_cache: ReportedPromptCache::default(),
            zone: TimeZone::UTC,
            now: Timestamp(self.now),
            prices: &self.prices,
        };
        ops::usage::statusline_usage(&self.roots(), &request, cache)
    }

    /// Returns `true` at every second time: a status line without the week uses the state of one with it, and vice versa.
    fn includes_week(&self) -> bool {
        self.now.div_euclid(1000) % 2 == 0
    }

    fn usage(&self, by: GroupBy, session: Option<PathBuf>) -> ops::usage::UsageReport {
        self.usage_since(None, by, session)
    }

    fn usage_since(
        &self,
        since: Option<Timestamp>,
        by: GroupBy,
        session: Option<PathBuf>,
    ) -> ops::usage::UsageReport {
        let request = UsageRequest {
            by,
            then_by: None,
            since,
            until: None,
            session,
            project: None,
            model: None,
            by_context_status: false,
            zone: TimeZone::UTC,
            now: Timestamp(self.now),
            prices: &self.prices,
        };
        ops::usage::usage(&self.roots(), &request, None)
    }

    /// Returns the totals of session, day and block according to `usage`.
    fn expected(&self, own: usize) -> StatuslineTotals {
        let now = Timestamp(self.now);
        let session =
            self.path(own).exists().then(|| self.usage(GroupBy::Day, Some(self.path(own))).total.total());
        let days = self.usage(GroupBy::Day, None).rows;
        let is_today = |key: &GroupKey| matches!(key, GroupKey::Day(day) if i64::from(day.0) == self.now.div_euclid(86_400_000));
        let today =
            days.iter().find(|row| is_today(&row.key)).map(|row| row.totals.total()).unwrap_or_default();
        let blocks = self.usage(GroupBy::Block, None).rows;
        let current_block = blocks.iter().find_map(|row| match row.key {
            GroupKey::Block(start) if (start.0..start.0 + BLOCK_MILLIS).contains(&now.0) => {
                Some((start, row.totals.total()))
            }
            _ => None,
        });
        let week_start = Timestamp(self.now - 7 * 86_400_000 + 1);
        let week = || self.usage_since(Some(week_start), GroupBy::Day, None).total.total();
        (session, today, current_block, self.includes_week().then(week))
    }
}

/// The totals of the session, of the day, of the current block with its start, and of the last seven days.
type StatuslineTotals = (Option<CostTotals>, CostTotals, Option<(Timestamp, CostTotals)>, Option<CostTotals>);

fn totals(statusline: &StatuslineUsage) -> StatuslineTotals {
    let block = statusline.block.map(|block| (block.start, block.totals));
    (statusline.session, statusline.today, block, statusline.week.map(|week| week.totals))
}

/// Returns a line of a complete response of a session.
fn complete_line(message: u8) -> ResponseLine {
    ResponseLine {
        message,
        request: 1,
        output: 1000,
        is_sidechain: false,
        is_copy: false,
        has_stop_reason: true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn statusline_equals_usage_after_any_change(
        initial_changes in vec(change(), 0..12),
        changes in vec(change(), 1..8),
        own in prop::sample::select(&[0_usize, 0, 2, 5][..]),
    ) {
        let mut store = TestStore::new();
        initial_changes.iter().for_each(|change| { store.apply_change(change); });
        prop_assert_eq!(totals(&store.statusline(own, None)), store.expected(own), "without cache");
        prop_assert_eq!(totals(&store.statusline(own, Some(&store.cache))), store.expected(own), "with a cold cache");
        let mut is_stale = false;
        for change in &changes {
            store.now += 1;
            let changed_file = store.apply_change(change);
            // Files of the own session are always read. File 6 has its id too, but is in another folder.
            let is_own = |file_idx: usize| files()[file_idx].1 == files()[own].1;
            is_stale |= changed_file.is_some_and(|file_idx| !is_own(file_idx) || file_idx == 6);
            let statusline = store.statusline(own, Some(&store.cache));
            is_stale &= statusline.others_read_at.0 != store.now;
            if !is_stale {
                prop_assert_eq!(totals(&statusline), store.expected(own), "after {:?}", change);
            }
        }
        store.now += MINUTE;
        prop_assert_eq!(totals(&store.statusline(own, Some(&store.cache))), store.expected(own), "after a minute");
        prop_assert_eq!(totals(&store.statusline(own, None)), store.expected(own), "without cache, at the end");
    }
}

#[test]
fn usage_of_other_sessions_is_cached_for_a_minute() {
    let mut store = TestStore::new();
    let line = |message, session| format!("{}\n", complete_line(message).to_json(session)).into_bytes();
    store.write(0, &line(0, 0));
    store.write(2, &line(1, 1));
    let first = store.statusline(0, Some(&store.cache));
    // A change of another session is visible after a minute. A change of the own session is visible immediately.
    store.write(2, &[line(1, 1), line(2, 1)].concat());
    store.write(0, &[line(0, 0), line(3, 0)].concat());
    store.now += 59_000;
    let statusline = store.statusline(0, Some(&store.cache));
    assert_eq!(statusline.others_read_at, first.others_read_at);
    let session_responses = statusline.session.map(|totals| totals.counts.responses);
    assert_eq!((statusline.today.counts.responses, session_responses), (3, Some(2)));
    store.now += 1000;
    assert_eq!(store.statusline(0, Some(&store.cache)).today.counts.responses, 4);
    // If the clock was set back, the age of the cached value is unknown.
    store.now -= 5000;
    assert_eq!(store.statusline(0, Some(&store.cache)).others_read_at, Timestamp(store.now));

    // A damaged cached value is not used.
    let mut cached_values = Vec::new();
    let mut folders = vec![store.folder.path().join("cache")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.starts_with("value-") {
                cached_values.push(path);
            }
        }
    }
    assert_eq!(cached_values.len(), 1);
    let intact = std::fs::read(&cached_values[0]).expect("a cached value");
    let expected = store.expected(0);
    for at in 0..intact.len() {
        let mut bytes = intact.clone();
        bytes[at] ^= 1;
        for bytes in [&bytes, &intact[..at]] {
            std::fs::write(&cached_values[0], bytes).expect("the file can be written");
            assert_eq!(totals(&store.statusline(0, Some(&store.cache))), expected, "byte {at}");
        }
    }
}

#[test]
fn client_can_report_the_end_of_the_block() {
    let store = TestStore::new();
    let lines: String = [0, 1, 2].map(|message| format!("{}\n", complete_line(message).to_json(0))).concat();
    store.write(0, lines.as_bytes());
    let block = |minutes: i64| {
        let request = StatuslineRequest {
            transcript: Some(store.path(0)),
            session: None,
            window: ReportedWindow::default(),
            block_end: Some(Timestamp(NOW + minutes * MINUTE)),
            includes_week: true,
            week_end: Some(Timestamp(NOW + minutes * MINUTE)),
            prompt_cache: ReportedPromptCache::default(),
            zone: TimeZone::UTC,
            now: Timestamp(NOW),
            prices: &store.prices,
        };
        ops::usage::statusline_usage(&store.roots(), &request, None)
            .block
            .map(|block| (block.end.0 - NOW, block.totals.counts.responses))
    };
    // Three responses, 3, 20 and 170 minutes ago. Without a reported end, the block starts at 9:00.
    assert_eq!(block(200), Some((200 * MINUTE, 2)));
    assert_eq!(block(100), Some((100 * MINUTE, 3)));
    assert_eq!(block(290), Some((290 * MINUTE, 1)));
    // A reported end is ignored if it is past or more than five hours ahead.
    let computed = Some((9 * 60 * MINUTE + 5 * 60 * MINUTE - (12 * 60 * MINUTE + 34 * MINUTE + 56_000), 3));
    assert_eq!([block(0), block(-5), block(301)], [computed, computed, computed]);
}

#[test]
fn context_is_reported_by_the_client_or_estimated_from_the_last_response() {
    let store = TestStore::new();
    let text = complete_line(0)
        .to_json(0)
        .replace("\"input_tokens\":7", "\"input_tokens\":7,\"cache_read_input_tokens\":49993");
    store.write(0, format!("{text}\n").as_bytes());
    let context = |window: ReportedWindow| {
        let request = StatuslineRequest {
            transcript: Some(store.path(0)),
            session: None,
            window,
            block_end: None,
            includes_week: false,
            week_end: None,
            prompt_cache: ReportedPromptCache::default(),
            zone: TimeZone::UTC,
            now: Timestamp(NOW),
            prices: &store.prices,
        };
        let usage = ops::usage::statusline_usage(&store.roots(), &request, None).context.expect("a context");
        (usage.percent, usage.estimated)
    };
    let window = ReportedWindow::default();
    assert_eq!(context(window), (25.0, true));
    assert_eq!(context(ReportedWindow { is_long: true, ..window }), (5.0, true));
    assert_eq!(context(ReportedWindow { size_tokens: Some(500_000), ..window }), (10.0, true));
    assert_eq!(context(ReportedWindow { size_tokens: Some(0), ..window }), (25.0, true));
    assert_eq!(context(ReportedWindow { used_tokens: Some(250_000), ..window }), (25.0, true));
    assert_eq!(
        context(ReportedWindow { used_tokens: Some(20_000), size_tokens: Some(200_000), ..window }),
        (10.0, false)
    );
    assert_eq!(
        context(ReportedWindow { percent: Some(43.5), used_tokens: Some(1), ..window }),
        (43.5, false)
    );
    assert_eq!(context(ReportedWindow { percent: Some(f64::NAN), ..window }), (25.0, true));
}

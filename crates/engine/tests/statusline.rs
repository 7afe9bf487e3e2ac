//! A line about a running session says what `usage` says at the same moment, whatever was written meanwhile and however
//! it was kept.

#![expect(clippy::disallowed_methods, reason = "the test writes the store that it reads")]

use std::path::PathBuf;

use jiff::tz::TimeZone;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index as Pick;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::{BLOCK_MILLIS, CostTotals, Prices};
use rethread_engine::ops::{self, GroupBy, GroupKey, MeterRequest, StatuslineUsage, UsageRequest, Window};
use rethread_engine::{CacheDir, Roots};
use tempfile::TempDir;

const IDS: [&str; 3] = [
    "aaaaaaaa-0000-4000-8000-000000000001",
    "bbbbbbbb-0000-4000-8000-000000000002",
    "cccccccc-0000-4000-8000-000000000003",
];
/// A moment in the middle of a day: 2026-02-10T12:34:56Z.
const NOW: i64 = 1_770_726_896_000;
const MINUTE: i64 = 60_000;

/// The files: path below the store, and the session that its lines name.
fn files() -> Vec<(String, usize)> {
    let [a, b, c] = IDS;
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
struct Row {
    message: u8,
    request: u8,
    output: u32,
    side: bool,
    copied: bool,
    open: bool,
}

impl Row {
    fn text(&self, session: usize) -> String {
        // Lines of one message are of one moment, or of none.
        let minutes = [3, 20, 170, 290, 310, 420, 640, 751, 790, 1000, 1090, 1400, 3000]
            [usize::from(self.message) % 13];
        let time = jiff::Timestamp::from_millisecond(NOW - minutes * MINUTE).expect("a moment");
        let stamp = if self.message == 12 { String::new() } else { format!(r#""timestamp":"{time:.3}","#) };
        let request =
            if self.request == 0 { String::new() } else { format!(r#""requestId":"r{}","#, self.request) };
        let copied = if self.copied { r#""forkedFrom":{"sessionId":"x","messageUuid":"y"},"# } else { "" };
        let model = if self.message == 5 { "nobody-knows" } else { "claude-opus-4-5" };
        format!(
            r#"{{"type":"assistant","sessionId":"{}","cwd":"/work","isSidechain":{},{stamp}{request}{copied}"message":{{"id":"m{}","role":"assistant","model":"{model}","content":[{{"type":"text","text":"yes"}}],"stop_reason":{},"usage":{{"input_tokens":7,"output_tokens":{}}}}}}}"#,
            IDS[session],
            self.side,
            self.message,
            if self.open { "null" } else { "\"end_turn\"" },
            self.output,
        )
    }
}

fn row() -> impl Strategy<Value = Row> {
    (0..13_u8, 0..3_u8, 1..5000_u32, any::<[bool; 3]>()).prop_map(
        |(message, request, output, [side, copied, open])| Row {
            message,
            request,
            output,
            side,
            copied,
            open,
        },
    )
}

/// What may happen between two looks.
#[derive(Debug, Clone)]
enum Event {
    /// Lines are written to a file.
    Append(Pick, Vec<Row>),
    /// Half a line is written, and may be ended later.
    Tear(Pick, Row, Pick),
    /// Other lines take the place of all that were there.
    Rewrite(Pick, Vec<Row>),
    /// A line goes.
    Drop(Pick, Pick),
    /// Two lines change places.
    Swap(Pick, Pick, Pick),
    Delete(Pick),
    /// Time passes, in seconds.
    Wait(i64),
}

fn event() -> impl Strategy<Value = Event> {
    let pick = any::<Pick>;
    prop_oneof![
        6 => (pick(), vec(row(), 1..4)).prop_map(|(file, rows)| Event::Append(file, rows)),
        2 => (pick(), row(), pick()).prop_map(|(file, row, at)| Event::Tear(file, row, at)),
        2 => (pick(), vec(row(), 1..8)).prop_map(|(file, rows)| Event::Rewrite(file, rows)),
        1 => (pick(), pick()).prop_map(|(file, line)| Event::Drop(file, line)),
        1 => (pick(), pick(), pick()).prop_map(|(file, a, b)| Event::Swap(file, a, b)),
        1 => pick().prop_map(Event::Delete),
        2 => prop_oneof![Just(20), Just(61), 0..40_000_i64].prop_map(Event::Wait),
    ]
}

struct Store {
    folder: TempDir,
    index: CacheDir,
    prices: Prices,
    now: i64,
}

impl Store {
    fn new() -> Store {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("store")).expect("a folder");
        let index = CacheDir::at(folder.path().join("cache"));
        Store { folder, index, prices: Prices::built_in(), now: NOW }
    }

    fn path(&self, no: usize) -> PathBuf {
        self.folder.path().join("store").join(&files()[no].0)
    }

    fn read(&self, no: usize) -> Vec<u8> {
        std::fs::read(self.path(no)).unwrap_or_default()
    }

    fn write(&self, no: usize, bytes: &[u8]) {
        let path = self.path(no);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        std::fs::write(path, bytes).expect("it can be written");
    }

    /// Lets something happen; returns the file it happened to.
    fn suffer(&mut self, event: &Event) -> Option<usize> {
        let count = files().len();
        let (file, bytes) = match event {
            Event::Wait(seconds) => {
                self.now += seconds * 1000;
                return None;
            }
            Event::Delete(file) => {
                let _ = std::fs::remove_file(self.path(file.index(count)));
                return Some(file.index(count));
            }
            Event::Append(file, rows) | Event::Rewrite(file, rows) => {
                let no = file.index(count);
                let keeps = matches!(event, Event::Append(..));
                let mut bytes = if keeps { self.read(no) } else { Vec::new() };
                rows.iter().for_each(|row| bytes.extend(format!("{}\n", row.text(files()[no].1)).bytes()));
                (no, bytes)
            }
            Event::Tear(file, row, at) => {
                let no = file.index(count);
                let mut bytes = self.read(no);
                let line = row.text(files()[no].1);
                bytes.extend(&line.as_bytes()[..=at.index(line.len())]);
                (no, bytes)
            }
            Event::Drop(file, line) | Event::Swap(file, line, _) => {
                let no = file.index(count);
                let bytes = self.read(no);
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
                if lines.is_empty() {
                    return None;
                }
                let count = lines.len();
                let at = line.index(count);
                match event {
                    Event::Swap(_, _, other) => lines.swap(at, other.index(count)),
                    _ => drop(lines.remove(at)),
                }
                (no, lines.concat())
            }
        };
        self.write(file, &bytes);
        Some(file)
    }

    fn roots(&self) -> Roots {
        Roots { paths: vec![self.folder.path().join("store")] }
    }

    fn meter(&self, own: usize, index: Option<&CacheDir>) -> StatuslineUsage {
        let request = MeterRequest {
            transcript: Some(self.path(own)),
            session: None,
            window: Window::default(),
            resets: None,
            zone: TimeZone::UTC,
            now: Timestamp(self.now),
            prices: &self.prices,
        };
        ops::meter(&self.roots(), &request, index)
    }

    fn usage(&self, by: GroupBy, session: Option<PathBuf>) -> ops::UsageReport {
        let request = UsageRequest {
            by,
            since: None,
            until: None,
            session,
            project: None,
            model: None,
            reach: false,
            zone: TimeZone::UTC,
            now: Timestamp(self.now),
            prices: &self.prices,
        };
        ops::usage(&self.roots(), &request, None)
    }

    /// What `usage` says of session, day and block.
    fn truth(&self, own: usize) -> (Option<CostTotals>, CostTotals, Option<(Timestamp, CostTotals)>) {
        let now = Timestamp(self.now);
        let session =
            self.path(own).exists().then(|| self.usage(GroupBy::Day, Some(self.path(own))).total.total());
        let days = self.usage(GroupBy::Day, None).rows;
        let is_today = |key: &GroupKey| matches!(key, GroupKey::Day(day) if i64::from(day.0) == self.now.div_euclid(86_400_000));
        let today =
            days.iter().find(|row| is_today(&row.key)).map(|row| row.account.total()).unwrap_or_default();
        let blocks = self.usage(GroupBy::Block, None).rows;
        let running = blocks.iter().find_map(|row| match row.key {
            GroupKey::Block(begin) if (begin.0..begin.0 + BLOCK_MILLIS).contains(&now.0) => {
                Some((begin, row.account.total()))
            }
            _ => None,
        });
        (session, today, running)
    }
}

fn said(meter: &StatuslineUsage) -> (Option<CostTotals>, CostTotals, Option<(Timestamp, CostTotals)>) {
    (meter.session, meter.today, meter.block.map(|block| (block.begin, block.sum)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn the_line_says_what_usage_says(
        start in vec(event(), 0..12),
        events in vec(event(), 1..8),
        own in prop::sample::select(&[0_usize, 0, 2, 5][..]),
    ) {
        let mut store = Store::new();
        start.iter().for_each(|event| { store.suffer(event); });
        prop_assert_eq!(said(&store.meter(own, None)), store.truth(own), "without an index");
        prop_assert_eq!(said(&store.meter(own, Some(&store.index))), store.truth(own), "at first sight");
        let mut lags = false;
        for event in &events {
            store.now += 1;
            let file = store.suffer(event);
            // Files of the session itself are always read; one with its id in another folder is one of them once it is known.
            let is_own = |file: usize| files()[file].1 == files()[own].1;
            lags |= file.is_some_and(|file| !is_own(file) || file == 6);
            let meter = store.meter(own, Some(&store.index));
            lags &= meter.others.0 != store.now;
            if !lags {
                prop_assert_eq!(said(&meter), store.truth(own), "after {:?}", event);
            }
        }
        store.now += MINUTE;
        prop_assert_eq!(said(&store.meter(own, Some(&store.index))), store.truth(own), "after a minute");
        prop_assert_eq!(said(&store.meter(own, None)), store.truth(own), "without an index, in the end");
    }
}

#[test]
fn what_is_kept_is_used_for_a_minute_and_may_be_damaged() {
    let mut store = Store::new();
    let row = |message| Row { message, request: 1, output: 1000, side: false, copied: false, open: false };
    let line = |message, session| format!("{}\n", row(message).text(session)).into_bytes();
    store.write(0, &line(0, 0));
    store.write(2, &line(1, 1));
    let first = store.meter(0, Some(&store.index));
    // Another session goes on: that is seen a minute later. The own session is seen at once.
    store.write(2, &[line(1, 1), line(2, 1)].concat());
    store.write(0, &[line(0, 0), line(3, 0)].concat());
    store.now += 59_000;
    let meter = store.meter(0, Some(&store.index));
    assert_eq!(meter.others, first.others);
    assert_eq!((meter.today.spent.responses, meter.session.map(|sum| sum.spent.responses)), (3, Some(2)));
    store.now += 1000;
    assert_eq!(store.meter(0, Some(&store.index)).today.spent.responses, 4);
    // A clock that was set back says nothing about age.
    store.now -= 5000;
    assert_eq!(store.meter(0, Some(&store.index)).others, Timestamp(store.now));

    let mut slips = Vec::new();
    let mut folders = vec![store.folder.path().join("cache")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.starts_with("slip-") {
                slips.push(path);
            }
        }
    }
    assert_eq!(slips.len(), 1);
    let (whole, truth) = (std::fs::read(&slips[0]).expect("a slip"), store.truth(0));
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        for bytes in [&bytes, &whole[..at]] {
            std::fs::write(&slips[0], bytes).expect("it can be written");
            assert_eq!(said(&store.meter(0, Some(&store.index))), truth, "byte {at}");
        }
    }
}

#[test]
fn the_client_may_say_when_the_block_ends() {
    let store = Store::new();
    let row = |message| Row { message, request: 1, output: 1000, side: false, copied: false, open: false };
    let lines: String = [0, 1, 2].map(|message| format!("{}\n", row(message).text(0))).concat();
    store.write(0, lines.as_bytes());
    let block = |minutes: i64| {
        let request = MeterRequest {
            transcript: Some(store.path(0)),
            session: None,
            window: Window::default(),
            resets: Some(Timestamp(NOW + minutes * MINUTE)),
            zone: TimeZone::UTC,
            now: Timestamp(NOW),
            prices: &store.prices,
        };
        ops::meter(&store.roots(), &request, None)
            .block
            .map(|block| (block.end.0 - NOW, block.sum.spent.responses))
    };
    // Three responses, 3, 20 and 170 minutes ago: by their times the block began three hours ago, at 9:00.
    assert_eq!(block(200), Some((200 * MINUTE, 2)));
    assert_eq!(block(100), Some((100 * MINUTE, 3)));
    assert_eq!(block(290), Some((290 * MINUTE, 1)));
    // What is over, or too far away, is not believed.
    let own = Some((9 * 60 * MINUTE + 5 * 60 * MINUTE - (12 * 60 * MINUTE + 34 * MINUTE + 56_000), 3));
    assert_eq!([block(0), block(-5), block(301)], [own, own, own]);
}

#[test]
fn the_context_is_what_the_client_says_or_what_the_last_response_read() {
    let store = Store::new();
    let row = Row { message: 0, request: 1, output: 1000, side: false, copied: false, open: false };
    let text =
        row.text(0).replace("\"input_tokens\":7", "\"input_tokens\":7,\"cache_read_input_tokens\":49993");
    store.write(0, format!("{text}\n").as_bytes());
    let fullness = |window: Window| {
        let request = MeterRequest {
            transcript: Some(store.path(0)),
            session: None,
            window,
            resets: None,
            zone: TimeZone::UTC,
            now: Timestamp(NOW),
            prices: &store.prices,
        };
        let context = ops::meter(&store.roots(), &request, None).context.expect("a context");
        (context.percent, context.estimated)
    };
    let window = Window::default();
    assert_eq!(fullness(window), (25.0, true));
    assert_eq!(fullness(Window { long: true, ..window }), (5.0, true));
    assert_eq!(fullness(Window { size: Some(500_000), ..window }), (10.0, true));
    assert_eq!(fullness(Window { size: Some(0), ..window }), (25.0, true));
    assert_eq!(fullness(Window { used: Some(250_000), ..window }), (25.0, true));
    assert_eq!(fullness(Window { used: Some(20_000), size: Some(200_000), ..window }), (10.0, false));
    assert_eq!(fullness(Window { percent: Some(43.5), used: Some(1), ..window }), (43.5, false));
    assert_eq!(fullness(Window { percent: Some(f64::NAN), ..window }), (25.0, true));
}

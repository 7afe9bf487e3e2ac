//! Session files of any shape: forks, several roots, missing parents, repeated uuids, cycles, parents in later lines.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::script::{self, ContentPart, Record, RecordKind, RecordTime};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z]{1,8}( [a-z]{1,8}){0,4}",
        1 => select(&["", "<command-name>/clear</command-name>", "[Request interrupted by user]", "line\nbreak"][..])
            .prop_map(str::to_owned),
        1 => "\\PC{0,10}",
    ]
}

fn part() -> impl Strategy<Value = ContentPart> {
    prop_oneof![
        4 => text().prop_map(ContentPart::Text),
        1 => text().prop_map(ContentPart::Thinking),
        2 => (select(&["Bash", "Read", "Task"][..]), text())
            .prop_map(|(tool, command)| ContentPart::Call(tool.into(), command)),
        2 => (0usize..24, text(), any::<bool>())
            .prop_map(|(call, text, is_error)| ContentPart::Result { call: format!("n{call}"), text, is_error }),
        1 => Just(ContentPart::Image),
    ]
}

fn kind() -> impl Strategy<Value = RecordKind> {
    let subtype_and_text = |kinds: &'static [&'static str]| (select(kinds).prop_map(str::to_owned), text());
    prop_oneof![
        4 => vec(part(), 0..3).prop_map(RecordKind::User),
        4 => vec(part(), 0..3).prop_map(RecordKind::Assistant),
        1 => subtype_and_text(&["compact_boundary", "local_command", "informational", "unknown-type"])
            .prop_map(|(subtype, text)| RecordKind::System(subtype, text)),
        1 => any::<u16>().prop_map(|ms| RecordKind::System("turn_duration".into(), ms.to_string())),
        1 => subtype_and_text(&["bash_progress", "hook_progress"])
            .prop_map(|(subtype, text)| RecordKind::Progress(subtype, text)),
        1 => subtype_and_text(&["queued_command", "file", "date"])
            .prop_map(|(subtype, text)| RecordKind::Attachment(subtype, text)),
        1 => subtype_and_text(&["summary", "custom-title", "ai-title", "agent-name", "last-prompt", "file-history-snapshot", "unknown-type"])
            .prop_map(|(kind, text)| RecordKind::State(kind, text)),
    ]
}

/// Generates records with any links between them.
pub fn records() -> BoxedStrategy<Vec<Record>> {
    vec((kind(), any::<u8>(), any::<prop::sample::Index>(), any::<u8>(), 0i64..4), 0..24)
        .prop_map(|items| {
            let count = items.len();
            let name = |idx: usize| format!("n{idx}");
            let mut second = 0;
            let make = |(idx, (kind, link, other, flags, delay)): (
                usize,
                (RecordKind, u8, prop::sample::Index, u8, i64),
            )| {
                let other = other.index(count);
                // Most uuids are unique; some repeat the uuid of another record.
                let own = if flags & 0xF0 == 0xF0 { other } else { idx };
                let mut record = Record::new(&name(own), kind);
                let target = match link % 16 {
                    0 => None,
                    1 => Some("missing".into()),
                    2 => Some(name(own)),
                    3 | 4 => Some(name(other)),
                    5 | 6 => Some(name(other.min(idx))),
                    _ => idx.checked_sub(1).map(name),
                };
                match &record.kind {
                    RecordKind::System(subtype, _) if subtype == "compact_boundary" => record.link = target,
                    RecordKind::State(..) => {
                        record.name = "state".into();
                        record.link = Some(name(other));
                    }
                    _ => record.parent = target,
                }
                record.is_meta = flags & 15 == 1;
                record.is_sidechain = flags & 15 == 2;
                record.is_compact_summary = flags & 15 == 3;
                record.message_name = (flags & 15 > 10).then(|| format!("m{}", other / 4));
                second += delay;
                record.time = if flags & 15 == 4 { RecordTime::None } else { RecordTime::Second(second) };
                record
            };
            items.into_iter().enumerate().map(make).collect()
        })
        .boxed()
}

/// Generates the bytes of such a file.
pub fn file() -> BoxedStrategy<Vec<u8>> {
    records().prop_map(|records| script::write_records(&records)).boxed()
}

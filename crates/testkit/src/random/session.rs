//! Session files of any shape: forks, several roots, missing parents, repeated uuids, cycles, parents further down.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::script::{self, Part, Record, Role, Stamp};

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z]{1,8}( [a-z]{1,8}){0,4}",
        1 => select(&["", "<command-name>/clear</command-name>", "[Request interrupted by user]", "line\nbreak"][..])
            .prop_map(str::to_owned),
        1 => "\\PC{0,10}",
    ]
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        4 => words().prop_map(Part::Words),
        1 => words().prop_map(Part::Thinking),
        2 => (select(&["Bash", "Read", "Task"][..]), words()).prop_map(|(tool, words)| Part::Call(tool.into(), words)),
        2 => (0usize..24, words(), any::<bool>())
            .prop_map(|(of, words, error)| Part::Result { of: format!("n{of}"), words, error }),
        1 => Just(Part::Image),
    ]
}

fn role() -> impl Strategy<Value = Role> {
    let two = |kinds: &'static [&'static str]| (select(kinds).prop_map(str::to_owned), words());
    prop_oneof![
        4 => vec(part(), 0..3).prop_map(Role::User),
        4 => vec(part(), 0..3).prop_map(Role::Assistant),
        1 => two(&["compact_boundary", "local_command", "informational", "never-met"]).prop_map(|(k, w)| Role::System(k, w)),
        1 => any::<u16>().prop_map(|ms| Role::System("turn_duration".into(), ms.to_string())),
        1 => two(&["bash_progress", "hook_progress"]).prop_map(|(k, w)| Role::Progress(k, w)),
        1 => two(&["queued_command", "file", "date"]).prop_map(|(k, w)| Role::Attachment(k, w)),
        1 => two(&["summary", "custom-title", "ai-title", "agent-name", "last-prompt", "file-history-snapshot", "never-met"])
            .prop_map(|(k, w)| Role::State(k, w)),
    ]
}

/// Makes records with any links between them.
pub fn records() -> BoxedStrategy<Vec<Record>> {
    vec((role(), any::<u8>(), any::<prop::sample::Index>(), any::<u8>(), 0i64..4), 0..24)
        .prop_map(|all| {
            let count = all.len();
            let name = |k: usize| format!("n{k}");
            let mut second = 0;
            let make = |(k, (role, link, other, flags, later)): (
                usize,
                (Role, u8, prop::sample::Index, u8, i64),
            )| {
                let other = other.index(count);
                // Most uuids are their own; some repeat another's.
                let own = if flags & 0xF0 == 0xF0 { other } else { k };
                let mut record = Record::new(&name(own), role);
                let target = match link % 16 {
                    0 => None,
                    1 => Some("missing".into()),
                    2 => Some(name(own)),
                    3 | 4 => Some(name(other)),
                    5 | 6 => Some(name(other.min(k))),
                    _ => k.checked_sub(1).map(name),
                };
                match &record.role {
                    Role::System(subtype, _) if subtype == "compact_boundary" => record.link = target,
                    Role::State(..) => {
                        record.name = "state".into();
                        record.link = Some(name(other));
                    }
                    _ => record.parent = target,
                }
                record.meta = flags & 15 == 1;
                record.side = flags & 15 == 2;
                record.recap = flags & 15 == 3;
                record.message = (flags & 15 > 10).then(|| format!("m{}", other / 4));
                second += later;
                record.stamp = if flags & 15 == 4 { Stamp::None } else { Stamp::Second(second) };
                record
            };
            all.into_iter().enumerate().map(make).collect()
        })
        .boxed()
}

/// Makes the bytes of such a file.
pub fn file() -> BoxedStrategy<Vec<u8>> {
    records().prop_map(|records| script::file(&records)).boxed()
}

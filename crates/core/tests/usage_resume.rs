//! Resuming the collection at any line gives the same usage as collecting the whole file.

use proptest::prelude::*;
use rethread_core::entry::read_line;
use rethread_core::id::Id;
use rethread_core::lines::Line;
use rethread_core::pack::Pack;
use rethread_core::usage::{FileUsage, UsageCollector, dedupe_responses};
use rethread_testkit::random;

fn add_lines(collector: &mut UsageCollector, lines: &[&[u8]]) {
    for bytes in lines {
        let line = Line { number: 1, offset: 0, bytes, unterminated: false };
        read_line(&line, &mut Vec::new(), |entry, _| {
            collector.add(&entry);
        });
    }
}

fn collect_all(lines: &[&[u8]]) -> FileUsage {
    let mut collector = UsageCollector::without_tools(Id::from_text(b"file"), "");
    add_lines(&mut collector, lines);
    collector.finish()
}

proptest! {
    #[test]
    fn resumed_collection_equals_full_collection(file in random::file(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..4)) {
        let lines: Vec<&[u8]> = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(lines.len() + 1)).collect();
        cuts.sort_unstable();
        let mut usage = collect_all(&lines[..cuts[0]]);
        for (idx, start) in cuts.iter().enumerate() {
            let unpacked = FileUsage::from_packed(&usage.to_packed()).expect("a packed value unpacks");
            let mut collector = UsageCollector::resume_from(unpacked);
            add_lines(&mut collector, &lines[*start..cuts.get(idx + 1).copied().unwrap_or(lines.len())]);
            usage = collector.finish();
        }
        prop_assert_eq!(&usage, &collect_all(&lines));
    }

    #[test]
    fn collection_without_tools_differs_only_in_tools(file in random::file()) {
        let lines: Vec<&[u8]> = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        let mut collector = UsageCollector::new(Id::from_text(b"file"), "");
        add_lines(&mut collector, &lines);
        let (with, without) = (collector.finish(), collect_all(&lines));
        prop_assert_eq!(dedupe_responses(std::slice::from_ref(&with)), dedupe_responses(std::slice::from_ref(&without)));
        for (idx, (a, b)) in with.responses.iter().zip(&without.responses).enumerate() {
            prop_assert_eq!((with.model(a), with.branch(a)), (without.model(b), without.branch(b)));
            prop_assert_eq!(without.tool_calls(idx).count(), 0);
        }
    }
}

//! A file that is read on from any line gives the sheet of the whole file.

use proptest::prelude::*;
use rethread_core::entry::read;
use rethread_core::id::Id;
use rethread_core::lines::Line;
use rethread_core::pack::Pack;
use rethread_core::usage::{FileUsage, UsageCollector, dedupe_responses};
use rethread_testkit::random;

fn add(booking: &mut UsageCollector, lines: &[&[u8]]) {
    for bytes in lines {
        let line = Line { no: 1, offset: 0, bytes, unterminated: false };
        read(&line, &mut Vec::new(), |entry, _| {
            booking.add(&entry);
        });
    }
}

fn whole(lines: &[&[u8]]) -> FileUsage {
    let mut booking = UsageCollector::without_tools(Id::of(b"file"), "");
    add(&mut booking, lines);
    booking.finish()
}

proptest! {
    #[test]
    fn reading_on_is_reading_all(file in random::file(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..4)) {
        let lines: Vec<&[u8]> = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(lines.len() + 1)).collect();
        cuts.sort_unstable();
        let mut sheet = whole(&lines[..cuts[0]]);
        for (no, from) in cuts.iter().enumerate() {
            let kept = FileUsage::unpacked(&sheet.packed()).expect("it can be kept");
            let mut booking = UsageCollector::resume(kept);
            add(&mut booking, &lines[*from..cuts.get(no + 1).copied().unwrap_or(lines.len())]);
            sheet = booking.finish();
        }
        prop_assert_eq!(&sheet, &whole(&lines));
    }

    /// The tools are all that is missing of such a sheet.
    #[test]
    fn without_tools_all_else_is_the_same(file in random::file()) {
        let lines: Vec<&[u8]> = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        let mut booking = UsageCollector::new(Id::of(b"file"), "");
        add(&mut booking, &lines);
        let (with, without) = (booking.finish(), whole(&lines));
        prop_assert_eq!(dedupe_responses(std::slice::from_ref(&with)), dedupe_responses(std::slice::from_ref(&without)));
        for (no, (a, b)) in with.charges.iter().zip(&without.charges).enumerate() {
            prop_assert_eq!((with.model(a), with.branch(a)), (without.model(b), without.branch(b)));
            prop_assert_eq!(without.calls(no).count(), 0);
        }
    }
}

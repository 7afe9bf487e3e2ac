//! Entries: every line has one status, and entries are at the reported offsets.

use rethread_core::entry::{self, Content, Entry, EntryDetail, JsonStr, LineStatus};
use rethread_core::lines::LineSplitter;

/// Checks that each line of `bytes` is accounted for. Returns the number of entries.
pub fn entries(bytes: &[u8]) -> usize {
    let mut count = 0;
    LineSplitter::default().feed(bytes, true, &mut Vec::new(), |line, _| {
        let mut problems = Vec::new();
        let mut entry_count = 0;
        let mut end = line.offset;
        let status = entry::read_line(&line, &mut problems, |entry, offset| {
            assert!(offset >= end, "entries are in order and do not overlap");
            end = offset + entry.raw.len() as u64;
            let from = usize::try_from(offset).unwrap_or(usize::MAX);
            assert_eq!(
                bytes.get(from..from + entry.raw.len()),
                Some(entry.raw),
                "the raw bytes are at the offset"
            );
            assert!(end <= line.offset + line.bytes.len() as u64, "an entry ends before its line does");
            call_accessors(&entry);
            entry_count += 1;
        });
        match status {
            LineStatus::Parsed => {
                assert_eq!((entry_count, end), (1, line.offset + line.bytes.len() as u64), "parsed");
            }
            LineStatus::Recovered(recovered) => {
                assert_eq!((recovered, recovered > 0), (entry_count, true), "recovered");
            }
            LineStatus::Unparsable => assert_eq!(entry_count, 0, "unparsable"),
        }
        assert!(status == LineStatus::Parsed || !problems.is_empty(), "a damaged line has a problem");
        for problem in &problems {
            assert_eq!(problem.line, line.number, "problems have their line number");
            let inside = line.offset..line.offset + line.bytes.len() as u64;
            assert!(inside.contains(&problem.offset), "problems are within their line: {problem:?}");
        }
        count += entry_count as usize;
    });
    count
}

/// Calls every accessor of an entry: none of them may panic.
fn call_accessors(entry: &Entry<'_>) {
    let _ = (entry.role(), entry.time(), entry.model(), entry.is_message());
    if let EntryDetail::FileHistory { files, .. } = entry.detail() {
        for file in files {
            let _ = (file.path.decode(), file.name.map(JsonStr::to_id));
        }
    }
    for (key, value) in entry::members(entry.raw) {
        let _ = (key.decode(), entry::value_text(value));
        for text in entry::parse_content(value).texts() {
            let _ = (text.decode(), text.has_lone_surrogate());
        }
    }
    if let Some(message) = &entry.message {
        check_content(&message.content);
    }
}

fn check_content(content: &Content<'_>) {
    for text in content.texts() {
        let whole = text.decode();
        for len in [0, 1, 7, 96] {
            let prefix = text.decode_prefix(len);
            assert!(
                whole.starts_with(&*prefix) || prefix.contains('\u{FFFD}'),
                "a prefix is the start of the text"
            );
            assert!(prefix.len() >= len.min(whole.len()), "a prefix is as long as requested");
        }
    }
    for block in content.blocks() {
        let _ = block.id.map(JsonStr::to_id);
        for text in block.result_content().texts() {
            let _ = text.decode();
        }
    }
}

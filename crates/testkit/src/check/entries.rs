//! Reading: every line has one fate, and what was read stands where it is told.

use rethread_core::entry::{self, Content, Detail, Entry, JsonStr, LineStatus};
use rethread_core::lines::LineSplitter;

/// Checks that each line of `bytes` is accounted for; returns how many entries there were.
pub fn entries(bytes: &[u8]) -> usize {
    let mut count = 0;
    LineSplitter::default().feed(bytes, true, &mut Vec::new(), |line, _| {
        let mut problems = Vec::new();
        let mut found = 0;
        let mut end = line.offset;
        let fate = entry::read(&line, &mut problems, |entry, offset| {
            assert!(offset >= end, "entries stand in order and apart");
            end = offset + entry.raw.len() as u64;
            let from = usize::try_from(offset).unwrap_or(usize::MAX);
            assert_eq!(
                bytes.get(from..from + entry.raw.len()),
                Some(entry.raw),
                "the raw bytes stand at the offset"
            );
            assert!(end <= line.offset + line.bytes.len() as u64, "an entry ends before its line does");
            ask_everything(&entry);
            found += 1;
        });
        match fate {
            LineStatus::Whole => {
                assert_eq!((found, end), (1, line.offset + line.bytes.len() as u64), "whole")
            }
            LineStatus::Salvaged(told) => {
                assert_eq!((told, told > 0), (found, true), "salvaged");
            }
            LineStatus::Lost => assert_eq!(found, 0, "lost"),
        }
        assert!(fate == LineStatus::Whole || !problems.is_empty(), "a line is set aside with a reason");
        for problem in &problems {
            assert_eq!(problem.line, line.no, "problems stand on their line");
            let inside = line.offset..line.offset + line.bytes.len() as u64;
            assert!(inside.contains(&problem.offset), "problems stand in their line: {problem:?}");
        }
        count += found as usize;
    });
    count
}

/// Calls whatever an entry can be asked: none of it may panic.
fn ask_everything(entry: &Entry<'_>) {
    let _ = (entry.voice(), entry.time(), entry.model(), entry.is_message());
    if let Detail::FileHistory { files, .. } = entry.detail() {
        for file in files {
            let _ = (file.path.decode(), file.name.map(JsonStr::id));
        }
    }
    for (key, value) in entry::members(entry.raw) {
        let _ = (key.decode(), entry::value_text(value));
        for text in entry::content_of(value).texts() {
            let _ = (text.decode(), text.has_lone_surrogate());
        }
    }
    if let Some(message) = &entry.message {
        contents(&message.content);
    }
}

fn contents(content: &Content<'_>) {
    for text in content.texts() {
        let whole = text.decode();
        for most in [0, 1, 7, 96] {
            let head = text.head(most);
            assert!(whole.starts_with(&*head) || head.contains('\u{FFFD}'), "a head is how the text begins");
            assert!(head.len() >= most.min(whole.len()), "a head is as long as asked for");
        }
    }
    for block in content.blocks() {
        let _ = block.id.map(JsonStr::id);
        for text in block.result().texts() {
            let _ = text.decode();
        }
    }
}

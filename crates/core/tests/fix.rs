//! Passes of a repair: the edits that each of them makes to the smallest file that has the problem.

use rethread_core::check::{CheckCollector, CheckInput, run_checks};
use rethread_core::edit::apply_edits;
use rethread_core::entry::Reader;
use rethread_core::fix::{
    FixOptions, FixSet, LineEdit, RepairContext, ToolCallLinks, fix_content, relink_entries,
};
use rethread_core::id::{Id, IdSet};
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{KNOWN_CLIENTS, ResumeIndex, simulate_resume};
use rethread_core::tree::{LineSpan, TreeBuilder};
use rethread_core::version::Version;
use rethread_testkit::script;
use serde_json::Value;

/// Runs one pass on the file of a script. Returns its fixes and the lines that it changed or inserted, as JSON.
fn run_pass(text: &str, pass: impl Fn(&mut RepairContext<'_>) -> FixSet) -> (FixSet, Vec<Value>) {
    let bytes = script::bytes(text);
    let mut builder = TreeBuilder::with_content_hashes();
    let (mut index, mut collector, mut calls) =
        (ResumeIndex::default(), CheckCollector::default(), ToolCallLinks::default());
    let (mut problems, mut reader) = (Vec::new(), Reader::default());
    LineSplitter::default().feed(&bytes, true, &mut problems, |line, problems| {
        reader.read_line(&line, problems, |entry, offset| {
            let span = LineSpan { offset, len: entry.raw.len() as u32, line: line.number };
            builder.add_entry(&entry, span);
            index.add_entry(&entry, span);
            collector.add_entry(&entry, span);
            calls.add_entry(&entry);
        });
    });
    let tree = builder.finish();
    collector.finish(&tree, bytes.len() as u64);
    let newest = Version::parse_lenient(KNOWN_CLIENTS[KNOWN_CLIENTS.len() - 1]);
    let client = index.version().map_or_else(|| newest.clone(), Version::parse_lenient);
    let outcome = simulate_resume(&tree, &index, &client);
    let latest = simulate_resume(&tree, &index, &newest);
    let input = CheckInput {
        tree: &tree,
        resume_index: &index,
        collector: &collector,
        problems: &problems,
        resume: &outcome,
        newest: &latest,
        session: Some(Id::from_text(script::uuid_from_name("session").as_bytes())),
        live: false,
    };
    let lines: Vec<&[u8]> =
        bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end).collect();
    let line_bytes = |line: u32| lines.get(line as usize - 1).map(|line| line.to_vec());
    let fixes = pass(&mut RepairContext {
        input: &input,
        diagnostics: &run_checks(&input),
        calls: &calls,
        line_count: lines.len() as u32,
        read_line: &mut |line| line_bytes(line),
        new_uuid: &mut || script::uuid_from_name("u99"),
    });
    let edited = fixes.edits.iter().filter_map(|edit| match edit {
        LineEdit::Change(line, edits) => apply_edits(&line_bytes(*line)?, edits),
        LineEdit::Drop(_) => None,
        LineEdit::Insert(_, line) => Some(line.clone()),
    });
    let edited = edited.map(|line| serde_json::from_slice(&line).expect("a line is JSON")).collect();
    (fixes, edited)
}

/// Returns the new parents as `child ^parent`.
fn relink(text: &str) -> Vec<String> {
    let (_, lines) = run_pass(text, relink_entries);
    let name =
        |value: &Value| value.as_str().and_then(script::name_from_uuid).unwrap_or_else(|| "null".into());
    lines.iter().map(|line| format!("{} ^{}", name(&line["uuid"]), name(&line["parentUuid"]))).collect()
}

/// Repairs the content that the API refuses, without a choice.
fn fix_default(context: &mut RepairContext<'_>) -> FixSet {
    fix_content(context, FixOptions::default(), &mut IdSet::default())
}

#[test]
fn orphaned_entry_is_not_linked_to_a_newer_line() {
    // A client wrote `a2` late: it is newer than `u3`, whose parent is lost.
    let text = "
        u1: one
          a1: one
            u2 @+600: two
              a2: two
        u3 ^gone @+-500: three
          a3: three
    ";
    assert_eq!(relink(text), ["u3 ^a1"]);
    // The nearest line is the parent if all are newer.
    assert_eq!(relink("u1 @+600: one\n  a1: one\nu3 ^gone @+-500: three\n  a3: three"), ["u3 ^a1"]);
}

#[test]
fn orphaned_entry_is_linked_to_an_earlier_line_of_the_file() {
    let text = "
        u1: one
          a1: one
        u2 ^gone @+60: two
          a2: two
            u3: three
    ";
    assert_eq!(relink(text), ["u2 ^a1"]);
}

#[test]
fn orphaned_result_is_not_linked_to_a_call_before_a_compaction() {
    let text = "
        u1: one
          a1: !Bash ls
            s1: compact_boundary
              u2 recap: so far
                a2: go on
        u3 ^gone @+60: =a1 rake
          a3: done
    ";
    assert_eq!(relink(text), ["u3 ^a2"]);
}

#[test]
fn added_result_is_newer_than_its_call() {
    let text = "u1: one\n  a1 @2025-01-01T00:00:09.000Z: !Bash ls\n    u2: two\n      a2: two";
    let (_, lines) = run_pass(text, fix_default);
    let result = lines.iter().find(|line| line["uuid"] == script::uuid_from_name("u99")).expect("a result");
    assert_eq!(result["message"]["content"][0]["tool_use_id"], "toolu_a1");
    assert_eq!(result["timestamp"], "2025-01-01T00:00:09.001Z");
}

#[test]
fn removal_of_several_blocks_keeps_the_others() {
    // This client sends results without a call, and the API refuses them.
    let text = "* v=1.0.98\nu1: one\n  a1: one\n    u2: =gone1 a | keep this | =gone2 b | and this | =gone3 c\n      a2: two";
    let (_, lines) = run_pass(text, fix_default);
    let [line] = &lines[..] else { panic!("one line changes: {lines:?}") };
    let texts: Vec<&Value> =
        line["message"]["content"].as_array().expect("blocks").iter().map(|block| &block["text"]).collect();
    assert_eq!(texts, ["keep this", "and this"]);
}

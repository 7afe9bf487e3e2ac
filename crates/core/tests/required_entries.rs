//! The entries that a copy needs to resume from an entry.

use rethread_core::edit::required_entries;
use rethread_core::entry::read_line;
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{ResumeIndex, TrailingEntries};
use rethread_core::tree::{LineSpan, NodeId, TreeBuilder};
use rethread_core::version::Version;
use rethread_testkit::script;

/// Returns the names of the entries that client 1.0.98 requires to resume from the entry `leaf` of a script.
fn list_required(text: &str, leaf: &str) -> String {
    list_required_by("1.0.98", text, leaf)
}

/// Returns the names of the entries that a client requires to resume from the entry `leaf` of a script.
fn list_required_by(client: &str, text: &str, leaf: &str) -> String {
    let bytes = script::bytes(text);
    let mut builder = TreeBuilder::default();
    let mut index = ResumeIndex::default();
    LineSplitter::default().feed(&bytes, true, &mut Vec::new(), |line, problems| {
        read_line(&line, problems, |entry, offset| {
            let span = LineSpan { offset, len: entry.raw.len() as u32, line: line.number };
            builder.add_entry(&entry, span);
            index.add_entry(&entry, span);
        });
    });
    let tree = builder.finish();
    let name = |id: NodeId| script::name_from_bits(tree.node(id).uuid.bits()).expect("a name");
    let leaf = (0..tree.nodes().len() as NodeId).find(|&id| name(id) == leaf).expect("the leaf");
    let entries =
        required_entries(&tree, &index, &[Version::parse_lenient(client)], leaf, TrailingEntries::All);
    entries.into_iter().map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn subagent_lines_of_the_file_belong_to_the_line_before_them() {
    let text = "
        u1: delegate
          a1: !Task look around
        u2 side: look around
          a2 side: looking
        u3 ^a1: =a1 looked
          a3: done
            u4: once more
              a4: !Task look again
        u5 side: look again
          a5 side: looking again
        u6 ^a4: =a4 looked again
          a6: done again
    ";
    assert_eq!(list_required(text, "a6"), "u1 a1 u2 a2 u3 a3 u4 a4 u5 a5 u6 a6");
    // A copy of the first turn does not need the second subagent.
    assert_eq!(list_required(text, "a3"), "u1 a1 u2 a2 u3 a3");
}

#[test]
fn subagent_lines_of_another_branch_are_not_required() {
    let text = "
        u1: delegate
          a1: done
            u2: left
              a2: !Task look left
        u3 side: look left
          a3 side: looking left
        u4 ^a1: right
          a4: !Task look right
        u5 side: look right
          a5 side: looking right
        u6 ^a4: =a4 looked
          a6: done
    ";
    assert_eq!(list_required(text, "a6"), "u1 a1 u4 a4 u5 a5 u6 a6");
}

#[test]
fn progress_lines_between_a_parallel_result_and_its_call_are_required() {
    let text = "
        u1: look twice
          a1 #m1: !Bash one
            p1: bash_progress still
              p2: bash_progress almost
                u2: =a1 first
            p3: bash_progress nothing follows
            a2 #m1: !Bash two
              u3: =a2 second
                a3: done
    ";
    assert_eq!(list_required_by("2.1.325", text, "a3"), "u1 a1 p1 p2 u2 a2 u3 a3");
}

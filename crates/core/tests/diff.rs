//! Two paths beside each other, one case per pair of scripts: where they part, and what each did from there.

use insta::assert_snapshot;
use rethread_core::diff::{DiffSide, EntryFingerprint, find_merge_base};
use rethread_core::entry::{Entry, read};
use rethread_core::lines::LineSplitter;
use rethread_core::tree::{NodeId, Tree};
use rethread_core::turn::build_turn;
use rethread_core::usage::TokenTotals;
use rethread_testkit::{check, script};

fn each_entry(bytes: &[u8], mut each: impl FnMut(u32, &Entry<'_>)) {
    LineSplitter::default().feed(bytes, true, &mut Vec::new(), |line, problems| {
        read(&line, problems, |entry, _| each(line.no, &entry));
    });
}

/// Marks the path to `tip` with its words.
fn path(bytes: &[u8], tree: &Tree, tip: &str) -> Vec<EntryFingerprint> {
    let name = |no: NodeId| script::name_of_bits(tree.node(no).id.bits()).expect("a name");
    let tip = (0..tree.nodes().len() as NodeId).rfind(|&no| name(no) == tip).expect("the tip is there");
    let mut marks: Vec<EntryFingerprint> = tree
        .with_parallel_calls(&tree.ancestors_across_compactions(tip))
        .iter()
        .map(|step| EntryFingerprint::of(tree, step.node))
        .collect();
    each_entry(bytes, |line, entry| {
        for mark in marks.iter_mut().filter(|mark| tree.node(mark.node).place.line == line) {
            mark.read(entry);
        }
    });
    marks
}

/// Says where the paths to two tips part: what tells, the last common entries, and what only each has.
fn parted(a: (&str, &str), b: (&str, &str)) -> String {
    let files = [a, b].map(|(text, _)| script::bytes(text));
    let trees = files.each_ref().map(|bytes| check::tree(bytes));
    let paths = [path(&files[0], &trees[0], a.1), path(&files[1], &trees[1], b.1)];
    let met = find_merge_base(&paths[0], &paths[1]);
    let name = |k: usize, mark: &EntryFingerprint| {
        script::name_of_bits(trees[k].node(mark.node).id.bits()).expect("a name")
    };
    let last = met.last.map_or("nothing".to_owned(), |(x, y)| {
        format!("{} = {}", name(0, &paths[0][x]), name(1, &paths[1][y]))
    });
    let only = |k: usize| {
        let own = paths[k].iter().zip(&met.common[k]).filter(|(_, common)| !**common);
        own.map(|(mark, _)| name(k, mark)).collect::<Vec<_>>().join(" ")
    };
    format!("{:?}: {last} | {} | {}", met.by, only(0), only(1))
}

const TREE: &str = "
    u1: one
      a1: first
        u2: two
          a2: second
        u3: other two
          a3: other second
            u4: three
";

#[test]
fn branches_of_one_file_part_at_their_fork() {
    assert_snapshot!(parted((TREE, "a2"), (TREE, "u4")), @"Uuid: a1 = a1 | u2 a2 | u3 a3 u4");
    assert_snapshot!(parted((TREE, "a3"), (TREE, "u4")), @"Uuid: a3 = a3 |  | u4");
    assert_snapshot!(parted((TREE, "a2"), (TREE, "a2")), @"Uuid: a2 = a2 |  | ");
}

#[test]
fn results_of_calls_that_both_have_are_common() {
    let text = "
        u1: go
          a1 #m1: !Bash one
            a2 #m1: !Bash two
              u3: =a2 second
                a4: both done
            u2: =a1 first
            u5: no, stop
              a5: stopped
    ";
    assert_snapshot!(parted((text, "a4"), (text, "a5")), @"Uuid: u3 = u3 | a4 | u5 a5");
}

#[test]
fn two_beginnings_have_nothing_in_common() {
    let text = "u1: one\n  a1: first\nu2: one\n  a2: again";
    let one = "u1: one\n  a1: first";
    let two = "u2: another\n  a2: again";
    assert_snapshot!(parted((one, "a1"), (two, "a2")), @"Nothing: nothing | u1 a1 | u2 a2");
    // Within a file the same words twice are two entries; that they are not read there is for the op.
    assert!(parted((text, "a1"), (text, "a2")).starts_with("Words: u1 = u2"));
}

#[test]
fn a_copy_with_new_uuids_is_known_by_its_responses() {
    let origin = "
        u1: one
          a1 #m1: !Bash ls
            u2: =a1 rake
              a2 #m2: a rake
                u3: and then
                  a3 #m3: this
    ";
    let copy = "
        u11: one
          a11 #m1: !Bash ls
            u12: =a11 rake
              a12 #m2: a rake
                u13: something else
                  a13 #m13: that
    ";
    assert_snapshot!(parted((origin, "a3"), (copy, "a13")), @"Message: a2 = a12 | u3 a3 | u13 a13");
    // A prompt that was copied before its answer came has nothing but its words.
    let asked_again = copy.replace("something else", "and then");
    assert_snapshot!(parted((origin, "a3"), (&asked_again, "a13")), @"Message: u3 = u13 | a3 | a13");
}

#[test]
fn the_same_prompt_answered_in_two_sessions_is_known_by_its_words() {
    let one = "u1: tidy the shed\n  a1 #m1: done";
    let two = "s1: turn_duration 1\n  u2: tidy the shed\n    a2 #m2: in a minute";
    assert_snapshot!(parted((one, "a1"), (two, "a2")), @"Words: u1 = u2 | a1 | a2");
}

#[test]
fn a_side_tells_and_counts_its_turns() {
    let text = r#"
        u1: tidy
          a1: ?hm | !Bash ls | {"type":"tool_use","id":"w1","name":"Write","input":{"file_path":"/s/a \"b\".txt","content":"x"}}
            u2: =!a1 no such shed
              a2 #m2: {"type":"tool_use","id":"w2","name":"Edit","input":{"file_path":"/s/a \"b\".txt"}} | {"type":"tool_use","id":"w3","name":"NotebookEdit","input":{"notebook_path":"/s/n.ipynb"}}
                raw: {"type":"user","uuid":"r1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"w3","is_error":true,"content":"no"}]}}
                  a3: tidied
                    u3: [Request interrupted by user]
    "#;
    let bytes = script::bytes(text);
    let mut side = DiffSide::default();
    let mut lines: Vec<(u32, Entry<'_>)> = Vec::new();
    LineSplitter::default().feed(&bytes, true, &mut Vec::new(), |line, problems| {
        read(&line, problems, |entry, _| lines.push((line.no, entry)));
    });
    side.add(Some(1), false, 1, build_turn(&lines));
    side.add(Some(1), true, 9, build_turn(&lines[..1]));
    let side = side.finish(TokenTotals::default());
    let turn = &side.turns[0];
    assert_eq!(
        (turn.prompt.as_deref(), turn.answer.as_deref(), turn.stopped),
        (Some("tidy"), Some("tidied"), true)
    );
    assert!(turn.calls.iter().all(|call| call.result.as_ref().is_none_or(|result| result.text.is_empty())));
    assert_eq!(side.totals.turns, 1);
    let tools: Vec<String> =
        side.totals.tools.iter().map(|(name, calls, failed)| format!("{name} {calls} {failed}")).collect();
    assert_snapshot!(tools.join(", "), @"Bash 1 1, Write 1 0, Edit 1 0, NotebookEdit 1 1");
    assert_eq!(side.totals.files, [("/s/a \"b\".txt".to_owned(), 2)]);
}

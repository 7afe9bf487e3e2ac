//! Diffs of two paths, one case per pair of scripts: the last common entry, and each side after it.

use insta::assert_snapshot;
use rethread_core::diff::{DiffSide, EntryFingerprint, find_merge_base};
use rethread_core::entry::{Entry, read_line};
use rethread_core::lines::LineSplitter;
use rethread_core::tree::{NodeId, Tree};
use rethread_core::turn::build_turn;
use rethread_core::usage::TokenTotals;
use rethread_testkit::{check, script};

fn for_each_entry(bytes: &[u8], mut visit: impl FnMut(u32, &Entry<'_>)) {
    LineSplitter::default().feed(bytes, true, &mut Vec::new(), |line, problems| {
        read_line(&line, problems, |entry, _| visit(line.number, &entry));
    });
}

/// Returns the fingerprints of the path to `tip`, with texts.
fn fingerprint_path(bytes: &[u8], tree: &Tree, tip: &str) -> Vec<EntryFingerprint> {
    let name = |id: NodeId| script::name_from_bits(tree.node(id).uuid.bits()).expect("a name");
    let tip = (0..tree.nodes().len() as NodeId).rfind(|&id| name(id) == tip).expect("the tip is there");
    let mut fingerprints: Vec<EntryFingerprint> = tree
        .with_parallel_calls(&tree.ancestors_across_compactions(tip))
        .iter()
        .map(|step| EntryFingerprint::new(tree, step.node))
        .collect();
    for_each_entry(bytes, |line, entry| {
        for fingerprint in
            fingerprints.iter_mut().filter(|fingerprint| tree.node(fingerprint.node).span.line == line)
        {
            fingerprint.add_text(entry);
        }
    });
    fingerprints
}

/// Describes the common part of the paths to two tips: the evidence, the last common entries, and the rest of each path.
fn describe_merge_base(a: (&str, &str), b: (&str, &str)) -> String {
    let files = [a, b].map(|(text, _)| script::bytes(text));
    let trees = files.each_ref().map(|bytes| check::tree(bytes));
    let paths = [fingerprint_path(&files[0], &trees[0], a.1), fingerprint_path(&files[1], &trees[1], b.1)];
    let base = find_merge_base(&paths[0], &paths[1]);
    let name = |side: usize, fingerprint: &EntryFingerprint| {
        script::name_from_bits(trees[side].node(fingerprint.node).uuid.bits()).expect("a name")
    };
    let last = base.last.map_or("nothing".to_owned(), |(x, y)| {
        format!("{} = {}", name(0, &paths[0][x]), name(1, &paths[1][y]))
    });
    let only = |side: usize| {
        let own = paths[side].iter().zip(&base.common[side]).filter(|(_, common)| !**common);
        own.map(|(fingerprint, _)| name(side, fingerprint)).collect::<Vec<_>>().join(" ")
    };
    format!("{:?}: {last} | {} | {}", base.basis, only(0), only(1))
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
fn branches_of_one_file_diverge_at_their_fork() {
    assert_snapshot!(describe_merge_base((TREE, "a2"), (TREE, "u4")), @"Uuid: a1 = a1 | u2 a2 | u3 a3 u4");
    assert_snapshot!(describe_merge_base((TREE, "a3"), (TREE, "u4")), @"Uuid: a3 = a3 |  | u4");
    assert_snapshot!(describe_merge_base((TREE, "a2"), (TREE, "a2")), @"Uuid: a2 = a2 |  | ");
}

#[test]
fn results_of_common_calls_are_common() {
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
    assert_snapshot!(describe_merge_base((text, "a4"), (text, "a5")), @"Uuid: u3 = u3 | a4 | u5 a5");
}

#[test]
fn different_first_prompts_have_nothing_in_common() {
    let text = "u1: one\n  a1: first\nu2: one\n  a2: again";
    let one = "u1: one\n  a1: first";
    let two = "u2: another\n  a2: again";
    assert_snapshot!(describe_merge_base((one, "a1"), (two, "a2")), @"NoMatch: nothing | u1 a1 | u2 a2");
    // Two entries of one file with the same text match here; the caller adds no texts in this case.
    assert!(describe_merge_base((text, "a1"), (text, "a2")).starts_with("Text: u1 = u2"));
}

#[test]
fn copies_with_new_uuids_match_by_response() {
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
    assert_snapshot!(describe_merge_base((origin, "a3"), (copy, "a13")), @"Message: a2 = a12 | u3 a3 | u13 a13");
    // A prompt copied before its answer was written has only its text in common.
    let asked_again = copy.replace("something else", "and then");
    assert_snapshot!(describe_merge_base((origin, "a3"), (&asked_again, "a13")), @"Message: u3 = u13 | a3 | a13");
}

#[test]
fn same_prompt_in_two_sessions_matches_by_text() {
    let one = "u1: tidy the shed\n  a1 #m1: done";
    let two = "s1: turn_duration 1\n  u2: tidy the shed\n    a2 #m2: in a minute";
    assert_snapshot!(describe_merge_base((one, "a1"), (two, "a2")), @"Text: u1 = u2 | a1 | a2");
}

#[test]
fn side_summarises_and_counts_its_turns() {
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
        read_line(&line, problems, |entry, _| lines.push((line.number, entry)));
    });
    side.add(Some(1), false, 1, build_turn(&lines));
    side.add(Some(1), true, 9, build_turn(&lines[..1]));
    let side = side.finish(TokenTotals::default());
    let turn = &side.turns[0];
    assert_eq!(
        (turn.prompt.as_deref(), turn.answer.as_deref(), turn.interrupted),
        (Some("tidy"), Some("tidied"), true)
    );
    assert!(turn.calls.iter().all(|call| call.result.as_ref().is_none_or(|result| result.text.is_empty())));
    assert_eq!(side.totals.turns, 1);
    let tools: Vec<String> =
        side.totals.tools.iter().map(|(name, calls, failed)| format!("{name} {calls} {failed}")).collect();
    assert_snapshot!(tools.join(", "), @"Bash 1 1, Write 1 0, Edit 1 0, NotebookEdit 1 1");
    assert_eq!(side.totals.files, [("/s/a \"b\".txt".to_owned(), 2)]);
}

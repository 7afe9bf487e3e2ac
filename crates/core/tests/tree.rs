//! Tests of the tree, one script per case: indentation is `parentUuid`, names are uuids.

use insta::assert_snapshot;
use rethread_core::tree::{NodeId, Tree};
use rethread_testkit::{check, script};

fn tree_of(text: &str) -> (Tree, Vec<String>) {
    let bytes = script::bytes(text);
    let tree = check::tree(&bytes);
    let names =
        tree.nodes().iter().map(|node| script::name_from_bits(node.uuid.bits()).expect("a name")).collect();
    (tree, names)
}

/// Describes the tree of a script: path, forks, turns, problems.
fn describe(text: &str) -> String {
    let (tree, names) = tree_of(text);
    let name = |id: NodeId| names[id as usize].clone();
    let list = |nodes: &[NodeId]| nodes.iter().map(|&id| name(id)).collect::<Vec<_>>().join(" ");
    let mut lines = Vec::new();
    let tip = tree.newest_tip();
    if let Some(tip) = tip {
        let nodes: Vec<NodeId> =
            tree.with_parallel_calls(&tree.ancestors(tip)).iter().map(|step| step.node).collect();
        lines.push(format!("path: {}", list(&nodes)));
    }
    for fork in tree.find_forks() {
        let at = fork.at.map_or("beginning".to_owned(), name);
        lines.push(format!("fork at {at}: {} ({})", list(&fork.branches), fork.kind.name()));
    }
    let turns: Vec<NodeId> = tree.turn_starts().collect();
    lines.push(format!("turns: {}; branches: {}", list(&turns), tree.branch_count()));
    for problem in &tree.problems {
        lines.push(format!("line {}: {}", problem.line, problem.kind.name()));
    }
    lines.join("\n")
}

#[test]
fn plain_conversation_is_one_branch() {
    assert_snapshot!(describe("u1: hello\n  a1: hi\n    u2: more\n      a2: sure"), @r"
    path: u1 a1 u2 a2
    turns: u1 u2; branches: 1
    ");
}

#[test]
fn edited_prompt_is_an_edit_fork() {
    assert_snapshot!(describe("u1: hello\n  a1: hi\n    u2: plan it\n      a2: so\n    u3: plan it better\n      a3: thus"), @r"
    path: u1 a1 u3 a3
    fork at a1: u2 u3 (edit)
    turns: u1 u2 u3; branches: 2
    ");
}

#[test]
fn ten_edits_of_one_prompt_are_ten_branches() {
    let mut text = "u0: hello\n  a0: hi\n".to_owned();
    for k in 1..=10 {
        text.push_str(&format!("    u{k}: try {k}\n      a{k}: answer {k}\n"));
    }
    let (tree, _) = tree_of(&text);
    assert_eq!(tree.branch_count(), 10);
    assert_eq!(tree.find_forks()[0].branches.len(), 10);
}

#[test]
fn dropping_several_turns_is_a_rewind() {
    let text = "u1: one\n  a1: one\n    u2: two\n      a2: two\n        u3: three\n          a3: three\n    u4: two again\n      a4: other";
    assert_snapshot!(describe(text), @r"
    path: u1 a1 u4 a4
    fork at a1: u2 u4 (rewind)
    turns: u1 u2 u3 u4; branches: 2
    ");
}

#[test]
fn second_root_is_another_branch() {
    assert_snapshot!(describe("u1: one\n  a1: one\nu2: another start\n  a2: fine"), @r"
    path: u2 a2
    fork at beginning: u1 u2 (root)
    turns: u1 u2; branches: 2
    ");
}

#[test]
fn two_answers_to_one_prompt_are_a_retry() {
    assert_snapshot!(describe("u1: one\n  a1 #m1: first\n  a2 #m2: second"), @r"
    path: u1 a2
    fork at u1: a1 a2 (retry)
    turns: u1; branches: 2
    ");
}

#[test]
fn prompt_replaced_before_an_answer_is_an_interrupt() {
    assert_snapshot!(describe("u1: one\n  a1: one\n    u2: wait\n    u3: instead this\n      a3: done"), @r"
    path: u1 a1 u3 a3
    fork at a1: u2 u3 (interrupt)
    turns: u1 u2 u3; branches: 2
    ");
}

#[test]
fn two_processes_on_one_session_are_parallel_writers() {
    let text = "u1: one\n  a1: one\n    u2: left\n    u3: right ^a1\n      a2 ^u2: left answer\n      a3 ^u3: right answer";
    let text = text.replace("u3: right ^a1", "u3: right");
    assert_snapshot!(describe(&text), @r"
    path: u1 a1 u3 a3
    fork at a1: u2 u3 (parallel writer)
    turns: u1 u2 u3; branches: 2
    ");
}

#[test]
fn structural_line_of_an_older_process_is_no_parallel_writer() {
    // The client writes the system line below `a1` before the answer to `u2`, and continues from it later.
    let text = "
        u1: one
          a1: one
            u2: left
            s1: informational noted
              a2 ^u2: left answer
              u3 ^s1: left again
                a3: right answer
    ";
    assert_snapshot!(describe(text), @r"
    path: u1 a1 s1 u3 a3
    fork at a1: u2 s1 (edit)
    turns: u1 u2 u3; branches: 2
    ");
}

#[test]
fn repeated_identical_line_is_not_a_branch() {
    let text = "
        u1: one
          a1: one
            u2 @2025-01-01T00:01:00.000Z: two
            u2 @2025-01-01T00:01:00.000Z: two
              a2: two
    ";
    assert_snapshot!(describe(text), @r"
    path: u1 a1 u2 a2
    fork at a1: u2 u2 (record)
    turns: u1 u2; branches: 1
    line 4: repeated-line
    ");
}

#[test]
fn parallel_calls_and_results_are_one_branch() {
    let text = "
        u1: look at both
          a1 #m1: !Read one
            u2: =a1 first
            a2 #m1: !Read two
              u3: =a2 second
                a3: both are fine
    ";
    assert_snapshot!(describe(text), @r"
    path: u1 a1 u2 a2 u3 a3
    fork at a1: u2 a2 (parallel tools)
    turns: u1; branches: 1
    ");
}

#[test]
fn results_in_reverse_order_keep_all_calls() {
    let text = "
        u1: look at both
          a1 #m1: !Read one
            a2 #m1: !Read two
              u3: =a2 second
            u2: =a1 first
              a3: both are fine
    ";
    assert_snapshot!(describe(text), @r"
    path: u1 a1 a2 u3 u2 a3
    fork at a1: a2 u2 (parallel tools)
    turns: u1; branches: 1
    ");
}

#[test]
fn progress_next_to_a_result_is_an_artifact() {
    let text = "
        u1: run it
          a1 #m1: !Bash make
            p1: hook_progress before
            u2: =a1 built
              p2: hook_progress after
                a2: it builds
    ";
    assert_snapshot!(describe(text), @r"
    path: u1 a1 u2 p2 a2
    fork at a1: p1 u2 (progress)
    turns: u1; branches: 1
    ");
}

#[test]
fn local_command_is_not_a_branch() {
    let text = "
        u1: one
          a1: one
            u2 meta: Caveat: The messages below were generated by the user while running local commands. DO NOT respond
              u3: <command-name>/exit</command-name>
                u4: <local-command-stdout>Bye!</local-command-stdout>
            u5: two
              a5: two
    ";
    assert_snapshot!(describe(text), @r"
    path: u1 a1 u5 a5
    fork at a1: u2 u5 (record)
    turns: u1 u5; branches: 1
    ");
}

#[test]
fn compaction_is_not_a_branch() {
    let text = "
        u1: one
          a1: one
            s1: compact_boundary
              u2 recap: what was said so far
                u3: two
                  a3: two
    ";
    let (tree, names) = tree_of(text);
    assert_eq!(tree.branch_count(), 1);
    let tip = tree.newest_tip().expect("there is a tip");
    let across: Vec<&str> =
        tree.ancestors_across_compactions(tip).iter().map(|&id| names[id as usize].as_str()).collect();
    assert_eq!(across, ["u1", "a1", "s1", "u2", "u3", "a3"]);
    let path: Vec<&str> = tree.ancestors(tip).iter().map(|&id| names[id as usize].as_str()).collect();
    assert_eq!(path, ["s1", "u2", "u3", "a3"]);
}

#[test]
fn preserved_entries_follow_their_anchor() {
    let context_path = |field: &str| {
        let uuid = script::uuid_from_name;
        let text = format!(
            "u1: one\n  a1: one\n    u2: two\n      a2: two\n        s1 +compactMetadata={field}: compact_boundary\n          u3 recap: so far\n            u4: three"
        )
        .replace("$anchor", &uuid("u3"))
        .replace("$head", &uuid("u2"))
        .replace("$tail", &uuid("a2"));
        let (tree, names) = tree_of(&text);
        let tip = tree.newest_tip().expect("there is a tip");
        tree.context_path(tip).iter().map(|&id| names[id as usize].clone()).collect::<Vec<_>>().join(" ")
    };
    let messages = r#"{"preservedMessages":{"anchorUuid":"$anchor","uuids":["$head","$tail"]}}"#;
    let segment = r#"{"preservedSegment":{"headUuid":"$head","anchorUuid":"$anchor","tailUuid":"$tail"}}"#;
    assert_eq!(context_path(messages), "s1 u3 u2 a2 u4");
    assert_eq!(context_path(segment), "s1 u3 u2 a2 u4");
    assert_eq!(context_path(r#"{"trigger":"auto"}"#), "s1 u3 u4");
}

#[test]
fn boundary_without_logical_parent_follows_the_message_before_it() {
    let text = "
        u1: one
          a1: one
        s1 ~gone: compact_boundary
          u2 recap: what was said so far
            a2: two
    ";
    let (tree, names) = tree_of(text);
    let tip = tree.newest_tip().expect("there is a tip");
    let across: Vec<&str> =
        tree.ancestors_across_compactions(tip).iter().map(|&id| names[id as usize].as_str()).collect();
    assert_eq!(across, ["u1", "a1", "s1", "u2", "a2"]);
    assert_eq!(tree.problems.len(), 1);
}

#[test]
fn logical_parent_after_its_boundary_is_ignored() {
    let text = "
        u1: one
          a1: one
        s1 ~a2: compact_boundary
          u2 recap: what was said so far
            a2: two
    ";
    let (tree, names) = tree_of(text);
    let tip = tree.newest_tip().expect("there is a tip");
    let across: Vec<&str> =
        tree.ancestors_across_compactions(tip).iter().map(|&id| names[id as usize].as_str()).collect();
    assert_eq!(across, ["u1", "a1", "s1", "u2", "a2"]);
}

#[test]
fn parent_may_occur_later_in_the_file() {
    assert_snapshot!(describe("a1 ^u1: hi\nu1 ^null: hello\n  u2 ^a1: more"), @r"
    path: u1 a1 u2
    turns: u1 u2; branches: 1
    ");
}

#[test]
fn broken_links_are_reported_and_cut() {
    assert_snapshot!(describe("u1 ^u1: me\nu2 ^u3: round\nu3 ^u2: and round\nu4 ^gone: lost\nu5 ^null: fine\nu5 ^null: again"), @r"
    path: u5
    fork at beginning: u5 u5 (root)
    turns: u1 u2 u3 u4 u5 u5; branches: 2
    line 1: self-parent
    line 2: cycle
    line 4: missing-parent
    line 6: repeated-uuid
    ");
}

#[test]
fn queued_prompt_starts_a_turn_and_unanswered_command_does_not() {
    let text = "
        u1: run it
          a1: !Bash make
            t1: queued_command and test it
              a2: both done
                u2: <command-name>/cost</command-name>
                  u3: <local-command-stdout>$1</local-command-stdout>
                    u4: <command-name>/greet</command-name>
                      a4: hello
    ";
    assert_snapshot!(describe(text), @r"
    path: u1 a1 t1 a2 u2 u3 u4 a4
    turns: u1 t1 u4; branches: 1
    ");
}

#[test]
fn subagents_inside_the_file_are_not_branches() {
    let text = "
        u1: delegate
          a1: !Task look around
            u2: =a1 looked
              a2: done
        u3 side: look around
          a3 side: looking
    ";
    assert_snapshot!(describe(text), @r"
    path: u1 a1 u2 a2
    turns: u1; branches: 1
    ");
}

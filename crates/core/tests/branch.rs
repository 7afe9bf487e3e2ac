//! Tests of branches, one script per case: tip, fork point and cause of each branch.

use insta::assert_snapshot;
use rethread_core::tree::{Branches, NodeId};
use rethread_testkit::{check, script};

/// Describes the branches of a script: `tip < fork point (kind number/count) first prompt own/all turns`.
fn describe(text: &str) -> String {
    let tree = check::tree(&script::bytes(text));
    let name = |id: NodeId| script::name_from_bits(tree.node(id).uuid.bits()).expect("a name");
    let branches = Branches::from_tree(&tree);
    let lines = branches.list.iter().map(|branch| {
        let fork_point = branch.fork_point.map_or(String::new(), |fork_point| {
            let at = fork_point.at.map_or("beginning".to_owned(), name);
            format!(
                " < {at} ({} {}/{})",
                fork_point.kind.name(),
                fork_point.branch_number,
                fork_point.branch_count
            )
        });
        let first =
            if branch.prompt == Some(branch.first) { "" } else { &format!(" first {}", name(branch.first)) };
        let prompt = branch.prompt.map_or("-".to_owned(), name);
        let link = branch.broken_link.map_or(String::new(), |link| format!(" {link:?}").to_lowercase());
        let orphaned = if branch.orphaned { " orphaned" } else { "" };
        let turns = format!("{}/{}", branch.own_turns, branch.turns);
        format!("{}{fork_point}{first} prompt {prompt} turns {turns}{link}{orphaned}", name(branch.tip))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn file_without_forks_is_one_branch() {
    assert_snapshot!(describe("u1: hello\n  a1: hi\n    u2: more\n      a2: sure"), @"a2 prompt u1 turns 2/2");
    assert_snapshot!(describe(""), @"");
}

#[test]
fn branch_ends_with_a_result_that_follows_the_last_answer() {
    assert_snapshot!(
        describe("u1: dig\n  a1: I dig.\n    a2: !Bash dig\n      u2: =a2 done"),
        @"u2 prompt u1 turns 1/1"
    );
}

#[test]
fn ten_edits_are_ten_branches() {
    let mut text = "u0: hello\n  a0: hi\n".to_owned();
    for k in 1..=10 {
        text.push_str(&format!("    u{k}: try {k}\n      a{k}: answer {k}\n"));
    }
    assert_snapshot!(describe(&text), @r"
    a1 < a0 (edit 1/10) prompt u1 turns 1/2
    a2 < a0 (edit 2/10) prompt u2 turns 1/2
    a3 < a0 (edit 3/10) prompt u3 turns 1/2
    a4 < a0 (edit 4/10) prompt u4 turns 1/2
    a5 < a0 (edit 5/10) prompt u5 turns 1/2
    a6 < a0 (edit 6/10) prompt u6 turns 1/2
    a7 < a0 (edit 7/10) prompt u7 turns 1/2
    a8 < a0 (edit 8/10) prompt u8 turns 1/2
    a9 < a0 (edit 9/10) prompt u9 turns 1/2
    a10 < a0 (edit 10/10) prompt u10 turns 1/2
    ");
}

#[test]
fn nested_forks_share_their_ancestors() {
    let text = "
        u1: one
          a1: one
            u2: two
              a2: two
                u3: three
                  a3: three
                u4: three again
                  a4: three
            u5: two again
              a5: two
    ";
    assert_snapshot!(describe(text), @r"
    a3 < a2 (edit 1/2) prompt u3 turns 1/3
    a4 < a2 (edit 2/2) prompt u4 turns 1/3
    a5 < a1 (rewind 2/2) prompt u5 turns 1/2
    ");
}

#[test]
fn retry_has_no_own_prompt_until_one_follows() {
    assert_snapshot!(describe("u1: one\n  a1 #m1: first\n  a2 #m2: second\n    u2: go on\n      a3: done"), @r"
    a1 < u1 (retry 1/2) first a1 prompt - turns 0/1
    a3 < u1 (retry 2/2) first a2 prompt u2 turns 1/2
    ");
}

#[test]
fn two_roots_share_no_entries() {
    assert_snapshot!(describe("u1: one\n  a1: one\nu2: another start\n  a2: fine"), @r"
    a1 < beginning (root 1/2) prompt u1 turns 1/1
    a2 < beginning (root 2/2) prompt u2 turns 1/1
    ");
}

#[test]
fn recording_artifacts_are_not_branches() {
    let text = "
        u1: look at both
          a1 #m1: !Read one
            p1: hook_progress before
            t1: edited_text_file x
            a2 #m1: !Read two
              u3: =a2 second
                a3: both are fine
            u2: =a1 first
        s1 ^u2: informational hm
    ";
    assert_snapshot!(describe(text), @"a3 prompt u1 turns 1/1");
}

#[test]
fn results_stay_with_their_call_after_an_interrupt() {
    let text = "
        u1: look at both
          a1 #m1: !Read one
            u2: =a1 first
            a2 #m1: !Read two
              u3: =a2 second
                a3: both are fine
            u4: stop, do this instead
              a4: sure
    ";
    assert_snapshot!(describe(text), @r"
    a3 < a1 (interrupt 1/2) first u2 prompt - turns 0/1
    a4 < a1 (interrupt 2/2) prompt u4 turns 1/2
    ");
}

#[test]
fn compaction_continues_the_branch_before_it() {
    let text = "
        u1: one
          a1: one
            u2: left
              a2: left
                s1: compact_boundary
                  u3 recap: so far
                    u4: further left
                      a4: done
            u5: right
              a5: right
    ";
    assert_snapshot!(describe(text), @r"
    a4 < a1 (edit 1/2) prompt u2 turns 2/3
    a5 < a1 (edit 2/2) prompt u5 turns 1/2
    ");
}

#[test]
fn orphaned_parts_are_branches() {
    let text = "
        u1: one
          a1: one
        u2 ^gone: lost
          a2: found
        u3 ^a3: round
          a3: and round
        p1 ^gone: bash_progress no words at all
    ";
    assert_snapshot!(describe(text), @r"
    a1 prompt u1 turns 1/1
    a2 prompt u2 turns 1/1 missingparent orphaned
    a3 prompt u3 turns 1/1 cyclebroken orphaned
    ");
}

#[test]
fn fork_in_an_orphaned_part_is_a_branch() {
    assert_snapshot!(describe("u1: one\n  a1: one\nu2 ^gone: lost\n  a2: so\n    u3: a\n      a3: a\n    u4: b\n      a4: b"), @r"
    a1 prompt u1 turns 1/1
    a3 < a2 (edit 1/2) prompt u3 turns 1/2 missingparent orphaned
    a4 < a2 (edit 2/2) prompt u4 turns 1/2 missingparent
    ");
}

#[test]
fn file_without_its_start_is_not_orphaned() {
    assert_snapshot!(describe("u1 ^gone: goes on\n  a1: yes\n    u2: left\n      a2: l\n    u3: right\n      a3: r"), @r"
    a2 < a1 (edit 1/2) prompt u2 turns 1/2 missingparent
    a3 < a1 (edit 2/2) prompt u3 turns 1/2 missingparent
    ");
    assert_snapshot!(describe("s1 ^null: informational hm\nu1 ^gone: goes on\n  a1: yes\nu2 ^gone: another\n  a2: part"), @r"
    a1 prompt u1 turns 1/1 missingparent
    a2 prompt u2 turns 1/1 missingparent orphaned
    ");
}

#[test]
fn subagents_and_copies_are_not_branches() {
    let text = "
        u1: delegate
          a1: !Task look around
            u2: =a1 looked
              a2: done
            u2 ^a1: =a1 looked
              a5: done again
        u3 side: look around
          a3 side: looking
        u4 side ^gone: lost
    ";
    assert_snapshot!(describe(text), @"a5 prompt u1 turns 1/1");
}

#[test]
fn file_of_structural_entries_is_one_branch() {
    assert_snapshot!(describe("s1: informational hm\n  p1: bash_progress x"), @"p1 first s1 prompt - turns 0/0");
}

#[test]
fn active_leaf_is_the_tip_of_its_branch() {
    // After a rewind only `/exit` was recorded: the client still resumes from the last answer.
    let text = "
        u1: one
          a1: one
            u2: two
              a2: two
                s1: turn_duration 5
            u3 meta: <local-command-caveat>x</local-command-caveat>
              u4: <command-name>/exit</command-name>";
    let tree = check::tree(&script::bytes(text));
    let node = |name: &str| {
        let has_name =
            |id: &NodeId| script::name_from_bits(tree.node(*id).uuid.bits()).as_deref() == Some(name);
        (0..tree.nodes().len() as NodeId).find(has_name).expect("an entry")
    };
    let tip = |leaf: &str| {
        let mut branches = Branches::from_tree(&tree);
        assert_eq!(branches.list.len(), 1, "the lines of a command are not a branch");
        assert_eq!(branches.set_active_leaf(&tree, node(leaf)), Some(0));
        branches.list[0].tip
    };
    assert_eq!(tip("s1"), node("a2"), "the last message there");
    assert_eq!(tip("u4"), node("u4"), "it is the newest anyway");
    assert_eq!(tip("a1"), node("u4"), "the branch continues below it");
}

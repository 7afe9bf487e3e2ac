//! The conversation up to an entry: compactions of one part, repeated lines, and lines that rethread appended.

use rethread_core::tree::{Branches, ForkKind, NodeId, PathRelation, Tree};
use rethread_testkit::{check, script};

fn tree_of(text: &str) -> Tree {
    check::tree(&script::bytes(text))
}

fn name(tree: &Tree, id: NodeId) -> String {
    script::name_from_bits(tree.node(id).uuid.bits()).expect("a node of the script")
}

/// Finds the first node with a name.
fn find(tree: &Tree, wanted: &str) -> NodeId {
    (0..tree.nodes().len() as NodeId).find(|&id| name(tree, id) == wanted).expect("an entry")
}

/// Describes the conversation up to the newest tip: compacted entries are in brackets, other branches in parentheses.
fn describe(tree: &Tree) -> String {
    let tip = tree.newest_tip().expect("a tip");
    let conversation = tree.conversation(tip, &tree.context_path(tip));
    let names = conversation.entries.iter().map(|entry| match entry.relation {
        PathRelation::OnPath => name(tree, entry.node),
        PathRelation::Compacted => format!("[{}]", name(tree, entry.node)),
        PathRelation::OtherBranch => format!("({})", name(tree, entry.node)),
    });
    names.collect::<Vec<_>>().join(" ")
}

fn turns(tree: &Tree) -> Vec<String> {
    tree.turn_starts().map(|id| name(tree, id)).collect()
}

const THREE_TURNS: &str = "
    u1: one
      a1: one
        u2: two
          a2: two
            u3: three
              a3: three";

#[test]
fn turns_summarized_from_a_message_on_are_compacted() {
    let tree = tree_of(&format!(
        "{THREE_TURNS}
    s1 ~a1 list=u1,a1>s1: compact_boundary x
    u4 ^s1 recap: the summary
      u5: four
        a5: four"
    ));
    assert_eq!(describe(&tree), "u1 a1 [u2] [a2] [u3] [a3] s1 u4 u5 a5");
    assert_eq!(Branches::from_tree(&tree).list.len(), 1);
}

#[test]
fn turns_after_a_summarized_part_stay_in_the_conversation() {
    let tree = tree_of(&format!(
        "{THREE_TURNS}
    s1 ~a2 list=u3,a3>u4: compact_boundary x
    u4 ^s1 recap: the summary
      u5: four
        a5: four"
    ));
    assert_eq!(describe(&tree), "[u1] [a1] [u2] [a2] u3 a3 s1 u4 u5 a5");
}

#[test]
fn turns_left_by_a_rewind_before_a_compaction_are_on_another_branch() {
    let tree = tree_of(&format!(
        "{THREE_TURNS}
    s1 ~a1: compact_boundary x
    u4 ^s1 recap: the summary
      u5: four"
    ));
    assert_eq!(describe(&tree), "[u1] [a1] s1 u4 u5");
}

#[test]
fn entry_that_continues_after_a_compaction_is_not_before_it() {
    // A damaged file, in which the last line stands above the summary.
    let moved = "
    a5 ^u5: four
    u4 ^null recap: the summary
      u5: four";
    assert_eq!(describe(&tree_of(moved)), "u4 u5");
    let tree = tree_of(&format!("{THREE_TURNS}{moved}"));
    let conversation = tree.ancestors_across_compactions(find(&tree, "u5"));
    let names: Vec<String> = conversation.into_iter().map(|id| name(&tree, id)).collect();
    assert_eq!(names, ["u1", "a1", "u2", "a2", "u3", "a3", "u4", "u5"]);
}

#[test]
fn repeated_lines_are_one_turn_and_occur_once() {
    // `/branch` after a partial compaction writes the preserved entries twice.
    let tree = tree_of(
        "
    u1 @2025-01-01T00:00:01.000Z: one
      a1 @2025-01-01T00:00:02.000Z: one
        s1 ^a1 list=u1,a1>s1: compact_boundary x
    u1 ^s1 @2025-01-01T00:00:01.000Z: one
      a1 ^u1 @2025-01-01T00:00:02.000Z: one
        u4 recap: the summary
          u5: four
            a5: four",
    );
    assert_eq!(describe(&tree), "u1 a1 s1 u4 u5 a5");
    assert_eq!(turns(&tree), ["u1", "u5"]);
}

#[test]
fn repeated_uuid_with_other_content_starts_its_own_turn() {
    let tree = tree_of(
        "
    u1: one
      a1: one
        u2 @2025-01-01T00:01:00.000Z: two
        u2 @2025-01-01T00:02:00.000Z: two again
          a2: two",
    );
    assert_eq!(turns(&tree), ["u1", "u2", "u2"]);
}

/// A marker line as `goto` appends it, as the child of `parent`.
fn marker(name: &str, parent: &str) -> String {
    format!("\n    {name} ^{parent} @+3600: informational rethread\\: the conversation continues here")
}

const TWO_BRANCHES: &str = "
    u1: one
      a1: one
        u2: two
          a2: two
            u3: three
              a3: three
        u4: other
          a4: other";

#[test]
fn return_to_a_branch_is_not_a_second_writer() {
    let text = format!("{TWO_BRANCHES}{}", marker("s1", "a2"));
    let continued = format!(
        "{text}
    u5 ^s1: on
      a5: on"
    );
    for text in [&text, &continued] {
        let tree = tree_of(text);
        let kinds: Vec<ForkKind> =
            tree.find_forks().into_iter().map(|fork| fork.kind).filter(|kind| kind.is_real()).collect();
        assert!(!kinds.contains(&ForkKind::Parallel), "{kinds:?}");
    }
    let tree = tree_of(&text);
    assert_eq!(name(&tree, tree.newest_tip().expect("a tip")), "a4", "the marker is no message");
    let marker_id = find(&tree, "s1");
    assert_eq!(name(&tree, tree.resume_point(marker_id)), "a2");
    let mut branches = Branches::from_tree(&tree);
    let times: Vec<_> = branches.list.iter().map(|branch| branch.last_time).collect();
    let active = branches.set_active_leaf(&tree, marker_id).expect("a branch");
    assert_eq!(name(&tree, branches.list[active].tip), "a3", "the branch continues below the resume point");
    let without = Branches::from_tree(&tree_of(TWO_BRANCHES));
    assert_eq!(times, without.list.iter().map(|branch| branch.last_time).collect::<Vec<_>>());
}

#[test]
fn another_process_that_continues_an_older_branch_is_a_second_writer() {
    let tree = tree_of(&format!(
        "{TWO_BRANCHES}
    u5 ^a3: on"
    ));
    assert!(tree.find_forks().iter().any(|fork| fork.kind == ForkKind::Parallel));
}

#[test]
fn replayed_path_adds_no_turns_and_no_branch() {
    let lines = "
    u1 @2025-01-01T00:00:01.000Z: one
      a1 #m1 @2025-01-01T00:00:02.000Z: one
        u2 @2025-01-01T00:00:03.000Z: two
          a2 #m2 @2025-01-01T00:00:04.000Z: two";
    let replayed = "
    u7 ^null @2025-01-01T00:00:01.000Z: one
      a7 #m1 @2025-01-01T00:00:02.000Z: one";
    let tree = tree_of(&format!("{lines}{replayed}{}", marker("s1", "a7")));
    assert_eq!(turns(&tree), ["u1", "u2"]);
    assert_eq!(name(&tree, tree.newest_tip().expect("a tip")), "a2");
    assert_eq!(tree.branch_count(), 1);
    assert_eq!(name(&tree, tree.resume_point(find(&tree, "s1"))), "a1");
    let below_original = "
    u7 ^a1 @2025-01-01T00:00:03.000Z: two
      a7 #m2 @2025-01-01T00:00:04.000Z: two";
    let tree = tree_of(&format!("{lines}{below_original}{}", marker("s1", "a7")));
    assert_eq!(turns(&tree), ["u1", "u2"], "the start of the path was not repeated");
    assert_eq!(tree.branch_count(), 1);
    let tree = tree_of(&format!("{lines}{replayed}"));
    assert_eq!(turns(&tree), ["u1", "u2", "u7"], "only a resume marker shows that lines were repeated");
}

#[test]
fn replayed_path_includes_the_entries_that_its_compaction_preserved() {
    let lines = "
    u1 @2025-01-01T00:00:01.000Z: one
    s1 ^null @2025-01-01T00:00:02.000Z list=u1>s1: compact_boundary
    u2 ^s1 @2025-01-01T00:00:03.000Z recap: so far
      u3 @2025-01-01T00:00:04.000Z: two
        a3 #m3 @2025-01-01T00:00:05.000Z: two
    s2 ~a3 @2025-01-01T00:00:06.000Z: compact_boundary
    u4 ^s2 @2025-01-01T00:00:07.000Z recap: all
      u5 @2025-01-01T00:00:08.000Z: three
        a5 #m5 @2025-01-01T00:00:09.000Z: three";
    let replayed = "
    u11 ^null @2025-01-01T00:00:01.000Z: one
    s11 ^null @2025-01-01T00:00:02.000Z list=u11>s11: compact_boundary
    u12 ^s11 @2025-01-01T00:00:03.000Z recap: so far
      u13 @2025-01-01T00:00:04.000Z: two
        a13 #m3 @2025-01-01T00:00:05.000Z: two";
    let tree = tree_of(&format!("{lines}{replayed}{}", marker("s3", "a13")));
    assert_eq!(turns(&tree), ["u1", "u3", "u5"]);
    // A line with the time and length of another one is no part of the path if its parent is not.
    let similar = "
    u9 ^a5 @2025-01-01T00:00:01.000Z: six";
    let tree = tree_of(&format!(
        "{lines}{similar}{}{}",
        &replayed[replayed.find("\n    s11").unwrap()..],
        marker("s3", "a13")
    ));
    assert_eq!(turns(&tree), ["u1", "u3", "u5", "u9"]);
}

#[test]
fn answer_before_its_prompt_is_the_end_of_the_turn() {
    let tree = tree_of(
        "
    a1 ^u1: one
      s1: turn_duration 5
    u1 ^null: one
    u2 ^s1: two
      a2: two",
    );
    assert_eq!(name(&tree, tree.last_message_of_turn(find(&tree, "u1"))), "a1");
    assert_eq!(name(&tree, tree.last_message_of_turn(find(&tree, "u2"))), "a2");
}

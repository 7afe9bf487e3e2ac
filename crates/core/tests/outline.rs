//! Tests of the outline, one script per case: graph, symbols and names as the terminal shows them.

use insta::assert_snapshot;
use rethread_core::entry::Reader;
use rethread_core::lines::LineSplitter;
use rethread_core::tree::{
    Branches, LineSpan, NodeId, Outline, OutlineItem, OutlineOptions, OutlineRow, Tree, TreeBuilder,
};
use rethread_testkit::{check, script};

/// Builds the tree of a file without checking its properties.
fn build_tree(bytes: &[u8]) -> Tree {
    let mut builder = TreeBuilder::default();
    let mut reader = Reader::default();
    LineSplitter::default().feed(bytes, true, &mut Vec::new(), |line, problems| {
        reader.read_line(&line, problems, |entry, offset| {
            builder.add_entry(&entry, LineSpan { offset, len: entry.raw.len() as u32, line: line.number });
        });
    });
    builder.finish()
}

/// Renders the outline of a script with its newest tip loaded.
///
/// Shows only the rows near the entry `around`, or all rows if there is no such entry.
fn render(text: &str, all: bool, around: &str) -> String {
    let bytes = script::bytes(text);
    // The property check walks from every node, which is too slow for a long file.
    let tree = if text.len() < 9000 { check::tree(&bytes) } else { build_tree(&bytes) };
    let name = |id: NodeId| script::name_from_bits(tree.node(id).uuid.bits()).expect("a name");
    let around = (0..tree.nodes().len() as NodeId).find(|&id| name(id) == around);
    let leaf = tree.newest_tip();
    let loaded = leaf.map(|leaf| tree.context_path(leaf)).unwrap_or_default();
    let branches = Branches::from_tree(&tree);
    let outline =
        Outline::from_tree(&tree, &branches, &OutlineOptions { all, around, leaf, loaded: &loaded });
    let line = |row: &OutlineRow| {
        let content = match row.item {
            OutlineItem::Gap { turns, rows, tips } => format!("{turns} turns, {rows} rows, {tips} tips"),
            OutlineItem::Turn(id) | OutlineItem::Compaction(id) | OutlineItem::Entry(id) => name(id),
        };
        let fork_point = row.fork_point.map(|fork_point| {
            format!(" {} {}/{}", fork_point.kind.name(), fork_point.branch_number, fork_point.branch_count)
        });
        let link = row.broken_link.map(|link| format!(" {link:?}").to_lowercase());
        let tip = row.tip.map(|branch| format!(" tip {}", name(branches.list[branch].tip)));
        let requested = row.requested.then(|| " here".to_owned());
        let notes = [fork_point, link, tip, requested].into_iter().flatten().collect::<String>();
        format!("{}{} {content}{notes}", row.gutter(), row.symbol())
    };
    outline.rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Renders the rows near an entry, with a caption: insta accepts every snapshot that begins with `⋮`.
fn render_around(text: &str, all: bool, around: &str) -> String {
    format!("around {around}\n{}", render(text, all, around))
}

fn render_folded(text: &str) -> String {
    render(text, false, "")
}

/// Returns a script of a conversation without forks: `turn_count` turns from turn `first` on, below the entry
/// `parent_of_first`.
fn straight_conversation(first: usize, turn_count: usize, parent_of_first: &str) -> String {
    let mut text = String::new();
    let mut parent = parent_of_first.to_owned();
    for turn in first..first + turn_count {
        text.push_str(&format!("u{turn} ^{parent}: prompt\na{turn} ^u{turn}: answer\n"));
        parent = format!("a{turn}");
    }
    text
}

#[test]
fn straight_conversation_is_not_indented() {
    assert_snapshot!(render_folded("u1: one\n  a1: !Read x\n    u2: =a1 y\n      a2: done\n        u3: two\n          a3: done"), @r"
    ● u1
    ● u3 tip a3
    ");
    assert_snapshot!(render_folded(""), @"");
}

#[test]
fn long_runs_are_hidden() {
    assert_snapshot!(render_folded(&straight_conversation(1, 40, "null")), @r"
    ● u1
    ● u2
    ● u3
    ⋮ 34 turns, 34 rows, 0 tips
    ● u38
    ● u39
    ● u40 tip a40
    ");
    assert_snapshot!(render_folded(&straight_conversation(1, 8, "null")), @r"
    ● u1
    ● u2
    ● u3
    ● u4
    ● u5
    ● u6
    ● u7
    ● u8 tip a8
    ");
}

#[test]
fn ten_edits_are_ten_siblings() {
    let mut text = "u0: hello\n  a0: hi\n".to_owned();
    for k in 1..=10 {
        text.push_str(&format!("    u{k}: try {k}\n      a{k}: answer {k}\n"));
    }
    assert_snapshot!(render_folded(&text), @r"
    ● u0
    ├─○ u1 edit 1/10 tip a1
    ├─○ u2 edit 2/10 tip a2
    ├─○ u3 edit 3/10 tip a3
    ├─○ u4 edit 4/10 tip a4
    ├─○ u5 edit 5/10 tip a5
    ├─○ u6 edit 6/10 tip a6
    ├─○ u7 edit 7/10 tip a7
    ├─○ u8 edit 8/10 tip a8
    ├─○ u9 edit 9/10 tip a9
    ● u10 edit 10/10 tip a10
    ");
}

#[test]
fn middle_of_many_siblings_is_hidden() {
    let mut text = "u0: hello\n  a0: hi\n".to_owned();
    for k in 1..=100 {
        text.push_str(&format!("    u{k}: try {k}\n      a{k}: answer {k}\n"));
    }
    assert_eq!(render_folded(&text).lines().count(), 1 + 2 * 12 + 1);
    assert_snapshot!(render_folded(&text).lines().skip(11).take(4).collect::<Vec<_>>().join("\n"), @r"
    ├─○ u11 edit 11/100 tip a11
    ├─○ u12 edit 12/100 tip a12
    ├─⋮ 76 turns, 76 rows, 76 tips
    ├─○ u89 edit 89/100 tip a89
    ");
}

#[test]
fn nested_forks_indent_only_the_other_branches() {
    let text = "
        u1: one
          a1: one
            u2: two
              a2: two
                u3: three
                  a3: three
                    u4: four
                      a4: four
                u5: three again
                  a5: three
            u6: two again
              a6: two
                u7: left
                  a7: left
                u8: right
                  a8: right
    ";
    assert_snapshot!(render_folded(text), @r"
    ● u1
    ├─○ u2 rewind 1/2
    │ ├─○ u5 rewind 2/2 tip a5
    │ ○ u3 rewind 1/2
    │ ○ u4 tip a4
    ● u6 rewind 2/2
    ├─○ u7 edit 1/2 tip a7
    ● u8 edit 2/2 tip a8
    ");
}

#[test]
fn thousand_rewinds_are_not_indented() {
    let mut text = "u0 ^null: start\na0 ^u0: answer\n".to_owned();
    for rewind in 1..=1000 {
        let parent = (rewind - 1) * 2;
        let (left, right) = (parent + 1, parent + 2);
        text.push_str(&format!(
            "u{left} ^a{parent}: left\na{left} ^u{left}: x\nu{right} ^a{parent}: on\na{right} ^u{right}: x\n"
        ));
    }
    let rendered = render_folded(&text);
    assert_eq!(rendered.lines().count(), 2001);
    assert!(rendered.lines().all(|line| !line.starts_with("│ │")), "{rendered}");
}

#[test]
fn retry_shows_its_answers() {
    assert_snapshot!(render_folded("u1: one\n  a1 #m1: first\n  a2 #m2: second\n    u2: go on\n      a3: done"), @r"
    ● u1
    ├─○ a1 retry 1/2 tip a1
    ● a2 retry 2/2
    ● u2 tip a3
    ");
}

#[test]
fn roots_orphaned_parts_and_compactions_are_marked() {
    let text = "
        u1: one
          a1: one
        u2: another start
          a2: fine
            s1: compact_boundary
              u3 recap: so far
                u4: on
                  a4: done
        u5 ^gone: lost
          a5: found
        u6 ^a6: round
          a6: and round
            u7: and on
        a8 ^a4: last words
    ";
    assert_snapshot!(render_folded(text), @r"
    ○ u1 root 1/2 tip a1
    ◌ u2 root 2/2
    ◆ s1
    ● u4 tip a8
    ○ u5 missingparent tip a5
    ○ u6 cyclebroken
    ○ u7 tip u7
    ");
}

#[test]
fn option_all_shows_every_entry() {
    let text = "
        u1: look at both
          a1 #m1: !Read one
            p1: hook_progress before
            a2 #m1: !Read two
              u3: =a2 second
                a3: both are fine
            u2: =a1 first
        u4 side ^null: a subagent
          a4 side: looks
    ";
    assert_snapshot!(render(text, true, ""), @r"
    ● u1
    ● a1
    ├─○ p1
    ├─○ u2
    ● a2
    ● u3
    ● a3 tip a3
    ○ u4
    ○ a4
    ");
    assert_snapshot!(render_folded(text), @"● u1 tip a3");
}

#[test]
fn option_around_shows_only_near_rows() {
    let mut text = straight_conversation(1, 20, "null");
    text.push_str(&straight_conversation(100, 12, "a10"));
    text.push_str(&straight_conversation(200, 30, "a10"));
    assert_snapshot!(render_around(&text, false, "u200"), @r"
    around u200
    ⋮ 6 turns, 6 rows, 0 tips
    ● u7
    ● u8
    ● u9
    ● u10
    ├─○ u11 rewind 1/3
    │ ⋮ 9 turns, 9 rows, 1 tips
    ├─○ u100 rewind 2/3
    │ ⋮ 11 turns, 11 rows, 1 tips
    ● u200 rewind 3/3 here
    ● u201
    ● u202
    ● u203
    ● u204
    ● u205
    ● u206
    ⋮ 23 turns, 23 rows, 1 tips
    ");
    assert_snapshot!(render_around(&text, false, "a9"), @r"
    around a9
    ⋮ 5 turns, 5 rows, 0 tips
    ● u6
    ● u7
    ● u8
    ● u9
    ● a9 here
    ● u10
    ├─○ u11 rewind 1/3
    │ ○ u12
    │ ○ u13
    │ ○ u14
    │ ○ u15
    │ ⋮ 5 turns, 5 rows, 1 tips
    ├─○ u100 rewind 2/3
    │ ○ u101
    │ ○ u102
    │ ○ u103
    │ ○ u104
    │ ⋮ 7 turns, 7 rows, 1 tips
    ● u200 rewind 3/3
    ● u201
    ● u202
    ● u203
    ● u204
    ⋮ 25 turns, 25 rows, 1 tips
    ");
    assert_snapshot!(render_around(&text, true, "a200"), @r"
    around a200
    ⋮ 9 turns, 17 rows, 0 tips
    ● a9
    ● u10
    ● a10
    ├─○ u11 rewind 1/3
    │ ⋮ 9 turns, 19 rows, 1 tips
    ├─○ u100 rewind 2/3
    │ ⋮ 11 turns, 23 rows, 1 tips
    ● u200 rewind 3/3
    ● a200 here
    ● u201
    ● a201
    ● u202
    ● a202
    ● u203
    ● a203
    ⋮ 26 turns, 52 rows, 1 tips
    ");
}

//! The outline of a drawing, one case per script: lines, signs and names as they stand in the terminal.

use insta::assert_snapshot;
use rethread_core::entry::Reader;
use rethread_core::lines::LineSplitter;
use rethread_core::tree::{
    Branches, LineSpan, NodeId, Outline, OutlineItem, OutlineOptions, Row, Tree, TreeBuilder,
};
use rethread_testkit::{check, script};

/// Links the entries of a file, without trying the laws on it.
fn weave(bytes: &[u8]) -> Tree {
    let mut weaver = TreeBuilder::default();
    let mut reader = Reader::default();
    LineSplitter::default().feed(bytes, true, &mut Vec::new(), |line, problems| {
        reader.read(&line, problems, |entry, offset| {
            weaver.add(&entry, LineSpan { offset, len: entry.raw.len() as u32, line: line.no });
        });
    });
    weaver.finish()
}

/// Draws a script as its newest tip is loaded; around the entry called `around`, where there is one.
fn drawn(text: &str, all: bool, around: &str) -> String {
    let bytes = script::bytes(text);
    // The laws walk from every node: too far in a long file.
    let tree = if text.len() < 9000 { check::tree(&bytes) } else { weave(&bytes) };
    let name = |no: NodeId| script::name_of_bits(tree.node(no).id.bits()).expect("a name");
    let around = (0..tree.nodes().len() as NodeId).find(|&no| name(no) == around);
    let leaf = tree.newest_tip();
    let loaded = leaf.map(|leaf| tree.context_path(leaf)).unwrap_or_default();
    let branches = Branches::of(&tree);
    let outline = Outline::of(&tree, &branches, &OutlineOptions { all, around, leaf, loaded: &loaded });
    let line = |row: &Row| {
        let what = match row.what {
            OutlineItem::Gap { turns, rows, tips } => format!("{turns} turns, {rows} rows, {tips} tips"),
            OutlineItem::Turn(no) | OutlineItem::Compaction(no) | OutlineItem::Entry(no) => name(no),
        };
        let from = row.from.map(|from| format!(" {} {}/{}", from.kind.name(), from.way, from.ways));
        let cut = row.cut.map(|cut| format!(" {cut:?}").to_lowercase());
        let tip = row.tip.map(|branch| format!(" tip {}", name(branches.list[branch].tip)));
        let named = row.named.then(|| " here".to_owned());
        let words = [from, cut, tip, named].into_iter().flatten().collect::<String>();
        format!("{}{} {what}{words}", row.gutter(), row.sign())
    };
    outline.rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn folded(text: &str) -> String {
    drawn(text, false, "")
}

/// A straight conversation of so many turns, from turn `first`, below the entry `above`.
fn straight(first: usize, turns: usize, above: &str) -> String {
    let mut text = String::new();
    let mut parent = above.to_owned();
    for k in first..first + turns {
        text.push_str(&format!("u{k} ^{parent}: prompt\na{k} ^u{k}: answer\n"));
        parent = format!("a{k}");
    }
    text
}

#[test]
fn a_straight_conversation_goes_straight_down() {
    assert_snapshot!(folded("u1: one\n  a1: !Read x\n    u2: =a1 y\n      a2: done\n        u3: two\n          a3: done"), @r"
    ● u1
    ● u3 tip a3
    ");
    assert_snapshot!(folded(""), @"");
}

#[test]
fn long_runs_are_left_out() {
    assert_snapshot!(folded(&straight(1, 40, "null")), @r"
    ● u1
    ● u2
    ● u3
    ⋮ 34 turns, 34 rows, 0 tips
    ● u38
    ● u39
    ● u40 tip a40
    ");
    assert_snapshot!(folded(&straight(1, 8, "null")), @r"
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
    assert_snapshot!(folded(&text), @r"
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
fn very_many_siblings_are_left_out_in_the_middle() {
    let mut text = "u0: hello\n  a0: hi\n".to_owned();
    for k in 1..=100 {
        text.push_str(&format!("    u{k}: try {k}\n      a{k}: answer {k}\n"));
    }
    assert_eq!(folded(&text).lines().count(), 1 + 2 * 12 + 1);
    assert_snapshot!(folded(&text).lines().skip(11).take(4).collect::<Vec<_>>().join("\n"), @r"
    ├─○ u11 edit 11/100 tip a11
    ├─○ u12 edit 12/100 tip a12
    ├─⋮ 76 turns, 76 rows, 76 tips
    ├─○ u89 edit 89/100 tip a89
    ");
}

#[test]
fn forks_in_forks_stand_further_right_only_beside_the_way_that_goes_on() {
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
    assert_snapshot!(folded(text), @r"
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
fn a_thousand_rewinds_do_not_go_to_the_right() {
    let mut text = "u0 ^null: start\na0 ^u0: answer\n".to_owned();
    for k in 1..=1000 {
        let above = (k - 1) * 2;
        let (left, right) = (above + 1, above + 2);
        text.push_str(&format!(
            "u{left} ^a{above}: left\na{left} ^u{left}: x\nu{right} ^a{above}: on\na{right} ^u{right}: x\n"
        ));
    }
    let drawn = folded(&text);
    assert_eq!(drawn.lines().count(), 2001);
    assert!(drawn.lines().all(|line| !line.starts_with("│ │")), "{drawn}");
}

#[test]
fn a_retry_shows_the_answers() {
    assert_snapshot!(folded("u1: one\n  a1 #m1: first\n  a2 #m2: second\n    u2: go on\n      a3: done"), @r"
    ● u1
    ├─○ a1 retry 1/2 tip a1
    ● a2 retry 2/2
    ● u2 tip a3
    ");
}

#[test]
fn beginnings_islands_and_compactions_are_told() {
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
    assert_snapshot!(folded(text), @r"
    ○ u1 root 1/2 tip a1
    ◌ u2 root 2/2
    ◆ s1
    ● u4 tip a8
    ○ u5 missing tip a5
    ○ u6 cut
    ○ u7 tip u7
    ");
}

#[test]
fn all_entries_unfold() {
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
    assert_snapshot!(drawn(text, true, ""), @r"
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
    assert_snapshot!(folded(text), @"● u1 tip a3");
}

#[test]
fn around_an_entry_only_what_is_near() {
    let mut text = straight(1, 20, "null");
    text.push_str(&straight(100, 12, "a10"));
    text.push_str(&straight(200, 30, "a10"));
    assert_snapshot!(drawn(&text, false, "u200"), @r"
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
    assert_snapshot!(drawn(&text, false, "a9"), @r"
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
    assert_snapshot!(drawn(&text, true, "a200"), @r"
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

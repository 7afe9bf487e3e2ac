//! `diff`: how branches are named, and how they are drawn.

use rethread_testkit::script;

use super::home::Home;

/// What the demo says without its dates.
fn undated(text: &str) -> String {
    let dated = |word: &str| word.starts_with("20") && word.matches('-').count() == 2;
    let line = |line: &str| match line.split(' ').find(|word| dated(word)) {
        Some(_) => "(dated)".to_owned(),
        None => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn branches_stand_side_by_side_where_there_is_room() {
    let home = Home::new();
    let run = home.run(&["--demo", "diff", "harbour", "t2"]);
    assert_eq!(run.code, 0, "{}", run.err);
    insta::assert_snapshot!(undated(&run.out), @"
    harbour names
    b27e94d0-1c6f-4f0a-8d35-9b1a7e02c4f8  /home/ada/tide-tables

    in common: 1 turn, 4 entries; the last is L4 t1
      It is sorted in one place, `harbour.rs:19`. By name, then: shall letters with accents stand besid…

    A  ● active path, tip L10                        │ B  ○ other branch, tip L6
    ─────────────────────────────────────────────────┼─────────────────────────────────────────────────
    (dated)
    > Yes, but without a new dependency: fold        │ > Yes, as in a dictionary
      accents by hand for the twelve names we have   │   Then the sort needs a collation table. That
      ● Edit  src/harbour.rs                         │   adds a dependency of about 2 MB.
      Done: `fold` maps the five letters with        │
      accents that occur, and Árnes now stands       │
      between Almería and Brest.                     │

    since then             A       B
    turns                  1       1
    answers                2       1
    tool calls             1       0
      Edit                 1       -
    files changed          1       0
      src/harbour.rs       1       -
    input tokens          12       6
    output tokens        128      55
    cache written      1,280     640
    cache read        27,760  12,920
    time                4.7s    1.8s
    ");
}

#[test]
fn branches_stand_below_each_other_where_there_is_not() {
    let home = Home::new();
    let output =
        home.command(&["--demo", "diff", "harbour", "t2", "t3"]).env("COLUMNS", "80").output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(
        out.contains("\nA  ○ other branch, tip L6 ───") && out.contains("\nB  ● active path, tip L10 ───"),
        "{out}"
    );
    assert!(!out.contains('│'), "{out}");
    for width in ["40", "60", "99", "100", "240"] {
        let output =
            home.command(&["--demo", "diff", "harbour", "last"]).env("COLUMNS", width).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let widest = out.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap();
        assert!(widest <= width.parse().unwrap(), "at {width}:\n{out}");
    }
}

/// Clients end a turn with lines that they do not load again.
#[test]
fn the_branch_that_goes_on_is_told_by_any_of_its_entries() {
    let home = Home::new();
    let text = "
        * v=2.1.325
        u1: sort them
          a1: how
            u2: by name
              a2: by name it is
            u3: by code
              a3: by code it is
                s3: turn_duration 1200
    ";
    home.write_old(".claude/projects/-x/aaaaaaaa-0000-4000-8000-000000000001.jsonl", script::bytes(text));
    let out = home.run(&["diff", "last", "L4", "L6"]).out;
    assert!(out.contains("other branch, tip L4") && out.contains("● active path, tip L6"), "{out}");
}

#[test]
fn every_way_of_naming_two_branches_means_the_same() {
    let home = Home::new();
    let out = |args: &[&str]| {
        let args: Vec<&str> = ["--demo", "--json", "diff"].iter().chain(args).copied().collect();
        let run = home.run(&args);
        assert_eq!(run.code, 0, "{args:?}: {}", run.err);
        let mut diff: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        // The demo is made anew each time, with times that count from now.
        for side in ["a", "b"] {
            for turn in diff[side]["turns"].as_array_mut().unwrap() {
                turn["first"] = serde_json::Value::Null;
            }
            diff[side]["totals"]["first"] = serde_json::Value::Null;
            diff[side]["totals"]["last"] = serde_json::Value::Null;
        }
        diff
    };
    let three = out(&["harbour", "t3", "L5"]);
    assert_eq!(three["common"]["last_a"]["line"], 4);
    for args in
        [&["harbour", "t2"][..], &["harbour:L7", "b27e:t2"], &["harbour", ":L6"], &["b27e:t3", "harbour:L5"]]
    {
        assert_eq!(out(args), three, "{args:?}");
    }
}

#[test]
fn what_cannot_be_compared_is_said() {
    let home = Home::new();
    let run = home.run(&["--demo", "diff", "harbour", "L1", "L10"]);
    assert_eq!(run.code, 1);
    assert!(run.out.is_empty() && run.err.starts_with("both are the same path"), "{}", run.err);
    assert_eq!(home.run(&["--demo", "diff", "harbour", "harbour"]).code, 1);
    assert_eq!(home.run(&["--demo", "diff", "harbour", "L999"]).code, 2);
    assert_eq!(home.run(&["--demo", "diff", "harbour", "nobody"]).code, 2);
    assert_eq!(home.run(&["--demo", "diff", "harbour"]).code, 2);
    let run = home.run(&["--demo", "diff", "harbour", "last"]);
    assert!(run.code == 0 && run.out.contains("they have no entry in common"), "{}", run.out);
}

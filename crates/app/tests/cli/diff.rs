//! `diff`: arguments that name branches, and the layout of the comparison.

use rethread_testkit::script;

use crate::new_home;

/// Replaces lines with a date, which differ between runs of the demo.
fn replace_dates(text: &str) -> String {
    let is_date = |word: &str| word.starts_with("20") && word.matches('-').count() == 2;
    let replace_line = |line: &str| match line.split(' ').find(|word| is_date(word)) {
        Some(_) => "(dated)".to_owned(),
        None => line.to_owned(),
    };
    text.lines().map(replace_line).collect::<Vec<_>>().join("\n")
}

#[test]
fn branches_are_side_by_side_on_a_wide_screen() {
    let home = new_home();
    let run = home.run(&["--demo", "diff", "harbour", "t2"]);
    assert_eq!(run.code, 0, "{}", run.err);
    insta::assert_snapshot!(replace_dates(&run.out), @"
    harbour names
    b27e94d0-1c6f-4f0a-8d35-9b1a7e02c4f8  /home/ada/tide-tables

    in common: 1 turn, 4 entries; last common entry: L4 t1
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

    since the fork        A      B
    turns                 1      1
    answers               2      1
    tool calls            1      0
      Edit                1      -
    files changed         1      0
      src/harbour.rs      1      -
    input tokens         12      6
    output tokens       128     55
    cache written      1.3k    640
    cache read        27.8k  12.9k
    time               4.7s   1.8s
    ");
}

#[test]
fn branches_are_stacked_on_a_narrow_screen() {
    let home = new_home();
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

/// Clients end a turn with entries that they do not load again.
#[test]
fn any_entry_of_the_active_branch_selects_it() {
    let home = new_home();
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
fn equivalent_arguments_select_the_same_branches() {
    let home = new_home();
    let run_diff = |args: &[&str]| {
        let args: Vec<&str> = ["--demo", "--json", "diff"].iter().chain(args).copied().collect();
        let run = home.run(&args);
        assert_eq!(run.code, 0, "{args:?}: {}", run.err);
        let mut diff: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        // The demo is generated for each run, with times relative to the present.
        for side in ["a", "b"] {
            for turn in diff[side]["turns"].as_array_mut().unwrap() {
                turn["first"] = serde_json::Value::Null;
            }
            diff[side]["totals"]["first"] = serde_json::Value::Null;
            diff[side]["totals"]["last"] = serde_json::Value::Null;
        }
        diff
    };
    let expected = run_diff(&["harbour", "t3", "L5"]);
    assert_eq!(expected["common"]["last_a"]["line"], 4);
    for args in
        [&["harbour", "t2"][..], &["harbour:L7", "b27e:t2"], &["harbour", ":L6"], &["b27e:t3", "harbour:L5"]]
    {
        assert_eq!(run_diff(args), expected, "{args:?}");
    }
}

#[test]
fn branches_that_cannot_be_compared_are_reported() {
    let home = new_home();
    let run = home.run(&["--demo", "diff", "harbour", "L1", "L10"]);
    assert_eq!(run.code, 1);
    assert!(run.out.is_empty() && run.err.starts_with("both branches are the same"), "{}", run.err);
    assert_eq!(home.run(&["--demo", "diff", "harbour", "harbour"]).code, 1);
    assert_eq!(home.run(&["--demo", "diff", "harbour", "L999"]).code, 2);
    assert_eq!(home.run(&["--demo", "diff", "harbour", "no-such-session"]).code, 2);
    assert_eq!(home.run(&["--demo", "diff", "harbour"]).code, 2);
    let run = home.run(&["--demo", "diff", "harbour", "last"]);
    assert!(run.code == 0 && run.out.contains("the branches have no common entry"), "{}", run.out);
}

//! `find`: the context of a match, and its relation to the active path.

use crate::new_home;

#[test]
fn a_match_is_shown_with_its_context() {
    let home = new_home();
    let run = home.run(&["--demo", "find", "harbour", "dictionary"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let lines: Vec<&str> = run.out.lines().skip(3).collect();
    assert!(lines[0].starts_with("○ L5  t2  "), "{}", run.out);
    assert!(lines[0].contains("  prompt · ") && lines[0].ends_with(" · other branch, tip L6"), "{}", run.out);
    insta::assert_snapshot!(lines[1..].join("\n"), @"
      │ L1  > The list of harbours is sorted by code. Sort it by name.
      │ L4    It is sorted in one place, `harbour.rs:19`. By name, then: shall letters with accents sta…
      ▶ Yes, as in a dictionary
      └ L6    Then the sort needs a collation table. That adds a dependency of about 2 MB.

    1 match in 1 entry
    ");
    assert_eq!(
        run.err,
        "L5: `rethread --demo show harbour --all --turns 2` shows its turn\n    `rethread --demo show harbour --branch L5` shows its branch\n    `rethread --demo tree harbour L5` shows its position\n"
    );
}

#[test]
fn continuations_are_listed_and_the_active_path_is_marked() {
    let home = new_home();
    let run = home.run(&["--demo", "find", "harbour", "one place", "--ancestors", "0"]);
    let lines: Vec<&str> = run.out.lines().skip(3).collect();
    assert!(lines[0].starts_with("● L4  t1  ") && lines[0].ends_with("active path, tip L10"), "{}", run.out);
    assert!(lines[1].starts_with("  ▶ It is sorted in one place"), "{}", run.out);
    assert!(lines[2].starts_with("  ├ L5  > ") && lines[3].starts_with("  └ L7  > "), "{}", run.out);

    let run = home.run(&["--demo", "find", "71ad", "-n", "1", "."]);
    assert!(run.out.contains("before a compaction, tip L"), "{}", run.out);
    assert!(run.out.trim_end().ends_with("first 1 shown"), "{}", run.out);
}

#[test]
fn case_regex_and_role_narrow_the_search() {
    let home = new_home();
    let exit_code = |args: &[&str]| {
        let args: Vec<&str> = ["--demo", "find", "harbour"].iter().chain(args).copied().collect();
        home.run(&args).code
    };
    assert_eq!(exit_code(&["YES"]), 1);
    assert_eq!(exit_code(&["yes"]), 0);
    assert_eq!(exit_code(&["yes", "--case-sensitive"]), 1);
    assert_eq!(exit_code(&["--regex", "sort_by_[a-z]+_key"]), 0);
    assert_eq!(exit_code(&["sort_by_[a-z]+_key"]), 1);
    assert_eq!(exit_code(&["--regex", "sort_by", "--role", "prompt"]), 1);
    assert_eq!(exit_code(&["--regex", "("]), 2);
    assert_eq!(exit_code(&[""]), 2);
    assert_eq!(exit_code(&[]), 2);
    assert_eq!(exit_code(&["words", "--regex", "and"]), 2);
    let run = home.run(&["--demo", "find", "harbour", "Zebra"]);
    assert!(run.err.starts_with("no matches for `Zebra` in this session\nhint: lower-case"), "{}", run.err);
    assert!(run.out.is_empty());
}

#[test]
fn matches_are_highlighted_and_lines_fit_the_screen() {
    let home = new_home();
    let run = home.run(&["--demo", "find", "harbour", "collation", "--color", "always"]);
    assert!(run.out.contains("\u{1b}[1m\u{1b}[7mcollation\u{1b}[0m"), "{:?}", run.out);
    for width in ["60", "80", "160"] {
        let args = ["--demo", "find", "last", "e"];
        let output = home.command(&args).env("COLUMNS", width).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let widest = out.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap();
        assert!(widest <= width.parse().unwrap(), "at {width}:\n{out}");
    }
}

/// The session has an orphaned entry, entries of a subagent, and a line that exceeds the limit for lines in memory.
#[test]
fn orphaned_entries_subagents_and_long_lines_are_found() {
    let home = new_home();
    let line = |uuid: &str, parent: &str, fields: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"sessionId":"s1"{fields},"message":{{"role":"user","content":"{text}"}},"timestamp":"2026-01-01T10:00:00.000Z"}}"#
        )
    };
    let long_text = format!("{}needle at the end{}", "x".repeat(6 << 20), "y".repeat(6 << 20));
    let lines = [
        line("a1", "\"gone\"", "", "needle on an island"),
        line("b1", "null", ",\"isSidechain\":true", "needle in a subagent"),
        line("c1", "null", "", &long_text),
        line("c2", "\"c1\"", "", "the last prompt"),
    ];
    let file = home.write("s1.jsonl", &(lines.join("\n") + "\n"));
    let file = file.to_str().unwrap();
    let find_headers = |args: &[&str]| {
        let args: Vec<&str> = ["find", file, "needle"].iter().chain(args).copied().collect();
        let run = home.run(&args);
        let headers = run.out.lines().filter(|line| line.starts_with(['●', '○'])).map(str::to_owned);
        headers.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(find_headers(&["--all"]), @"
    ○ L1  t1  a1  prompt · 2026-01-01 10:00:00 · orphaned: its first parent is not in the file, tip here
    ○ L2  b1  prompt · 10:00:00 · subagent, tip here
    ● L3  t2  c1  prompt · 10:00:00 · active path, tip L4
    ");
    insta::assert_snapshot!(find_headers(&[]), @"
    ○ L1  t1  a1  prompt · 2026-01-01 10:00:00 · orphaned: its first parent is not in the file, tip here
    ● L3  t2  c1  prompt · 10:00:00 · active path, tip L4
    ");
}

//! `branches` and `tree` end to end: branch names that other commands accept, the drawing, the four formats.

use rethread_testkit::home::Home;
use rethread_testkit::script;
use serde_json::json;

use crate::new_home;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A session with an edit, a retry, a compaction and an orphaned part.
const FORKED_SESSION: &str = "
    u7 ^gone: lost words
      a7: found
    u1 ^null: sort the harbours
      a1 out=7: sorted
        u2: by <name> & \"code\"
          a2 #m2 out=20: !Bash sort
            u3: =a2 done
              a3: by name
        u4: by code instead
          a4 #m4 out=3: yes
          a5 #m5 out=4: or so
            s1: compact_boundary
              u5 recap: harbours were sorted
                u6: go on
                  a6: done
";

fn new_home_with_session() -> Home {
    let home = new_home();
    let text = String::from_utf8(script::bytes(FORKED_SESSION)).expect("a script in UTF-8");
    home.write(&format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"), &text);
    home
}

#[test]
fn branches_are_listed_by_names_that_show_accepts() {
    let home = new_home_with_session();
    let run = home.run(&["branches", "last"]);
    // The age depends on the day of the test.
    let header = run.out.lines().nth(3).unwrap();
    let column = header.find("last").unwrap();
    let remove_age_column = |line: &str| {
        line.chars()
            .enumerate()
            .filter(|(k, _)| !(column..column + 6).contains(k))
            .map(|(_, c)| c)
            .collect::<String>()
    };
    let branches: Vec<String> = run.out.lines().skip(3).take(5).map(remove_age_column).collect();
    insta::assert_snapshot!(branches.join("\n"), @r#"
       branch  from   kind                 own  turns  tokens  first prompt
    ○  L2             orphaned, no parent    1      1      15  lost words
    ○  L8      L4 t2  edit 1/2               1      2      45  by <name> & "code"
    ○  L10     L9 t4  retry 1/2              0      2      13  answer: yes
    ●  L15     L9 t4  retry 2/2              1      3      29  go on
    "#);
    let end = "3 branches · 1 orphaned part · ● the client loads L15\nshow a branch: rethread show last --branch L10\n";
    assert!(run.out.ends_with(end), "{}", run.out);
    for branch in home.run_json_lines(&["branches", "last", "--json"]) {
        let handle = branch["handle"].as_str().unwrap();
        for name in [handle, branch["tip"].as_str().unwrap()] {
            let shown = home.run_json_lines(&["show", "last", "--branch", name, "--json"]);
            let lines = shown.last().unwrap()["lines"].as_array().unwrap().clone();
            assert!(lines.contains(&branch["line"]), "{handle}: {lines:?}");
        }
    }
}

#[test]
fn orphaned_parts_are_not_counted_as_branches() {
    let home = new_home_with_session();
    let row = home.run_json(&["ls", "--json"]);
    let export = home.run_json_lines(&["export", "last", "--all", "--format", "json", "-o", "-"]);
    assert_eq!((&row["branches"], &export[0]["branches"]), (&json!(3), &json!(3)));
    let counts = "3 branches · 1 orphaned part";
    home.run(&["tree", "last"]).assert_out_contains(&[counts]);
    let page = home.run(&["export", "last", "--all", "--format", "html", "-o", "-"]).out;
    assert!(page.contains(&format!("<summary>{counts}</summary>")), "the page counts the same");
}

#[test]
fn own_tokens_of_branches_do_not_overlap() {
    let home = new_home_with_session();
    let branches = home.run_json_lines(&["branches", "last", "--json"]);
    let output = |key: &str| {
        branches.iter().map(|branch| branch[key]["output_tokens"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(output("own_usage"), [5, 25, 3, 9]);
    assert_eq!(output("usage"), [5, 32, 10, 16]);
}

#[test]
fn a_session_without_forks_is_reported_as_such() {
    let run = new_home().run(&["--demo", "branches", "last"]);
    assert!(run.out.ends_with("1 branch · no forks\n"), "{}", run.out);
}

#[test]
fn the_tree_is_drawn() {
    let home = new_home_with_session();
    let draw_tree = |args: &[&str]| {
        let run = home.run(&[&["tree", "last"], args].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        run.out.lines().skip(3).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(draw_tree(&[]), @r#"
    ○ t1  orphaned: its parent is missing  lost words ◂ tip L2                                  1 answer

    ◌ t2  sort the harbours                                                                     1 answer
    ├─○ t3  edit 1/2  by <name> & "code" ◂ tip L8                                      2 answers, 1 tool
    ◌ t4  edit 2/2  by code instead
    ├─○ L10  retry 1/2  answer: yes ◂ tip L10                                                   1 answer
    ◌ L11  retry 2/2  answer: or so                                                             1 answer
    ◆ L12  compacted (manual), 1.0k tokens before
    ● t5  go on ◂ active tip L15                                                                1 answer

    5 turns · 3 branches · 1 orphaned part · ● loaded by the client · ◌ before a compaction
    ○ other branches
    "#);
    insta::assert_snapshot!(draw_tree(&["L7"]), @r#"
    ◌ t2  sort the harbours                                                                     1 answer
    ├─○ t3  edit 1/2  by <name> & "code"                                                1 answer, 1 tool
    │ ○ L7  results: done ◂ tip L8 ◀ here                                                       1 answer
    ◌ t4  edit 2/2  by code instead
    ⋮ 1 turn on 2 branches

    5 turns · 3 branches · 1 orphaned part · ● loaded by the client · ◌ before a compaction
    ○ other branches · ⋮ omitted
    "#);
    insta::assert_snapshot!(draw_tree(&["--all"]), @r#"
    ○ L1   orphaned: its parent is missing  lost words
    ○ L2   answer: found ◂ tip L2

    ◌ L3   sort the harbours
    ◌ L4   answer: sorted
    ├─○ L5   edit 1/2  by <name> & "code"
    │ ○ L6   answer: Bash  sort
    │ ○ L7   results: done
    │ ○ L8   answer: by name ◂ tip L8
    ◌ L9   edit 2/2  by code instead
    ├─○ L10  retry 1/2  answer: yes ◂ tip L10
    ◌ L11  retry 2/2  answer: or so
    ◆ L12  compacted (manual), 1.0k tokens before
    ● L13  summary: harbours were sorted
    ● L14  go on
    ● L15  answer: done ◂ active tip L15

    5 turns · 3 branches · 1 orphaned part · ● loaded by the client · ◌ before a compaction
    ○ other branches
    "#);
    let colored = home.run(&["tree", "last", "--color", "always"]).out;
    assert!(colored.contains("\u{1b}[32m●\u{1b}[0m"), "{colored}");
}

#[test]
fn text_is_escaped_in_svg_and_dot() {
    let home = new_home_with_session();
    let svg = home.run(&["tree", "last", "--format", "svg"]).out;
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.contains("by &lt;name&gt; &amp; &quot;code&quot;") && !svg.contains("<name>"), "{svg}");
    assert!(svg.contains("prefers-color-scheme:dark"));
    let dot = home.run(&["tree", "last", "--format", "dot"]).out;
    assert!(dot.starts_with("digraph \"lost words\" {\n") && dot.ends_with("}\n"), "{dot}");
    assert!(dot.contains(r#"by <name> & \"code\""#), "{dot}");
    assert!(dot.contains("  n1 -> n2;\n"), "{dot}");
    let json = home.run(&["tree", "last", "--format", "json"]).out;
    assert_eq!(json, home.run(&["tree", "last", "--json"]).out);
}

#[test]
fn wide_and_combined_characters_are_drawn() {
    let home = new_home();
    for word in ["⚠️", "👩‍👩‍👧", "漢字", "e\u{301}", "🇩🇪"] {
        let bytes = script::bytes(&format!("u1: {}\n  a1: {word}", word.repeat(200)));
        home.write(&format!("{SESSION}.jsonl"), bytes);
        for (command, width) in [("tree", "80"), ("tree", "81"), ("branches", "40"), ("tree", "40")] {
            let path = format!("{SESSION}.jsonl");
            let output = home.command(&[command, &path]).env("COLUMNS", width).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{command} {word} at {width}");
        }
    }
}

#[test]
fn a_missing_entry_is_reported() {
    let run = new_home_with_session().run(&["tree", "last", "L99"]);
    assert_eq!(run.code, 2);
    assert!(run.err.starts_with("error: no entry of the session matches `L99`\nhint: "), "{}", run.err);
}

//! `explain` end to end: what is said of a session that loads in part, in whole, or not at all.

use super::home::{Home, Run};
use rethread_testkit::script;
use serde_json::Value;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

fn store(text: &str) -> Home {
    let home = Home::new();
    let text = String::from_utf8(script::bytes(text)).unwrap();
    home.write(&format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"), &text);
    home
}

fn explain(text: &str, args: &[&str]) -> Run {
    store(text).run(&[&["explain", "last"], args].concat())
}

/// What is said below title and id.
fn said(run: &Run) -> String {
    run.out.lines().skip(3).collect::<Vec<_>>().join("\n")
}

fn object(text: &str, args: &[&str]) -> Value {
    let run = explain(text, &[args, &["--json"]].concat());
    serde_json::from_str(run.out.lines().next().unwrap()).unwrap()
}

/// Names the lines of user and assistant that are not loaded, with the reason; what is lost has a mark.
fn unreachable(object: &Value) -> String {
    let all = object["unreachable"].as_array().unwrap().iter();
    let said = all.map(|lost| {
        let mark = if lost["lost"] == true { "!" } else { "" };
        format!("L{} {}{mark}", lost["line"], lost["why"].as_str().unwrap())
    });
    said.collect::<Vec<_>>().join(", ")
}

const WHOLE: &str = "
    * v=2.1.325
    u1: tidy the shed
      a1: done
        u2: and the path
          a2: done too
";

#[test]
fn a_session_of_which_nothing_is_lost() {
    let run = explain(WHOLE, &[]);
    assert_eq!(run.code, 0);
    insta::assert_snapshot!(said(&run), @"
    Claude Code 2.1.325 loads everything: 4 entries, 2 turns

    ████████████████████████████████████████████████████████████████████████████████
    █ 4 loaded

    client        2.1.325, which wrote the newest line
    goes on from  L4 t2, the last line of the conversation, 2025-01-01 00:00
                  answer: done too
    begins at     L1 t1, a beginning: it names no parent
    context       about 15 tokens
    ");
    assert_eq!(explain(WHOLE, &["--json"]).code, 0);
    let run = explain(WHOLE, &["--client", "all"]);
    assert_eq!(run.code, 0);
    insta::assert_snapshot!(said(&run), @"
    Each of 13 measured clients loads everything: 4 entries

       client            leaf  loaded        turns  lost  begins at
    ●  1.0.37 – 2.1.325  L4         4  100%      2     0  L1

       client             leaf  chosen as         words
       1.0.37 – 2.1.73    L4    newest timestamp  answer: done too
       2.1.104            L4    only leaf
    ●  2.1.163 – 2.1.325  L4    last line

    ● 2.1.325 wrote the newest line
    one in full   rethread explain last --client 2.1.325
    ");
}

const BROKEN: &str = "
    * v=2.1.49
    u1: tidy the shed
      a1: the shed is tidy
        u2: by size
          a2: by size it is
        u3: by colour
          a3: by colour then
    u4 ^gone @+60: go on
      a4: where was I
";

#[test]
fn a_missing_parent_is_named_with_what_it_cuts_off() {
    let run = explain(BROKEN, &["--client", "2.1.49"]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(said(&run), @"
    Claude Code 2.1.49 loads 2 of 8 entries (25%) and 1 of 4 turns (25%); 6 are out of reach

    ····························································████████████████████
    █ 2 loaded   · 6 out of reach

    client        2.1.49, which wrote the newest line; not measured itself, taken for 2.1.42
    goes on from  L8 t4, the newest timestamp, 2025-01-01 00:01
                  answer: where was I
    stops at      L7 t4: its parent 676f6e65-0000-4000-8000-000000000000 is in no line
                  go on
    see where     rethread tree last L7
    context       about 10 tokens

    out of reach  6 entries, 3 turns under other beginnings
      from  to  entries  turns  first words
      L1    L6        6      3  tidy the shed

    read it       rethread show last --branch L6
    see where     rethread tree last L1
    ");
    for command in ["rethread show last --branch L6", "rethread tree last L1", "rethread tree last L7"] {
        assert!(run.out.contains(command), "{}", run.out);
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        assert_eq!(store(BROKEN).run(&words).code, 0, "{command}");
    }
}

/// Entries above a line that a client does not read are lost, not compacted, and what is sent is little.
#[test]
fn an_unread_parent_loses_what_is_above_it() {
    let text = "
        * v=2.0.76
        u1: tidy the shed
          a1 in=90000: the shed is tidy
            p1: hook_progress done
              u2: go on
                a2 in=90000: where was I
    ";
    let run = explain(text, &[]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(said(&run), @"
    Claude Code 2.0.76 loads 2 of 4 entries (50%) and 1 of 2 turns (50%); 2 are out of reach

    ········································████████████████████████████████████████
    █ 2 loaded   · 2 out of reach

    client        2.0.76, which wrote the newest line
    goes on from  L5 t2, the newest timestamp, 2025-01-01 00:00
                  answer: where was I
    stops at      L4 t2: it hangs on L3, a progress line, which this client does not read
                  go on
    see where     rethread tree last L4
    context       about 10 tokens

    out of reach  2 entries, 1 turn under other beginnings
      from  to  entries  turns  first words
      L1    L2        2      1  tidy the shed

    read it       rethread show last --branch L2
    see where     rethread tree last L1
    ");
    assert_eq!(unreachable(&object(text, &[])), "L1 other-root!, L2 other-root!");
    let run = explain(text, &["--client", "all"]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(said(&run), @"
    13 measured clients load this session in 2 ways: most by 2.1.15 – 2.1.325 (4 of 4 entries), least by
    1.0.37 – 2.0.76 (2)

       client            leaf  loaded        turns  lost  begins at
    ●  1.0.37 – 2.0.76   L5         2   50%      1     2  L4, parent not read
       2.1.15 – 2.1.325  L5         4  100%      2     0  L1

       client             leaf  chosen as         words
    ●  1.0.37 – 2.1.73    L5    newest timestamp  answer: where was I
       2.1.104            L5    only leaf
       2.1.163 – 2.1.325  L5    last line

    ● 2.0.76 wrote the newest line
    one in full   rethread explain last --client 2.1.325
    ");
}

#[test]
fn each_client_has_its_strip_where_there_is_room() {
    let home = store(BROKEN);
    let drawn = |width: &str| {
        let output =
            home.command(&["explain", "last", "--client", "all"]).env("COLUMNS", width).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let wide = drawn("120");
    assert!(wide.contains("  ··················██████  L7, parent missing\n"), "{wide}");
    assert!(wide.contains("\n█ loaded   ▒ summed up   ▁ left out   · out of reach\n"), "{wide}");
    assert!(!drawn("80").contains('█'));
}

#[test]
fn a_circle_hangs_an_old_client() {
    let text = "
        * v=2.0.76
        u1 ^a2: tidy the shed
          a1: done
            u2: and the path
              a2: done too
    ";
    let run = explain(text, &[]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(said(&run), @"
    Claude Code 2.0.76 hangs on this session and has to be stopped: entries are each other's parents

    ················································································
    · 4 out of reach

    client        2.0.76, which wrote the newest line
    goes on from  L4 t2, the newest timestamp, 2025-01-01 00:00
                  answer: done too
    comes round   L1 t1: its parent 61320000-0000-4000-8000-000000000000 hangs below it
                  tidy the shed

    read it       rethread show last --everything
    others        rethread explain last --client all
    ");
    let halted = object(text, &[]);
    assert_eq!((&halted["halted"], &halted["lost"]), (&"hangs".into(), &4.into()));
}

#[test]
fn a_pin_holds_where_the_file_ends_elsewhere() {
    let text = "
        * v=2.1.221
        u1: tidy the shed
          a1: done
            u2: and the path
              a2: done too
        last-prompt ~a2: and the path
            u3: wait
              a3: I wait
    ";
    let run = explain(&text.replace("            u3", "            u3 ^a1"), &[]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(said(&run), @"
    Claude Code 2.1.221 loads 4 of 6 entries (66%) and 2 of 3 turns (66%); 2 are out of reach

    ██████████████████████████████████████████████████████··························
    █ 4 loaded   · 2 out of reach

    client        2.1.221, which wrote the newest line
    goes on from  L4 t2, pinned by the last-prompt on L5, 2025-01-01 00:00
                  answer: done too
    begins at     L1 t1, a beginning: it names no parent
    context       about 15 tokens

    out of reach  2 entries, 1 turn on other branches
      from  to  entries  turns  first words
      L6    L7        2      1  wait

    read it       rethread show last --branch L7
    see where     rethread tree last L6
    ");
}

#[test]
fn what_is_left_out_and_made_up_is_named() {
    let text = "
        * v=2.1.104
        u1: tidy the shed
          a1 apierror: API Error 529
            u2: again
              a2: !Bash rake
    ";
    let run = explain(text, &[]);
    assert_eq!(run.code, 0);
    insta::assert_snapshot!(said(&run), @"
    Claude Code 2.1.104 loads 2 of 4 entries (50%) and 2 of 2 turns (100%); 2 are left out

    ████████████████████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁████████████████████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
    █ 2 loaded   ▁ 2 left out

    client        2.1.104, which wrote the newest line
    goes on from  L4 t2, the only entry with nothing below it, 2025-01-01 00:00
                  answer: Bash  rake
    begins at     L1 t1, a beginning: it names no parent
    context       about 4 tokens
    left out      1 API error: L2
                  1 call that was never answered: L4
    made up       “No response requested.” in the model's name, behind L3
    ");
}

/// The API takes messages of one side that follow each other as one.
#[test]
fn results_in_messages_of_their_own_are_not_refused() {
    let text = "
        * v=1.0.98
        u1: tidy the shed
          a1 #m1: !Bash rake
            a2 #m1: !Bash hose
              u2: =a1 raked
                u3: =a2 hosed
                  a3: done
    ";
    assert_eq!(object(text, &[])["refused"], Value::Array(Vec::new()));
    let blank = text.replace("a3: done", "a3: ?so it is done");
    let run = explain(&blank, &[]);
    let refused = run.out.lines().find(|line| line.starts_with("API refuses"));
    assert_eq!(refused, Some("API refuses   L6 t1, an answer that ends in a thought"), "{}", run.out);
}

/// What the API has answered to, it has taken.
#[test]
fn words_that_were_taken_are_not_refused() {
    let blank = |u1: &str, u2: &str| {
        object(&format!("* v=2.1.104\nu1: one{u1}\n  a1: one\n    u2: two{u2}"), &[])["refused"].clone()
    };
    let block = r#" | {"type":"text","text":" "}"#;
    assert_eq!(blank(block, ""), Value::Array(Vec::new()));
    assert_eq!(blank("", block).as_array().map(Vec::len), Some(1));
}

#[test]
fn parallel_calls_are_lost_and_not_compacted() {
    let text = "
        * v=2.1.42
        u1: tidy the shed
          a1 #m1: !Bash rake
            a2 #m1: !Bash hose
              u3: =a2 hosed
            u2: =a1 raked
              a3 #m2: done
    ";
    assert_eq!(unreachable(&object(text, &[])), "L3 other-branch!, L4 other-branch!");
    assert_eq!(unreachable(&object(text, &["--client", "2.1.325"])), "");
}

#[test]
fn a_compaction_says_what_the_model_sees() {
    let text = "
        * v=2.1.42
        u1: tidy the shed
          a1: done
            s1: compact_boundary
              u2 recap: the shed was tidied
                u3: go on
                  a2 in=1200: with what
    ";
    let run = explain(text, &[]);
    assert_eq!(run.code, 0);
    insta::assert_snapshot!(said(&run), @"
    Claude Code 2.1.42 loads 3 of 5 entries (60%) and 1 of 2 turns (50%); 2 are summed up

    ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒████████████████████████████████████████████████
    █ 3 loaded   ▒ 2 summed up

    client        2.1.42, which wrote the newest line
    goes on from  L6 t2, the newest timestamp, 2025-01-01 00:00
                  answer: with what
    begins at     L3, a compaction
                  compacted (manual), 1.0k tokens before
    summary       L4, for 2 entries, 1 turn
                  recap: the shed was tidied
    context       about 1.2k tokens
    ");
}

#[test]
fn the_rule_of_old_descriptions_is_no_clients() {
    let text = format!("{WHOLE}\n    summary ~a1: tidying");
    let run = explain(&text, &["--rule", "seed"]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(said(&run), @"
    A reader that goes by summaries loads 2 of 4 entries (50%) and 1 of 2 turns (50%); 2 are out of
    reach

    ████████████████████████████████████████········································
    █ 2 loaded   · 2 out of reach

    note          no measured client reads a session like this; some descriptions of the format do
    goes on from  L2 t1, named by the summary on L5, 2025-01-01 00:00
                  answer: done
    begins at     L1 t1, a beginning: it names no parent
    context       about 15 tokens

    out of reach  2 entries, 1 turn on other branches
      from  to  entries  turns  first words
      L3    L4        2      1  and the path

    read it       rethread show last --branch L4
    see where     rethread tree last L3
    ");
    assert_eq!(explain(&text, &["--rule", "seed", "--client", "2.1.325"]).code, 2);
    assert_eq!(object(&text, &["--rule", "seed"])["client"], Value::Null);
    let run = explain(WHOLE, &["--rule", "seed"]);
    assert!(run.out.contains("no summary names an entry of this session"), "{}", run.out);
}

#[test]
fn a_client_is_named_by_three_numbers() {
    let run = explain(WHOLE, &["--client", "newest"]);
    assert_eq!(run.code, 2);
    let expected = "error: cannot read `newest` as a client version\nhint: write three numbers such as 2.1.325, or all\n";
    assert_eq!(run.err, expected);
    let run = explain(WHOLE, &["--client", "2.1.330"]);
    let client = run.out.lines().find(|line| line.starts_with("client")).unwrap();
    assert!(
        client.starts_with("client        2.1.330, the newest line was written by 2.1.325; not measured"),
        "{client}"
    );
}

#[test]
fn nothing_and_subagents_are_said_plainly() {
    let cases = [
        ("custom-title: empty", "finds nothing to load in this session"),
        ("u1 side: look\n  a1 side: seen", "does not resume this file: all its lines are a subagent's"),
    ];
    for (text, words) in cases {
        let home = Home::new();
        home.write("one.jsonl", String::from_utf8(script::bytes(text)).unwrap());
        let run = home.run(&["explain", "one.jsonl"]);
        assert_eq!(run.code, 1);
        assert!(run.out.contains(&format!(" {words}\n")), "{}", run.out);
    }
}

#[test]
fn the_demo_has_a_branch_and_a_compaction() {
    let home = Home::new();
    let run = home.run(&["--demo", "explain", "harbour"]);
    assert_eq!(run.code, 1);
    assert!(
        run.out.contains("loads 8 of 10 entries (80%) and 2 of 3 turns (66%); 2 are out of reach\n"),
        "{}",
        run.out
    );
    assert!(run.out.contains("  L5    L6        2      1  Yes, as in a dictionary\n"), "{}", run.out);
    let run = home.run(&["--demo", "explain", "71ad"]);
    assert_eq!(run.code, 0);
    assert!(
        run.out.contains("loads 5 of 17 entries (29%) and 1 of 4 turns (25%); 12 are summed up\n"),
        "{}",
        run.out
    );
    assert!(run.out.contains("summary       L14, for 12 entries, 3 turns\n"), "{}", run.out);
}

//! `explain` end to end: sessions that load completely, in part, or not at all.

use rethread_testkit::home::{Home, RunOutput};
use rethread_testkit::script;
use serde_json::Value;

use crate::new_home;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

fn new_home_with_session(text: &str) -> Home {
    let home = new_home();
    let text = String::from_utf8(script::bytes(text)).unwrap();
    home.write(&format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"), &text);
    home
}

fn explain(text: &str, args: &[&str]) -> RunOutput {
    new_home_with_session(text).run(&[&["explain", "last"], args].concat())
}

/// Returns the output below title and id.
fn body(run: &RunOutput) -> String {
    run.out.lines().skip(3).collect::<Vec<_>>().join("\n")
}

fn explain_json(text: &str, args: &[&str]) -> Value {
    let run = explain(text, &[args, &["--json"]].concat());
    serde_json::from_str(run.out.lines().next().unwrap()).unwrap()
}

/// Lists the messages that are not loaded, with the reason. Lost ones are marked with `!`.
fn list_unreachable(report: &Value) -> String {
    let all = report["unreachable"].as_array().unwrap().iter();
    let lines = all.map(|lost| {
        let mark = if lost["lost"] == true { "!" } else { "" };
        format!("L{} {}{mark}", lost["line"], lost["reason"].as_str().unwrap())
    });
    lines.collect::<Vec<_>>().join(", ")
}

const COMPLETE_SESSION: &str = "
    * v=2.1.325
    u1: tidy the shed
      a1: done
        u2: and the path
          a2: done too
";

#[test]
fn a_complete_session_loads_everything() {
    let run = explain(COMPLETE_SESSION, &[]);
    assert_eq!(run.code, 0);
    insta::assert_snapshot!(body(&run), @"
    Claude Code 2.1.325 loads everything: 4 entries, 2 turns

    ████████████████████████████████████████████████████████████████████████████████
    █ 4 loaded

    client        2.1.325, which wrote the newest line
    resumes from  L4 t2, the last line of the conversation, 2025-01-01 00:00
                  answer: done too
    starts at     L1 t1, a root: it has no parent
    context       about 15 tokens
    ");
    assert_eq!(explain(COMPLETE_SESSION, &["--json"]).code, 0);
    let run = explain(COMPLETE_SESSION, &["--client", "all"]);
    assert_eq!(run.code, 0);
    insta::assert_snapshot!(body(&run), @"
    Each of 54 measured clients loads everything: 4 entries

       client            leaf  loaded        turns  lost  starts at
    ●  1.0.37 – 2.1.327  L4         4  100%      2     0  L1

       client             leaf  rule              text
       1.0.37 – 2.1.91    L4    newest timestamp  answer: done too
       2.1.101 – 2.1.104  L4    only leaf
    ●  2.1.116 – 2.1.327  L4    last line

    ● 2.1.325 wrote the newest line
    details       rethread explain last --client 2.1.325
    ");
}

const MISSING_PARENT: &str = "
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
fn a_missing_parent_is_reported_with_the_unreachable_entries() {
    let run = explain(MISSING_PARENT, &["--client", "2.1.49"]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(body(&run), @"
    Claude Code 2.1.49 loads 2 of 8 entries (25%) and 1 of 4 turns (25%); 6 are unreachable

    ····························································████████████████████
    █ 2 loaded   · 6 unreachable

    client        2.1.49, which wrote the newest line; not measured, uses the rules of 2.1.45
    resumes from  L8 t4, the newest timestamp, 2025-01-01 00:01
                  answer: where was I
    stops at      L7 t4: its parent 676f6e65-0000-4000-8000-000000000000 is not in the file
                  go on
    see where     rethread tree last L7
    context       about 10 tokens

    unreachable   6 entries, 3 turns below other roots
      from  to  entries  turns  first text
      L1    L6        6      3  tidy the shed

    read it       rethread show last --branch L6
    see where     rethread tree last L1
    ");
    for command in ["rethread show last --branch L6", "rethread tree last L1", "rethread tree last L7"] {
        assert!(run.out.contains(command), "{}", run.out);
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        assert_eq!(new_home_with_session(MISSING_PARENT).run(&words).code, 0, "{command}");
    }
}

/// Ancestors of a line that a client does not read are lost, not compacted. They do not count as context.
#[test]
fn an_unread_parent_makes_its_ancestors_unreachable() {
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
    insta::assert_snapshot!(body(&run), @"
    Claude Code 2.0.76 loads 2 of 4 entries (50%) and 1 of 2 turns (50%); 2 are unreachable

    ········································████████████████████████████████████████
    █ 2 loaded   · 2 unreachable

    client        2.0.76, which wrote the newest line
    resumes from  L5 t2, the newest timestamp, 2025-01-01 00:00
                  answer: where was I
    stops at      L4 t2: its parent is L3, a progress line, which this client does not read
                  go on
    see where     rethread tree last L4
    context       about 10 tokens

    unreachable   2 entries, 1 turn below other roots
      from  to  entries  turns  first text
      L1    L2        2      1  tidy the shed

    read it       rethread show last --branch L2
    see where     rethread tree last L1
    ");
    assert_eq!(list_unreachable(&explain_json(text, &[])), "L1 other-root!, L2 other-root!");
    let run = explain(text, &["--client", "all"]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(body(&run), @"
    54 measured clients load this session with 2 different results: most by 2.1.86 – 2.1.327 (4 of 4
    entries), least by 2.1.85 (2)

       client            leaf  loaded        turns  lost  starts at
    ●  1.0.37 – 2.1.7    L5         2   50%      1     2  L4, parent not read
       2.1.9 – 2.1.80    L5         4  100%      2     0  L1
       2.1.85            L5         2   50%      1     2  L4, parent not read
       2.1.86 – 2.1.327  L5         4  100%      2     0  L1

       client             leaf  rule              text
    ●  1.0.37 – 2.1.91    L5    newest timestamp  answer: where was I
       2.1.101 – 2.1.104  L5    only leaf
       2.1.116 – 2.1.327  L5    last line

    ● 2.0.76 wrote the newest line
    details       rethread explain last --client 2.1.80
    ");
}

#[test]
fn wide_screens_show_a_strip_for_each_client() {
    let home = new_home_with_session(MISSING_PARENT);
    let explain_at_width = |width: &str| {
        let output =
            home.command(&["explain", "last", "--client", "all"]).env("COLUMNS", width).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let wide = explain_at_width("120");
    assert!(wide.contains("  ··················██████  L7, parent missing\n"), "{wide}");
    assert!(wide.contains("\n█ loaded   ▒ compacted   ▁ omitted   · unreachable\n"), "{wide}");
    assert!(!explain_at_width("80").contains('█'));
}

#[test]
fn a_cycle_of_parents_hangs_old_clients() {
    let text = "
        * v=2.0.76
        u1 ^a2: tidy the shed
          a1: done
            u2: and the path
              a2: done too
    ";
    let run = explain(text, &[]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(body(&run), @"
    Claude Code 2.0.76 freezes while loading this session: its parents form a cycle

    ················································································
    · 4 unreachable

    client        2.0.76, which wrote the newest line
    resumes from  L4 t2, the newest timestamp, 2025-01-01 00:00
                  answer: done too
    cycle at      L1 t1: its parent 61320000-0000-4000-8000-000000000000 is one of its descendants
                  tidy the shed

    read it       rethread show last --all
    other clients rethread explain last --client all
    ");
    let report = explain_json(text, &[]);
    assert_eq!((&report["failure"], &report["lost"]), (&"hangs".into(), &4.into()));
}

#[test]
fn a_last_prompt_pin_overrides_the_last_line() {
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
    insta::assert_snapshot!(body(&run), @"
    Claude Code 2.1.221 loads 4 of 6 entries (67%) and 2 of 3 turns (67%); 2 are unreachable

    ██████████████████████████████████████████████████████··························
    █ 4 loaded   · 2 unreachable

    client        2.1.221, which wrote the newest line
    resumes from  L4 t2, pinned by the last-prompt on L5, 2025-01-01 00:00
                  answer: done too
    starts at     L1 t1, a root: it has no parent
    context       about 15 tokens

    unreachable   2 entries, 1 turn on other branches
      from  to  entries  turns  first text
      L6    L7        2      1  wait

    read it       rethread show last --branch L7
    see where     rethread tree last L6
    resume it     rethread goto last L7
    ");
}

#[test]
fn omitted_and_added_messages_are_listed() {
    let text = "
        * v=2.1.104
        u1: tidy the shed
          a1 apierror: API Error 529
            u2: again
              a2: !Bash rake
    ";
    let run = explain(text, &[]);
    assert_eq!(run.code, 0);
    insta::assert_snapshot!(body(&run), @"
    Claude Code 2.1.104 loads 2 of 4 entries (50%) and 2 of 2 turns (100%); 2 are omitted

    ████████████████████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁████████████████████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
    █ 2 loaded   ▁ 2 omitted

    client        2.1.104, which wrote the newest line
    resumes from  L4 t2, the only entry without a child, 2025-01-01 00:00
                  answer: Bash  rake
    starts at     L1 t1, a root: it has no parent
    context       about 4 tokens
    omitted       1 API error: L2
                  1 call without a result: L4
    added         “No response requested.” as the model, after L3
    ");
}

/// The API joins consecutive messages of one role.
#[test]
fn results_in_separate_messages_are_not_rejected() {
    let text = "
        * v=1.0.98
        u1: tidy the shed
          a1 #m1: !Bash rake
            a2 #m1: !Bash hose
              u2: =a1 raked
                u3: =a2 hosed
                  a3: done
    ";
    assert_eq!(explain_json(text, &[])["rejections"], Value::Array(Vec::new()));
    let thinking_last = text.replace("a3: done", "a3: ?so it is done");
    let run = explain(&thinking_last, &[]);
    let refused = run.out.lines().find(|line| line.starts_with("API rejects"));
    assert_eq!(
        refused,
        Some("API rejects   L6 t1, an answer that ends with a thinking block"),
        "{}",
        run.out
    );
}

/// The API has accepted everything that it has answered.
#[test]
fn answered_messages_are_not_rejected() {
    let rejections = |u1: &str, u2: &str| {
        explain_json(&format!("* v=2.1.104\nu1: one{u1}\n  a1: one\n    u2: two{u2}"), &[])["rejections"]
            .clone()
    };
    let block = r#" | {"type":"text","text":" "}"#;
    assert_eq!(rejections(block, ""), Value::Array(Vec::new()));
    assert_eq!(rejections("", block).as_array().map(Vec::len), Some(1));
}

#[test]
fn parallel_calls_are_lost_by_old_clients() {
    let text = "
        * v=2.1.42
        u1: tidy the shed
          a1 #m1: !Bash rake
            a2 #m1: !Bash hose
              u3: =a2 hosed
            u2: =a1 raked
              a3 #m2: done
    ";
    assert_eq!(list_unreachable(&explain_json(text, &[])), "L3 other-branch!, L4 other-branch!");
    assert_eq!(list_unreachable(&explain_json(text, &["--client", "2.1.325"])), "");
}

#[test]
fn a_compaction_reports_its_summary() {
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
    insta::assert_snapshot!(body(&run), @"
    Claude Code 2.1.42 loads 3 of 5 entries (60%) and 1 of 2 turns (50%); 2 are compacted

    ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒████████████████████████████████████████████████
    █ 3 loaded   ▒ 2 compacted

    client        2.1.42, which wrote the newest line
    resumes from  L6 t2, the newest timestamp, 2025-01-01 00:00
                  answer: with what
    starts at     L3, a compaction
                  compacted (manual), 1.0k tokens before
    summary       L4, for 2 entries, 1 turn
                  summary: the shed was tidied
    context       about 1.2k tokens
    ");
}

#[test]
fn the_seed_rule_follows_summaries_and_is_no_client() {
    let text = format!("{COMPLETE_SESSION}\n    summary ~a1: tidying");
    let run = explain(&text, &["--rule", "seed"]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(body(&run), @"
    A reader that follows summaries loads 2 of 4 entries (50%) and 1 of 2 turns (50%); 2 are unreachable

    ████████████████████████████████████████········································
    █ 2 loaded   · 2 unreachable

    note          no measured client reads a session by this rule; some descriptions of the format do
    resumes from  L2 t1, named by the summary on L5, 2025-01-01 00:00
                  answer: done
    starts at     L1 t1, a root: it has no parent
    context       about 15 tokens

    unreachable   2 entries, 1 turn on other branches
      from  to  entries  turns  first text
      L3    L4        2      1  and the path

    read it       rethread show last --branch L4
    see where     rethread tree last L3
    ");
    assert_eq!(explain(&text, &["--rule", "seed", "--client", "2.1.325"]).code, 2);
    assert_eq!(explain_json(&text, &["--rule", "seed"])["client"], Value::Null);
    let run = explain(COMPLETE_SESSION, &["--rule", "seed"]);
    assert!(run.out.contains("no summary names an entry of this session"), "{}", run.out);
}

#[test]
fn a_client_is_named_by_three_numbers() {
    let run = explain(COMPLETE_SESSION, &["--client", "newest"]);
    assert_eq!(run.code, 2);
    let expected = "error: cannot parse `newest` as a client version\nhint: use three numbers such as 2.1.325, or `all`\n";
    assert_eq!(run.err, expected);
    let run = explain(COMPLETE_SESSION, &["--client", "2.1.330"]);
    let client = run.out.lines().find(|line| line.starts_with("client")).unwrap();
    assert!(
        client.starts_with("client        2.1.330, the newest line was written by 2.1.325; not measured"),
        "{client}"
    );
}

#[test]
fn empty_sessions_and_subagents_are_reported() {
    let cases = [
        ("custom-title: empty", "finds nothing to load in this session"),
        ("u1 side: look\n  a1 side: seen", "does not resume this file: all its lines belong to a subagent"),
    ];
    for (text, message) in cases {
        let home = new_home();
        home.write("one.jsonl", String::from_utf8(script::bytes(text)).unwrap());
        let run = home.run(&["explain", "one.jsonl"]);
        // There is nothing to lose.
        assert_eq!(run.code, 0);
        assert!(run.out.contains(&format!(" {message}\n")), "{}", run.out);
    }
}

#[test]
fn the_demo_has_a_branch_and_a_compaction() {
    let home = new_home();
    let run = home.run(&["--demo", "explain", "harbour"]);
    assert_eq!(run.code, 0);
    assert!(run.out.contains("\nleft          2 entries, 1 turn on other branches\n"), "{}", run.out);
    assert!(
        run.out.contains("loads 8 of 10 entries (80%) and 2 of 3 turns (67%); 2 are unreachable\n"),
        "{}",
        run.out
    );
    assert!(run.out.contains("  L5    L6        2      1  Yes, as in a dictionary\n"), "{}", run.out);
    let run = home.run(&["--demo", "explain", "71ad"]);
    assert_eq!(run.code, 0);
    assert!(
        run.out.contains("loads 5 of 17 entries (29%) and 1 of 4 turns (25%); 12 are compacted\n"),
        "{}",
        run.out
    );
    assert!(run.out.contains("summary       L14, for 12 entries, 3 turns\n"), "{}", run.out);
}

#[test]
fn only_a_loss_that_the_user_did_not_cause_changes_the_exit_code() {
    // A rewind leaves one branch before it starts another.
    let rewound = "u1: one\n  a1: one\n    u2: left\n      a2: left\n    u3: right\n      a3: right";
    // Two clients wrote at the same time.
    let parallel =
        "u1: one\n  a1: one\n    u2: left\n      a2 @+20: left\n    u3 @+-15: right\n      a3 @+20: right";
    let cut = "u1: one\n  a1: one\nu2 ^gone @+60: two\n  a2: two";
    let compacted =
        "u1: one\n  a1: one\n    s1: compact_boundary\n      u2 ^s1 recap: so far\n        a2: ok";
    for (text, code) in [(rewound, 0), (parallel, 1), (cut, 1), (compacted, 0)] {
        let home = new_home_with_session(&format!("* v=2.1.325\n{text}"));
        assert_eq!(home.run(&["explain", "last"]).code, code, "{text}");
        assert_eq!(home.run(&["doctor", "last"]).code, code, "{text}");
    }
    let report = explain_json(&format!("* v=2.1.325\n{rewound}"), &[]);
    let left: Vec<&Value> =
        report["unreachable"].as_array().unwrap().iter().map(|entry| &entry["left"]).collect();
    assert_eq!(left, [true, true]);
}

#[test]
fn coming_back_costs_more_after_the_prompt_cache_has_expired() {
    let home = new_home();
    let bytes = String::from_utf8(script::bytes("u1: one\n  a1: done"))
        .unwrap()
        .replace("claude-test-1", "claude-opus-4-5");
    let bytes = bytes.replace("\"input_tokens\":10,", "\"input_tokens\":100000,");
    home.write(&format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"), bytes);
    let report = home.run_json(&["explain", "last", "--json"]);
    let tokens = report["tokens"].as_u64().unwrap() as f64;
    // A million tokens cost $0.50 from the cache, and $6.25 or $10 into it.
    for (name, price) in [("warm", 0.5), ("expired", 6.25), ("expired_1h", 10.0)] {
        let cost = report["return_cost_usd"][name].as_f64().unwrap();
        assert!(tokens > 1_000.0 && (cost - tokens * price / 1e6).abs() < 1e-9, "{name}: {cost}");
    }
    let run = home.run(&["explain", "last"]);
    assert!(run.out.contains("coming back   about $0.05 while"), "{}", run.out);
    assert!(run.out.contains("$0.63 to $1.00"), "{}", run.out);
    let unpriced = explain("u1: one\n  a1: one", &[]);
    assert!(!unpriced.out.contains("coming back"), "the model has no price: {}", unpriced.out);
}

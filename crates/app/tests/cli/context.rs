//! `context` end to end: the chart, the categories, and their sum.

use rethread_testkit::home::Home;
use rethread_testkit::script;

use crate::new_home;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A session with a compaction, an unexplained drop, an abandoned branch and a file that is read twice.
const COMPACTED_SESSION: &str = r#"
    u1: map the harbours
      a1 in=12000 out=120: !Bash ls maps
        u2: =a1 north.txt south.txt
          a2 read=12000 in=4000 out=60: there are two
            u3: read both
              a9 #m9 in=16500 out=4: not taken
              a3 read=16000 in=9000 out=400: ?which one first | the north one
                s1: compact_boundary
                  u4 recap: two harbours were mapped, the north one first
                    u5: go on
                      a4 in=15000 out=300: {"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/home/ann/garden/north.txt"}}
                        u6: {"type":"tool_result","tool_use_id":"t1","content":"piers and quays"}
                          a5 read=15000 in=6000 out=80: {"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"/home/ann/garden/north.txt"}}
                            u7: {"type":"tool_result","tool_use_id":"t2","content":"piers and quays"}
                              a6 read=18000 in=100 out=80: mapped
"#;

fn new_home_with_session(text: &str) -> Home {
    let home = new_home();
    let text = String::from_utf8(script::bytes(text)).unwrap();
    home.write(&format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"), &text);
    home
}

#[test]
fn the_chart_and_the_tables_are_printed() {
    let run = new_home_with_session(COMPACTED_SESSION).run(&["context", "last", "--turns"]);
    let out: Vec<&str> = run.out.lines().skip(3).collect();
    insta::assert_snapshot!(out.join("\n"), @"
    18.2k of 200k tokens (9%) · claude-test-1
    18.1k sent with the last request + 80 in the answer

     25.0k ┤         ████
           │         ████    ▆▆▆▆
           │     ▁▁▁▁████    ████▇▇▇▇
           │     ████████▇▇▇▇████████
     12.5k ┤ ▇▇▇▇████████████████████
           │ ████████████████████████
           │ ████████████████████████
           │ ████████████████████████
         0 ┼─────────────────────────
                         ▼       ↓
             t1      t2  t3
    ▼ L8 t3  compacted (manual), 1.0k → 15.0k
    ↓ L15 t3  shrank for an unknown reason, 21.0k → 18.1k

    By turn
    turn  line  responses  first   last  growth     first text
      t1  L1            2  12.0k  16.1k  +16.1k     map the harbours
      t2  L5            1  25.0k  25.4k   +9.3k     read both
      t3  L10           3  15.0k  18.2k   -7.2k  ▼  go on

    In context now
                                          blocks  tokens  share
    client: system prompt, tools, memory          ~12.9k  70.8%  ████████████████████████
    client: not recorded in the file               ~4.9k  26.8%  █████████▏
    tool calls                                 2    ~326   1.8%  ▋
    answers                                    1      80   0.4%  ▏
    results of Read                            2     ~19   0.1%  ▏
    summary of the compaction                  1     ~12   0.1%  ▏
    prompts                                    1      ~2   0.0%  ▏

    Files read more than once
    reads  repeated  file
        2       ~19  north.txt

    Largest blocks
    L11  ~257  call of Read    north.txt
    L15    80  answer          mapped
    L13   ~69  call of Read    north.txt
    L14   ~19  result of Read  north.txt
    L9    ~12  summary         two harbours were mapped, the north one first

    6 responses in 3 turns · 1 response on other branches or unreachable · ~ is estimated by length ·
    growth beyond twice the estimate is listed as unrecorded · content removed at ↓ is unknown; thinking
    is assumed first, then results
    make a smaller copy: rethread clone last --preset light --dry-run
    ");
}

#[test]
fn tokens_by_category_add_up_to_the_total() {
    for (home, session) in [(new_home_with_session(COMPACTED_SESSION), "last"), (new_home(), "harbour")] {
        let is_demo = session == "harbour";
        let args = if is_demo {
            vec!["--demo", "context", session, "--json"]
        } else {
            vec!["context", session, "--json"]
        };
        let rows = home.run_json_lines(&args);
        let rows_of_type =
            |type_name: &str| rows.iter().filter(|row| row["type"] == type_name).collect::<Vec<_>>();
        let used = rows_of_type("context")[0]["used"].as_u64().unwrap();
        let sum: u64 = rows_of_type("context_cause").iter().map(|row| row["tokens"].as_u64().unwrap()).sum();
        assert!(used > 0 && used == sum, "{used} is {sum}");
        assert!(rows_of_type("context_turn").is_empty(), "turns are listed only with --turns");
    }
}

#[test]
fn the_name_of_the_largest_block_is_accepted_by_show() {
    let home = new_home_with_session(COMPACTED_SESSION);
    let rows = home.run_json_lines(&["context", "last", "--json"]);
    let largest = rows.iter().find(|row| row["type"] == "context_item").unwrap();
    let handle = largest["handle"].as_str().unwrap();
    assert_eq!(home.run(&["show", "last", "--branch", handle]).code, 0, "{largest}");
}

#[test]
fn a_session_without_messages_has_no_context() {
    let home = new_home_with_session("summary: a title and no more");
    let path = format!("{}/.claude/projects/-home-ann-garden/{SESSION}.jsonl", home.path().display());
    let run = home.run(&["context", &path]);
    assert_eq!((run.code, run.out.as_str()), (1, ""), "{}", run.err);
}

#[test]
fn lines_fit_the_screen() {
    let home = new_home_with_session(COMPACTED_SESSION);
    for width in [70, 80, 120] {
        let output =
            home.command(&["context", "last", "--turns"]).env("COLUMNS", width.to_string()).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let widest = out.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width), "{widest:?} columns of {width}:\n{out}");
    }
}

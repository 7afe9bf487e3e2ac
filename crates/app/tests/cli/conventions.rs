//! Conventions of all commands: exit codes, messages, streams, JSON keys.

use std::collections::BTreeSet;
use std::io::Read;
use std::process::Stdio;

use rethread_testkit::home::Home;
use rethread_testkit::script;
use serde_json::Value;

use crate::new_home;

#[test]
fn without_sessions_the_searched_folder_and_the_demo_are_shown() {
    let home = new_home();
    let run = home.run(&[]);
    assert_eq!(run.code, 0);
    assert!(run.err.contains(&format!("no sessions found in `{}", home.path().display())), "{}", run.err);
    assert!(run.out.starts_with("══ DEMO"), "{}", run.out);
    assert!(run.out.trim_end().lines().last().unwrap().starts_with("══ DEMO"));
    assert!(run.out.contains("rethread --demo show last"));
    // The demo is kept in the state folder, and nothing else is written.
    let names = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), [".local"]);
    assert!(home.state_path().join("demo/store/.claude").exists());
}

#[test]
fn exit_codes_distinguish_success_nothing_found_and_errors() {
    let home = new_home();
    let exit_code = |args: &[&str]| home.run(args).code;
    assert_eq!(exit_code(&["--demo"]), 0);
    assert_eq!(exit_code(&["--demo", "ls"]), 0);
    assert_eq!(exit_code(&["--demo", "ls", "--title", "no such title"]), 1);
    assert_eq!(exit_code(&["--demo", "tools", "last", "--name", "NoSuchTool"]), 1);
    assert_eq!(exit_code(&["--demo", "agents", "harbour"]), 1);
    assert_eq!(exit_code(&["--demo", "schema", "--unknown"]), 1);
    assert_eq!(exit_code(&["--demo", "show", "last", "--turns", "99"]), 1);
    assert_eq!(exit_code(&["--demo", "show", "no-such-session"]), 2);
    assert_eq!(exit_code(&["--demo", "show", "last", "--turns", "x"]), 2);
    assert_eq!(exit_code(&["--demo", "show", "last", "--branch", "L9999"]), 2);
    assert_eq!(exit_code(&["--demo", "branches", "last"]), 0);
    assert_eq!(exit_code(&["--demo", "context", "last"]), 0);
    assert_eq!(exit_code(&["--demo", "context", "no-such-session"]), 2);
    assert_eq!(exit_code(&["--demo", "explain", "last"]), 0);
    // The user left a branch of this session. Nothing else is lost.
    assert_eq!(exit_code(&["--demo", "explain", "harbour"]), 0);
    assert_eq!(exit_code(&["--demo", "explain", "harbour", "--json"]), 0);
    assert_eq!(exit_code(&["--demo", "explain", "last", "--client", "2"]), 2);
    assert_eq!(exit_code(&["--demo", "tree", "last"]), 0);
    assert_eq!(exit_code(&["--demo", "doctor", "harbour"]), 0);
    assert_eq!(exit_code(&["--demo", "doctor"]), 1);
    assert_eq!(exit_code(&["--demo", "doctor", "no-such-session"]), 2);
    assert_eq!(exit_code(&["--demo", "doctor", "harbour", "--all"]), 2);
    assert_eq!(exit_code(&["--demo", "tree", "last", "t99"]), 2);
    assert_eq!(exit_code(&["--demo", "tree", "last", "--format", "png"]), 2);
    assert_eq!(exit_code(&["--demo", "tree", "last", "--format", "svg", "--json"]), 2);
    assert_eq!(exit_code(&["--demo", "ls", "--since", "soon"]), 2);
    assert_eq!(exit_code(&["--root", "/no/such/place", "ls"]), 2);
    assert_eq!(exit_code(&["no-such-command"]), 2);
    assert_eq!(exit_code(&["ls"]), 1);
    assert_eq!(exit_code(&["show", "last"]), 2);
}

#[test]
fn errors_have_a_message_and_a_hint() {
    let home = new_home();
    let run = home.run(&["--demo", "show", "harbor"]);
    assert!(run.out.is_empty());
    let mut lines = run.err.lines();
    assert_eq!(lines.next(), Some("error: no session matches `harbor`"));
    assert!(run.err.contains("b27e94d0  harbour names"), "{}", run.err);
    assert!(lines.last().unwrap().starts_with("hint: "), "{}", run.err);

    let run = home.run(&["--demo", "show", "plan"]);
    assert!(run.err.starts_with("error: `plan` matches 2 sessions\n"), "{}", run.err);
    assert!(run.err.contains("c90b1f47  Plan how"), "{}", run.err);
}

#[test]
fn options_and_environment_select_the_store() {
    let home = new_home();
    let line = r#"{"type":"user","uuid":"a1","parentUuid":null,"sessionId":"s1","cwd":"/x/y","message":{"role":"user","content":"hello there"},"timestamp":"2026-01-01T10:00:00.000Z"}"#;
    let file = home.write("elsewhere/s1.jsonl", line);
    assert!(home.run(&["ls"]).err.contains("no sessions found in `"));
    for root in [home.path(), file.parent().unwrap(), &file] {
        let run = home.run(&["ls", "--root", root.to_str().unwrap()]);
        assert!(run.out.contains("hello there"), "{}: {}", root.display(), run.err);
    }
    let output =
        home.command(&["ls"]).env("CLAUDE_CONFIG_DIR", home.path().join("elsewhere")).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("hello there"));
    home.write(".claude/projects/-x-y/s2.jsonl", line.replace("s1", "s2").replace("hello", "good morning"));
    let run = home.run(&["ls"]);
    assert!(run.out.contains("good morning there") && !run.out.contains("hello"), "{}", run.out);
}

#[test]
fn show_prints_the_active_path_or_other_branches() {
    let home = new_home();
    let run = home.run(&["--demo", "show", "harbour"]);
    assert!(run.out.starts_with("harbour names\nb27e94d0-"), "{}", run.out);
    assert!(run.out.contains("> The list of harbours is sorted by code."));
    assert!(run.out.contains("● Edit  src/harbour.rs"));
    assert!(!run.out.contains("as in a dictionary"));
    let scope = "showing 2 of 3 turns: the conversation that a resume continues (--all shows the others)";
    assert!(run.out.contains(scope), "{}", run.out);

    let run = home.run(&["--demo", "show", "harbour", "--all"]);
    assert!(run.out.contains("t2  other branch"), "{}", run.out);
    assert!(run.out.contains("as in a dictionary"));

    let run = home.run(&["--demo", "show", "harbour", "--branch", "t2", "--turns", "2"]);
    assert!(run.out.contains("as in a dictionary"), "{}", run.out);

    let run = home.run(&["--demo", "show", "71ad", "--all"]);
    assert!(run.out.contains("t1  before compaction"), "{}", run.out);
    assert!(run.out.contains("╌╌ compacted (auto), 135k → 3.1k tokens"), "{}", run.out);
}

#[test]
fn show_and_export_select_the_same_turns() {
    let home = new_home();
    let numbers = |args: &[&str]| -> Vec<Value> {
        let run = home.run(args);
        let objects = run.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        objects.filter(|object| object["type"] == "turn").map(|object| object["turn"].clone()).collect()
    };
    for session in ["harbour", "71ad"] {
        for option in [None, Some("--all")] {
            let args = |command| {
                ["--demo", command, session, "--json"].into_iter().chain(option).collect::<Vec<_>>()
            };
            assert_eq!(numbers(&args("show")), numbers(&args("export")), "{session} {option:?}");
        }
    }
    let conversation = home.run(&["--demo", "show", "71ad"]).out;
    assert!(conversation.contains("before a compaction\n"), "{conversation}");
    assert!(conversation.contains("t1  before compaction"), "{conversation}");
    let run = home.run(&["--demo", "show", "harbour", "--turns", "2"]);
    assert!(run.code == 1 && run.err.contains("(--all includes other branches)"), "{}", run.err);
    let run = home.run(&["--demo", "show", "harbour", "--turns", "2", "--all"]);
    assert!(run.out.contains("as in a dictionary"), "{}", run.out);
}

#[test]
fn options_expand_tools_and_thinking() {
    let home = new_home();
    let short = home.run(&["--demo", "show", "5f0c"]).out;
    assert!(short.contains("∴ thinking, 42 words") && !short.contains("An hour late"), "{short}");
    assert!(short.contains("↳ Exit code 101 test new_moon"), "{short}");
    let without_tools = home.run(&["--demo", "show", "5f0c", "--tools", "none"]).out;
    assert!(!without_tools.contains('●'));
    let full = home.run(&["--demo", "show", "5f0c", "--tools", "full", "--thinking"]).out;
    assert!(full.contains("An hour late"));
    assert!(full.contains("    $ cargo test --quiet\n"), "{full}");
    assert!(full.contains("    -     lag(phase) + age + age"), "{full}");
    assert!(full.contains("    +     lag(phase) + age\n"), "{full}");
    assert!(full.contains("    │ test new_moon ... FAILED\n"), "{full}");
}

#[test]
fn colors_follow_options_and_environment() {
    let home = new_home();
    assert!(!home.run(&["--demo", "ls"]).out.contains('\u{1b}'));
    assert!(home.run(&["--demo", "ls", "--color", "always"]).out.contains("\u{1b}["));
    let is_colored_with = |name: &str, args: &[&str]| {
        let output = home.command(args).env(name, "1").output().unwrap();
        String::from_utf8(output.stdout).unwrap().contains('\u{1b}')
    };
    assert!(is_colored_with("CLICOLOR_FORCE", &["--demo", "ls"]));
    assert!(!is_colored_with("CLICOLOR_FORCE", &["--demo", "ls", "--color", "never"]));
    assert!(!is_colored_with("NO_COLOR", &["--demo", "ls"]));
}

#[test]
fn tables_fit_the_screen() {
    let home = new_home();
    for width in ["60", "80", "120"] {
        let commands = [
            &["--demo"][..],
            &["--demo", "ls"],
            &["--demo", "show", "5f0c"],
            &["--demo", "stats"],
            &["--demo", "tree", "harbour", "--all"],
            &["--demo", "explain", "harbour"],
            &["--demo", "explain", "71ad"],
            &["--demo", "explain", "harbour", "--client", "all"],
        ];
        for args in commands {
            let output = home.command(args).env("COLUMNS", width).output().unwrap();
            let out = String::from_utf8(output.stdout).unwrap();
            // Commands are never cut.
            let lines = out.lines().filter(|line| !line.contains("rethread --demo "));
            let widest = lines.map(unicode_width::UnicodeWidthStr::width).max().unwrap();
            assert!(widest <= width.parse().unwrap(), "{args:?} at {width}:\n{out}");
        }
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let home = new_home();
    let mut child = home
        .command(&["--demo", "schema", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 1];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{:?}", String::from_utf8_lossy(&output.stderr));
}

/// Lists the keys of all printed objects and nested objects. Maps by name are represented by one value.
pub(crate) fn list_json_keys(home: &Home, args: &[&str]) -> String {
    let run = home.run(args);
    // `explain` and `doctor` exit with 1 if they find something.
    let may_find = args.contains(&"explain") || args.contains(&"doctor");
    assert!(run.code == 0 || run.code == 1 && may_find, "{}", run.err);
    let mut found = BTreeSet::new();
    for line in run.out.lines() {
        let object: Value = serde_json::from_str(line).unwrap();
        assert_eq!(object["v"], 1);
        let name = object["type"].as_str().unwrap().to_owned();
        collect_keys(&name, &object, &mut found);
    }
    found.into_iter().collect::<Vec<_>>().join("\n")
}

fn collect_keys(name: &str, value: &Value, found: &mut BTreeSet<String>) {
    const MAPS: [&str; 19] = [
        "by_status",
        "findings",
        "codes",
        "codes[]",
        "bytes_by_cause",
        "side_file_bytes",
        "types",
        "files",
        "blocks",
        "system_subtypes",
        "siblings",
        "forks_by_kind",
        "prompt_versions",
        "tools",
        "tool_calls",
        "models",
        "problems",
        "unknown",
        "input",
    ];
    let is_map = name.rsplit('.').next().is_some_and(|last| MAPS.contains(&last));
    match value {
        Value::Object(fields) if !is_map => {
            let names: Vec<&str> = fields.keys().map(String::as_str).collect();
            let kind = fields.get("kind").and_then(Value::as_str).filter(|_| name.ends_with("parts"));
            let name = kind.map_or_else(|| name.to_owned(), |kind| format!("{name}({kind})"));
            found.insert(format!("{name}: {}", names.join(" ")));
            for (key, value) in fields {
                collect_keys(&format!("{name}.{key}"), value, found);
            }
        }
        Value::Object(fields) => {
            if let Some(value) = fields.values().next().filter(|_| !name.ends_with("input")) {
                collect_keys(&format!("{name}[]"), value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_keys(name, item, found)),
        _ => {}
    }
}

#[test]
fn json_keys_are_frozen() {
    let home = new_home();
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "ls", "--json"]), @"session: type v id path store title title_source first_prompt project git_branch versions models first last turns branches agents compactions lines bytes problems live archived headless empty plan implementation forked_from continued_from copies pull_requests");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "show", "71ad", "--all", "--json"]), @"
    turn.parts(compact_summary): kind text
    turn.parts(compaction): kind trigger before after micro
    turn.parts(text): kind text
    turn.parts(tool).result: text media is_error line answered_at
    turn.parts(tool): kind name id input line called_at result
    turn.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    turn: type v session turn uuid path_relation entry_role prompt media parts models stop_reason responses usage first last duration_ms lines
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "stats", "--files", "--json"]), @"
    file: type v path bytes lines malformed salvaged types uuids uuids_repeated roots parents_missing user_messages messages tool_uses tool_uses_unpaired tool_results_unpaired tool_results_is_error longest_turn compactions siblings forks_by_kind prompt_versions turns forks notable
    stats.tool_calls[]: calls errors mean_ms
    stats.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    stats.usage_once: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    stats: type v files bytes lines malformed salvaged types uuids uuids_repeated roots parents_missing user_messages messages tool_uses tool_uses_unpaired tool_results_unpaired tool_results_is_error longest_turn compactions siblings forks_by_kind prompt_versions blocks system_subtypes tools tool_calls responses usage responses_once usage_once models turns turns_written forks problems unknown first last wall_ms active_ms
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "sql", "SELECT 1 AS one", "--json"]), @"
    sql_row.row: one
    sql_row: type v row
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "sql", "--schema", "turns", "--json"]), @"sql_column: type v table name column_type description");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "sql", "--example", "--json"]), @"sql_example: type v name description sql");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "sql", "--explain", "SELECT turn FROM turns", "--json"]), @"
    sql_plan.tables: name columns
    sql_plan: type v tables sessions projects since until steps
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "tools", "last", "--json"]), @"
    tool.result: text media is_error line answered_at
    tool: type v session agent path name id input line called_at result failure duration_ms
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "agents", "last", "--json"]), @"
    agent.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    agent: type v session id kind description prompt parent depth tool_use call_line entries tools responses usage first last warmup path
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "branches", "harbour", "--json"]), @"
    branch.own_usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    branch.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    branch: type v session handle tip line active orphaned broken_link kind branch_number branch_count from from_line from_turn first_line first_uuid entry_role preview own_turns turns own_entries own_usage usage last
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "context", "harbour", "--turns", "--json"]), @"
    context: type v session title client model window used sent output output_measured since peak turns responses responses_measured responses_off_path drops cut_off_line
    context_cause: type v session cause name blocks tokens measured
    context_item: type v session handle line cause name tokens measured call input
    context_turn: type v session turn line responses first last growth measured drops
    ");
    let damaged = script::bytes(
        "u1 v=1.0.98: one\nu2 ^gone v=1.0.98 @+60: two\n  a2 v=1.0.98: ?hm\n  u3 v=1.0.98: =a0 odd",
    );
    home.write("damaged.jsonl", String::from_utf8(damaged).unwrap());
    insta::assert_snapshot!(list_json_keys(&home, &["explain", "damaged.jsonl", "--json"]), @"
    resume.early_end: line uuid reason
    resume.leaf: line uuid rule rule_line
    resume.path: line uuid
    resume.rejections: line uuid reason
    resume.synthetic_messages: role text after_line
    resume.unreachable: line uuid reason lost left
    resume: type v session client rules_of leaf path loaded entries turns total_turns early_end failure lost unreachable synthetic_messages tokens return_cost_usd rejections
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["doctor", "damaged.jsonl", "--json"]), @"
    doctor: type v sessions clean info warnings errors codes bytes bytes_by_cause bytes_repeated side_file_bytes secrets unreadable
    finding.locations: line block inner_block
    finding: type v session path code severity count locations paths effect fix fix_is_command
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "doctor", "--everything", "--json"]), @"
    doctor: type v sessions clean info warnings errors codes bytes bytes_by_cause bytes_repeated side_file_bytes secrets unreadable
    finding.locations: line block inner_block
    finding: type v session path code severity count locations paths effect fix fix_is_command
    ");
    home.write(".claude/projects/-x/damaged.jsonl", script::bytes("u1: one\nu2 ^gone @+60: two\n  a2: two"));
    insta::assert_snapshot!(list_json_keys(&home, &["repair", "damaged", "--dry-run", "--json"]), @"
    fix: type v line code action description parent_before parent_after parent_line reason
    repair.after: entries reachable findings
    repair.before: entries reachable findings
    repair.expected_loads: client entries tokens
    repair: type v origin session path folder in_place op dry_run fixes before after remaining damaged images expected_loads
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "tree", "harbour", "t1", "--json"]), @"tree_node: type v session row parent depth node path_relation requested turn handle line uuid kind entry_role preview time answers tools fork_kind branch_number branch_count broken_link tip active resume gap");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "find", "harbour", "sort", "--json"]), @"
    match.above: line turn entry_role text tool
    match.below: line turn entry_role text tool
    match.hits: role tool before match after matches
    match: type v session line turn uuid kind entry_role time matches hits status active tip_line above below more_below
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "search", "sort", "--json"]), @"
    search_hit.excerpt: text match
    search_hit: type v hit session title project path session_path agent in_side_file archived line turn uuid time role tool excerpt is_text_start is_text_end status in_context is_copy copies score
    search_total: type v hits exact shown sessions files bytes_read
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "search", "sort", "--sessions", "--json"]), @"
    search_session: type v session title project path hits last
    search_total: type v hits exact shown sessions files bytes_read
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "search", "sort", "--resume", "1", "--json"]), @"search_resume: type v session project line command status in_context");
    insta::assert_snapshot!(list_json_keys(&home, &["index", "--json"]), @"index_status: type v folder files files_found bytes bytes_found entries segments size");
    insta::assert_snapshot!(list_json_keys(&home, &["index", "--drop", "--json"]), @"index_dropped: type v dropped");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "diff", "harbour", "t2", "--json"]), @"
    diff.a.totals.tools[]: calls errors
    diff.a.totals.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    diff.a.totals: turns responses usage tools files first last
    diff.a.turns.calls: name id line is_error
    diff.a.turns: turn is_continuation line first prompt answer calls interrupted compacted error
    diff.a: session active tip_line turns totals
    diff.b.totals.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    diff.b.totals: turns responses usage tools files first last
    diff.b.turns: turn is_continuation line first prompt answer calls interrupted compacted error
    diff.b: session active tip_line turns totals
    diff.common.last_a: line turn entry_role text tool
    diff.common.last_b: line turn entry_role text tool
    diff.common: match_basis turns entries last_a last_b
    diff: type v common a b
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["config", "show", "--json"]), @"config_setting: type v key value origin source line");
    insta::assert_snapshot!(list_json_keys(&home, &["config", "check", "--json"]), @"config_check: type v file exists errors warnings");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "schema", "--json"]), @"schema_item: type v item name count oldest newest known");
}

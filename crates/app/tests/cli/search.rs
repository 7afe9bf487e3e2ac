//! `search` and `index`: output of results, commands that open them, and hints if there are none.

use rethread_testkit::home::{Home, RunOutput};
use serde_json::Value;

use crate::new_home;

fn search(home: &Home, args: &[&str]) -> RunOutput {
    let args: Vec<&str> = ["--demo", "search"].iter().chain(args).copied().collect();
    home.run(&args)
}

#[test]
fn a_result_shows_its_session_and_context_status() {
    let home = new_home();
    let run = search(&home, &["dictionary"]);
    assert_eq!(run.code, 0, "{}", run.err);
    insta::assert_snapshot!(run.out, @"
    1  harbour names                   tide-tables · 2d · t2 · prompt · not in context: abandoned branch
       Yes, as in a dictionary
    ");
    insta::assert_snapshot!(run.err, @"1 hit in 1 session · --open N shows a hit, --resume N prints the command that resumes it");
    let read_statuses = |words: &[&str]| {
        let run = search(&home, words);
        let headers =
            run.out.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
        headers.map(|header| header.rsplit(" · ").next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(read_statuses(&["is:active", "role:user", "harbours"]), ["in context"]);
    assert_eq!(
        read_statuses(&["is:abandoned", "dictionary", "-n", "1"]),
        ["not in context: abandoned branch"]
    );
    assert_eq!(read_statuses(&["is:compacted", "ligatures", "-n", "1"]), ["not in context: compacted"]);
    assert!(read_statuses(&["is:subagent", "-n", "1"])[0].starts_with("subagent "));
}

#[test]
fn shell_arguments_are_combined_into_a_query() {
    let home = new_home();
    let has_match = |args: &[&str]| search(&home, args).code == 0;
    assert!(has_match(&["in a dictionary"]));
    assert!(has_match(&["as in a dictionary", "session:b27e"]));
    assert!(
        !has_match(&["a in as dictionary", "session:b27e"]),
        "an argument with spaces is a phrase if there are several arguments"
    );
    assert!(has_match(&["a in as dictionary session:b27e"]));
    assert!(has_match(&["dictionary", "-zebra"]));
    assert!(!has_match(&["dictionary", "-yes"]));
    assert!(has_match(&["dictionary", "--limit", "1", "-zebra"]), "options are accepted between words");
    assert!(!has_match(&["--", "--no-such-flag"]));
    let run = search(&home, &["dictionary", "--limt", "3"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("'--limit'") && run.err.contains("use '-- --limt'"), "{}", run.err);
}

#[test]
fn a_syntax_error_is_underlined() {
    let home = new_home();
    let run = search(&home, &["tides role:usr"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    insta::assert_snapshot!(run.err, @"
    error: `role:` does not take `usr`
      tides role:usr
            ^^^^^^^^
    hint: did you mean `role:user`? it takes user, assistant, tool, thinking, system, summary, context, prompt, answer or result
    ");
    for query in ["", "-word", "OR a", "/(/", "since:soon", "is:gone", "error:"] {
        assert_eq!(search(&home, &[query]).code, 2, "{query}");
    }
}

#[test]
fn hints_are_printed_if_nothing_matches() {
    let home = new_home();
    let search_for_hints = |args: &[&str]| {
        let run = search(&home, args);
        assert_eq!((run.code, run.out.as_str()), (1, ""), "{args:?}");
        run.err
    };
    let hints = [
        search_for_hints(&["dictionary", "zebra"]),
        search_for_hints(&["dictionary", "quince"]),
        search_for_hints(&["roel:user", "--all"]),
        search_for_hints(&["/zebras?/"]),
    ];
    insta::assert_snapshot!(hints.join("\n"), @"
    no matches for `dictionary zebra`
    hint: `zebra` has no matches on its own
    hint: use --all to include attachments, progress and lines of unknown types

    no matches for `dictionary quince`
    hint: each part has matches, but no entry matches all; try fewer words, or OR between them
    hint: use --all to include attachments, progress and lines of unknown types

    no matches for `roel:user`
    hint: `roel:user` was searched as text; did you mean `role:`?

    no matches for `/zebras?/`
    hint: `/zebras?/` is a case-sensitive regular expression; quote it to search it as text
    hint: use --all to include attachments, progress and lines of unknown types
    ");
    let empty = home.run(&["search", "word"]);
    assert_eq!(empty.code, 1);
    assert!(empty.err.starts_with("no sessions found in `"), "{}", empty.err);
}

#[test]
fn open_and_resume_lead_to_the_session_of_a_result() {
    let home = new_home();
    let run = search(&home, &["dictionary", "role:user", "--open", "1"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.starts_with("harbour names\n"), "{}", run.out);
    assert!(
        run.out.contains("Yes, as in a dictionary") && !run.out.contains("sorted by code"),
        "{}",
        run.out
    );

    let run = search(&home, &["dictionary", "role:user", "--resume", "1"]);
    assert!(run.out.starts_with("cd ") && run.out.contains(" && claude --resume b27e94d0-"), "{}", run.out);
    assert!(
        run.err.contains("\nnote: this is on an abandoned branch; it will not be in context\n"),
        "{}",
        run.err
    );
    assert!(
        run.err.contains("`rethread --demo goto b27e94d0-") && run.err.contains("`rethread --demo fork "),
        "{}",
        run.err
    );
    let run = search(&home, &["is:active", "harbours", "--resume", "1"]);
    assert_eq!(run.err, "note: the sessions of --demo are invented: Claude Code cannot resume them\n");

    let run = search(&home, &["dictionary", "--open", "99"]);
    assert_eq!(run.code, 2);
    assert_eq!(run.err, "error: there is no hit 99\nhint: there is 1 hit\n");
    assert_eq!(search(&home, &["zebra", "--open", "1"]).code, 1);
}

#[test]
fn results_in_side_files_lead_to_their_session_or_report_its_deletion() {
    let home = new_home();
    let run = search(&home, &["is:subagent", "--resume", "1"]);
    assert!(run.out.contains(" && claude --resume 5f0c2a1e-"), "{}", run.out);
    assert!(run.err.contains("\nnote: this is text of a subagent"), "{}", run.err);
    let run = search(&home, &["is:subagent", "--resume", "1", "--json"]);
    assert!(run.out.contains("\"in_context\":false"), "{}", run.out);

    let id = "11111111-2222-4333-8444-555555555555";
    let file = home.write(&format!(".claude/projects/-x/{id}/tool-results/big.txt"), "a rusty nail\n");
    let run = home.run(&["search", "nail"]);
    assert!(run.out.starts_with("1  (deleted session)") && run.out.contains("result file"), "{}", run.out);
    for option in ["--open", "--resume"] {
        let run = home.run(&["search", "nail", option, "1"]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{}", run.err);
        let path = file.display();
        let expected = format!(
            "error: the session of this hit no longer exists\nhint: its remaining data is in `{path}`\n"
        );
        assert_eq!(run.err, expected);
    }
}

#[test]
fn sessions_are_counted_and_limits_are_reported() {
    let home = new_home();
    let run = search(&home, &["sort", "-l"]);
    insta::assert_snapshot!(run.out, @"
    id        hits  newest  project      title
    b27e94d0     6      2d  tide-tables  harbour names
    ");
    assert!(run.err.starts_with(char::is_numeric) && run.err.contains(" hits in "), "{}", run.err);
    let run = search(&home, &["the", "--limit", "2"]);
    assert!(run.err.starts_with("2 of "), "{}", run.err);
    assert!(run.err.contains(" hits · --limit 0 shows all"), "{}", run.err);
    let all = search(&home, &["the", "--limit", "0", "--json"]).out;
    let total: Value = serde_json::from_str(all.lines().last().unwrap()).unwrap();
    assert_eq!(total["type"], "search_total");
    assert_eq!(total["shown"], total["hits"]);
    assert_eq!(total["hits"].as_u64().unwrap() as usize, all.lines().count() - 1);
    let sessions = home.run_json(&["--demo", "search", "the", "-l", "-n", "0", "--json"]);
    assert_eq!(sessions["sessions"], total["sessions"]);
    assert_eq!(sessions["hits"], total["hits"]);
}

#[test]
fn matches_are_highlighted_and_lines_fit_the_screen() {
    let home = new_home();
    let run = search(&home, &["collation", "table", "--color", "always"]);
    for word in ["collation", "table"] {
        assert!(run.out.contains(&format!("\u{1b}[1m\u{1b}[7m{word}\u{1b}[0m")), "{:?}", run.out);
    }
    for width in ["40", "60", "80", "120", "200"] {
        for options in [&[][..], &["--context", "2"], &["-l"]] {
            let args: Vec<&str> =
                ["--demo", "search", "the", "-n", "0"].iter().chain(options).copied().collect();
            let output = home.command(&args).env("COLUMNS", width).output().unwrap();
            let out = String::from_utf8(output.stdout).unwrap();
            let widest = out.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap();
            assert!(widest <= width.parse().unwrap(), "at {width}, {options:?}:\n{out}");
        }
    }
}

#[test]
fn the_index_is_built_reported_and_deleted() {
    let home = new_home();
    let line = r#"{"type":"user","uuid":"a1","parentUuid":null,"sessionId":"s1","cwd":"/x/y","message":{"role":"user","content":"hello there"},"timestamp":"2026-01-01T10:00:00.000Z"}"#;
    home.write_old(".claude/projects/-x-y/s1.jsonl", format!("{line}\n"));
    let run_index = |args: &[&str]| {
        let args: Vec<&str> = ["index", "--json"].iter().chain(args).copied().collect();
        home.run_json(&args)
    };
    let before = run_index(&["--status"]);
    assert_eq!((&before["files"], &before["files_found"]), (&0.into(), &1.into()));
    // A file that was just written is not indexed; retry until it is old enough.
    let built =
        (0..100).map(|_| run_index(&[])).find(|built| built["files"] == 1).expect("the file is indexed");
    assert_eq!((&built["type"], &built["entries"]), (&"index_status".into(), &1.into()));
    assert!(
        built["folder"].as_str().unwrap().starts_with(home.path().join(".cache/rethread").to_str().unwrap())
    );
    assert_eq!(run_index(&["--rebuild"])["files"], 1);
    assert_eq!(home.run(&["search", "hello"]).code, 0);
    assert_eq!(home.run_json(&["search", "hello", "--json"])["bytes_read"], 0);
    assert_eq!(home.run(&["index", "--drop"]).out, "index deleted\n");
    assert_eq!(home.run(&["index", "--drop"]).code, 1);
    assert_eq!(home.run(&["--demo", "index"]).code, 2);
    assert_eq!(home.run(&["index", "--drop", "--rebuild"]).code, 2);
}

#[test]
fn a_failed_call_is_found_by_the_words_of_its_input() {
    let home = new_home();
    let id = "aa01aa01-0000-4000-8000-000000000001";
    let mut lines = String::new();
    let mut parent = Value::Null;
    let mut add = |kind: &str, content: Value| {
        let number = lines.lines().count() + 1;
        let uuid = format!("5b7c1f6e-0000-4000-8000-{number:012}");
        let line = serde_json::json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": id, "version": "2.1.0",
            "cwd": "/x", "timestamp": format!("2026-01-01T10:00:{number:02}.000Z"),
            "message": {"role": kind, "content": content}});
        parent = uuid.into();
        lines.push_str(&format!("{line}\n"));
    };
    add("user", "test it".into());
    for (number, command, is_error) in
        [(1, "cargo build", false), (2, "cargo test", true), (3, "ls nothing", true)]
    {
        let call = format!("toolu_{number}");
        add(
            "assistant",
            serde_json::json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}]),
        );
        add(
            "user",
            serde_json::json!([{"type": "tool_result", "tool_use_id": call, "is_error": is_error, "content": "output"}]),
        );
    }
    home.write_old(&format!(".claude/projects/-x/{id}.jsonl"), &lines);
    let find_lines = |query: &[&str]| -> Vec<u64> {
        let hits = |args: &[&str]| -> Vec<u64> {
            let run = home.run(&[args, &["search", "--json"], query].concat());
            let hits = run.json_lines();
            let mut lines: Vec<u64> = hits.iter().filter_map(|hit| hit["line"].as_u64()).collect();
            lines.sort_unstable();
            lines
        };
        home.run(&["index"]);
        let (with_index, without_index) = (hits(&[]), hits(&["--no-index"]));
        assert_eq!(with_index, without_index, "{query:?}");
        with_index
    };
    assert_eq!(find_lines(&["tool:Bash", "error:yes", "cargo"]), [4]);
    assert_eq!(find_lines(&["tool:Bash", "error:yes", "/^(cargo|ls)/"]), [4, 6]);
    assert_eq!(find_lines(&["tool:Bash", "error:no", "cargo"]), [2]);
    assert_eq!(find_lines(&["tool:Bash", "-error:yes", "cargo"]), [2]);
    assert_eq!(find_lines(&["cargo"]), [2, 4]);
    // Without words, the result is the match.
    assert_eq!(find_lines(&["tool:Bash", "error:yes"]), [5, 7]);
    assert_eq!(find_lines(&["error:yes", "output"]), [5, 7]);
}

#[test]
fn words_that_occur_nowhere_get_similar_ones_that_occur() {
    let home = new_home();
    home.write_old(
        ".claude/projects/-x/aa01aa01-0000-4000-8000-000000000001.jsonl",
        rethread_testkit::script::bytes("u1: the WebSocket and the websocket\n  a1: retry it"),
    );
    let hint = |args: &[&str]| {
        let run = home.run(&[&["search"], args].concat());
        assert_eq!(run.code, 1, "{args:?}: {}", run.err);
        run.err.lines().find(|line| line.contains("did you mean")).unwrap_or_default().to_owned()
    };
    for flags in [&["--no-index"][..], &[], &[]] {
        let expected = "hint: `websokcet` occurs nowhere; did you mean `websocket`?";
        assert_eq!(hint(&[flags, &["websokcet", "retry"]].concat()), expected);
        assert_eq!(hint(&[flags, &["retyr-not"]].concat()), "");
    }
    assert_eq!(hint(&["tol:Bash"]), "hint: `tol:Bash` was searched as text; did you mean `tool:`?");
}

#[test]
fn a_regular_expression_is_an_option_as_in_find() {
    let home = new_home();
    let find = |args: &[&str]| search(&home, &[&["--json"], args].concat());
    for (option, query) in [
        (&["-e", "har?bou?r"][..], &["/har?bou?r/"][..]),
        (&["--regex", "-[a-z]+", "role:tool"], &["/-[a-z]+/", "role:tool"]),
        (&["tool:Edit", "-e", "src/.*rs"], &["tool:Edit", "/src\\/.*rs/"]),
    ] {
        let (by_option, by_query) = (find(option), find(query));
        assert_eq!((by_option.code, by_option.err.as_str()), (0, ""), "{option:?}");
        assert_eq!(by_option.out, by_query.out, "{option:?}");
    }
    let none = search(&home, &["tide", "-e", "zeb+ra"]);
    assert!(none.code == 1 && none.err.starts_with("no matches for `tide /zeb+ra/`\n"), "{}", none.err);
    let invalid = search(&home, &["-e", "("]);
    assert!(invalid.code == 2 && invalid.err.contains("regular expression"), "{}", invalid.err);
}

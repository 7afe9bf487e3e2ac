//! `usage`: every grouping of the demo store, exit codes, and hostile names.

use rethread_testkit::home::Home;
use serde_json::Value;

use super::conventions::list_json_keys;
use crate::new_home;

const GROUPINGS: [&str; 11] =
    ["day", "week", "month", "project", "session", "model", "tool", "agent", "branch", "block", "reach"];

fn get_number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} in {value}"))
}

#[test]
fn rows_of_every_grouping_add_up_to_the_same_total() {
    let home = new_home();
    let total = home.run_json_lines(&["--demo", "usage", "--json"]).pop().unwrap();
    assert!(
        get_number(&total, "responses") > 10 && get_number(&total["subagents"], "responses") > 0,
        "{total}"
    );
    for grouping in GROUPINGS {
        let mut rows = home.run_json_lines(&["--demo", "usage", "--by", grouping, "--json"]);
        let last = rows.pop().unwrap();
        assert_eq!(last["type"], "usage_total", "{grouping}");
        for key in ["responses", "tokens", "unpriced_tokens", "lower_bound_responses"] {
            let sum: u64 = rows.iter().map(|row| get_number(row, key)).sum();
            assert_eq!(
                (sum, get_number(&last, key)),
                (get_number(&total, key), get_number(&total, key)),
                "{grouping}: {key}"
            );
        }
        let cost = |value: &Value| value["cost_usd"].as_f64().unwrap_or(0.0);
        let sum: f64 = rows.iter().map(cost).sum();
        assert!((sum - cost(&total)).abs() < 1e-9, "{grouping}: {sum}");
        assert!(rows.iter().all(|row| row["type"] == "usage" && row["by"] == grouping), "{grouping}");
        // The text has a header, rows, and a total if there is more than one row.
        let text = home.run(&["--demo", "usage", "--by", grouping]);
        assert_eq!((text.code, text.err.as_str()), (0, ""), "{grouping}");
        assert!(text.out.contains("responses") && text.out.contains("prices: "), "{grouping}:\n{}", text.out);
        assert_eq!(text.out.contains("\ntotal "), rows.len() > 1, "{grouping}:\n{}", text.out);
    }
}

/// Splits a line of CSV.
fn parse_csv_line(line: &str) -> Vec<String> {
    let (mut values, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => values.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    assert!(!quoted, "{line}");
    values.push(cell);
    values
}

#[test]
fn two_groupings_divide_each_group() {
    let home = new_home();
    let json = home.run_json_lines(&["--demo", "usage", "--by", "project,model", "--json"]);
    let (total, rows) = json.split_last().unwrap();
    let mut parts = Vec::new();
    for row in rows {
        assert_eq!(row["by"], "project");
        let row_parts = row["parts"].as_array().unwrap();
        assert!(row_parts.iter().all(|part| part["by"] == "model"), "{row}");
        let sum: u64 = row_parts.iter().map(|part| get_number(part, "tokens")).sum();
        assert_eq!(sum, get_number(row, "tokens"), "{row}");
        parts.extend(
            row_parts
                .iter()
                .map(|part| (row["key"].clone(), part["key"].clone(), get_number(part, "tokens"))),
        );
    }
    assert!(parts.len() > rows.len(), "a project of the demo uses several models");
    assert_eq!(parts.iter().map(|part| part.2).sum::<u64>(), get_number(total, "tokens"));
    // The same groups in CSV, without the rows that they add up to.
    let csv = home.run(&["--demo", "usage", "--by", "project", "--by", "model", "--csv"]);
    assert_eq!((csv.code, csv.err.as_str()), (0, ""));
    let lines: Vec<Vec<String>> = csv.out.lines().map(parse_csv_line).collect();
    assert_eq!(lines[0][..5], ["by", "key", "then_by", "then_key", "title"]);
    let tokens_idx = lines[0].iter().position(|name| name == "tokens").unwrap();
    assert_eq!(lines.len() - 1, parts.len());
    for (line, (project, model, tokens)) in lines[1..].iter().zip(&parts) {
        assert_eq!(line.len(), lines[0].len());
        let expected = ["project", project.as_str().unwrap(), "model", model.as_str().unwrap_or_default()];
        assert_eq!(line[..4], expected);
        assert_eq!(line[tokens_idx], tokens.to_string());
    }
    // The table indents the groups within a group; the limit applies to both.
    let table = home.run(&["--demo", "usage", "--by", "model,tool", "-n", "1"]).out;
    assert!(table.lines().any(|line| line.starts_with("  no tool called ")), "{table}");
    assert!(table.lines().any(|line| line.starts_with("  … ")), "{table}");
    let run = home.run(&["--demo", "usage", "--by", "day,model,tool"]);
    assert_eq!(
        (run.code, run.err.as_str()),
        (2, "error: more than two groupings\nhint: name one or two, as in `--by project,model`\n")
    );
}

#[test]
fn csv_and_json_agree() {
    let home = new_home();
    for grouping in GROUPINGS {
        let run = home.run(&["--demo", "usage", "--by", grouping, "--csv"]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{grouping}");
        let mut lines = run.out.lines().map(parse_csv_line);
        let header = lines.next().unwrap();
        let json = home.run_json_lines(&["--demo", "usage", "--by", grouping, "--json"]);
        let csv_rows: Vec<Vec<String>> = lines.collect();
        assert_eq!(csv_rows.len(), json.len() - 1, "{grouping}: one line per row, and none for the total");
        for (line, row) in csv_rows.iter().zip(&json) {
            assert_eq!(line.len(), header.len(), "{grouping}: {line:?}");
            let cell = |name: &str| &line[header.iter().position(|header| header == name).unwrap()];
            assert_eq!(cell("key"), row["key"].as_str().unwrap_or_default(), "{grouping}");
            let written = get_number(&row["usage"], "cache_creation_input_tokens");
            let written_1h = get_number(row, "cache_creation_1h_input_tokens");
            for (name, expected) in [
                ("responses", get_number(row, "responses")),
                ("input", get_number(&row["usage"], "input_tokens")),
                ("output", get_number(&row["usage"], "output_tokens")),
                ("cache_write_5m", written - written_1h),
                ("cache_write_1h", written_1h),
                ("cache_read", get_number(&row["usage"], "cache_read_input_tokens")),
                ("tokens", get_number(row, "tokens")),
                ("unpriced_responses", get_number(row, "unpriced_responses")),
                ("lower_bound_responses", get_number(row, "lower_bound_responses")),
                ("subagent_responses", get_number(&row["subagents"], "responses")),
            ] {
                assert_eq!(*cell(name), expected.to_string(), "{grouping}: {name}");
            }
            let cost = row["cost_usd"].as_f64().map(|cost| format!("{cost:.6}")).unwrap_or_default();
            assert_eq!(*cell("cost_usd"), cost, "{grouping}");
        }
    }
}

#[test]
fn exit_codes_distinguish_found_nothing_and_errors() {
    let home = new_home();
    for (args, code, message) in [
        (&["--demo", "usage"][..], 0, ""),
        (&["--demo", "usage", "--check"], 0, ""),
        (&["--demo", "usage", "--since", "2999-01-01"], 1, "no usage found"),
        (&["--demo", "usage", "--model", "no-such-model"], 1, "no usage found"),
        (&["--demo", "usage", "--project", "/no/such/project"], 1, "no usage found"),
        (&["--demo", "usage", "--explain", "msg_that_is_not_there"], 1, "no response has the message id"),
        (&["usage"], 1, ""),
        (&["--demo", "usage", "--tz", "Nowhere/Land"], 2, "Nowhere/Land"),
        (&["--demo", "usage", "--since", "the day before"], 2, "the day before"),
        (&["--demo", "usage", "--until", "soon"], 2, "soon"),
        (&["--demo", "usage", "--by", "colour"], 2, "colour"),
        (&["--demo", "usage", "--csv", "--json"], 2, "--csv"),
        (&["--demo", "usage", "no-such-session"], 2, "no-such-session"),
    ] {
        let run = home.run(args);
        assert_eq!(run.code, code, "{args:?}: {}", run.err);
        assert!(run.err.contains(message), "{args:?}: {}", run.err);
        assert!(code == 0 || run.out.is_empty(), "{args:?}: {}", run.out);
    }
}

#[test]
fn days_start_in_the_chosen_time_zone() {
    let home = new_home();
    let line = r#"{"type":"assistant","uuid":"a1","parentUuid":null,"sessionId":"11111111-2222-4333-8444-555555555555","cwd":"/x","timestamp":"2026-01-31T23:30:00.000Z","requestId":"r1","message":{"id":"m1","role":"assistant","model":"claude-opus-4-5-20251101","stop_reason":"end_turn","content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":1,"output_tokens":2}}}"#;
    home.write(".claude/projects/-x/11111111-2222-4333-8444-555555555555.jsonl", format!("{line}\n"));
    let key = |args: &[&str]| {
        let all = home.run_json_lines(&[&["usage", "--json"], args].concat());
        all[0]["key"].as_str().unwrap().to_owned()
    };
    assert_eq!(key(&["--tz", "UTC"]), "2026-01-31");
    assert_eq!(key(&["--tz", "-05:00"]), "2026-01-31");
    assert_eq!(key(&["--tz", "+02:00"]), "2026-02-01");
    assert_eq!(key(&["--tz", "+02:00", "--by", "month"]), "2026-02");
    assert_eq!(key(&["--tz", "UTC", "--by", "week"]), "2026-01-26");
    assert_eq!(key(&["--tz", "+02:00", "--since", "2026-02-01"]), "2026-02-01");
    assert_eq!(home.run(&["usage", "--tz", "UTC", "--since", "2026-02-01"]).code, 1);
}

#[test]
fn a_price_table_of_the_user_is_applied() {
    let home = new_home_with_repeated_response();
    let cost = |args: &[&str]| {
        home.run_json_lines(&[&["usage", "--json"], args].concat()).pop().unwrap()["cost_usd"].clone()
    };
    // One input token and nine output tokens, at 5 and 25 dollars per million.
    assert_eq!(cost(&[]), 230e-6);
    let price_table =
        |input: u32| format!("[[price]]\nmodels = [\"claude-opus-4-5*\"]\ninput = {input}\noutput = 100\n");
    home.write(".config/rethread/prices.toml", price_table(100));
    assert_eq!(cost(&[]), 1e-3);
    let own_table = home.write("mine.toml", price_table(200));
    assert_eq!(cost(&["--prices", own_table.to_str().unwrap()]), 1.1e-3);
    // An invalid table is an error; the built-in one is not used instead.
    home.write(".config/rethread/prices.toml", "[[price]]\nmodels = [\"x\"]\ninput = cheap\n");
    let run = home.run(&["usage"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{}", run.err);
    assert!(run.err.contains("prices.toml`, line 3: ") && run.err.contains("hint: "), "{}", run.err);
}

#[test]
fn a_model_without_a_price_is_named_briefly() {
    let home = new_home();
    let line = format!(
        r#"{{"type":"assistant","uuid":"a1","sessionId":"s","timestamp":"2026-01-31T23:30:00.000Z","requestId":"r1","message":{{"id":"m1","model":"{}","stop_reason":"end_turn","usage":{{"input_tokens":1,"output_tokens":2}}}}}}"#,
        "m".repeat(5000)
    );
    home.write(".claude/projects/-x/11111111-2222-4333-8444-555555555555.jsonl", format!("{line}\n"));
    let run = home.run(&["usage"]);
    assert!(
        run.out.contains("unpriced: mmm") && run.out.contains("m… (1 response, 3 tokens)"),
        "{}",
        run.out
    );
    assert!(run.out.len() < 1000, "{}", run.out);
}

/// Creates a home with one response in three lines, the last of which repeats the first.
fn new_home_with_repeated_response() -> Home {
    let home = new_home();
    let line = |output: u32, stop: &str, uuid: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{uuid}","parentUuid":null,"sessionId":"11111111-2222-4333-8444-555555555555","cwd":"/x","timestamp":"2026-01-31T23:30:00.000Z","requestId":"r1","message":{{"id":"m1","role":"assistant","model":"claude-opus-4-5-20251101","stop_reason":{stop},"content":[{{"type":"text","text":"hi"}}],"usage":{{"input_tokens":1,"output_tokens":{output}}}}}}}"#
        )
    };
    let lines = [line(1, "null", "a1"), line(9, "\"end_turn\"", "a2"), line(1, "null", "a1")];
    home.write(".claude/projects/-x/11111111-2222-4333-8444-555555555555.jsonl", lines.join("\n"));
    home
}

#[test]
fn explain_marks_the_line_that_counts() {
    let home = new_home_with_repeated_response();
    let report = home.run_json(&["usage", "--explain", "m1", "--json"]);
    let counts: Vec<bool> = report["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["is_counted"].as_bool().unwrap())
        .collect();
    assert_eq!((get_number(&report["usage"], "output_tokens"), counts), (9, vec![false, true, false]));
    let text = home.run(&["usage", "--explain", "m1"]).out;
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("counts")).count(), 1, "{text}");
}

#[test]
fn json_keys_are_frozen() {
    let home = new_home();
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "usage", "--reach", "--json"]), @"
    usage.own.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage.own: responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses
    usage.subagents.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage.subagents: responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses
    usage.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage: type v by key title first last responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses own subagents
    usage_total.by_status[].usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_total.by_status[]: responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses
    usage_total.own.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_total.own: responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses
    usage_total.prices: source date
    usage_total.subagents.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_total.subagents: responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses
    usage_total.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_total: type v responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses own subagents by_status copied unpriced block prices
    ");
    insta::assert_snapshot!(list_json_keys(&home, &["--demo", "usage", "--check", "--json"]), @"
    usage_check.deduplicated.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_check.deduplicated: responses usage
    usage_check.per_file.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_check.per_file: responses usage
    usage_check.per_line.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_check.per_line: responses usage
    usage_check.sum_checks.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_check.sum_checks: group_kind groups is_equal responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses
    usage_check.total.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_check.total: responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses
    usage_check: type v is_consistent total per_line per_file deduplicated sum_checks client_costs
    ");
    let home = new_home_with_repeated_response();
    insta::assert_snapshot!(list_json_keys(&home, &["usage", "--explain", "m1", "--json"]), @"
    usage_response.lines.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_response.lines: path line time request usage is_subagent has_stop_reason is_counted
    usage_response.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_response: type v message model session time responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses lines
    ");
}

/// A name with control sequences for a terminal and a formula for a spreadsheet.
const HOSTILE_NAME: &str = "=cmd\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}2J\u{202e},\"x\"\r\nend";

fn new_home_with_hostile_names() -> Home {
    let home = new_home();
    let session = "11111111-2222-4333-8444-555555555555";
    let name = Value::from(HOSTILE_NAME).to_string();
    let line = format!(
        r#"{{"type":"assistant","uuid":"a1","parentUuid":null,"sessionId":"{session}","cwd":{name},"gitBranch":{name},"timestamp":"2026-01-01T10:00:00.000Z","requestId":{name},"message":{{"id":{name},"role":"assistant","model":{name},"stop_reason":"tool_use","content":[{{"type":"tool_use","id":"t1","name":{name},"input":{{}}}}],"usage":{{"input_tokens":1,"output_tokens":2}}}}}}"#
    );
    let title = format!(r#"{{"type":"custom-title","customTitle":{name},"sessionId":"{session}"}}"#);
    home.write(&format!(".claude/projects/-x/{session}.jsonl"), format!("{line}\n{title}\n"));
    let agent = line.replace("\"uuid\":\"a1\"", "\"uuid\":\"b1\",\"isSidechain\":true");
    let agent = agent.replace(&format!("\"id\":{name}"), "\"id\":\"m2\"");
    home.write(&format!(".claude/projects/-x/{session}/subagents/agent-e1.jsonl"), agent + "\n");
    let meta = format!(r#"{{"agentType":{name},"description":{name}}}"#);
    home.write(&format!(".claude/projects/-x/{session}/subagents/agent-e1.meta.json"), meta);
    home
}

fn is_control(c: char) -> bool {
    c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[test]
fn hostile_names_are_cleaned_in_text_json_and_csv() {
    let home = new_home_with_hostile_names();
    let mut hostile_cell_count = 0;
    for grouping in GROUPINGS {
        for options in [&[][..], &["--check"], &["--reach"], &["--json"], &["--csv"]] {
            let args = [&["usage", "--by", grouping, "--color", "never"][..], options].concat();
            let run = home.run(&args);
            assert_eq!(run.code, 0, "{args:?}: {}", run.err);
            let controls: Vec<char> =
                run.out.chars().chain(run.err.chars()).filter(|c| is_control(*c)).collect();
            assert!(controls.is_empty(), "{args:?} prints {controls:?}:\n{}", run.out);
            if options == ["--csv"] {
                let hostile_cells =
                    run.out.lines().skip(1).flat_map(parse_csv_line).filter(|cell| cell.contains("cmd"));
                let hostile_cells: Vec<String> = hostile_cells.collect();
                assert!(
                    hostile_cells.iter().all(|cell| cell.starts_with("'=cmd")),
                    "{args:?}: {hostile_cells:?}"
                );
                hostile_cell_count += hostile_cells.len();
            }
        }
    }
    assert!(
        hostile_cell_count >= 6,
        "project, title, model, tool, agent and branch have the name: {hostile_cell_count}"
    );
    let run = home.run(&["usage", "--explain", HOSTILE_NAME, "--color", "never"]);
    assert!(!run.out.chars().chain(run.err.chars()).any(is_control), "{:?}", run.out);
}

//! `usage`: the demo store grouped in every way, exit codes, and names that nobody should trust.

use serde_json::Value;

use super::conventions::keys;
use super::home::{Home, object, objects};

const BYS: [&str; 11] =
    ["day", "week", "month", "project", "session", "model", "tool", "agent", "branch", "block", "reach"];

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} in {value}"))
}

#[test]
fn rows_of_every_kind_add_up_to_one_total() {
    let home = Home::new();
    let total = objects(&home, &["--demo", "usage", "--json"]).pop().unwrap();
    assert!(number(&total, "responses") > 10 && number(&total["subagents"], "responses") > 0, "{total}");
    for by in BYS {
        let mut rows = objects(&home, &["--demo", "usage", "--by", by, "--json"]);
        let last = rows.pop().unwrap();
        assert_eq!(last["type"], "usage_total", "{by}");
        for key in ["responses", "tokens", "unpriced_tokens", "lower_bound_responses"] {
            let sum: u64 = rows.iter().map(|row| number(row, key)).sum();
            assert_eq!((sum, number(&last, key)), (number(&total, key), number(&total, key)), "{by}: {key}");
        }
        let cost = |value: &Value| value["cost_usd"].as_f64().unwrap_or(0.0);
        let sum: f64 = rows.iter().map(cost).sum();
        assert!((sum - cost(&total)).abs() < 1e-9, "{by}: {sum}");
        assert!(rows.iter().all(|row| row["type"] == "usage" && row["by"] == by), "{by}");
        // What a reader sees: a head, rows, and a total where there is more than one.
        let text = home.run(&["--demo", "usage", "--by", by]);
        assert_eq!((text.code, text.err.as_str()), (0, ""), "{by}");
        assert!(text.out.contains("responses") && text.out.contains("prices: "), "{by}:\n{}", text.out);
        assert_eq!(text.out.contains("\ntotal "), rows.len() > 1, "{by}:\n{}", text.out);
    }
}

/// Parts a line of comma-separated values.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    assert!(!quoted, "{line}");
    cells.push(cell);
    cells
}

#[test]
fn comma_separated_values_say_what_json_says() {
    let home = Home::new();
    for by in BYS {
        let run = home.run(&["--demo", "usage", "--by", by, "--csv"]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{by}");
        let mut lines = run.out.lines().map(cells);
        let head = lines.next().unwrap();
        let json = objects(&home, &["--demo", "usage", "--by", by, "--json"]);
        let table: Vec<Vec<String>> = lines.collect();
        assert_eq!(table.len(), json.len() - 1, "{by}: a line for each row, and none for the total");
        for (line, row) in table.iter().zip(&json) {
            assert_eq!(line.len(), head.len(), "{by}: {line:?}");
            let cell = |name: &str| &line[head.iter().position(|head| head == name).unwrap()];
            assert_eq!(cell("key"), row["key"].as_str().unwrap_or_default(), "{by}");
            let written = number(&row["usage"], "cache_creation_input_tokens");
            let hour = number(row, "cache_creation_1h_input_tokens");
            for (name, told) in [
                ("responses", number(row, "responses")),
                ("input", number(&row["usage"], "input_tokens")),
                ("output", number(&row["usage"], "output_tokens")),
                ("cache_write_5m", written - hour),
                ("cache_write_1h", hour),
                ("cache_read", number(&row["usage"], "cache_read_input_tokens")),
                ("tokens", number(row, "tokens")),
                ("unpriced_responses", number(row, "unpriced_responses")),
                ("lower_bound_responses", number(row, "lower_bound_responses")),
                ("subagent_responses", number(&row["subagents"], "responses")),
            ] {
                assert_eq!(*cell(name), told.to_string(), "{by}: {name}");
            }
            let cost = row["cost_usd"].as_f64().map(|cost| format!("{cost:.6}")).unwrap_or_default();
            assert_eq!(*cell("cost_usd"), cost, "{by}");
        }
    }
}

#[test]
fn exit_codes_say_whether_something_was_found() {
    let home = Home::new();
    for (args, code, words) in [
        (&["--demo", "usage"][..], 0, ""),
        (&["--demo", "usage", "--check"], 0, ""),
        (&["--demo", "usage", "--since", "2999-01-01"], 1, "nothing was spent there"),
        (&["--demo", "usage", "--model", "no-such-model"], 1, "nothing was spent there"),
        (&["--demo", "usage", "--project", "/no/such/project"], 1, "nothing was spent there"),
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
        assert!(run.err.contains(words), "{args:?}: {}", run.err);
        assert!(code == 0 || run.out.is_empty(), "{args:?}: {}", run.out);
    }
}

#[test]
fn days_begin_where_they_are_asked_to() {
    let home = Home::new();
    let line = r#"{"type":"assistant","uuid":"a1","parentUuid":null,"sessionId":"11111111-2222-4333-8444-555555555555","cwd":"/x","timestamp":"2026-01-31T23:30:00.000Z","requestId":"r1","message":{"id":"m1","role":"assistant","model":"claude-opus-4-5-20251101","stop_reason":"end_turn","content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":1,"output_tokens":2}}}"#;
    home.write(".claude/projects/-x/11111111-2222-4333-8444-555555555555.jsonl", format!("{line}\n"));
    let key = |args: &[&str]| {
        let all = objects(&home, &[&["usage", "--json"], args].concat());
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
fn a_table_of_ones_own_sets_the_price() {
    let home = traced();
    let cost = |args: &[&str]| {
        objects(&home, &[&["usage", "--json"], args].concat()).pop().unwrap()["cost_usd"].clone()
    };
    // One token of input and nine of output, at 5 and 25 dollars for a million.
    assert_eq!(cost(&[]), 230e-6);
    let table =
        |input: u32| format!("[[price]]\nmodels = [\"claude-opus-4-5*\"]\ninput = {input}\noutput = 100\n");
    home.write(".config/rethread/prices.toml", table(100));
    assert_eq!(cost(&[]), 1e-3);
    let named = home.write("mine.toml", table(200));
    assert_eq!(cost(&["--prices", named.to_str().unwrap()]), 1.1e-3);
    // Where a table is broken, nothing is priced by it or behind its back.
    home.write(".config/rethread/prices.toml", "[[price]]\nmodels = [\"x\"]\ninput = cheap\n");
    let run = home.run(&["usage"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{}", run.err);
    assert!(run.err.contains("prices.toml`, line 3: ") && run.err.contains("hint: "), "{}", run.err);
}

#[test]
fn a_model_without_a_price_is_named_in_few_words() {
    let home = Home::new();
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

/// A response on three lines, the last of which repeats the first.
fn traced() -> Home {
    let home = Home::new();
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
fn a_traced_response_says_which_line_counts() {
    let home = traced();
    let told = object(&home, &["usage", "--explain", "m1", "--json"]);
    let counts: Vec<bool> =
        told["lines"].as_array().unwrap().iter().map(|line| line["counts"].as_bool().unwrap()).collect();
    assert_eq!((number(&told["usage"], "output_tokens"), counts), (9, vec![false, true, false]));
    let text = home.run(&["usage", "--explain", "m1"]).out;
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("counts")).count(), 1, "{text}");
}

#[test]
fn json_keys_are_frozen() {
    let home = Home::new();
    insta::assert_snapshot!(keys(&home, &["--demo", "usage", "--reach", "--json"]), @"
    usage.own.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage.own: responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses
    usage.subagents.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage.subagents: responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses
    usage.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage: type v by key title first last responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses own subagents
    usage_total.own.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_total.own: responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses
    usage_total.prices: source date
    usage_total.reach[].usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_total.reach[]: responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses
    usage_total.subagents.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_total.subagents: responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses
    usage_total.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_total: type v responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses own subagents reach copied unpriced block prices
    ");
    insta::assert_snapshot!(keys(&home, &["--demo", "usage", "--check", "--json"]), @"
    usage_check.lines.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_check.lines: responses usage
    usage_check.once.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_check.once: responses usage
    usage_check.proofs.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_check.proofs: of groups holds responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses
    usage_check.total.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_check.total: responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses
    usage_check: type v holds total lines files once proofs opinions
    ");
    let home = traced();
    insta::assert_snapshot!(keys(&home, &["usage", "--explain", "m1", "--json"]), @"
    usage_response.lines.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_response.lines: path line time request usage subagent ended counts
    usage_response.usage: input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens
    usage_response: type v message model session time responses usage cache_creation_1h_input_tokens web_searches tokens cost_usd unpriced_responses unpriced_tokens lower_bound_responses lines
    ");
}

/// Names of everything that rows are called by: what a terminal obeys, and what a table of a spreadsheet would run.
const POISON: &str = "=cmd\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}2J\u{202e},\"x\"\r\nend";

fn poisoned() -> Home {
    let home = Home::new();
    let session = "11111111-2222-4333-8444-555555555555";
    let name = Value::from(POISON).to_string();
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

fn is_bad(c: char) -> bool {
    c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[test]
fn names_neither_command_a_terminal_nor_run_in_a_spreadsheet() {
    let home = poisoned();
    let mut named = 0;
    for by in BYS {
        for more in [&[][..], &["--check"], &["--reach"], &["--json"], &["--csv"]] {
            let args = [&["usage", "--by", by, "--color", "never"][..], more].concat();
            let run = home.run(&args);
            assert_eq!(run.code, 0, "{args:?}: {}", run.err);
            let bad: Vec<char> = run.out.chars().chain(run.err.chars()).filter(|c| is_bad(*c)).collect();
            assert!(bad.is_empty(), "{args:?} lets pass {bad:?}:\n{}", run.out);
            if more == ["--csv"] {
                let found = run.out.lines().skip(1).flat_map(cells).filter(|cell| cell.contains("cmd"));
                let found: Vec<String> = found.collect();
                assert!(found.iter().all(|cell| cell.starts_with("'=cmd")), "{args:?}: {found:?}");
                named += found.len();
            }
        }
    }
    assert!(named >= 6, "project, title, model, tool, agent and branch are named so: {named}");
    let run = home.run(&["usage", "--explain", POISON, "--color", "never"]);
    assert!(!run.out.chars().chain(run.err.chars()).any(is_bad), "{:?}", run.out);
}

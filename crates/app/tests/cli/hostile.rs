//! Hostile session text: no command passes control sequences to the terminal.

use rethread_testkit::home::Home;

use crate::new_home;

/// Text with every kind of control sequence that a terminal interprets.
const HOSTILE_TEXT: &str = "pwn\u{1b}[2J\u{1b}]0;title\u{7}\u{1b}]52;c;ZXZpbA==\u{1b}\\\u{1b}[31mred\u{1b}P$q\u{1b}\\\
    \u{9b}2J\u{9d}0;t\u{9c}\u{85}\u{8}\u{7f}\0\r\u{b}\u{202e}\u{2066}\u{200f}\u{200e}\u{61c}\u{200b}\u{2060}\u{206a}\u{feff}\u{fff9}\u{2028}\u{e0001}\u{e0041}end";

fn new_home_with_hostile_session() -> Home {
    let home = new_home();
    let escaped = serde_json::to_string(HOSTILE_TEXT).unwrap();
    let escaped = &escaped[1..escaped.len() - 1];
    let session = "11111111-2222-4333-8444-555555555555";
    let common_fields = |uuid: &str, parent: &str| {
        format!(
            r#""uuid":"{uuid}","parentUuid":{parent},"sessionId":"{session}","cwd":"/x/{escaped}","gitBranch":"{escaped}","version":"2.1.325{escaped}","timestamp":"2026-01-01T10:00:00.000Z""#
        )
    };
    let lines = [
        format!(r#"{{"type":"custom-title","customTitle":"{escaped}","sessionId":"{session}"}}"#),
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":"{escaped}"}},{}}}"#,
            common_fields("a1", "null")
        ),
        format!(
            r#"{{"type":"assistant","message":{{"id":"m{escaped}","role":"assistant","model":"model{escaped}","content":[{{"type":"thinking","thinking":"{escaped}"}},{{"type":"text","text":"{escaped}"}},{{"type":"tool_use","id":"t1{escaped}","name":"Bash{escaped}","input":{{"command":"{escaped}","{escaped}":["{escaped}"],"more":"{escaped}\n{escaped}"}}}},{{"type":"odd{escaped}","text":"{escaped}"}}],"usage":{{"input_tokens":1,"output_tokens":2}}}},{}}}"#,
            common_fields("a2", "\"a1\"")
        ),
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1{escaped}","is_error":true,"content":[{{"type":"text","text":"{escaped}"}},{{"type":"image","source":{{"media_type":"image/{escaped}","data":"AAAA"}}}}]}}]}},{}}}"#,
            common_fields("a3", "\"a2\"")
        ),
        format!(
            r#"{{"type":"system","subtype":"odd{escaped}","content":"{escaped}",{}}}"#,
            common_fields("a4", "\"a3\"")
        ),
        format!(
            r#"{{"type":"system","subtype":"informational","content":"{escaped}",{}}}"#,
            common_fields("a5", "\"a4\"")
        ),
        format!(
            r#"{{"type":"user","isMeta":true,"message":{{"role":"user","content":"{escaped}"}},{}}}"#,
            common_fields("a6", "\"a5\"")
        ),
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":"<command-name>/{escaped}</command-name>"}},{}}}"#,
            common_fields("a7", "\"a6\"")
        ),
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":"<local-command-stdout>{escaped}</local-command-stdout>"}},{}}}"#,
            common_fields("a8", "\"a7\"")
        ),
        format!(
            r#"{{"type":"system","subtype":"compact_boundary","compactMetadata":{{"trigger":"{escaped}"}},{}}}"#,
            common_fields("a9", "\"a8\"")
        ),
        format!(
            r#"{{"type":"user","isCompactSummary":true,"message":{{"role":"user","content":"{escaped}"}},{}}}"#,
            common_fields("b1", "\"a9\"")
        ),
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":"second {escaped}"}},{}}}"#,
            common_fields("b2", "\"b1\"")
        ),
        format!(r#"{{"type":"odd{escaped}","field{escaped}":1,{}}}"#, common_fields("b3", "\"b2\"")),
        format!("{HOSTILE_TEXT} no JSON at all").replace(['\n', '\r'], " "),
    ];
    let folder = ".claude/projects/-x\u{1b}[2J\u{202e}";
    home.write(&format!("{folder}/{session}.jsonl"), &(lines.join("\n") + "\n"));
    let agent = lines[1].replace("\"uuid\"", "\"isSidechain\":true,\"agentId\":\"e1\",\"uuid\"");
    home.write(&format!("{folder}/{session}/subagents/agent-e1.jsonl"), &(agent + "\n"));
    home.write(
        &format!("{folder}/{session}/subagents/agent-e1.meta.json"),
        format!(r#"{{"agentType":"{escaped}","description":"{escaped}"}}"#),
    );
    home
}

fn commands() -> Vec<Vec<&'static str>> {
    vec![
        vec![],
        vec!["ls"],
        vec!["ls", "--all"],
        vec!["show", "last"],
        vec!["show", "last", "--tools", "full", "--thinking"],
        vec!["show", "last", "--all"],
        vec!["show", "last", "--all", "--tools", "none"],
        vec!["show", HOSTILE_NAME],
        vec!["show", "last", "--branch", HOSTILE_NAME],
        vec!["show", "last", "--turns", HOSTILE_NAME],
        vec!["branches", "last"],
        vec!["context", "last", "--turns"],
        vec!["context", HOSTILE_NAME],
        vec!["clone", "last", "--dry-run"],
        vec!["clone", "last", "--preset", "bare", "--title", HOSTILE_NAME, "--dry-run"],
        vec!["clone", "last", "--into", HOSTILE_NAME, "--dry-run"],
        vec!["clone", HOSTILE_NAME],
        vec!["rescue", "last", "--fit", "1", "--dry-run"],
        vec!["rescue", "last", "--fit", HOSTILE_NAME],
        vec!["explain", "last"],
        vec!["explain", "last", "--client", "1.0.37"],
        vec!["explain", "last", "--client", "all"],
        vec!["explain", "last", "--rule", "seed"],
        vec!["explain", HOSTILE_NAME],
        vec!["explain", "last", "--client", HOSTILE_NAME],
        vec!["tree", "last"],
        vec!["tree", "last", "--all"],
        vec!["tree", "last", "L4"],
        vec!["tree", "last", "--format", "dot"],
        vec!["tree", "last", "--format", "svg", "--all"],
        vec!["tree", "last", HOSTILE_NAME],
        vec!["branches", HOSTILE_NAME],
        vec!["find", "last", "pwn", "--all"],
        vec!["find", "last", "-e", "(?s).+"],
        vec!["find", "last", HOSTILE_NAME],
        vec!["find", "last", "-e", HOSTILE_PATTERN],
        vec!["search", "pwn"],
        vec!["search", "pwn", "--all", "--limit", "0"],
        vec!["search", "pwn", "--context", "3"],
        vec!["search", "/(?s).+/", "--limit", "0"],
        vec!["search", "tool:Bash"],
        vec!["search", "pwn", "--sessions"],
        vec!["search", "pwn", "--open", "1"],
        vec!["search", "pwn", "--resume", "1"],
        vec!["search", HOSTILE_NAME],
        vec!["search", HOSTILE_NAME, "roel:pwn"],
        vec!["search", "role:pwn\u{1b}[2J\u{202e}"],
        vec!["search", "/(\u{1b}[2J\u{202e}/"],
        vec!["index"],
        vec!["index", "--status"],
        vec!["diff", "last", "agent-e1"],
        vec!["diff", "last", "agent-e1:L1"],
        vec!["diff", "last", HOSTILE_NAME],
        vec!["diff", "last", HOSTILE_NAME, "L1"],
        vec!["doctor", "last"],
        vec!["doctor"],
        vec!["doctor", "--everything"],
        vec!["doctor", HOSTILE_NAME],
        vec!["repair", "last", "--dry-run"],
        vec!["repair", "last", "--dry-run", "--in-place"],
        vec!["repair", "last", "--dry-run", "--drop-unpaired", "--leaf", HOSTILE_NAME],
        vec!["repair", "last", "--dry-run", "--leaf", "L2"],
        vec!["repair", HOSTILE_NAME],
        vec!["sql", "SELECT text FROM texts ORDER BY line LIMIT 3"],
        vec!["sql", "SELECT title, 'pwn\u{1b}[2J' AS \"a\u{1b}[2Jb\" FROM sessions"],
        vec!["sql", "SELECT pwn\u{1b}[2J\u{202e}"],
        vec!["sql", "--schema", HOSTILE_NAME],
        vec!["sql", "--example", HOSTILE_NAME],
        vec!["sql", "--explain", "SELECT 'pwn\u{1b}[2J' FROM sessions WHERE session_id = 'pwn\u{1b}[2J'"],
        vec!["stats"],
        vec!["stats", "last", "--files"],
        vec!["tools", "last"],
        vec!["tools", "last", "--full"],
        vec!["tools", "last", "--errors"],
        vec!["agents", "last", "--all"],
        vec!["rename", "last", HOSTILE_TITLE, "--even-if-live"],
        vec!["log"],
        vec!["undo", "--even-if-live"],
        vec!["rm", "last", "--even-if-live", "--dry-run"],
        vec!["rm", HOSTILE_NAME],
        vec!["restore", "last", "--even-if-live", "--dry-run"],
        vec!["restore", HOSTILE_NAME],
        vec!["schema"],
        vec!["schema", "--unknown"],
        vec!["usage", "--by", "model"],
        vec!["usage", "--by", "tool", "--csv"],
        vec!["usage", "--by", "session"],
        vec!["usage", "last", "--by", "branch"],
        vec!["usage", "--by", "project", "--reach"],
        vec!["usage", HOSTILE_NAME],
        vec!["usage", "--explain", HOSTILE_NAME],
        vec!["usage", "--tz", HOSTILE_NAME],
        vec!["usage", "--since", HOSTILE_NAME],
        vec!["ls", "--root", HOSTILE_NAME],
        vec!["ls", "--since", HOSTILE_NAME],
        vec![HOSTILE_NAME],
        vec!["ls", HOSTILE_NAME],
        vec!["ls", HOSTILE_OPTION],
        vec!["ls", "--limit", HOSTILE_NAME],
        vec!["ls", "--limit=1", "--limit", HOSTILE_NAME],
        vec!["usage", "--by", HOSTILE_NAME],
        vec!["clone", "last", "--drop", HOSTILE_NAME],
        vec!["find", "last", "pwn", "--role", HOSTILE_NAME],
        vec!["serve", "--port", HOSTILE_NAME],
        vec!["completions", HOSTILE_NAME],
        vec!["help", HOSTILE_NAME],
        vec!["search", "x", HOSTILE_OPTION],
        vec!["export", "last", "--format", HOSTILE_NAME],
    ]
}

const HOSTILE_PATTERN: &str = "(\u{1b}[2Jzz\u{7}\u{202e}";
const HOSTILE_TITLE: &str = "pwn\u{1b}[2Jzz\u{7}\u{202e}";
const HOSTILE_NAME: &str = "\u{1b}[2Jzz\u{7}\u{202e}\u{9b}1m\u{85}\u{200b}\u{feff}\u{61c}\u{2028}\u{e0041}";
const HOSTILE_OPTION: &str = "--\u{1b}[2Jzz\u{1b}[31m\u{7}\u{202e}\u{85}\u{200b}\u{e0041}";

/// Returns `true` for characters that a terminal interprets or does not show.
fn is_control(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{e0000}'..='\u{e0fff}')
}

/// Removes color sequences. Other escape sequences remain.
fn strip_colors(text: &str) -> String {
    let mut clean_text = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        clean_text.push_str(&rest[..at]);
        let body = &rest[at + 2..];
        let end = body.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(body.len());
        let is_color = body[end..].starts_with('m');
        if !is_color {
            clean_text.push('\u{1b}');
        }
        rest = if is_color { &body[end + 1..] } else { body };
    }
    clean_text + rest
}

#[test]
fn no_command_prints_control_sequences() {
    let home = new_home_with_hostile_session();
    for command in commands() {
        for color in ["never", "always"] {
            let args: Vec<&str> = command.iter().copied().chain(["--color", color]).collect();
            let run = home.run(&args);
            for text in [&run.out, &run.err] {
                let clean_text = if color == "always" { strip_colors(text) } else { text.clone() };
                let controls: Vec<char> = clean_text.chars().filter(|c| is_control(*c)).collect();
                assert!(controls.is_empty(), "{args:?} prints {controls:?}:\n{clean_text:?}");
            }
            assert!(!run.out.is_empty() || !run.err.is_empty(), "{args:?} prints nothing");
            // Without the session text the test would prove nothing.
            let first = args.first().copied().unwrap_or_default();
            let is_exempt = run.code != 0
                || ["stats", "rm", "restore", "index"].contains(&first)
                || args.starts_with(&["doctor", "--color"]);
            assert!(
                is_exempt || run.out.contains("pwn"),
                "{args:?} does not print the session text:\n{}",
                run.out
            );
        }
    }
}

#[test]
fn json_escapes_control_characters() {
    let home = new_home_with_hostile_session();
    for args in [
        &["ls", "--json"][..],
        &["show", "last", "--json"],
        &["tools", "last", "--json"],
        &["find", "last", "pwn", "--all", "--json"],
        &["diff", "last", "agent-e1", "--json"],
        &["stats", "--json"],
        &["sql", "SELECT text FROM texts", "--json"],
        &["sql", "SELECT text FROM texts", "--format", "jsonl"],
        &["branches", "last", "--json"],
        &["context", "last", "--turns", "--json"],
        &["explain", "last", "--client", "2.1.325", "--json"],
        &["tree", "last", "--all", "--json"],
        &["rename", "last", HOSTILE_TITLE, "--even-if-live", "--json"],
        &["log", "--json"],
        &["restore", "last", "--even-if-live", "--dry-run", "--json"],
        &["rm", "last", "--even-if-live", "--dry-run", "--json"],
        &["undo", "--even-if-live", "--json"],
    ] {
        let run = home.run(args);
        assert_eq!(run.code, 0, "{args:?}: {}", run.err);
        assert!(!run.out.chars().any(is_control), "{args:?}");
        for line in run.out.lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
        }
    }
    let run = home.run(&["ls", "--json"]);
    let row: serde_json::Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    assert!(row["title"].as_str().unwrap().contains("pwn\u{1b}[2J"), "{row}");
}

#[test]
fn raw_output_contains_the_lines_unchanged() {
    let home = new_home_with_hostile_session();
    let run = home.run(&["show", "last", "--all", "--raw"]);
    let folder = home.path().join(".claude/projects/-x\u{1b}[2J\u{202e}");
    let file = std::fs::read_to_string(folder.join("11111111-2222-4333-8444-555555555555.jsonl")).unwrap();
    assert!(run.out.lines().count() > 5);
    for line in run.out.lines() {
        assert!(file.contains(line), "{line}");
    }
}

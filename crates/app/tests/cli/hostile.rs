//! Session text is hostile: nothing of it may command the terminal, in any command.

use super::home::Home;

/// Everything a terminal could obey, in one string.
const POISON: &str = "pwn\u{1b}[2J\u{1b}]0;title\u{7}\u{1b}]52;c;ZXZpbA==\u{1b}\\\u{1b}[31mred\u{1b}P$q\u{1b}\\\
    \u{9b}2J\u{9d}0;t\u{9c}\u{85}\u{8}\u{7f}\0\r\u{b}\u{202e}\u{2066}\u{200f}\u{200e}end";

fn store() -> Home {
    let home = Home::new();
    let poison = serde_json::to_string(POISON).unwrap();
    let poison = &poison[1..poison.len() - 1];
    let session = "11111111-2222-4333-8444-555555555555";
    let head = |uuid: &str, parent: &str| {
        format!(
            r#""uuid":"{uuid}","parentUuid":{parent},"sessionId":"{session}","cwd":"/x/{poison}","gitBranch":"{poison}","version":"2.1.325{poison}","timestamp":"2026-01-01T10:00:00.000Z""#
        )
    };
    let lines = [
        format!(r#"{{"type":"custom-title","customTitle":"{poison}","sessionId":"{session}"}}"#),
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":"{poison}"}},{}}}"#,
            head("a1", "null")
        ),
        format!(
            r#"{{"type":"assistant","message":{{"id":"m{poison}","role":"assistant","model":"model{poison}","content":[{{"type":"thinking","thinking":"{poison}"}},{{"type":"text","text":"{poison}"}},{{"type":"tool_use","id":"t1{poison}","name":"Bash{poison}","input":{{"command":"{poison}","{poison}":["{poison}"],"more":"{poison}\n{poison}"}}}},{{"type":"odd{poison}","text":"{poison}"}}],"usage":{{"input_tokens":1,"output_tokens":2}}}},{}}}"#,
            head("a2", "\"a1\"")
        ),
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1{poison}","is_error":true,"content":[{{"type":"text","text":"{poison}"}},{{"type":"image","source":{{"media_type":"image/{poison}","data":"AAAA"}}}}]}}]}},{}}}"#,
            head("a3", "\"a2\"")
        ),
        format!(
            r#"{{"type":"system","subtype":"odd{poison}","content":"{poison}",{}}}"#,
            head("a4", "\"a3\"")
        ),
        format!(
            r#"{{"type":"system","subtype":"informational","content":"{poison}",{}}}"#,
            head("a5", "\"a4\"")
        ),
        format!(
            r#"{{"type":"user","isMeta":true,"message":{{"role":"user","content":"{poison}"}},{}}}"#,
            head("a6", "\"a5\"")
        ),
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":"<command-name>/{poison}</command-name>"}},{}}}"#,
            head("a7", "\"a6\"")
        ),
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":"<local-command-stdout>{poison}</local-command-stdout>"}},{}}}"#,
            head("a8", "\"a7\"")
        ),
        format!(
            r#"{{"type":"system","subtype":"compact_boundary","compactMetadata":{{"trigger":"{poison}"}},{}}}"#,
            head("a9", "\"a8\"")
        ),
        format!(
            r#"{{"type":"user","isCompactSummary":true,"message":{{"role":"user","content":"{poison}"}},{}}}"#,
            head("b1", "\"a9\"")
        ),
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":"second {poison}"}},{}}}"#,
            head("b2", "\"b1\"")
        ),
        format!(r#"{{"type":"odd{poison}","field{poison}":1,{}}}"#, head("b3", "\"b2\"")),
        format!("{POISON} no JSON at all").replace(['\n', '\r'], " "),
    ];
    let folder = ".claude/projects/-x\u{1b}[2J\u{202e}";
    home.write(&format!("{folder}/{session}.jsonl"), &(lines.join("\n") + "\n"));
    let agent = lines[1].replace("\"uuid\"", "\"isSidechain\":true,\"agentId\":\"e1\",\"uuid\"");
    home.write(&format!("{folder}/{session}/subagents/agent-e1.jsonl"), &(agent + "\n"));
    home.write(
        &format!("{folder}/{session}/subagents/agent-e1.meta.json"),
        format!(r#"{{"agentType":"{poison}","description":"{poison}"}}"#),
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
        vec!["show", "last", "--everything"],
        vec!["show", "last", "--everything", "--tools", "none"],
        vec!["show", POISON_NAME],
        vec!["show", "last", "--branch", POISON_NAME],
        vec!["show", "last", "--turns", POISON_NAME],
        vec!["branches", "last"],
        vec!["context", "last", "--turns"],
        vec!["context", POISON_NAME],
        vec!["clone", "last", "--dry-run"],
        vec!["clone", "last", "--preset", "bare", "--title", POISON_NAME, "--dry-run"],
        vec!["clone", "last", "--into", POISON_NAME, "--dry-run"],
        vec!["clone", POISON_NAME],
        vec!["rescue", "last", "--fit", "1", "--dry-run"],
        vec!["rescue", "last", "--fit", POISON_NAME],
        vec!["explain", "last"],
        vec!["explain", "last", "--client", "1.0.37"],
        vec!["explain", "last", "--client", "all"],
        vec!["explain", "last", "--rule", "seed"],
        vec!["explain", POISON_NAME],
        vec!["explain", "last", "--client", POISON_NAME],
        vec!["tree", "last"],
        vec!["tree", "last", "--all"],
        vec!["tree", "last", "L4"],
        vec!["tree", "last", "--format", "dot"],
        vec!["tree", "last", "--format", "svg", "--all"],
        vec!["tree", "last", POISON_NAME],
        vec!["branches", POISON_NAME],
        vec!["find", "last", "pwn", "--all"],
        vec!["find", "last", "-e", "(?s).+"],
        vec!["find", "last", POISON_NAME],
        vec!["find", "last", "-e", POISON_PATTERN],
        vec!["search", "pwn"],
        vec!["search", "pwn", "--all", "--limit", "0"],
        vec!["search", "pwn", "--context", "3"],
        vec!["search", "/(?s).+/", "--limit", "0"],
        vec!["search", "tool:Bash"],
        vec!["search", "pwn", "--sessions"],
        vec!["search", "pwn", "--open", "1"],
        vec!["search", "pwn", "--resume", "1"],
        vec!["search", POISON_NAME],
        vec!["search", POISON_NAME, "roel:pwn"],
        vec!["search", "role:pwn\u{1b}[2J\u{202e}"],
        vec!["search", "/(\u{1b}[2J\u{202e}/"],
        vec!["index"],
        vec!["index", "--status"],
        vec!["diff", "last", "agent-e1"],
        vec!["diff", "last", "agent-e1:L1"],
        vec!["diff", "last", POISON_NAME],
        vec!["diff", "last", POISON_NAME, "L1"],
        vec!["doctor", "last"],
        vec!["doctor"],
        vec!["doctor", "--everything"],
        vec!["doctor", POISON_NAME],
        vec!["repair", "last", "--dry-run"],
        vec!["repair", "last", "--dry-run", "--in-place"],
        vec!["repair", "last", "--dry-run", "--drop-unpaired", "--leaf", POISON_NAME],
        vec!["repair", "last", "--dry-run", "--leaf", "L2"],
        vec!["repair", POISON_NAME],
        vec!["stats"],
        vec!["stats", "last", "--files"],
        vec!["tools", "last"],
        vec!["tools", "last", "--full"],
        vec!["tools", "last", "--errors"],
        vec!["agents", "last", "--all"],
        vec!["rename", "last", POISON_TITLE, "--even-if-live"],
        vec!["log"],
        vec!["undo", "--even-if-live"],
        vec!["rm", "last", "--even-if-live", "--dry-run"],
        vec!["rm", POISON_NAME],
        vec!["restore", "last", "--even-if-live", "--dry-run"],
        vec!["restore", POISON_NAME],
        vec!["schema"],
        vec!["schema", "--unknown"],
        vec!["usage", "--by", "model"],
        vec!["usage", "--by", "tool", "--csv"],
        vec!["usage", "--by", "session"],
        vec!["usage", "last", "--by", "branch"],
        vec!["usage", "--by", "project", "--reach"],
        vec!["usage", POISON_NAME],
        vec!["usage", "--explain", POISON_NAME],
        vec!["usage", "--tz", POISON_NAME],
        vec!["usage", "--since", POISON_NAME],
        vec!["ls", "--root", POISON_NAME],
        vec!["ls", "--since", POISON_NAME],
    ]
}

const POISON_PATTERN: &str = "(\u{1b}[2Jzz\u{7}\u{202e}";
const POISON_TITLE: &str = "pwn\u{1b}[2Jzz\u{7}\u{202e}";
const POISON_NAME: &str = "\u{1b}[2Jzz\u{7}\u{202e}";

fn is_bad(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Takes our own colours out: what is left must be clean.
fn without_colors(text: &str) -> String {
    let mut bare = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        bare.push_str(&rest[..at]);
        let body = &rest[at + 2..];
        let end = body.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(body.len());
        let is_color = body[end..].starts_with('m');
        if !is_color {
            bare.push('\u{1b}');
        }
        rest = if is_color { &body[end + 1..] } else { body };
    }
    bare + rest
}

#[test]
fn nothing_commands_the_terminal() {
    let home = store();
    for command in commands() {
        for color in ["never", "always"] {
            let args: Vec<&str> = command.iter().copied().chain(["--color", color]).collect();
            let run = home.run(&args);
            for text in [&run.out, &run.err] {
                let bare = if color == "always" { without_colors(text) } else { text.clone() };
                let bad: Vec<char> = bare.chars().filter(|c| is_bad(*c)).collect();
                assert!(bad.is_empty(), "{args:?} lets pass {bad:?}:\n{bare:?}");
            }
            assert!(!run.out.is_empty() || !run.err.is_empty(), "{args:?} says nothing");
            // Without the words the test would prove nothing.
            let first = args.first().copied().unwrap_or_default();
            let quotes = run.code != 0
                || ["stats", "rm", "restore", "index"].contains(&first)
                || args.starts_with(&["doctor", "--color"]);
            assert!(quotes || run.out.contains("pwn"), "{args:?} does not say the words:\n{}", run.out);
        }
    }
}

#[test]
fn json_keeps_the_words_and_escapes_the_rest() {
    let home = store();
    for args in [
        &["ls", "--json"][..],
        &["show", "last", "--json"],
        &["tools", "last", "--json"],
        &["find", "last", "pwn", "--all", "--json"],
        &["diff", "last", "agent-e1", "--json"],
        &["stats", "--json"],
        &["branches", "last", "--json"],
        &["context", "last", "--turns", "--json"],
        &["explain", "last", "--client", "2.1.325", "--json"],
        &["tree", "last", "--all", "--json"],
        &["rename", "last", POISON_TITLE, "--even-if-live", "--json"],
        &["log", "--json"],
        &["restore", "last", "--even-if-live", "--dry-run", "--json"],
        &["rm", "last", "--even-if-live", "--dry-run", "--json"],
        &["undo", "--even-if-live", "--json"],
    ] {
        let run = home.run(args);
        assert_eq!(run.code, 0, "{args:?}: {}", run.err);
        assert!(!run.out.chars().any(is_bad), "{args:?}");
        for line in run.out.lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
        }
    }
    let run = home.run(&["ls", "--json"]);
    let row: serde_json::Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    assert!(row["title"].as_str().unwrap().contains("pwn\u{1b}[2J"), "{row}");
}

#[test]
fn raw_is_byte_for_byte() {
    let home = store();
    let run = home.run(&["show", "last", "--everything", "--raw"]);
    let folder = home.path().join(".claude/projects/-x\u{1b}[2J\u{202e}");
    let file = std::fs::read_to_string(folder.join("11111111-2222-4333-8444-555555555555.jsonl")).unwrap();
    assert!(run.out.lines().count() > 5);
    for line in run.out.lines() {
        assert!(file.contains(line), "{line}");
    }
}

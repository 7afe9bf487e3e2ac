//! `statusline`: any input on stdin gives one line and exit code 0.

use std::io::{Read, Write};
use std::process::Stdio;

use jiff::{SignedDuration, Timestamp};
use rethread_testkit::home::{Home, RunOutput};
use serde_json::{Value, json};

use crate::new_home;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const OTHER_SESSION: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// Runs the command with `input` on stdin.
fn run_statusline(home: &Home, input: &[u8], args: &[&str]) -> RunOutput {
    let mut command = home.command(&[&["statusline"], args].concat());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The program may end before it reads all of stdin.
    let _ = child.stdin.take().unwrap().write_all(input);
    RunOutput::new(child.wait_with_output().unwrap())
}

fn statusline_output(home: &Home, input: &Value) -> String {
    let run = run_statusline(home, input.to_string().as_bytes(), &[]);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{input}");
    assert_eq!(run.out.lines().count(), 1, "{input}: {}", run.out);
    run.out.trim_end().to_owned()
}

/// Returns a response that is `seconds` old. 40,000 output tokens cost one dollar.
fn response(session: &str, message: &str, seconds: i64, output: u64) -> String {
    let time = Timestamp::now() - SignedDuration::from_secs(seconds);
    let entry = json!({
        "type": "assistant", "sessionId": session, "cwd": "/work", "timestamp": format!("{time:.3}"),
        "uuid": format!("u-{message}"), "requestId": format!("r-{message}"),
        "message": {
            "id": message, "role": "assistant", "model": "claude-opus-4-5", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "yes"}],
            "usage": {"input_tokens": 0, "output_tokens": output, "cache_read_input_tokens": 50_000},
        },
    });
    format!("{entry}\n")
}

fn session_path(name: &str) -> String {
    format!(".claude/projects/-work/{name}.jsonl")
}

/// Creates a home with two sessions that have just cost a few dollars. Also returns the path of the first.
fn new_home_with_responses() -> (Home, String) {
    let home = new_home();
    // 50,000 tokens read from the cache cost 2.5 cents.
    let path = home.write(&session_path(SESSION), response(SESSION, "m1", 2, 39_000));
    home.write(&session_path(&format!("{SESSION}/subagents/agent-1")), response(SESSION, "m2", 1, 79_000));
    home.write(
        &session_path(OTHER_SESSION),
        response(OTHER_SESSION, "m3", 1, 199_000) + &response(SESSION, "m1", 2, 39_000),
    );
    (home, path.display().to_string())
}

#[test]
fn the_line_combines_client_input_and_session_files() {
    let (home, path) = new_home_with_responses();
    let input = json!({
        "session_id": SESSION, "transcript_path": path, "model": {"id": "claude-opus-4-5", "display_name": "Opus 4.5"},
        "cost": {"total_cost_usd": 99.0},
        "context_window": {"context_window_size": 200_000, "used_percentage": 43.4},
        "rate_limits": {"five_hour": {"used_percentage": 12.5, "resets_at": Timestamp::now().as_second() + 7830}},
    });
    let expected =
        "Opus 4.5 · $3.00 session · $8.00 today · block $8.00, 13% of the limit, 2h 10m left · context 43%";
    // A new day may start while the test runs.
    let ignore_midnight = |text: &str| text.replace("$0.00 today", "$8.00 today");
    assert_eq!(ignore_midnight(&statusline_output(&home, &input)), expected);
    assert_eq!(ignore_midnight(&statusline_output(&home, &input)), expected, "from the cache");
    let run = run_statusline(&home, input.to_string().as_bytes(), &["--no-index"]);
    assert_eq!(ignore_midnight(run.out.trim_end()), expected, "without the cache");
    let colored = run_statusline(&home, input.to_string().as_bytes(), &["--color", "always"]);
    assert!(colored.out.contains("\u{1b}[2m") && colored.out.lines().count() == 1);

    // Missing input fields are read from the session file.
    let without_details = statusline_output(&home, &json!({"transcript_path": path}));
    assert!(without_details.starts_with("claude-opus-4-5 · $3.00 session · "), "{without_details}");
    assert!(
        without_details.contains(" · block $8.00, ") && without_details.ends_with("m left · context ~25%"),
        "{without_details}"
    );

    let run = run_statusline(&home, input.to_string().as_bytes(), &["--json"]);
    let object: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((object["type"].as_str(), object["v"].as_u64()), (Some("statusline"), Some(1)));
    assert_eq!(object["session_total"]["cost_usd"], 3.0);
    assert_eq!(
        (&object["block"]["cost_usd"], &object["block"]["limit_percent"]),
        (&json!(8.0), &json!(12.5))
    );
    assert_eq!(object["context"], json!({"percent": 43.4, "estimated": false}));
    assert_eq!((&object["client_cost_usd"], &object["model"]), (&json!(99.0), &json!("Opus 4.5")));
}

#[test]
fn the_format_selects_the_parts() {
    let (home, path) = new_home_with_responses();
    let now = Timestamp::now().as_second();
    let input = json!({
        "transcript_path": path, "model": {"display_name": "Opus"},
        "rate_limits": {"seven_day": {"used_percentage": 31, "resets_at": now + 3 * 86_400 + 4 * 3600 + 90}},
        "prompt_cache": {"ttl": 300, "expires_at": now + 200, "misses": 1},
        "context_window": {"current_usage":
            {"input_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 90}},
    });
    let config =
        "[statusline]\nformat = \"{model} {cost} | week {week}|{cache}| || \"\nseparator = \" / \"\n";
    home.write(".config/rethread/config.toml", config);
    let expected = "Opus $3.00 / week $8.00, 31% of the limit, 3d 4h left / 90%, 3m left, 1 miss / |";
    assert_eq!(statusline_output(&home, &input), expected);
    assert_eq!(statusline_output(&home, &input), expected, "from the cache");
    let object = run_statusline(&home, input.to_string().as_bytes(), &["--json"]).json_lines().remove(0);
    assert_eq!((&object["week"]["cost_usd"], &object["week"]["limit_percent"]), (&json!(8.0), &json!(31.0)));
    assert_eq!(
        (&object["prompt_cache"]["read_percent"], &object["prompt_cache"]["misses"]),
        (&json!(90.0), &json!(1))
    );
    // Parts without a known value are omitted, and the last seven days have no end.
    assert_eq!(statusline_output(&home, &json!({})), "week $8.00 / |");
    // The cache of the last response expires five minutes after it.
    home.write(".config/rethread/config.toml", "[statusline]\nformat = \"cache {cache}\"\n");
    assert_eq!(statusline_output(&home, &json!({"transcript_path": path})), "cache 100%, ~4m left");
    home.write(&session_path(SESSION), response(SESSION, "m1", 301, 39_000));
    assert_eq!(statusline_output(&home, &json!({"transcript_path": path})), "cache 100%, expired");
}

#[test]
fn changes_of_the_session_are_counted_immediately() {
    let (home, path) = new_home_with_responses();
    let input = json!({"transcript_path": path});
    assert!(statusline_output(&home, &input).contains("$3.00 session"));
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str(&response(SESSION, "m4", 0, 39_000));
    home.write(&session_path(SESSION), &text);
    home.write(&session_path(&format!("{SESSION}/subagents/agent-2")), response(SESSION, "m5", 0, 39_000));
    assert!(statusline_output(&home, &input).contains("$5.00 session"));
    // Older clients write subagents next to the session file.
    home.write(&session_path("agent-old"), response(SESSION, "m6", 0, 39_000));
    assert!(statusline_output(&home, &input).contains("$6.00 session"));
    // An incomplete line is ignored.
    home.write(&session_path(SESSION), format!("{text}{}", &response(SESSION, "m7", 0, 39_000)[..200]));
    assert!(statusline_output(&home, &input).contains("$6.00 session"));
    // The client may rewrite the file.
    home.write(&session_path(SESSION), response(SESSION, "m4", 0, 39_000));
    assert!(statusline_output(&home, &input).contains("$5.00 session"));
}

#[test]
fn without_a_session_file_the_cost_of_the_client_is_used() {
    let home = new_home();
    let input = json!({"session_id": SESSION, "transcript_path": "/nowhere/at/all.jsonl", "cost": {"total_cost_usd": 1.234}});
    assert_eq!(statusline_output(&home, &input), "$1.23 session · $0.00 today");
    assert_eq!(statusline_output(&home, &json!({})), "$0.00 today");
    // A folder, a device and an empty path are not session files.
    for path in ["/", "/dev/zero", ""] {
        assert_eq!(statusline_output(&home, &json!({"transcript_path": path})), "$0.00 today", "{path}");
    }
}

#[test]
fn empty_stdin_is_an_error_with_a_hint() {
    let home = new_home();
    for input in [&b""[..], b"  \n"] {
        let run = run_statusline(&home, input, &[]);
        assert_eq!((run.code, run.out.as_str()), (2, ""));
        assert!(
            run.err.contains("stdin contains no session data") && run.err.contains("statusLine"),
            "{}",
            run.err
        );
    }
}

#[test]
fn invalid_input_still_gives_a_line() {
    let (home, _) = new_home_with_responses();
    let deep = "[".repeat(10_000);
    for input in ["not json", "[1]", "null", "{\"model\":", "\"text\"", "\u{0}", &deep] {
        let run = run_statusline(&home, input.as_bytes(), &[]);
        assert_eq!(run.code, 0, "{input}");
        assert!(run.out.contains(" today") && run.out.lines().count() == 1, "{input}: {}", run.out);
        assert!(run.err.contains("stdin is not a JSON object"), "{}", run.err);
    }
    let run = run_statusline(&home, b"\xff\xfe{}", &[]);
    assert_eq!((run.code, run.out.lines().count()), (0, 1));
}

#[test]
fn hostile_input_is_cleaned() {
    let (home, path) = new_home_with_responses();
    let hostile_text = "Op\u{1b}[31mus\u{7}\r\n\u{202e}4.5\u{1b}]0;owned\u{7}";
    for color in ["never", "always"] {
        let input = json!({"transcript_path": path, "session_id": hostile_text, "model": {"display_name": hostile_text}});
        let run = run_statusline(&home, input.to_string().as_bytes(), &["--color", color]);
        assert_eq!((run.code, run.out.lines().count()), (0, 1));
        let is_control = |c: char| "\u{7}\r\u{202e}".contains(c);
        assert!(
            !run.out.contains(is_control) && !run.out.contains("\u{1b}[31m") && !run.out.contains("owned"),
            "{}",
            run.out
        );
        let long = json!({"model": {"display_name": "x".repeat(5000)}, "context_window": {"used_percentage": 1e300}});
        let run = run_statusline(&home, long.to_string().as_bytes(), &["--color", color]);
        assert!(run.out.chars().count() < 200 && run.out.contains("999%"), "{}", run.out);
    }
    let input = json!({"transcript_path": "a\u{0}b\u{1b}[2J", "model": {"display_name": "\u{1b}[2J \n"}});
    assert_eq!(statusline_output(&home, &input).split(" · ").count(), 2);
}

#[test]
fn the_line_is_printed_before_stdin_is_closed() {
    let home = new_home();
    let mut command = home.command(&["statusline"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"model\":{\"display_name\":\"Opus\"}}\n").unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(out, "Opus · $0.00 today\n");
    assert!(child.wait().unwrap().success());
    drop(stdin);
}

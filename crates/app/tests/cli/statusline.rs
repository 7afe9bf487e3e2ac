//! The line for the client's own screen: whatever is said on stdin, one line and no failure.

use std::io::{Read, Write};
use std::process::Stdio;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::home::{Home, Run};

const ID: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const OTHER: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// Runs the command with something on stdin.
fn tell(home: &Home, said: &[u8], args: &[&str]) -> Run {
    let mut command = home.command(&[&["statusline"], args].concat());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // One that does not listen is no failure of the test.
    let _ = child.stdin.take().unwrap().write_all(said);
    Run::of(&child.wait_with_output().unwrap())
}

fn line(home: &Home, said: &Value) -> String {
    let run = tell(home, said.to_string().as_bytes(), &[]);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{said}");
    assert_eq!(run.out.lines().count(), 1, "{said}: {}", run.out);
    run.out.trim_end().to_owned()
}

/// A response that was got so many seconds ago; 40,000 tokens of output are a dollar.
fn response(session: &str, message: &str, seconds: i64, output: u64) -> String {
    let time = Timestamp::now() - SignedDuration::from_secs(seconds);
    let line = json!({
        "type": "assistant", "sessionId": session, "cwd": "/work", "timestamp": format!("{time:.3}"),
        "uuid": format!("u-{message}"), "requestId": format!("r-{message}"),
        "message": {
            "id": message, "role": "assistant", "model": "claude-opus-4-5", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "yes"}],
            "usage": {"input_tokens": 0, "output_tokens": output, "cache_read_input_tokens": 50_000},
        },
    });
    format!("{line}\n")
}

fn project(name: &str) -> String {
    format!(".claude/projects/-work/{name}.jsonl")
}

/// A home with two sessions of a moment ago, each of some dollars; says where the first of them is.
fn busy() -> (Home, String) {
    let home = Home::new();
    // 50,000 tokens from the cache are 2.5 cents.
    let path = home.write(&project(ID), response(ID, "m1", 2, 39_000));
    home.write(&project(&format!("{ID}/subagents/agent-1")), response(ID, "m2", 1, 79_000));
    home.write(&project(OTHER), response(OTHER, "m3", 1, 199_000) + &response(ID, "m1", 2, 39_000));
    (home, path.display().to_string())
}

#[test]
fn the_line_says_what_the_client_and_the_files_know() {
    let (home, path) = busy();
    let said = json!({
        "session_id": ID, "transcript_path": path, "model": {"id": "claude-opus-4-5", "display_name": "Opus 4.5"},
        "cost": {"total_cost_usd": 99.0},
        "context_window": {"context_window_size": 200_000, "used_percentage": 43.4},
        "rate_limits": {"five_hour": {"used_percentage": 12.5, "resets_at": Timestamp::now().as_second() + 7830}},
    });
    let expected =
        "Opus 4.5 · $3.00 session · $8.00 today · block $8.00, 12 % of the limit, 2h 10m left · context 43 %";
    // A day may begin while the test runs.
    let midnight = |line: &str| line.replace("$0.00 today", "$8.00 today");
    assert_eq!(midnight(&line(&home, &said)), expected);
    assert_eq!(midnight(&line(&home, &said)), expected, "from what was kept");
    let run = tell(&home, said.to_string().as_bytes(), &["--no-index"]);
    assert_eq!(midnight(run.out.trim_end()), expected, "without an index");
    let colored = tell(&home, said.to_string().as_bytes(), &["--color", "always"]);
    assert!(colored.out.contains("\u{1b}[2m") && colored.out.lines().count() == 1);

    // What the client does not say is taken from the file.
    let bare = line(&home, &json!({"transcript_path": path}));
    assert!(bare.starts_with("claude-opus-4-5 · $3.00 session · "), "{bare}");
    assert!(bare.contains(" · block $8.00, ") && bare.ends_with("m left · context ~25 %"), "{bare}");

    let run = tell(&home, said.to_string().as_bytes(), &["--json"]);
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
fn what_the_session_says_is_seen_at_once() {
    let (home, path) = busy();
    let said = json!({"transcript_path": path});
    assert!(line(&home, &said).contains("$3.00 session"));
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str(&response(ID, "m4", 0, 39_000));
    home.write(&project(ID), &text);
    home.write(&project(&format!("{ID}/subagents/agent-2")), response(ID, "m5", 0, 39_000));
    assert!(line(&home, &said).contains("$5.00 session"));
    // A subagent of an older client lies beside the session.
    home.write(&project("agent-old"), response(ID, "m6", 0, 39_000));
    assert!(line(&home, &said).contains("$6.00 session"));
    // A line that is half written counts nothing, and breaks nothing.
    home.write(&project(ID), format!("{text}{}", &response(ID, "m7", 0, 39_000)[..200]));
    assert!(line(&home, &said).contains("$6.00 session"));
    // It is the client's file: it may be rewritten.
    home.write(&project(ID), response(ID, "m4", 0, 39_000));
    assert!(line(&home, &said).contains("$5.00 session"));
}

#[test]
fn where_there_is_no_file_the_client_is_believed() {
    let home = Home::new();
    let said = json!({"session_id": ID, "transcript_path": "/nowhere/at/all.jsonl", "cost": {"total_cost_usd": 1.234}});
    assert_eq!(line(&home, &said), "$1.23 session · $0.00 today");
    assert_eq!(line(&home, &json!({})), "$0.00 today");
    // A folder, a device and an empty path are no sessions.
    for path in ["/", "/dev/zero", ""] {
        assert_eq!(line(&home, &json!({"transcript_path": path})), "$0.00 today", "{path}");
    }
}

#[test]
fn without_a_client_it_says_what_it_is_for() {
    let home = Home::new();
    for said in [&b""[..], b"  \n"] {
        let run = tell(&home, said, &[]);
        assert_eq!((run.code, run.out.as_str()), (2, ""));
        assert!(run.err.contains("nothing came on stdin") && run.err.contains("statusLine"), "{}", run.err);
    }
}

#[test]
fn nonsense_breaks_no_line() {
    let (home, _) = busy();
    let deep = "[".repeat(10_000);
    for said in ["not json", "[1]", "null", "{\"model\":", "\"text\"", "\u{0}", &deep] {
        let run = tell(&home, said.as_bytes(), &[]);
        assert_eq!(run.code, 0, "{said}");
        assert!(run.out.contains(" today") && run.out.lines().count() == 1, "{said}: {}", run.out);
        assert!(run.err.contains("no JSON object"), "{}", run.err);
    }
    let run = tell(&home, b"\xff\xfe{}", &[]);
    assert_eq!((run.code, run.out.lines().count()), (0, 1));
}

#[test]
fn hostile_words_stay_words() {
    let (home, path) = busy();
    let poison = "Op\u{1b}[31mus\u{7}\r\n\u{202e}4.5\u{1b}]0;owned\u{7}";
    for color in ["never", "always"] {
        let said = json!({"transcript_path": path, "session_id": poison, "model": {"display_name": poison}});
        let run = tell(&home, said.to_string().as_bytes(), &["--color", color]);
        assert_eq!((run.code, run.out.lines().count()), (0, 1));
        let bad = |c: char| "\u{7}\r\u{202e}".contains(c);
        assert!(
            !run.out.contains(bad) && !run.out.contains("\u{1b}[31m") && !run.out.contains("owned"),
            "{}",
            run.out
        );
        let long = json!({"model": {"display_name": "x".repeat(5000)}, "context_window": {"used_percentage": 1e300}});
        let run = tell(&home, long.to_string().as_bytes(), &["--color", color]);
        assert!(run.out.chars().count() < 200 && run.out.contains("999 %"), "{}", run.out);
    }
    let said = json!({"transcript_path": "a\u{0}b\u{1b}[2J", "model": {"display_name": "\u{1b}[2J \n"}});
    assert_eq!(line(&home, &said).split(" · ").count(), 2);
}

#[test]
fn nobody_waits_for_the_end_of_stdin() {
    let home = Home::new();
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

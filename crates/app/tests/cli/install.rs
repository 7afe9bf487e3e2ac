//! `install` and `hook`: settings keep every byte that is not theirs, and undo restores them.

#![expect(clippy::disallowed_methods, reason = "the tests delete session files of their own")]

use std::io::Write;
use std::process::Stdio;

use rethread_testkit::home::{Home, RunOutput};
use rethread_testkit::process::ProcessCommand;
use rethread_testkit::script;
use serde_json::{Value, json};

use crate::new_home;

const SETTINGS: &str = ".claude/settings.json";
const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// Settings with an order, a spacing and a number that a parser would change.
const OWN_SETTINGS: &str =
    "{\n\t\"zeta\": 1.50, \"model\":\"opus\",\n\t\"enabledPlugins\": {\"other@shop\": true}\n}\n";

fn read(home: &Home, path: &str) -> String {
    std::fs::read_to_string(home.path().join(path)).expect("a file")
}

fn run_ok(home: &Home, args: &[&str]) -> RunOutput {
    let run = home.run(args);
    assert_eq!(run.code, 0, "{args:?}: {}{}", run.out, run.err);
    run
}

fn run_hook(home: &Home, event: &str, input: &str) -> RunOutput {
    let mut command = home.command(&["hook", event]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let run = RunOutput::new(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{event} {input}");
    run
}

#[test]
fn install_adds_members_and_undo_restores_every_byte() {
    let home = new_home();
    home.write(SETTINGS, OWN_SETTINGS);
    let dry = run_ok(&home, &["install", "--dry-run"]);
    assert!(dry.out.contains("would set up mcp, hooks, statusline, skill"), "{}", dry.out);
    assert_eq!(read(&home, SETTINGS), OWN_SETTINGS);
    run_ok(&home, &["install"]);
    let text = read(&home, SETTINGS);
    assert!(text.starts_with("{\n\t\"zeta\": 1.50, \"model\":\"opus\",\n"), "{text}");
    let settings: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(settings["enabledPlugins"], json!({"other@shop": true, "rethread@rethread": true}));
    let dir = settings["extraKnownMarketplaces"]["rethread"]["source"]["path"].as_str().expect("a folder");
    let marketplace = std::path::Path::new(dir);
    let read_json = |path: &str| -> Value {
        serde_json::from_slice(&std::fs::read(marketplace.join(path)).expect(path)).expect(path)
    };
    assert_eq!(read_json(".claude-plugin/marketplace.json")["plugins"][0]["source"], "./plugin");
    let program = home.program().display().to_string();
    assert_eq!(read_json("plugin/.mcp.json")["mcpServers"]["rethread"]["command"], program);
    let hook = &read_json("plugin/hooks/hooks.json")["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(hook["async"], true);
    let command = hook["command"].as_str().expect("a command");
    assert_eq!(
        command,
        format!("if command -v {program} >/dev/null 2>&1; then {program} hook Stop || :; fi")
    );
    let status = run_ok(&home, &["install", "--status"]);
    assert!(status.out.contains("plugin        enabled\n"), "{}", status.out);
    assert!(run_ok(&home, &["install"]).out.contains("everything is set up already"));
    run_ok(&home, &["install", "--undo"]);
    assert_eq!(read(&home, SETTINGS), OWN_SETTINGS);
    assert!(!marketplace.join("plugin/.mcp.json").exists());
    assert_eq!(home.run(&["install", "--undo"]).code, 1);
    assert_eq!(home.run(&["install", "--status"]).code, 1);
}

#[test]
fn undo_refuses_if_the_user_edited_the_settings() {
    let home = new_home();
    run_ok(&home, &["install", "--only", "mcp"]);
    let edited = read(&home, SETTINGS).replacen('{', "{\"theme\": \"dark\", ", 1);
    home.write(SETTINGS, &edited);
    let run = home.run(&["install", "--undo"]);
    assert_eq!(run.code, 3, "{}{}", run.out, run.err);
    assert!(run.err.contains("settings.json"), "{}", run.err);
    assert_eq!(read(&home, SETTINGS), edited);
}

#[test]
fn removal_keeps_what_the_user_changed_since() {
    let home = new_home();
    home.write(SETTINGS, OWN_SETTINGS);
    run_ok(&home, &["install", "--only", "mcp"]);
    run_ok(&home, &["install"]);
    home.write(SETTINGS, read(&home, SETTINGS).replacen('{', "{\"theme\": \"dark\",", 1));
    run_ok(&home, &["install", "--remove"]);
    let settings: Value = serde_json::from_str(&read(&home, SETTINGS)).expect("JSON");
    assert_eq!(settings["theme"], "dark");
    assert_eq!(settings["enabledPlugins"], json!({"other@shop": true}));
    assert_eq!(settings.get("statusLine"), None);
    assert!(!home.path().join(".local/share/rethread/claude-plugin").exists());
    assert_eq!(home.run(&["install", "--remove"]).code, 1);
    run_ok(&home, &["undo"]);
    assert!(read(&home, SETTINGS).contains("rethread@rethread"), "the removal can be undone");
}

#[test]
fn demo_does_not_change_the_settings_of_the_user() {
    let home = new_home();
    let run = home.run(&["--demo", "install"]);
    assert_eq!(run.code, 2, "{}", run.out);
    assert!(!home.path().join(SETTINGS).exists());
}

#[test]
fn status_line_follows_the_program() {
    let home = new_home();
    let old =
        json!({"statusLine": {"type": "command", "command": "/old/bin/rethread statusline --after 'date'"}});
    home.write(SETTINGS, old.to_string());
    run_ok(&home, &["install", "--only", "statusline"]);
    let settings: Value = serde_json::from_str(&read(&home, SETTINGS)).expect("JSON");
    let command = format!("{} statusline --after 'date'", home.program().display());
    assert_eq!(settings["statusLine"]["command"], command);
    run_ok(&home, &["install", "--remove"]);
    let settings: Value = serde_json::from_str(&read(&home, SETTINGS)).expect("JSON");
    assert_eq!(settings["statusLine"]["command"], "date");
    home.write(SETTINGS, json!({"statusLine": {"command": "~/rethread/statusline.sh"}}).to_string());
    run_ok(&home, &["install", "--only", "statusline"]);
    assert!(read(&home, SETTINGS).contains("--after '~/rethread/statusline.sh'"));
}

#[test]
fn parts_are_set_up_alone() {
    let home = new_home();
    run_ok(&home, &["install", "--only", "statusline"]);
    let settings: Value = serde_json::from_str(&read(&home, SETTINGS)).expect("JSON");
    assert_eq!(settings["statusLine"]["command"], format!("{} statusline", home.program().display()));
    assert_eq!(settings.as_object().map(serde_json::Map::len), Some(1));
    run_ok(&home, &["install", "--only", "mcp,skill"]);
    let plugin = home.path().join(".local/share/rethread/claude-plugin/plugin");
    assert!(plugin.join(".mcp.json").exists() && plugin.join("skills/recall/SKILL.md").exists());
    assert!(!plugin.join("hooks").exists());
    assert_eq!(home.run(&["install", "--only", "daemon"]).code, 2);
}

#[test]
fn status_line_of_another_program_runs_first() {
    let home = new_home();
    let old = json!({"statusLine": {"type": "command", "command": "cat >/dev/null; echo 'it'\\''s mine'", "padding": 2}});
    home.write(SETTINGS, old.to_string());
    let run = run_ok(&home, &["install", "--only", "statusline"]);
    assert!(run.err.contains("stays, above that of rethread"), "{}", run.err);
    let settings: Value = serde_json::from_str(&read(&home, SETTINGS)).expect("JSON");
    assert_eq!(settings["statusLine"]["padding"], 2);
    let command = settings["statusLine"]["command"].as_str().expect("a command");
    let output = ProcessCommand::new("sh")
        .args(["-c", &format!("echo '{{\"model\":{{\"display_name\":\"Opus\"}}}}' | {command}")])
        .env("HOME", home.path())
        .output()
        .expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.starts_with("it's mine\n") && text.contains("Opus"), "{text}");
    run_ok(&home, &["install", "--undo"]);
    assert_eq!(read(&home, SETTINGS), old.to_string());
}

#[test]
fn settings_that_are_no_object_are_refused() {
    let home = new_home();
    for settings in ["[1]", "{\"a\": ", "no", "{\"enabledPlugins\": 3}"] {
        home.write(SETTINGS, settings);
        let run = home.run(&["install"]);
        assert_eq!(run.code, 2, "{settings}: {}", run.out);
        assert!(run.err.contains("settings.json"), "{}", run.err);
        assert_eq!(read(&home, SETTINGS), settings);
    }
}

#[test]
fn hooks_archive_what_was_said() {
    let home = new_home();
    let path = format!(".claude/projects/-work/{SESSION}.jsonl");
    home.write(&path, script::bytes("u1: tidy the shed"));
    let event = json!({"session_id": SESSION, "hook_event_name": "Stop"}).to_string();
    assert_eq!(run_hook(&home, "Stop", &event).out, "");
    home.append(&path, script::bytes("a1 ^u1: done"));
    run_hook(&home, "SubagentStop", &event);
    std::fs::remove_file(home.path().join(&path)).unwrap();
    let shown = run_ok(&home, &["show", SESSION]);
    assert!(shown.out.contains("tidy the shed") && shown.out.contains("done"), "{}", shown.out);
}

#[test]
fn any_event_is_answered_in_silence() {
    let home = new_home();
    for event in
        ["Stop", "SessionStart", "PreCompact", "PostCompact", "SessionEnd", "Notification", "nonsense"]
    {
        for input in [
            "",
            "{",
            "[]",
            "null",
            "{\"transcript_path\": 3}",
            "{\"transcript_path\": \"/nowhere\", \"source\": \"resume\"}",
        ] {
            assert_eq!(run_hook(&home, event, input).out, "", "{event} {input}");
        }
    }
    home.write(".config/rethread/config.toml", "this is = = not toml");
    run_hook(&home, "Stop", "{}");
}

#[test]
fn resume_that_loses_entries_is_reported() {
    let home = new_home();
    let text = "u1: one\n  a1: one\n    u2: two\n      a2: two\nu3 ^gone @2030-01-01T00:00:00Z: three\n  a3 @2030-01-01T00:00:01Z: three";
    let path = home.write(&format!(".claude/projects/-work/{SESSION}.jsonl"), script::bytes(text));
    let event = |source: &str| {
        json!({
            "session_id": SESSION, "transcript_path": path, "source": source,
            "prompt_cache_likely_expired": true, "estimated_cache_write_usd": 4.1,
        })
        .to_string()
    };
    let run = run_hook(&home, "SessionStart", &event("resume"));
    let answer: Value = serde_json::from_str(&run.out).expect("one object");
    let message = answer["systemMessage"].as_str().expect("a message");
    assert!(message.contains("this resume loads 2 of 6 entries; 4 are lost"), "{message}");
    assert!(message.contains(&format!("rethread explain {SESSION}")), "{message}");
    assert!(message.contains("about $4.10 more"), "{message}");
    assert_eq!(answer.as_object().map(serde_json::Map::len), Some(1), "nothing is added to the context");
    assert_eq!(run_hook(&home, "SessionStart", &event("clear")).out, "");
}

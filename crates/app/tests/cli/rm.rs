//! `rm` asks before it moves sessions to the trash.

use std::io::Write;
use std::process::Stdio;

use rethread_testkit::home::Home;
use rethread_testkit::process::ProcessCommand;
use rethread_testkit::script;

use crate::new_home;

const LOGIN: &str = "aa01aa01-0000-4000-8000-000000000001";
const BUILD: &str = "bb02bb02-0000-4000-8000-000000000002";

/// Creates a home with two sessions of one project and an empty session of another.
fn create_home() -> Home {
    let home = new_home();
    for (id, prompt) in [(LOGIN, "fix the login page"), (BUILD, "explain the build")] {
        let text = script::bytes(&format!("u1: {prompt}\n  a1: done"));
        home.write_old(&format!(".claude/projects/-x-shop/{id}.jsonl"), text);
    }
    let empty = r#"{"type":"file-history-snapshot","messageId":"m1","snapshot":{}}"#;
    home.write_old(".claude/projects/-x-tides/cc03cc03-0000-4000-8000-000000000003.jsonl", empty);
    home
}

/// Runs a command on a pseudo terminal that types `answer`, and returns what it shows. Returns `None` without `script` of
/// util-linux.
fn run_on_terminal(home: &Home, args: &str, answer: &str) -> Option<String> {
    let command = format!("{} {args}", home.program().display());
    let mut terminal = ProcessCommand::new("script");
    terminal.args(["-qefc", &command, "/dev/null"]).env_clear().env("PATH", "/usr/bin:/bin");
    terminal.env("HOME", home.path()).env("TERM", "dumb").env("COLUMNS", "100").env("TZ", "UTC");
    terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = terminal.spawn() else {
        // The harness shows the line only without capture; the test passes on machines without util-linux.
        let _ = std::io::stderr().write_all(b"skipped: rm on a terminal: `script` is not installed\n");
        return None;
    };
    // The input stays open until the command has ended, so that it reads the answer and not the end of the input.
    let mut input = child.stdin.take().unwrap();
    input.write_all(format!("{answer}\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(input);
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn without_a_terminal_rm_needs_yes_and_an_id() {
    let home = create_home();
    let before = home.snapshot();
    let run = home.run(&["rm", "aa01"]);
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("hint: run `rethread rm aa01 --yes`"), "{}", run.err);
    for name in ["last", "login", "aa0", "fix the login page"] {
        let run = home.run(&["rm", name, "--yes"]);
        assert_eq!(run.code, 3, "{name}: {}", run.err);
        let id = if name == "last" { "rethread rm " } else { &format!("`rethread rm {LOGIN} --yes`") };
        assert!(run.err.contains(id), "{name}: {}", run.err);
        assert_eq!(home.run(&["rm", name, "--dry-run"]).code, 0, "a dry run harms nothing");
    }
    assert_eq!(home.snapshot(), before);
    assert_eq!(home.run(&["rm", "AA01", "-y"]).code, 0);
    assert_ne!(home.snapshot(), before);
    assert_eq!(home.run(&["undo"]).code, 0);
    assert_eq!(home.snapshot(), before);
}

#[test]
fn rm_takes_the_filters_of_ls() {
    let home = create_home();
    assert_eq!(home.run(&["rm"]).code, 2);
    assert_eq!(home.run(&["rm", "aa01", "--empty"]).code, 2);
    let before = home.snapshot();
    let run = home.run(&["rm", "--project", "shop", "--dry-run"]);
    assert!(
        run.code == 0 && run.out.contains("would move to the trash: 2 sessions"),
        "{}{}",
        run.out,
        run.err
    );
    assert!(run.out.contains("aa01aa01") && run.out.contains("explain the build"), "{}", run.out);
    let run = home.run(&["rm", "--project", "shop"]);
    assert!(run.code == 3 && run.err.contains("`rethread rm --project shop --yes`"), "{}", run.err);
    assert_eq!(home.snapshot(), before);
    let run = home.run(&["rm", "--project", "shop", "--title", "build", "--yes"]);
    assert!(run.code == 0 && run.out.contains("1 session"), "{}{}", run.out, run.err);
    assert_eq!(home.run(&["show", "bb02"]).code, 2);
    let run = home.run(&["rm", "--empty", "--yes"]);
    assert!(run.code == 0 && run.out.contains("1 session"), "{}{}", run.out, run.err);
    assert_eq!(home.run(&["rm", "--empty", "--yes"]).code, 1, "none is left");
    assert_eq!(home.run_json_lines(&["rm", "--older-than", "2099-01-01", "--yes", "--json"]).len(), 1);
    for _ in 0..3 {
        assert_eq!(home.run(&["undo"]).code, 0);
    }
    assert_eq!(home.snapshot(), before);
}

#[test]
#[cfg(target_os = "linux")]
fn on_a_terminal_rm_shows_the_sessions_and_asks() {
    let home = create_home();
    let before = home.snapshot();
    for answer in ["n", "", "maybe"] {
        let Some(shown) = run_on_terminal(&home, "rm login", answer) else { return };
        assert!(shown.contains("fix the login page") && shown.contains("[y/N]"), "{shown}");
        assert!(shown.contains("nothing was changed"), "{shown}");
        assert_eq!(home.snapshot(), before);
    }
    let shown = run_on_terminal(&home, "rm --project shop", "y").unwrap();
    assert!(shown.contains("move 2 sessions, ") && shown.contains("to the trash? [y/N]"), "{shown}");
    assert!(shown.contains("moved to the trash: 2 sessions"), "{shown}");
    assert_ne!(home.snapshot(), before);
}

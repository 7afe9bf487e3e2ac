//! Commands that the output suggests can be pasted as they are.

use rethread_testkit::home::{Home, RunOutput};
use rethread_testkit::script;

use crate::new_home;

/// Returns the suggested commands in an output: in backticks, after a label, or at the start of a line.
fn find_commands(run: &RunOutput) -> Vec<String> {
    let text = format!("{}\n{}", run.out, run.err);
    let starts = text.match_indices("rethread ").map(|(start, _)| start);
    let commands = starts.filter_map(|start| {
        let (before, rest) = (&text[..start], &text[start..]);
        let line = rest.lines().next().unwrap_or_default();
        if before.ends_with('`') {
            return line.split('`').next();
        }
        if line.starts_with("rethread backs up ") {
            return None;
        }
        let label = before.rsplit('\n').next().unwrap_or_default();
        let is_label = label.ends_with(' ') && (label.trim().is_empty() || label.contains(':'))
            || ["fix", "see", "details"].iter().any(|word| label.trim_start().starts_with(word));
        is_label.then(|| line.split("  ").next().unwrap_or(line))
    });
    commands.map(str::to_owned).collect()
}

/// Runs commands with the global options and returns what they suggest. Each must suggest something.
fn collect_suggestions(home: &Home, global: &[&str], commands: &[&[&str]]) -> Vec<String> {
    let mut suggested = Vec::new();
    for command in commands {
        let run = home.run(&[global, command].concat());
        let found = find_commands(&run);
        assert!(!found.is_empty(), "{command:?} suggests nothing:\n{}{}", run.out, run.err);
        suggested.extend(found);
    }
    suggested
}

#[test]
fn suggested_commands_repeat_demo() {
    let home = new_home();
    let commands: &[&[&str]] = &[
        &[],
        &["goto", "harbour", "t1"],
        &["log"],
        &["undo", "99"],
        &["find", "harbour", "harbour"],
        &["branches", "harbour"],
        &["doctor"],
        &["doctor", "e4f8"],
        &["explain", "harbour"],
        &["fork", "71ad", "t1"],
        &["repair", "harbour"],
        &["restore", "71ad"],
        &["context", "harbour"],
        &["rm", "last"],
        &["rename", "harbour", "a new title"],
    ];
    for command in collect_suggestions(&home, &["--demo"], commands) {
        assert!(command.starts_with("rethread --demo ") || command == "rethread --help", "{command}");
    }
}

#[test]
fn suggested_commands_name_the_root_and_work_when_pasted() {
    let home = new_home();
    let session = "aa01aa01-0000-4000-8000-000000000001";
    home.write_old(
        &format!("my store/projects/-x/{session}.jsonl"),
        script::bytes("u1: Fix it\n  a1: done\nu2: more\n  a2: ok"),
    );
    let commands: &[&[&str]] =
        &[&[], &["goto", "fix it", "t1"], &["find", "fix it", "done"], &["branches", "fix it"]];
    let suggested = collect_suggestions(&home, &["--root", "my store"], commands);
    for command in
        suggested.iter().filter(|command| !command.contains("--help") && !command.contains("FOLDER"))
    {
        assert!(command.starts_with("rethread --root 'my store' "), "{command}");
        let program = home.program().to_str().unwrap();
        let script = command.replacen("rethread", program, 1).replace("WORDS", "done");
        let mut shell = rethread_testkit::process::ProcessCommand::new("bash");
        shell.args(["-c", &script]).env_clear().env("HOME", home.path()).current_dir(home.path());
        let output = shell.output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(!err.contains("error:"), "{command}: {err}");
    }
}

#[test]
fn hints_about_the_configuration_name_its_file() {
    let home = new_home();
    home.write("my.toml", "a = 1\nb = 1\nc = 1\nd = 1\ne = 1\nf = 1\ng = 1\n");
    home.write("lost.toml", "roots = 5\n");
    let cases: [(&[&str], &str); 3] = [
        (
            &["--config", "my.toml", "--demo", "ls"],
            "`rethread --config my.toml --demo config check` lists 2 more",
        ),
        (&["--config", "none.toml", "ls"], "`rethread --config none.toml config edit` creates it"),
        (
            &["--config", "lost.toml", "goto", "last", "t1"],
            "`rethread --config lost.toml config check` lists what is wrong",
        ),
    ];
    for (args, expected) in cases {
        let run = home.run(args);
        assert!(run.err.contains(expected), "{args:?}: {}", run.err);
    }
}

#[test]
fn a_resume_command_says_that_its_folder_is_gone() {
    let home = new_home();
    let path = ".claude/projects/-x/aa01aa01-0000-4000-8000-000000000001.jsonl";
    let lines = |folder: &str| {
        let user = serde_json::json!({"type": "user", "uuid": "5b7c1f6e-0000-4000-8000-000000000001", "parentUuid": null,
            "sessionId": "aa01aa01-0000-4000-8000-000000000001", "cwd": folder, "version": "2.1.0",
            "timestamp": "2026-01-01T10:00:00.000Z", "message": {"role": "user", "content": "websocket"}});
        format!("{user}\n")
    };
    home.write_old(path, lines("/nowhere/at/all"));
    let run = home.run(&["search", "websocket", "--resume", "1"]);
    assert!(
        run.err.contains("`/nowhere/at/all` does not exist")
            || run.err.contains("/nowhere/at/all does not exist"),
        "{}",
        run.err
    );
    assert!(
        run.err
            .contains("`rethread clone aa01aa01-0000-4000-8000-000000000001 --preset whole --into FOLDER`"),
        "{}",
        run.err
    );
    home.write_old(path, lines(home.path().to_str().unwrap()));
    let run = home.run(&["search", "websocket", "--resume", "1"]);
    assert!(run.code == 0 && !run.err.contains("does not exist"), "{}", run.err);
    let run = home.run(&["--demo", "goto", "harbour", "t1"]);
    assert!(run.err.contains("invented"), "{}", run.err);
}

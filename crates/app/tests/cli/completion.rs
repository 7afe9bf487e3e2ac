//! Completion and manual pages: the program is called as shells call it.

use rethread_testkit::home::{Home, RunOutput};
use rethread_testkit::script;

use crate::new_home;

const ID: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// Completes the last word as the script of zsh does. Returns the candidates with their descriptions.
fn complete(home: &Home, words: &[&str]) -> Vec<String> {
    let args = [&["--", "rethread"], words].concat();
    let mut command = home.command(&args);
    command
        .env("COMPLETE", "zsh")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_IFS", "\n");
    let run = RunOutput::new(command.output().unwrap());
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{words:?}");
    run.out.lines().map(str::to_owned).collect()
}

/// Returns the candidates without descriptions and options.
fn complete_values(home: &Home, words: &[&str]) -> Vec<String> {
    let all = complete(home, words);
    let values = all.iter().map(|line| line.split(':').next().unwrap_or_default().to_owned());
    values.filter(|value| !value.starts_with('-')).collect()
}

fn new_home_with_sessions() -> Home {
    let home = new_home();
    let path = |project: &str, id: &str| format!(".claude/projects/{project}/{id}.jsonl");
    home.write_old(
        &path("-x", ID),
        script::bytes("u1: fix the login bug\n  a1: yes\n    u2: and \u{1b}[31mthe\u{7} other\n      a2: ok"),
    );
    home.write_old(
        &path("-x", "bbbbbbbb-0000-4000-8000-000000000002"),
        script::bytes("u1: another topic\n  a1: no"),
    );
    home.write_old(&path("-x", "$(touch pwned)"), script::bytes("u1: hostile name\n  a1: no"));
    home
}

#[test]
fn sessions_are_offered_with_titles() {
    let home = new_home_with_sessions();
    let all = complete(&home, &["show", ""]);
    assert!(
        all.iter().any(|line| line.starts_with("aaaaaaaa:") && line.ends_with("fix the login bug")),
        "{all:?}"
    );
    assert!(all.iter().any(|line| line.starts_with("last:")), "{all:?}");
    assert!(!all.iter().any(|line| line.contains("touch")), "a name that a shell would run: {all:?}");
    assert_eq!(complete_values(&home, &["show", "aa"]), ["aaaaaaaa"]);
    assert_eq!(complete_values(&home, &["show", &ID[..20]]), [ID]);
    assert_eq!(complete_values(&home, &["fork", "bug login"]), ["aaaaaaaa"]);
    assert_eq!(complete_values(&home, &["rm", "aaaaaaaa", "b"]), ["bbbbbbbb"]);
    assert_eq!(complete_values(&home, &["show", "nothing"]), [""; 0]);
    // The folder is that of the command line or of the configuration.
    assert_eq!(complete_values(&home, &["--root", "/nowhere", "show", "a"]), [""; 0]);
    assert!(!complete_values(&home, &["--demo", "show", "71"]).is_empty());
    home.write(".config/rethread/config.toml", "roots = ['/nowhere']\ncolour = 1\n");
    assert_eq!(complete_values(&home, &["show", "a"]), [""; 0]);
}

#[test]
fn turns_of_the_named_session_are_offered_with_prompts() {
    let home = new_home_with_sessions();
    let turns = complete(&home, &["goto", ID, ""]);
    assert!(turns.contains(&"t1:fix the login bug".to_owned()), "{turns:?}");
    let second = turns.iter().find(|line| line.starts_with("t2:")).expect("the second turn");
    assert!(second.contains("the") && !second.contains(['\u{1b}', '\u{7}']), "{second:?}");
    assert_eq!(complete_values(&home, &["goto", "aaaa", "t2"]), ["t2"]);
    assert_eq!(complete_values(&home, &["show", "login", "--turns", ""]), ["1", "2"]);
    assert_eq!(complete_values(&home, &["show", "login", "--branch", "t"]), ["t1", "t2"]);
    assert_eq!(complete_values(&home, &["diff", "aaaa", "t"]), ["t1", "t2"]);
    assert_eq!(complete_values(&home, &["goto", "no such session", "t"]), [""; 0]);
}

#[test]
fn commands_options_and_names_are_offered() {
    let home = new_home_with_sessions();
    assert_eq!(complete_values(&home, &["expl"]), ["explain"]);
    assert!(complete(&home, &["ls", "--old"])[0].starts_with("--older-than:"));
    assert_eq!(complete_values(&home, &["ls", "--model", "op"]), ["opus"]);
    assert_eq!(complete_values(&home, &["usage", "--since", "y"]), ["yesterday"]);
    assert_eq!(complete_values(&home, &["ls", "a", "-n", "5", "--project", ""]).len(), 1);
    assert_eq!(complete_values(&home, &["config", "c"]), ["check"]);
}

#[test]
fn scripts_register_the_program_for_each_shell() {
    let home = new_home();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = home.run(&["completions", shell]);
        assert!(run.code == 0 && run.out.contains("COMPLETE") && run.out.contains("rethread"), "{shell}");
        let mut command = home.command(&[]);
        let direct = RunOutput::new(command.env("COMPLETE", shell).output().unwrap());
        assert_eq!(direct.out, run.out, "{shell}");
    }
    let mut command = home.command(&["ls"]);
    let run = RunOutput::new(command.env("COMPLETE", "no\u{1b}shell").output().unwrap());
    assert!(run.code == 2 && !run.err.contains('\u{1b}'), "{}", run.err);
}

#[test]
#[cfg(unix)]
fn bash_completes_by_the_script() {
    use rethread_testkit::process::ProcessCommand;
    let home = new_home_with_sessions();
    let script = "PATH=$BIN:$PATH; source <(rethread completions bash); COMP_WORDS=(rethread show aa); COMP_CWORD=2; \
        COMP_LINE='rethread show aa'; COMP_POINT=16; COMP_TYPE=9; _clap_complete_rethread rethread aa show; \
        printf '%s\\n' \"${COMPREPLY[@]}\"";
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_rethread")).parent().unwrap();
    let mut command = ProcessCommand::new("bash");
    command.args(["-c", script]).env("BIN", bin).env("HOME", home.path()).current_dir(home.path());
    let Ok(output) = command.output() else { return };
    let run = RunOutput::new(output);
    assert_eq!(run.out.trim(), "aaaaaaaa", "{}", run.err);
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let home = new_home();
    let first = home.run(&["man"]);
    assert!(first.code == 0 && first.out.contains(".TH rethread 1"), "{}", first.out);
    home.write("man1/ls.1", "another page");
    let run = home.run(&["man", "--output", "man1"]);
    assert_eq!((run.code, run.out.as_str()), (0, ""), "{}", run.err);
    let read = |name: &str| std::fs::read_to_string(home.path().join("man1").join(name)).unwrap();
    assert_eq!(read("rethread.1"), first.out);
    let show = read("rethread-show.1");
    assert!(show.contains(".TH rethread-show 1") && show.contains("rethread show last"), "{show}");
    assert!(read("rethread-config-check.1").contains("exit code 1"));
    assert_eq!(home.run(&["man", "--output", "man1", "-q"]).err, "", "pages are replaced");
    let created = home.run(&["man", "--output", ".local/share/man/man1", "-q"]);
    assert_eq!((created.code, created.err.as_str()), (0, ""));
    assert!(home.path().join(".local/share/man/man1/rethread.1").exists());
    home.write("file", "");
    let refused = home.run(&["man", "--output", "file/man1"]);
    assert!(refused.code == 2 && refused.err.contains("file/man1"), "{}", refused.err);
}

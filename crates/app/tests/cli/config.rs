//! `config`: values, their origins and their precedence; mistakes never prevent reading.

use rethread_testkit::home::{Home, RunOutput};
use rethread_testkit::script;
use serde_json::Value;

use crate::new_home;

const FILE: &str = ".config/rethread/config.toml";
const ID: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// Creates a home with a session in `.claude` and one in `other`, and a configuration file.
fn new_home_with_config(config: &str) -> Home {
    let home = new_home();
    home.write_old(&format!(".claude/projects/-x/{ID}.jsonl"), script::bytes("u1: the first one\n  a1: yes"));
    home.write_old(
        "other/projects/-y/bbbbbbbb-0000-4000-8000-000000000002.jsonl",
        script::bytes("u1: another\n  a1: no"),
    );
    home.write(FILE, config);
    home
}

/// Runs the program with an additional environment variable.
fn run_with(home: &Home, variable: (&str, &str), args: &[&str]) -> RunOutput {
    let mut command = home.command(args);
    RunOutput::new(command.env(variable.0, variable.1).output().unwrap())
}

/// Returns the value and the origin of a key in the output of `config show --json`.
fn shown(run: &RunOutput, key: &str) -> (String, String) {
    let objects = run.json_lines();
    let object = objects.iter().find(|object| object["key"] == key).unwrap_or(&Value::Null);
    assert_eq!((&object["type"], &object["v"]), (&"config_setting".into(), &1.into()));
    let origin = match object["line"].as_u64() {
        Some(line) => format!("line {line}"),
        None => object["source"].as_str().unwrap_or("default").to_owned(),
    };
    (object["value"].as_str().unwrap_or_default().to_owned(), origin)
}

#[test]
fn the_file_is_found_by_option_variable_and_default() {
    let home = new_home();
    let path = |name: &str| format!("{}\n", home.path().join(name).display());
    assert_eq!(home.run(&["config", "path"]).out, path(FILE));
    let variable = |name: &str, value: &str| run_with(&home, (name, value), &["config", "path"]).out;
    assert_eq!(variable("XDG_CONFIG_HOME", "/xdg"), "/xdg/rethread/config.toml\n");
    assert_eq!(variable("RETHREAD_CONFIG", "/c.toml"), "/c.toml\n");
    let run = run_with(&home, ("RETHREAD_CONFIG", "/c.toml"), &["--config", "/d.toml", "config", "path"]);
    assert_eq!((run.code, run.out.as_str()), (0, "/d.toml\n"));
    // A missing default file is no problem, a missing named file is one.
    assert_eq!(home.run(&["--demo", "ls"]).err, "");
    let run = home.run(&["--demo", "--config", "/d.toml", "ls"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.contains("the configuration file `/d.toml` does not exist"), "{}", run.err);
    let run = run_with(&home, ("RETHREAD_CONFIG", "/c.toml"), &["--demo", "ls"]);
    assert_eq!(run.code, 0);
    assert!(run.err.contains("/c.toml: the file does not exist ($RETHREAD_CONFIG names it)"), "{}", run.err);
}

#[test]
fn the_command_line_precedes_the_environment_the_file_and_the_default() {
    let home = new_home_with_config("\nroots = ['~/other']\ncolor = 'always'\ntime_zone = 'Europe/Berlin'\n");
    let root = home.path().join("other").display().to_string();
    let show = |args: &[&str]| home.run(&[args, &["config", "show", "--json"]].concat());
    let from_file = show(&[]);
    assert_eq!(shown(&from_file, "roots"), (root.clone(), "line 2".to_owned()));
    assert_eq!(shown(&from_file, "color"), ("always".to_owned(), "line 3".to_owned()));
    // The tests set $TZ.
    assert_eq!(shown(&from_file, "time_zone"), ("UTC".to_owned(), "TZ".to_owned()));
    assert_eq!(shown(&from_file, "export.only_typed"), ("false".to_owned(), "default".to_owned()));
    let variable = |name: &str, value: &str| run_with(&home, (name, value), &["config", "show", "--json"]);
    assert_eq!(shown(&variable("NO_COLOR", "1"), "color"), ("never".to_owned(), "NO_COLOR".to_owned()));
    let from_variable = variable("CLAUDE_CONFIG_DIR", "/z");
    let roots = format!("/z, {}", home.path().join(".claude").display());
    assert_eq!(shown(&from_variable, "roots"), (roots, "CLAUDE_CONFIG_DIR".to_owned()));
    let from_option = show(&["--root", "/r", "--root", "/s", "--color", "never"]);
    assert_eq!(shown(&from_option, "roots"), ("/r, /s".to_owned(), "--root".to_owned()));
    assert_eq!(shown(&from_option, "color"), ("never".to_owned(), "--color".to_owned()));

    let ls = home.run(&["ls"]);
    assert!(ls.out.contains("another") && ls.out.contains('\u{1b}') && ls.err.is_empty(), "{}", ls.out);
    assert!(!run_with(&home, ("NO_COLOR", "1"), &["ls"]).out.contains('\u{1b}'));
    let named = home.run(&["ls", "--root", ".claude", "--color", "never"]);
    assert!(named.out.contains("the first one") && !named.out.contains('\u{1b}'), "{}", named.out);
    let text = home.run(&["config", "show", "--color", "never"]);
    assert!(text.out.contains("config.toml:2") && text.out.contains("$TZ"), "{}", text.out);
}

#[test]
fn mistakes_are_reported_with_lines_and_never_prevent_reading() {
    let config = "colour = 'never'\nroots = 'x'\n[ls]\ncolumns = ['title']\n[resume]\ncommand = 'claude'\n";
    let home = new_home_with_config(config);
    let path = home.path().join(FILE).display().to_string();
    let run = home.run(&["ls"]);
    assert_eq!((run.code, run.out.as_str()), (0, "title\nthe first one\n"));
    let warnings: Vec<&str> = run.err.lines().collect();
    assert_eq!(warnings.len(), 3, "{}", run.err);
    assert_eq!(warnings[0], format!("warning: {path}:1: unknown key `colour`; did you mean `color`?"));
    assert!(warnings[1].starts_with(&format!("warning: {path}:2: `roots` must be a list")), "{}", run.err);
    assert!(warnings[2].contains(":6: `resume.command`: the command must contain {id}"), "{}", run.err);
    assert_eq!(home.run(&["ls", "--quiet"]).err, "");

    let check = home.run(&["config", "check"]);
    assert_eq!((check.code, check.err.as_str()), (1, "2 errors, 1 warning\n"));
    assert!(
        check.out.starts_with(&format!("warning: {path}:1: ")) && check.out.contains("error: "),
        "{}",
        check.out
    );
    let objects = home.run(&["config", "check", "--json"]).json_lines();
    assert_eq!(objects.len(), 4);
    assert_eq!((&objects[1]["line"], &objects[1]["key"]), (&2.into(), &"roots".into()));
    assert_eq!((&objects[3]["errors"], &objects[3]["warnings"]), (&2.into(), &1.into()));

    // A command that changes sessions does not guess which ones.
    let before = home.snapshot();
    let refused = home.run(&["rename", ID, "x"]);
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("does not state which sessions to change"), "{}", refused.err);
    assert_eq!(home.snapshot(), before);
    assert_eq!(home.run(&["rename", ID, "x", "--root", ".claude"]).code, 0);
}

#[test]
fn unreadable_and_hostile_files_are_reported() {
    let home = new_home_with_config("color = \u{1b}[31m'\n\u{202e}x = 1\n");
    let run = home.run(&["ls"]);
    assert_eq!(run.code, 0);
    assert!(run.err.contains("this is not TOML") && !run.err.contains(['\u{1b}', '\u{202e}']), "{}", run.err);
    home.write(FILE, "\"a\u{1b}]0;x\u{7}\u{202e}\" = 1\n\"b\\u001b[2J\" = 2\n");
    for args in [&["ls"][..], &["config", "check"], &["config", "check", "--json"], &["config", "show"]] {
        let run = home.run(args);
        let text = run.out + &run.err;
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{args:?}: {text}");
    }
    for bytes in [&b"\xff\xfe"[..], &vec![b'#'; (1 << 20) + 1]] {
        home.write(FILE, bytes);
        let run = home.run(&["ls"]);
        assert!(
            run.code == 0 && run.err.contains("warning: ") && run.err.lines().count() == 1,
            "{}",
            run.err
        );
        assert_eq!(home.run(&["config", "check"]).code, 1);
    }
    let home = new_home();
    home.write(&format!("{FILE}/folder"), "");
    let run = home.run(&["--demo", "ls"]);
    assert!(run.code == 0 && run.err.contains("the file cannot be read"), "{}", run.err);
}

#[test]
fn the_resume_command_is_printed_with_quoted_values() {
    let home = new_home_with_config("[resume]\ncommand = \"work claude -r {id} in {folder} # {{}}\"\n");
    let folder = "/tmp/it's $(x)";
    let line = format!(
        "{{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"{ID}\",\"cwd\":\"{folder}\",\
         \"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{{\"role\":\"user\",\"content\":\"a needle\"}}}}\n"
    );
    home.write_old(&format!(".claude/projects/-x/{ID}.jsonl"), line);
    let expected = format!("work claude -r {ID} in '/tmp/it'\\''s $(x)' # {{}}");
    let run = home.run(&["search", "needle", "--resume", "1"]);
    assert_eq!(run.out.trim_end(), expected, "{}", run.err);
    assert_eq!(home.run_json(&["search", "needle", "--resume", "1", "--json"])["command"], expected);
    let fork = home.run(&["fork", ID]);
    assert!(
        fork.out.contains("work claude -r ") && !fork.out.contains("--resume"),
        "{}{}",
        fork.out,
        fork.err
    );
}

#[test]
fn prices_come_from_the_configuration() {
    let response = "{\"type\":\"assistant\",\"uuid\":\"a1\",\"sessionId\":\"s\",\"timestamp\":\"2026-01-01T00:00:00Z\",\
        \"requestId\":\"r\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"model\":\"my-model\",\"stop_reason\":\"end_turn\",\
        \"content\":[],\"usage\":{\"input_tokens\":0,\"output_tokens\":1000000}}}\n";
    let home = new_home_with_config("[prices]\n[[prices.price]]\nmodels = 'my-*'\ninput = 1\noutput = 7\n");
    home.write_old(".claude/projects/-x/cccccccc-0000-4000-8000-000000000003.jsonl", response);
    let cost = |home: &Home, args: &[&str]| {
        let run = home.run(&[&["usage", "--by", "model", "--json"], args].concat());
        let row = run.json_lines().into_iter().find(|row| row["key"] == "my-model");
        (row.map(|row| row["cost_usd"].clone()).unwrap_or_default(), run.err)
    };
    assert_eq!(cost(&home, &[]), (7.0.into(), String::new()));
    home.write("p.toml", "[[price]]\nmodels = 'my-model'\ninput = 1\noutput = 9\n");
    home.write(FILE, "prices = '~/p.toml'\n");
    assert_eq!(cost(&home, &[]), (9.0.into(), String::new()));
    home.write("q.toml", "[[price]]\nmodels = 'my-model'\ninput = 1\noutput = 11\n");
    assert_eq!(cost(&home, &["--prices", "q.toml"]), (11.0.into(), String::new()));
    // A broken table is a mistake of the configuration, so reading goes on without it.
    home.write("p.toml", "[[price]]\nmodels = 3\n");
    let (_, warning) = cost(&home, &[]);
    assert!(
        warning.contains("warning: `prices` in the configuration: ") && warning.contains("line 2"),
        "{warning}"
    );
    let check = home.run(&["config", "check"]);
    assert!(check.code == 1 && check.out.contains(":1: `prices`: "), "{}", check.out);
}

#[test]
fn exports_and_lists_use_the_defaults_of_the_file() {
    let home = new_home_with_config(
        "[export]\nformat = 'html'\ntheme = 'dark'\n[ls]\ncolumns = ['title', 'id', 'client']\n",
    );
    let page = home.run(&["export", ID]).out;
    assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\" data-theme=\"dark\">"), "{}", &page[..80]);
    assert!(home.run(&["export", ID, "--format", "text"]).out.contains("the first one"));
    assert!(home.run(&["export", ID, "-o", "x.md"]).code == 0);
    assert!(!std::fs::read_to_string(home.path().join("x.md")).unwrap().contains("<html"));
    let ls = home.run(&["ls"]).out;
    assert!(
        ls.starts_with("title") && ls.lines().nth(1).unwrap().starts_with("the first one  aaaaaaaa"),
        "{ls}"
    );
}

#[test]
#[cfg(unix)]
fn edit_creates_the_file_and_checks_it_afterwards() {
    let home = new_home();
    home.write_program("editor", "#!/bin/sh\nprintf '%s' \"$2\" > edited\necho 'colour = 1' >> \"$2\"\n");
    let run = run_with(&home, ("EDITOR", "./editor --wait"), &["config", "edit"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.out.contains("unknown key `palette.colour`"), "{}", run.out);
    let path = home.path().join(FILE);
    assert_eq!(std::fs::read_to_string(home.path().join("edited")).unwrap(), path.display().to_string());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("# roots = ") && text.ends_with("colour = 1\n"), "{text}");
    // An existing file is kept, and $VISUAL precedes $EDITOR.
    home.write(FILE, "color = 'never'\n");
    let mut command = home.command(&["config", "edit"]);
    let run = RunOutput::new(command.env("VISUAL", "true").env("EDITOR", "false").output().unwrap());
    assert_eq!((run.code, run.out.as_str()), (0, ""));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "color = 'never'\n");
    for editor in ["false", "no-such-editor"] {
        let run = run_with(&home, ("EDITOR", editor), &["config", "edit"]);
        assert!(run.code == 2 && run.err.contains(&format!("the editor `{editor}` failed: ")), "{}", run.err);
    }
}

#[test]
fn quiet_prints_only_data_and_errors() {
    let home = new_home_with_config("colour = 1\n");
    home.write(".claude/projects/-x/empty.jsonl", "");
    let cases: [&[&str]; 8] = [
        &["ls", "--project", "nothing"],
        &["ls", "-n", "0"],
        &["search", "nothing-like-this"],
        &["find", ID, "nothing"],
        &["show", ID, "--turns", "9"],
        &["rename", ID, "new", "--dry-run"],
        &["config", "check"],
        &["log"],
    ];
    for args in cases {
        let (loud, quiet) = (home.run(args), home.run(&[args, &["-q"]].concat()));
        assert!(!loud.err.is_empty(), "{args:?} prints a note");
        assert_eq!(
            (quiet.code, quiet.out.as_str(), quiet.err.as_str()),
            (loud.code, loud.out.as_str(), ""),
            "{args:?}"
        );
    }
    let error = home.run(&["show", "no-such-session", "--quiet"]);
    assert!(
        error.err.starts_with("error: no session matches") && !error.err.contains("hint:"),
        "{}",
        error.err
    );
}

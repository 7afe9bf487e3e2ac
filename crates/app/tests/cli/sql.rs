//! `sql`: formats, sources of the statement, limits and exit codes.

#![expect(clippy::disallowed_methods, reason = "a test deletes a session as a client does")]

use rethread_testkit::script;

use crate::new_home;

const FOLDER: &str = ".claude/projects/-home-ann-garden";
const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const GARDEN: &str = "
u1: plan the beds, say \"beans\"
  a1 #m1 in=10 out=20: !Bash ls
    u2 @+3: =!a1 no such file
      a2 #m2 in=5 out=7: done
";

#[test]
fn results_are_tables_csv_or_json() {
    let home = new_home();
    home.write(&format!("{FOLDER}/{SESSION}.jsonl"), script::bytes(GARDEN));
    let sql = "SELECT turn, prompt, tool_calls, tool_errors, NULL AS empty FROM turns";
    insta::assert_snapshot!(home.run(&["sql", sql]).out, @r#"
    turn  prompt                      tool_calls  tool_errors  empty
       1  plan the beds, say "beans"           1            1      –
    "#);
    insta::assert_snapshot!(home.run(&["sql", sql, "--format", "csv"]).out, @r#"
    turn,prompt,tool_calls,tool_errors,empty
    1,"plan the beds, say ""beans""",1,1,
    "#);
    insta::assert_snapshot!(home.run(&["sql", sql, "--format", "jsonl"]).out, @r#"{"turn":1,"prompt":"plan the beds, say \"beans\"","tool_calls":1,"tool_errors":1,"empty":null}"#);
}

#[test]
fn a_parquet_file_is_written_to_the_output() {
    let home = new_home();
    home.write(&format!("{FOLDER}/{SESSION}.jsonl"), script::bytes(GARDEN));
    let output = home.command(&["sql", "SELECT * FROM turns", "--format", "parquet"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.starts_with(b"PAR1") && output.stdout.ends_with(b"PAR1"), "{output:?}");
}

#[test]
fn the_statement_may_be_in_a_file_or_an_example() {
    let home = new_home();
    home.write(&format!("{FOLDER}/{SESSION}.jsonl"), script::bytes(GARDEN));
    let path = home.write("report.sql", "SELECT count(*) AS calls\nFROM tool_calls -- all of them\n;\n");
    let output = home.run(&["sql", "--file", path.to_str().unwrap(), "--format", "csv"]);
    assert_eq!((output.out.as_str(), output.code), ("calls\n1\n", 0), "{}", output.err);
    let output = home.run(&["sql", "--example", "tool-errors", "--format", "csv"]);
    assert_eq!(output.out, "tool,calls,failed,percent\nBash,1,1,100\n");
    let output = home.run(&["sql", "--file", "missing.sql"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("cannot read"), "{}", output.err);
}

#[test]
fn errors_have_hints_and_codes() {
    let home = new_home();
    home.write(&format!("{FOLDER}/{SESSION}.jsonl"), script::bytes(GARDEN));
    let check = |args: &[&str], code: i32, parts: &[&str]| {
        let output = home.run(&[&["sql"][..], args].concat());
        assert_eq!(output.code, code, "{args:?}: {}{}", output.out, output.err);
        for part in parts {
            assert!(output.err.contains(part), "{args:?} `{part}`:\n{}", output.err);
        }
    };
    check(&["SELECT * FROM turns WHERE turn = 7"], 1, &["no rows"]);
    check(&["SELECT colour FROM turns"], 2, &["no such column: colour", "       ^", "--schema TABLE"]);
    check(&["SELECT * FROM gardens"], 2, &["no such table", "--schema` lists the tables"]);
    check(&["DROP TABLE turns"], 2, &["not allowed", "hint:"]);
    check(&["ATTACH 'x.db' AS x"], 2, &["ATTACH is not allowed"]);
    check(&["--schema", "gardens"], 2, &["there is no table `gardens`"]);
    check(&["--example", "gardens"], 2, &["there is no example `gardens`"]);
    check(&["--memory", "lots", "SELECT 1"], 2, &["cannot parse `lots`"]);
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n";
    check(&["--timeout", "1", endless], 2, &["longer than 1 s", "--timeout"]);
    let large = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9000000) \
                 SELECT count(*) FROM (SELECT i FROM n ORDER BY i % 1000003)";
    check(&["--memory", "20M", large], 2, &["more than 19 MB of memory", "--memory"]);
}

#[test]
fn archived_sessions_are_in_the_tables() {
    let home = new_home();
    let path = home.write(&format!("{FOLDER}/{SESSION}.jsonl"), script::bytes(GARDEN));
    let sql = "SELECT s.archived, count(*), sum(output_tokens) FROM responses r JOIN sessions s USING (session_id) GROUP BY 1";
    let query = || home.run(&["sql", sql, "--format", "csv"]).out;
    assert!(query().ends_with("\n0,2,27\n"), "{}", query());
    assert_eq!(home.run(&["archive"]).code, 0);
    std::fs::remove_file(path).unwrap();
    assert!(query().ends_with("\n1,2,27\n"), "{}", query());
    assert_eq!(home.run(&["sql", sql, "--kept", "without"]).code, 1);
}

/// Ctrl-C stops a statement and clears a line, and the prompt goes on. `script` is the terminal.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_stops_the_statement_and_not_the_prompt() {
    use std::io::{Read, Write};
    use std::process::Stdio;
    use std::sync::{Arc, Mutex};

    use rethread_testkit::process::ProcessCommand;
    use rethread_testkit::real::print_skipped;
    use rethread_testkit::wait::wait_for;

    const CTRL_C: &[u8] = b"\x03";
    const CTRL_D: &[u8] = b"\x04";
    if ProcessCommand::new("script").arg("--version").output().is_err() {
        return print_skipped("prompt of `sql`", "`script` is not installed");
    }
    let home = new_home();
    home.write(&format!("{FOLDER}/{SESSION}.jsonl"), script::bytes(GARDEN));
    // Without `exec`, the key would end the shell, too.
    let prompt = format!("exec '{}' sql --timeout 3600", env!("CARGO_BIN_EXE_rethread"));
    let mut terminal = ProcessCommand::new("script");
    terminal.args(["--quiet", "--return", "--flush", "--command", &prompt, "/dev/null"]);
    terminal.env_clear().env("HOME", home.path()).env("TMPDIR", home.path()).env("TZ", "UTC");
    terminal.env("TERM", "xterm").env("PATH", "/usr/bin:/bin").env("SHELL", "/bin/sh");
    let mut child = terminal.current_dir(home.path()).stdin(Stdio::piped()).spawn().unwrap();
    let mut keys = child.stdin.take().unwrap();
    let mut screen = child.stdout.take().unwrap();
    let printed = Arc::new(Mutex::new(Vec::new()));
    let reader = std::thread::spawn({
        let printed = Arc::clone(&printed);
        move || {
            let mut bytes = [0; 4096];
            while let Ok(len @ 1..) = screen.read(&mut bytes) {
                printed.lock().unwrap().extend_from_slice(&bytes[..len]);
            }
        }
    });
    let screen_text = || String::from_utf8_lossy(&printed.lock().unwrap()).into_owned();
    // The prompt forgets keys that it reads together with the end of a line, so they are pressed after the next prompt.
    let wait_for_prompt = |after: &str| {
        let has_prompt =
            |text: String| text.rsplit_once(after).is_some_and(|(_, text)| text.contains("sql> "));
        wait_for(&format!("a prompt after `{after}`"), || has_prompt(screen_text()).then_some(()));
    };
    let mut press = |bytes: &[u8]| keys.write_all(bytes).and_then(|()| keys.flush());
    wait_for_prompt("Ctrl-D leaves");
    press(b"SELECT 'never ends").unwrap();
    wait_for("the echo", || screen_text().contains("never ends").then_some(()));
    press(CTRL_C).unwrap();
    wait_for_prompt("never ends");
    press(b"SELECT 'be' || 'ets';\r").unwrap();
    wait_for_prompt("1 row");
    assert!(screen_text().contains("beets"), "{}", screen_text());
    press(b"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n;\r")
        .unwrap();
    // The key counts only while the statement runs, which cannot be seen from outside.
    wait_for("the end of the statement", || {
        press(CTRL_C).unwrap();
        screen_text().contains("stopped").then_some(())
    });
    wait_for("a result after a stopped statement", || {
        press(b"SELECT prompt FROM turns;\r").unwrap();
        screen_text().contains("plan the beds").then_some(())
    });
    let status = wait_for("the end of the prompt", || {
        let _ = press(CTRL_D);
        child.try_wait().unwrap()
    });
    assert!(status.success(), "{status}: {}", screen_text());
    reader.join().unwrap();
}

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

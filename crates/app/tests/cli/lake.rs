//! `lake`: who may push, what a dry run shows, and the order in which a bucket gets the files.
#![expect(clippy::disallowed_methods, reason = "tests change their own lake")]

use std::path::Path;

use rethread_testkit::home::Home;
use rethread_testkit::script;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

fn new_home() -> Home {
    let home = Home::new(env!("CARGO_BIN_EXE_rethread"));
    let session = script::bytes("* cwd=/home/ann/shop\nu1: SECRETPROMPT\n  a1: first");
    home.write_old(&format!(".claude/projects/-home-ann-shop/{SESSION}.jsonl"), session);
    home
}

fn path(home: &Home, name: &str) -> String {
    home.path().join(name).display().to_string()
}

fn run(home: &Home, args: &[&str]) -> String {
    let run = home.run(args);
    assert_eq!(run.code, 0, "{args:?}: {}", run.err);
    run.out
}

/// Returns the files below a folder, without folders.
fn list_files(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(list_files(&path));
        } else {
            files.push(path.display().to_string());
        }
    }
    files.sort();
    files
}

#[test]
fn a_machine_joins_pushes_and_leaves() {
    let home = new_home();
    let (lake, key) = (path(&home, "lake"), path(&home, "team.key"));
    run(&home, &["lake", "init", &lake, "--key", &key]);
    let refused = home.run(&["lake", "push", &lake]);
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("did not join") && refused.err.contains("lake join"), "{}", refused.err);
    run(&home, &["lake", "join", &lake, "--key", &key]);
    let before = list_files(Path::new(&lake));
    let dry = run(&home, &["lake", "push", &lake, "--dry-run"]);
    for text in
        ["level metrics: ", "would push 1 of 1 file", "first rows of sessions:", SESSION, "project_key"]
    {
        assert!(dry.contains(text), "{text}: {dry}");
    }
    assert!(!dry.contains("SECRETPROMPT") && !dry.contains("/home/ann"), "{dry}");
    assert_eq!(list_files(Path::new(&lake)), before, "a dry run writes nothing");
    let pushed = run(&home, &["lake", "push", &lake]);
    assert!(pushed.contains("level metrics: ") && pushed.contains("pushed 1 of 1 file"), "{pushed}");
    assert!(run(&home, &["lake", "push", &lake]).contains("nothing new in 1 file"));
    let status = home.run_json(&["lake", "status", &lake, "--json"]);
    assert_eq!((&status["level"], &status["own_sources"]), (&"metrics".into(), &1.into()));
    assert_eq!(home.run(&["lake", "check", &lake]).code, 0);
    assert_eq!(home.run(&["lake", "forget", &lake, "--me"]).code, 3, "without a confirmation");
    run(&home, &["lake", "forget", &lake, "--me", "--yes"]);
    assert_eq!(home.run_json(&["lake", "status", &lake, "--json"])["sources"], 0);
    assert_eq!(home.run(&["lake", "push", &lake]).code, 3, "the machine left the lake");
}

#[test]
fn a_level_applies_to_what_was_pushed_before() {
    let home = new_home();
    let (lake, key) = (path(&home, "lake"), path(&home, "team.key"));
    run(&home, &["lake", "init", &lake, "--key", &key, "--level", "names"]);
    assert!(run(&home, &["lake", "push", &lake]).contains("level names: "));
    run(&home, &["lake", "join", &lake, "--key", &key, "--level", "text"]);
    let pushed = home.run_json(&["lake", "push", &lake, "--json"]);
    assert_eq!((&pushed["level"], &pushed["pushed"]), (&"text".into(), &1.into()));
    let texts = list_files(&Path::new(&lake).join("text"));
    assert!(texts.iter().any(|file| file.contains("/texts/day=2")), "{texts:?}");
}

#[test]
fn keys_and_folders_are_checked() {
    let home = new_home();
    let (lake, key) = (path(&home, "lake"), path(&home, "team.key"));
    let inside = path(&home, "lake/team.key");
    let refused = home.run(&["lake", "init", &lake, "--key", &inside]);
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(!Path::new(&lake).exists() && !Path::new(&inside).exists());
    run(&home, &["lake", "init", &lake, "--key", &key, "--level", "metrics"]);
    assert_eq!(
        home.run(&["lake", "init", &lake, "--key", &path(&home, "other.key")]).code,
        3,
        "a lake already"
    );
    assert_eq!(home.run(&["lake", "init", &path(&home, "."), "--key", &path(&home, "other.key")]).code, 3);
    assert!(!Path::new(&path(&home, "other.key")).exists(), "no key is left");
    let other_lake = path(&home, "other");
    run(&home, &["lake", "init", &other_lake, "--key", &path(&home, "other.key")]);
    assert_eq!(home.run(&["lake", "join", &lake, "--key", &path(&home, "other.key")]).code, 3, "another key");
    assert_eq!(home.run(&["lake", "init", &lake, "--key", &key]).code, 3, "an existing key is not replaced");
    std::fs::copy(&key, &inside).expect("a copy");
    assert_eq!(home.run(&["lake", "join", &lake, "--key", &inside]).code, 3, "a key inside the lake");
    let sessions = path(&home, ".claude/projects/lake");
    assert_eq!(
        home.run(&["lake", "init", &sessions, "--key", &path(&home, "k")]).code,
        3,
        "inside the sessions"
    );
    assert_eq!(home.run(&["lake", "status", &path(&home, "missing")]).code, 2);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&key).expect("the key").permissions().mode();
        assert_eq!(mode & 0o077, 0, "only the user can read the key");
    }
}

#[test]
fn views_are_printed_for_every_engine() {
    let home = new_home();
    for engine in ["duckdb", "spark", "trino", "clickhouse", "bigquery", "athena", "snowflake", "datafusion"]
    {
        let sql = run(&home, &["lake", "views", "/lake", "--for", engine]);
        for view in ["responses", "tool_calls", "sessions", "otel_genai"] {
            assert!(sql.contains(&format!("VIEW {view} AS")), "{engine}: {view}");
        }
        assert!(!sql.contains("texts_raw"), "{engine}");
    }
    assert!(
        run(&home, &["lake", "views", "/lake", "--for", "duckdb", "--with-text"]).contains("VIEW texts AS")
    );
}

/// A program in place of `aws` that keeps a bucket in a folder, logs its calls, and fails if a file says so.
#[cfg(unix)]
const AWS: &str = r#"#!/bin/sh
here=$(dirname "$0")
[ "$1" = --version ] && exit 0
echo "$*" >> "$here/log"
[ -e "$here/fail" ] && case "$*" in *"$(cat "$here/fail")"*) echo "broken" >&2; exit 1;; esac
shift 2
recursive=
while [ "${1#--}" != "$1" ]; do [ "$1" = --recursive ] && recursive=1; shift; done
from=$1 to=$2
case "$to" in
  -) cat "$here/bucket/${from#s3://}" 2>/dev/null || exit 1 ;;
  *) target="$here/bucket/${to#s3://}"
     mkdir -p "$(dirname "$target")"
     if [ -n "$recursive" ]; then mkdir -p "$target"; cp -r "$from/." "$target/"; else cp "$from" "$target"; fi ;;
esac
"#;

#[cfg(unix)]
#[test]
fn a_bucket_gets_the_heads_last_and_a_failure_is_repeated() {
    let home = new_home();
    home.write_program("bin/aws", AWS);
    let bin = home.path().join("bin");
    let aws = |args: &[&str]| {
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let output = home.command(args).env("PATH", path).output().expect("the program runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let key = path(&home, "team.key");
    assert_eq!(aws(&["lake", "init", "s3://team/lake", "--key", &key, "--level", "metrics"]).0, Some(0));
    let calls = || std::fs::read_to_string(bin.join("log")).unwrap_or_default();
    std::fs::write(bin.join("fail"), "--include").expect("a file");
    let (code, err) = aws(&["lake", "push", "s3://team/lake"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("broken"), "{err}");
    std::fs::remove_file(bin.join("fail")).expect("the file exists");
    std::fs::remove_file(bin.join("log")).expect("the log exists");
    assert_eq!(aws(&["lake", "push", "s3://team/lake"]).0, Some(0), "the push is repeated");
    let log = calls();
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines[lines.len() - 2].contains("--exclude v1/sources/*"), "{log}");
    assert!(lines[lines.len() - 1].contains("--include v1/sources/*"), "{log}");
    std::fs::remove_file(bin.join("log")).expect("the log exists");
    assert_eq!(aws(&["lake", "push", "s3://team/lake"]).0, Some(0));
    assert!(!calls().contains("--recursive"), "nothing new is copied: {}", calls());
    let files = list_files(&bin.join("bucket/team/lake"));
    assert!(files.iter().any(|file| file.ends_with("lake.json")) && files.len() > 12, "{files:?}");
}

//! `archive --sync` and `--lake`, and the schedule that runs them.
#![expect(clippy::disallowed_methods, reason = "tests change their own folders")]

use rethread_testkit::home::Home;
use rethread_testkit::script;

use crate::new_home;

const SESSION: &str = ".claude/projects/-home-ann/aaaaaaaa-0000-4000-8000-000000000001.jsonl";

fn write_session(home: &Home, script: &str) {
    home.write_old(SESSION, script::bytes(script));
}

/// Returns a home with a session and the folder of a second place.
fn new_home_with_place(place: &str) -> (Home, String) {
    let home = new_home();
    write_session(&home, "u1: one\n  a1: first");
    let place = home.path().join(place);
    std::fs::create_dir_all(&place).expect("the folder can be created");
    (home, place.to_str().expect("the path is text").to_owned())
}

/// Creates a lake and joins it. Returns its path.
fn join_lake(home: &Home) -> String {
    let lake = home.path().join("lake").display().to_string();
    let key = home.path().join("team.key").display().to_string();
    let init = home.run(&["lake", "init", &lake, "--key", &key, "--level", "metrics"]);
    assert_eq!(init.code, 0, "{}", init.err);
    lake
}

#[test]
fn a_run_synchronises_only_with_folders_that_have_an_archive() {
    let (home, place) = new_home_with_place("place");
    let gone = home.path().join("gone").display().to_string();
    let args = ["archive", "--sync", &gone, "--sync", &place];
    // The folder of a disk that is not mounted is empty.
    let skipped = home.run(&args);
    assert_eq!(skipped.code, 0, "{}", skipped.err);
    assert!(skipped.err.contains("gone`: it is not there"), "{}", skipped.err);
    assert!(skipped.err.contains("place`: it has no archive"), "{}", skipped.err);
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
    assert_eq!(home.run(&[&["--quiet"], &args[..]].concat()).err, "");
    assert_eq!(home.run(&["archive", "sync", &place]).code, 0);
    write_session(&home, "u1: one\n  a1: first\n    u2: two\n      a2: second");
    let synced = home.run(&args);
    assert_eq!(synced.code, 0, "{}", synced.err);
    assert!(synced.out.contains("copied 2 files"), "{}", synced.out);
    assert!(synced.err.contains("gone`") && !synced.err.contains("place`"), "{}", synced.err);
    let types: Vec<_> = home.run_json_lines(&["archive", "--json", "--sync", &place]);
    let types: Vec<_> = types.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["archive", "archive_sync"]);
    assert_eq!(home.run(&["archive", "--to", &place, "verify", "--deep"]).code, 0);
}

#[test]
fn a_failure_is_reported_and_the_others_still_run() {
    let (home, place) = new_home_with_place("place");
    assert_eq!(home.run(&["archive"]).code, 0);
    assert_eq!(home.run(&["archive", "sync", &place]).code, 0);
    home.write("encrypted-place/encrypted", "");
    let encrypted = home.path().join("encrypted-place").display().to_string();
    let lake = join_lake(&home);
    write_session(&home, "u1: one\n  a1: first\n    u2: two\n      a2: second");
    let run = home.run(&[
        "archive",
        "--sync",
        &encrypted,
        "--sync",
        &place,
        "--lake",
        "not-there",
        "--lake",
        &lake,
    ]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("error: ") && run.err.contains("--encrypt-to"), "{}", run.err);
    assert!(run.err.contains("skipped the lake `not-there`"), "{}", run.err);
    assert!(run.out.contains("copied 2 files") && run.out.contains("pushed 1 of 1 file"), "{}", run.out);
    let again = home.run(&["archive", "--lake", &lake]);
    assert_eq!((again.code, again.out.contains("nothing new in 1 file")), (0, true), "{}", again.out);
    let refused = home.run(&["archive", "--sync", &place, "status"]);
    assert_eq!(refused.code, 2, "{}", refused.out);
    assert!(refused.err.contains("--sync and --lake are options of a run"), "{}", refused.err);
}

#[cfg(target_os = "linux")]
#[test]
fn a_schedule_runs_synchronisations_and_pushes() {
    let (home, place) = new_home_with_place("My Disk/100% \"$HOME\"");
    home.write_program("bin/systemctl", "#!/bin/sh\nexit 0\n");
    let path = format!("{}:/usr/bin:/bin", home.path().join("bin").display());
    let run_with_path = |args: &[&str]| {
        let output = home.command(args).env("PATH", &path).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout) + &text(output.stderr))
    };
    let lake = join_lake(&home);
    let args = ["archive", "schedule", "--sync", &place, "--lake", &lake];
    let service = home.path().join(".config/systemd/user/rethread-archive.service");
    let (code, dry) = run_with_path(&[&args[..], &["--dry-run"]].concat());
    assert_eq!(code, Some(0), "{dry}");
    let line = "\"--sync\" \"";
    assert!(dry.contains(line) && dry.contains("/My Disk/100%% \\\"$$HOME\\\"\" \"--lake\" \""), "{dry}");
    assert!(dry.contains("makes the first copy; until then it is skipped") && !service.exists(), "{dry}");
    let (code, done) = run_with_path(&args);
    assert_eq!(code, Some(0), "{done}");
    assert!(done.contains("then push to the lake ") && service.exists(), "{done}");
    let status = home.run_json(&["archive", "status", "--json"]);
    assert_eq!((&status["scheduled_syncs"][0], &status["scheduled_lakes"][0]), (&place.into(), &lake.into()));
    let text = home.run(&["archive", "status"]).out;
    assert!(text.contains("then sync with ") && text.contains("skipped now: it has no archive"), "{text}");
    // Another schedule replaces it, and is removed as a whole.
    assert_eq!(run_with_path(&["archive", "schedule"]).0, Some(0));
    let status = home.run_json(&["archive", "status", "--json"]);
    assert_eq!(
        (&status["scheduled"], status["scheduled_syncs"].as_array().unwrap().len()),
        (&true.into(), 0)
    );
    assert_eq!(run_with_path(&["archive", "schedule", "--remove"]).0, Some(0));
    assert_eq!(home.run_json(&["archive", "status", "--json"])["scheduled"], false);
}

#[test]
fn a_schedule_that_can_only_fail_is_refused() {
    let (home, place) = new_home_with_place("place");
    let lake = home.path().join("lake").display().to_string();
    let key = home.path().join("team.key").display().to_string();
    let schedule = |options: &[&str]| {
        let run = home.run(&[&["archive", "schedule", "--dry-run"], options].concat());
        assert_eq!(run.out, "", "{options:?}");
        (run.code, run.err)
    };
    let (code, err) = schedule(&["--lake", &lake]);
    assert!(code == 2 && err.contains("is not a lake"), "{code}: {err}");
    assert_eq!(home.run(&["lake", "init", &lake, "--key", &key]).code, 0);
    let (code, err) = schedule(&["--lake", &lake]);
    assert!(code == 3 && err.contains("did not join"), "{code}: {err}");
    home.write("place/encrypted", "");
    let (code, err) = schedule(&["--sync", &place]);
    assert!(code == 2 && err.contains("--encrypt-to"), "{code}: {err}");
    let (code, err) = schedule(&["--remove", "--sync", &place]);
    assert!(code == 2 && err.contains("cannot be used with"), "{code}: {err}");
    let (code, err) = schedule(&["--encrypt-to", "age1x"]);
    assert!(code == 2 && err.contains("--sync"), "{code}: {err}");
}

//! The cache: its files, its location, and that no output depends on it.
#![expect(clippy::disallowed_methods, reason = "tests make their own store in a temporary folder")]

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rethread_testkit::home::Home;
use rethread_testkit::script;

use crate::new_home;

const SESSION: &str = ".claude/projects/-home-ada-shed/aaaaaaaa-0000-4000-8000-000000000001.jsonl";

/// Creates a home with a session file that is old enough to be cached.
fn new_home_with_session() -> Home {
    let home = new_home();
    home.write(SESSION, script::bytes("u1: tidy the shed\n  a1: done"));
    let start = SystemTime::now();
    while start.elapsed().is_ok_and(|passed| passed < Duration::from_millis(25)) {
        std::thread::yield_now();
    }
    home
}

/// Returns the names of all files below a folder.
fn list_files(folder: &Path) -> Vec<String> {
    let (mut names, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    names.sort();
    names
}

#[test]
fn output_is_the_same_with_and_without_the_cache() {
    let home = new_home_with_session();
    let cache = home.path().join(".cache/rethread");
    for args in [&["ls"][..], &["stats"], &[], &["ls", "--json"], &["stats", "--json"]] {
        let without_cache = home.run(&[args, &["--no-index"]].concat());
        for _ in 0..2 {
            let run = home.run(args);
            assert_eq!(
                (run.code, &run.out, &run.err),
                (without_cache.code, &without_cache.out, &without_cache.err),
                "{args:?}"
            );
        }
    }
    assert_eq!(
        list_files(&cache),
        ["dir-listing", "dir-listing.lock", "session-info", "session-info.lock", "stats", "stats.lock"]
    );
    let found_by_title = home.run(&["show", "tidy the shed", "--json"]);
    assert_eq!(found_by_title.code, 0, "{}", found_by_title.err);
}

#[test]
fn no_cache_is_written_with_no_index_demo_or_single_files() {
    let home = new_home_with_session();
    let file = home.path().join(SESSION);
    let file = file.to_str().unwrap();
    for args in [
        &["ls", "--no-index"][..],
        &["stats", "--no-index"],
        &["--no-index"],
        &["--demo"],
        &["--demo", "ls"],
        &["--demo", "stats"],
        &["ls", "--root", file],
        &["stats", "--root", file],
        &["stats", "tidy", "--no-index"],
    ] {
        assert_eq!(home.run(args).code, 0, "{args:?}");
    }
    assert!(!home.path().join(".cache").exists());
}

#[test]
fn the_environment_selects_the_cache_folder() {
    let home = new_home_with_session();
    let folder = home.path().join("elsewhere");
    assert!(home.command(&["ls"]).env("XDG_CACHE_HOME", &folder).status().unwrap().success());
    assert_eq!(
        list_files(&folder.join("rethread")),
        ["dir-listing", "dir-listing.lock", "session-info", "session-info.lock"]
    );
    // A relative path is ignored.
    assert!(home.command(&["ls"]).env("XDG_CACHE_HOME", "some/where").status().unwrap().success());
    assert_eq!(
        list_files(&home.path().join(".cache/rethread")),
        ["dir-listing", "dir-listing.lock", "session-info", "session-info.lock"]
    );
}

#[test]
fn an_unusable_cache_is_reported_and_does_not_change_the_output() {
    let home = new_home_with_session();
    let without_cache = home.run(&["ls", "--no-index"]);
    home.run(&["ls"]);
    let cache = home.path().join(".cache/rethread/2");
    let folder = std::fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    std::fs::write(folder.join("session-info"), "damaged").unwrap();
    let run = home.run(&["ls"]);
    assert_eq!((run.code, &run.out), (0, &without_cache.out));
    assert!(run.err.starts_with("warning: the cache `") && run.err.contains("was damaged"), "{}", run.err);
    assert_eq!(home.run(&["ls"]).err, "");
    std::fs::remove_dir_all(home.path().join(".cache")).unwrap();
    home.write(".cache", "a file");
    let run = home.run(&["ls"]);
    assert_eq!((run.code, &run.out), (0, &without_cache.out));
    assert!(run.err.starts_with("warning: cannot write the cache `"), "{}", run.err);
    assert!(run.err.contains("(--no-index disables it)") && run.err.lines().count() == 1, "{}", run.err);
}

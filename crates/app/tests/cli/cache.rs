//! The cache: that it is there, where it is, and that nobody depends on it.
#![expect(clippy::disallowed_methods, reason = "tests make their own store in a temporary folder")]

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rethread_testkit::script;

use super::home::Home;

const SESSION: &str = ".claude/projects/-home-ada-shed/aaaaaaaa-0000-4000-8000-000000000001.jsonl";

/// Makes a home with a session in it that is old enough to be kept.
fn home() -> Home {
    let home = Home::new();
    home.write(SESSION, script::bytes("u1: tidy the shed\n  a1: done"));
    let start = SystemTime::now();
    while start.elapsed().is_ok_and(|passed| passed < Duration::from_millis(25)) {
        std::thread::yield_now();
    }
    home
}

/// Lists the files of a cache.
fn kept(folder: &Path) -> Vec<String> {
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
fn what_was_read_is_kept_and_says_the_same() {
    let home = home();
    let cache = home.path().join(".cache/rethread");
    for args in [&["ls"][..], &["stats"], &[], &["ls", "--json"], &["stats", "--json"]] {
        let plain = home.run(&[args, &["--no-index"]].concat());
        for _ in 0..2 {
            let run = home.run(args);
            assert_eq!((run.code, &run.out, &run.err), (plain.code, &plain.out, &plain.err), "{args:?}");
        }
    }
    assert_eq!(
        kept(&cache),
        ["counts", "counts.lock", "folders", "folders.lock", "sketches", "sketches.lock"]
    );
    let named = home.run(&["show", "tidy the shed", "--json"]);
    assert_eq!(named.code, 0, "{}", named.err);
}

#[test]
fn nothing_is_kept_where_nobody_wants_it() {
    let home = home();
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
fn the_cache_lies_where_the_environment_says() {
    let home = home();
    let folder = home.path().join("elsewhere");
    assert!(home.command(&["ls"]).env("XDG_CACHE_HOME", &folder).status().unwrap().success());
    assert_eq!(kept(&folder.join("rethread")), ["folders", "folders.lock", "sketches", "sketches.lock"]);
    // Only a full path is one.
    assert!(home.command(&["ls"]).env("XDG_CACHE_HOME", "some/where").status().unwrap().success());
    assert_eq!(
        kept(&home.path().join(".cache/rethread")),
        ["folders", "folders.lock", "sketches", "sketches.lock"]
    );
}

#[test]
fn a_cache_that_is_of_no_use_is_told_and_costs_nothing_else() {
    let home = home();
    let plain = home.run(&["ls", "--no-index"]);
    home.run(&["ls"]);
    let cache = home.path().join(".cache/rethread/2");
    let folder = std::fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    std::fs::write(folder.join("sketches"), "not what it was").unwrap();
    let run = home.run(&["ls"]);
    assert_eq!((run.code, &run.out), (0, &plain.out));
    assert!(run.err.starts_with("warning: the cache `") && run.err.contains("was damaged"), "{}", run.err);
    assert_eq!(home.run(&["ls"]).err, "");
    std::fs::remove_dir_all(home.path().join(".cache")).unwrap();
    home.write(".cache", "a file");
    let run = home.run(&["ls"]);
    assert_eq!((run.code, &run.out), (0, &plain.out));
    assert!(run.err.starts_with("warning: cannot write the cache `"), "{}", run.err);
    assert!(run.err.contains("(--no-index does without)") && run.err.lines().count() == 1, "{}", run.err);
}

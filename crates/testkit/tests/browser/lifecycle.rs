//! Chromium ends with those who started it, however they end, and leaves nothing behind.
#![expect(clippy::disallowed_methods, reason = "the test tells itself by the environment what to do")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use rethread_testkit::browser::Browser;

use crate::words_of_panic;

/// Tells this test binary to start a Chromium and to die without a word.
const LEAK: &str = "RETHREAD_TEST_LEAK";

/// Names the Chromium to start.
const NAMED: &str = "RETHREAD_CHROMIUM";

/// Runs one test of this binary in a process of its own, with another environment.
fn again(test: &str, environment: &[(&str, &str)]) -> Output {
    let this = std::env::current_exe().expect("this binary has a path");
    let mut command = Command::new(this);
    command.args([test, "--exact", "--nocapture"]).envs(environment.iter().copied());
    command.output().expect("this binary can be started")
}

/// Returns how many processes of a group live, where the system tells; those that are dead and only wait to be counted do not.
fn living(group: u32) -> usize {
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    let of_group = |stat: &String| {
        // The name stands in brackets and may hold anything; after it come state, parent and group.
        let rest = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect::<Vec<_>>());
        rest.is_some_and(|rest| rest[0] != "Z" && rest[2] == group.to_string())
    };
    let stat = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("stat")).ok();
    processes.flatten().filter_map(stat).filter(of_group).count()
}

/// Waits until nothing is left of a Chromium.
#[track_caller]
fn assert_gone(process: u32, folder: &Path) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while living(process) > 0 || folder.exists() {
        let (left, there) = (living(process), folder.exists());
        assert!(Instant::now() < deadline, "{left} processes are left, folder: {there}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_dropped_browser_is_gone() {
    let Some(browser) = Browser::start() else { return };
    let (process, folder) = (browser.process(), browser.folder().to_owned());
    let page = browser.page();
    page.eval("1");
    assert!(living(process) > 2 || !Path::new("/proc").exists());
    assert!(folder.join("profile").exists());
    drop(browser);
    assert!(!Path::new("/proc").join(process.to_string()).exists(), "a zombie is left");
    assert_gone(process, &folder);
    assert!(words_of_panic(|| drop(page.eval("1"))).contains("the connection is closed"));
}

#[test]
fn a_browser_of_a_test_that_panics_is_gone() {
    let Some(browser) = Browser::start() else { return };
    let (process, folder) = (browser.process(), browser.folder().to_owned());
    let words = words_of_panic(move || {
        let page = browser.page();
        page.eval("nothing.here");
    });
    assert!(words.contains("nothing is not defined"), "{words}");
    assert_gone(process, &folder);
}

#[test]
fn a_browser_of_a_process_that_dies_is_gone() {
    if std::env::var_os(LEAK).is_some() {
        let browser = Browser::start().expect("it was there a moment ago");
        browser.page().eval("1");
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nleaked {} {}", browser.process(), browser.folder().display()).unwrap();
        out.flush().unwrap();
        std::process::abort();
    }
    if Browser::shared().is_none() {
        return;
    }
    let output = again("lifecycle::a_browser_of_a_process_that_dies_is_gone", &[(LEAK, "1")]);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let leaked = said.lines().find_map(|line| line.strip_prefix("leaked ")).expect("it says what it leaks");
    let (process, folder) = leaked.split_once(' ').unwrap();
    assert_gone(process.parse().unwrap(), &PathBuf::from(folder));
}

#[test]
fn without_chromium_tests_are_skipped_or_fail_as_told() {
    let cases = [
        (("PATH", ""), "", Ok("skipped: no Chromium was found")),
        (("PATH", ""), "1", Err("RETHREAD_NEEDS_CHROMIUM is set, but no Chromium was found")),
        ((NAMED, "/dev/null"), "", Ok("skipped: `/dev/null` does not answer: ")),
        ((NAMED, "/dev/null"), "1", Err("is set, but `/dev/null` does not answer: ")),
    ];
    for (place, needed, expected) in cases {
        // What is named goes before the path: it is left out where the path is asked.
        let named = if place.0 == NAMED { place.1 } else { "" };
        let told = [(NAMED, named), place, ("RETHREAD_NEEDS_CHROMIUM", needed)];
        let output = again("rendering::the_media_are_as_told", &told);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let (fine, words) = expected.map_or_else(|words| (false, words), |words| (true, words));
        assert!(output.status.success() == fine && said.contains(words), "{place:?} {needed}: {said}");
    }
}

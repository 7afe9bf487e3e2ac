//! Chromium exits with the process that started it and leaves no files.
#![expect(clippy::disallowed_methods, reason = "the test configures its child process by the environment")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rethread_testkit::browser::Browser;
use rethread_testkit::wait::wait_for;

use crate::panic_message;

/// Makes this test binary start Chromium and abort.
const LEAK: &str = "RETHREAD_TEST_LEAK";

/// Names the Chromium to start.
const CHROMIUM: &str = "RETHREAD_CHROMIUM";

/// Runs one test of this binary in a child process with additional environment variables.
fn run_test(test: &str, environment: &[(&str, &str)]) -> Output {
    let binary = std::env::current_exe().expect("this binary has a path");
    let mut command = Command::new(binary);
    command.args([test, "--exact", "--nocapture"]).envs(environment.iter().copied());
    command.output().expect("this binary can be started")
}

/// Counts the processes of a group, without zombies. Returns 0 if the system has no `/proc`.
fn count_processes(group: u32) -> usize {
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    let is_in_group = |stat: &String| {
        // The name is in parentheses and may contain any character. State, parent and group follow it.
        let rest = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect::<Vec<_>>());
        rest.is_some_and(|rest| rest[0] != "Z" && rest[2] == group.to_string())
    };
    let read_stat = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("stat")).ok();
    processes.flatten().filter_map(read_stat).filter(is_in_group).count()
}

/// Waits until all processes and the folder of a Chromium are gone.
#[track_caller]
fn assert_gone(process: u32, folder: &Path) {
    wait_for("the end of all processes", || (count_processes(process) == 0).then_some(()));
    wait_for("the removal of the folder", || (!folder.exists()).then_some(()));
}

#[test]
fn dropped_browser_is_gone() {
    let Some(browser) = Browser::start() else { return };
    let (process, folder) = (browser.process_id(), browser.folder().to_owned());
    let page = browser.open_page();
    page.eval("1");
    assert!(count_processes(process) > 2 || !Path::new("/proc").exists());
    assert!(folder.join("profile").exists());
    drop(browser);
    assert!(!Path::new("/proc").join(process.to_string()).exists(), "a zombie remains");
    assert_gone(process, &folder);
    assert!(panic_message(|| drop(page.eval("1"))).contains("the connection is closed"));
}

#[test]
fn browser_of_a_panicking_test_is_gone() {
    let Some(browser) = Browser::start() else { return };
    let (process, folder) = (browser.process_id(), browser.folder().to_owned());
    let message = panic_message(move || {
        let page = browser.open_page();
        page.eval("nothing.here");
    });
    assert!(message.contains("nothing is not defined"), "{message}");
    assert_gone(process, &folder);
}

#[test]
fn browser_of_a_dying_process_is_gone() {
    if std::env::var_os(LEAK).is_some() {
        let browser = Browser::start().expect("Chromium started in the parent process");
        browser.open_page().eval("1");
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nleaked {} {}", browser.process_id(), browser.folder().display()).unwrap();
        out.flush().unwrap();
        std::process::abort();
    }
    if Browser::shared().is_none() {
        return;
    }
    let output = run_test("lifecycle::browser_of_a_dying_process_is_gone", &[(LEAK, "1")]);
    assert!(!output.status.success());
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let leaked = stdout.lines().find_map(|line| line.strip_prefix("leaked ")).expect("a line about the leak");
    let (process, folder) = leaked.split_once(' ').unwrap();
    assert_gone(process.parse().unwrap(), &PathBuf::from(folder));
}

#[test]
fn without_chromium_tests_are_skipped_or_fail() {
    let cases = [
        (("PATH", ""), "", Ok("skipped: no Chromium was found")),
        (("PATH", ""), "1", Err("RETHREAD_NEEDS_CHROMIUM is set, but no Chromium was found")),
        ((CHROMIUM, "/dev/null"), "", Ok("skipped: `/dev/null` does not respond: ")),
        ((CHROMIUM, "/dev/null"), "1", Err("is set, but `/dev/null` does not respond: ")),
    ];
    for (variable, is_required, expected) in cases {
        // `RETHREAD_CHROMIUM` precedes `PATH`, so it is empty in the cases of `PATH`.
        let chromium = if variable.0 == CHROMIUM { variable.1 } else { "" };
        let environment = [(CHROMIUM, chromium), variable, ("RETHREAD_NEEDS_CHROMIUM", is_required)];
        let output = run_test("rendering::emulated_media_match_media_queries", &environment);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let (succeeds, text) = expected.map_or_else(|text| (false, text), |text| (true, text));
        assert!(
            output.status.success() == succeeds && stderr.contains(text),
            "{variable:?} {is_required}: {stderr}"
        );
    }
}

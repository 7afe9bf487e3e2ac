//! Read-only folders, full disks, links and unusual names: errors are reported, and no data is lost.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests change their own store")]

use std::os::unix::fs::PermissionsExt;

use rethread_testkit::home::Home;
use rethread_testkit::process::ProcessCommand;
use rethread_testkit::script;

use super::journal::{SESSION, new_home_with_sessions, session_path};
use crate::new_home;

fn session_text(prompt: &str) -> String {
    String::from_utf8(script::bytes(&format!("u1: {prompt}\n  a1: sorted"))).unwrap()
}

#[test]
fn paths_with_unusual_characters_are_changed_and_restored() {
    let home = new_home();
    let path =
        home.write_old(&format!(".claude/projects/-Größe 漢 '\"$x/{SESSION}.jsonl"), session_text("hello"));
    home.write_old(&format!(".claude/projects/-Größe 漢 '\"$x/{SESSION}/tool-results/ü ü.txt"), "out");
    let before = home.snapshot();
    for args in [&["rename", SESSION, "Größe\n漢\u{1b}[2J"][..], &["rm", SESSION, "--yes"]] {
        let run = home.run(args);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(!run.out.contains('\u{1b}'));
        assert!(home.run(&["log"]).out.chars().all(|c| c != '\u{1b}'));
        assert_ne!(home.snapshot(), before);
        assert_eq!(home.run(&["undo"]).code, 0);
        assert_eq!(home.snapshot(), before);
    }
    // A path that is not UTF-8.
    use std::os::unix::ffi::OsStrExt;
    let non_utf8_path = path.with_file_name(std::ffi::OsStr::from_bytes(b"odd-\xff.jsonl"));
    std::fs::rename(&path, &non_utf8_path).unwrap();
    let before = home.snapshot();
    for args in
        [&["rename", "hello", "x", "--even-if-live"][..], &["rm", "--title", "hello", "--even-if-live", "-y"]]
    {
        let run = home.command(args).output().unwrap();
        assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(home.run(&["undo"]).code, 0);
        assert_eq!(home.snapshot(), before);
    }
}

#[test]
fn folders_that_link_to_each_other_are_listed_once_under_their_real_paths() {
    let home = new_home();
    let name = |idx: usize| format!(".claude/projects/-p{idx:02}");
    for from in 0..12 {
        let id = format!("cccccccc-0000-4000-8000-0000000000{from:02}");
        home.write_old(&format!("{}/{id}.jsonl", name(from)), session_text("hello"));
        for to in (0..12).filter(|to| *to != from) {
            let link = home.path().join(name(from)).join(format!("0-{to}"));
            std::os::unix::fs::symlink(home.path().join(name(to)), link).unwrap();
        }
    }
    // The walk is the same with a cache and without one, and in both runs.
    let runs = [&["ls", "--json"][..], &["ls", "--json"], &["ls", "--json", "--no-index"]];
    let outputs = runs.map(|args| home.run(args).out);
    assert_eq!(outputs[0].matches("\"type\":\"session\"").count(), 12, "{}", outputs[0]);
    assert!(!outputs[0].contains("/0-"), "no path contains a link: {}", outputs[0]);
    assert!(outputs.iter().all(|output| *output == outputs[0]));
}

#[test]
fn symlinks_to_folders_and_files_are_kept() {
    let home = new_home();
    let linked_folder_file = home.write_old(&format!("elsewhere/{SESSION}.jsonl"), session_text("hello"));
    std::fs::create_dir_all(home.path().join(".claude/projects")).unwrap();
    std::os::unix::fs::symlink(
        linked_folder_file.parent().unwrap(),
        home.path().join(".claude/projects/-linked"),
    )
    .unwrap();
    let other = home.path().join(".claude/projects/-p/cccccccc-0000-4000-8000-000000000003.jsonl");
    std::fs::create_dir_all(other.parent().unwrap()).unwrap();
    let target = home.write_old("target.jsonl", session_text("a linked file"));
    std::os::unix::fs::symlink(&target, &other).unwrap();
    for (session, path) in [(SESSION, &linked_folder_file), ("cccccccc", &target)] {
        let before = std::fs::read(path).unwrap();
        assert_eq!(home.run(&["rename", session, "new"]).code, 0);
        assert_ne!(std::fs::read(path).unwrap(), before);
        assert_eq!(home.run(&["undo"]).code, 0);
        assert_eq!(std::fs::read(path).unwrap(), before);
    }
    assert!(other.is_symlink() && home.path().join(".claude/projects/-linked").is_symlink());
    // A live session is detected through the link, too.
    let pid = std::process::id();
    home.write(&format!(".claude/sessions/{pid}.json"), format!("{{\"sessionId\":\"{SESSION}\"}}"));
    assert_eq!(home.run(&["rename", SESSION, "new"]).code, 3);
}

#[test]
fn files_outside_the_store_are_changed_only_with_root() {
    let home = new_home();
    let path = home.write_old("some where/notes.jsonl", session_text("hello"));
    let before = std::fs::read(&path).unwrap();
    let path_text = path.to_str().unwrap();
    for args in [
        &["rename", path_text, "new"][..],
        &["rm", path_text],
        &["goto", path_text, "t1"],
        &["fork", path_text],
    ] {
        let run = home.run(args);
        assert!(run.code == 3 && run.err.contains("--root"), "{args:?}: {}", run.err);
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
    // `--root` makes the folder a store.
    let root = ["--root", "some where"];
    let run = |args: &[&str]| home.run(&[args, &root].concat()).code;
    assert_eq!(run(&["rename", path_text, "new"]), 0);
    assert_eq!(run(&["rm", "some where/notes.jsonl", "--yes"]), 0);
    assert!(!path.exists());
    assert_eq!(run(&["restore", "some where/notes.jsonl"]), 0);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(run(&["undo"]), 0);
    assert!(!path.exists());
}

/// Runs the program as a user without write access. Returns `None` if this process cannot switch users.
fn run_as_other_user(home: &Home, args: &[&str]) -> Option<std::process::Output> {
    let mut command = ProcessCommand::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(home.program());
    command.args(args).env_clear().env("HOME", home.path()).current_dir(home.path());
    command.output().ok().filter(|run| run.status.code().is_some_and(|code| code < 100))
}

#[test]
fn a_read_only_folder_is_reported_and_unchanged() {
    let home = new_home_with_sessions();
    let before = home.snapshot();
    let project = home.path().join(session_path()).parent().unwrap().to_owned();
    let set_mode = |path: &std::path::Path, set_mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(set_mode)).unwrap();
    };
    set_mode(home.path(), 0o777);
    set_mode(&project, 0o555);
    set_mode(&home.path().join(session_path()), 0o444);
    let can_switch_user = run_as_other_user(&home, &["--version"]).is_some();
    if !can_switch_user && std::fs::write(project.join("probe"), "").is_ok() {
        // This user can write everywhere and cannot switch users.
        return;
    }
    for args in [&["rename", SESSION, "x"][..], &["rm", SESSION, "--yes"]] {
        let run = if can_switch_user {
            run_as_other_user(&home, args).unwrap()
        } else {
            home.command(args).output().unwrap()
        };
        let err = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{err}");
        assert!(err.starts_with("error: cannot write `"), "{err}");
        assert!(err.contains("permission denied\nhint: no data was lost"), "{err}");
        assert_eq!(home.snapshot(), before);
    }
    set_mode(&project, 0o755);
}

#[test]
fn a_full_disk_is_reported_and_changes_nothing() {
    let home = new_home();
    let prompt = "sort the harbours ".repeat(20_000);
    home.write_old(&session_path(), session_text(&prompt));
    let program = home.program().display();
    // Files are limited to 200 kB: the backups fit, the session does not.
    let run_with_size_limit = |args: &str| {
        let script = format!("trap '' XFSZ; ulimit -f 200; exec '{program}' {args}");
        let mut command = ProcessCommand::new("bash");
        command.args(["-c", &script]).env_clear().env("HOME", home.path()).current_dir(home.path());
        command.output().unwrap()
    };
    let before = home.snapshot();
    let run = run_with_size_limit(&format!("rename {SESSION} new"));
    assert_eq!(run.status.code(), Some(2), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(home.snapshot(), before);
    assert_eq!(home.run(&["rename", SESSION, "new"]).code, 0);
    let after = home.snapshot();
    for args in ["undo", "undo 2", "undo --even-if-live"] {
        let run = run_with_size_limit(args);
        assert_eq!(run.status.code(), Some(2), "{args}: {}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(home.snapshot(), after);
    }
    assert_eq!(home.run(&["undo", "2"]).code, 0);
    assert_eq!(home.snapshot(), before);
}

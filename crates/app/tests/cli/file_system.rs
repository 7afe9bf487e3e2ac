//! Folders that cannot be written, full disks, links, odd names: a clear error, and nothing is lost.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests change their own store")]

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::home::Home;
use super::journal::{SESSION, file, store};
use rethread_testkit::script;

fn text(words: &str) -> String {
    String::from_utf8(script::bytes(&format!("u1: {words}\n  a1: sorted"))).unwrap()
}

#[test]
fn names_with_spaces_and_letters_of_all_kinds() {
    let home = Home::new();
    let path = home.write_old(&format!(".claude/projects/-Größe 漢 '\"$x/{SESSION}.jsonl"), text("hello"));
    home.write_old(&format!(".claude/projects/-Größe 漢 '\"$x/{SESSION}/tool-results/ü ü.txt"), "out");
    let before = home.picture();
    for args in [&["rename", SESSION, "Größe\n漢\u{1b}[2J"][..], &["rm", SESSION]] {
        let run = home.run(args);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(!run.out.contains('\u{1b}'));
        assert!(home.run(&["log"]).out.chars().all(|c| c != '\u{1b}'));
        assert_ne!(home.picture(), before);
        assert_eq!(home.run(&["undo"]).code, 0);
        assert_eq!(home.picture(), before);
    }
    // A path that is no text.
    use std::os::unix::ffi::OsStrExt;
    let odd = path.with_file_name(std::ffi::OsStr::from_bytes(b"odd-\xff.jsonl"));
    std::fs::rename(&path, &odd).unwrap();
    let before = home.picture();
    for args in [&["rename", "hello", "x", "--even-if-live"][..], &["rm", "hello", "--even-if-live"]] {
        let run = home.command(args).output().unwrap();
        assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(home.run(&["undo"]).code, 0);
        assert_eq!(home.picture(), before);
    }
}

#[test]
fn a_linked_project_folder_and_a_linked_file_stay_links() {
    let home = Home::new();
    let real = home.write_old(&format!("elsewhere/{SESSION}.jsonl"), text("hello"));
    std::fs::create_dir_all(home.path().join(".claude/projects")).unwrap();
    std::os::unix::fs::symlink(real.parent().unwrap(), home.path().join(".claude/projects/-linked")).unwrap();
    let other = home.path().join(".claude/projects/-p/cccccccc-0000-4000-8000-000000000003.jsonl");
    std::fs::create_dir_all(other.parent().unwrap()).unwrap();
    let target = home.write_old("target.jsonl", text("a linked file"));
    std::os::unix::fs::symlink(&target, &other).unwrap();
    for (name, path) in [(SESSION, &real), ("cccccccc", &target)] {
        let before = std::fs::read(path).unwrap();
        assert_eq!(home.run(&["rename", name, "new"]).code, 0);
        assert_ne!(std::fs::read(path).unwrap(), before);
        assert_eq!(home.run(&["undo"]).code, 0);
        assert_eq!(std::fs::read(path).unwrap(), before);
    }
    assert!(other.is_symlink() && home.path().join(".claude/projects/-linked").is_symlink());
    // A client that is at work is seen by the name of the link too.
    let pid = std::process::id();
    home.write(&format!(".claude/sessions/{pid}.json"), format!("{{\"sessionId\":\"{SESSION}\"}}"));
    assert_eq!(home.run(&["rename", SESSION, "new"]).code, 3);
}

#[test]
fn a_file_outside_any_store() {
    let home = Home::new();
    let path = home.write_old("some where/notes.jsonl", text("hello"));
    let before = std::fs::read(&path).unwrap();
    let name = path.to_str().unwrap();
    for args in [&["rename", name, "new"][..], &["rm", name], &["goto", name, "t1"], &["fork", name]] {
        let run = home.run(args);
        assert!(run.code == 3 && run.err.contains("--root"), "{args:?}: {}", run.err);
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
    // Whoever names the folder means it.
    let root = ["--root", "some where"];
    let run = |args: &[&str]| home.run(&[args, &root].concat()).code;
    assert_eq!(run(&["rename", name, "new"]), 0);
    assert_eq!(run(&["rm", "some where/notes.jsonl"]), 0);
    assert!(!path.exists());
    assert_eq!(run(&["restore", "some where/notes.jsonl"]), 0);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(run(&["undo"]), 0);
    assert!(!path.exists());
}

/// Runs as a user without rights to the store, where this process may become one.
fn as_stranger(home: &Home, args: &[&str]) -> Option<std::process::Output> {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(env!("CARGO_BIN_EXE_rethread"));
    command.args(args).env_clear().env("HOME", home.path()).current_dir(home.path());
    command.output().ok().filter(|run| run.status.code().is_some_and(|code| code < 100))
}

#[test]
fn a_folder_that_cannot_be_written() {
    let home = store();
    let before = home.picture();
    let project = home.path().join(file()).parent().unwrap().to_owned();
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    };
    mode(home.path(), 0o777);
    mode(&project, 0o555);
    mode(&home.path().join(file()), 0o444);
    let stranger = as_stranger(&home, &["--version"]).is_some();
    if !stranger && std::fs::write(project.join("probe"), "").is_ok() {
        // This user may write everywhere and cannot become another.
        return;
    }
    for args in [&["rename", SESSION, "x"][..], &["rm", SESSION]] {
        let run =
            if stranger { as_stranger(&home, args).unwrap() } else { home.command(args).output().unwrap() };
        let err = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{err}");
        assert!(err.starts_with("error: cannot write `"), "{err}");
        assert!(err.contains("permission denied\nhint: nothing is lost"), "{err}");
        assert_eq!(home.picture(), before);
    }
    mode(&project, 0o755);
}

#[test]
fn a_disk_that_is_full() {
    let home = Home::new();
    let words = "sort the harbours ".repeat(20_000);
    home.write_old(&file(), text(&words));
    let binary = env!("CARGO_BIN_EXE_rethread");
    // No file may grow beyond 200 kB: backups fit, the session does not.
    let limited = |args: &str| {
        let script = format!("trap '' XFSZ; ulimit -f 200; exec '{binary}' {args}");
        let mut command = Command::new("bash");
        command.args(["-c", &script]).env_clear().env("HOME", home.path()).current_dir(home.path());
        command.output().unwrap()
    };
    let before = home.picture();
    let run = limited(&format!("rename {SESSION} new"));
    assert_eq!(run.status.code(), Some(2), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(home.picture(), before);
    assert_eq!(home.run(&["rename", SESSION, "new"]).code, 0);
    let after = home.picture();
    for args in ["undo", "undo 2", "undo --even-if-live"] {
        let run = limited(args);
        assert_eq!(run.status.code(), Some(2), "{args}: {}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(home.picture(), after);
    }
    assert_eq!(home.run(&["undo", "2"]).code, 0);
    assert_eq!(home.picture(), before);
}

//! The output file of an export: its format, its permissions, and paths that are refused.
#![expect(clippy::disallowed_methods, reason = "tests change their own store")]

use rethread_testkit::home::{Home, RunOutput};

use crate::session_builder::{PROJECT, SESSION, SessionBuilder, garden_session};

/// Returns the names of the files in the home folder.
fn list_files(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.path()).unwrap();
    let mut file_names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    file_names.retain(|name| ![".claude", ".cache", ".local"].contains(&name.as_str()));
    file_names.sort();
    file_names
}

#[test]
fn the_extension_selects_the_format() {
    let home = garden_session().write_to_new_home();
    let cases = [
        ("a.html", "<!DOCTYPE html>"),
        ("a.md", "# Plant"),
        ("a.txt", "Plant"),
        ("a.jsonl", "{\"type\":\"export\""),
        ("noname", "# Plant"),
    ];
    for (name, prefix) in cases {
        let run = home.run(&["export", SESSION, "-o", name]);
        assert_eq!((run.code, run.out.as_str()), (0, ""), "{}", run.err);
        assert!(run.err.starts_with(&format!("wrote `{name}`, ")), "{}", run.err);
        let text = std::fs::read_to_string(home.path().join(name)).unwrap();
        assert!(text.starts_with(prefix), "{name}: {}", &text[..40]);
    }
    let run = home.run(&["export", SESSION, "-o", "b.html", "--format", "text"]);
    assert_eq!(run.code, 0);
    assert!(std::fs::read_to_string(home.path().join("b.html")).unwrap().starts_with("Plant"));
    assert!(home.run(&["export", SESSION, "-o", "-"]).out.starts_with("# Plant"));
    assert_eq!(list_files(&home), ["a.html", "a.jsonl", "a.md", "a.txt", "b.html", "noname"]);
}

#[test]
fn existing_files_are_replaced_only_with_force() {
    let home = garden_session().write_to_new_home();
    home.write("old.md", "mine");
    let run = home.run(&["export", SESSION, "-o", "old.md"]);
    assert_eq!(run.code, 3);
    assert_eq!(run.err, "error: `old.md` exists already\nhint: --force replaces it\n");
    let read_file = || std::fs::read_to_string(home.path().join("old.md")).unwrap();
    assert_eq!(read_file(), "mine");
    assert_eq!(home.run(&["export", SESSION, "-o", "old.md", "--force"]).code, 0);
    assert!(read_file().starts_with("# Plant"));
    assert_eq!(list_files(&home), ["old.md"], "no temporary file remains");
}

#[test]
#[cfg(unix)]
fn symlinks_are_followed_and_only_regular_files_are_replaced() {
    let home = garden_session().write_to_new_home();
    home.write("target.md", "mine");
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, home.path().join(name)).unwrap();
    link("target.md", "link.md");
    link("nowhere.md", "dangling.md");
    link("/dev/null", "device");
    link(PROJECT, "store");
    assert_eq!(home.run(&["export", SESSION, "-o", "link.md", "--force"]).code, 0);
    assert!(home.path().join("link.md").is_symlink(), "the link is kept");
    assert!(std::fs::read_to_string(home.path().join("target.md")).unwrap().starts_with("# Plant"));
    for (name, reason) in [
        ("dangling.md", "is not a regular file"),
        ("device", "is not a regular file"),
        ("store/a.md", "is inside the session folder"),
    ] {
        let run = home.run(&["export", SESSION, "-o", name, "--force"]);
        assert!(run.code == 3 && run.err.contains(reason), "{name}: {}", run.err);
    }
    assert!(home.path().join("dangling.md").is_symlink() && !home.path().join("nowhere.md").exists());
}

#[test]
fn exports_into_session_folders_are_refused() {
    let home = garden_session().write_to_new_home();
    let before = home.snapshot();
    let session = format!("{PROJECT}/{SESSION}.jsonl");
    home.write("copy.jsonl", garden_session().text());
    for args in [
        &["export", SESSION, "-o", ".claude/projects/-home-ada-garden/a.html"][..],
        &["export", SESSION, "-o", ".claude/projects/../a.html"],
        &["export", SESSION, "--force", "-o", &session],
        &["--root", "copy.jsonl", "export", SESSION, "--force", "-o", "copy.jsonl"],
        &["export", "copy.jsonl", "--force", "-o", "./copy.jsonl"],
    ] {
        let run = home.run(args);
        assert_eq!(run.code, 3, "{args:?}: {}", run.err);
        assert!(run.err.contains("is inside the session folder"), "{}", run.err);
    }
    assert_eq!(home.snapshot(), before);
    assert_eq!(std::fs::read_to_string(home.path().join("copy.jsonl")).unwrap(), garden_session().text());
    assert_eq!(list_files(&home), ["copy.jsonl"]);
}

#[test]
fn paths_that_cannot_be_written_are_reported() {
    let home = garden_session().write_to_new_home();
    home.write("folder/x", "");
    for (file, reason) in [
        ("no/such/a.md", "no such file"),
        ("folder", "is not a regular file"),
        ("..", "is not a regular file"),
    ] {
        let run = home.run(&["export", SESSION, "-o", file]);
        assert!(run.code >= 2 && run.err.contains(reason), "{file}: {}", run.err);
    }
    assert_eq!(home.run(&["export", SESSION, "-o", "folder", "--force"]).code, 3);
    assert_eq!(home.run(&["export", SESSION, "--branch", "t99"]).code, 2);
    assert_eq!(home.run(&["export", SESSION, "--force"]).code, 2);
    assert_eq!(list_files(&home), ["folder"]);
}

/// The folders may not exist yet: rethread creates them later.
#[test]
fn exports_into_own_folders_of_rethread_are_refused() {
    for exists in [true, false] {
        let home = garden_session().write_to_new_home();
        if exists {
            home.write(".local/state/rethread/x", "");
            home.write(".cache/rethread/x", "");
        }
        home.write("work/x", "");
        for (file, folder) in [
            (".local/state/rethread/a.md", "state"),
            ("work/../.local/state/rethread/backups/../a.html", "state"),
            (".cache/rethread/a.jsonl", "cache"),
            (".cache/rethread", "cache"),
        ] {
            let run = home.run(&["export", SESSION, "-o", file, "--force"]);
            let reason = format!("is inside the {folder} folder of rethread");
            assert!(run.code == 3 && run.err.contains(&reason), "{file}: {}", run.err);
            assert!(run.err.contains("\nhint: "), "{}", run.err);
        }
        assert!(!home.path().join(".local/state/rethread/a.md").exists());
        // A folder whose name only starts like that of rethread is not its own.
        home.write(".cache/rethread-exports/x", "");
        assert_eq!(home.run(&["export", SESSION, "-o", ".cache/rethread-exports/a.md"]).code, 0);
    }
}

#[test]
#[cfg(unix)]
fn symlinks_into_own_folders_of_rethread_are_refused() {
    let home = garden_session().write_to_new_home();
    home.write("state/rethread/journal", "mine");
    home.write("link/x", "");
    let link = |to: &str, name: &str| {
        std::os::unix::fs::symlink(home.path().join(to), home.path().join(name)).unwrap();
    };
    link("state/rethread", "folder");
    link("state/rethread/journal", "journal.md");
    link("state", "link/state");
    // The folder of rethread can itself be named by a link.
    let state_homes = [home.path().join("state"), home.path().join("link/state")];
    for state_home in state_homes {
        for file in ["folder/a.md", "journal.md", "link/state/rethread/a.md", "state/rethread/a.md"] {
            let mut command = home.command(&["export", SESSION, "-o", file, "--force"]);
            let run = RunOutput::new(command.env("XDG_STATE_HOME", &state_home).output().unwrap());
            let reason = "is inside the state folder of rethread";
            assert!(run.code == 3 && run.err.contains(reason), "{file}: {}", run.err);
        }
    }
    assert_eq!(std::fs::read_to_string(home.path().join("state/rethread/journal")).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(home.path().join("state/rethread")).unwrap().count(), 1);
}

/// Sets the permission bits of a file in the home.
#[cfg(unix)]
fn set_mode(home: &Home, name: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(home.path().join(name), std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns the permission bits of a file in the home.
#[cfg(unix)]
fn read_mode(home: &Home, name: &str) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(home.path().join(name)).unwrap().permissions().mode() & 0o7777
}

#[test]
#[cfg(unix)]
fn exports_are_not_more_accessible_than_the_session() {
    let home = garden_session().write_to_new_home();
    let session = format!("{PROJECT}/{SESSION}.jsonl");
    // The umask of the user also applies.
    home.write("plain", "");
    let default_mode = read_mode(&home, "plain");
    for mode in [0o600, 0o640, 0o644, 0o666, 0o400, 0o604] {
        set_mode(&home, &session, mode);
        let expected = 0o600 | (default_mode & mode & 0o066);
        for name in ["a.html", "a.md", "a.txt", "a.jsonl"] {
            // The first round creates the file, the next ones replace it.
            for old_mode in [None, Some(0o600), Some(0o666)] {
                if let Some(old_mode) = old_mode {
                    set_mode(&home, name, old_mode);
                }
                let run = home.run(&["export", SESSION, "-o", name, "--force"]);
                assert_eq!(run.code, 0, "{}", run.err);
                assert_eq!(read_mode(&home, name), expected, "{name} of a session with mode {mode:o}");
            }
        }
    }
}

#[test]
#[cfg(unix)]
fn exports_are_not_more_accessible_than_subagents_and_stored_results() {
    for source in ["subagents/agent-a1.jsonl", "tool-results/toolu_1.txt"] {
        let home = garden_session().write_to_new_home();
        set_mode(&home, &format!("{PROJECT}/{SESSION}.jsonl"), 0o644);
        let source = format!("{PROJECT}/{SESSION}/{source}");
        home.write(&source, SessionBuilder::new_subagent("a1").add_prompt("count the seeds").text());
        set_mode(&home, &source, 0o600);
        assert_eq!(home.run(&["export", SESSION, "-o", "a.html"]).code, 0);
        assert_eq!(read_mode(&home, "a.html"), 0o600, "{source}");
    }
}

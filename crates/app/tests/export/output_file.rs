//! The output file of an export: its format, and paths that are refused.

use rethread_testkit::home::Home;

use crate::session_builder::{PROJECT, SESSION, garden_session};

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
    for (file, reason) in
        [("no/such/a.md", "no such file"), ("folder", "is not a regular file"), ("..", "invalid")]
    {
        let run = home.run(&["export", SESSION, "-o", file]);
        assert!(run.code >= 2 && run.err.contains(reason), "{file}: {}", run.err);
    }
    assert_eq!(home.run(&["export", SESSION, "-o", "folder", "--force"]).code, 3);
    assert_eq!(home.run(&["export", SESSION, "--branch", "t99"]).code, 2);
    assert_eq!(home.run(&["export", SESSION, "--force"]).code, 2);
    assert_eq!(list_files(&home), ["folder"]);
}

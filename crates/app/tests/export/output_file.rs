//! Where exports are written, and where not.

use crate::home::Home;
use crate::session_builder::{SESSION, garden};

fn home() -> Home {
    let home = Home::new();
    home.write_old(&format!(".claude/projects/-home-ada-garden/{SESSION}.jsonl"), garden().text());
    home
}

/// Returns what lies in the home folder itself.
fn names(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| ![".claude", ".cache", ".local"].contains(&name.as_str()));
    names.sort();
    names
}

#[test]
fn the_name_says_the_form() {
    let home = home();
    let cases = [
        ("a.html", "<!DOCTYPE html>"),
        ("a.md", "# Plant"),
        ("a.txt", "Plant"),
        ("a.jsonl", "{\"type\":\"export\""),
        ("noname", "# Plant"),
    ];
    for (name, beginning) in cases {
        let run = home.run(&["export", SESSION, "-o", name]);
        assert_eq!((run.code, run.out.as_str()), (0, ""), "{}", run.err);
        assert!(run.err.starts_with(&format!("wrote `{name}`, ")), "{}", run.err);
        let text = std::fs::read_to_string(home.path().join(name)).unwrap();
        assert!(text.starts_with(beginning), "{name}: {}", &text[..40]);
    }
    let run = home.run(&["export", SESSION, "-o", "b.html", "--format", "text"]);
    assert_eq!(run.code, 0);
    assert!(std::fs::read_to_string(home.path().join("b.html")).unwrap().starts_with("Plant"));
    assert!(home.run(&["export", SESSION, "-o", "-"]).out.starts_with("# Plant"));
    assert_eq!(names(&home), ["a.html", "a.jsonl", "a.md", "a.txt", "b.html", "noname"]);
}

#[test]
fn a_file_that_is_there_stays_unless_forced() {
    let home = home();
    home.write("old.md", "mine");
    let run = home.run(&["export", SESSION, "-o", "old.md"]);
    assert_eq!(run.code, 3);
    assert_eq!(run.err, "error: `old.md` is already there\nhint: --force replaces it\n");
    let read = || std::fs::read_to_string(home.path().join("old.md")).unwrap();
    assert_eq!(read(), "mine");
    assert_eq!(home.run(&["export", SESSION, "-o", "old.md", "--force"]).code, 0);
    assert!(read().starts_with("# Plant"));
    assert_eq!(names(&home), ["old.md"], "no draft is left");
}

#[test]
#[cfg(unix)]
fn links_lead_to_their_file_and_only_files_are_replaced() {
    let home = home();
    home.write("target.md", "mine");
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, home.path().join(name)).unwrap();
    link("target.md", "link.md");
    link("nowhere.md", "lost.md");
    link("/dev/null", "device");
    link(".claude/projects/-home-ada-garden", "store");
    assert_eq!(home.run(&["export", SESSION, "-o", "link.md", "--force"]).code, 0);
    assert!(home.path().join("link.md").is_symlink(), "the link stays");
    assert!(std::fs::read_to_string(home.path().join("target.md")).unwrap().starts_with("# Plant"));
    for (name, why) in
        [("lost.md", "is no file"), ("device", "is no file"), ("store/a.md", "among the sessions")]
    {
        let run = home.run(&["export", SESSION, "-o", name, "--force"]);
        assert!(run.code == 3 && run.err.contains(why), "{name}: {}", run.err);
    }
    assert!(home.path().join("lost.md").is_symlink() && !home.path().join("nowhere.md").exists());
}

#[test]
fn nothing_is_written_among_the_sessions() {
    let home = home();
    let before = home.picture();
    let session = format!(".claude/projects/-home-ada-garden/{SESSION}.jsonl");
    home.write("copy.jsonl", garden().text());
    for args in [
        &["export", SESSION, "-o", ".claude/projects/-home-ada-garden/a.html"][..],
        &["export", SESSION, "-o", ".claude/projects/../a.html"],
        &["export", SESSION, "--force", "-o", &session],
        &["--root", "copy.jsonl", "export", SESSION, "--force", "-o", "copy.jsonl"],
        &["export", "copy.jsonl", "--force", "-o", "./copy.jsonl"],
    ] {
        let run = home.run(args);
        assert_eq!(run.code, 3, "{args:?}: {}", run.err);
        assert!(run.err.contains("would lie among the sessions in"), "{}", run.err);
    }
    assert_eq!(home.picture(), before);
    assert_eq!(std::fs::read_to_string(home.path().join("copy.jsonl")).unwrap(), garden().text());
    assert_eq!(names(&home), ["copy.jsonl"]);
}

#[test]
fn what_cannot_be_written_is_told() {
    let home = home();
    home.write("folder/x", "");
    for (file, why) in [("no/such/a.md", "no such file"), ("folder", "is no file"), ("..", "invalid")] {
        let run = home.run(&["export", SESSION, "-o", file]);
        assert!(run.code >= 2 && run.err.contains(why), "{file}: {}", run.err);
    }
    assert_eq!(home.run(&["export", SESSION, "-o", "folder", "--force"]).code, 3);
    assert_eq!(home.run(&["export", SESSION, "--branch", "t99"]).code, 2);
    assert_eq!(home.run(&["export", SESSION, "--force"]).code, 2);
    assert_eq!(names(&home), ["folder"]);
}

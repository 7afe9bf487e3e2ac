//! Options and aliases that people guess.

use rethread_testkit::script;

use crate::new_home;

/// Returns the first four characters of the ids that `ls` lists.
fn list_ids(home: &rethread_testkit::home::Home, args: &[&str]) -> Vec<String> {
    let run = home.run(&[&["ls", "--json"], args].concat());
    run.json_lines().iter().map(|row| row["id"].as_str().unwrap()[..4].to_owned()).collect()
}

#[test]
fn ls_filters_by_words_age_and_emptiness() {
    let home = new_home();
    home.write_old(
        ".claude/projects/-x-shop/aa01aa01-0000-4000-8000-000000000001.jsonl",
        script::bytes("u1: fix the login page\n  a1: done"),
    );
    home.write_old(
        ".claude/projects/-x-shop/bb02bb02-0000-4000-8000-000000000002.jsonl",
        script::bytes("u1: explain the build\n  a1: done"),
    );
    let empty = r#"{"type":"file-history-snapshot","messageId":"m1","snapshot":{}}"#;
    home.write_old(".claude/projects/-x-tides/cc03cc03-0000-4000-8000-000000000003.jsonl", empty);
    assert_eq!(
        list_ids(&home, &["LOGIN", "shop"]),
        ["aa01"],
        "each word is in the title, project, branch or id"
    );
    assert_eq!(list_ids(&home, &["bb0"]), ["bb02"]);
    assert!(list_ids(&home, &["login", "build"]).is_empty(), "all words must match");
    assert_eq!(list_ids(&home, &["--empty"]), ["cc03"]);
    assert!(list_ids(&home, &["--empty", "--project", "shop"]).is_empty());
    // An empty session has no message, so the time of its file counts.
    assert_eq!(list_ids(&home, &["--empty", "--older-than", "30m"]), ["cc03"]);
    assert!(list_ids(&home, &["--empty", "--older-than", "2h"]).is_empty());
    assert_eq!(list_ids(&home, &["--older-than", "2020-01-01"]).len(), 0);
    assert_eq!(list_ids(&home, &["--older-than", "now"]).len(), 2);
}

#[test]
fn commands_have_the_names_that_people_guess() {
    let home = new_home();
    for (alias, command) in [
        (&["list"][..], &["ls"][..]),
        (&["cat", "harbour"], &["show", "harbour"]),
        (&["cost", "--by", "model"], &["usage", "--by", "model"]),
    ] {
        // Tables contain ages, which may change between two runs.
        let run = |args: &[&str]| home.run(&[&["--demo", "--json"], args].concat());
        let (by_alias, by_name) = (run(alias), run(command));
        assert_eq!(by_alias.code, 0, "{}", by_alias.err);
        assert_eq!(by_alias.out, by_name.out, "{alias:?}");
    }
    for args in [&["delete", "b27e", "--dry-run"][..], &["branch", "b27e", "t1", "-d"]] {
        let run = home.run(&[&["--demo"], args].concat());
        assert_eq!(run.code, 0, "{args:?}: {}", run.err);
    }
}

#[test]
fn turns_are_selected_in_the_same_way_by_show_and_export() {
    let home = new_home();
    for range in ["1-2", "1..2", "2", "t2-"] {
        let numbers = |args: &[&str]| -> Vec<u64> {
            let objects = home.run_json_lines(&[&["--demo"], args, &["-t", range]].concat());
            objects
                .iter()
                .filter(|object| object["type"] == "turn")
                .filter_map(|turn| turn["turn"].as_u64())
                .collect()
        };
        let shown = numbers(&["show", "71ad", "--json"]);
        assert!(!shown.is_empty() && shown.len() < 8, "{range}: {shown:?}");
        assert_eq!(numbers(&["export", "71ad", "--json"]), shown, "{range}");
    }
    for format in ["html", "md", "text"] {
        let part = home.run(&["--demo", "export", "harbour", "--turns", "1", "--format", format]).out;
        assert!(part.contains("here t1") && !part.contains("here t1 to"), "{part}");
        assert!(!part.contains("without a new dependency"), "{format}");
    }
    // Turn 2 is on another branch, and turn 9 does not exist.
    let note = "1 turn of this range is not on this branch (--all includes other branches)";
    for command in
        [&["show"][..], &["show", "--json"], &["show", "--raw"], &["export"], &["export", "-o", "part.md"]]
    {
        let run = |args: &[&str]| home.run(&[&["--demo"], command, &["harbour"], args].concat());
        let part = run(&["--turns", "1-9"]);
        assert!(part.code == 0 && part.err.contains(note), "{command:?}: {}", part.err);
        for args in [&["--turns", "1"][..], &["--turns", "3-9"], &["--turns", "1-3", "--all"], &[]] {
            let complete = run(&[args, if command.contains(&"-o") { &["--force"] } else { &[] }].concat());
            assert!(!complete.err.contains("range"), "{command:?} {args:?}: {}", complete.err);
        }
    }
    let run = home.run(&["--demo", "export", "harbour", "--turns", "99"]);
    assert!(run.code == 1 && run.out.is_empty() && run.err.contains("no exported turn"), "{}", run.err);
}

#[test]
fn tables_are_cut_on_screens_only() {
    let home = new_home();
    let title = "a prompt that is far longer than any screen, ".repeat(6);
    let id = "aa01aa01-0000-4000-8000-000000000001";
    home.write_old(
        &format!(".claude/projects/-x/{id}.jsonl"),
        script::bytes(&format!("u1: {title}\n  a1: done\n  a2: other")),
    );
    let run = |columns: Option<&str>, args: &[&str]| {
        let mut command = home.command(args);
        match columns {
            Some(columns) => command.env("COLUMNS", columns),
            None => command.env_remove("COLUMNS"),
        };
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    for args in [&["ls"][..], &["rm", "--project", "x", "--dry-run"]] {
        let piped = run(None, args);
        assert!(piped.contains(title.trim().get(..190).unwrap()), "{args:?}: {piped}");
        for columns in [40, 60, 80, 120] {
            let shown = run(Some(&columns.to_string()), args);
            let widest = shown.lines().take(2).map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= columns, "{args:?} at {columns}: {shown}");
            assert!(shown.contains('…'), "{args:?} at {columns}: {shown}");
        }
    }
}

#[test]
fn unknown_export_formats_are_refused() {
    let home = new_home();
    for (name, expected) in
        [("x.pdf", "print that to PDF in a browser"), ("x.docx", "use .html, .md, .json or .txt")]
    {
        let run = home.run(&["--demo", "export", "harbour", "-o", name]);
        assert!(run.code == 2 && run.err.contains(expected), "{}", run.err);
        assert!(!home.path().join(name).exists());
    }
    assert_eq!(home.run(&["--demo", "export", "harbour", "-o", "x.log", "--format", "text"]).code, 0);
    assert_eq!(home.run(&["--demo", "export", "harbour", "-o", "no-extension"]).code, 0);
}

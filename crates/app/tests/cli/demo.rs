//! The demo store is kept between commands.

use crate::new_home;

#[test]
fn demo_commands_can_be_tried_in_sequence() {
    let home = new_home();
    let loaded = || home.run_json(&["--demo", "explain", "harbour", "--json"])["loaded"].clone();
    let before = loaded();
    let run = home.run(&["--demo", "goto", "harbour", "t1"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_ne!(loaded(), before);
    assert!(home.run(&["--demo", "log"]).out.contains("goto"));
    assert_eq!(home.run(&["--demo", "undo"]).code, 0);
    assert_eq!(loaded(), before);
    assert_eq!(home.run(&["--demo", "rm", "71ad", "--yes"]).code, 0);
    assert_eq!(home.run(&["--demo", "show", "71ad"]).code, 2);
    assert_eq!(home.run(&["log"]).code, 1, "the journal of the user is another one");
    let run = home.run(&["--demo", "--reset", "show", "71ad"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(home.run(&["--demo", "log"]).code, 1, "the journal was reset, too");
    assert_eq!(home.run(&["--reset", "ls"]).code, 2, "without --demo there is nothing to reset");
}

#[test]
fn a_named_folder_without_sessions_is_not_the_demo() {
    let home = new_home();
    home.write("empty/readme.txt", "");
    let run = home.run(&["--root", "empty"]);
    assert_eq!(run.code, 1);
    assert!(run.out.is_empty() && run.err.contains("no sessions found in `empty`"), "{}{}", run.out, run.err);
    let commands: [&[&str]; 8] = [
        &[],
        &["ls"],
        &["search", "x"],
        &["usage"],
        &["stats"],
        &["doctor"],
        &["show", "last"],
        &["goto", "last", "t1"],
    ];
    for command in commands {
        let run = home.run(&[&["--root", "empty"], command].concat());
        let hints = run.err.matches("hint: use --root for another folder, or --demo").count();
        assert_eq!(hints, 1, "{command:?}: {}", run.err);
    }
    let run = home.run(&[]);
    assert!(run.out.contains("DEMO") && run.out.contains("rethread --demo show last"), "{}", run.out);
}

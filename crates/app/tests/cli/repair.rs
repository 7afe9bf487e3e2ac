//! `repair` end to end: output, in place and as a copy, and undo. The fixes themselves are tested in the engine.

use rethread_testkit::home::Home;
use rethread_testkit::script;

use crate::new_home;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const MISSING_PARENT: &str = "* cwd=/home/ann/garden\nu1: one\n  a1: !Bash ls\nu2 ^gone @+60: two\n  a2: two";

fn new_home_with_session(text: &str) -> Home {
    let home = new_home();
    home.write_old(&format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"), script::bytes(text));
    home
}

#[test]
fn a_repair_lists_its_fixes_and_the_next_commands() {
    let home = new_home_with_session(MISSING_PARENT);
    let before = home.snapshot();
    let run = home.run(&["repair", "last", "--in-place"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let expected = [
        "L3  missing-parent  new parent L2, the previous line; was",
        "L2  unpaired-call   1 result added for interrupted calls",
        "before         2 of 4 entries reachable; missing-parent\u{a0}1, unreachable\u{a0}2",
        "after          5 of 5 entries reachable; no problems",
        "loads          5 entries",
        "resume: cd /home/ann/garden && claude --resume aaaaaaaa",
        "undo:   rethread undo 1",
    ];
    run.assert_out_contains(&expected);
    assert_eq!(home.run(&["doctor", "last"]).code, 0);
    assert_eq!(home.run(&["undo"]).code, 0);
    assert_eq!(home.snapshot(), before);
}

#[test]
fn a_repaired_copy_leaves_the_original_unchanged() {
    let home = new_home_with_session(MISSING_PARENT);
    let before = home.snapshot();
    let dry_run = home.run(&["repair", "last", "--dry-run"]);
    assert_eq!((dry_run.code, home.snapshot()), (0, before.clone()), "{}", dry_run.err);
    assert!(dry_run.out.contains("after repair   5 of 5 entries reachable"), "{}", dry_run.out);
    let run = home.run(&["repair", "last", "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let objects = run.json_lines();
    let (done, fixes) = objects.split_last().unwrap();
    assert!(fixes.iter().all(|fix| fix["type"] == "fix"), "{}", run.out);
    assert_eq!((&done["type"], &done["fixes"]), (&"repair".into(), &fixes.len().into()));
    assert_eq!((&done["before"]["reachable"], &done["after"]["reachable"]), (&2.into(), &5.into()));
    let path = std::path::PathBuf::from(done["path"].as_str().unwrap());
    let mut after = home.snapshot();
    assert!(after.remove(&path).flatten().is_some_and(|bytes| {
        String::from_utf8(bytes)
            .unwrap()
            .contains(&format!(r#""relinkedFrom":"{}""#, script::uuid_from_name("gone")))
    }));
    assert_eq!(after, before);
}

#[test]
fn a_repair_helps_the_client_of_the_session_and_the_newest_one() {
    // Each of the two clients loses entries that the other one loads.
    let both = "* v=2.0.65\nu1: one\n  a1: one\n    u2 @+60: two\n      a2: two\nu3 ^gone @+-30: three";
    // Only the client of the session loses a result.
    let own = "* v=2.1.42\nu1: one\n  a1 #m: !Bash a\n    a2 #m: !Bash b\n      u3: =a2 b\n    u2 ^a1: =a1 a\n      a3: done";
    for text in [both, own] {
        let home = new_home_with_session(text);
        assert_eq!(home.run(&["doctor", "last"]).code, 1, "{text}");
        let run = home.run(&["repair", "last", "--in-place"]);
        assert_eq!(run.code, 0, "{text}: {}{}", run.out, run.err);
        assert_eq!(home.run(&["doctor", "last"]).code, 0, "{text}");
        for client in ["2.0.65", "2.1.42", "2.1.325"] {
            assert_eq!(home.run(&["explain", "last", "--client", client]).code, 0, "{text} in {client}");
        }
    }
}

#[test]
fn a_session_without_problems_is_not_changed() {
    let home = new_home_with_session("u1: one\n  a1: one");
    let before = home.snapshot();
    let run = home.run(&["repair", "last", "--in-place"]);
    assert_eq!((run.code, home.snapshot()), (1, before), "{}", run.err);
    assert!(run.out.ends_with("nothing to repair\n"), "{}", run.out);
    assert_eq!(home.run(&["repair", "no-such-session"]).code, 2);
}

#[test]
fn images_are_not_extracted_into_stores_or_own_folders_of_rethread() {
    let home = new_home_with_session(MISSING_PARENT);
    let before = home.snapshot();
    for (folder, reason) in [
        (".claude/projects/images", "is inside the session folder"),
        (".local/state/rethread", "is inside the state folder of rethread"),
        ("missing/../.local/state/rethread/images/new", "is inside the state folder of rethread"),
        (".cache/rethread/images", "is inside the cache folder of rethread"),
    ] {
        for args in [
            &["repair", "last", "--extract", folder][..],
            &["repair", "last", "--dry-run", "--extract", folder],
        ] {
            let run = home.run(args);
            assert!(run.code == 3 && run.err.contains(reason), "{args:?}: {}", run.err);
        }
    }
    assert_eq!(home.snapshot(), before);
    assert!(!home.path().join("missing").exists());
    assert_eq!(home.run(&["repair", "last", "--extract", "images"]).code, 0);
}

//! `repair` end to end: what it says, both ways, and that it can be taken back. What is mended is tested in the engine.

use super::home::Home;
use rethread_testkit::script;
use serde_json::Value;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const CUT: &str = "* cwd=/home/ann/garden\nu1: one\n  a1: !Bash ls\nu2 ^gone @+60: two\n  a2: two";

fn store(text: &str) -> Home {
    let home = Home::new();
    home.write_old(&format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"), script::bytes(text));
    home
}

#[test]
fn a_repair_says_what_it_mended_and_how_to_go_on() {
    let home = store(CUT);
    let before = home.picture();
    let run = home.run(&["repair", "last", "--in-place"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let expected = [
        "L3  missing-parent  hung on L2, the line before it; it named",
        "L2  unpaired-call   1 result added that says there was none",
        "before         2 of 4 entries within reach; missing-parent\u{a0}1, unreachable\u{a0}2",
        "after          5 of 5 entries within reach; nothing is wrong",
        "loads          5 entries",
        "resume: cd /home/ann/garden && claude --resume aaaaaaaa",
        "undo:   rethread undo 1",
    ];
    for words in expected {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    assert_eq!(home.run(&["doctor", "last"]).code, 0);
    assert_eq!(home.run(&["undo"]).code, 0);
    assert_eq!(home.picture(), before);
}

#[test]
fn a_new_session_leaves_its_origin_alone() {
    let home = store(CUT);
    let before = home.picture();
    let dry = home.run(&["repair", "last", "--dry-run"]);
    assert_eq!((dry.code, home.picture()), (0, before.clone()), "{}", dry.err);
    assert!(dry.out.contains("would be       5 of 5 entries within reach"), "{}", dry.out);
    let run = home.run(&["repair", "last", "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let told: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (done, mends) = told.split_last().unwrap();
    assert!(mends.iter().all(|mend| mend["type"] == "mend"), "{}", run.out);
    assert_eq!((&done["type"], &done["mends"]), (&"repair".into(), &mends.len().into()));
    assert_eq!((&done["before"]["within_reach"], &done["after"]["within_reach"]), (&2.into(), &5.into()));
    let path = std::path::PathBuf::from(done["path"].as_str().unwrap());
    let mut after = home.picture();
    assert!(after.remove(&path).flatten().is_some_and(|bytes| {
        String::from_utf8(bytes)
            .unwrap()
            .contains(&format!(r#""relinkedFrom":"{}""#, script::uuid_of("gone")))
    }));
    assert_eq!(after, before);
}

#[test]
fn where_nothing_is_wrong_nothing_is_done() {
    let home = store("u1: one\n  a1: one");
    let before = home.picture();
    let run = home.run(&["repair", "last", "--in-place"]);
    assert_eq!((run.code, home.picture()), (1, before), "{}", run.err);
    assert!(run.out.ends_with("nothing to mend\n"), "{}", run.out);
    assert_eq!(home.run(&["repair", "nobody"]).code, 2);
}

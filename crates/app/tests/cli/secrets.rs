//! `secrets`: places are printed, secrets are not.

use rethread_testkit::home::Home;
use rethread_testkit::secrets::{LINE_FORMS, SecretRng, expand_template, write_line};

use crate::new_home;

const SESSION: &str = "0b1c5d3e-6a7f-4e21-9c55-1d2e3f405162";
const FOLDER: &str = ".claude/projects/-w";

/// Writes a session with a secret in all forms, in a stored result, a subagent and the file history. Returns the secret.
fn write_secrets(home: &Home) -> String {
    let mut rng = SecretRng::new(5);
    let planted = expand_template("groq-key", "gsk_<52w>", &mut rng);
    let lines: Vec<String> = (0..LINE_FORMS).map(|form| write_line(&planted.text, form)).collect();
    home.write(&format!("{FOLDER}/{SESSION}.jsonl"), lines.join("\n") + "\n");
    home.write(&format!("{FOLDER}/{SESSION}/subagents/agent-a1.jsonl"), write_line(&planted.text, 0) + "\n");
    home.write(&format!("{FOLDER}/{SESSION}/tool-results/r1.txt"), format!("one\n{}\n", planted.text));
    home.write(&format!(".claude/file-history/{SESSION}/b@v1"), format!("KEY={}\n", planted.text));
    home.write(".claude/history.jsonl", format!("{{\"display\":\"use {}\"}}\n", planted.text));
    planted.text
}

#[test]
fn secrets_are_reported_by_place_and_never_printed() {
    let home = new_home();
    let secret = write_secrets(&home);
    let run = home.run(&["secrets", "--list"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(!run.out.contains(&secret[8..20]) && !run.err.contains(&secret[8..20]), "{}", run.out);
    assert!(run.out.starts_with("kind"), "{}", run.out);
    assert!(run.out.contains("1 secret in 27 places"), "{}", run.out);
    for place in [
        "prompt",
        "answer",
        "tool-input",
        "tool-result",
        "title",
        "directory",
        "file-history",
        "thinking",
        "other",
    ] {
        assert!(run.out.contains(&format!("  {place}")), "{place}: {}", run.out);
    }
    let again = home.run(&["secrets", "--list"]);
    assert_eq!(again.out, run.out, "cached findings are equal");
    let changed = format!("{FOLDER}/{SESSION}/tool-results/r1.txt");
    home.write(&changed, "nothing\n");
    assert!(home.run(&["secrets"]).out.contains("1 secret in 26 places"));
}

#[test]
fn json_and_filters_select_places() {
    let home = new_home();
    let secret = write_secrets(&home);
    let run = home.run(&["secrets", SESSION, "--json", "--place", "title"]);
    assert_eq!(run.code, 1);
    assert!(!run.out.contains(&secret[8..20]), "{}", run.out);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", run.out);
    assert!(
        lines[0]
            .starts_with(r#"{"type":"secret","v":1,"kind":"groq-key","severity":"high","session":"0b1c5d3e"#),
        "{}",
        lines[0]
    );
    assert!(
        lines[0].contains(r#""place":"title""#) && lines[0].contains(r#""secret":"groq-key-1""#),
        "{}",
        lines[0]
    );
    assert!(lines[2].starts_with(r#"{"type":"secret_total","v":1,"#), "{}", lines[2]);
    assert_eq!(home.run(&["secrets", "--kind", "aws-key"]).code, 0);
    assert_eq!(home.run(&["secrets", "--severity", "high"]).code, 1);
    assert_eq!(home.run(&["secrets", "--kind", "nonsense"]).code, 2);
    assert_eq!(home.run(&["secrets", "--since", "nonsense"]).code, 2);
    assert!(home.run(&["secrets", "--kinds"]).out.contains("private key"));
}

#[test]
fn the_demo_has_no_secrets() {
    let run = new_home().run(&["--demo", "secrets"]);
    assert_eq!((run.code, run.out.as_str()), (0, ""));
    assert!(run.err.starts_with("no secrets found in "), "{}", run.err);
}

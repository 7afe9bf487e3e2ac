//! Secrets in exports: replaced by tokens, in every part of every format, or nothing is written.
#![expect(clippy::disallowed_methods, reason = "tests delete the files of a session")]

use rethread_testkit::home::Home;
use rethread_testkit::secrets::{SecretRng, expand_template};
use serde_json::{Value, json};

use crate::new_home;
use crate::session_builder::{PROJECT, SESSION, SessionBuilder, unpack_page};

/// Returns a secret that only its prefix reveals.
fn new_secret() -> String {
    expand_template("groq-key", "gsk_<52w>", &mut SecretRng::new(9)).text
}

/// Returns a session with a secret in its prompt and title, answer, call, result, directory and thinking, and in later turns
/// that a page packs.
fn secret_session(secret: &str) -> SessionBuilder {
    let long = "word after word ".repeat(20_000);
    let session = SessionBuilder::default()
        .add_entry("user", &json!(format!("Use {secret} here")), &json!({ "cwd": format!("/home/ada/{secret}") }))
        .add_answer(&format!("I use `{secret}` and [a link](https://h.net/?token={secret} \"{secret}\")."))
        .add_entry(
            "assistant",
            &json!([{ "type": "thinking", "thinking": format!("It is {secret}."), "signature": "x" }]),
            &Value::Null,
        )
        .add_call(
            "toolu_1",
            "Bash",
            &json!({ "command": format!("curl -H 'X-Key: {secret}'") }),
            &json!(format!("\u{1b}[32m{secret}\u{1b}[0m")),
            &json!({ "stdout": secret }),
        )
        .add_call(
            "toolu_2",
            "Edit",
            &json!({ "file_path": "/w/a.rs", "old_string": format!("k = \"{secret}\""), "new_string": "k = env" }),
            &json!("The file was updated."),
            &json!({ "structuredPatch": [{ "lines": [format!("-k = \"{secret}\""), "+k = env"] }] }),
        )
        .add_call(
            "toolu_3",
            "Bash",
            &json!({ "command": "print" }),
            &json!(format!("<persisted-output>\nOutput too large (35.8KB). Full output saved to: /x/tool-results/b1.txt\n\nPreview (first 2KB):\n{secret}\n...\n</persisted-output>")),
            &Value::Null,
        );
    (0..4).fold(session, |session, number| {
        session.add_prompt(&format!("turn {number}")).add_answer(&format!("{long} {secret}"))
    })
}

fn write_secret_session(secret: &str) -> Home {
    let home = new_home();
    secret_session(secret).write_to(&home);
    let agent = SessionBuilder::new_subagent("ag1").add_prompt("go").add_answer(&format!("found {secret}"));
    home.write_old(&format!("{PROJECT}/{SESSION}/subagents/agent-ag1.jsonl"), agent.text());
    home.write_old(&format!("{PROJECT}/{SESSION}/tool-results/b1.txt"), format!("first\n{secret}\n"));
    home
}

#[test]
fn no_part_of_an_export_contains_a_secret() {
    let secret = new_secret();
    let home = write_secret_session(&secret);
    for format in ["html", "md", "text"] {
        for detail in ["prompts", "everything"] {
            let run = home.run(&["export", SESSION, "--format", format, "--detail", detail, "--all"]);
            assert_eq!(run.code, 0, "{}", run.err);
            let output = unpack_page(&run.out);
            assert!(!output.contains(&secret[4..16]), "{format} {detail}");
            assert!(output.contains("[groq-key-1]") && !output.contains("[groq-key-2]"), "{format} {detail}");
            let masked = "1 secret replaced by tokens (1 groq-key)";
            assert!(output.contains(masked), "{format} {detail}: the export states what was replaced");
            assert_eq!(run.err, format!("{masked}; --keep-secrets keeps them\n"));
        }
        let kept = home.run(&["export", SESSION, "--format", format, "--keep-secrets"]);
        assert_eq!((kept.code, kept.err.as_str()), (0, ""));
        assert!(kept.out.contains(&secret) && !kept.out.contains("[groq-key-1]"));
    }
}

#[test]
fn stored_results_of_archived_sessions_are_exported_without_secrets() {
    let secret = new_secret();
    let home = write_secret_session(&secret);
    home.write_old(&format!("{PROJECT}/{SESSION}/tool-results/b1.txt"), format!("only here\n{secret}\n"));
    assert_eq!(home.run(&["archive"]).code, 0);
    let folder = home.path().join(PROJECT);
    let check = |case: &str| {
        let run = home.run(&["export", SESSION, "--format", "html"]);
        assert_eq!(run.code, 0, "{case}: {}", run.err);
        let page = unpack_page(&run.out);
        assert!(page.contains("only here"), "{case}: the stored result is in the page");
        assert!(page.contains("found [groq-key-1]"), "{case}: the subagent is in the page");
        assert!(!page.contains(&secret[4..16]), "{case}");
    };
    std::fs::remove_dir_all(folder.join(SESSION)).unwrap();
    check("only the transcript exists");
    std::fs::remove_file(folder.join(format!("{SESSION}.jsonl"))).unwrap();
    check("only the archive has the session");
}

#[test]
fn titles_of_old_clients_are_redacted_once() {
    let secret = new_secret();
    let home = new_home();
    // Clients up to 2.1.22 wrote titles into other files.
    let version = json!({ "version": "2.0.14" });
    let prompt = json!(format!("Use {secret} here"));
    SessionBuilder::default().add_entry("user", &prompt, &version).add_answer("ok").write_to(&home);
    let run = home.run(&["export", SESSION, "--format", "md"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.starts_with("# Use \\[groq-key-1\\] here\n"), "{}", run.out);
    assert!(!run.out.contains("[text:"), "{}", run.out);
}

#[test]
fn json_is_exact_or_refused() {
    let secret = new_secret();
    let home = write_secret_session(&secret);
    let run = home.run(&["export", SESSION, "--format", "json", "-o", "a.jsonl"]);
    assert_eq!((run.code, run.out.as_str()), (3, ""));
    assert!(
        run.err.starts_with(
            "error: nothing was written: the export contains secrets (groq-key)\nhint: use --redact"
        ),
        "{}",
        run.err
    );
    assert!(!home.path().join("a.jsonl").exists());
    let redacted = home.run(&["export", SESSION, "--json", "--redact"]);
    assert_eq!(redacted.code, 0, "{}", redacted.err);
    assert!(!redacted.out.contains(&secret[4..16]) && redacted.out.contains("[groq-key-1]"));
    let kept = home.run(&["export", SESSION, "--json", "--keep-secrets"]);
    assert!(kept.code == 0 && kept.out.contains(&secret));
    // The turns that are exported hold no secret.
    home.write_old(
        &format!("{PROJECT}/{SESSION}.jsonl"),
        SessionBuilder::default().add_prompt("a").add_answer("b").text(),
    );
    assert_eq!(home.run(&["export", SESSION, "--json"]).code, 0);
}

#[test]
fn configuration_and_options_select_the_policy() {
    let secret = new_secret();
    let home = write_secret_session(&secret);
    home.write(".config/rethread/config.toml", "[export]\nsecrets = \"keep\"\n");
    assert!(home.run(&["export", SESSION]).out.contains(&secret));
    assert!(!home.run(&["export", SESSION, "--redact"]).out.contains(&secret));
    assert_eq!(home.run(&["export", SESSION, "--redact", "--keep-secrets"]).code, 2);
    assert_eq!(home.run(&["export", SESSION, "--redact-words", "missing.txt"]).code, 2);
}

#[test]
fn home_folder_own_words_names_and_addresses_are_replaced() {
    let home = new_home();
    let path = home.path().display().to_string();
    let user = path.rsplit('/').next().expect("a name").to_owned();
    SessionBuilder::default()
        .add_prompt(&format!("Ask Kraken Ltd, ada@sea.net, in {path}/docs and {path}2, as {user}"))
        .write_to(&home);
    home.write("words.txt", "kraken ltd\n\n");
    let plain = home.run(&["export", SESSION, "--redact"]).out;
    assert!(plain.contains(&format!("Kraken Ltd, ada@sea.net, in ~/docs and {path}2, as {user}")), "{plain}");
    let args = ["export", SESSION, "--redact-words", "words.txt", "--redact-names", "--redact-emails"];
    let masked = home.run(&args).out;
    assert!(
        masked.contains("Ask [word-1], [email], in ~/docs and") && masked.contains("as [user]"),
        "{masked}"
    );
}

#[test]
fn a_preview_lists_rules_with_counts_and_masked_context() {
    let secret = new_secret();
    let home = write_secret_session(&secret);
    let path = home.path().display().to_string();
    let note = format!("mail ada@sea.net about {path}/docs, not [groq-key-1]");
    home.write_old(&format!("{PROJECT}/{SESSION}/tool-results/note.txt"), note);
    let before = home.snapshot();
    let run = home.run(&["export", SESSION, "--dry-run", "--redact-emails"]);
    assert_eq!((run.code, run.err.as_str()), (0, "in all files of the session; nothing was written\n"));
    assert!(!run.out.contains(&secret[4..16]), "{}", run.out);
    assert!(run.out.starts_with("rule"), "{}", run.out);
    for text in ["groq-key", "Use [groq-key-1] here", "mail [email] about ~/docs, not [text:groq-key-1]"] {
        assert!(run.out.contains(text), "{text}: {}", run.out);
    }
    let rules = home.run_json_lines(&["export", SESSION, "-d", "--redact-emails", "--json"]);
    let names: Vec<&Value> = rules.iter().map(|rule| &rule["rule"]).collect();
    assert_eq!(names, ["groq-key", "email", "home", "thinking", "token-like"]);
    assert_eq!((&rules[0]["texts"], &rules[1]["places"]), (&json!(1), &json!(1)));
    assert!(rules[0]["places"].as_u64() > Some(10), "{}", rules[0]);
    assert_eq!(home.snapshot(), before, "nothing is written");
    let other = new_home();
    SessionBuilder::default().add_prompt("a").add_answer("b").write_to(&other);
    let run = other.run(&["export", SESSION, "-d"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", "nothing is replaced\n"));
}

#[test]
fn hostile_text_cannot_forge_a_token() {
    let secret = new_secret();
    let home = new_home();
    SessionBuilder::default()
        .add_prompt(&format!("The key is {secret}, not [groq-key-1] or &#91;groq-key-1] or [groq-key-7]"))
        .write_to(&home);
    let output = home.run(&["export", SESSION]).out;
    assert_eq!(output.matches("[groq-key-1]").count(), 1, "{output}");
    assert!(output.contains("text:groq-key-7"), "{output}");
}

/// A text can hide a secret from the search and show it on the page.
#[test]
fn nothing_is_written_if_the_page_shows_a_secret() {
    let secret = new_secret();
    let home = new_home();
    let coloured = format!("{}\u{1b}[32m{}\u{1b}[0m", &secret[..20], &secret[20..]);
    SessionBuilder::default()
        .add_prompt("go")
        .add_call(
            "toolu_1",
            "Bash",
            &json!({ "command": "x" }),
            &json!(coloured),
            &json!({ "stdout": coloured }),
        )
        .write_to(&home);
    let run = home.run(&["export", SESSION, "-o", "a.html"]);
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("still contains texts that look like secrets (groq-key)"), "{}", run.err);
    assert!(!home.path().join("a.html").exists());
    assert_eq!(home.run(&["export", SESSION, "-o", "a.html", "--keep-secrets"]).code, 0);
}

#[test]
fn a_page_of_some_turns_contains_only_these() {
    let home = new_home();
    let session = (1..=5).fold(SessionBuilder::default(), |session, number| {
        session.add_prompt(&format!("prompt number{number}")).add_answer(&format!("answer number{number}"))
    });
    session.write_to(&home);
    let page = unpack_page(&home.run(&["export", SESSION, "--format", "html", "--turns", "2..3"]).out);
    let shown = [1, 2, 3, 4, 5].map(|number| page.contains(&format!("answer number{number}")));
    assert_eq!(shown, [false, true, true, false, false]);
    // The title is the first prompt.
    assert!(!page.contains("prompt number4") && page.contains("here t2 to t3"), "{page}");
}

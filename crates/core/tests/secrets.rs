//! Laws of the detection and the redaction of secrets, and its recall and precision on planted texts.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rethread_core::entry::Reader;
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{KNOWN_CLIENTS, ResumeIndex, ResumeOutcome, simulate_resume};
use rethread_core::secrets::{DETECTORS, RedactOptions, Redactor, Replacement, TokenTable, find_secrets};
use rethread_core::tree::{LineSpan, TreeBuilder};
use rethread_core::version::Version;
use rethread_testkit::random;
use rethread_testkit::secrets::{LINE_FORMS, LOOK_ALIKES, look_alikes, plant_secrets, write_line};

fn redactor_for(lines: &[String]) -> Redactor {
    let mut table = TokenTable::default();
    lines.iter().for_each(|line| table.add_line(line.as_bytes()));
    Redactor::new(table, &RedactOptions::default())
}

/// Returns a text with all escapes of JSON and addresses decoded, at every level.
fn decode_fully(text: &str) -> String {
    let mut texts = vec![text.to_owned()];
    for _ in 0..4 {
        let last = texts.last().expect("a text");
        let mut decoded = String::new();
        let mut chars = last.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some('u') => {
                        let code: String = chars.by_ref().take(4).collect();
                        decoded.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
                    }
                    Some('n') => decoded.push('\n'),
                    Some(other) => decoded.push(other),
                    None => {}
                },
                '%' => {
                    let code: String = chars.clone().take(2).collect();
                    match u8::from_str_radix(&code, 16).ok().filter(|_| code.len() == 2) {
                        Some(byte) => {
                            decoded.push(char::from(byte));
                            chars.nth(1);
                        }
                        None => decoded.push('%'),
                    }
                }
                _ => decoded.push(c),
            }
        }
        texts.push(decoded);
    }
    texts.join("\n")
}

#[test]
fn there_are_many_kinds_with_unique_names() {
    let names: BTreeSet<&str> = DETECTORS.iter().map(|detector| detector.name).collect();
    assert_eq!(names.len(), DETECTORS.len());
    assert!(names.len() >= 70, "{}", names.len());
    for detector in &DETECTORS {
        assert!(detector.example.contains('<'), "{}", detector.name);
    }
}

#[test]
fn planted_secrets_are_replaced_in_every_place() {
    const COUNT: usize = 3_000;
    let mut missed: BTreeMap<(&str, usize), String> = BTreeMap::new();
    let mut missed_count = 0;
    for (idx, planted) in plant_secrets(COUNT, 1).into_iter().enumerate() {
        let form = (idx + idx / DETECTORS.len()) % LINE_FORMS;
        let line = write_line(&planted.text, form);
        let redactor = redactor_for(std::slice::from_ref(&line));
        let redacted = redactor.redact_line(line.as_bytes());
        let shown = decode_fully(&String::from_utf8_lossy(&redacted));
        // Short random parts also occur by chance.
        let remains =
            planted.parts.iter().filter(|part| part.len() >= 6).any(|part| shown.contains(part.as_str()));
        if remains {
            missed_count += 1;
            missed.entry((planted.kind, form)).or_insert(line);
        }
    }
    assert!(missed_count * 100 <= COUNT, "{missed_count} of {COUNT} secrets remain: {missed:#?}");
}

#[test]
fn look_alikes_are_spared() {
    const COUNT: usize = 20_000;
    let mut reported = Vec::new();
    for (idx, text) in look_alikes(COUNT, 1).into_iter().enumerate() {
        let line = write_line(&text, idx / LOOK_ALIKES);
        let found = find_secrets(line.as_bytes());
        if let Some(secret) = found.first() {
            reported.push(format!("{}: {line}", secret.detector().name));
        }
    }
    assert!(reported.len() * 2_000 <= COUNT, "{} of {COUNT} are reported: {reported:#?}", reported.len());
}

#[test]
fn a_secret_has_one_token_in_all_places() {
    for planted in plant_secrets(DETECTORS.len(), 3) {
        let lines: Vec<String> = [0, 2, 5, 7, 11].map(|form| write_line(&planted.text, form)).into();
        let redactor = redactor_for(&lines);
        let counts = redactor.table().counts();
        assert_eq!(counts.values().sum::<u32>(), 1, "{}: {counts:?}", planted.kind);
        assert!(counts.contains_key(planted.kind), "{}: {counts:?}", planted.kind);
        let token = format!("[{}-1]", planted.kind);
        for line in &lines {
            let redacted = String::from_utf8(redactor.redact_line(line.as_bytes()).into_owned()).unwrap();
            assert!(redacted.contains(&token), "{redacted}");
        }
    }
}

/// Returns lines with secrets, look-alikes and forged tokens.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let text = prop_oneof![
        (0..DETECTORS.len(), any::<u64>())
            .prop_map(|(idx, seed)| { plant_secrets(idx + 1, seed).pop().expect("a secret").text }),
        (0..LOOK_ALIKES, any::<u64>())
            .prop_map(|(idx, seed)| look_alikes(idx + 1, seed).pop().expect("a text")),
        (0..DETECTORS.len(), 1..4u32).prop_map(|(idx, number)| format!("[{}-{number}]", DETECTORS[idx].name)),
        "[ -~\\n\"\\\\]{0,40}",
    ];
    let texts = proptest::collection::vec(text, 1..4).prop_map(|texts| texts.join(" "));
    proptest::collection::vec((texts, 0..LINE_FORMS).prop_map(|(text, form)| write_line(&text, form)), 1..6)
}

/// Adds a secret to the texts and the inputs of a line.
fn add_to_texts(line: &str, secret: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<serde_json::Value>(line) else { return line.to_owned() };
    let mut add = |pointer: &str| {
        if let Some(serde_json::Value::String(text)) = value.pointer_mut(pointer) {
            text.push_str(&format!(" {secret}"));
        }
    };
    add("/message/content");
    for block in 0..4 {
        for field in ["text", "thinking", "content", "input/command", "input/file_path"] {
            add(&format!("/message/content/{block}/{field}"));
        }
    }
    value.to_string()
}

/// Returns the ids and parents of all entries, and what a client resumes.
fn resume(lines: &[String], version: &Version) -> (Vec<String>, ResumeOutcome) {
    let mut builder = TreeBuilder::default();
    let mut index = ResumeIndex::default();
    let (mut links, mut reader) = (Vec::new(), Reader::default());
    let file = lines.join("\n") + "\n";
    LineSplitter::default().feed(file.as_bytes(), true, &mut Vec::new(), |line, problems| {
        reader.read_line(&line, problems, |entry, _| {
            // The lengths differ, so the spans are those of the line numbers.
            let span = LineSpan { offset: u64::from(line.number), len: 1, line: line.number };
            builder.add_and_visit(&entry, span, &mut index);
            links.push(format!("{:?} {:?} {:?}", entry.uuid, entry.kind, entry.role()));
        });
    });
    let tree = builder.finish();
    links.extend((0..tree.nodes().len()).map(|id| format!("{:?}", tree.ancestors(id as u32))));
    (links, simulate_resume(&tree, &index, version))
}

fn redact_all(lines: &[String]) -> Vec<String> {
    let redactor = redactor_for(lines);
    let redact =
        |line: &String| String::from_utf8(redactor.redact_line(line.as_bytes()).into_owned()).expect("UTF-8");
    lines.iter().map(redact).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn redacting_twice_is_redacting_once(lines in lines()) {
        let once = redact_all(&lines);
        prop_assert_eq!(redact_all(&once), once);
    }

    #[test]
    fn redacted_lines_hold_no_secret(lines in lines()) {
        for line in redact_all(&lines) {
            prop_assert_eq!(find_secrets(line.as_bytes()), []);
        }
    }

    /// Every byte outside of a secret stays, and so do all ids and types.
    #[test]
    fn only_strings_with_secrets_change(lines in lines()) {
        for (line, redacted) in lines.iter().zip(redact_all(&lines)) {
            let Ok(before) = serde_json::from_str::<serde_json::Value>(line) else { continue };
            let after: serde_json::Value = serde_json::from_str(&redacted).expect("a redacted line is JSON");
            for pointer in ["/type", "/uuid", "/message/id", "/message/content/0/id", "/message/content/0/tool_use_id", "/message/content/0/type"] {
                prop_assert_eq!(before.pointer(pointer), after.pointer(pointer));
            }
            // A text that looks like a token is changed, and it may be written with escapes.
            let decoded = before.to_string();
            let has_token = ["-1]", "-2]", "-3]"].iter().any(|end| decoded.contains(end));
            if find_secrets(line.as_bytes()).is_empty() && !has_token {
                prop_assert_eq!(line, &redacted);
            }
        }
    }

    /// A redacted line is the line with tokens instead of secrets, and nothing else.
    #[test]
    fn bytes_between_secrets_are_unchanged(lines in lines()) {
        let redactor = redactor_for(&lines);
        for line in &lines {
            let secrets = find_secrets(line.as_bytes());
            let known: Vec<&str> = secrets.iter().map(|secret| &line[secret.range.clone()]).collect();
            let (mut rebuilt, mut from) = (String::new(), 0);
            for Replacement { rule, token, range, context } in redactor.list_replacements_in_line(line.as_bytes()) {
                let is_secret = secrets.iter().any(|secret| secret.range.start < range.end && range.start < secret.range.end);
                let is_known = is_secret || lines.iter().any(|other| find_secrets(other.as_bytes()).iter().any(|secret| decode_fully(&other[secret.range.clone()]).contains(&line[range.clone()])));
                prop_assert!(is_known || rule == "token-like" && range.is_empty(), "{rule} {context} {known:?}");
                prop_assert!(context.contains(&token), "{token} {context}");
                rebuilt.push_str(&line[from..range.start]);
                rebuilt.push_str(match rule.as_str() {
                    "thinking" => r#"{"type":"thinking","thinking":"[thinking removed]","signature":""}"#,
                    _ => &token,
                });
                from = range.end;
            }
            rebuilt.push_str(&line[from..]);
            let redacted = redactor.redact_line(line.as_bytes());
            prop_assert_eq!(rebuilt, String::from_utf8_lossy(&redacted));
        }
    }

    /// Only the redaction writes a token that it issued: a text that looks like one is marked, however it is escaped.
    #[test]
    fn no_text_passes_for_a_token(idx in 0..DETECTORS.len(), seed in any::<u64>(), form in 0..LINE_FORMS, bracket in r"(\[|&#91;|&#x5b;|&#X5B;|&lbrack;|&lsqb;|\\u005b)", number in 1..4u32) {
        let planted = plant_secrets(idx + 1, seed).pop().expect("a secret");
        let forged = format!("{bracket}{}-{number}]", planted.kind);
        let lines = vec![write_line(&planted.text, 0), write_line(&format!("see {forged} here"), form)];
        let redacted = redact_all(&lines);
        prop_assert!(redacted[0].contains(&format!("[{}-1]", planted.kind)), "{}", redacted[0]);
        // Thinking is removed as a whole.
        // In an address the bracket is encoded, so no text looks like a token.
        prop_assume!(!redacted[1].contains("%20"));
        let marked = format!("text:{}-{number}", planted.kind);
        prop_assert!(redacted[1].contains(&marked) || redacted[1].contains("[thinking removed]"), "{}", redacted[1]);
        prop_assert!(!decode_fully(&redacted[1]).contains(&format!("[{}-{number}]", planted.kind)), "{}", redacted[1]);
        // Each character may be escaped.
        let escaped: String = forged.chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
        let lines = [lines[0].clone(), format!(r#"{{"type":"user","message":{{"content":"see {escaped} here"}}}}"#)];
        let redacted = redact_all(&lines);
        let shown: serde_json::Value = serde_json::from_str(&redacted[1]).expect("JSON");
        prop_assert!(shown["message"]["content"].as_str().is_some_and(|text| text.contains(&marked)), "{}", redacted[1]);
    }

    /// Ids, roles and links stay, so a client loads the same entries and pairs the same calls.
    #[test]
    fn a_redacted_session_has_the_same_tree_and_resumes_alike(file in random::file(), seed in any::<u64>()) {
        let secret = plant_secrets(DETECTORS.len(), seed).into_iter().find(|planted| planted.kind == "groq-key").unwrap();
        let lines: Vec<String> =
            String::from_utf8_lossy(&file).lines().map(|line| add_to_texts(line, &secret.text)).collect();
        let redacted = redact_all(&lines);
        prop_assert!(!redacted.iter().any(|line| line.contains(&secret.text)));
        for version in [KNOWN_CLIENTS[0], KNOWN_CLIENTS[KNOWN_CLIENTS.len() - 1]] {
            let version = Version::parse_lenient(version);
            let (before, after) = (resume(&lines, &version), resume(&redacted, &version));
            prop_assert_eq!((before.0, before.1.leaf, before.1.chain, before.1.path), (after.0, after.1.leaf, after.1.chain, after.1.path));
            prop_assert_eq!(before.1.sent.len(), after.1.sent.len());
        }
    }

    #[test]
    fn any_bytes_are_accepted(bytes in proptest::collection::vec(any::<u8>(), 0..400), text in "(sk-|ghp_|password|token|://|\\\\u003|%3D|eyJ|AKIA|-----BEGIN |\\\\|\"|:|=| |[A-Za-z0-9+/@.]){0,60}") {
        for bytes in [&bytes[..], text.as_bytes()] {
            for secret in find_secrets(bytes) {
                prop_assert!(secret.range.start < secret.range.end && secret.range.end <= bytes.len());
            }
            redactor_for(&[]).redact_line(bytes);
        }
    }
}

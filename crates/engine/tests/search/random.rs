//! Random stores, changes and queries: the index gives the same hits after any change.

use std::fmt::Write as _;
use std::io::Write as _;

use proptest::prelude::*;
use proptest::sample::{Index as Pick, select};

use crate::store::{FILES, TestStore};

/// Fragments of texts and queries: identifiers in every style, similar characters, scripts without spaces.
const FRAGMENTS: &[&str] = &[
    "the",
    "he",
    "ad",
    "Header",
    "getHeader",
    "parentUuid",
    "parent_uuid",
    "PARENT_UUID",
    "uuid",
    "UUID",
    "u",
    "id",
    "src/main.rs",
    "foo/bar.rs",
    "main",
    "_x_",
    "__init__",
    "a_b",
    "aB",
    "AB",
    "x1Y",
    "v2",
    "0.27",
    "27",
    "->",
    "==",
    "漢字",
    "漢",
    "字典",
    "重跑gen-itgc后",
    "カタカナ",
    "ひらがな",
    "한국어",
    "국",
    "über",
    "ÜBER",
    "straße",
    "STRASSE",
    "İstanbul",
    "ﬁx",
    "e\u{301}",
    "\u{1f600}",
    "\"",
    "\\",
    "\n",
    "<b>",
    "\u{1b}[1m",
    "aVeryLongNameThatGoesOnAndOnUntilItIsLongerThanAnyNameShouldEverBeInAProgram_orIsIt",
    "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
];

const FIELDS: &[&str] = &[
    "role:user",
    "role:assistant",
    "role:tool",
    "role:thinking",
    "role:summary",
    "role:context",
    "-role:tool",
    "tool:Bash",
    "tool:read",
    "tool:github",
    "-tool:Bash",
    "file:main",
    "file:src/",
    "model:opus",
    "branch:main",
    "project:shed",
    "project:nowhere",
    "session:aaaa",
    "pr:1",
    "pr:https://x/pull/2",
    "-pr:3",
    "error:yes",
    "error:no",
    "is:active",
    "is:abandoned",
    "is:compacted",
    "is:subagent",
    "-is:active",
    "since:3",
    "until:5",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec((select(FRAGMENTS), select(&["", " ", " ", "_", "/"][..])), 1..6)
        .prop_map(|parts| parts.into_iter().flat_map(|(fragment, separator)| [fragment, separator]).collect())
}

/// Generates a text to search for: a whole text or a substring.
fn search_text() -> impl Strategy<Value = String> {
    (text(), any::<Pick>(), any::<Pick>(), any::<bool>()).prop_map(|(text, from, to, is_whole)| {
        let chars: Vec<char> = text.trim().chars().collect();
        if is_whole || chars.is_empty() {
            return text;
        }
        let (from, to) = (from.index(chars.len()), to.index(chars.len()));
        chars[from.min(to)..=from.max(to)].iter().collect()
    })
}

fn literal() -> impl Strategy<Value = String> {
    let quote = |text: String| format!("\"{}\"", text.replace('"', "\"\""));
    prop_oneof![
        6 => search_text().prop_map(quote),
        1 => search_text().prop_map(move |text| format!("-{}", quote(text))),
        3 => select(FIELDS).prop_map(str::to_owned),
        2 => pattern(),
    ]
}

/// Generates a regular expression, often one that requires parts of texts.
fn pattern() -> impl Strategy<Value = String> {
    let part = (search_text(), select(&["", "", "?", "+", "{2}", ".*", "[a-z]+", "|", "\\b"][..]))
        .prop_map(|(text, suffix)| format!("({}){suffix}", escape_pattern(&text)));
    let any = (select(&["", "", "(?i)", "-"][..]), prop::collection::vec(part, 1..4)).prop_map(
        |(prefix, parts)| {
            let negation = prefix.strip_prefix('-').map(|_| "-");
            format!(
                "{}/{}{}/",
                negation.unwrap_or_default(),
                if negation.is_some() { "" } else { prefix },
                parts.concat()
            )
        },
    );
    prop_oneof![
        1 => select(&["/the|uuid/", "/[a-z]+_[a-z]+/", "/^.漢/", "-/uuid.*x/"][..]).prop_map(str::to_owned),
        3 => any,
    ]
}

/// Escapes the characters of a text that have a meaning in patterns, and white space and slashes.
fn escape_pattern(text: &str) -> String {
    let escape = |c: char| match c {
        '/' => "\\/".to_owned(),
        c if c.is_whitespace() => "\\s".to_owned(),
        c if c.is_ascii_punctuation() => format!("\\{c}"),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}

fn query() -> impl Strategy<Value = String> {
    let group = prop::collection::vec(literal(), 1..3).prop_map(|literals| literals.join(" OR "));
    prop::collection::vec(group, 1..4).prop_map(|groups| groups.join(" "))
}

/// A line of a session.
#[derive(Debug, Clone)]
struct LineSpec {
    kind: u8,
    text: String,
    parent: Pick,
    uuid: u16,
    day: u8,
    /// 1 for a sidechain entry, 2 for a failed tool result.
    flag: u8,
}

fn line_spec() -> impl Strategy<Value = LineSpec> {
    (0..13u8, text(), any::<Pick>(), 0..400u16, 0..8u8, 0..40u8)
        .prop_map(|(kind, text, parent, uuid, day, flag)| LineSpec { kind, text, parent, uuid, day, flag })
}

fn write_line(spec: &LineSpec, previous_uuids: &[u16], session: &str) -> String {
    let text = serde_json::to_string(&spec.text).expect("a string");
    let uuid = |number: u16| format!("00000000-0000-4000-8000-{number:012}");
    let parent = previous_uuids
        .get(spec.parent.index(previous_uuids.len() + 1))
        .map_or("null".to_owned(), |number| format!("\"{}\"", uuid(*number)));
    let common = format!(
        "\"uuid\":\"{}\",\"parentUuid\":{parent},\"sessionId\":\"{session}\",\"timestamp\":\"2026-01-0{}T00:00:00.000Z\",\"cwd\":\"/home/ada/shed\",\"gitBranch\":\"main\",\"version\":\"2.1.104\",\"isSidechain\":{}",
        uuid(spec.uuid),
        spec.day + 1,
        spec.flag == 1,
    );
    let tool = ["Bash", "Read", "mcp__github__search"][usize::from(spec.day) % 3];
    let call_id = spec.uuid % 7;
    match spec.kind {
        0 | 1 => {
            format!("{{\"type\":\"user\",{common},\"message\":{{\"role\":\"user\",\"content\":{text}}}}}")
        }
        2 | 3 => format!(
            "{{\"type\":\"assistant\",{common},\"message\":{{\"id\":\"msg_{}\",\"model\":\"opus\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}",
            spec.uuid
        ),
        4 => format!(
            "{{\"type\":\"assistant\",{common},\"message\":{{\"id\":\"msg_{}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"thinking\",\"thinking\":{text}}}]}}}}",
            spec.uuid
        ),
        5 | 6 => format!(
            "{{\"type\":\"assistant\",{common},\"message\":{{\"id\":\"msg_{}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"then\"}},{{\"type\":\"tool_use\",\"id\":\"toolu_{call_id}\",\"name\":\"{tool}\",\"input\":{{\"command\":{text},\"file_path\":\"/home/ada/src/main.rs\"}}}}]}}}}",
            spec.uuid
        ),
        7 | 8 => format!(
            "{{\"type\":\"user\",{common},\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_{call_id}\",\"is_error\":{},\"content\":{text}}}]}}}}",
            spec.flag == 2
        ),
        9 => format!("{{\"type\":\"system\",{common},\"subtype\":\"compact_boundary\",\"content\":{text}}}"),
        10 => format!("{{\"type\":\"custom-title\",\"customTitle\":{text},\"sessionId\":\"{session}\"}}"),
        11 => format!(
            "{{\"type\":\"pr-link\",\"sessionId\":\"{session}\",\"prNumber\":{0},\"prUrl\":\"https://x/pull/{0}\",\"prRepository\":{text}}}",
            spec.day
        ),
        _ => format!(
            "{{\"type\":\"attachment\",{common},\"attachment\":{{\"type\":\"file\",\"content\":{text}}}}}"
        ),
    }
}

fn write_lines(specs: &[LineSpec], session: &str) -> String {
    let mut previous_uuids = Vec::new();
    let mut text = String::new();
    for spec in specs {
        let _ = writeln!(text, "{}", write_line(spec, &previous_uuids, session));
        previous_uuids.push(spec.uuid);
    }
    text
}
/// A change of a file between two searches.
#[derive(Debug, Clone)]
enum Change {
    /// Appends lines. With `true`, the last one is not terminated.
    Append(usize, Vec<LineSpec>, bool),
    Rewrite(usize, Vec<LineSpec>),
    Truncate(usize, Pick),
    Remove(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let specs = || prop::collection::vec(line_spec(), 0..8);
    prop_oneof![
        4 => (0..FILES.len(), specs(), any::<bool>())
            .prop_map(|(file, specs, unterminated)| Change::Append(file, specs, unterminated)),
        2 => (0..FILES.len(), specs()).prop_map(|(file, specs)| Change::Rewrite(file, specs)),
        1 => (0..FILES.len(), any::<Pick>()).prop_map(|(file, at)| Change::Truncate(file, at)),
        1 => (0..FILES.len()).prop_map(Change::Remove),
    ]
}

/// Changes a file of the store.
fn apply_change(store: &TestStore, change: &Change) {
    let session_id = |file: usize| &FILES[file][15..51];
    match change {
        Change::Append(file, specs, unterminated) => {
            let path = store.path(*file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            let mut text = write_lines(specs, session_id(*file));
            if *unterminated {
                // The next append may continue the last line.
                text.pop();
            }
            let mut options = std::fs::OpenOptions::new();
            let mut file = options.append(true).create(true).open(path).expect("a file");
            file.write_all(text.as_bytes()).expect("written");
        }
        Change::Rewrite(file, specs) => {
            store.write(*file, write_lines(specs, session_id(*file)));
        }
        Change::Truncate(file, at) => {
            let path = store.path(*file);
            if let Ok(bytes) = std::fs::read(&path) {
                std::fs::write(path, &bytes[..at.index(bytes.len() + 1)]).expect("written");
            }
        }
        Change::Remove(file) => {
            let _ = std::fs::remove_file(store.path(*file));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn index_gives_the_same_hits_after_any_change(
        changes in prop::collection::vec((change(), prop::collection::vec(query(), 1..6)), 1..6),
    ) {
        let store = TestStore::new();
        std::fs::create_dir_all(store.folder.path().join("projects")).expect("a folder");
        let cache = store.cache();
        for (change, queries) in &changes {
            apply_change(&store, change);
            for query in queries {
                prop_assert_eq!(store.hits(query, Some(&cache)), store.hits(query, None), "{}", query);
                let counts = [true, false].map(|grouped| store.count_by_session(query, &cache, grouped));
                prop_assert_eq!(&counts[0], &counts[1], "{}", query);
            }
        }
    }
}

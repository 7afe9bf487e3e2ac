//! Rules that the compiler does not check: the order of modules, where exceptions are allowed, and the language of the code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The modules of core. A module may depend only on modules in earlier rows; modules of one row are independent.
const CORE: &[&[&str]] = &[
    &["pack"],
    &["id", "problem", "union_find", "version"],
    &["lines"],
    &["entry"],
    &["tree", "secrets"],
    &["block_table"],
    &["resume", "turn"],
    &["usage"],
    &["edit"],
    &["trim"],
    &["query", "diff", "session", "stats", "schema", "check"],
    &["fix", "context"],
];

/// The modules of the engine.
const ENGINE: &[&[&str]] = &[
    &["error"],
    &["plain_file"],
    &["archive_reader"],
    &["disk"],
    &["writer", "cache"],
    &["archive"],
    &["search_index"],
    &["session", "records"],
    &["edit"],
    &["ops"],
    &["store"],
];

/// The modules of the SQL crate.
const SQL: &[&[&str]] = &[
    &["error", "time_text", "tokens", "access", "examples"],
    &["file_filter", "functions", "row_batch"],
    &["database"],
];

/// The modules of the app.
const APP: &[&[&str]] = &[
    &["env", "text", "demo"],
    &["prices", "content"],
    &["context", "json"],
    &["html"],
    &["export"],
    &["config"],
    &["mcp", "web"],
    &["cli"],
    &["main"],
];

/// Words that this project does not use in comments and user texts, with what to write instead.
const BANNED_WORDS: &[(&str, &str)] = &[
    ("told", "reported, rendered"),
    ("somebody", "the user, another process"),
    ("nobody", "no user, no process"),
    ("whoever", "the caller"),
    ("seldom", "rare"),
    ("hang", "its parent is"),
    ("hangs", "its parent is"),
    ("hung", "its parent was"),
    ("mend", "repair, fix"),
    ("mends", "repairs, fixes"),
    ("mended", "repaired, fixed"),
];

/// Openings that put the relative clause before the subject.
const BANNED_OPENINGS: &[&str] = &["What ", "Who ", "Whoever ", "Those ", "Of ", "Where "];

/// Names of the prelude and of `std` that a reader already knows.
const STD_NAMES: &[&str] = &[
    "Box", "Clone", "Copy", "Drop", "Eq", "From", "Into", "Iterator", "Option", "Ord", "Pin", "Range",
    "Result", "Send", "String", "Sync", "Vec",
];

/// Offences that are still in the sources. The numbers may only fall.
const BUDGET_COMMENTS: usize = 0;
const BUDGET_TEXTS: usize = 0;
const BUDGET_FN_OF: usize = 0;
const BUDGET_SHARED_NAMES: usize = 0;

fn crates_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is next to the others").to_owned()
}

/// Returns every source file below a folder with its text.
fn read_sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source can be read");
                files.push((path, text));
            }
        }
    }
    assert!(!files.is_empty(), "there are sources below {}", folder.display());
    files
}

/// Returns the sources of a crate without its unit tests.
fn read_shipped_sources(krate: &str) -> Vec<(PathBuf, String)> {
    let is_test =
        |path: &Path| path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("tests"));
    let mut files = read_sources(&crates_dir().join(krate).join("src"));
    files.retain(|(path, _)| !is_test(path));
    files
}

/// Returns the modules that a text names by `crate::`.
fn named_modules(text: &str) -> Vec<String> {
    let parts = text.split("crate::").skip(1);
    let name = |part: &str| part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    parts.map(name).collect()
}

fn check_order(src: &Path, order: &[&[&str]]) {
    let rank = |module: &str| order.iter().position(|row| row.contains(&module));
    for (path, text) in read_sources(src) {
        let module =
            path.strip_prefix(src).expect("below the sources").components().next().expect("a module");
        let module = module.as_os_str().to_str().expect("a plain name").trim_end_matches(".rs").to_owned();
        // Unit tests may use modules that depend on the tested one.
        let is_test = path.file_name().is_some_and(|name| name == "tests.rs");
        let Some(here) = rank(&module).filter(|_| !is_test) else { continue };
        for named in named_modules(&text) {
            let Some(there) = rank(&named) else { continue };
            let allowed = there < here || named == module;
            assert!(allowed, "{} uses `{named}`, which does not come before `{module}`", path.display());
        }
    }
}

#[test]
fn modules_depend_only_on_earlier_modules() {
    check_order(&crates_dir().join("core/src"), CORE);
    check_order(&crates_dir().join("engine/src"), ENGINE);
    check_order(&crates_dir().join("sql/src"), SQL);
    check_order(&crates_dir().join("app/src"), APP);
}

#[test]
fn every_module_is_in_the_order() {
    for (krate, order) in [("core", CORE), ("engine", ENGINE), ("sql", SQL), ("app", APP)] {
        let src = crates_dir().join(krate).join("src");
        for entry in std::fs::read_dir(&src).expect("the sources") {
            let name = entry.expect("an entry").file_name();
            let module = name.to_str().expect("a plain name").trim_end_matches(".rs").to_owned();
            let placed = module == "lib" || order.iter().any(|row| row.contains(&module.as_str()));
            assert!(placed, "{krate}/{module} is missing in the order of modules");
        }
    }
}

#[test]
fn exceptions_are_only_in_listed_files() {
    // The patterns are assembled here so that this file does not match itself.
    let fences = [
        (
            format!("expect(clippy::{}", "disallowed_methods"),
            &[
                "engine/src/writer/mod.rs",
                "engine/src/archive/encrypted/tests.rs",
                "engine/src/archive/listing_tests.rs",
                "engine/src/archive/tests.rs",
                "engine/src/archive/tombstone_tests.rs",
                "engine/src/cache/mod.rs",
                "engine/src/search_index/mod.rs",
                "app/src/env.rs",
                // `config edit` creates the configuration file.
                "app/src/config/file.rs",
                // `man` creates the folder of the pages.
                "app/src/cli/man.rs",
                "app/src/demo",
                // A lake is a folder of the team, which the user names.
                "lake/src/folder.rs",
                // A test that rewrites docs/cli.md on request.
                "app/src/cli/reference.rs",
            ][..],
        ),
        (
            format!("expect({}", "unsafe_code"),
            &["core/src/entry/string_simd.rs", "engine/src/disk/lease.rs"][..],
        ),
        (
            format!("derive({}", "Serialize"),
            &[
                "app/src/json",
                "engine/src/writer/record.rs",
                "engine/src/archive_reader/catalog_record.rs",
                "engine/src/archive_reader/manifest.rs",
                "engine/src/archive/encrypted",
            ][..],
        ),
        (
            format!(", {}", "Serialize)"),
            &[
                "app/src/json",
                "engine/src/writer/record.rs",
                "engine/src/archive_reader/catalog_record.rs",
                "engine/src/archive_reader/manifest.rs",
                "engine/src/archive/encrypted",
            ][..],
        ),
    ];
    for krate in ["core", "engine", "sql", "lake", "app"] {
        for (path, text) in read_sources(&crates_dir().join(krate).join("src")) {
            let shown =
                path.strip_prefix(crates_dir()).expect("below the crates").to_str().expect("a plain path");
            for (mark, places) in &fences {
                let allowed = places.iter().any(|place| shown.starts_with(place));
                assert!(allowed || !text.contains(mark.as_str()), "`{mark}` is in {shown}");
            }
        }
    }
}

#[test]
fn no_postponed_or_skipped_work() {
    let marks = [["#[ign", "ore"], ["should_", "panic"], ["TO", "DO"], ["FIX", "ME"], ["#[all", "ow("]]
        .map(|m| m.concat());
    for krate in ["core", "engine", "sql", "lake", "app", "testkit"] {
        for (path, text) in read_sources(&crates_dir().join(krate)) {
            if path.components().any(|part| part.as_os_str() == "target") {
                continue;
            }
            for mark in &marks {
                // `TodoWrite` is the name of a tool.
                assert!(!text.contains(mark.as_str()), "`{mark}` is in {}", path.display());
            }
        }
    }
}

/// Fails if there are more offences than the budget, and also if there are fewer: then the budget must be lowered.
fn check_budget(rule: &str, offences: &[String], budget: usize) {
    let count = offences.len();
    let shown = offences.iter().take(20).cloned().collect::<Vec<_>>().join("\n  ");
    assert!(count <= budget, "{rule}: {count} offences, {budget} allowed\n  {shown}");
    assert!(count >= budget, "{rule}: only {count} offences remain, lower the budget from {budget}");
}

/// Returns the banned words of a text.
fn banned_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphabetic() && c != '\'');
    let find = |word: &str| {
        let known = BANNED_WORDS.iter().find(|(banned, _)| word.eq_ignore_ascii_case(banned));
        known.map(|(banned, instead)| format!("`{banned}` (write: {instead})"))
    };
    words.filter_map(find).collect()
}

#[test]
fn comments_use_the_words_of_the_field() {
    let mut offences = Vec::new();
    for krate in ["core", "engine", "sql", "lake", "app"] {
        for (path, text) in read_shipped_sources(krate) {
            for (number, line) in text.lines().enumerate() {
                let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
                let comment = comment.trim_start_matches(['/', '!']).trim_start();
                let place = format!("{}:{}", path.display(), number + 1);
                offences.extend(banned_words(comment).into_iter().map(|word| format!("{place}: {word}")));
                let is_doc = line.trim_start().starts_with("///");
                let starts_item = number == 0
                    || !text.lines().nth(number - 1).unwrap_or("").trim_start().starts_with("///");
                if is_doc && starts_item && BANNED_OPENINGS.iter().any(|opening| comment.starts_with(opening))
                {
                    offences.push(format!("{place}: begin with a verb or the subject: {comment}"));
                }
            }
        }
    }
    check_budget("comments", &offences, BUDGET_COMMENTS);
}

#[test]
fn user_texts_use_the_words_of_the_user() {
    let mut offences = Vec::new();
    // The conversations of the demo are not texts of the program.
    let is_demo = |path: &Path| path.starts_with(crates_dir().join("app/src/demo"));
    for (path, text) in read_shipped_sources("app").into_iter().filter(|(path, _)| !is_demo(path)) {
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            // Good enough for literals on one line: every second part between quotes.
            for literal in line.split('"').skip(1).step_by(2) {
                let found = banned_words(literal).into_iter();
                offences.extend(found.map(|word| format!("{}:{}: {word}", path.display(), number + 1)));
            }
        }
    }
    check_budget("texts", &offences, BUDGET_TEXTS);
}

/// Returns the names and files of the types that a source defines, and whether each is visible outside its module.
fn defined_types(text: &str) -> Vec<(String, bool)> {
    let mut types = Vec::new();
    for line in text.lines() {
        let (visible, rest) = match line.strip_prefix("pub") {
            Some(rest) => (!rest.starts_with("(super)"), rest.trim_start_matches(|c| c != ' ').trim_start()),
            None => (false, line),
        };
        let name = ["struct ", "enum ", "trait "].iter().find_map(|kind| rest.strip_prefix(kind));
        let Some(name) = name else { continue };
        types.push((name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect(), visible));
    }
    types
}

#[test]
fn a_type_name_means_one_thing() {
    let mut files_by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for krate in ["core", "engine", "sql", "lake"] {
        for (path, text) in read_shipped_sources(krate) {
            for (name, visible) in defined_types(&text) {
                assert!(!STD_NAMES.contains(&name.as_str()), "{}: `{name}` is a name of std", path.display());
                if visible {
                    files_by_name.entry(name).or_default().push(path.display().to_string());
                }
            }
        }
    }
    let shared = files_by_name.iter().filter(|(_, files)| files.len() > 1);
    let offences: Vec<String> =
        shared.map(|(name, files)| format!("`{name}` in {}", files.join(", "))).collect();
    check_budget("shared type names", &offences, BUDGET_SHARED_NAMES);
}

#[test]
fn no_function_is_called_of() {
    let mark = ["fn o", "f("].concat();
    let mut offences = Vec::new();
    for krate in ["core", "engine", "sql", "lake", "app", "testkit"] {
        for (path, text) in read_sources(&crates_dir().join(krate).join("src")) {
            let count = text.matches(mark.as_str()).count();
            offences.extend((0..count).map(|_| path.display().to_string()));
        }
    }
    check_budget("functions called `of`", &offences, BUDGET_FN_OF);
}

/// Tests of the program start processes through the testkit, so that these inherit no file that a test is writing.
#[test]
fn tests_start_processes_through_the_testkit() {
    let mark = ["Comm", "and::new("].concat();
    for (path, text) in read_sources(&crates_dir().join("app/tests")) {
        let count = text.matches(mark.as_str()).count();
        let wrapped_count = text.matches(&format!("Process{mark}")).count();
        assert_eq!(count, wrapped_count, "`{mark}` is in {}", path.display());
    }
}

/// insta takes a leading `⋮` for an old format, in which different texts may count as equal.
#[test]
fn no_snapshot_begins_with_a_vertical_ellipsis() {
    for krate in ["core", "engine", "sql", "lake", "app", "testkit"] {
        for (path, text) in read_sources(&crates_dir().join(krate)) {
            for snapshot in text.split('@').skip(1) {
                let literal = snapshot.trim_start_matches(['r', '#']);
                let content = literal.strip_prefix('"').map(str::trim_start);
                let is_vacuous = content.is_some_and(|content| content.starts_with('⋮'));
                assert!(!is_vacuous, "a snapshot that cannot fail is in {}", path.display());
            }
        }
    }
}

//! The house rules that the compiler does not know: which room may name which, and where exceptions may stand.

use std::path::{Path, PathBuf};

/// The rooms of core from left to right; those in one bracket do not know each other.
const CORE: &[&[&str]] = &[
    &["pack"],
    &["id", "problem", "version"],
    &["lines"],
    &["entry"],
    &["tree"],
    &["resume", "turn"],
    &["usage"],
    &["edit"],
    &["trim"],
    &["query", "diff", "session", "stats", "schema", "check"],
    &["fix", "context"],
];

/// The rooms of the engine.
const ENGINE: &[&[&str]] =
    &[&["error"], &["disk"], &["writer", "cache"], &["search_index"], &["session"], &["edit"], &["ops"]];

/// The rooms of the app.
const APP: &[&[&str]] = &[
    &["env", "text", "demo"],
    &["prices"],
    &["context", "json"],
    &["html"],
    &["export"],
    &["web"],
    &["cli"],
    &["main"],
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies among others").to_owned()
}

/// Returns every source file below a folder with its text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source can be read");
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "there are sources below {}", folder.display());
    found
}

/// Returns the rooms that a text names by `crate::`.
fn named_rooms(text: &str) -> Vec<String> {
    let parts = text.split("crate::").skip(1);
    let name = |part: &str| part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    parts.map(name).collect()
}

fn check_order(src: &Path, order: &[&[&str]]) {
    let place = |room: &str| order.iter().position(|bracket| bracket.contains(&room));
    for (path, text) in sources(src) {
        let room = path.strip_prefix(src).expect("below the sources").components().next().expect("a room");
        let room = room.as_os_str().to_str().expect("a plain name").trim_end_matches(".rs").to_owned();
        // Tests of a room may ask those who use it.
        let is_test = path.file_name().is_some_and(|name| name == "tests.rs");
        let Some(here) = place(&room).filter(|_| !is_test) else { continue };
        for named in named_rooms(&text) {
            let Some(there) = place(&named) else { continue };
            let fine = there < here || named == room;
            assert!(fine, "{} names `{named}`, which is not to its left", path.display());
        }
    }
}

#[test]
fn rooms_name_only_rooms_to_their_left() {
    check_order(&crates().join("core/src"), CORE);
    check_order(&crates().join("engine/src"), ENGINE);
    check_order(&crates().join("app/src"), APP);
}

#[test]
fn every_room_has_its_place_in_the_order() {
    for (krate, order) in [("core", CORE), ("engine", ENGINE), ("app", APP)] {
        let src = crates().join(krate).join("src");
        for entry in std::fs::read_dir(&src).expect("the sources") {
            let name = entry.expect("an entry").file_name();
            let room = name.to_str().expect("a plain name").trim_end_matches(".rs").to_owned();
            let placed = room == "lib" || order.iter().any(|bracket| bracket.contains(&room.as_str()));
            assert!(placed, "{krate}/{room} has no place in the order of rooms");
        }
    }
}

#[test]
fn exceptions_stand_only_where_they_may() {
    // What is looked for is put together here, so that this file does not find itself.
    let fences = [
        (
            format!("expect(clippy::{}", "disallowed_methods"),
            &[
                "engine/src/writer/mod.rs",
                "engine/src/cache/mod.rs",
                "engine/src/search_index/mod.rs",
                "app/src/env.rs",
                "app/src/demo",
            ][..],
        ),
        (format!("expect({}", "unsafe_code"), &["core/src/entry/string_simd.rs"][..]),
        (format!("derive({}", "Serialize"), &["app/src/json", "engine/src/writer/record.rs"][..]),
        (format!(", {}", "Serialize)"), &["app/src/json", "engine/src/writer/record.rs"][..]),
    ];
    for krate in ["core", "engine", "app"] {
        for (path, text) in sources(&crates().join(krate).join("src")) {
            let shown =
                path.strip_prefix(crates()).expect("below the crates").to_str().expect("a plain path");
            for (mark, places) in &fences {
                let allowed = places.iter().any(|place| shown.starts_with(place));
                assert!(allowed || !text.contains(mark.as_str()), "`{mark}` stands in {shown}");
            }
        }
    }
}

#[test]
fn nothing_is_put_off_or_passed_over() {
    let marks = [["#[ign", "ore"], ["should_", "panic"], ["TO", "DO"], ["FIX", "ME"], ["#[all", "ow("]]
        .map(|m| m.concat());
    for krate in ["core", "engine", "app", "testkit"] {
        for (path, text) in sources(&crates().join(krate)) {
            if path.components().any(|part| part.as_os_str() == "target") {
                continue;
            }
            for mark in &marks {
                // `TodoWrite` is the name of a tool.
                assert!(!text.contains(mark.as_str()), "`{mark}` stands in {}", path.display());
            }
        }
    }
}

//! Level `metrics` holds no word of any session, and no text is in the folder of the other levels.

use std::path::Path;

use rethread_engine::ops::tables::TableKind;
use rethread_lake::{LakeTable, Level};
use rethread_testkit::spending::{Rng, StoreGenerator};
use serde_json::Value;

use super::view_rule::{Cell, read_raw, text};
use super::world::World;

/// Replaces every string of a value by a marker, except times. Keeps the names of known fields, so that lines stay lines.
fn plant(value: &mut Value, count: &mut u32) {
    match value {
        Value::String(text) => {
            let is_time = text.len() == 24 && text.ends_with('Z') && text.as_bytes()[10] == b'T';
            if !is_time {
                *count += 1;
                *text = format!("MARKER{count:05}x");
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| plant(value, count)),
        Value::Object(members) => members.values_mut().for_each(|value| plant(value, count)),
        _ => {}
    }
}

/// Replaces every string of a line but the one at `kept`.
fn plant_all_but(line: &Value, kept: &[&str], count: &mut u32) -> Value {
    let mut planted = line.clone();
    plant(&mut planted, count);
    for path in kept {
        if let (Some(own), Some(place)) = (line.pointer(path), planted.pointer_mut(path)) {
            *place = own.clone();
        }
    }
    planted
}

/// Returns every text in the objects of a lake.
fn list_texts(world: &World) -> Vec<String> {
    let mut texts = Vec::new();
    for table in LakeTable::all() {
        for row in read_raw(&world.folder, table) {
            texts.extend(row.into_values().filter_map(|cell| match cell {
                Cell::Text(text) => Some(text),
                _ => None,
            }));
        }
    }
    texts
}

/// Returns all bytes below a folder.
fn read_bytes(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        bytes.extend(path.to_string_lossy().into_owned().into_bytes());
        bytes.extend(if path.is_dir() { read_bytes(&path) } else { std::fs::read(&path).expect("a file") });
    }
    bytes
}

/// Writes sessions in which every string is a marker, but the fields that make a line a message, call or result.
fn write_marked_sessions(root: &Path, seed: u64) {
    let generator = StoreGenerator::new(seed, 18);
    let mut rng = Rng::new(seed);
    let mut count = 0;
    for (idx, file) in generator.store.files.iter().enumerate() {
        let mut text = String::new();
        for line in &file.lines {
            let structure: &[&str] = match rng.below(4) {
                0 => &[],
                1 => &["/type"],
                _ => &[
                    "/type",
                    "/uuid",
                    "/parentUuid",
                    "/message/role",
                    "/message/id",
                    "/message/content/0/type",
                    "/message/content/0/id",
                    "/message/content/0/tool_use_id",
                ],
            };
            text.push_str(&plant_all_but(&line.value, structure, &mut count).to_string());
            text.push('\n');
        }
        let name = if idx % 3 == 0 { format!("MARKER{idx}file") } else { file.session.clone() };
        let path = root.join("projects").join(format!("-home-MARKER-{idx}/{name}.jsonl"));
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    assert!(count > 1000, "{count} markers");
}

#[test]
fn level_metrics_holds_no_word_of_a_session() {
    for seed in 0..6 {
        let mut world = World::new();
        let mut machine = world.machine("MARKERmachine", Level::Metrics);
        write_marked_sessions(&machine.root, seed);
        let report = world.push(&mut machine, None).expect("a push");
        let rows =
            |name: &str| report.tables.iter().find(|table| table.name == name).map_or(0, |table| table.rows);
        for table in ["sessions", "entries", "messages", "responses", "tool_calls", "sources"] {
            assert!(rows(table) > 0, "seed {seed}: {table} has rows");
        }
        let texts = list_texts(&world);
        let leaks: Vec<&String> =
            texts.iter().filter(|text| text.to_lowercase().contains("marker")).collect();
        assert!(leaks.is_empty(), "seed {seed}: {leaks:?}");
        assert!(!texts.iter().any(|text| text.contains("home") || text.contains('/')), "seed {seed}: a path");
        // Statistics, file names and the footer are not values.
        let bytes = read_bytes(world.folder.root());
        assert!(!bytes.windows(6).any(|part| part.eq_ignore_ascii_case(b"marker")), "seed {seed}");
    }
}

#[test]
fn level_names_holds_names_and_no_text() {
    let mut world = World::new();
    let mut machine = world.machine("m", Level::Names);
    write_marked_sessions(&machine.root, 1);
    world.push(&mut machine, None).expect("a push");
    assert!(list_texts(&world).iter().any(|text| text.contains("MARKER")), "names are there");
    assert!(read_raw(&world.folder, LakeTable::Data(TableKind::Texts)).is_empty());
}

#[test]
fn text_is_in_a_folder_of_its_own_without_secrets() {
    let mut world = World::new();
    let mut machine = world.machine("m", Level::Text);
    let secret = "AKIAQ3EGRDO6ZTL5XWVN";
    let prompt = format!("PROMPTtext with {secret} in it");
    let line = serde_json::json!({
        "type": "user", "uuid": "5b1c5d3e-6a7f-4e21-9c55-1d2e3f405162", "parentUuid": null, "cwd": "/home/ada/shop",
        "sessionId": "0b1c5d3e-6a7f-4e21-9c55-1d2e3f405162", "timestamp": "2026-01-31T10:00:00.000Z",
        "gitBranch": format!("fix-{secret}"), "message": {"role": "user", "content": prompt},
    });
    machine
        .write("-home-ada-shop/0b1c5d3e-6a7f-4e21-9c55-1d2e3f405162.jsonl", format!("{line}\n").as_bytes());
    world.push(&mut machine, None).expect("a push");
    let texts = read_raw(&world.folder, LakeTable::Data(TableKind::Texts));
    assert!(texts.iter().any(|row| text(row, "text").starts_with("PROMPTtext with [aws")), "{texts:?}");
    assert!(texts.iter().any(|row| text(row, "role") == "title"), "{texts:?}");
    assert!(!list_texts(&world).iter().any(|text| text.contains(secret)), "secrets are removed");
    for table in LakeTable::all().into_iter().filter(|table| *table != LakeTable::Data(TableKind::Texts)) {
        let rows = read_raw(&world.folder, table);
        let has_text = rows.iter().flat_map(|row| row.values()).any(|cell| match cell {
            Cell::Text(text) => text.contains("PROMPTtext"),
            _ => false,
        });
        assert!(!has_text, "{table:?} has text");
    }
}

#[test]
fn hostile_text_survives() {
    let hostile = "a\u{0}b'\";--\u{1b}[2J\u{202e}\u{10ffff}\r\n\t,\\N%s{{}}é漢";
    let mut world = World::new();
    let mut machine = world.machine("m", Level::Text);
    let line = serde_json::json!({
        "type": "user", "uuid": "5b1c5d3e-6a7f-4e21-9c55-1d2e3f405162", "parentUuid": null, "cwd": hostile,
        "sessionId": "0b1c5d3e-6a7f-4e21-9c55-1d2e3f405162", "timestamp": "2026-01-31T10:00:00.000Z",
        "gitBranch": hostile, "message": {"role": "user", "content": hostile},
    });
    machine.write("-p/0b1c5d3e-6a7f-4e21-9c55-1d2e3f405162.jsonl", format!("{line}\n").as_bytes());
    world.push(&mut machine, None).expect("a push");
    let column = |kind: TableKind, name: &str| -> Vec<String> {
        let rows = read_raw(&world.folder, LakeTable::Data(kind));
        rows.iter().map(|row| text(row, name).to_owned()).collect()
    };
    assert_eq!(column(TableKind::Entries, "cwd"), [hostile]);
    assert_eq!(column(TableKind::Entries, "git_branch"), [hostile]);
    assert_eq!(column(TableKind::Sessions, "project"), [hostile]);
    assert!(column(TableKind::Texts, "text").contains(&hostile.to_owned()));
}

//! A run that uses what the last one knew archives the same as a run that knows nothing.
#![expect(clippy::disallowed_methods, reason = "tests change session files and damage archives")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use proptest::prelude::*;

use super::archive_reader::Archive;
use super::seen_files::SeenPlace;
use super::source::{SourceFile, find_sources};
use super::tests::{ArchivedHome, HOUR, SESSION, make_lines};
use super::verify_archive;
use crate::disk::{FileFingerprint, Roots};

/// Waits until any later change of a file or folder that was changed so far changes its fingerprint.
fn wait_until_stable(folder: &Path) {
    let probe = folder.join("probe");
    std::fs::write(&probe, "").unwrap();
    let fingerprint = FileFingerprint::from_metadata(&std::fs::metadata(&probe).unwrap());
    while !fingerprint.is_stable(SystemTime::now()) {
        std::thread::yield_now();
    }
    std::fs::remove_file(probe).unwrap();
}

fn wait(home: &ArchivedHome) {
    wait_until_stable(home.root().parent().unwrap());
}

/// A change of the files of a client. A number selects one of a few files, folders or lines.
#[derive(Debug, Clone)]
enum Change {
    Append(usize),
    Rewrite(usize),
    Delete(usize),
    DeleteFolder(usize),
    RenameFolder(usize, usize),
    /// Replaces a folder by a symbolic link to another one.
    LinkFolder(usize, usize),
    /// Waits until fingerprints are stable.
    Wait,
    NextDay,
    /// The clock goes backwards.
    PreviousDay,
    Update,
}

const FOLDERS: [&str; 5] = ["projects/-a", "projects/-a/x", "projects/-a/x/y", "projects/-b", "plans"];
const NAMES: [&str; 4] = ["1.jsonl", "1", "x.md", "x"];

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let (file, folder) = (0..FOLDERS.len() * NAMES.len(), 0..FOLDERS.len());
    let change = prop_oneof![
        6 => file.clone().prop_map(Change::Append),
        2 => file.clone().prop_map(Change::Rewrite),
        2 => file.prop_map(Change::Delete),
        1 => folder.clone().prop_map(Change::DeleteFolder),
        1 => (folder.clone(), folder.clone()).prop_map(|(from, to)| Change::RenameFolder(from, to)),
        1 => (folder.clone(), folder).prop_map(|(from, to)| Change::LinkFolder(from, to)),
        5 => Just(Change::Wait),
        1 => Just(Change::NextDay),
        1 => Just(Change::PreviousDay),
        8 => Just(Change::Update),
    ];
    prop::collection::vec(change, 1..60)
}

/// Applies a change. Changes that the files do not allow have no effect.
fn apply(change: &Change, home: &mut ArchivedHome, count: u32) {
    let file = |idx: &usize| home.root().join(FOLDERS[idx / NAMES.len()]).join(NAMES[idx % NAMES.len()]);
    let folder = |idx: &usize| home.root().join(FOLDERS[*idx]);
    match change {
        Change::Append(idx) => {
            let path = file(idx);
            let _ = std::fs::create_dir_all(path.parent().unwrap());
            let mut content = std::fs::read(&path).unwrap_or_default();
            content.extend(make_lines(count..count + 3));
            let _ = std::fs::write(path, content);
        }
        Change::Rewrite(idx) => {
            let path = file(idx);
            if path.is_file() {
                std::fs::write(path, make_lines(count..count + 2)).unwrap();
            }
        }
        Change::Delete(idx) => {
            let _ = std::fs::remove_file(file(idx));
        }
        Change::DeleteFolder(idx) => {
            let _ = std::fs::remove_dir_all(folder(idx));
        }
        Change::RenameFolder(from, to) => {
            let _ = std::fs::rename(folder(from), folder(to));
        }
        Change::LinkFolder(from, to) => {
            let link = folder(from);
            if from != to && std::fs::remove_dir_all(&link).is_ok() {
                #[cfg(unix)]
                std::os::unix::fs::symlink(folder(to), link).unwrap();
            }
        }
        Change::Wait => wait(home),
        Change::NextDay => home.now += 25 * HOUR,
        Change::PreviousDay => home.now -= 25 * HOUR,
        Change::Update => {
            home.now += 1000;
            // Changes within one tick of the clock are not what this test is about.
            wait(home);
            let report = home.update();
            assert!(report.failures.is_empty() && report.damages.is_empty(), "{report:?}");
        }
    }
}

/// Lists the files below the roots of a home, with a given knowledge.
fn list(home: &ArchivedHome, seen: &mut SeenPlace) -> Vec<(PathBuf, FileFingerprint, u32)> {
    let mut failures = Vec::new();
    let sources = find_sources(&Roots::new(vec![home.root()]));
    let mut files: Vec<SourceFile> = Vec::new();
    for source in sources {
        files.extend(source.list_files(seen, home.now, &mut failures).0.files);
    }
    assert!(failures.is_empty(), "{failures:?}");
    files.into_iter().map(|file| (file.relative, file.fingerprint, file.mode)).collect()
}

/// Returns the newest archived content of each file.
fn read_newest(home: &ArchivedHome) -> BTreeMap<PathBuf, Vec<u8>> {
    let archive = Archive::open(&home.location());
    let read = |file: super::ArchivedFile<'_>| {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut file.read(file.newest()), &mut bytes).unwrap();
        (file.relative, bytes)
    };
    archive.files().map(read).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_run_archives_what_is_on_disk(changes in changes()) {
        let mut home = ArchivedHome::new();
        let mut seen = SeenPlace::default();
        let mut count = 0;
        for change in changes {
            count += 10;
            apply(&change, &mut home, count);
            if !matches!(change, Change::Update) {
                continue;
            }
            let expected = list(&home, &mut SeenPlace::default());
            prop_assert_eq!(&list(&home, &mut seen), &expected, "a listing of the last walk is used too long");
            let newest = read_newest(&home);
            for (path, ..) in expected {
                let content = std::fs::read(home.root().join(&path)).unwrap();
                prop_assert!(newest.get(&path) == Some(&content), "{} is not archived", path.display());
            }
        }
        prop_assert_eq!(verify_archive(&home.location(), true), []);
    }
}

#[test]
fn catalogs_are_read_only_if_they_are_needed() {
    let mut home = ArchivedHome::new();
    home.write(SESSION, make_lines(0..100));
    home.write("plans/p.md", "plan\n");
    wait(&home);
    assert!(home.open().has_catalog(), "nothing is known before the first run");
    home.update();
    let run = |home: &mut ArchivedHome| {
        home.now += 1000;
        let has_catalog = home.open().has_catalog();
        (has_catalog, home.update())
    };
    // Nothing new, then a line that is appended.
    assert!(!run(&mut home).0);
    for n in 0..40 {
        home.append(SESSION, format!("{{\"n\":{n}}}\n").as_bytes());
        let (has_catalog, report) = run(&mut home);
        assert_eq!((has_catalog, report.grown), (false, 1), "run {n}");
    }
    // An appended line whose content is in a pack.
    home.append("plans/p.md", b"{\"n\":7}\n");
    let (has_catalog, report) = run(&mut home);
    assert_eq!((has_catalog, report.grown, report.added_bytes), (false, 1, 0));
    // A changed catalog is read, also if it has the same name and length.
    let is_catalog = |path: &PathBuf| path.to_string_lossy().contains("catalogs");
    let catalog = home.archive_files().into_iter().find(is_catalog).unwrap();
    let bytes = std::fs::read(&catalog).unwrap();
    wait(&home);
    std::fs::write(&catalog, &bytes).unwrap();
    assert!(home.open().has_catalog());
    home.update();
    std::fs::write(&catalog, vec![0; bytes.len()]).unwrap();
    assert!(!home.update().damages.is_empty());
    std::fs::write(&catalog, &bytes).unwrap();
    assert!(home.update().damages.is_empty());
    assert!(!home.open().has_catalog());
    assert_eq!(verify_archive(&home.location(), true), []);
}

#[test]
fn a_folder_without_changes_is_not_listed_again_for_a_day() {
    let home = ArchivedHome::new();
    home.write(SESSION, "one\n");
    wait(&home);
    let mut seen = SeenPlace::default();
    let walk = |now: i64, seen: &mut SeenPlace| {
        let source = find_sources(&Roots::new(vec![home.root()])).pop().unwrap();
        source.list_files(seen, now, &mut Vec::new()).1
    };
    let now = home.now;
    assert!(walk(now, &mut seen));
    assert!(!walk(now + 23 * HOUR, &mut seen));
    assert!(walk(now + 24 * HOUR, &mut seen), "a listing is used for a day");
    assert!(walk(now, &mut seen), "it is from the future");
    std::fs::create_dir(home.root().join("projects/-new")).unwrap();
    assert!(walk(now, &mut seen));
}

#[test]
fn a_folder_that_becomes_that_of_a_client_is_listed_again() {
    let home = ArchivedHome::new();
    std::fs::remove_dir(home.root().join("projects")).unwrap();
    home.write("plans/p.md", "plan\n");
    home.write("a.jsonl", "{}\n");
    wait(&home);
    assert_eq!(home.update().created, 1);
    std::fs::create_dir(home.root().join("projects")).unwrap();
    home.update();
    assert_eq!(home.states("plans/p.md"), [b"plan\n"]);
}

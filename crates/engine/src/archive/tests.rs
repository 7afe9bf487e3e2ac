//! Laws of the archive: every state that was archived can be read, nothing is stored twice, all damage is found.
#![expect(clippy::disallowed_methods, reason = "tests change session files and damage archives")]

use std::io::Read;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::archive_reader::Archive;
use super::archive_writer::{ArchiveWriter, UpdateReport};
use super::catalog_record::GenerationCause;
use super::{ArchiveLocation, CopiedFiles, ExclusionSet, sync_archives, verify_archive};
use crate::disk::Roots;

pub(super) const HOUR: i64 = 60 * 60 * 1000;
pub(super) const SESSION: &str = "projects/-home-ada-shop/0b1c5d3e-6a7f-4e21-9c55-1d2e3f405162.jsonl";

/// A client folder and an archive of it.
pub(super) struct ArchivedHome {
    folder: tempfile::TempDir,
    pub(super) now: i64,
}

impl ArchivedHome {
    pub(super) fn new() -> ArchivedHome {
        let home = ArchivedHome { folder: tempfile::tempdir().unwrap(), now: 1_800_000_000_000 };
        std::fs::create_dir_all(home.root().join("projects")).unwrap();
        home
    }

    pub(super) fn root(&self) -> PathBuf {
        self.folder.path().join("claude")
    }

    pub(super) fn location(&self) -> ArchiveLocation {
        ArchiveLocation {
            dir: self.folder.path().join("archive"),
            machine_id: "m1".to_owned(),
            machine_name: "laptop".to_owned(),
        }
    }

    pub(super) fn machine_dir(&self) -> PathBuf {
        self.location().machine_dir()
    }

    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(super) fn append(&self, path: &str, content: &[u8]) {
        use std::io::Write;
        let mut file = std::fs::OpenOptions::new().append(true).open(self.root().join(path)).unwrap();
        file.write_all(content).unwrap();
    }

    pub(super) fn open(&self) -> ArchiveWriter {
        ArchiveWriter::open(&self.location(), "test", self.now).unwrap()
    }

    pub(super) fn update(&self) -> UpdateReport {
        let roots = Roots::new(vec![self.root()]);
        self.open().update(&roots, &ExclusionSet::default()).unwrap()
    }

    /// Returns all archived states of a file, oldest first.
    pub(super) fn states(&self, path: &str) -> Vec<Vec<u8>> {
        let archive = Archive::open(&self.location());
        assert_eq!(archive.damages, []);
        let Some(file) = archive.files().find(|file| file.relative == Path::new(path)) else {
            return Vec::new();
        };
        let read = |generation| {
            let mut bytes = Vec::new();
            file.read(generation).read_to_end(&mut bytes).unwrap();
            bytes
        };
        file.generations.iter().map(read).collect()
    }

    /// Returns the files below the folder of the machine, without the lock.
    pub(super) fn archive_files(&self) -> Vec<PathBuf> {
        let mut files = crate::disk::list_files(&self.machine_dir());
        files.retain(|file| !file.ends_with("lock"));
        files
    }
}

/// Returns lines of about 200 bytes that all differ.
pub(super) fn make_lines(range: std::ops::Range<u32>) -> Vec<u8> {
    let line = |n: u32| {
        format!("{{\"n\":{n},\"text\":\"{}\"}}\n", n.wrapping_mul(2_654_435_761).to_string().repeat(20))
    };
    range.flat_map(|n| line(n).into_bytes()).collect()
}

#[test]
fn all_files_of_sessions_are_archived_and_nothing_else() {
    let home = ArchivedHome::new();
    let side = SESSION.strip_suffix(".jsonl").unwrap();
    let included = [
        SESSION.to_owned(),
        format!("{side}/subagents/agent-1.jsonl"),
        format!("{side}/subagents/agent-1.meta.json"),
        format!("{side}/tool-results/x.txt"),
        "projects/-home-ada-shop/memory/MEMORY.md".to_owned(),
        "file-history/0b1c5d3e/abc@v1".to_owned(),
        "plans/a.md".to_owned(),
        "tasks/0b1c5d3e/1.json".to_owned(),
        "todos/a.json".to_owned(),
        "history.jsonl".to_owned(),
    ];
    for (idx, path) in included.iter().enumerate() {
        home.write(path, format!("content {idx}\n"));
    }
    home.write("settings.json", "{}");
    home.write("cache/x.jsonl", "x");
    let report = home.update();
    assert_eq!((report.created, report.checked), (10, 10));
    for (idx, path) in included.iter().enumerate() {
        assert_eq!(home.states(path), [format!("content {idx}\n").into_bytes()], "{path}");
    }
    assert!(home.states("settings.json").is_empty());
}

#[test]
fn archiving_twice_adds_nothing() {
    let home = ArchivedHome::new();
    home.write(SESSION, make_lines(0..9000));
    home.write("empty.txt", "");
    home.write("projects/-x/empty.jsonl", "");
    assert_eq!(home.update().created, 2);
    let before = home.archive_files();
    for _ in 0..3 {
        let report = home.update();
        assert_eq!(
            (report.created, report.grown, report.added_bytes, report.new_generations.len()),
            (0, 0, 0, 0)
        );
    }
    // Without the list of fingerprints, all files are read, and nothing is new.
    std::fs::remove_file(home.machine_dir().join("seen")).unwrap();
    assert_eq!(home.update().added_bytes, 0);
    assert_eq!(home.archive_files(), before);
}

#[test]
fn appended_bytes_are_added_alone() {
    let home = ArchivedHome::new();
    home.write(SESSION, make_lines(0..9000));
    home.update();
    home.append(SESSION, b"{\"n\":");
    home.update();
    home.append(SESSION, b"1}\n");
    let report = home.update();
    assert_eq!((report.grown, report.added_bytes), (1, 3));
    assert_eq!(home.states(SESSION), [[&make_lines(0..9000)[..], b"{\"n\":1}\n"].concat()]);
}

#[test]
fn rewritten_and_shorter_files_start_new_generations() {
    let home = ArchivedHome::new();
    let old = make_lines(0..20_000);
    home.write(SESSION, &old);
    home.update();
    let shorter = &old[..old.len() - 1_000_000];
    home.write(SESSION, shorter);
    let report = home.update();
    assert_eq!(report.new_generations, [(home.root().join(SESSION), GenerationCause::Shrank)]);
    let edited = [&b"{}\n"[..], &old].concat();
    home.write(SESSION, &edited);
    let report = home.update();
    assert_eq!(report.new_generations, [(home.root().join(SESSION), GenerationCause::Rewritten)]);
    assert!(report.added_bytes < 3 << 20, "most segments are shared: {}", report.added_bytes);
    assert_eq!(home.states(SESSION), [old.clone(), shorter.to_owned(), edited]);
}

#[test]
fn a_file_that_was_copied_back_is_not_stored_again() {
    let home = ArchivedHome::new();
    let content = make_lines(0..9000);
    home.write(SESSION, &content);
    home.update();
    std::fs::remove_file(home.root().join(SESSION)).unwrap();
    assert_eq!(home.update().added_bytes, 0);
    home.write(SESSION, &content);
    let report = home.update();
    assert_eq!((report.added_bytes, report.new_generations.len()), (0, 0));
    assert_eq!(home.states(SESSION), [content]);
}

#[test]
fn segments_of_idle_files_are_joined() {
    let mut home = ArchivedHome::new();
    home.write(SESSION, make_lines(0..10));
    home.write("history.jsonl", "one\n");
    home.update();
    for n in 10..60 {
        home.append(SESSION, &make_lines(n..n + 1));
        home.update();
    }
    let count = |home: &ArchivedHome| home.archive_files().len();
    let before = count(&home);
    home.now += 23 * HOUR;
    home.update();
    assert!(count(&home) >= before, "not idle for a day");
    home.now += 2 * HOUR;
    home.update();
    assert!(count(&home) <= 6, "packs and catalogs were merged: {:?}", home.archive_files());
    assert_eq!(home.states(SESSION), [make_lines(0..60)]);
    assert_eq!(home.states("history.jsonl"), [b"one\n"]);
    assert_eq!(verify_archive(&home.location(), true), []);
    home.append(SESSION, &make_lines(60..61));
    let report = home.update();
    assert_eq!((report.grown, report.new_generations.len()), (1, 0));
    assert_eq!(home.states(SESSION), [make_lines(0..61)]);
}

/// A program may change bytes in place without changing the length or what follows.
#[test]
fn changes_in_place_are_found_before_segments_are_joined() {
    let mut home = ArchivedHome::new();
    let mut content = make_lines(0..20_000);
    home.write(SESSION, &content);
    home.update();
    for n in 0..20 {
        home.append(SESSION, &make_lines(n..n + 1));
        content.extend(make_lines(n..n + 1));
        home.update();
    }
    let archived = content.clone();
    content[10] = b'!';
    content.extend(b"{}\n");
    // The inode stays the same, and the file grew.
    let file = std::fs::OpenOptions::new().write(true).open(home.root().join(SESSION)).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &content, 0).unwrap();
    drop(file);
    home.update();
    home.now += 25 * HOUR;
    home.update();
    let states = home.states(SESSION);
    assert_eq!(states.last(), Some(&content));
    assert!(states[0].starts_with(&archived), "the earlier state stays readable");
}

#[test]
fn every_changed_missing_or_shorter_file_is_found() {
    let home = ArchivedHome::new();
    home.write(SESSION, "{\"a\":1}\n");
    home.write("plans/p.md", "plan");
    home.update();
    home.append(SESSION, b"{\"b\":2}\n");
    home.update();
    assert_eq!(verify_archive(&home.location(), true), []);
    let files = home.archive_files();
    assert!(files.len() >= 6, "{files:?}");
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            std::fs::write(&path, &damaged).unwrap();
            assert_ne!(verify_archive(&home.location(), false), [], "byte {at} of {}", path.display());
            std::fs::write(&path, &bytes[..at]).unwrap();
            assert_ne!(verify_archive(&home.location(), false), [], "first {at} bytes of {}", path.display());
        }
        std::fs::remove_file(&path).unwrap();
        let is_derived = path.ends_with("seen");
        assert_eq!(verify_archive(&home.location(), false).is_empty(), is_derived, "{}", path.display());
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(verify_archive(&home.location(), true), []);
    }
}

/// A run with a damaged archive adds what is new and deletes nothing.
#[test]
fn damage_is_never_taken_for_absence() {
    let home = ArchivedHome::new();
    home.write(SESSION, "{\"a\":1}\n");
    home.update();
    home.append(SESSION, b"{\"b\":2}\n");
    home.update();
    let files: Vec<_> = home.archive_files().into_iter().filter(|file| !file.ends_with("seen")).collect();
    for path in &files {
        let bytes = std::fs::read(path).unwrap();
        std::fs::write(path, b"damaged").unwrap();
        let names = home.archive_files();
        home.update();
        let is_kept = |name: &PathBuf| name.exists();
        assert!(names.iter().all(is_kept), "{} was damaged", path.display());
        if !path.ends_with("manifest") {
            std::fs::write(path, &bytes).unwrap();
        }
        let states = home.states(SESSION);
        assert!(states.contains(&b"{\"a\":1}\n{\"b\":2}\n".to_vec()), "{}: {states:?}", path.display());
    }
}

#[test]
fn a_hostile_archive_names_no_file_outside_of_its_root() {
    let home = ArchivedHome::new();
    home.write(SESSION, "x\n");
    home.update();
    let mut archive = Archive::open(&home.location());
    for path in ["../x", "/etc/x", "a/../../x", "", "."] {
        let catalog = archive.catalog_mut();
        let (_, generations) = catalog.files.pop_first().unwrap();
        catalog.files.insert((0, super::catalog_record::StoredPath::Text(path.to_owned())), generations);
        assert_eq!(archive.files().count(), 0, "{path}");
    }
}

#[test]
fn archives_of_two_machines_are_synchronised() {
    let (first, second) = (ArchivedHome::new(), ArchivedHome::new());
    let disk = tempfile::tempdir().unwrap();
    let locations = [("m1", &first), ("m2", &second)].map(|(id, home)| ArchiveLocation {
        dir: home.folder.path().join("archive"),
        machine_id: id.to_owned(),
        machine_name: id.to_owned(),
    });
    let update = |idx: usize, home: &ArchivedHome, now| {
        let roots = Roots::new(vec![home.root()]);
        ArchiveWriter::open(&locations[idx], "test", now)
            .unwrap()
            .update(&roots, &ExclusionSet::default())
            .unwrap();
    };
    let sync = |idx: usize| sync_archives(&locations[idx], disk.path()).unwrap();
    let count = |idx: usize| Archive::open(&locations[idx]).files().count();
    first.write(SESSION, "one\n");
    second.write("plans/p.md", "plan\n");
    update(0, &first, 1);
    update(1, &second, 1);
    assert_eq!((sync(0).pulled.files, sync(1).pulled.files), (0, 2));
    assert_eq!((count(0), count(1)), (1, 2));
    assert_eq!(sync(0).pulled.files, 2);
    assert_eq!((count(0), count(1)), (2, 2));
    for idx in [0, 1, 0] {
        let report = sync(idx);
        assert_eq!((report.pushed, report.pulled), (CopiedFiles::default(), CopiedFiles::default()));
        assert_eq!(report.machines, ["m1", "m2"]);
    }
    first.append(SESSION, b"two\n");
    update(0, &first, 2);
    assert_eq!((sync(0).pushed.files, sync(1).pulled.files), (2, 2));
    // The part of a machine that is lost is copied back.
    std::fs::remove_dir_all(first.folder.path().join("archive")).unwrap();
    sync(0);
    assert_eq!(count(0), 2);
    for location in &locations {
        assert_eq!(verify_archive(location, true), []);
    }
    let missing = sync_archives(&locations[0], &disk.path().join("not mounted"));
    assert!(matches!(missing, Err(crate::Error::NoSyncFolder { was_present: false, .. })));
}

/// Two machines archive into one folder and synchronise with another one at the same time, both with parts of a third machine.
#[test]
fn machines_may_write_to_one_folder_at_the_same_time() {
    let homes = [ArchivedHome::new(), ArchivedHome::new(), ArchivedHome::new()];
    let disk = tempfile::tempdir().unwrap();
    let shared = tempfile::tempdir().unwrap();
    let locate = |dir: &Path, idx: usize| ArchiveLocation {
        dir: dir.to_owned(),
        machine_id: format!("m{idx}"),
        machine_name: format!("m{idx}"),
    };
    for round in 0..5 {
        std::thread::scope(|scope| {
            for (idx, home) in homes.iter().enumerate() {
                let (shared, disk, locate) = (&shared, &disk, &locate);
                scope.spawn(move || {
                    home.write(&format!("plans/{round}.md"), make_lines(0..4000 * (idx as u32 + 1)));
                    let roots = Roots::new(vec![home.root()]);
                    for dir in [shared.path(), home.location().dir.as_path()] {
                        let now = home.now + i64::from(round);
                        ArchiveWriter::open(&locate(dir, idx), "test", now)
                            .unwrap()
                            .update(&roots, &ExclusionSet::default())
                            .unwrap();
                    }
                    for _ in 0..3 {
                        let location = locate(&home.location().dir, idx);
                        assert_eq!(sync_archives(&location, disk.path()).unwrap().damages, []);
                    }
                });
            }
        });
    }
    for (idx, home) in homes.iter().enumerate() {
        sync_archives(&locate(&home.location().dir, idx), disk.path()).unwrap();
    }
    for dir in [shared.path(), disk.path()] {
        let location = locate(dir, 0);
        assert_eq!(verify_archive(&location, true), []);
        assert_eq!(Archive::open(&location).files().count(), 15);
    }
}

#[test]
fn an_archive_that_was_started_anew_does_not_replace_the_second_place() {
    let home = ArchivedHome::new();
    let disk = tempfile::tempdir().unwrap();
    home.write(SESSION, "one\n");
    home.update();
    sync_archives(&home.location(), disk.path()).unwrap();
    std::fs::remove_file(home.root().join(SESSION)).unwrap();
    std::fs::remove_dir_all(home.location().dir).unwrap();
    home.write("plans/p.md", "plan\n");
    home.update();
    let refused = sync_archives(&home.location(), disk.path());
    assert!(matches!(refused, Err(crate::Error::DivergedArchive { .. })), "{refused:?}");
    // A folder of another name is another machine.
    std::fs::rename(disk.path().join("machines/m1"), disk.path().join("machines/m1-old")).unwrap();
    assert_eq!(sync_archives(&home.location(), disk.path()).unwrap().damages, []);
    assert_eq!(home.states(SESSION), [b"one\n"]);
    assert_eq!(home.states("plans/p.md"), [b"plan\n"]);
}

#[test]
fn damage_is_not_copied() {
    let home = ArchivedHome::new();
    let disk = tempfile::tempdir().unwrap();
    home.write(SESSION, "one\n");
    home.update();
    let pack = home.archive_files().into_iter().find(|file| file.extension().is_some()).unwrap();
    let bytes = std::fs::read(&pack).unwrap();
    std::fs::write(&pack, b"damaged").unwrap();
    assert_eq!(sync_archives(&home.location(), disk.path()).unwrap().damages.len(), 1);
    assert!(!disk.path().join("machines/m1/manifest").exists(), "it would name a file that is missing");
    std::fs::write(&pack, bytes).unwrap();
    assert_eq!(sync_archives(&home.location(), disk.path()).unwrap().damages, []);
    assert!(disk.path().join("machines/m1/manifest").exists());
}

/// A step in the life of a file.
#[derive(Debug, Clone)]
enum Step {
    Append(u32, usize),
    Truncate(usize),
    Overwrite(usize, u8),
    Replace(u32, usize),
    Update,
    NextDay,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (any::<u32>(), 1..4000usize).prop_map(|(n, len)| Step::Append(n % 1_000_000, len)),
        1 => (0..400_000usize).prop_map(Step::Truncate),
        1 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Step::Overwrite(at, byte)),
        1 => (any::<u32>(), 1..4000usize).prop_map(|(n, len)| Step::Replace(n % 1_000_000, len)),
        6 => Just(Step::Update),
        1 => Just(Step::NextDay),
    ];
    prop::collection::vec(step, 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Every state that an archive run saw is readable, or the start of a later state of the same generation.
    #[test]
    fn every_archived_state_stays_readable(steps in steps()) {
        let mut home = ArchivedHome::new();
        let mut content = make_lines(0..50);
        let mut seen: Vec<Vec<u8>> = Vec::new();
        home.write(SESSION, &content);
        for step in steps {
            match step {
                Step::Append(n, count) => {
                    let added = make_lines(n..n + count as u32);
                    home.append(SESSION, &added);
                    content.extend(added);
                }
                Step::Truncate(count) => {
                    content.truncate(content.len().saturating_sub(count));
                    home.write(SESSION, &content);
                }
                Step::Overwrite(at, byte) if !content.is_empty() => {
                    let at = at % content.len();
                    content[at] = byte;
                    home.write(SESSION, &content);
                }
                Step::Overwrite(..) => {}
                Step::Replace(n, count) => {
                    content = make_lines(n..n + count as u32);
                    let path = home.root().join(SESSION);
                    std::fs::write(path.with_extension("new"), &content).unwrap();
                    std::fs::rename(path.with_extension("new"), path).unwrap();
                }
                Step::Update | Step::NextDay => {
                    home.now += if matches!(step, Step::Update) { 1000 } else { 25 * HOUR };
                    // A change within one tick of the clock is found by the next run; the test does not wait for the clock.
                    let _ = std::fs::remove_file(home.machine_dir().join("seen"));
                    home.update();
                    seen.push(content.clone());
                }
            }
        }
        let states = home.states(SESSION);
        for state in &seen {
            prop_assert!(states.iter().any(|kept| kept.starts_with(state)), "a state of {} bytes is lost", state.len());
        }
        if let Some(last) = seen.last() {
            prop_assert_eq!(states.last(), Some(last));
        }
        prop_assert_eq!(verify_archive(&home.location(), true), []);
    }
}

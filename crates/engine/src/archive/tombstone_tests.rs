//! Laws of forgotten sessions: under any order of runs, synchronisations and prunes, every copy shows what a simple model does.
#![expect(clippy::disallowed_methods, reason = "tests change session files and archives")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;

use proptest::prelude::*;

use super::archive_reader::Archive;
use super::archive_writer::{ArchiveWriter, UpdateReport};
use super::{ArchiveLocation, ExclusionSet, prune_archive, sync_archives, verify_archive};
use crate::disk::Roots;

const SESSIONS: [&str; 3] = [
    "0b1c5d3e-6a7f-4e21-9c55-1d2e3f405160",
    "0b1c5d3e-6a7f-4e21-9c55-1d2e3f405161",
    "0b1c5d3e-6a7f-4e21-9c55-1d2e3f405162",
];
/// The index of the folder that both machines synchronise with.
const DISK: usize = 2;

/// The transcripts by machine and session, and the forgotten sessions.
type VisibleContent = (BTreeMap<(String, String), Vec<u8>>, BTreeSet<String>);

/// Two machines with sessions and archives, and a folder with which they synchronise.
struct Machines {
    folder: tempfile::TempDir,
    clocks: [i64; 2],
}

impl Machines {
    fn new() -> Machines {
        // In memory, where a flush costs nothing, if there is such a file system.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        std::fs::create_dir_all(folder.path().join("archive2")).unwrap();
        Machines { folder, clocks: [1_800_000_000_000; 2] }
    }

    fn location(&self, place: usize) -> ArchiveLocation {
        ArchiveLocation {
            dir: self.folder.path().join(format!("archive{place}")),
            machine_id: format!("m{place}"),
            machine_name: format!("machine {place}"),
        }
    }

    fn root(&self, machine: usize) -> PathBuf {
        self.folder.path().join(format!("claude{machine}"))
    }

    fn session_path(&self, machine: usize, session: usize) -> PathBuf {
        self.root(machine).join(format!("projects/-home-ada/{}.jsonl", SESSIONS[session]))
    }

    fn write(&self, machine: usize, session: usize, content: &[u8]) {
        let path = self.session_path(machine, session);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        let result = self.root(machine).join(format!("file-history/{}/x@v1", SESSIONS[session]));
        std::fs::create_dir_all(result.parent().unwrap()).unwrap();
        std::fs::write(result, "old").unwrap();
    }

    fn delete(&self, machine: usize, session: usize) {
        std::fs::remove_file(self.session_path(machine, session)).unwrap();
        let history = self.root(machine).join("file-history").join(SESSIONS[session]);
        std::fs::remove_dir_all(history).unwrap();
    }

    fn archive(&self, machine: usize) -> UpdateReport {
        // A change within one tick of the clock is found by the next run; the test does not wait for the clock.
        let location = self.location(machine);
        let _ = std::fs::remove_file(location.machine_dir().join("seen"));
        let roots = Roots::new(vec![self.root(machine)]);
        ArchiveWriter::open(&location, "test", self.clocks[machine])
            .unwrap()
            .update(&roots, &ExclusionSet::default())
            .unwrap()
    }

    fn set_forgotten(&self, machine: usize, session: usize, forgotten: bool) {
        let writer = ArchiveWriter::open(&self.location(machine), "test", self.clocks[machine]).unwrap();
        writer.set_forgotten(vec![(SESSIONS[session].to_owned(), BTreeSet::new())], forgotten).unwrap();
    }

    fn sync(&self, machine: usize) {
        let report = sync_archives(&self.location(machine), &self.location(DISK).dir).unwrap();
        assert_eq!(report.damages, []);
    }

    fn prune(&self, place: usize) {
        assert_eq!(prune_archive(&self.location(place), false, 0).unwrap().damages, []);
    }

    /// Returns the newest visible transcripts by machine and session, and the forgotten sessions.
    fn read(&self, place: usize) -> VisibleContent {
        let archive = Archive::open(&self.location(place));
        assert_eq!(archive.damages, []);
        let mut transcripts = BTreeMap::new();
        let mut histories = BTreeSet::new();
        for file in archive.files() {
            let mut bytes = Vec::new();
            file.read(file.newest()).read_to_end(&mut bytes).unwrap();
            if file.relative.starts_with("projects") {
                let id = file.relative.file_stem().unwrap().to_str().unwrap().to_owned();
                transcripts.insert((file.machine_name.to_owned(), id), bytes);
            } else {
                let id = file.relative.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
                histories.insert((file.machine_name.to_owned(), id));
            }
        }
        assert!(transcripts.keys().eq(histories.iter()), "{transcripts:?} {histories:?}");
        let forgotten = archive.forgotten_sessions().map(|(session, _)| session.to_owned()).collect();
        (transcripts, forgotten)
    }
}

/// The content of a copy of the part of a machine, according to the model.
#[derive(Debug, Clone, Default)]
struct PartModel {
    revision: u32,
    tombstones: BTreeMap<usize, (u64, bool)>,
    content: BTreeMap<usize, Vec<u8>>,
}

/// The parts of both machines in the three folders.
#[derive(Debug, Default)]
struct ArchivesModel {
    parts: [[PartModel; 2]; 3],
}

impl ArchivesModel {
    fn tombstone(&self, place: usize, session: usize) -> (u64, bool) {
        let states = self.parts[place].iter().filter_map(|part| part.tombstones.get(&session));
        states.copied().max().unwrap_or_default()
    }

    fn set_forgotten(&mut self, machine: usize, session: usize, forgotten: bool) {
        let version = self.tombstone(machine, session).0 + 1;
        let part = &mut self.parts[machine][machine];
        part.tombstones.insert(session, (version, forgotten));
        part.revision += 1;
    }

    fn sync(&mut self, machine: usize) {
        for part in 0..2 {
            let (local, disk) = (self.parts[machine][part].clone(), self.parts[DISK][part].clone());
            if local.revision > disk.revision {
                self.parts[DISK][part] = local;
            } else if disk.revision > local.revision {
                self.parts[machine][part] = disk;
            }
        }
    }

    fn prune(&mut self, place: usize) {
        for session in 0..SESSIONS.len() {
            if self.tombstone(place, session).1 {
                self.parts[place].iter_mut().for_each(|part| drop(part.content.remove(&session)));
            }
        }
    }

    fn read(&self, place: usize) -> VisibleContent {
        let is_forgotten = |session: usize| self.tombstone(place, session).1;
        let mut transcripts = BTreeMap::new();
        for (machine, part) in self.parts[place].iter().enumerate() {
            for (&session, bytes) in part.content.iter().filter(|(session, _)| !is_forgotten(**session)) {
                let key = (format!("machine {machine}"), SESSIONS[session].to_owned());
                transcripts.insert(key, bytes.clone());
            }
        }
        let forgotten = (0..SESSIONS.len()).filter(|&session| is_forgotten(session));
        (transcripts, forgotten.map(|session| SESSIONS[session].to_owned()).collect())
    }
}

#[derive(Debug, Clone)]
enum Step {
    Append {
        machine: usize,
        session: usize,
    },
    Delete {
        machine: usize,
        session: usize,
    },
    Archive {
        machine: usize,
    },
    Forget {
        machine: usize,
        session: usize,
    },
    Undo {
        machine: usize,
        session: usize,
    },
    Sync {
        machine: usize,
    },
    Prune {
        place: usize,
    },
    /// The clock of a machine jumps, also backwards.
    SetClock {
        machine: usize,
        hours: i64,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let pair = || (0..2usize, 0..SESSIONS.len());
    let step = prop_oneof![
        4 => pair().prop_map(|(machine, session)| Step::Append { machine, session }),
        1 => pair().prop_map(|(machine, session)| Step::Delete { machine, session }),
        4 => (0..2usize).prop_map(|machine| Step::Archive { machine }),
        3 => pair().prop_map(|(machine, session)| Step::Forget { machine, session }),
        2 => pair().prop_map(|(machine, session)| Step::Undo { machine, session }),
        5 => (0..2usize).prop_map(|machine| Step::Sync { machine }),
        2 => (0..3usize).prop_map(|place| Step::Prune { place }),
        2 => (0..2usize, -100..100i64).prop_map(|(machine, hours)| Step::SetClock { machine, hours }),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_copy_agrees_with_the_model(steps in steps()) {
        let mut machines = Machines::new();
        let mut model = ArchivesModel::default();
        let mut live: BTreeMap<(usize, usize), Vec<u8>> = BTreeMap::new();
        for (idx, step) in steps.into_iter().enumerate() {
            match step {
                Step::Append { machine, session } => {
                    let content = live.entry((machine, session)).or_default();
                    content.extend(format!("{{\"n\":{idx},\"m\":{machine}}}\n").into_bytes());
                    machines.write(machine, session, content);
                }
                Step::Delete { machine, session } => {
                    if live.remove(&(machine, session)).is_some() {
                        machines.delete(machine, session);
                    }
                }
                Step::Archive { machine } => {
                    machines.archive(machine);
                    for ((_, session), bytes) in live.iter().filter(|((owner, _), _)| *owner == machine) {
                        if !model.tombstone(machine, *session).1 {
                            model.parts[machine][machine].content.insert(*session, bytes.clone());
                        }
                    }
                    model.parts[machine][machine].revision += 1;
                }
                Step::Forget { machine, session } => {
                    machines.set_forgotten(machine, session, true);
                    model.set_forgotten(machine, session, true);
                }
                Step::Undo { machine, session } => {
                    machines.set_forgotten(machine, session, false);
                    model.set_forgotten(machine, session, false);
                }
                Step::Sync { machine } => {
                    machines.sync(machine);
                    model.sync(machine);
                }
                Step::Prune { place } => {
                    machines.prune(place);
                    model.prune(place);
                }
                Step::SetClock { machine, hours } => machines.clocks[machine] += hours * 3_600_000,
            }
            for place in 0..3 {
                let (transcripts, forgotten) = machines.read(place);
                let (expected, expected_forgotten) = model.read(place);
                prop_assert_eq!(&forgotten, &expected_forgotten, "place {} after step {}", place, idx);
                prop_assert_eq!(&transcripts, &expected, "place {} after step {}", place, idx);
            }
        }
        for _ in 0..2 {
            machines.sync(0);
            machines.sync(1);
        }
        let forgotten = machines.read(DISK).1;
        for place in 0..3 {
            prop_assert_eq!(verify_archive(&machines.location(place), true), []);
            prop_assert_eq!(&machines.read(place).1, &forgotten, "all copies forget the same sessions");
        }
    }
}

/// Returns all bytes of the packs and catalogs of an archive, decompressed.
fn read_stored_bytes(location: &ArchiveLocation) -> Vec<u8> {
    let files = crate::disk::list_files(&location.machines_dir());
    let files = files.iter().filter(|path| !path.ends_with("lock") && !path.ends_with("seen"));
    files
        .flat_map(|path| {
            let bytes = std::fs::read(path).unwrap();
            zstd::decode_all(&bytes[..]).unwrap_or(bytes)
        })
        .collect()
}

#[test]
fn a_prune_deletes_the_forgotten_content_and_keeps_all_other_content() {
    let machines = Machines::new();
    machines.write(0, 0, b"secret of the first session\n");
    machines.write(0, 1, b"text of the second session\n");
    machines.archive(0);
    let location = machines.location(0);
    machines.set_forgotten(0, 0, true);
    let dry = prune_archive(&location, true, 0).unwrap();
    assert_eq!((dry.sessions, dry.files), (1, 2));
    let has_secret = || memchr::memmem::find(&read_stored_bytes(&location), b"secret").is_some();
    assert!(has_secret(), "a dry run deletes nothing");
    let report = prune_archive(&location, false, 0).unwrap();
    assert_eq!((report.sessions, report.files), (1, 2));
    assert!(report.bytes.1 < report.bytes.0, "{report:?}");
    assert!(!has_secret());
    assert!(machines.read(0).0.values().eq([b"text of the second session\n"]));
    assert_eq!(verify_archive(&location, true), []);
    assert_eq!(prune_archive(&location, false, 0).unwrap().sessions, 0);
    // The session can be archived again after it was taken back.
    machines.archive(0);
    assert!(!has_secret(), "still forgotten, although the file exists");
    machines.set_forgotten(0, 0, false);
    machines.archive(0);
    assert!(has_secret());
    assert_eq!(verify_archive(&location, true), []);
}

#[test]
fn a_run_reports_the_files_of_forgotten_sessions() {
    let machines = Machines::new();
    machines.write(0, 0, b"one\n");
    machines.set_forgotten(0, 0, true);
    let report = machines.archive(0);
    assert_eq!((report.checked, report.forgotten, report.created), (2, 2, 0));
}

/// Two machines may use one folder without a copy each.
#[test]
fn a_session_that_another_machine_forgot_in_the_same_folder_is_not_archived() {
    let machines = Machines::new();
    machines.write(1, 0, b"one\n");
    let shared = ArchiveLocation { dir: machines.location(0).dir, ..machines.location(1) };
    machines.set_forgotten(0, 0, true);
    let roots = Roots::new(vec![machines.root(1)]);
    let report =
        ArchiveWriter::open(&shared, "test", 5).unwrap().update(&roots, &ExclusionSet::default()).unwrap();
    assert_eq!((report.forgotten, report.created), (2, 0));
}

#[test]
fn a_damaged_part_is_not_pruned() {
    let machines = Machines::new();
    machines.write(0, 0, b"one\n");
    machines.archive(0);
    machines.set_forgotten(0, 0, true);
    let location = machines.location(0);
    let catalogs = crate::disk::list_files(&location.machine_dir().join("catalogs"));
    std::fs::write(&catalogs[0], "damaged").unwrap();
    let before = crate::disk::list_files(&location.dir);
    assert_eq!(prune_archive(&location, false, 0).unwrap().damages.len(), 1);
    assert_eq!(crate::disk::list_files(&location.dir), before);
}

/// A synchronisation writes packs before the catalog that names them.
#[test]
fn a_prune_deletes_only_old_files_that_no_catalog_names() {
    let machines = Machines::new();
    machines.write(0, 0, b"one\n");
    machines.archive(0);
    let location = machines.location(0);
    let pack = |name: &str| location.machine_dir().join("packs").join(format!("{name}.zst"));
    let (new, old, foreign) =
        (pack(&"a".repeat(64)), pack(&"b".repeat(64)), pack("notes").with_extension("txt"));
    for path in [&new, &old, &foreign] {
        std::fs::write(path, "x").unwrap();
    }
    for path in [&old, &foreign] {
        let two_days_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(48 * 3600);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(two_days_ago).unwrap();
    }
    machines.prune(0);
    assert_eq!([&new, &old, &foreign].map(|path| path.exists()), [true, false, true]);
}

/// An archive that was rewritten is not taken for one that was lost and started anew.
#[test]
fn an_archive_with_one_catalog_is_synchronised_after_it_was_replaced() {
    let mut machines = Machines::new();
    machines.write(0, 0, b"one\n");
    machines.write(0, 1, b"two\n");
    machines.archive(0);
    machines.set_forgotten(0, 0, true);
    machines.prune(0);
    machines.sync(0);
    for hours in [0, 1] {
        machines.clocks[0] += hours * 3_600_000;
        machines.prune(0);
        machines.archive(0);
        machines.sync(0);
        machines.set_forgotten(0, 1, hours == 0);
        machines.prune(DISK);
        machines.sync(0);
    }
    assert_eq!(verify_archive(&machines.location(DISK), true), []);
}

//! Laws of an encrypted place: it gives back what was copied there, and shows nothing without the identity.
#![cfg(feature = "encrypt")]
#![expect(clippy::disallowed_methods, reason = "tests change session files and damage places")]

use std::path::{Path, PathBuf};

use age::secrecy::ExposeSecret;

use super::*;
use crate::archive::archive_reader::Archive;
use crate::archive::archive_writer::ArchiveWriter;
use crate::archive::damage::DamageKind;
use crate::archive::sync::CopiedFiles;
use crate::archive::tests::{ArchivedHome, SESSION, make_lines};
use crate::archive::{ExclusionSet, sync_archives, verify_archive};
use crate::disk::Roots;

const SECRET_TEXT: &str = "the treasure is under the oak";

/// A key pair: the public key, and a file with the secret one.
struct KeyPair {
    public: String,
    folder: tempfile::TempDir,
}

impl KeyPair {
    fn new() -> KeyPair {
        let identity = age::x25519::Identity::generate();
        let folder = tempfile::tempdir().unwrap();
        let text = format!("# a comment\n{}\n", identity.to_string().expose_secret());
        std::fs::write(folder.path().join("key.txt"), text).unwrap();
        KeyPair { public: identity.to_public().to_string(), folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("key.txt")
    }

    /// Returns the keys of a machine that has the public one only.
    fn to_push(&self) -> PlaceKeys {
        PlaceKeys { recipients: vec![self.public.clone()], ..PlaceKeys::default() }
    }

    fn to_pull(&self) -> PlaceKeys {
        PlaceKeys { identity: Some(self.file()), ..PlaceKeys::default() }
    }

    fn to_sync(&self) -> PlaceKeys {
        PlaceKeys { identity: Some(self.file()), ..self.to_push() }
    }
}

/// Returns an empty archive of a machine.
fn locate(folder: &Path, machine: &str) -> ArchiveLocation {
    ArchiveLocation {
        dir: folder.join(format!("archive-{machine}")),
        machine_id: machine.to_owned(),
        machine_name: format!("name of {machine}"),
    }
}

fn update(home: &ArchivedHome, location: &ArchiveLocation) {
    let roots = Roots::new(vec![home.root()]);
    let writer = ArchiveWriter::open(location, "test", home.now).unwrap();
    writer.update(&roots, &ExclusionSet::default()).unwrap();
}

fn sync(location: &ArchiveLocation, place: &Path, keys: &PlaceKeys) -> SyncReport {
    let report = sync_encrypted(location, place, keys).unwrap();
    assert_eq!(report.damages, []);
    report
}

/// Returns the archived content of a file of a machine.
fn read(location: &ArchiveLocation, path: &str) -> Option<Vec<u8>> {
    let archive = Archive::open(location);
    let file = archive.files().find(|file| file.relative == Path::new(path))?;
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut file.read(file.newest()), &mut bytes).unwrap();
    Some(bytes)
}

/// Returns the content of all files below a folder.
fn read_all(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = crate::disk::list_files(folder);
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}

/// A home with a session, its archive, an empty place and keys.
struct EncryptedHome {
    home: ArchivedHome,
    place: tempfile::TempDir,
    keys: KeyPair,
}

impl EncryptedHome {
    fn new() -> EncryptedHome {
        let home = ArchivedHome::new();
        home.write(SESSION, make_lines(0..2000));
        home.write("plans/p.md", SECRET_TEXT);
        home.update();
        EncryptedHome { home, place: tempfile::tempdir().unwrap(), keys: KeyPair::new() }
    }

    fn push(&self) -> SyncReport {
        sync(&self.home.location(), self.place.path(), &self.keys.to_push())
    }

    /// Copies the place into a new archive of another machine.
    fn pull(&self, into: &Path) -> ArchiveLocation {
        let location = locate(into, "other");
        sync(&location, self.place.path(), &self.keys.to_pull());
        location
    }

    fn run(&mut self) {
        self.home.now += 1000;
        self.home.update();
    }
}

#[test]
fn a_place_gives_back_what_was_copied_there() {
    let mut home = EncryptedHome::new();
    assert_eq!(home.push().pushed.files, 2);
    home.home.append(SESSION, &make_lines(2000..2010));
    home.run();
    assert_eq!(home.push().pushed.files, 2);
    let folder = tempfile::tempdir().unwrap();
    let other = home.pull(folder.path());
    assert_eq!(verify_archive(&other, true), []);
    assert_eq!(read(&other, SESSION), Some(make_lines(0..2010)));
    assert_eq!(read(&other, "plans/p.md"), Some(SECRET_TEXT.into()));
    let again = sync(&other, home.place.path(), &home.keys.to_pull());
    assert_eq!(again.pulled, CopiedFiles::default());
}

#[test]
fn pushing_again_changes_nothing() {
    let home = EncryptedHome::new();
    home.push();
    let before = read_all(home.place.path());
    for keys in [home.keys.to_push(), home.keys.to_sync()] {
        let report = sync(&home.home.location(), home.place.path(), &keys);
        assert_eq!((report.pushed, report.pulled), (CopiedFiles::default(), CopiedFiles::default()));
        assert_eq!(read_all(home.place.path()), before);
    }
}

#[test]
fn a_place_shows_no_name_and_no_content() {
    let mut home = EncryptedHome::new();
    home.push();
    home.home.append(SESSION, &make_lines(2000..2010));
    home.run();
    home.push();
    let packs = crate::disk::list_files(&home.home.machine_dir().join("packs"));
    let pack = packs[0].file_stem().unwrap().to_str().unwrap().to_owned();
    let session = Path::new(SESSION).file_stem().unwrap().to_str().unwrap();
    let session_start = &make_lines(0..1)[..30];
    for (path, content) in read_all(home.place.path()) {
        let name = path.strip_prefix(home.place.path()).unwrap().to_str().unwrap().as_bytes();
        for secret in
            [SECRET_TEXT.as_bytes(), session.as_bytes(), b"-home-ada-shop", b"laptop", pack.as_bytes()]
        {
            assert!(!contains(name, secret), "{}", path.display());
            assert!(!contains(&content, secret), "{}", path.display());
        }
        assert!(!contains(&content, session_start), "{}", path.display());
        // A zstd frame that begins a file would show the length of the content.
        assert!(!content.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]), "{}", path.display());
    }
}

#[test]
fn machines_share_a_place_and_forget_together() {
    let place = tempfile::tempdir().unwrap();
    let archives = tempfile::tempdir().unwrap();
    let keys = KeyPair::new();
    let homes = [ArchivedHome::new(), ArchivedHome::new()];
    let locations = ["m1", "m2"].map(|id| locate(archives.path(), id));
    for (idx, (home, location)) in homes.iter().zip(&locations).enumerate() {
        home.write(&format!("plans/{idx}.md"), format!("plan {idx}"));
        home.write(SESSION, "shared\n");
        update(home, location);
    }
    // At the same time, with the public key only.
    std::thread::scope(|scope| {
        for location in &locations {
            scope.spawn(|| sync(location, place.path(), &keys.to_push()));
        }
    });
    for location in &locations {
        let report = sync(location, place.path(), &keys.to_sync());
        assert_eq!(report.machines, ["m1", "m2"]);
        assert_eq!(
            (read(location, "plans/0.md"), read(location, "plans/1.md")),
            (Some(b"plan 0".into()), Some(b"plan 1".into()))
        );
    }
    // Both have both parts now, and each part is there once.
    let before = read_all(place.path()).len();
    for location in &locations {
        sync(location, place.path(), &keys.to_push());
    }
    assert_eq!(read_all(place.path()).len(), before);
    let session = Path::new(SESSION).file_stem().unwrap().to_str().unwrap().to_owned();
    let writer = ArchiveWriter::open(&locations[0], "test", homes[0].now + 1).unwrap();
    writer.set_forgotten(vec![(session.clone(), std::collections::BTreeSet::new())], true).unwrap();
    sync(&locations[0], place.path(), &keys.to_push());
    sync(&locations[1], place.path(), &keys.to_sync());
    let archive = Archive::open(&locations[1]);
    assert!(archive.is_forgotten(&session));
    assert_eq!(archive.files().filter(|file| file.relative == Path::new(SESSION)).count(), 0);
}

/// A part that reached this machine through a disk is copied, until its machine does so itself.
#[test]
fn the_part_of_a_machine_without_access_is_copied_for_it() {
    let home = EncryptedHome::new();
    let folder = tempfile::tempdir().unwrap();
    let disk = tempfile::tempdir().unwrap();
    sync_archives(&home.home.location(), disk.path()).unwrap();
    let second = locate(folder.path(), "m2");
    sync_archives(&second, disk.path()).unwrap();
    sync(&second, home.place.path(), &home.keys.to_push());
    let third = home.pull(folder.path());
    assert_eq!(read(&third, "plans/p.md"), Some(SECRET_TEXT.into()));
    // The machine itself cannot read what is there, unless it has the identity.
    let refused = sync_encrypted(&home.home.location(), home.place.path(), &home.keys.to_push());
    assert!(matches!(refused, Err(Error::UnknownPart { .. })), "{refused:?}");
    sync(&home.home.location(), home.place.path(), &home.keys.to_sync());
    home.push();
    let before = read_all(home.place.path());
    sync(&second, home.place.path(), &home.keys.to_push());
    assert_eq!(read_all(home.place.path()), before, "the part belongs to its machine now");
}

#[test]
fn another_identity_is_refused_and_changes_nothing() {
    let home = EncryptedHome::new();
    home.push();
    let folder = tempfile::tempdir().unwrap();
    let location = locate(folder.path(), "other");
    let refused = sync_encrypted(&location, home.place.path(), &KeyPair::new().to_pull());
    assert!(matches!(refused, Err(Error::WrongIdentity { .. })), "{refused:?}");
    assert_eq!(Archive::open(&location).files().count(), 0);
    std::fs::write(home.keys.file(), "no key\n").unwrap();
    let refused = sync_encrypted(&location, home.place.path(), &home.keys.to_pull());
    assert!(matches!(refused, Err(Error::InvalidIdentity { .. })), "{refused:?}");
}

#[test]
fn keys_of_the_wrong_kind_are_refused() {
    let home = EncryptedHome::new();
    let secret = std::fs::read_to_string(home.keys.file()).unwrap();
    let secret = secret.lines().last().unwrap();
    for (text, is_secret_key) in [("age1nonsense", false), ("", false), (secret, true)] {
        let keys = PlaceKeys { recipients: vec![text.to_owned()], ..PlaceKeys::default() };
        let refused = sync_encrypted(&home.home.location(), home.place.path(), &keys).unwrap_err();
        assert!(
            matches!(&refused, Error::InvalidRecipient { is_secret, .. } if *is_secret == is_secret_key),
            "{refused:?}"
        );
        assert!(!refused.to_string().contains(secret));
    }
    assert!(read_all(home.place.path()).is_empty());
}

/// A reader never takes a part for whole that is not, and the machine that wrote it repairs what is missing or has another length.
#[test]
fn damage_is_reported_and_repaired() {
    let mut home = EncryptedHome::new();
    home.push();
    home.home.append(SESSION, &make_lines(2000..2010));
    home.run();
    home.push();
    for (path, content) in read_all(home.place.path()) {
        let is_mark = path.ends_with("encrypted");
        let is_index = path.ends_with("index");
        let mut flipped = content.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 1;
        for (what, damaged) in
            [("flipped", Some(flipped)), ("cut", Some(content[..middle].to_vec())), ("missing", None)]
        {
            let is_cut = what != "flipped";
            match damaged {
                Some(damaged) => std::fs::write(&path, damaged).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            let folder = tempfile::tempdir().unwrap();
            let other = locate(folder.path(), "other");
            let pulled = sync_encrypted(&other, home.place.path(), &home.keys.to_pull()).unwrap();
            let is_derived = is_mark || is_index;
            let is_hidden = path.ends_with("manifest") && what == "missing";
            assert_eq!(
                pulled.damages.is_empty(),
                is_derived || is_hidden,
                "{what} {}: {:?}",
                path.display(),
                pulled.damages
            );
            assert_eq!(
                Archive::open(&other).files().count(),
                if is_derived { 2 } else { 0 },
                "{what} {}: {:?}",
                path.display(),
                pulled.damages
            );
            assert_eq!(verify_archive(&other, true), []);
            if is_index {
                // Only the identity shows that the part is that of this machine.
                let refused = sync_encrypted(&home.home.location(), home.place.path(), &home.keys.to_push());
                assert!(matches!(refused, Err(Error::UnknownPart { .. })), "{refused:?}");
                let _ =
                    sync_encrypted(&home.home.location(), home.place.path(), &home.keys.to_sync()).unwrap();
            } else if is_cut {
                let pushed =
                    sync_encrypted(&home.home.location(), home.place.path(), &home.keys.to_push()).unwrap();
                let is_object = !is_mark && !path.ends_with("manifest");
                assert_eq!(
                    pushed.damages.iter().any(|damage| damage.path == path),
                    is_object,
                    "{what} {}",
                    path.display()
                );
            }
            let is_repaired = is_cut || is_index;
            if is_repaired {
                home.pull(tempfile::tempdir().unwrap().path());
                home.push();
            } else {
                std::fs::write(&path, &content).unwrap();
            }
        }
    }
}

#[test]
fn an_archive_that_was_lost_is_restored_and_never_replaces_the_place() {
    let home = EncryptedHome::new();
    home.push();
    std::fs::remove_dir_all(home.home.location().dir).unwrap();
    std::fs::remove_file(home.home.root().join(SESSION)).unwrap();
    // A new archive, with the identity or without.
    home.home.update();
    let before = read_all(home.place.path());
    let refused = sync_encrypted(&home.home.location(), home.place.path(), &home.keys.to_push());
    assert!(matches!(refused, Err(Error::UnknownPart { .. })), "{refused:?}");
    let refused = sync_encrypted(&home.home.location(), home.place.path(), &home.keys.to_sync());
    assert!(matches!(refused, Err(Error::DivergedArchive { .. })), "{refused:?}");
    assert_eq!(read_all(home.place.path()), before);
    // An empty archive gets its own part back, and continues it with the public key only.
    std::fs::remove_dir_all(home.home.location().dir).unwrap();
    sync(&home.home.location(), home.place.path(), &home.keys.to_pull());
    assert_eq!(read(&home.home.location(), SESSION), Some(make_lines(0..2000)));
    home.home.write("plans/q.md", "more");
    home.home.update();
    assert_eq!(home.push().pushed.files, 2);
    let folder = tempfile::tempdir().unwrap();
    let other = home.pull(folder.path());
    assert_eq!(read(&other, "plans/q.md"), Some(b"more".into()));
    assert_eq!(read(&other, SESSION), Some(make_lines(0..2000)));
}

#[test]
fn other_recipients_get_everything() {
    let home = EncryptedHome::new();
    home.push();
    let second = KeyPair::new();
    let both = PlaceKeys {
        recipients: vec![home.keys.public.clone(), second.public.clone()],
        ..PlaceKeys::default()
    };
    assert_eq!(sync(&home.home.location(), home.place.path(), &both).pushed.files, 2);
    for keys in [&home.keys, &second] {
        let folder = tempfile::tempdir().unwrap();
        let other = locate(folder.path(), "other");
        sync(&other, home.place.path(), &keys.to_pull());
        assert_eq!(read(&other, SESSION), Some(make_lines(0..2000)));
    }
}

#[test]
fn a_prune_deletes_the_objects_that_this_machine_does_not_need() {
    let home = EncryptedHome::new();
    home.push();
    let stray = home.place.path().join("parts/m1/objects").join("0".repeat(64));
    std::fs::write(&stray, "old").unwrap();
    home.push();
    assert!(stray.exists(), "nothing is deleted unless that is asked for");
    sync(&home.home.location(), home.place.path(), &PlaceKeys { prune: true, ..home.keys.to_push() });
    assert!(!stray.exists());
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(read(&home.pull(folder.path()), SESSION), Some(make_lines(0..2000)));
}

#[test]
fn plain_and_encrypted_places_are_not_mixed() {
    let home = EncryptedHome::new();
    home.push();
    let location = home.home.location();
    let refused = sync_archives(&location, home.place.path());
    assert!(matches!(refused, Err(Error::EncryptedPlace { .. })), "{refused:?}");
    let inside = ArchiveLocation { dir: home.place.path().to_owned(), ..location.clone() };
    let refused = ArchiveWriter::open(&inside, "test", 0);
    assert!(matches!(refused, Err(Error::EncryptedPlace { .. })), "{refused:?}");
    let disk = tempfile::tempdir().unwrap();
    sync_archives(&location, disk.path()).unwrap();
    let refused = sync_encrypted(&location, disk.path(), &home.keys.to_push());
    assert!(matches!(refused, Err(Error::PlainPlace { .. })), "{refused:?}");
    let nowhere = disk.path().join("none");
    let refused = sync_encrypted(&location, &nowhere, &home.keys.to_push());
    assert!(matches!(refused, Err(Error::NoSyncFolder { was_present: false, .. })), "{refused:?}");
}

/// A damaged file of the local archive is not copied, and the place stays as it was.
#[test]
fn local_damage_is_not_copied() {
    let mut home = EncryptedHome::new();
    home.push();
    let before = read_all(home.place.path());
    home.home.append(SESSION, &make_lines(2000..2010));
    home.run();
    let packs = crate::disk::list_files(&home.home.machine_dir().join("packs"));
    let newest =
        packs.iter().max_by_key(|path| std::fs::metadata(path).unwrap().modified().unwrap()).unwrap();
    std::fs::write(newest, "damaged").unwrap();
    let report = sync_encrypted(&home.home.location(), home.place.path(), &home.keys.to_push()).unwrap();
    assert_eq!(report.damages.len(), 1);
    assert_eq!(report.damages[0].kind, DamageKind::WrongHash);
    let after = read_all(home.place.path());
    let kept = before.iter().filter(|file| after.contains(file)).count();
    assert_eq!(kept, before.len());
}

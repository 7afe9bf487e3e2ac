//! Verifies an archive.

use std::io::{self, Read};
use std::path::Path;

use super::ArchiveLocation;
use super::archive_reader::{Archive, MachineArchive};
use super::catalog_record::PackRecord;
use super::damage::{ArchiveDamage, DamageKind};
use super::frame::{decompress_frame, pack_path};
use super::seen_files::{self, SeenFiles};
use crate::disk::open_file;

/// The length of the pieces in which packs are read.
const BUFFER_BYTES: usize = 256 << 10;

/// Verifies every byte of an archive by the hashes of its files. `is_deep` also decompresses all content and verifies each
/// segment. Returns all damage.
pub(crate) fn verify_archive(location: &ArchiveLocation, is_deep: bool) -> Vec<ArchiveDamage> {
    let archive = Archive::open(location);
    let mut damages = archive.damages.clone();
    for machine in archive.machines() {
        verify_machine(machine, is_deep, &mut damages);
    }
    damages
}

fn verify_machine(machine: &MachineArchive, is_deep: bool, damages: &mut Vec<ArchiveDamage>) {
    for pack in &machine.catalog.packs {
        let path = pack_path(&machine.dir, &pack.pack);
        let verified = verify_pack(&path, pack).and_then(|()| match is_deep {
            true => verify_segments(&path, pack),
            false => Ok(()),
        });
        damages.extend(verified.err().map(|kind| ArchiveDamage { path, kind }));
    }
    let segments = machine.catalog.files.values().flatten().flat_map(|generation| &generation.segments);
    if segments.into_iter().any(|segment| machine.catalog.find_segment(&segment.hash).is_none()) {
        damages.push(ArchiveDamage { path: machine.dir.join("catalogs"), kind: DamageKind::MissingSegment });
    }
    if !SeenFiles::is_intact(&machine.dir) {
        let path = machine.dir.join(seen_files::FILE_NAME);
        damages.push(ArchiveDamage { path, kind: DamageKind::InvalidSeenList });
    }
}

/// Compares length and hash of a pack with its record.
fn verify_pack(path: &Path, pack: &PackRecord) -> Result<(), DamageKind> {
    let mut file = open_file(path).map_err(|error| to_damage(&error))?;
    let found = file.metadata().map_err(|error| to_damage(&error))?.len();
    if found != pack.bytes {
        return Err(DamageKind::WrongLength { expected: pack.bytes, found });
    }
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match file.read(&mut buffer).map_err(|error| to_damage(&error))? {
            0 => break,
            len => hasher.update(&buffer[..len]),
        };
    }
    let is_intact = hasher.finalize().to_hex().as_str() == pack.pack;
    if is_intact { Ok(()) } else { Err(DamageKind::WrongHash) }
}

/// Decompresses all frames of a pack and compares each segment with its hash.
fn verify_segments(path: &Path, pack: &PackRecord) -> Result<(), DamageKind> {
    let mut file = open_file(path).map_err(|error| to_damage(&error))?;
    for frame in &pack.frames {
        let content = decompress_frame(&mut file, frame).map_err(|_| DamageKind::InvalidFormat)?;
        let mut rest = &content[..];
        for recorded in &frame.segments {
            let len = usize::try_from(recorded.bytes).map_err(|_| DamageKind::InvalidFormat)?;
            let (segment, after) = rest.split_at_checked(len).ok_or(DamageKind::InvalidFormat)?;
            if blake3::hash(segment) != recorded.hash {
                return Err(DamageKind::WrongHash);
            }
            rest = after;
        }
    }
    Ok(())
}

fn to_damage(error: &io::Error) -> DamageKind {
    match error.kind() {
        io::ErrorKind::NotFound => DamageKind::Missing,
        _ => DamageKind::Unreadable(crate::describe_io_error(error)),
    }
}

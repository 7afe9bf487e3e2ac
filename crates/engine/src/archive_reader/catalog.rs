//! The content of an archive of one machine, as its catalogs record it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use super::catalog_record::ContentSegment;
use super::catalog_record::{
    CatalogRecord, FileRecord, GenerationCause, PackRecord, PlaceRecord, StoredPath,
};
use super::damage::{ArchiveDamage, DamageKind};
use super::manifest::{ArchiveManifest, parse_catalog_name};
use super::tombstones::TombstoneSet;
use crate::plain_file::open_file;

/// The maximum length of a decompressed catalog. A larger one is damaged or hostile.
const MAX_CATALOG_BYTES: u64 = 4 << 30;

/// The position of a segment in a pack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SegmentPosition {
    /// The index of the pack in [`Catalog::packs`].
    pub(crate) pack: u32,
    /// The index of the frame in the pack.
    pub(crate) frame: u32,
    /// The offset in the decompressed frame.
    pub(crate) offset: u64,
}

/// A file in the archive, by its place and its path below it.
pub(crate) type FileKey = (u32, StoredPath);

/// A state of a file that was not reached by appending to an earlier one.
#[derive(Debug, Clone)]
pub(crate) struct Generation {
    /// The number of the generation, from 1.
    pub(crate) number: u32,
    /// Why it exists.
    pub(crate) cause: GenerationCause,
    pub(crate) segments: Vec<ContentSegment>,
    /// The length of the content.
    pub(crate) bytes: u64,
    /// The permission bits of the file. 0 if unknown.
    pub(crate) mode: u32,
    /// The modification time in milliseconds since 1970.
    pub(crate) modified: i64,
    /// The time of the last archive run that added content, in milliseconds since 1970.
    pub(crate) archived: i64,
}

/// The packs, places and files of a machine.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) packs: Vec<PackRecord>,
    pub(crate) places: BTreeMap<u32, PlaceRecord>,
    pub(crate) files: BTreeMap<FileKey, Vec<Generation>>,
    pub(crate) tombstones: TombstoneSet,
    segments: HashMap<blake3::Hash, SegmentPosition>,
}

impl Catalog {
    /// Reads the catalogs of a manifest. A damaged catalog is skipped and reported.
    pub(crate) fn read(
        machine_dir: &Path,
        manifest: &ArchiveManifest,
        damages: &mut Vec<ArchiveDamage>,
    ) -> Catalog {
        let mut catalog = Catalog::default();
        for name in &manifest.catalogs {
            let path = machine_dir.join("catalogs").join(name);
            if let Err(kind) = catalog.add_file(&path, name) {
                damages.push(ArchiveDamage { path, kind });
            }
        }
        catalog
    }

    /// Adds the records of a catalog file. Adds nothing if it is damaged.
    fn add_file(&mut self, path: &Path, name: &str) -> Result<(), DamageKind> {
        let mut bytes = Vec::new();
        let read = open_file(path).and_then(|mut file| io::Read::read_to_end(&mut file, &mut bytes));
        read.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DamageKind::Missing,
            _ => DamageKind::Unreadable(crate::describe_io_error(&error)),
        })?;
        self.add_bytes(&bytes, name)
    }

    /// Adds the records of a catalog with this name. Adds nothing if the bytes do not have the hash in the name.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8], name: &str) -> Result<(), DamageKind> {
        let (_, hash) = parse_catalog_name(name).ok_or(DamageKind::InvalidFormat)?;
        if blake3::hash(bytes) != hash {
            return Err(DamageKind::WrongHash);
        }
        let records = parse_records(bytes).ok_or(DamageKind::InvalidFormat)?;
        for record in records {
            self.add(record).ok_or(DamageKind::InvalidFormat)?;
        }
        Ok(())
    }

    /// Adds a record. Returns `None` if its lengths or offsets do not fit.
    pub(crate) fn add(&mut self, record: CatalogRecord) -> Option<()> {
        match record {
            CatalogRecord::Place(place) => {
                self.places.insert(place.place, place);
            }
            CatalogRecord::Pack(pack) => self.add_pack(pack)?,
            CatalogRecord::File(file) => self.add_content(file)?,
            CatalogRecord::Tombstone(tombstone) => self.tombstones.add(tombstone),
        }
        Some(())
    }

    fn add_pack(&mut self, pack: PackRecord) -> Option<()> {
        let pack_idx = u32::try_from(self.packs.len()).ok()?;
        for (frame_idx, frame) in (0..).zip(&pack.frames) {
            let mut offset: u64 = 0;
            for segment in &frame.segments {
                let position = SegmentPosition { pack: pack_idx, frame: frame_idx, offset };
                self.segments.insert(segment.hash, position);
                offset = offset.checked_add(segment.bytes)?;
            }
        }
        self.packs.push(pack);
        Some(())
    }

    fn add_content(&mut self, file: FileRecord) -> Option<()> {
        let generations = self.files.entry((file.place, file.path)).or_default();
        let idx = generations.iter().position(|generation| generation.number == file.generation);
        let idx = idx.unwrap_or_else(|| {
            generations.push(Generation {
                number: file.generation,
                cause: file.cause,
                segments: Vec::new(),
                bytes: 0,
                mode: 0,
                modified: 0,
                archived: 0,
            });
            generations.len() - 1
        });
        let generation = &mut generations[idx];
        // Records of one generation continue it, or replace its segments from an earlier boundary on.
        while generation.bytes > file.offset {
            generation.bytes -= generation.segments.pop()?.bytes;
        }
        if generation.bytes != file.offset {
            return None;
        }
        for segment in &file.segments {
            generation.bytes = generation.bytes.checked_add(segment.bytes)?;
        }
        if generation.segments.is_empty() {
            generation.segments = file.segments;
        } else {
            generation.segments.extend(file.segments);
        }
        (generation.mode, generation.modified, generation.archived) =
            (file.mode, file.modified, file.archived);
        Some(())
    }

    /// Returns the position of a segment. Returns `None` if it is in no pack.
    pub(crate) fn find_segment(&self, hash: &blake3::Hash) -> Option<SegmentPosition> {
        self.segments.get(hash).copied()
    }

    /// Returns the hashes of the segments in all packs, in no particular order.
    pub(crate) fn segment_hashes(&self) -> impl Iterator<Item = blake3::Hash> {
        self.segments.keys().copied()
    }

    /// Returns the number of the place with this root and machine name. Returns `None` if it is not recorded.
    pub(crate) fn find_place(&self, root: &Path, machine: &str) -> Option<u32> {
        let root = StoredPath::from_path(root);
        let place = self.places.values().find(|place| place.root == root && place.machine == machine);
        place.map(|place| place.place)
    }

    /// Returns all records: a catalog with them alone has the same content.
    pub(crate) fn to_records(&self) -> Vec<CatalogRecord> {
        let places = self.places.values().cloned().map(CatalogRecord::Place);
        let packs = self.packs.iter().cloned().map(CatalogRecord::Pack);
        let files = self.files.iter().flat_map(|((place, path), generations)| {
            generations.iter().map(|generation| {
                CatalogRecord::File(FileRecord {
                    place: *place,
                    path: path.clone(),
                    generation: generation.number,
                    offset: 0,
                    segments: generation.segments.clone(),
                    mode: generation.mode,
                    modified: generation.modified,
                    archived: generation.archived,
                    cause: generation.cause,
                })
            })
        });
        let tombstones = self.tombstones.records().cloned().map(CatalogRecord::Tombstone);
        places.chain(packs).chain(files).chain(tombstones).collect()
    }

    /// Removes and returns the packs without a segment that a file needs.
    pub(crate) fn drop_unused_packs(&mut self) -> Vec<PackRecord> {
        let segments = self.files.values().flatten().flat_map(|generation| &generation.segments);
        let needed: HashSet<u32> = segments
            .filter_map(|segment| self.segments.get(&segment.hash))
            .map(|position| position.pack)
            .collect();
        let (mut kept, mut unused) = (Vec::new(), Vec::new());
        for (idx, pack) in (0..).zip(std::mem::take(&mut self.packs)) {
            if needed.contains(&idx) { kept.push(pack) } else { unused.push(pack) }
        }
        self.set_packs(kept).expect("the lengths were added before");
        unused
    }

    /// Replaces all packs. Returns `None` if the lengths of a record do not fit.
    pub(crate) fn set_packs(&mut self, packs: Vec<PackRecord>) -> Option<()> {
        self.packs.clear();
        self.segments.clear();
        packs.into_iter().try_for_each(|pack| self.add_pack(pack))
    }

    /// Returns the root folder of a place. Returns `None` if the place is unknown or has a path of another system.
    pub(crate) fn place_root(&self, place: u32) -> Option<PathBuf> {
        self.places.get(&place)?.root.to_path()
    }
}

/// Formats records as a catalog file: JSON Lines, compressed.
pub(crate) fn format_records(records: &[CatalogRecord]) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for record in records {
        serde_json::to_writer(&mut lines, record)?;
        lines.push(b'\n');
    }
    zstd::bulk::compress(&lines, 3)
}

fn parse_records(bytes: &[u8]) -> Option<Vec<CatalogRecord>> {
    let mut lines = Vec::new();
    let decoder = zstd::stream::read::Decoder::new(bytes).ok()?;
    io::Read::read_to_end(&mut io::Read::take(decoder, MAX_CATALOG_BYTES), &mut lines).ok()?;
    let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(CatalogRecord::parse).collect()
}

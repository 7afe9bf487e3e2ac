//! The manifest of a machine: the catalogs that count, in order.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::damage::{ArchiveDamage, DamageKind};
use crate::plain_file::open_file;

/// The version of the format.
pub(crate) const FORMAT: u32 = 1;
/// The name of the manifest in the folder of a machine.
pub(crate) const FILE_NAME: &str = "manifest";

/// The catalogs of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArchiveManifest {
    /// The version of the format.
    pub(crate) format: u32,
    /// The time of the last archive run in milliseconds since 1970.
    pub(crate) updated: i64,
    /// A number that every change increases, also if the clock goes backwards. 0 in manifests without it.
    #[serde(default)]
    pub(crate) revision: i64,
    /// The names of the catalogs, in the order in which they apply.
    pub(crate) catalogs: Vec<String>,
    /// The names of replaced catalogs that cannot be recognised by their numbers, for the comparison with other copies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) replaced: Vec<String>,
}

impl Default for ArchiveManifest {
    fn default() -> ArchiveManifest {
        ArchiveManifest {
            format: FORMAT,
            updated: 0,
            revision: 0,
            catalogs: Vec::new(),
            replaced: Vec::new(),
        }
    }
}

impl ArchiveManifest {
    /// Returns `true` if this state of a machine is newer than another one.
    pub(crate) fn is_newer_than(&self, other: &ArchiveManifest) -> bool {
        (self.revision, self.updated) > (other.revision, other.updated)
    }

    /// Formats the manifest: a line of JSON, and the hash of this line.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut text = serde_json::to_string(self).expect("plain values are valid JSON");
        text.push('\n');
        let hash = blake3::hash(text.as_bytes()).to_hex();
        text.push_str(&hash);
        text.push('\n');
        text.into_bytes()
    }

    /// Parses a manifest. Returns `None` if it is damaged.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<ArchiveManifest> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (line, hash) = text.split_at(text.find('\n')? + 1);
        let is_intact = hash.strip_suffix('\n')? == blake3::hash(line.as_bytes()).to_hex().as_str();
        is_intact.then(|| serde_json::from_str(line).ok()).flatten()
    }

    /// Reads the manifest in the folder of a machine. Returns an empty one if the folder has none and no catalogs.
    pub(crate) fn read(machine_dir: &Path) -> Result<ArchiveManifest, ArchiveDamage> {
        let path = machine_dir.join(FILE_NAME);
        let damaged = |kind| ArchiveDamage { path: path.clone(), kind };
        let mut bytes = Vec::new();
        let read = open_file(&path).and_then(|mut file| std::io::Read::read_to_end(&mut file, &mut bytes));
        match read {
            Ok(_) => ArchiveManifest::from_bytes(&bytes).ok_or_else(|| damaged(DamageKind::WrongHash)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let has_catalogs = !list_catalogs(machine_dir).is_empty();
                if has_catalogs { Err(damaged(DamageKind::Missing)) } else { Ok(ArchiveManifest::default()) }
            }
            Err(error) => Err(damaged(DamageKind::Unreadable(crate::describe_io_error(&error)))),
        }
    }

    /// Lists the catalogs in the folder of a machine, without those that a merged one replaces. Serves if the manifest is
    /// damaged. Adds a damage for each gap in their numbers.
    pub(crate) fn from_catalog_files(
        machine_dir: &Path,
        damages: &mut Vec<ArchiveDamage>,
    ) -> ArchiveManifest {
        let mut names = list_catalogs(machine_dir);
        // A merged catalog covers a range of numbers, and precedes its parts here.
        names.sort_by_key(|(range, _)| (range.0, std::cmp::Reverse(range.1)));
        let mut catalogs = Vec::new();
        let mut next = 0;
        for ((first, last), name) in names {
            if first > next {
                let path = machine_dir.join("catalogs").join(format!("{next:08}"));
                damages.push(ArchiveDamage { path, kind: DamageKind::Missing });
            }
            if first >= next {
                next = last.saturating_add(1);
                catalogs.push(name);
            }
        }
        ArchiveManifest { catalogs, ..ArchiveManifest::default() }
    }
}

/// Formats the name of a catalog with the numbers `first..=last`.
pub(crate) fn catalog_name(range: (u64, u64), hash: &blake3::Hash) -> String {
    format!("{:08}-{:08}-{}", range.0, range.1, hash.to_hex())
}

/// Parses the name of a catalog: the numbers it covers, and the hash of its bytes.
pub(crate) fn parse_catalog_name(name: &str) -> Option<((u64, u64), blake3::Hash)> {
    let (first, rest) = name.split_once('-')?;
    let (last, hash) = rest.split_once('-')?;
    let range = (first.parse().ok()?, last.parse().ok()?);
    (range.0 <= range.1).then_some((range, blake3::Hash::from_hex(hash).ok()?))
}

/// Lists the catalog files of a machine with the numbers they cover, in no particular order.
fn list_catalogs(machine_dir: &Path) -> Vec<((u64, u64), String)> {
    let entries = std::fs::read_dir(machine_dir.join("catalogs")).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| Some((parse_catalog_name(&name)?.0, name))).collect()
}

//! The manifest: the list of indexed files and segments. It is replaced as a whole, by a rename.

use std::fs::File;
use std::path::{Path, PathBuf};

use rethread_core::pack::{Pack, Unpacker};
use rethread_core::pack_fields;

use crate::cache::{IndexError, PagedReader, PagedWriter, code_fingerprint};
use crate::disk::{FileFingerprint, FileOwner, SessionFile};

/// The contents of the index.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manifest {
    /// The fingerprint of the code that wrote it.
    pub(crate) code: u64,
    /// The next id of a file or segment. Ids are never reused.
    pub(crate) next_id: u64,
    /// The ids and the sizes in bytes of the segments, oldest first.
    pub(crate) segments: Vec<(u64, u64)>,
    /// The indexed files, sorted by path.
    pub(crate) files: Vec<IndexedFile>,
}

pack_fields!(Manifest { code, next_id, segments, files });

/// An indexed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexedFile {
    /// Identifies the file in the index. A file that is indexed again from its start gets a new id.
    pub(crate) id: u64,
    pub(crate) path: PathBuf,
    /// The fingerprint when it was indexed.
    pub(crate) fingerprint: FileFingerprint,
    /// Whether any later change is guaranteed to change the fingerprint.
    pub(crate) is_stable: bool,
    /// The number of indexed bytes, up to the end of a line.
    pub(crate) bytes: u64,
    /// The number of indexed lines.
    pub(crate) lines: u32,
    /// The hash of the indexed bytes.
    pub(crate) hash: u64,
    pub(crate) owner: FileOwner,
    /// Whether it is the file of a subagent.
    pub(crate) is_agent: bool,
}

pack_fields!(IndexedFile { id, path, fingerprint, is_stable, bytes, lines, hash, owner, is_agent });

impl Manifest {
    /// Reads a manifest. Returns an empty one if other code wrote it: its terms may differ.
    ///
    /// Returns an error if the file is missing, unreadable or damaged.
    pub(crate) fn open(path: &Path) -> Result<Manifest, IndexError> {
        let bytes = PagedReader::open(path)?.read_section(0)?;
        match u64::unpack_from(&mut Unpacker::new(&bytes)) {
            Some(code) if code != code_fingerprint() => Ok(Manifest::default()),
            _ => Manifest::from_packed(&bytes).ok_or(IndexError::Corrupt),
        }
    }

    /// Writes the manifest to an empty file. Does not sync it.
    pub(crate) fn write(&self, file: File) -> std::io::Result<()> {
        let mut out = PagedWriter::new(file);
        out.start_section();
        out.write(&self.to_packed())?;
        out.finish()?;
        Ok(())
    }

    /// Returns for each of `files`, which must be sorted by path, the indexed file with the same path, changed or not.
    ///
    /// A value is `None` if the file is not indexed. Both lists are mostly equal, so they are walked in parallel:
    /// comparing paths is the dominant cost.
    pub(crate) fn find_files<'m>(&'m self, files: &[SessionFile]) -> Vec<Option<&'m IndexedFile>> {
        let mut rest = &self.files[..];
        let mut find = |file: &SessionFile| {
            let path = file.path.as_os_str();
            while let Some((indexed, following)) = rest.split_first() {
                if indexed.path.as_os_str() == path {
                    rest = following;
                    return Some(indexed);
                }
                if indexed.path > file.path {
                    return None;
                }
                rest = following;
            }
            None
        };
        files.iter().map(&mut find).collect()
    }
}

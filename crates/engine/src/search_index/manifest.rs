//! The catalog: which files are indexed, how far, and in which segments. It is replaced whole, by a rename.

use std::fs::File;
use std::path::{Path, PathBuf};

use rethread_core::pack::{Pack, Unpacker};
use rethread_core::pack_fields;

use crate::cache::cache_dir::code_fingerprint;
use crate::cache::paged_file::{IndexError, PagedReader, PagedWriter};
use crate::disk::{FileFingerprint, FileOwner, SessionFile};

/// What is indexed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manifest {
    /// By what code it was made.
    pub(crate) code: u64,
    /// The number of the next file or segment: none is ever used twice.
    pub(crate) next: u64,
    /// The segments, the oldest first, each with its size.
    pub(crate) segments: Vec<(u64, u64)>,
    /// The files, in the order of their paths.
    pub(crate) files: Vec<IndexedFile>,
}

pack_fields!(Manifest { code, next, segments, files });

/// An indexed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexedFile {
    /// Its number; a file that was read again has a new one.
    pub(crate) id: u64,
    pub(crate) path: PathBuf,
    /// How it looked when it was read.
    pub(crate) mark: FileFingerprint,
    /// Whether any later change made it look different.
    pub(crate) settled: bool,
    /// How many bytes of it are indexed: up to the end of a line.
    pub(crate) bytes: u64,
    /// How many lines those are.
    pub(crate) lines: u32,
    /// What they hash to.
    pub(crate) sum: u64,
    /// Whose it is.
    pub(crate) origin: FileOwner,
    /// Whether it is a subagent's.
    pub(crate) agent: bool,
}

pack_fields!(IndexedFile { id, path, mark, settled, bytes, lines, sum, origin, agent });

impl Manifest {
    /// Reads a catalog.
    pub(crate) fn open(path: &Path) -> Result<Manifest, IndexError> {
        let bytes = PagedReader::open(path)?.read_section(0)?;
        // What other code indexed is known by other terms: it is read again.
        match u64::unpack(&mut Unpacker::new(&bytes)) {
            Some(made_by) if made_by != code_fingerprint() => Ok(Manifest::default()),
            _ => Manifest::unpacked(&bytes).ok_or(IndexError::Changed),
        }
    }

    /// Writes it.
    pub(crate) fn write(&self, file: File) -> std::io::Result<()> {
        let out = self.packed();
        let mut printer = PagedWriter::new(file);
        printer.section();
        printer.write(&out)?;
        printer.finish()?;
        Ok(())
    }

    /// Finds the row of each file. Both are in the order of their paths, and mostly the same: they are walked side by
    /// side, because to compare paths costs more than anything else.
    pub(crate) fn rows<'c>(&'c self, files: &[SessionFile]) -> Vec<Option<&'c IndexedFile>> {
        let mut rest = &self.files[..];
        let mut find = |file: &SessionFile| {
            let path = file.path.as_os_str();
            while let Some((row, others)) = rest.split_first() {
                if row.path.as_os_str() == path {
                    rest = others;
                    return Some(row);
                }
                if row.path > file.path {
                    return None;
                }
                rest = others;
            }
            None
        };
        files.iter().map(&mut find).collect()
    }
}

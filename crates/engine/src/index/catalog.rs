//! The catalog: which files are indexed, how far, and in which segments. It is replaced whole, by a rename.

use std::fs::File;
use std::path::{Path, PathBuf};

use rethread_core::pack::{Pack, Unpacker};
use rethread_core::pack_fields;

use super::pages::{Damage, Pages, Printer};
use crate::disk::Mark;

/// What is indexed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalog {
    /// The number of the next file or segment: none is ever used twice.
    pub(super) next: u64,
    /// The segments, the oldest first, each with its size.
    pub(super) segments: Vec<(u64, u64)>,
    /// The files, in the order of their paths.
    pub(super) files: Vec<Row>,
}

pack_fields!(Catalog { next, segments, files });

/// An indexed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// Its number; a file that was read again has a new one.
    pub(crate) id: u64,
    pub(crate) path: PathBuf,
    /// How it looked when it was read.
    pub(super) mark: Mark,
    /// Whether any later change made it look different.
    pub(super) settled: bool,
    /// How many bytes of it are indexed: up to the end of a line.
    pub(crate) bytes: u64,
    /// How many lines those are.
    pub(crate) lines: u32,
    /// What they hash to.
    pub(super) sum: u64,
    /// The session that it belongs to.
    pub(crate) session: String,
    /// The folder it was started in.
    pub(crate) cwd: String,
    /// Whether it is a subagent's.
    pub(crate) agent: bool,
}

pack_fields!(Row { id, path, mark, settled, bytes, lines, sum, session, cwd, agent });

impl Catalog {
    /// Reads a catalog.
    pub(super) fn open(path: &Path) -> Result<Catalog, Damage> {
        let bytes = Pages::open(path)?.read_section(0)?;
        Catalog::unpack(&mut Unpacker::new(&bytes)).ok_or(Damage::Changed)
    }

    /// Writes it.
    pub(super) fn write(&self, file: File) -> std::io::Result<()> {
        let mut out = Vec::new();
        self.pack(&mut out);
        let mut printer = Printer::new(file);
        printer.section();
        printer.write(&out)?;
        printer.finish()?;
        Ok(())
    }

    /// Finds the row of a file by its path.
    pub(crate) fn row(&self, path: &Path) -> Option<&Row> {
        let found = self.files.binary_search_by(|row| row.path.as_path().cmp(path));
        found.ok().map(|no| &self.files[no])
    }
}

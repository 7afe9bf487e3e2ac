//! Exports a session without its secrets: from a copy in which they are replaced, and only if a second search finds none.

use std::collections::BTreeSet;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rethread_engine::core::secrets::{RedactOptions, Redactor};
use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops;
use rethread_engine::ops::read::SessionView;
use tempfile::TempDir;

use super::options::{ExportContext, ExportError, ExportOptions, write_export};
use super::verify::{SearchedParts, find_leaks};

/// Output up to this size is kept in memory until it was searched.
const MAX_MEMORY_BYTES: usize = 8 << 20;
/// Bytes that are written to the temporary file at once.
const BUFFER_BYTES: usize = 1 << 16;

/// Whether an export contains the secrets of the session.
#[derive(Debug, Clone)]
pub(crate) enum SecretPolicy {
    /// It contains everything.
    Keep,
    /// It contains tokens instead of secrets.
    Redact(RedactOptions),
    /// It is not written if it contains a secret.
    Refuse,
}

/// The treatment of secrets in exports, unless the command line sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum SecretsSetting {
    /// Replace them by tokens
    #[default]
    Redact,
    /// Keep them
    Keep,
}

/// A session that is ready for export. The copy without secrets is deleted when it is dropped.
pub(crate) struct ExportSource {
    /// The session, or the copy without secrets.
    pub(crate) view: SessionView,
    redactor: Option<Redactor>,
    is_checked: bool,
    _folder: Option<TempDir>,
}

impl ExportSource {
    /// Opens the session file at `path`, or a copy without its secrets.
    pub(crate) fn open(
        path: &Path,
        policy: &SecretPolicy,
        prices: &PriceTable,
    ) -> Result<ExportSource, ExportError> {
        let SecretPolicy::Redact(options) = policy else {
            let is_checked = matches!(policy, SecretPolicy::Refuse);
            let view = ops::read::open_view(path, prices)?;
            return Ok(ExportSource { view, redactor: None, is_checked, _folder: None });
        };
        let folder = tempfile::Builder::new().prefix("rethread-export-").tempdir()?;
        let redactor =
            ops::redact::redact_session(path, options, |relative| create_file(folder.path(), relative))?;
        let copy = folder.path().join(path.file_name().unwrap_or_default());
        let view = ops::redact::open_redacted_view(path, &copy, &redactor, prices)?;
        Ok(ExportSource { view, redactor: Some(redactor), is_checked: true, _folder: Some(folder) })
    }

    /// Describes what was replaced: `2 secrets (1 aws-key, 1 password)`. Returns `None` if nothing was.
    pub(crate) fn describe_masked(&self) -> Option<String> {
        let counts = self
            .redactor
            .as_ref()
            .map(|redactor| redactor.table().counts())
            .filter(|counts| !counts.is_empty())?;
        let total: u32 = counts.values().sum();
        let kinds: Vec<String> = counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let noun = if total == 1 { "secret" } else { "secrets" };
        Some(format!("{total} {noun} replaced by tokens ({})", kinds.join(", ")))
    }

    /// Writes the export. Unless secrets are kept, writes nothing if it contains one.
    pub(crate) fn write(
        &self,
        options: &ExportOptions,
        context: &ExportContext<'_>,
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        if !self.is_checked {
            return write_export(&self.view, options, context, None, out);
        }
        // The writers of the formats write piece by piece, and each write to a file is a system call.
        let output = tempfile::spooled_tempfile(MAX_MEMORY_BYTES);
        let mut writer = io::BufWriter::with_capacity(BUFFER_BYTES, output);
        let searched = SearchedParts::default();
        write_export(&self.view, options, context, Some(&searched), &mut writer)?;
        let mut output = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        output.seek(SeekFrom::Start(0))?;
        let kinds = find_leaks(&mut output, options.format, &searched)?;
        if !kinds.is_empty() {
            return Err(ExportError::HasSecrets { kinds, is_redacted: self.redactor.is_some() });
        }
        output.seek(SeekFrom::Start(0))?;
        io::copy(&mut io::BufReader::with_capacity(BUFFER_BYTES, output), out)?;
        Ok(())
    }
}

/// Creates a file of the copy, with the folders above it.
fn create_file(folder: &Path, relative: &Path) -> io::Result<io::BufWriter<std::fs::File>> {
    let mut parent: PathBuf = folder.to_owned();
    for name in relative.parent().into_iter().flat_map(Path::iter) {
        parent.push(name);
        if !parent.is_dir() {
            let above = parent.parent().unwrap_or(folder);
            let _ = tempfile::Builder::new().prefix(name).rand_bytes(0).tempdir_in(above)?.keep();
        }
    }
    let name = relative.file_name().unwrap_or_default();
    let file = tempfile::Builder::new().prefix(name).rand_bytes(0).tempfile_in(parent)?;
    let (file, _) = file.keep().map_err(|error| error.error)?;
    Ok(io::BufWriter::with_capacity(1 << 16, file))
}

/// Formats kinds for a message: `aws-key, password`.
pub(crate) fn join_kinds(kinds: &BTreeSet<&'static str>) -> String {
    kinds.iter().copied().collect::<Vec<_>>().join(", ")
}

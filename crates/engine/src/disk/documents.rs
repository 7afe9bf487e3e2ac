//! Reads session files as search documents.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use rethread_core::pack_fields;
use rethread_core::query::{SearchDoc, SearchDocBuilder};
use rethread_core::tree::LineSpan;

use super::file_content::open_content;
use super::find::{FileRole, SessionFile};
use super::scan::{ScanEvent, ScanOptions, scan};

/// The maximum number of bytes of a stored tool result that are searched.
const MAX_RESULT_BYTES: u64 = 64 << 20;

/// The session and working directory a file belongs to, from the first lines that state them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FileOwner {
    /// The session id. Empty if unknown.
    pub(crate) session: String,
    /// The directory the session was started in. Empty if unknown.
    pub(crate) cwd: String,
}

pack_fields!(FileOwner { session, cwd });

impl FileOwner {
    /// Returns the session id that the path contains. The directory is empty.
    pub(crate) fn from_path(file: &SessionFile) -> FileOwner {
        FileOwner { session: file.session_id().unwrap_or_default().to_owned(), cwd: String::new() }
    }

    /// Fills the fields that are still empty from the next document.
    pub(crate) fn fill_missing(&mut self, doc: &SearchDoc<'_>) {
        for (field, value) in [(&mut self.session, &doc.session), (&mut self.cwd, &doc.cwd)] {
            if field.is_empty() {
                field.push_str(value.as_deref().unwrap_or_default());
            }
        }
    }
}

/// Calls `visit` with the search document of every entry in a session file, or of a stored tool result. Returns
/// the number of the last line read.
pub(crate) fn read_docs(
    file: &SessionFile,
    options: &ScanOptions<'_>,
    builder: &mut SearchDocBuilder,
    mut visit: impl FnMut(&SearchDoc<'_>, LineSpan),
) -> io::Result<u32> {
    if let FileRole::Result { .. } = file.role {
        let len = options.range.as_ref().map_or(file.len, |range| range.bytes.end);
        let text = read_result_text(&file.path, len)?;
        let span = LineSpan { offset: 0, len: u32::try_from(len).unwrap_or(u32::MAX), line: 1 };
        let path = file.path.to_string_lossy();
        if let Some(doc) = SearchDoc::from_tool_result(&text, file.fingerprint.modified_at(), &path) {
            visit(&doc, span);
        }
        return Ok(1);
    }
    let report = scan(&file.path, options, |event| {
        if let ScanEvent::Entry(entry, span, _) = event
            && let Some(doc) = builder.build_doc(entry)
        {
            visit(&doc, span);
        }
    })?;
    Ok(report.last_line)
}

/// Reads the first `len` bytes of a stored tool result, at most 64 MB. Replaces invalid UTF-8.
pub(crate) fn read_result_text(path: &Path, len: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    open_content(path)?.take(len.min(MAX_RESULT_BYTES)).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the offset after the last line feed in the first `len` bytes. Returns 0 if there is none.
pub(crate) fn find_last_line_end(path: &Path, len: u64) -> io::Result<u64> {
    let mut file = open_content(path)?;
    let mut buffer = vec![0; 64 << 10];
    let mut end = len;
    while end > 0 {
        let start = end.saturating_sub(buffer.len() as u64);
        let chunk = &mut buffer[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(chunk)?;
        if let Some(at) = memchr::memrchr(b'\n', chunk) {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

//! Finds secrets in the files of one session or of a whole store. Writes nothing but the cache.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rethread_core::entry::{self, Timestamp};
use rethread_core::lines::Line;
use rethread_core::pack_fields;
use rethread_core::secrets::{
    DETECTORS, Detector, Place, SecretSeverity, find_secrets, find_secrets_in_line, mask_context,
    secret_fingerprint,
};

use super::read::find_source_files;
use crate::Error;
use crate::archive::{SESSION_FOLDERS, SourceFile, list_sources};
use crate::cache::{CacheDir, CacheKind, CacheWarning};
use crate::disk::{
    FileFingerprint, FileRole, Roots, SessionFile, find_archived_file, find_client_dir, list_archived_below,
    open_content,
};
use crate::session::per_file_cache::PerFileCache;

/// Bytes that are searched at once. A longer line is searched as a whole.
const CHUNK_BYTES: usize = 1 << 20;
/// Longer lines are searched in pieces.
const MAX_LINE_BYTES: usize = 64 << 20;
/// The most findings that are kept of one file. The rest is counted.
const MAX_FINDINGS: usize = 2_000;

/// A secret in a file.
#[derive(Debug, Clone)]
pub struct SecretFinding {
    /// The file that contains it.
    pub path: PathBuf,
    /// The session to which the file belongs. `None` if the path does not name one.
    pub session: Option<String>,
    /// The line, from 1.
    pub line: u32,
    /// The kind of secret.
    pub detector: &'static Detector,
    /// The part of the session in which it is.
    pub place: Place,
    /// The time of the line, or of the file if the line has none.
    pub time: Option<Timestamp>,
    /// The number of the secret among those of its kind. Equal for equal secrets.
    pub number: u32,
    /// The text around it, with all secrets replaced.
    pub context: String,
}

/// The secrets in some files.
#[derive(Debug, Default)]
pub struct SecretReport {
    /// The findings, by file and line.
    pub findings: Vec<SecretFinding>,
    /// The number of further findings in files that have very many.
    pub omitted: u64,
    /// The number of files.
    pub files: usize,
    /// The total length of the files in bytes.
    pub bytes: u64,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// The reason why the cache could not be used. `None` if there was no problem.
    pub warning: Option<CacheWarning>,
}

impl SecretReport {
    /// Returns the number of findings and of different secrets by kind, most severe first, then by number of findings.
    pub fn count_kinds(&self) -> Vec<SecretKindCount> {
        let mut counts: BTreeMap<&str, (SecretKindCount, HashSet<u32>)> = BTreeMap::new();
        for finding in &self.findings {
            let (count, seen) = counts.entry(finding.detector.name).or_insert_with(|| {
                let detector = finding.detector;
                (
                    SecretKindCount { detector, findings: 0, secrets: 0, sessions: 0, newest: None },
                    HashSet::new(),
                )
            });
            count.findings += 1;
            count.secrets += u64::from(seen.insert(finding.number));
            count.newest = count.newest.max(finding.time);
        }
        let mut counts: Vec<SecretKindCount> = counts.into_values().map(|(count, _)| count).collect();
        for count in &mut counts {
            let of_kind = self.findings.iter().filter(|finding| finding.detector.name == count.detector.name);
            count.sessions =
                of_kind.filter_map(|finding| finding.session.as_deref()).collect::<HashSet<_>>().len() as u64;
        }
        counts.sort_by_key(|count| {
            (std::cmp::Reverse((count.detector.severity, count.findings)), count.detector.name)
        });
        counts
    }

    /// Returns the number of different secrets.
    pub fn secret_count(&self) -> usize {
        self.findings
            .iter()
            .map(|finding| (finding.detector.name, finding.number))
            .collect::<HashSet<_>>()
            .len()
    }

    /// Returns the number of places, with those that are not listed.
    pub fn place_count(&self) -> u64 {
        self.findings.len() as u64 + self.omitted
    }

    /// Returns the worst severity. Returns `None` if there are no findings.
    pub fn worst_severity(&self) -> Option<SecretSeverity> {
        self.findings.iter().map(|finding| finding.detector.severity).max()
    }
}

/// The number of secrets of one kind.
#[derive(Debug, Clone)]
pub struct SecretKindCount {
    /// The kind.
    pub detector: &'static Detector,
    /// The number of places.
    pub findings: u64,
    /// The number of different secrets.
    pub secrets: u64,
    /// The number of sessions with one.
    pub sessions: u64,
    /// The newest time of a finding.
    pub newest: Option<Timestamp>,
}

/// A finding as it is cached, without the path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CachedFinding {
    line: u32,
    detector: u32,
    place: u32,
    time: Option<Timestamp>,
    fingerprint: u64,
    context: String,
}

pack_fields!(CachedFinding { line, detector, place, time, fingerprint, context });

/// The findings of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct FileSecrets {
    findings: Vec<CachedFinding>,
    omitted: u64,
}

pack_fields!(FileSecrets { findings, omitted });

/// Finds the secrets of all sessions under `roots`: transcripts of sessions and subagents, stored tool results, file
/// history, plans, tasks, and the prompt history. Unchanged files are not read again. A root that is a session file
/// stands for this session.
pub fn find_store_secrets(roots: &Roots, cache: Option<&CacheDir>) -> SecretReport {
    let (files, failures) = find_source_session_files(roots);
    find_in_files(&files, roots, cache, failures)
}

/// Finds the files on disk, sorted by path. Also returns the errors of finding them.
fn find_source_session_files(roots: &Roots) -> (Vec<SessionFile>, Vec<Error>) {
    let mut failures = Vec::new();
    let mut files: Vec<SessionFile> = Vec::new();
    let now = SystemTime::now();
    for source in list_sources(roots, &mut failures) {
        let root: Arc<Path> = source.root.into();
        let to_file =
            |file: SourceFile| to_session_file(root.join(&file.relative), file.fingerprint, &root, now);
        files.extend(source.files.into_iter().map(to_file));
    }
    sort_by_path(&mut files);
    (files, failures)
}

/// Finds the secrets of some files. `failures` are the errors of finding them.
fn find_in_files(
    files: &[SessionFile],
    roots: &Roots,
    cache: Option<&CacheDir>,
    failures: Vec<Error>,
) -> SecretReport {
    let bytes = files.iter().map(|file| file.len).sum();
    let mut report = SecretReport { files: files.len(), bytes, failures, ..SecretReport::default() };
    let file_cache = PerFileCache::new(cache, roots, CacheKind::Secrets, files);
    let (results, warning) = file_cache.read_all(read_file_secrets);
    report.warning = warning;
    let mut numbers = SecretNumbers::default();
    for (file, secrets) in files.iter().zip(results) {
        match secrets {
            Ok(secrets) => report.add_file(file, secrets, &mut numbers),
            Err(error) => report.failures.push(error),
        }
    }
    report
}

/// Finds the secrets of one session, with its subagents, tool results, file history and tasks, on disk and in the archive.
pub fn find_session_secrets(path: &Path) -> SecretReport {
    let roots = Roots::new(vec![path.to_owned()]);
    let (mut files, failures) = if path.is_file() {
        find_source_session_files(&roots)
    } else {
        // Only an archive has the session.
        (to_session_files(find_source_files(path), path), Vec::new())
    };
    files.extend(to_session_files(list_archived_side_files(path), path));
    sort_by_path(&mut files);
    find_in_files(&files, &roots, None, failures)
}

/// Lists the files in the folders of a session that only an archive has.
fn list_archived_side_files(path: &Path) -> Vec<PathBuf> {
    let id = path.file_stem().unwrap_or_default();
    let client_folders = find_client_dir(path).map(|dir| SESSION_FOLDERS.map(|name| dir.join(name).join(id)));
    let folders = client_folders.into_iter().flatten().chain([path.with_extension("")]);
    folders.flat_map(|folder| list_archived_below(&folder)).collect()
}

/// Describes the files of the session file `path`. Leaves out those that vanished.
fn to_session_files(files: Vec<PathBuf>, path: &Path) -> Vec<SessionFile> {
    let root: Arc<Path> = path.into();
    let now = SystemTime::now();
    let to_file = |path: PathBuf| match std::fs::metadata(&path) {
        Ok(meta) => Some(to_session_file(path, FileFingerprint::from_metadata(&meta), &root, now)),
        Err(_) => find_archived_file(&path, &root),
    };
    files.into_iter().filter_map(to_file).collect()
}

/// Sorts files by path and removes duplicates.
fn sort_by_path(files: &mut Vec<SessionFile>) {
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
}

impl SecretReport {
    fn add_file(&mut self, file: &SessionFile, secrets: FileSecrets, numbers: &mut SecretNumbers) {
        let session = session_of(&file.path);
        let modified = file.mtime.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let modified = modified.and_then(|time| i64::try_from(time.as_millis()).ok()).map(Timestamp);
        self.omitted += secrets.omitted;
        for finding in secrets.findings {
            let Some(detector) = DETECTORS.get(finding.detector as usize) else { continue };
            self.findings.push(SecretFinding {
                path: file.path.clone(),
                session: session.clone(),
                line: finding.line,
                detector,
                place: Place::ALL.get(finding.place as usize).copied().unwrap_or(Place::Other),
                time: finding.time.or(modified),
                number: numbers.number(finding.detector, finding.fingerprint),
                context: finding.context,
            });
        }
    }
}

/// Numbers the secrets of each kind in the order in which they occur.
#[derive(Default)]
struct SecretNumbers {
    numbers: HashMap<(u32, u64), u32>,
    counts: HashMap<u32, u32>,
}

impl SecretNumbers {
    fn number(&mut self, kind: u32, fingerprint: u64) -> u32 {
        *self.numbers.entry((kind, fingerprint)).or_insert_with(|| {
            let count = self.counts.entry(kind).or_default();
            *count += 1;
            *count
        })
    }
}

fn to_session_file(
    path: PathBuf,
    fingerprint: FileFingerprint,
    root: &Arc<Path>,
    now: SystemTime,
) -> SessionFile {
    SessionFile {
        root: Arc::clone(root),
        len: fingerprint.len,
        mtime: std::fs::symlink_metadata(&path).ok().and_then(|meta| meta.modified().ok()),
        role: FileRole::Main,
        is_stable: fingerprint.is_stable(now),
        is_archived: false,
        fingerprint,
        path,
    }
}

/// Returns the id of the session to which a file belongs: the folder or the file whose name has the form of an id.
fn session_of(path: &Path) -> Option<String> {
    let names = path.iter().rev().filter_map(|name| name.to_str());
    let stems = names.map(|name| name.strip_suffix(".jsonl").unwrap_or(name));
    let is_id =
        |name: &&str| name.len() == 36 && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let id = stems.clone().find(is_id).map(str::to_owned);
    let is_transcript = path.extension().is_some_and(|extension| extension == "jsonl");
    id.or_else(|| stems.clone().next().filter(|_| is_transcript).map(str::to_owned))
}

/// Finds the secrets of one file. Also returns the number of bytes read.
fn read_file_secrets(file: &SessionFile) -> Result<(FileSecrets, u64), Error> {
    let has_lines = file.path.extension().is_some_and(|extension| extension == "jsonl");
    let is_history = file.path.components().any(|part| part.as_os_str() == "file-history");
    let mut secrets = FileSecrets::default();
    let mut line_number = 0u32;
    let bytes = read_chunks(open_content(&file.path).map_err(Error::reading(&file.path))?, |chunk| {
        if has_lines {
            add_lines(chunk, line_number, &mut secrets);
        } else {
            add_text(
                chunk,
                line_number,
                if is_history { Place::FileHistory } else { Place::ToolResult },
                &mut secrets,
            );
        }
        line_number += memchr::memchr_iter(b'\n', chunk).count() as u32;
    })
    .map_err(Error::reading(&file.path))?;
    Ok((secrets, bytes))
}

/// Reads a file in chunks of whole lines.
pub(super) fn read_chunks(mut file: impl Read, mut each: impl FnMut(&[u8])) -> std::io::Result<u64> {
    let (mut buffer, mut total) = (Vec::with_capacity(CHUNK_BYTES), 0);
    loop {
        let kept = buffer.len();
        let read = (&mut file).take((CHUNK_BYTES - (kept % CHUNK_BYTES)) as u64).read_to_end(&mut buffer)?;
        total += read as u64;
        let end = if read == 0 {
            buffer.len()
        } else {
            memchr::memrchr(b'\n', &buffer[kept..]).map_or(0, |at| kept + at + 1)
        };
        let end = if end == 0 && buffer.len() >= MAX_LINE_BYTES { buffer.len() } else { end };
        if end > 0 {
            each(&buffer[..end]);
            buffer.drain(..end);
        }
        if read == 0 {
            return Ok(total);
        }
    }
}

/// Adds the secrets of some lines of a transcript. Only lines with a finding are parsed.
fn add_lines(chunk: &[u8], lines_before: u32, secrets: &mut FileSecrets) {
    let mut done_until = 0;
    let (mut counted_until, mut line_number) = (0, lines_before);
    for found in find_secrets(chunk) {
        if found.range.start < done_until {
            continue;
        }
        let start = memchr::memrchr(b'\n', &chunk[..found.range.start]).map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', &chunk[found.range.start..])
            .map_or(chunk.len(), |len| found.range.start + len);
        line_number += memchr::memchr_iter(b'\n', &chunk[counted_until..start]).count() as u32;
        (counted_until, done_until) = (start, end);
        let bytes = &chunk[start..end];
        let in_line = find_secrets_in_line(bytes);
        let time = if in_line.is_empty() { None } else { read_time(bytes, line_number + 1) };
        for (secret, place) in &in_line {
            secrets.add(CachedFinding {
                line: line_number + 1,
                detector: u32::from(secret.detector),
                place: Place::ALL.iter().position(|known| known == place).unwrap_or_default() as u32,
                time,
                fingerprint: secret_fingerprint(&bytes[secret.range.clone()]),
                context: mask_context(bytes, secret, in_line.iter().map(|(secret, _)| secret)),
            });
        }
    }
}

/// Adds the secrets of a text.
fn add_text(chunk: &[u8], lines_before: u32, place: Place, secrets: &mut FileSecrets) {
    let found = find_secrets(chunk);
    let (mut counted_until, mut line_number) = (0, lines_before);
    for secret in &found {
        line_number += memchr::memchr_iter(b'\n', &chunk[counted_until..secret.range.start]).count() as u32;
        counted_until = secret.range.start;
        secrets.add(CachedFinding {
            line: line_number + 1,
            detector: u32::from(secret.detector),
            place: Place::ALL.iter().position(|known| *known == place).unwrap_or_default() as u32,
            time: None,
            fingerprint: secret_fingerprint(&chunk[secret.range.clone()]),
            context: mask_context(chunk, secret, found.iter()),
        });
    }
}

impl FileSecrets {
    fn add(&mut self, finding: CachedFinding) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        } else {
            self.omitted += 1;
        }
    }
}

/// Returns the time of a line of a transcript.
fn read_time(bytes: &[u8], number: u32) -> Option<Timestamp> {
    let mut time = None;
    let line = Line { number, offset: 0, bytes, unterminated: false };
    entry::read_line(&line, &mut Vec::new(), |entry, _| time = time.or(entry.time()));
    time
}

//! `restore` from the archive: brings a session back with all its files.

mod family;
mod prompt_lines;

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use rethread_core::edit::Envelope;
use rethread_core::session::SessionInfoBuilder;

pub(super) use self::family::find_archived_session;
use self::family::{PlanNames, find_side_files, session_id};
use self::prompt_lines::plan_prompt_lines;
use super::status::build_session;
use super::{ArchiveLocation, ArchivedSession};
use crate::archive::{Archive, ArchivedFile, Generation};
use crate::disk::{Roots, open_file};
use crate::edit::edit_session::{ExpectedLoad, ParsedLines, matches_expected};
use crate::edit::effect::{FileEffect, plan_effects};
use crate::edit::side_files::write_enveloped_lines;
use crate::error::Error;
use crate::writer::{ContentWriter, FileOp, NewContent, OpId, Plan, SessionWriter};

/// The command in the journal. It creates files and appends prompts, so it changes nothing that backups restore.
pub(crate) const COMMAND: &str = "archive restore";

/// Options of [`restore_from_archive`].
#[derive(Debug, Clone, Default)]
pub struct ArchiveRestoreRequest {
    /// The session id, the start of it, or the path that the session file had.
    pub name: String,
    /// The number of the state of the session file to restore. By default, the newest.
    pub generation: Option<u32>,
    /// Restore as a new session: all lines get a new session id.
    pub as_new: bool,
    /// The folder to restore into, in place of the one that contained the session. Created if it does not exist.
    pub into: Option<PathBuf>,
    /// Report the effects without writing.
    pub dry_run: bool,
}

/// The result of [`restore_from_archive`].
#[derive(Debug, Clone)]
pub struct ArchiveRestoreOutcome {
    /// The number of the op. `None` in a dry run, or if nothing had to be restored.
    pub op: Option<OpId>,
    /// The archived session.
    pub session: ArchivedSession,
    /// The id of the restored session: a new one if it was requested.
    pub id: String,
    /// The number of the restored state.
    pub generation: u32,
    /// The number of states in the archive.
    pub generations: usize,
    /// The path of the restored session file.
    pub path: PathBuf,
    /// The folder in which to resume the session. Empty if no line names it.
    pub folder: String,
    /// Whether the session file was restored next to a file with other content.
    pub is_next_to_live: bool,
    /// The number of messages that the newest client sends when it resumes the restored file.
    pub messages: usize,
    /// The number of lines that are added to the prompt history.
    pub prompts: usize,
    /// Files with other content than archived, which are left as they are.
    pub kept: Vec<PathBuf>,
    /// The effects on files. Empty if all files exist.
    pub effects: Vec<FileEffect>,
}

/// Restores an archived state of a session: its transcript, its folder, its file history, tasks, todos, plans, and its lines of
/// the prompt history.
///
/// A file that exists is never changed. If the session file has other content, the archived state is written next to it. After
/// the write, clients must load what they would have loaded from the archived session, or everything is rolled back.
pub fn restore_from_archive(
    writer: &SessionWriter,
    location: &ArchiveLocation,
    roots: &Roots,
    request: &ArchiveRestoreRequest,
) -> Result<ArchiveRestoreOutcome, Error> {
    let archive = Archive::open(location);
    let main = find_archived_session(&archive, &request.name)?;
    let generation = find_generation(&main, request.generation)?;
    let session = build_session(&main);
    let mut visitors = (PlanNames::default(), SessionInfoBuilder::default());
    let parsed = ParsedLines::read(&mut main.read(generation), &mut visitors);
    let parsed = parsed.map_err(Error::reading(&main.original_path()))?;
    let (plans, info) = visitors;
    let folder = info.finish(&parsed.tree, 0, &[]).cwd.unwrap_or_default();
    let expected = parsed.verified_loads();
    let mut planned = PlannedFiles {
        root: choose_root(location, &main, roots, request)?,
        new_id: request.as_new.then(|| (session.id.clone(), uuid::Uuid::new_v4().to_string())),
        file_ops: Vec::new(),
        exact_files: Vec::new(),
        kept: Vec::new(),
    };
    for file in find_side_files(&archive, &main, &plans)? {
        planned.add_side_file(file)?;
    }
    let prompt_lines = match request.as_new {
        true => None,
        false => plan_prompt_lines(&archive, &main, &session.id, &planned.root)?,
    };
    let prompts = prompt_lines.as_ref().map_or(0, |(_, count)| *count);
    planned.file_ops.extend(prompt_lines.map(|(file_op, _)| file_op));
    // The session file is the last one, so that no client finds a session without its other files.
    let (path, is_next_to_live) =
        planned.add_session_file(main.clone(), generation, request.generation.is_some())?;
    let id = planned.new_id.as_ref().map_or(&session.id, |(_, new)| new).clone();
    let plan = Plan {
        command: COMMAND,
        session: id.clone(),
        about: format!("from the archive, files: {}", planned.file_ops.len()),
        file_ops: std::mem::take(&mut planned.file_ops),
        // Files that exist are not changed, except that lines are appended to the prompt history, as clients do.
        even_if_live: true,
    };
    let effects = plan_effects(&plan);
    let messages = expected.last().map_or(0, |load| load.path.len());
    let has_session_file = effects.iter().any(|effect| effect.path == path);
    let verify = || {
        planned.verify_exact_files()?;
        if has_session_file { verify_loads(&path, &expected) } else { Ok(()) }
    };
    let op = if request.dry_run || effects.is_empty() { None } else { Some(writer.commit(plan, verify)?) };
    let (generations, kept) = (main.generations.len(), std::mem::take(&mut planned.kept));
    let generation = generation.number;
    Ok(ArchiveRestoreOutcome {
        op,
        session,
        id,
        generation,
        generations,
        path,
        folder,
        is_next_to_live,
        messages,
        prompts,
        kept,
        effects,
    })
}

/// Returns the path that a session file had when it was archived, if the name matches exactly one archived session.
pub(crate) fn find_archived_path(location: &ArchiveLocation, name: &str) -> Option<PathBuf> {
    let archive = Archive::open(location);
    find_archived_session(&archive, name).ok().map(|file| file.original_path())
}

/// Finds the state with a number. By default, returns the newest.
fn find_generation<'a>(main: &ArchivedFile<'a>, number: Option<u32>) -> Result<&'a Generation, Error> {
    let Some(number) = number else { return Ok(main.newest()) };
    main.generations.iter().find(|generation| generation.number == number).ok_or_else(|| {
        let known = main.generations.iter().map(|generation| generation.number).collect();
        Error::UnknownGeneration { session: session_id(main), number, known }
    })
}

/// Returns the folder below which to restore: the requested one, that of the session, or the first folder of a client on this
/// machine if another one archived the session.
fn choose_root(
    location: &ArchiveLocation,
    main: &ArchivedFile<'_>,
    roots: &Roots,
    request: &ArchiveRestoreRequest,
) -> Result<PathBuf, Error> {
    let local_root = || roots.paths.iter().find_map(|root| crate::archive::find_client_root(root));
    let root = match &request.into {
        Some(into) => into.clone(),
        None if main.is_of_machine(location) => main.root.clone(),
        None => local_root().unwrap_or_else(|| main.root.clone()),
    };
    std::path::absolute(&root).map_err(Error::reading(&root))
}

/// The planned operations of a restore.
struct PlannedFiles<'a> {
    /// The folder below which files are restored.
    root: PathBuf,
    /// The archived and the new session id, if the session gets a new one.
    new_id: Option<(String, String)>,
    file_ops: Vec<FileOp<'a>>,
    /// The files that are restored byte for byte.
    exact_files: Vec<(PathBuf, ArchivedFile<'a>, &'a Generation)>,
    /// The files with other content, which are left as they are.
    kept: Vec<PathBuf>,
}

/// How an existing file relates to an archived state of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LiveContent {
    Missing,
    Equal,
    /// The file starts with the archived state, and continues.
    Grown,
    Different,
}

impl<'a> PlannedFiles<'a> {
    /// Returns the path at which to restore a file.
    fn build_path(&self, file: &ArchivedFile<'_>) -> PathBuf {
        let Some((old, new)) = &self.new_id else { return self.root.join(&file.relative) };
        let rename = |part: std::path::Component<'_>| {
            let part = part.as_os_str();
            part.to_str().map_or_else(|| part.to_owned(), |text| text.replace(old, new).into())
        };
        self.root.join(file.relative.components().map(rename).collect::<PathBuf>())
    }

    /// Adds a file other than the transcript. A file that exists is left as it is.
    fn add_side_file(&mut self, file: ArchivedFile<'a>) -> Result<(), Error> {
        let path = self.build_path(&file);
        let newest = file.newest();
        match compare_with_live(&path, &file, newest).map_err(Error::reading(&path))? {
            LiveContent::Missing => self.add_new_file(path, file, newest),
            LiveContent::Different => self.kept.push(path),
            LiveContent::Equal | LiveContent::Grown => {}
        }
        Ok(())
    }

    /// Adds the transcript, next to a file with other content if there is one. `is_exact` tells that the state was requested,
    /// so that a file that continues it is other content, too. Returns the path, and whether it is next to another file.
    fn add_session_file(
        &mut self,
        file: ArchivedFile<'a>,
        generation: &'a Generation,
        is_exact: bool,
    ) -> Result<(PathBuf, bool), Error> {
        let path = self.build_path(&file);
        let content = compare_with_live(&path, &file, generation).map_err(Error::reading(&path))?;
        match content {
            LiveContent::Missing => self.add_new_file(path.clone(), file, generation),
            LiveContent::Grown if is_exact => return self.add_next_to(&path, file, generation),
            LiveContent::Different => return self.add_next_to(&path, file, generation),
            LiveContent::Equal | LiveContent::Grown => {}
        }
        Ok((path, false))
    }

    /// Adds the transcript as a file next to `path`. Neither clients nor rethread take it for a session.
    fn add_next_to(
        &mut self,
        path: &Path,
        file: ArchivedFile<'a>,
        generation: &'a Generation,
    ) -> Result<(PathBuf, bool), Error> {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".generation-{}", generation.number));
        let path = PathBuf::from(name);
        match compare_with_live(&path, &file, generation).map_err(Error::reading(&path))? {
            LiveContent::Missing => self.add_new_file(path.clone(), file, generation),
            LiveContent::Equal => {}
            LiveContent::Grown | LiveContent::Different => return Err(Error::AlreadyExists { path }),
        }
        Ok((path, true))
    }

    /// Adds a file that does not exist. Lines of a new session get its id.
    fn add_new_file(&mut self, path: PathBuf, file: ArchivedFile<'a>, generation: &'a Generation) {
        let is_transcript = file.relative.extension().is_some_and(|extension| extension == "jsonl");
        let source = file.clone();
        let write: ContentWriter<'a> = match &self.new_id {
            Some((old, new)) if is_transcript => {
                let is_main = session_id(&file) == *old;
                let origin = is_main.then(|| old.clone());
                let envelope = Envelope { session: new.clone(), origin, folder: None };
                Box::new(move |out| {
                    write_enveloped_lines(BufReader::new(source.read(generation)), &envelope, out)
                })
            }
            _ => {
                self.exact_files.push((path.clone(), file, generation));
                Box::new(move |out| io::copy(&mut source.read(generation), out).map(|_| ()))
            }
        };
        self.file_ops.push(FileOp::Create { path, content: NewContent::WithMode(generation.mode, write) });
    }

    /// Compares the files that were restored byte for byte with the archive.
    fn verify_exact_files(&self) -> Result<(), Error> {
        for (path, file, generation) in &self.exact_files {
            if !matches!(compare_with_live(path, file, generation), Ok(LiveContent::Equal)) {
                return Err(Error::VerificationFailed { path: path.clone() });
            }
        }
        Ok(())
    }
}

/// Verifies that clients load the expected entries of a restored session file.
fn verify_loads(path: &Path, expected: &[ExpectedLoad]) -> Result<(), Error> {
    let mut file = open_file(path).map_err(Error::reading(path))?;
    let restored = ParsedLines::read(&mut file, &mut ()).map_err(Error::reading(path))?;
    if matches_expected(expected, &restored.verified_loads()) {
        Ok(())
    } else {
        Err(Error::VerificationFailed { path: path.to_owned() })
    }
}

/// Compares the file at a path with an archived state.
fn compare_with_live(
    path: &Path,
    file: &ArchivedFile<'_>,
    generation: &Generation,
) -> io::Result<LiveContent> {
    if std::fs::symlink_metadata(path).is_err() {
        return Ok(LiveContent::Missing);
    }
    let mut live = BufReader::with_capacity(256 << 10, open_file(path)?);
    let mut archived = BufReader::with_capacity(256 << 10, file.read(generation));
    loop {
        let (left, right) = (live.fill_buf()?, archived.fill_buf()?);
        let len = left.len().min(right.len());
        if len == 0 {
            return Ok(match (left.is_empty(), right.is_empty()) {
                (true, true) => LiveContent::Equal,
                (false, true) => LiveContent::Grown,
                _ => LiveContent::Different,
            });
        }
        if left[..len] != right[..len] {
            return Ok(LiveContent::Different);
        }
        live.consume(len);
        archived.consume(len);
    }
}

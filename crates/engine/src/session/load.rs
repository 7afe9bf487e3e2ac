//! A session file loaded: its tree and its sketch, from one pass; its lines stay on disk.

use std::path::{Path, PathBuf};

use rethread_core::entry::{Entry, EntryRole, Kind};
use rethread_core::problem::Problem;
use rethread_core::resume::ResumeIndex;
use rethread_core::session::{AgentCallIndex, SessionInfo, SessionInfoBuilder, Summaries, Title};
use rethread_core::tree::{LineSpan, NodeId, Tree, TreeBuilder};
use rethread_core::turn::ToolCallIndex;
use rethread_core::version::Version;

use crate::Error;
use crate::disk::{ScanEvent, is_session_id, scan, scan_head};

/// A session file, read once.
#[derive(Debug)]
pub struct Session {
    /// Where it is.
    pub path: PathBuf,
    /// Its id; of a subagent, the name of its file.
    pub id: String,
    /// What it is called, as far as its own file and those beside it say.
    pub title: Title,
    /// What it says of itself.
    pub sketch: SessionInfo,
    /// Its entries, linked.
    pub tree: Tree,
    /// Its tool calls, where they were asked for.
    pub pairs: ToolCallIndex,
    /// Its size.
    pub bytes: u64,
    /// What is odd about its bytes; what is odd about its links stands in the tree.
    pub problems: Vec<Problem>,
    pub(crate) launches: AgentCallIndex,
    /// What a client goes by when it resumes it.
    pub(crate) facts: ResumeIndex,
}

/// Which session an outcome is about.
#[derive(Debug, Clone)]
pub struct SessionHeader {
    /// Its id.
    pub id: String,
    /// What it is called, as far as its own file says.
    pub title: Title,
    /// The folder it was started in.
    pub folder: String,
}

/// Reads a session file, its tool calls and launches included.
pub(crate) fn load(path: &Path) -> Result<Session, Error> {
    let wish = Wish { calls: true, beside: true };
    Ok(load_with(path, wish, |weaver| (weaver.finish(), ()), |_, _| {})?.0)
}

/// Reads a session file to tell it: what only lists of calls need is left out.
pub(crate) fn load_to_tell(path: &Path) -> Result<Session, Error> {
    load_with_visitor(path, |_, _| {})
}

/// Reads a session file to tell it, and shows every entry as it passes.
pub(crate) fn load_with_visitor(
    path: &Path,
    each: impl FnMut(&Entry<'_>, LineSpan),
) -> Result<Session, Error> {
    Ok(load_with(path, Wish::TO_TELL, |weaver| (weaver.finish(), ()), each)?.0)
}

/// Reads a session file as [`load_seeing`] does, without a look at the files beside it: one of them may know its title.
pub(crate) fn load_alone(path: &Path, each: impl FnMut(&Entry<'_>, LineSpan)) -> Result<Session, Error> {
    let wish = Wish { calls: false, beside: false };
    Ok(load_with(path, wish, |weaver| (weaver.finish(), ()), each)?.0)
}

/// Reads a session file to change it, and shows every entry as it passes; `finish` may keep the weaver, where more lines
/// are to come.
pub(crate) fn load_to_edit<W>(
    path: &Path,
    finish: impl FnOnce(TreeBuilder) -> (Tree, W),
    each: impl FnMut(&Entry<'_>, LineSpan),
) -> Result<(Session, W), Error> {
    load_with(path, Wish::TO_TELL, finish, each)
}

/// What is wanted of a session beside its tree.
#[derive(Clone, Copy)]
struct Wish {
    /// Tool calls and launches.
    calls: bool,
    /// What other files say of its title.
    beside: bool,
}

impl Wish {
    const TO_TELL: Wish = Wish { calls: false, beside: true };
}

fn load_with<W>(
    path: &Path,
    wish: Wish,
    finish: impl FnOnce(TreeBuilder) -> (Tree, W),
    mut each: impl FnMut(&Entry<'_>, LineSpan),
) -> Result<(Session, W), Error> {
    let bytes = std::fs::metadata(path).map_or(0, |file| file.len());
    let mut weaver =
        if wish.calls { TreeBuilder::with_content_hashes() } else { TreeBuilder::with_capacity_for(bytes) };
    let mut sketcher = SessionInfoBuilder::default();
    let mut pairs = ToolCallIndex::default();
    let mut launches = AgentCallIndex::default();
    let mut facts = ResumeIndex::default();
    let scan = scan(path, |seen| {
        if let ScanEvent::Entry(entry, place, whole) = seen {
            let salvaged = if whole { None } else { Some(entry.clone().mark_recovered()) };
            let entry = salvaged.as_ref().unwrap_or(entry);
            let voice = weaver.add(entry, place);
            facts.add(entry, place);
            sketcher.add(entry, voice);
            each(entry, place);
            if wish.calls {
                pairs.add(entry, place);
                launches.add(entry, place.line);
            }
        }
    })
    .map_err(Error::reading(path))?;
    let (tree, woven) = finish(weaver);
    let sketch = sketcher.finish(&tree, scan.lines, &scan.problems);
    let beside = if wish.beside { neighbours(path, &sketch) } else { Vec::new() };
    let summaries = Summaries::of(beside.iter().chain(std::iter::once(&sketch)));
    let session = Session {
        path: path.to_owned(),
        id: id_of(path, &sketch),
        title: sketch.title(sketch.summary(&summaries)),
        sketch,
        tree,
        pairs,
        bytes: scan.bytes,
        problems: scan.problems,
        launches,
        facts,
    };
    Ok((session, woven))
}

/// The last client that was seen to write summaries, into whatever file was open.
const LAST_SUMMARIES: &str = "2.1.22";

/// Whether a file beside a session may hold its title.
fn title_may_be_in_other_file(sketch: &SessionInfo) -> bool {
    let named = sketch.custom_title.is_some() || sketch.ai_title.is_some();
    let last = Version::read(LAST_SUMMARIES);
    !named && sketch.versions.iter().any(|version| Version::read(version) <= last)
}

/// Sketches the heads of the files beside a session, where one of them may hold its title.
fn neighbours(path: &Path, sketch: &SessionInfo) -> Vec<SessionInfo> {
    let elsewhere = title_may_be_in_other_file(sketch);
    let folder = path.parent().filter(|_| elsewhere).and_then(|folder| std::fs::read_dir(folder).ok());
    let files = folder.into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|ext| ext == "jsonl")).collect();
    files.sort();
    let sketch = |file: PathBuf| {
        let mut sketcher = SessionInfoBuilder::default();
        let add = |seen: ScanEvent<'_, '_>| {
            if let ScanEvent::Entry(entry, ..) = seen
                && entry.kind == Kind::Summary
            {
                sketcher.add(entry, EntryRole::State);
            }
        };
        scan_head(&file, add).ok()?;
        Some(sketcher.finish(&Tree::default(), 0, &[]))
    };
    files.into_iter().filter_map(sketch).collect()
}

/// Returns the id of the session in `path`: a file is called by it; where it is not, its lines say whose it is.
pub(crate) fn id_of(path: &Path, sketch: &SessionInfo) -> String {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    match sketch.sessions.first() {
        Some(session) if !is_session_id(stem) && !stem.starts_with("agent-") => session.clone(),
        _ => stem.to_owned(),
    }
}

impl Session {
    /// Whether what it is called may stand in another file.
    pub(crate) fn may_be_called_elsewhere(&self) -> bool {
        title_may_be_in_other_file(&self.sketch)
    }

    /// Says which session this is.
    pub fn head(&self) -> SessionHeader {
        let folder = self.sketch.cwd.clone().unwrap_or_default();
        SessionHeader { id: self.id.clone(), title: self.title.clone(), folder }
    }

    /// Finds an entry by name: a line (`L118`), a turn (`t9`), a uuid or its first digits.
    pub fn entry(&self, name: &str) -> Result<NodeId, Error> {
        let unknown = || Error::UnknownEntry { name: name.to_owned() };
        let number = |prefix: [char; 2]| name.strip_prefix(prefix).and_then(|rest| rest.parse::<u32>().ok());
        if let Some(line) = number(['L', 'l']) {
            let found = self.tree.nodes().iter().position(|node| node.place.line == line);
            return found.map(|no| no as NodeId).ok_or_else(unknown);
        }
        if let Some(turn) = number(['t', 'T']) {
            return self.tree.turns().nth((turn as usize).wrapping_sub(1)).ok_or_else(unknown);
        }
        if let Some(node) = self.tree.find(rethread_core::id::Id::of(name.as_bytes())) {
            return Ok(node);
        }
        let digits: String = name.chars().filter(|c| *c != '-').collect::<String>().to_lowercase();
        if digits.len() < 4 || !digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        let fits = |no: &usize| format!("{:032x}", self.tree.nodes()[*no].id.bits()).starts_with(&digits);
        let mut found = (0..self.tree.nodes().len()).filter(fits);
        match (found.next(), found.next()) {
            (Some(no), None) => Ok(no as NodeId),
            _ => Err(unknown()),
        }
    }

    /// Returns the newest tip at or below a node.
    pub(crate) fn tip_below(&self, node: NodeId) -> NodeId {
        let mut tip = None;
        let mut stack = vec![node];
        while let Some(no) = stack.pop() {
            if self.tree.node(no).voice != EntryRole::Structural {
                tip = tip.max(Some(no));
            }
            stack.extend_from_slice(self.tree.children(no));
        }
        tip.unwrap_or(node)
    }
}

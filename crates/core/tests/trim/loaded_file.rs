//! A file as the rooms know it, and its copy as a trim writes it.

use rethread_core::edit::{Draft, DraftSegment, ResumeMarker, required_entries};
use rethread_core::entry::{self, Timestamp};
use rethread_core::id::Id;
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{ResumeIndex, ResumeOutcome, resume_at};
use rethread_core::tree::{LineSpan, Node, NodeId, Tree, TreeBuilder};
use rethread_core::trim::{BlockInventory, TrimInput, TrimOptions, TrimmedPath};
use rethread_core::version::Version;

pub(crate) const SESSION: &str = "0af00000-0000-4000-8000-000000000001";
pub(crate) const NOTE: &str = "00000000-0000-4000-8000-00000000aaaa";

pub(crate) struct Known {
    pub(crate) file: Vec<u8>,
    pub(crate) tree: Tree,
    pub(crate) facts: ResumeIndex,
    pub(crate) survey: BlockInventory,
}

/// Reads what the rooms know of a file.
pub(crate) fn know(file: &[u8]) -> Known {
    let mut weaver = TreeBuilder::default();
    let mut facts = ResumeIndex::default();
    let mut survey = BlockInventory::default();
    LineSplitter::default().feed(file, true, &mut Vec::new(), |line, problems| {
        entry::read(&line, problems, |entry, offset| {
            let place = LineSpan { offset, len: entry.raw.len() as u32, line: line.no };
            weaver.add(&entry, place);
            facts.add(&entry, place);
            survey.add(&entry, place);
        });
    });
    Known { file: file.to_vec(), tree: weaver.finish(), facts, survey }
}

impl Known {
    pub(crate) fn line(&self, place: LineSpan) -> Vec<u8> {
        self.file[place.offset as usize..place.offset as usize + place.len as usize].to_vec()
    }

    pub(crate) fn ids(&self, path: &[NodeId]) -> Vec<Id> {
        path.iter().map(|&no| self.tree.node(no).id).collect()
    }

    /// Cuts the way to an entry, as a client would go on from it.
    pub(crate) fn cut(
        &self,
        client: &Version,
        leaf: NodeId,
        cut: impl Fn(&TrimInput<'_>) -> TrimmedPath,
    ) -> Option<(ResumeOutcome, TrimmedPath)> {
        let asked = resume_at(&self.tree, &self.facts, client, leaf).filter(|asked| asked.halt.is_none())?;
        let way = required_entries(&self.tree, &self.facts, std::slice::from_ref(client), leaf);
        let scene = TrimInput::new(&self.tree, &self.facts, &self.survey, SESSION, (&way, leaf, &asked));
        let cut = cut(&scene);
        Some((asked, cut))
    }

    /// Writes the copy, to go on from where the cut says.
    pub(crate) fn write(&self, cut: TrimmedPath) -> Vec<u8> {
        let leaf = cut.leaf.map(|leaf| self.tree.node(leaf).id.hyphenated());
        let now = self.tree.nodes().iter().filter_map(Node::time).max().map_or(0, |time| time.0) + 1000;
        let note = cut.note.as_ref().map(|note| {
            let parent = note.parent.as_ref().map_or("null".to_owned(), |parent| format!("\"{parent}\""));
            format!(r#"{{"type":"user","uuid":"{NOTE}","parentUuid":{parent},"timestamp":"2025-01-01T00:00:00.000Z","message":{{"role":"user","content":"note"}}}}"#)
        });
        let draft = Draft::default();
        let mut file = Vec::new();
        for piece in cut.pieces(|no| self.tree.node(no).place, note.map(String::into_bytes)) {
            match piece {
                DraftSegment::Line(place, changes) => {
                    file.extend_from_slice(&draft.render(&self.line(place), &changes));
                }
                DraftSegment::New(line) => file.extend(line),
                DraftSegment::Copy(_) => unreachable!("a cut copies line by line"),
            }
            file.push(b'\n');
        }
        let anchor = ResumeMarker {
            leaf: leaf.as_deref().unwrap_or_default(),
            uuid: "00000000-0000-4000-8000-00000000ffff",
            session: SESSION,
            time: Some(Timestamp(now)),
            ..ResumeMarker::default()
        };
        [&file[..], &anchor.marker_line(), b"\n", &anchor.leaf_pointer_line(), b"\n"].concat()
    }
}

pub(crate) fn by(trim: &TrimOptions) -> impl Fn(&TrimInput<'_>, &Known) -> TrimmedPath + '_ {
    |scene, known| {
        let read = |place| Ok::<_, std::convert::Infallible>(known.line(place));
        TrimmedPath::by(scene, trim, read).unwrap_or_else(|never| match never {})
    }
}

pub(crate) fn last(known: &Known) -> NodeId {
    known.tree.nodes().len() as NodeId - 1
}

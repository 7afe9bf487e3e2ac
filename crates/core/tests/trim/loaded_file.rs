//! Loads a file and writes the copy that a trim creates.

use rethread_core::edit::{Draft, DraftSegment, ResumeMarker, required_entries};
use rethread_core::entry::{self, Timestamp};
use rethread_core::id::Id;
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{ResumeIndex, ResumeOutcome, TrailingEntries, simulate_resume_at};
use rethread_core::tree::{LineSpan, Node, NodeId, Tree, TreeBuilder};
use rethread_core::trim::{BlockInventory, TrimInput, TrimOptions, TrimmedPath};
use rethread_core::version::Version;

pub(crate) const SESSION: &str = "0af00000-0000-4000-8000-000000000001";
pub(crate) const NOTE: &str = "00000000-0000-4000-8000-00000000aaaa";

pub(crate) struct LoadedFile {
    pub(crate) file: Vec<u8>,
    pub(crate) tree: Tree,
    pub(crate) resume_index: ResumeIndex,
    pub(crate) inventory: BlockInventory,
}

pub(crate) fn load(file: &[u8]) -> LoadedFile {
    let mut builder = TreeBuilder::default();
    let mut resume_index = ResumeIndex::default();
    let mut inventory = BlockInventory::default();
    LineSplitter::default().feed(file, true, &mut Vec::new(), |line, problems| {
        entry::read_line(&line, problems, |entry, offset| {
            let span = LineSpan { offset, len: entry.raw.len() as u32, line: line.number };
            builder.add_entry(&entry, span);
            resume_index.add_entry(&entry, span);
            inventory.add(&entry, span);
        });
    });
    LoadedFile { file: file.to_vec(), tree: builder.finish(), resume_index, inventory }
}

impl LoadedFile {
    pub(crate) fn line_bytes(&self, span: LineSpan) -> Vec<u8> {
        self.file[span.offset as usize..span.offset as usize + span.len as usize].to_vec()
    }

    pub(crate) fn uuids(&self, path: &[NodeId]) -> Vec<Id> {
        path.iter().map(|&node_id| self.tree.node(node_id).uuid).collect()
    }

    /// Trims the path to an entry, as a client would resume from it.
    pub(crate) fn trim(
        &self,
        client: &Version,
        leaf: NodeId,
        trim: impl Fn(&TrimInput<'_>) -> TrimmedPath,
    ) -> Option<(ResumeOutcome, TrimmedPath)> {
        let outcome = simulate_resume_at(&self.tree, &self.resume_index, client, leaf)
            .filter(|outcome| outcome.failure.is_none())?;
        let path = required_entries(
            &self.tree,
            &self.resume_index,
            std::slice::from_ref(client),
            leaf,
            TrailingEntries::All,
        );
        let input =
            TrimInput::new(&self.tree, &self.resume_index, &self.inventory, SESSION, (&path, leaf, &outcome));
        let trimmed = trim(&input);
        Some((outcome, trimmed))
    }

    /// Writes the copy, to be resumed from the leaf of the trimmed path.
    pub(crate) fn write(&self, trimmed: TrimmedPath) -> Vec<u8> {
        let leaf = trimmed.leaf.map(|leaf| self.tree.node(leaf).uuid.to_hyphenated());
        let now = self.tree.nodes().iter().filter_map(Node::time).max().map_or(0, |time| time.0) + 1000;
        let note = trimmed.note.as_ref().map(|note| {
            let parent = note.parent.as_ref().map_or("null".to_owned(), |parent| format!("\"{parent}\""));
            format!(r#"{{"type":"user","uuid":"{NOTE}","parentUuid":{parent},"timestamp":"2025-01-01T00:00:00.000Z","message":{{"role":"user","content":"note"}}}}"#)
        });
        let draft = Draft::default();
        let mut file = Vec::new();
        for segment in
            trimmed.into_segments(|node_id| self.tree.node(node_id).span, note.map(String::into_bytes))
        {
            match segment {
                DraftSegment::Line(span, edits) => {
                    file.extend_from_slice(&draft.render_line(&self.line_bytes(span), &edits));
                }
                DraftSegment::New(line) => file.extend(line),
                DraftSegment::Copy(_) => unreachable!("a trimmed path consists of single lines"),
            }
            file.push(b'\n');
        }
        let marker = ResumeMarker {
            leaf: leaf.as_deref().unwrap_or_default(),
            uuid: "00000000-0000-4000-8000-00000000ffff",
            session: SESSION,
            time: Some(Timestamp(now)),
            ..ResumeMarker::default()
        };
        [&file[..], &marker.marker_line(), b"\n", &marker.leaf_pointer_line(), b"\n"].concat()
    }
}

pub(crate) fn trim_with(options: &TrimOptions) -> impl Fn(&TrimInput<'_>, &LoadedFile) -> TrimmedPath + '_ {
    |input, loaded| {
        let read = |span| Ok::<_, std::convert::Infallible>(loaded.line_bytes(span));
        TrimmedPath::from_options(input, options, read).unwrap_or_else(|never| match never {})
    }
}

pub(crate) fn last_node(loaded: &LoadedFile) -> NodeId {
    loaded.tree.nodes().len() as NodeId - 1
}

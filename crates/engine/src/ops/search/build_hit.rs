//! Builds a hit: reads its line again, and finds its session and its context status.

use rethread_core::query::SearchDoc;
use rethread_core::resume::ContextStatus;
use rethread_core::secrets::{RedactOptions, Redactor, TokenTable};
use rethread_core::session::{Title, TitleSource};
use rethread_core::tree::LineSpan;

use super::Search;
use super::candidate_heap::Candidate;
use super::hit::{DuplicateHit, SearchHit, find_session_file};
use super::labels::EntryLabel;
use crate::disk::{FileRole, is_only_archived};
use crate::ops::agents::read_first_session_id;

/// Returns the texts of an entry with its secrets replaced.
fn mask_secrets<'a>(doc: &SearchDoc<'a>) -> SearchDoc<'a> {
    let mut table = TokenTable::default();
    doc.texts.iter().for_each(|field| table.add_text(field.text.as_bytes()));
    let mut masked = doc.clone();
    if !table.is_empty() {
        let redactor = Redactor::new(table, &RedactOptions::default());
        for field in &mut masked.texts {
            field.text = redactor.redact_text(&field.text).into_owned().into();
        }
    }
    masked
}

impl Search {
    /// Builds one hit from all copies of an entry. The hit is the first original in the order of files, or else the first
    /// copy. Returns `None` if its line can no longer be read or has no searched text.
    pub(super) fn build_hit(&mut self, candidates: Vec<Candidate>) -> Option<SearchHit> {
        // Whether it is a copy, the index of its file, its line, and the candidate.
        let mut lines: Vec<(bool, usize, LineSpan, Candidate)> = Vec::new();
        for candidate in candidates {
            let is_copy = self.is_copy(&candidate);
            lines.extend(
                self.find_line(candidate.source).map(|(file_idx, span)| (is_copy, file_idx, span, candidate)),
            );
        }
        lines.sort_by_key(|(is_copy, file_idx, span, _)| (*is_copy, *file_idx, span.offset));
        let &(is_copy, file_idx, span, candidate) = lines.first()?;
        let mut first_doc = None;
        self.read_doc(
            file_idx,
            span,
            |_| true,
            |search, doc, uuid| {
                let masked = search.scope.request.masks_secrets.then(|| mask_secrets(doc));
                let doc = masked.as_ref().unwrap_or(doc);
                first_doc = first_doc.take().or_else(|| {
                    Some((search.query.build_excerpt(doc)?, uuid, doc.session.as_deref().map(str::to_owned)))
                });
            },
        );
        let (excerpt, uuid, doc_session) = first_doc?;
        let EntryLabel { turn, status, .. } = self.labels.find_label(&self.content.files, file_idx, span);
        let copies = self.build_copies(&lines[1..], status);
        self.failures.append(&mut self.labels.failures);
        let session_file = &self.content.files[file_idx];
        // Old clients wrote subagent files next to session files, and a warm-up may belong to the previous session. The
        // session of the first line counts, as in the list of subagents.
        let first_session =
            || session_file.is_agent().then(|| read_first_session_id(&session_file.path)).flatten();
        let session = session_file.session_id().map(str::to_owned).or_else(first_session).or(doc_session);
        let session = session.unwrap_or_else(|| session_file.stem().to_owned());
        let session_path = match session_file.role {
            FileRole::Main => None,
            _ => find_session_file(&session_file.path, &session),
        };
        let path = session_file.path.clone();
        let agent = session_file.is_agent().then(|| session_file.stem().to_owned());
        let in_side_file = matches!(session_file.role, FileRole::Result { .. });
        let session_path = session_path.unwrap_or_else(|| path.clone());
        let labels = (!in_side_file || session_path != path)
            .then(|| self.labels.load(&self.content.files, &session_path));
        let folder = || session_path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
        let no_title = || Title { text: String::new(), source: TitleSource::None };
        let title = labels.as_ref().map_or_else(no_title, |labels| labels.title());
        let project = labels.map(|labels| labels.folder.clone()).filter(|folder| !folder.is_empty());
        let project = project.unwrap_or_else(folder);
        Some(SearchHit {
            session,
            title,
            project,
            archived: is_only_archived(&session_path),
            session_path,
            path,
            agent,
            in_side_file,
            line: span.line,
            uuid,
            turn,
            time: candidate.time,
            excerpt,
            context_status: status,
            is_copy,
            copies,
            score: candidate.score,
        })
    }

    /// Builds the copies of a hit. Their context status is computed only if `status`, that of the hit, is not active.
    fn build_copies(
        &mut self,
        lines: &[(bool, usize, LineSpan, Candidate)],
        status: ContextStatus,
    ) -> Vec<DuplicateHit> {
        let mut copies = Vec::new();
        for &(_, file_idx, span, _) in lines {
            let in_context = status == ContextStatus::Active;
            let status =
                (!in_context).then(|| self.labels.find_label(&self.content.files, file_idx, span).status);
            let session_file = &self.content.files[file_idx];
            let session = session_file.session_id().unwrap_or_else(|| session_file.stem()).to_owned();
            copies.push(DuplicateHit {
                session,
                path: session_file.path.clone(),
                line: span.line,
                context_status: status,
            });
        }
        copies
    }
}

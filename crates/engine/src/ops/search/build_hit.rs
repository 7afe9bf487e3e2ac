//! Tells a hit: reads its line again, and asks whose it is and how it stands.

use rethread_core::session::{Title, TitleSource};
use rethread_core::tree::LineSpan;

use super::super::agents::first_session;
use super::Search;
use super::candidate_heap::Candidate;
use super::hit::{DuplicateHit, SearchHit, session_of};
use crate::disk::FileRole;
use crate::session::match_context::ContextStatus;

impl Search {
    /// Tells the items of one key: the first is the hit, the others are its copies.
    pub(super) fn build_hit(&mut self, items: Vec<Candidate>) -> Option<SearchHit> {
        let mut placed: Vec<(bool, usize, LineSpan, Candidate)> = Vec::new();
        for item in items {
            let copied = self.is_copied(&item);
            placed.extend(self.place(item.from).map(|(file, place)| (copied, file, place, item)));
        }
        placed.sort_by_key(|(copied, file, place, _)| (*copied, *file, place.offset));
        let &(copied, file, place, item) = placed.first()?;
        let mut told = None;
        self.read(
            file,
            place,
            |_| true,
            |search, card, uuid| {
                told = told.take().or_else(|| {
                    Some((search.meaning.excerpt(card)?, uuid, card.session.as_deref().map(str::to_owned)))
                });
            },
        );
        let (excerpt, uuid, named) = told?;
        let (turn, standing) = self.standings.at(&self.found, file, place);
        let copies = self.copies(&placed[1..], standing);
        self.failures.append(&mut self.standings.failures);
        let found = &self.found[file];
        // Old clients wrote subagents beside sessions, and warmed them up for the one before: the first line says whose they are.
        let first = || found.is_agent().then(|| first_session(&found.path)).flatten();
        let session = found.session().map(str::to_owned).or_else(first).or(named);
        let session = session.unwrap_or_else(|| found.stem().to_owned());
        let session_path = match found.role {
            FileRole::Main => None,
            _ => session_of(&found.path, &session),
        };
        let path = found.path.clone();
        let agent = found.is_agent().then(|| found.stem().to_owned());
        let beside = matches!(found.role, FileRole::Result { .. });
        let session_path = session_path.unwrap_or_else(|| path.clone());
        let head =
            (!beside || session_path != path).then(|| self.standings.labels(&self.found, &session_path));
        let folder = || session_path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
        let none = || Title { text: String::new(), source: TitleSource::None };
        let title = head.as_ref().map_or_else(none, |head| head.title());
        let project = head.map(|head| head.folder.clone()).filter(|folder| !folder.is_empty());
        let project = project.unwrap_or_else(folder);
        Some(SearchHit {
            session,
            title,
            project,
            session_path,
            path,
            agent,
            beside,
            line: place.line,
            uuid,
            turn,
            time: item.time,
            excerpt,
            standing,
            copied,
            copies,
            score: item.score,
        })
    }

    fn copies(
        &mut self,
        placed: &[(bool, usize, LineSpan, Candidate)],
        standing: ContextStatus,
    ) -> Vec<DuplicateHit> {
        let mut copies = Vec::new();
        for &(_, file, place, _) in placed {
            let remembered = standing == ContextStatus::Active;
            let standing = (!remembered).then(|| self.standings.at(&self.found, file, place).1);
            let found = &self.found[file];
            let session = found.session().unwrap_or_else(|| found.stem()).to_owned();
            copies.push(DuplicateHit { session, path: found.path.clone(), line: place.line, standing });
        }
        copies
    }
}

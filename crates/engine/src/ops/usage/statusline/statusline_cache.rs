//! What all other files came to when somebody looked: as little of it as is needed to say what is spent now.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use rethread_core::entry::Timestamp;
use rethread_core::id::{Id, IdSet};
use rethread_core::pack_fields;
use rethread_core::usage::{BLOCK_MILLIS, FileUsage, block_of, blocks};

use super::super::store::UsageStore;
use super::file_progress::FileProgress;
use super::session_files::{Family, id};
use crate::cache::{CacheDir, CacheWarning};
use crate::disk::{Roots, SessionFile, find};

/// How long what others spent is believed, in milliseconds.
const LAG: i64 = 60_000;

/// What is kept between two looks.
#[derive(Debug)]
pub(super) struct StatuslineCache {
    /// When all files were looked at.
    pub(super) made: Timestamp,
    /// Where the count of blocks can be taken up: none runs then that began before. All that was got since is here.
    pub(super) since: Timestamp,
    /// How many of the session's own charges have no time, and how many are older than that.
    old: (usize, usize),
    /// The files beside the session of which it is known whose they are, by name.
    pub(super) beside: Vec<Id>,
    /// Charges in files of others: what was got lately, and what stands in the session's own files too.
    pub(super) others: Vec<(PathBuf, FileUsage)>,
    /// The session's own files.
    pub(super) pages: Vec<FileProgress>,
}

pack_fields!(StatuslineCache { made, since, old, beside, others, pages });

/// Where to look, and when.
pub(super) struct Store<'s> {
    pub(super) roots: &'s Roots,
    pub(super) index: Option<&'s CacheDir>,
    /// The file of the session.
    pub(super) main: Option<&'s Path>,
    pub(super) now: Timestamp,
    /// When the day began.
    pub(super) today: Timestamp,
}

impl StatuslineCache {
    /// Whether it is young enough to be believed.
    pub(super) fn is_young(&self, now: Timestamp) -> bool {
        (0..LAG).contains(&now.0.saturating_sub(self.made.0))
    }

    /// Whether it still stands on a day that began at `today`, beside what the session's own files hold now.
    pub(super) fn stands(&self, family: &Family, today: Timestamp) -> bool {
        self.since <= today && !family.rewritten && family.old(self.since) == self.old
    }

    /// Looks at all files. Those of `session` that were not known to be its own join the family.
    pub(super) fn look(
        store: &Store<'_>,
        session: &str,
        family: &mut Family,
    ) -> (StatuslineCache, Option<CacheWarning>) {
        let Store { roots, index, main, now, today } = *store;
        family.keep_own(main, session);
        let (files, failures) = find(roots);
        family.failures.extend(failures);
        let given = family.given(&files);
        let mut own: HashSet<usize> = given.keys().copied().collect();
        let books = UsageStore::open_with(&files, roots, index, given);
        let of_session = |no: usize| !session.is_empty() && books.covers[no].session == session;
        for (no, file) in files.iter().enumerate() {
            if of_session(no) && own.insert(no) {
                match FileProgress::refresh(file, None, false) {
                    Ok(turned) => family.turned.push(turned),
                    Err(failure) => family.failures.push(failure),
                }
            }
        }
        // One that has not yet said whose it is may be of this session.
        let is_told = |(no, file): &(usize, &SessionFile)| {
            main.is_some_and(|main| main.parent() == file.path.parent())
                && !books.covers[*no].session.is_empty()
        };
        let told = files.iter().enumerate().filter(is_told);
        let beside = told.filter_map(|(_, file)| file.path.file_name()).map(id).collect();
        let (recent, since) = lately(&books, today);
        let mut wanted = recent;
        let charges = family.turned.iter().flat_map(|turned| &turned.sheet().charges);
        wanted.extend(charges.map(|charge| charge.message));
        let mut others = Vec::new();
        for (no, cover) in books.covers.iter().enumerate().filter(|(no, _)| !own.contains(no)) {
            if cover.messages.iter().any(|message| wanted.contains(message)) {
                others.push((
                    files[no].path.clone(),
                    books.sheet(no).only(|message| wanted.contains(&message)),
                ));
            }
        }
        let (unread, notice) = books.close();
        family.failures.extend(unread);
        let old = family.old(since);
        (StatuslineCache { made: now, since, old, beside, others, pages: Vec::new() }, notice)
    }
}

/// Finds the messages of today and of the block that ran when it began, and when that block began, if there was one.
fn lately(books: &UsageStore<'_>, today: Timestamp) -> (IdSet, Timestamp) {
    let earliest = Timestamp(today.0.saturating_sub(BLOCK_MILLIS));
    let (mut recent, mut times) = (IdSet::default(), Vec::new());
    books.each_with(
        |sheet| {
            let charges =
                sheet.charges.iter().filter(|charge| charge.time.is_some_and(|time| time >= earliest));
            recent.extend(charges.map(|charge| charge.message));
        },
        |booked| times.extend(booked.time()),
    );
    times.sort_unstable();
    let running = block_of(&blocks(times), today);
    let running = running.filter(|begin| today.0.saturating_sub(begin.0) < BLOCK_MILLIS);
    (recent, running.unwrap_or(today))
}

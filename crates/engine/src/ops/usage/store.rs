//! The sheets of all files, and the bills they come to.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::ops::Range;

use memchr::memmem::Finder;
use rayon::prelude::*;
use rethread_core::entry::{Flags, Timestamp};
use rethread_core::id::{Id, IdHasher};
use rethread_core::usage::{
    ChargeNo, FileUsage, FileUsageHeader, ResponseUsage, UniqueResponse, UsageCollector,
    dedupe_responses_where,
};

use crate::Error;
use crate::cache::{CacheDir, CacheWarning, NewCacheEntry};
use crate::disk::{FileRole, Roots, SessionFile, scan_part};
use crate::session::per_file_cache::PerFileCache;

/// All files with what they hold of responses.
///
/// Most sheets are known from the index and most responses stand in one file only, so sheets are unpacked one after the
/// other, and only those are held that have something in common with others.
pub(super) struct UsageStore<'f> {
    /// The files, in the order of their paths.
    pub(super) files: &'f [SessionFile],
    /// What is known of each before its sheet is looked at.
    pub(super) covers: Vec<FileUsageHeader>,
    /// Messages that may stand in more than one place.
    twins: HashSet<u64, BuildHasherDefault<IdHasher>>,
    recall: PerFileCache<'f>,
    /// The sheets that were read just now, by the numbers of their files.
    read: HashMap<usize, FileUsage>,
    fresh: Vec<NewCacheEntry>,
    pub(super) failures: Vec<Error>,
}

/// A response, with where it appeared first.
pub(super) struct AttributedResponse<'b> {
    /// The number of the file.
    pub(super) file: usize,
    /// Its sheet.
    pub(super) sheet: &'b FileUsage,
    /// The number of the charge there.
    pub(super) no: usize,
    pub(super) charge: &'b ResponseUsage,
    pub(super) bill: UniqueResponse,
    /// Whether a subagent got it.
    pub(super) side: bool,
    /// Where else it stands: sheets, and the charges on them that it is for.
    others: (&'b [FileUsage], &'b [ChargeNo]),
}

impl AttributedResponse<'_> {
    /// Returns when it was got.
    pub(super) fn time(&self) -> Option<Timestamp> {
        self.charge.time
    }

    /// Whether a line of it stands in a file of a session.
    pub(super) fn stands_in(&self, session: &str) -> bool {
        let (sheets, charges) = self.others;
        self.sheet.session == session
            || charges.iter().any(|(sheet, _)| sheets[*sheet as usize].session == session)
    }
}

impl<'f> UsageStore<'f> {
    /// Reads the files under `roots` of which no index knows.
    pub(super) fn open(files: &'f [SessionFile], roots: &Roots, index: Option<&CacheDir>) -> UsageStore<'f> {
        UsageStore::open_with(files, roots, index, HashMap::new())
    }

    /// Reads the files under `roots` of which no index knows; the sheets of some are given, by the numbers of the files.
    pub(super) fn open_with(
        files: &'f [SessionFile],
        roots: &Roots,
        index: Option<&CacheDir>,
        mut read: HashMap<usize, FileUsage>,
    ) -> UsageStore<'f> {
        let recall = PerFileCache::new(index, roots, "usage", files);
        let cover = |no: usize| read.get(&no).map(FileUsage::cover).or_else(|| recall.known_first(no));
        let covers: Vec<Option<FileUsageHeader>> = (0..files.len()).map(cover).collect();
        let unknown: Vec<usize> = (0..files.len()).filter(|&no| covers[no].is_none()).collect();
        let value = |&no: &usize| (no, recall.value(no, book));
        // Where next to nothing is read, threads cost more than they bring.
        let found: Vec<_> = if unknown.len() < 2 {
            unknown.iter().map(value).collect()
        } else {
            unknown.par_iter().map(value).collect()
        };
        let mut covers: Vec<FileUsageHeader> = covers.into_iter().map(Option::unwrap_or_default).collect();
        let (mut kept, mut failures) = (Vec::new(), Vec::new());
        for (no, (sheet, fresh)) in found {
            kept.extend(fresh);
            match sheet {
                Ok(sheet) => {
                    covers[no] = FileUsage::cover(&sheet);
                    read.insert(no, sheet);
                }
                Err(failure) => failures.push(failure),
            }
        }
        UsageStore { files, twins: twins(&covers), covers, recall, read, fresh: kept, failures }
    }

    /// Keeps what had to be read; says what went wrong with that.
    pub(super) fn close(self) -> (Vec<Error>, Option<CacheWarning>) {
        (self.failures, self.recall.keep(self.fresh))
    }

    /// Returns the sheet of a file.
    pub(super) fn sheet(&self, no: usize) -> Cow<'_, FileUsage> {
        match self.read.get(&no) {
            Some(sheet) => Cow::Borrowed(sheet),
            None => Cow::Owned(self.recall.known(no).unwrap_or_default()),
        }
    }

    /// Shows every response once.
    pub(super) fn each(&self, visit: impl FnMut(&AttributedResponse<'_>)) {
        self.each_with(|_| {}, visit);
    }

    /// Shows every sheet with responses, and every response once.
    pub(super) fn each_with(
        &self,
        mut see: impl FnMut(&FileUsage),
        mut visit: impl FnMut(&AttributedResponse<'_>),
    ) {
        let side = |file: usize, charge: &ResponseUsage| charge.side || self.files[file].is_agent();
        let mut held: Vec<FileUsage> = Vec::new();
        let mut numbers: Vec<usize> = Vec::new();
        for (file, cover) in self.covers.iter().enumerate() {
            if cover.messages.is_empty() {
                continue;
            }
            let sheet = self.sheet(file);
            see(&sheet);
            let mut has_twins = false;
            for (no, charge) in sheet.charges.iter().enumerate() {
                if self.is_twin(charge.message) {
                    has_twins = true;
                    continue;
                }
                let bill = UniqueResponse::single(file as u32, no as u32, charge);
                let (side, others) = (side(file, charge), (&[][..], &[][..]));
                visit(&AttributedResponse { file, sheet: &sheet, no, charge, bill, side, others });
            }
            if has_twins {
                held.push(sheet.into_owned());
                numbers.push(file);
            }
        }
        for (bill, charges) in dedupe_responses_where(&held, |message| self.is_twin(message)) {
            let (sheet, charge) = bill.first(&held);
            let file = numbers[bill.sheet as usize];
            let (no, others) = (bill.charge as usize, (&held[..], &charges[..]));
            visit(&AttributedResponse { file, sheet, no, charge, bill, side: side(file, charge), others });
        }
    }

    fn is_twin(&self, message: Id) -> bool {
        !self.twins.is_empty() && self.twins.contains(&half(&message))
    }

    /// Returns the folder of each session: that of its own file where this tells it, since its subagents may have left it.
    pub(super) fn folders(&self) -> HashMap<&str, &str> {
        let mut folders = HashMap::new();
        for main in [true, false] {
            for (file, cover) in self.files.iter().zip(&self.covers) {
                if (file.role == FileRole::Main) == main && !cover.cwd.is_empty() {
                    folders.entry(cover.session.as_str()).or_insert(cover.cwd.as_str());
                }
            }
        }
        folders
    }
}

/// Finds the messages that stand in more than one place. Half of their bits decide, because there are many to put in order:
/// one that is taken for another is only looked at more closely than it need be.
fn twins(covers: &[FileUsageHeader]) -> HashSet<u64, BuildHasherDefault<IdHasher>> {
    let mut all: Vec<u64> = covers.iter().flat_map(|cover| &cover.messages).map(half).collect();
    all.sort_unstable();
    all.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect()
}

fn half(message: &Id) -> u64 {
    message.bits() as u64
}

/// Reads one file, and says how many bytes that were.
fn book(file: &SessionFile) -> Result<(FileUsage, u64), Error> {
    let booking = UsageCollector::new(file.id(), file.session().unwrap_or_default());
    let (booking, _) = book_part(file, booking, 0..file.len, 0)?;
    Ok((booking.finish(), file.len))
}

/// Books some lines of a file, behind `lines` others; says how many there are up to the end.
pub(super) fn book_part(
    file: &SessionFile,
    booking: UsageCollector,
    bytes: Range<u64>,
    lines: u32,
) -> Result<(UsageCollector, u32), Error> {
    let named = Cell::new(booking.knows_owner());
    let booking = RefCell::new(booking);
    // Only lines with tokens matter, as soon as it is known whose the file is; letters may be written as escapes.
    let (word, low, high) = (Finder::new("usage"), Finder::new("\\u006"), Finder::new("\\u007"));
    let worth =
        |line: &[u8]| !named.get() || [&word, &low, &high].iter().any(|finder| finder.find(line).is_some());
    let lines = scan_part(&file.path, bytes, lines, worth, |entry, _| {
        if !entry.is(Flags::SALVAGED) {
            let mut booking = booking.borrow_mut();
            booking.add(entry);
            named.set(booking.knows_owner());
        }
    })
    .map_err(Error::reading(&file.path))?;
    Ok((booking.into_inner(), lines))
}

//! The usage of all files, and the deduplicated responses.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::ops::Range;

use memchr::memmem::Finder;
use rayon::prelude::*;
use rethread_core::entry::Timestamp;
use rethread_core::id::{Id, IdHasher};
use rethread_core::usage::{
    FileUsage, FileUsageHeader, ResponseRef, ResponseUsage, UniqueResponse, UsageCollector,
    dedupe_responses_where,
};

use crate::Error;
use crate::cache::{CacheDir, CacheKind, CacheWarning, NewCacheEntry};
use crate::disk::{FileRole, Roots, ScanEvent, ScanOptions, SessionFile, scan};
use crate::session::per_file_cache::PerFileCache;

/// The usage of all session files.
///
/// Most file usages are cached and most responses occur in one file only. So the file usages are decoded one at a time,
/// and only those that share messages with other files are kept in memory.
pub(in crate::ops) struct UsageStore<'f> {
    /// The files, sorted by path.
    pub(in crate::ops) files: &'f [SessionFile],
    /// The header of each file usage, available without decoding the rest.
    pub(in crate::ops) headers: Vec<FileUsageHeader>,
    /// The low halves of the ids of messages that may occur more than once.
    shared_messages: HashSet<u64, BuildHasherDefault<IdHasher>>,
    file_cache: PerFileCache<'f>,
    /// The usages that were not cached, by file index.
    new_usages: HashMap<usize, FileUsage>,
    /// The usages to be stored in the cache.
    new_entries: Vec<NewCacheEntry>,
    pub(in crate::ops) failures: Vec<Error>,
}

/// A response, attributed to the file in which it occurred first.
pub(in crate::ops) struct AttributedResponse<'b> {
    /// The index of the file in [`UsageStore::files`].
    pub(in crate::ops) file_idx: usize,
    /// The usage of the file.
    pub(in crate::ops) file_usage: &'b FileUsage,
    /// The index of the response in the file.
    pub(in crate::ops) response_idx: usize,
    /// The response in the file.
    pub(in crate::ops) response_usage: &'b ResponseUsage,
    /// The response with the tokens that are counted.
    pub(in crate::ops) unique: UniqueResponse,
    /// Whether a subagent received it.
    pub(in crate::ops) is_subagent: bool,
    /// Its copies: file usages, and the responses in them.
    copies: (&'b [FileUsage], &'b [ResponseRef]),
    /// The index in [`UsageStore::files`] of each file usage of `copies`.
    copy_file_idxs: &'b [usize],
}

impl AttributedResponse<'_> {
    /// Returns the time of the first line of the response. Returns `None` if it has none.
    pub(in crate::ops) fn time(&self) -> Option<Timestamp> {
        self.response_usage.time
    }

    /// Returns the file index and the response index of every copy in the files, itself included.
    pub(in crate::ops) fn copy_locations(&self) -> impl Iterator<Item = (usize, usize)> {
        let own = self.copies.1.is_empty().then_some((self.file_idx, self.response_idx));
        let copies = self.copies.1.iter();
        copies.map(|(file, response)| (self.copy_file_idxs[*file as usize], *response as usize)).chain(own)
    }

    /// Returns `true` if the response or a copy of it is in a file of the session.
    pub(in crate::ops) fn occurs_in(&self, session: &str) -> bool {
        let (usages, copies) = self.copies;
        self.file_usage.session == session
            || copies.iter().any(|(file_idx, _)| usages[*file_idx as usize].session == session)
    }
}

impl<'f> UsageStore<'f> {
    /// Loads the usage of `files`, from the cache if possible.
    pub(in crate::ops) fn open(
        files: &'f [SessionFile],
        roots: &Roots,
        cache: Option<&CacheDir>,
    ) -> UsageStore<'f> {
        UsageStore::open_with_known(files, roots, cache, HashMap::new())
    }

    /// Loads the usage of `files`, from the cache if possible. `known` contains the usages of some files, by index.
    pub(in crate::ops) fn open_with_known(
        files: &'f [SessionFile],
        roots: &Roots,
        cache: Option<&CacheDir>,
        known: HashMap<usize, FileUsage>,
    ) -> UsageStore<'f> {
        let mut new_usages = known;
        let file_cache = PerFileCache::new(cache, roots, CacheKind::Usage, files);
        let find_header = |idx: usize| {
            new_usages.get(&idx).map(FileUsage::header).or_else(|| file_cache.get_cached_prefix(idx))
        };
        let headers: Vec<Option<FileUsageHeader>> = (0..files.len()).map(find_header).collect();
        let unknown: Vec<usize> = (0..files.len()).filter(|&idx| headers[idx].is_none()).collect();
        let read_one = |&idx: &usize| (idx, file_cache.get_or_read(idx, read_usage));
        // With at most one file to read, threads cost more than they save.
        let found: Vec<_> = if unknown.len() < 2 {
            unknown.iter().map(read_one).collect()
        } else {
            unknown.par_iter().map(read_one).collect()
        };
        let mut headers: Vec<FileUsageHeader> = headers.into_iter().map(Option::unwrap_or_default).collect();
        let (mut new_entries, mut failures) = (Vec::new(), Vec::new());
        for (idx, (usage, entry)) in found {
            new_entries.extend(entry);
            match usage {
                Ok(usage) => {
                    headers[idx] = FileUsage::header(&usage);
                    new_usages.insert(idx, usage);
                }
                Err(failure) => failures.push(failure),
            }
        }
        UsageStore {
            files,
            shared_messages: find_shared_messages(&headers),
            headers,
            file_cache,
            new_usages,
            new_entries,
            failures,
        }
    }

    /// Stores the new usages in the cache. Returns the read errors, and a warning if storing failed.
    pub(in crate::ops) fn close(self) -> (Vec<Error>, Option<CacheWarning>) {
        (self.failures, self.file_cache.store_entries(self.new_entries))
    }

    /// Returns the usage of the file at an index. It is empty if the file could not be read.
    pub(in crate::ops) fn file_usage(&self, idx: usize) -> Cow<'_, FileUsage> {
        match self.new_usages.get(&idx) {
            Some(usage) => Cow::Borrowed(usage),
            None => Cow::Owned(self.file_cache.get_cached(idx).unwrap_or_default()),
        }
    }

    /// Calls `visit` once with every response. Responses that occur in several files are visited last.
    pub(in crate::ops) fn for_each_response(&self, visit: impl FnMut(&AttributedResponse<'_>)) {
        self.for_each_file_and_response(|_| {}, visit);
    }

    /// Calls `visit_file` with every file usage that has responses, and `visit` once with every response.
    pub(in crate::ops) fn for_each_file_and_response(
        &self,
        mut visit_file: impl FnMut(&FileUsage),
        mut visit: impl FnMut(&AttributedResponse<'_>),
    ) {
        let is_subagent = |file_idx: usize, response: &ResponseUsage| {
            response.is_sidechain || self.files[file_idx].is_agent()
        };
        let mut shared: Vec<FileUsage> = Vec::new();
        let mut file_idxs: Vec<usize> = Vec::new();
        for (file_idx, header) in self.headers.iter().enumerate() {
            if header.messages.is_empty() {
                continue;
            }
            let file_usage = self.file_usage(file_idx);
            visit_file(&file_usage);
            let mut has_shared = false;
            for (response_idx, response_usage) in file_usage.responses.iter().enumerate() {
                if self.is_shared(response_usage.message) {
                    has_shared = true;
                    continue;
                }
                let unique =
                    UniqueResponse::from_single(file_idx as u32, response_idx as u32, response_usage);
                visit(&AttributedResponse {
                    file_idx,
                    file_usage: &file_usage,
                    response_idx,
                    response_usage,
                    unique,
                    is_subagent: is_subagent(file_idx, response_usage),
                    copies: (&[], &[]),
                    copy_file_idxs: &[],
                });
            }
            if has_shared {
                shared.push(file_usage.into_owned());
                file_idxs.push(file_idx);
            }
        }
        for (unique, copies) in dedupe_responses_where(&shared, |message| self.is_shared(message)) {
            let (file_usage, response_usage) = unique.find_origin(&shared);
            let file_idx = file_idxs[unique.file_idx as usize];
            let response_idx = unique.response_idx as usize;
            visit(&AttributedResponse {
                file_idx,
                file_usage,
                response_idx,
                response_usage,
                unique,
                is_subagent: is_subagent(file_idx, response_usage),
                copies: (&shared, &copies),
                copy_file_idxs: &file_idxs,
            });
        }
    }

    /// Returns `true` if a message may occur more than once.
    fn is_shared(&self, message: Id) -> bool {
        !self.shared_messages.is_empty() && self.shared_messages.contains(&low_half(&message))
    }

    /// Returns the working folder of each session by id. The main file is preferred, since subagents may run in another
    /// folder.
    pub(in crate::ops) fn collect_folders(&self) -> HashMap<&str, &str> {
        let mut folders = HashMap::new();
        for main in [true, false] {
            for (file, header) in self.files.iter().zip(&self.headers) {
                if (file.role == FileRole::Main) == main && !header.cwd.is_empty() {
                    folders.entry(header.session.as_str()).or_insert(header.cwd.as_str());
                }
            }
        }
        folders
    }
}

/// Returns the low halves of the ids of messages that occur more than once.
///
/// Only half of the bits of the ids are compared, because there are many ids to sort. A collision only costs a full
/// comparison.
fn find_shared_messages(headers: &[FileUsageHeader]) -> HashSet<u64, BuildHasherDefault<IdHasher>> {
    let mut all: Vec<u64> = headers.iter().flat_map(|header| &header.messages).map(low_half).collect();
    all.sort_unstable();
    all.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect()
}

fn low_half(message: &Id) -> u64 {
    message.bits() as u64
}

/// Reads the usage of a file. Also returns the number of bytes read.
fn read_usage(file: &SessionFile) -> Result<(FileUsage, u64), Error> {
    let collector = UsageCollector::new(file.path_id(), file.session_id().unwrap_or_default());
    let (collector, _) = collect_range(file, collector, 0..file.len, 0)?;
    Ok((collector.finish(), file.len))
}

/// Adds the lines in a byte range to a collector. `lines` is the number of lines before the range. Returns the collector
/// and the number of the last line of the range.
pub(in crate::ops) fn collect_range(
    file: &SessionFile,
    collector: UsageCollector,
    bytes: Range<u64>,
    lines: u32,
) -> Result<(UsageCollector, u32), Error> {
    let has_owner = Cell::new(collector.has_owner());
    let collector = RefCell::new(collector);
    // Once the owner of the file is known, only lines with usage matter. Letters may be written as escapes.
    let (word, low, high) = (Finder::new("usage"), Finder::new("\\u006"), Finder::new("\\u007"));
    let is_relevant = |line: &[u8]| {
        !has_owner.get() || [&word, &low, &high].iter().any(|finder| finder.find(line).is_some())
    };
    let options = ScanOptions::exact_range(bytes, lines).with_filter(&is_relevant);
    let report = scan(&file.path, &options, |event| {
        if let ScanEvent::Entry(entry, _, true) = event {
            let mut collector = collector.borrow_mut();
            collector.add(entry);
            has_owner.set(collector.has_owner());
        }
    })
    .map_err(Error::reading(&file.path))?;
    Ok((collector.into_inner(), report.last_line))
}

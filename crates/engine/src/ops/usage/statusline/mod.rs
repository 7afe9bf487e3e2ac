//! `statusline`: the usage of a running session. It is called every few seconds, so it reads only new bytes.
//!
//! ```text
//! own files ──── file_progress: incremental ──────────┐
//! other files ── statusline_cache: at most 60 s old ──┴─ deduplicate ──> session, today, block
//! ```

mod context;
mod file_progress;
mod prompt_cache;
mod session_files;
mod statusline_cache;

pub use context::{ContextUsage, ReportedWindow};
pub use prompt_cache::{PromptCacheUsage, ReportedPromptCache};

use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use rethread_core::entry::Timestamp;
use rethread_core::id::Id;
use rethread_core::usage::{
    BLOCK_MILLIS, Calendar, CostTotals, FileUsage, PriceTable, dedupe_responses, find_block,
    find_block_starts,
};

use self::session_files::SessionFiles;
use self::statusline_cache::{StatuslineCache, StatuslineSources};
use crate::Error;
use crate::cache::{CacheDir, CacheWarning, CachedValue};
use crate::disk::{Roots, is_session_id};
use crate::ops::usage::Pricer;

/// The cached state is rewritten after this number of new bytes.
const REWRITE_AFTER_BYTES: u64 = 256 << 10;

/// The length of the window of the weekly limit in milliseconds.
const WEEK_MILLIS: i64 = 7 * 24 * 3_600_000;

/// Options of [`statusline_usage`], from the client's input to the status line command.
#[derive(Debug, Clone)]
pub struct StatuslineRequest<'r> {
    /// The session file. `None` if the client names none.
    pub transcript: Option<PathBuf>,
    /// The session id, if there is no file.
    pub session: Option<String>,
    /// The context window as the client reports it.
    pub window: ReportedWindow,
    /// The end of the running five-hour block as the client reports it.
    pub block_end: Option<Timestamp>,
    /// Whether to compute the usage of the last seven days, which reads more responses.
    pub includes_week: bool,
    /// The end of the running window of seven days as the client reports it.
    pub week_end: Option<Timestamp>,
    /// The prompt cache as the client reports it.
    pub prompt_cache: ReportedPromptCache,
    /// The time zone of days.
    pub zone: TimeZone,
    /// The current time.
    pub now: Timestamp,
    /// The prices of the models.
    pub prices: &'r PriceTable,
}

/// The result of [`statusline_usage`].
#[derive(Debug)]
pub struct StatuslineUsage {
    /// The totals of the session with its subagents. `None` if the session has no file.
    pub session: Option<CostTotals>,
    /// The totals of all sessions today.
    pub today: CostTotals,
    /// The running five-hour block. `None` if no block is running.
    pub block: Option<UsageBlock>,
    /// The running window of seven days, or the last seven days. `None` if it was not requested.
    pub week: Option<UsageBlock>,
    /// The prompt cache. `None` if nothing is known about it.
    pub prompt_cache: Option<PromptCacheUsage>,
    /// The used share of the context window. `None` if it is unknown.
    pub context: Option<ContextUsage>,
    /// The model of the last response in the session file. `None` if there is no response.
    pub model: Option<String>,
    /// The time at which the other sessions were read.
    pub others_read_at: Timestamp,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// The reason why the cache could not be used. `None` if there was no problem.
    pub warning: Option<CacheWarning>,
}

/// The running five-hour block, or the running window of seven days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageBlock {
    /// The time at which the block started.
    pub start: Timestamp,
    /// The time at which it ends.
    pub end: Timestamp,
    /// The tokens and cost of the responses in the block.
    pub totals: CostTotals,
}

/// Computes the usage of a running session, the day and the running block.
///
/// New bytes of the session's own files are always read. The usage of other sessions may be up to a minute old.
pub fn statusline_usage(
    roots: &Roots,
    request: &StatuslineRequest<'_>,
    cache_dir: Option<&CacheDir>,
) -> StatuslineUsage {
    let main = request.transcript.as_deref();
    let (now, today) = (request.now, start_of_day(&request.zone, request.now));
    let from = week_start(request).map_or(today, |start| start.min(today));
    let sources = StatuslineSources { roots, cache_dir, main, now, from };
    let cache_key = main.map_or_else(
        || request.session.as_deref().unwrap_or_default().as_bytes(),
        |main| main.as_os_str().as_encoded_bytes(),
    );
    let cached_value =
        cache_dir.and_then(|cache_dir| cache_dir.cached_value(roots, Id::from_text(cache_key)));
    let mut cached: Option<StatuslineCache> = cached_value.as_ref().and_then(CachedValue::read);
    let is_fresh = cached.as_ref().is_some_and(|cached| cached.is_fresh(now));
    let mut session_files =
        main.map(|main| SessionFiles::read(main, cached.as_mut(), is_fresh)).unwrap_or_default();
    let session = find_session_id(request, &session_files);
    let valid_cache = cached.filter(|cached| is_fresh && cached.is_valid_for(&session_files, from));
    let is_rebuilt = valid_cache.is_none();
    let (mut cache, mut warning) = match valid_cache {
        Some(cache) => (cache, None),
        None => StatuslineCache::rebuild(&sources, &session, &mut session_files),
    };
    if let Some(cached_value) =
        cached_value.filter(|_| is_rebuilt || session_files.bytes_read() >= REWRITE_AFTER_BYTES)
    {
        cache.progress = session_files.progress();
        warning = warning.or(cached_value.write(&cache));
    }
    let last_response = session_files.last_response(main);
    let has_file = session_files.has_main(main);
    let failures = std::mem::take(&mut session_files.failures);
    let StatuslineCache { created_at, since, mut others, .. } = cache;
    others.extend(session_files.into_usages());
    others.sort_by(|(a, _), (b, _)| a.cmp(b));
    let usages: Vec<FileUsage> = others.into_iter().map(|(_, usage)| usage).collect();
    let totals = StatuslineTotals::from_usages(&usages, request, &session, since);
    StatuslineUsage {
        session: has_file.then_some(totals.session),
        today: totals.today,
        block: totals.block,
        week: totals.week,
        prompt_cache: PromptCacheUsage::estimate(&request.prompt_cache, last_response.as_ref()),
        context: ContextUsage::estimate(&request.window, last_response.as_ref().map(|last| last.usage)),
        model: last_response.map(|last| last.model),
        others_read_at: created_at,
        failures,
        warning,
    }
}

/// Returns the start of the local day that contains a timestamp, or the timestamp itself if it is out of range.
fn start_of_day(zone: &TimeZone, timestamp: Timestamp) -> Timestamp {
    let zoned = jiff::Timestamp::from_millisecond(timestamp.0).map(|time| time.to_zoned(zone.clone()));
    let start = zoned.and_then(|zoned| zoned.start_of_day());
    start.map_or(timestamp, |start| Timestamp(start.timestamp().as_millisecond()))
}

/// Returns the id of the session: the name of its file, the id in its lines, the requested id, or an empty string.
fn find_session_id(request: &StatuslineRequest<'_>, session_files: &SessionFiles) -> String {
    let stem = request.transcript.as_deref().and_then(Path::file_stem).and_then(|stem| stem.to_str());
    let id = stem.filter(|stem| is_session_id(stem)).map(str::to_owned);
    let id = id.or_else(|| session_files.session_id(request.transcript.as_deref()?).map(str::to_owned));
    id.or_else(|| request.session.clone()).unwrap_or_default()
}

/// The totals of a status line.
#[derive(Default)]
struct StatuslineTotals {
    session: CostTotals,
    today: CostTotals,
    block: Option<UsageBlock>,
    week: Option<UsageBlock>,
}

impl StatuslineTotals {
    /// Sums up the usages. They include the whole session, and all responses from `since` on, a time at which
    /// no earlier block was running.
    fn from_usages(
        usages: &[FileUsage],
        request: &StatuslineRequest<'_>,
        session: &str,
        since: Timestamp,
    ) -> StatuslineTotals {
        let mut pricer = Pricer::new(request.prices);
        let calendar = Calendar::new(&request.zone);
        let today = calendar.local_day(request.now);
        let mut totals = StatuslineTotals::default();
        let mut timed: Vec<(Timestamp, CostTotals)> = Vec::new();
        for unique in dedupe_responses(usages) {
            let (file_usage, response) = unique.find_origin(usages);
            let is_own = file_usage.session == session;
            let is_today = response.time.is_some_and(|time| calendar.local_day(time) == today);
            let recent = response
                .time
                .filter(|time| *time >= since.min(reported_block_start(request).unwrap_or(since)));
            if !is_own && !is_today && recent.is_none() {
                continue;
            }
            let cost = pricer.price(&unique, file_usage.model(response), response.time);
            if is_own {
                totals.session.add(&cost);
            }
            if is_today {
                totals.today.add(&cost);
            }
            timed.extend(recent.map(|time| (time, cost)));
        }
        timed.sort_unstable_by_key(|(time, _)| *time);
        totals.block = UsageBlock::find_running(&timed, request, since);
        totals.week = week_start(request)
            .map(|start| UsageBlock::sum_up(&timed, start, Timestamp(start.0.saturating_add(WEEK_MILLIS))));
        totals
    }
}

/// Returns the start of the running block, if the client reports its end. Returns `None` if that block is not running
/// now.
fn reported_block_start(request: &StatuslineRequest<'_>) -> Option<Timestamp> {
    let start = Timestamp(request.block_end?.0.saturating_sub(BLOCK_MILLIS));
    // A block that has ended or not started is not running.
    (0..BLOCK_MILLIS).contains(&request.now.0.saturating_sub(start.0)).then_some(start)
}

/// Returns the start of the running window of seven days, or the time seven days ago if the client reports none.
///
/// Returns `None` if the window is not requested.
fn week_start(request: &StatuslineRequest<'_>) -> Option<Timestamp> {
    let now = request.now.0;
    // The response of this moment belongs to the last seven days, which end after it.
    let rolling = Timestamp(now.saturating_sub(WEEK_MILLIS).saturating_add(1));
    let reported = request.week_end.map(|end| Timestamp(end.0.saturating_sub(WEEK_MILLIS)));
    // A window that has ended or not started is not running.
    let running = reported.filter(|start| (0..WEEK_MILLIS).contains(&now.saturating_sub(start.0)));
    request.includes_week.then(|| running.unwrap_or(rolling))
}

impl UsageBlock {
    /// Finds the running block: the one that the client reports, or else the one computed from `timed`, which is sorted by
    /// time. Returns `None` if no block is running.
    fn find_running(
        timed: &[(Timestamp, CostTotals)],
        request: &StatuslineRequest<'_>,
        since: Timestamp,
    ) -> Option<UsageBlock> {
        let computed = || {
            let starts = find_block_starts(timed.iter().map(|(time, _)| *time).filter(|time| *time >= since));
            find_block(&starts, request.now).filter(|start| request.now.0 - start.0 < BLOCK_MILLIS)
        };
        let start = reported_block_start(request).or_else(computed)?;
        Some(UsageBlock::sum_up(timed, start, Timestamp(start.0.saturating_add(BLOCK_MILLIS))))
    }

    /// Sums up the costs from `start` until before `end`.
    fn sum_up(timed: &[(Timestamp, CostTotals)], start: Timestamp, end: Timestamp) -> UsageBlock {
        let mut totals = CostTotals::default();
        timed.iter().filter(|(time, _)| (start..end).contains(time)).for_each(|(_, cost)| totals.add(cost));
        UsageBlock { start, end, totals }
    }
}

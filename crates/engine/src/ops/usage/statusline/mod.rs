//! What a running session has come to, asked for again and again: for a line on the screen.
//!
//! ```text
//! own files ── page: read on from where they were left ──┐
//! all others ─ kept: what they came to a minute ago ─────┴─ settle ──> session, today, block
//! ```

mod context;
mod file_progress;
mod session_files;
mod statusline_cache;

use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use rethread_core::entry::Timestamp;
use rethread_core::id::Id;
use rethread_core::usage::{
    BLOCK_MILLIS, Calendar, CostTotals, FileUsage, Prices, block_of, blocks, dedupe_responses,
};

use self::session_files::Family;
use self::statusline_cache::{StatuslineCache, Store};
use super::Pricer;
use crate::Error;
use crate::cache::{CacheDir, CacheWarning, CachedValue};
use crate::disk::{Roots, is_session_id};

pub use context::{ContextUsage, Window};

/// What is kept is written again when so many bytes were read on.
const WORTH: u64 = 256 << 10;

/// What the client says of the session, and when.
#[derive(Debug, Clone)]
pub struct MeterRequest<'r> {
    /// The file of the session.
    pub transcript: Option<PathBuf>,
    /// Its id, where there is no file.
    pub session: Option<String>,
    /// What the client says about the context.
    pub window: Window,
    /// When the client says that the running block ends.
    pub resets: Option<Timestamp>,
    /// Where days begin.
    pub zone: TimeZone,
    /// The present.
    pub now: Timestamp,
    /// What models cost.
    pub prices: &'r Prices,
}

/// What a session, the day and the block have come to.
#[derive(Debug)]
pub struct StatuslineUsage {
    /// The session with its subagents; none where there is no file of it.
    pub session: Option<CostTotals>,
    /// All sessions today.
    pub today: CostTotals,
    /// The block that is running.
    pub block: Option<Block>,
    /// How full the context is.
    pub context: Option<ContextUsage>,
    /// The model of the last response, as the file says.
    pub model: Option<String>,
    /// When all other sessions were looked at.
    pub others: Timestamp,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// Why the index was of no help, where there is something to say.
    pub notice: Option<CacheWarning>,
}

/// The block of five hours that is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// When it began.
    pub begin: Timestamp,
    /// When it ends.
    pub end: Timestamp,
    /// What it has come to.
    pub sum: CostTotals,
}

/// Says what a running session has come to. Its own files are always read, as far as they were not; what all others came to
/// is taken from the index if somebody looked within a minute.
pub fn meter(roots: &Roots, request: &MeterRequest<'_>, index: Option<&CacheDir>) -> StatuslineUsage {
    let main = request.transcript.as_deref();
    let (now, today) = (request.now, day_begin(&request.zone, request.now));
    let store = Store { roots, index, main, now, today };
    let name = main.map_or_else(
        || request.session.as_deref().unwrap_or_default().as_bytes(),
        |main| main.as_os_str().as_encoded_bytes(),
    );
    let slip = index.and_then(|index| index.slip(roots, Id::of(name)));
    let mut kept: Option<StatuslineCache> = slip.as_ref().and_then(CachedValue::read);
    let young = kept.as_ref().is_some_and(|kept| kept.is_young(now));
    let mut family = main.map(|main| Family::read(main, kept.as_mut(), young)).unwrap_or_default();
    let session = session(request, &family);
    let standing = kept.filter(|kept| young && kept.stands(&family, today));
    let looked = standing.is_none();
    let (mut kept, mut notice) = match standing {
        Some(kept) => (kept, None),
        None => StatuslineCache::look(&store, &session, &mut family),
    };
    if let Some(slip) = slip.filter(|_| looked || family.read_bytes() >= WORTH) {
        kept.pages = family.pages();
        notice = notice.or(slip.write(&kept));
    }
    let last = family.last(main);
    let has_file = family.has(main);
    let failures = std::mem::take(&mut family.failures);
    let StatuslineCache { made, since, mut others, .. } = kept;
    others.extend(family.into_sheets());
    others.sort_by(|(a, _), (b, _)| a.cmp(b));
    let sheets: Vec<FileUsage> = others.into_iter().map(|(_, sheet)| sheet).collect();
    let sums = Sums::of(&sheets, request, &session, since);
    StatuslineUsage {
        session: has_file.then_some(sums.session),
        today: sums.today,
        block: sums.block,
        context: ContextUsage::of(&request.window, last.as_ref().map(|(_, usage)| *usage)),
        model: last.map(|(model, _)| model),
        others: made,
        failures,
        notice,
    }
}

/// Returns when the day of a moment began.
fn day_begin(zone: &TimeZone, moment: Timestamp) -> Timestamp {
    let zoned = jiff::Timestamp::from_millisecond(moment.0).map(|moment| moment.to_zoned(zone.clone()));
    let begin = zoned.and_then(|zoned| zoned.start_of_day());
    begin.map_or(moment, |begin| Timestamp(begin.timestamp().as_millisecond()))
}

/// Returns the id of the session: that of its file, if there is one.
fn session(request: &MeterRequest<'_>, family: &Family) -> String {
    let stem = request.transcript.as_deref().and_then(Path::file_stem).and_then(|stem| stem.to_str());
    let said = stem.filter(|stem| is_session_id(stem)).map(str::to_owned);
    let said = said.or_else(|| family.session(request.transcript.as_deref()?).map(str::to_owned));
    said.or_else(|| request.session.clone()).unwrap_or_default()
}

/// What responses come to.
#[derive(Default)]
struct Sums {
    session: CostTotals,
    today: CostTotals,
    block: Option<Block>,
}

impl Sums {
    /// Adds up sheets, which hold all of the session and all that was got `since` a moment at which no block ran.
    fn of(sheets: &[FileUsage], request: &MeterRequest<'_>, session: &str, since: Timestamp) -> Sums {
        let mut till = Pricer::new(request.prices);
        let calendar = Calendar::new(&request.zone);
        let today = calendar.day(request.now);
        let mut sums = Sums::default();
        let mut timed: Vec<(Timestamp, CostTotals)> = Vec::new();
        for bill in dedupe_responses(sheets) {
            let (sheet, charge) = bill.first(sheets);
            let is_own = sheet.session == session;
            let is_today = charge.time.is_some_and(|time| calendar.day(time) == today);
            let recent = charge.time.filter(|time| *time >= since.min(block_begin(request).unwrap_or(since)));
            if !is_own && !is_today && recent.is_none() {
                continue;
            }
            let sum = till.sum(&bill, sheet.model(charge), charge.time);
            if is_own {
                sums.session.add(&sum);
            }
            if is_today {
                sums.today.add(&sum);
            }
            timed.extend(recent.map(|time| (time, sum)));
        }
        timed.sort_unstable_by_key(|(time, _)| *time);
        sums.block = Block::of(&timed, request, since);
        sums
    }
}

/// Returns when the running block began, if the client says when it ends.
fn block_begin(request: &MeterRequest<'_>) -> Option<Timestamp> {
    let begin = Timestamp(request.resets?.0.saturating_sub(BLOCK_MILLIS));
    // What is over, or not yet begun, is none.
    (0..BLOCK_MILLIS).contains(&request.now.0.saturating_sub(begin.0)).then_some(begin)
}

impl Block {
    /// Finds the running block among what was got, in order: the one the client tells of, else the one that the times say.
    fn of(timed: &[(Timestamp, CostTotals)], request: &MeterRequest<'_>, since: Timestamp) -> Option<Block> {
        let counted = || {
            let begins = blocks(timed.iter().map(|(time, _)| *time).filter(|time| *time >= since));
            block_of(&begins, request.now).filter(|begin| request.now.0 - begin.0 < BLOCK_MILLIS)
        };
        let begin = block_begin(request).or_else(counted)?;
        let end = Timestamp(begin.0.saturating_add(BLOCK_MILLIS));
        let mut sum = CostTotals::default();
        timed.iter().filter(|(time, _)| (begin..end).contains(time)).for_each(|(_, part)| sum.add(part));
        Some(Block { begin, end, sum })
    }
}

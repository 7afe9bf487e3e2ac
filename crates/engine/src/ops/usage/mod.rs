//! What was spent: tokens and money, each response once, in groups that add up.

mod agents;
mod check;
mod group;
mod locations;
mod statusline;
mod store;
mod trace;

use std::collections::HashMap;
use std::path::PathBuf;

use jiff::tz::TimeZone;
use rethread_core::entry::Timestamp;
use rethread_core::usage::{
    BurnRate, Calendar, CostTotals, Day, FileUsage, ModelPricing, Money, Prices, SessionTotals, TokenTotals,
    UniqueResponse, block_of, blocks,
};

use self::agents::kinds;
use self::group::Rows;
use self::locations::ResponseLocations;
use self::store::{AttributedResponse, UsageStore};
use crate::Error;
use crate::cache::{CacheDir, CacheWarning};
use crate::disk::{Roots, is_session_id};
use crate::session::per_file_cache::find_files;

pub use check::{Check, ClientReportedCost, Copies, TotalsCheck, check_usage};
pub use group::{GroupBy, GroupKey, GroupRow, Reach};
pub use statusline::{Block, ContextUsage, MeterRequest, StatuslineUsage, Window, meter};

pub use trace::{Trace, TracedLine, trace_usage};

/// What to add up.
#[derive(Debug, Clone)]
pub struct UsageRequest<'r> {
    /// By what to group it.
    pub by: GroupBy,
    /// Only what was got at or after this moment.
    pub since: Option<Timestamp>,
    /// Only what was got before this moment.
    pub until: Option<Timestamp>,
    /// Only this session with its subagents, or this subagent, by the path of its file.
    pub session: Option<PathBuf>,
    /// Only sessions with this in the path of their folder.
    pub project: Option<String>,
    /// Only models with this in their name.
    pub model: Option<String>,
    /// Also how much of it the client would still load.
    pub reach: bool,
    /// Where days begin.
    pub zone: TimeZone,
    /// The present.
    pub now: Timestamp,
    /// What models cost.
    pub prices: &'r Prices,
}

/// What was spent.
#[derive(Debug, Default)]
pub struct UsageReport {
    /// The groups.
    pub rows: Vec<GroupRow>,
    /// All of them.
    pub total: SessionTotals,
    /// How much of it stands where, if that was asked for.
    pub reach: Vec<(Reach, CostTotals)>,
    /// Models without a price, and what they got.
    pub unpriced: Vec<(String, TokenTotals)>,
    /// Of a single session: what it copied from others, and is booked there.
    pub copied: CostTotals,
    /// How the running block goes on.
    pub pace: Option<BurnRate>,
    /// How many files there are.
    pub files: usize,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// Why the index was of no help, where there is something to say.
    pub notice: Option<CacheWarning>,
}

/// Adds up what was spent under `roots`; files that have not changed since an index was kept are not read again.
pub fn usage(roots: &Roots, request: &UsageRequest<'_>, index: Option<&CacheDir>) -> UsageReport {
    let (files, failures) = find_files(roots, index);
    let books = UsageStore::open(&files, roots, index);
    let places = if request.reach || request.by == GroupBy::Reach {
        ResponseLocations::of(&files, roots, index)
    } else {
        ResponseLocations::default()
    };
    let spending = Group::new(&books, request, &places).run();
    let (unread, notice) = books.close();
    let failures = failures.into_iter().chain(unread).chain(places.failures).collect();
    UsageReport { files: files.len(), failures, notice: notice.or(places.notice), ..spending }
}

/// Prices bills.
pub(in crate::ops) struct Pricer<'p> {
    prices: &'p Prices,
    tariffs: HashMap<String, Option<&'p ModelPricing>>,
    /// The model before, which is mostly that of the next, too.
    last: (String, Option<&'p ModelPricing>),
}

impl<'p> Pricer<'p> {
    pub(in crate::ops) fn new(prices: &'p Prices) -> Pricer<'p> {
        Pricer { prices, tariffs: HashMap::new(), last: (String::new(), prices.tariff("")) }
    }

    pub(in crate::ops) fn sum(
        &mut self,
        bill: &UniqueResponse,
        model: &str,
        time: Option<Timestamp>,
    ) -> CostTotals {
        if self.last.0 != model {
            let known = self.tariffs.get(model).copied();
            let tariff = known.unwrap_or_else(|| self.prices.tariff(model));
            if known.is_none() {
                self.tariffs.insert(model.to_owned(), tariff);
            }
            self.last = (model.to_owned(), tariff);
        }
        let cost: Option<Money> = self.last.1.map(|tariff| tariff.cost(time, &bill.usage));
        CostTotals::of(bill, cost)
    }

    fn booked(&mut self, booked: &AttributedResponse<'_>) -> CostTotals {
        self.sum(&booked.bill, booked.sheet.model(booked.charge), booked.time())
    }
}

/// Makes the groups.
struct Group<'b> {
    books: &'b UsageStore<'b>,
    request: &'b UsageRequest<'b>,
    places: &'b ResponseLocations,
    folders: HashMap<&'b str, &'b str>,
    /// The session that is asked for.
    session: Option<String>,
    /// The file of the subagent that is asked for.
    agent: Option<usize>,
}

impl<'b> Group<'b> {
    fn new(
        books: &'b UsageStore<'b>,
        request: &'b UsageRequest<'b>,
        places: &'b ResponseLocations,
    ) -> Group<'b> {
        let found = |path: &PathBuf| books.files.iter().position(|file| file.path == *path);
        let no = request.session.as_ref().and_then(found);
        let agent = no.filter(|&no| books.files[no].is_agent());
        let session = request.session.as_ref().filter(|_| agent.is_none()).map(|path| {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let known = no.map(|no| books.covers[no].session.clone());
            known.filter(|_| !is_session_id(stem)).unwrap_or_else(|| stem.to_owned())
        });
        Group { books, request, places, folders: books.folders(), session, agent }
    }

    /// Whether a response is asked for, whatever session it is of.
    fn wants(&self, booked: &AttributedResponse<'_>) -> bool {
        let request = self.request;
        let within = |part: &String, text: &str| text.to_lowercase().contains(&part.to_lowercase());
        let dated = request.since.is_some() || request.until.is_some();
        self.agent.is_none_or(|no| no == booked.file)
            && booked.time().map_or(!dated, |time| {
                request.since.is_none_or(|since| time >= since)
                    && request.until.is_none_or(|until| time < until)
            })
            && request.model.as_ref().is_none_or(|part| within(part, booked.sheet.model(booked.charge)))
            && request.project.as_ref().is_none_or(|part| within(part, self.folder(booked.sheet)))
    }

    fn folder(&self, sheet: &FileUsage) -> &str {
        self.folders.get(sheet.session.as_str()).copied().unwrap_or_default()
    }

    /// Shows what is asked for with what it comes to, and adds up what stands in the files of the session that is asked for
    /// but is booked to another.
    fn each(&self, mut visit: impl FnMut(&AttributedResponse<'_>, &CostTotals)) -> CostTotals {
        let mut till = Pricer::new(self.request.prices);
        let mut copied = CostTotals::default();
        self.books.each(|booked| {
            if !self.wants(booked) {
                return;
            }
            match &self.session {
                Some(session) if booked.sheet.session != *session => {
                    if booked.stands_in(session) {
                        copied.add(&till.booked(booked));
                    }
                }
                _ => visit(booked, &till.booked(booked)),
            }
        });
        copied
    }

    fn run(&self) -> UsageReport {
        let keys = Keys::new(self);
        let mut rows = Rows::default();
        let mut spending = UsageReport::default();
        let mut unpriced: HashMap<String, TokenTotals> = HashMap::new();
        let mut reach: HashMap<Reach, CostTotals> = HashMap::new();
        spending.copied = self.each(|booked, sum| {
            let (sheet, side, time) = (booked.sheet, booked.side, booked.time());
            spending.total.add_part(side, sum);
            if sum.unpriced.responses > 0 {
                let model = sheet.model(booked.charge).to_owned();
                unpriced.entry(model).or_default().add(1, &booked.bill.usage);
            }
            if let Some(place) = self.places.at(booked) {
                reach.entry(place.reach).or_default().add(sum);
            }
            if self.request.by != GroupBy::Tool {
                rows.book(keys.of(booked), side, time, sum);
                return;
            }
            let tools: Vec<&str> = sheet.calls(booked.no).collect();
            for (no, tool) in tools.iter().enumerate() {
                rows.book(GroupKey::Name((*tool).to_owned()), side, time, &sum.part(no, tools.len()));
            }
            if tools.is_empty() {
                rows.book(GroupKey::Unknown, side, time, sum);
            }
        });
        spending.rows = match self.request.by {
            GroupBy::Week => rows.coarser(Day::week),
            GroupBy::Month => rows.coarser(Day::month),
            _ => rows,
        }
        .finish();
        spending.pace = self.pace(&spending.rows);
        spending.unpriced = unpriced.into_iter().collect();
        spending
            .unpriced
            .sort_by(|a, b| b.1.usage.total().cmp(&a.1.usage.total()).then_with(|| a.0.cmp(&b.0)));
        spending.reach = reach.into_iter().collect();
        spending.reach.sort_by_key(|(reach, _)| *reach);
        spending
    }

    /// Returns what each turn comes to, and what stands in none.
    fn turns(&self) -> Vec<CostTotals> {
        let mut turns: HashMap<(usize, Option<u32>), CostTotals> = HashMap::new();
        self.each(|booked, sum| {
            let turn = self.places.at(booked).and_then(|place| place.turn);
            turns.entry((booked.file, turn)).or_default().add(sum);
        });
        turns.into_values().collect()
    }

    /// Says how the block goes on that is running.
    fn pace(&self, rows: &[GroupRow]) -> Option<BurnRate> {
        let row = rows.iter().rfind(|row| row.key != GroupKey::Unknown)?;
        let GroupKey::Block(begin) = row.key else { return None };
        BurnRate::of(begin, row.span?.0, self.request.now, &row.account.total())
    }
}

/// Finds the key of each response.
struct Keys<'g> {
    group: &'g Group<'g>,
    calendar: Calendar<'g>,
    blocks: Vec<Timestamp>,
    kinds: Vec<Option<String>>,
}

impl<'g> Keys<'g> {
    fn new(group: &'g Group<'g>) -> Keys<'g> {
        let request = group.request;
        let mut times = Vec::new();
        if request.by == GroupBy::Block {
            // Where a block begins depends on all that came before, whether that is asked for or not.
            group.books.each(|booked| times.extend(booked.time()));
            times.sort_unstable();
        }
        Keys {
            group,
            calendar: Calendar::new(&request.zone),
            blocks: blocks(times),
            kinds: if request.by == GroupBy::Agent { kinds(group.books) } else { Vec::new() },
        }
    }

    fn of(&self, booked: &AttributedResponse<'_>) -> GroupKey {
        let (sheet, charge) = (booked.sheet, booked.charge);
        let name =
            |name: &str| if name.is_empty() { GroupKey::Unknown } else { GroupKey::Name(name.to_owned()) };
        match self.group.request.by {
            GroupBy::Day | GroupBy::Week | GroupBy::Month => {
                booked.time().map_or(GroupKey::Unknown, |time| GroupKey::Day(self.calendar.day(time)))
            }
            GroupBy::Project => name(self.group.folder(sheet)),
            GroupBy::Session => name(&sheet.session),
            GroupBy::Model => name(sheet.model(charge)),
            GroupBy::Branch => name(sheet.branch(charge)),
            GroupBy::Block => {
                let begin = booked.time().and_then(|time| block_of(&self.blocks, time));
                begin.map_or(GroupKey::Unknown, GroupKey::Block)
            }
            GroupBy::Reach => {
                self.group.places.at(booked).map_or(GroupKey::Unknown, |place| GroupKey::Reach(place.reach))
            }
            GroupBy::Agent if !booked.side => GroupKey::Name("main".to_owned()),
            GroupBy::Agent => self.kinds[booked.file].as_deref().map_or(GroupKey::Unknown, name),
            GroupBy::Tool => GroupKey::Unknown,
        }
    }
}

//! `usage`: sums up tokens and cost. Each response is counted once, and the groups add up to the total.

mod agents;
mod check;
mod group;
mod locations;
mod statusline;
mod store;
mod trace;

pub use check::{ClientReportedCost, CopyCounts, TotalsCheck, UsageCheck, check_usage};
pub use group::{GroupBy, GroupKey, GroupRow};
pub use statusline::{
    ContextUsage, PromptCacheUsage, ReportedPromptCache, ReportedWindow, StatuslineRequest, StatuslineUsage,
    UsageBlock, statusline_usage,
};
pub use trace::{Trace, TracedLine, trace_usage};

use std::cell::Cell;
use std::collections::HashMap;
use std::path::PathBuf;

use jiff::tz::TimeZone;
use rethread_core::entry::Timestamp;
use rethread_core::resume::ContextStatus;
use rethread_core::usage::{
    BurnRate, Calendar, CostTotals, Day, FileUsage, ModelPricing, Money, PriceTable, SessionTotals,
    TokenTotals, UniqueResponse, find_block, find_block_starts,
};

pub(super) use self::agents::find_agent_kinds;
use self::group::GroupRows;
pub(super) use self::locations::{ResponseLocation, ResponseLocations};
use self::store::AttributedResponse;
pub(super) use self::store::UsageStore;
use crate::Error;
use crate::cache::{CacheDir, CacheWarning};
use crate::disk::{Roots, is_session_id};
use crate::ops::list::{SessionFilter, list_sessions};
use crate::session::per_file_cache::find_files;

/// Options of [`usage`].
#[derive(Debug, Clone)]
pub struct UsageRequest<'r> {
    /// The grouping.
    pub by: GroupBy,
    /// The grouping within each group, if any.
    pub then_by: Option<GroupBy>,
    /// Only responses at or after this time.
    pub since: Option<Timestamp>,
    /// Only responses before this time.
    pub until: Option<Timestamp>,
    /// Only the session or subagent in this file. A session includes its subagents.
    pub session: Option<PathBuf>,
    /// Only sessions with this text in the path of their folder.
    pub project: Option<String>,
    /// Only models with this text in their name.
    pub model: Option<String>,
    /// Whether to also sum up by context status, in addition to the grouping.
    pub by_context_status: bool,
    /// The time zone of days.
    pub zone: TimeZone,
    /// The current time.
    pub now: Timestamp,
    /// The prices of the models.
    pub prices: &'r PriceTable,
}

impl<'r> UsageRequest<'r> {
    /// Returns `true` if `by` is one of the groupings.
    fn groups_by(&self, by: GroupBy) -> bool {
        self.by == by || self.then_by == Some(by)
    }

    /// Creates a request for the usage of all sessions by day, with days in UTC. The current time is the Unix epoch.
    pub fn new(prices: &'r PriceTable) -> UsageRequest<'r> {
        UsageRequest {
            by: GroupBy::Day,
            then_by: None,
            since: None,
            until: None,
            session: None,
            project: None,
            model: None,
            by_context_status: false,
            zone: TimeZone::UTC,
            now: Timestamp(0),
            prices,
        }
    }
}

/// The result of [`usage`].
#[derive(Debug, Default)]
pub struct UsageReport {
    /// One row per group: days and blocks in ascending order, all others by descending cost.
    pub rows: Vec<GroupRow>,
    /// The total of all groups.
    pub total: SessionTotals,
    /// The totals by context status, sorted by status. Empty unless requested.
    pub by_context_status: Vec<(ContextStatus, CostTotals)>,
    /// Models without a price, with their tokens, the most tokens first.
    pub unpriced: Vec<(String, TokenTotals)>,
    /// For a single session: responses copied from other sessions, which are counted there.
    pub copied: CostTotals,
    /// The burn rate of the running block. `None` unless grouped by block and a block is running.
    pub burn_rate: Option<BurnRate>,
    /// The number of session files, subagents included.
    pub files: usize,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// The reason why the cache could not be used. `None` if there was no problem.
    pub warning: Option<CacheWarning>,
}

/// Sums up the usage of all sessions below `roots`. Unchanged files are read from the cache.
pub fn usage(roots: &Roots, request: &UsageRequest<'_>, cache: Option<&CacheDir>) -> UsageReport {
    let (files, failures) = find_files(roots, cache);
    let store = UsageStore::open(&files, roots, cache);
    let locations = if request.by_context_status || request.groups_by(GroupBy::ContextStatus) {
        ResponseLocations::read(&files, roots, cache)
    } else {
        ResponseLocations::default()
    };
    let mut report = UsageGrouper::new(&store, request, &locations).build_report();
    if request.groups_by(GroupBy::Session) {
        add_titles(&mut report.rows, request, roots, cache);
    }
    let (read_errors, warning) = store.close();
    let failures = failures.into_iter().chain(read_errors).chain(locations.failures).collect();
    UsageReport { files: files.len(), failures, warning: warning.or(locations.warning), ..report }
}

/// Adds the session titles to rows that are grouped by session.
fn add_titles(rows: &mut [GroupRow], request: &UsageRequest<'_>, roots: &Roots, cache: Option<&CacheDir>) {
    let all = SessionFilter { all: true, ..SessionFilter::default() };
    let sessions = list_sessions(roots, &all, cache).rows;
    let titles: HashMap<String, String> =
        sessions.into_iter().map(|session| (session.id, session.title.text)).collect();
    let add_title = |row: &mut GroupRow| {
        if let GroupKey::Name(id) = &row.key {
            row.title = titles.get(id).cloned();
        }
    };
    if request.by == GroupBy::Session {
        rows.iter_mut().for_each(add_title);
    } else {
        rows.iter_mut().flat_map(|row| &mut row.parts).for_each(add_title);
    }
}

/// Computes the cost of responses.
pub(super) struct Pricer<'p> {
    prices: &'p PriceTable,
    /// The pricing of each model so far. `None` if the model has no price.
    pricings: HashMap<String, Option<&'p ModelPricing>>,
    /// The model of the last response and its pricing. The next response usually has the same model.
    last: (String, Option<&'p ModelPricing>),
}

impl<'p> Pricer<'p> {
    pub(in crate::ops) fn new(prices: &'p PriceTable) -> Pricer<'p> {
        Pricer { prices, pricings: HashMap::new(), last: (String::new(), prices.find_model("")) }
    }

    /// Computes the cost of a response at the prices valid at `time`. If the model has no price, counts it as unpriced.
    pub(in crate::ops) fn price(
        &mut self,
        response: &UniqueResponse,
        model: &str,
        time: Option<Timestamp>,
    ) -> CostTotals {
        if self.last.0 != model {
            let known = self.pricings.get(model).copied();
            let pricing = known.unwrap_or_else(|| self.prices.find_model(model));
            if known.is_none() {
                self.pricings.insert(model.to_owned(), pricing);
            }
            self.last = (model.to_owned(), pricing);
        }
        let cost: Option<Money> = self.last.1.map(|pricing| pricing.cost(time, &response.usage));
        CostTotals::from_response(response, cost)
    }

    fn price_attributed(&mut self, response: &AttributedResponse<'_>) -> CostTotals {
        self.price(&response.unique, response.file_usage.model(response.response_usage), response.time())
    }
}

/// Selects responses and groups them.
struct UsageGrouper<'b> {
    store: &'b UsageStore<'b>,
    request: &'b UsageRequest<'b>,
    locations: &'b ResponseLocations,
    /// The folder of each session.
    folders: HashMap<&'b str, &'b str>,
    /// The id of the requested session. `None` if all sessions or a subagent are requested.
    session: Option<String>,
    /// The index of the file of the requested subagent. `None` if no subagent is requested.
    agent_file_idx: Option<usize>,
}

impl<'b> UsageGrouper<'b> {
    fn new(
        store: &'b UsageStore<'b>,
        request: &'b UsageRequest<'b>,
        locations: &'b ResponseLocations,
    ) -> UsageGrouper<'b> {
        let find_idx = |path: &PathBuf| store.files.iter().position(|file| file.path == *path);
        let idx = request.session.as_ref().and_then(find_idx);
        let agent_file_idx = idx.filter(|&idx| store.files[idx].is_agent());
        let session = request.session.as_ref().filter(|_| agent_file_idx.is_none()).map(|path| {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let known = idx.map(|idx| store.headers[idx].session.clone());
            known.filter(|_| !is_session_id(stem)).unwrap_or_else(|| stem.to_owned())
        });
        UsageGrouper { store, request, locations, folders: store.collect_folders(), session, agent_file_idx }
    }

    /// Returns `true` if a response matches the filters, except for the session filter.
    fn is_selected(&self, response: &AttributedResponse<'_>) -> bool {
        let request = self.request;
        let is_part_of = |part: &String, text: &str| text.to_lowercase().contains(&part.to_lowercase());
        let has_time_filter = request.since.is_some() || request.until.is_some();
        self.agent_file_idx.is_none_or(|idx| idx == response.file_idx)
            && response.time().map_or(!has_time_filter, |time| {
                request.since.is_none_or(|since| time >= since)
                    && request.until.is_none_or(|until| time < until)
            })
            && request
                .model
                .as_ref()
                .is_none_or(|part| is_part_of(part, response.file_usage.model(response.response_usage)))
            && request
                .project
                .as_ref()
                .is_none_or(|part| is_part_of(part, self.session_folder(response.file_usage)))
    }

    /// Returns the working folder of the session of a file. Returns an empty string if it is unknown.
    fn session_folder(&self, file_usage: &FileUsage) -> &str {
        self.folders.get(file_usage.session.as_str()).copied().unwrap_or_default()
    }

    /// Calls `visit` with each selected response and its cost. Returns the total of the responses in the files of the
    /// requested session that are attributed to another one.
    fn for_each_selected(&self, mut visit: impl FnMut(&AttributedResponse<'_>, &CostTotals)) -> CostTotals {
        let mut pricer = Pricer::new(self.request.prices);
        let mut copied = CostTotals::default();
        self.store.for_each_response(|response| {
            if !self.is_selected(response) {
                return;
            }
            match &self.session {
                Some(session) if response.file_usage.session != *session => {
                    if response.occurs_in(session) {
                        copied.add(&pricer.price_attributed(response));
                    }
                }
                _ => visit(response, &pricer.price_attributed(response)),
            }
        });
        copied
    }

    /// Groups the selected responses. Titles, file count, failures and warning are not set.
    fn build_report(&self) -> UsageReport {
        let keys = GroupKeys::new(self);
        let mut rows = GroupRows::default();
        let mut parts: Vec<GroupRows> = Vec::new();
        let mut report = UsageReport::default();
        let mut unpriced: HashMap<String, TokenTotals> = HashMap::new();
        let mut by_context_status: HashMap<ContextStatus, CostTotals> = HashMap::new();
        report.copied = self.for_each_selected(|response, cost| {
            let (file_usage, is_subagent, time) =
                (response.file_usage, response.is_subagent, response.time());
            report.total.add_part(is_subagent, cost);
            if cost.unpriced.responses > 0 {
                let model = file_usage.model(response.response_usage).to_owned();
                unpriced.entry(model).or_default().add(1, &response.unique.usage);
            }
            if let Some(location) = self.locations.get(response) {
                by_context_status.entry(location.status).or_default().add(cost);
            }
            keys.for_each_group(self.request.by, response, cost, |key, cost| {
                let row_idx = rows.add(key, is_subagent, time, cost);
                if let Some(then_by) = self.request.then_by {
                    parts.resize_with(parts.len().max(row_idx + 1), GroupRows::default);
                    keys.for_each_group(then_by, response, cost, |key, cost| {
                        parts[row_idx].add(key, is_subagent, time, cost);
                    });
                }
            });
        });
        report.rows = rows.finish(parts);
        report.burn_rate = self.compute_burn_rate(&report.rows);
        report.unpriced = unpriced.into_iter().collect();
        report.unpriced.sort_by(|a, b| b.1.usage.total().cmp(&a.1.usage.total()).then_with(|| a.0.cmp(&b.0)));
        report.by_context_status = by_context_status.into_iter().collect();
        report.by_context_status.sort_by_key(|(status, _)| *status);
        report
    }

    /// Returns the totals of each turn, and of the responses outside turns by file, in no particular order.
    fn sum_turns(&self) -> Vec<CostTotals> {
        let mut turns: HashMap<(usize, Option<u32>), CostTotals> = HashMap::new();
        self.for_each_selected(|response, cost| {
            let turn = self.locations.get(response).and_then(|location| location.turn);
            turns.entry((response.file_idx, turn)).or_default().add(cost);
        });
        turns.into_values().collect()
    }

    /// Computes the burn rate of the running block, the last row with a time. Returns `None` if the rows are not blocks or
    /// no rate can be computed.
    fn compute_burn_rate(&self, rows: &[GroupRow]) -> Option<BurnRate> {
        let row = rows.iter().rfind(|row| row.key != GroupKey::Unknown)?;
        let GroupKey::Block(start) = row.key else { return None };
        BurnRate::from_totals(start, row.time_range?.0, self.request.now, &row.totals.total())
    }
}

/// Computes the group key of responses.
struct GroupKeys<'g> {
    grouper: &'g UsageGrouper<'g>,
    calendar: Calendar<'g>,
    /// The last day and the first day of its period. The next response usually has the same day.
    last_period: Cell<Option<(GroupBy, Day, Day)>>,
    /// The start of each block, if the responses are grouped by block.
    block_starts: Vec<Timestamp>,
    /// The agent type of each file, if the responses are grouped by agent.
    agent_kinds: Vec<Option<String>>,
}

impl<'g> GroupKeys<'g> {
    fn new(grouper: &'g UsageGrouper<'g>) -> GroupKeys<'g> {
        let request = grouper.request;
        let mut times = Vec::new();
        if request.groups_by(GroupBy::Block) {
            // The start of a block depends on all responses before it, selected or not.
            grouper.store.for_each_response(|response| times.extend(response.time()));
            times.sort_unstable();
        }
        GroupKeys {
            grouper,
            calendar: Calendar::new(&request.zone),
            last_period: Cell::new(None),
            block_starts: find_block_starts(times),
            agent_kinds: if request.groups_by(GroupBy::Agent) {
                find_agent_kinds(grouper.store)
            } else {
                Vec::new()
            },
        }
    }

    /// Calls `visit` with every group of a response and the share of the cost that belongs to it.
    fn for_each_group(
        &self,
        by: GroupBy,
        response: &AttributedResponse<'_>,
        cost: &CostTotals,
        mut visit: impl FnMut(GroupKey, &CostTotals),
    ) {
        if by != GroupBy::Tool {
            return visit(self.find_key(by, response), cost);
        }
        let tools: Vec<&str> = response.file_usage.tool_calls(response.response_idx).collect();
        for (idx, tool) in tools.iter().enumerate() {
            visit(GroupKey::Name((*tool).to_owned()), &cost.share(idx, tools.len()));
        }
        if tools.is_empty() {
            visit(GroupKey::Unknown, cost);
        }
    }

    /// Returns the first day of the day, week or month of a time.
    fn find_period(&self, by: GroupBy, time: Timestamp) -> Day {
        let day = self.calendar.local_day(time);
        match self.last_period.get() {
            Some((last_by, last_day, start)) if last_by == by && last_day == day => start,
            _ => {
                let start = match by {
                    GroupBy::Week => day.week_start(),
                    GroupBy::Month => day.month_start(),
                    _ => day,
                };
                self.last_period.set(Some((by, day, start)));
                start
            }
        }
    }

    /// Returns the group of a response. It is `Unknown` if the response lacks the property, and for grouping by tool.
    fn find_key(&self, by: GroupBy, response: &AttributedResponse<'_>) -> GroupKey {
        let (file_usage, response_usage) = (response.file_usage, response.response_usage);
        let name =
            |name: &str| if name.is_empty() { GroupKey::Unknown } else { GroupKey::Name(name.to_owned()) };
        match by {
            GroupBy::Day | GroupBy::Week | GroupBy::Month => {
                response.time().map_or(GroupKey::Unknown, |time| GroupKey::Day(self.find_period(by, time)))
            }
            GroupBy::Project => name(self.grouper.session_folder(file_usage)),
            GroupBy::Session => name(&file_usage.session),
            GroupBy::Model => name(file_usage.model(response_usage)),
            GroupBy::Branch => name(file_usage.branch(response_usage)),
            GroupBy::Block => {
                let start = response.time().and_then(|time| find_block(&self.block_starts, time));
                start.map_or(GroupKey::Unknown, GroupKey::Block)
            }
            GroupBy::ContextStatus => self
                .grouper
                .locations
                .get(response)
                .map_or(GroupKey::Unknown, |location| GroupKey::ContextStatus(location.status)),
            GroupBy::Agent if !response.is_subagent => GroupKey::Name("main".to_owned()),
            GroupBy::Agent => self.agent_kinds[response.file_idx].as_deref().map_or(GroupKey::Unknown, name),
            GroupBy::Tool => GroupKey::Unknown,
        }
    }
}

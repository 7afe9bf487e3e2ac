//! The charts of the home page: a year of activity and a month of costs.

use std::collections::HashMap;
use std::time::Duration;

use maud::{Markup, PreEscaped, html};
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::{Calendar, CostTotals, Day};
use rethread_engine::ops;
use rethread_engine::ops::usage::{GroupBy, GroupKey, UsageReport, UsageRequest};

use crate::html::figure::days::{DayBar, render_days};
use crate::html::figure::heatmap::{DayCell, WEEKS, render_heatmap};
use crate::html::link::{Site, build_address};
use crate::text::figures::{count_noun, format_tokens, group_digits};
use crate::text::money;
use crate::text::time::Clock;
use crate::web::cached::{Cached, MaxAge};
use crate::web::server::Server;

/// The number of days in the cost chart.
const COST_DAYS: i32 = 30;

/// How old the charts may be: they change slowly.
const MAX_AGE: MaxAge = MaxAge { fresh: Duration::from_secs(15), stale: Duration::from_secs(15) };

/// The rendered charts.
#[derive(Debug, Default)]
pub(crate) struct FigureCache(Cached<String>);

impl FigureCache {
    /// Returns the charts as markup, rendered again if they are older than [`MAX_AGE`].
    pub(crate) fn current(&self, server: &Server) -> Markup {
        let markup = self.0.get(MAX_AGE, || render_figures(server, &server.clock()).0);
        PreEscaped(markup.as_ref().clone())
    }
}

/// Renders the heatmap of the last year and the cost chart of the last month.
fn render_figures(server: &Server, clock: &Clock) -> Markup {
    let zone = clock.zone();
    let calendar = Calendar::new(&zone);
    let now = Timestamp(clock.now().as_millisecond());
    let today = calendar.local_day(now);
    let first = Day(today.week_start().0 - (WEEKS - 1) * 7);
    let request = UsageRequest {
        by: GroupBy::Day,
        then_by: None,
        since: clock.parse_time(&first.date().to_string()),
        until: None,
        session: None,
        project: None,
        model: None,
        by_context_status: false,
        zone: zone.clone(),
        now,
        prices: &server.prices,
    };
    let report = ops::usage::usage(&server.context.roots, &request, server.context.cache.as_ref());
    let day_costs = collect_costs_by_day(&report);
    let mut started: HashMap<Day, u64> = HashMap::new();
    for (_, row) in server.sessions.current(&server.context).rows() {
        if let Some(first) = row.info.first_time.filter(|_| !row.info.is_empty()) {
            *started.entry(calendar.local_day(first)).or_default() += 1;
        }
    }
    let days_from = |from: i32| (from..=today.0).map(Day);
    let cells: Vec<DayCell> =
        days_from(first.0).map(|day| build_day_cell(day, &day_costs, &started, server.site())).collect();
    let bars: Vec<DayBar> =
        days_from(today.0 - COST_DAYS + 1).map(|day| build_day_bar(day, &day_costs, server.site())).collect();
    let total = |days: &mut dyn Iterator<Item = Day>| {
        let mut total = CostTotals::default();
        days.filter_map(|day| day_costs.get(&day)).for_each(|sum| total.add(sum));
        total
    };
    let (year, month) = (total(&mut days_from(first.0)), total(&mut days_from(today.0 - COST_DAYS + 1)));
    let active_day_count = cells.iter().filter(|cell| cell.amount > 0).count();
    let activity =
        format!("Responses by day in the last year: {}", group_digits(year.counts.responses as u64));
    let costs = format!("Cost by day in the last {COST_DAYS} days: {}", format_total(&month));
    html! {
        figure class="chart" {
            figcaption {
                strong { (count_noun(year.counts.responses as u64, "response")) }
                " on " (count_noun(active_day_count as u64, "day")) " of the last year"
            }
            div class="scroll" { (render_heatmap(&cells, &activity)) }
        }
        figure class="chart" {
            figcaption { strong { (format_total(&month)) } " at list prices in the last " (COST_DAYS) " days, " (format_total(&year)) " in the last year" }
            @if month.counts.responses > 0 {
                div class="scroll" { (render_days(&bars, &costs, |tick| money::format_dollars(tick).replace(".00", ""))) }
            }
        }
    }
}

/// Collects the totals of each day of a report that is grouped by day.
fn collect_costs_by_day(report: &UsageReport) -> HashMap<Day, CostTotals> {
    let days = report.rows.iter().filter_map(|row| match row.key {
        GroupKey::Day(day) => Some((day, row.totals.total())),
        _ => None,
    });
    days.collect()
}

/// Formats a cost. A cost of zero is formatted too.
fn format_total(sum: &CostTotals) -> String {
    let cost = money::format_cost(sum);
    if cost.is_empty() { money::format_dollars(0.0) } else { cost }
}

/// Builds the cell of a day in the heatmap. `started` is the number of sessions that began on each day.
fn build_day_cell(
    day: Day,
    day_costs: &HashMap<Day, CostTotals>,
    started: &HashMap<Day, u64>,
    site: &Site,
) -> DayCell {
    let responses = day_costs.get(&day).map_or(0, |sum| sum.counts.responses as u64);
    let mut title = format!("{}: {}", day.date(), count_noun(responses, "response"));
    if let Some(started) = started.get(&day) {
        title.push_str(&format!(", {} started", count_noun(*started, "session")));
    }
    if let Some(sum) = day_costs.get(&day) {
        title.push_str(&format!(", {}", format_total(sum)));
    }
    DayCell { day, amount: responses, title, address: (responses > 0).then(|| build_day_address(day, site)) }
}

/// Builds the bar of a day in the cost chart.
fn build_day_bar(day: Day, day_costs: &HashMap<Day, CostTotals>, site: &Site) -> DayBar {
    let date = day.date();
    let sum = day_costs.get(&day);
    let title = match sum {
        Some(sum) => format!(
            "{date}: {}, {}, {} tokens",
            format_total(sum),
            count_noun(sum.counts.responses as u64, "response"),
            format_tokens(sum.counts.usage.total())
        ),
        None => format!("{date}: nothing"),
    };
    // Mondays have a label.
    let label = if day == day.week_start() { date.strftime("%b %-d").to_string() } else { String::new() };
    DayBar {
        amount: sum.map_or(0.0, |sum| sum.cost.dollars()),
        title,
        label,
        address: sum.map(|_| build_day_address(day, site)),
    }
}

/// Returns the address of the list of sessions active on a day.
fn build_day_address(day: Day, site: &Site) -> String {
    let (since, until) = (day.date().to_string(), Day(day.0 + 1).date().to_string());
    build_address(
        &site.page("/sessions"),
        [("since", since.as_str()), ("until", until.as_str()), ("all", "1")],
    )
}

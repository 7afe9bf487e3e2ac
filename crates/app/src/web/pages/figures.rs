//! A year of activity and a month of costs.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use maud::{Markup, PreEscaped, html};
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::{Calendar, CostTotals, Day};
use rethread_engine::ops::{self, GroupBy, GroupKey, UsageReport, UsageRequest};

use crate::html::figure::days::{Bar, days};
use crate::html::figure::heatmap::{Cell, WEEKS, heatmap};
use crate::html::link::address;
use crate::text::figures::{count, things, tokens};
use crate::text::money;
use crate::text::time::Clock;
use crate::web::server::Server;

/// So many days of costs are shown.
const COSTS: i32 = 30;

/// How long drawn pictures count: they change by a response at a time.
const FRESH: Duration = Duration::from_secs(15);

/// The pictures as they were drawn last.
#[derive(Debug, Default)]
pub(crate) struct FigureCache(Mutex<Option<(Instant, String)>>);

impl FigureCache {
    /// Returns the pictures, drawn anew where they are old; who comes meanwhile waits for them.
    pub(crate) fn recent(&self, server: &Server) -> Markup {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match last.as_ref() {
            Some((at, markup)) if at.elapsed() < FRESH => PreEscaped(markup.clone()),
            _ => {
                let drawn = draw(server, &server.clock());
                *last = Some((Instant::now(), drawn.0.clone()));
                drawn
            }
        }
    }
}

/// Draws the pictures.
fn draw(server: &Server, clock: &Clock) -> Markup {
    let zone = clock.zone();
    let calendar = Calendar::new(&zone);
    let now = Timestamp(clock.now().as_millisecond());
    let today = calendar.day(now);
    let first = Day(today.week().0 - (WEEKS - 1) * 7);
    let request = UsageRequest {
        by: GroupBy::Day,
        since: clock.read(&first.date().to_string()),
        until: None,
        session: None,
        project: None,
        model: None,
        reach: false,
        zone: zone.clone(),
        now,
        prices: &server.prices,
    };
    let spending = ops::usage(&server.place.roots, &request, server.place.index.as_ref());
    let spent = by_day(&spending);
    let mut begun: HashMap<Day, u64> = HashMap::new();
    for (_, row) in server.shelf.look(&server.place).rows() {
        if let Some(first) = row.sketch.first.filter(|_| !row.sketch.is_empty()) {
            *begun.entry(calendar.day(first)).or_default() += 1;
        }
    }
    let all = |from: i32| (from..=today.0).map(Day);
    let cells: Vec<Cell> = all(first.0).map(|day| cell(day, &spent, &begun)).collect();
    let bars: Vec<Bar> = all(today.0 - COSTS + 1).map(|day| bar(day, &spent)).collect();
    let total = |days: &mut dyn Iterator<Item = Day>| {
        let mut total = CostTotals::default();
        days.filter_map(|day| spent.get(&day)).for_each(|sum| total.add(sum));
        total
    };
    let (year, month) = (total(&mut all(first.0)), total(&mut all(today.0 - COSTS + 1)));
    let busy = cells.iter().filter(|cell| cell.amount > 0).count();
    let activity = format!("Responses by day in the last year: {}", count(year.spent.responses as u64));
    let costs = format!("Cost by day in the last {COSTS} days: {}", said(&month));
    html! {
        figure class="chart" {
            figcaption {
                strong { (things(year.spent.responses as u64, "response")) }
                " on " (things(busy as u64, "day")) " of the last year"
            }
            div class="scroll" { (heatmap(&cells, &activity)) }
        }
        figure class="chart" {
            figcaption { strong { (said(&month)) } " at list prices in the last " (COSTS) " days, " (said(&year)) " in the last year" }
            @if month.spent.responses > 0 {
                div class="scroll" { (days(&bars, &costs, |mark| money::said(mark).replace(".00", ""))) }
            }
        }
    }
}

fn by_day(spending: &UsageReport) -> HashMap<Day, CostTotals> {
    let days = spending.rows.iter().filter_map(|row| match row.key {
        GroupKey::Day(day) => Some((day, row.account.total())),
        _ => None,
    });
    days.collect()
}

/// Says what a sum costs, also where it is nothing.
fn said(sum: &CostTotals) -> String {
    let cost = money::cost(sum);
    if cost.is_empty() { money::said(0.0) } else { cost }
}

fn cell(day: Day, spent: &HashMap<Day, CostTotals>, begun: &HashMap<Day, u64>) -> Cell {
    let responses = spent.get(&day).map_or(0, |sum| sum.spent.responses as u64);
    let mut title = format!("{}: {}", day.date(), things(responses, "response"));
    if let Some(begun) = begun.get(&day) {
        title.push_str(&format!(", {} begun", things(*begun, "session")));
    }
    if let Some(sum) = spent.get(&day) {
        title.push_str(&format!(", {}", said(sum)));
    }
    Cell { day, amount: responses, title, address: (responses > 0).then(|| list_of(day)) }
}

fn bar(day: Day, spent: &HashMap<Day, CostTotals>) -> Bar {
    let date = day.date();
    let sum = spent.get(&day);
    let title = match sum {
        Some(sum) => format!(
            "{date}: {}, {}, {} tokens",
            said(sum),
            things(sum.spent.responses as u64, "response"),
            tokens(sum.spent.usage.total())
        ),
        None => format!("{date}: nothing"),
    };
    // Mondays are named.
    let name = if day == day.week() { date.strftime("%b %-d").to_string() } else { String::new() };
    Bar { amount: sum.map_or(0.0, |sum| sum.cost.dollars()), title, name, address: sum.map(|_| list_of(day)) }
}

/// Returns the address of the sessions that were at work on a day.
fn list_of(day: Day) -> String {
    let (since, until) = (day.date().to_string(), Day(day.0 + 1).date().to_string());
    address("/sessions", [("since", since.as_str()), ("until", until.as_str()), ("all", "1")])
}

//! `rethread usage`: tokens and money, each response once.

mod check;
mod csv;
mod label;
mod table;
mod trace;

use std::collections::HashMap;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::{self, Filter, GroupBy, UsageRequest};

use self::label::Labels;
use super::AppContext;
use super::args;
use super::error::{self, CliError, Exit};
use super::out::Out;
use crate::json;

/// Runs `rethread usage`.
pub(crate) fn run(args: &args::Usage, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let prices = args.prices.prices()?;
    if let Some(message) = &args.explain {
        return trace::run(message, &prices, place, out);
    }
    let clock = match &args.tz {
        Some(zone) => place.clock.in_zone(zone).ok_or_else(|| CliError::BadZone(zone.clone()))?,
        None => place.clock.clone(),
    };
    let moment = |text: &Option<String>| -> Result<Option<Timestamp>, CliError> {
        let read = |text: &String| clock.read(text).ok_or_else(|| CliError::BadMoment(text.clone()));
        text.as_ref().map(read).transpose()
    };
    let session = args.session.as_ref().map(|name| place.session(name)).transpose()?;
    let mut roots = place.roots.clone();
    // A file that lies elsewhere is all there is.
    if let Some(path) = session.as_ref().filter(|path| !ops::roots_contain(&roots, path)) {
        roots.paths = vec![path.clone()];
    }
    let request = UsageRequest {
        by: args.by,
        since: moment(&args.since)?,
        until: moment(&args.until)?,
        project: args.project.clone(),
        model: args.model.clone(),
        reach: args.reach || session.is_some(),
        session,
        zone: clock.zone(),
        now: Timestamp(clock.now().as_millisecond()),
        prices: &prices,
    };
    let index = place.index.as_ref();
    if args.check {
        return check::run(&ops::check_usage(&roots, &request, index), place, out);
    }
    let mut spending = ops::usage(&roots, &request, index);
    let titles = match args.by {
        GroupBy::Session => titles(place),
        _ => HashMap::new(),
    };
    let labels = Labels { by: args.by, place, clock: &clock, titles };
    let found = spending.total.total().spent.responses > 0;
    if out.is_json() {
        for row in &spending.rows {
            out.json(&json::usage_row(args.by.name(), labels.plain(&row.key), &labels.titles, row))?;
        }
        out.json(&json::usage_total(&spending, &prices))?;
    } else if args.csv {
        csv::print(&spending.rows, &labels, args.by.name(), out)?;
    } else if spending.files == 0 {
        super::say_nothing_found(place, out);
    } else if !found {
        out.note("nothing was spent there: --since, --until, --project or --model may leave out too much");
    } else {
        out.may_page();
        table::print(&mut spending, args.limit, &labels, &prices, out)?;
    }
    error::warn(&spending.failures, out);
    error::notice(spending.notice.as_ref(), out);
    Ok(match found {
        false if !spending.failures.is_empty() => Exit::Failed,
        found => Exit::found(found),
    })
}

/// Finds what sessions are called.
fn titles(place: &AppContext) -> HashMap<String, String> {
    let all = Filter { all: true, ..Filter::default() };
    let rows = ops::list(&place.roots, &all, place.index.as_ref()).rows;
    rows.into_iter().map(|row| (row.id, row.title.text)).collect()
}

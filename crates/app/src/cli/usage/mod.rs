//! `rethread usage`: tokens and costs. Each response is counted once.

mod check;
mod csv;
mod label;
mod table;
mod trace;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops;
use rethread_engine::ops::usage::UsageRequest;

use self::label::Labels;
use super::AppContext;
use super::args;
use super::error::{self, CliError, Exit};
use super::out::Out;
use super::prices::load_price_table;
use crate::json;

/// Runs `rethread usage`: prints tokens and costs by group as a table, CSV or JSON.
///
/// Returns [`Exit::Nothing`] if there is no usage, [`Exit::Failed`] if in addition files could not be read.
pub(crate) fn run(args: &args::Usage, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let prices = load_price_table(args.prices.file(), app, out)?;
    if let Some(message) = &args.explain {
        return trace::run(message, &prices, app, out);
    }
    let clock = match &args.tz {
        Some(zone) => app.clock.in_zone(zone).ok_or_else(|| CliError::BadZone(zone.clone()))?,
        None => app.clock.clone(),
    };
    let parse_time = |text: &Option<String>| -> Result<Option<Timestamp>, CliError> {
        let parse = |text: &String| clock.parse_time(text).ok_or_else(|| CliError::BadTime(text.clone()));
        text.as_ref().map(parse).transpose()
    };
    let session = args.session.as_ref().map(|name| app.find_session(name)).transpose()?;
    let mut roots = app.roots.clone();
    // A file outside the roots is read alone.
    if let Some(path) = session.as_ref().filter(|path| !ops::resolve::roots_contain(&roots, path)) {
        roots.paths = vec![path.clone()];
    }
    let (by, then_by) = match args.by[..] {
        [by] => (by, None),
        [by, then_by] => (by, Some(then_by)),
        _ => return Err(CliError::TooManyGroupings),
    };
    let request = UsageRequest {
        by,
        then_by,
        since: parse_time(&args.since)?,
        until: parse_time(&args.until)?,
        project: args.project.clone(),
        model: args.model.clone(),
        by_context_status: args.reach || session.is_some(),
        session,
        zone: clock.zone(),
        now: Timestamp(clock.now().as_millisecond()),
        prices: &prices,
    };
    let cache = app.cache.as_ref();
    if args.check {
        return check::run(&ops::usage::check_usage(&roots, &request, cache), app, out);
    }
    let mut report = ops::usage::usage(&roots, &request, cache);
    let labels = Labels { by, then_by, app, clock: &clock };
    let has_usage = report.total.total().counts.responses > 0;
    if out.is_json() {
        let machine_name = |by, key: &_| Labels { by, then_by: None, ..labels }.machine_name(key);
        for row in &report.rows {
            out.json(&json::build_usage_row(row, by, then_by, &machine_name))?;
        }
        out.json(&json::build_usage_total(&report, &prices))?;
    } else if args.csv {
        csv::print(&report.rows, &labels, out)?;
    } else if report.files == 0 {
        super::print_no_sessions(app, out);
    } else if !has_usage {
        out.note("no usage found; check --since, --until, --project and --model");
    } else {
        out.allow_pager();
        table::print(&mut report, args.limit, &labels, &prices, out)?;
    }
    error::print_warnings(&report.failures, out);
    error::print_cache_warning(report.warning.as_ref(), out);
    Ok(match has_usage {
        false if !report.failures.is_empty() => Exit::Failed,
        has_usage => Exit::from_found(has_usage),
    })
}

//! Functions that SQL can call in addition to those of SQLite.

use std::cell::RefCell;
use std::collections::HashMap;

use jiff::tz::TimeZone;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::{Calendar, Day, Money, next_block_start};
use rusqlite::functions::{Aggregate, Context, FunctionFlags, WindowAggregate};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result};

use crate::time_text::TimeFormatter;

/// Registers `usd`, `share`, `day`, `block` and `percentile`. `zone` is the time zone of `day` without a second argument.
pub(crate) fn register_functions(connection: &Connection, zone: &TimeZone) -> Result<()> {
    let pure = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("usd", 1, pure, usd)?;
    let own_days = DayFormatter::new(zone.clone());
    connection.create_scalar_function("day", 1, pure, move |context| day(context, &own_days))?;
    let zones: RefCell<HashMap<String, DayFormatter>> = RefCell::default();
    connection.create_scalar_function("day", 2, pure, move |context| {
        let name = context.get_raw(1).as_str()?;
        let mut zones = zones.borrow_mut();
        if !zones.contains_key(name) {
            zones.insert(name.to_owned(), DayFormatter::new(find_zone(name)?));
        }
        day(context, &zones[name])
    })?;
    connection.create_scalar_function("share", 3, pure, share)?;
    connection.create_window_function("block", 1, pure, BlockStart)?;
    connection.create_aggregate_function("percentile", 2, pure, Percentile)
}

/// Converts picodollars to dollars.
fn usd(context: &Context<'_>) -> Result<Option<f64>> {
    match context.get_raw(0) {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(picodollars) => {
            let dollars = Money::from_picodollars(picodollars.unsigned_abs().into()).dollars();
            Ok(Some(if picodollars < 0 { -dollars } else { dollars }))
        }
        // `avg` returns a fraction.
        ValueRef::Real(picodollars) => Ok(Some(picodollars / 1e12)),
        _ => Err(argument_error("usd expects an amount in picodollars, such as the column cost")),
    }
}

/// Returns one of several equal shares of a whole number: of which, which share (from 0), and how many. The first shares
/// receive the remainder, and all shares add up to the number. Without a number of shares there is one.
fn share(context: &Context<'_>) -> Result<Option<i64>> {
    let (idx, count): (Option<i64>, Option<i64>) = (context.get(1)?, context.get(2)?);
    let (idx, count) = (idx.unwrap_or(0), count.unwrap_or(1).max(1));
    match context.get_raw(0) {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(whole) => {
            Ok(Some(whole.div_euclid(count) + i64::from(idx < whole.rem_euclid(count))))
        }
        _ => Err(argument_error("share expects a whole number")),
    }
}

/// Returns the first argument as a time. Returns `None` for a text that is no time.
fn read_time(context: &Context<'_>) -> Option<Timestamp> {
    match context.get_raw(0) {
        ValueRef::Text(text) => std::str::from_utf8(text).ok().and_then(Timestamp::parse_text),
        ValueRef::Integer(millis) => Some(Timestamp(millis)),
        _ => None,
    }
}

/// Returns the day of a time in a time zone, as `2026-01-31`. Returns `None` for a text that is no time.
fn day(context: &Context<'_>, days: &DayFormatter) -> Result<Option<String>> {
    Ok(read_time(context).map(|time| days.format(time)))
}

/// Formats the days of times in a time zone. Adjacent rows usually have the same day, so the text of the last one is kept.
struct DayFormatter {
    calendar: Calendar<'static>,
    last: RefCell<Option<(Day, String)>>,
}

impl DayFormatter {
    fn new(zone: TimeZone) -> DayFormatter {
        DayFormatter { calendar: Calendar::with_zone(zone), last: RefCell::default() }
    }

    fn format(&self, time: Timestamp) -> String {
        let day = self.calendar.local_day(time);
        let mut last = self.last.borrow_mut();
        match &*last {
            Some((last_day, text)) if *last_day == day => text.clone(),
            _ => last.insert((day, day.date().to_string())).1.clone(),
        }
    }
}

fn find_zone(name: &str) -> Result<TimeZone> {
    TimeZone::get(name).map_err(|_| argument_error(&format!("unknown time zone `{name}`")))
}

fn argument_error(message: &str) -> Error {
    Error::UserFunctionError(message.into())
}

/// The start of the five-hour block of each time, in the order of time.
struct BlockStart;

/// The last time, and the start of its block.
#[derive(Default)]
struct BlockState {
    last_time: Option<Timestamp>,
    start: Option<Timestamp>,
}

impl Aggregate<BlockState, Option<String>> for BlockStart {
    fn init(&self, _: &mut Context<'_>) -> Result<BlockState> {
        Ok(BlockState::default())
    }

    fn step(&self, context: &mut Context<'_>, state: &mut BlockState) -> Result<()> {
        let Some(time) = read_time(context) else { return Ok(()) };
        if state.last_time.is_some_and(|last| time < last) {
            return Err(block_error());
        }
        state.last_time = Some(time);
        state.start = Some(next_block_start(state.start, time));
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, state: Option<BlockState>) -> Result<Option<String>> {
        Ok(state.and_then(|state| format_block(&state)))
    }
}

impl WindowAggregate<BlockState, Option<String>> for BlockStart {
    fn value(&self, state: Option<&mut BlockState>) -> Result<Option<String>> {
        Ok(state.and_then(|state| format_block(state)))
    }

    fn inverse(&self, _: &mut Context<'_>, _: &mut BlockState) -> Result<()> {
        // The start of a block depends on all times before it.
        Err(block_error())
    }
}

fn format_block(state: &BlockState) -> Option<String> {
    state.start.map(|start| TimeFormatter::default().format(start))
}

fn block_error() -> Error {
    argument_error("block expects all times in order: block(ts) OVER (ORDER BY ts)")
}

/// The smallest value that at least p percent of the values do not exceed.
struct Percentile;

/// The values so far, and p.
#[derive(Default)]
struct PercentileState {
    values: Vec<f64>,
    /// Whether all values are whole numbers, so that the result is one.
    has_fractions: bool,
    percent: f64,
}

impl Aggregate<PercentileState, Value> for Percentile {
    fn init(&self, _: &mut Context<'_>) -> Result<PercentileState> {
        Ok(PercentileState::default())
    }

    fn step(&self, context: &mut Context<'_>, state: &mut PercentileState) -> Result<()> {
        state.percent = context.get(1)?;
        if !(0.0..=100.0).contains(&state.percent) {
            return Err(argument_error("percentile expects a percentage from 0 to 100"));
        }
        match context.get_raw(0) {
            ValueRef::Null => {}
            ValueRef::Integer(value) => state.values.push(value as f64),
            ValueRef::Real(value) => {
                state.has_fractions = true;
                state.values.push(value);
            }
            _ => return Err(argument_error("percentile expects numbers")),
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, state: Option<PercentileState>) -> Result<Value> {
        let Some(mut state) = state.filter(|state| !state.values.is_empty()) else {
            return Ok(Value::Null);
        };
        let rank = (state.percent / 100.0 * state.values.len() as f64).ceil().max(1.0) as usize;
        let idx = rank.min(state.values.len()) - 1;
        let (_, value, _) = state.values.select_nth_unstable_by(idx, f64::total_cmp);
        Ok(if state.has_fractions { Value::Real(*value) } else { Value::Integer(*value as i64) })
    }
}

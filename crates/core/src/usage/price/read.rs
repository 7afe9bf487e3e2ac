//! A table of prices as text: TOML of the plainest kind, a line for each value.
//!
//! The whole of TOML would add 280 kB to the program for a file that has three kinds of values; what is more than
//! `[[price]]` and `key = value` is refused with its line, so no table is read as something else than it says.

use super::super::Money;
use super::rates::{LongContextRates, ModelPricing, PriceSource, Rates, Row};
use super::table::{Origin, Prices};
use crate::entry::Timestamp;

/// Why a table cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceProblem {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

/// Reads a table.
pub(super) fn table(text: &str) -> Result<Prices, PriceProblem> {
    let mut prices = Prices { origins: vec![Origin::default()], tariffs: Vec::new() };
    let mut draft: Option<Draft> = None;
    let mut seen: Vec<&str> = Vec::new();
    for (no, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = uncommented(line).trim();
        let problem = |what| PriceProblem { line: no + 1, what };
        if line == "[[price]]" {
            if let Some(draft) = draft.replace(Draft { line: no + 1, ..Draft::default() }) {
                draft.finish(&mut prices)?;
            }
            seen.clear();
        } else if !line.is_empty() {
            let pair = line.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
            let (key, value) =
                pair.ok_or_else(|| problem("neither `[[price]]` nor `key = value`".to_owned()))?;
            if seen.contains(&key) {
                return Err(problem(format!("`{}` is said twice", short(key))));
            }
            seen.push(key);
            let set = match &mut draft {
                Some(draft) => draft.set(key, value),
                None => head(&mut prices.origins[0], key, value),
            };
            set.map_err(problem)?;
        }
    }
    if let Some(draft) = draft {
        draft.finish(&mut prices)?;
    }
    prices.tariffs.iter_mut().for_each(|tariff| tariff.rows.sort_by_key(|row| row.from));
    Ok(prices)
}

/// Takes what stands before the first price.
fn head(origin: &mut Origin, key: &str, value: &str) -> Result<(), String> {
    match key {
        "source" => origin.source = text(key, value)?.to_owned(),
        "date" => {
            day(key, value)?;
            origin.date = unquoted(value).unwrap_or(value).to_owned();
        }
        _ => {
            return Err(format!(
                "`{}` before the first `[[price]]`: only `source` and `date` may stand there",
                short(key)
            ));
        }
    }
    Ok(())
}

/// A row as far as it was read.
#[derive(Debug, Default)]
struct Draft {
    line: usize,
    models: Vec<String>,
    from: Option<Timestamp>,
    base: RatesDraft,
    above: Option<u64>,
    long: RatesDraft,
    web_search: Option<Money>,
    basis: Option<PriceSource>,
    note: String,
}

#[derive(Debug, Default, PartialEq)]
struct RatesDraft {
    input: Option<Money>,
    output: Option<Money>,
    cache_write_5m: Option<Money>,
    cache_write_1h: Option<Money>,
    cache_read: Option<Money>,
}

impl Draft {
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "models" => self.models = texts(key, value)?,
            "from" => self.from = Some(day(key, value)?),
            "note" => text(key, value)?.clone_into(&mut self.note),
            "basis" => self.basis = Some(basis(value)?),
            "web_search" => self.web_search = Some(price(key, value)?.times(1000)),
            "long.above" => self.above = Some(count(key, value)?),
            _ => {
                let (rates, name) = match key.strip_prefix("long.") {
                    Some(name) => (&mut self.long, name),
                    None => (&mut self.base, key),
                };
                let slot = rates.slot(name).ok_or_else(|| format!("no price is called `{}`", short(key)))?;
                *slot = Some(price(key, value)?);
            }
        }
        Ok(())
    }

    fn finish(self, prices: &mut Prices) -> Result<(), PriceProblem> {
        let problem = |what: &str| PriceProblem { line: self.line, what: what.to_owned() };
        if self.models.is_empty() {
            return Err(problem("this price has no `models`"));
        }
        // What the Claude API asks for a thousand of them, whatever the model.
        let web_search = self.web_search.or_else(|| Money::of_dollars(0.01)).unwrap_or_default();
        let rates =
            self.base.finish(web_search).ok_or_else(|| problem("this price lacks `input` or `output`"))?;
        let long = match (self.above, self.long.finish(web_search)) {
            (Some(above), Some(rates)) => Some(LongContextRates { above, rates }),
            (None, None) if self.long == RatesDraft::default() => None,
            _ => return Err(problem("long prompts need `long.above`, `long.input` and `long.output`")),
        };
        let row = Row { from: self.from, rates, long, basis: self.basis, note: self.note };
        match prices.tariffs.iter_mut().find(|tariff| tariff.models == self.models) {
            Some(tariff) if tariff.rows.iter().any(|other| other.from == row.from) => {
                return Err(PriceProblem {
                    line: self.line,
                    what: "these models have a price from that day on already".to_owned(),
                });
            }
            Some(tariff) => tariff.rows.push(row),
            None => prices.tariffs.push(ModelPricing { models: self.models, rows: vec![row], origin: 0 }),
        }
        Ok(())
    }
}

impl RatesDraft {
    fn slot(&mut self, name: &str) -> Option<&mut Option<Money>> {
        Some(match name {
            "input" => &mut self.input,
            "output" => &mut self.output,
            "cache_write_5m" => &mut self.cache_write_5m,
            "cache_write_1h" => &mut self.cache_write_1h,
            "cache_read" => &mut self.cache_read,
            _ => return None,
        })
    }

    /// What is not said of the cache follows from the input, as it does for most models.
    fn finish(&self, web_search: Money) -> Option<Rates> {
        let (input, output) = self.input.zip(self.output)?;
        Some(Rates {
            input,
            output,
            cache_write_5m: self.cache_write_5m.unwrap_or(input.part(5, 4)),
            cache_write_1h: self.cache_write_1h.unwrap_or(input.times(2)),
            cache_read: self.cache_read.unwrap_or(input.part(1, 10)),
            web_search,
        })
    }
}

/// Returns a line without its comment.
fn uncommented(line: &str) -> &str {
    let mut quote = None;
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (None, '#') => return &line[..at],
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
    }
    line
}

/// Returns what stands in quotes; what would mean something else than itself is left alone.
fn unquoted(value: &str) -> Option<&str> {
    let within = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    let plain = within('"').filter(|inner| !inner.contains(['"', '\\']));
    plain.or_else(|| within('\'').filter(|inner| !inner.contains('\'')))
}

fn text<'a>(key: &str, value: &'a str) -> Result<&'a str, String> {
    unquoted(value).ok_or_else(|| format!("`{key}` must be text in quotes, on one line and without escapes"))
}

fn texts(key: &str, value: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("`{key}` must be names in quotes: `[\"claude-opus-5\", \"my-*\"]`");
    let Some(list) = value.strip_prefix('[') else {
        return Ok(vec![unquoted(value).filter(|name| !name.is_empty()).ok_or_else(wrong)?.to_owned()]);
    };
    let list = list.strip_suffix(']').ok_or_else(wrong)?.trim();
    let names = list.strip_suffix(',').unwrap_or(list).split(',');
    let name = |name: &str| unquoted(name.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
    names.map(|part| name(part).ok_or_else(wrong)).collect()
}

fn day(key: &str, value: &str) -> Result<Timestamp, String> {
    let day = unquoted(value).unwrap_or(value);
    let read = || {
        let date: jiff::civil::Date = day.parse().ok().filter(|_| day.len() == 10)?;
        let start = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(Timestamp(start.timestamp().as_millisecond()))
    };
    read().ok_or_else(|| format!("`{key}` must be a day: `2026-10-07`"))
}

/// Reads dollars per million tokens as the money that one costs.
fn price(key: &str, value: &str) -> Result<Money, String> {
    const MOST: f64 = 1e6;
    let plain = value.starts_with(|first: char| first.is_ascii_digit()).then(|| value.replace('_', ""));
    let dollars = plain.and_then(|plain| plain.parse::<f64>().ok());
    let dollars = dollars.filter(|&dollars| dollars <= MOST && (dollars == 0.0 || dollars >= 1.0 / MOST));
    let money = dollars.and_then(|dollars| Money::of_dollars(dollars / MOST));
    money.ok_or_else(|| format!("`{key}` must be a number of dollars from 0 to {MOST}"))
}

fn count(key: &str, value: &str) -> Result<u64, String> {
    value.replace('_', "").parse().map_err(|_| format!("`{key}` must be a number of tokens"))
}

fn basis(value: &str) -> Result<PriceSource, String> {
    match unquoted(value) {
        Some("published") => Ok(PriceSource::Published),
        Some("derived") => Ok(PriceSource::Derived),
        Some("client") => Ok(PriceSource::Client),
        _ => Err("`basis` must be \"published\", \"derived\" or \"client\"".to_owned()),
    }
}

/// Returns so much of a key that a message stays one.
fn short(key: &str) -> String {
    key.chars().take(40).collect()
}

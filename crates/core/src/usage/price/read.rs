//! Parses price tables: a subset of TOML with one value per line.
//!
//! A complete TOML parser would add 280 kB to the program for a file with three kinds of values. Anything but
//! `[[price]]` and `key = value` is an error with its line, so that no table is misread.

use super::rates::{LongContextRates, ModelPricing, PriceRow, PriceSource, TokenRates};
use super::table::{PriceTable, PriceTableOrigin};
use crate::entry::Timestamp;
use crate::usage::Money;

/// An error in a price table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceTableError {
    /// The line number, from 1.
    pub line: usize,
    /// A description of the error.
    pub message: String,
}

/// Parses a price table. Returns the first error with its line number.
pub(super) fn parse_table(text: &str) -> Result<PriceTable, PriceTableError> {
    let mut prices = PriceTable { origins: vec![PriceTableOrigin::default()], models: Vec::new() };
    let mut draft: Option<PriceRowDraft> = None;
    let mut seen: Vec<&str> = Vec::new();
    for (idx, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = strip_comment(line).trim();
        let error = |message| PriceTableError { line: idx + 1, message };
        if line == "[[price]]" {
            if let Some(draft) = draft.replace(PriceRowDraft { line: idx + 1, ..PriceRowDraft::default() }) {
                draft.finish(&mut prices)?;
            }
            seen.clear();
        } else if !line.is_empty() {
            let pair = line.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
            let (key, value) =
                pair.ok_or_else(|| error("neither `[[price]]` nor `key = value`".to_owned()))?;
            if seen.contains(&key) {
                return Err(error(format!("`{}` is set twice", truncate_key(key))));
            }
            seen.push(key);
            let result = match &mut draft {
                Some(draft) => draft.set(key, value),
                None => set_header(&mut prices.origins[0], key, value),
            };
            result.map_err(error)?;
        }
    }
    if let Some(draft) = draft {
        draft.finish(&mut prices)?;
    }
    prices.models.iter_mut().for_each(|pricing| pricing.rows.sort_by_key(|row| row.from));
    Ok(prices)
}

/// Sets a value that precedes the first `[[price]]`. Returns an error message if the key or the value is invalid.
fn set_header(origin: &mut PriceTableOrigin, key: &str, value: &str) -> Result<(), String> {
    match key {
        "source" => origin.source = parse_string(key, value)?.to_owned(),
        "date" => {
            parse_day(key, value)?;
            origin.date = unquote(value).unwrap_or(value).to_owned();
        }
        _ => {
            return Err(format!(
                "`{}` before the first `[[price]]`: only `source` and `date` are allowed there",
                truncate_key(key)
            ));
        }
    }
    Ok(())
}

/// A row that is being parsed.
#[derive(Debug, Default)]
struct PriceRowDraft {
    /// The number of its `[[price]]` line, from 1.
    line: usize,
    models: Vec<String>,
    from: Option<Timestamp>,
    base: RatesDraft,
    above: Option<u64>,
    long: RatesDraft,
    web_search: Option<Money>,
    source: Option<PriceSource>,
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

impl PriceRowDraft {
    /// Sets the value of a key. Returns an error message if the key is unknown or the value is invalid.
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "models" => self.models = parse_strings(key, value)?,
            "from" => self.from = Some(parse_day(key, value)?),
            "note" => parse_string(key, value)?.clone_into(&mut self.note),
            "basis" => self.source = Some(parse_source(value)?),
            "web_search" => self.web_search = Some(parse_price(key, value)?.times(1000)),
            "long.above" => self.above = Some(parse_count(key, value)?),
            _ => {
                let (rates, name) = match key.strip_prefix("long.") {
                    Some(name) => (&mut self.long, name),
                    None => (&mut self.base, key),
                };
                let slot = rates
                    .rate_mut(name)
                    .ok_or_else(|| format!("no price is called `{}`", truncate_key(key)))?;
                *slot = Some(parse_price(key, value)?);
            }
        }
        Ok(())
    }

    /// Adds the row to the table. Returns an error if a value is missing or the models already have a row of that day.
    fn finish(self, prices: &mut PriceTable) -> Result<(), PriceTableError> {
        let error = |message: &str| PriceTableError { line: self.line, message: message.to_owned() };
        if self.models.is_empty() {
            return Err(error("this price has no `models`"));
        }
        // The price of the Claude API for all models: 10 dollars per thousand searches.
        let web_search = self.web_search.or_else(|| Money::from_dollars(0.01)).unwrap_or_default();
        let rates =
            self.base.finish(web_search).ok_or_else(|| error("this price lacks `input` or `output`"))?;
        let long = match (self.above, self.long.finish(web_search)) {
            (Some(above), Some(rates)) => Some(LongContextRates { above, rates }),
            (None, None) if self.long == RatesDraft::default() => None,
            _ => return Err(error("long prompts need `long.above`, `long.input` and `long.output`")),
        };
        let row =
            PriceRow { from: self.from, rates, long_context: long, source: self.source, note: self.note };
        match prices.models.iter_mut().find(|pricing| pricing.models == self.models) {
            Some(pricing) if pricing.rows.iter().any(|other| other.from == row.from) => {
                return Err(PriceTableError {
                    line: self.line,
                    message: "these models have a price from that day on already".to_owned(),
                });
            }
            Some(pricing) => pricing.rows.push(row),
            None => prices.models.push(ModelPricing { models: self.models, rows: vec![row], origin: 0 }),
        }
        Ok(())
    }
}

impl RatesDraft {
    /// Returns the price with this key. Returns `None` if no price has the key.
    fn rate_mut(&mut self, name: &str) -> Option<&mut Option<Money>> {
        Some(match name {
            "input" => &mut self.input,
            "output" => &mut self.output,
            "cache_write_5m" => &mut self.cache_write_5m,
            "cache_write_1h" => &mut self.cache_write_1h,
            "cache_read" => &mut self.cache_read,
            _ => return None,
        })
    }

    /// Builds the rates. Missing cache prices are derived from the input price by the factors that most
    /// models have. Returns `None` if the input or output price is missing.
    fn finish(&self, web_search: Money) -> Option<TokenRates> {
        let (input, output) = self.input.zip(self.output)?;
        Some(TokenRates {
            input,
            output,
            cache_write_5m: self.cache_write_5m.unwrap_or(input.fraction(5, 4)),
            cache_write_1h: self.cache_write_1h.unwrap_or(input.times(2)),
            cache_read: self.cache_read.unwrap_or(input.fraction(1, 10)),
            web_search,
        })
    }
}

/// Returns a line without its comment: the text after a `#` that is not in quotes.
fn strip_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') => return &line[..at],
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    line
}

/// Returns the text between single or double quotes. Returns `None` if there are no quotes around the value, or if
/// the text contains the same quote or, in double quotes, a backslash.
fn unquote(value: &str) -> Option<&str> {
    let strip_quotes = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    let plain = strip_quotes('"').filter(|text| !text.contains(['"', '\\']));
    plain.or_else(|| strip_quotes('\'').filter(|text| !text.contains('\'')))
}

fn parse_string<'a>(key: &str, value: &'a str) -> Result<&'a str, String> {
    unquote(value).ok_or_else(|| format!("`{key}` must be text in quotes, on one line and without escapes"))
}

/// Parses a quoted name or a list of them. Returns an error message that contains `key` if the value is neither.
fn parse_strings(key: &str, value: &str) -> Result<Vec<String>, String> {
    let error = || format!("`{key}` must be names in quotes: `[\"claude-opus-5\", \"my-*\"]`");
    let Some(list) = value.strip_prefix('[') else {
        return Ok(vec![unquote(value).filter(|name| !name.is_empty()).ok_or_else(error)?.to_owned()]);
    };
    let list = list.strip_suffix(']').ok_or_else(error)?.trim();
    let names = list.strip_suffix(',').unwrap_or(list).split(',');
    let name = |name: &str| unquote(name.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
    names.map(|part| name(part).ok_or_else(error)).collect()
}

/// Parses a day, with or without quotes, as its first moment in UTC. Returns an error message that contains `key`.
fn parse_day(key: &str, value: &str) -> Result<Timestamp, String> {
    let day = unquote(value).unwrap_or(value);
    let parse = || {
        let date: jiff::civil::Date = day.parse().ok().filter(|_| day.len() == 10)?;
        let start = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(Timestamp(start.timestamp().as_millisecond()))
    };
    parse().ok_or_else(|| format!("`{key}` must be a day: `2026-10-07`"))
}

/// Parses dollars per million tokens, 0 or from 0.000001 to 1,000,000. Returns the price of one token.
fn parse_price(key: &str, value: &str) -> Result<Money, String> {
    const MAX: f64 = 1e6;
    let digits = value.starts_with(|first: char| first.is_ascii_digit()).then(|| value.replace('_', ""));
    let dollars = digits.and_then(|digits| digits.parse::<f64>().ok());
    let dollars = dollars.filter(|&dollars| dollars <= MAX && (dollars == 0.0 || dollars >= 1.0 / MAX));
    let money = dollars.and_then(|dollars| Money::from_dollars(dollars / MAX));
    money.ok_or_else(|| format!("`{key}` must be a number of dollars from 0 to {MAX}"))
}

fn parse_count(key: &str, value: &str) -> Result<u64, String> {
    value.replace('_', "").parse().map_err(|_| format!("`{key}` must be a number of tokens"))
}

fn parse_source(value: &str) -> Result<PriceSource, String> {
    match unquote(value) {
        Some("published") => Ok(PriceSource::Published),
        Some("derived") => Ok(PriceSource::Derived),
        Some("client") => Ok(PriceSource::Client),
        _ => Err("`basis` must be \"published\", \"derived\" or \"client\"".to_owned()),
    }
}

/// Truncates a key to 40 characters, for an error message.
fn truncate_key(key: &str) -> String {
    key.chars().take(40).collect()
}

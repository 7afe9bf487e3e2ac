//! Parses price tables, which are TOML. An unknown key is an error, so that no table is misread.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::rates::{LongContextRates, ModelPricing, PriceRow, PriceSource, TokenRates};
use super::table::{PriceTable, PriceTableOrigin};
use crate::entry::Timestamp;
use crate::lines::line_number;
use crate::usage::Money;

/// An error in a price table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceTableError {
    /// The line number, from 1.
    pub line: usize,
    /// A description of the error.
    pub message: String,
}

/// The key of the rows.
const ROWS: &str = "price";

/// Parses a price table. Returns the first error with its line number.
pub(super) fn parse_table(text: &str) -> Result<PriceTable, PriceTableError> {
    read_table(text, parse_document(text)?.get_ref())
}

/// Parses the price table in the table `name` of a TOML document. Returns `None` if the document has no such table.
pub(super) fn parse_section(text: &str, name: &str) -> Result<Option<PriceTable>, PriceTableError> {
    let document = parse_document(text)?;
    let section = document.get_ref().get(name).and_then(|section| section.get_ref().as_table());
    section.map(|section| read_table(text, section)).transpose()
}

/// Reads a price table. `text` is the document that contains it. Returns the first error.
fn read_table(text: &str, table: &DeTable<'_>) -> Result<PriceTable, PriceTableError> {
    let mut prices = PriceTable { origins: vec![PriceTableOrigin::default()], models: Vec::new() };
    for (key, value) in in_file_order(table) {
        match key.get_ref().as_ref() {
            ROWS => read_rows(text, value, &mut prices)?,
            name => set_header(&mut prices.origins[0], name, value.get_ref())
                .map_err(|message| PriceTableError { line: line_number(text, key.span().start), message })?,
        }
    }
    Ok(prices)
}

/// Parses a TOML document. Returns the first syntax error with its line number.
fn parse_document(text: &str) -> Result<Spanned<DeTable<'_>>, PriceTableError> {
    DeTable::parse(text).map_err(|error| PriceTableError {
        line: line_number(text, error.span().unwrap_or_default().start),
        message: error.message().to_owned(),
    })
}

/// Returns the keys and values of a table in the order of the file.
fn in_file_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<(&'t Spanned<Key<'i>>, &'t Spanned<DeValue<'i>>)> {
    let mut pairs: Vec<_> = table.iter().collect();
    pairs.sort_by_key(|(key, _)| key.span().start);
    pairs
}

/// The name of a value in a TOML document.
type Key<'i> = toml::de::DeString<'i>;

/// Reads the rows of a table and adds them to `prices`. Returns the first error.
fn read_rows(
    text: &str,
    rows: &Spanned<DeValue<'_>>,
    prices: &mut PriceTable,
) -> Result<(), PriceTableError> {
    let error = |span: &Range<usize>, message: String| PriceTableError {
        line: line_number(text, span.start),
        message,
    };
    let no_row = |span: &Range<usize>| error(span, "prices are tables: `[[price]]`".to_owned());
    let rows = rows.get_ref().as_array().ok_or_else(|| no_row(&rows.span()))?;
    for row in rows {
        let table = row.get_ref().as_table().ok_or_else(|| no_row(&row.span()))?;
        let mut draft =
            PriceRowDraft { line: line_number(text, row.span().start), ..PriceRowDraft::default() };
        for (key, value) in in_file_order(table) {
            let name = key.get_ref().as_ref();
            match value.get_ref().as_table().filter(|_| name == "long") {
                None => draft.set(name, value.get_ref()).map_err(|message| error(&key.span(), message))?,
                Some(long) => {
                    for (key, value) in in_file_order(long) {
                        let result = draft.set_long(key.get_ref(), value.get_ref());
                        result.map_err(|message| error(&key.span(), message))?;
                    }
                }
            }
        }
        draft.finish(prices)?;
    }
    prices.models.iter_mut().for_each(|pricing| pricing.rows.sort_by_key(|row| row.from));
    Ok(())
}

/// Sets a value outside the rows. Returns an error message if the key or the value is invalid.
fn set_header(origin: &mut PriceTableOrigin, key: &str, value: &DeValue<'_>) -> Result<(), String> {
    match key {
        "source" => parse_string(key, value)?.clone_into(&mut origin.source),
        "date" => {
            parse_day(key, value)?;
            origin.date = day_text(value);
        }
        _ => {
            return Err(format!(
                "`{}` is outside a `[[price]]`: only `source` and `date` are allowed there",
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
    fn set(&mut self, key: &str, value: &DeValue<'_>) -> Result<(), String> {
        match key {
            "models" => self.models = parse_strings(key, value)?,
            "from" => self.from = Some(parse_day(key, value)?),
            "note" => parse_string(key, value)?.clone_into(&mut self.note),
            "basis" => self.source = Some(parse_source(value)?),
            "web_search" => self.web_search = Some(parse_price(key, value)?.times(1000)),
            _ => self.base.set(key, key, value)?,
        }
        Ok(())
    }

    /// Sets the value of a key of `long`. Returns an error message if the key is unknown or the value is invalid.
    fn set_long(&mut self, key: &str, value: &DeValue<'_>) -> Result<(), String> {
        let full_key = format!("long.{key}");
        match key {
            "above" => self.above = Some(parse_count(&full_key, value)?),
            _ => self.long.set(key, &full_key, value)?,
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
    /// Sets the price `name`. `key` is its name in an error message. Returns one if there is no such price.
    fn set(&mut self, name: &str, key: &str, value: &DeValue<'_>) -> Result<(), String> {
        let slot =
            self.rate_mut(name).ok_or_else(|| format!("no price is called `{}`", truncate_key(key)))?;
        *slot = Some(parse_price(key, value)?);
        Ok(())
    }

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

fn parse_string<'v>(key: &str, value: &'v DeValue<'_>) -> Result<&'v str, String> {
    value.as_str().ok_or_else(|| format!("`{key}` must be text in quotes"))
}

/// Parses a name or a list of them. Returns an error message that contains `key` if the value is neither.
fn parse_strings(key: &str, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let name = |value: &DeValue<'_>| value.as_str().filter(|name| !name.is_empty()).map(str::to_owned);
    let names: Option<Vec<String>> = match value.as_array() {
        Some(list) => list.iter().map(|item| name(item.get_ref())).collect(),
        None => name(value).map(|name| vec![name]),
    };
    names
        .filter(|names| !names.is_empty())
        .ok_or_else(|| format!("`{key}` must be names in quotes: `[\"claude-opus-5\", \"my-*\"]`"))
}

/// Returns a date or a text as text. Other values give an empty text.
fn day_text(value: &DeValue<'_>) -> String {
    match value.as_datetime() {
        Some(datetime) => datetime.to_string(),
        None => value.as_str().unwrap_or_default().to_owned(),
    }
}

/// Parses a day, with or without quotes, as its first moment in UTC. Returns an error message that contains `key`.
fn parse_day(key: &str, value: &DeValue<'_>) -> Result<Timestamp, String> {
    let day = day_text(value);
    let parse = || {
        let date: jiff::civil::Date = day.parse().ok().filter(|_| day.len() == 10)?;
        let start = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(Timestamp(start.timestamp().as_millisecond()))
    };
    parse().ok_or_else(|| format!("`{key}` must be a day: `2026-10-07`"))
}

/// Parses dollars per million tokens, 0 or from 0.000001 to 1,000,000. Returns the price of one token.
fn parse_price(key: &str, value: &DeValue<'_>) -> Result<Money, String> {
    const MAX: f64 = 1e6;
    let digits = match value {
        DeValue::Integer(integer) if integer.radix() == 10 => Some(integer.as_str()),
        DeValue::Float(float) => Some(float.as_str()),
        _ => None,
    };
    let dollars = digits.and_then(|digits| digits.parse::<f64>().ok());
    let dollars = dollars.filter(|&dollars| dollars <= MAX && (dollars == 0.0 || dollars >= 1.0 / MAX));
    let money = dollars.and_then(|dollars| Money::from_dollars(dollars / MAX));
    money.ok_or_else(|| format!("`{key}` must be a number of dollars from 0 to {MAX}"))
}

fn parse_count(key: &str, value: &DeValue<'_>) -> Result<u64, String> {
    let count = value.as_integer().and_then(|count| u64::from_str_radix(count.as_str(), count.radix()).ok());
    count.ok_or_else(|| format!("`{key}` must be a number of tokens"))
}

fn parse_source(value: &DeValue<'_>) -> Result<PriceSource, String> {
    match value.as_str() {
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

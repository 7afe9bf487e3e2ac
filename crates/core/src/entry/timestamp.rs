//! Timestamps as milliseconds since 1970.

use super::json_str::JsonStr;
use crate::pack::{Pack, Unpacker};

/// A point in time: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Pack for Timestamp {
    fn pack_into(&self, out: &mut Vec<u8>) {
        self.0.pack_into(out);
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<Timestamp> {
        i64::unpack_from(from).map(Timestamp)
    }
}

impl Timestamp {
    /// Parses an RFC 3339 timestamp. Every measured client writes the form `2025-02-06T10:30:00.000Z`.
    ///
    /// The time and the offset may be missing; then it is midnight and UTC. Returns `None` if the timestamp is malformed or
    /// out of range. Fractions of a millisecond are dropped.
    pub fn parse(text: JsonStr<'_>) -> Option<Timestamp> {
        parse_common_form(text.raw()).or_else(|| {
            let text = text.decode();
            let stamp = text.parse().ok().or_else(|| parse_without_offset(&text))?;
            Some(Timestamp(stamp.as_millisecond()))
        })
    }

    /// Parses an RFC 3339 timestamp. Returns `None` if it is malformed or out of range.
    pub fn parse_text(text: &str) -> Option<Timestamp> {
        Timestamp::parse(JsonStr::new(text.as_bytes()))
    }

    /// Converts a number: milliseconds, or seconds if the absolute value is below 10^11.
    ///
    /// Fractions of a millisecond are dropped. Returns `None` if the number is not finite or not below 8.64 * 10^15 ms.
    pub fn from_number(number: f64) -> Option<Timestamp> {
        let millis = if number.abs() < 1e11 { number * 1000.0 } else { number };
        (millis.is_finite() && millis.abs() < 8.64e15).then_some(Timestamp(millis as i64))
    }
}

/// Parses a date, or a date and a time, as UTC. Clients resume from a line with such a timestamp.
fn parse_without_offset(text: &str) -> Option<jiff::Timestamp> {
    let time: jiff::civil::DateTime = text.parse().ok()?;
    Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
}

/// Parses `YYYY-MM-DDThh:mm:ss[.mmm]Z`. Returns `None` for other forms and for days after the 28th.
fn parse_common_form(text: &[u8]) -> Option<Timestamp> {
    let (seconds, millis) = match text.len() {
        24 if text[19] == b'.' => (&text[..19], parse_digits(&text[20..23])?),
        20 => (&text[..19], 0),
        _ => return None,
    };
    if text[text.len() - 1] != b'Z' {
        return None;
    }
    let &[_, _, _, _, b'-', _, _, b'-', _, _, b'T', _, _, b':', _, _, b':', _, _] = seconds else {
        return None;
    };
    let part = |from: usize, to: usize| parse_digits(&seconds[from..to]);
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=28).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        // The full parser checks the ends of months and leap seconds.
        return None;
    }
    Some(Timestamp(
        ((days_since_epoch(year, month, day) * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + millis,
    ))
}

/// Returns the number of days since 1970-01-01 in the Gregorian calendar, for years from 0.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Parses decimal digits. Returns `None` if a byte is not a digit.
fn parse_digits(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')))
}

//! Timestamps as milliseconds since 1970.

use super::json_str::JsonStr;
use crate::pack::{Pack, Unpacker};

/// A moment: milliseconds since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Pack for Timestamp {
    fn pack(&self, out: &mut Vec<u8>) {
        self.0.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Timestamp> {
        i64::unpack(from).map(Timestamp)
    }
}

impl Timestamp {
    /// Reads the form that every measured client writes (`2025-02-06T10:30:00.000Z`), or any RFC 3339 form.
    pub fn read(text: JsonStr<'_>) -> Option<Timestamp> {
        usual(text.raw()).or_else(|| {
            let stamp: jiff::Timestamp = text.decode().parse().ok()?;
            Some(Timestamp(stamp.as_millisecond()))
        })
    }

    /// Reads a bare number: milliseconds, or seconds where it is too small for that.
    pub fn from_number(number: f64) -> Option<Timestamp> {
        let millis = if number.abs() < 1e11 { number * 1000.0 } else { number };
        (millis.is_finite() && millis.abs() < 8.64e15).then_some(Timestamp(millis as i64))
    }
}

/// Reads `YYYY-MM-DDThh:mm:ss[.mmm]Z` without leap seconds or odd dates.
fn usual(text: &[u8]) -> Option<Timestamp> {
    let (seconds, millis) = match text.len() {
        24 if text[19] == b'.' => (&text[..19], number(&text[20..23])?),
        20 => (&text[..19], 0),
        _ => return None,
    };
    if text[text.len() - 1] != b'Z' {
        return None;
    }
    let &[_, _, _, _, b'-', _, _, b'-', _, _, b'T', _, _, b':', _, _, b':', _, _] = seconds else {
        return None;
    };
    let part = |from: usize, to: usize| number(&seconds[from..to]);
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=28).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        // The ends of months, leap seconds and the end of time go the careful way.
        return None;
    }
    Some(Timestamp(((days(year, month, day) * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + millis))
}

/// Counts days since 1970-01-01 in the Gregorian calendar, years from 0.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')))
}

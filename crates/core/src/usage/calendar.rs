//! Days where the user is.

use std::cell::Cell;

use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp as Instant};

use crate::entry::Timestamp;

const DAY: i64 = 86_400_000;

/// A day, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i32);

impl Day {
    /// Returns its date.
    pub fn date(self) -> Date {
        let days = SignedDuration::from_hours(i64::from(self.0) * 24);
        date(1970, 1, 1).saturating_add(days)
    }

    /// Returns the Monday of its week.
    pub fn week(self) -> Day {
        // The first day was a Thursday.
        Day(self.0 - (self.0 + 3).rem_euclid(7))
    }

    /// Returns the first day of its month.
    pub fn month(self) -> Day {
        Day(self.0 - i32::from(self.date().day()) + 1)
    }
}

/// Which day it is at a moment in a time zone, for many moments: to ask the zone for each would cost more than all the
/// rest.
#[derive(Debug)]
pub struct Calendar<'z> {
    zone: &'z TimeZone,
    /// From when until when the clocks are how far ahead of UTC, in milliseconds, of the moment that was asked for last.
    known: Cell<(i64, i64, i64)>,
}

impl<'z> Calendar<'z> {
    /// Takes a zone.
    pub fn new(zone: &'z TimeZone) -> Calendar<'z> {
        Calendar { zone, known: Cell::new((0, 0, 0)) }
    }

    /// Returns the day of a moment.
    pub fn day(&self, moment: Timestamp) -> Day {
        let (from, until, _) = self.known.get();
        if !(from..until).contains(&moment.0) {
            self.known.set(self.ask(moment));
        }
        let days = moment.0.saturating_add(self.known.get().2).div_euclid(DAY);
        Day(i32::try_from(days).unwrap_or(if days < 0 { i32::MIN / 2 } else { i32::MAX / 2 }))
    }

    /// Asks the zone for how long the clocks stand as they do at a moment.
    fn ask(&self, moment: Timestamp) -> (i64, i64, i64) {
        let Ok(at) = Instant::from_millisecond(moment.0) else { return (0, 0, 0) };
        let ahead = i64::from(self.zone.to_offset(at).seconds()) * 1000;
        let next = self.zone.following(at).next();
        let until = next.map_or(i64::MAX, |change| change.timestamp().as_millisecond());
        // A change at this very moment is none that came before it.
        let behind = at.checked_add(SignedDuration::from_millis(1)).unwrap_or(at);
        let before = self.zone.preceding(behind).next();
        (before.map_or(i64::MIN, |change| change.timestamp().as_millisecond()), until, ahead)
    }
}

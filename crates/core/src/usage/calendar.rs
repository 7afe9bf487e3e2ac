//! Days in the user's time zone.

use std::borrow::Cow;
use std::cell::Cell;

use jiff::SignedDuration;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;

use crate::entry::Timestamp;

const DAY_MILLIS: i64 = 86_400_000;

/// A day, as the number of days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i32);

impl Day {
    /// Returns the calendar date, limited to the range of [`Date`].
    pub fn date(self) -> Date {
        let days = SignedDuration::from_hours(i64::from(self.0) * 24);
        date(1970, 1, 1).saturating_add(days)
    }

    /// Returns the Monday of its week.
    pub fn week_start(self) -> Day {
        // The first day was a Thursday.
        Day(self.0 - (self.0 + 3).rem_euclid(7))
    }

    /// Returns the first day of its month.
    pub fn month_start(self) -> Day {
        Day(self.0 - i32::from(self.date().day()) + 1)
    }
}

/// Maps times to days in a time zone. Caches the current UTC offset, because a lookup in the zone for each
/// time would cost more than all other work.
#[derive(Debug)]
pub struct Calendar<'z> {
    zone: Cow<'z, TimeZone>,
    /// The period of the last lookup: its start, its end and the UTC offset, in milliseconds.
    period: Cell<(i64, i64, i64)>,
}

impl<'z> Calendar<'z> {
    /// Creates a calendar for a time zone.
    pub fn new(zone: &'z TimeZone) -> Calendar<'z> {
        Calendar { zone: Cow::Borrowed(zone), period: Cell::new((0, 0, 0)) }
    }

    /// Creates a calendar that owns its time zone.
    pub fn with_zone(zone: TimeZone) -> Calendar<'static> {
        Calendar { zone: Cow::Owned(zone), period: Cell::new((0, 0, 0)) }
    }

    /// Returns the day of a time in the time zone. In UTC if the time is out of the range of the zone's rules.
    pub fn local_day(&self, time: Timestamp) -> Day {
        let (start, end, _) = self.period.get();
        if !(start..end).contains(&time.0) {
            self.period.set(self.find_offset_period(time));
        }
        let days = time.0.saturating_add(self.period.get().2).div_euclid(DAY_MILLIS);
        Day(i32::try_from(days).unwrap_or(if days < 0 { i32::MIN / 2 } else { i32::MAX / 2 }))
    }

    /// Finds the period around a time in which the UTC offset is constant. Returns start, end and offset in
    /// milliseconds, or `(0, 0, 0)` if the time is out of range.
    fn find_offset_period(&self, time: Timestamp) -> (i64, i64, i64) {
        let Ok(at) = jiff::Timestamp::from_millisecond(time.0) else { return (0, 0, 0) };
        let offset = i64::from(self.zone.to_offset(at).seconds()) * 1000;
        let next = self.zone.following(at).next();
        let end = next.map_or(i64::MAX, |change| change.timestamp().as_millisecond());
        // Includes an offset change at exactly this time.
        let after = at.checked_add(SignedDuration::from_millis(1)).unwrap_or(at);
        let before = self.zone.preceding(after).next();
        (before.map_or(i64::MIN, |change| change.timestamp().as_millisecond()), end, offset)
    }
}

//! Moments: read from the command line, said in the user's time zone, written in UTC.

use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp as Instant, Zoned, civil};
use rethread_engine::core::entry::Timestamp;

/// The present, and where the user is.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    now: Zoned,
}

impl Clock {
    /// Looks at the clock.
    pub(crate) fn look() -> Clock {
        Clock { now: Zoned::now() }
    }

    /// Looks at the clock again, in the same zone.
    pub(crate) fn again(&self) -> Clock {
        Clock { now: Instant::now().to_zoned(self.zone()) }
    }

    /// Returns a clock that says the same on every machine and at every time: it stands still, in UTC.
    pub(crate) fn utc() -> Clock {
        Clock { now: Instant::UNIX_EPOCH.to_zoned(TimeZone::UTC) }
    }

    /// Returns the same moment in another zone: `Europe/Berlin`, `UTC`, `+02:00`.
    pub(crate) fn in_zone(&self, name: &str) -> Option<Clock> {
        let zone = DateTimeParser::new().parse_time_zone(name.trim()).ok()?;
        Some(Clock { now: self.now.with_time_zone(zone) })
    }

    /// Returns the zone.
    pub(crate) fn zone(&self) -> TimeZone {
        self.now.time_zone().clone()
    }

    /// Returns the present.
    pub(crate) fn now(&self) -> Instant {
        self.now.timestamp()
    }

    /// Reads `7d`, `12h`, `2w`, `yesterday`, `2026-01-31` or RFC 3339.
    pub(crate) fn read(&self, text: &str) -> Option<Timestamp> {
        let text = text.trim();
        let start = |zoned: Zoned| zoned.start_of_day().ok();
        let zoned = match text.to_lowercase().as_str() {
            "now" => Some(self.now.clone()),
            "today" => start(self.now.clone()),
            "yesterday" => start(self.now.yesterday().ok()?),
            lower => self.ago(lower),
        };
        let zoned = zoned.or_else(|| text.parse::<Instant>().ok().map(|t| t.to_zoned(TimeZone::UTC)));
        // A bare date means its midnight here; parsing it as a date and time does just that.
        let zoned = zoned.or_else(|| {
            let local = text.parse::<civil::DateTime>().ok()?;
            local.to_zoned(self.now.time_zone().clone()).ok()
        });
        Some(Timestamp(zoned?.timestamp().as_millisecond()))
    }

    fn ago(&self, text: &str) -> Option<Zoned> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let number: i64 = text[..digits].parse().ok()?;
        let span = match text[digits..].trim() {
            "m" | "min" => Span::new().try_minutes(number),
            "h" => Span::new().try_hours(number),
            "d" => Span::new().try_days(number),
            "w" => Span::new().try_weeks(number),
            "mo" => Span::new().try_months(number),
            "y" => Span::new().try_years(number),
            _ => return None,
        };
        self.now.checked_sub(span.ok()?).ok()
    }

    /// Says how long ago a moment was, in one unit.
    pub(crate) fn age(&self, moment: Option<Timestamp>) -> String {
        let Some(Timestamp(then)) = moment else {
            return "-".to_owned();
        };
        let seconds = (self.now().as_millisecond() - then) / 1000;
        let (ahead, seconds) = (if seconds < -59 { "+" } else { "" }, seconds.unsigned_abs());
        let (number, unit) = match seconds {
            0..60 => return "now".to_owned(),
            60..3600 => (seconds / 60, "m"),
            3600..86_400 => (seconds / 3600, "h"),
            86_400..1_209_600 => (seconds / 86_400, "d"),
            1_209_600..5_184_000 => (seconds / 604_800, "w"),
            5_184_000..63_072_000 => (seconds / 2_592_000, "mo"),
            _ => (seconds / 31_536_000, "y"),
        };
        format!("{ahead}{number}{unit}")
    }

    /// Says day and minute.
    pub(crate) fn stamp(&self, moment: Timestamp) -> String {
        self.format(moment, "%Y-%m-%d %H:%M")
    }

    /// Says the second, with the day where it is not that of `before`.
    pub(crate) fn second(&self, moment: Timestamp, before: Option<Timestamp>) -> String {
        let same = before.is_some_and(|before| self.format(before, "%F") == self.format(moment, "%F"));
        self.format(moment, if same { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" })
    }

    /// Says from when to when, the day once where it is the same.
    pub(crate) fn range(&self, first: Timestamp, last: Timestamp) -> String {
        let (from, to) = (self.stamp(first), self.stamp(last));
        match (from.split_once(' '), to.split_once(' ')) {
            _ if from == to => from,
            (Some((day, _)), Some((same, time))) if day == same => format!("{from} – {time}"),
            _ => format!("{from} – {to}"),
        }
    }

    fn format(&self, moment: Timestamp, form: &str) -> String {
        let stamp = Instant::from_millisecond(moment.0);
        stamp.map_or_else(
            |_| "?".to_owned(),
            |stamp| stamp.to_zoned(self.now.time_zone().clone()).strftime(form).to_string(),
        )
    }
}

/// Writes a moment as RFC 3339 in UTC, to the millisecond.
pub(crate) fn rfc3339(moment: Timestamp) -> Option<String> {
    let stamp = Instant::from_millisecond(moment.0).ok()?;
    Some(format!("{stamp:.3}"))
}

#[cfg(test)]
mod tests {
    use super::{Clock, rfc3339};
    use rethread_engine::core::entry::Timestamp;

    fn clock() -> Clock {
        Clock { now: "2026-03-10T12:30:00+01:00[Europe/Berlin]".parse().unwrap() }
    }

    fn read(text: &str) -> String {
        clock().read(text).and_then(rfc3339).unwrap_or_else(|| "-".to_owned())
    }

    #[test]
    fn moments_are_read_in_the_users_zone() {
        assert_eq!(read("12h"), "2026-03-09T23:30:00.000Z");
        assert_eq!(read("7d"), "2026-03-03T11:30:00.000Z");
        assert_eq!(read("2w"), "2026-02-24T11:30:00.000Z");
        assert_eq!(read("today"), "2026-03-09T23:00:00.000Z");
        assert_eq!(read("Yesterday"), "2026-03-08T23:00:00.000Z");
        assert_eq!(read("2026-01-31"), "2026-01-30T23:00:00.000Z");
        assert_eq!(read("2026-01-31T10:00"), "2026-01-31T09:00:00.000Z");
        assert_eq!(read("2026-01-31T10:00:00Z"), "2026-01-31T10:00:00.000Z");
        assert_eq!(["soon", "", "d", "7", "7q", "2026-13-01"].map(read), ["-"; 6]);
    }

    #[test]
    fn ages_have_one_unit() {
        let now = clock().now().as_millisecond();
        let ages = [0, 59, 60, 3599, 3600, 86_400, 1_209_600, 5_184_000, 63_072_000, -3600];
        let said = ages.map(|seconds| clock().age(Some(Timestamp(now - seconds * 1000))));
        assert_eq!(said, ["now", "now", "1m", "59m", "1h", "1d", "2w", "2mo", "2y", "+1h"]);
        assert_eq!(clock().age(None), "-");
    }

    #[test]
    fn a_range_names_a_day_once() {
        let clock = clock();
        let at = |text: &str| clock.read(text).unwrap();
        assert_eq!(clock.range(at("2026-01-31T10:00"), at("2026-01-31T11:05")), "2026-01-31 10:00 – 11:05");
        assert_eq!(clock.range(at("2026-01-31"), at("2026-02-01")), "2026-01-31 00:00 – 2026-02-01 00:00");
    }
}

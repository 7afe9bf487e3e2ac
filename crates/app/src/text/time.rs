//! Parses times from the command line. Formats times in the time zone of the user, or in UTC.

use std::sync::OnceLock;

use jiff::civil::Weekday;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZone;
use jiff::{Span, Zoned, civil};
use rethread_engine::core::entry::Timestamp;

/// A fixed point in time, used as the current time, and the time zone of the user.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    now: jiff::Timestamp,
    /// Found when it is needed: that lists all zones of the system.
    zone: OnceLock<TimeZone>,
}

impl Clock {
    /// Creates a clock with the current time in the local time zone.
    pub(crate) fn now_here() -> Clock {
        Clock { now: jiff::Timestamp::now(), zone: OnceLock::new() }
    }

    /// Creates a clock with the current time in the same zone.
    pub(crate) fn refresh(&self) -> Clock {
        Clock { now: jiff::Timestamp::now(), zone: self.zone().into() }
    }

    /// Creates a clock at the Unix epoch in UTC, which is the same on every machine.
    pub(crate) fn utc() -> Clock {
        Clock { now: jiff::Timestamp::UNIX_EPOCH, zone: TimeZone::UTC.into() }
    }

    /// Returns the same time in another zone: `Europe/Berlin`, `UTC`, `+02:00`. Returns `None` if the zone is unknown.
    pub(crate) fn in_zone(&self, name: &str) -> Option<Clock> {
        let zone = DateTimeParser::new().parse_time_zone(name.trim()).ok()?;
        Some(Clock { now: self.now, zone: zone.into() })
    }

    /// Returns the time zone in which times are parsed and formatted.
    pub(crate) fn zone(&self) -> TimeZone {
        self.zone.get_or_init(TimeZone::system).clone()
    }

    /// Returns the time at which the clock was created or refreshed.
    pub(crate) fn now(&self) -> jiff::Timestamp {
        self.now
    }

    /// Returns the time of the clock in its zone.
    fn zoned_now(&self) -> Zoned {
        self.now.to_zoned(self.zone())
    }

    /// Parses an age (`7d`, `12h`, `2w`), `now`, `today`, `yesterday`, a day of the week (`monday`, `mon`), a local date
    /// (`2026-01-31`) or RFC 3339.
    ///
    /// A day without a time is its local midnight. A day of the week is its last one, today included. Returns `None` if the text is none of these, or out of range.
    pub(crate) fn parse_time(&self, text: &str) -> Option<Timestamp> {
        let text = text.trim();
        let start_of_day = |zoned: Zoned| zoned.start_of_day().ok();
        let zoned = match text.to_lowercase().as_str() {
            "now" => Some(self.zoned_now()),
            "today" => start_of_day(self.zoned_now()),
            "yesterday" => start_of_day(self.zoned_now().yesterday().ok()?),
            lower => self.parse_age(lower).or_else(|| start_of_day(self.parse_weekday(lower)?)),
        };
        let zoned = zoned.or_else(|| text.parse::<jiff::Timestamp>().ok().map(|t| t.to_zoned(TimeZone::UTC)));
        // A date without a time is parsed as its local midnight.
        let zoned = zoned.or_else(|| {
            let local = text.parse::<civil::DateTime>().ok()?;
            local.to_zoned(self.zone()).ok()
        });
        Some(Timestamp(zoned?.timestamp().as_millisecond()))
    }

    /// Parses the name of a day of the week, in full or its first three letters. Returns its last occurrence, which may
    /// be today.
    fn parse_weekday(&self, text: &str) -> Option<Zoned> {
        let names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
        let position = names.iter().position(|name| *name == text || name[..3] == *text)?;
        let wanted = Weekday::from_monday_zero_offset(i8::try_from(position).ok()?).ok()?;
        let days = i64::from(self.zoned_now().weekday().since(wanted));
        self.zoned_now().checked_sub(Span::new().try_days(days).ok()?).ok()
    }

    /// Parses an age such as `12h` and subtracts it from the current time. Units are `m`, `min`, `h`, `d`, `w`, `mo`, `y`.
    ///
    /// Returns `None` if the number or the unit is invalid, or the time out of range.
    fn parse_age(&self, text: &str) -> Option<Zoned> {
        let digit_count = text.bytes().take_while(u8::is_ascii_digit).count();
        let number: i64 = text[..digit_count].parse().ok()?;
        let span = match text[digit_count..].trim() {
            "m" | "min" => Span::new().try_minutes(number),
            "h" => Span::new().try_hours(number),
            "d" => Span::new().try_days(number),
            "w" => Span::new().try_weeks(number),
            "mo" => Span::new().try_months(number),
            "y" => Span::new().try_years(number),
            _ => return None,
        };
        self.zoned_now().checked_sub(span.ok()?).ok()
    }

    /// Formats the age of a time in one unit, rounded down: `5m`, `2w`. A time in the future begins with `+`.
    ///
    /// Returns `now` for less than a minute, and `-` if there is no time.
    pub(crate) fn format_age(&self, time: Option<Timestamp>) -> String {
        let Some(Timestamp(millis)) = time else {
            return "-".to_owned();
        };
        let seconds = (self.now().as_millisecond() - millis) / 1000;
        let (sign, seconds) = (if seconds < -59 { "+" } else { "" }, seconds.unsigned_abs());
        let (number, unit) = match seconds {
            0..60 => return "now".to_owned(),
            60..3600 => (seconds / 60, "m"),
            3600..86_400 => (seconds / 3600, "h"),
            86_400..1_209_600 => (seconds / 86_400, "d"),
            1_209_600..5_184_000 => (seconds / 604_800, "w"),
            5_184_000..63_072_000 => (seconds / 2_592_000, "mo"),
            _ => (seconds / 31_536_000, "y"),
        };
        format!("{sign}{number}{unit}")
    }

    /// Formats a time to the minute: `2026-01-31 10:00`. Returns `?` if it is out of range.
    pub(crate) fn format_minute(&self, time: Timestamp) -> String {
        self.format(time, "%Y-%m-%d %H:%M")
    }

    /// Formats a time to the second. The date is omitted if `previous` is on the same date.
    pub(crate) fn format_second(&self, time: Timestamp, previous: Option<Timestamp>) -> String {
        let same_date =
            previous.is_some_and(|previous| self.format(previous, "%F") == self.format(time, "%F"));
        self.format(time, if same_date { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" })
    }

    /// Formats a range of times to the minute: `2026-01-31 10:00 – 11:05`. The same date is written once.
    pub(crate) fn format_range(&self, first: Timestamp, last: Timestamp) -> String {
        let (start, end) = (self.format_minute(first), self.format_minute(last));
        match (start.split_once(' '), end.split_once(' ')) {
            _ if start == end => start,
            (Some((first_day, _)), Some((last_day, time))) if first_day == last_day => {
                format!("{start} – {time}")
            }
            _ => format!("{start} – {end}"),
        }
    }

    /// Formats a time in the zone of the clock by a `strftime` format. Returns `?` if the time is out of range.
    fn format(&self, time: Timestamp, format: &str) -> String {
        let timestamp = jiff::Timestamp::from_millisecond(time.0);
        timestamp.map_or_else(
            |_| "?".to_owned(),
            |timestamp| timestamp.to_zoned(self.zone()).strftime(format).to_string(),
        )
    }
}

/// Formats a time as RFC 3339 in UTC, to the millisecond. Returns `None` if it is out of range.
pub(crate) fn format_rfc3339(time: Timestamp) -> Option<String> {
    let timestamp = jiff::Timestamp::from_millisecond(time.0).ok()?;
    Some(format!("{timestamp:.3}"))
}

#[cfg(test)]
mod tests {
    use super::{Clock, format_rfc3339};
    use rethread_engine::core::entry::Timestamp;

    fn clock() -> Clock {
        let now: jiff::Zoned = "2026-03-10T12:30:00+01:00[Europe/Berlin]".parse().unwrap();
        Clock { now: now.timestamp(), zone: now.time_zone().clone().into() }
    }

    fn parse(text: &str) -> String {
        clock().parse_time(text).and_then(format_rfc3339).unwrap_or_else(|| "-".to_owned())
    }

    #[test]
    fn times_are_parsed_in_the_local_zone() {
        assert_eq!(parse("12h"), "2026-03-09T23:30:00.000Z");
        assert_eq!(parse("7d"), "2026-03-03T11:30:00.000Z");
        assert_eq!(parse("2w"), "2026-02-24T11:30:00.000Z");
        assert_eq!(parse("today"), "2026-03-09T23:00:00.000Z");
        assert_eq!(parse("Yesterday"), "2026-03-08T23:00:00.000Z");
        // The current time is on a Tuesday.
        assert_eq!(parse("monday"), "2026-03-08T23:00:00.000Z");
        assert_eq!(parse("Tue"), "2026-03-09T23:00:00.000Z");
        assert_eq!(parse("wednesday"), "2026-03-03T23:00:00.000Z");
        assert_eq!(parse("2026-01-31"), "2026-01-30T23:00:00.000Z");
        assert_eq!(parse("2026-01-31T10:00"), "2026-01-31T09:00:00.000Z");
        assert_eq!(parse("2026-01-31T10:00:00Z"), "2026-01-31T10:00:00.000Z");
        assert_eq!(["soon", "", "d", "7", "7q", "2026-13-01", "mo", "mond"].map(parse), ["-"; 8]);
    }

    #[test]
    fn ages_have_one_unit() {
        let now = clock().now().as_millisecond();
        let ages = [0, 59, 60, 3599, 3600, 86_400, 1_209_600, 5_184_000, 63_072_000, -3600];
        let formatted = ages.map(|seconds| clock().format_age(Some(Timestamp(now - seconds * 1000))));
        assert_eq!(formatted, ["now", "now", "1m", "59m", "1h", "1d", "2w", "2mo", "2y", "+1h"]);
        assert_eq!(clock().format_age(None), "-");
    }

    #[test]
    fn ranges_write_the_same_date_once() {
        let clock = clock();
        let parse = |text: &str| clock.parse_time(text).unwrap();
        assert_eq!(
            clock.format_range(parse("2026-01-31T10:00"), parse("2026-01-31T11:05")),
            "2026-01-31 10:00 – 11:05"
        );
        assert_eq!(
            clock.format_range(parse("2026-01-31"), parse("2026-02-01")),
            "2026-01-31 00:00 – 2026-02-01 00:00"
        );
    }
}

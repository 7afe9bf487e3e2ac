//! Times as texts that SQLite's date functions accept and that sort by time.

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::Day;

const DAY_MILLIS: i64 = 86_400_000;

/// Formats times. Adjacent rows usually have the same day, so the text of the last day is kept.
#[derive(Debug, Default)]
pub(crate) struct TimeFormatter {
    last_day: Option<i64>,
    day_text: String,
}

impl TimeFormatter {
    /// Returns a time as `2026-01-31T10:00:00.000Z`.
    pub(crate) fn format(&mut self, time: Timestamp) -> String {
        let mut text = String::with_capacity(24);
        self.append(time, &mut text);
        text
    }

    /// Appends a time as `2026-01-31T10:00:00.000Z` to a text.
    pub(crate) fn append(&mut self, time: Timestamp, text: &mut String) {
        let (day, millis) = (time.0.div_euclid(DAY_MILLIS), time.0.rem_euclid(DAY_MILLIS));
        if self.last_day != Some(day) {
            let number = i32::try_from(day).unwrap_or(if day < 0 { i32::MIN / 2 } else { i32::MAX / 2 });
            self.day_text = Day(number).date().to_string();
            self.last_day = Some(day);
        }
        text.push_str(&self.day_text);
        // Runs for nearly every row, and `write!` is several times slower.
        let mut push = |separator: char, number: i64, digits: u32| {
            text.push(separator);
            for place in (0..digits).rev() {
                let digit = number / 10_i64.pow(place) % 10;
                text.push(char::from(b'0' + digit as u8));
            }
        };
        let seconds = millis / 1000;
        push('T', seconds / 3600, 2);
        push(':', seconds / 60 % 60, 2);
        push(':', seconds % 60, 2);
        push('.', millis % 1000, 3);
        text.push('Z');
    }
}

/// Parses a date, or a time as [`TimeFormatter::format`] returns it. Also returns the length of the interval that the text
/// names: a day or a millisecond. Returns `None` for any other text.
pub(crate) fn parse_bound(text: &str) -> Option<(Timestamp, i64)> {
    let (full, len) = match text.len() {
        10 => (format!("{text}T00:00:00.000Z"), DAY_MILLIS),
        24 if text.ends_with('Z') && text.as_bytes()[10] == b'T' => (text.to_owned(), 1),
        _ => return None,
    };
    let time = Timestamp::parse_text(&full)?;
    // Only a text in this form is compared with the others as a time.
    (TimeFormatter::default().format(time) == full).then_some((time, len))
}

#[cfg(test)]
mod tests {
    use rethread_engine::core::entry::Timestamp;

    use super::{TimeFormatter, parse_bound};

    #[test]
    fn formatted_times_sort_by_time_and_parse_back() {
        let mut formatter = TimeFormatter::default();
        let times = [0, 1, 999, 86_399_999, 86_400_000, 1_700_000_000_123, 253_402_000_000_000];
        let texts: Vec<String> = times.iter().map(|&time| formatter.format(Timestamp(time))).collect();
        assert_eq!(texts[0], "1970-01-01T00:00:00.000Z");
        assert_eq!(texts[5], "2023-11-14T22:13:20.123Z");
        assert!(texts.is_sorted());
        for (time, text) in times.iter().zip(&texts) {
            assert_eq!(parse_bound(text), Some((Timestamp(*time), 1)));
        }
    }

    #[test]
    fn other_forms_are_no_bounds() {
        assert_eq!(parse_bound("2026-01-31").map(|(_, len)| len), Some(86_400_000));
        for text in ["2026-1-31", "2026-01-31 10:00:00.000Z", "2026-02-30", "now", "2026-01-31T10:00:00Z"] {
            assert_eq!(parse_bound(text), None, "{text}");
        }
    }
}

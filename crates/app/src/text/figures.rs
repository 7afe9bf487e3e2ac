//! Formats numbers, sizes and durations: `12,345`, `1.2 MB`, `3.4k`, `1m 05s`.

/// Formats a number with its digits grouped by three: `1,234,567`.
pub(crate) fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a number of bytes in decimal units: `999 B`, `1.2 kB`, `123 MB`.
pub(crate) fn format_size(bytes: u64) -> String {
    format_scaled(bytes, &["B", "kB", "MB", "GB", "TB", "PB", "EB"], " ")
}

/// Formats a number of tokens in decimal units: `999`, `12.3k`, `1.2M`, `3.4B`.
pub(crate) fn format_tokens(tokens: u64) -> String {
    format_scaled(tokens, &["", "k", "M", "B", "T"], "")
}

/// Formats a number in the largest unit that keeps it at least 1, with one decimal below 100 units.
/// `units` are powers of 1000 in ascending order; `gap` is written before a non-empty unit.
fn format_scaled(number: u64, units: &[&str], gap: &str) -> String {
    let mut value = number as f64;
    let mut unit = 0;
    // 999.95 would be rounded to 1000.0.
    while value >= 999.95 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let gap = if units[unit].is_empty() { "" } else { gap };
    if unit == 0 || value >= 99.95 {
        format!("{value:.0}{gap}{}", units[unit])
    } else {
        format!("{value:.1}{gap}{}", units[unit])
    }
}

/// Formats `part` of `whole` in percent, rounded to the nearest whole number: `0%`, `43%`, at most `999%`.
///
/// A share above 0 is never shown as `0%`, and one below the whole never as `100%`: these are `<1%` and `>99%`. Any
/// part of 0 is `0%`.
pub(crate) fn format_percent(part: f64, whole: f64) -> String {
    let percent = if whole > 0.0 { (part / whole * 100.0).clamp(0.0, 999.0) } else { 0.0 };
    match percent.round() as u64 {
        0 if percent > 0.0 => "<1%".to_owned(),
        100 if percent < 100.0 => ">99%".to_owned(),
        rounded => format!("{rounded}%"),
    }
}

/// Formats the number of branches, and of orphaned parts if there are any: `2 branches · 1 orphaned part`.
pub(crate) fn format_branch_count(branches: usize, orphaned: usize) -> String {
    let counted = count_noun(branches as u64, "branch");
    if orphaned == 0 {
        counted
    } else {
        format!("{counted} · {}", count_noun(orphaned as u64, "orphaned part"))
    }
}

/// Formats a number with a noun: `1 turn`, `2 turns`. Plurals are formed with `s`, except of `branch` and `entry`.
pub(crate) fn count_noun(count: u64, noun: &str) -> String {
    let plural = match noun {
        "branch" => "branches",
        "entry" => "entries",
        _ if count == 1 => noun,
        _ => return format!("{} {noun}s", group_digits(count)),
    };
    format!("{} {}", group_digits(count), if count == 1 { noun } else { plural })
}

/// Formats a duration: `999ms`, `1.2s`, `1m 05s`, `1h 00m`, `1d 1h`. Two units from one minute on.
pub(crate) fn format_duration(millis: u64) -> String {
    let seconds = millis / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match millis {
        0..1000 => format!("{millis}ms"),
        1000..59_950 => format!("{:.1}s", millis as f64 / 1000.0),
        _ if hours == 0 => format!("{}m {:02}s", minutes.max(1), if minutes == 0 { 0 } else { seconds % 60 }),
        _ if days == 0 => format!("{hours}h {:02}m", minutes % 60),
        _ => format!("{days}d {}h", hours % 24),
    }
}

/// Draws a bar proportional to `value`, with `width` columns for `max`. The resolution is an eighth of a column.
///
/// Any value above zero is visible. Returns an empty string if `value` or `max` is 0.
pub(crate) fn draw_bar(value: u64, max: u64, width: usize) -> String {
    if value == 0 || max == 0 {
        return String::new();
    }
    let eighths = (value as f64 / max as f64 * (width * 8) as f64).round().max(1.0) as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.push_str(["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]);
    bar
}

#[cfg(test)]
mod tests {
    use super::{
        count_noun, draw_bar, format_duration, format_percent, format_size, format_tokens, group_digits,
    };

    #[test]
    fn numbers_are_rounded_and_grouped() {
        assert_eq!([group_digits(0), group_digits(999), group_digits(1_234_567)], ["0", "999", "1,234,567"]);
        assert_eq!(
            [format_size(0), format_size(999), format_size(1234), format_size(999_999)],
            ["0 B", "999 B", "1.2 kB", "1.0 MB"]
        );
        assert_eq!([format_size(123_456_789), format_size(u64::MAX)], ["123 MB", "18.4 EB"]);
        assert_eq!(
            [999, 12_345, 1_200_000, 3_400_000_000, 5_000_000_000_000, u64::MAX].map(format_tokens),
            ["999", "12.3k", "1.2M", "3.4B", "5.0T", "18446744T"]
        );
        assert_eq!(
            [count_noun(1, "turn"), count_noun(2, "turn"), count_noun(2, "branch")],
            ["1 turn", "2 turns", "2 branches"]
        );
    }

    #[test]
    fn percentages_are_rounded_and_only_the_whole_is_all() {
        let shares =
            [(0.0, 9.0), (1.0, 5783.0), (1.0, 8.0), (5.0, 40.0), (999.0, 1000.0), (9.0, 9.0), (5.0, 0.0)];
        assert_eq!(
            shares.map(|(part, whole)| format_percent(part, whole)),
            ["0%", "<1%", "13%", "13%", ">99%", "100%", "0%"]
        );
        assert_eq!([format_percent(149.6, 100.0), format_percent(f64::INFINITY, 1.0)], ["150%", "999%"]);
    }

    #[test]
    fn durations_have_at_most_two_units() {
        let formatted = [0, 999, 1200, 59_949, 59_950, 61_000, 3_600_000, 90_000_000].map(format_duration);
        assert_eq!(formatted, ["0ms", "999ms", "1.2s", "59.9s", "1m 00s", "1m 01s", "1h 00m", "1d 1h"]);
    }

    #[test]
    fn bars_show_anything_above_zero() {
        assert_eq!(
            [draw_bar(0, 9, 4), draw_bar(1, 1000, 4), draw_bar(1, 2, 4), draw_bar(9, 9, 4)],
            ["", "▏", "██", "████"]
        );
    }
}

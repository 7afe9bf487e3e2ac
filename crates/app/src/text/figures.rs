//! Numbers as a reader likes them: `12,345`, `1.2 MB`, `3.4k`, `1m 05s`.

/// Groups the digits of a number by three.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Says a size in bytes.
pub(crate) fn size(bytes: u64) -> String {
    scaled(bytes, &["B", "kB", "MB", "GB", "TB", "PB", "EB"], " ")
}

/// Says a number of tokens.
pub(crate) fn tokens(number: u64) -> String {
    scaled(number, &["", "k", "M", "G", "T", "P", "E"], "")
}

fn scaled(number: u64, units: &[&str], gap: &str) -> String {
    let mut value = number as f64;
    let mut unit = 0;
    // 999.95 would be written as 1000.0.
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

/// Says a number of things: `1 turn`, `2 turns`.
pub(crate) fn things(number: u64, one: &str) -> String {
    let plural = match one {
        "branch" => "branches",
        "entry" => "entries",
        _ if number == 1 => one,
        _ => return format!("{} {one}s", count(number)),
    };
    format!("{} {}", count(number), if number == 1 { one } else { plural })
}

/// Says how long something took.
pub(crate) fn duration(millis: u64) -> String {
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

/// Draws a bar of at most `width` columns; anything above zero shows.
pub(crate) fn bar(part: u64, whole: u64, width: usize) -> String {
    if part == 0 || whole == 0 {
        return String::new();
    }
    let eighths = (part as f64 / whole as f64 * (width * 8) as f64).round().max(1.0) as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.push_str(["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]);
    bar
}

#[cfg(test)]
mod tests {
    use super::{bar, count, duration, size, things, tokens};

    #[test]
    fn numbers_are_said_in_few_letters() {
        assert_eq!([count(0), count(999), count(1_234_567)], ["0", "999", "1,234,567"]);
        assert_eq!([size(0), size(999), size(1234), size(999_999)], ["0 B", "999 B", "1.2 kB", "1.0 MB"]);
        assert_eq!([size(123_456_789), size(u64::MAX)], ["123 MB", "18.4 EB"]);
        assert_eq!([tokens(999), tokens(12_345), tokens(1_200_000)], ["999", "12.3k", "1.2M"]);
        assert_eq!(
            [things(1, "turn"), things(2, "turn"), things(2, "branch")],
            ["1 turn", "2 turns", "2 branches"]
        );
    }

    #[test]
    fn durations_keep_two_units() {
        let said = [0, 999, 1200, 59_949, 59_950, 61_000, 3_600_000, 90_000_000].map(duration);
        assert_eq!(said, ["0ms", "999ms", "1.2s", "59.9s", "1m 00s", "1m 01s", "1h 00m", "1d 1h"]);
    }

    #[test]
    fn bars_show_anything_above_zero() {
        assert_eq!([bar(0, 9, 4), bar(1, 1000, 4), bar(1, 2, 4), bar(9, 9, 4)], ["", "▏", "██", "████"]);
    }
}

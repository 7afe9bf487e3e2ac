//! Amounts as people type them: `4kB`, `120k`, `1.5 MB`.

use super::error::CliError;

/// Reads an amount of bytes or tokens.
pub(crate) fn amount(text: &str) -> Result<u64, CliError> {
    let bad = || CliError::BadAmount(text.to_owned());
    let lower = text.trim().to_lowercase().replace(['_', ','], "");
    let digits = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
    let (number, unit) = lower.split_at(digits);
    let unit = unit.trim().trim_end_matches("tokens").trim_end_matches("bytes").trim();
    let factor = match unit.strip_suffix('b').unwrap_or(unit) {
        "" => 1.0,
        "k" => 1e3,
        "ki" => 1024.0,
        "m" => 1e6,
        "mi" => 1024.0 * 1024.0,
        "g" => 1e9,
        _ => return Err(bad()),
    };
    let number: f64 = number.parse().map_err(|_| bad())?;
    Ok((number * factor).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::amount;

    #[test]
    fn amounts_are_read_as_people_type_them() {
        let read = |text: &str| amount(text).ok();
        let typed = ["4096", "4kB", "4 KB", "120k", "1.5MB", "4KiB", "120_000", "200k tokens", "0"];
        let meant = [4096, 4000, 4000, 120_000, 1_500_000, 4096, 120_000, 200_000, 0];
        assert_eq!(typed.map(read), meant.map(Some));
        assert_eq!(["", "k", "four", "-1", "1.2.3", "4kk", "1e9x"].map(read), [None; 7]);
    }
}

//! Parses amounts such as `4kB`, `120k` and `1.5 MB`.

use super::error::CliError;

/// Parses an amount of bytes or tokens, with a decimal (`k`, `m`, `g`) or binary (`ki`, `mi`, `gi`) unit.
///
/// Returns an error if the number or the unit is invalid.
pub(crate) fn parse_amount(text: &str) -> Result<u64, CliError> {
    let error = || CliError::BadAmount(text.to_owned());
    let lower = text.trim().to_lowercase().replace(['_', ','], "");
    let number_len = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
    let (number, unit) = lower.split_at(number_len);
    let unit = unit.trim().trim_end_matches("tokens").trim_end_matches("bytes").trim();
    let factor = match unit.strip_suffix('b').unwrap_or(unit) {
        "" => 1.0,
        "k" => 1e3,
        "ki" => 1024.0,
        "m" => 1e6,
        "mi" => 1024.0 * 1024.0,
        "g" => 1e9,
        "gi" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(error()),
    };
    let number: f64 = number.parse().map_err(|_| error())?;
    Ok((number * factor).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::parse_amount;

    #[test]
    fn amounts_with_units_are_parsed() {
        let parse = |text: &str| parse_amount(text).ok();
        let texts = ["4096", "4kB", "4 KB", "120k", "1.5MB", "4KiB", "120_000", "200k tokens", "0"];
        let amounts = [4096, 4000, 4000, 120_000, 1_500_000, 4096, 120_000, 200_000, 0];
        assert_eq!(texts.map(parse), amounts.map(Some));
        assert_eq!(["", "k", "four", "-1", "1.2.3", "4kk", "1e9x"].map(parse), [None; 7]);
    }
}

//! Client versions such as `2.1.325`, and their order.

/// A version of the client (Claude Code).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    numbers: Vec<u64>,
    /// The version as written.
    pub text: String,
}

impl Version {
    /// Parses any text as a version: parts separated by `.`, `-` or `+`.
    ///
    /// Each part counts as its leading digits, or as 0 if it has none or they exceed 64 bits.
    pub fn parse_lenient(text: &str) -> Version {
        let number = |part: &str| {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            part[..digits].parse().unwrap_or(0)
        };
        Version { numbers: text.split(['.', '-', '+']).map(number).collect(), text: text.to_owned() }
    }

    /// Parses a version typed by the user. Returns `None` unless it is exactly three numbers separated by dots.
    pub fn parse(text: &str) -> Option<Version> {
        let numbers = text.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>()?;
        (numbers.len() == 3).then(|| Version { numbers, text: text.to_owned() })
    }

    /// Returns the numbers of the version, major first.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// Returns `true` if this is version `since` or newer, by its numbers.
    pub fn is_at_least(&self, since: [u64; 3]) -> bool {
        self.numbers.as_slice() >= since.as_slice()
    }
}

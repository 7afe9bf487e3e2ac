//! Client versions: what `2.1.325` is older or newer than.

/// A client version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    numbers: Vec<u64>,
    /// As written.
    pub text: String,
}

impl Version {
    /// Reads `2.1.325`, whatever follows; what is no number counts as 0.
    pub fn read(text: &str) -> Version {
        let number = |part: &str| {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            part[..digits].parse().unwrap_or(0)
        };
        Version { numbers: text.split(['.', '-', '+']).map(number).collect(), text: text.to_owned() }
    }

    /// Reads a version that somebody typed; `None` where it is none.
    pub fn parse(text: &str) -> Option<Version> {
        let numbers = text.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>()?;
        (numbers.len() == 3).then(|| Version { numbers, text: text.to_owned() })
    }

    /// Returns its numbers.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// Whether it is this version or a newer one.
    pub fn is_since(&self, since: [u64; 3]) -> bool {
        self.numbers.as_slice() >= since.as_slice()
    }
}

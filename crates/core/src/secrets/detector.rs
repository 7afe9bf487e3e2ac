//! The description of a detector: a kind of secret with its anchors, its pattern and its check.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// How much damage a leaked secret of a kind can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SecretSeverity {
    /// A test key, or a credential with little power.
    Low,
    /// A credential that was recognised by its context only.
    Medium,
    /// A credential of a known service or a private key.
    High,
}

impl SecretSeverity {
    /// Returns the name: `low`, `medium` or `high`.
    pub fn name(self) -> &'static str {
        match self {
            SecretSeverity::Low => "low",
            SecretSeverity::Medium => "medium",
            SecretSeverity::High => "high",
        }
    }
}

/// The test that a text has to pass after it matched the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// The text must be neither a placeholder nor regular.
    Random,
    /// The last six characters are the CRC32 of the 30 before them, in base 62.
    Crc32,
    /// The first part is base64 of a JSON object.
    Jwt,
    /// The text is base64 of a name, a colon and a password.
    BasicAuth,
}

/// The positions at which a detector looks for its pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// At one of the anchors. Up to `lead` bytes of the match may precede the anchor.
    Anchor { lead: u8 },
    /// After an anchor that is not part of the secret.
    After,
    /// As the value of a key that contains one of the anchors, in any case and without separators.
    Value,
    /// Found by code of its own.
    Special,
}

/// A kind of secret and how to recognise it.
#[derive(Debug)]
pub struct Detector {
    /// The name of the kind: lower-case words joined by dashes.
    pub name: &'static str,
    /// The kind as a user reads it.
    pub title: &'static str,
    /// How much damage a leak can do.
    pub severity: SecretSeverity,
    /// A template of an example. `<20w>` stands for 20 random characters of a class; see `rethread-testkit`.
    pub example: &'static str,
    pub(super) position: Position,
    pub(super) anchors: &'static [&'static str],
    pub(super) pattern: &'static str,
    pub(super) check: Check,
    regex: OnceLock<Option<Regex>>,
}

impl Detector {
    const fn new(
        name: &'static str,
        title: &'static str,
        position: Position,
        anchors: &'static [&'static str],
        pattern: &'static str,
        example: &'static str,
    ) -> Detector {
        Detector {
            name,
            title,
            severity: SecretSeverity::High,
            example,
            position,
            anchors,
            pattern,
            check: Check::Random,
            regex: OnceLock::new(),
        }
    }

    /// Creates a detector of secrets that start with an anchor.
    pub(super) const fn prefix(
        name: &'static str,
        title: &'static str,
        anchors: &'static [&'static str],
        pattern: &'static str,
        example: &'static str,
    ) -> Detector {
        Detector::new(name, title, Position::Anchor { lead: 0 }, anchors, pattern, example)
    }

    /// Creates a detector of secrets that contain an anchor after at most `lead` bytes.
    pub(super) const fn infix(
        name: &'static str,
        title: &'static str,
        lead: u8,
        anchors: &'static [&'static str],
        pattern: &'static str,
        example: &'static str,
    ) -> Detector {
        Detector::new(name, title, Position::Anchor { lead }, anchors, pattern, example)
    }

    /// Creates a detector of secrets that follow an anchor.
    pub(super) const fn after(
        name: &'static str,
        title: &'static str,
        anchors: &'static [&'static str],
        pattern: &'static str,
        example: &'static str,
    ) -> Detector {
        Detector::new(name, title, Position::After, anchors, pattern, example)
    }

    /// Creates a detector of values whose key contains one of `keys`.
    pub(super) const fn value(
        name: &'static str,
        title: &'static str,
        keys: &'static [&'static str],
        pattern: &'static str,
        example: &'static str,
    ) -> Detector {
        Detector::new(name, title, Position::Value, keys, pattern, example)
    }

    /// Creates a detector that is implemented by code.
    pub(super) const fn special(
        name: &'static str,
        title: &'static str,
        anchors: &'static [&'static str],
        example: &'static str,
    ) -> Detector {
        Detector::new(name, title, Position::Special, anchors, "", example)
    }

    pub(super) const fn check(mut self, check: Check) -> Detector {
        self.check = check;
        self
    }

    pub(super) const fn severity(mut self, severity: SecretSeverity) -> Detector {
        self.severity = severity;
        self
    }

    /// Returns the compiled pattern, anchored at the start unless the match may precede the anchor. Returns `None` if the
    /// pattern is invalid, which a test excludes.
    pub(super) fn regex(&self) -> Option<&Regex> {
        let compile = || {
            let start = if matches!(self.position, Position::Anchor { lead: 1.. }) { "" } else { "^" };
            let end = if self.position == Position::Value { "$" } else { "" };
            let pattern = format!("{start}(?:{}){end}", self.pattern);
            RegexBuilder::new(&pattern).unicode(false).build().ok()
        };
        self.regex.get_or_init(compile).as_ref()
    }
}

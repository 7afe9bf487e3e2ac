//! Problems found in session files. Odd data is reported with its location and is never an error (**parse-never-fails**).

/// A problem in a session file and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line number, counted from 1 with blank lines included. 0 refers to the whole file.
    pub line: u32,
    /// The byte offset of the problem in the file.
    pub offset: u64,
    /// The kind of problem.
    pub kind: ProblemKind,
}

/// The kind of a [`Problem`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemKind {
    /// The file starts with a byte order mark.
    Bom,
    /// Lines end with CR LF. Reported once, for the first such line.
    CrLf,
    /// The line contains this many NUL bytes.
    Nuls(u64),
    /// A string contains unescaped control bytes.
    ControlBytes,
    /// Bytes are not UTF-8; they decode to U+FFFD.
    NotUtf8,
    /// The last line is incomplete: the file ends before the record does.
    Torn,
    /// The line is not JSON.
    NotJson,
    /// The line is JSON, but not an object.
    NotObject,
    /// The line contains this many records instead of one. Each was read.
    Glued(u32),
    /// This many bytes before or after a readable record are damaged.
    Damaged(u64),
    /// The line, of this many bytes, is too long to hold in memory even with its strings truncated. It was skipped.
    TooLong(u64),
    /// A string contains an escaped lone surrogate; it decodes to U+FFFD.
    LoneSurrogate,
    /// Values are nested to this depth, over 127, which common JSON parsers reject.
    Deep(u32),
    /// The timestamp cannot be parsed.
    BadTimestamp,
    /// A token count is not a whole number that fits in 64 bits.
    BadCount,
    /// An earlier line has the same uuid.
    RepeatedUuid(DuplicateUuid),
    /// No line of the file has the uuid that the parent field names.
    MissingParent,
    /// No line of the file has the uuid that the logical parent field names.
    MissingLogicalParent,
    /// The entry names itself as its parent.
    SelfParent,
    /// The parent links form a cycle through this entry. Its link was removed.
    Cycle,
}

/// How a line with a repeated uuid compares to the previous line with that uuid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DuplicateUuid {
    /// Both lines have the same bytes. A tree builder without content hashes compares only their lengths.
    SameContent,
    /// The lines differ.
    OtherContent,
}

impl ProblemKind {
    /// Returns `true` if the line is not exactly one record.
    pub fn is_line_damage(&self) -> bool {
        matches!(
            self,
            ProblemKind::Torn
                | ProblemKind::Glued(_)
                | ProblemKind::Damaged(_)
                | ProblemKind::Nuls(_)
                | ProblemKind::NotJson
                | ProblemKind::NotObject
                | ProblemKind::ControlBytes
                | ProblemKind::TooLong(_)
        )
    }

    /// Returns `true` if data is lost or out of place, `false` if it is merely unusual.
    pub fn is_damage(&self) -> bool {
        match self {
            ProblemKind::Bom
            | ProblemKind::CrLf
            | ProblemKind::LoneSurrogate
            | ProblemKind::Deep(_)
            | ProblemKind::BadTimestamp
            | ProblemKind::BadCount
            | ProblemKind::RepeatedUuid(_)
            | ProblemKind::MissingParent
            | ProblemKind::MissingLogicalParent => false,
            ProblemKind::Nuls(_)
            | ProblemKind::ControlBytes
            | ProblemKind::NotUtf8
            | ProblemKind::Torn
            | ProblemKind::NotJson
            | ProblemKind::NotObject
            | ProblemKind::Glued(_)
            | ProblemKind::Damaged(_)
            | ProblemKind::TooLong(_)
            | ProblemKind::SelfParent
            | ProblemKind::Cycle => true,
        }
    }

    /// Returns the stable name used in output and counts.
    pub fn name(&self) -> &'static str {
        match self {
            ProblemKind::Bom => "bom",
            ProblemKind::CrLf => "crlf",
            ProblemKind::Nuls(_) => "nuls",
            ProblemKind::ControlBytes => "control-bytes",
            ProblemKind::NotUtf8 => "not-utf8",
            ProblemKind::Torn => "torn",
            ProblemKind::NotJson => "not-json",
            ProblemKind::NotObject => "not-object",
            ProblemKind::Glued(_) => "glued",
            ProblemKind::Damaged(_) => "damaged",
            ProblemKind::TooLong(_) => "too-long",
            ProblemKind::LoneSurrogate => "lone-surrogate",
            ProblemKind::Deep(_) => "deep",
            ProblemKind::BadTimestamp => "bad-timestamp",
            ProblemKind::BadCount => "bad-count",
            ProblemKind::RepeatedUuid(DuplicateUuid::SameContent) => "repeated-line",
            ProblemKind::RepeatedUuid(DuplicateUuid::OtherContent) => "repeated-uuid",
            ProblemKind::MissingParent => "missing-parent",
            ProblemKind::MissingLogicalParent => "missing-logical-parent",
            ProblemKind::SelfParent => "self-parent",
            ProblemKind::Cycle => "cycle",
        }
    }
}

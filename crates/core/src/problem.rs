//! Odd data: never an error, always told with its place (**parse-never-fails**).

/// Something odd in a session file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1 with blank lines included; 0 for the file as a whole.
    pub line: u32,
    /// The byte at which the oddity stands in the file.
    pub offset: u64,
    /// What is odd.
    pub kind: ProblemKind,
}

/// What can be odd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemKind {
    /// The file starts with a byte order mark.
    Bom,
    /// Lines end with CR LF; told once, for the first.
    CrLf,
    /// NUL bytes stand in the line.
    Nuls(u64),
    /// Control bytes stand raw in a string.
    ControlBytes,
    /// Bytes are not UTF-8; they read as U+FFFD.
    NotUtf8,
    /// The last line stops in the middle.
    Torn,
    /// The line is not JSON.
    NotJson,
    /// The line is JSON, but no object.
    NotObject,
    /// Several records stand on one line; each was read.
    Glued(u32),
    /// Bytes before a record that could be read were damaged.
    Damaged(u64),
    /// The line is too long and too intricate to be held; it was set aside.
    TooLong(u64),
    /// A string escapes half of a surrogate pair; it reads as U+FFFD.
    LoneSurrogate,
    /// Values are nested this deep.
    Deep(u32),
    /// The timestamp is not one.
    BadTimestamp,
    /// A token count is not a whole number that fits in 64 bits.
    BadCount,
    /// The uuid stands on an earlier line as well.
    RepeatedUuid(DuplicateUuid),
    /// No line of the file has the uuid that the parent field names.
    MissingParent,
    /// No line of the file has the uuid that the logical parent field names.
    MissingLogicalParent,
    /// The entry is its own parent.
    SelfParent,
    /// Following parents comes back to this entry; the link was cut here.
    Cycle,
}

/// How a repeated uuid relates to the line that had it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DuplicateUuid {
    /// The same bytes again.
    Same,
    /// Other bytes.
    Other,
}

impl ProblemKind {
    /// Whether something of the file is lost or out of place, and not only unusual.
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

    /// Returns a stable name for output and counting.
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
            ProblemKind::RepeatedUuid(DuplicateUuid::Same) => "repeated-line",
            ProblemKind::RepeatedUuid(DuplicateUuid::Other) => "repeated-uuid",
            ProblemKind::MissingParent => "missing-parent",
            ProblemKind::MissingLogicalParent => "missing-logical-parent",
            ProblemKind::SelfParent => "self-parent",
            ProblemKind::Cycle => "cycle",
        }
    }
}

//! A script language for session files: one entry per line, the indentation determines `parentUuid`.
//!
//! ```text
//! u1: tidy the shed                          user prompt; the letters of the name determine the type
//!   a1: ?where to start | !Bash ls shed      thinking and a tool call in one line of one message
//!     u2: =a1 rake, hose                     the result of a1's call; `=!a1 …` for an error
//!       a2: two tools                        answer
//!       a3 #m2: or maybe three <- tip        a fork; the note after `<-` is not written
//! last-prompt ~a3: tidy the shed             the name of a line without uuid is its type
//! ```
//!
//! [`parse`] documents the whole language.

mod name;
mod parse;
mod record;
mod write;

pub use name::{name_from_bits, name_from_uuid, uuid_from_name};
pub use parse::parse;
pub use record::{ContentPart, Record, RecordKind, RecordTime, SharedFields};
pub use write::{write_record, write_records};

/// Returns the session file that a script describes.
pub fn bytes(script: &str) -> Vec<u8> {
    write_records(&parse(script))
}

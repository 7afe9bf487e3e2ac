//! A session file in a few words: one entry per line, indentation is `parentUuid`.
//!
//! ```text
//! u1: tidy the shed                          user prompt; the name's letters say what the line is
//!   a1: ?where to start | !Bash ls shed      thinking and a tool call in one line of one message
//!     u2: =a1 rake, hose                     the result of a1's call; `=!a1 …` for an error
//!       a2: two things                       answer
//!       a3 #m2: or maybe three <- tip        a fork; what follows `<-` is a note and is not written
//! last-prompt ~a3: tidy the shed             a line without uuid is called by its type
//! ```
//!
//! The whole language stands with [`parse`].

mod name;
mod parse;
mod record;
mod write;

pub use name::{name_of, name_of_bits, uuid_of};
pub use parse::parse;
pub use record::{Part, Record, Role, Setting, Stamp};
pub use write::{file, line};

/// Returns the session file that a script describes.
pub fn bytes(script: &str) -> Vec<u8> {
    file(&parse(script))
}

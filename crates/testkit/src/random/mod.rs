//! Random material: JSON as nobody writes it, session files of any shape, and bytes that went through something.
//!
//! All are proptest strategies, so that a seed repeats them and a failure shrinks.

mod damage;
mod json;
mod session;

pub use damage::{Damage, damage, damaged, pieces};
pub use json::{line, object, string_body, timestamp, value};
pub use session::{file, records};

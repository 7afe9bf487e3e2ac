//! Proptest strategies: unusual JSON, session files of any shape, and damaged bytes.

mod damage;
mod json;
mod session;

pub use damage::{Damage, chunk_lengths, damage, damaged};
pub use json::{line, object, string_body, timestamp, value};
pub use session::{file, records};

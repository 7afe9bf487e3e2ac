//! Stores of which it is known what was spent in them: a seed gives files, and the responses that were written into them.
//!
//! Every line knows which response it is of, so nothing has to be found out: what the rule of `core/usage` must recognise
//! by ids and times is a number here. Whatever happens to the files, the truth follows from the lines that are left.
//!
//! ```text
//! seed ──▶ Maker ──▶ Store: files of lines ──▶ bytes on disk
//!                                   └────────▶ truth: each response once, with all it can be grouped by
//! ```

mod copy;
mod expected;
mod generator;
mod respond;
mod rng;
mod store;
mod turn;

pub use expected::{Reach, Spend, Times};
pub use generator::StoreGenerator;
pub use rng::Rng;
pub use store::{Agent, File, Line, Said, Store, Turn};

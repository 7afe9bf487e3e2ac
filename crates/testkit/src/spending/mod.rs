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
mod dice;
mod maker;
mod respond;
mod store;
mod truth;
mod turn;

pub use dice::Rng;
pub use maker::StoreGenerator;
pub use store::{Agent, File, Line, Said, Store, Turn};
pub use truth::{Reach, Spend, Times};

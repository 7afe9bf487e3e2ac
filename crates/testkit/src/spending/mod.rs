//! Generated stores with known usage: a seed gives files and the responses that were written into them.
//!
//! Every line knows its response, so the expected totals need no deduplication: `core/usage` must identify responses by
//! ids and times, here each has a number. The expectation follows from the lines that exist, even after files change.
//!
//! ```text
//! seed ──▶ StoreGenerator ──▶ GeneratedStore: files of lines ──▶ bytes on disk
//!                                            └───────────────▶ ExpectedResponse: each response once
//! ```

mod copy;
mod expected;
mod generator;
mod respond;
mod rng;
mod store;
mod turn;

pub use expected::{CopyCounts, ExpectedResponse, ExpectedStatus};
pub use generator::StoreGenerator;
pub use rng::Rng;
pub use store::{GeneratedFile, GeneratedLine, GeneratedStore, GeneratedTurn, ResponseRecord, SubagentInfo};

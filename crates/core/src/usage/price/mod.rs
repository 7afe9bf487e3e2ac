//! Prices of models, by model and day.
//!
//! ```text
//! text ─▶ parse_table ─▶ PriceTable ─▶ ModelPricing ─▶ PriceRow (by day) ─▶ TokenRates (by prompt length) ─▶ Money
//! ```
//!
//! The built-in table is `prices.toml`. A user's own table has the same format and takes precedence. A model
//! without a matching row has no price, which differs from a price of zero.

mod name;
mod rates;
mod read;
mod table;

pub use rates::{LongContextRates, ModelPricing, PriceRow, PriceSource, ReturnCost, TokenRates};
pub use read::PriceTableError;
pub use table::{PriceTable, PriceTableOrigin};

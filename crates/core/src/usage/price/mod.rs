//! What models cost: tables of prices, by model and day.
//!
//! ```text
//! text ─▶ read ─▶ Prices ─▶ Tariff (of a model) ─▶ Row (of a day) ─▶ Rates (of a length) ─▶ Money
//! ```
//!
//! The table in the repository is `prices.toml`; a user's own has the same form and comes before it. What no row matches has no
//! price, which is not the same as a price of nothing.

mod name;
mod rates;
mod read;
mod table;

pub use rates::{LongContextRates, ModelPricing, PriceSource, Rates, Row};
pub use read::PriceProblem;
pub use table::{Origin, Prices};

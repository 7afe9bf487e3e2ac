//! Which prices count.

use rethread_engine::core::usage::Prices;

use crate::cli::Stop;

/// Where prices come from.
#[derive(Debug, clap::Args)]
pub(crate) struct PriceArgs {}

/// Returns the prices that count.
pub(crate) fn prices(_: &PriceArgs) -> Result<Prices, Stop> {
    Ok(Prices::built_in())
}

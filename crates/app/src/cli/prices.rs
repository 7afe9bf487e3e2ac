//! The price table of a command.

use std::path::Path;

use rethread_engine::core::usage::PriceTable;

use super::error::{self, CliError};
use super::out::Out;
use super::{AppContext, clean};
use crate::prices::{PricesSource, check_price_table, load_configured_prices, load_prices};

/// Loads the price table `named`, or else the configured one. Returns an error if `named` cannot be used.
///
/// A configured file that cannot be used is only a warning, and the default table is loaded.
pub(crate) fn load_price_table(
    named: Option<&Path>,
    app: &AppContext,
    out: &mut Out,
) -> Result<PriceTable, CliError> {
    if named.is_some() {
        return Ok(load_prices(named)?);
    }
    let PricesSource::File(path) = &app.prices else { return Ok(load_configured_prices(&app.prices)?) };
    match load_configured_prices(&app.prices) {
        Ok(table) => Ok(table),
        Err(_) => {
            let reason = check_price_table(path).unwrap_or_default();
            error::print_warning(&clean::line(&format!("`prices` in the configuration: {reason}")), out);
            Ok(load_prices(None)?)
        }
    }
}

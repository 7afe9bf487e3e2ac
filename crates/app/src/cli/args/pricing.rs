//! The arguments of every command that says what something cost.

use std::path::PathBuf;

use rethread_engine::core::usage::Prices;

use super::super::error::CliError;

/// Where the prices are from.
#[derive(Debug, clap::Args)]
pub(crate) struct PriceArgs {
    /// Take prices from this table before the built-in ones
    ///
    /// A table has rows of this form, in dollars per million tokens, each value on a line of its own: `[[price]]`, `models =
    /// ["my-model-*"]`, `input = 3`, `output = 15`; and `cache_write_5m`, `cache_write_1h` and `cache_read`, where they are not
    /// 1.25, 2 and 0.1 times the input. Also `from = 2026-01-31` (since when), `web_search` (per thousand), and `long.above`
    /// (tokens) with `long.input`, `long.output` and so on. The first row that matches counts; models of no row have the built-in
    /// prices. Without this option, prices.toml in $XDG_CONFIG_HOME/rethread or ~/.config/rethread is taken, if it is there.
    #[arg(long = "prices", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl PriceArgs {
    /// Returns the prices that hold.
    pub(crate) fn prices(&self) -> Result<Prices, CliError> {
        Ok(crate::prices::prices(self.file.as_deref())?)
    }
}

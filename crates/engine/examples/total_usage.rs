//! Totals tokens and cost by model: `cargo run --example total_usage -- ~/.claude`

use std::io::{self, Write};

use rethread_engine::Store;
use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops::usage::{GroupBy, UsageRequest};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: total_usage FOLDER")?;
    let prices = PriceTable::built_in();
    let request = UsageRequest { by: GroupBy::Model, ..UsageRequest::new(&prices) };
    let report = Store::new(folder).usage(&request);
    let mut out = io::stdout().lock();
    for row in &report.rows {
        let totals = row.totals.total();
        writeln!(
            out,
            "${:9.2} {:8} responses  {:?}",
            totals.cost.dollars(),
            totals.counts.responses,
            row.key
        )?;
    }
    writeln!(out, "${:9.2} in total", report.total.total().cost.dollars())?;
    Ok(())
}

//! `rethread context`: where the context window went, as a chart, by cause and by block.

mod chart;
mod run;
mod words;

pub(crate) use run::run;

//! A conversation as JSON Lines: an object that says which session it is, then one per turn, as `show --json` prints them.

use std::io;

use rethread_engine::ops::{SessionView, ToldTurn};

use super::detail::Detail;
use crate::json;

/// Writes the object that stands before the turns.
pub(super) fn head(
    reading: &SessionView,
    told: usize,
    everything: bool,
    detail: Detail,
) -> io::Result<Vec<u8>> {
    json::line(&json::export(reading, told, everything, detail.name()))
}

/// Writes a turn.
pub(super) fn turn(session: &str, told: &ToldTurn) -> io::Result<Vec<u8>> {
    json::line(&json::turn(session, told))
}

//! Writes a session as JSON Lines: an object with the session, then one per turn, as `show --json` prints them.

use std::io;

use rethread_engine::ops::read::SessionView;
use rethread_engine::ops::show::ShownTurn;

use super::detail::Detail;
use crate::json;

/// Formats the line before the turns: the session, the number of exported turns, and the level of detail.
pub(super) fn format_header(
    view: &SessionView,
    turn_count: usize,
    all_turns: bool,
    detail: Detail,
) -> io::Result<Vec<u8>> {
    json::serialize_line(&json::build_export(view, turn_count, all_turns, detail.name()))
}

/// Writes a turn as one line of JSON.
pub(super) fn write_turn(session_id: &str, turn: &ShownTurn, out: &mut dyn io::Write) -> io::Result<()> {
    json::write_line(out, &json::build_turn(session_id, turn))
}

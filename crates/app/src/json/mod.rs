//! Objects of `--json` that more than one face writes: types of their own, version 1, described in `docs/json.md`
//! (**wire-is-separate**). Those of single commands stand beside the commands.

mod context;
mod diff;
mod doctor;
mod export;
mod find;
mod line;
mod new_session;
mod object;
mod repair;
mod resume;
mod search;
mod serve;
mod session;
mod stats;
mod statusline;
pub(crate) mod statusline_input;
mod tree;
mod trimmed;
mod turn;
mod usage;
mod write;

pub(crate) use self::context::{
    context, context_cause, context_drop, context_item, context_reread, context_turn,
};
pub(crate) use self::diff::diff;
pub(crate) use self::doctor::{finding, one_session, store_finding, whole_store};
pub(crate) use self::find::found;
pub(crate) use self::new_session::{moved, offspring};
pub(crate) use self::repair::{mend, repair};
pub(crate) use self::resume::resume;
pub(crate) use self::search::{
    index_dropped, index_status, search_hit, search_resume, search_session, search_total,
};
pub(crate) use self::serve::serving;
pub(crate) use self::session::*;
pub(crate) use self::stats::{file, stats};
pub(crate) use self::statusline::statusline;
pub(crate) use self::tree::{branch, tree_node};
pub(crate) use self::trimmed::{lighter, rescue};
pub(crate) use self::usage::{usage_check, usage_row, usage_total, usage_trace};
pub(crate) use self::write::{op, prune, remove, rename, restore, undo};
pub(crate) use export::export;
pub(crate) use line::line;
pub(crate) use object::{Usage, Wire, time, wire};
pub(crate) use turn::{standing, tool, turn};

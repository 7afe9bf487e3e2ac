//! Objects of `--json` that more than one face writes: types of their own, version 1, described in `docs/json.md`
//! (**wire-is-separate**). Those of single commands stand beside the commands.

mod object;
mod session;
mod shy;
mod turn;

pub(crate) use object::{Usage, Wire, time, wire};
pub(crate) use session::export;
pub(crate) use shy::line;
pub(crate) use turn::{standing, tool, turn};

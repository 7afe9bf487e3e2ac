//! `rethread tree`: draws a session as a tree, as text, for Graphviz or as an image.

mod dot;
mod text;

use rethread_engine::ops;
use rethread_engine::ops::tree::{TreeListing, TreeRequest};

use super::AppContext;
use super::args::{self, Format};
use super::error::{CliError, Exit};
use super::out::Out;
use crate::html::tree as svg;
use crate::json;

/// Runs `rethread tree`: draws the session as a tree in the requested format.
///
/// Returns [`Exit::Nothing`] if it has no messages.
pub(crate) fn run(args: &args::Tree, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let path = app.find_session(&args.session)?;
    let request = TreeRequest { path, all: args.all, around: args.around.clone() };
    let mut tree = ops::tree::outline_tree(&request)?;
    let has_rows = !tree.rows.is_empty();
    match args.format {
        _ if out.is_json() => print_json(&mut tree, out)?,
        Some(Format::Json) => print_json(&mut tree, out)?,
        Some(Format::Dot) => dot::print(&mut tree, args.all, out)?,
        Some(Format::Svg) => out.line(&svg::render_file(&mut tree, args.all)?)?,
        Some(Format::Text) | None if has_rows => text::print(&mut tree, args.all, app, out)?,
        Some(Format::Text) | None => out.note("this session has no messages"),
    }
    Ok(Exit::from_found(has_rows))
}

fn print_json(tree: &mut TreeListing, out: &mut Out) -> Result<(), CliError> {
    let session = tree.header.id.clone();
    for idx in 0..tree.rows.len() {
        let details = tree.read_row(idx)?;
        out.json(&json::build_tree_node(&session, idx, &tree.rows[idx], details.as_ref()))?;
    }
    Ok(())
}

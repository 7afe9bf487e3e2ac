//! `rethread tree`: a session drawn as a tree, as text, for Graphviz or as a picture.

mod dot;
mod text;

use rethread_engine::ops::{self, Drawing, TreeRequest};

use super::AppContext;
use super::args::{self, Format};
use super::error::{CliError, Exit};
use super::out::Out;
use crate::html::tree;
use crate::json;

/// Runs the command.
pub(crate) fn run(args: &args::Tree, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let path = place.session(&args.session)?;
    let request = TreeRequest { path, all: args.all, around: args.around.clone() };
    let mut drawing = ops::tree(&request)?;
    let any = !drawing.rows.is_empty();
    match args.format {
        _ if out.is_json() => json(&mut drawing, out)?,
        Some(Format::Json) => json(&mut drawing, out)?,
        Some(Format::Dot) => dot::draw(&mut drawing, args.all, out)?,
        Some(Format::Svg) => out.line(&tree::file(&mut drawing, args.all)?)?,
        Some(Format::Text) | None if any => text::draw(&mut drawing, args.all, place, out)?,
        Some(Format::Text) | None => out.note("nothing was said in this session"),
    }
    Ok(Exit::found(any))
}

fn json(drawing: &mut Drawing, out: &mut Out) -> Result<(), CliError> {
    let session = drawing.head.id.clone();
    for k in 0..drawing.rows.len() {
        let read = drawing.read(k)?;
        out.json(&json::tree_node(&session, k, &drawing.rows[k], read.as_ref()))?;
    }
    Ok(())
}

//! `rethread schema`: what the files hold, by client version.

use rethread_engine::core::schema::{Occurrences, SchemaItem};
use rethread_engine::ops;

use super::AppContext;
use super::args;
use super::clean;
use super::error::{self, CliError, Exit};
use super::figures::{count, things};
use super::out::Out;
use super::style::{MARK, PLAIN, QUIET, STRONG, paint};
use super::table::{Align, Cell, Table};
use crate::json;

/// Runs the command.
pub(crate) fn run(args: &args::Schema, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let schema = ops::schema(&place.roots);
    let rows: Vec<_> = schema.census.rows().filter(|(.., known)| !(args.unknown && *known)).collect();
    if out.is_json() {
        for (shape, name, seen, known) in &rows {
            out.json(&json::shape(*shape, name, seen, *known))?;
        }
    } else {
        out.may_page();
        let shapes = [
            SchemaItem::Type,
            SchemaItem::System,
            SchemaItem::Progress,
            SchemaItem::Attachment,
            SchemaItem::Block,
            SchemaItem::Field,
        ];
        for shape in shapes {
            let mut some = rows.iter().filter(|row| row.0 == shape).peekable();
            if some.peek().is_none() {
                continue;
            }
            out.line(&paint(STRONG, heading(shape)))?;
            let mut table = Table::new(2)
                .column("name", Align::Left, 56)
                .column("count", Align::Right, 12)
                .column("oldest", Align::Left, 14)
                .column("newest", Align::Left, 14)
                .column("", Align::Left, 7);
            some.for_each(|(_, name, seen, known)| table.row(cells(name, seen, *known)));
            table.print(out)?;
            out.line("")?;
        }
        let unknown = rows.iter().filter(|(.., known)| !known).count();
        out.note(&format!(
            "{}, {}, {unknown} unknown",
            things(schema.files as u64, "file"),
            things(schema.census.rows().count() as u64, "shape")
        ));
    }
    error::warn(&schema.failures, out);
    Ok(Exit::found(!rows.is_empty()))
}

fn heading(shape: SchemaItem) -> &'static str {
    match shape {
        SchemaItem::Type => "types of lines",
        SchemaItem::System => "subtypes of system lines",
        SchemaItem::Progress => "types of progress",
        SchemaItem::Attachment => "types of attachments",
        SchemaItem::Block => "content blocks",
        SchemaItem::Field => "fields by type of line",
    }
}

fn cells(name: &str, seen: &Occurrences, known: bool) -> Vec<Cell> {
    let version = |version: &Option<rethread_engine::core::version::Version>| {
        Cell::new(QUIET, version.as_ref().map(|version| clean::line(&version.text)).unwrap_or_default())
    };
    vec![
        Cell::new(if known { PLAIN } else { MARK }, clean::line(name)),
        count(seen.count).into(),
        version(&seen.oldest),
        version(&seen.newest),
        Cell::new(MARK, if known { "" } else { "unknown" }),
    ]
}

//! `rethread schema`: lists the types, blocks and fields in the files, by client version.

use rethread_engine::core::schema::{Occurrences, SchemaItemKind};
use rethread_engine::ops;

use super::AppContext;
use super::args;
use super::clean;
use super::error::{self, CliError, Exit};
use super::figures::{count_noun, group_digits};
use super::out::Out;
use super::style::{MARK, PLAIN, QUIET, STRONG, paint};
use super::table::{Align, Cell, Table};
use crate::json;

/// Runs `rethread schema`: prints types, blocks and fields with their counts and client versions.
///
/// Returns [`Exit::Nothing`] if there are none.
pub(crate) fn run(args: &args::Schema, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let schema = ops::schema::collect_schema(&app.roots);
    let rows: Vec<_> = schema.fields.rows().filter(|(.., known)| !(args.unknown && *known)).collect();
    if out.is_json() {
        for (kind, name, occurrences, known) in &rows {
            out.json(&json::build_schema_item(*kind, name, occurrences, *known))?;
        }
    } else {
        out.allow_pager();
        let kinds = [
            SchemaItemKind::Type,
            SchemaItemKind::System,
            SchemaItemKind::Progress,
            SchemaItemKind::Attachment,
            SchemaItemKind::Block,
            SchemaItemKind::Field,
        ];
        for kind in kinds {
            let mut item_rows = rows.iter().filter(|row| row.0 == kind).peekable();
            if item_rows.peek().is_none() {
                continue;
            }
            out.line(&paint(STRONG, kind_heading(kind)))?;
            let mut table = Table::new(2)
                .column("name", Align::Left, 56)
                .column("count", Align::Right, 12)
                .column("oldest", Align::Left, 14)
                .column("newest", Align::Left, 14)
                .column("", Align::Left, 7);
            item_rows
                .for_each(|(_, name, occurrences, known)| table.row(build_cells(name, occurrences, *known)));
            table.print(out)?;
            out.line("")?;
        }
        let unknown_count = rows.iter().filter(|(.., known)| !known).count();
        out.note(&format!(
            "{}, {}, {unknown_count} unknown",
            count_noun(schema.files as u64, "file"),
            count_noun(schema.fields.rows().count() as u64, "item")
        ));
    }
    error::print_warnings(&schema.failures, out);
    Ok(Exit::from_found(!rows.is_empty()))
}

fn kind_heading(kind: SchemaItemKind) -> &'static str {
    match kind {
        SchemaItemKind::Type => "line types",
        SchemaItemKind::System => "system subtypes",
        SchemaItemKind::Progress => "progress types",
        SchemaItemKind::Attachment => "attachment types",
        SchemaItemKind::Block => "content blocks",
        SchemaItemKind::Field => "fields by line type",
    }
}

/// Builds the cells of a type, block or field: name, count, oldest and newest version, and `unknown` if rethread does not
/// know it.
fn build_cells(name: &str, occurrences: &Occurrences, is_known: bool) -> Vec<Cell> {
    let version_cell = |version: &Option<rethread_engine::core::version::Version>| {
        Cell::new(QUIET, version.as_ref().map(|version| clean::line(&version.text)).unwrap_or_default())
    };
    vec![
        Cell::new(if is_known { PLAIN } else { MARK }, clean::line(name)),
        group_digits(occurrences.count).into(),
        version_cell(&occurrences.oldest),
        version_cell(&occurrences.newest),
        Cell::new(MARK, if is_known { "" } else { "unknown" }),
    ]
}

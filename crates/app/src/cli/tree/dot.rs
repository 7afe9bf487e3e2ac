//! Renders the tree for Graphviz.

use rethread_engine::core::tree::{OutlineItem, OutlineRow, PathRelation};
use rethread_engine::ops::tree::TreeListing;

use crate::cli::clean;
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::cli::table::truncate_to_width;
use crate::text::node::{RowLabel, build_row_label};

/// The maximum width in columns of the preview in a box.
const MAX_TEXT_WIDTH: usize = 48;

/// Prints all rows as a DOT graph. `all` is `true` if every entry has a row, not every turn.
pub(super) fn print(tree: &mut TreeListing, all: bool, out: &mut Out) -> Result<(), CliError> {
    let folder = tree.header.folder.clone();
    out.line(&format!("digraph {} {{", quote(&clean::line(&tree.header.title.text))))?;
    out.line("  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f8fa\", color=\"#8c959f\", fontname=\"Helvetica\", fontsize=10];")?;
    out.line("  edge [arrowhead=none, color=\"#8c959f\"];")?;
    for idx in 0..tree.rows.len() {
        let details = tree.read_row(idx)?;
        let row = &tree.rows[idx];
        let label = build_row_label(row, details.as_ref(), &folder, all);
        out.line(&format!(
            "  n{idx} [label={}{}];",
            quote(&format_box_text(&label)),
            select_attributes(row)
        ))?;
        if let Some(parent) = row.parent {
            let edge_style =
                if row.relation == PathRelation::OnPath { " [color=\"#1a7f37\", penwidth=2]" } else { "" };
            out.line(&format!("  n{parent} -> n{idx}{edge_style};"))?;
        }
    }
    out.line("}")
}

/// Returns the lines of a box: name, origin and tip; the preview; the counts.
fn format_box_text(label: &RowLabel) -> String {
    let heading = [label.name.as_str(), &label.origin, &label.tip];
    let heading: Vec<&str> = heading.into_iter().filter(|part| !part.is_empty()).collect();
    let lines = [heading.join(" · "), truncate_to_width(&label.text, MAX_TEXT_WIDTH), label.work.clone()];
    lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns the DOT attributes of a row, by its kind and its relation to the active path.
fn select_attributes(row: &OutlineRow) -> &'static str {
    match (row.item, row.relation) {
        (OutlineItem::Gap { .. }, _) => ", shape=plaintext, style=\"\", fontcolor=\"#6e7781\"",
        _ if row.requested => ", color=\"#9a6700\", fillcolor=\"#fff8c5\", penwidth=3",
        (OutlineItem::Compaction(_), _) => ", color=\"#9a6700\", fillcolor=\"#fff8c5\"",
        (_, PathRelation::OnPath) => ", color=\"#1a7f37\", fillcolor=\"#dafbe1\", penwidth=2",
        (_, PathRelation::Compacted) => ", color=\"#1a7f37\", style=\"rounded,dashed\"",
        (_, PathRelation::OtherBranch) => "",
    }
}

/// Quotes a DOT string. Line breaks are kept.
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quotes_are_escaped() {
        assert_eq!(quote("a \"b\" \\ c\nd \\"), r#""a \"b\" \\ c\nd \\""#);
    }
}

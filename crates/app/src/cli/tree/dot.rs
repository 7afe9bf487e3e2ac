//! The tree for Graphviz.

use rethread_engine::core::tree::{OutlineItem, PathRelation, Row};
use rethread_engine::ops::Drawing;

use super::super::clean;
use super::super::error::CliError;
use super::super::out::Out;
use super::super::table::truncate_to_width;
use crate::text::node::{Label, label};

/// Widest line of words in a box.
const WIDEST: usize = 48;

/// Draws all rows.
pub(super) fn draw(drawing: &mut Drawing, all: bool, out: &mut Out) -> Result<(), CliError> {
    let folder = drawing.head.folder.clone();
    out.line(&format!("digraph {} {{", quoted(&clean::line(&drawing.head.title.text))))?;
    out.line("  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f8fa\", color=\"#8c959f\", fontname=\"Helvetica\", fontsize=10];")?;
    out.line("  edge [arrowhead=none, color=\"#8c959f\"];")?;
    for k in 0..drawing.rows.len() {
        let read = drawing.read(k)?;
        let row = &drawing.rows[k];
        let label = label(row, read.as_ref(), &folder, all);
        out.line(&format!("  n{k} [label={}{}];", quoted(&words(&label)), look(row)))?;
        if let Some(parent) = row.parent {
            let on =
                if row.standing == PathRelation::OnPath { " [color=\"#1a7f37\", penwidth=2]" } else { "" };
            out.line(&format!("  n{parent} -> n{k}{on};"))?;
        }
    }
    out.line("}")
}

fn words(label: &Label) -> String {
    let tip = match (label.tip.is_empty(), label.active) {
        (true, _) => String::new(),
        (false, true) => format!("active tip {}", label.tip),
        (false, false) => format!("tip {}", label.tip),
    };
    let head = [label.name.as_str(), &label.origin, &tip];
    let head: Vec<&str> = head.into_iter().filter(|word| !word.is_empty()).collect();
    let lines = [head.join(" · "), truncate_to_width(&label.words, WIDEST), label.work.clone()];
    lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn look(row: &Row) -> &'static str {
    match (row.what, row.standing) {
        (OutlineItem::Gap { .. }, _) => ", shape=plaintext, style=\"\", fontcolor=\"#6e7781\"",
        _ if row.named => ", color=\"#9a6700\", fillcolor=\"#fff8c5\", penwidth=3",
        (OutlineItem::Compaction(_), _) => ", color=\"#9a6700\", fillcolor=\"#fff8c5\"",
        (_, PathRelation::OnPath) => ", color=\"#1a7f37\", fillcolor=\"#dafbe1\", penwidth=2",
        (_, PathRelation::Compacted) => ", color=\"#1a7f37\", style=\"rounded,dashed\"",
        (_, PathRelation::Aside) => "",
    }
}

/// Writes a string of the language; a line break stays one.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn no_text_ends_its_string() {
        assert_eq!(quoted("a \"b\" \\ c\nd \\"), r#""a \"b\" \\ c\nd \\""#);
    }
}

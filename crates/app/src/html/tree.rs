//! Renders the tree of a session as SVG: a file with its own style for light and dark screens, or a fragment of a page.

use maud::{Markup, PreEscaped};
use rethread_engine::Error;
use rethread_engine::core::tree::{OutlineItem, OutlineRow, PathRelation};
use rethread_engine::ops::tree::TreeListing;
use unicode_width::UnicodeWidthStr;

use crate::text::clean;
use crate::text::layout::truncate_to_width;
use crate::text::node::{RowLabel, build_row_label};

/// Height of a row, in pixels.
const ROW_HEIGHT: usize = 26;
/// Width of a lane, in pixels.
const LANE_WIDTH: usize = 20;
/// Margin around the drawing, in pixels.
const MARGIN: usize = 28;
/// Additional space before a root, in pixels.
const ROOT_GAP: usize = 16;
/// Width of a character, in pixels. It is an upper estimate.
const CHAR_WIDTH: usize = 7;
/// Maximum width of the text of a row, in columns.
const MAX_COLUMNS: usize = 88;

const STYLE: &str = "\
text{font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2328}\
.background{fill:#fff}.title{font-size:16px;font-weight:600}.muted{fill:#656d76}.name{fill:#0969da;font-weight:600}\
.origin{fill:#9a6700}.tip{fill:#656d76}.active-tip{fill:#1a7f37;font-weight:600}\
path{fill:none;stroke:#c4cad1;stroke-width:2}path.active{stroke:#2da44e;stroke-width:3}path.gap{stroke-dasharray:2 4}\
.dot{fill:#fff;stroke:#8c959f;stroke-width:2}.dot.active{fill:#2da44e;stroke:#2da44e}\
.dot.compacted{stroke:#2da44e;stroke-dasharray:2 2}.dot.dot-compaction{fill:#d4a72c;stroke:#9a6700}.selected{fill:none;stroke:#bf8700;stroke-width:3}\
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.background{fill:#0d1117}.muted,.tip{fill:#8d96a0}\
.name{fill:#4493f8}.origin{fill:#d29922}.active-tip{fill:#3fb950}path{stroke:#3d444d}path.active{stroke:#3fb950}\
.dot{fill:#0d1117;stroke:#6e7681}.dot.active{fill:#3fb950;stroke:#3fb950}.dot.compacted{stroke:#3fb950}\
.dot.dot-compaction{fill:#9e6a03;stroke:#d29922}}";

/// Renders all rows as an SVG file with its own style. `all` is `true` if every entry has a row, not every turn.
pub(crate) fn render_file(tree: &mut TreeListing, all: bool) -> Result<String, Error> {
    render_svg(tree, all, &format!("<style>{STYLE}</style>\n"), None)
}

/// Renders all rows as an SVG fragment of a page, which provides the style. Names link to the session at `address`.
pub(crate) fn render_fragment(tree: &mut TreeListing, address: &str) -> Result<Markup, Error> {
    Ok(PreEscaped(render_svg(tree, false, "", Some(address))?))
}

/// Renders the drawing. `style` is a `<style>` element or empty. With an `address` it is a fragment whose names are
/// links.
fn render_svg(
    tree: &mut TreeListing,
    all: bool,
    style: &str,
    address: Option<&str>,
) -> Result<String, Error> {
    let folder = tree.header.folder.clone();
    let mut labels = Vec::with_capacity(tree.rows.len());
    for idx in 0..tree.rows.len() {
        let entry = tree.read_row(idx)?;
        labels.push(build_row_label(&tree.rows[idx], entry.as_ref(), &folder, all));
    }
    let rows = &tree.rows;
    let centers = compute_row_centers(rows);
    let title = clean::line(&tree.header.title.text);
    let right = centers
        .iter()
        .zip(&labels)
        .map(|(&(x, _), label)| x + estimate_label_columns(label) * CHAR_WIDTH)
        .max();
    let bottom = centers.last().map_or(MARGIN * 2, |&(_, y)| y) + MARGIN;
    let mut svg = render_opening(&title, style, (right.unwrap_or(0), bottom), address.is_some());
    // Active edges are painted over the others, and the dots over all edges.
    for is_active in [false, true] {
        for (row, &center) in rows.iter().zip(&centers) {
            if let Some(parent) = row.parent.filter(|_| (row.relation == PathRelation::OnPath) == is_active) {
                svg += &render_edge(row, centers[parent], center);
                svg.push('\n');
            }
        }
    }
    for ((row, &center), label) in rows.iter().zip(&centers).zip(&labels) {
        svg += &render_dot(row, center);
        svg.push('\n');
        svg += &render_label(label, center, address);
        svg.push('\n');
    }
    svg += "</svg>";
    Ok(svg)
}

/// Renders the `<svg>` tag, the title and the background. `right` and `bottom` are the extent of the rows in pixels.
fn render_opening(title: &str, style: &str, (right, bottom): (usize, usize), is_fragment: bool) -> String {
    // A page shows the title itself. With `role="img"`, screen readers would not reach the links of a fragment.
    let (top, title_width, role) =
        if is_fragment { (MARGIN, 0, "") } else { (0, title.width() * 10 + MARGIN, " role=\"img\"") };
    let (width, height) = (right.max(title_width).max(320) + MARGIN, bottom - top);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tree-svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 {top} {width} {height}\"{role}>\n"
    );
    svg += &format!("<title>{}</title>\n{style}", escape_xml(title));
    svg += &format!("<rect class=\"background\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>\n");
    if !is_fragment {
        let text = escape_xml(&truncate_to_width(title, 120));
        svg += &format!("<text class=\"title\" x=\"{}\" y=\"{MARGIN}\">{text}</text>\n", MARGIN - 8);
    }
    svg
}

/// Returns the center of the dot of each row: x and y in pixels.
fn compute_row_centers(rows: &[OutlineRow]) -> Vec<(usize, usize)> {
    let mut y = MARGIN + ROW_HEIGHT / 2;
    let center = |(idx, row): (usize, &OutlineRow)| {
        y += ROW_HEIGHT + if idx > 0 && row.parent.is_none() { ROOT_GAP } else { 0 };
        (MARGIN + row.depth * LANE_WIDTH, y)
    };
    rows.iter().enumerate().map(center).collect()
}

/// Returns an upper estimate of the width of a label, in columns.
fn estimate_label_columns(label: &RowLabel) -> usize {
    let parts = [&label.name, &label.origin, &label.tip, &label.work];
    let columns: usize = parts.iter().map(|part| part.width() + 3).sum();
    columns + label.text.width().min(MAX_COLUMNS) + 14
}

/// Renders the line from a parent's dot at `(x0, y0)` to the dot of a row at `(x, y)`.
fn render_edge(row: &OutlineRow, (x0, y0): (usize, usize), (x, y): (usize, usize)) -> String {
    let class = match (row.item, row.relation) {
        (OutlineItem::Gap { .. }, PathRelation::OnPath) => " class=\"active gap\"",
        (OutlineItem::Gap { .. }, _) => " class=\"gap\"",
        (_, PathRelation::OnPath) => " class=\"active\"",
        _ => "",
    };
    if x0 == x {
        return format!("<path{class} d=\"M{x0} {y0}V{y}\"/>");
    }
    format!("<path{class} d=\"M{x0} {y0}V{}Q{x0} {y} {} {y}H{x}\"/>", y - 12, x0 + 12)
}

/// Renders the dot of a row: a circle, a diamond for a compaction, nothing for a gap.
fn render_dot(row: &OutlineRow, (x, y): (usize, usize)) -> String {
    let selection = if row.requested {
        format!("<circle class=\"selected\" cx=\"{x}\" cy=\"{y}\" r=\"10\"/>")
    } else {
        String::new()
    };
    let dot = match (row.item, row.relation) {
        (OutlineItem::Gap { .. }, _) => String::new(),
        (OutlineItem::Compaction(_), _) => {
            format!(
                "<path class=\"dot dot-compaction\" d=\"M{x} {}L{} {y}L{x} {}L{} {y}Z\"/>",
                y - 7,
                x + 7,
                y + 7,
                x - 7
            )
        }
        (_, relation) => {
            let class = match relation {
                PathRelation::OnPath => "dot active",
                PathRelation::Compacted => "dot compacted",
                PathRelation::OtherBranch => "dot",
            };
            format!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"5\"/>")
        }
    };
    selection + &dot
}

/// Renders the text next to the dot at `(x, y)` in pixels. With the `address` of the session's page, the name is a link.
fn render_label(label: &RowLabel, (x, y): (usize, usize), address: Option<&str>) -> String {
    let span = |class: &str, text: &str| {
        let text = escape_xml(text);
        if text.is_empty() { text } else { format!("<tspan class=\"{class}\">{text}</tspan>  ") }
    };
    let text_class = if label.name.is_empty() { "muted" } else { "text" };
    let tip = if label.tip.is_empty() { String::new() } else { format!("◂ {}", label.tip) };
    let tip_class = if label.active { "active-tip" } else { "tip" };
    let spans = [
        link_name(span("name", &label.name), &label.handle, address),
        span("origin", &label.origin),
        span(text_class, &truncate_to_width(&label.text, MAX_COLUMNS)),
        span(tip_class, &tip),
        span("muted", &label.work),
    ];
    let spans = spans.concat();
    format!("<text x=\"{}\" y=\"{}\" xml:space=\"preserve\">{}</text>", x + 14, y + 4, spans.trim_end())
}

/// Links a rendered name to the entry with this handle, if there is an address and a handle.
fn link_name(name: String, handle: &str, address: Option<&str>) -> String {
    match address {
        Some(address) if !name.is_empty() && !handle.is_empty() => {
            let (address, handle) = (escape_xml(address), escape_xml(handle));
            format!("<a href=\"{address}?tip={handle}#{handle}\">{}</a>  ", name.trim_end())
        }
        _ => name,
    }
}

/// Escapes cleaned text for XML. Omits characters that XML does not allow.
fn escape_xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::escape_xml;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape_xml("<script a=\"1\">&\u{ffff}'"), "&lt;script a=&quot;1&quot;&gt;&amp;'");
    }
}

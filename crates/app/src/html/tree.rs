//! The tree as a picture: one file without script, for light and dark screens, or a part of a page.

use maud::{Markup, PreEscaped};
use rethread_engine::Error;
use rethread_engine::core::tree::{OutlineItem, PathRelation, Row};
use rethread_engine::ops::Drawing;
use unicode_width::UnicodeWidthStr;

use crate::text::clean;
use crate::text::fit::truncate_to_width;
use crate::text::node::{Label, label};

/// Height of a row, width of a lane, air around everything, air before a beginning: in pixels.
const ROW: usize = 26;
const LANE: usize = 20;
const AIR: usize = 28;
const APART: usize = 16;
/// Pixels that a letter takes, more rather than less.
const LETTER: usize = 7;
/// Widest words of a row.
const WIDEST: usize = 88;

const STYLE: &str = "\
text{font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2328}\
.back{fill:#fff}.title{font-size:16px;font-weight:600}.quiet{fill:#656d76}.name{fill:#0969da;font-weight:600}\
.mark{fill:#9a6700}.tip{fill:#656d76}.good{fill:#1a7f37;font-weight:600}\
path{fill:none;stroke:#c4cad1;stroke-width:2}path.on{stroke:#2da44e;stroke-width:3}path.gap{stroke-dasharray:2 4}\
.dot{fill:#fff;stroke:#8c959f;stroke-width:2}.dot.on{fill:#2da44e;stroke:#2da44e}\
.dot.old{stroke:#2da44e;stroke-dasharray:2 2}.dot.pack{fill:#d4a72c;stroke:#9a6700}.here{fill:none;stroke:#bf8700;stroke-width:3}\
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0d1117}.quiet,.tip{fill:#8d96a0}\
.name{fill:#4493f8}.mark{fill:#d29922}.good{fill:#3fb950}path{stroke:#3d444d}path.on{stroke:#3fb950}\
.dot{fill:#0d1117;stroke:#6e7681}.dot.on{fill:#3fb950;stroke:#3fb950}.dot.old{stroke:#3fb950}\
.dot.pack{fill:#9e6a03;stroke:#d29922}}";

/// Draws all rows as a file that brings its own style.
pub(crate) fn file(drawing: &mut Drawing, all: bool) -> Result<String, Error> {
    draw(drawing, all, &format!("<style>{STYLE}</style>\n"), None)
}

/// Draws all rows as a part of a page, whose style sheet knows it; names lead to the session at `address`.
pub(crate) fn part(drawing: &mut Drawing, address: &str) -> Result<Markup, Error> {
    Ok(PreEscaped(draw(drawing, false, "", Some(address))?))
}

fn draw(drawing: &mut Drawing, all: bool, style: &str, address: Option<&str>) -> Result<String, Error> {
    let folder = drawing.head.folder.clone();
    let mut labels = Vec::with_capacity(drawing.rows.len());
    for k in 0..drawing.rows.len() {
        let read = drawing.read(k)?;
        labels.push(label(&drawing.rows[k], read.as_ref(), &folder, all));
    }
    let rows = &drawing.rows;
    let places = places(rows);
    let title = clean::line(&drawing.head.title.text);
    let widest = places.iter().zip(&labels).map(|(&(x, _), label)| x + letters(label) * LETTER).max();
    let bottom = places.last().map_or(AIR * 2, |&(_, y)| y) + AIR;
    let mut svg = opening(&title, style, (widest.unwrap_or(0), bottom), address.is_some());
    // Active edges lie above the others, and all below the dots.
    for on in [false, true] {
        for (row, &place) in rows.iter().zip(&places) {
            if let Some(parent) = row.parent.filter(|_| (row.standing == PathRelation::OnPath) == on) {
                svg += &edge(row, places[parent], place);
                svg.push('\n');
            }
        }
    }
    for ((row, &place), label) in rows.iter().zip(&places).zip(&labels) {
        svg += &dot(row, place);
        svg.push('\n');
        svg += &words(label, place, address);
        svg.push('\n');
    }
    svg += "</svg>";
    Ok(svg)
}

/// Writes size, title and ground.
fn opening(title: &str, style: &str, (widest, bottom): (usize, usize), is_part: bool) -> String {
    // A page says the title itself. A picture is one thing to whoever listens; with links in it, it is not.
    let (top, longest, role) =
        if is_part { (AIR, 0, "") } else { (0, title.width() * 10 + AIR, " role=\"img\"") };
    let (width, height) = (widest.max(longest).max(320) + AIR, bottom - top);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tree-picture\" width=\"{width}\" height=\"{height}\" viewBox=\"0 {top} {width} {height}\"{role}>\n"
    );
    svg += &format!("<title>{}</title>\n{style}", escaped(title));
    svg += &format!("<rect class=\"back\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>\n");
    if !is_part {
        let head = escaped(&truncate_to_width(title, 120));
        svg += &format!("<text class=\"title\" x=\"{}\" y=\"{AIR}\">{head}</text>\n", AIR - 8);
    }
    svg
}

/// Finds the middle of each row's sign.
fn places(rows: &[Row]) -> Vec<(usize, usize)> {
    let mut y = AIR + ROW / 2;
    let place = |(k, row): (usize, &Row)| {
        y += ROW + if k > 0 && row.parent.is_none() { APART } else { 0 };
        (AIR + row.depth * LANE, y)
    };
    rows.iter().enumerate().map(place).collect()
}

fn letters(label: &Label) -> usize {
    let pieces = [&label.name, &label.origin, &label.tip, &label.work];
    let pieces: usize = pieces.iter().map(|piece| piece.width() + 3).sum();
    pieces + label.words.width().min(WIDEST) + 14
}

fn edge(row: &Row, (x0, y0): (usize, usize), (x, y): (usize, usize)) -> String {
    let class = match (row.what, row.standing) {
        (OutlineItem::Gap { .. }, PathRelation::OnPath) => " class=\"on gap\"",
        (OutlineItem::Gap { .. }, _) => " class=\"gap\"",
        (_, PathRelation::OnPath) => " class=\"on\"",
        _ => "",
    };
    if x0 == x {
        return format!("<path{class} d=\"M{x0} {y0}V{y}\"/>");
    }
    format!("<path{class} d=\"M{x0} {y0}V{}Q{x0} {y} {} {y}H{x}\"/>", y - 12, x0 + 12)
}

fn dot(row: &Row, (x, y): (usize, usize)) -> String {
    let here = if row.named {
        format!("<circle class=\"here\" cx=\"{x}\" cy=\"{y}\" r=\"10\"/>")
    } else {
        String::new()
    };
    let dot = match (row.what, row.standing) {
        (OutlineItem::Gap { .. }, _) => String::new(),
        (OutlineItem::Compaction(_), _) => {
            format!(
                "<path class=\"dot pack\" d=\"M{x} {}L{} {y}L{x} {}L{} {y}Z\"/>",
                y - 7,
                x + 7,
                y + 7,
                x - 7
            )
        }
        (_, standing) => {
            let class = match standing {
                PathRelation::OnPath => "dot on",
                PathRelation::Compacted => "dot old",
                PathRelation::Aside => "dot",
            };
            format!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"5\"/>")
        }
    };
    here + &dot
}

fn words(label: &Label, (x, y): (usize, usize), address: Option<&str>) -> String {
    let piece = |class: &str, text: &str| {
        let text = escaped(text);
        if text.is_empty() { text } else { format!("<tspan class=\"{class}\">{text}</tspan>  ") }
    };
    let quiet = if label.name.is_empty() { "quiet" } else { "words" };
    let (tip, class) = match (label.tip.is_empty(), label.active) {
        (true, _) => (String::new(), "tip"),
        (false, true) => (format!("◂ active tip {}", label.tip), "good"),
        (false, false) => (format!("◂ tip {}", label.tip), "tip"),
    };
    let pieces = [
        linked(piece("name", &label.name), &label.handle, address),
        piece("mark", &label.origin),
        piece(quiet, &truncate_to_width(&label.words, WIDEST)),
        piece(class, &tip),
        piece("quiet", &label.work),
    ];
    let pieces = pieces.concat();
    format!("<text x=\"{}\" y=\"{}\" xml:space=\"preserve\">{}</text>", x + 14, y + 4, pieces.trim_end())
}

/// Makes a name a link to its entry, where there is a page to go to.
fn linked(name: String, handle: &str, address: Option<&str>) -> String {
    match address {
        Some(address) if !name.is_empty() && !handle.is_empty() => {
            let (address, handle) = (escaped(address), escaped(handle));
            format!("<a href=\"{address}?tip={handle}#{handle}\">{}</a>  ", name.trim_end())
        }
        _ => name,
    }
}

/// Writes cleaned text so that it is nothing but text; leaves out what XML cannot hold.
fn escaped(text: &str) -> String {
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
    use super::escaped;

    #[test]
    fn text_stays_text() {
        assert_eq!(escaped("<script a=\"1\">&\u{ffff}'"), "&lt;script a=&quot;1&quot;&gt;&amp;'");
    }
}

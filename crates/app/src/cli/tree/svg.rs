//! The tree as a picture: one file, no script, for light and dark screens.

use rethread_engine::core::tree::{Row, Standing, What};
use rethread_engine::ops::Drawing;
use unicode_width::UnicodeWidthStr;

use super::super::clean;
use super::super::out::Out;
use super::super::report::Stop;
use super::super::table::fit;
use super::label::{Label, label};

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

/// Draws all rows.
pub(super) fn draw(drawing: &mut Drawing, all: bool, out: &mut Out) -> Result<(), Stop> {
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
    let width = widest.unwrap_or(0).max(title.width() * 10 + AIR).max(320) + AIR;
    let height = places.last().map_or(AIR * 2, |&(_, y)| y) + AIR;
    out.line(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">"
    ))?;
    out.line(&format!("<title>{}</title>", escaped(&title)))?;
    out.line(&format!("<style>{STYLE}</style>"))?;
    out.line(&format!("<rect class=\"back\" width=\"{width}\" height=\"{height}\"/>"))?;
    let head = escaped(&fit(&title, 120));
    out.line(&format!("<text class=\"title\" x=\"{}\" y=\"{AIR}\">{head}</text>", AIR - 8))?;
    // Active edges lie above the others, and all below the dots.
    for on in [false, true] {
        for (row, &place) in rows.iter().zip(&places) {
            if let Some(parent) = row.parent.filter(|_| (row.standing == Standing::OnPath) == on) {
                out.line(&edge(row, places[parent], place))?;
            }
        }
    }
    for ((row, &place), label) in rows.iter().zip(&places).zip(&labels) {
        out.line(&dot(row, place))?;
        out.line(&words(label, place))?;
    }
    out.line("</svg>")
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
        (What::Gap { .. }, Standing::OnPath) => " class=\"on gap\"",
        (What::Gap { .. }, _) => " class=\"gap\"",
        (_, Standing::OnPath) => " class=\"on\"",
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
        (What::Gap { .. }, _) => String::new(),
        (What::Compaction(_), _) => {
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
                Standing::OnPath => "dot on",
                Standing::Compacted => "dot old",
                Standing::Aside => "dot",
            };
            format!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"5\"/>")
        }
    };
    here + &dot
}

fn words(label: &Label, (x, y): (usize, usize)) -> String {
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
        piece("name", &label.name),
        piece("mark", &label.origin),
        piece(quiet, &fit(&label.words, WIDEST)),
        piece(class, &tip),
        piece("quiet", &label.work),
    ];
    let pieces = pieces.concat();
    format!("<text x=\"{}\" y=\"{}\" xml:space=\"preserve\">{}</text>", x + 14, y + 4, pieces.trim_end())
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

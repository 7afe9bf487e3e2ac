//! From the events of a markdown reader to markup.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::html_writer::Pen;
use crate::html::text::{Language, code, escape, plain};
use crate::text::clean;

/// Which markdown it is.
pub(super) const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// What is longer is no prose, and is drawn as it is.
const LONGEST: usize = 256 * 1024;

/// Draws what the model wrote as markdown.
pub(crate) fn prose(markdown: &str) -> Markup {
    draw(markdown, false)
}

/// Draws what a user typed: line breaks stay, files that are mentioned are marked, and underscores are part of names.
pub(crate) fn prompt(text: &str) -> Markup {
    draw(text, true)
}

fn draw(markdown: &str, typed: bool) -> Markup {
    if markdown.len() > LONGEST {
        return plain(markdown);
    }
    let markdown = clean::text(markdown);
    let mut scene = Scene { pen: Pen::new(typed), source: &markdown, ..Scene::default() };
    scene.pen.out.push_str("<div class=\"md\">");
    for (event, range) in Parser::new_ext(&markdown, OPTIONS).into_offset_iter() {
        scene.take(event, range.start);
    }
    let mut out = scene.pen.finish();
    out.push_str("</div>");
    PreEscaped(out)
}

/// What must be remembered between events.
#[derive(Default)]
struct Scene<'a> {
    pen: Pen,
    source: &'a str,
    /// The code block that is being read: its language as it was named, and its text.
    block: Option<(String, String)>,
    /// How many images are open: of what stands in one only the words count.
    images: usize,
    columns: Vec<Alignment>,
    column: usize,
    in_head: bool,
}

impl Scene<'_> {
    fn take(&mut self, event: Event<'_>, at: usize) {
        match event {
            Event::Start(Tag::Image { .. }) if self.images > 0 => self.images += 1,
            Event::End(TagEnd::Image) if self.images > 1 => self.images -= 1,
            Event::End(TagEnd::Image) => self.end_image(),
            Event::Start(_) | Event::End(_) if self.images > 0 => {}
            Event::SoftBreak | Event::HardBreak if self.images > 0 => self.pen.words(" "),
            Event::Start(tag) => self.start(tag, at),
            Event::End(tag) => self.end(tag, at),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => match &mut self.block {
                Some((_, block)) => block.push_str(&text),
                None => self.pen.words(&text),
            },
            Event::Code(text) if self.images > 0 => self.pen.words(&text),
            Event::Code(text) => {
                self.pen.mark("<code>");
                escape::push(&mut self.pen.out, &clean::text(&text));
                self.pen.mark("</code>");
            }
            Event::SoftBreak if self.pen.typed => {
                self.pen.mark("<br>");
                self.pen.words(&"\u{a0}".repeat(self.indentation(at)));
            }
            Event::SoftBreak => self.pen.mark("\n"),
            Event::HardBreak => self.pen.mark("<br>"),
            Event::Rule => self.pen.mark("<hr>"),
            Event::TaskListMarker(done) => {
                self.pen.mark(if done {
                    "<span class=\"md-task\">☑</span> "
                } else {
                    "<span class=\"md-task\">☐</span> "
                });
            }
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.pen.words(&text);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, at: usize) {
        match tag {
            Tag::Paragraph => self.pen.open("<p>", "</p>"),
            Tag::HtmlBlock => self.pen.open("<p class=\"md-html\">", "</p>"),
            // A turn has a heading of the second level; those of its text stand below.
            Tag::Heading { level, .. } => match level as u8 {
                1 => self.pen.open("<h3>", "</h3>"),
                2 => self.pen.open("<h4>", "</h4>"),
                3 => self.pen.open("<h5>", "</h5>"),
                _ => self.pen.open("<h6>", "</h6>"),
            },
            Tag::BlockQuote(_) => _ = self.pen.level("<blockquote>", "</blockquote>"),
            Tag::List(None) => _ = self.pen.level("<ul>", "</ul>"),
            Tag::List(Some(1)) => _ = self.pen.level("<ol>", "</ol>"),
            Tag::List(Some(first)) => _ = self.pen.level(&format!("<ol start=\"{first}\">"), "</ol>"),
            Tag::Item => {
                if !self.pen.level("<li>", "</li>") {
                    self.pen.mark("<br>");
                }
            }
            Tag::CodeBlock(kind) => {
                self.pen.flush();
                let name = match &kind {
                    CodeBlockKind::Fenced(info) => {
                        info.split([' ', ',', '\t', '{']).next().unwrap_or_default()
                    }
                    CodeBlockKind::Indented => "",
                };
                self.block = Some((clean::line(name), String::new()));
            }
            Tag::Table(columns) => {
                self.columns = columns;
                self.pen.open("<div class=\"md-table\"><table>", "</tbody></table></div>");
            }
            Tag::TableHead => {
                (self.in_head, self.column) = (true, 0);
                self.pen.open("<thead><tr>", "</tr></thead><tbody>");
            }
            Tag::TableRow => {
                self.column = 0;
                self.pen.open("<tr>", "</tr>");
            }
            Tag::TableCell => self.start_cell(),
            Tag::Emphasis | Tag::Strong if self.is_name(at) => {
                self.pen.words(if tag == Tag::Strong { "__" } else { "_" });
            }
            Tag::Emphasis => _ = self.pen.level("<em>", "</em>"),
            Tag::Strong => _ = self.pen.level("<strong>", "</strong>"),
            Tag::Strikethrough => _ = self.pen.level("<del>", "</del>"),
            Tag::Link { link_type: LinkType::Email, dest_url, .. } => {
                self.pen.link(&format!("mailto:{dest_url}"));
            }
            Tag::Link { dest_url, .. } => self.pen.link(&dest_url),
            Tag::Image { dest_url, .. } => {
                self.images = 1;
                self.pen.link(&dest_url);
                self.pen.mark("[image: ");
            }
            _ => self.pen.open("", ""),
        }
    }

    fn end(&mut self, tag: TagEnd, at: usize) {
        match tag {
            TagEnd::CodeBlock => self.end_block(),
            TagEnd::Emphasis if self.is_name(at) => self.pen.words("_"),
            TagEnd::Strong if self.is_name(at) => self.pen.words("__"),
            TagEnd::HtmlBlock => {
                self.pen.trim();
                self.pen.close();
            }
            TagEnd::TableHead => {
                self.in_head = false;
                self.pen.close();
            }
            _ => self.pen.close(),
        }
    }

    /// Says how far the line behind a break was moved in.
    fn indentation(&self, at: usize) -> usize {
        const MOST: usize = 40;
        let next = self.source.get(at..).and_then(|rest| rest.split_once('\n')).map_or("", |(_, next)| next);
        let wide = |c: char| if c == '\t' { 4 } else { 1 };
        next.chars().take_while(|c| matches!(c, ' ' | '\t')).map(wide).sum::<usize>().min(MOST)
    }

    /// Whether what begins here is emphasis only by underscores, which people type as parts of names.
    fn is_name(&self, at: usize) -> bool {
        self.pen.typed && self.source.as_bytes().get(at) == Some(&b'_')
    }

    fn start_cell(&mut self) {
        let side = match self.columns.get(self.column) {
            Some(Alignment::Right) => " class=\"md-right\"",
            Some(Alignment::Center) => " class=\"md-center\"",
            _ => "",
        };
        self.column += 1;
        let (name, end) = if self.in_head { ("th", "</th>") } else { ("td", "</td>") };
        self.pen.open(&format!("<{name}{side}>"), end);
    }

    fn end_block(&mut self) {
        let Some((name, text)) = self.block.take() else { return };
        if name.is_empty() {
            self.pen.mark(&code(&text, None, None).into_string());
            return;
        }
        self.pen.mark("<div class=\"md-code\" data-lang=\"");
        escape::push(&mut self.pen.out, &name.chars().take(24).collect::<String>());
        self.pen.mark("\">");
        self.pen.mark(&code(&text, Language::named(&name), None).into_string());
        self.pen.mark("</div>");
    }

    fn end_image(&mut self) {
        self.images = 0;
        self.pen.flush();
        if self.pen.out.ends_with("[image: ") {
            self.pen.out.truncate(self.pen.out.len() - 2);
        }
        self.pen.mark("]");
        self.pen.close();
    }
}

#[cfg(test)]
mod tests;

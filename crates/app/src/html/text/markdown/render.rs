//! Renders the events of the markdown parser as markup.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, LinkType, Parser, Tag, TagEnd};

use super::html_writer::HtmlWriter;
use crate::content::highlight::Language;
use crate::content::markdown::{MAX_BYTES, OPTIONS, language_name, measure_indentation};
use crate::html::text::{escape, render_code, render_plain};
use crate::text::clean;

/// Renders markdown written by the model. Text over [`MAX_BYTES`] is rendered as plain text.
pub(crate) fn render_prose(markdown: &str) -> Markup {
    render(markdown, false)
}

/// Renders markdown typed by a user: line breaks are kept, file mentions are marked, and underscores belong to names.
/// Text over [`MAX_BYTES`] is rendered as plain text.
pub(crate) fn render_prompt(text: &str) -> Markup {
    render(text, true)
}

/// Renders markdown of the model, or of the user if `is_prompt` is set.
fn render(markdown: &str, is_prompt: bool) -> Markup {
    if markdown.len() > MAX_BYTES {
        return render_plain(markdown);
    }
    let markdown = clean::text(markdown);
    let mut renderer = MarkdownRenderer {
        writer: HtmlWriter::new(is_prompt),
        source: &markdown,
        ..MarkdownRenderer::default()
    };
    renderer.writer.out.push_str("<div class=\"md\">");
    for (event, range) in Parser::new_ext(&markdown, OPTIONS).into_offset_iter() {
        renderer.render_event(event, range.start);
    }
    let mut out = renderer.writer.finish();
    out.push_str("</div>");
    PreEscaped(out)
}

/// Renders parser events. Holds the state between them.
#[derive(Default)]
struct MarkdownRenderer<'a> {
    writer: HtmlWriter,
    source: &'a str,
    /// The language name and the text of the current code block.
    code_block: Option<(String, String)>,
    /// The number of open images. Only the text within an image is rendered.
    images: usize,
    /// The alignment of the columns of the current table.
    columns: Vec<Alignment>,
    /// The index of the next cell in its row.
    column: usize,
    /// `true` within the head of a table.
    in_head: bool,
}

impl MarkdownRenderer<'_> {
    /// Renders a parser event. `at` is its byte offset in the source.
    fn render_event(&mut self, event: Event<'_>, at: usize) {
        match event {
            Event::Start(Tag::Image { .. }) if self.images > 0 => self.images += 1,
            Event::End(TagEnd::Image) if self.images > 1 => self.images -= 1,
            Event::End(TagEnd::Image) => self.end_image(),
            Event::Start(_) | Event::End(_) if self.images > 0 => {}
            Event::SoftBreak | Event::HardBreak if self.images > 0 => self.writer.push_text(" "),
            Event::Start(tag) => self.start_tag(tag, at),
            Event::End(tag) => self.end_tag(tag, at),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => match &mut self.code_block {
                Some((_, block)) => block.push_str(&text),
                None => self.writer.push_text(&text),
            },
            Event::Code(text) if self.images > 0 => self.writer.push_text(&text),
            Event::Code(text) => {
                self.writer.push_markup("<code>");
                escape::push_escaped(&mut self.writer.out, &clean::text(&text));
                self.writer.push_markup("</code>");
            }
            Event::SoftBreak if self.writer.is_prompt => {
                self.writer.push_markup("<br>");
                self.writer.push_text(&"\u{a0}".repeat(measure_indentation(self.source, at)));
            }
            Event::SoftBreak => self.writer.push_markup("\n"),
            Event::HardBreak => self.writer.push_markup("<br>"),
            Event::Rule => self.writer.push_markup("<hr>"),
            Event::TaskListMarker(done) => {
                self.writer.push_markup(if done {
                    "<span class=\"md-task\">☑</span> "
                } else {
                    "<span class=\"md-task\">☐</span> "
                });
            }
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.writer.push_text(&text);
            }
        }
    }

    /// Opens the element of a tag. `at` is its byte offset in the source.
    fn start_tag(&mut self, tag: Tag<'_>, at: usize) {
        match tag {
            Tag::Paragraph => self.writer.open("<p>", "</p>"),
            Tag::HtmlBlock => self.writer.open("<p class=\"md-html\">", "</p>"),
            // The heading of a turn has level 2; headings in its text are below it.
            Tag::Heading { level, .. } => match level as u8 {
                1 => self.writer.open("<h3>", "</h3>"),
                2 => self.writer.open("<h4>", "</h4>"),
                3 => self.writer.open("<h5>", "</h5>"),
                _ => self.writer.open("<h6>", "</h6>"),
            },
            Tag::BlockQuote(_) => _ = self.writer.open_nested("<blockquote>", "</blockquote>"),
            Tag::List(None) => _ = self.writer.open_nested("<ul>", "</ul>"),
            Tag::List(Some(1)) => _ = self.writer.open_nested("<ol>", "</ol>"),
            Tag::List(Some(first)) => {
                _ = self.writer.open_nested(&format!("<ol start=\"{first}\">"), "</ol>");
            }
            Tag::Item => {
                if !self.writer.open_nested("<li>", "</li>") {
                    self.writer.push_markup("<br>");
                }
            }
            Tag::CodeBlock(kind) => {
                self.writer.flush();
                let name = match &kind {
                    CodeBlockKind::Fenced(info) => language_name(info),
                    CodeBlockKind::Indented => "",
                };
                self.code_block = Some((clean::line(name), String::new()));
            }
            Tag::Table(columns) => {
                self.columns = columns;
                self.writer.open("<div class=\"md-table\"><table>", "</tbody></table></div>");
            }
            Tag::TableHead => {
                (self.in_head, self.column) = (true, 0);
                self.writer.open("<thead><tr>", "</tr></thead><tbody>");
            }
            Tag::TableRow => {
                self.column = 0;
                self.writer.open("<tr>", "</tr>");
            }
            Tag::TableCell => self.start_cell(),
            Tag::Emphasis | Tag::Strong if self.is_name(at) => {
                self.writer.push_text(if tag == Tag::Strong { "__" } else { "_" });
            }
            Tag::Emphasis => _ = self.writer.open_nested("<em>", "</em>"),
            Tag::Strong => _ = self.writer.open_nested("<strong>", "</strong>"),
            Tag::Strikethrough => _ = self.writer.open_nested("<del>", "</del>"),
            Tag::Link { link_type: LinkType::Email, dest_url, .. } => {
                self.writer.open_link(&format!("mailto:{dest_url}"));
            }
            Tag::Link { dest_url, .. } => self.writer.open_link(&dest_url),
            Tag::Image { dest_url, .. } => {
                self.images = 1;
                self.writer.open_link(&dest_url);
                self.writer.push_markup("[image: ");
            }
            _ => self.writer.open("", ""),
        }
    }

    /// Closes the element of a tag. `at` is the byte offset at which the element starts.
    fn end_tag(&mut self, tag: TagEnd, at: usize) {
        match tag {
            TagEnd::CodeBlock => self.end_code_block(),
            TagEnd::Emphasis if self.is_name(at) => self.writer.push_text("_"),
            TagEnd::Strong if self.is_name(at) => self.writer.push_text("__"),
            TagEnd::HtmlBlock => {
                self.writer.trim_line_breaks();
                self.writer.close();
            }
            TagEnd::TableHead => {
                self.in_head = false;
                self.writer.close();
            }
            _ => self.writer.close(),
        }
    }

    /// Returns `true` if the emphasis at this offset is in a prompt and uses underscores, which users type as part of
    /// names.
    fn is_name(&self, at: usize) -> bool {
        self.writer.is_prompt && self.source.as_bytes().get(at) == Some(&b'_')
    }

    fn start_cell(&mut self) {
        let class = match self.columns.get(self.column) {
            Some(Alignment::Right) => " class=\"md-right\"",
            Some(Alignment::Center) => " class=\"md-center\"",
            _ => "",
        };
        self.column += 1;
        let (name, end) = if self.in_head { ("th", "</th>") } else { ("td", "</td>") };
        self.writer.open(&format!("<{name}{class}>"), end);
    }

    /// Writes the collected code block with highlighting, and its language as a label.
    fn end_code_block(&mut self) {
        let Some((name, text)) = self.code_block.take() else { return };
        if name.is_empty() {
            self.writer.push_markup(&render_code(&text, None, None).into_string());
            return;
        }
        self.writer.push_markup("<div class=\"md-code\" data-lang=\"");
        escape::push_escaped(&mut self.writer.out, &name.chars().take(24).collect::<String>());
        self.writer.push_markup("\">");
        self.writer.push_markup(&render_code(&text, Language::from_name(&name), None).into_string());
        self.writer.push_markup("</div>");
    }

    /// Ends the text `[image: …]` that replaces an image, and its link.
    fn end_image(&mut self) {
        self.images = 0;
        self.writer.flush();
        if self.writer.out.ends_with("[image: ") {
            self.writer.out.truncate(self.writer.out.len() - 2);
        }
        self.writer.push_markup("]");
        self.writer.close();
    }
}

#[cfg(test)]
mod tests;

//! Markdown of prompts and answers.
//!
//! No word of the source is lost: what the parser omits, such as the definition of a link, is printed as it is written.

use std::ops::Range;

use anstyle::Style;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

mod container;
mod link;
mod text;

use container::Container;
use link::OpenLink;

use super::code::print_code;
use super::page::{Margin, Page};
use super::styled::StyledText;
use super::table::Table;
use crate::cli::clean;
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::cli::style::{CODE, DELETED, EMPHASIS, HEADING, HEADING_1, PLAIN, QUIET, STRONG, STRONG_IN_BOLD};
use crate::content::highlight::Language;
use crate::content::markdown::{OPTIONS, language_name, measure_indentation};

/// The author of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// Written by the model.
    Answer,
    /// Typed by the user: line breaks are kept, and underscores belong to names.
    Prompt,
}

/// Prints Markdown to the output, within a margin. Plain text has the style `base`.
pub(crate) fn print_markdown(
    source: &str,
    kind: TextKind,
    base: impl Into<Style>,
    margin: Margin,
    out: &mut Out,
) -> Result<(), CliError> {
    let width = out.width();
    let mut emit = |line: &str| out.line(line);
    render_markdown(source, kind, base, &mut Page::new(width, margin, &mut emit))
}

/// Prints Markdown on a page. Plain text has the style `base`.
pub(super) fn render_markdown(
    source: &str,
    kind: TextKind,
    base: impl Into<Style>,
    page: &mut Page<'_>,
) -> Result<(), CliError> {
    let source = clean::text(source);
    let mut renderer = MarkdownRenderer {
        page,
        source: &source,
        kind,
        lines: vec![StyledText::default()],
        styles: vec![base.into()],
        links: Vec::new(),
        containers: Vec::new(),
        code_block: None,
        table: None,
        covered: 0,
        needs_blank: false,
    };
    for (event, range) in Parser::new_ext(&source, OPTIONS).into_offset_iter() {
        renderer.render_event(event, range)?;
    }
    renderer.show_uncovered(source.len())?;
    renderer.print_text()
}

/// Renders parser events. Holds the state between them.
struct MarkdownRenderer<'p, 'e, 's> {
    page: &'p mut Page<'e>,
    source: &'s str,
    kind: TextKind,
    /// The lines of the current paragraph, heading or table cell.
    lines: Vec<StyledText>,
    /// The styles of the open headings, emphasis and links, each combined with those around it.
    styles: Vec<Style>,
    links: Vec<OpenLink>,
    containers: Vec<Container>,
    /// The info string and the text of the current code block.
    code_block: Option<(String, String)>,
    table: Option<Table>,
    /// The offset up to which the source is rendered.
    covered: usize,
    /// `true` if an empty line precedes the next block.
    needs_blank: bool,
}

impl MarkdownRenderer<'_, '_, '_> {
    /// Renders a parser event. `range` is its position in the source.
    fn render_event(&mut self, event: Event<'_>, range: Range<usize>) -> Result<(), CliError> {
        match event {
            Event::End(tag) => return self.end_tag(tag, range),
            _ => self.show_uncovered(range.start)?,
        }
        match event {
            Event::Start(tag) => return self.start_tag(tag, range),
            Event::End(_) => {}
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => match &mut self.code_block {
                Some((_, block)) => block.push_str(&text),
                None => self.push_text(self.style(), &text),
            },
            Event::Code(text) => {
                self.push_text(QUIET, "`");
                self.push_text(CODE, &text);
                self.push_text(QUIET, "`");
            }
            Event::SoftBreak if self.kind == TextKind::Prompt => {
                let indentation = measure_indentation(self.source, range.start);
                let indentation = indentation.saturating_sub(self.page.inner_margin_width());
                self.lines.push(StyledText::new(PLAIN, &" ".repeat(indentation)));
            }
            Event::SoftBreak => self.push_text(self.style(), " "),
            Event::HardBreak => self.lines.push(StyledText::default()),
            Event::Rule => {
                self.begin_block()?;
                let rule = "─".repeat(self.page.prose_width());
                self.page.print_block(&StyledText::new(QUIET, &rule))?;
                self.needs_blank = true;
            }
            Event::TaskListMarker(done) => {
                let mark = StyledText::new(PLAIN, if done { "☑ " } else { "☐ " });
                if !self.page.replace_mark(mark.clone()) {
                    self.push_text(PLAIN, mark.text());
                }
            }
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.push_text(self.style(), &text);
            }
        }
        self.covered = self.covered.max(range.end);
        Ok(())
    }

    /// Begins the element of a tag.
    fn start_tag(&mut self, tag: Tag<'_>, range: Range<usize>) -> Result<(), CliError> {
        match tag {
            Tag::Paragraph => {
                self.begin_block()?;
                if let [.., Container::List { is_loose, .. }, Container::Item] = &mut self.containers[..] {
                    *is_loose = true;
                }
            }
            Tag::Heading { level, .. } => {
                self.begin_block()?;
                self.push_style(if level as u8 == 1 { HEADING_1 } else { HEADING });
            }
            Tag::BlockQuote(_) => {
                self.begin_block()?;
                self.open_container(Container::Quote, Margin::new(StyledText::new(QUIET, "│ ")));
            }
            Tag::List(first) => {
                self.begin_block()?;
                self.containers.push(Container::List { is_ordered: first.is_some(), is_loose: false });
            }
            Tag::Item => self.start_item(range.start)?,
            Tag::CodeBlock(kind) => {
                self.begin_block()?;
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code_block = Some((info, String::new()));
            }
            Tag::Table(columns) => {
                self.begin_block()?;
                self.table = Some(Table::new(columns));
            }
            Tag::HtmlBlock => self.begin_block()?,
            Tag::Emphasis | Tag::Strong if self.is_name(range.start) => {
                self.push_text(self.style(), if tag == Tag::Strong { "__" } else { "_" });
            }
            Tag::Emphasis => self.push_style(EMPHASIS),
            Tag::Strong if self.style().get_effects().contains(anstyle::Effects::BOLD) => {
                self.push_style(STRONG_IN_BOLD);
            }
            Tag::Strong => self.push_style(STRONG),
            Tag::Strikethrough => self.push_style(DELETED),
            Tag::Link { link_type, dest_url, title, id } => {
                self.open_link(link_type, [&dest_url, &title, &id], false);
            }
            Tag::Image { link_type, dest_url, title, id } => {
                self.open_link(link_type, [&dest_url, &title, &id], true);
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the element of a tag.
    fn end_tag(&mut self, tag: TagEnd, range: Range<usize>) -> Result<(), CliError> {
        if !matches!(tag, TagEnd::Link | TagEnd::Image | TagEnd::CodeBlock) {
            self.show_uncovered(range.end)?;
        }
        self.covered = self.covered.max(range.end);
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_block()?,
            TagEnd::Heading(_) => {
                self.end_block()?;
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.print_text()?;
                self.containers.pop();
                self.page.pop_margin()?;
                self.needs_blank = true;
            }
            TagEnd::Item => {
                self.print_text()?;
                self.containers.pop();
                self.page.pop_margin()?;
            }
            TagEnd::List(_) => {
                self.containers.pop();
                // Within an item of a list without empty lines, none follows.
                let is_in_tight_list = matches!(
                    self.containers[..],
                    [.., Container::List { is_loose: false, .. }, Container::Item]
                );
                self.needs_blank |= !is_in_tight_list;
            }
            TagEnd::CodeBlock => self.end_code_block()?,
            TagEnd::TableCell => {
                let cell = self.take_line();
                self.table.iter_mut().for_each(|table| table.push_cell(cell.clone()));
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                let rest = self.take_line();
                self.table.iter_mut().for_each(|table| table.end_row(&rest));
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    table.print(self.page)?;
                }
                self.needs_blank = true;
            }
            TagEnd::Emphasis if self.is_name(range.start) => self.push_text(self.style(), "_"),
            TagEnd::Strong if self.is_name(range.start) => self.push_text(self.style(), "__"),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => _ = self.styles.pop(),
            TagEnd::Link | TagEnd::Image => self.close_link(),
            _ => {}
        }
        Ok(())
    }

    /// Prints the code block that was read, with its info string as a label.
    fn end_code_block(&mut self) -> Result<(), CliError> {
        let Some((info, text)) = self.code_block.take() else { return Ok(()) };
        if !info.trim().is_empty() {
            self.page.print_block(&StyledText::new(QUIET, &info))?;
        }
        self.page.push_margin(Margin::new(StyledText::new(PLAIN, "  ")));
        print_code(&text, Language::from_name(language_name(&info)), self.page)?;
        self.page.pop_margin()?;
        self.needs_blank = true;
        Ok(())
    }

    /// Returns `true` if the emphasis at this offset is in a prompt and uses underscores, which users type as part of
    /// names.
    fn is_name(&self, at: usize) -> bool {
        self.kind == TextKind::Prompt && self.source.as_bytes().get(at) == Some(&b'_')
    }
}

//! Web searches and fetched web pages.

use maud::{Markup, html};
use serde_json::Value;

use super::block::{FieldList, render_collapsed, render_markdown, truncate_line};
use super::call_view::{CallView, array_field, str_field};
use super::headline::CallHeadline;
use super::render::Renderer;
use crate::html::text::render_prose;
use crate::text::figures;

/// Renders web searches.
pub(super) const SEARCH: Renderer = Renderer {
    kind: "web",
    headline: fill_search_headline,
    input: render_search_input,
    result: render_search_result,
};

/// Renders calls that fetch a web page.
pub(super) const FETCH: Renderer = Renderer {
    kind: "web",
    headline: fill_fetch_headline,
    input: render_fetch_input,
    result: render_fetch_result,
};

fn fill_search_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(query) = view.input_str("query") {
        headline.push_text(query);
    }
    let count = view.outcome().text().map(|text| parse_links(view, text).len()).unwrap_or_default();
    if count > 0 {
        headline.push_stat(figures::count_noun(count as u64, "link"));
    }
}

fn render_search_input(view: &CallView<'_>) -> Markup {
    FieldList::default()
        .text("query", view.input_str("query"))
        .fields_except(&view.input, &["query"])
        .render()
}

/// Renders the found links, then the summary.
fn render_search_result(view: &CallView<'_>, text: &str) -> Markup {
    let links = parse_links(view, text);
    let mut list = String::new();
    for (title, url) in &links {
        list.push_str(&format_markdown_bullet(title, url));
    }
    let summary = extract_summary_text(view, text);
    html! {
        @if !links.is_empty() { div class="links" { (render_prose(&list)) } }
        @if !summary.trim().is_empty() { (render_markdown(&summary)) }
    }
}

/// Returns the title and URL of each search result: from `toolUseResult`, else from the text of the result.
fn parse_links(view: &CallView<'_>, text: &str) -> Vec<(String, String)> {
    let mut links = Vec::new();
    let mut add = |pages: &[Value]| {
        for page in pages {
            if let Some(url) = str_field(page, "url") {
                links.push((str_field(page, "title").unwrap_or(url).to_owned(), url.to_owned()));
            }
        }
    };
    for result in view.context.result_meta.iter().flat_map(|meta| array_field(meta, "results")) {
        add(array_field(result, "content"));
    }
    if view.context.result_meta.is_none() {
        for line in text.lines().filter_map(|line| line.strip_prefix("Links: ")) {
            add(&serde_json::from_str::<Vec<Value>>(line).unwrap_or_default());
        }
    }
    links
}

/// Returns the text of the search result without the links.
fn extract_summary_text(view: &CallView<'_>, text: &str) -> String {
    let results = view.context.result_meta.iter().flat_map(|meta| array_field(meta, "results"));
    let texts: Vec<&str> = results.filter_map(Value::as_str).collect();
    if !texts.is_empty() {
        return texts.join("\n\n");
    }
    let is_text =
        |line: &&str| !line.starts_with("Links: ") && !line.starts_with("Web search results for query:");
    text.lines().filter(is_text).collect::<Vec<_>>().join("\n")
}

/// Formats a link as a markdown list item: the markdown renderer alone decides which URLs become links.
fn format_markdown_bullet(title: &str, url: &str) -> String {
    let mut line = String::from("- [");
    for c in truncate_line(title, 200).chars() {
        if c.is_ascii_punctuation() {
            line.push('\\');
        }
        line.push(c);
    }
    line.push_str("](<");
    for c in url.chars().filter(|c| !c.is_control() && !c.is_whitespace()) {
        match c {
            '<' => line.push_str("%3C"),
            '>' => line.push_str("%3E"),
            '\\' => line.push_str("%5C"),
            _ => line.push(c),
        }
    }
    line.push_str(">)\n");
    line
}

/// Adds the host, the path, the HTTP status and the size.
fn fill_fetch_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(url) = view.input_str("url") {
        let (host, path) = split_url(url);
        headline.push_text(host);
        if !path.is_empty() {
            headline.push_muted(path);
        }
    }
    match view.result_meta("code").and_then(Value::as_u64) {
        Some(code @ 200..=299) => headline.push_stat(code.to_string()),
        Some(code) => headline.push_failure(code.to_string()),
        None => {}
    }
    if let Some(bytes) = view.result_meta("bytes").and_then(Value::as_u64) {
        headline.push_stat(figures::format_size(bytes));
    }
}

/// Splits a URL into its host and the path with the query. The scheme is dropped, and a path of `/` becomes empty.
fn split_url(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    (host, if path == "/" { "" } else { path })
}

fn render_fetch_input(view: &CallView<'_>) -> Markup {
    let mut fields = FieldList::default();
    if let Some(url) = view.input_str("url") {
        fields = fields.markup("URL", render_prose(&format_markdown_link(url)));
    }
    if let Some(code) = view.result_meta("code").and_then(Value::as_u64) {
        let status = format!("{code} {}", view.result_meta_str("codeText").unwrap_or_default());
        fields = fields.text("status", Some(status.trim()));
    }
    fields.text("prompt", view.input_str("prompt")).fields_except(&view.input, &["url", "prompt"]).render()
}

/// Formats a URL as a markdown link to itself.
fn format_markdown_link(url: &str) -> String {
    format_markdown_bullet(url, url).trim_start_matches("- ").to_owned()
}

fn render_fetch_result(view: &CallView<'_>, text: &str) -> Markup {
    let text = view.result_meta_str("result").unwrap_or(text);
    if text.starts_with("REDIRECT DETECTED") {
        render_collapsed("redirected", &render_markdown(text))
    } else {
        render_markdown(text)
    }
}

//! The web: what was searched for and what was fetched.

use maud::{Markup, html};
use serde_json::Value;

use super::block::{Rows, folded, short, wrote};
use super::call_view::{CallView, list, words};
use super::headline::CallHeadline;
use super::render::Renderer;
use crate::html::text::prose;
use crate::text::figures;

/// A search of the web.
pub(super) const SEARCH: Renderer =
    Renderer { kind: "web", gist: search_gist, input: search_input, result: search_result };

/// A page that was fetched.
pub(super) const FETCH: Renderer =
    Renderer { kind: "web", gist: fetch_gist, input: fetch_input, result: fetch_result };

fn search_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(query) = matter.input_str("query") {
        gist.say(query);
    }
    let count = matter.outcome().words().map(|text| links(matter, text).len()).unwrap_or_default();
    if count > 0 {
        gist.figure(figures::things(count as u64, "link"));
    }
}

fn search_input(matter: &CallView<'_>) -> Markup {
    Rows::default().words("query", matter.input_str("query")).fields_but(&matter.input, &["query"]).draw()
}

fn search_result(matter: &CallView<'_>, text: &str) -> Markup {
    let links = links(matter, text);
    let mut list = String::new();
    for (title, url) in &links {
        list.push_str(&bullet(title, url));
    }
    let said = said(matter, text);
    html! {
        @if !links.is_empty() { div class="links" { (prose(&list)) } }
        @if !said.trim().is_empty() { (wrote(&said)) }
    }
}

/// Returns titles and addresses of what was found.
fn links(matter: &CallView<'_>, text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut add = |pages: &[Value]| {
        for page in pages {
            if let Some(url) = words(page, "url") {
                found.push((words(page, "title").unwrap_or(url).to_owned(), url.to_owned()));
            }
        }
    };
    for result in matter.around.noted.iter().flat_map(|note| list(note, "results")) {
        add(list(result, "content"));
    }
    if matter.around.noted.is_none() {
        for line in text.lines().filter_map(|line| line.strip_prefix("Links: ")) {
            add(&serde_json::from_str::<Vec<Value>>(line).unwrap_or_default());
        }
    }
    found
}

/// Returns what was said beside the links.
fn said(matter: &CallView<'_>, text: &str) -> String {
    let results = matter.around.noted.iter().flat_map(|note| list(note, "results"));
    let noted: Vec<&str> = results.filter_map(Value::as_str).collect();
    if !noted.is_empty() {
        return noted.join("\n\n");
    }
    let is_said =
        |line: &&str| !line.starts_with("Links: ") && !line.starts_with("Web search results for query:");
    text.lines().filter(is_said).collect::<Vec<_>>().join("\n")
}

/// Writes a link as markdown, so that one rule says which addresses may be followed.
fn bullet(title: &str, url: &str) -> String {
    let mut line = String::from("- [");
    for c in short(title, 200).chars() {
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

fn fetch_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(url) = matter.input_str("url") {
        let (host, path) = parts(url);
        gist.say(host);
        if !path.is_empty() {
            gist.aside(path);
        }
    }
    match matter.result_meta("code").and_then(Value::as_u64) {
        Some(code @ 200..=299) => gist.figure(code.to_string()),
        Some(code) => gist.bad(code.to_string()),
        None => {}
    }
    if let Some(bytes) = matter.result_meta("bytes").and_then(Value::as_u64) {
        gist.figure(figures::size(bytes));
    }
}

/// Parts an address into host and the rest.
fn parts(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    (host, if path == "/" { "" } else { path })
}

fn fetch_input(matter: &CallView<'_>) -> Markup {
    let mut rows = Rows::default();
    if let Some(url) = matter.input_str("url") {
        rows = rows.piece("address", prose(&plain_address(url)));
    }
    if let Some(code) = matter.result_meta("code").and_then(Value::as_u64) {
        let answer = format!("{code} {}", matter.noted_words("codeText").unwrap_or_default());
        rows = rows.words("answer", Some(answer.trim()));
    }
    rows.words("question", matter.input_str("prompt")).fields_but(&matter.input, &["url", "prompt"]).draw()
}

/// Writes an address as a link to itself, by the same rule as in prose.
fn plain_address(url: &str) -> String {
    bullet(url, url).trim_start_matches("- ").to_owned()
}

fn fetch_result(matter: &CallView<'_>, text: &str) -> Markup {
    let text = matter.noted_words("result").unwrap_or(text);
    if text.starts_with("REDIRECT DETECTED") {
        folded("redirected elsewhere", &wrote(text))
    } else {
        wrote(text)
    }
}

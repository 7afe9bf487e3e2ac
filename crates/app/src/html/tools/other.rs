//! Tools of MCP servers, and tools without a renderer of their own.

use maud::Markup;
use serde_json::Value;

use super::block::{FieldList, render_auto, truncate_line};
use super::call_view::{CallView, str_field};
use super::headline::CallHeadline;
use super::render::{Renderer, render_raw_input};
use crate::text::summary::summary_fields;

/// Renders calls of a tool of an MCP server (`mcp__server__tool`).
pub(super) const MCP: Renderer =
    Renderer { kind: "mcp", headline: fill_mcp_headline, input: render_input, result: render_result };

/// Renders calls of any other tool.
pub(super) const ANY: Renderer =
    Renderer { kind: "other", headline: fill_any_headline, input: render_input, result: render_result };

fn fill_mcp_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    push_mcp_name(&view.call.name, headline);
    fill_any_headline(view, headline);
}

/// Returns the MCP server in the name of a tool. Returns `None` for other tools.
pub(crate) fn mcp_server(name: &str) -> Option<&str> {
    Some(split_mcp_name(name.strip_prefix("mcp__")?).0).filter(|server| !server.is_empty())
}

/// Adds the tool and its server to the headline if `name` is the name of an MCP tool.
pub(super) fn push_mcp_name(name: &str, headline: &mut CallHeadline) {
    if name.starts_with("mcp__") {
        let (server, tool) = split_mcp_name(name);
        headline.name = Some(truncate_line(tool, 60));
        headline.push_muted(server);
    }
}

/// Splits the name of an MCP tool into server and tool. The server is empty if the name contains none.
fn split_mcp_name(name: &str) -> (&str, &str) {
    let rest = name.strip_prefix("mcp__").unwrap_or(name);
    rest.split_once("__").unwrap_or(("", rest))
}

/// Adds the most informative string field of the input to the headline, else the first one.
fn fill_any_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    let fields = summary_fields(&view.call.name).iter();
    let first = fields.filter_map(|name| Some((*name, str_field(&view.input, name)?))).next();
    match first {
        Some(("file_path" | "filePath" | "path", path)) => headline.push_markup(view.render_path(path)),
        Some((_, text)) => headline.push_text(text),
        None => {
            let fields = view.input.as_object();
            if let Some(text) = fields.and_then(|fields| fields.values().find_map(Value::as_str)) {
                headline.push_text(text);
            }
        }
    }
}

fn render_input(view: &CallView<'_>) -> Markup {
    if view.input.is_object() {
        return FieldList::default().fields_except(&view.input, &[]).render();
    }
    render_raw_input(view)
}

fn render_result(_view: &CallView<'_>, text: &str) -> Markup {
    render_auto(text)
}

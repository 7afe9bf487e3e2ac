//! Tools of servers, and every tool that nobody here knows by name.

use maud::Markup;
use serde_json::Value;

use super::block::{Rows, short, told};
use super::call_view::{CallView, words};
use super::headline::CallHeadline;
use super::render::{Renderer, as_it_stands};
use crate::text::summary::summary_fields;

/// A tool of a server (`mcp__server__tool`).
pub(super) const MCP: Renderer = Renderer { kind: "mcp", gist: mcp_gist, input, result };

/// Any other tool.
pub(super) const ANY: Renderer = Renderer { kind: "other", gist: any_gist, input, result };

fn mcp_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    split_name(&matter.call.name, gist);
    any_gist(matter, gist);
}

/// Returns the server of a tool, by its name.
pub(crate) fn server(name: &str) -> Option<&str> {
    Some(parts(name.strip_prefix("mcp__")?).0).filter(|server| !server.is_empty())
}

/// Says server and tool one after the other, where it is the tool of a server.
pub(super) fn split_name(name: &str, gist: &mut CallHeadline) {
    if name.starts_with("mcp__") {
        let (server, tool) = parts(name);
        gist.name = Some(short(tool, 60));
        gist.aside(server);
    }
}

/// Parts the name of a tool into its server and its own name.
fn parts(name: &str) -> (&str, &str) {
    let rest = name.strip_prefix("mcp__").unwrap_or(name);
    rest.split_once("__").unwrap_or(("", rest))
}

fn any_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    let fields = summary_fields(&matter.call.name).iter();
    let telling = fields.filter_map(|name| Some((*name, words(&matter.input, name)?))).next();
    match telling {
        Some(("file_path" | "filePath" | "path", path)) => gist.piece(matter.path(path)),
        Some((_, words)) => gist.say(words),
        None => {
            let fields = matter.input.as_object();
            if let Some(words) = fields.and_then(|fields| fields.values().find_map(Value::as_str)) {
                gist.say(words);
            }
        }
    }
}

fn input(matter: &CallView<'_>) -> Markup {
    if matter.input.is_object() {
        return Rows::default().fields_but(&matter.input, &[]).draw();
    }
    as_it_stands(matter)
}

fn result(_matter: &CallView<'_>, text: &str) -> Markup {
    told(text)
}

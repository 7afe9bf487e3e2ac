//! Sessions and turns as resources, for clients that let the user attach them.

use rethread_engine::ops;
use rethread_engine::ops::list::SessionFilter;
use rmcp::model::{Resource, ResourceTemplate};

use super::answer::{ToolError, quote_inline};
use super::read;
use super::search::cite_session;
use crate::context::AppContext;
use crate::text::session::display_title;

/// The start of all addresses.
const SCHEME: &str = "rethread://session/";
/// The most sessions that are listed as resources.
const MAX_RESOURCES: usize = 20;

/// Lists the newest sessions.
pub(super) fn list_resources(app: &AppContext) -> Vec<Resource> {
    let list = ops::list::list_sessions(&app.roots, &SessionFilter::default(), app.cache.as_ref());
    let build_resource = |row: &ops::list::SessionRow| {
        let uri = format!("{SCHEME}{}", quote_inline(&row.id));
        Resource::new(uri, cite_session(&row.id))
            .with_title(quote_inline(&display_title(&row.title.text)))
            .with_mime_type("text/plain")
    };
    list.rows.iter().take(MAX_RESOURCES).map(build_resource).collect()
}

/// Lists the forms of addresses.
pub(super) fn list_templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{SCHEME}{{id}}"), "session").with_mime_type("text/plain"),
        ResourceTemplate::new(format!("{SCHEME}{{id}}/turn/{{turns}}"), "turns").with_mime_type("text/plain"),
    ]
}

/// Reads the session or the turns that an address names.
pub(super) fn read_resource(uri: &str, app: &AppContext) -> Result<String, ToolError> {
    let unknown = || {
        ToolError::new(
            format!("no resource has the address `{}`", quote_inline(uri)),
            format!("use {SCHEME}ID or {SCHEME}ID/turn/3"),
        )
    };
    let rest = uri.strip_prefix(SCHEME).filter(|rest| !rest.is_empty()).ok_or_else(unknown)?;
    let (session, turns) = match rest.split_once('/') {
        None => (rest, None),
        Some((session, path)) => (session, Some(path.strip_prefix("turn/").ok_or_else(unknown)?)),
    };
    read::read_resource(session, turns, app)
}

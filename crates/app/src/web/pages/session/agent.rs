//! Subagents of a session: their list, and the conversation of each, as a page or embedded in another page.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use maud::html;
use rethread_engine::ops::agents::AgentRow;

use super::chunk::{ChunkParams, respond_with_chunk};
use super::find::{FindParams, respond_with_matches};
use super::map::respond_with_map;
use super::page::{PageInfo, respond_with_page};
use super::part::{PartParams, respond_with_image, respond_with_part};
use super::session_page::SessionPage;
use super::{BranchParams, FRAGMENT_HEADER, open_session};
use crate::html::link::percent_encode;
use crate::html::session::format_agent_title;
use crate::text::error::error_message;
use crate::text::figures::{count_noun, format_tokens};
use crate::web::response;
use crate::web::server::{Server, run_blocking};
use crate::web::view_cache::CachedView;

/// Responds with the list of subagents of a session, as a fragment.
pub(crate) async fn agents(State(server): State<Arc<Server>>, Path(key): Path<String>) -> Response {
    run_blocking(server, move |server| {
        let (_, view) = match open_session(server, &key) {
            Ok(session) => session,
            Err(response) => return *response,
        };
        let agents = match view.agents() {
            Ok(agents) => agents,
            Err(error) => return response::error(&error),
        };
        response::ok(html! {
            ul class="agents" {
                @for row in agents.rows.iter().filter(|row| !row.warmup) {
                    li class={ "agent-" (row.depth.min(6)) } {
                        a href=(agent_address(server, &key, row)) { (format_agent_title(row)) }
                        span class="muted num" { " " (count_noun(row.entries as u64, "entry")) ", " (format_tokens(row.usage.total())) " tokens" }
                    }
                }
            }
            @for error in &agents.failures { p class="muted" { (error_message(error)) } }
        })
    })
    .await
}

/// Returns the address of the page of a subagent. `key` is the key of the session.
fn agent_address(server: &Server, key: &str, row: &AgentRow) -> String {
    format!("{}/agent/{}", server.site().session(key), percent_encode(&row.id))
}

/// Selects a subagent.
enum AgentSelector<'a> {
    /// The subagent that a tool call started.
    Call(&'a str),
    /// The subagent with an id. A subagent in the session's file is also selected by any of its lines.
    Id(&'a str),
}

impl AgentSelector<'_> {
    /// Finds the row of the selected subagent. Returns `None` if there is none.
    fn find_row<'r>(&self, rows: &'r [AgentRow], session: &CachedView) -> Option<&'r AgentRow> {
        let row_by_id = |id: &str| rows.iter().find(|row| row.id == id);
        match self {
            AgentSelector::Call(call) => rows.iter().find(|row| row.tool_use_id.as_deref() == Some(call)),
            AgentSelector::Id(id) => row_by_id(id).or_else(|| row_by_id(&session.view.sidechain_id(id)?)),
        }
    }
}

/// Opens a subagent of the session with this key and calls `respond` with its page. Returns the error response if the
/// session or the subagent cannot be opened.
fn with_agent(
    server: &Server,
    key: &str,
    selector: &AgentSelector<'_>,
    params: BranchParams,
    respond: impl FnOnce(&AgentRow, &SessionPage<'_>) -> Response,
) -> Response {
    let (_, session) = match open_session(server, key) {
        Ok(session) => session,
        Err(response) => return *response,
    };
    let agents = match session.agents() {
        Ok(agents) => agents,
        Err(error) => return response::error(&error),
    };
    let Some(row) = selector.find_row(&agents.rows, &session) else {
        let message = "no conversation of this subagent was kept";
        return match selector {
            // The call exists, and shows the message in its body.
            AgentSelector::Call(_) => response::ok(html! { p class="muted" { (message) } }),
            AgentSelector::Id(_) => response::not_found(message),
        };
    };
    let base = agent_address(server, key, row);
    let Some(path) = &row.path else {
        let params = BranchParams { sidechain: Some(row.id.clone()), ..params };
        return respond(
            row,
            &SessionPage {
                view: &session,
                base: &base,
                params: &params,
                actions: false,
                clock: &server.clock(),
            },
        );
    };
    match server.views.open(path, &server.prices) {
        Ok(view) => respond(
            row,
            &SessionPage {
                view: &view,
                base: &base,
                params: &params,
                actions: false,
                clock: &server.clock(),
            },
        ),
        Err(error) => response::error(&error),
    }
}

/// Selects the tool call that started a subagent.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct CallParams {
    call: String,
}

/// Responds with the conversation of the subagent that a tool call started, to be embedded in the call.
pub(crate) async fn by_call(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(params): Query<CallParams>,
) -> Response {
    run_blocking(server, move |server| {
        let selector = AgentSelector::Call(&params.call);
        with_agent(server, &key, &selector, BranchParams::default(), respond_embedded)
    })
    .await
}

/// Responds with the conversation of a subagent, to be embedded in another page.
fn respond_embedded(row: &AgentRow, page: &SessionPage<'_>) -> Response {
    match page.render_embedded() {
        Ok(turns) => response::ok(html! {
            section class="agent" aria-label={ "Subagent: " (format_agent_title(row)) } {
                p class="agent-title" { a href=(page.base) { (format_agent_title(row)) } }
                (turns)
            }
        }),
        Err(error) => response::error(&error),
    }
}

/// Responds with the page of a subagent, or with its conversation if the script requests a fragment.
pub(crate) async fn page(
    State(server): State<Arc<Server>>,
    Path((key, agent)): Path<(String, String)>,
    Query(params): Query<BranchParams>,
    headers: HeaderMap,
) -> Response {
    run_blocking(server, move |server| {
        with_agent(server, &key, &AgentSelector::Id(&agent), params, |row, page| {
            if headers.contains_key(FRAGMENT_HEADER) {
                return respond_embedded(row, page);
            }
            let info = PageInfo { title: &format_agent_title(row), parent_key: Some(&key), row: None };
            respond_with_page(server, page, &info).unwrap_or_else(|error| response::error(&error))
        })
    })
    .await
}

/// Responds with a chunk of the conversation of a subagent.
pub(crate) async fn chunk(
    State(server): State<Arc<Server>>,
    Path((key, agent)): Path<(String, String)>,
    Query(chunk): Query<ChunkParams>,
    Query(params): Query<BranchParams>,
    headers: HeaderMap,
) -> Response {
    let is_script = headers.contains_key(FRAGMENT_HEADER);
    run_blocking(server, move |server| {
        with_agent(server, &key, &AgentSelector::Id(&agent), params, |_, page| {
            respond_with_chunk(page, &chunk, is_script).unwrap_or_else(|error| response::error(&error))
        })
    })
    .await
}

/// Responds with the map of a subagent's conversation.
pub(crate) async fn map(
    State(server): State<Arc<Server>>,
    Path((key, agent)): Path<(String, String)>,
    Query(params): Query<BranchParams>,
) -> Response {
    run_blocking(server, move |server| {
        with_agent(server, &key, &AgentSelector::Id(&agent), params, |_, page| {
            respond_with_map(page).unwrap_or_else(|error| response::error(&error))
        })
    })
    .await
}

/// Responds with the lines of a subagent that contain a text.
pub(crate) async fn find(
    State(server): State<Arc<Server>>,
    Path((key, agent)): Path<(String, String)>,
    Query(find): Query<FindParams>,
    Query(params): Query<BranchParams>,
) -> Response {
    run_blocking(server, move |server| {
        with_agent(server, &key, &AgentSelector::Id(&agent), params, |_, page| {
            respond_with_matches(page, &find).unwrap_or_else(|error| response::error(&error))
        })
    })
    .await
}

/// Responds with the body of a tool call of a subagent, or the rest of a long text.
pub(crate) async fn part(
    State(server): State<Arc<Server>>,
    Path((key, agent)): Path<(String, String)>,
    Query(part): Query<PartParams>,
) -> Response {
    run_blocking(server, move |server| {
        let selector = AgentSelector::Id(&agent);
        with_agent(server, &key, &selector, BranchParams::default(), |_, page| respond_with_part(page, &part))
    })
    .await
}

/// Responds with an image of a subagent.
pub(crate) async fn image(
    State(server): State<Arc<Server>>,
    Path((key, agent)): Path<(String, String)>,
    Query(params): Query<PartParams>,
) -> Response {
    run_blocking(server, move |server| {
        let selector = AgentSelector::Id(&agent);
        with_agent(server, &key, &selector, BranchParams::default(), |_, page| {
            respond_with_image(page.view, &params)
        })
    })
    .await
}

//! A session: its page, and the fragments that the page requests while it is read.

pub(crate) mod agent;
mod chunk;
mod copy;
mod events;
mod export;
mod find;
mod map;
mod page;
mod part;
mod session_page;

pub(crate) use agent::agents;
pub(crate) use chunk::chunk;
pub(crate) use copy::copy;
pub(crate) use events::events;
pub(crate) use export::{export, preview_export};
pub(crate) use find::find;
pub(crate) use map::map;
pub(crate) use page::page;
pub(crate) use part::{image, part, raw, result_file};

use std::sync::Arc;

use axum::response::Response;
use rethread_engine::ops::list::SessionRow;
use rethread_engine::ops::read::BranchSelector;

use crate::html::link::percent_encode;
use crate::web::response;
use crate::web::server::Server;
use crate::web::view_cache::CachedView;

/// The header that our script sends to request a fragment instead of a page.
const FRAGMENT_HEADER: &str = "x-rethread";

/// The parameters that select a branch.
#[derive(Debug, Default, serde::Deserialize)]
pub(crate) struct BranchParams {
    /// The name of an entry on the branch.
    tip: Option<String>,
    /// `all` for every turn of the file.
    view: Option<String>,
    /// The id of a subagent in the session's file. It is part of the path of the address, not of the query.
    #[serde(skip)]
    sidechain: Option<String>,
}

impl BranchParams {
    /// Returns the branch to show: the subagent, all turns, the branch through `tip`, or the active one, in this
    /// order.
    fn selector(&self) -> BranchSelector {
        if let Some(sidechain) = &self.sidechain {
            return BranchSelector::Sidechain(sidechain.clone());
        }
        match (&self.tip, self.view.as_deref()) {
            (_, Some("all")) => BranchSelector::AllTurns,
            (Some(tip), _) => BranchSelector::Through(tip.clone()),
            (None, _) => BranchSelector::Active,
        }
    }

    /// Returns the query string that selects the same branch. It ends with `?` or `&`, so that parameters can be
    /// appended.
    fn query(&self) -> String {
        match self.selector() {
            BranchSelector::Active | BranchSelector::Sidechain(_) => "?".to_owned(),
            BranchSelector::Through(tip) => format!("?tip={}&", percent_encode(&tip)),
            BranchSelector::AllTurns => "?view=all&".to_owned(),
        }
    }
}

/// Finds a session by the key of its address and opens it. Returns its row in the session list and the loaded
/// session, or the error response if it does not exist or cannot be read.
fn open_session(server: &Server, key: &str) -> Result<(SessionRow, Arc<CachedView>), Box<Response>> {
    let row = server.find(key).ok_or_else(|| Box::new(session_not_found()))?;
    let view = server.views.open(&row.path, &server.prices);
    let view = view.map_err(|error| Box::new(response::error(&error)))?;
    Ok((row, view))
}

fn session_not_found() -> Response {
    response::not_found("no session has this address any more")
}

//! A session: its page, and the pieces that the page asks for while it is read.

pub(crate) mod agent;
mod chunk;
mod copy;
mod events;
mod export;
mod find;
mod map;
mod page;
mod part;

pub(crate) use agent::agents;
pub(crate) use chunk::leaf;
pub(crate) use copy::copy;
pub(crate) use events::events;
pub(crate) use export::export;
pub(crate) use find::find;
pub(crate) use map::map;
pub(crate) use page::page;
pub(crate) use part::{kept, part, picture, raw};

use std::sync::Arc;

use axum::response::Response;
use rethread_engine::ops::{BranchSelector, SessionRow, SessionView, TurnSlice};

use crate::html::link::encoded;
use crate::html::{self, RenderOptions};
use crate::text::time::Clock;
use crate::web::response;
use crate::web::server::Server;
use crate::web::view_cache::CachedView;

/// Which way an address asks for.
#[derive(Debug, Default, serde::Deserialize)]
pub(crate) struct Wanted {
    /// An entry on it.
    tip: Option<String>,
    /// `all` for every turn of the file.
    view: Option<String>,
    /// A subagent inside the session's file: the address of the page says it.
    #[serde(skip)]
    side: Option<String>,
}

impl Wanted {
    fn which(&self) -> BranchSelector {
        if let Some(side) = &self.side {
            return BranchSelector::Side(side.clone());
        }
        match (&self.tip, self.view.as_deref()) {
            (_, Some("all")) => BranchSelector::Everything,
            (Some(tip), _) => BranchSelector::Through(tip.clone()),
            (None, _) => BranchSelector::Active,
        }
    }

    /// Writes it as the part of an address, with its question mark.
    fn query(&self) -> String {
        match self.which() {
            BranchSelector::Active | BranchSelector::Side(_) => "?".to_owned(),
            BranchSelector::Through(tip) => format!("?tip={}&", encoded(&tip)),
            BranchSelector::Everything => "?view=all&".to_owned(),
        }
    }
}

/// Finds a session by the key of its address and opens it.
fn open(server: &Server, key: &str) -> Result<(SessionRow, Arc<CachedView>), Box<Response>> {
    let missing = || Box::new(response::missing("no session has this address any more"));
    let row = server.find(key).ok_or_else(missing)?;
    let open = server.readings.open(&row.path, &server.prices);
    let open = open.map_err(|failure| Box::new(response::failed(&failure)))?;
    Ok((row, open))
}

/// Hands on how a session is told that is found at `base`.
fn telling<T>(
    reading: &SessionView,
    base: &str,
    acts: bool,
    then: impl FnOnce(&RenderOptions<'_>) -> T,
) -> T {
    let folder = reading.session.sketch.cwd.as_deref().unwrap_or_default();
    let picture = |line: u32, call: Option<&str>, no: usize| {
        let call = call.map(|call| format!("&call={}", encoded(call))).unwrap_or_default();
        Some(format!("{base}/picture?line={line}&no={no}{call}"))
    };
    then(&RenderOptions {
        base,
        folder,
        clock: &Clock::look(),
        picture: &picture,
        kept: &|_| true,
        bodies: true,
        lazy: true,
        pack: None,
        acts,
    })
}

/// Draws scenes of a session that is found at `base`.
fn draw(scenes: &[TurnSlice], reading: &SessionView, base: &str, acts: bool) -> String {
    telling(reading, base, acts, |telling| {
        scenes.iter().map(|scene| html::scene(scene, telling).into_string()).collect()
    })
}

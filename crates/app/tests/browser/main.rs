//! Opens pages of the built server in a real browser, over a home directory of its own.
//!
//! ```text
//! session_builder ──▶ fixtures ──▶ server_page ──▶ (search, session_page, scroll, live_update, actions, map, …)
//!    a session file     a home     a browser page                     the tests
//! ```

#[cfg(test)]
mod access;
#[cfg(test)]
mod actions;
#[cfg(test)]
mod benchmark;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod hostile_session;
#[cfg(test)]
mod layout;
#[cfg(test)]
mod live_update;
#[cfg(test)]
mod map;
#[cfg(test)]
mod presentation;
#[cfg(test)]
mod screenshots;
#[cfg(test)]
mod scroll;
#[cfg(test)]
mod search;
#[cfg(test)]
mod server_page;
#[cfg(test)]
mod session_builder;
#[cfg(test)]
mod session_page;

/// Creates an empty home in which to run the built program.
#[cfg(test)]
fn new_home() -> rethread_testkit::home::Home {
    rethread_testkit::home::Home::new(env!("CARGO_BIN_EXE_rethread"))
}

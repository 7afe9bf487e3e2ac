//! Reads sessions in a real browser, served by the built program over a home folder of its own.
//!
//! ```text
//! tale ──▶ store ──▶ visit ──▶ (finding, reading, scrolling, growing, acting, showing, hostile, screens, speed)
//! a file    a home   a page     what somebody does there
//! ```

#[cfg(test)]
mod actions;
#[cfg(test)]
mod benchmark;
#[cfg(test)]
#[path = "../../../testkit/src/web_server.rs"]
#[expect(dead_code, reason = "shared with the tests of the server, which use all of it")]
mod client;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
#[path = "../../../testkit/src/home.rs"]
#[expect(dead_code, reason = "shared with the tests of the command line, which use all of it")]
mod home;
#[cfg(test)]
mod hostile;
mod hostile_session;
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

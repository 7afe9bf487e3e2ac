//! Reads sessions in a real browser, served by the built program over a home folder of its own.
//!
//! ```text
//! tale ──▶ store ──▶ visit ──▶ (finding, reading, scrolling, growing, acting, showing, hostile, screens, speed)
//! a file    a home   a page     what somebody does there
//! ```

#[cfg(test)]
mod acting;
#[cfg(test)]
#[path = "../web/client.rs"]
#[expect(dead_code, reason = "shared with the tests of the server, which use all of it")]
mod client;
#[cfg(test)]
mod finding;
#[cfg(test)]
mod growing;
#[cfg(test)]
#[path = "../cli/home.rs"]
#[expect(dead_code, reason = "shared with the tests of the command line, which use all of it")]
mod home;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod mapping;
mod poison;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod screens;
#[cfg(test)]
mod scrolling;
#[cfg(test)]
mod showing;
#[cfg(test)]
mod speed;
#[cfg(test)]
mod store;
#[cfg(test)]
mod tale;
#[cfg(test)]
mod visit;

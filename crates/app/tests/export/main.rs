//! Exports sessions with the built program, reads them, and opens them in a browser.

#[cfg(test)]
mod completeness;
#[cfg(test)]
mod formats;
#[cfg(test)]
#[path = "../../../testkit/src/home.rs"]
#[expect(dead_code, reason = "shared with the tests of the command line, which use all of it")]
mod home;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod html_page;
#[cfg(test)]
mod output_file;
#[cfg(test)]
mod real_sessions;
#[cfg(test)]
mod session_builder;

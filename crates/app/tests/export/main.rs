//! Exports sessions with the built program, reads them, and opens them in a browser.

#[cfg(test)]
mod file;
#[cfg(test)]
mod form;
#[cfg(test)]
#[path = "../cli/home.rs"]
#[expect(dead_code, reason = "shared with the tests of the command line, which use all of it")]
mod home;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod page;
#[cfg(test)]
mod real;
#[cfg(test)]
mod talk;
#[cfg(test)]
mod whole;

//! Exports sessions with the built program, checks the files, and opens them in a browser.

#[cfg(test)]
mod completeness;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod html_page;
#[cfg(test)]
mod output_file;
#[cfg(test)]
mod real_sessions;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod session_builder;

/// Creates an empty home in which to run the built program.
#[cfg(test)]
fn new_home() -> rethread_testkit::home::Home {
    rethread_testkit::home::Home::new(env!("CARGO_BIN_EXE_rethread"))
}

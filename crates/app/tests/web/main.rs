//! Sends HTTP requests to the built server, which runs in a home directory of its own.

#[cfg(test)]
mod access;
#[cfg(test)]
mod actions;
#[cfg(test)]
mod agreement;
#[cfg(test)]
mod archived;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod connections;
#[cfg(test)]
mod export;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod invisible;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod lifecycle;
#[cfg(test)]
mod links;
#[cfg(test)]
mod load;
#[cfg(test)]
mod markup;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod open;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod real_sessions;
#[cfg(test)]
mod session_routes;

/// Creates an empty home in which to run the built program.
#[cfg(test)]
fn new_home() -> rethread_testkit::home::Home {
    rethread_testkit::home::Home::new(env!("CARGO_BIN_EXE_rethread"))
}

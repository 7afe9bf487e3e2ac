//! Asks the built server as a browser would, over a home folder of its own.

#[cfg(test)]
mod access;
#[cfg(test)]
mod actions;
#[cfg(test)]
#[path = "../../../testkit/src/web_server.rs"]
mod client;
#[cfg(test)]
mod export;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
#[path = "../../../testkit/src/home.rs"]
#[expect(dead_code, reason = "shared with the tests of the command line, which use all of it")]
mod home;
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
mod pages;
#[cfg(test)]
mod real_sessions;
#[cfg(test)]
mod session_routes;

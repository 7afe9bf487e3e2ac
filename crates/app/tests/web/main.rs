//! Asks the built server as a browser would, over a home folder of its own.

#[cfg(test)]
mod act;
#[cfg(test)]
mod client;
#[cfg(test)]
mod crowd;
#[cfg(test)]
mod export;
#[cfg(test)]
mod gate;
#[cfg(test)]
#[path = "../cli/home.rs"]
#[expect(dead_code, reason = "shared with the tests of the command line, which use all of it")]
mod home;
#[cfg(test)]
mod leads;
#[cfg(test)]
mod markup;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod pieces;
#[cfg(test)]
mod real;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod running;
#[cfg(test)]
mod store;

//! How a conversation is told: where its pieces can be had, and how much of it stands in the page.

use super::tools::Picture;
use crate::words::when::Clock;

/// How to tell.
pub(crate) struct Telling<'a> {
    /// The address of the session, without a slash at its end.
    pub(crate) base: &'a str,
    /// The folder of the session.
    pub(crate) folder: &'a str,
    /// The user's zone.
    pub(crate) clock: &'a Clock,
    /// Gives the address of a picture.
    pub(crate) picture: Picture<'a>,
    /// Whether long bodies are left out, to be fetched when somebody opens them.
    pub(crate) lazy: bool,
    /// Whether turns can be copied and gone on from.
    pub(crate) acts: bool,
}

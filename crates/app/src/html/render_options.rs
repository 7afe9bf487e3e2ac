//! How a conversation is told: where its pieces can be had, and how much of it stands in the page.

use super::tools::Picture;
use crate::text::time::Clock;

/// Makes markup small, if it can.
pub(crate) type Packer<'a> = &'a dyn Fn(&str) -> Option<String>;

/// How to tell.
pub(crate) struct RenderOptions<'a> {
    /// The address of the session, without a slash at its end.
    pub(crate) base: &'a str,
    /// The folder of the session.
    pub(crate) folder: &'a str,
    /// The user's zone.
    pub(crate) clock: &'a Clock,
    /// Gives the address of a picture.
    pub(crate) picture: Picture<'a>,
    /// Says of a result that lies in a file of its own, by the name of that, whether it can be had.
    pub(crate) kept: &'a dyn Fn(&str) -> bool,
    /// Whether calls show what they were asked and what came of it; else only what they are about.
    pub(crate) bodies: bool,
    /// Whether long bodies are left out, to be fetched when somebody opens them.
    pub(crate) lazy: bool,
    /// Packs markup into letters that mean nothing, where a page has to bring along what nobody could fetch.
    pub(crate) pack: Option<Packer<'a>>,
    /// Whether turns can be copied and gone on from.
    pub(crate) acts: bool,
}

//! Options for rendering a conversation.

use super::tools::ImageUrl;
use crate::text::time::Clock;

/// Compresses markup to text that can be embedded in a page. Returns `None` if that fails.
pub(crate) type Packer<'a> = &'a dyn Fn(&str) -> Option<String>;

/// How a conversation is rendered.
pub(crate) struct RenderOptions<'a> {
    /// The address of the session, without a trailing slash. Empty in an export.
    pub(crate) base: &'a str,
    /// The working folder of the session. Paths below it are shown relative to it.
    pub(crate) folder: &'a str,
    /// The user's time zone.
    pub(crate) clock: &'a Clock,
    /// Returns the URL of an image by line, tool call and index.
    pub(crate) image_url: ImageUrl<'a>,
    /// Returns `true` if the result file with this name is available.
    pub(crate) has_result_file: &'a dyn Fn(&str) -> bool,
    /// Renders the input and the result of tool calls; otherwise only their headlines.
    pub(crate) tool_bodies: bool,
    /// Omits the bodies of long tool calls and the rest of long texts, which the script of the page loads on demand.
    pub(crate) lazy: bool,
    /// Compresses the rest of long texts. Used if `lazy` is not set.
    pub(crate) pack: Option<Packer<'a>>,
    /// Adds menus to turns, to copy them and to resume or fork from them.
    pub(crate) actions: bool,
}

//! Message content: a string or a list of blocks.

use super::json::JsonScanner;
use super::json_str::JsonStr;
use super::key::KeyPredictor;
use super::kind::BlockKind;
use super::skim;

/// The `content` of a message.
#[derive(Debug, Clone, Default)]
pub enum Content<'a> {
    /// The content is neither a string nor a list.
    #[default]
    None,
    /// A plain string.
    Text(JsonStr<'a>),
    /// A list of blocks.
    Blocks(Vec<Block<'a>>),
}

/// A content block of a message or of a tool result.
#[derive(Debug, Clone)]
pub struct Block<'a> {
    /// The type of the block.
    pub kind: BlockKind,
    /// `type` as written. `None` if it is missing or not a string.
    pub type_name: Option<JsonStr<'a>>,
    /// The bytes of the whole JSON object of the block.
    pub raw: &'a [u8],
    /// The id of the tool call: of this call, or of the call that this result belongs to. `None` for other blocks.
    pub id: Option<JsonStr<'a>>,
    /// The name of the called or referenced tool.
    pub tool_name: Option<JsonStr<'a>>,
    /// The text, the thinking, or the data of redacted thinking.
    pub text: Option<JsonStr<'a>>,
    /// The raw JSON of the input of a call, the content of a result, or the source of an image or document.
    pub body: Option<&'a [u8]>,
    /// Whether a tool result is marked as an error.
    pub is_error: bool,
    /// Whether the block has a signature that is not empty, as thinking has.
    pub signed: bool,
}

impl Default for Block<'_> {
    fn default() -> Self {
        Block {
            kind: BlockKind::Missing,
            type_name: None,
            raw: &[],
            id: None,
            tool_name: None,
            text: None,
            body: None,
            is_error: false,
            signed: false,
        }
    }
}

impl<'a> Content<'a> {
    /// Returns the blocks. A plain string has none.
    pub fn blocks(&self) -> &[Block<'a>] {
        match self {
            Content::Blocks(blocks) => blocks,
            _ => &[],
        }
    }

    /// Returns an iterator over the texts: the plain string, or the text of each text block in order.
    pub fn texts(&self) -> impl Iterator<Item = JsonStr<'a>> + '_ {
        let whole = if let Content::Text(text) = self { Some(*text) } else { None };
        let parts = self.blocks().iter().filter(|block| block.kind == BlockKind::Text);
        whole.into_iter().chain(parts.filter_map(|block| block.text))
    }
}

impl<'a> Block<'a> {
    /// Parses the content of a tool result. Returns `Content::None` if there is none or it is malformed.
    pub fn result_content(&self) -> Content<'a> {
        self.body.map_or(Content::None, parse_content)
    }
}

/// Parses a JSON value as content: a string or a list of blocks.
///
/// Returns `Content::None` for any other value and for malformed JSON. List items that are not objects are skipped.
pub fn parse_content(value: &[u8]) -> Content<'_> {
    let mut scanner = JsonScanner::new(value);
    let mut content = Content::None;
    // Discard blocks before a syntax error: the last one may be incomplete.
    if skim::skim_content(&mut scanner, &mut content, &mut KeyPredictor::default()).is_err() {
        content = Content::None;
    }
    content
}

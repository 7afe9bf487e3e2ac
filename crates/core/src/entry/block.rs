//! Content: a string or blocks.

use super::json::JsonScanner;
use super::json_str::JsonStr;
use super::key::KeyPredictor;
use super::kind::BlockKind;
use super::skim;

/// The `content` of a message.
#[derive(Debug, Clone, Default)]
pub enum Content<'a> {
    /// Neither a string nor a list.
    #[default]
    None,
    /// A plain string.
    Text(JsonStr<'a>),
    /// A list of blocks.
    Blocks(Vec<Block<'a>>),
}

/// One content block.
#[derive(Debug, Clone)]
pub struct Block<'a> {
    /// Its type.
    pub kind: BlockKind,
    /// Its type as written.
    pub name: Option<JsonStr<'a>>,
    /// The whole block.
    pub raw: &'a [u8],
    /// The id of the tool call: its own, or the one it answers.
    pub id: Option<JsonStr<'a>>,
    /// The name of the tool.
    pub tool: Option<JsonStr<'a>>,
    /// What is said or thought.
    pub words: Option<JsonStr<'a>>,
    /// The input of a call, the content of a result, the source of an image.
    pub body: Option<&'a [u8]>,
    /// Whether the tool reported an error.
    pub is_error: bool,
    /// Whether the thinking is signed.
    pub signed: bool,
}

impl Default for Block<'_> {
    fn default() -> Self {
        Block {
            kind: BlockKind::Missing,
            name: None,
            raw: &[],
            id: None,
            tool: None,
            words: None,
            body: None,
            is_error: false,
            signed: false,
        }
    }
}

impl<'a> Content<'a> {
    /// Returns the blocks; none for a plain string.
    pub fn blocks(&self) -> &[Block<'a>] {
        match self {
            Content::Blocks(blocks) => blocks,
            _ => &[],
        }
    }

    /// Returns the words of a string or of the text blocks, in order.
    pub fn texts(&self) -> impl Iterator<Item = JsonStr<'a>> + '_ {
        let whole = if let Content::Text(text) = self { Some(*text) } else { None };
        let parts = self.blocks().iter().filter(|block| block.kind == BlockKind::Text);
        whole.into_iter().chain(parts.filter_map(|block| block.words))
    }
}

impl<'a> Block<'a> {
    /// Returns what a tool result holds: its texts and other blocks.
    pub fn result(&self) -> Content<'a> {
        self.body.map_or(Content::None, content_of)
    }
}

/// Reads a value as content: a string or a list of blocks.
pub fn content_of(value: &[u8]) -> Content<'_> {
    let mut skim = JsonScanner::new(value);
    let mut content = Content::None;
    // What stands before a fault is not taken: it may be half of something.
    if skim::content(&mut skim, &mut content, &mut KeyPredictor::default()).is_err() {
        content = Content::None;
    }
    content
}

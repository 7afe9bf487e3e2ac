//! The options of a trim.

/// A kind of content that can be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContentKind {
    /// Thinking of the model.
    Thinking,
    /// Tool calls with their results.
    Tools,
    /// Tool results. The calls stay.
    ToolResults,
    /// Images and documents.
    Images,
    /// Records of which backups hold earlier versions of files.
    Snapshots,
    /// Progress reports of tools and hooks.
    Progress,
    /// Context that the client added.
    Attachments,
    /// The client's log of its API requests.
    ApiLog,
}

impl ContentKind {
    /// All kinds, in display order.
    pub const ALL: [ContentKind; 8] = [
        ContentKind::Thinking,
        ContentKind::Tools,
        ContentKind::ToolResults,
        ContentKind::Images,
        ContentKind::Snapshots,
        ContentKind::Progress,
        ContentKind::Attachments,
        ContentKind::ApiLog,
    ];

    /// Returns the name used in options and output.
    pub fn name(self) -> &'static str {
        match self {
            ContentKind::Thinking => "thinking",
            ContentKind::Tools => "tools",
            ContentKind::ToolResults => "tool-results",
            ContentKind::Images => "images",
            ContentKind::Snapshots => "snapshots",
            ContentKind::Progress => "progress",
            ContentKind::Attachments => "attachments",
            ContentKind::ApiLog => "api-log",
        }
    }

    /// Returns the kind with this name. Returns `None` if there is none.
    pub fn from_name(name: &str) -> Option<ContentKind> {
        ContentKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The content to remove from a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrimOptions {
    /// The kinds of content to remove.
    pub drop: Vec<ContentKind>,
    /// Removes attachments that are never sent to the model or that the client repeats on its own.
    pub client_only: bool,
    /// Removes all turns except this number of last ones.
    pub keep_last: Option<u32>,
    /// Replaces tool results of more bytes than this by stubs.
    pub results_over: Option<u64>,
    /// Keeps thinking, images, attachments, tool calls and results of this number of last turns. `keep_last` and
    /// `client_only` apply to them all the same.
    pub older_than: Option<u32>,
    /// Replaces the results of file reads by stubs if a later call has the same input.
    pub dedupe_reads: bool,
}

/// A named set of trim options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrimPreset {
    /// Removes data that only the client uses, and tool results of more than 4000 bytes before the last ten turns.
    Light,
    /// Also removes thinking, images and all tool results before the last two turns.
    Lighter,
    /// Keeps only prompts and answers.
    Bare,
    /// Removes nothing.
    Whole,
}

impl TrimPreset {
    /// All presets, in display order.
    pub const ALL: [TrimPreset; 4] =
        [TrimPreset::Light, TrimPreset::Lighter, TrimPreset::Bare, TrimPreset::Whole];

    /// Returns the name used in options and output.
    pub fn name(self) -> &'static str {
        match self {
            TrimPreset::Light => "light",
            TrimPreset::Lighter => "lighter",
            TrimPreset::Bare => "bare",
            TrimPreset::Whole => "whole",
        }
    }

    /// Returns the preset with this name. Returns `None` if there is none.
    pub fn from_name(name: &str) -> Option<TrimPreset> {
        TrimPreset::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// Returns the options of the preset.
    pub fn options(self) -> TrimOptions {
        let never_sent = [ContentKind::Snapshots, ContentKind::Progress, ContentKind::ApiLog];
        match self {
            TrimPreset::Whole => TrimOptions::default(),
            TrimPreset::Light => TrimOptions {
                drop: never_sent.to_vec(),
                client_only: true,
                results_over: Some(4000),
                older_than: Some(10),
                dedupe_reads: true,
                keep_last: None,
            },
            TrimPreset::Lighter => TrimOptions {
                drop: [
                    &never_sent[..],
                    &[ContentKind::Thinking, ContentKind::ToolResults, ContentKind::Images],
                ]
                .concat(),
                older_than: Some(2),
                ..TrimPreset::Light.options()
            },
            TrimPreset::Bare => TrimOptions {
                drop: ContentKind::ALL.into_iter().filter(|kind| *kind != ContentKind::ToolResults).collect(),
                client_only: true,
                ..TrimOptions::default()
            },
        }
    }
}

impl TrimPreset {
    /// Returns the word that describes a copy made with this preset and these options: the name of the preset, or
    /// `copy` or `trimmed` for [`TrimPreset::Whole`] without or with further options.
    pub fn copy_name(self, options: &TrimOptions) -> &'static str {
        match self {
            TrimPreset::Whole if *options != self.options() => "trimmed",
            TrimPreset::Whole => "copy",
            preset => preset.name(),
        }
    }
}

impl TrimOptions {
    /// Adds a kind of content to remove. Returns whether it was not in the options yet.
    ///
    /// [`ContentKind::Attachments`] also sets `client_only`.
    pub fn add_kind(&mut self, kind: ContentKind) -> bool {
        self.client_only |= kind == ContentKind::Attachments;
        let is_new = !self.has_kind(kind);
        if is_new {
            self.drop.push(kind);
        }
        is_new
    }

    /// Returns whether nothing is to be removed.
    pub fn is_empty(&self) -> bool {
        *self == TrimOptions::default()
    }

    /// Returns whether a kind of content is to be removed.
    pub fn has_kind(&self, kind: ContentKind) -> bool {
        self.drop.contains(&kind)
    }
}

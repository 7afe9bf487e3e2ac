//! What somebody wants to be rid of.

/// A kind of thing that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContentKind {
    /// What the model thought.
    Thinking,
    /// Calls of tools with their results.
    Tools,
    /// What tools answered; the calls stay.
    ToolResults,
    /// Pictures and documents.
    Images,
    /// Which backups hold the files as they were.
    Snapshots,
    /// What running tools and hooks reported.
    Progress,
    /// Context that the client added.
    Attachments,
    /// The client's record of its requests.
    ApiLog,
}

impl ContentKind {
    /// Every one, in the order in which they are told.
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

    /// Returns its name.
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

    /// Finds the one of that name.
    pub fn named(name: &str) -> Option<ContentKind> {
        ContentKind::ALL.into_iter().find(|what| what.name() == name)
    }
}

/// What is to be left out of a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrimOptions {
    /// These, wherever they stand.
    pub drop: Vec<ContentKind>,
    /// Attachments that say nothing to the model.
    pub client_only: bool,
    /// All turns but so many of the last.
    pub keep_last: Option<u32>,
    /// Tool results of more bytes than this.
    pub results_over: Option<u64>,
    /// Leaves what was said in so many of the last turns alone.
    pub older_than: Option<u32>,
    /// Results of reads that are repeated later.
    pub dedupe_reads: bool,
}

/// A trim by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// What the client keeps for itself, and large old tool results.
    Light,
    /// Also thinking, pictures and every old tool result.
    Lighter,
    /// Prompts and answers only.
    Bare,
    /// Nothing.
    Whole,
}

impl Preset {
    /// Every one, from much to little.
    pub const ALL: [Preset; 4] = [Preset::Light, Preset::Lighter, Preset::Bare, Preset::Whole];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Light => "light",
            Preset::Lighter => "lighter",
            Preset::Bare => "bare",
            Preset::Whole => "whole",
        }
    }

    /// Finds the one of that name.
    pub fn named(name: &str) -> Option<Preset> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// Says what it leaves out.
    pub fn trim(self) -> TrimOptions {
        let unsaid = [ContentKind::Snapshots, ContentKind::Progress, ContentKind::ApiLog];
        match self {
            Preset::Whole => TrimOptions::default(),
            Preset::Light => TrimOptions {
                drop: unsaid.to_vec(),
                client_only: true,
                results_over: Some(4000),
                older_than: Some(10),
                dedupe_reads: true,
                keep_last: None,
            },
            Preset::Lighter => TrimOptions {
                drop: [&unsaid[..], &[ContentKind::Thinking, ContentKind::ToolResults, ContentKind::Images]]
                    .concat(),
                older_than: Some(2),
                ..Preset::Light.trim()
            },
            Preset::Bare => TrimOptions {
                drop: ContentKind::ALL.into_iter().filter(|what| *what != ContentKind::ToolResults).collect(),
                client_only: true,
                ..TrimOptions::default()
            },
        }
    }
}

impl Preset {
    /// Says what a copy is called that was made by a trim of this preset and more.
    pub fn copy_name(self, trim: &TrimOptions) -> &'static str {
        match self {
            Preset::Whole if *trim != self.trim() => "trimmed",
            Preset::Whole => "copy",
            preset => preset.name(),
        }
    }
}

impl TrimOptions {
    /// Leaves something out besides; says whether it was not left out before. Who wants no attachments wants no idle ones either.
    pub fn leave_out(&mut self, what: ContentKind) -> bool {
        self.client_only |= what == ContentKind::Attachments;
        let is_new = !self.drops(what);
        if is_new {
            self.drop.push(what);
        }
        is_new
    }

    /// Whether such a thing is to be left out.
    pub fn drops(&self, what: ContentKind) -> bool {
        self.drop.contains(&what)
    }
}

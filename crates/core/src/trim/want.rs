//! What somebody wants to be rid of.

/// A kind of thing that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
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

impl What {
    /// Every one, in the order in which they are told.
    pub const ALL: [What; 8] = [
        What::Thinking,
        What::Tools,
        What::ToolResults,
        What::Images,
        What::Snapshots,
        What::Progress,
        What::Attachments,
        What::ApiLog,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            What::Thinking => "thinking",
            What::Tools => "tools",
            What::ToolResults => "tool-results",
            What::Images => "images",
            What::Snapshots => "snapshots",
            What::Progress => "progress",
            What::Attachments => "attachments",
            What::ApiLog => "api-log",
        }
    }

    /// Finds the one of that name.
    pub fn named(name: &str) -> Option<What> {
        What::ALL.into_iter().find(|what| what.name() == name)
    }
}

/// What is to be left out of a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trim {
    /// These, wherever they stand.
    pub drop: Vec<What>,
    /// Attachments that say nothing to the model.
    pub idle: bool,
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
    pub fn trim(self) -> Trim {
        let unsaid = [What::Snapshots, What::Progress, What::ApiLog];
        match self {
            Preset::Whole => Trim::default(),
            Preset::Light => Trim {
                drop: unsaid.to_vec(),
                idle: true,
                results_over: Some(4000),
                older_than: Some(10),
                dedupe_reads: true,
                keep_last: None,
            },
            Preset::Lighter => Trim {
                drop: [&unsaid[..], &[What::Thinking, What::ToolResults, What::Images]].concat(),
                older_than: Some(2),
                ..Preset::Light.trim()
            },
            Preset::Bare => Trim {
                drop: What::ALL.into_iter().filter(|what| *what != What::ToolResults).collect(),
                idle: true,
                ..Trim::default()
            },
        }
    }
}

impl Preset {
    /// Says what a copy is called that was made by a trim of this preset and more.
    pub fn copy_name(self, trim: &Trim) -> &'static str {
        match self {
            Preset::Whole if *trim != self.trim() => "trimmed",
            Preset::Whole => "copy",
            preset => preset.name(),
        }
    }
}

impl Trim {
    /// Leaves something out besides; says whether it was not left out before. Who wants no attachments wants no idle ones either.
    pub fn leave_out(&mut self, what: What) -> bool {
        self.idle |= what == What::Attachments;
        let is_new = !self.drops(what);
        if is_new {
            self.drop.push(what);
        }
        is_new
    }

    /// Whether such a thing is to be left out.
    pub fn drops(&self, what: What) -> bool {
        self.drop.contains(&what)
    }
}

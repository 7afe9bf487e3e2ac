//! The columns of `ls`.

/// A column of `ls`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum LsColumn {
    /// The start of the id
    Id,
    /// The time since the last message
    Age,
    /// The time of the last message
    Date,
    /// The number of turns
    Turns,
    /// The number of branches
    Branches,
    /// The number of subagents
    Agents,
    /// The size with subagents
    Size,
    /// The model that was used last
    Model,
    /// The client version that wrote last
    Client,
    /// The git branch
    GitBranch,
    /// The last part of the project folder
    Project,
    /// The title with its labels
    Title,
}

/// The columns of `ls`, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LsColumns(pub(crate) Vec<LsColumn>);

impl Default for LsColumns {
    fn default() -> LsColumns {
        use LsColumn::{Age, Agents, Branches, GitBranch, Id, Project, Size, Title, Turns};
        LsColumns(vec![Id, Age, Turns, Branches, Agents, Size, GitBranch, Project, Title])
    }
}

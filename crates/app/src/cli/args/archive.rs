//! Arguments of `archive`.

use std::path::PathBuf;

/// Keep a copy of every conversation, so that no deletion loses it
///
/// Claude Code deletes sessions after 30 days (`cleanupPeriodDays`), and keeps the file history of the last 100 checkpoints
/// only. This command copies everything that is new into an archive: sessions, subagents, tool results, file history, plans,
/// tasks, todos, memory and the prompt history. It reads changed files only, so it can run often. A file that was rewritten
/// or became shorter is kept in all its states. docs/ARCHIVE.md describes the files of an archive.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread archive                       add what is new\n  \
    rethread archive status                what it contains, and what only it contains\n  \
    rethread archive restore 3f2a          bring a deleted session back\n  \
    rethread archive sync /media/disk/claude-archive")]
pub(crate) struct Archive {
    #[command(subcommand)]
    pub(crate) action: Option<ArchiveAction>,
    /// Folder of the archive (default: $XDG_DATA_HOME/rethread/archive or ~/.local/share/rethread/archive)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
}

/// An action on the archive. Without one, new content is added.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum ArchiveAction {
    /// Show what the archive contains, and which sessions exist only there
    ///
    /// Also counts the session files that are not archived in full yet.
    Status,
    /// Check every byte of the archive
    ///
    /// Compares all files of the archive with their hashes. Exit code 1 if something is damaged or missing.
    Verify {
        /// Decompress all content and check each piece of it, too
        #[arg(long)]
        deep: bool,
    },
    /// Copy what is new between the archive and another folder
    ///
    /// The folder may be an external disk, a network mount or a synchronised folder, and may hold the archives of several machines.
    /// What this machine archived is copied there, and what other machines archived is copied in both directions. Every file is
    /// checked while it is copied. Nothing is deleted.
    #[command(after_help = "Examples:\n  \
        rethread archive sync /media/disk/claude-archive")]
    Sync {
        /// Folder to synchronise with; it must exist
        dir: PathBuf,
    },
    Restore(super::Restore),
}

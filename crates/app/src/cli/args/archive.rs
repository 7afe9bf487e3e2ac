//! Arguments of `archive`.

use std::path::PathBuf;

/// Keep a copy of every conversation, so that no deletion loses it
///
/// Claude Code deletes sessions after 30 days (`cleanupPeriodDays`), and keeps the file history of the last 100 checkpoints
/// only. This command copies everything that is new into an archive: sessions, subagents, tool results, file history, plans,
/// tasks, todos, memory and the prompt history. It reads changed files only, so it can run often. A file that was rewritten
/// or became shorter is kept in all its states. docs/ARCHIVE.md describes the files of an archive.
///
/// With --sync and --lake, the new content is also copied elsewhere. Exit code 2 if a file could not be read, or a
/// synchronisation or a push failed; the others still run. A folder that is not there is skipped and is no failure.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread archive                       add what is new\n  \
    rethread archive status                what it contains, and what only it contains\n  \
    rethread archive restore 3f2a          bring a deleted session back\n  \
    rethread archive sync /media/disk/claude-archive\n  \
    rethread archive --sync /media/disk/claude-archive    add what is new, then synchronise")]
pub(crate) struct Archive {
    #[command(subcommand)]
    pub(crate) action: Option<ArchiveAction>,
    #[command(flatten)]
    pub(crate) follow_up: FollowUpArgs,
    /// Folder of the archive (default: $XDG_DATA_HOME/rethread/archive or ~/.local/share/rethread/archive)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
}

/// The synchronisations and pushes that follow a run.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct FollowUpArgs {
    /// After each run, synchronise with this folder as `archive sync` does; may be repeated
    ///
    /// A folder that does not exist, or that has no archive yet, is skipped with a note and is not an error: its disk may not
    /// be connected. So the first `archive sync` to a folder is made by hand.
    #[arg(long, value_name = "DIR")]
    pub(crate) sync: Vec<PathBuf>,
    /// Encrypt in these folders what this machine archived, for a public key of age; may be repeated
    #[arg(long, value_name = "KEY", requires = "sync")]
    pub(crate) encrypt_to: Vec<String>,
    /// After each run, push to this lake as `lake push` does; may be repeated
    ///
    /// The machine must have joined the lake. A folder that is not there is skipped with a note.
    #[arg(long, value_name = "LAKE")]
    pub(crate) lake: Vec<String>,
}

impl FollowUpArgs {
    /// Returns `true` if nothing follows.
    pub(crate) fn is_empty(&self) -> bool {
        self.sync.is_empty() && self.lake.is_empty()
    }
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
    ///
    /// With --encrypt-to, the folder shows neither names nor content: it needs the public key to copy there, and the identity to
    /// copy from there. The local archive is not encrypted.
    #[command(after_help = "Examples:\n  \
        rethread archive sync /media/disk/claude-archive\n  \
        rethread archive sync ~/Cloud/claude --encrypt-to age1qx0…    copy there; needs no secret\n  \
        rethread archive sync ~/Cloud/claude --identity key.txt      copy what is there into this archive")]
    Sync(ArchiveSyncArgs),
    Forget(Forget),
    Exclude(Exclude),
    Schedule(Schedule),
    Prune(ArchivePruneArgs),
    Restore(super::Restore),
}

/// The folder to synchronise an archive with, and its keys.
#[derive(Debug, clap::Args)]
pub(crate) struct ArchiveSyncArgs {
    /// Folder to synchronise with; it must exist
    pub(crate) dir: PathBuf,
    /// Encrypt what this machine archived for a public key of age; may be repeated
    #[arg(long, value_name = "KEY")]
    pub(crate) encrypt_to: Vec<String>,
    /// File with a secret key of age: copy what other machines encrypted into this archive
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: Option<PathBuf>,
    /// Delete encrypted files there that this machine does not need any more, such as forgotten sessions after `archive prune`
    #[arg(long, requires = "encrypt_to")]
    pub(crate) prune: bool,
}

/// Remove sessions from the archive
///
/// The sessions disappear from the archive at once, and with the next `archive sync` from every copy of it. No later run brings
/// them back, even if the session file still exists. Session files are not changed. The content stays in the archive until
/// `archive prune` deletes it; until then, --undo takes it back. The prompt history and plans are files of all sessions and
/// keep what the session wrote to them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread archive forget 3f2a --dry-run\n  \
    rethread archive forget --older-than 365d\n  \
    rethread archive forget --project ~/clients/acme\n  \
    rethread archive forget 3f2a --undo")]
pub(crate) struct Forget {
    /// Session ids or the starts of them, or the paths that their files had
    pub(crate) session: Vec<String>,
    /// Only sessions last modified before: 90d, 52w, 2026-01-31
    #[arg(long, value_name = "AGE")]
    pub(crate) older_than: Option<String>,
    /// Only sessions that were started in this folder or below it
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Take back that the named sessions were forgotten
    #[arg(long, conflicts_with_all = ["older_than", "project", "yes"])]
    pub(crate) undo: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Show what would be forgotten, and change nothing
    #[arg(short = 'd', long)]
    pub(crate) dry_run: bool,
}

/// Delete the content of forgotten sessions for good
///
/// Deletes everything that only sessions removed with `archive forget` need, and files that an interrupted run left. This
/// cannot be undone. Another copy of the archive keeps its content until it is pruned, too: `rethread archive --to DIR prune`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread archive prune --dry-run\n  \
    rethread archive prune --yes\n  \
    rethread archive --to /media/disk/claude-archive prune")]
pub(crate) struct ArchivePruneArgs {
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Show what would be deleted, and delete nothing
    #[arg(short = 'd', long)]
    pub(crate) dry_run: bool,
}

/// Leave a project out of the archive
///
/// Sessions that were started in the folder or below it are not archived from now on. Without a folder, lists the excluded
/// ones. The key `archive.exclude` of the configuration file does the same. What was archived before stays until `archive forget
/// --project DIR`. The prompt history and plans are files of all sessions and are archived as a whole.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread archive exclude ~/private\n  \
    rethread archive exclude\n  \
    rethread archive exclude ~/private --remove")]
pub(crate) struct Exclude {
    /// Folder to leave out
    pub(crate) dir: Option<PathBuf>,
    /// Archive the folder again
    #[arg(long, requires = "dir")]
    pub(crate) remove: bool,
    /// Show what would change, and change nothing
    #[arg(short = 'd', long, requires = "dir")]
    pub(crate) dry_run: bool,
}

/// Bring the archive up to date regularly
///
/// Writes a systemd user timer on Linux, a launchd agent on macOS or a task of the Windows Task Scheduler, and starts it. The
/// command names this program, the archive and the folders with sessions that are in force now. The run prints nothing. If
/// systemd does not run for this user, prints a line for `crontab -e`. `rethread undo` restores the files only.
///
/// With --sync and --lake, each run also copies what is new elsewhere; `archive status` names these folders. The files contain
/// public keys only. A bucket needs `aws` or `rclone`, and credentials that a program in the background finds.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread archive schedule --dry-run        show the files and commands\n  \
    rethread archive schedule --every 1h\n  \
    rethread archive schedule --sync /media/disk/claude-archive\n  \
    rethread archive schedule --sync ~/Cloud/claude --encrypt-to age1qx0… --lake /mnt/team/lake\n  \
    rethread archive schedule --remove")]
pub(crate) struct Schedule {
    /// Time between two runs: 15m, 2h, 1d
    #[arg(long, value_name = "TIME", default_value = "15m")]
    pub(crate) every: String,
    #[command(flatten)]
    pub(crate) follow_up: FollowUpArgs,
    /// Stop the runs and remove the files
    #[arg(long, conflicts_with_all = ["sync", "encrypt_to", "lake"])]
    pub(crate) remove: bool,
    /// Show the files and commands, and change nothing
    #[arg(short = 'd', long)]
    pub(crate) dry_run: bool,
}

//! Arguments of the commands that change sessions.

use std::path::PathBuf;

use super::FilterArgs;

/// The options of every command that changes sessions.
#[derive(Debug, clap::Args)]
pub(crate) struct WriteArgs {
    /// Show what would change, and change nothing
    #[arg(short = 'd', long)]
    pub(crate) dry_run: bool,
    /// Proceed even if a client is using the session
    ///
    /// A session is live if a running client has it open, a process has its file open for writing, or the file was changed
    /// within the last 5 seconds.
    #[arg(long)]
    pub(crate) even_if_live: bool,
}

/// Move the point from which the next resume continues
///
/// A session file contains all its branches, but the client resumes only one of them. This command makes it resume from
/// any entry. It appends two lines to the file, changes no existing line, and verifies before and after what each client
/// will load. WHERE is a turn (t9: after its answer), a line (L118), a uuid or its first digits, the tip of a branch as
/// listed by `branches`, or text contained in the entry. If a compaction lies between, the entries leading to the target
/// are appended again after it.
#[derive(Debug, clap::Args)]
#[command(alias = "branch")]
#[command(after_help = "Examples:\n  \
    rethread goto last t9               resume after turn 9\n  \
    rethread goto last t9 --before      resume before prompt 9\n  \
    rethread goto 3f2a L118 --dry-run   show what would be written\n  \
    rethread goto last \"the old plan\"   by text; lists the choices if several match\n  \
    rethread undo                       undo the move")]
pub(crate) struct Goto {
    /// Session to change
    pub(crate) session: String,
    /// Target: t9 (turn), L118 (line), uuid, or text
    #[arg(value_name = "WHERE", required = true, num_args = 1..)]
    pub(crate) target: Vec<String>,
    /// Move to the entry before the target
    #[arg(long)]
    pub(crate) before: bool,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// Fork a session at a point into a new session
///
/// The new session contains exactly the entries that lead to WHERE (default: the resume point), with their subagents, tool
/// results and file history. Every line records its origin, as with the client's own /branch. The original session is not
/// changed. After writing, rethread verifies what each client will load.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread fork last                   a copy for experiments\n  \
    rethread fork last t9                everything up to the end of turn 9\n  \
    rethread fork 3f2a L118 --title \"second attempt\"")]
pub(crate) struct Fork {
    /// Session to fork
    pub(crate) session: String,
    /// Last entry: t9 (turn), L118 (line), uuid, or text
    #[arg(value_name = "WHERE")]
    pub(crate) target: Vec<String>,
    /// End at the entry before the target
    #[arg(long)]
    pub(crate) before: bool,
    /// Title of the new session
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// Show what would be created, and create nothing
    #[arg(short = 'd', long)]
    pub(crate) dry_run: bool,
}

/// Repair what doctor finds, in a new session or in place
///
/// Disconnected entries are linked to their predecessors: by the tool call they answer, or else by file order. Interrupted
/// tool calls get a result that states the interruption. Content that the API rejects is removed: unsigned thinking, empty
/// texts and images over a limit. Records are recovered from damaged lines, and the damaged bytes are saved next to the
/// session. Every entry with a new parent is listed, and its line records the old parent (relinkedFrom). The original
/// session is not changed unless --in-place is given. rethread verifies before and after what each client will load.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread repair last --dry-run            show what would be repaired\n  \
    rethread repair last                      write a repaired copy\n  \
    rethread repair 3f2a --in-place           repair the session itself; undo with `rethread undo`\n  \
    rethread repair 3f2a --extract pictures   save removed images to a folder")]
pub(crate) struct Repair {
    /// Session to repair
    pub(crate) session: String,
    /// Repair the session itself instead of creating a new one
    #[arg(long)]
    pub(crate) in_place: bool,
    /// Remove tool calls without a result instead of adding a result
    #[arg(long)]
    pub(crate) drop_unpaired: bool,
    /// Save removed images to this folder
    ///
    /// It cannot be inside the session folders or rethread's own folders.
    #[arg(long, value_name = "DIR")]
    pub(crate) extract: Option<PathBuf>,
    /// Resume from this entry: uuid or its first digits, L118 (line) or t9 (turn)
    ///
    /// Default: the newest entry if links were repaired, otherwise the same entry as before.
    #[arg(long, value_name = "ENTRY")]
    pub(crate) leaf: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// Set the title of a session
///
/// Appends the two lines that the client's own /rename writes, so that every client shows the title. The last title in a
/// file is the current one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread rename last the login bug\n  \
    rethread rename 3f2a 'second try' --dry-run")]
pub(crate) struct Rename {
    /// Session to rename
    pub(crate) session: String,
    /// New title; several words are joined
    #[arg(required = true)]
    pub(crate) title: Vec<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// Move sessions to the trash, with all their files
///
/// Moves the session file, its folder (subagents, tool results), subagent files of older clients, and the client's other
/// data about the session: file history, todos and tasks. Nothing is deleted. `rethread undo` restores it, until `rethread
/// log --prune` empties the trash. Asks before it moves anything. Without a terminal it needs --yes, and a session must be
/// named by at least four characters of its id, or by its path. Without a name, it moves the sessions that `ls` lists with the
/// same filters, except live ones.
#[derive(Debug, clap::Args)]
#[command(visible_alias = "delete")]
#[command(after_help = "Examples:\n  \
    rethread rm 3f2a --dry-run                 show what would be moved\n  \
    rethread rm 3f2a b27e                      two sessions, as two operations\n  \
    rethread rm --older-than 90d --project website\n  \
    rethread rm --empty --yes                  do not ask")]
pub(crate) struct Rm {
    /// Sessions to move
    pub(crate) session: Vec<String>,
    /// Remove them from the archive, too
    ///
    /// `rethread undo` restores the files. `rethread archive forget SESSION --undo` takes the rest back.
    #[arg(long)]
    pub(crate) forget: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// List the changes that rethread made
///
/// Newest first: the number for `rethread undo`, the time, the command, the session, whether the change is in effect, and a
/// summary. The journal and the backups are outside the client's folder, in $XDG_STATE_HOME/rethread or
/// ~/.local/state/rethread.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread log\n  \
    rethread log 3f2a --json | jq .paths\n  \
    rethread log --prune --older-than 30d --dry-run")]
pub(crate) struct Log {
    /// Only operations on the session with this id, or start of an id
    pub(crate) session: Option<String>,
    /// Show at most N operations
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Delete backups and trash of old operations
    ///
    /// Affects operations that began before --older-than, except the newest operation of each session. The log still lists
    /// them, but they can no longer be undone.
    #[arg(long, conflicts_with_all = ["session", "limit"])]
    pub(crate) prune: bool,
    /// Age limit for --prune: 90d, 12w, 2026-01-31
    #[arg(long, value_name = "WHEN", default_value = "90d", requires = "prune")]
    pub(crate) older_than: String,
    /// Show what would be deleted, and delete nothing
    #[arg(short = 'd', long, requires = "prune")]
    pub(crate) dry_run: bool,
}

/// Undo a change that rethread made
///
/// Restores every file of an operation to its previous bytes. Default: the newest operation in effect. An undo is an
/// operation too, so it can be undone. Refuses (exit code 3) if a file has changed since the operation.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread undo                 undo the newest change\n  \
    rethread undo 7 --dry-run     show what undoing operation 7 would change")]
pub(crate) struct Undo {
    /// Number of the operation (default: the newest in effect)
    pub(crate) op: Option<u64>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// Bring back a deleted session, or the state before any change
///
/// A session whose file is gone comes from the archive, byte for byte, with its subagents, tool results, file history, tasks,
/// todos, plans and lines of the prompt history. The files get the current time, because the client deletes old ones. A file that
/// exists is never overwritten: another state of a session is written next to it as `<session>.jsonl.generation-N`, or as a new
/// session with --as-new. Afterwards clients must load the same messages as before, or everything is rolled back.
///
/// A session that exists, or that `rethread rm` removed, is restored from the backups to its state before the first change by
/// rethread. The current state is backed up first, so a restore can be undone. Sessions created by rethread are not
/// removed. A file `<session>.jsonl.backup`, which other programs such as branch_finder leave next to a session, is offered and
/// restored with --backup-file.
///
/// `rethread archive restore` does the same, always from the archive.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread restore 3f2a --dry-run\n  \
    rethread restore 3f2a\n  \
    rethread restore 3f2a --generation 1 --as-new     an earlier state, as a new session\n  \
    rethread restore 3f2a --into ~/old-sessions\n  \
    rethread restore 3f2a --backup-file")]
pub(crate) struct Restore {
    /// Session id or the start of it, or the path that its file had; the file may be missing
    pub(crate) session: String,
    /// State of the session file in the archive, from 1 for the first (default: the newest)
    #[arg(long, value_name = "N")]
    pub(crate) generation: Option<u32>,
    /// Restore from the archive as a new session, with a new id in every line
    #[arg(long)]
    pub(crate) as_new: bool,
    /// Restore from the archive into this folder in place of the one that contained the session
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Restore the file `<session>.jsonl.backup` that another program left next to the session
    #[arg(long, conflicts_with_all = ["generation", "as_new", "into"])]
    pub(crate) backup_file: bool,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

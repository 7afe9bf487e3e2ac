//! The arguments of commands that write.

use std::path::PathBuf;

/// What every writing command takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Writing {
    /// Only say what would be changed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also while a client is at work in the session
    ///
    /// A session counts as live while a running client has it open, a process has its file open for writing, or
    /// somebody wrote to it within the last 5 seconds.
    #[arg(long)]
    pub(crate) even_if_live: bool,
}

/// Move the point where the next resume goes on
///
/// Every branch of a session is still in its file, but the client resumes only one of them. This makes it resume
/// another, from any entry: two lines are added at the end of the file, none is changed, and what each client will then
/// load is checked before and after. WHERE is a turn (t9: when it was answered), a line (L118), a uuid or its first
/// digits, the tip of a branch as `branches` names it, or words that the entry holds. Where a compaction stands between,
/// the way to the entry is written a second time behind it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread goto last t9               go on behind turn 9\n  \
    rethread goto last t9 --before      as if prompt 9 had not been asked yet\n  \
    rethread goto 3f2a L118 --dry-run   show what would be written\n  \
    rethread goto last \"the old plan\"   by words; offers a choice where several fit\n  \
    rethread undo                       take it back")]
pub(crate) struct Goto {
    /// Which session
    pub(crate) session: String,
    /// Where to: t9 (turn), L118 (line), uuid, or words
    #[arg(value_name = "WHERE", required = true, num_args = 1..)]
    pub(crate) place: Vec<String>,
    /// Go to the entry before it
    #[arg(long)]
    pub(crate) before: bool,
    #[command(flatten)]
    pub(crate) pen: Writing,
}

/// Move the point to an entry, named by its uuid
///
/// The direct form of `goto`, for scripts: takes a uuid (or its first digits, L118 or t9), never words.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread branch 3f2a 0effbfda\n  \
    rethread branches 3f2a --json | jq -r .tip | head -1 | xargs rethread branch 3f2a")]
pub(crate) struct Branch {
    /// Which session
    pub(crate) session: String,
    /// Which entry: uuid or its first digits, L118 (line) or t9 (turn)
    pub(crate) uuid: String,
    #[command(flatten)]
    pub(crate) pen: Writing,
}

/// Make a new session of the path to a point
///
/// The new session holds exactly the entries that lead to WHERE (without it: to where the client goes on), with their
/// subagents, tool results and file history, and says in every line where it comes from, as the client's own /branch
/// does. Its origin is not changed. What each client will load of it is checked after it is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread fork last                   a copy to try something in\n  \
    rethread fork last t9                what was said up to the end of turn 9\n  \
    rethread fork 3f2a L118 --title \"the other way\"")]
pub(crate) struct Fork {
    /// Which session
    pub(crate) session: String,
    /// Up to where: t9 (turn), L118 (line), uuid, or words
    #[arg(value_name = "WHERE")]
    pub(crate) place: Vec<String>,
    /// Up to the entry before it
    #[arg(long)]
    pub(crate) before: bool,
    /// What to call it
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// Only say what would be made
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Mend what doctor finds, in a new session or in place
///
/// What was cut off is hung on what it followed: by the tool call that it answers, else by the order of the file. Calls
/// that were interrupted get a result that says so, and what the API refuses (thoughts without a signature, empty texts,
/// pictures over a limit) leaves. Records are read out of damaged lines; the damaged bytes are kept beside the session.
/// Every line that gets another parent is listed, and marked in the file with the one it had (relinkedFrom). The session
/// itself stays as it is unless --in-place is given. What clients will load is checked before and after.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread repair last --dry-run            what would be mended\n  \
    rethread repair last                      a new session, mended\n  \
    rethread repair 3f2a --in-place           the session itself; `rethread undo` takes it back\n  \
    rethread repair 3f2a --extract pictures   keep pictures that have to leave")]
pub(crate) struct Repair {
    /// Which session
    pub(crate) session: String,
    /// Mend the session itself, and do not make a new one
    #[arg(long)]
    pub(crate) in_place: bool,
    /// Leave tool calls without a result out, and do not add a result
    #[arg(long)]
    pub(crate) drop_unpaired: bool,
    /// Write pictures that have to leave into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) extract: Option<PathBuf>,
    /// Go on from this entry: uuid or its first digits, L118 (line) or t9 (turn)
    ///
    /// Without it, clients go on from the newest entry where links were mended, else from where they did before.
    #[arg(long, value_name = "ENTRY")]
    pub(crate) leaf: Option<String>,
    #[command(flatten)]
    pub(crate) pen: Writing,
}

/// Give a session a title
///
/// Appends the two lines that the client's own /rename writes, so that every client shows the title. The last title
/// given counts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread rename last the login bug\n  \
    rethread rename 3f2a 'second try' --dry-run")]
pub(crate) struct Rename {
    /// Which session
    pub(crate) session: String,
    /// The title; several words are joined
    #[arg(required = true)]
    pub(crate) title: Vec<String>,
    #[command(flatten)]
    pub(crate) pen: Writing,
}

/// Move sessions to the trash, with all that belongs to them
///
/// The file, the folder beside it (subagents, tool results), subagents of older clients beside it, and what the client
/// keeps of the session elsewhere: file history, todos, tasks. Nothing is deleted: `rethread undo` brings it back, until
/// `rethread log --prune` throws it away.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread rm 3f2a --dry-run       what would go\n  \
    rethread rm 3f2a b27e            two sessions, each an op of its own")]
pub(crate) struct Rm {
    /// Which sessions
    #[arg(required = true)]
    pub(crate) session: Vec<String>,
    #[command(flatten)]
    pub(crate) pen: Writing,
}

/// List what rethread changed
///
/// Newest first: the number to give to `rethread undo`, when, the command, its session, whether it is in force, and
/// what it was about. The journal lies outside the client's folder, in $XDG_STATE_HOME/rethread or
/// ~/.local/state/rethread, with the backups.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread log\n  \
    rethread log 3f2a --json | jq .paths\n  \
    rethread log --prune --older-than 30d --dry-run")]
pub(crate) struct Log {
    /// Only ops of the session whose id begins so
    pub(crate) session: Option<String>,
    /// At most so many
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Throw away the backups and the trash of old ops
    ///
    /// Those of ops that began before --older-than go, but never those of the newest op of a session. The log still
    /// lists the ops and says so; they can no longer be undone.
    #[arg(long, conflicts_with_all = ["session", "limit"])]
    pub(crate) prune: bool,
    /// What counts as old: 90d, 12w, 2026-01-31
    #[arg(long, value_name = "WHEN", default_value = "90d", requires = "prune")]
    pub(crate) older_than: String,
    /// Only say what would be thrown away
    #[arg(long, requires = "prune")]
    pub(crate) dry_run: bool,
}

/// Take back what rethread changed
///
/// Brings every file of an op back to the bytes it had before: of the newest op that is in force, or of the one
/// named. That is an op of its own, so it can be undone too. Refuses (exit 3) where a file is no longer as the op left it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread undo                 take the newest change back\n  \
    rethread undo 7 --dry-run     what taking back op 7 would change")]
pub(crate) struct Undo {
    /// The number of the op; the newest in force where none is named
    pub(crate) op: Option<u64>,
    #[command(flatten)]
    pub(crate) pen: Writing,
}

/// Bring a session back to what it was before rethread changed it
///
/// All files of the session get the earliest bytes that are kept, also where the session was deleted meanwhile, by
/// whomever. What is there now is backed up first: this is an op of its own, and can be undone. What rethread made
/// itself stays.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread restore 3f2a --dry-run\n  \
    rethread restore 3f2a")]
pub(crate) struct Restore {
    /// Which session: its id or the beginning of it, also where its file is gone
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) pen: Writing,
}

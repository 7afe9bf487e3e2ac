//! What a plan does to which file, for those who look at it before or after.

use std::path::PathBuf;

use crate::writer::{Content, FileOp, Plan};

/// What happens to a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// So many bytes are appended.
    Append(u64),
    /// It gets another content.
    Replace,
    /// It is made.
    Create,
    /// It moves to the trash.
    Remove,
    /// It comes back from the trash.
    Return,
}

/// The effects of a plan, in their order.
pub type Effects = Vec<(PathBuf, Effect)>;

/// Lists what a plan does.
pub(crate) fn effects(plan: &Plan<'_>) -> Effects {
    let effect = |deed: &FileOp<'_>| match deed {
        FileOp::Append { bytes, .. } => Effect::Append(bytes.len() as u64),
        FileOp::Replace { .. } => Effect::Replace,
        FileOp::Create { .. } => Effect::Create,
        FileOp::Remove { .. } => Effect::Remove,
        FileOp::Return { .. } => Effect::Return,
    };
    plan.deeds.iter().map(|deed| (deed.path().to_owned(), effect(deed))).collect()
}

/// Takes a content from a backup.
pub(crate) fn kept<'a>(keep: &'a crate::writer::BackupStore, thing: crate::writer::FileState) -> Content<'a> {
    Content::Generated(Box::new(move |out| keep.write(&thing, out)))
}

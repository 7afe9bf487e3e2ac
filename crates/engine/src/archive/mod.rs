//! Keeps every byte of the session files, so that conversations outlive their files. docs/ARCHIVE.md specifies the format.
//!
//! ```text
//! machines/<id>/manifest                         names the catalogs of a machine, with a checksum; replaced atomically
//! machines/<id>/catalogs/<first>-<last>-<hash>   records of packs and files
//! machines/<id>/packs/<hash>.zst                 the content: zstd frames that decompress independently
//! machines/<id>/seen                             fingerprints of archived files; derived, may be deleted
//! ```
//!
//! Packs and catalogs never change: each is named by the hash of its bytes. A file is a chain of **segments**, pieces of its
//! content that are named by their hash. What a client appends becomes one more segment. A file that was rewritten or
//! became shorter starts a new **generation**; the earlier one stays readable.
//!
//! A **tombstone** hides a session that the user wants to be forgotten, in all copies of an archive. A prune deletes the content.
//!
//! A machine writes only below its own folder, under a lock. Other machines only add files there, and readers need no lock.

mod archive_writer;
mod encrypted;
mod exclusion;
#[cfg(test)]
mod listing_tests;
mod pack;
mod seen_files;
mod source;
mod source_walk;
mod sync;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tombstone_tests;
mod verify;

pub(crate) use self::archive_writer::{ArchiveWriter, prune_archive};
pub use self::encrypted::PlaceKeys;
pub(crate) use self::encrypted::{check_public_keys, sync_encrypted};
pub(crate) use self::exclusion::ExclusionSet;
pub(crate) use self::source::{PROMPT_HISTORY, SESSION_FOLDERS, SourceFile, find_client_root, list_sources};
pub use self::sync::CopiedFiles;
pub(crate) use self::sync::{SyncReport, sync_archives};
pub(crate) use self::verify::verify_archive;
pub(crate) use crate::archive_reader::catalog::Generation;
pub(crate) use crate::archive_reader::tombstones::find_session_names;
pub(crate) use crate::archive_reader::{Archive, ArchivedFile};
pub use crate::archive_reader::{ArchiveDamage, ArchiveLocation, DamageKind, GenerationCause};
use crate::archive_reader::{
    archive as archive_reader, catalog, catalog_record, content, damage, frame, manifest, tombstones,
};

//! Session files on disk: finding them, reading them once, reading single lines again. Reads only.

mod dir_cache;
mod documents;
mod file_content;
mod file_stat;
mod find;
mod fingerprint;
mod folder_handle;
mod lease;
mod live;
mod open_archive;
mod process_table;
mod project_scope;
mod scan;
mod session_files;
mod tail_fingerprint;
mod walk;
mod work_progress;

pub(crate) use crate::archive_reader::tombstones::is_session_id;
pub(crate) use crate::plain_file::open_file;
pub(crate) use dir_cache::{CachedDir, DirCache};
pub(crate) use documents::{FileOwner, find_last_line_end, read_docs, read_result_text};
pub(crate) use file_content::{
    FileContent, is_file, is_only_archived, open_content, read_fingerprint, read_small_file,
};
pub(crate) use file_stat::{FileKind, FileStat};
pub use find::{ArchiveScope, KeptFilter, Roots};
pub(crate) use find::{
    FileRole, SessionFile, find_sessions, find_sessions_and_results, find_sessions_below, list_files,
    list_names, total_size,
};
pub(crate) use fingerprint::FileFingerprint;
pub(crate) use folder_handle::FolderHandle;
pub use lease::FileLease;
pub use live::RegisteredClient;
pub(crate) use live::{find_client_dir, find_live_sessions, find_registered_clients, find_registrations};
pub(crate) use open_archive::{find_archived_file, find_state_number, find_state_path, list_archived_below};
pub use process_table::{ProcessTable, SystemProcesses, UnknownProcesses};
pub(crate) use process_table::{find_process_start, list_ancestor_processes};
pub(crate) use project_scope::{MAX_NAME_BYTES, ProjectScope, encode_project_name, find_working_folder};
pub(crate) use scan::{LineReader, ScanEvent, ScanOptions, read_last_message_time, scan, scan_content};
pub(crate) use session_files::{find_session_files, list_sibling_agents};
pub(crate) use tail_fingerprint::{TailFingerprint, hash_tail_at};
pub(crate) use work_progress::ReadReporter;
pub use work_progress::{WorkProgress, set_work_observer};

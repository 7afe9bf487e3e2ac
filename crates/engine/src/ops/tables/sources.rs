//! Lists the files whose rows the tables contain, each with a mark that changes with its rows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rethread_core::pack::Pack;

use super::responses::find_shared_ids;
use super::{TableFileFilter, TableSelection, TableStore, TablesReport, TablesRequest};
use crate::cache::{CacheDir, CacheWarning};
use crate::disk::Roots;
use crate::ops::list::SessionRow;
use crate::ops::usage::{UsageStore, find_agent_kinds};
use crate::session::per_file_cache::find_files;
use crate::{Error, ops::tables::CopyPolicy};
use rethread_core::usage::PriceTable;

/// A file whose rows the tables contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSource {
    /// The file.
    pub path: PathBuf,
    /// Its id in the tables.
    pub source_id: String,
    /// The id of its session. Empty if neither the path nor a line names it.
    pub session_id: String,
    /// The id of the subagent, if the file is of one.
    pub agent_id: Option<String>,
    /// Its size in bytes.
    pub bytes: u64,
    /// A hash of everything on which its rows depend, prices excepted. With the same mark, the file has the same rows in
    /// [`CopyPolicy::PerFile`].
    pub mark: [u8; 16],
}

/// The files whose rows the tables contain.
#[derive(Debug, Default)]
pub struct TableSourceList {
    /// The files, in the order of their paths.
    pub sources: Vec<TableSource>,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// The reason why the cache could not be used. `None` if there was no problem.
    pub warning: Option<CacheWarning>,
}

/// Lists the files of all sessions below `roots` with their marks.
pub fn list_table_sources(roots: &Roots, prices: &PriceTable, cache: Option<&CacheDir>) -> TableSourceList {
    let (files, failures) = find_files(roots, cache);
    let mut report = TablesReport { failures, ..TablesReport::default() };
    let request = TablesRequest {
        selection: TableSelection::default(),
        copies: CopyPolicy::PerFile,
        filter: TableFileFilter::default(),
        prices,
    };
    let store = TableStore::new(&files, roots, cache, &request, &mut report);
    let usage = UsageStore::open(&files, roots, cache);
    let agent_kinds = find_agent_kinds(&usage);
    let mut shared_ids: HashMap<usize, Vec<(usize, u128)>> = HashMap::new();
    for ((file_idx, response_idx), id) in find_shared_ids(&usage) {
        shared_ids.entry(file_idx).or_default().push((response_idx, id.bits()));
    }
    let by_path: HashMap<&Path, &SessionRow> =
        store.sessions.iter().map(|row| (row.path.as_path(), row)).collect();
    let sources = files
        .iter()
        .enumerate()
        .map(|(idx, file)| {
            let names = &store.names[idx];
            let mut hasher = blake3::Hasher::new();
            let mut add = |part: &[u8]| {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part);
            };
            add(&file.fingerprint.to_packed());
            add(names.project.as_deref().unwrap_or_default().as_bytes());
            add(agent_kinds[idx].as_deref().unwrap_or_default().as_bytes());
            let mut ids = shared_ids.remove(&idx).unwrap_or_default();
            ids.sort_unstable();
            for (response_idx, id) in ids {
                add(&(response_idx as u64).to_le_bytes());
                add(&id.to_le_bytes());
            }
            if let Some(row) = by_path.get(file.path.as_path()) {
                let links = &row.links;
                let facts = (row.bytes, row.agents, row.archived, &row.title.text);
                add(format!("{facts:?}").as_bytes());
                add(format!("{:?}", (&links.forked_from, &links.continued_from, &links.plan)).as_bytes());
            }
            let hash = hasher.finalize();
            let mut mark = [0; 16];
            mark.copy_from_slice(&hash.as_bytes()[..16]);
            TableSource {
                path: file.path.clone(),
                source_id: names.source_id.to_string(),
                session_id: names.session_id.to_string(),
                agent_id: names.agent_id.as_deref().map(str::to_owned),
                bytes: file.len,
                mark,
            }
        })
        .collect();
    let (failures, warning) = usage.close();
    report.failures.extend(failures);
    TableSourceList { sources, failures: report.failures, warning: report.warning.or(warning) }
}

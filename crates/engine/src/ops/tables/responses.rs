//! The rows of the table of responses.

use std::collections::HashMap;
use std::sync::Arc;

use memchr::memmem::Finder;
use rethread_core::entry::{Entry, Flags, JsonStr};
use rethread_core::id::Id;
use rethread_core::pack_fields;
use rethread_core::resume::ContextStatus;
use rethread_core::usage::{FileUsage, ResponseUsage, UniqueResponse, UsageCollector};

use super::rows::{Name, ResponseTableRow};
use super::{CopyPolicy, RowVisitor, TableKind, TableRow, TableStore, TablesReport, TablesRequest};
use crate::Error;
use crate::cache::CacheKind;
use crate::disk::{ScanEvent, ScanOptions, SessionFile, scan};
use crate::ops::usage::{Pricer, ResponseLocation, ResponseLocations, UsageStore, find_agent_kinds};
use crate::session::per_file_cache::PerFileCache;

/// The columns that need [`ResponseNames`].
const NAME_COLUMNS: &[&str] =
    &["message_id", "request_id", "client_version", "stop_reason", "line", "agent_id"];
/// The columns that need [`ResponseLocations`].
const LOCATION_COLUMNS: &[&str] = &["turn", "context_status"];

/// The names of a response that totals do not need.
#[derive(Debug, Clone, Default)]
pub(super) struct ResponseNames {
    message_id: Option<String>,
    request_id: Option<String>,
    client_version: Option<String>,
    stop_reason: Option<String>,
    agent_id: Option<String>,
    line: u32,
}

impl ResponseNames {
    /// Adds a line of the response with an index to the names of a file.
    pub(super) fn add_line(names: &mut Vec<ResponseNames>, idx: usize, entry: &Entry<'_>, line: u32) {
        let text = |text: Option<JsonStr<'_>>| text.map(|text| text.decode().into_owned());
        if idx == names.len() {
            names.push(ResponseNames {
                message_id: text(entry.message.as_ref().and_then(|message| message.id)),
                request_id: text(entry.request_id),
                client_version: text(entry.client_version()),
                agent_id: text(entry.agent_id.filter(|_| entry.has_flag(Flags::SIDECHAIN))),
                line,
                stop_reason: None,
            });
        }
        let stop_reason = text(entry.message.as_ref().and_then(|message| message.stop_reason));
        names[idx].stop_reason = stop_reason.or(names[idx].stop_reason.take());
    }
}

/// The names and locations of the responses of a file, in their order. A file of a subagent has no locations.
#[derive(Debug, Default)]
pub(super) struct FileResponses {
    pub(super) names: Vec<ResponseNames>,
    pub(super) locations: Vec<ResponseLocation>,
}

pack_fields!(ResponseNames { message_id, request_id, client_version, stop_reason, agent_id, line });

/// The columns that cost time for each row.
#[derive(Clone, Copy)]
struct WantedColumns {
    response_id: bool,
    session_id: bool,
    project: bool,
    git_branch: bool,
    tools: bool,
}

/// Builds the rows of responses.
struct ResponseRows<'r> {
    store: &'r TableStore<'r>,
    wanted: WantedColumns,
    pricer: Pricer<'r>,
    locations: Option<ResponseLocations>,
    names: Option<Vec<Vec<ResponseNames>>>,
    /// By index of the file: what was read together with its other rows.
    details: Option<HashMap<usize, FileResponses>>,
    agent_kinds: Vec<Option<Name>>,
    shared_names: HashMap<String, Name>,
    /// The working folder of each session.
    projects: HashMap<String, Name>,
}

/// Passes the responses to `visit`. Returns `false` if it stops. `details` has what was read with the other rows of the files.
pub(super) fn read_responses(
    store: &TableStore<'_>,
    request: &TablesRequest<'_>,
    details: Option<HashMap<usize, FileResponses>>,
    report: &mut TablesReport,
    visit: &mut RowVisitor<'_>,
) -> bool {
    let has_details = details.is_some();
    let wants = |columns: &[&str]| request.selection.wants_any(TableKind::Responses, columns);
    let usage = UsageStore::open(store.files, store.roots, store.cache);
    let locations = (!has_details && wants(LOCATION_COLUMNS))
        .then(|| ResponseLocations::read(store.files, store.roots, store.cache));
    let names = (!has_details && wants(NAME_COLUMNS)).then(|| read_names(store, report));
    let agent_kinds = if wants(&["agent_kind"]) { find_agent_kinds(&usage) } else { Vec::new() };
    let wanted = WantedColumns {
        response_id: wants(&["response_id"]),
        session_id: wants(&["session_id"]),
        project: wants(&["project"]),
        git_branch: wants(&["git_branch"]),
        tools: wants(&["tools"]),
    };
    let mut rows = ResponseRows {
        store,
        wanted,
        pricer: Pricer::new(request.prices),
        locations,
        names,
        details,
        agent_kinds: agent_kinds.into_iter().map(|kind| kind.map(Name::from)).collect(),
        shared_names: HashMap::new(),
        projects: usage.collect_folders().into_iter().map(|(id, dir)| (id.to_owned(), dir.into())).collect(),
    };
    let mut is_wanted = true;
    let mut deliver = |row: Option<ResponseTableRow>| {
        is_wanted = is_wanted && row.is_none_or(|row| visit(TableRow::Responses(&row)));
    };
    match request.copies {
        CopyPolicy::Once => usage.for_each_response(|response| {
            let (file_idx, response_idx) = (response.file_idx, response.response_idx);
            let id = derive_response_id(response.response_usage);
            deliver(rows.build(
                file_idx,
                response.file_usage,
                response_idx,
                &response.unique,
                response.is_subagent,
                id,
            ));
        }),
        CopyPolicy::PerFile => {
            let ids = find_shared_ids(&usage);
            for file_idx in (0..store.files.len()).filter(|&idx| store.is_selected[idx]) {
                let file_usage = usage.file_usage(file_idx);
                rows.complete_details(file_idx, file_usage.responses.len());
                for (response_idx, response) in file_usage.responses.iter().enumerate() {
                    let unique = UniqueResponse::from_single(file_idx as u32, response_idx as u32, response);
                    let is_subagent = response.is_sidechain || store.files[file_idx].is_agent();
                    let id = ids.get(&(file_idx, response_idx)).copied();
                    let id = id.unwrap_or_else(|| derive_response_id(response));
                    deliver(rows.build(file_idx, &file_usage, response_idx, &unique, is_subagent, id));
                }
            }
        }
    }
    if let Some(locations) = rows.locations {
        report.failures.extend(locations.failures);
        report.warning = report.warning.take().or(locations.warning);
    }
    let (failures, warning) = usage.close();
    report.failures.extend(failures);
    report.warning = report.warning.take().or(warning);
    is_wanted
}

/// Returns the ids of the responses without a request id that are copies of others, by file and response.
pub(super) fn find_shared_ids(usage: &UsageStore<'_>) -> HashMap<(usize, usize), Id> {
    let mut ids = HashMap::new();
    usage.for_each_response(|response| {
        let locations: Vec<(usize, usize)> = response.copy_locations().collect();
        if locations.len() > 1 {
            let id = derive_response_id(response.response_usage);
            ids.extend(locations.into_iter().map(|location| (location, id)));
        }
    });
    ids
}

/// Returns an id that the copies of a response share: of its message and request, or without a request, of its message and
/// tokens.
fn derive_response_id(response: &ResponseUsage) -> Id {
    let usage = &response.usage;
    let tokens = || {
        let counts = [usage.input, usage.output, usage.cache_write, usage.cache_read];
        Id::from_text(format!("{counts:?}").as_bytes())
    };
    response.message.combine(response.request.unwrap_or_else(tokens))
}

impl ResponseRows<'_> {
    /// Reads the details of a file that has other responses than when its other rows were read: it grew, or was unreadable.
    fn complete_details(&mut self, file_idx: usize, response_count: usize) {
        let file = &self.store.files[file_idx];
        let Some(details) = &mut self.details else { return };
        if details.get(&file_idx).map_or(0, |file| file.names.len()) == response_count {
            return;
        }
        let names = read_file_names(file).map(|(names, _)| names).unwrap_or_default();
        let locations = ResponseLocations::read(std::slice::from_ref(file), self.store.roots, None);
        let locations = (0..names.len()).map_while(|idx| locations.get_at(0, idx)).collect();
        details.insert(file_idx, FileResponses { names, locations });
    }

    /// Builds the row of a response. Returns `None` if the filter does not select its file.
    fn build(
        &mut self,
        file_idx: usize,
        file_usage: &FileUsage,
        response_idx: usize,
        unique: &UniqueResponse,
        is_agent: bool,
        id: Id,
    ) -> Option<ResponseTableRow> {
        if !self.store.is_selected[file_idx] {
            return None;
        }
        let response = &file_usage.responses[response_idx];
        let full_model = file_usage.model(response);
        let cost = self.pricer.price(unique, full_model, response.time);
        let model = full_model.strip_suffix("[fast]");
        let (model, fast) = (model.unwrap_or(full_model), model.is_some());
        let model = self.share(model);
        let wanted = self.wanted;
        let git_branch = if wanted.git_branch { self.share(file_usage.branch(response)) } else { None };
        let session_id = if wanted.session_id { self.share(&file_usage.session) } else { None };
        let tools = if wanted.tools { format_tools(file_usage, response_idx) } else { None };
        let tools = tools.and_then(|tools| self.share(&tools));
        let project = if wanted.project { self.projects.get(&file_usage.session).cloned() } else { None };
        let detail = self.details.as_ref().map(|details| details.get(&file_idx));
        let locations = self.locations.as_ref();
        let known = match detail {
            Some(file) => Some(file.and_then(|file| file.locations.get(response_idx)).copied()),
            None => locations.map(|locations| locations.get_at(file_idx, response_idx)),
        };
        let location = known.map(|known| {
            let status = if is_agent { ContextStatus::Subagent } else { ContextStatus::Unlinked };
            known.map_or((None, status), |location| (location.turn, location.status))
        });
        let names = match detail {
            Some(file) => file.and_then(|file| file.names.get(response_idx)),
            None => self.names.as_ref().and_then(|names| names[file_idx].get(response_idx)),
        };
        let names = names.cloned().unwrap_or_default();
        let (client_version, stop_reason) = (
            names.client_version.and_then(|version| self.share(&version)),
            names.stop_reason.and_then(|reason| self.share(&reason)),
        );
        let file_names = &self.store.names[file_idx];
        let line_agent = names.agent_id.filter(|_| is_agent).map(Name::from);
        Some(ResponseTableRow {
            response_id: if wanted.response_id { format!("{:032x}", id.bits()) } else { String::new() },
            message_id: names.message_id,
            request_id: names.request_id,
            project,
            session_id: session_id.unwrap_or_default(),
            source_id: Arc::clone(&file_names.source_id),
            line: (names.line > 0).then_some(names.line),
            agent_id: file_names.agent_id.clone().or(line_agent),
            agent_kind: self.agent_kinds.get(file_idx).cloned().flatten(),
            is_agent,
            git_branch,
            client_version,
            model,
            fast,
            ts: response.time,
            turn: location.and_then(|(turn, _)| turn),
            context_status: location.map(|(_, status)| status.name()),
            copied: response.copied,
            lower_bound: unique.is_lower_bound,
            stop_reason,
            input_tokens: unique.usage.input,
            output_tokens: unique.usage.output,
            cache_creation_input_tokens: unique.usage.cache_write,
            cache_creation_1h_input_tokens: unique.usage.cache_write_1h,
            cache_read_input_tokens: unique.usage.cache_read,
            web_searches: unique.usage.web_searches,
            cost: (cost.unpriced.responses == 0).then_some(cost.cost),
            tools,
        })
    }

    /// Returns a shared copy of a text. Returns `None` if it is empty.
    fn share(&mut self, text: &str) -> Option<Name> {
        if text.is_empty() {
            return None;
        }
        if let Some(name) = self.shared_names.get(text) {
            return Some(Arc::clone(name));
        }
        let name = Name::from(text);
        self.shared_names.insert(text.to_owned(), Arc::clone(&name));
        Some(name)
    }
}

/// Returns the tools of the calls of a response as a JSON array. Returns `None` if it has no calls.
fn format_tools(file_usage: &FileUsage, response_idx: usize) -> Option<String> {
    let tools: Vec<&str> = file_usage.tool_calls(response_idx).collect();
    if tools.is_empty() { None } else { serde_json::to_string(&tools).ok() }
}

/// Reads the names of the responses of all files, from the cache if possible.
fn read_names(store: &TableStore<'_>, report: &mut TablesReport) -> Vec<Vec<ResponseNames>> {
    let cache = PerFileCache::new(store.cache, store.roots, CacheKind::ResponseNames, store.files);
    let (results, warning) = cache.read_all(read_file_names);
    report.warning = report.warning.take().or(warning);
    let mut names = Vec::with_capacity(results.len());
    for result in results {
        // An unreadable file has no responses, and the usage reports the error.
        names.push(result.unwrap_or_default());
    }
    names
}

/// Reads the names of the responses of a file, in the order of its responses. Also returns the number of bytes read.
fn read_file_names(file: &SessionFile) -> Result<(Vec<ResponseNames>, u64), Error> {
    let mut collector = UsageCollector::without_tools(file.path_id(), file.session_id().unwrap_or_default());
    let mut names: Vec<ResponseNames> = Vec::new();
    let (word, low, high) = (Finder::new("usage"), Finder::new("\\u006"), Finder::new("\\u007"));
    let is_relevant = |line: &[u8]| [&word, &low, &high].iter().any(|finder| finder.find(line).is_some());
    let options = ScanOptions::exact_range(0..file.len, 0).with_filter(&is_relevant);
    scan(&file.path, &options, |event| {
        let ScanEvent::Entry(entry, span, true) = event else { return };
        let Some(idx) = collector.add(entry) else { return };
        ResponseNames::add_line(&mut names, idx, entry, span.line);
    })
    .map_err(Error::reading(&file.path))?;
    Ok((names, file.len))
}

//! The export of a session, as a file that the browser downloads.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use clap::ValueEnum;
use rethread_engine::core::secrets::RedactOptions;
use rethread_engine::ops;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::oneshot;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use super::{BranchParams, open_session};
use crate::export::{
    Detail, ExportContext, ExportError, ExportOptions, ExportSource, Format, SecretPolicy, build_file_name,
    join_kinds,
};
use crate::html::redaction::render_redaction_preview;
use crate::text::error::error_message;
use crate::web::pages::branches::respond_with_subpage;
use crate::web::response;
use crate::web::server::{Server, run_blocking};

/// The format, the detail and the texts of an export.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct ExportParams {
    format: Option<String>,
    detail: Option<String>,
    /// `typed` for the texts that a user typed.
    texts: Option<String>,
    /// `keep` or `redact`. JSON with secrets is refused without it.
    secrets: Option<String>,
}

/// Responds with an export of a session as a file to download. The file is streamed while it is written; it ends with
/// an error if the export fails.
pub(crate) async fn export(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(export): Query<ExportParams>,
    Query(params): Query<BranchParams>,
) -> Response {
    let Ok(format) = export.format.as_deref().map_or(Ok(Format::Html), |name| Format::from_str(name, true))
    else {
        return response::not_found("the format of an export is html, md, json or text");
    };
    let Ok(detail) =
        export.detail.as_deref().map_or(Ok(format.default_detail()), |name| Detail::from_str(name, true))
    else {
        return response::not_found("the detail of an export is prompts, answers, tools or everything");
    };
    let only_typed = match export.texts.as_deref() {
        None => false,
        Some("typed") => true,
        Some(_) => return response::not_found("the texts of an export are all, or `typed`"),
    };
    let redact = || SecretPolicy::Redact(build_redact_options(&server));
    let policy = match export.secrets.as_deref() {
        Some("keep") => SecretPolicy::Keep,
        Some("redact") => redact(),
        None if format == Format::Json => SecretPolicy::Refuse,
        None => redact(),
        Some(_) => return response::not_found("the secrets of an export are `redact` or `keep`"),
    };
    let options = ExportOptions { format, detail, only_typed, selector: params.selector(), turns: None };
    let Ok(permit) = server.exports.clone().acquire_owned().await else {
        return response::not_found("the session could not be exported");
    };
    let (sender, mut chunks) = channel::<FileChunk>(4);
    let runtime = Handle::current();
    let complete = Arc::new(AtomicBool::new(false));
    let set_complete = complete.clone();
    let (name_sender, name) = oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let (row, view) = match open_session(&server, &key) {
            Ok(session) => session,
            // The send fails only if the client has disconnected.
            Err(response) => return drop(name_sender.send(Err(response))),
        };
        let source = match ExportSource::open(&view.view.session.path, &policy, &server.prices) {
            Ok(source) => source,
            Err(error) => {
                let message = format!("the session could not be exported: {}", describe_error(&error));
                return drop(name_sender.send(Err(Box::new(response::not_found(&message)))));
            }
        };
        // The title may contain a secret, and so would the name.
        let title = &source.view.session.title.text;
        let _ = name_sender.send(Ok(build_file_name(title, &row.id, format)));
        let context = ExportContext {
            prices: &server.prices,
            format_path: &|path| server.context.format_path(path),
            theme: server.export_theme,
            masked: source.describe_masked(),
        };
        let writer = ChannelWriter { sender: Some(sender.clone()), runtime };
        let mut out = io::BufWriter::with_capacity(CHUNK_BYTES, writer);
        let result = source.write(&options, &context, &mut out);
        let flushed = out.flush();
        let error = match result {
            Err(error) => describe_error(&error),
            Ok(()) => flushed.err().map(|error| error.to_string()).unwrap_or_default(),
        };
        set_complete.store(error.is_empty(), Ordering::Release);
        if !error.is_empty() {
            // The channel may be full if chunks were sent before.
            let _ = sender.try_send(Err(io::Error::other(error)));
        }
        drop(permit);
    });
    let name = match name.await {
        Ok(Ok(name)) => name,
        Ok(Err(response)) => return *response,
        Err(_) => return response::not_found("the session could not be exported"),
    };
    match chunks.recv().await {
        Some(Ok(first)) => {
            // An incomplete export ends with an error, so that the browser does not accept it as complete.
            let check_complete =
                move || (!complete.load(Ordering::Acquire)).then(|| Err(io::Error::other("incomplete")));
            let end = tokio_stream::iter(std::iter::once_with(check_complete).flatten());
            let chunks = tokio_stream::once(Ok(first)).chain(ReceiverStream::new(chunks)).chain(end);
            respond_with_file(Body::from_stream(chunks), format, &name)
        }
        Some(Err(error)) => response::not_found(&format!("the session could not be exported: {error}")),
        None => respond_with_file(Body::empty(), format, &name),
    }
}

/// Returns what an export replaces.
fn build_redact_options(server: &Server) -> RedactOptions {
    let home = server.context.home.as_deref().and_then(std::path::Path::to_str).map(str::to_owned);
    RedactOptions { home, ..RedactOptions::default() }
}

/// Responds with a page that lists what an export replaces, by rule.
pub(crate) async fn preview_export(State(server): State<Arc<Server>>, Path(key): Path<String>) -> Response {
    run_blocking(server, move |server| {
        let (row, _) = match open_session(server, &key) {
            Ok(session) => session,
            Err(response) => return *response,
        };
        match ops::redact::preview_redaction(&row.path, &build_redact_options(server)) {
            Ok(rules) => {
                let body = render_redaction_preview(&rules);
                // The title of the session may contain a secret.
                respond_with_subpage(server, &key, "Export", "what an export replaces", &body)
            }
            Err(error) => response::error(&error),
        }
    })
    .await
}

/// Describes why an export failed.
fn describe_error(error: &ExportError) -> String {
    match error {
        ExportError::Engine(error) => error_message(error),
        ExportError::Io(error) => error.to_string(),
        ExportError::HasSecrets { kinds, .. } => {
            format!("it contains secrets ({}). Choose in the menu whether to keep them", join_kinds(kinds))
        }
    }
}

/// A chunk of the file that is being written.
type FileChunk = io::Result<Bytes>;

/// The size of a chunk in bytes.
const CHUNK_BYTES: usize = 64 << 10;

/// How long the client may take to receive a chunk.
const SEND_TIMEOUT: Duration = Duration::from_secs(20);

/// Sends the written bytes to a channel. Fails if the client does not receive them in time, which ends the export.
struct ChannelWriter {
    /// `None` after a chunk was not received in time.
    sender: Option<Sender<FileChunk>>,
    runtime: Handle,
}

impl Write for ChannelWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let broken_pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        let sender = self.sender.take().ok_or_else(broken_pipe)?;
        let chunk = Ok(Bytes::copy_from_slice(bytes));
        let sent = self.runtime.block_on(sender.send_timeout(chunk, SEND_TIMEOUT));
        sent.map_err(|_| broken_pipe())?;
        self.sender = Some(sender);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Responds with a file to download. `name` must contain only letters, digits, dashes and a dot.
fn respond_with_file(body: Body, format: Format, name: &str) -> Response {
    let mut response = response::build(StatusCode::OK, format.media_type(), body);
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

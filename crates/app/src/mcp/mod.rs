//! `rethread mcp`: a server of the Model Context Protocol on stdin and stdout, read-only.
//!
//! ```text
//! client ──request──▶ server ──▶ one tool: search, read, sessions, files ──▶ an operation of the engine
//!                                        └──▶ Answer: cleaned, redacted, quoted, within the budget
//! ```
//!
//! Text of past sessions is data for the calling model, never an instruction. It is quoted line by line, so it cannot
//! pass for a statement of the server.

mod answer;
mod arguments;
mod files;
mod read;
mod resources;
mod search;
mod server;
mod sessions;

use std::io;
use std::sync::Arc;

use rmcp::ServiceExt;

use self::server::McpServer;
use crate::context::AppContext;

/// The threads that may block: one reads stdin, one writes stdout, one runs a call. More would only use more memory.
const MAX_BLOCKING_THREADS: usize = 3;

/// Serves requests until stdin ends.
pub(crate) fn serve(app: AppContext) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let server = McpServer::new(Arc::new(app));
        // A client that ends before it says what it wants is no error.
        let Ok(running) = server.serve(rmcp::transport::stdio()).await else { return Ok(()) };
        running.waiting().await.map(drop).map_err(io::Error::other)
    })
}

//! JSON of `install`.

use rethread_engine::ops::install::{InstallOutcome, InstallStatus};
use serde::Serialize;

use super::object::{ObjectJson, build_object};

#[derive(Serialize)]
pub(crate) struct InstallJson<'a> {
    op: Option<u64>,
    dry_run: bool,
    paths: Vec<String>,
    kept_statusline: Option<&'a str>,
}

/// Builds the `install` object of `install`.
pub(crate) fn build_install(outcome: &InstallOutcome, dry_run: bool) -> ObjectJson<InstallJson<'_>> {
    let paths = outcome.files.effects.iter().map(|effect| effect.path.display().to_string()).collect();
    build_object(
        "install",
        InstallJson {
            op: outcome.files.op.map(|op| op.0),
            dry_run,
            paths,
            kept_statusline: outcome.kept_statusline.as_deref(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct InstallStatusJson<'a> {
    plugin: bool,
    stale_files: Vec<String>,
    statusline: Option<&'a str>,
}

/// Builds the `install_status` object of `install --status`.
pub(crate) fn build_install_status(status: &InstallStatus) -> ObjectJson<InstallStatusJson<'_>> {
    build_object(
        "install_status",
        InstallStatusJson {
            plugin: status.is_plugin_enabled,
            stale_files: status.stale_files.iter().map(|path| path.display().to_string()).collect(),
            statusline: status.statusline.as_deref(),
        },
    )
}

//! JSON of `ls --why`.

use rethread_engine::ops::picker::{PickerReason, PickerReport};
use serde::Serialize;

use super::object::{ObjectJson, build_object};

#[derive(Serialize)]
pub(crate) struct PickerJson<'a> {
    id: &'a str,
    folder: Option<&'a str>,
    hidden: bool,
    reasons: Vec<&'static str>,
}

/// Builds the `picker` object of `ls --why`.
pub(crate) fn build_picker(report: &PickerReport) -> ObjectJson<PickerJson<'_>> {
    build_object(
        "picker",
        PickerJson {
            id: &report.id,
            folder: report.folder.as_deref(),
            hidden: !report.reasons.is_empty(),
            reasons: report.reasons.iter().map(PickerReason::name).collect(),
        },
    )
}

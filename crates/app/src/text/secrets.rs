//! Texts about secrets in sessions.

use rethread_engine::ops::secrets::SecretReport;

use super::figures::count_noun;

/// Describes how many secrets there are: `2 secrets in 14 places`. Returns `None` if there are none.
pub(crate) fn count_secrets(report: &SecretReport) -> Option<String> {
    let secrets = count_noun(report.secret_count() as u64, "secret");
    let places = count_noun(report.place_count(), "place");
    (!report.findings.is_empty()).then(|| format!("{secrets} in {places}"))
}

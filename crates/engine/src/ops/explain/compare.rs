//! Groups client versions that load the same entries.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::Explanation;
use super::report::{ClientVerdict, closest_known_client};

/// Consecutive clients that load the same entries, as indices into the list of verdicts.
pub type ClientRange = RangeInclusive<usize>;

/// Groups consecutive verdicts for which `is_same` holds.
#[doc(hidden)] // Public only because the web pages group the verdicts by another property.
pub fn group_verdicts(
    verdicts: &[ClientVerdict],
    is_same: impl Fn(&ClientVerdict, &ClientVerdict) -> bool,
) -> Vec<ClientRange> {
    let mut start = 0;
    let ranges = verdicts.chunk_by(|a, b| is_same(a, b)).map(|chunk| {
        let range = start..=start + chunk.len() - 1;
        start += chunk.len();
        range
    });
    ranges.collect()
}

impl Explanation {
    /// Groups consecutive clients that load the same entries.
    pub fn client_ranges(&self) -> Vec<ClientRange> {
        group_verdicts(&self.verdicts, |a, b| self.loads_same(a, b))
    }

    /// Counts the different results of the clients. Two ranges may have the same result.
    pub fn count_results(&self) -> usize {
        let mut results: Vec<&ClientVerdict> = Vec::new();
        for range in self.client_ranges() {
            let verdict = &self.verdicts[*range.start()];
            if !results.iter().any(|result| self.loads_same(result, verdict)) {
                results.push(verdict);
            }
        }
        results.len()
    }

    /// Returns `true` if two clients load the same entries and resume from the same message.
    fn loads_same(&self, a: &ClientVerdict, b: &ClientVerdict) -> bool {
        let leaf = |verdict: &ClientVerdict| verdict.resume.leaf.map(|(leaf, _)| self.nearest_message(leaf));
        Arc::ptr_eq(&a.resume, &b.resume)
            || leaf(a) == leaf(b)
                && (a.resume.failure, a.resume.early_end) == (b.resume.failure, b.resume.early_end)
                && a.resume.path == b.resume.path
                && a.resume.skipped == b.resume.skipped
    }

    /// Returns the index of the verdict of the client that wrote the newest line. Returns `None` if no line names a client,
    /// or if that client was not simulated.
    pub fn current_verdict(&self) -> Option<usize> {
        let client = closest_known_client(self.written_by.as_ref()?);
        self.verdicts.iter().position(|verdict| verdict.rules_of == Some(client))
    }
}

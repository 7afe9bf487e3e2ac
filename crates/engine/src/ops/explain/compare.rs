//! Which clients make the same of a session.

use std::ops::RangeInclusive;

use super::Explanation;
use super::report::{Verdict, measured_like};

/// Clients that follow each other and load the same, as places in the list of verdicts.
pub type ClientRange = RangeInclusive<usize>;

/// Parts verdicts into ranges whose neighbours are alike.
pub fn ranges_by(verdicts: &[Verdict], alike: impl Fn(&Verdict, &Verdict) -> bool) -> Vec<ClientRange> {
    let mut from = 0;
    let ranges = verdicts.chunk_by(|a, b| alike(a, b)).map(|chunk| {
        let range = from..=from + chunk.len() - 1;
        from += chunk.len();
        range
    });
    ranges.collect()
}

impl Explanation {
    /// Parts the clients into ranges that load the same.
    pub fn ranges(&self) -> Vec<ClientRange> {
        ranges_by(&self.verdicts, |a, b| self.agree(a, b))
    }

    /// Whether two clients load the same behind the same entry.
    fn agree(&self, a: &Verdict, b: &Verdict) -> bool {
        let leaf = |verdict: &Verdict| verdict.resume.leaf.map(|(leaf, _)| self.speaker(leaf));
        leaf(a) == leaf(b)
            && (a.resume.halt, a.resume.stop) == (b.resume.halt, b.resume.stop)
            && a.resume.path == b.resume.path
            && a.resume.unreachable == b.resume.unreachable
    }

    /// Returns the place of the client that wrote the newest line, or that it is taken for.
    pub fn current(&self) -> Option<usize> {
        let measured = measured_like(self.written_by.as_ref()?);
        self.verdicts.iter().position(|verdict| verdict.measured == Some(measured))
    }
}

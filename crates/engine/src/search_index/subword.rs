//! Matches a pattern against identifiers that were split into several terms (`parse_html` → `parse`, `html`).
//!
//! A match is a path from the start of the pattern to its end, from split to split. Each split requires its boundary term,
//! and each piece between two splits requires a matching term. First the splits that are on any path in the segment are
//! determined, then every window is matched through those only.

use rethread_core::query::{SubwordSplit, TermPattern};

use super::postings_cache::{PostingsCache, PostingsKind};
use super::ternary::{Ternary, and_assign, from_strengths, or_assign};
use crate::cache::IndexError;

/// One value per doc of the window. `None` if all are `No`.
pub(crate) type TernaryColumn = Option<Vec<Ternary>>;

impl PostingsCache<'_> {
    /// Returns the splits that are on any path through the pattern, given the terms and boundaries of the segment. Returns
    /// an empty list if a split that every match must pass is on no path. Must be called before the first window.
    pub(crate) fn find_feasible_splits(
        &mut self,
        pattern: &TermPattern,
        splits: &[SubwordSplit],
    ) -> Result<Vec<SubwordSplit>, IndexError> {
        let prefixes = self.match_prefixes(pattern, splits)?;
        // For every split: whether the pattern from there to its end can match.
        let mut suffix_matches = vec![false; splits.len()];
        for (idx, split) in splits.iter().enumerate().rev() {
            let next_required = (idx + 1..splits.len()).find(|&next| splits[next].is_unconditional());
            let piece = pattern.slice(split.start..pattern.text.len());
            suffix_matches[idx] = next_required.is_none()
                && self.match_piece(&piece, split.is_complete[1], &[Ternary::Yes])?.is_some();
            for next in idx + 1..=next_required.unwrap_or(splits.len().saturating_sub(1)) {
                let piece = pattern.slice(split.start..splits[next].end);
                suffix_matches[idx] |=
                    suffix_matches[next] && self.match_piece(&piece, false, &[Ternary::Yes])?.is_some();
            }
        }
        let is_on_path = |idx: usize| prefixes[idx].is_some() && suffix_matches[idx];
        if (0..splits.len()).any(|idx| splits[idx].is_unconditional() && !is_on_path(idx)) {
            return Ok(Vec::new());
        }
        Ok((0..splits.len()).filter(|&idx| is_on_path(idx)).map(|idx| splits[idx].clone()).collect())
    }

    /// Returns `false` if the window lacks the boundary terms that a match across `splits` requires. `true` is not certain.
    pub(crate) fn may_match_splits(&mut self, splits: &[SubwordSplit]) -> Result<bool, IndexError> {
        let has_required = splits.iter().any(SubwordSplit::is_unconditional);
        let mut may_match = has_required;
        for split in splits.iter().filter(|split| split.is_unconditional() == has_required) {
            let has_boundary = self.may_match(PostingsKind::SubwordBoundaries, &split.boundary)?;
            may_match = if has_required { may_match && has_boundary } else { may_match || has_boundary };
        }
        Ok(may_match)
    }

    /// Adds to `values` the docs of the window that match a pattern across splits, as `Yes` or `Maybe`.
    pub(crate) fn match_across_splits(
        &mut self,
        pattern: &TermPattern,
        splits: &[SubwordSplit],
        values: &mut TernaryColumn,
    ) -> Result<(), IndexError> {
        let mut prefixes = self.match_prefixes(pattern, splits)?;
        for (idx, split) in splits.iter().enumerate() {
            let may_be_last = !splits[idx + 1..].iter().any(SubwordSplit::is_unconditional);
            let Some(prefix) = prefixes[idx].take().filter(|_| may_be_last) else { continue };
            let piece = pattern.slice(split.start..pattern.text.len());
            if let Some(matches) = self.match_piece(&piece, split.is_complete[1], &prefix)? {
                or_assign(values.get_or_insert_with(|| self.fill_column(Ternary::No)), &matches);
            }
        }
        Ok(())
    }

    /// Returns one column per split, in their order: the docs of the window that match the pattern up to that split and
    /// contain its boundary term.
    fn match_prefixes(
        &mut self,
        pattern: &TermPattern,
        splits: &[SubwordSplit],
    ) -> Result<Vec<TernaryColumn>, IndexError> {
        let mut prefixes: Vec<TernaryColumn> = Vec::new();
        for (idx, split) in splits.iter().enumerate() {
            let boundary = self.match_pattern(PostingsKind::SubwordBoundaries, &split.boundary)?;
            let prefix = match boundary.map(from_strengths) {
                Some(boundary) => self.match_prefix(pattern, &splits[..=idx], &prefixes, &boundary)?,
                None => None,
            };
            prefixes.push(prefix);
        }
        Ok(prefixes)
    }

    /// Returns the docs that match the pattern up to the last of `splits`.
    ///
    /// `boundary` are the docs with the boundary of that split, `prefixes` the results for the earlier splits.
    fn match_prefix(
        &mut self,
        pattern: &TermPattern,
        splits: &[SubwordSplit],
        prefixes: &[TernaryColumn],
        boundary: &[Ternary],
    ) -> Result<TernaryColumn, IndexError> {
        let Some((split, earlier)) = splits.split_last() else { return Ok(None) };
        let mut all = self.fill_column(Ternary::No);
        if !earlier.iter().any(SubwordSplit::is_unconditional)
            && let Some(matches) =
                self.match_piece(&pattern.slice(0..split.end), split.is_complete[0], boundary)?
        {
            or_assign(&mut all, &matches);
        }
        for (previous, prefix) in earlier.iter().zip(prefixes).rev() {
            if let Some(prefix) = prefix {
                let mut both = boundary.to_vec();
                and_assign(&mut both, prefix);
                if let Some(matches) =
                    self.match_piece(&pattern.slice(previous.start..split.end), false, &both)?
                {
                    or_assign(&mut all, &matches);
                }
            }
            if previous.is_unconditional() {
                break;
            }
        }
        Ok(Some(all).filter(|all| all.iter().any(|value| *value != Ternary::No)))
    }

    /// Returns the docs among `docs` that contain a piece between two splits. If `is_implied` is set, the boundary term
    /// contains the piece and all docs are returned. Otherwise the result is at most `Maybe`.
    fn match_piece(
        &mut self,
        piece: &TermPattern,
        is_implied: bool,
        docs: &[Ternary],
    ) -> Result<TernaryColumn, IndexError> {
        if is_implied || piece.text.is_empty() {
            return Ok(Some(docs.to_vec()));
        }
        let Some(strengths) = self.match_terms(piece)? else { return Ok(None) };
        let value = |(strength, doc): (u8, &Ternary)| {
            if strength == 0 { Ternary::No } else { doc.and(Ternary::Maybe) }
        };
        Ok(Some(strengths.into_iter().zip(docs).map(value).collect()))
    }
}

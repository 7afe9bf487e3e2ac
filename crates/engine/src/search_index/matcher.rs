//! Evaluates a compiled query against one segment, a fixed-size window of docs at a time.

use std::ops::Range;

use rethread_core::entry::Timestamp;
use rethread_core::query::{
    CompiledQuery, Predicate, SourceSet, SubwordSplit, TermCondition, TermPattern, TermPlan, has_substring,
    is_pull_request_named, is_tool_named,
};
use rethread_core::resume::ContextStatus;

use super::manifest::IndexedFile;
use super::postings_cache::{PostingsCache, PostingsKind};
use super::postings_union::min_strength;
use super::segment::{DocInfoColumn, Segment, field};
use super::subword::TernaryColumn;
use super::ternary::{Ternary, and_assign, from_strengths, negate_all, or_assign};
use crate::cache::IndexError;

/// Finds an indexed file by its id. Returns `None` if it was deleted or has changed.
pub(crate) type FileLookup<'r> = dyn Fn(u64) -> Option<&'r IndexedFile> + 'r;

/// The match strength of every doc of a window. `None` if all are 0.
type StrengthColumn = Option<Vec<u8>>;

/// A text literal of the query, with the splits at which an identifier containing it may be cut.
pub(crate) struct WordCondition {
    /// The index of the literal, counted over all clauses.
    literal: usize,
    negated: bool,
    plan: TermPlan,
    /// The splits of each condition of `plan`.
    splits: Vec<Vec<SubwordSplit>>,
}

impl WordCondition {
    /// Returns the conditions of all text literals of a query.
    pub(crate) fn from_query(query: &CompiledQuery) -> Vec<WordCondition> {
        let literals = query.clauses().iter().flatten().enumerate();
        let conditions = literals.filter_map(|(idx, literal)| match &literal.predicate {
            Predicate::Text(needle) => Some(WordCondition::new(idx, literal.negated, needle.text())),
            _ => None,
        });
        conditions.collect()
    }

    fn new(literal: usize, negated: bool, text: &str) -> WordCondition {
        let plan = TermPlan::new(text);
        let splits = plan.conditions.iter().map(|condition| match condition {
            TermCondition::Term(_) => Vec::new(),
            TermCondition::Name(pattern) => pattern.find_subword_splits(),
        });
        WordCondition { literal, negated, splits: splits.collect(), plan }
    }
}

/// Returns the pattern of a condition of either kind.
fn pattern_of(condition: &TermCondition) -> &TermPattern {
    let (TermCondition::Term(pattern) | TermCondition::Name(pattern)) = condition;
    pattern
}

/// The result of matching one window of docs.
pub(crate) struct WindowMatches {
    /// The value of the query for each doc.
    pub(crate) values: Vec<Ternary>,
    /// For each literal, clause by clause: its value for each doc.
    pub(crate) literals: Vec<TernaryColumn>,
    /// For each ranked text: its match strength in each doc.
    pub(crate) strengths: Vec<StrengthColumn>,
}

/// Evaluates a compiled query against one segment, a window of docs at a time.
pub(crate) struct SegmentMatcher<'a, 'r> {
    segment: &'a Segment,
    query: &'a CompiledQuery,
    conditions: &'a [WordCondition],
    file_lookup: &'a FileLookup<'r>,
    postings: PostingsCache<'a>,
    doc_infos: DocInfoColumn,
    /// The splits of each condition that can match in this segment. Empty before the first window.
    splits: Vec<Vec<Vec<SubwordSplit>>>,
}

impl<'a, 'r> SegmentMatcher<'a, 'r> {
    pub(crate) fn new(
        segment: &'a Segment,
        query: &'a CompiledQuery,
        conditions: &'a [WordCondition],
        file_lookup: &'a FileLookup<'r>,
    ) -> SegmentMatcher<'a, 'r> {
        SegmentMatcher {
            segment,
            query,
            conditions,
            file_lookup,
            postings: PostingsCache::new(segment),
            doc_infos: DocInfoColumn::default(),
            splits: Vec::new(),
        }
    }

    /// Returns the [`DocInfo`](super::segment::DocInfo)s of the last matched window.
    pub(crate) fn doc_infos(&self) -> &DocInfoColumn {
        &self.doc_infos
    }

    /// Matches the next window of docs. Windows must be passed in order.
    ///
    /// Returns `None` if no doc in it can match or count towards a document frequency.
    pub(crate) fn match_window(&mut self, window: Range<u32>) -> Result<Option<WindowMatches>, IndexError> {
        if self.splits.is_empty() {
            self.splits = self.find_feasible_splits()?;
        }
        self.postings.set_window(window);
        if self.can_skip_window()? {
            return Ok(None);
        }
        self.doc_infos = self.segment.read_doc_infos(self.postings.window())?;
        let searchable = self.build_searchable_mask();
        let mut values = searchable.clone();
        let (mut literals, mut strengths) = (Vec::new(), Vec::new());
        for clause in self.query.clauses() {
            let mut any = self.postings.fill_column(Ternary::No);
            for literal in clause {
                let (mut matches, strength) = self.match_literal(literals.len(), &literal.predicate)?;
                if literal.negated {
                    let literal_values = matches.unwrap_or_else(|| self.postings.fill_column(Ternary::No));
                    matches = Some(negate_all(literal_values));
                } else if let Predicate::Text(_) = literal.predicate {
                    strengths.push(strength.map(|strength| mask_strengths(strength, &searchable)));
                }
                matches.iter().for_each(|matches| or_assign(&mut any, matches));
                literals.push(matches);
            }
            and_assign(&mut values, &any);
        }
        Ok(Some(WindowMatches { values, literals, strengths }))
    }

    /// Returns for each text literal and each of its conditions the splits that can match in the segment.
    fn find_feasible_splits(&mut self) -> Result<Vec<Vec<Vec<SubwordSplit>>>, IndexError> {
        let mut all = Vec::new();
        for WordCondition { plan, splits, .. } in self.conditions {
            let mut feasible = Vec::new();
            for (condition, splits) in plan.conditions.iter().zip(splits) {
                feasible.push(self.postings.find_feasible_splits(pattern_of(condition), splits)?);
            }
            all.push(feasible);
        }
        Ok(all)
    }

    /// Returns `true` if the window contains neither a match nor a doc that contributes to a document frequency.
    /// `false` is not certain.
    fn can_skip_window(&mut self) -> Result<bool, IndexError> {
        if !self.query.requires_terms() {
            return Ok(false);
        }
        for word_idx in 0..self.conditions.len() {
            if !self.conditions[word_idx].negated && !self.cannot_match(word_idx)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns `true` if no doc of the window matches a text literal or contributes to its document frequency.
    /// `false` is not certain. `word_idx` is the index of the literal in `conditions`.
    fn cannot_match(&mut self, word_idx: usize) -> Result<bool, IndexError> {
        let plan = &self.conditions[word_idx].plan;
        let mut may_rank = !plan.rank_patterns.is_empty();
        for pattern in &plan.rank_patterns {
            may_rank &= self.postings.may_match(PostingsKind::Terms, pattern)?;
        }
        if may_rank || plan.conditions.is_empty() {
            return Ok(false);
        }
        for (condition, splits) in plan.conditions.iter().zip(&self.splits[word_idx]) {
            if !self.postings.may_match(PostingsKind::Terms, pattern_of(condition))?
                && !self.postings.may_match_splits(splits)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns a mask of searchable docs of the window: `Yes` if the file is current and the doc has text from a searched
    /// source, else `No`.
    fn build_searchable_mask(&self) -> Vec<Ternary> {
        let mut values = self.match_files(|_| true);
        let requested = self.query.sources();
        for (value, sources) in values.iter_mut().zip(self.doc_infos.sources()) {
            *value = value.and(sources.intersects(requested).into());
        }
        values
    }

    /// Returns for each doc of the window whether `holds` is true for its file. Docs of files that `file_lookup` does not
    /// find get `No`.
    fn match_files(&self, holds: impl Fn(&IndexedFile) -> bool) -> Vec<Ternary> {
        let window = self.postings.window();
        let mut values = self.postings.fill_column(Ternary::No);
        for range in self.segment.doc_ranges_in(window) {
            if (self.file_lookup)(range.file).is_some_and(&holds) {
                let offset = |doc: u32| (doc.clamp(window.start, window.end) - window.start) as usize;
                values[offset(range.first)..offset(range.first + range.count)].fill(Ternary::Yes);
            }
        }
        values
    }

    /// Returns for each doc of the window whether it has text from one of the requested sources.
    fn match_sources(&self, requested: SourceSet) -> Vec<Ternary> {
        self.doc_infos.sources().map(|sources| sources.intersects(requested).into()).collect()
    }

    /// Returns for each doc of the window whether `holds` is true for its time. Docs without a time get `No`.
    fn match_times(&self, holds: impl Fn(Timestamp) -> bool) -> Result<Vec<Ternary>, IndexError> {
        let window = self.postings.window();
        let mut values = Vec::with_capacity(window.len());
        self.segment.read_times(window.clone(), |time| values.push(time.is_some_and(&holds).into()))?;
        Ok(values)
    }

    /// Returns the value of a literal for each doc of the window, ignoring its negation. For text it also returns the match
    /// strength of each doc. `literal_idx` is counted over all clauses.
    fn match_literal(
        &mut self,
        literal_idx: usize,
        predicate: &Predicate,
    ) -> Result<(TernaryColumn, StrengthColumn), IndexError> {
        let postings = &mut self.postings;
        let matches = match predicate {
            Predicate::Text(_) => {
                match self.conditions.iter().position(|condition| condition.literal == literal_idx) {
                    Some(word_idx) => return self.match_text(word_idx),
                    None => postings.fill_column(Ternary::Maybe),
                }
            }
            Predicate::Pattern(_) => postings.fill_column(Ternary::Maybe),
            Predicate::Role(sources) => self.match_sources(*sources),
            Predicate::Tool(name) => postings.match_field(field::TOOL, name, is_tool_named)?,
            Predicate::File(part) => postings.match_field(field::FILE, part, has_substring)?,
            Predicate::Model(part) => postings.match_field(field::MODEL, part, has_substring)?,
            Predicate::Branch(part) => postings.match_field(field::BRANCH, part, has_substring)?,
            Predicate::PullRequest(name) => {
                postings.match_field(field::PULL_REQUEST, name, is_pull_request_named)?
            }
            Predicate::Error(error) => {
                let mut failed = postings.match_field(field::ERROR, "", |_, _| true)?;
                for (value, sources) in failed.iter_mut().zip(self.doc_infos.sources()) {
                    // Only the session knows the result of a call.
                    if self.query.error_depends_on_result(sources) {
                        *value = value.or(Ternary::Maybe);
                    }
                }
                if *error { failed } else { negate_all(failed) }
            }
            Predicate::Since(start) => self.match_times(|time| time >= *start)?,
            Predicate::Until(end) => self.match_times(|time| time < *end)?,
            Predicate::Session(id) => self.match_files(|file| file.owner.session.starts_with(id.as_str())),
            Predicate::Project(part) => self.match_files(|file| {
                let dir = || file.path.parent().map(|dir| dir.to_string_lossy().into_owned());
                has_substring(&file.owner.cwd, part) || dir().is_some_and(|dir| has_substring(&dir, part))
            }),
            Predicate::Status(status) => {
                let sidechains = postings.match_field(field::SIDECHAIN, "", |_, _| true)?;
                let mut agents = self.match_files(|file| file.is_agent);
                or_assign(&mut agents, &sidechains);
                // Only the tree decides between the other statuses.
                let undecided_unless_agent = |agent: Ternary| agent.negate().and(Ternary::Maybe);
                match status {
                    ContextStatus::Subagent => agents,
                    _ => agents.into_iter().map(undecided_unless_agent).collect(),
                }
            }
        };
        Ok((Some(matches), None))
    }

    /// Returns for each doc of the window whether it satisfies all conditions of a text literal, and its match strength.
    ///
    /// `word_idx` is the index of the literal in `conditions`.
    fn match_text(&mut self, word_idx: usize) -> Result<(TernaryColumn, StrengthColumn), IndexError> {
        let plan = &self.conditions[word_idx].plan;
        let mut strengths: StrengthColumn = None;
        for (idx, pattern) in plan.rank_patterns.iter().enumerate() {
            strengths = match (strengths, self.postings.match_terms(pattern)?) {
                (Some(mut all), Some(next)) => {
                    all.iter_mut().zip(&next).for_each(|(all, next)| *all = min_strength(*all, *next));
                    Some(all)
                }
                (None, first) if idx == 0 => first,
                _ => None,
            };
        }
        let initial = if plan.is_conclusive { Ternary::Yes } else { Ternary::Maybe };
        let mut values = self.postings.fill_column(initial);
        for (condition, splits) in plan.conditions.iter().zip(&self.splits[word_idx]) {
            let pattern = pattern_of(condition);
            let mut matches = self.postings.match_terms(pattern)?.map(from_strengths);
            self.postings.match_across_splits(pattern, splits, &mut matches)?;
            let Some(matches) = matches else { return Ok((None, strengths)) };
            and_assign(&mut values, &matches);
        }
        let requested = self.query.sources();
        for (value, sources) in values.iter_mut().zip(self.doc_infos.sources()) {
            // If the doc also has text from other sources, the match may be in that text.
            if !sources.is_subset(requested) {
                *value = value.and(Ternary::Maybe);
            }
        }
        Ok((Some(values), strengths))
    }
}

/// Clears the strengths of docs that are not searchable: they do not count towards a document frequency.
fn mask_strengths(mut strengths: Vec<u8>, searchable: &[Ternary]) -> Vec<u8> {
    strengths.iter_mut().zip(searchable).for_each(|(strength, searchable)| {
        *strength &= if *searchable == Ternary::No { 0 } else { u8::MAX };
    });
    strengths
}

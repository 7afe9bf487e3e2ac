//! Evaluates a compiled query against one segment, a fixed-size window of docs at a time.

use std::ops::Range;

use rethread_core::entry::Timestamp;
use rethread_core::query::{
    CompiledQuery, Needle, Predicate, SourceSet, SubwordSplit, TermCondition, TermPattern, TermPlan,
    has_substring, is_pull_request_named, is_tool_named,
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

/// A text to find in the index, with the splits at which an identifier containing it may be cut.
struct TextCondition {
    plan: TermPlan,
    /// The splits of each condition of `plan`.
    splits: Vec<Vec<SubwordSplit>>,
}

/// A literal of the query that the terms of the index decide or limit.
struct TermLiteral {
    /// The index of the literal, counted over all clauses.
    literal: usize,
    negated: bool,
    kind: TermLiteralKind,
}

enum TermLiteralKind {
    /// The index of its text in [`TermConditions::texts`].
    Text(usize),
    /// The indices of the texts that a regular expression requires: one text of each set.
    Pattern(Vec<Vec<usize>>),
}

/// The texts of a query that are looked up in the index.
#[derive(Default)]
pub(crate) struct TermConditions {
    texts: Vec<TextCondition>,
    literals: Vec<TermLiteral>,
}

impl TermConditions {
    /// Returns the texts of all text literals of a query, and those that its regular expressions require.
    pub(crate) fn from_query(query: &CompiledQuery) -> TermConditions {
        let mut conditions = TermConditions::default();
        for (idx, literal) in query.clauses().iter().flatten().enumerate() {
            let kind = match &literal.predicate {
                Predicate::Text(needle) => TermLiteralKind::Text(conditions.add_text(needle)),
                Predicate::Pattern(needle) => {
                    let mut add_set =
                        |set: &Vec<Needle>| set.iter().map(|text| conditions.add_text(text)).collect();
                    TermLiteralKind::Pattern(needle.required().iter().map(&mut add_set).collect())
                }
                _ => continue,
            };
            conditions.literals.push(TermLiteral { literal: idx, negated: literal.negated, kind });
        }
        conditions
    }

    /// Adds a text and returns its index.
    fn add_text(&mut self, needle: &Needle) -> usize {
        let plan = TermPlan::new(needle.text());
        let splits = plan.conditions.iter().map(|condition| match condition {
            TermCondition::Term(_) => Vec::new(),
            TermCondition::Name(pattern) => pattern.find_subword_splits(),
        });
        self.texts.push(TextCondition { splits: splits.collect(), plan });
        self.texts.len() - 1
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
    conditions: &'a TermConditions,
    file_lookup: &'a FileLookup<'r>,
    postings: PostingsCache<'a>,
    doc_infos: DocInfoColumn,
    /// For each text, the splits of each condition that can match in this segment. Empty before the first window.
    splits: Vec<Vec<Vec<SubwordSplit>>>,
}

impl<'a, 'r> SegmentMatcher<'a, 'r> {
    pub(crate) fn new(
        segment: &'a Segment,
        query: &'a CompiledQuery,
        conditions: &'a TermConditions,
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

    /// Returns for each text and each of its conditions the splits that can match in the segment.
    fn find_feasible_splits(&mut self) -> Result<Vec<Vec<Vec<SubwordSplit>>>, IndexError> {
        let mut all = Vec::new();
        for TextCondition { plan, splits } in &self.conditions.texts {
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
        if !self.query.has_text_clause() {
            return Ok(false);
        }
        let conditions = self.conditions;
        for literal in conditions.literals.iter().filter(|literal| !literal.negated) {
            let may_matter = match &literal.kind {
                TermLiteralKind::Text(text) => self.may_rank(*text)? || self.may_contain(*text)?,
                TermLiteralKind::Pattern(sets) => self.may_match_pattern(sets)?,
            };
            if may_matter {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns `false` if no doc of the window contributes to the document frequency of a text. `true` is not certain.
    fn may_rank(&mut self, text: usize) -> Result<bool, IndexError> {
        let plan = &self.conditions.texts[text].plan;
        for pattern in &plan.rank_patterns {
            if !self.postings.may_match(PostingsKind::Terms, pattern)? {
                return Ok(false);
            }
        }
        Ok(!plan.rank_patterns.is_empty())
    }

    /// Returns `false` if no doc of the window contains a text. `true` is not certain.
    fn may_contain(&mut self, text: usize) -> Result<bool, IndexError> {
        let plan = &self.conditions.texts[text].plan;
        for (condition, splits) in plan.conditions.iter().zip(&self.splits[text]) {
            if !self.postings.may_match(PostingsKind::Terms, pattern_of(condition))?
                && !self.postings.may_match_splits(splits)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns `false` if no doc of the window contains a text of each set. `true` is not certain.
    fn may_match_pattern(&mut self, sets: &[Vec<usize>]) -> Result<bool, IndexError> {
        for set in sets {
            let mut may_match = false;
            for &text in set {
                may_match = may_match || self.may_contain(text)?;
            }
            if !may_match {
                return Ok(false);
            }
        }
        Ok(true)
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
        let conditions = self.conditions;
        let indexed = conditions.literals.iter().find(|indexed| indexed.literal == literal_idx);
        match indexed.map(|indexed| &indexed.kind) {
            Some(TermLiteralKind::Text(text)) => {
                return Ok((self.match_text(*text)?, self.match_strengths(*text)?));
            }
            Some(TermLiteralKind::Pattern(sets)) => return Ok((self.match_pattern(sets)?, None)),
            None => {}
        }
        let postings = &mut self.postings;
        let matches = match predicate {
            Predicate::Text(_) | Predicate::Pattern(_) => postings.fill_column(Ternary::Maybe),
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

    /// Returns the match strength of a text for each doc of the window.
    fn match_strengths(&mut self, text: usize) -> Result<StrengthColumn, IndexError> {
        let mut strengths: StrengthColumn = None;
        for (idx, pattern) in self.conditions.texts[text].plan.rank_patterns.iter().enumerate() {
            strengths = match (strengths, self.postings.match_terms(pattern)?) {
                (Some(mut all), Some(next)) => {
                    all.iter_mut().zip(&next).for_each(|(all, next)| *all = min_strength(*all, *next));
                    Some(all)
                }
                (None, first) if idx == 0 => first,
                _ => None,
            };
        }
        Ok(strengths)
    }

    /// Returns for each doc of the window whether it satisfies all conditions of a text.
    fn match_text(&mut self, text: usize) -> Result<TernaryColumn, IndexError> {
        let plan = &self.conditions.texts[text].plan;
        let initial = if plan.is_conclusive { Ternary::Yes } else { Ternary::Maybe };
        let mut values = self.postings.fill_column(initial);
        for (condition, splits) in plan.conditions.iter().zip(&self.splits[text]) {
            let pattern = pattern_of(condition);
            let mut matches = self.postings.match_terms(pattern)?.map(from_strengths);
            self.postings.match_across_splits(pattern, splits, &mut matches)?;
            let Some(matches) = matches else { return Ok(None) };
            and_assign(&mut values, &matches);
        }
        let requested = self.query.sources();
        for (value, sources) in values.iter_mut().zip(self.doc_infos.sources()) {
            // If the doc also has text from other sources, the match may be in that text.
            if !sources.is_subset(requested) {
                *value = value.and(Ternary::Maybe);
            }
        }
        Ok(Some(values))
    }

    /// Returns for each doc of the window whether it may match a regular expression that requires a text of each set.
    fn match_pattern(&mut self, sets: &[Vec<usize>]) -> Result<TernaryColumn, IndexError> {
        let mut values = self.postings.fill_column(Ternary::Maybe);
        for set in sets {
            let mut any: TernaryColumn = None;
            for &text in set {
                let Some(matches) = self.match_text(text)? else { continue };
                match &mut any {
                    Some(any) => or_assign(any, &matches),
                    None => any = Some(matches),
                }
            }
            let Some(any) = any else { return Ok(None) };
            and_assign(&mut values, &any);
        }
        Ok(Some(values))
    }
}

/// Clears the strengths of docs that are not searchable: they do not count towards a document frequency.
fn mask_strengths(mut strengths: Vec<u8>, searchable: &[Ternary]) -> Vec<u8> {
    strengths.iter_mut().zip(searchable).for_each(|(strength, searchable)| {
        *strength &= if *searchable == Ternary::No { 0 } else { u8::MAX };
    });
    strengths
}

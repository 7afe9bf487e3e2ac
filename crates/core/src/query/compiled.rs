//! Evaluates a query against entries. This is the reference that the search index accelerates.

use super::document::SearchDoc;
use super::needle::Needle;
use super::texts::TextSource;
use super::tokenizer::{TermKind, TermMatch, TermPlan, Tokenizer, find_run_at};
use crate::resume::ContextStatus;

use super::ast::{Literal, Predicate, Query, SourceSet};

/// A query prepared for evaluation.
#[derive(Debug, Clone)]
pub struct CompiledQuery {
    /// The clauses of the query except those that consist of roles only.
    clauses: Vec<Vec<Literal>>,
    /// The sources of the texts that are searched.
    sources: SourceSet,
    ranked_terms: Vec<RankedTerm>,
    /// The regular expressions of each clause that consists of texts and regular expressions only. Every match contains
    /// one of the texts of such a clause, which are ranked terms, or matches one of these.
    text_clauses: Vec<Vec<Needle>>,
}

/// A search text of the query and its term plan. Matching entries are ranked by it.
#[derive(Debug, Clone)]
pub struct RankedTerm {
    /// The index terms of the search text.
    pub plan: TermPlan,
    /// One needle per rank pattern of the plan.
    finders: Vec<Needle>,
    needle: Needle,
}

/// The literals that could not be decided yet, by clause. One literal of each clause must hold.
///
/// A literal is the index of its clause in the query and its index in that clause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unresolved(pub Vec<Vec<(usize, usize)>>);

/// The properties of an entry that its [`SearchDoc`] does not contain.
#[derive(Debug, Clone, Copy, Default)]
pub struct EntryContext<'s> {
    /// The id of the session.
    pub session: &'s str,
    /// The folder in which the session was started, and the folder of its file.
    pub project: [&'s str; 2],
    /// Whether the entry is in the file of a subagent.
    pub is_agent_file: bool,
    /// The context status of the entry. `None` if it was not computed yet.
    pub status: Option<ContextStatus>,
    /// Whether a tool call of the entry has a failed result, which is another entry. `None` if it was not computed yet.
    pub has_failed_call: Option<bool>,
}

impl CompiledQuery {
    /// Prepares a query. Searches sources outside of the conversation only if `all_sources` is set or a clause
    /// consists of roles that are not negated.
    pub fn new(query: &Query, all_sources: bool) -> CompiledQuery {
        let mut sources = if all_sources { SourceSet::ALL } else { SourceSet::CONVERSATION };
        let mut allowed = SourceSet::ALL;
        let mut has_role_clause = false;
        let mut clauses = Vec::new();
        for clause in &query.clauses {
            // A clause of roles limits the sources that are searched.
            let role_sources = |literal: &Literal| match literal.predicate {
                Predicate::Role(selected) => {
                    Some(if literal.negated { selected.complement() } else { selected })
                }
                _ => None,
            };
            let selected: Option<Vec<SourceSet>> = clause.iter().map(role_sources).collect();
            if let Some(selected) = selected {
                has_role_clause |= clause.iter().all(|literal| !literal.negated);
                allowed =
                    allowed.intersection(selected.into_iter().fold(SourceSet::default(), SourceSet::union));
            } else {
                clauses.push(clause.clone());
            }
        }
        if has_role_clause {
            sources = SourceSet::ALL;
        }
        let positive = clauses.iter().flatten().filter(|literal| !literal.negated);
        let ranked_terms = positive.filter_map(|literal| match &literal.predicate {
            Predicate::Text(needle) => Some(RankedTerm::new(needle)),
            _ => None,
        });
        let ranked_terms = ranked_terms.collect();
        let text_clauses = clauses.iter().filter_map(|clause| find_patterns_of_text_clause(clause)).collect();
        CompiledQuery { clauses, sources: sources.intersection(allowed), ranked_terms, text_clauses }
    }

    /// Returns the sources of the texts that are searched.
    pub fn sources(&self) -> SourceSet {
        self.sources
    }

    /// Returns the clauses of the query except those that consist of roles only: these became [`Self::sources`].
    pub fn clauses(&self) -> &[Vec<Literal>] {
        &self.clauses
    }

    /// Returns the search texts that are not negated, in the order of the query. They rank matches.
    pub fn ranked_terms(&self) -> &[RankedTerm] {
        &self.ranked_terms
    }

    /// Returns whether every match contains a ranked term or matches a regular expression that is not negated.
    pub fn has_text_clause(&self) -> bool {
        !self.text_clauses.is_empty()
    }

    /// Returns whether the result of a tool call decides `error:` for the entry of the call, whose sources are `sources`.
    ///
    /// So `error:yes cargo` finds a failed call of `cargo`: the word is in the call, the error in its result. Without a text
    /// to find, the result alone is the match.
    pub fn error_depends_on_result(&self, sources: SourceSet) -> bool {
        self.has_text_clause() && sources.contains(TextSource::Tool)
    }

    /// Returns whether an entry on this line may match the query or affect its ranking. `false` is certain.
    pub fn may_match(&self, line: &[u8]) -> bool {
        let may_match = |needle: &Needle| needle.may_match_line(line);
        self.text_clauses.iter().all(|patterns| patterns.iter().any(may_match))
            || self.ranked_terms.iter().any(|term| term.needle.may_match_line(line))
    }

    /// Returns whether the entry has a text from a searched source.
    pub fn has_searched_text(&self, doc: &SearchDoc<'_>) -> bool {
        doc.sources.intersects(self.sources)
    }

    /// Evaluates the query on an entry. Returns `None` if the entry does not match or has no searched text.
    ///
    /// Otherwise returns the literals that depend on a property missing in `context`, by clause. If there are none,
    /// the entry matches.
    pub fn evaluate(&self, doc: &SearchDoc<'_>, context: &EntryContext<'_>) -> Option<Unresolved> {
        if !self.has_searched_text(doc) {
            return None;
        }
        let mut unresolved = Unresolved::default();
        for (clause_idx, clause) in self.clauses.iter().enumerate() {
            let mut undecided = Vec::new();
            let mut holds = false;
            for (literal_idx, literal) in clause.iter().enumerate() {
                match self.evaluate_literal(literal, doc, context) {
                    Some(true) => holds = true,
                    Some(false) => {}
                    None => undecided.push((clause_idx, literal_idx)),
                }
            }
            match (holds, undecided.is_empty()) {
                (true, _) => {}
                (false, true) => return None,
                (false, false) => unresolved.0.push(undecided),
            }
        }
        Some(unresolved)
    }

    /// Returns whether one unresolved literal of each clause holds with this context. Literals that are still
    /// unknown do not hold.
    pub fn resolve(&self, unresolved: &Unresolved, doc: &SearchDoc<'_>, context: &EntryContext<'_>) -> bool {
        let holds = |&(clause, literal): &(usize, usize)| {
            let literal = self.clauses.get(clause).and_then(|clause| clause.get(literal));
            literal.is_some_and(|literal| self.evaluate_literal(literal, doc, context) == Some(true))
        };
        unresolved.0.iter().all(|clause| clause.iter().any(holds))
    }

    /// Returns whether the unresolved literals may hold for an entry on this line. `false` is certain.
    ///
    /// Most literals that an index cannot resolve are texts of several terms, which a byte search can rule
    /// out without decoding.
    pub fn may_resolve(&self, unresolved: &Unresolved, line: &[u8]) -> bool {
        let may_hold = |&(clause, literal): &(usize, usize)| match self
            .clauses
            .get(clause)
            .and_then(|clause| clause.get(literal))
        {
            Some(Literal {
                negated: false,
                predicate: Predicate::Text(needle) | Predicate::Pattern(needle),
            }) => needle.may_match_line(line),
            _ => true,
        };
        unresolved.0.iter().all(|clause| clause.iter().any(may_hold))
    }

    /// Returns whether an unresolved literal depends on other entries of the session: on the context status or on the
    /// result of a call.
    pub fn needs_session(&self, unresolved: &Unresolved) -> bool {
        let needs_session = |&(clause, literal): &(usize, usize)| {
            matches!(self.clauses[clause][literal].predicate, Predicate::Status(_) | Predicate::Error(_))
        };
        unresolved.0.iter().flatten().any(needs_session)
    }

    /// Returns whether a predicate of the query satisfies `is_wanted`.
    pub fn has_predicate(&self, is_wanted: impl Fn(&Predicate) -> bool) -> bool {
        self.clauses.iter().flatten().any(|literal| is_wanted(&literal.predicate))
    }

    /// Returns whether a literal holds. Returns `None` if it depends on a property missing in `context`.
    fn evaluate_literal(
        &self,
        literal: &Literal,
        doc: &SearchDoc<'_>,
        context: &EntryContext<'_>,
    ) -> Option<bool> {
        self.evaluate_predicate(&literal.predicate, doc, context).map(|holds| holds != literal.negated)
    }

    /// Returns whether a predicate holds. Returns `None` if it depends on a property missing in `context`.
    fn evaluate_predicate(
        &self,
        predicate: &Predicate,
        doc: &SearchDoc<'_>,
        context: &EntryContext<'_>,
    ) -> Option<bool> {
        Some(match predicate {
            Predicate::Text(needle) | Predicate::Pattern(needle) => {
                self.searched_texts(doc).any(|text| needle.find(text, 0).is_some())
            }
            Predicate::Role(sources) => doc.sources.intersects(*sources),
            Predicate::Tool(name) => doc.tools.iter().any(|tool| is_tool_named(tool, name)),
            Predicate::File(part) => doc.files.iter().any(|file| has_substring(file, part)),
            Predicate::Model(part) => doc.model.as_ref().is_some_and(|model| has_substring(model, part)),
            Predicate::Branch(part) => doc.branch.as_ref().is_some_and(|branch| has_substring(branch, part)),
            Predicate::Error(error) if !doc.error && self.error_depends_on_result(doc.sources) => {
                context.has_failed_call? == *error
            }
            Predicate::Error(error) => doc.error == *error,
            Predicate::Since(limit) => doc.time.is_some_and(|time| time >= *limit),
            Predicate::Until(limit) => doc.time.is_some_and(|time| time < *limit),
            Predicate::PullRequest(name) => {
                doc.pull_request.as_ref().is_some_and(|link| is_pull_request_named(link, name))
            }
            Predicate::Session(id) => context.session.starts_with(id.as_str()),
            Predicate::Project(part) => context.project.iter().any(|project| has_substring(project, part)),
            Predicate::Status(ContextStatus::Subagent) => context.is_agent_file || doc.is_sidechain,
            Predicate::Status(_) if context.is_agent_file || doc.is_sidechain => false,
            Predicate::Status(status) => context.status?.merge_orphaned() == *status,
        })
    }

    /// Iterates over the texts of an entry that come from a searched source.
    fn searched_texts<'c>(&self, doc: &'c SearchDoc<'_>) -> impl Iterator<Item = &'c str> {
        let sources = self.sources;
        doc.texts.iter().filter(move |field| sources.contains(field.source)).map(|field| &*field.text)
    }

    /// Returns how well the entry matches each ranked term. A value is `None` if the entry does not contain it.
    pub fn match_terms(&self, doc: &SearchDoc<'_>) -> Vec<Option<TermMatch>> {
        self.ranked_terms.iter().map(|term| term.match_doc(doc)).collect()
    }

    /// Iterates over the texts and patterns that are not negated. Excerpts mark their matches.
    pub fn needles(&self) -> impl Iterator<Item = &Needle> {
        let positive = self.clauses.iter().flatten().filter(|literal| !literal.negated);
        positive.filter_map(|literal| match &literal.predicate {
            Predicate::Text(needle) | Predicate::Pattern(needle) => Some(needle),
            _ => None,
        })
    }
}

/// Returns the regular expressions of a clause that consists of texts and regular expressions only, none of them negated.
///
/// Returns `None` for other clauses: an entry may satisfy them with any text.
fn find_patterns_of_text_clause(clause: &[Literal]) -> Option<Vec<Needle>> {
    let mut patterns = Vec::new();
    for literal in clause {
        match &literal.predicate {
            _ if literal.negated => return None,
            Predicate::Text(_) => {}
            Predicate::Pattern(needle) => patterns.push(needle.clone()),
            _ => return None,
        }
    }
    Some(patterns)
}

impl RankedTerm {
    fn new(needle: &Needle) -> RankedTerm {
        let plan = TermPlan::new(needle.text());
        let finders =
            plan.rank_patterns.iter().map(|pattern| Needle::case_insensitive(&pattern.text)).collect();
        RankedTerm { plan, finders, needle: needle.clone() }
    }

    /// Returns the weakest of the matches of the rank patterns in an entry, whatever the source of the text.
    ///
    /// Returns `None` if a rank pattern matches no term of the entry, or if there are no rank patterns.
    fn match_doc(&self, doc: &SearchDoc<'_>) -> Option<TermMatch> {
        let mut tokenizer = Tokenizer::default();
        let best_matches = self.plan.rank_patterns.iter().zip(&self.finders).map(|(pattern, finder)| {
            let mut best: Option<TermMatch> = None;
            for field in &doc.texts {
                let mut from = 0;
                while let Some(range) = finder.find(&field.text, from) {
                    let run = find_run_at(&field.text, range.start);
                    from = run.end;
                    tokenizer.for_each_term(&field.text[run], |term_kind, term| {
                        let found = pattern
                            .match_term(term)
                            .filter(|_| term_kind != TermKind::SubwordBoundary)
                            .map(|kind| TermMatch { kind, count: 1 });
                        best = match (best, found) {
                            (Some(best), Some(found)) => Some(best.combine(found)),
                            (best, found) => best.or(found),
                        };
                    });
                }
            }
            best
        });
        best_matches.reduce(|a, b| Some(a?.weaker(b?)))?
    }
}

/// Returns whether a tool has this name, or a part of its name between `__` is equal to it. Ignores ASCII case.
pub fn is_tool_named(tool: &str, name: &str) -> bool {
    tool.eq_ignore_ascii_case(name) || tool.split("__").any(|part| part.eq_ignore_ascii_case(name))
}

/// Returns whether a pull request has this name: its number, with or without `#`; its repository and number as in
/// `owner/shop#123`; or its address or one below it. Ignores ASCII case.
///
/// `link` is [`super::SearchDoc::pull_request`].
pub fn is_pull_request_named(link: &str, name: &str) -> bool {
    let mut fields = link.splitn(3, ' ');
    let mut next_field = || fields.next().unwrap_or_default();
    let (number, repository, url) = (next_field(), next_field(), next_field().trim_end_matches('/'));
    let is_number = |name: &str| !number.is_empty() && name == number;
    let (url, name) = (url.to_ascii_lowercase(), name.to_ascii_lowercase());
    let is_below_url =
        || name.strip_prefix(&url).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '#', '?']));
    is_number(name.strip_prefix('#').unwrap_or(&name))
        || name
            .rsplit_once('#')
            .is_some_and(|(owner, name)| owner.eq_ignore_ascii_case(repository) && is_number(name))
        || !url.is_empty() && is_below_url()
}

/// Returns whether `text` contains `part`, ignoring case. An empty `part` is never contained.
pub fn has_substring(text: &str, part: &str) -> bool {
    Needle::case_insensitive(part).find(text, 0).is_some()
}

/// Returns the ranking weight of a source, from 0.5 to 1.
fn source_weight(source: TextSource) -> f32 {
    match source {
        TextSource::Prompt | TextSource::Summary => 1.0,
        TextSource::Answer => 0.9,
        TextSource::Thinking | TextSource::Tool => 0.7,
        TextSource::Result | TextSource::System => 0.6,
        TextSource::Context => 0.5,
    }
}

/// Scores matches. Precomputes everything that does not depend on the match, because a common term has many.
#[derive(Debug, Clone)]
pub struct Scorer {
    /// The score by term index, match kind and number of matching terms.
    term_scores: Vec<[[f32; COUNT_WEIGHTS.len()]; KIND_WEIGHTS.len()]>,
    /// The largest weight among the sources, by source bits.
    source_weights: Vec<f32>,
    /// The factor by length class. Longer texts contain more terms by chance.
    length_norm: Vec<f32>,
}

/// The weights of match kinds and of occurrence counts.
const KIND_WEIGHTS: [f32; 3] = [0.5, 0.75, 1.0];
const COUNT_WEIGHTS: [f32; TermMatch::MAX_COUNT as usize + 1] = [0.0, 1.0, 1.3, 1.5, 1.6];

impl Scorer {
    /// Creates a scorer. `term_weights` has the [`idf`] of each ranked term.
    pub fn new(term_weights: &[f32]) -> Scorer {
        let max_weight = |bits: u8| {
            let sources = SourceSet::from_bits(bits);
            let present = TextSource::ALL.iter().filter(|&&source| sources.contains(source));
            present.map(|&source| source_weight(source)).fold(0.0, f32::max)
        };
        let norm = |len: u8| 1.0 / (1.0 + 0.08 * f32::from(len.saturating_sub(6)));
        Scorer {
            term_scores: term_weights
                .iter()
                .map(|idf| KIND_WEIGHTS.map(|kind| COUNT_WEIGHTS.map(|count| idf * kind * count)))
                .collect(),
            source_weights: (0..=u8::MAX).map(max_weight).collect(),
            length_norm: (0..=u8::MAX).map(norm).collect(),
        }
    }

    /// Returns the score of an entry in thousandths, by its term matches, text sources and [`length_class`].
    pub fn score(&self, term_matches: &[Option<TermMatch>], sources: SourceSet, length_class: u8) -> u32 {
        self.combine_scores(
            term_matches.iter().zip(0..).map(|(term_match, idx)| self.term_score(idx, *term_match)),
            sources,
            length_class,
        )
    }

    /// Returns the score of one ranked term. Returns 0 if it does not match or the scorer does not have it.
    pub fn term_score(&self, term_idx: usize, term_match: Option<TermMatch>) -> f32 {
        let known = term_match.zip(self.term_scores.get(term_idx));
        known.map_or(0.0, |(term_match, scores)| {
            scores[term_match.kind as usize][usize::from(term_match.count.min(TermMatch::MAX_COUNT))]
        })
    }

    /// Combines the scores of the terms into the score of an entry in thousandths, rounded down.
    pub fn combine_scores(
        &self,
        term_scores: impl Iterator<Item = f32>,
        sources: SourceSet,
        length_class: u8,
    ) -> u32 {
        let sum = term_scores.fold(0.0, |sum, score| sum + score);
        let (weight, norm) =
            (self.source_weights[usize::from(sources.bits())], self.length_norm[usize::from(length_class)]);
        (sum * weight * norm * 1000.0) as u32
    }
}

/// Returns the inverse document frequency: the weight of a term that occurs in `entry_count` entries, at most 1.
pub fn idf(entry_count: usize) -> f32 {
    1.0 / (2.0 + entry_count as f32).log2()
}

/// Returns the length class of an entry with `len` bytes of text: the number of bits of `len`.
pub fn length_class(len: usize) -> u8 {
    (usize::BITS - len.leading_zeros()) as u8
}

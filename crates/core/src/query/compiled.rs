//! What a query says of an entry: the meaning that an index only shortens the way to.

use super::ast::{ContextStatus, Literal, Predicate, Query, Sources};
use super::document::SearchDoc;
use super::needle::Needle;
use super::texts::TextSource;
use super::tokenizer::{Kind, TermMatch, TermPlan, Tokenizer, run_at};

/// A query made ready to be asked.
#[derive(Debug, Clone)]
pub struct CompiledQuery {
    groups: Vec<Vec<Literal>>,
    sources: Sources,
    words: Vec<RankedTerm>,
    /// Whether a hit holds some of the words: else any line may be one.
    needs_words: bool,
}

/// Words that are looked for, and what an index can say of them. Hits are ranked by them.
#[derive(Debug, Clone)]
pub struct RankedTerm {
    /// The terms they come to.
    pub parts: TermPlan,
    /// One for each of them.
    finders: Vec<Needle>,
    whole: Needle,
}

/// What is still open about an entry: groups of atoms by their places, of each of which one must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unresolved(pub Vec<Vec<(usize, usize)>>);

/// What is known of an entry beside its card.
#[derive(Debug, Clone, Copy, Default)]
pub struct EntryContext<'s> {
    /// The id of the session.
    pub session: &'s str,
    /// The folder that the session was started in, and the one its file lies in.
    pub project: [&'s str; 2],
    /// Whether a subagent's file holds it.
    pub agent: bool,
    /// How it stands to what the client would load; `None` where nobody has looked yet.
    pub label: Option<Option<ContextStatus>>,
}

impl CompiledQuery {
    /// Makes a query ready; `all` looks also through what stands beside the conversation.
    pub fn of(query: &Query, all: bool) -> CompiledQuery {
        let mut sources = if all { Sources::ALL } else { Sources::TOLD };
        let mut asked = Sources::ALL;
        let mut roles = false;
        let mut groups = Vec::new();
        for group in &query.clauses {
            // Who shall have said it limits where words are looked for.
            let role = |atom: &Literal| match atom.want {
                Predicate::Role(named) => Some(if atom.not { named.complement() } else { named }),
                _ => None,
            };
            let named: Option<Vec<Sources>> = group.iter().map(role).collect();
            if let Some(named) = named {
                roles |= group.iter().all(|atom| !atom.not);
                asked = asked.intersection(named.into_iter().fold(Sources::default(), Sources::union));
            } else {
                groups.push(group.clone());
            }
        }
        if roles {
            sources = Sources::ALL;
        }
        let positive = groups.iter().flatten().filter(|atom| !atom.not);
        let words = positive.filter_map(|atom| match &atom.want {
            Predicate::Words(needle) => Some(RankedTerm::of(needle)),
            _ => None,
        });
        let only_words = |group: &Vec<Literal>| {
            group.iter().all(|atom| !atom.not && matches!(atom.want, Predicate::Words(_)))
        };
        let words = words.collect();
        let needs_words = groups.iter().any(only_words);
        CompiledQuery { groups, sources: sources.intersection(asked), words, needs_words }
    }

    /// Returns who must have said it.
    pub fn sources(&self) -> Sources {
        self.sources
    }

    /// Returns the groups of which one atom each must hold.
    pub fn groups(&self) -> &[Vec<Literal>] {
        &self.groups
    }

    /// Returns the words that rank hits.
    pub fn words(&self) -> &[RankedTerm] {
        &self.words
    }

    /// Whether no entry is a hit that holds none of the words.
    pub fn needs_words(&self) -> bool {
        self.needs_words
    }

    /// Whether an entry on this line could be a hit or count for the rank of one: `false` only where it cannot.
    pub fn may_match(&self, line: &[u8]) -> bool {
        !self.needs_words || self.words.iter().any(|word| word.whole.may_hold(line))
    }

    /// Whether somebody speaks in an entry who may.
    pub fn covers(&self, card: &SearchDoc<'_>) -> bool {
        card.sources.meets(self.sources)
    }

    /// Says whether an entry is a hit: `None` where it is not. Else what is still open: of each of these groups, one of
    /// the atoms must hold, by what the setting does not say yet.
    pub fn evaluate(&self, card: &SearchDoc<'_>, setting: &EntryContext<'_>) -> Option<Unresolved> {
        if !self.covers(card) {
            return None;
        }
        let mut open = Unresolved::default();
        for (no, group) in self.groups.iter().enumerate() {
            let mut unknown = Vec::new();
            let mut holds = false;
            for (k, atom) in group.iter().enumerate() {
                match self.holds(atom, card, setting) {
                    Some(true) => holds = true,
                    Some(false) => {}
                    None => unknown.push((no, k)),
                }
            }
            match (holds, unknown.is_empty()) {
                (true, _) => {}
                (false, true) => return None,
                (false, false) => open.0.push(unknown),
            }
        }
        Some(open)
    }

    /// Says whether what was open holds after all; what the setting still does not say does not.
    pub fn resolve(&self, open: &Unresolved, card: &SearchDoc<'_>, setting: &EntryContext<'_>) -> bool {
        let holds = |&(group, atom): &(usize, usize)| {
            let atom = self.groups.get(group).and_then(|group| group.get(atom));
            atom.is_some_and(|atom| self.holds(atom, card, setting) == Some(true))
        };
        open.0.iter().all(|group| group.iter().any(holds))
    }

    /// Whether what is open could hold of an entry on this line: `false` only where it cannot. Most of what an index leaves
    /// open is words that do not stand side by side, and that shows without decoding.
    pub fn may_settle(&self, open: &Unresolved, line: &[u8]) -> bool {
        let may = |&(group, atom): &(usize, usize)| match self
            .groups
            .get(group)
            .and_then(|group| group.get(atom))
        {
            Some(Literal { not: false, want: Predicate::Words(needle) }) => needle.may_hold(line),
            _ => true,
        };
        open.0.iter().all(|group| group.iter().any(may))
    }

    /// Whether any of what is open is about how an entry stands to what the client would load.
    pub fn asks_label(&self, open: &Unresolved) -> bool {
        let is_label =
            |&(group, atom): &(usize, usize)| matches!(self.groups[group][atom].want, Predicate::Is(_));
        open.0.iter().flatten().any(is_label)
    }

    /// Whether any atom is about tools, or about projects.
    pub fn asks(&self, about: impl Fn(&Predicate) -> bool) -> bool {
        self.groups.iter().flatten().any(|atom| about(&atom.want))
    }

    fn holds(&self, atom: &Literal, card: &SearchDoc<'_>, setting: &EntryContext<'_>) -> Option<bool> {
        self.want(&atom.want, card, setting).map(|holds| holds != atom.not)
    }

    fn want(&self, want: &Predicate, card: &SearchDoc<'_>, setting: &EntryContext<'_>) -> Option<bool> {
        Some(match want {
            Predicate::Words(needle) | Predicate::Pattern(needle) => {
                self.said(card).any(|text| needle.find(text, 0).is_some())
            }
            Predicate::Role(sources) => card.sources.meets(*sources),
            Predicate::Tool(name) => card.tools.iter().any(|tool| is_tool(tool, name)),
            Predicate::File(part) => card.files.iter().any(|file| has_part(file, part)),
            Predicate::Model(part) => card.model.as_ref().is_some_and(|model| has_part(model, part)),
            Predicate::Branch(part) => card.branch.as_ref().is_some_and(|branch| has_part(branch, part)),
            Predicate::Error(error) => card.error == *error,
            Predicate::Since(moment) => card.time.is_some_and(|time| time >= *moment),
            Predicate::Until(moment) => card.time.is_some_and(|time| time < *moment),
            Predicate::Session(id) => setting.session.starts_with(id.as_str()),
            Predicate::Project(part) => setting.project.iter().any(|project| has_part(project, part)),
            Predicate::Is(ContextStatus::Subagent) => setting.agent || card.side,
            Predicate::Is(_) if setting.agent || card.side => false,
            Predicate::Is(label) => setting.label? == Some(*label),
        })
    }

    fn said<'c>(&self, card: &'c SearchDoc<'_>) -> impl Iterator<Item = &'c str> {
        let sources = self.sources;
        card.said.iter().filter(move |said| sources.contains(said.source)).map(|said| &*said.text)
    }

    /// Says how strongly an entry holds each of the words.
    pub fn strengths(&self, card: &SearchDoc<'_>) -> Vec<Option<TermMatch>> {
        self.words.iter().map(|word| word.strength(card)).collect()
    }

    /// Returns the needles whose matches are shown.
    pub fn needles(&self) -> impl Iterator<Item = &Needle> {
        let positive = self.groups.iter().flatten().filter(|atom| !atom.not);
        positive.filter_map(|atom| match &atom.want {
            Predicate::Words(needle) | Predicate::Pattern(needle) => Some(needle),
            _ => None,
        })
    }
}

impl RankedTerm {
    fn of(needle: &Needle) -> RankedTerm {
        let parts = TermPlan::of(needle.text());
        let finders = parts.rank.iter().map(|part| Needle::folded(&part.text)).collect();
        RankedTerm { parts, finders, whole: needle.clone() }
    }

    /// Says how strongly the terms of an entry speak for the words; `None` where one of them is missing.
    fn strength(&self, card: &SearchDoc<'_>) -> Option<TermMatch> {
        let mut cutter = Tokenizer::default();
        let each = self.parts.rank.iter().zip(&self.finders).map(|(part, finder)| {
            let mut strength: Option<TermMatch> = None;
            for said in &card.said {
                let mut from = 0;
                while let Some(found) = finder.find(&said.text, from) {
                    let around = run_at(&said.text, found.start);
                    from = around.end;
                    cutter.terms(&said.text[around], |kind, term| {
                        let found = part
                            .fit(term)
                            .filter(|_| kind != Kind::SubwordBoundary)
                            .map(|fit| TermMatch { fit, count: 1 });
                        strength = match (strength, found) {
                            (Some(one), Some(other)) => Some(one.and_also(other)),
                            (one, other) => one.or(other),
                        };
                    });
                }
            }
            strength
        });
        each.reduce(|one, other| Some(one?.at_most(other?)))?
    }
}

/// Whether a tool is called so, or a part of its name between `__` is.
pub fn is_tool(tool: &str, name: &str) -> bool {
    tool.eq_ignore_ascii_case(name) || tool.split("__").any(|part| part.eq_ignore_ascii_case(name))
}

/// Whether a text has a part, in any case.
pub fn has_part(text: &str, part: &str) -> bool {
    Needle::folded(part).find(text, 0).is_some()
}

/// How much it counts who says something.
fn source_weight(source: TextSource) -> f32 {
    match source {
        TextSource::Prompt | TextSource::Summary => 1.0,
        TextSource::Answer => 0.9,
        TextSource::Thinking | TextSource::Tool => 0.7,
        TextSource::Result | TextSource::System => 0.6,
        TextSource::Context => 0.5,
    }
}

/// Says how good hits are. What does not depend on the hit is reckoned once: a common word has very many.
#[derive(Debug, Clone)]
pub struct Scorer {
    /// By word, fit and count: what that adds.
    words: Vec<[[f32; COUNTS.len()]; FITS.len()]>,
    /// By who speaks: the most that any of them counts.
    regards: Vec<f32>,
    /// By the class of the length: the longer a text, the more it holds by chance.
    length_norm: Vec<f32>,
}

/// What it counts how well a term fits, and how often.
const FITS: [f32; 3] = [0.5, 0.75, 1.0];
const COUNTS: [f32; TermMatch::MOST as usize + 1] = [0.0, 1.0, 1.3, 1.5, 1.6];

impl Scorer {
    /// Takes the weights of the words, which come from how seldom they are.
    pub fn of(weights: &[f32]) -> Scorer {
        let most = |bits: u8| {
            let sources = Sources::from_bits(bits);
            let speaking = TextSource::ALL.iter().filter(|&&source| sources.contains(source));
            speaking.map(|&source| source_weight(source)).fold(0.0, f32::max)
        };
        let brief = |len: u8| 1.0 / (1.0 + 0.08 * f32::from(len.saturating_sub(6)));
        Scorer {
            words: weights
                .iter()
                .map(|weight| FITS.map(|fit| COUNTS.map(|count| weight * fit * count)))
                .collect(),
            regards: (0..=u8::MAX).map(most).collect(),
            length_norm: (0..=u8::MAX).map(brief).collect(),
        }
    }

    /// Says how good a hit is, by how strongly it holds each of the words, who speaks, and the class of its length.
    pub fn score(&self, strengths: &[Option<TermMatch>], sources: Sources, len: u8) -> u32 {
        self.total(strengths.iter().zip(0..).map(|(strength, word)| self.part(word, *strength)), sources, len)
    }

    /// Says what it adds that one of the words is held so strongly.
    pub fn part(&self, word: usize, strength: Option<TermMatch>) -> f32 {
        let known = strength.zip(self.words.get(word));
        known.map_or(0.0, |(strength, word)| {
            word[strength.fit as usize][usize::from(strength.count.min(TermMatch::MOST))]
        })
    }

    /// Says how good a hit is by the parts that each of the words adds.
    pub fn total(&self, parts: impl Iterator<Item = f32>, sources: Sources, len: u8) -> u32 {
        let sum = parts.fold(0.0, |sum, part| sum + part);
        let (regard, brief) = (self.regards[usize::from(sources.bits())], self.length_norm[usize::from(len)]);
        (sum * regard * brief * 1000.0) as u32
    }
}

/// Returns how much words count that so many entries hold.
pub fn idf(entries: usize) -> f32 {
    1.0 / (2.0 + entries as f32).log2()
}

/// Returns the class of a length: the number of its binary digits.
pub fn length_class(len: usize) -> u8 {
    (usize::BITS - len.leading_zeros()) as u8
}

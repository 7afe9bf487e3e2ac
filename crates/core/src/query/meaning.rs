//! What a query says of an entry: the meaning that an index only shortens the way to.

use super::card::Card;
use super::needle::Needle;
use super::term::{Cutter, Kind, Parts, Strength, run_at};
use super::texts::Source;
use super::wanted::{Atom, Label, Query, Sources, Want};

/// A query made ready to be asked.
#[derive(Debug, Clone)]
pub struct Meaning {
    groups: Vec<Vec<Atom>>,
    sources: Sources,
    words: Vec<Word>,
    /// Whether a hit holds some of the words: else any line may be one.
    needs_words: bool,
}

/// Words that are looked for, and what an index can say of them. Hits are ranked by them.
#[derive(Debug, Clone)]
pub struct Word {
    /// The terms they come to.
    pub parts: Parts,
    /// One for each of them.
    finders: Vec<Needle>,
    whole: Needle,
}

/// What is still open about an entry: groups of atoms by their places, of each of which one must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Open(pub Vec<Vec<(usize, usize)>>);

/// What is known of an entry beside its card.
#[derive(Debug, Clone, Copy, Default)]
pub struct Setting<'s> {
    /// The id of the session.
    pub session: &'s str,
    /// The folder that the session was started in, and the one its file lies in.
    pub project: [&'s str; 2],
    /// Whether a subagent's file holds it.
    pub agent: bool,
    /// How it stands to what the client would load; `None` where nobody has looked yet.
    pub label: Option<Option<Label>>,
}

impl Meaning {
    /// Makes a query ready; `all` looks also through what stands beside the conversation.
    pub fn of(query: &Query, all: bool) -> Meaning {
        let mut sources = if all { Sources::ALL } else { Sources::TOLD };
        let mut asked = Sources::ALL;
        let mut roles = false;
        let mut groups = Vec::new();
        for group in &query.groups {
            // Who shall have said it limits where words are looked for.
            let role = |atom: &Atom| match atom.want {
                Want::Role(named) => Some(if atom.not { named.complement() } else { named }),
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
            Want::Words(needle) => Some(Word::of(needle)),
            _ => None,
        });
        let only_words =
            |group: &Vec<Atom>| group.iter().all(|atom| !atom.not && matches!(atom.want, Want::Words(_)));
        let words = words.collect();
        let needs_words = groups.iter().any(only_words);
        Meaning { groups, sources: sources.intersection(asked), words, needs_words }
    }

    /// Returns who must have said it.
    pub fn sources(&self) -> Sources {
        self.sources
    }

    /// Returns the groups of which one atom each must hold.
    pub fn groups(&self) -> &[Vec<Atom>] {
        &self.groups
    }

    /// Returns the words that rank hits.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Whether an entry on this line could be a hit or count for the rank of one: `false` only where it cannot.
    pub fn may_hold(&self, line: &[u8]) -> bool {
        !self.needs_words || self.words.iter().any(|word| word.whole.may_hold(line))
    }

    /// Whether somebody speaks in an entry who may.
    pub fn looks_through(&self, card: &Card<'_>) -> bool {
        card.sources.meets(self.sources)
    }

    /// Says whether an entry is a hit: `None` where it is not. Else what is still open: of each of these groups, one of
    /// the atoms must hold, by what the setting does not say yet.
    pub fn judge(&self, card: &Card<'_>, setting: &Setting<'_>) -> Option<Open> {
        if !self.looks_through(card) {
            return None;
        }
        let mut open = Open::default();
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
    pub fn settle(&self, open: &Open, card: &Card<'_>, setting: &Setting<'_>) -> bool {
        let holds = |&(group, atom): &(usize, usize)| {
            let atom = self.groups.get(group).and_then(|group| group.get(atom));
            atom.is_some_and(|atom| self.holds(atom, card, setting) == Some(true))
        };
        open.0.iter().all(|group| group.iter().any(holds))
    }

    /// Whether any of what is open is about how an entry stands to what the client would load.
    pub fn asks_label(&self, open: &Open) -> bool {
        let is_label = |&(group, atom): &(usize, usize)| matches!(self.groups[group][atom].want, Want::Is(_));
        open.0.iter().flatten().any(is_label)
    }

    /// Whether any atom is about tools, or about projects.
    pub fn asks(&self, about: impl Fn(&Want) -> bool) -> bool {
        self.groups.iter().flatten().any(|atom| about(&atom.want))
    }

    fn holds(&self, atom: &Atom, card: &Card<'_>, setting: &Setting<'_>) -> Option<bool> {
        self.want(&atom.want, card, setting).map(|holds| holds != atom.not)
    }

    fn want(&self, want: &Want, card: &Card<'_>, setting: &Setting<'_>) -> Option<bool> {
        Some(match want {
            Want::Words(needle) | Want::Pattern(needle) => {
                self.said(card).any(|text| needle.find(text, 0).is_some())
            }
            Want::Role(sources) => card.sources.meets(*sources),
            Want::Tool(name) => card.tools.iter().any(|tool| is_tool(tool, name)),
            Want::File(part) => card.files.iter().any(|file| has_part(file, part)),
            Want::Model(part) => card.model.as_ref().is_some_and(|model| has_part(model, part)),
            Want::Branch(part) => card.branch.as_ref().is_some_and(|branch| has_part(branch, part)),
            Want::Error(error) => card.error == *error,
            Want::Since(moment) => card.time.is_some_and(|time| time >= *moment),
            Want::Until(moment) => card.time.is_some_and(|time| time < *moment),
            Want::Session(id) => setting.session.starts_with(id.as_str()),
            Want::Project(part) => setting.project.iter().any(|project| has_part(project, part)),
            Want::Is(Label::Subagent) => setting.agent || card.side,
            Want::Is(_) if setting.agent || card.side => false,
            Want::Is(label) => setting.label? == Some(*label),
        })
    }

    fn said<'c>(&self, card: &'c Card<'_>) -> impl Iterator<Item = &'c str> {
        let sources = self.sources;
        card.said.iter().filter(move |said| sources.contains(said.source)).map(|said| &*said.text)
    }

    /// Says how strongly an entry holds each of the words.
    pub fn strengths(&self, card: &Card<'_>) -> Vec<Option<Strength>> {
        self.words.iter().map(|word| word.strength(card)).collect()
    }

    /// Returns the needles whose matches are shown.
    pub fn needles(&self) -> impl Iterator<Item = &Needle> {
        let positive = self.groups.iter().flatten().filter(|atom| !atom.not);
        positive.filter_map(|atom| match &atom.want {
            Want::Words(needle) | Want::Pattern(needle) => Some(needle),
            _ => None,
        })
    }
}

impl Word {
    fn of(needle: &Needle) -> Word {
        let parts = Parts::of(needle.text());
        let finders = parts.rank.iter().map(|part| Needle::folded(&part.text)).collect();
        Word { parts, finders, whole: needle.clone() }
    }

    /// Says how strongly the terms of an entry speak for the words; `None` where one of them is missing.
    fn strength(&self, card: &Card<'_>) -> Option<Strength> {
        let mut cutter = Cutter::default();
        let each = self.parts.rank.iter().zip(&self.finders).map(|(part, finder)| {
            let mut strength: Option<Strength> = None;
            for said in &card.said {
                let mut from = 0;
                while let Some(found) = finder.find(&said.text, from) {
                    let around = run_at(&said.text, found.start);
                    from = around.end;
                    cutter.terms(&said.text[around], |kind, term| {
                        let found = part
                            .fit(term)
                            .filter(|_| kind != Kind::Seam)
                            .map(|fit| Strength { fit, count: 1 });
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
fn regard(source: Source) -> f32 {
    match source {
        Source::Prompt | Source::Summary => 1.0,
        Source::Answer => 0.9,
        Source::Thinking | Source::Tool => 0.7,
        Source::Result | Source::System => 0.6,
        Source::Context => 0.5,
    }
}

/// Says how good a hit is: `weights` are those of the words, by how seldom they are.
pub fn score(strengths: &[Option<Strength>], weights: &[f32], sources: Sources, len: u8) -> u32 {
    let mut sum = 0.0;
    for (strength, weight) in strengths.iter().zip(weights) {
        if let Some(strength) = strength {
            let fit = [0.5, 0.75, 1.0][strength.fit as usize];
            let count = [0.0, 1.0, 1.3, 1.5, 1.6][usize::from(strength.count.min(Strength::MOST))];
            sum += weight * fit * count;
        }
    }
    let regard = Source::ALL.iter().filter(|&&source| sources.contains(source)).map(|&source| regard(source));
    // The longer a text, the more it holds by chance.
    let brief = 1.0 / (1.0 + 0.08 * f32::from(len.saturating_sub(6)));
    (sum * regard.fold(0.0, f32::max) * brief * 1000.0) as u32
}

/// Returns how much words count that so many entries hold.
pub fn weight(entries: usize) -> f32 {
    1.0 / (2.0 + entries as f32).log2()
}

/// Returns the class of a length: the number of its binary digits.
pub fn length_class(len: usize) -> u8 {
    (usize::BITS - len.leading_zeros()) as u8
}

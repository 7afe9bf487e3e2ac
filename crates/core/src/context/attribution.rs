//! Shares what was measured out among what may have caused it: pure arithmetic on numbers.

/// What matters of a part of the context when something leaves it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// Thoughts: the first to go, when a new turn begins.
    Thinking,
    /// What a tool answered: old ones may be cleared.
    Result,
    /// A prompt: a turn begins.
    Prompt,
    /// Anything else.
    Other,
}

/// A part of the context.
#[derive(Debug, Clone, Copy)]
pub struct AttributionItem {
    /// What it is judged to be, in tokens.
    pub estimate: u64,
    /// What it is.
    pub is: ItemKind,
}

/// A request with the response to it; parcels are named by their number.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What came in since the response before.
    pub before: Vec<usize>,
    /// The size of all that was sent, where it was counted.
    pub context: Option<u64>,
    /// What the response holds.
    pub answer: Vec<usize>,
    /// Its size, where it was counted.
    pub output: Option<u64>,
}

/// What each part came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attribution {
    /// By parcel.
    pub tokens: Vec<u64>,
    /// By parcel, whether that number was counted and not shared.
    pub measured: Vec<bool>,
    /// What the first request held that no parcel accounts for.
    pub client: u64,
    /// What later requests held that no parcel accounts for.
    pub unrecorded: u64,
}

impl Attribution {
    /// Returns the size of everything.
    pub fn total(&self) -> u64 {
        self.client + self.unrecorded + self.tokens.iter().sum::<u64>()
    }
}

/// Parts an amount by weights, which add up to less than 2^64; the parts add up to it. Without any weight all are alike.
pub fn apportion(amount: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    let (mut passed, mut given) = (0u128, 0u128);
    let part = |&weight: &u64| {
        passed += if sum == 0 { 1 } else { u128::from(weight) };
        let whole = if sum == 0 { weights.len() as u128 } else { sum };
        let until = u128::from(amount) * passed / whole;
        let part = until - given;
        given = until;
        part as u64
    };
    weights.iter().map(part).collect()
}

/// An estimate may be off by this factor; what goes beyond was never written to the file.
const TRUST: u64 = 2;

/// Shares out the sizes of requests that follow each other.
///
/// Outputs go to the blocks of their answers. What a request grew by beyond that goes to what came in since, by estimate; at
/// most `TRUST` times the estimate, the rest is `unrecorded`. Where a request grew by less than can be, thoughts left it; then,
/// within a turn, the oldest results; then some of everything. What no request counted stays an estimate; `client` stands for the client's
/// own part where none was counted at all.
pub fn attribute_tokens(
    parcels: &[AttributionItem],
    requests: &[Request],
    since: &[usize],
    client: u64,
) -> Attribution {
    let mut desk = Attributor {
        parcels,
        settled: Attribution {
            tokens: vec![0; parcels.len()],
            measured: vec![false; parcels.len()],
            ..Attribution::default()
        },
        held: 0,
        loose: Vec::new(),
        counted: false,
    };
    for request in requests {
        desk.loose.extend_from_slice(&request.before);
        if let Some(context) = request.context {
            desk.reconcile(context);
        }
        desk.answer(&request.answer, request.output);
    }
    desk.loose.extend_from_slice(since);
    desk.estimate();
    if !desk.counted {
        desk.settled.client = client;
    }
    desk.settled
}

struct Attributor<'a> {
    parcels: &'a [AttributionItem],
    settled: Attribution,
    /// The sum of all that is settled.
    held: u64,
    /// Parcels since the last count that wait for the next.
    loose: Vec<usize>,
    /// Whether any request was counted.
    counted: bool,
}

impl Attributor<'_> {
    /// Gives every loose parcel its estimate.
    fn estimate(&mut self) {
        for no in std::mem::take(&mut self.loose) {
            self.settled.tokens[no] = self.parcels[no].estimate;
            self.held += self.parcels[no].estimate;
        }
    }

    /// Gives an amount to parcels, by estimate.
    fn give(&mut self, amount: u64, parcels: &[usize], measured: bool) {
        let weights: Vec<u64> = parcels.iter().map(|&no| self.parcels[no].estimate).collect();
        for (&no, part) in parcels.iter().zip(apportion(amount, &weights)) {
            self.settled.tokens[no] = part;
            self.settled.measured[no] = measured && parcels.len() == 1;
            self.held += part;
        }
    }

    fn add_unrecorded(&mut self, amount: u64) {
        self.settled.unrecorded += amount;
        self.held += amount;
    }

    fn answer(&mut self, blocks: &[usize], output: Option<u64>) {
        match output {
            None => self.loose.extend_from_slice(blocks),
            Some(output) if blocks.is_empty() => self.add_unrecorded(output),
            Some(output) => self.give(output, blocks, true),
        }
    }

    /// Makes the parts add up to the size of a request.
    fn reconcile(&mut self, context: u64) {
        if !self.counted {
            self.counted = true;
            self.estimate();
            self.take_of_all(self.held.saturating_sub(context));
            self.settled.client = context - self.held;
            self.held = context;
            return;
        }
        let loose = std::mem::take(&mut self.loose);
        let estimate: u64 = loose.iter().map(|&no| self.parcels[no].estimate).sum();
        let all = self.held;
        let begins = loose.iter().any(|&no| self.parcels[no].is == ItemKind::Prompt);
        if self.held > context || begins && self.held + estimate / TRUST > context {
            self.take_thoughts((self.held + estimate).saturating_sub(context));
        }
        if self.held > context && !begins {
            self.take_results((self.held + estimate).saturating_sub(context));
        }
        if self.held > context {
            self.take_of_all((self.held + estimate).saturating_sub(context));
        }
        let rest = context - self.held;
        let most = estimate.saturating_mul(TRUST);
        if loose.is_empty() || rest > most {
            let known = if loose.is_empty() { 0 } else { most };
            self.give(known, &loose, false);
            self.add_unrecorded(rest - known);
        } else {
            self.give(rest, &loose, self.held == all && rest >= estimate / TRUST);
        }
    }

    /// Takes away from one parcel.
    fn take(&mut self, no: usize, amount: u64) {
        self.settled.tokens[no] -= amount;
        self.settled.measured[no] &= amount == 0;
        self.held -= amount;
    }

    fn numbers_of(&self, is: ItemKind) -> Vec<usize> {
        (0..self.parcels.len())
            .filter(|&no| self.parcels[no].is == is && self.settled.tokens[no] > 0)
            .collect()
    }

    /// Takes from all thoughts alike.
    fn take_thoughts(&mut self, amount: u64) {
        let thoughts = self.numbers_of(ItemKind::Thinking);
        let weights: Vec<u64> = thoughts.iter().map(|&no| self.settled.tokens[no]).collect();
        let amount = amount.min(weights.iter().sum());
        for (&no, part) in thoughts.iter().zip(apportion(amount, &weights)) {
            self.take(no, part);
        }
    }

    /// Takes from results, the oldest first.
    fn take_results(&mut self, mut amount: u64) {
        for no in self.numbers_of(ItemKind::Result) {
            let part = self.settled.tokens[no].min(amount);
            self.take(no, part);
            amount -= part;
        }
    }

    /// Takes from everything alike, the client's own part included.
    fn take_of_all(&mut self, amount: u64) {
        let mut weights = vec![self.settled.client, self.settled.unrecorded];
        weights.extend_from_slice(&self.settled.tokens);
        let parts = apportion(amount.min(self.held), &weights);
        self.settled.client -= parts[0];
        self.settled.unrecorded -= parts[1];
        self.held -= parts[0] + parts[1];
        for (no, &part) in parts[2..].iter().enumerate() {
            self.take(no, part);
        }
    }
}

//! Tables of prices, one before the other.

use super::name;
use super::rates::ModelPricing;
use super::read::{self, PriceProblem};

/// Where a table is from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// Who says so: an address or a path.
    pub source: String,
    /// As of which day; empty where it does not say.
    pub date: String,
}

/// What models cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    pub(super) origins: Vec<Origin>,
    /// The first that matches counts.
    pub(super) tariffs: Vec<ModelPricing>,
}

impl Prices {
    /// Returns the table in the repository.
    pub fn built_in() -> Prices {
        read::table(include_str!("../prices.toml")).expect("tests read the table")
    }

    /// Reads a table.
    pub fn parse(text: &str) -> Result<Prices, PriceProblem> {
        read::table(text)
    }

    /// Says where the foremost table is from, if it does not say so itself.
    #[must_use]
    pub fn called(mut self, source: &str) -> Prices {
        if let Some(origin) = self.origins.first_mut().filter(|origin| origin.source.is_empty()) {
            source.clone_into(&mut origin.source);
        }
        self
    }

    /// Puts these rows before those of another table: whatever matches here is not asked there.
    #[must_use]
    pub fn before(mut self, later: Prices) -> Prices {
        let shift = self.origins.len();
        self.origins.extend(later.origins);
        let shifted =
            later.tariffs.into_iter().map(|tariff| ModelPricing { origin: tariff.origin + shift, ..tariff });
        self.tariffs.extend(shifted);
        self
    }

    /// Returns where the foremost table is from.
    pub fn source(&self) -> &str {
        self.origins.first().map_or("", |origin| &origin.source)
    }

    /// Returns as of which day the foremost table is.
    pub fn date(&self) -> &str {
        self.origins.first().map_or("", |origin| &origin.date)
    }

    /// Returns where the tables are from, the foremost first.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// Returns every model's prices in the order in which they are asked, each with its table.
    pub fn tariffs(&self) -> impl Iterator<Item = (&Origin, &ModelPricing)> {
        self.tariffs.iter().filter_map(|tariff| Some((self.origins.get(tariff.origin)?, tariff)))
    }

    /// Returns the prices of a model, by its name as it stands or without what providers hang on it.
    pub fn tariff(&self, model: &str) -> Option<&ModelPricing> {
        let plain = name::plain(model);
        let names = [Some(model), plain.as_deref()];
        let fits = |pattern: &String| names.into_iter().flatten().any(|name| name::matches(pattern, name));
        self.tariffs.iter().find(|tariff| tariff.models.iter().any(fits))
    }
}

//! Price tables in order of precedence.

use super::name;
use super::rates::ModelPricing;
use super::read::{self, PriceTableError};

/// The origin of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PriceTableOrigin {
    /// The address or file path of the table. Empty if unknown.
    pub source: String,
    /// The date of its prices. Empty if the table does not state one.
    pub date: String,
}

/// The prices of models, from one or more tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceTable {
    pub(super) origins: Vec<PriceTableOrigin>,
    /// In order of precedence: the first match applies.
    pub(super) models: Vec<ModelPricing>,
}

impl PriceTable {
    /// Returns the built-in table.
    pub fn built_in() -> PriceTable {
        read::parse_table(include_str!("../prices.toml")).expect("the built-in table is valid")
    }

    /// Parses a table in the format of `prices.toml`. Returns the first error with its line number.
    pub fn parse(text: &str) -> Result<PriceTable, PriceTableError> {
        read::parse_table(text)
    }

    /// Parses the table in the section `name` of a TOML document with other content, such as a configuration file.
    ///
    /// Returns `None` if there is no such section. Returns the first error with its line number in the document.
    pub fn parse_section(text: &str, name: &str) -> Result<Option<PriceTable>, PriceTableError> {
        read::parse_section(text, name)
    }

    /// Sets the source of the first table unless the table states one.
    #[must_use]
    pub fn with_source(mut self, source: &str) -> PriceTable {
        if let Some(origin) = self.origins.first_mut().filter(|origin| origin.source.is_empty()) {
            source.clone_into(&mut origin.source);
        }
        self
    }

    /// Appends the rows of another table. They apply to models that match no row of this one.
    #[must_use]
    pub fn with_fallback(mut self, fallback: PriceTable) -> PriceTable {
        let offset = self.origins.len();
        self.origins.extend(fallback.origins);
        let shifted = fallback
            .models
            .into_iter()
            .map(|pricing| ModelPricing { origin: pricing.origin + offset, ..pricing });
        self.models.extend(shifted);
        self
    }

    /// Returns the source of the first table. Returns an empty string if unknown.
    pub fn source(&self) -> &str {
        self.origins.first().map_or("", |origin| &origin.source)
    }

    /// Returns the date of the prices of the first table. Returns an empty string if the table states none.
    pub fn date(&self) -> &str {
        self.origins.first().map_or("", |origin| &origin.date)
    }

    /// Returns the origins of the tables, in order of precedence.
    pub fn origins(&self) -> &[PriceTableOrigin] {
        &self.origins
    }

    /// Iterates over the prices of all models in order of precedence, each with the origin of its table.
    pub fn models(&self) -> impl Iterator<Item = (&PriceTableOrigin, &ModelPricing)> {
        self.models.iter().filter_map(|pricing| Some((self.origins.get(pricing.origin)?, pricing)))
    }

    /// Returns the prices of a model. Matches its name as written or without the affixes of providers.
    ///
    /// Returns `None` if no pattern matches: the model has no known price.
    pub fn find_model(&self, model: &str) -> Option<&ModelPricing> {
        let canonical = name::canonicalize_name(model);
        let names = [Some(model), canonical.as_deref()];
        let matches_any_name =
            |pattern: &String| names.into_iter().flatten().any(|name| name::matches_pattern(pattern, name));
        self.models.iter().find(|pricing| pricing.models.iter().any(matches_any_name))
    }
}

//! Whether everybody can use a page; the questions themselves stand in `axe.js`.

use std::fmt;

use serde_json::Value;

use super::page::Page;

/// The script that asks; an expression whose value is a list of findings.
const SCRIPT: &str = include_str!("axe.js");

/// Something that keeps somebody from using a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule: `name`, `alt`, `label`, `id`, `tabindex`, `heading`, `lang`, `title`, `main`, `reference`, `hidden`, `role`,
    /// `contrast` or `overflow`.
    pub rule: String,
    /// Where, as a short selector.
    pub place: String,
    /// What is wrong there.
    pub what: String,
    /// How often the same was found.
    pub times: u64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}` {}", self.rule, self.place, self.what)?;
        if self.times > 1 {
            write!(f, " ({} times)", self.times)?;
        }
        Ok(())
    }
}

impl Page {
    /// Returns what keeps somebody from using the page as it is shown now.
    #[track_caller]
    pub fn findings(&self) -> Vec<Finding> {
        let found = self.eval(SCRIPT);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let finding = |value: &Value| Finding {
            rule: text(&value["rule"]),
            place: text(&value["place"]),
            what: text(&value["what"]),
            times: value["times"].as_u64().unwrap_or(1),
        };
        found.as_array().map(|all| all.iter().map(finding).collect()).expect("the script returns a list")
    }

    /// Panics with all findings where there are any.
    #[track_caller]
    pub fn assert_accessible(&self) {
        let shown: Vec<String> = self.findings().iter().map(Finding::to_string).collect();
        assert!(shown.is_empty(), "not everybody can use this page:\n  {}", shown.join("\n  "));
    }
}

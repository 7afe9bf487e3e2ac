//! Accessibility checks. The rules are in `axe.js`.

use std::fmt;

use serde_json::Value;

use super::page::Page;

/// A JavaScript expression that evaluates to a list of findings.
const SCRIPT: &str = include_str!("axe.js");

/// An accessibility problem of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessibilityFinding {
    /// The violated rule: `name`, `alt`, `label`, `id`, `tabindex`, `heading`, `lang`, `title`, `main`, `reference`, `hidden`, `role`,
    /// `contrast` or `overflow`.
    pub rule: String,
    /// The element, as a short selector.
    pub selector: String,
    /// A description of the problem.
    pub message: String,
    /// The number of elements with the same problem.
    pub count: u64,
}

impl fmt::Display for AccessibilityFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}` {}", self.rule, self.selector, self.message)?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        Ok(())
    }
}

impl Page {
    /// Returns the accessibility problems of the page in its current state.
    #[track_caller]
    pub fn accessibility_findings(&self) -> Vec<AccessibilityFinding> {
        let findings = self.eval(SCRIPT);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let parse_finding = |value: &Value| AccessibilityFinding {
            rule: text(&value["rule"]),
            selector: text(&value["selector"]),
            message: text(&value["message"]),
            count: value["count"].as_u64().unwrap_or(1),
        };
        let findings = findings.as_array().expect("the script returns a list");
        findings.iter().map(parse_finding).collect()
    }

    /// Panics if the page has accessibility problems.
    #[track_caller]
    pub fn assert_accessible(&self) {
        let findings: Vec<String> =
            self.accessibility_findings().iter().map(AccessibilityFinding::to_string).collect();
        assert!(findings.is_empty(), "the page is not accessible:\n  {}", findings.join("\n  "));
    }
}

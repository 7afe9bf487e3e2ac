//! The command that resumes a session: a template of the user, filled with quoted values. It is printed, never run.

use super::shell::quote;
use super::template::{TemplatePart, parse_template};

/// The template that is used unless the user sets another one.
pub(crate) const DEFAULT_TEMPLATE: &str = "cd {folder} && claude --resume {id}";

/// The start of a template that is omitted if the folder is unknown.
const FOLDER_PREFIX: &str = "cd {folder} && ";

/// The maximum length of a template, in bytes.
const MAX_BYTES: usize = 1000;

/// A value of a session that a template contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResumeValue {
    Id,
    Folder,
}

/// The placeholders by name.
const VALUES: [(&str, ResumeValue); 2] = [("id", ResumeValue::Id), ("folder", ResumeValue::Folder)];

/// A template of the command that resumes a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResumeTemplate {
    text: String,
    parts: Vec<TemplatePart<ResumeValue>>,
    /// The parts to use if the folder is unknown.
    parts_without_folder: Vec<TemplatePart<ResumeValue>>,
}

impl Default for ResumeTemplate {
    fn default() -> ResumeTemplate {
        ResumeTemplate::parse(DEFAULT_TEMPLATE).expect("the default template is valid")
    }
}

impl ResumeTemplate {
    /// Parses a template. Returns an error message if it is invalid or if a value would not be one word of the command.
    pub(crate) fn parse(text: &str) -> Result<ResumeTemplate, String> {
        if text.len() > MAX_BYTES {
            return Err(format!("the command is longer than {MAX_BYTES} bytes"));
        }
        let parts = parse_template(text, &VALUES)?;
        if !parts.contains(&TemplatePart::Value(ResumeValue::Id)) {
            return Err("the command must contain {id}".to_owned());
        }
        check_quotes(&parts)?;
        let rest = text.strip_prefix(FOLDER_PREFIX).unwrap_or(text);
        let parts_without_folder = parse_template(rest, &VALUES)?;
        Ok(ResumeTemplate { text: text.to_owned(), parts, parts_without_folder })
    }

    /// Returns the template as the user wrote it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Fills the template with the quoted values of a session. `folder` may be empty.
    ///
    /// `quote_folder` quotes the folder as a word of its own, which may begin with `~`.
    pub(crate) fn fill(&self, id: &str, folder: &str, quote_folder: impl Fn(&str) -> String) -> String {
        let parts = if folder.is_empty() { &self.parts_without_folder } else { &self.parts };
        let mut command = String::new();
        for part in parts {
            let starts_word = command.is_empty() || command.ends_with(' ');
            match part {
                TemplatePart::Literal(text) => command.push_str(text),
                // An id that begins with a dash would be an option. Without an id, the client shows a list.
                TemplatePart::Value(ResumeValue::Id) if starts_word && id.starts_with('-') => {
                    command.truncate(command.trim_end().len());
                }
                TemplatePart::Value(ResumeValue::Id) => command.push_str(&quote(id)),
                TemplatePart::Value(ResumeValue::Folder) if folder.is_empty() => command.push('.'),
                TemplatePart::Value(ResumeValue::Folder) if starts_word => {
                    command.push_str(&quote_folder(folder));
                }
                TemplatePart::Value(ResumeValue::Folder) => command.push_str(&quote(folder)),
            }
        }
        command
    }
}

/// Checks that every value is outside of quotes, because it is quoted itself: quotes around it would end at its own.
fn check_quotes(parts: &[TemplatePart<ResumeValue>]) -> Result<(), String> {
    // The quote that is open, and the unquoted character before.
    let (mut open, mut before): (Option<char>, char) = (None, ' ');
    for part in parts {
        let text = match part {
            TemplatePart::Literal(text) => text,
            TemplatePart::Value(_) if open.is_some() => {
                return Err("a placeholder must not be inside quotes: rethread quotes its value".to_owned());
            }
            TemplatePart::Value(_) if matches!(before, '\\' | '$' | '<') => {
                return Err(format!("a placeholder must not follow `{before}`"));
            }
            TemplatePart::Value(_) => {
                before = '}';
                continue;
            }
        };
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match (open, c) {
                (Some('\''), '\'') => open = None,
                (Some('\''), _) => {}
                (_, '\\') => {
                    // At the end of the text, the backslash is before a placeholder.
                    before = if chars.next().is_some() { 'x' } else { '\\' };
                    continue;
                }
                (Some(quote), c) if c == quote => open = None,
                (Some(_), _) => {}
                (None, '\'' | '"') if before == '$' => {
                    return Err(format!("`${c}` is not supported"));
                }
                (None, '\'' | '"' | '`') => open = Some(c),
                (None, _) => {}
            }
            before = c;
        }
    }
    match open {
        Some(quote) => Err(format!("a `{quote}` is not closed")),
        None if before == '\\' => Err("the command ends with a backslash".to_owned()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_TEMPLATE, ResumeTemplate, quote};

    fn fill(template: &str, id: &str, folder: &str) -> String {
        ResumeTemplate::parse(template).expect(template).fill(id, folder, quote)
    }

    #[test]
    fn values_are_quoted() {
        let cases = [
            (DEFAULT_TEMPLATE, "3f2a", "/a b", "cd '/a b' && claude --resume 3f2a"),
            (DEFAULT_TEMPLATE, "3f2a", "", "claude --resume 3f2a"),
            (DEFAULT_TEMPLATE, "-p", "/a", "cd /a && claude --resume"),
            ("claude --resume {id}", "3f2a", "/a", "claude --resume 3f2a"),
            ("x --dir={folder} --id={id}", "-p", "~/a", "x --dir='~/a' --id=-p"),
            ("x {folder} {id}", "a", "", "x . a"),
            ("echo 'it {{}}' \"\\\"\" \\' {id}", "$(x)", "", "echo 'it {}' \"\\\"\" \\' '$(x)'"),
        ];
        for (template, id, folder, expected) in cases {
            assert_eq!(fill(template, id, folder), expected, "{template}");
        }
    }

    #[test]
    fn values_in_quotes_are_refused() {
        let templates = [
            "claude '{id}'",
            "claude \"{id}\"",
            "claude \"\\\"{id}\"",
            "claude `x {id}`",
            "claude $'\\'{id}'",
            "claude \\{id}",
            "claude ${id}",
            "cat <<{id}",
            "claude '{folder}' {id}",
        ];
        for template in templates {
            assert!(ResumeTemplate::parse(template).is_err(), "{template}");
        }
        for template in ["", "claude", "claude {id} 'x", "claude {id} \\", "claude {id}\u{7}", "claude {x}"] {
            assert!(ResumeTemplate::parse(template).is_err(), "{template}");
        }
        assert!(ResumeTemplate::parse(&format!("{}{{id}}", "x".repeat(1000))).is_err());
    }

    #[test]
    fn a_shell_reads_each_value_as_one_word() {
        let ids = ["it's", "$(touch x)", "a b; rm -rf ~", "\u{1b}[31m", "\\", "'", "\"`"];
        for template in
            ["printf %s {id}", "printf %s '' \"\"{id}", "printf %s \\\\ >/dev/null; printf %s {id}"]
        {
            for id in ids {
                let command = fill(template, id, "");
                let Ok(output) = std::process::Command::new("bash").args(["-c", &command]).output() else {
                    return;
                };
                assert_eq!(String::from_utf8_lossy(&output.stdout), id, "{command}");
            }
        }
    }
}

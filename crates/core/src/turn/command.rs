//! Slash commands, `!` commands and other texts that the client wraps in tags.

/// A slash command as written by the client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SlashCommand {
    /// The name, with its slash.
    pub name: String,
    /// The message that the client showed while the command ran.
    pub message: String,
    /// The arguments typed after the name.
    pub args: String,
}

impl SlashCommand {
    /// Parses `<command-name>/commit</command-name>` and the related tags, in any order.
    ///
    /// Adds a missing slash to the name. Returns `None` if the text has no `<command-name>` tag.
    pub fn parse(text: &str) -> Option<SlashCommand> {
        let name = extract_tag(text, "command-name")?.trim();
        Some(SlashCommand {
            name: if name.starts_with('/') { name.to_owned() } else { format!("/{name}") },
            message: extract_tag(text, "command-message").unwrap_or_default().trim().to_owned(),
            args: extract_tag(text, "command-args").unwrap_or_default().trim().to_owned(),
        })
    }
}

impl std::fmt::Display for SlashCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.args.is_empty() {
            write!(f, "{}", self.name)
        } else {
            write!(f, "{} {}", self.name, self.args)
        }
    }
}

/// Returns the text between `<name>` and `</name>`, or to the end of `text` if the closing tag is missing.
///
/// Returns `None` if there is no opening tag.
pub fn extract_tag<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let open = text.find(&format!("<{name}>"))? + name.len() + 2;
    let rest = &text[open..];
    Some(rest.find(&format!("</{name}>")).map_or(rest, |end| &rest[..end]))
}

#[cfg(test)]
mod tests {
    use super::SlashCommand;

    #[test]
    fn commands_parse_in_either_order_of_tags() {
        let old = "<command-name>/commit</command-name>\n<command-message>commit</command-message>\n<command-args>-m \"fix bug\"</command-args>";
        let new = "<command-message>greet is running…</command-message>\n<command-name>/greet</command-name>\n<command-args>Bob</command-args>";
        assert_eq!(
            SlashCommand::parse(old).map(|c| c.to_string()).as_deref(),
            Some("/commit -m \"fix bug\"")
        );
        assert_eq!(SlashCommand::parse(new).map(|c| c.to_string()).as_deref(), Some("/greet Bob"));
        assert_eq!(SlashCommand::parse("no command"), None);
    }
}

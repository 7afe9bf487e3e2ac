//! Slash commands, `!` commands and other texts that the client wraps in tags.

/// A slash command as the client writes it down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// With its slash.
    pub name: String,
    /// What the client showed while it ran.
    pub message: String,
    /// What was typed behind the name.
    pub args: String,
}

impl Command {
    /// Reads `<command-name>/commit</command-name>` and its siblings, in any order.
    pub fn read(text: &str) -> Option<Command> {
        let name = tag(text, "command-name")?.trim();
        Some(Command {
            name: if name.starts_with('/') { name.to_owned() } else { format!("/{name}") },
            message: tag(text, "command-message").unwrap_or_default().trim().to_owned(),
            args: tag(text, "command-args").unwrap_or_default().trim().to_owned(),
        })
    }
}

impl std::fmt::Display for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.args.is_empty() {
            write!(f, "{}", self.name)
        } else {
            write!(f, "{} {}", self.name, self.args)
        }
    }
}

/// Returns what stands between `<name>` and `</name>`; to the end where the closing tag is missing.
pub fn tag<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let open = text.find(&format!("<{name}>"))? + name.len() + 2;
    let rest = &text[open..];
    Some(rest.find(&format!("</{name}>")).map_or(rest, |end| &rest[..end]))
}

#[cfg(test)]
mod tests {
    use super::Command;

    #[test]
    fn a_command_is_read_in_either_order_of_its_tags() {
        let old = "<command-name>/commit</command-name>\n<command-message>commit</command-message>\n<command-args>-m \"fix bug\"</command-args>";
        let new = "<command-message>greet is running…</command-message>\n<command-name>/greet</command-name>\n<command-args>Bob</command-args>";
        assert_eq!(Command::read(old).map(|c| c.to_string()).as_deref(), Some("/commit -m \"fix bug\""));
        assert_eq!(Command::read(new).map(|c| c.to_string()).as_deref(), Some("/greet Bob"));
        assert_eq!(Command::read("no command"), None);
    }
}

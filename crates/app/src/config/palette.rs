//! The colours of the terminal output by role.

use anstyle::{Ansi256Color, AnsiColor, Color, RgbColor, Style};

use super::setting::{Origin, Setting};

/// The meaning of a text, which determines its style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextRole {
    Plain,
    Quiet,
    Strong,
    Name,
    Prompt,
    Tool,
    Mark,
    StrongMark,
    Bad,
    Good,
    Match,
}

impl TextRole {
    /// The roles that have a style of their own, with their names in the configuration file.
    pub(crate) const NAMED: [(TextRole, &'static str); 9] = [
        (TextRole::Quiet, "quiet"),
        (TextRole::Strong, "strong"),
        (TextRole::Name, "name"),
        (TextRole::Prompt, "prompt"),
        (TextRole::Tool, "tool"),
        (TextRole::Mark, "mark"),
        (TextRole::Bad, "bad"),
        (TextRole::Good, "good"),
        (TextRole::Match, "match"),
    ];

    /// Returns the style that the user has not changed, as text.
    fn default_text(self) -> &'static str {
        match self {
            TextRole::Plain => "none",
            TextRole::Quiet => "dim",
            TextRole::Strong => "bold",
            TextRole::Name => "cyan",
            TextRole::Prompt => "bold green",
            TextRole::Tool => "blue",
            TextRole::Mark => "yellow",
            TextRole::StrongMark => "bold yellow",
            TextRole::Bad => "red",
            TextRole::Good => "green",
            TextRole::Match => "bold invert",
        }
    }
}

/// A style with the text from which it was parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedStyle {
    text: String,
    style: Style,
}

impl NamedStyle {
    /// Parses a style. Returns an error message if a word of the text is unknown.
    pub(super) fn parse(text: &str) -> Result<NamedStyle, String> {
        Ok(NamedStyle { text: text.to_owned(), style: parse_style(text)? })
    }
}

/// The styles of all roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Palette {
    /// In the order of [`TextRole::NAMED`].
    styles: [Setting<NamedStyle>; TextRole::NAMED.len()],
}

impl Default for Palette {
    fn default() -> Palette {
        let style = |(role, _): (TextRole, &str)| {
            let style = NamedStyle::parse(role.default_text()).expect("the default styles are valid");
            Setting::new(style, Origin::Default)
        };
        Palette { styles: TextRole::NAMED.map(style) }
    }
}

impl Palette {
    /// Returns the style of a role.
    pub(crate) fn style(&self, role: TextRole) -> Style {
        let named = |role| TextRole::NAMED.iter().position(|(other, _)| *other == role);
        match role {
            TextRole::StrongMark => self.style(TextRole::Mark).bold(),
            role => named(role).map_or(Style::new(), |idx| self.styles[idx].value.style),
        }
    }

    /// Returns the setting of the role with this name. Returns `None` if no role has it.
    pub(super) fn setting_mut(&mut self, name: &str) -> Option<&mut Setting<NamedStyle>> {
        let idx = TextRole::NAMED.iter().position(|(_, other)| *other == name)?;
        Some(&mut self.styles[idx])
    }

    /// Iterates over the names, the styles as text, and their origins.
    pub(super) fn settings(&self) -> impl Iterator<Item = (&'static str, &str, Origin)> {
        TextRole::NAMED
            .iter()
            .zip(&self.styles)
            .map(|((_, name), style)| (*name, style.value.text.as_str(), style.origin))
    }
}

/// Parses a style: effects, one colour, and after `on` a background colour. Returns an error message if a word is unknown.
fn parse_style(text: &str) -> Result<Style, String> {
    let mut style = Style::new();
    let mut words = text.split_whitespace();
    let mut is_background = false;
    while let Some(word) = words.next() {
        style = match word {
            "none" => style,
            "bold" => style.bold(),
            "dim" => style.dimmed(),
            "italic" => style.italic(),
            "underline" => style.underline(),
            "invert" => style.invert(),
            "on" => {
                let word = words.next().ok_or("`on` is not followed by a colour")?;
                is_background = true;
                style.bg_color(Some(parse_color(word)?))
            }
            _ if is_background => return Err("the background must be last".to_owned()),
            word => style.fg_color(Some(parse_color(word)?)),
        };
    }
    Ok(style)
}

/// Parses a colour: a name, `bright-NAME`, a number of the 256 colours, or `#rrggbb`. Returns an error message otherwise.
fn parse_color(word: &str) -> Result<Color, String> {
    const NAMES: [(&str, AnsiColor); 8] = [
        ("black", AnsiColor::Black),
        ("red", AnsiColor::Red),
        ("green", AnsiColor::Green),
        ("yellow", AnsiColor::Yellow),
        ("blue", AnsiColor::Blue),
        ("magenta", AnsiColor::Magenta),
        ("cyan", AnsiColor::Cyan),
        ("white", AnsiColor::White),
    ];
    let (name, is_bright) = match word.strip_prefix("bright-") {
        Some(name) => (name, true),
        None => (word, false),
    };
    if let Some((_, color)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Ok(Color::Ansi(color.bright(is_bright)));
    }
    let byte = |digits: Option<&str>| u8::from_str_radix(digits?, 16).ok();
    let hex =
        word.strip_prefix('#').filter(|hex| hex.len() == 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()));
    let rgb =
        hex.and_then(|hex| Some(RgbColor(byte(hex.get(0..2))?, byte(hex.get(2..4))?, byte(hex.get(4..6))?)));
    let numbered = || word.parse::<u8>().ok().map(|number| Color::Ansi256(Ansi256Color(number)));
    rgb.map(Color::Rgb).or_else(numbered).ok_or_else(|| {
        let word: String = word.chars().take(30).collect();
        format!(
            "unknown style `{word}`; use bold, dim, italic, underline, invert, none, or a colour: red, bright-red, 208, \
             #ff8800"
        )
    })
}

#[cfg(test)]
mod tests {
    use anstyle::{Ansi256Color, AnsiColor, Color, RgbColor, Style};

    use super::{NamedStyle, Palette, TextRole, parse_style};
    use crate::config::{Origin, Setting};

    #[test]
    fn styles_are_parsed() {
        let cases = [
            ("", Style::new()),
            ("none", Style::new()),
            ("bold  invert", Style::new().bold().invert()),
            ("bright-red", AnsiColor::BrightRed.on_default()),
            (
                "dim 208 on white",
                Style::new()
                    .dimmed()
                    .fg_color(Some(Ansi256Color(208).into()))
                    .bg_color(Some(AnsiColor::White.into())),
            ),
            ("#ff8800", Style::new().fg_color(Some(Color::Rgb(RgbColor(0xff, 0x88, 0))))),
        ];
        for (text, style) in cases {
            assert_eq!(parse_style(text), Ok(style), "{text}");
        }
        for text in ["pink", "bright-", "256", "#ff", "#gggggg", "#ffééa", "on", "on red blue", "31m", "-1"]
        {
            assert!(parse_style(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_changed_role_keeps_the_others() {
        let mut palette = Palette::default();
        let magenta = NamedStyle::parse("magenta").unwrap();
        *palette.setting_mut("mark").unwrap() = Setting::new(magenta, Origin::File { line: 3 });
        assert_eq!(palette.style(TextRole::StrongMark), AnsiColor::Magenta.on_default().bold());
        assert_eq!(palette.style(TextRole::Name), AnsiColor::Cyan.on_default());
        assert_eq!(palette.style(TextRole::Plain), Style::new());
        assert!(palette.setting_mut("names").is_none());
        let changed: Vec<_> = palette.settings().filter(|(.., origin)| *origin != Origin::Default).collect();
        assert_eq!(changed, [("mark", "magenta", Origin::File { line: 3 })]);
    }
}

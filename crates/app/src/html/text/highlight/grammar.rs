//! What opens comments and strings in each language, and what else is peculiar to it.

use super::{Language, keywords};

/// A kind of string: how it opens and closes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// The byte after which the next one means nothing.
    pub(super) escape: Option<u8>,
    /// Whether it goes on over the end of the line.
    pub(super) lines: bool,
}

/// Makes a kind of string that closes as it opens.
const fn quote(open: &'static str, escape: Option<u8>, lines: bool) -> Quote {
    Quote { open, close: open, escape, lines }
}

/// The escape of most languages.
const SLASH: Option<u8> = Some(b'\\');
const DOUBLE: Quote = quote("\"", SLASH, false);
const SINGLE: Quote = quote("'", SLASH, false);
const BACKTICK: Quote = quote("`", None, true);
const LONG_DOUBLE: Quote = quote("\"\"\"", SLASH, true);
const LONG_SINGLE: Quote = quote("'''", SLASH, true);
const OPEN_DOUBLE: Quote = quote("\"", SLASH, true);
const OPEN_SINGLE: Quote = quote("'", SLASH, true);
const RAW_SINGLE: Quote = quote("'", None, true);
const VERBATIM: Quote = Quote { open: "@\"", close: "\"", escape: None, lines: true };
const HERE_DOUBLE: Quote = Quote { open: "@\"\n", close: "\n\"@", escape: None, lines: true };
const HERE_SINGLE: Quote = Quote { open: "@'\n", close: "\n'@", escape: None, lines: true };
const ZIG_LINE: Quote = Quote { open: "\\\\", close: "\n", escape: None, lines: false };
const PLAIN_DOUBLE: Quote = quote("\"", None, false);
const PLAIN_SINGLE: Quote = quote("'", None, false);
const LONG_RAW: Quote = quote("'''", None, true);
const TICKED: Quote = quote("\"", Some(b'`'), true);

/// What a scanner must know of a language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grammar {
    pub(super) comments: &'static [&'static str],
    pub(super) blocks: &'static [(&'static str, &'static str)],
    /// Whether such comments stand within each other.
    pub(super) nests: bool,
    /// Kinds of strings; of two that begin alike the longer comes first.
    pub(super) quotes: &'static [Quote],
    pub(super) words: &'static [&'static str],
    pub(super) types: &'static [&'static str],
    pub(super) traits: u32,
}

/// Peculiarities of a language: what [`Grammar::traits`] is made of.
pub(super) mod has {
    /// Capitalised words are types.
    pub(in super::super) const CAPITALS: u32 = 1;
    /// A word before a bracket is a function.
    pub(in super::super) const CALLS: u32 = 1 << 1;
    /// Words mean the same in capitals.
    pub(in super::super) const FOLD: u32 = 1 << 2;
    /// `$name` is a variable.
    pub(in super::super) const DOLLARS: u32 = 1 << 3;
    /// `@name` is a decorator or a variable.
    pub(in super::super) const AT_NAMES: u32 = 1 << 4;
    /// `#[name` is an attribute, `name!` a macro, and `'a` a lifetime.
    pub(in super::super) const RUSTY: u32 = 1 << 5;
    /// `#name` at the start of a line speaks to the preprocessor.
    pub(in super::super) const PREPROCESSOR: u32 = 1 << 6;
    /// Lines are commands.
    pub(in super::super) const SHELL: u32 = 1 << 7;
    /// A string before a colon is a key.
    pub(in super::super) const COLON_KEYS: u32 = 1 << 8;
    /// A word before `=` at the start of a line is a key, and `[…]` there a section.
    pub(in super::super) const EQUAL_KEYS: u32 = 1 << 9;
    /// Selectors, properties, colours.
    pub(in super::super) const STYLES: u32 = 1 << 10;
    /// Template strings with code in them, and regular expressions between slashes.
    pub(in super::super) const SCRIPT: u32 = 1 << 11;
    /// `:name` is a value.
    pub(in super::super) const ATOMS: u32 = 1 << 12;
    /// Letters before a quote belong to the string; an `r` among them makes it raw.
    pub(in super::super) const PREFIXES: u32 = 1 << 13;
    /// Strings and comments in long brackets, `[==[`.
    pub(in super::super) const LONG_BRACKETS: u32 = 1 << 14;
    /// A word before a colon at the start of a line is a target.
    pub(in super::super) const TARGETS: u32 = 1 << 15;
    /// A quote is part of a word, and else the beginning of a character.
    pub(in super::super) const PRIMES: u32 = 1 << 16;
    /// Words may end in `?` and `!`.
    pub(in super::super) const ASKING: u32 = 1 << 17;
    /// `-name` is a flag.
    pub(in super::super) const FLAGS: u32 = 1 << 18;
}

use has::*;

/// Comments as in C.
const SLASHES: (&[&str], &[(&str, &str)]) = (&["//"], &[("/*", "*/")]);
/// Comments as in a shell.
const HASH: (&[&str], &[(&str, &str)]) = (&["#"], &[]);

impl Language {
    /// Returns what a scanner must know of the language.
    pub(super) fn grammar(self) -> Grammar {
        use Language as L;
        let usual = CAPITALS | CALLS;
        let ((comments, blocks), quotes, traits): (_, &[Quote], u32) = match self {
            L::Rust => (SLASHES, &[OPEN_DOUBLE], usual | RUSTY | PREFIXES),
            L::Python => (HASH, &[LONG_DOUBLE, LONG_SINGLE, DOUBLE, SINGLE], usual | AT_NAMES | PREFIXES),
            L::JavaScript => (SLASHES, &[DOUBLE, SINGLE], usual | AT_NAMES | SCRIPT),
            L::Go => (SLASHES, &[DOUBLE, SINGLE, BACKTICK], usual),
            L::Java | L::Kotlin => (SLASHES, &[LONG_DOUBLE, DOUBLE, SINGLE], usual | AT_NAMES),
            L::Scala => (SLASHES, &[LONG_DOUBLE, DOUBLE, BACKTICK], usual | AT_NAMES | PRIMES),
            L::C => (SLASHES, &[DOUBLE, SINGLE], CALLS | PREPROCESSOR | PREFIXES),
            L::CSharp => (SLASHES, &[LONG_DOUBLE, VERBATIM, DOUBLE, SINGLE], usual | PREPROCESSOR),
            L::Swift => (SLASHES, &[LONG_DOUBLE, DOUBLE], usual | AT_NAMES),
            L::Dart => (SLASHES, &[LONG_DOUBLE, LONG_SINGLE, DOUBLE, SINGLE], usual | AT_NAMES | PREFIXES),
            L::Zig => ((&["//"], &[]), &[ZIG_LINE, DOUBLE, SINGLE], usual | AT_NAMES),
            L::Ruby => (HASH, &[OPEN_DOUBLE, OPEN_SINGLE, BACKTICK], usual | AT_NAMES | ATOMS | ASKING),
            L::Elixir => {
                (HASH, &[LONG_DOUBLE, LONG_SINGLE, OPEN_DOUBLE, SINGLE], usual | AT_NAMES | ATOMS | ASKING)
            }
            L::Php => ((&["//", "#"], &[("/*", "*/")]), &[OPEN_DOUBLE, OPEN_SINGLE], usual | DOLLARS),
            L::Lua => ((&["--"], &[]), &[DOUBLE, SINGLE], CALLS | LONG_BRACKETS),
            L::Sql => ((&["--"], &[("/*", "*/")]), &[RAW_SINGLE, PLAIN_DOUBLE], CALLS | FOLD),
            L::Shell | L::Docker => (HASH, &[OPEN_DOUBLE, RAW_SINGLE], SHELL | DOLLARS | FLAGS),
            L::PowerShell => (
                (&["#"], &[("<#", "#>")]),
                &[HERE_DOUBLE, HERE_SINGLE, TICKED, RAW_SINGLE],
                CALLS | FOLD | DOLLARS | FLAGS,
            ),
            L::Make => (HASH, &[DOUBLE, PLAIN_SINGLE], DOLLARS | TARGETS | FLAGS),
            L::Css => (SLASHES, &[DOUBLE, SINGLE], STYLES | AT_NAMES | DOLLARS | CALLS),
            L::Json => (SLASHES, &[DOUBLE, SINGLE], COLON_KEYS),
            L::Toml => (HASH, &[LONG_DOUBLE, LONG_RAW, DOUBLE, PLAIN_SINGLE], EQUAL_KEYS),
            L::Ini => ((&["#", ";"], &[]), &[DOUBLE], EQUAL_KEYS | DOLLARS),
            L::Haskell => ((&["--"], &[("{-", "-}")]), &[DOUBLE], CAPITALS | PRIMES),
            L::R => (HASH, &[OPEN_DOUBLE, OPEN_SINGLE], CALLS),
            // These have scanners of their own; what they leave to this one has no grammar.
            L::Html | L::Diff | L::Markdown | L::Yaml => ((&[], &[]), &[], 0),
        };
        let nests = matches!(self, L::Rust | L::Haskell | L::Swift | L::Kotlin | L::Scala | L::Dart);
        let (words, types) = self.words();
        Grammar { comments, blocks, nests, quotes, words, types, traits }
    }

    /// Returns the words of the language, and those that are types.
    fn words(self) -> (&'static [&'static str], &'static [&'static str]) {
        use Language as L;
        match self {
            L::Rust => (keywords::RUST, keywords::RUST_TYPES),
            L::Python => (keywords::PYTHON, keywords::PYTHON_TYPES),
            L::JavaScript => (keywords::JAVASCRIPT, keywords::JAVASCRIPT_TYPES),
            L::Go => (keywords::GO, keywords::GO_TYPES),
            L::Java => (keywords::JAVA, keywords::JAVA_TYPES),
            L::Kotlin => (keywords::KOTLIN, &[]),
            L::C => (keywords::C, keywords::C_TYPES),
            L::CSharp => (keywords::CSHARP, keywords::CSHARP_TYPES),
            L::Swift => (keywords::SWIFT, &[]),
            L::Ruby => (keywords::RUBY, &[]),
            L::Php => (keywords::PHP, keywords::PHP_TYPES),
            L::Lua => (keywords::LUA, &[]),
            L::Sql => (keywords::SQL, keywords::SQL_TYPES),
            L::Shell => (keywords::SHELL, &[]),
            L::PowerShell => (keywords::POWERSHELL, &[]),
            L::Docker => (keywords::DOCKER, &[]),
            L::Make => (keywords::MAKE, &[]),
            L::Css => (keywords::CSS, &[]),
            L::Json => (keywords::JSON, &[]),
            L::Toml | L::Ini => (keywords::TOML, &[]),
            L::Elixir => (keywords::ELIXIR, &[]),
            L::Haskell => (keywords::HASKELL, &[]),
            L::Scala => (keywords::SCALA, &[]),
            L::R => (keywords::R, &[]),
            L::Dart => (keywords::DART, keywords::DART_TYPES),
            L::Zig => (keywords::ZIG, keywords::ZIG_TYPES),
            L::Yaml => (keywords::TOML, &[]),
            L::Html | L::Diff | L::Markdown => (&[], &[]),
        }
    }
}

//! The grammar of each language: comments, strings, keywords and special syntax.

use super::{Language, keywords};

/// The delimiters of a kind of string.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// The escape character. `None` if there is none.
    pub(super) escape: Option<u8>,
    /// `true` if the string may span several lines.
    pub(super) multiline: bool,
}

/// Creates a kind of string whose opening and closing delimiters are equal.
const fn quote(open: &'static str, escape: Option<u8>, multiline: bool) -> Quote {
    Quote { open, close: open, escape, multiline }
}

/// The escape character of most languages.
const BACKSLASH: Option<u8> = Some(b'\\');
const DOUBLE: Quote = quote("\"", BACKSLASH, false);
const SINGLE: Quote = quote("'", BACKSLASH, false);
const BACKTICK: Quote = quote("`", None, true);
const LONG_DOUBLE: Quote = quote("\"\"\"", BACKSLASH, true);
const LONG_SINGLE: Quote = quote("'''", BACKSLASH, true);
const OPEN_DOUBLE: Quote = quote("\"", BACKSLASH, true);
const OPEN_SINGLE: Quote = quote("'", BACKSLASH, true);
const RAW_SINGLE: Quote = quote("'", None, true);
const VERBATIM: Quote = Quote { open: "@\"", close: "\"", escape: None, multiline: true };
const HERE_DOUBLE: Quote = Quote { open: "@\"\n", close: "\n\"@", escape: None, multiline: true };
const HERE_SINGLE: Quote = Quote { open: "@'\n", close: "\n'@", escape: None, multiline: true };
const ZIG_LINE: Quote = Quote { open: "\\\\", close: "\n", escape: None, multiline: false };
const PLAIN_DOUBLE: Quote = quote("\"", None, false);
const PLAIN_SINGLE: Quote = quote("'", None, false);
const LONG_RAW: Quote = quote("'''", None, true);
const TICKED: Quote = quote("\"", Some(b'`'), true);

/// Everything that the lexer needs to know about a language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grammar {
    pub(super) line_comments: &'static [&'static str],
    /// The opening and closing delimiters of block comments.
    pub(super) block_comments: &'static [(&'static str, &'static str)],
    /// `true` if block comments can be nested.
    pub(super) nested_comments: bool,
    /// Kinds of strings. Longer delimiters precede their prefixes.
    pub(super) quotes: &'static [Quote],
    pub(super) keywords: &'static [&'static str],
    /// The built-in types.
    pub(super) types: &'static [&'static str],
    /// Flags of [`feature`].
    pub(super) features: u32,
}

/// Flags for special syntax, combined in [`Grammar::features`].
pub(super) mod feature {
    /// Capitalized words are types.
    pub(in super::super) const CAPITALIZED_TYPES: u32 = 1;
    /// A word before `(` is a function.
    pub(in super::super) const CALLS: u32 = 1 << 1;
    /// Keywords are case-insensitive.
    pub(in super::super) const CASE_INSENSITIVE: u32 = 1 << 2;
    /// `$name` is a variable.
    pub(in super::super) const DOLLAR_VARIABLES: u32 = 1 << 3;
    /// `@name` is a decorator or a variable.
    pub(in super::super) const AT_NAMES: u32 = 1 << 4;
    /// `#[name` is an attribute, `name!` a macro, and `'a` a lifetime.
    pub(in super::super) const RUST_SYNTAX: u32 = 1 << 5;
    /// `#name` at the start of a line is a preprocessor directive.
    pub(in super::super) const PREPROCESSOR: u32 = 1 << 6;
    /// Lines are commands.
    pub(in super::super) const SHELL: u32 = 1 << 7;
    /// A string before a colon is a key.
    pub(in super::super) const COLON_KEYS: u32 = 1 << 8;
    /// At the start of a line a word before `=` is a key, and `[…]` is a section.
    pub(in super::super) const EQUAL_KEYS: u32 = 1 << 9;
    /// Style sheets: selectors, properties, colours.
    pub(in super::super) const STYLESHEET: u32 = 1 << 10;
    /// Template strings with code in them, and regular expressions between slashes.
    pub(in super::super) const SCRIPT: u32 = 1 << 11;
    /// `:name` is a value.
    pub(in super::super) const ATOMS: u32 = 1 << 12;
    /// Letters before a quote belong to the string. An `r` makes the string raw.
    pub(in super::super) const PREFIXES: u32 = 1 << 13;
    /// Strings and comments in long brackets, `[==[`.
    pub(in super::super) const LONG_BRACKETS: u32 = 1 << 14;
    /// A word before a colon at the start of a line is a target.
    pub(in super::super) const TARGETS: u32 = 1 << 15;
    /// A single quote within a word belongs to the word; elsewhere it starts a character.
    pub(in super::super) const PRIMES: u32 = 1 << 16;
    /// Words may end in `?` and `!`.
    pub(in super::super) const MARK_SUFFIXES: u32 = 1 << 17;
    /// `-name` is a flag.
    pub(in super::super) const FLAGS: u32 = 1 << 18;
}

use feature::*;

/// Line and block comments as in C.
const SLASHES: (&[&str], &[(&str, &str)]) = (&["//"], &[("/*", "*/")]);
/// Line comments as in a shell, and no block comments.
const HASH: (&[&str], &[(&str, &str)]) = (&["#"], &[]);

impl Language {
    /// Returns the grammar of the language.
    pub(super) fn grammar(self) -> Grammar {
        use Language as L;
        let common = CAPITALIZED_TYPES | CALLS;
        let ((line_comments, block_comments), quotes, features): (_, &[Quote], u32) = match self {
            L::Rust => (SLASHES, &[OPEN_DOUBLE], common | RUST_SYNTAX | PREFIXES),
            L::Python => (HASH, &[LONG_DOUBLE, LONG_SINGLE, DOUBLE, SINGLE], common | AT_NAMES | PREFIXES),
            L::JavaScript => (SLASHES, &[DOUBLE, SINGLE], common | AT_NAMES | SCRIPT),
            L::Go => (SLASHES, &[DOUBLE, SINGLE, BACKTICK], common),
            L::Java | L::Kotlin => (SLASHES, &[LONG_DOUBLE, DOUBLE, SINGLE], common | AT_NAMES),
            L::Scala => (SLASHES, &[LONG_DOUBLE, DOUBLE, BACKTICK], common | AT_NAMES | PRIMES),
            L::C => (SLASHES, &[DOUBLE, SINGLE], CALLS | PREPROCESSOR | PREFIXES),
            L::CSharp => (SLASHES, &[LONG_DOUBLE, VERBATIM, DOUBLE, SINGLE], common | PREPROCESSOR),
            L::Swift => (SLASHES, &[LONG_DOUBLE, DOUBLE], common | AT_NAMES),
            L::Dart => (SLASHES, &[LONG_DOUBLE, LONG_SINGLE, DOUBLE, SINGLE], common | AT_NAMES | PREFIXES),
            L::Zig => ((&["//"], &[]), &[ZIG_LINE, DOUBLE, SINGLE], common | AT_NAMES),
            L::Ruby => {
                (HASH, &[OPEN_DOUBLE, OPEN_SINGLE, BACKTICK], common | AT_NAMES | ATOMS | MARK_SUFFIXES)
            }
            L::Elixir => (
                HASH,
                &[LONG_DOUBLE, LONG_SINGLE, OPEN_DOUBLE, SINGLE],
                common | AT_NAMES | ATOMS | MARK_SUFFIXES,
            ),
            L::Php => {
                ((&["//", "#"], &[("/*", "*/")]), &[OPEN_DOUBLE, OPEN_SINGLE], common | DOLLAR_VARIABLES)
            }
            L::Lua => ((&["--"], &[]), &[DOUBLE, SINGLE], CALLS | LONG_BRACKETS),
            L::Sql => ((&["--"], &[("/*", "*/")]), &[RAW_SINGLE, PLAIN_DOUBLE], CALLS | CASE_INSENSITIVE),
            L::Shell | L::Docker => (HASH, &[OPEN_DOUBLE, RAW_SINGLE], SHELL | DOLLAR_VARIABLES | FLAGS),
            L::PowerShell => (
                (&["#"], &[("<#", "#>")]),
                &[HERE_DOUBLE, HERE_SINGLE, TICKED, RAW_SINGLE],
                CALLS | CASE_INSENSITIVE | DOLLAR_VARIABLES | FLAGS,
            ),
            L::Make => (HASH, &[DOUBLE, PLAIN_SINGLE], DOLLAR_VARIABLES | TARGETS | FLAGS),
            L::Css => (SLASHES, &[DOUBLE, SINGLE], STYLESHEET | AT_NAMES | DOLLAR_VARIABLES | CALLS),
            L::Json => (SLASHES, &[DOUBLE, SINGLE], COLON_KEYS),
            L::Toml => (HASH, &[LONG_DOUBLE, LONG_RAW, DOUBLE, PLAIN_SINGLE], EQUAL_KEYS),
            L::Ini => ((&["#", ";"], &[]), &[DOUBLE], EQUAL_KEYS | DOLLAR_VARIABLES),
            L::Haskell => ((&["--"], &[("{-", "-}")]), &[DOUBLE], CAPITALIZED_TYPES | PRIMES),
            L::R => (HASH, &[OPEN_DOUBLE, OPEN_SINGLE], CALLS),
            // These languages have tokenizers of their own.
            L::Html | L::Diff | L::Markdown | L::Yaml => ((&[], &[]), &[], 0),
        };
        let nested_comments =
            matches!(self, L::Rust | L::Haskell | L::Swift | L::Kotlin | L::Scala | L::Dart);
        let (keywords, types) = self.keywords();
        Grammar { line_comments, block_comments, nested_comments, quotes, keywords, types, features }
    }

    /// Returns the keywords of the language, then its built-in types. Both lists are sorted.
    fn keywords(self) -> (&'static [&'static str], &'static [&'static str]) {
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

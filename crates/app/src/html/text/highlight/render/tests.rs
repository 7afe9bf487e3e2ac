use proptest::prelude::*;

use super::code;
use crate::html::text::check;
use crate::html::text::highlight::Language;
use crate::text::clean;

/// One name for each language.
const ALL: [&str; 32] = [
    "rust",
    "python",
    "tsx",
    "go",
    "java",
    "kotlin",
    "c",
    "cpp",
    "cs",
    "swift",
    "ruby",
    "php",
    "lua",
    "sql",
    "bash",
    "powershell",
    "html",
    "css",
    "json",
    "yaml",
    "toml",
    "ini",
    "markdown",
    "docker",
    "make",
    "diff",
    "elixir",
    "haskell",
    "scala",
    "r",
    "dart",
    "zig",
];

#[test]
fn lines_are_numbered_outside_the_text() {
    let drawn = code("/* a\nb */ c\n", Language::named("c"), Some(9)).into_string();
    assert_eq!(
        drawn,
        "<pre class=\"code code-no\"><code><span class=\"ln\" data-n=\"9\"><span class=\"c\">/* a\n</span></span>\
         <span class=\"ln\" data-n=\"10\"><span class=\"c\">b */</span> c\n</span></code></pre>"
    );
    assert_eq!(code("", None, Some(1)).into_string(), "<pre class=\"code code-no\"><code></code></pre>");
    assert_eq!(
        code("<b>\0\u{202e}", None, None).into_string(),
        "<pre class=\"code\"><code>&lt;b&gt;␀&lt;U+202E&gt;</code></pre>"
    );
}

/// Draws text in a language, and expects to find all of it again.
fn draw(name: &str, text: &str, first: Option<u32>) {
    let language = Language::named(name);
    assert!(language.is_some(), "{name} is known");
    let shown = check::markup(&code(text, language, first).into_string());
    assert_eq!(shown, clean::text(text), "{name}: nothing is lost or added");
}

#[test]
fn what_is_never_closed_is_drawn_to_its_end() {
    for piece in ["\"", "/*", "${", "=/[", "<<A\n", "'\\", "r#\"", "a ("] {
        for name in ["rust", "tsx", "bash", "cpp"] {
            draw(name, &piece.repeat(100_000 / piece.len()), None);
        }
    }
}

#[test]
fn no_sign_is_lost_however_often_it_comes() {
    let pieces = [
        "\"",
        "'",
        "`",
        "/*",
        "(*",
        "{-",
        "<!--",
        "r#\"",
        "r##",
        "\"\"\"",
        "'''",
        "${",
        "`${",
        "$",
        "<<A\n",
        "<<",
        "/",
        "=/[",
        "[[",
        "[==",
        "--[",
        "@",
        "#",
        "#[",
        "'\\",
        "\\",
        "a(",
        "a ",
        "a:",
        "  ",
        "0",
        "0.",
        "1e+",
        "-",
        "- ",
        "{",
        "}",
        "<a ",
        "<",
        "<a b=\"",
        "<script>",
        "[a",
        "[\n",
        "R\"(",
        "R\"a",
        "é",
        ": |\n",
        "#a",
        "$a{",
        "x=",
        "@\"\n",
        "#include <",
        " a",
        "\t#",
    ];
    for name in ALL {
        for piece in pieces {
            draw(name, &piece.repeat(1000 / piece.len()), None);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_text_is_drawn_in_every_language(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "\"", "'", "`", "/*", "*/", "//", "#", "--", "{-", "-}", "<", ">", "</", "<script>", "</script>", "<!--", "-->", "\\", "\n", " ", "\t",
            "r#\"", "\"#", "r\"", "${", "}", "{", "$", "@", "a", "fn", "if", "Foo", "0x1", "1.5e-3", "(", ")", "[", "]", "=", ":", "-", "é", "漢",
            "<<EOF", "EOF", "[[", "]]", "[=[", "]=]", "|", ">", "&", "\"\"\"", "'''", "R\"x(", ")x\"", ": |", "- ", "+", "@@", "b'", "'a",
        ]), 0..60),
        first in prop::option::of(0u32..10),
    ) {
        for name in ALL {
            draw(name, &pieces.concat(), first);
        }
    }
}

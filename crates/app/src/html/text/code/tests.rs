use proptest::prelude::*;

use super::{render_code, render_json};
use crate::content::highlight::Language;
use crate::html::text::check;
use crate::text::clean;

/// One name per language.
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
    let rendered = render_code("/* a\nb */ c\n", Language::from_name("c"), Some(9)).into_string();
    assert_eq!(
        rendered,
        "<pre class=\"code code-numbered\"><code><span class=\"ln\" data-n=\"9\"><span class=\"c\">/* a\n</span></span>\
         <span class=\"ln\" data-n=\"10\"><span class=\"c\">b */</span> c\n</span></code></pre>"
    );
    assert_eq!(
        render_code("", None, Some(1)).into_string(),
        "<pre class=\"code code-numbered\"><code></code></pre>"
    );
    assert_eq!(
        render_code("<b>\0\u{202e}", None, None).into_string(),
        "<pre class=\"code\"><code>&lt;b&gt;␀&lt;U+202E&gt;</code></pre>"
    );
}

/// Renders text in a language and checks that the text is unchanged.
fn check_text(name: &str, text: &str, first: Option<u32>) {
    let language = Language::from_name(name);
    assert!(language.is_some(), "{name} is known");
    let shown = check::check_markup(&render_code(text, language, first).into_string());
    assert_eq!(shown, clean::text(text), "{name}: nothing is lost or added");
}

#[test]
fn unclosed_tokens_extend_to_the_end() {
    for piece in ["\"", "/*", "${", "=/[", "<<A\n", "'\\", "r#\"", "a ("] {
        for name in ["rust", "tsx", "bash", "cpp"] {
            check_text(name, &piece.repeat(100_000 / piece.len()), None);
        }
    }
}

#[test]
fn repeated_delimiters_are_preserved() {
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
            check_text(name, &piece.repeat(1000 / piece.len()), None);
        }
    }
}

#[test]
fn json_is_indented_if_it_is_valid() {
    assert_eq!(render_json("{a,b").into_string(), "<pre class=\"code\"><code>{a,b</code></pre>");
    let deep = format!("{}1,2{}", "[".repeat(100_000), "]".repeat(100_000));
    let rendered = render_json(&deep).into_string();
    assert!(rendered.contains("[[[") && rendered.contains("]]]"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_is_preserved_in_every_language(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "\"", "'", "`", "/*", "*/", "//", "#", "--", "{-", "-}", "<", ">", "</", "<script>", "</script>", "<!--", "-->", "\\", "\n", " ", "\t",
            "r#\"", "\"#", "r\"", "${", "}", "{", "$", "@", "a", "fn", "if", "Foo", "0x1", "1.5e-3", "(", ")", "[", "]", "=", ":", "-", "é", "漢",
            "<<EOF", "EOF", "[[", "]]", "[=[", "]=]", "|", ">", "&", "\"\"\"", "'''", "R\"x(", ")x\"", ": |", "- ", "+", "@@", "b'", "'a",
        ]), 0..60),
        first in prop::option::of(0u32..10),
    ) {
        for name in ALL {
            check_text(name, &pieces.concat(), first);
        }
    }
}

//! Tests of rendered text. Styles are written as `‹codes text›`.

mod real;

use anstream::adapter::strip_str;
use insta::assert_snapshot;
use proptest::prelude::*;
use rethread_engine::core::turn::{ToolCall, ToolResult};
use serde_json::{Value, json};

use super::call::print_call;
use super::markdown::render_markdown;
use super::page::{Margin, Page};
use super::styled::StyledText;
use super::{TextKind, output};
use crate::cli::style::{PLAIN, PROMPT, QUIET};

/// A width at which no line of code or table is broken.
const WIDE: usize = 100_000;

/// Collects the lines that `print` prints on a page.
fn collect(width: usize, print: impl FnOnce(&mut Page<'_>)) -> String {
    let mut lines = String::new();
    let mut emit = |line: &str| {
        assert!(!line.contains('\n'), "{line:?} is one line");
        lines.push_str(line);
        lines.push('\n');
        Ok(())
    };
    print(&mut Page::new(width, Margin::new(StyledText::default()), &mut emit));
    lines
}

fn render(source: &str, kind: TextKind, width: usize) -> String {
    let base = if kind == TextKind::Prompt { PROMPT } else { PLAIN };
    collect(width, |page| render_markdown(source, kind, base, page).expect("collecting cannot fail"))
}

/// Renders an answer at 40 columns, without styles.
fn render_plain(source: &str) -> String {
    strip_str(&render(source, TextKind::Answer, 40)).to_string()
}

fn render_call(name: &str, input: &Value, result: &str, is_error: bool) -> String {
    let result = ToolResult { text: result.to_owned(), is_error, ..ToolResult::default() };
    let call = ToolCall {
        name: name.to_owned(),
        input: input.to_string(),
        result: Some(result),
        ..ToolCall::default()
    };
    mark_styles(&collect(60, |page| print_call(&call, page).expect("collecting cannot fail")))
}

/// Replaces the escape codes of styles: `‹1;35 text›`.
fn mark_styles(painted: &str) -> String {
    let mut marked = String::new();
    let mut codes: Vec<&str> = Vec::new();
    for (idx, part) in painted.split("\u{1b}[").enumerate() {
        let Some((code, text)) = part.split_once('m').filter(|_| idx > 0) else {
            marked.push_str(part);
            continue;
        };
        if code == "0" {
            marked.push('›');
        } else {
            codes.push(code);
        }
        if !text.is_empty() && !codes.is_empty() {
            marked.push_str(&format!("‹{} ", codes.join(";")));
            codes.clear();
        }
        marked.push_str(text);
    }
    marked
}

#[test]
fn inline_elements_have_styles() {
    let source = "# One *two*\n\n### Three\n\nplain *it* **bo *both*** ~~del~~ `co de`\nnext  \nbroken";
    assert_snapshot!(mark_styles(&render(source, TextKind::Answer, 60)), @r#"
    ‹1;4;35 One ›‹1;3;4;35 two›

    ‹1;35 Three›

    plain ‹3 it› ‹1 bo ›‹1;3 both› ‹9 del› ‹2 `›‹36 co de›‹2 `› next
    broken
    "#);
}

#[test]
fn links_show_their_address() {
    let source = "[a](https://b.c) <https://d.e> [https://f.g](https://f.g) [h](i \"j\") ![k](l.png) [m][n] [o] <p@q.r>\n\n\
        [n]: https://s.t\n[o]: u \"v\"\n[unused]: w";
    assert_snapshot!(mark_styles(&render(source, TextKind::Answer, 200)), @r#"
    ‹4 a›‹2  (https://b.c)› ‹4 https://d.e› ‹4 https://f.g› ‹4 h›‹2  (i "j")› ‹2 [image: ›‹4 k›‹2 ] (l.png)› ‹4 m›‹2 [n]› ‹4 o› ‹4 p@q.r›

    ‹2 [n]: https://s.t›
    ‹2 [o]: u "v"›
    ‹2 [unused]: w›
    "#);
}

#[test]
fn blocks_are_separated_and_nested() {
    let source = "a\n- b that is so long that it is wrapped at the end\n  - c\n    1. d\n    12. e\n- f\n\n- [x] g\n- [ ] h\n\n> i\n>\n> - j\n> > k\n\n\
        ***\nl\n\n1. m\n\n   n\n2. o\n\n<b>\np\n</b>";
    assert_snapshot!(render_plain(source), @r#"
    a

    • b that is so long that it is wrapped
      at the end

      ◦ c
        1. d
        12. e

    • f

    ☑ g

    ☐ h

    │ i
    │
    │ • j
    │
    │ │ k

    ────────────────────────────────────────

    l

    1. m

       n

    2. o

    <b>
    p
    </b>
    "#);
}

#[test]
fn code_is_highlighted_and_not_wrapped_between_words() {
    let source = "x\n```rust,ignore\nfn a() { \"b\" } // c\n\nlet  a_very_long_line = is_broken(\"at the width\");\n```\n\n    indented\n\n```\n\ttab\n```";
    assert_snapshot!(mark_styles(&render(source, TextKind::Answer, 40)), @r#"
    x

    ‹2 rust,ignore›
      ‹35 fn› ‹34 a›() { ‹32 "b"› } ‹2 // c›

      ‹35 let›  a_very_long_line = ‹34 is_broken›(‹32 "at›
      ‹32 the width"›);

      indented

          tab
    "#);
}

#[test]
fn tables_are_aligned_by_display_width() {
    let source = "|a|bb|ccc|\n|-|:-:|-:|\n|漢字|cafe\u{301}|1|\n|👩\u{200d}🔬|x|23|";
    assert_snapshot!(mark_styles(&render(source, TextKind::Answer, 40)), @r#"
    ‹1 a›   ‹2  │ › ‹1 bb› ‹2  │ ›‹1 ccc›
    ‹2 ─────┼──────┼────›
    漢字‹2  │ ›café‹2  │ ›  1
    👩‍🔬  ‹2  │ › x  ‹2  │ › 23
    "#);
}

#[test]
fn wide_tables_are_narrowed_or_become_lists() {
    let source = "|name|what it does|\n|-|-|\n|show|prints a session turn by turn in the terminal|\n|ls|lists|more cells|";
    assert_snapshot!(render_plain(source), @r#"
    name │ what it does
    ─────┼──────────────────────────────────
    show │ prints a session turn by turn in
         │ the terminal
    ─────┼──────────────────────────────────
    ls   │ lists |more cells|
    "#);
    let columns =
        |cell: &str| format!("|{}\n", (1..=9).map(|n| format!("{cell}{n:04}|")).collect::<String>());
    let source = format!("{}|{}\n{}{}", columns("head"), "-|".repeat(9), columns("cell"), columns("next"));
    let rendered = render_plain(&source);
    assert!(rendered.starts_with("head0001: cell0001\nhead0002: cell0002\n"), "{rendered}");
    assert!(rendered.contains("head0009: cell0009\n\nhead0001: next0001\n"), "{rendered}");
}

#[test]
fn prompts_keep_line_breaks_and_names() {
    let source = "fix __init__ and\n  *this*\n- a\n  b **c**";
    assert_snapshot!(mark_styles(&render(source, TextKind::Prompt, 40)), @r#"
    ‹1;32 fix __init__ and›
      ‹1;3;32 this›

    ‹2 • ›‹1;32 a›
      ‹1;32 b ›‹1;4;32 c›
    "#);
}

#[test]
fn calls_show_diffs_commands_and_tasks() {
    let edit =
        json!({"file_path": "/x/a", "old_string": "one\ntwo three\n4\n", "new_string": "one\ntwo four\n4\n"});
    assert_snapshot!(render_call("Edit", &edit, "done", false), @r#"
    file_path: /x/a
      one
    ‹31 - ›‹31 two ›‹1;4;31 three›
    ‹32 + ›‹32 two ›‹1;4;32 four›
      4
    ‹2 │ ›‹2 done›
    "#);
    let edits = json!({"edits": [{"old_string": "a", "new_string": ""}, {"old_string": "b\r\n", "new_string": "b\n", "replace_all": true}, 7]});
    assert_snapshot!(render_call("MultiEdit", &edits, "", false), @r#"
    ‹2 edit 1›
    ‹31 - ›‹31 a›
    ‹2 edit 2›
    ‹2 only line endings or invisible characters differ›
    replace_all: true
    ‹2 edit 3›
    7
    "#);
    let bash = json!({"command": "echo \"a\" | \\\n wc -l", "timeout": 5});
    assert_snapshot!(render_call("Bash", &bash, "\u{1b}[31mred\u{1b}[0m plain\n1%\r2%\n", false), @r#"
    ‹32 $ ›‹34 echo› ‹32 "a"› | \
       wc ‹34 -l›
    timeout: 5
    ‹2 │ ›‹31 red›‹2  plain›
    ‹2 │ ›‹2 2%›
    "#);
    let todos = json!({"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}, {"content": "c"}]});
    assert_snapshot!(render_call("TodoWrite", &todos, "", false), @r#"
    ‹32 ✓ ›‹2 a›
    ‹33 ◐ ›b
    ○ c
    "#);
    assert_snapshot!(render_call("Write", &json!({"file_path": "a.py", "content": "x\n\ty\n"}), "no", true), @r#"
    file_path: a.py
    ‹32 + ›‹32 x›
    ‹32 + ›‹32     y›
    ‹2 │ ›‹31 no›
    "#);
    assert_snapshot!(render_call("Other", &json!({"a": "b\nc", "d": [1]}), "", false), @r#"
    a:
      b
      c
    d:
      [
        1
      ]
    "#);
}

#[test]
fn recorded_output_keeps_only_colours() {
    let show = |text: &str| {
        mark_styles(&collect(40, |page| {
            let omitted = output::print_output(text, QUIET, 3, page).expect("collecting cannot fail");
            page.print_line(&StyledText::new(PLAIN, &format!("+{omitted}"))).expect("collecting cannot fail");
        }))
    };
    let cases = [
        ("\n\n a \n\n", "‹2  a›\n+0\n"),
        ("1\n2\n3\n4\n5\n", "‹2 1›\n‹2 2›\n‹2 3›\n+2\n"),
        ("\u{1b}[1;4;91mx\u{1b}[22my\u{1b}[mz", "‹1;4;91 x›‹4;91 y›‹2 z›\n+0\n"),
        ("\u{1b}[38;5;208;48;5;17mx", "‹38;5;208;48;5;17 x›\n+0\n"),
        ("\u{1b}[30;40mhidden", "‹30 hidden›\n+0\n"),
        ("\u{1b}[8mconcealed", "‹2 concealed›\n+0\n"),
        ("\u{1b}[2J\u{1b}]0;t\u{7}a\u{1b}[5;5Hb\u{202e}\0", "‹2 ab<U+202E>␀›\n+0\n"),
    ];
    for (text, shown) in cases {
        assert_eq!(show(text), shown, "{text:?}");
    }
}

/// Panics if painted text contains anything but text and colour sequences.
fn check_safe(painted: &str) {
    let text = strip_str(painted).to_string();
    let hostile = text.chars().find(|c| crate::cli::clean::is_hostile(*c) || *c == '\t');
    assert_eq!(hostile, None, "{painted:?}");
    assert_eq!(crate::cli::clean::filter_output(painted), painted, "the last filter changes nothing");
}

/// Pieces of Markdown and of control sequences.
const PIECES: &[&str] = &[
    "<",
    ">",
    "\"",
    "`",
    "``",
    "```",
    "```rust ",
    "~~~",
    "*",
    "**",
    "_",
    "__",
    "[",
    "]",
    "(",
    ")",
    "![",
    "](",
    "|",
    "-",
    "|-|-|",
    ":-:",
    "\n",
    "\n\n",
    "  ",
    "    ",
    "> ",
    "- ",
    "* ",
    "1. ",
    "23) ",
    "# ",
    "## ",
    "---",
    "===",
    "\\",
    "~~",
    "[x]: ",
    "[x] ",
    "[ ] ",
    "<!--",
    "-->",
    "<b ",
    "<https://",
    "https://",
    "\t",
    "  \n",
    ":",
    "/",
    "é",
    "漢",
    "👩\u{200d}🔬",
    "e\u{301}",
];

const HOSTILE: &[&str] = &[
    "\u{1b}[31m",
    "\u{1b}[2J",
    "\u{1b}]8;;x\u{7}",
    "\u{1b}",
    "\u{9b}2J",
    "\u{90}",
    "\u{85}",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{2028}",
    "\0",
    "\r",
    "\u{8}",
    "\u{7f}",
    "&#27;",
    "&#27;[2J",
    "&#x9b;",
    "&#x202e;",
    "&#10;",
    "&#9;",
    "&#13;",
    "&lt;",
    "[31m",
    "\u{e0041}",
];

fn count_words(text: &str, word: &str) -> usize {
    text.matches(word).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_control_character_is_printed(
        pieces in prop::collection::vec(
            prop_oneof![
                prop::sample::select(PIECES).prop_map(str::to_owned),
                prop::sample::select(HOSTILE).prop_map(str::to_owned),
                prop::collection::vec(any::<u8>(), 1..6).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
                any::<char>().prop_map(String::from),
            ],
            0..60,
        ),
        width in 40usize..130,
    ) {
        let text = pieces.concat();
        check_safe(&render(&text, TextKind::Answer, width));
        check_safe(&render(&text, TextKind::Prompt, width));
        let half = text.floor_char_boundary(text.len() / 2);
        for (name, input) in [
            ("Edit", json!({"old_string": &text[..half], "new_string": &text[half..], &text: 1})),
            ("Bash", json!({"command": text})),
            ("TodoWrite", json!({"todos": [{"content": text, "status": "completed"}]})),
            ("Write", json!({"content": text, "x": [&text]})),
            ("Other", Value::String(text.clone())),
        ] {
            let result = ToolResult { text: text.clone(), ..ToolResult::default() };
            let call = ToolCall { name: name.to_owned(), input: input.to_string(), result: Some(result), ..ToolCall::default() };
            check_safe(&collect(width, |page| print_call(&call, page).expect("collecting cannot fail")));
        }
    }

    #[test]
    fn no_word_is_lost(
        pieces in prop::collection::vec((prop::sample::select(PIECES), any::<bool>()), 0..60),
        is_prompt in any::<bool>(),
    ) {
        let words: Vec<String> = (0..pieces.len()).map(|idx| format!("w{idx}x")).collect();
        let mut source = String::new();
        for ((piece, has_word), word) in pieces.iter().zip(&words) {
            source.push_str(piece);
            source.push_str(if *has_word { word } else { "" });
        }
        let kind = if is_prompt { TextKind::Prompt } else { TextKind::Answer };
        // A word is broken only if the text between two spaces is wider than a line.
        let is_broken = source.split_whitespace().any(|chunk| chunk.len() > 80);
        let wide = strip_str(&render(&source, kind, WIDE)).to_string();
        for word in words.iter().filter(|_| !is_broken) {
            prop_assert!(count_words(&wide, word) >= count_words(&source, word), "`{word}` of {source:?} in\n{wide}");
        }
        let narrow = strip_str(&render(&source, kind, 40)).to_string();
        let letters = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).count();
        prop_assert!(letters(&narrow) >= words.iter().map(|word| count_words(&source, word) * word.len()).sum::<usize>());
        prop_assert!(narrow.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 100), "{narrow}");
    }
}

#[test]
fn output_grows_linearly() {
    for piece in PIECES.iter().chain(&["[a](", "> - ", "|a", "*a **b ", "a\n", "1. a\n", "| a\n|-\n"]) {
        let [short, long] = [2_000, 8_000].map(|len| {
            let source = piece.repeat(len / piece.len());
            render(&source, TextKind::Prompt, 80).len()
        });
        assert!(long <= 5 * short + 4_000, "{piece:?}: {short} became {long}");
    }
}

use proptest::prelude::*;

use super::{MAX_BYTES, render_prompt, render_prose};
use crate::html::text::check;

fn body(markup: maud::Markup) -> String {
    let markup = markup.into_string();
    check::check_markup(&markup);
    markup
        .strip_prefix("<div class=\"md\">")
        .and_then(|m| m.strip_suffix("</div>"))
        .expect("a frame")
        .to_owned()
}

#[test]
fn markdown_becomes_markup() {
    let cases = [
        ("one\ntwo\n\nthree", "<p>one\ntwo</p><p>three</p>"),
        ("a  \nb\\\nc", "<p>a<br>b<br>c</p>"),
        ("# a\n## b\n### c\n#### d\n###### e", "<h3>a</h3><h4>b</h4><h5>c</h5><h6>d</h6><h6>e</h6>"),
        (
            "*a* **b** ~~c~~ `d <e>`",
            "<p><em>a</em> <strong>b</strong> <del>c</del> <code>d &lt;e&gt;</code></p>",
        ),
        ("- a\n- b\n  - c", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>"),
        ("3. a\n4. b", "<ol start=\"3\"><li>a</li><li>b</li></ol>"),
        (
            "- [x] a\n- [ ] b",
            "<ul><li><span class=\"md-task\">☑</span> a</li><li><span class=\"md-task\">☐</span> b</li></ul>",
        ),
        ("> a\n\n---", "<blockquote><p>a</p></blockquote><hr>"),
        (
            "|a|b|c|\n|-|:-:|-:|\n|1|2|3|",
            "<div class=\"md-table\"><table><thead><tr><th>a</th><th class=\"md-center\">b</th><th class=\"md-right\">c</th></tr></thead>\
             <tbody><tr><td>1</td><td class=\"md-center\">2</td><td class=\"md-right\">3</td></tr></tbody></table></div>",
        ),
        ("    x < y", "<pre class=\"code\"><code>x &lt; y</code></pre>"),
        (
            "```rust,ignore\nfn a\n```",
            "<div class=\"md-code\" data-lang=\"rust\"><pre class=\"code\"><code><span class=\"k\">fn</span> a\n</code></pre></div>",
        ),
        (
            "[a *b*](https://c.d/?e=1&f=\"2\" \"title\")",
            "<p><a href=\"https://c.d/?e=1&amp;f=&quot;2&quot;\" rel=\"noopener noreferrer\" target=\"_blank\">a <em>b</em></a></p>",
        ),
        ("[a](b.html) [c](#d)", "<p><span class=\"md-link\">a</span> <span class=\"md-link\">c</span></p>"),
        (
            "![a *b* c](https://d.e)",
            "<p><a href=\"https://d.e\" rel=\"noopener noreferrer\" target=\"_blank\">[image: a b c]</a></p>",
        ),
        ("![](d.png)", "<p><span class=\"md-link\">[image]</span></p>"),
        (
            "[![a](b.png)](https://c.d)",
            "<p><a href=\"https://c.d\" rel=\"noopener noreferrer\" target=\"_blank\">[image: a]</a></p>",
        ),
        (
            "see https://a.b/c_d_e, ok",
            "<p>see <a href=\"https://a.b/c_d_e\" rel=\"noopener noreferrer\" target=\"_blank\">https://a.b/c_d_e</a>, ok</p>",
        ),
        (
            "<me@a.b>",
            "<p><a href=\"mailto:me@a.b\" rel=\"noopener noreferrer\" target=\"_blank\">me@a.b</a></p>",
        ),
        (
            "<b>x</b>\n\n<div>\n*y*\n</div>",
            "<p>&lt;b&gt;x&lt;/b&gt;</p><p class=\"md-html\">&lt;div&gt;<br>*y*<br>&lt;/div&gt;</p>",
        ),
        ("a \u{1b}[31mred\u{1b}[0m b\u{202e}c &#27;&#x202e;", "<p>a red b&lt;U+202E&gt;c &lt;U+202E&gt;</p>"),
        ("", ""),
    ];
    for (markdown, markup) in cases {
        assert_eq!(body(render_prose(markdown)), markup, "{markdown}");
    }
}

#[test]
fn prompts_keep_line_breaks_and_names() {
    let cases = [
        ("one\ntwo", "<p>one<br>two</p>"),
        ("{\n  \"a\": [\n\t1", "<p>{<br>\u{a0}\u{a0}&quot;a&quot;: [<br>\u{a0}\u{a0}\u{a0}\u{a0}1</p>"),
        ("see @src/a.rs, me@b.c", "<p>see <span class=\"md-file\">@src/a.rs</span>, me@b.c</p>"),
        ("fix src/__init__.py and _x_ *y*", "<p>fix src/__init__.py and _x_ <em>y</em></p>"),
        ("@src/__init__.py", "<p><span class=\"md-file\">@src/__init__.py</span></p>"),
    ];
    for (text, markup) in cases {
        assert_eq!(body(render_prompt(text)), markup, "{text}");
    }
}

#[test]
fn hostile_markdown_stays_text() {
    let hostile = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)><a xlink:href=\"javascript:alert(1)\">x</a></svg>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java&#x0A;script:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](<java\tscript:alert(1)>)",
        "[x](javascript&colon;alert(1))",
        "[x](\\javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x) [x](file:///etc/passwd) [x](//evil.example)",
        "[x](https://a.b\" onclick=\"alert(1))",
        "<javascript:alert(1)>",
        "<https://a.b\"onclick=alert(1)>",
        "![x](javascript:alert(1))",
        "![x\" onerror=\"alert(1)](https://a.b)",
        "[x]\n\n[x]: javascript:alert(1)",
        "https://a.b/\"onmouseover=\"alert(1)",
        "https://a.b/<script>",
        "```\"><script>alert(1)</script>\nx\n```",
        "```<img/src=x>\nx\n```",
        "`<script>`",
        "|<b>|\n|-|\n|<script>|",
        "<!-- --><script>alert(1)</script>",
        "<![CDATA[<script>]]>",
        "&lt;script&gt; &#60;script&#62;",
        "[<img src=x onerror=alert(1)>](https://a.b)",
        "[a [b](https://c.d) e](https://f.g)",
        "@<script>/a.b",
    ];
    for text in hostile {
        for markup in [render_prose(text), render_prompt(text)] {
            check::check_markup(&markup.into_string());
        }
    }
}

#[test]
fn depth_is_bounded() {
    for piece in ["> ", "- ", "1. ", "*a **b ", "[", "![", "~~a "] {
        let text = piece.repeat(3000);
        check::check_markup(&render_prose(&format!("{text}x")).into_string());
    }
}

#[test]
fn markup_grows_linearly() {
    let pieces = [
        "[",
        "[[",
        "*",
        "**a",
        "_a_",
        "> ",
        "|",
        "|-",
        "`",
        "``a",
        "<",
        "<a ",
        "![",
        "](",
        "[a](",
        "&",
        "&#",
        "http://",
        "http://.",
        "https://a(",
        "@",
        "@a/",
        "\\",
        "~",
        "- ",
        "1. ",
        "#",
        "# a\n",
        "a\n",
        "\n",
        "| a\n|-\n",
        "[a]: b\n",
        "<!--",
        "$",
        "\t",
        "```\n",
        "~~~\n> ",
        "a  \n",
        "<https://a",
        "[a]",
        "é",
        "\u{202e}",
        "\u{1b}[",
        "&#27;",
    ];
    for piece in pieces {
        let text = |len: usize| piece.repeat(len / piece.len());
        check::check_linear_growth(text, |text| render_prompt(text).into_string(), MAX_BYTES / 64);
        check::check_markup(&render_prompt(&text(MAX_BYTES + 100)).into_string());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_valid_markup(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "<", ">", "\"", "'", "&", "`", "```", "*", "_", "[", "]", "(", ")", "!", "|", "-", "\n", "\n\n", "  ", "    ", "> ", "- ", "1. ",
            "# ", "a", "javascript:", "https://a.b", "<script>", "</p>", "&#60;", "&lt;", "\u{202e}", "\u{1b}[31m", "é", "漢", "@a/b.c",
            "onclick=", "~~", "\\", "|-|", "[x]: ", "<!--", "-->", "<b x=", "mailto:", "\r", "\0", ":", "/",
        ]), 0..60),
    ) {
        let text = pieces.concat();
        check::check_markup(&render_prose(&text).into_string());
        check::check_markup(&render_prompt(&text).into_string());
    }
}

use super::{render_diff, render_hunks};
use crate::content::diff::Hunk;
use crate::content::highlight::Language;
use crate::html::text::check;

fn rows(markup: maud::Markup) -> Vec<String> {
    let markup = markup.into_string();
    check::check_markup(&markup);
    // The class depends on the number of digits of the line numbers.
    let (class, inner) =
        markup.strip_prefix("<pre class=\"").and_then(|rest| rest.split_once("\">")).expect("a frame");
    assert!(class == "patch" || class.starts_with("patch digits-"), "{class}");
    let inner = inner.strip_suffix("</pre>").expect("a frame");
    inner
        .split_inclusive("\n</span>")
        .map(|row| row.replace("\n</span>", "").replace("<span class=\"pl", "<"))
        .collect()
}

#[test]
fn changed_lines_have_numbers_and_marked_words() {
    let old = "fn a() {\n    let x = 1;\n}\n";
    let new = "fn a() {\n    let y = 1;\n    b();\n}\n";
    assert_eq!(
        rows(render_diff(old, new, None)),
        [
            "<\"><span class=\"pn\" data-o=\"1\" data-n=\"1\"></span> fn a() {",
            "< pl-del\"><span class=\"pn\" data-o=\"2\"></span>-    let <span class=\"pw\">x</span> = 1;",
            "< pl-add\"><span class=\"pn\" data-n=\"2\"></span>+    let <span class=\"pw\">y</span> = 1;",
            "< pl-add\"><span class=\"pn\" data-n=\"3\"></span>+    b();",
            "<\"><span class=\"pn\" data-o=\"3\" data-n=\"4\"></span> }",
        ]
    );
}

#[test]
fn both_sides_are_highlighted() {
    let rendered = rows(render_diff("let a = \"b\";", "let a = \"c\";", Language::from_name("rust")));
    assert_eq!(
        rendered[0],
        "< pl-del\"><span class=\"pn\" data-o=\"1\"></span>-<span class=\"k\">let</span> a = <span class=\"s\">&quot;</span>\
         <span class=\"s pw\">b</span><span class=\"s\">&quot;</span>;"
    );
    assert!(rendered[1].contains("<span class=\"s pw\">c</span>"));
}

#[test]
fn unchanged_lines_are_omitted() {
    let old = (1..=30).map(|n| format!("{n}\n")).collect::<String>();
    let new = old.replace("15\n", "fifteen\n");
    let rendered = rows(render_diff(&old, &new, None));
    assert_eq!(rendered.len(), 10);
    assert_eq!([&rendered[0], &rendered[9]], ["< pl-gap\">⋯ 11 lines", "< pl-gap\">⋯ 12 lines"]);
}

#[test]
fn hunks_keep_their_line_numbers() {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    let given = [
        Hunk {
            old_start: 10,
            new_start: 10,
            lines: lines(&[" a", "-b<", "+c\rd", "\\ No newline at end of file"]),
        },
        Hunk { old_start: 20, new_start: 20, lines: lines(&["", "+漢"]) },
    ];
    assert_eq!(
        rows(render_hunks(&given, None)),
        [
            "<\"><span class=\"pn\" data-o=\"10\" data-n=\"10\"></span> a",
            "< pl-del\"><span class=\"pn\" data-o=\"11\"></span>-b&lt;",
            "< pl-add\"><span class=\"pn\" data-n=\"11\"></span>+c␍d",
            "< pl-gap\">⋯ 8 lines",
            "<\"><span class=\"pn\" data-o=\"20\" data-n=\"20\"></span> ",
            "< pl-add\"><span class=\"pn\" data-n=\"21\"></span>+漢",
        ]
    );
}

#[test]
fn empty_and_extreme_input_is_rendered() {
    assert_eq!(rows(render_diff("", "", None)), Vec::<String>::new());
    assert_eq!(rows(render_diff("", "a", None)), ["< pl-add\"><span class=\"pn\" data-n=\"1\"></span>+a"]);
    let ends = check::check_markup(&render_diff("a\r\nb", "a\nb", None).into_string());
    assert_eq!(ends, "only line endings or invisible characters differ");
    let far = [Hunk {
        old_start: u32::MAX,
        new_start: u32::MAX,
        lines: vec!["-a".to_owned(), "+b".to_owned(), " c".to_owned()],
    }];
    assert_eq!(rows(render_hunks(&far, None)).len(), 3);
}

#[test]
fn markup_size_is_proportional_to_the_change() {
    let many = |from: u32, step: u32| {
        (0..19_000).map(|n| format!("{}\n", (from + n * step) % 97)).collect::<String>()
    };
    let pairs = [
        (many(0, 1), many(5, 13)),
        ("x\n".repeat(19_000), "y\n".repeat(19_000)),
        ("x\ny\n".repeat(9_000), "y\nz\nx\n".repeat(6_000)),
        ("a\n".repeat(30_000), "b\n".repeat(30_000)),
        ("a ".repeat(1_000_000), "b ".repeat(1_000_000)),
    ];
    for (old, new) in pairs {
        let rendered = render_diff(&old, &new, Language::from_name("rust")).into_string();
        check::check_markup(&rendered);
        let lines = old.lines().count() + new.lines().count();
        assert!(rendered.len() <= 2 * (old.len() + new.len()) + 120 * lines, "{} bytes", rendered.len());
    }
}

use super::super::row::Hunk;
use super::{hunks, patch};
use crate::html::text::{Language, check};

fn rows(markup: maud::Markup) -> Vec<String> {
    let markup = markup.into_string();
    check::markup(&markup);
    let inner =
        markup.strip_prefix("<pre class=\"patch\">").and_then(|m| m.strip_suffix("</pre>")).expect("a frame");
    inner
        .split_inclusive("\n</span>")
        .map(|row| row.replace("\n</span>", "").replace("<span class=\"pl", "<"))
        .collect()
}

#[test]
fn a_change_is_drawn_with_its_numbers() {
    let old = "fn a() {\n    let x = 1;\n}\n";
    let new = "fn a() {\n    let y = 1;\n    b();\n}\n";
    assert_eq!(
        rows(patch(old, new, None)),
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
fn words_have_their_colours_on_both_sides() {
    let drawn = rows(patch("let a = \"b\";", "let a = \"c\";", Language::named("rust")));
    assert_eq!(
        drawn[0],
        "< pl-del\"><span class=\"pn\" data-o=\"1\"></span>-<span class=\"k\">let</span> a = <span class=\"s\">&quot;</span>\
         <span class=\"s pw\">b</span><span class=\"s\">&quot;</span>;"
    );
    assert!(drawn[1].contains("<span class=\"s pw\">c</span>"));
}

#[test]
fn what_did_not_change_is_left_out() {
    let old = (1..=30).map(|n| format!("{n}\n")).collect::<String>();
    let new = old.replace("15\n", "fifteen\n");
    let drawn = rows(patch(&old, &new, None));
    assert_eq!(drawn.len(), 10);
    assert_eq!([&drawn[0], &drawn[9]], ["< pl-gap\">⋯ 11 lines", "< pl-gap\">⋯ 12 lines"]);
}

#[test]
fn hunks_are_drawn_where_they_stand() {
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
        rows(hunks(&given, None)),
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
fn edges_are_drawn_too() {
    assert_eq!(rows(patch("", "", None)), Vec::<String>::new());
    assert_eq!(rows(patch("", "a", None)), ["< pl-add\"><span class=\"pn\" data-n=\"1\"></span>+a"]);
    let ends = check::markup(&patch("a\r\nb", "a\nb", None).into_string());
    assert_eq!(ends, "only line ends or invisible characters differ");
    let far = [Hunk {
        old_start: u32::MAX,
        new_start: u32::MAX,
        lines: vec!["-a".to_owned(), "+b".to_owned(), " c".to_owned()],
    }];
    assert_eq!(rows(hunks(&far, None)).len(), 3);
}

#[test]
fn large_changes_are_drawn_in_markup_of_their_size() {
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
        let drawn = patch(&old, &new, Language::named("rust")).into_string();
        check::markup(&drawn);
        let lines = old.lines().count() + new.lines().count();
        assert!(drawn.len() <= 2 * (old.len() + new.len()) + 120 * lines, "{} bytes", drawn.len());
    }
}

//! Accessibility problems are found, and an accessible page has none.

use rethread_testkit::browser::{Browser, EmulatedMedia};

use crate::panic_message;
use crate::server::{TestServer, valid_page};

/// A page with an accessible example for every rule.
const ACCESSIBLE_PAGE: &str = "<style>
    :root { color-scheme: light dark }
    body { background: #fff; color: #222 }
    @media (prefers-color-scheme: dark) { body { background: #111; color: #ddd } }
    .muted { color: #767676; background: #fff } .big { font-size: 24px; color: #949494; background: white }
    .bold { font-size: 19px; font-weight: 700; color: rgb(0 0 0 / 0.45); background: white }
    .picture { background: linear-gradient(red, blue); color: red }
    .sr-only { position: absolute; width: 1px; height: 1px; overflow: hidden; color: #fff }
    .wide { overflow-x: auto } .wide div { width: 5000px } .gone { display: none; color: #fff }
    .mix { background: color-mix(in srgb, white 90%, black); color: oklch(0.3 0 0) }
    h3::before { content: '→'; color: #eee } h3::after { content: '7'; color: #000; background: #eee }
    input { background: #fff; color: #222 } ::placeholder { color: #666 }
    </style>
    <h2 id=two>Two</h2><h3>Three</h3><h2>Two</h2>
    <p class=muted>muted</p><p class=big>big</p><p class=bold>bold</p><p class=picture>picture</p><p class=gone>gone</p>
    <p class=mix>mix</p><a href=/a><span class=sr-only>words</span><span aria-hidden=true>→</span></a>
    <a href=/b><img alt=picture src=data:,></a><button aria-label=Close>×</button><button aria-labelledby=two></button>
    <button><svg width=9 height=9><title>Draw</title><path d='M0 0h9v9z'/></svg></button><img alt='' src=data:,>
    <svg role=img aria-label=Chart width=90 height=30><rect width=40 height=30 fill=black /><text x=2 y=20 fill=white>bar</text>
    <text x=50 y=20 fill=currentColor>axis</text></svg>
    <label>Name <input placeholder='a name'></label><label for=s>Sort</label><select id=s><option>one</option></select>
    <input type=submit><input type=hidden name=t><textarea aria-label=Text></textarea><button disabled style='color: #ccc'>no</button>
    <details><summary>More</summary><p>inside</p></details><div class=wide tabindex=0>code<div>long</div></div>
    <p tabindex=-1></p><div role=button tabindex=0>Do</div><p aria-describedby='two s'>text</p>
    <ul role=listbox aria-label=Hits id=hits><li role=none><a role=option aria-selected=false href=/c>hit</a></li></ul>
    <input role=combobox aria-label=Find aria-expanded=true aria-controls=hits><ul><li role=listitem>item</li></ul>
    <div role=tablist><button role=tab aria-selected=true>Tab</button></div>
    <div role=menu><div role=group><div role=menuitem>Item</div></div></div>
    <table><tr><td role=cell>cell</td></tr></table><input type=checkbox role=switch aria-label=On>";

#[test]
fn accessible_page_has_no_findings() {
    let Some(browser) = Browser::shared() else { return };
    let server = TestServer::with_body(ACCESSIBLE_PAGE);
    let page = browser.open_page();
    page.goto(&server.url("/"));
    for (dark, width) in [(false, 1280), (true, 1280), (true, 360)] {
        page.emulate(EmulatedMedia { dark, ..EmulatedMedia::default() });
        page.resize(width, 800, width < 500);
        page.assert_accessible();
    }
    page.emulate(EmulatedMedia { print: true, ..EmulatedMedia::default() });
    page.assert_accessible();
}

#[test]
fn every_accessibility_problem_is_found() {
    let Some(browser) = Browser::shared() else { return };
    let cases = [
        ("<a href=/a class=x></a>", "name: `body > main > a.x` has no accessible name"),
        ("<button id=b><span aria-hidden=true>×</span></button>", "name: `button#b` has no accessible name"),
        ("<button><img alt='' src=data:,></button>", "name: `body > main > button` has no accessible name"),
        (
            "<button aria-labelledby=e></button><p id=e></p>",
            "name: `body > main > button` has no accessible name",
        ),
        (
            "<details><summary></summary>x</details>",
            "name: `main > details > summary` has no accessible name",
        ),
        ("<div role=button></div>", "name: `body > main > div` has no accessible name"),
        ("<div tabindex=0></div>", "name: `body > main > div` has no accessible name"),
        ("<div aria-hidden=true><a href=/a>x</a></div>", "hidden: `main > div > a` is focusable but hidden"),
        ("<span role=link></span>", "name: `body > main > span` has no accessible name"),
        (
            "<div role=listbox><p role=option aria-selected=true></p></div>",
            "name: `main > div > p` has no accessible name",
        ),
        (
            "<div role=tablist><p role=tab aria-selected=true></p></div>",
            "name: `main > div > p` has no accessible name",
        ),
        ("<div role=menu><p role=menuitem></p></div>", "name: `main > div > p` has no accessible name"),
        ("<div role=checkbox aria-checked=true></div>", "name: `body > main > div` has no accessible name"),
        ("<div role=buton>x</div>", "role: `body > main > div` has an unknown role: buton"),
        (
            "<p role=option aria-selected=true>x</p>",
            "role: `body > main > p` is option within nothing instead of listbox",
        ),
        (
            "<div role=listbox><p role=option>x</p></div>",
            "role: `main > div > p` is option without aria-selected",
        ),
        (
            "<div role=menu><p role=tab aria-selected=true>x</p></div>",
            "role: `main > div > p` is tab within menu instead of tablist",
        ),
        ("<div role=list><p role=menuitem>x</p></div>", "is menuitem within list instead of menu or menubar"),
        ("<div role=checkbox>x</div>", "role: `body > main > div` is checkbox without aria-checked"),
        ("<div role=heading>x</div>", "role: `body > main > div` is heading without aria-level"),
        (
            "<input role=combobox aria-label=A aria-expanded=false>",
            "role: `body > main > input` is combobox without aria-controls",
        ),
        ("<img src=data:,>", "alt: `body > main > img` is an image"),
        ("<svg role=img></svg>", "alt: `body > main > svg` is an image"),
        ("<input>", "label: `body > main > input` has no label"),
        ("<input placeholder='only this'>", "label: `body > main > input` has no label"),
        ("<select></select>", "label: `body > main > select` has no label"),
        ("<textarea></textarea>", "label: `body > main > textarea` has no label"),
        ("<p id=a></p><p id=a></p>", "id: `p#a` has an id that occurs more than once"),
        ("<p id=''></p>", "id: `body > main > p` has an empty id"),
        ("<p tabindex=3>x</p>", "tabindex: `body > main > p` has a positive tabindex"),
        ("<h3>x</h3>", "heading: `body > main > h3` has level 3 after level 1"),
        ("<div role=heading aria-level=4>x</div>", "heading: `body > main > div` has level 4"),
        ("<main>x</main>", "main: `html` has 2 main elements"),
        (
            "<p aria-controls='a b'>x</p><p id=a></p>",
            "reference: `body > main > p` has aria-controls with unknown ids: b",
        ),
        ("<label for=none>x</label>", "reference: `body > main > label` has for with unknown ids: none"),
        (
            "<p style='color: #777'>x</p>",
            "contrast: `body > main > p` is #777777 on #ffffff: 4.48 instead of 4.5",
        ),
        ("<p style='color: #999; font-size: 24px'>x</p>", "is #999999 on #ffffff: 2.85 instead of 3"),
        ("<p style='color: #888; font-size: 23px'>x</p>", "3.54 instead of 4.5"),
        ("<p style='color: #888; font-size: 18.5px; font-weight: 700'>x</p>", "3.54 instead of 4.5"),
        ("<div style='opacity: .5'><p>x</p></div>", "contrast: `main > div > p` is #808080 on #ffffff"),
        ("<p style='color: rgb(0 0 0 / 0.5)'>x</p>", "is #808080 on #ffffff: 3.98"),
        (
            "<div style='background: rgb(0 0 0 / .5)'><p style='background: rgb(0 0 0 / .5)'>x</p></div>",
            "is #000000 on #404040",
        ),
        ("<p style='color: oklch(1 0 0)'>x</p>", "is #ffffff on #ffffff: 1.00"),
        (
            "<div style='background: url(data:,)'><p style='background: #eee; color: #fff'>x</p></div>",
            "on #eeeeee",
        ),
        (
            "<svg width=90 height=30><text y=20 fill=#aaa>x</text></svg>",
            "contrast: `main > svg > text` is #aaaaaa",
        ),
        (
            "<style>::placeholder { color: #aaa }</style><input aria-label=A placeholder=x>",
            "contrast: `body > main > input` is #aaaaaa",
        ),
        ("<input aria-label=A value=x style='color: #aaa'>", "contrast: `body > main > input` is #aaaaaa"),
        (
            "<style>p::before { content: attr(data-n); color: #aaa }</style><p data-n=12>x</p>",
            "contrast: `body > main > p` has ::before that is #aaaaaa on #ffffff",
        ),
        (
            "<style>p::after { counter-increment: a; content: counter(a); background: #222 }</style><p>x</p>",
            "contrast: `body > main > p` has ::after that is #000000 on #222222",
        ),
        ("<div style='width: 2000px'>x</div>", "overflow: `body > main > div` extends to 20"),
    ];
    // All cases share a page: opening one takes longer than checking it.
    let page = browser.open_page();
    for (body, expected) in cases {
        let server = TestServer::with_body(body);
        page.goto(&server.url("/"));
        let message = panic_message(|| page.assert_accessible());
        assert!(message.contains(expected), "{body}\nexpected: {expected}\nactual: {message}");
        assert_eq!(page.accessibility_findings().len(), 1, "{body} has one problem: {message}");
    }
}

#[test]
fn page_needs_language_title_and_main_element() {
    let Some(browser) = Browser::shared() else { return };
    let cases = [
        ("<html lang=en>", "<html>", "lang: `html` has no language"),
        ("<title>Good</title>", "", "title: `html` has no title"),
        ("main>", "section>", "main: `html` has 0 main elements"),
    ];
    for (text, replacement, expected) in cases {
        let server = TestServer::new(vec![("/", "", valid_page("<p>text</p>").replace(text, replacement))]);
        let page = browser.open_page();
        page.goto(&server.url("/"));
        let findings: Vec<String> = page.accessibility_findings().iter().map(ToString::to_string).collect();
        assert!(findings.len() == 1 && findings[0].starts_with(expected), "{findings:?}");
    }
}

#[test]
fn repeated_problem_is_one_finding() {
    let Some(browser) = Browser::shared() else { return };
    let lines: String = (1..=50).map(|idx| format!("<p id=L{idx} style='color: #aaa'>x</p>")).collect();
    let server = TestServer::with_body(&lines);
    let page = browser.open_page();
    page.goto(&server.url("/"));
    let findings = page.accessibility_findings();
    assert_eq!((findings.len(), findings[0].rule.as_str(), findings[0].count), (1, "contrast", 50));
    let shown = findings[0].to_string();
    assert!(shown.contains("`p#L1`") && shown.ends_with("(50 times)"), "{shown}");
}

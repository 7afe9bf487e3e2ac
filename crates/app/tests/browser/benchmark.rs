//! How fast it is: `docs/bench/web/run` asks for a table. Nothing here fails for being slow; without the question the same is
//! done with small sessions, so that it does not rot.
#![expect(clippy::disallowed_methods, reason = "the test is told by the environment to measure")]
#![expect(clippy::print_stdout, reason = "a measurement is read by whoever asked for it")]

use std::time::Instant;

use serde_json::json;

use crate::client::Site;
use crate::home::Home;
use crate::live_update::append;
use crate::server_page::Visit;
use crate::session_builder::Tale;

/// How many frames are counted at a time; the browser may not be kept waiting for longer.
const FRAMES: usize = 20;

/// Notes in the page how long it took from each key to its hits.
const WATCH: &str = "(() => {
    const input = document.querySelector('.bar-search input');
    window.waits = [];
    let since = 0;
    input.addEventListener('input', () => { since = performance.now(); });
    new MutationObserver(() => {
        requestAnimationFrame(() => window.waits.push(Math.round(performance.now() - since)));
    }).observe(document.querySelector('.hits'), { childList: true });
})()";

/// Waits until there are more answers than before, or too late for one.
const ANSWER: &str = "new Promise(done => {
    const end = performance.now() + 1500;
    const look = () => (window.waits.length > BEFORE || performance.now() > end ? done() : setTimeout(look, 5));
    look();
})";

/// Writes a session of five lines a turn, whose results have so many bytes.
fn session(home: &Home, end: &str, lines: usize, bytes: usize) -> Tale {
    let mut tale = Tale::new(end);
    let words =
        "the tide comes in and goes out again, twice a day, fifty minutes later than the day before\n";
    for turn in 0..lines / 5 {
        tale.prompt(format!("Question {turn} about the tides of harbour {}", turn % 97));
        tale.thinks(&words.repeat(2 + turn % 5));
        let result = words.repeat(1 + bytes * (1 + turn % 3) / 2 / words.len());
        tale.calls(
            "Bash",
            &json!({ "command": format!("tide --harbour {turn}") }),
            &json!(result),
            &json!({}),
        );
        tale.says(&format!(
            "## Answer {turn}\n\n{}\n```rust\nfn tide() -> u32 {{ {turn} }}\n```\n",
            words.repeat(3)
        ));
    }
    tale.keep(home);
    tale
}

/// Opens a session at a server that knows nothing yet, and again, and prints when it was there.
fn opening(name: &str, site: &Site, tale: &Tale) {
    let Some(visit) = Visit::new(site) else { return };
    for state in ["first", "again"] {
        visit.open(&tale.address());
        let times = visit.paint_times();
        let shown = |time: Option<f64>| time.map_or("-".to_owned(), |time| format!("{time:.0} ms"));
        println!(
            "| {name}, {state} | {} | {} | {} |",
            shown(times.answered),
            shown(times.content),
            shown(times.largest)
        );
    }
    visit.assert_quiet(&visit.origin());
}

/// Scrolls through all of a session and prints the longest frame.
fn scrolling(name: &str, site: &Site, tale: &Tale) {
    let Some(visit) = Visit::new(site) else { return };
    visit.open(&tale.address());
    let (mut longest, mut count) = (0.0_f64, 0);
    let scroll = format!(
        "for (let no = 0; no < {FRAMES}; no += 1) {{ scrollBy(0, 400); await new Promise(requestAnimationFrame); }}"
    );
    while visit.eval("innerHeight + scrollY < document.documentElement.scrollHeight - 2") == true {
        let frames = visit.frames_while(&scroll);
        longest = longest.max(frames.longest);
        count += frames.count;
    }
    let turns = visit.count("article.turn[id]");
    println!(
        "| scrolling through {name} | longest of {count} frames | {longest:.0} ms | {turns} turns loaded |"
    );
    visit.assert_quiet(&visit.origin());
}

/// Types a search in sessions that are indexed, and prints how long each key took to show its hits.
fn typing(site: &Site) {
    let Some(visit) = Visit::new(site) else { return };
    assert_eq!(site.home().run(&["index"]).code, 0);
    visit.open("/sessions");
    visit.press("/");
    visit.eval(WATCH);
    for key in "harbour 96".chars() {
        let before = visit.eval("window.waits.length");
        visit.type_text(&key.to_string());
        // Not every key has an answer of its own: one letter tells nothing, and a space tells nothing more.
        visit.eval(&ANSWER.replace("BEFORE", &before.to_string()));
    }
    println!(
        "| hits while typing, ms a key | {} |",
        visit.eval("window.waits.join(' ')").as_str().unwrap_or_default()
    );
}

/// Writes at the end of a session that somebody reads, and prints how long it took until it was there.
fn growing(name: &str, site: &Site, tale: &mut Tale) {
    let Some(visit) = Visit::new(site) else { return };
    visit.open(&tale.address());
    visit.click("input[name=follow]");
    let path = site.home().path().join(tale.file());
    let mut waits = Vec::new();
    for no in 0..5 {
        tale.prompt(format!("News {no}"));
        let since = Instant::now();
        append(&path, &tale.take());
        visit.wait_for(&format!("document.querySelector('#main').textContent.includes('News {no}')"));
        waits.push(format!("{}", since.elapsed().as_millis()));
    }
    println!("| a new turn of {name}, ms until it is there | {} |", waits.join(" "));
    visit.assert_quiet(&visit.origin());
}

#[test]
fn speed_is_told() {
    let asked = std::env::var_os("RETHREAD_BENCH_WEB").is_some();
    let (lines, small, large) = if asked { (10_000, 4_000, 100_000) } else { (200, 400, 4_000) };
    let home = Home::new();
    let mut long = session(&home, "1", lines, small);
    let heavy = session(&home, "2", lines / 2, large);
    let site = Site::of(home);
    println!("| session | first byte | first paint | largest paint (turns) |\n|---|--:|--:|--:|");
    opening(&format!("{lines} lines"), &site, &long);
    opening(&format!("{} lines of {} kB", lines / 2, large / 1000), &site, &heavy);
    println!();
    scrolling(&format!("{lines} lines"), &site, &long);
    typing(&site);
    growing(&format!("{lines} lines"), &site, &mut long);
}

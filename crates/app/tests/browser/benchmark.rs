//! Measures loading, scrolling, typing and live updates for `docs/bench/web/run`, which prints a table. No time fails the test.
//! Without `RETHREAD_BENCH_WEB` it runs on small sessions, so that the code stays in use.
#![expect(clippy::disallowed_methods, reason = "the environment turns the test into a benchmark")]
#![expect(clippy::print_stdout, reason = "the benchmark prints its results")]

use std::time::Instant;

use rethread_testkit::home::Home;
use rethread_testkit::web_server::WebServer;
use serde_json::json;

use crate::new_home;
use crate::server_page::ServerPage;
use crate::session_builder::SessionBuilder;

/// The number of frames per measurement. A longer script would exceed the timeout of a browser command.
const FRAMES_PER_STEP: usize = 20;

/// Records in the page the time from each key press to its search results.
const RECORD_LATENCIES: &str = "(() => {
    const input = document.querySelector('.bar-search input');
    window.latencies = [];
    let start = 0;
    input.addEventListener('input', () => { start = performance.now(); });
    new MutationObserver(() => {
        requestAnimationFrame(() => window.latencies.push(Math.round(performance.now() - start)));
    }).observe(document.querySelector('.hits'), { childList: true });
})()";

/// Waits until another latency is recorded, at most 1.5 seconds.
const WAIT_FOR_LATENCY: &str = "new Promise(done => {
    const end = performance.now() + 1500;
    const check = () => (window.latencies.length > BEFORE || performance.now() > end ? done() : setTimeout(check, 5));
    check();
})";

/// Writes a session with five lines per turn and results of about `result_bytes` bytes.
fn write_session(home: &Home, id_suffix: &str, line_count: usize, result_bytes: usize) -> SessionBuilder {
    let mut builder = SessionBuilder::new(id_suffix);
    let sentence =
        "the tide comes in and goes out again, twice a day, fifty minutes later than the day before\n";
    for turn in 0..line_count / 5 {
        builder.add_prompt(format!("Question {turn} about the tides of harbour {}", turn % 97));
        builder.add_thinking(&sentence.repeat(2 + turn % 5));
        let result = sentence.repeat(1 + result_bytes * (1 + turn % 3) / 2 / sentence.len());
        builder.add_call(
            "Bash",
            &json!({ "command": format!("tide --harbour {turn}") }),
            &json!(result),
            &json!({}),
        );
        builder.add_text(&format!(
            "## Answer {turn}\n\n{}\n```rust\nfn tide() -> u32 {{ {turn} }}\n```\n",
            sentence.repeat(3)
        ));
    }
    builder.write_to(home);
    builder
}

/// Opens a session twice, with cold and warm caches of the server, and prints the loading times.
fn measure_loading(name: &str, server: &WebServer, builder: &SessionBuilder) {
    let Some(page) = ServerPage::new(server) else { return };
    for attempt in ["first", "again"] {
        page.open(&builder.url_path());
        let times = page.paint_times();
        let format_time = |time: Option<f64>| time.map_or("-".to_owned(), |time| format!("{time:.0} ms"));
        println!(
            "| {name}, {attempt} | {} | {} | {} |",
            format_time(times.first_byte),
            format_time(times.first_contentful_paint),
            format_time(times.largest_contentful_paint)
        );
    }
    page.assert_problem_free();
}

/// Scrolls through a session and prints the longest frame.
fn measure_scrolling(name: &str, server: &WebServer, builder: &SessionBuilder) {
    let Some(page) = ServerPage::open_at(server, &builder.url_path()) else { return };
    let (mut longest, mut count) = (0.0_f64, 0);
    let scroll = format!(
        "for (let idx = 0; idx < {FRAMES_PER_STEP}; idx += 1) {{ scrollBy(0, 400); await new Promise(requestAnimationFrame); }}"
    );
    while page.eval("innerHeight + scrollY < document.documentElement.scrollHeight - 2") == true {
        let frames = page.measure_frames(&scroll);
        longest = longest.max(frames.longest_gap);
        count += frames.count;
    }
    let turns = page.count("article.turn[id]");
    println!(
        "| scrolling through {name} | longest of {count} frames | {longest:.0} ms | {turns} turns loaded |"
    );
    page.assert_problem_free();
}

/// Types a query with the index built, and prints the time from each key press to its results.
fn measure_typing(server: &WebServer) {
    let Some(page) = ServerPage::new(server) else { return };
    assert_eq!(server.home().run(&["index"]).code, 0);
    page.open("/sessions");
    page.press("/");
    page.eval(RECORD_LATENCIES);
    for key in "harbour 96".chars() {
        let latency_count = page.eval("window.latencies.length");
        page.type_text(&key.to_string());
        // Not every key gives results of its own: one letter is too short a query, and a space changes nothing.
        page.eval(&WAIT_FOR_LATENCY.replace("BEFORE", &latency_count.to_string()));
    }
    println!(
        "| results while typing, ms per key | {} |",
        page.eval("window.latencies.join(' ')").as_str().unwrap_or_default()
    );
}

/// Appends to an open session, and prints the time until each turn is displayed.
fn measure_live_updates(name: &str, server: &WebServer, builder: &mut SessionBuilder) {
    let Some(page) = ServerPage::open_at(server, &builder.url_path()) else { return };
    page.click("input[name=follow]");
    let path = server.home().path().join(builder.path_in_home());
    let mut latencies = Vec::new();
    for idx in 0..5 {
        builder.add_prompt(format!("News {idx}"));
        let start = Instant::now();
        builder.append_to(&path);
        page.wait_for(&format!("document.querySelector('#main').textContent.includes('News {idx}')"));
        latencies.push(format!("{}", start.elapsed().as_millis()));
    }
    println!("| a new turn of {name}, ms until it is displayed | {} |", latencies.join(" "));
    page.assert_problem_free();
}

#[test]
fn browser_benchmark() {
    let is_benchmark = std::env::var_os("RETHREAD_BENCH_WEB").is_some();
    let (line_count, long_result_bytes, heavy_result_bytes) =
        if is_benchmark { (10_000, 4_000, 100_000) } else { (200, 400, 4_000) };
    let home = new_home();
    let mut long_session = write_session(&home, "1", line_count, long_result_bytes);
    let heavy_session = write_session(&home, "2", line_count / 2, heavy_result_bytes);
    let server = WebServer::start(home);
    println!("| session | first byte | first paint | largest paint (turns) |\n|---|--:|--:|--:|");
    measure_loading(&format!("{line_count} lines"), &server, &long_session);
    measure_loading(
        &format!("{} lines of {} kB", line_count / 2, heavy_result_bytes / 1000),
        &server,
        &heavy_session,
    );
    println!();
    measure_scrolling(&format!("{line_count} lines"), &server, &long_session);
    measure_typing(&server);
    measure_live_updates(&format!("{line_count} lines"), &server, &mut long_session);
}

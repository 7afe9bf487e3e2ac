//! Which lines count, where a response is booked, and that sums add up.

use jiff::tz::TimeZone;
use proptest::prelude::*;
use rethread_core::entry::{Timestamp, Usage, read};
use rethread_core::id::Id;
use rethread_core::lines::Line;
use rethread_core::pack::Pack;
use rethread_core::usage::{
    Calendar, CostTotals, Day, FileUsage, Money, UniqueResponse, UsageCollector, block_of, blocks,
    dedupe_responses, total, total_by_request_id,
};

/// Makes the sheets of files. A row is a line: file, session, message, request (`-` for none), output; then, in any order,
/// `side`, `copied`, `fast`, `open` (no line tells the end), `@minute`, and `calls=Tool`.
fn sheets(rows: &str) -> Vec<(String, FileUsage)> {
    let mut files: Vec<(String, UsageCollector)> = Vec::new();
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [file, session, message, request, output, rest @ ..] = &words[..] else { panic!("a row: {row}") };
        let has = |word: &str| rest.contains(&word);
        let minute = rest.iter().find_map(|word| word.strip_prefix('@')).unwrap_or("0");
        let call = rest.iter().find_map(|word| word.strip_prefix("calls="));
        let content = call.map_or(String::new(), |tool| {
            format!(r#"{{"type":"tool_use","id":"{message}{tool}","name":"{tool}","input":{{}}}}"#)
        });
        let model = if *message == "synthetic" { "<synthetic>" } else { "claude-x" };
        let mut line = format!(
            r#"{{"type":"assistant","sessionId":"{session}","cwd":"/work","isSidechain":{},"timestamp":"2026-01-01T00:{minute:0>2}:00.000Z","message":{{"id":"{message}","model":"{model}","content":[{content}],"stop_reason":{},"usage":{{"input_tokens":1,"output_tokens":{output},"speed":"{}"}}}}"#,
            has("side"),
            if has("open") { "null" } else { "\"end_turn\"" },
            if has("fast") { "fast" } else { "standard" },
        );
        if *request != "-" {
            line.push_str(&format!(r#","requestId":"{request}""#));
        }
        if has("copied") {
            line.push_str(r#","forkedFrom":{"sessionId":"x","messageUuid":"y"}"#);
        }
        line.push('}');
        let place = files.iter().position(|(known, _)| known == file).unwrap_or_else(|| {
            files.push(((*file).to_owned(), UsageCollector::new(Id::of(file.as_bytes()), "")));
            files.len() - 1
        });
        let mut problems = Vec::new();
        let line = Line { no: 1, offset: 0, bytes: line.as_bytes(), unterminated: false };
        read(&line, &mut problems, |entry, _| {
            files[place].1.add(&entry);
        });
        assert!(problems.is_empty(), "{problems:?}");
    }
    files.into_iter().map(|(name, booking)| (name, booking.finish())).collect()
}

/// Says what the files come to: output, where it is booked, lines, copies.
fn billed(rows: &str) -> Vec<String> {
    let (names, sheets): (Vec<String>, Vec<FileUsage>) = sheets(rows).into_iter().unzip();
    let say = |bill: &UniqueResponse| {
        let open = if bill.open { " open" } else { "" };
        format!(
            "{} in {} of {}+{}{open}",
            bill.usage.output, names[bill.sheet as usize], bill.lines, bill.copies
        )
    };
    dedupe_responses(&sheets).iter().map(say).collect()
}

#[test]
fn a_response_counts_once() {
    // The lines of one response: the one with the most output counts.
    assert_eq!(billed("a s m r 5\n a s m r 30\n a s m r 30"), ["30 in a of 3+0"]);
    // A request of its own is a response of its own.
    assert_eq!(billed("a s m r 5\n a s m q 7"), ["5 in a of 1+0", "7 in a of 1+0"]);
    // What the client says itself counts nothing.
    assert_eq!(billed("a s synthetic r 5"), [""; 0]);
}

#[test]
fn copies_are_booked_where_they_appeared_first() {
    let cases: &[(&str, &[&str])] = &[
        // A fork keeps ids and times and says that it is one, whatever it is called.
        ("a fork m r 9 copied\n b main m r 9", &["9 in b of 2+1"]),
        // A resume by an old client writes the present into what it copies, and loses the request.
        ("a new m - 9 @5\n b old m r 9 @1", &["9 in b of 2+1"]),
        // A copy may have seen more of a response.
        ("a s m r 3 @1\n b t m r 8 @2", &["8 in a of 2+1"]),
        // Where nothing tells them apart, the order of paths decides.
        ("a s m r 3\n b t m r 3", &["3 in a of 2+1"]),
    ];
    for (rows, expected) in cases {
        assert_eq!(billed(rows), *expected, "{rows}");
    }
}

#[test]
fn without_a_request_the_family_decides() {
    let cases: &[(&str, &[&str])] = &[
        // Main file and subagent of one session.
        ("a s m - 4\n b s m - 9", &["9 in a of 2+1"]),
        // A gateway that names the first response of every session alike.
        ("a s m - 4\n b t m - 9", &["4 in a of 1+0", "9 in b of 1+0"]),
        // A copy says the same.
        ("a s m - 4 @1\n b t m - 4 @2", &["4 in a of 2+1"]),
        // A copy of a copy that lost the request, where the first has it.
        ("a s m r 4 @1\n b t m - 4 @2\n c u m - 4 @3", &["4 in a of 3+2"]),
    ];
    for (rows, expected) in cases {
        assert_eq!(billed(rows), *expected, "{rows}");
    }
}

#[test]
fn what_a_subagent_replays_counts_once() {
    assert_eq!(billed("a s m r 9\n b s m q 9 side @1"), ["9 in a of 2+1"]);
    // Of another session, it is another response.
    assert_eq!(billed("a s m r 9\n b t m q 9 side"), ["9 in a of 1+0", "9 in b of 1+0"]);
    // Two subagents that got different responses.
    assert_eq!(billed("a s m r 9 side\n b s m q 9 side"), ["9 in a of 1+0", "9 in b of 1+0"]);
}

#[test]
fn an_output_of_which_no_line_tells_the_end_is_a_lower_bound() {
    assert_eq!(billed("a s m r 2 open\n a s m r 2 open"), ["2 in a of 2+0 open"]);
    assert_eq!(billed("a s m r 2 open\n a s m r 9"), ["9 in a of 2+0"]);
    assert_eq!(billed("a s m r 2 open\n b t m r 2"), ["2 in a of 2+1"]);
}

#[test]
fn calls_are_those_of_their_response() {
    let rows = "a s m r 1 calls=Read\n a s n q 1 calls=Bash\n a s m r 1 calls=Edit\n a s m r 1 calls=Read\n a s o p 1";
    let (_, sheet) = sheets(rows).remove(0);
    let calls: Vec<Vec<&str>> = (0..3).map(|no| sheet.calls(no).collect()).collect();
    assert_eq!(calls, [vec!["Read", "Edit"], vec!["Bash"], vec![]]);
    assert_eq!(FileUsage::unpacked(&sheet.packed()), Some(sheet));
}

#[test]
fn fast_mode_is_a_model_of_its_own() {
    let (_, sheet) = sheets("a s m r 1\n a s n q 1 fast\n a s n q 1 fast\n a s o p 1").remove(0);
    let models: Vec<&str> = sheet.charges.iter().map(|charge| sheet.model(charge)).collect();
    assert_eq!(models, ["claude-x", "claude-x[fast]", "claude-x"]);
}

#[test]
fn days_are_those_of_the_zone() {
    let zone = TimeZone::get("UTC").unwrap();
    let at = |text: &str| Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond());
    let calendar = Calendar::new(&zone);
    assert_eq!(calendar.day(at("1970-01-01T23:59:59.999Z")), Day(0));
    assert_eq!(calendar.day(at("1969-12-31T23:59:59.999Z")), Day(-1));
    // Clocks go forward in the night to 2026-03-29 and back in that to 2026-10-25.
    let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    let calendar = Calendar::new(&berlin);
    let said = |text: &str| calendar.day(at(text)).date().to_string();
    for (moment, day) in [
        ("2026-03-28T22:59:59Z", "2026-03-28"),
        ("2026-03-28T23:00:00Z", "2026-03-29"),
        ("2026-03-29T21:59:59Z", "2026-03-29"),
        ("2026-03-29T22:00:00Z", "2026-03-30"),
        ("2026-10-24T21:59:59Z", "2026-10-24"),
        ("2026-10-25T22:59:59Z", "2026-10-25"),
        ("2026-10-25T23:00:00Z", "2026-10-26"),
    ] {
        assert_eq!(said(moment), day, "{moment}");
    }
    let day = calendar.day(at("2026-11-15T12:00:00Z"));
    assert_eq!(
        (day.week().date().to_string(), day.month().date().to_string()),
        ("2026-11-09".into(), "2026-11-01".into())
    );
}

#[test]
fn blocks_last_five_hours_from_a_full_hour() {
    let hour = 3_600_000;
    let moments = [10, 60, 299, 300, 301, 900].map(|minute| Timestamp(20 * hour + minute * 60_000));
    let begins = blocks(moments);
    assert_eq!(begins, [20, 25, 35].map(|at| Timestamp(at * hour)));
    assert_eq!(block_of(&begins, moments[2]), Some(Timestamp(20 * hour)));
    assert_eq!(block_of(&begins, Timestamp(0)), None);
}

fn sums() -> impl Strategy<Value = CostTotals> {
    let number = prop_oneof![Just(0), 0..20_u64, any::<u64>().prop_map(|n| n >> 20)];
    (prop::array::uniform6(number), any::<bool>(), any::<u32>()).prop_map(|(n, priced, cost)| {
        let [input, output, write, hour, cache_read, web_searches] = n;
        let usage = Usage {
            input,
            output,
            cache_write: write + hour,
            cache_write_1h: hour,
            cache_read,
            web_searches,
        };
        let bill = UniqueResponse { sheet: 0, charge: 0, usage, lines: 1, copies: 0, open: false };
        CostTotals::of(&bill, priced.then(|| Money::of_dollars(f64::from(cost) / 7e5).unwrap_or_default()))
    })
}

proptest! {
    #[test]
    fn the_parts_of_a_sum_are_the_whole(sum in sums(), of in 1..9_usize) {
        let mut whole = CostTotals::default();
        for no in 0..of {
            let part = sum.part(no, of);
            prop_assert!(part.spent.usage.cache_write >= part.spent.usage.cache_write_1h);
            whole.add(&part);
        }
        prop_assert_eq!(whole, sum);
    }

    /// Whatever files are in whatever order: nothing counts that stands on no line, and what one file holds once counts
    /// once.
    #[test]
    fn no_response_is_made_up(rows in prop::collection::vec((0..4_u8, 0..3_u8, 0..4_u8, 0..3_u8, 0..50_u32, any::<bool>()), 1..25)) {
        let text: Vec<String> = rows.iter().map(|(file, session, message, request, output, side)| {
            let request = if *request == 0 { "-".to_owned() } else { format!("r{request}") };
            format!("f{file} s{session} m{message} {request} {output} {}", if *side { "side" } else { "" })
        }).collect();
        let (_, sheets): (Vec<String>, Vec<FileUsage>) = sheets(&text.join("\n")).into_iter().unzip();
        let bills = dedupe_responses(&sheets);
        let lines: u32 = bills.iter().map(|bill| bill.lines).sum();
        prop_assert_eq!(lines as usize, rows.len(), "every line is of one response");
        let copies: u32 = bills.iter().map(|bill| bill.copies + 1).sum();
        prop_assert_eq!(copies as usize, sheets.iter().map(|sheet| sheet.charges.len()).sum::<usize>());
        let (once, all) = (total(&bills), total_by_request_id(&sheets));
        prop_assert!(once.responses <= all.responses && once.usage.output <= all.usage.output);
        for sheet in &sheets {
            prop_assert_eq!(FileUsage::unpacked(&sheet.packed()), Some(sheet.clone()));
        }
    }
}

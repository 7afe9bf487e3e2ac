//! Deduplication of responses, attribution to files, and totals that add up.

use jiff::tz::TimeZone;
use proptest::prelude::*;
use rethread_core::entry::{Timestamp, Usage, read_line};
use rethread_core::id::Id;
use rethread_core::lines::Line;
use rethread_core::pack::Pack;
use rethread_core::usage::{
    Calendar, CostTotals, Day, FileUsage, Money, SessionTotals, UniqueResponse, UsageCollector,
    dedupe_responses, find_block, find_block_starts, total_by_request_id, total_tokens,
};

/// Collects the usage of files. A row is a line: file, session, message, request (`-` for none), output;
/// then, in any order, `side`, `copied`, `fast`, `open` (without a stop reason), `@minute`, `in=tokens`, and
/// `calls=Tool`.
fn collect_files(rows: &str) -> Vec<(String, FileUsage)> {
    let mut files: Vec<(String, UsageCollector)> = Vec::new();
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let columns: Vec<&str> = row.split_whitespace().collect();
        let [file, session, message, request, output, rest @ ..] = &columns[..] else {
            panic!("a row: {row}")
        };
        let has = |word: &str| rest.contains(&word);
        let minute = rest.iter().find_map(|word| word.strip_prefix('@')).unwrap_or("0");
        let input = rest.iter().find_map(|word| word.strip_prefix("in=")).unwrap_or("1");
        let call = rest.iter().find_map(|word| word.strip_prefix("calls="));
        let content = call.map_or(String::new(), |tool| {
            format!(r#"{{"type":"tool_use","id":"{message}{tool}","name":"{tool}","input":{{}}}}"#)
        });
        let model = if *message == "synthetic" { "<synthetic>" } else { "claude-x" };
        let mut line = format!(
            r#"{{"type":"assistant","sessionId":"{session}","cwd":"/work","isSidechain":{},"timestamp":"2026-01-01T00:{minute:0>2}:00.000Z","message":{{"id":"{message}","model":"{model}","content":[{content}],"stop_reason":{},"usage":{{"input_tokens":{input},"output_tokens":{output},"speed":"{}"}}}}"#,
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
        let file_idx = files.iter().position(|(known, _)| known == file).unwrap_or_else(|| {
            files.push(((*file).to_owned(), UsageCollector::new(Id::from_text(file.as_bytes()), "")));
            files.len() - 1
        });
        let mut problems = Vec::new();
        let line = Line { number: 1, offset: 0, bytes: line.as_bytes(), unterminated: false };
        read_line(&line, &mut problems, |entry, _| {
            files[file_idx].1.add(&entry);
        });
        assert!(problems.is_empty(), "{problems:?}");
    }
    files.into_iter().map(|(name, collector)| (name, collector.finish())).collect()
}

/// Formats each unique response: output, file, lines, copies.
fn dedupe(rows: &str) -> Vec<String> {
    let (names, files): (Vec<String>, Vec<FileUsage>) = collect_files(rows).into_iter().unzip();
    let format_response = |response: &UniqueResponse| {
        let open = if response.is_lower_bound { " open" } else { "" };
        format!(
            "{} in {} of {}+{}{open}",
            response.usage.output, names[response.file_idx as usize], response.lines, response.copies
        )
    };
    dedupe_responses(&files).iter().map(format_response).collect()
}

#[test]
fn a_response_counts_once() {
    // The line with the most output represents its response.
    assert_eq!(dedupe("a s m r 5\n a s m r 30\n a s m r 30"), ["30 in a of 3+0"]);
    // Another request is another response.
    assert_eq!(dedupe("a s m r 5\n a s m q 7"), ["5 in a of 1+0", "7 in a of 1+0"]);
    // Synthetic messages of the client do not count.
    assert_eq!(dedupe("a s synthetic r 5"), [""; 0]);
}

#[test]
fn last_of_several_lines_with_equal_output_counts() {
    let inputs = |rows: &str| -> Vec<u64> {
        let files: Vec<FileUsage> = collect_files(rows).into_iter().map(|(_, file)| file).collect();
        dedupe_responses(&files).iter().map(|response| response.usage.input).collect()
    };
    // In one file, and in a copy.
    assert_eq!(inputs("a s m r 5 in=3\n a s m r 5 in=8"), [8]);
    assert_eq!(inputs("a s m r 5 in=3 @1\n b t m r 5 in=8 @2"), [8]);
    // More output counts more than a later line.
    assert_eq!(inputs("a s m r 6 in=3\n a s m r 5 in=8"), [3]);
    let files = collect_files("a s m r 5 in=3\n b t m r 5 in=8").into_iter().map(|(_, file)| file);
    assert_eq!(total_by_request_id(&files.collect::<Vec<_>>()).usage.input, 8);
}

#[test]
fn copies_are_attributed_to_the_first_appearance() {
    let cases: &[(&str, &[&str])] = &[
        // A fork keeps ids and times and is marked as copied. Its path may come first.
        ("a fork m r 9 copied\n b main m r 9", &["9 in b of 2+1"]),
        // A resume by an old client writes the current time into copied lines and drops the request.
        ("a new m - 9 @5\n b old m r 9 @1", &["9 in b of 2+1"]),
        // A copy may hold more of a response.
        ("a s m r 3 @1\n b t m r 8 @2", &["8 in a of 2+1"]),
        // If nothing distinguishes them, the order of paths decides.
        ("a s m r 3\n b t m r 3", &["3 in a of 2+1"]),
    ];
    for (rows, expected) in cases {
        assert_eq!(dedupe(rows), *expected, "{rows}");
    }
}

#[test]
fn responses_without_a_request_are_grouped_by_session() {
    let cases: &[(&str, &[&str])] = &[
        // Main file and subagent of one session.
        ("a s m - 4\n b s m - 9", &["9 in a of 2+1"]),
        // A gateway that gives the first response of every session the same id.
        ("a s m - 4\n b t m - 9", &["4 in a of 1+0", "9 in b of 1+0"]),
        // A copy has equal usage.
        ("a s m - 4 @1\n b t m - 4 @2", &["4 in a of 2+1"]),
        // Copies of copies without a request, if the original has one.
        ("a s m r 4 @1\n b t m - 4 @2\n c u m - 4 @3", &["4 in a of 3+2"]),
    ];
    for (rows, expected) in cases {
        assert_eq!(dedupe(rows), *expected, "{rows}");
    }
}

#[test]
fn replayed_lines_of_a_subagent_count_once() {
    assert_eq!(dedupe("a s m r 9\n b s m q 9 side @1"), ["9 in a of 2+1"]);
    // In another session, it is another response.
    assert_eq!(dedupe("a s m r 9\n b t m q 9 side"), ["9 in a of 1+0", "9 in b of 1+0"]);
    // Two subagents that received different responses.
    assert_eq!(dedupe("a s m r 9 side\n b s m q 9 side"), ["9 in a of 1+0", "9 in b of 1+0"]);
}

#[test]
fn output_without_a_stop_reason_is_a_lower_bound() {
    assert_eq!(dedupe("a s m r 2 open\n a s m r 2 open"), ["2 in a of 2+0 open"]);
    assert_eq!(dedupe("a s m r 2 open\n a s m r 9"), ["9 in a of 2+0"]);
    assert_eq!(dedupe("a s m r 2 open\n b t m r 2"), ["2 in a of 2+1"]);
    assert_eq!(dedupe("a s m r 2\n b t m r 2 open"), ["2 in a of 2+1"]);
}

#[test]
fn tool_calls_belong_to_their_response() {
    let rows = "a s m r 1 calls=Read\n a s n q 1 calls=Bash\n a s m r 1 calls=Edit\n a s m r 1 calls=Read\n a s o p 1";
    let (_, file) = collect_files(rows).remove(0);
    let calls: Vec<Vec<&str>> = (0..3).map(|idx| file.tool_calls(idx).collect()).collect();
    assert_eq!(calls, [vec!["Read", "Edit"], vec!["Bash"], vec![]]);
    assert_eq!(FileUsage::from_packed(&file.to_packed()), Some(file));
}

#[test]
fn fast_mode_is_a_separate_model() {
    let (_, file) = collect_files("a s m r 1\n a s n q 1 fast\n a s n q 1 fast\n a s o p 1").remove(0);
    let models: Vec<&str> = file.responses.iter().map(|response| file.model(response)).collect();
    assert_eq!(models, ["claude-x", "claude-x[fast]", "claude-x"]);
}

#[test]
fn days_follow_the_time_zone() {
    let zone = TimeZone::get("UTC").unwrap();
    let at = |text: &str| Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond());
    let calendar = Calendar::new(&zone);
    assert_eq!(calendar.local_day(at("1970-01-01T23:59:59.999Z")), Day(0));
    assert_eq!(calendar.local_day(at("1969-12-31T23:59:59.999Z")), Day(-1));
    // The clock changes in the nights to 2026-03-29 and to 2026-10-25.
    let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    let calendar = Calendar::new(&berlin);
    let local_date = |text: &str| calendar.local_day(at(text)).date().to_string();
    for (time, day) in [
        ("2026-03-28T22:59:59Z", "2026-03-28"),
        ("2026-03-28T23:00:00Z", "2026-03-29"),
        ("2026-03-29T21:59:59Z", "2026-03-29"),
        ("2026-03-29T22:00:00Z", "2026-03-30"),
        ("2026-10-24T21:59:59Z", "2026-10-24"),
        ("2026-10-25T22:59:59Z", "2026-10-25"),
        ("2026-10-25T23:00:00Z", "2026-10-26"),
    ] {
        assert_eq!(local_date(time), day, "{time}");
    }
    let day = calendar.local_day(at("2026-11-15T12:00:00Z"));
    assert_eq!(
        (day.week_start().date().to_string(), day.month_start().date().to_string()),
        ("2026-11-09".into(), "2026-11-01".into())
    );
}

#[test]
fn blocks_begin_at_a_full_hour_and_last_five_hours() {
    let hour = 3_600_000;
    let times = [10, 60, 299, 300, 301, 900].map(|minute| Timestamp(20 * hour + minute * 60_000));
    let starts = find_block_starts(times);
    assert_eq!(starts, [20, 25, 35].map(|at| Timestamp(at * hour)));
    assert_eq!(find_block(&starts, times[2]), Some(Timestamp(20 * hour)));
    assert_eq!(find_block(&starts, Timestamp(0)), None);
}

fn any_totals() -> impl Strategy<Value = CostTotals> {
    let number = prop_oneof![Just(0), 0..20_u64, any::<u64>().prop_map(|number| number >> 20)];
    (prop::array::uniform6(number), any::<bool>(), any::<u32>()).prop_map(|(numbers, priced, cost)| {
        let [input, output, write, hour, cache_read, web_searches] = numbers;
        let usage = Usage {
            input,
            output,
            cache_write: write + hour,
            cache_write_1h: hour,
            cache_read,
            web_searches,
        };
        let response = UniqueResponse {
            file_idx: 0,
            response_idx: 0,
            usage,
            lines: 1,
            copies: 0,
            is_lower_bound: false,
        };
        CostTotals::from_response(
            &response,
            priced.then(|| Money::from_dollars(f64::from(cost) / 7e5).unwrap_or_default()),
        )
    })
}

proptest! {
    #[test]
    fn shares_add_up_to_the_total(totals in any_totals(), share_count in 1..9_usize) {
        let mut sum = CostTotals::default();
        for idx in 0..share_count {
            let share = totals.share(idx, share_count);
            prop_assert!(share.counts.usage.cache_write >= share.counts.usage.cache_write_1h);
            sum.add(&share);
        }
        prop_assert_eq!(sum, totals);
    }

    #[test]
    fn session_totals_keep_subagents_apart(own in any_totals(), agents in any_totals()) {
        let mut session = SessionTotals::default();
        session.add_part(false, &own);
        session.add_part(true, &agents);
        prop_assert_eq!((session.own, session.agents), (own, agents));
        let mut sum = SessionTotals { own, agents: CostTotals::default() };
        sum.add(&SessionTotals { own: CostTotals::default(), agents });
        prop_assert_eq!(sum, session);
        let mut total = own;
        total.add(&agents);
        prop_assert_eq!(sum.total(), total);
    }

    /// Holds for any files in any order: each line belongs to one response, and each response of a file is
    /// counted once.
    #[test]
    fn every_line_belongs_to_one_response(rows in prop::collection::vec((0..4_u8, 0..3_u8, 0..4_u8, 0..3_u8, 0..50_u32, any::<bool>()), 1..25)) {
        let text: Vec<String> = rows.iter().map(|(file, session, message, request, output, side)| {
            let request = if *request == 0 { "-".to_owned() } else { format!("r{request}") };
            format!("f{file} s{session} m{message} {request} {output} {}", if *side { "side" } else { "" })
        }).collect();
        let (_, files): (Vec<String>, Vec<FileUsage>) = collect_files(&text.join("\n")).into_iter().unzip();
        let responses = dedupe_responses(&files);
        let lines: u32 = responses.iter().map(|response| response.lines).sum();
        prop_assert_eq!(lines as usize, rows.len(), "every line belongs to one response");
        let copies: u32 = responses.iter().map(|response| response.copies + 1).sum();
        prop_assert_eq!(copies as usize, files.iter().map(|file| file.responses.len()).sum::<usize>());
        let (once, all) = (total_tokens(&responses), total_by_request_id(&files));
        prop_assert!(once.responses <= all.responses && once.usage.output <= all.usage.output);
        for file in &files {
            prop_assert_eq!(FileUsage::from_packed(&file.to_packed()), Some(file.clone()));
        }
    }
}

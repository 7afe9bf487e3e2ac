//! The laws of lines and entries, and cases of damaged files.
//!
//! The laws are in `rethread_testkit::check`, which the fuzzers call as well.

use proptest::prelude::*;
use rethread_core::entry::{self, LineStatus};
use rethread_core::lines::{Line, LineSplitter};
use rethread_core::problem::{Problem, ProblemKind};
use rethread_testkit::check::{self, ChunkLengths};
use rethread_testkit::{random, script};

fn settings(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        1 => proptest::collection::vec(any::<u8>(), 0..400),
        3 => random::damaged(random::file()),
        2 => random::damaged(proptest::collection::vec(random::line(), 1..4).prop_map(|lines| lines.join("\n").into_bytes())),
    ]
}

proptest! {
    #![proptest_config(settings(512))]

    #[test]
    fn lines_are_the_same_at_once_and_in_chunks(bytes in any_bytes(), chunk_lengths in random::chunk_lengths()) {
        check::lines(&bytes, ChunkLengths(&chunk_lengths));
    }

    #[test]
    fn every_line_is_accounted_for(bytes in any_bytes()) {
        check::entries(&bytes);
    }

    #[test]
    fn every_record_of_an_undamaged_file_is_an_entry(records in random::records()) {
        prop_assert_eq!(check::entries(&script::write_records(&records)), records.len());
        prop_assert_eq!(check::skimmer(&script::write_records(&records)), records.len());
    }

    #[test]
    fn skimmer_and_full_parser_agree_on_damaged_bytes(bytes in any_bytes()) {
        check::skimmer(&bytes);
    }

    #[test]
    fn skimmer_and_full_parser_agree_on_any_value(value in random::value()) {
        check::skimmer(value.as_bytes());
        check::skimmer(format!("{{\"x\":{value}}}").as_bytes());
    }

    #[test]
    fn strings_decode_like_in_a_full_parser(body in random::string_body()) {
        prop_assert!(check::string(&body));
    }

    #[test]
    fn truncation_changes_only_long_strings(bytes in any_bytes(), chunk_lengths in random::chunk_lengths()) {
        check::truncation(&bytes, ChunkLengths(&chunk_lengths));
    }
}

proptest! {
    #![proptest_config(settings(2048))]

    #[test]
    fn skimmer_and_full_parser_agree_on_any_object(line in random::object()) {
        prop_assert_eq!(check::skimmer(line.as_bytes()), 1);
    }

    #[test]
    fn timestamps_parse_like_in_jiff(stamp in random::timestamp()) {
        check::timestamp(&stamp);
    }
}

proptest! {
    #![proptest_config(settings(48))]

    #[test]
    fn long_strings_are_cut_at_a_character_boundary(
        body in random::string_body(),
        times in 1usize..4000,
        shift in 0usize..8,
        chunk_lengths in random::chunk_lengths(),
    ) {
        let long = format!("{}{}", "x".repeat(shift), body.repeat(times));
        let long = &long[..long.floor_char_boundary(200_000)];
        let long = if check::string(long) { long } else { "é" };
        let line = format!("{{\"uuid\":\"u\",\"content\":\"{long}\",\"é\":[1,\"{body}\"],\"type\":\"user\"}}");
        check::truncation(line.as_bytes(), ChunkLengths(&chunk_lengths));
    }
}

/// Reads a file and returns the status of its lines, the types of its entries, and its problems.
fn read(bytes: &[u8]) -> (Vec<LineStatus>, Vec<String>, Vec<Problem>) {
    let (mut statuses, mut kinds, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    LineSplitter::default().feed(bytes, true, &mut problems, |line, problems| {
        statuses.push(entry::read_line(&line, problems, |entry, _| {
            kinds.push(entry.kind.name().to_owned());
        }));
    });
    (statuses, kinds, problems)
}

/// Checks statuses, types and problems (line, byte, kind) of a file, and the laws.
#[track_caller]
fn assert_read(bytes: &[u8], statuses: &[LineStatus], kinds: &str, problems: &[(u32, u64, ProblemKind)]) {
    let (read_statuses, read_kinds, read_problems) = read(bytes);
    let read_problems: Vec<_> =
        read_problems.into_iter().map(|problem| (problem.line, problem.offset, problem.kind)).collect();
    assert_eq!(read_problems, problems, "problems");
    assert_eq!(read_statuses, statuses, "statuses");
    assert_eq!(read_kinds.join(" "), kinds, "types");
    // An incomplete line is scanned again with each chunk, so long files get longer chunks.
    check::lines(bytes, ChunkLengths(&[1 + bytes.len() / 512]));
    check::entries(bytes);
    check::skimmer(bytes);
}

const USER: &str = r#"{"type":"user","uuid":"u"}"#;
const TITLE: &str = r#"{"type":"ai-title","aiTitle":"t","sessionId":"s"}"#;

#[test]
fn empty_files_and_blank_lines_have_no_entries() {
    assert_read(b"", &[], "", &[]);
    assert_read(b"\n  \n\t\n", &[], "", &[]);
    assert_read(b"\xEF\xBB\xBF", &[], "", &[(1, 0, ProblemKind::Bom)]);
}

#[test]
fn empty_object_is_an_entry() {
    assert_read(b"{}\n", &[LineStatus::Parsed], "None", &[]);
    assert_read(b"{}", &[LineStatus::Parsed], "None", &[]);
}

#[test]
fn crlf_is_reported_once() {
    let file = format!("{USER}\r\n\r\n{TITLE}\r\n");
    let problems = [(1, USER.len() as u64, ProblemKind::CrLf)];
    assert_read(file.as_bytes(), &[LineStatus::Parsed, LineStatus::Parsed], "user ai-title", &problems);
}

#[test]
fn byte_order_mark_is_not_part_of_the_line() {
    let file = format!("\u{FEFF} {USER}\n");
    assert_read(file.as_bytes(), &[LineStatus::Parsed], "user", &[(1, 0, ProblemKind::Bom)]);
    let later = format!("{TITLE}\n\u{FEFF}{USER}\n");
    let at = TITLE.len() as u64 + 1;
    let statuses = [LineStatus::Parsed, LineStatus::Recovered(1)];
    assert_read(later.as_bytes(), &statuses, "ai-title user", &[(2, at, ProblemKind::Damaged(3))]);
}

#[test]
fn records_next_to_nuls_are_recovered() {
    let file = format!("\0\0\0\0{USER}\n");
    assert_read(file.as_bytes(), &[LineStatus::Recovered(1)], "user", &[(1, 0, ProblemKind::Nuls(4))]);
    let file = format!("{USER}\0\0{TITLE}\n");
    let at = USER.len() as u64;
    let problems = [(1, at, ProblemKind::Nuls(2)), (1, 0, ProblemKind::Glued(2))];
    assert_read(file.as_bytes(), &[LineStatus::Recovered(2)], "user ai-title", &problems);
    let file = format!("{USER}\n{}", "\0".repeat(4096));
    let problems = [(2, at + 1, ProblemKind::Nuls(4096))];
    assert_read(file.as_bytes(), &[LineStatus::Parsed, LineStatus::Unparsable], "user", &problems);
    let file = format!("{USER}{}", "\0".repeat(9));
    assert_read(file.as_bytes(), &[LineStatus::Recovered(1)], "user", &[(1, at, ProblemKind::Nuls(9))]);
}

#[test]
fn nuls_and_control_bytes_in_strings_are_reported() {
    let file = b"{\"type\":\"user\",\"uuid\":\"a\0\0b\"}\n";
    assert_read(file, &[LineStatus::Recovered(1)], "user", &[(1, 24, ProblemKind::Nuls(2))]);
    let file = b"{\"type\":\"user\",\"uuid\":\"a\x01b\"}\n";
    assert_read(file, &[LineStatus::Recovered(1)], "user", &[(1, 24, ProblemKind::ControlBytes)]);
}

#[test]
fn nuls_in_concatenated_records_are_reported_once() {
    let file = format!("{{\"type\":\"user\",\"uuid\":\"a\0\0b\"}}{TITLE}\n");
    let problems = [(1, 24, ProblemKind::Nuls(2)), (1, 0, ProblemKind::Glued(2))];
    assert_read(file.as_bytes(), &[LineStatus::Recovered(2)], "user ai-title", &problems);
}

#[test]
fn incomplete_last_line_is_reported_as_torn() {
    for end in 1..USER.len() {
        let file = format!("{TITLE}\n{}", &USER[..end]);
        let at = TITLE.len() as u64 + 1;
        assert_read(
            file.as_bytes(),
            &[LineStatus::Parsed, LineStatus::Unparsable],
            "ai-title",
            &[(2, at, ProblemKind::Torn)],
        );
    }
    let file = format!("{TITLE}\n{USER}");
    assert_read(file.as_bytes(), &[LineStatus::Parsed, LineStatus::Parsed], "ai-title user", &[]);
}

#[test]
fn incomplete_line_with_line_feed_is_not_json() {
    let file = format!("{}\n{TITLE}\n", &USER[..12]);
    assert_read(
        file.as_bytes(),
        &[LineStatus::Unparsable, LineStatus::Parsed],
        "ai-title",
        &[(1, 0, ProblemKind::NotJson)],
    );
}

#[test]
fn json_that_is_not_an_object_is_reported() {
    assert_read(
        b"[1,2]\n\"{\"\n5\n",
        &[LineStatus::Unparsable; 3],
        "",
        &[(1, 0, ProblemKind::NotObject), (2, 6, ProblemKind::NotObject), (3, 10, ProblemKind::NotObject)],
    );
    // An array of records is not a record: no client reads the records in it.
    assert_read(
        b"[{\"type\":\"user\",\"uuid\":\"x\"}]\n",
        &[LineStatus::Unparsable],
        "",
        &[(1, 0, ProblemKind::NotObject)],
    );
    assert_read(
        b"5 5\nnope\n",
        &[LineStatus::Unparsable; 2],
        "",
        &[(1, 0, ProblemKind::NotJson), (2, 4, ProblemKind::NotJson)],
    );
}

#[test]
fn two_records_on_one_line_are_both_recovered() {
    let file = format!("{USER}{TITLE}\n");
    assert_read(
        file.as_bytes(),
        &[LineStatus::Recovered(2)],
        "user ai-title",
        &[(1, 0, ProblemKind::Glued(2))],
    );
    let file = format!("{USER} {TITLE}{}", &USER[..9]);
    let at = (USER.len() + 1 + TITLE.len()) as u64;
    let problems = [(1, at, ProblemKind::Torn), (1, 0, ProblemKind::Glued(2))];
    assert_read(file.as_bytes(), &[LineStatus::Recovered(2)], "user ai-title", &problems);
}

#[test]
fn complete_record_after_an_incomplete_one_is_recovered() {
    for end in 2..USER.len() {
        let file = format!("{}{TITLE}\n", &USER[..end]);
        let problems = [(1, 0, ProblemKind::Damaged(end as u64))];
        assert_read(file.as_bytes(), &[LineStatus::Recovered(1)], "ai-title", &problems);
    }
}

#[test]
fn lone_surrogates_decode_to_replacement_characters() {
    for body in [r"\ud83d", r"a\ude00", r"\ud83dA", r"\ud83d\ud83d\ude00", r"\uD83D\n"] {
        let file = format!("{{\"type\":\"user\",\"uuid\":\"{body}\"}}\n");
        assert_read(file.as_bytes(), &[LineStatus::Parsed], "user", &[(1, 0, ProblemKind::LoneSurrogate)]);
        assert!(check::string(body));
    }
    let file = br#"{"type":"user","uuid":"\ud83d\ude00\\ud83d"}"#;
    assert_read(file, &[LineStatus::Parsed], "user", &[]);
}

#[test]
fn invalid_utf8_damages_only_itself() {
    let file = b"{\"type\":\"user\",\"uuid\":\"ab\xFF\xE2\x82c\"}\n";
    assert_read(file, &[LineStatus::Parsed], "user", &[(1, 25, ProblemKind::NotUtf8)]);
    let file = b"\xFF{\"type\":\"user\",\"uuid\":\"a\"}\n";
    assert_read(file, &[LineStatus::Recovered(1)], "user", &[(1, 0, ProblemKind::Damaged(1))]);
}

#[test]
fn deep_nesting_is_reported_and_needs_no_stack() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(2000), close.repeat(2000));
        let file = format!("{{\"type\":\"user\",\"uuid\":\"u\",\"toolUseResult\":{deep}}}\n");
        assert_read(file.as_bytes(), &[LineStatus::Parsed], "user", &[(1, 0, ProblemKind::Deep(2000))]);
        let file = format!("{}\n", open.repeat(100_000));
        let (statuses, ..) = read(file.as_bytes());
        assert_eq!(statuses, [LineStatus::Unparsable]);
    }
}

#[test]
fn invalid_token_counts_are_reported() {
    for count in ["18446744073709551616", "99999999999999999999999", "-1", "1.5", "1e3", "\"7\"", "[]"] {
        let file =
            format!("{{\"type\":\"assistant\",\"message\":{{\"usage\":{{\"output_tokens\":{count}}}}}}}\n");
        assert_read(file.as_bytes(), &[LineStatus::Parsed], "assistant", &[(1, 0, ProblemKind::BadCount)]);
    }
    for count in ["18446744073709551615", "null", "0"] {
        let file =
            format!("{{\"type\":\"assistant\",\"message\":{{\"usage\":{{\"output_tokens\":{count}}}}}}}\n");
        assert_read(file.as_bytes(), &[LineStatus::Parsed], "assistant", &[]);
    }
}

#[test]
fn invalid_timestamps_are_reported() {
    for stamp in [
        "\"\"",
        "\"yesterday\"",
        "\"2023-02-29T00:00:00Z\"",
        "\"9999-12-31T00:00:00Z\"",
        "true",
        "{}",
        "1e999",
    ] {
        let file = format!("{{\"type\":\"user\",\"timestamp\":{stamp}}}\n");
        assert_read(file.as_bytes(), &[LineStatus::Parsed], "user", &[(1, 0, ProblemKind::BadTimestamp)]);
    }
    for stamp in [
        "null",
        "\"2024-02-29T23:59:60Z\"",
        "\"2025-01-31T00:00:00.000Z\"",
        "\"2025-01-31T00:00:00.000000\"",
        "\"2025-01-31 00:00:00\"",
        "\"2025-01-31\"",
        "1735689600",
        "1735689600000.5",
    ] {
        let file = format!("{{\"type\":\"user\",\"timestamp\":{stamp}}}\n");
        assert_read(file.as_bytes(), &[LineStatus::Parsed], "user", &[]);
    }
}

#[test]
fn last_of_several_equal_keys_counts() {
    let lines = [
        r#"{"type":"user","type":5}"#,
        r#"{"type":"us\u0065r","uuid":"u","uuid":null}"#,
        r#"{"agentName":"x","type":"agent-name"}"#,
        r#"{"type":"progress","data":{"type":"bash_progress"},"data":5}"#,
        r#"{"type":"system","subtype":"compact\u005fboundary"}"#,
        r#"{"message":{"usage":{"input_tokens":"x"}},"message":{}}"#,
        r#"{"message":{"usage":{"input_tokens":"x"},"usage":null}}"#,
        r#"{"message":{"usage":{"cache_creation":{"ephemeral_1h_input_tokens":5},"cache_creation":{}}}}"#,
        r#"{"message":{"usage":{"cache_creation":{"ephemeral_1h_input_tokens":5},"cache_creation":1}}}"#,
        r#"{"message":{"usage":{"server_tool_use":{"web_search\u005frequests":5}}}}"#,
        r#"{"message":{"content":[{"type":"te\u0078t","text":"a"},{"type":"text","type":null}]}}"#,
        r#"{"message":{"model":"<synthetic>"},"message":5,"message":{"model":"m"}}"#,
        r#"{"message":{"model":"<synthetic>"},"message":5}"#,
        r#"{"level":"a","level":"b"}"#,
    ];
    for line in lines {
        assert_eq!(check::skimmer(line.as_bytes()), 1, "{line}");
    }
}

#[test]
fn long_lines_are_read_and_truncated() {
    let text = "a line of a log, with \\\"quotes\\\" and \\u00e9 and é\\n".repeat(40_000);
    let file = format!(
        "{{\"type\":\"user\",\"uuid\":\"u\",\"message\":{{\"content\":\"{text}\"}},\"cwd\":\"/x\"}}\n"
    );
    assert_read(file.as_bytes(), &[LineStatus::Parsed], "user", &[]);
    check::truncation(file.trim_end().as_bytes(), ChunkLengths(&[65_536]));
}

#[test]
fn lines_too_long_even_when_truncated_are_dropped() {
    let numbers = format!("{{\"x\":[{}1]}}", "123456789,".repeat(1 << 20));
    check::truncation(numbers.as_bytes(), ChunkLengths(&[65_536]));
    let mut truncator = rethread_core::lines::LineTruncator::default();
    numbers.as_bytes().chunks(65_536).for_each(|chunk| truncator.feed(chunk));
    assert_eq!(truncator.finish(), (None, numbers.len() as u64));
}

#[test]
fn truncation_keeps_characters_and_surrogate_pairs_whole() {
    for shift in 0..6 {
        for body in ["é", "漢", "😀", "\\n", "\\u00e9", "\\ud83d\\ude00"] {
            let line = format!("{{\"x\":\"{}{}\"}}", "x".repeat(shift), body.repeat(12_000));
            check::truncation(line.as_bytes(), ChunkLengths(&[1]));
            let mut truncator = rethread_core::lines::LineTruncator::default();
            truncator.feed(line.as_bytes());
            let kept = truncator.finish().0.unwrap_or_default();
            let (statuses, _, problems) = read(&kept);
            assert_eq!((statuses, problems), (vec![LineStatus::Parsed], vec![]), "{body} shifted by {shift}");
        }
    }
}

/// Some gateways write every field into every block.
#[test]
fn empty_field_does_not_replace_text() {
    let line = br#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hello","thinking":"","data":"","content":null},{"type":"tool_use","id":"t","input":{"a":1},"content":null}]}}"#;
    let line = Line { number: 1, offset: 0, bytes: line, unterminated: false };
    let mut seen = 0;
    entry::read_line(&line, &mut Vec::new(), |entry, _| {
        let blocks = entry.blocks();
        assert_eq!(blocks[0].text.map(|text| text.decode().into_owned()).as_deref(), Some("hello"));
        assert_eq!(blocks[1].body, Some(&br#"{"a":1}"#[..]));
        seen += 1;
    });
    assert_eq!(seen, 1);
}

//! The laws of lines and entries, and the cases that once went wrong or easily could.
//!
//! The laws stand in `rethread_testkit::check`, which the fuzzers call as well.

use proptest::prelude::*;
use rethread_core::entry::{self, LineStatus};
use rethread_core::lines::{Line, LineSplitter};
use rethread_core::problem::{Problem, ProblemKind};
use rethread_testkit::check::{self, Cuts};
use rethread_testkit::{random, script};

fn settings(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        1 => proptest::collection::vec(any::<u8>(), 0..400),
        3 => random::damaged(random::file()),
        2 => random::damaged(proptest::collection::vec(random::line(), 1..4).prop_map(|l| l.join("\n").into_bytes())),
    ]
}

proptest! {
    #![proptest_config(settings(512))]

    #[test]
    fn lines_are_the_same_at_once_and_in_pieces(bytes in any_bytes(), cuts in random::pieces()) {
        check::lines(&bytes, Cuts(&cuts));
    }

    #[test]
    fn every_line_is_accounted_for(bytes in any_bytes()) {
        check::entries(&bytes);
    }

    #[test]
    fn every_record_of_an_undamaged_file_is_an_entry(records in random::records()) {
        prop_assert_eq!(check::entries(&script::file(&records)), records.len());
        prop_assert_eq!(check::skim(&script::file(&records)), records.len());
    }

    #[test]
    fn the_skimmer_reads_damaged_bytes_like_a_full_parser(bytes in any_bytes()) {
        check::skim(&bytes);
    }

    #[test]
    fn the_skimmer_reads_any_value_like_a_full_parser(value in random::value()) {
        check::skim(value.as_bytes());
        check::skim(format!("{{\"x\":{value}}}").as_bytes());
    }

    #[test]
    fn strings_decode_as_in_a_full_parser(body in random::string_body()) {
        prop_assert!(check::text(&body));
    }

    #[test]
    fn condensing_changes_only_long_strings(bytes in any_bytes(), cuts in random::pieces()) {
        check::condense(&bytes, Cuts(&cuts));
    }
}

proptest! {
    #![proptest_config(settings(2048))]

    #[test]
    fn the_skimmer_reads_any_line_like_a_full_parser(line in random::object()) {
        prop_assert_eq!(check::skim(line.as_bytes()), 1);
    }

    #[test]
    fn timestamps_are_read_as_jiff_reads_them(stamp in random::timestamp()) {
        check::moment(&stamp);
    }
}

proptest! {
    #![proptest_config(settings(48))]

    #[test]
    fn long_strings_are_cut_at_a_character(
        body in random::string_body(),
        times in 1usize..4000,
        shift in 0usize..8,
        cuts in random::pieces(),
    ) {
        let long = format!("{}{}", "x".repeat(shift), body.repeat(times));
        let long = &long[..long.floor_char_boundary(200_000)];
        let long = if check::text(long) { long } else { "é" };
        let line = format!("{{\"uuid\":\"u\",\"content\":\"{long}\",\"é\":[1,\"{body}\"],\"type\":\"user\"}}");
        check::condense(line.as_bytes(), Cuts(&cuts));
    }
}

/// Reads a file; returns what became of its lines, the types of its entries, and its problems.
fn read(bytes: &[u8]) -> (Vec<LineStatus>, Vec<String>, Vec<Problem>) {
    let (mut fates, mut kinds, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    LineSplitter::default().feed(bytes, true, &mut problems, |line, problems| {
        fates.push(entry::read(&line, problems, |entry, _| {
            kinds.push(entry.kind.name().to_owned());
        }));
    });
    (fates, kinds, problems)
}

/// Checks fates, types and problems (line, byte, kind) of a file, and the laws.
#[track_caller]
fn torture(bytes: &[u8], fates: &[LineStatus], kinds: &str, problems: &[(u32, u64, ProblemKind)]) {
    let (found_fates, found_kinds, found) = read(bytes);
    let found: Vec<_> = found.into_iter().map(|p| (p.line, p.offset, p.kind)).collect();
    assert_eq!(found, problems, "problems");
    assert_eq!(found_fates, fates, "fates");
    assert_eq!(found_kinds.join(" "), kinds, "types");
    // A line fed in pieces is looked at again with each, so long files get longer pieces.
    check::lines(bytes, Cuts(&[1 + bytes.len() / 512]));
    check::entries(bytes);
    check::skim(bytes);
}

const USER: &str = r#"{"type":"user","uuid":"u"}"#;
const TITLE: &str = r#"{"type":"ai-title","aiTitle":"t","sessionId":"s"}"#;

#[test]
fn empty_files_and_blank_lines_are_nothing() {
    torture(b"", &[], "", &[]);
    torture(b"\n  \n\t\n", &[], "", &[]);
    torture(b"\xEF\xBB\xBF", &[], "", &[(1, 0, ProblemKind::Bom)]);
}

#[test]
fn two_bytes_are_a_line() {
    torture(b"{}\n", &[LineStatus::Whole], "None", &[]);
    torture(b"{}", &[LineStatus::Whole], "None", &[]);
}

#[test]
fn crlf_is_told_once() {
    let file = format!("{USER}\r\n\r\n{TITLE}\r\n");
    let problems = [(1, USER.len() as u64, ProblemKind::CrLf)];
    torture(file.as_bytes(), &[LineStatus::Whole, LineStatus::Whole], "user ai-title", &problems);
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_line() {
    let file = format!("\u{FEFF} {USER}\n");
    torture(file.as_bytes(), &[LineStatus::Whole], "user", &[(1, 0, ProblemKind::Bom)]);
    let later = format!("{TITLE}\n\u{FEFF}{USER}\n");
    let at = TITLE.len() as u64 + 1;
    let fates = [LineStatus::Whole, LineStatus::Salvaged(1)];
    torture(later.as_bytes(), &fates, "ai-title user", &[(2, at, ProblemKind::Damaged(3))]);
}

#[test]
fn nuls_before_between_and_behind_records_cost_nothing() {
    let file = format!("\0\0\0\0{USER}\n");
    torture(file.as_bytes(), &[LineStatus::Salvaged(1)], "user", &[(1, 0, ProblemKind::Nuls(4))]);
    let file = format!("{USER}\0\0{TITLE}\n");
    let at = USER.len() as u64;
    let problems = [(1, at, ProblemKind::Nuls(2)), (1, 0, ProblemKind::Glued(2))];
    torture(file.as_bytes(), &[LineStatus::Salvaged(2)], "user ai-title", &problems);
    let file = format!("{USER}\n{}", "\0".repeat(4096));
    let problems = [(2, at + 1, ProblemKind::Nuls(4096))];
    torture(file.as_bytes(), &[LineStatus::Whole, LineStatus::Lost], "user", &problems);
    let file = format!("{USER}{}", "\0".repeat(9));
    torture(file.as_bytes(), &[LineStatus::Salvaged(1)], "user", &[(1, at, ProblemKind::Nuls(9))]);
}

#[test]
fn nuls_and_control_bytes_inside_a_string_are_told() {
    let file = b"{\"type\":\"user\",\"uuid\":\"a\0\0b\"}\n";
    torture(file, &[LineStatus::Salvaged(1)], "user", &[(1, 24, ProblemKind::Nuls(2))]);
    let file = b"{\"type\":\"user\",\"uuid\":\"a\x01b\"}\n";
    torture(file, &[LineStatus::Salvaged(1)], "user", &[(1, 24, ProblemKind::ControlBytes)]);
}

#[test]
fn nuls_over_a_string_of_a_glued_record_are_told_once() {
    let file = format!("{{\"type\":\"user\",\"uuid\":\"a\0\0b\"}}{TITLE}\n");
    let problems = [(1, 24, ProblemKind::Nuls(2)), (1, 0, ProblemKind::Glued(2))];
    torture(file.as_bytes(), &[LineStatus::Salvaged(2)], "user ai-title", &problems);
}

#[test]
fn a_torn_last_line_is_told_wherever_it_is_torn() {
    for end in 1..USER.len() {
        let file = format!("{TITLE}\n{}", &USER[..end]);
        let at = TITLE.len() as u64 + 1;
        torture(
            file.as_bytes(),
            &[LineStatus::Whole, LineStatus::Lost],
            "ai-title",
            &[(2, at, ProblemKind::Torn)],
        );
    }
    let file = format!("{TITLE}\n{USER}");
    torture(file.as_bytes(), &[LineStatus::Whole, LineStatus::Whole], "ai-title user", &[]);
}

#[test]
fn a_line_torn_and_ended_is_not_json() {
    let file = format!("{}\n{TITLE}\n", &USER[..12]);
    torture(
        file.as_bytes(),
        &[LineStatus::Lost, LineStatus::Whole],
        "ai-title",
        &[(1, 0, ProblemKind::NotJson)],
    );
}

#[test]
fn what_is_json_but_no_object_is_told_as_such() {
    torture(
        b"[1,2]\n\"{\"\n5\n",
        &[LineStatus::Lost; 3],
        "",
        &[(1, 0, ProblemKind::NotObject), (2, 6, ProblemKind::NotObject), (3, 10, ProblemKind::NotObject)],
    );
    // A list of records is no record: no client reads what is in it.
    torture(
        b"[{\"type\":\"user\",\"uuid\":\"x\"}]\n",
        &[LineStatus::Lost],
        "",
        &[(1, 0, ProblemKind::NotObject)],
    );
    torture(
        b"5 5\nnope\n",
        &[LineStatus::Lost; 2],
        "",
        &[(1, 0, ProblemKind::NotJson), (2, 4, ProblemKind::NotJson)],
    );
}

#[test]
fn two_records_on_one_line_are_both_read() {
    let file = format!("{USER}{TITLE}\n");
    torture(file.as_bytes(), &[LineStatus::Salvaged(2)], "user ai-title", &[(1, 0, ProblemKind::Glued(2))]);
    let file = format!("{USER} {TITLE}{}", &USER[..9]);
    let at = (USER.len() + 1 + TITLE.len()) as u64;
    let problems = [(1, at, ProblemKind::Torn), (1, 0, ProblemKind::Glued(2))];
    torture(file.as_bytes(), &[LineStatus::Salvaged(2)], "user ai-title", &problems);
}

#[test]
fn a_whole_record_behind_half_of_one_is_read() {
    for end in 2..USER.len() {
        let file = format!("{}{TITLE}\n", &USER[..end]);
        let problems = [(1, 0, ProblemKind::Damaged(end as u64))];
        torture(file.as_bytes(), &[LineStatus::Salvaged(1)], "ai-title", &problems);
    }
}

#[test]
fn lone_surrogates_read_as_replacement_characters() {
    for body in [r"\ud83d", r"a\ude00", r"\ud83dA", r"\ud83d\ud83d\ude00", r"\uD83D\n"] {
        let file = format!("{{\"type\":\"user\",\"uuid\":\"{body}\"}}\n");
        torture(file.as_bytes(), &[LineStatus::Whole], "user", &[(1, 0, ProblemKind::LoneSurrogate)]);
        assert!(check::text(body));
    }
    let file = br#"{"type":"user","uuid":"\ud83d\ude00\\ud83d"}"#;
    torture(file, &[LineStatus::Whole], "user", &[]);
}

#[test]
fn bytes_that_are_not_utf8_cost_only_themselves() {
    let file = b"{\"type\":\"user\",\"uuid\":\"ab\xFF\xE2\x82c\"}\n";
    torture(file, &[LineStatus::Whole], "user", &[(1, 25, ProblemKind::NotUtf8)]);
    let file = b"\xFF{\"type\":\"user\",\"uuid\":\"a\"}\n";
    torture(file, &[LineStatus::Salvaged(1)], "user", &[(1, 0, ProblemKind::Damaged(1))]);
}

#[test]
fn deep_nesting_is_told_and_costs_no_stack() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(2000), close.repeat(2000));
        let file = format!("{{\"type\":\"user\",\"uuid\":\"u\",\"toolUseResult\":{deep}}}\n");
        torture(file.as_bytes(), &[LineStatus::Whole], "user", &[(1, 0, ProblemKind::Deep(2000))]);
        let file = format!("{}\n", open.repeat(100_000));
        let (fates, ..) = read(file.as_bytes());
        assert_eq!(fates, [LineStatus::Lost]);
    }
}

#[test]
fn counts_past_64_bits_count_as_nothing() {
    for count in ["18446744073709551616", "99999999999999999999999", "-1", "1.5", "1e3", "\"7\"", "[]"] {
        let file =
            format!("{{\"type\":\"assistant\",\"message\":{{\"usage\":{{\"output_tokens\":{count}}}}}}}\n");
        torture(file.as_bytes(), &[LineStatus::Whole], "assistant", &[(1, 0, ProblemKind::BadCount)]);
    }
    for count in ["18446744073709551615", "null", "0"] {
        let file =
            format!("{{\"type\":\"assistant\",\"message\":{{\"usage\":{{\"output_tokens\":{count}}}}}}}\n");
        torture(file.as_bytes(), &[LineStatus::Whole], "assistant", &[]);
    }
}

#[test]
fn timestamps_that_are_none_are_told() {
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
        torture(file.as_bytes(), &[LineStatus::Whole], "user", &[(1, 0, ProblemKind::BadTimestamp)]);
    }
    for stamp in
        ["null", "\"2024-02-29T23:59:60Z\"", "\"2025-01-31T00:00:00.000Z\"", "1735689600", "1735689600000.5"]
    {
        let file = format!("{{\"type\":\"user\",\"timestamp\":{stamp}}}\n");
        torture(file.as_bytes(), &[LineStatus::Whole], "user", &[]);
    }
}

#[test]
fn the_last_of_several_equal_keys_counts() {
    let same = [
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
    for line in same {
        assert_eq!(check::skim(line.as_bytes()), 1, "{line}");
    }
}

#[test]
fn lines_of_many_megabytes_are_read_whole_and_condensed() {
    let text = "a line of a log, with \\\"quotes\\\" and \\u00e9 and é\\n".repeat(40_000);
    let file = format!(
        "{{\"type\":\"user\",\"uuid\":\"u\",\"message\":{{\"content\":\"{text}\"}},\"cwd\":\"/x\"}}\n"
    );
    torture(file.as_bytes(), &[LineStatus::Whole], "user", &[]);
    check::condense(file.trim_end().as_bytes(), Cuts(&[65_536]));
}

#[test]
fn lines_too_intricate_to_condense_are_set_aside() {
    let numbers = format!("{{\"x\":[{}1]}}", "123456789,".repeat(1 << 20));
    check::condense(numbers.as_bytes(), Cuts(&[65_536]));
    let mut condenser = rethread_core::lines::LineTruncator::default();
    numbers.as_bytes().chunks(65_536).for_each(|piece| condenser.feed(piece));
    assert_eq!(condenser.finish(), (None, numbers.len() as u64));
}

#[test]
fn a_condensed_string_is_cut_before_a_character_and_between_pairs() {
    for shift in 0..6 {
        for body in ["é", "漢", "😀", "\\n", "\\u00e9", "\\ud83d\\ude00"] {
            let line = format!("{{\"x\":\"{}{}\"}}", "x".repeat(shift), body.repeat(12_000));
            check::condense(line.as_bytes(), Cuts(&[1]));
            let mut condenser = rethread_core::lines::LineTruncator::default();
            condenser.feed(line.as_bytes());
            let kept = condenser.finish().0.unwrap_or_default();
            let (fates, _, problems) = read(&kept);
            assert_eq!((fates, problems), (vec![LineStatus::Whole], vec![]), "{body} shifted by {shift}");
        }
    }
}

/// Some gateways write every field into every block.
#[test]
fn an_empty_field_takes_no_words_away() {
    let line = br#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hello","thinking":"","data":"","content":null},{"type":"tool_use","id":"t","input":{"a":1},"content":null}]}}"#;
    let line = Line { no: 1, offset: 0, bytes: line, unterminated: false };
    let mut seen = 0;
    entry::read(&line, &mut Vec::new(), |entry, _| {
        let blocks = entry.blocks();
        assert_eq!(blocks[0].words.map(|words| words.decode().into_owned()).as_deref(), Some("hello"));
        assert_eq!(blocks[1].body, Some(&br#"{"a":1}"#[..]));
        seen += 1;
    });
    assert_eq!(seen, 1);
}

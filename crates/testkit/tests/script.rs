//! The script language.

use rethread_core::entry::{self, LineStatus};
use rethread_core::lines::LineSplitter;
use rethread_testkit::script::{self, name_from_uuid};

/// Writes a script and lists its lines: type, short names of entry, parent and logical parent or leaf, role, time.
fn list_lines(source: &str) -> String {
    let bytes = script::bytes(source);
    let mut out = String::new();
    LineSplitter::default().feed(&bytes, true, &mut Vec::new(), |line, problems| {
        let status = entry::read_line(&line, problems, |entry, _| {
            let short_name = |text: Option<entry::JsonStr<'_>>| {
                text.map_or("-".into(), |text| {
                    name_from_uuid(&text.decode()).unwrap_or_else(|| text.decode().into())
                })
            };
            let link = entry.logical_parent_uuid.or(entry.leaf_uuid);
            let time = entry.time().map_or(-1, |timestamp| timestamp.0 / 1000 - 1_735_689_600);
            let columns = [
                short_name(entry.uuid),
                short_name(entry.parent_uuid),
                short_name(link),
                entry.role().name().into(),
            ];
            out += &format!("{} {} @{time}\n", entry.kind.name(), columns.join(" "));
        });
        assert_eq!(status, LineStatus::Parsed);
        assert_eq!(problems, &[]);
    });
    out
}

#[track_caller]
fn check(source: &str, expected: &str) {
    assert_eq!(list_lines(source), expected);
}

#[test]
fn indentation_determines_the_parent() {
    check(
        "u1: tidy the shed\n  a1: one\n    u2: go on\n  a2: two <- tip\nu9 ^: below a2\n",
        "user u1 - - prompt @0\nassistant a1 u1 - answer @1\nuser u2 a1 - prompt @2\n\
         assistant a2 u1 - answer @3\nuser u9 a2 - prompt @4\n",
    );
}

#[test]
fn marks_set_the_other_fields() {
    check(
        "# a comment\n\n* v=2.1.73 session=other\nu1 meta side @+30: hello\n  u1 ^missing @none: again\n\
         a1 ^null #m1 out=9: ?hm | !Bash ls | !Read x\n  u2: =a1 rake | =!a1.2 gone\n    s1: compact_boundary\n\
         s2 ^u2: turn_duration 1200\np1 ^s2 ~a1: bash_progress so far\nt1 ^: queued_command and\\nthe hose\n\
         summary ~u2: Shed\nlast-prompt ~a1: hello\ncustom-title: Mine\nai-title: Shed\n\
         file-history-snapshot ~u1 update: a/b.txt\n",
        "user u1 - - meta @29\nuser u1 missing - prompt @-1\nassistant a1 - - answer @31\nuser u2 a1 - results @32\n\
         system s1 - u2 compact-boundary @33\nsystem s2 u2 - structural @34\nprogress p1 s2 - structural @35\n\
         attachment t1 p1 - prompt @36\nsummary - - u2 state @-1\nlast-prompt - - a1 state @-1\n\
         custom-title - - - state @-1\nai-title - - - state @-1\nfile-history-snapshot - - - state @-1\n",
    );
}

#[test]
fn keys_have_the_order_of_the_client() {
    let file = String::from_utf8_lossy(&script::bytes("u1: say \"hi\"\n")).into_owned();
    let expected = concat!(
        r#"{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/ann/garden","#,
        r#""sessionId":"73657373-696f-406e-8000-000000000000","version":"2.1.101","gitBranch":"main","#,
        r#""type":"user","message":{"role":"user","content":"say \"hi\""},"#,
        r#""uuid":"75310000-0000-4000-8000-000000000000","timestamp":"2025-01-01T00:00:00.000Z"}"#,
        "\n"
    );
    assert_eq!(file, expected);
}

#[test]
fn raw_lines_are_written_unchanged() {
    assert_eq!(script::bytes("raw: {\"half\nu1: x\n").split(|b| *b == b'\n').next(), Some(&b"{\"half"[..]));
}

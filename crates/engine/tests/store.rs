//! Lists and finds sessions of a store: titles, links, subagents in all four layouts, session names.

#![expect(clippy::disallowed_methods, reason = "the test writes the store that it reads")]

use std::path::{Path, PathBuf};

use rethread_engine::core::entry::ProgressKind;
use rethread_engine::core::session::TitleSource;
use rethread_engine::ops;
use rethread_engine::ops::list::{SessionFilter, SessionLinks, SessionRow};
use rethread_engine::records::{ContentBlock, SessionRecords};
use rethread_engine::{Error, Roots};
use rethread_testkit::script;
use tempfile::TempDir;

struct TestStore {
    folder: TempDir,
}

const A: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const B: &str = "bbbbbbbb-0000-4000-8000-000000000002";
const C: &str = "bbbbcccc-0000-4000-8000-000000000003";

impl TestStore {
    fn new() -> TestStore {
        TestStore { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("projects").join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be created");
        std::fs::write(&path, bytes).expect("the file can be written");
        path
    }

    /// Writes a session from a script.
    fn write_session(&self, id: &str, text: &str) -> PathBuf {
        self.write(&format!("-home-ada-shed/{id}.jsonl"), &script::bytes(text))
    }

    fn roots(&self) -> Roots {
        Roots::new(vec![self.folder.path().to_owned()])
    }

    fn rows(&self) -> Vec<SessionRow> {
        let list = ops::list::list_sessions(
            &self.roots(),
            &SessionFilter { all: true, ..SessionFilter::default() },
            None,
        );
        assert!(list.failures.is_empty(), "{:?}", list.failures);
        list.rows
    }

    fn row(&self, id: &str) -> SessionRow {
        self.rows().into_iter().find(|row| row.id == id).expect("the session is listed")
    }
}

#[test]
fn title_with_the_highest_priority_is_used() {
    let store = TestStore::new();
    store.write_session(A, "u1: tidy the shed\n  a1: done");
    assert_eq!(store.row(A).title.text, "tidy the shed");
    // A summary refers to an entry, which may be in another file.
    store.write_session(B, "summary ~a1: A tidy shed\nu2: something else\n  a2: fine");
    assert_eq!(
        (store.row(A).title.text.as_str(), store.row(A).title.source),
        ("A tidy shed", TitleSource::Summary)
    );
    assert_eq!(store.row(B).title.text, "something else");
    store.write_session(A, "ai-title: Shed tidying\nu1: tidy the shed\n  a1: done");
    assert_eq!(store.row(A).title.source, TitleSource::Ai);
    store.write_session(
        A,
        "custom-title: first name\nai-title: Shed\nu1: tidy\n  a1: done\ncustom-title: my shed",
    );
    assert_eq!(
        (store.row(A).title.text.as_str(), store.row(A).title.source),
        ("my shed", TitleSource::Custom)
    );
}

#[test]
fn plans_forks_and_copies_are_linked() {
    let store = TestStore::new();
    store.write_session(A, "u1 +slug=\"green-shed\": plan a shed\n  a1 #m1: here it is");
    store.write_session(
        B,
        "* session=other\nu2 @+60 +slug=\"green-shed\": Implement the following plan:\\n\\n# Shed\n  a2 #m2: built",
    );
    let fork = format!(
        "u1 +forkedFrom={{\"sessionId\":\"{A}\",\"messageUuid\":\"x\"}}: plan a shed\n  a1 #m1: here it is"
    );
    store.write_session(C, &fork);
    assert_eq!(store.row(A).links.implementation.as_deref(), Some(B));
    assert_eq!(store.row(B).links.plan.as_deref(), Some(A));
    let SessionLinks { forked_from, copies, .. } = store.row(C).links;
    assert_eq!((forked_from.as_deref(), copies), (Some(A), vec![A.to_owned()]));
}

/// A session that starts a subagent, and the conversation of the subagent.
const MAIN: &str =
    "u1: look around\n  a1: !Task look in the shed\n    u2: =a1 a rake\n      a2: there is a rake";
const AGENT: &str =
    "u8 side +agentId=\"a0000001\": look in the shed\n  a8 side +agentId=\"a0000001\": a rake";

fn list_agents(path: &Path) -> Vec<(String, usize, Option<u32>)> {
    let rows = ops::agents::list_agents(path).expect("agents can be listed").rows;
    rows.into_iter().map(|row| (row.id, row.depth, row.call_line)).collect()
}

/// Writes a script with `prompt` instead of `command` in its tool calls, as in calls that start subagents.
fn bytes_with_prompt(text: &str) -> Vec<u8> {
    let bytes = String::from_utf8(script::bytes(text)).expect("a script is UTF-8");
    bytes.replace("\"command\":", "\"prompt\":").into_bytes()
}

#[test]
fn agents_are_found_in_all_four_layouts() {
    let store = TestStore::new();
    let folder = "-home-ada-shed";
    // In the session file, as clients 1.x write them.
    let inline = format!("{MAIN}\nu8 side: look in the shed\n  a8 side: a rake");
    let path = store.write(&format!("{folder}/{A}.jsonl"), &bytes_with_prompt(&inline));
    assert_eq!(list_agents(&path), [("L5".to_owned(), 1, Some(2))]);
    // In the project folder.
    let with_session = |text: &str| format!("* session={}\n{text}", "x");
    let main = String::from_utf8(bytes_with_prompt(&with_session(MAIN))).expect("UTF-8");
    let session =
        main.split("\"sessionId\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an id");
    let path = store.write(&format!("{folder}/{session}.jsonl"), main.as_bytes());
    let agent = bytes_with_prompt(&with_session(AGENT));
    store.write(&format!("{folder}/agent-a0000001.jsonl"), &agent);
    assert_eq!(list_agents(&path), [("a0000001".to_owned(), 1, Some(2))]);
    // In the folder of the session.
    std::fs::remove_file(store.path(&format!("{folder}/agent-a0000001.jsonl"))).expect("the file exists");
    store.write(&format!("{folder}/{session}/subagents/agent-a0000001.jsonl"), &agent);
    assert_eq!(list_agents(&path), [("a0000001".to_owned(), 1, Some(2))]);
    // With a meta file that names the parent agent.
    let meta = br#"{"agentType":"general-purpose","description":"Inner","parentAgentId":"a0000001"}"#;
    store.write(&format!("{folder}/{session}/subagents/agent-a0000002.meta.json"), meta);
    let inner =
        with_session("u9 side +agentId=\"a0000002\": count the rakes\n  a9 side +agentId=\"a0000002\": one");
    store.write(&format!("{folder}/{session}/subagents/agent-a0000002.jsonl"), &bytes_with_prompt(&inner));
    let depths: Vec<_> = list_agents(&path).into_iter().map(|(id, depth, _)| (id, depth)).collect();
    assert_eq!(depths, [("a0000001".to_owned(), 1), ("a0000002".to_owned(), 2)]);
    assert_eq!(store.row(session).agents, 2);
}

#[test]
fn session_is_found_by_id_prefix_path_title_or_last() {
    let store = TestStore::new();
    let first = store.write_session(A, "u1: tidy the shed\n  a1: done");
    let second = store.write_session(B, "u2 @2025-06-01T00:00:00.000Z: paint the shed\n  a2: done");
    store.write_session(C, "u3: feed the hens\n  a3: done");
    let find = |name: &str| ops::resolve::find_session(&store.roots(), name, None);
    assert_eq!(find(A).expect("by id"), first);
    assert_eq!(find("aaaa").expect("by prefix"), first);
    assert_eq!(find(first.to_str().expect("UTF-8")).expect("by path"), first);
    assert_eq!(find("paint").expect("by title"), second);
    assert_eq!(find("last").expect("the last"), second);
    assert!(matches!(find("bbbb"), Err(Error::AmbiguousSession { candidates, .. }) if candidates.len() == 2));
    assert!(matches!(find("shed"), Err(Error::AmbiguousSession { candidates, .. }) if candidates.len() == 2));
    let Err(Error::UnknownSession { nearest, .. }) = find("fed the hen") else { panic!("no such session") };
    assert_eq!(nearest[0].0, C, "the most similar name is first");
}

#[test]
fn line_of_40_megabytes_can_be_read() {
    let store = TestStore::new();
    let mut bytes = script::bytes("u1: look\n  a1: !Read big");
    let result =
        String::from_utf8(script::bytes("u1: look\n  a1: !Read big\n    u2: =a1 THERE")).expect("UTF-8");
    let line = result.lines().nth(2).expect("a third line");
    let (before, after) = line.split_once("THERE").expect("the result");
    bytes.extend_from_slice(before.as_bytes());
    bytes.resize(bytes.len() + (40 << 20), b'x');
    bytes.extend_from_slice(after.as_bytes());
    bytes.extend_from_slice(b"\n");
    bytes.extend_from_slice(result.lines().next().expect("a first line").as_bytes());
    let path = store.write(&format!("-home-ada-shed/{A}.jsonl"), &bytes);
    let row = store.row(A);
    assert_eq!((row.info.lines, row.info.problem_count), (4, 1), "four lines, the last repeats the first");
    let counts = ops::stats::collect_stats(&Roots::new(vec![path]), false, None).counts;
    assert_eq!((counts.total.tool_uses, counts.total.tool_uses_unpaired, counts.total.malformed), (1, 0, 0));
}

#[test]
fn show_uses_a_title_from_another_file() {
    let store = TestStore::new();
    let path = store.write_session(A, "* v=2.0.65\nu1: tidy the shed\n  a1: done");
    store.write_session(B, "summary ~a1: A tidy shed\n* v=2.0.65\nu2: something else\n  a2: fine");
    let show = ops::show::show_session(&ops::show::ShowRequest { path, ..Default::default() })
        .expect("the session can be shown");
    assert_eq!(show.session.title.text, "A tidy shed");
}

#[test]
fn summary_of_a_subagent_is_not_a_title() {
    let store = TestStore::new();
    let inline = format!("{MAIN}\nu8 side: look in the shed\n  a8 side: a rake");
    store.write_session(A, &format!("summary ~a8: Looking for rakes\n{inline}"));
    assert_eq!((store.row(A).title.text.as_str(), store.row(A).agents), ("look around", 1));
}

#[test]
fn last_session_is_found_if_its_last_line_is_long() {
    let store = TestStore::new();
    store.write_session(A, "u1: old\n  a1: done");
    let text =
        format!("u2 @2025-06-01T00:00:00.000Z: look\n  a2: !Read big\n    u3: =a2 {}", "x".repeat(300_000));
    let path = store.write_session(B, &text);
    assert_eq!(ops::resolve::find_session(&store.roots(), "last", None).expect("the last"), path);
}

#[test]
fn file_reachable_by_two_paths_is_one_session() {
    let store = TestStore::new();
    let path = store.write_session(A, "u1: tidy the shed\n  a1: done");
    let folder = path.parent().expect("a folder");
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder, store.path("linked")).expect("a link");
    assert_eq!(store.rows().len(), 1);
    assert_eq!(
        ops::resolve::find_session(&store.roots(), A, None).expect("by id").file_name(),
        path.file_name()
    );
    // If two files have the same id, only their paths are unambiguous.
    store.write(&format!("-elsewhere/{A}.jsonl"), &script::bytes("u1: tidy the shed\n  a1: done"));
    let Err(Error::AmbiguousSession { candidates, .. }) = ops::resolve::find_session(&store.roots(), A, None)
    else {
        panic!("two files have this id")
    };
    for (name, _) in candidates {
        ops::resolve::find_session(&store.roots(), &name, None).expect("a candidate can be resolved");
    }
}

#[cfg(unix)]
#[test]
fn named_pipes_are_ignored() {
    let store = TestStore::new();
    let path = store.write_session(A, "u1: tidy the shed\n  a1: done");
    let folder = path.parent().expect("a folder");
    for name in ["agent-a1.jsonl", "pipe.jsonl"] {
        let status =
            std::process::Command::new("mkfifo").arg(folder.join(name)).status().expect("mkfifo runs");
        assert!(status.success());
    }
    assert_eq!(store.rows().len(), 1);
    assert!(ops::agents::list_agents(&path).expect("agents can be listed").rows.is_empty());
    assert_eq!(ops::stats::collect_stats(&store.roots(), false, None).counts.files, 1);
}

#[test]
fn empty_file_is_a_session_and_a_folder_is_not() {
    let store = TestStore::new();
    store.write_session(A, "u1: tidy the shed\n  a1: done");
    store.write(&format!("-home-ada-shed/{B}.jsonl"), b"");
    std::fs::create_dir_all(store.path("-home-ada-shed/folder.jsonl")).expect("the folder can be created");
    let rows = store.rows();
    assert_eq!(rows.len(), 2, "the empty file is a session, the folder is not");
    assert!(rows.iter().any(|row| row.info.is_empty()));
}

#[test]
fn records_have_the_typed_fields_of_their_lines() {
    let store = TestStore::new();
    let script = "u1 +permissionMode=\"plan\" +todos=[1] +thinkingMetadata={\"level\":\"high\"}: tidy\n  \
        a1: !Bash ls\n    u2 +sourceToolAssistantUUID=\"x\": =a1 rake\n      p1: plan_mode on\n        u3: look | [image]\n\
        raw: {\"type\":\"summary\",\"summary\":\"shed\",\"leafUuid\":\"y\",\"version\":\"1\"}\n";
    let path = store.write_session(A, script);
    let records = SessionRecords::open(&path).expect("the file exists");
    let users: Vec<_> = records.users().map(|user| user.expect("a record")).collect();
    assert_eq!(users[0].permission_mode.as_deref(), Some("plan"));
    assert_eq!(users[0].todos.as_deref(), Some("[1]"));
    assert_eq!(users[0].thinking_metadata.as_deref(), Some("{\"level\":\"high\"}"));
    assert_eq!(users[0].source_tool_assistant_uuid, None);
    assert_eq!(users[1].source_tool_assistant_uuid.as_deref(), Some("x"));
    let image = ContentBlock::Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() };
    assert_eq!(users[2].content, [ContentBlock::Text("look".into()), image]);
    let progress = records.progress().next().expect("a progress line").expect("a record");
    assert_eq!(progress.kind, ProgressKind::PlanMode);
    let summary = records.summaries().next().expect("a summary").expect("a record");
    assert_eq!((summary.format_version.as_deref(), summary.header.version), (Some("1"), None));
}

/// The client deletes a session 30 days after its last change, at its next start.
#[test]
fn retention_findings_depend_on_the_exact_time() {
    use ops::doctor::StoreCode;
    use rethread_engine::core::check::Severity;
    const DAY: std::time::Duration = std::time::Duration::from_secs(86_400);
    let store = TestStore::new();
    let path = store.write_session(A, "u1: one\n  a1: one");
    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
    let location = ops::archive::ArchiveLocation {
        dir: store.folder.path().join("archive"),
        machine_id: "m".to_owned(),
        machine_name: "laptop".to_owned(),
    };
    let find = |now: std::time::SystemTime, code: StoreCode| {
        let archive = Some(location.clone());
        let request = ops::doctor::DoctorRequest { now, archive, ..Default::default() };
        let report = ops::doctor::check_store(&store.roots(), &request);
        let finding = report.store_findings.into_iter().find(|finding| finding.code == code);
        finding.map(|finding| (finding.severity, finding.days.unwrap_or(0), finding.due_count))
    };
    let second = std::time::Duration::from_secs(1);
    for (now, expected) in [
        (modified + DAY * 23, None),
        (modified + DAY * 23 + second, Some((Severity::Warning, 6, 0))),
        (modified + DAY * 27 - second, Some((Severity::Warning, 3, 0))),
        (modified + DAY * 27, Some((Severity::Error, 3, 0))),
        (modified + DAY * 30 - second, Some((Severity::Error, 0, 0))),
        (modified + DAY * 30, Some((Severity::Error, 0, 1))),
        (modified + DAY * 300, Some((Severity::Error, 0, 1))),
        // The clock went backwards.
        (modified - DAY * 100, None),
    ] {
        assert_eq!(find(now, StoreCode::ExpiresSoon), expected, "{:?}", now.duration_since(modified));
        assert_eq!(find(now, StoreCode::ArchiveMissing), Some((Severity::Info, 0, 0)));
    }
    let millis = modified.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap().as_millis();
    let run_at = rethread_engine::core::entry::Timestamp(i64::try_from(millis).unwrap());
    let update = ops::archive::update_archive(&location, &store.roots(), &[], run_at).unwrap();
    assert_eq!(update.created, 1);
    for (now, expected) in [
        (modified + DAY * 7 - second, None),
        (modified + DAY * 7 + second, Some((Severity::Warning, 7, 0))),
        (modified - DAY * 100, None),
    ] {
        assert_eq!(find(now, StoreCode::ArchiveOld), expected, "{:?}", now.duration_since(modified));
        assert_eq!(find(now, StoreCode::ArchiveMissing), None);
    }
    let due = modified + DAY * 31;
    assert_eq!(find(due, StoreCode::ExpiresSoon), None, "nothing is lost");
    assert_eq!(find(due, StoreCode::ExpiresArchived), Some((Severity::Info, 0, 1)));
}

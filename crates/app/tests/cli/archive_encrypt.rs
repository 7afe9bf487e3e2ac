//! `archive sync --encrypt-to` and `--identity`.
#![expect(clippy::disallowed_methods, reason = "tests change their own store and archive")]

use rethread_testkit::home::Home;
use rethread_testkit::script;

/// A key pair that was created for this test.
const PUBLIC_KEY: &str = "age1ey2wtmruq2ftxh27ly28egsyy2nl7e98y4j9cxpc5p3axvg9mees357xjy";

fn new_archived_home() -> Home {
    let home = Home::new(env!("CARGO_BIN_EXE_rethread"));
    home.write_old(&session_path(), script::bytes("u1: one\n  a1: first"));
    let run = home.run(&["archive"]);
    assert_eq!(run.code, 0, "{}", run.err);
    std::fs::create_dir(home.path().join("place")).unwrap();
    home
}

fn session_path() -> String {
    ".claude/projects/-home-ann-shop/aaaaaaaa-0000-4000-8000-000000000001.jsonl".to_owned()
}

fn place(home: &Home) -> String {
    home.path().join("place").to_str().expect("the path is text").to_owned()
}

#[cfg(not(feature = "encrypt"))]
#[test]
fn a_build_without_encryption_says_how_to_get_it() {
    let home = new_archived_home();
    for option in ["--encrypt-to", "--identity"] {
        let run = home.run(&["archive", "sync", &place(&home), option, PUBLIC_KEY]);
        assert_eq!(run.code, 2);
        assert!(run.err.contains("error: this build cannot encrypt"), "{}", run.err);
        assert!(run.err.contains("--features encrypt"), "{}", run.err);
    }
    assert_eq!(std::fs::read_dir(place(&home)).unwrap().count(), 0);
    let schedule = ["archive", "schedule", "--dry-run", "--sync", &place(&home), "--encrypt-to", PUBLIC_KEY];
    assert!(home.run(&schedule).err.contains("error: this build cannot encrypt"));
}

#[cfg(feature = "encrypt")]
mod with_encryption {
    use std::path::Path;

    use super::*;
    use crate::crash_campaign::FAULTS;

    const SECRET_KEY: &str = "AGE-SECRET-KEY-1JGVH95M6YRNXJX5WK88Q70RDX9Y2PJFL7Z59RWALNUG3DLFM3NXSZLXUZE";

    /// Runs a synchronisation with the archive of another machine.
    fn sync(home: &Home, options: &[&str]) -> rethread_testkit::home::RunOutput {
        let place = place(home);
        let words: Vec<&str> = ["archive", "sync", &place].iter().chain(options).copied().collect();
        home.run(&words)
    }

    #[test]
    fn a_lost_archive_is_restored_from_an_encrypted_place() {
        let home = new_archived_home();
        let key = home.write("key.txt", SECRET_KEY);
        let key = key.to_str().expect("the path is text");
        let pushed = sync(&home, &["--encrypt-to", PUBLIC_KEY]);
        assert_eq!(pushed.code, 0, "{}", pushed.err);
        assert!(pushed.out.starts_with("copied 2 files"), "{}", pushed.out);
        let again = sync(&home, &["--encrypt-to", PUBLIC_KEY]);
        assert!(again.out.starts_with("copied 0 files (0 B) there and 0 files"), "{}", again.out);
        let original = std::fs::read(home.path().join(session_path())).unwrap();
        std::fs::remove_file(home.path().join(session_path())).unwrap();
        let archive = home.path().join(".local/share/rethread/archive");
        std::fs::remove_dir_all(archive).unwrap();
        let pulled = sync(&home, &["--identity", key]);
        assert!(pulled.out.contains("and 2 files"), "{}{}", pulled.out, pulled.err);
        let restored = home.run(&["restore", "aaaaaaaa"]);
        assert_eq!(restored.code, 0, "{}", restored.err);
        assert_eq!(std::fs::read(home.path().join(session_path())).unwrap(), original);
    }

    #[test]
    fn wrong_keys_and_places_have_clear_errors() {
        let home = new_archived_home();
        let secret = sync(&home, &["--encrypt-to", SECRET_KEY]);
        assert!(!secret.err.contains(SECRET_KEY) && secret.err.contains("age1"), "{}", secret.err);
        assert_eq!(sync(&home, &["--encrypt-to", PUBLIC_KEY]).code, 0);
        let plain = sync(&home, &[]);
        assert_eq!(plain.code, 2);
        assert!(plain.err.contains("is encrypted") && plain.err.contains("--identity"), "{}", plain.err);
        let other = home.write("other.txt", OTHER_SECRET_KEY);
        let refused =
            sync(&home, &["--to", "fresh", "--identity", other.to_str().expect("the path is text")]);
        assert_eq!(refused.code, 2);
        assert!(refused.err.contains("the identity cannot decrypt"), "{}", refused.err);
    }

    #[test]
    fn a_schedule_has_public_keys_only() {
        let home = new_archived_home();
        let schedule = |key: &str| {
            home.run(&["archive", "schedule", "--dry-run", "--sync", &place(&home), "--encrypt-to", key])
        };
        let refused = schedule(SECRET_KEY);
        assert_eq!(refused.code, 2, "{}", refused.out);
        assert!(!(refused.err.clone() + &refused.out).contains(SECRET_KEY), "{}", refused.err);
        let accepted = schedule(PUBLIC_KEY);
        assert_eq!(accepted.code, 0, "{}", accepted.err);
        assert!(
            accepted.out.contains(PUBLIC_KEY) && accepted.err.contains("--encrypt-to"),
            "{}",
            accepted.err
        );
        assert_eq!(sync(&home, &["--encrypt-to", PUBLIC_KEY]).code, 0);
        home.append(&session_path(), "{}\n");
        let run = home.run(&["archive", "--sync", &place(&home), "--encrypt-to", PUBLIC_KEY]);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.out.contains("copied 2 files"), "{}", run.out);
        home.write("plain/machines/x/manifest", "");
        let plain = home.path().join("plain").display().to_string();
        let plain =
            home.run(&["archive", "schedule", "--dry-run", "--sync", &plain, "--encrypt-to", PUBLIC_KEY]);
        assert_eq!((plain.code, plain.out.as_str()), (2, ""), "{}", plain.err);
    }

    /// The fixture contains an encrypted place with two packs, a session in two states, and a subagent. Its folder `expected` has
    /// the newest files, and `key.txt` a key for this test only.
    #[test]
    fn the_frozen_encrypted_place_is_read() {
        let home = Home::new(env!("CARGO_BIN_EXE_rethread"));
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/archive-1-encrypted");
        let place = fixture.join("place").display().to_string();
        let key = fixture.join("key.txt").display().to_string();
        let before = list_files(&fixture);
        let pulled = home.run(&["archive", "sync", &place, "--identity", &key]);
        assert_eq!(pulled.code, 0, "{}", pulled.err);
        let verified = home.run(&["archive", "verify", "--deep"]);
        assert_eq!(verified.code, 0, "{}", verified.out);
        let into = home.path().join("into");
        let restored = home.run(&["archive", "restore", "aaaaaaaa", "--into", &into.display().to_string()]);
        assert_eq!(restored.code, 0, "{}", restored.err);
        let expected = list_files(&fixture.join("expected"));
        assert!(expected.len() >= 2, "{expected:?}");
        for (path, bytes) in expected {
            let found = std::fs::read(into.join(&path));
            assert!(found.is_ok_and(|found| found == bytes), "{}", path.display());
        }
        let first = home.run(&["show", "aaaaaaaa@1", "--plain"]);
        assert!(first.out.contains("the first state"), "{}{}", first.out, first.err);
        assert_eq!(list_files(&fixture), before, "the fixture is not changed");
    }

    /// Returns the files below a folder by their paths in it, sorted.
    fn list_files(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(&next).expect("the folder can be read") {
                let path = entry.expect("the entry can be read").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let bytes = std::fs::read(&path).expect("the file can be read");
                files.push((path.strip_prefix(folder).expect("it is below the folder").to_owned(), bytes));
            }
        }
        files.sort();
        files
    }

    /// Returns the archived content of the session after a pull into a new archive.
    #[track_caller]
    fn pull(home: &Home, key: &str, context: &str) -> Vec<u8> {
        let folder = tempfile::tempdir_in(home.path()).expect("a temporary folder can be created");
        let (fresh, into) = (folder.path().join("fresh"), folder.path().join("into"));
        let (fresh, into) = (fresh.display().to_string(), into.display().to_string());
        let pulled = home.run(&["archive", "--to", &fresh, "sync", &place(home), "--identity", key]);
        assert_eq!(pulled.code, 0, "{context}: {}", pulled.err);
        let restored = home.run(&["archive", "--to", &fresh, "restore", "aaaaaaaa", "--into", &into]);
        assert_eq!(restored.code, 0, "{context}: {}", restored.err);
        let path = session_path();
        let path = path.strip_prefix(".claude/").expect("it is in the folder of the client");
        std::fs::read(Path::new(&into).join(path)).expect("the file was restored")
    }

    /// Each file system call of a push and of a pull fails in turn, or is the last one of the process.
    #[test]
    fn every_failing_call_leaves_the_old_or_the_new_state() {
        for (fault_idx, fault) in FAULTS.iter().enumerate() {
            for (option, is_first) in [("--encrypt-to", false), ("--encrypt-to", true), ("--identity", false)]
            {
                let mut interrupted = 0;
                for call in (1 + fault_idx..).step_by(9) {
                    let context = format!("{option}, first {is_first}, {fault}, call {call}");
                    let home = new_archived_home();
                    let key = home.write("key.txt", SECRET_KEY).display().to_string();
                    if !is_first {
                        assert_eq!(sync(&home, &["--encrypt-to", PUBLIC_KEY]).code, 0, "{context}");
                    }
                    let old = std::fs::read(home.path().join(session_path())).unwrap();
                    home.append(&session_path(), "{}\n");
                    let new = std::fs::read(home.path().join(session_path())).unwrap();
                    assert_eq!(home.run(&["archive"]).code, 0, "{context}");
                    let fresh = home.path().join("fresh").display().to_string();
                    let (place, is_push) = (place(&home), option == "--encrypt-to");
                    let mut args = vec!["archive", "sync", &place, option];
                    args.extend(if is_push { vec![PUBLIC_KEY] } else { vec![&key, "--to", &fresh] });
                    let mut command = home.command(&args);
                    command.env("RETHREAD_FAULT", fault.replace('N', &call.to_string()));
                    let is_done = command.output().expect("the program can be started").status.success();
                    interrupted += usize::from(!is_done);
                    let verified = home.run(&["archive", "--to", &fresh, "verify", "--deep"]);
                    assert!(verified.code < 2, "{context}: {}", verified.err);
                    if !is_first {
                        let found = pull(&home, &key, &context);
                        assert!(found == new || found == old, "{context}: {} bytes", found.len());
                    }
                    // The next run completes it.
                    let next = home.run(&args);
                    assert_eq!(next.code, 0, "{context}: {}", next.err);
                    let verified = home.run(&["archive", "--to", &fresh, "verify", "--deep"]);
                    assert_eq!(verified.code, 0, "{context}: {}{}", verified.out, verified.err);
                    assert!(!is_push || pull(&home, &key, &context) == new, "{context}");
                    if is_done && call > 40 {
                        break;
                    }
                }
                assert!(interrupted > 0, "{option}, {fault}: {interrupted} interrupted");
            }
        }
    }

    const OTHER_SECRET_KEY: &str =
        "AGE-SECRET-KEY-1U3J8K0PMVF0QU0PU00NQAEF7MTH9NYNE5K0AR8CHTTM659ZR0WGQM7H263";
}

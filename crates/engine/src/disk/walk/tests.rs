//! Walks over real folders with symbolic links.

#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use rethread_testkit::home::Home;

use super::{DirCache, Error, FolderWalk, WalkLimits};

/// Creates files. `a -> b` creates a link `a` with the target `b`, in a folder that need not exist.
fn create(home: &Home, items: &[&str]) {
    for item in items {
        let Some((path, target)) = item.split_once(" -> ") else {
            home.write(item, b"");
            continue;
        };
        let marker = Path::new(path).with_file_name("marker");
        home.write(marker.to_str().unwrap(), b"");
        symlink(target, home.path().join(path)).unwrap();
    }
}

/// Walks below the named folders. Returns the paths of the files in the order of visits, and the failures.
fn walk(base: &Path, roots: &[&str], limits: WalkLimits) -> (Vec<String>, Vec<Error>) {
    let roots: Vec<Arc<Path>> = roots.iter().map(|root| base.join(root).into()).collect();
    let (mut paths, mut failures) = (Vec::new(), Vec::new());
    FolderWalk::new(&mut DirCache::default(), &mut failures, limits).run(&roots, |found| {
        let path = found.path.strip_prefix(base).unwrap().to_str().unwrap().to_owned();
        paths.push(if found.is_linked { format!("{path} (linked)") } else { path });
    });
    (paths, failures)
}

fn walk_all(base: &Path, roots: &[&str]) -> Vec<String> {
    let (paths, failures) = walk(base, roots, WalkLimits::default());
    assert!(failures.is_empty(), "{failures:?}");
    paths
}

#[test]
fn crossing_links_are_walked_once() {
    // Every folder has a link to every other one. There are 20! paths.
    let home = Home::new("");
    for from in 0..20 {
        create(&home, &[&format!("r/d{from:02}/s.jsonl")]);
        for to in (0..20).filter(|to| *to != from) {
            create(&home, &[&format!("r/d{from:02}/to{to:02} -> ../d{to:02}")]);
        }
    }
    let expected: Vec<_> = (0..20).map(|idx| format!("r/d{idx:02}/s.jsonl")).collect();
    assert_eq!(walk_all(home.path(), &["r"]), expected);
}

#[test]
fn crossing_links_outside_the_root_are_walked_once() {
    let home = Home::new("");
    for from in 0..20 {
        create(&home, &[&format!("out/d{from:02}/s.jsonl")]);
        for to in (0..20).filter(|to| *to != from) {
            create(&home, &[&format!("out/d{from:02}/to{to:02} -> ../d{to:02}")]);
        }
    }
    create(&home, &["r/in -> ../out/d03"]);
    let paths = walk_all(home.path(), &["r"]);
    assert_eq!(paths.len(), 20);
    assert_eq!(paths[..2], ["r/in/s.jsonl (linked)", "r/in/to00/s.jsonl (linked)"]);
    assert!(paths.contains(&"r/in/to19/s.jsonl (linked)".to_owned()), "one link more is enough: {paths:?}");
}

#[test]
fn real_paths_precede_linked_paths_whatever_their_names() {
    let home = Home::new("");
    create(
        &home,
        &[
            "r/a -> z/real",
            "r/b.jsonl -> z/real/s.jsonl",
            "r/z/real/s.jsonl",
            "other/x.jsonl",
            "r/m -> ../other",
        ],
    );
    let linked = ["r/b.jsonl (linked)", "r/m/x.jsonl (linked)"];
    assert_eq!(walk_all(home.path(), &["r"]), [&["r/z/real/s.jsonl"][..], &linked].concat());
    // A root named later is a real path, too.
    let real = ["r/z/real/s.jsonl", "other/x.jsonl"];
    assert_eq!(walk_all(home.path(), &["r", "other"]), [&real[..], &linked[..1]].concat());
}

#[test]
fn fewest_links_win_and_then_the_first_path() {
    let home = Home::new("");
    create(
        &home,
        &[
            "r/a -> ../out/far",
            "out/far/next -> ../near",
            "out/near/s.jsonl",
            "r/z -> ../out/near",
            "r/y -> ../out/near",
        ],
    );
    assert_eq!(walk_all(home.path(), &["r"]), ["r/y/s.jsonl (linked)"]);
}

#[test]
fn links_to_a_folder_around_them_are_not_followed() {
    let home = Home::new("");
    let items = [
        "secret/x.jsonl",
        "r/s.jsonl",
        "r/up -> ..",
        "r/self -> .",
        "r/root -> /",
        "r/o -> ../out",
        "out/back -> ..",
    ];
    create(&home, &items);
    assert_eq!(walk_all(home.path(), &["r"]), ["r/s.jsonl"]);
    // A root is followed even if it is a link.
    create(&home, &["alias -> r"]);
    assert_eq!(walk_all(home.path(), &["alias", "r"]), ["alias/s.jsonl"]);
}

#[test]
fn reached_limit_is_reported_once_with_the_folder() {
    let home = Home::new("");
    let base = home.path();
    create(
        &home,
        &["r/a/1.jsonl", "r/b/2.jsonl", "r/c/3.jsonl", "r/x -> ../o/x", "r/y -> ../o/y", "r/z -> ../o/z"],
    );
    create(&home, &["o/x/4.jsonl", "o/y/5.jsonl", "o/z/6.jsonl"]);
    let check = |folders: u64, linked_folders: u64, count: usize, expected: Option<(&str, u64, bool)>| {
        let (paths, failures) = walk(base, &["r"], WalkLimits { folders, linked_folders });
        assert_eq!(paths.len(), count, "{paths:?}");
        let reported: Vec<_> = failures
            .iter()
            .map(|failure| match failure {
                Error::TooManyFolders { path, limit, is_linked } => {
                    (path.strip_prefix(base).unwrap().to_str().unwrap(), *limit, *is_linked)
                }
                _ => panic!("{failure}"),
            })
            .collect();
        assert_eq!(reported, expected.into_iter().collect::<Vec<_>>());
    };
    check(7, 3, 6, None);
    check(3, 3, 2, Some(("r/c", 3, false)));
    check(7, 1, 4, Some(("r/y", 1, true)));
    check(5, 3, 4, Some(("r/y", 5, false)));
}

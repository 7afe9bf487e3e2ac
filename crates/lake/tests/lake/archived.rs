//! Sessions that only the archive has are pushed, and a session that is also on disk counts once.

use std::collections::BTreeSet;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::archive::{ArchiveLocation, update_archive};
use rethread_engine::ops::tables::TableKind;
use rethread_engine::{ArchiveScope, KeptFilter, Roots};
use rethread_lake::{Level, check_lake};
use rethread_testkit::spending::{GeneratedFile, StoreGenerator};

use super::property::check;
use super::view_rule::{number, read_once, text};
use super::world::{Machine, World};

/// Archives the files of a machine, which reads its archive from now on.
fn archive(world: &World, machine: &mut Machine) {
    let dir = world.path().join(format!("{}-archive", machine.name));
    let location = ArchiveLocation {
        dir: dir.clone(),
        machine_id: machine.name.clone(),
        machine_name: machine.name.clone(),
    };
    let roots = Roots::new(vec![machine.root.clone()]);
    let update = update_archive(&location, &roots, &[], Timestamp(world.now)).expect("an archive");
    assert!(update.failures.is_empty() && update.created > 0, "{update:?}");
    machine.archive = Some(ArchiveScope { dir, all_places: false, kept: KeptFilter::With });
}

/// Returns the sessions of a view, with whether only the archive has them.
fn list_sessions(world: &World) -> Vec<(String, bool)> {
    let rows = read_once(&world.folder, TableKind::Sessions);
    let mut sessions: Vec<(String, bool)> =
        rows.iter().map(|row| (text(row, "session_id").to_owned(), number(row, "archived") == 1)).collect();
    sessions.sort();
    sessions
}

/// Returns `true` for the files of the sessions that are deleted: every second one, with its subagents.
fn is_deleted(files: &[GeneratedFile], file: &GeneratedFile) -> bool {
    let idx = files.iter().position(|main| main.agent.is_none() && main.session == file.session);
    idx.is_some_and(|idx| idx % 2 == 0)
}

fn check_seed(seed: u64) {
    let mut generator = StoreGenerator::new(seed, 14);
    let mut world = World::new();
    let mut machine = world.machine("m", Level::Names);
    let union = world.machine("union", Level::Names);
    for file in &generator.store.files {
        machine.write_file(file);
        union.write_file(file);
    }
    world.push(&mut machine, None).expect("a push");
    let sessions = list_sessions(&world);
    let assert_equal = |world: &World, case: &str| {
        check(world, &union).unwrap_or_else(|error| panic!("seed {seed}, {case}: {error}"));
        let ids = |sessions: Vec<(String, bool)>| sessions.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
        assert_eq!(ids(list_sessions(world)), ids(sessions.clone()), "seed {seed}, {case}");
        assert_eq!(check_lake(&world.folder).expect("a check").findings, [], "seed {seed}, {case}");
    };
    archive(&world, &mut machine);
    let report = world.push(&mut machine, None).expect("a push");
    assert_eq!(report.pushed, 0, "seed {seed}: an archived session is the one on disk");
    assert_equal(&world, "on disk and archived");

    let files = &generator.store.files;
    let deleted: Vec<&GeneratedFile> = files.iter().filter(|file| is_deleted(files, file)).collect();
    deleted.iter().for_each(|file| machine.delete_file(file));
    let report = world.push(&mut machine, None).expect("a push");
    assert!(report.pushed > 0, "seed {seed}");
    assert_equal(&world, "deleted after a push");
    let archived: BTreeSet<String> =
        list_sessions(&world).into_iter().filter(|(_, archived)| *archived).map(|(id, _)| id).collect();
    let expected = deleted.iter().filter(|file| file.agent.is_none()).map(|file| file.session.clone());
    assert_eq!(archived, expected.collect(), "seed {seed}");

    let mut other = World::new();
    let mut joined = Machine { state: Default::default(), ..machine.clone() };
    other.push(&mut joined, None).expect("a push");
    assert_equal(&other, "deleted before the first push");

    // A restored session continues on disk, and the archive has its start.
    let restored = files.iter().position(|file| file.agent.is_none() && is_deleted(files, file));
    let restored = restored.expect("a deleted session");
    generator.grow(restored);
    let file = &generator.store.files[restored];
    machine.write_file(file);
    union.write_file(file);
    world.push(&mut machine, None).expect("a push");
    assert_equal(&world, "restored and grown");
    let is_archived = |(id, archived): &(String, bool)| *archived && *id == file.session;
    assert!(!list_sessions(&world).iter().any(is_archived), "seed {seed}");
}

#[test]
fn archived_sessions_count_once() {
    (500..512).for_each(check_seed);
}

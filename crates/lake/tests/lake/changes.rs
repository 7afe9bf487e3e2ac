//! Repeated and grown pushes, compaction, and removal.

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::tables::TableKind;
use rethread_lake::{
    CompactRequest, Finding, ForgetScope, LakeFolder, LakeForgetRequest, LakeTable, Level, PushState,
    check_lake, compact_lake, forget, init_folder, read_status,
};
use rethread_testkit::spending::StoreGenerator;

use super::view_rule::{Row, heads, read_calls, read_once, read_raw, read_responses, text};
use super::world::{Machine, World};

const DAY: &str = "2026-05-29";

fn compact_request(world: &World, grace_millis: i64) -> CompactRequest {
    CompactRequest { now: Timestamp(world.now + 1), day: DAY.to_owned(), grace_millis, dry_run: false }
}

/// Creates a lake with the sessions of some machines. One file of each machine is held by all.
fn build_world(seed: u64, count: usize) -> (World, Vec<Machine>, StoreGenerator) {
    let generator = StoreGenerator::new(seed, 18);
    let mut world = World::new();
    let mut machines: Vec<Machine> =
        (0..count).map(|idx| world.machine(&format!("m{idx}"), Level::Names)).collect();
    for (idx, file) in generator.store.files.iter().enumerate() {
        let holders: Vec<usize> =
            if file.agent.is_none() && idx % 5 == 0 { (0..count).collect() } else { vec![idx % count] };
        holders.iter().for_each(|holder| machines[*holder].write_file(file));
    }
    for machine in &mut machines {
        world.push(machine, None).expect("a push");
    }
    (world, machines, generator)
}

/// The rows of the views without the ids of pushes and machines, sorted.
fn view_rows(folder: &LakeFolder) -> Vec<Vec<Row>> {
    let mut views = vec![read_responses(folder), read_calls(folder)];
    views.extend(
        [TableKind::Sessions, TableKind::Entries, TableKind::Turns].map(|kind| read_once(folder, kind)),
    );
    for rows in &mut views {
        rows.iter_mut().for_each(|row| {
            // Of equal copies, any one may count.
            for name in ["push_id", "source_id", "dev_id", "path"] {
                row.remove(name);
            }
        });
        rows.sort();
    }
    views
}

#[test]
fn a_repeated_push_writes_nothing_and_a_grown_session_one_object_per_table() {
    let (mut world, mut machines, mut generator) = build_world(41, 1);
    let count = || {
        LakeTable::all()
            .into_iter()
            .map(|table| world.folder.list_objects(table).unwrap().len())
            .sum::<usize>()
    };
    let before = count();
    let report = world.push(&mut machines[0], None).expect("a push");
    assert_eq!((report.pushed, report.objects.len()), (0, 0));
    generator.grow(0);
    machines[0].write_file(&generator.store.files[0]);
    let report = world.push(&mut machines[0], None).expect("a push");
    let grown = &generator.store.files[0].session;
    let sources = read_raw(&world.folder, LakeTable::Sources);
    let last = sources.iter().map(|row| row["generation"].clone()).max().expect("heads");
    let pushed = sources.iter().filter(|row| row["generation"] == last);
    assert!(pushed.clone().any(|row| text(row, "session_id") == grown));
    assert!(report.pushed < 6, "{} files pushed", report.pushed);
    let count = LakeTable::all()
        .into_iter()
        .map(|table| world.folder.list_objects(table).unwrap().len())
        .sum::<usize>();
    assert_eq!(count, before + report.objects.len());
}

#[test]
fn a_lost_state_shadows_the_former_rows() {
    let (mut world, mut machines, _) = build_world(42, 2);
    let before = view_rows(&world.folder);
    machines[0].state = PushState::default();
    // On the same day, the same push has the same objects.
    let objects = world.folder.list_objects(LakeTable::Data(TableKind::Entries)).unwrap();
    world.push(&mut machines[0], None).expect("a push");
    assert_eq!(world.folder.list_objects(LakeTable::Data(TableKind::Entries)).unwrap(), objects);
    assert_eq!(view_rows(&world.folder), before);
}

#[test]
fn compaction_changes_no_row_of_a_view() {
    let (mut world, mut machines, mut generator) = build_world(43, 4);
    for idx in 0..4 {
        generator.grow(idx);
        let file = &generator.store.files[idx];
        machines.iter_mut().for_each(|machine| machine.write_file(file));
    }
    for machine in &mut machines {
        world.push(machine, None).expect("a push");
    }
    let before = view_rows(&world.folder);
    let report = compact_lake(&world.folder, &compact_request(&world, 1_000_000)).expect("a compaction");
    assert!(report.merged > report.written && report.deleted == 0 && report.kept > 0, "{report:?}");
    assert_eq!(view_rows(&world.folder), before, "old and new objects are there");
    let report = compact_lake(&world.folder, &compact_request(&world, 0)).expect("a compaction");
    assert!(report.deleted > 0, "{report:?}");
    assert_eq!(view_rows(&world.folder), before, "only new objects are there");
    let check = check_lake(&world.folder).expect("a check");
    assert_eq!(check.findings, []);
    assert_eq!(check.unnamed_rows, 0, "no superseded row is left");
    generator.grow(1);
    machines[0].write_file(&generator.store.files[1]);
    world.push(&mut machines[0], None).expect("a push after a compaction");
    assert_ne!(view_rows(&world.folder), before);
    assert_eq!(check_lake(&world.folder).expect("a check").findings, []);
}

fn forget_request(world: &World, machine: &Machine, scope: ForgetScope) -> rethread_lake::ForgetReport {
    let request = LakeForgetRequest {
        scope,
        key: &world.key,
        dev_id: world.dev_id(machine),
        now: Timestamp(world.now + 1),
        day: DAY.to_owned(),
        dry_run: false,
    };
    forget(&world.folder, &request).expect("rows can be removed")
}

#[test]
fn a_developer_is_removed_from_views_and_objects() {
    for is_compacted in [false, true] {
        let (mut world, machines, _) = build_world(44, 3);
        if is_compacted {
            compact_lake(&world.folder, &compact_request(&world, 0)).expect("a compaction");
            world.now += 10;
        }
        let dev_id = world.dev_id(&machines[1]);
        let others = |folder: &LakeFolder| {
            let mut sources: Vec<String> = heads(folder)
                .into_values()
                .filter(|head| head.dev_id != dev_id)
                .map(|head| head.source_id)
                .collect();
            sources.sort();
            sources
        };
        let before = others(&world.folder);
        let report = forget_request(&world, &machines[1], ForgetScope::Developer);
        assert!(report.sources > 0 && report.objects > 0, "{report:?}");
        assert!(heads(&world.folder).values().all(|head| head.dev_id != dev_id));
        assert_eq!(others(&world.folder), before, "the others keep their sources");
        for table in LakeTable::all().into_iter().filter(|table| *table != LakeTable::Sources) {
            let own =
                read_raw(&world.folder, table).iter().filter(|row| text(row, "dev_id") == dev_id).count();
            assert_eq!(own, 0, "{table:?}, compacted: {is_compacted}");
        }
        assert_eq!(check_lake(&world.folder).expect("a check").findings, []);
    }
}

#[test]
fn a_session_is_removed_and_not_pushed_again() {
    let (mut world, mut machines, mut generator) = build_world(45, 2);
    let session = generator.store.files[2].session.clone();
    let holder = machines.iter().position(|machine| {
        let dev_id = world.dev_id(machine);
        heads(&world.folder).values().any(|head| head.dev_id == dev_id && head.session_id == session)
    });
    let holder = holder.expect("a machine has the session");
    machines[holder].state.forgotten.insert(session.clone());
    let before = read_status(&world.folder, None).expect("a status").sources;
    let report = forget_request(&world, &machines[holder], ForgetScope::Session(session.clone()));
    assert_eq!(read_status(&world.folder, None).expect("a status").sources, before - report.sources);
    for table in LakeTable::all() {
        let rows = read_raw(&world.folder, table);
        let is_left = |row: &&Row| {
            row.get("deleted") != Some(&super::view_rule::Cell::Number(1))
                && text(row, "session_id") == session
        };
        let left = rows.iter().filter(is_left).filter(|_| table != LakeTable::Sources).count();
        assert_eq!(left, 0, "{table:?}");
    }
    generator.grow(2);
    machines[holder].write_file(&generator.store.files[2]);
    let report = world.push(&mut machines[holder], None).expect("a push");
    assert!(report.forgotten > 0);
    assert!(heads(&world.folder).values().all(|head| head.session_id != session));
    assert_eq!(check_lake(&world.folder).expect("a check").findings, []);
}

#[test]
fn a_check_finds_missing_and_damaged_objects() {
    let (world, _, _) = build_world(46, 2);
    assert_eq!(check_lake(&world.folder).expect("a check").findings, []);
    let object = |kind| world.folder.list_objects(LakeTable::Data(kind)).unwrap()[0].path.clone();
    std::fs::remove_file(object(TableKind::Turns)).unwrap();
    let findings = check_lake(&world.folder).expect("a check").findings;
    assert!(matches!(findings[0], Finding::RowCount { .. }), "{findings:?}");
    let path = object(TableKind::Entries);
    let mut bytes = std::fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    bytes.truncate(half);
    std::fs::write(&path, bytes).unwrap();
    let findings = check_lake(&world.folder).expect("a check").findings;
    assert!(findings.iter().any(|finding| matches!(finding, Finding::Unreadable { .. })), "{findings:?}");
}

#[test]
fn a_lake_is_created_only_in_an_empty_folder() {
    let world = World::new();
    let manifest = rethread_lake::LakeManifest::new("x".to_owned(), &world.key);
    assert!(init_folder(world.folder.root(), &manifest).is_err(), "a lake");
    assert!(init_folder(world.path(), &manifest).is_err(), "a folder with files");
    assert!(LakeFolder::open(world.path()).is_err());
}

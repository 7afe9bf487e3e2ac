//! Rows are the truth, whatever they are grouped by, whatever happened to the files, with an index and without.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use rethread_engine::CacheDir;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::Money;
use rethread_engine::ops::{self, GroupBy, GroupKey, GroupRow, UsageReport, UsageRequest};
use rethread_testkit::spending::{Reach, Rng, Spend, StoreGenerator};

use super::expected_rows::{Expected, Figures, rows, said, sum, total};
use super::written_store::{BYS, Disk, prices, request, settle, zones};

/// How many sessions hold one of every kind.
const ALL: usize = 17;

/// Checks every grouping of everything.
fn check(disk: &Disk, truth: &[Spend], index: Option<&CacheDir>, what: &str) {
    let prices = prices();
    for by in BYS {
        let timed = matches!(by, GroupBy::Day | GroupBy::Week | GroupBy::Month);
        for zone in zones().into_iter().take(if timed { 3 } else { 1 }) {
            let spending = ops::usage(&disk.roots(), &request(by, zone.clone(), &prices), index);
            let what = format!("{what}, by {by:?}, {zone:?}");
            assert!(spending.failures.is_empty() && spending.notice.is_none(), "{what}: {spending:?}");
            compare(&spending, truth, truth, by, &zone, &what);
        }
    }
}

/// Compares rows and total with what some of all responses come to.
fn compare(spending: &UsageReport, some: &[Spend], all: &[Spend], by: GroupBy, zone: &TimeZone, what: &str) {
    let (ours, theirs) = (said(&spending.rows), rows(some, all, by, zone));
    let keys = |rows: &std::collections::BTreeMap<String, Expected>| rows.keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&ours), keys(&theirs), "{what}");
    for (key, row) in &theirs {
        assert_eq!(&ours[key], row, "{what}: {key}");
    }
    assert_eq!(Expected::read(&spending.total), total(some), "{what}");
    assert!(in_order(&spending.rows), "{what}: {:?}", spending.rows);
}

/// Whether times are in order, and all else the dearest first.
fn in_order(rows: &[GroupRow]) -> bool {
    let cost = |row: &GroupRow| -> Money { row.account.total().cost };
    rows.windows(2).all(|pair| match (&pair[0].key, &pair[1].key) {
        (GroupKey::Day(_) | GroupKey::Block(_), _) => pair[0].key < pair[1].key,
        _ => cost(&pair[0]) >= cost(&pair[1]),
    })
}

#[test]
fn whatever_rows_are_grouped_by_they_are_the_truth() {
    for seed in 0..24 {
        let maker = StoreGenerator::new(seed, ALL + seed as usize % 9);
        let truth = maker.store.truth();
        assert!(truth.len() > 80, "seed {seed}: {} responses", truth.len());
        check(&Disk::new(&maker), &truth, None, &format!("seed {seed}"));
    }
}

#[test]
fn the_generator_makes_all_that_has_to_be_told_apart() {
    let truth = StoreGenerator::new(1, ALL).store.truth();
    let some = |holds: &dyn Fn(&Spend) -> bool| truth.iter().any(holds);
    for reach in [Reach::Active, Reach::Compacted, Reach::Abandoned, Reach::Subagent] {
        assert!(some(&|spend| spend.reach == reach), "{reach:?}");
    }
    assert!(some(&|spend| spend.open) && some(&|spend| !spend.open));
    assert!(some(&|spend| spend.tools.len() > 1) && some(&|spend| spend.tools.is_empty()));
    assert!(some(&|spend| spend.usage.cache_write_1h > 0 && spend.usage.web_searches == 0));
    assert!(some(&|spend| spend.usage.web_searches > 0) && some(&|spend| spend.branch.is_empty()));
    assert!(some(&|spend| spend.side && spend.kind.is_none()) && some(&|spend| spend.sessions.len() > 1));
    let names: BTreeSet<&str> = truth.iter().map(|spend| spend.message.as_str()).collect();
    assert!(names.len() < truth.len(), "some names are those of several responses");
}

/// Lets something happen to a store.
fn change(maker: &mut StoreGenerator, dice: &mut Rng) {
    let files = maker.store.files.len() as u64;
    let no = dice.below(files) as usize;
    match dice.below(5) {
        0 | 1 => maker.grow(no),
        2 => maker.shrink(no),
        3 => drop(maker.store.files.remove(no)),
        _ => maker.add(dice.below(ALL as u64) as usize),
    }
}

#[test]
fn whatever_happens_to_the_files_rows_are_the_truth() {
    for seed in 100..108 {
        let mut maker = StoreGenerator::new(seed, ALL);
        let mut disk = Disk::new(&maker);
        let mut dice = Rng::new(seed);
        let index = disk.index();
        for round in 0..5 {
            let truth = maker.store.truth();
            for way in ["without an index", "cold", "warm"] {
                let index = Some(&index).filter(|_| way != "without an index");
                check(&disk, &truth, index, &format!("seed {seed}, round {round}, {way}"));
            }
            (0..1 + dice.below(4)).for_each(|_| change(&mut maker, &mut dice));
            disk.write(&maker);
            if round % 2 == 0 {
                settle();
            }
        }
    }
}

#[test]
fn moments_cut_where_they_say() {
    let (prices, [zone, ..]) = (prices(), zones());
    for seed in 200..212 {
        let maker = StoreGenerator::new(seed, ALL);
        let (disk, truth) = (Disk::new(&maker), maker.store.truth());
        let mut times: Vec<i64> = truth.iter().filter_map(|spend| spend.time).collect();
        times.sort_unstable();
        // Moments of responses: the one at which it begins counts, the one at which it ends does not.
        let (since, until) = (times[times.len() / 3], times[times.len() * 2 / 3]);
        for (since, until) in [(Some(since), None), (None, Some(until)), (Some(since), Some(until))] {
            let within = |spend: &&Spend| {
                spend.time.is_some_and(|time| {
                    since.is_none_or(|since| time >= since) && until.is_none_or(|until| time < until)
                })
            };
            let some: Vec<Spend> = truth.iter().filter(within).cloned().collect();
            for by in BYS {
                let plain = request(by, zone.clone(), &prices);
                let asked =
                    UsageRequest { since: since.map(Timestamp), until: until.map(Timestamp), ..plain };
                let spending = ops::usage(&disk.roots(), &asked, None);
                compare(&spending, &some, &truth, by, &zone, &format!("seed {seed}, {since:?} to {until:?}"));
            }
        }
    }
}

#[test]
fn a_model_or_a_project_can_be_asked_for() {
    let (prices, [zone, ..]) = (prices(), zones());
    for seed in 300..306 {
        let maker = StoreGenerator::new(seed, ALL);
        let (disk, truth) = (Disk::new(&maker), maker.store.truth());
        for by in BYS {
            let plain = request(by, zone.clone(), &prices);
            let some: Vec<Spend> =
                truth.iter().filter(|spend| spend.model.contains("opus")).cloned().collect();
            let asked = UsageRequest { model: Some("OPUS".to_owned()), ..plain.clone() };
            compare(&ops::usage(&disk.roots(), &asked, None), &some, &truth, by, &zone, "a model");
            let some: Vec<Spend> =
                truth.iter().filter(|spend| spend.project.contains("shed")).cloned().collect();
            let asked = UsageRequest { project: Some("Shed".to_owned()), ..plain };
            compare(&ops::usage(&disk.roots(), &asked, None), &some, &truth, by, &zone, "a project");
        }
    }
}

#[test]
fn a_session_has_its_own_and_says_what_it_copied() {
    let (prices, [zone, ..]) = (prices(), zones());
    for seed in 400..406 {
        let maker = StoreGenerator::new(seed, ALL);
        let (disk, truth) = (Disk::new(&maker), maker.store.truth());
        for file in maker.store.files.iter().filter(|file| file.agent.is_none()) {
            let session = &file.session;
            let own: Vec<Spend> = truth.iter().filter(|spend| spend.session == *session).cloned().collect();
            let plain = request(GroupBy::Model, zone.clone(), &prices);
            let asked = UsageRequest { session: Some(disk.path(&file.path)), ..plain };
            let spending = ops::usage(&disk.roots(), &asked, None);
            let what = format!("seed {seed}, session {session}");
            compare(&spending, &own, &truth, GroupBy::Model, &zone, &what);
            let copied = |spend: &&Spend| spend.session != *session && spend.sessions.contains(session);
            assert_eq!(Figures::read(&spending.copied), sum(truth.iter().filter(copied)), "{what}");
        }
    }
}

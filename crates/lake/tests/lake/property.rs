//! The views over the pushes of several machines equal the totals over all of their sessions.

use std::collections::BTreeMap;
use std::path::Path;

use rethread_engine::Roots;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::stats::collect_stats;
use rethread_engine::ops::usage::{GroupBy, GroupKey, UsageRequest, usage};
use rethread_lake::{LakeError, LakeFolder, Level, PushState};
use rethread_testkit::spending::{Rng, StoreGenerator};

use super::view_rule::{number, read_calls, read_responses, text};
use super::world::{Machine, World, prices};

/// Responses, tokens by kind, and picodollars.
type Sums = [i128; 7];

fn sums_of_lake(folder: &LakeFolder, key: &str) -> BTreeMap<String, Sums> {
    let mut sums: BTreeMap<String, Sums> = BTreeMap::new();
    for row in read_responses(folder) {
        let sum = sums.entry(text(&row, key).to_owned()).or_default();
        let columns = [
            "input_tokens",
            "output_tokens",
            "cache_creation_input_tokens",
            "cache_creation_1h_input_tokens",
            "cache_read_input_tokens",
            "cost_usd",
        ];
        sum[0] += 1;
        for (part, column) in sum[1..].iter_mut().zip(columns) {
            *part += i128::from(number(&row, column));
        }
    }
    sums
}

fn sums_of_usage(root: &Path, by: GroupBy) -> BTreeMap<String, Sums> {
    let prices = prices();
    let request = UsageRequest {
        by,
        then_by: None,
        since: None,
        until: None,
        session: None,
        project: None,
        model: None,
        by_context_status: false,
        zone: jiff::tz::TimeZone::UTC,
        now: Timestamp(0),
        prices: &prices,
    };
    let report = usage(&Roots::new(vec![root.to_owned()]), &request, None);
    assert!(report.failures.is_empty());
    let rows = report.rows.iter().map(|row| {
        let total = row.totals.total();
        let key = if let GroupKey::Name(name) = &row.key { name.as_str() } else { "" };
        let tokens = total.counts.usage;
        let sums: [i128; 7] = [
            total.counts.responses as i128,
            tokens.input.into(),
            tokens.output.into(),
            tokens.cache_write.into(),
            tokens.cache_write_1h.into(),
            tokens.cache_read.into(),
            total.cost.picodollars() as i128,
        ];
        (key.to_owned(), sums)
    });
    rows.collect()
}

fn check_calls(folder: &LakeFolder, root: &Path) -> Result<(), String> {
    let mut by_tool: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
    for row in read_calls(folder) {
        let counts = by_tool.entry(text(&row, "tool").to_owned()).or_default();
        counts.0 += 1;
        counts.1 += u64::from(number(&row, "is_error") == 1);
        counts.2 += number(&row, "duration_ms") as u64;
    }
    let stats = collect_stats(&Roots::new(vec![root.to_owned()]), false, None).counts.unique_tools();
    let stats = stats.into_iter().filter(|(_, tool)| tool.calls > 0);
    let expected: BTreeMap<_, _> =
        stats.map(|(name, tool)| (name, (tool.calls, tool.errors, tool.millis))).collect();
    compare("tool calls", &by_tool, &expected)
}

/// Returns the first difference of two maps as an error.
fn compare<V: PartialEq + std::fmt::Debug>(
    what: &str,
    lake: &BTreeMap<String, V>,
    expected: &BTreeMap<String, V>,
) -> Result<(), String> {
    let keys = lake.keys().chain(expected.keys());
    match keys.into_iter().find(|key| lake.get(*key) != expected.get(*key)) {
        Some(key) => {
            Err(format!("{what} `{key}`: {:?} in the lake, {:?} expected", lake.get(key), expected.get(key)))
        }
        None => Ok(()),
    }
}

/// Checks the views against the sessions of all machines together.
pub(crate) fn check(world: &World, union: &Machine) -> Result<(), String> {
    for (by, column) in
        [(GroupBy::Session, "session_id"), (GroupBy::Project, "project"), (GroupBy::Branch, "git_branch")]
    {
        let expected = sums_of_usage(&union.root, by);
        compare(column, &sums_of_lake(&world.folder, column), &expected)?;
    }
    check_calls(&world.folder, &union.root)
}

/// Pushes in random order, with repetitions, interruptions and lost states, until every machine has pushed everything.
fn push_randomly(world: &mut World, machines: &mut [Machine], rng: &mut Rng) {
    let mut open: Vec<usize> = (0..machines.len()).collect();
    while !open.is_empty() {
        let place = rng.below(open.len() as u64) as usize;
        let machine = &mut machines[open[place]];
        let stop_after = rng.chance(40).then(|| rng.below(11) as usize);
        match world.push(machine, stop_after) {
            Ok(_) => {
                open.remove(place);
            }
            Err(LakeError::Interrupted) => {}
            Err(error) => panic!("{error}"),
        }
        match rng.below(10) {
            0 => machine.state = PushState::default(),
            1 => assert!(world.push(machine, None).is_ok(), "a repeated push succeeds"),
            _ => {}
        }
    }
}

/// A store, its partition over machines, and its growth.
fn check_seed(seed: u64) -> Result<(), String> {
    let mut rng = Rng::new(seed);
    let mut generator = StoreGenerator::new(seed, 5 + rng.below(14) as usize);
    let mut world = World::new();
    let union = world.machine("union", Level::Names);
    let count = 1 + rng.below(4) as usize;
    let mut machines: Vec<Machine> =
        (0..count).map(|idx| world.machine(&format!("m{idx}"), Level::Names)).collect();
    let mut owners: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for round in 0..2 {
        let files = &generator.store.files;
        for file in files {
            union.write_file(file);
            // The client writes subagents next to their session.
            let main = files.iter().find(|main| main.agent.is_none() && main.session == file.session);
            let unit = main.filter(|_| file.agent.is_some()).unwrap_or(file);
            let holders = owners.entry(unit.path.clone()).or_insert_with(|| {
                let main = rng.below(count as u64) as usize;
                let others = (0..count).filter(|idx| *idx != main);
                let mut holders: Vec<usize> = others.filter(|_| rng.chance(15)).collect();
                holders.push(main);
                holders
            });
            holders.iter().for_each(|idx| machines[*idx].write_file(file));
        }
        push_randomly(&mut world, &mut machines, &mut rng);
        check(&world, &union)
            .map_err(|error| format!("seed {seed}, {count} machines, round {round}: {error}"))?;
        for idx in 0..generator.store.files.len() {
            if generator.store.files[idx].agent.is_none() && rng.chance(30) {
                generator.grow(idx);
            }
        }
    }
    Ok(())
}

#[test]
fn views_equal_the_totals_of_all_machines() {
    let failures: Vec<String> = (0..200).filter_map(|seed| check_seed(seed).err()).collect();
    assert!(failures.is_empty(), "{} of 200 seeds: {failures:#?}", failures.len());
}

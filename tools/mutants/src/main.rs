//! Plants small faults into a copy of the workspace and reports those that no test notices.
//!
//! ```text
//! sources ──find──▶ faults ──sample──▶ copy with switches ──build once──▶ test programs
//!                                      one run per fault ◀──trace: which program reaches which fault
//! ```
//!
//! Every fault is behind a switch: `(if is_active(17) { a <= b } else { a < b })`. So the workspace is built once, and each
//! fault costs only the tests that reach it. A fault that does not compile is replaced by another one.

mod build;
mod fault;
mod find;
mod plant;
mod results;
mod run;
mod sample;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use build::{TestBinary, build_tests, check};
use fault::Fault;
use plant::Copy;
use results::{FaultResult, Results};
use run::{RunOutcome, run_baseline, run_fault};

/// The folders in which faults are planted.
const AREAS: [&str; 9] = [
    "crates/core/src/resume",
    "crates/core/src/tree",
    "crates/core/src/turn",
    "crates/core/src/usage",
    "crates/core/src/edit",
    "crates/core/src/trim",
    "crates/core/src/fix",
    "crates/core/src/query",
    "crates/engine/src/writer",
];

const HELP: &str = "Plants small faults into a copy of the workspace and reports those that no test notices.

usage: cargo run --manifest-path tools/mutants/Cargo.toml -- [options]

  --count N       the number of faults (50)
  --seed N        selects the faults (1)
  --only FOLDER   plants only below this folder, such as crates/core or crates/core/src/trim; may be repeated
  --work FOLDER   the folder of the copy and of its build ($TMPDIR/rethread-mutants)
  --results FILE  results are appended to it, and a run with the same options continues it (FOLDER/results.tsv)
";

struct Options {
    count: usize,
    seed: u64,
    areas: Vec<String>,
    work: PathBuf,
    results: Option<PathBuf>,
}

fn parse_options() -> Result<Options, String> {
    let work = std::env::temp_dir().join("rethread-mutants");
    let mut options = Options { count: 50, seed: 1, areas: Vec::new(), work, results: None };
    let mut args = std::env::args().skip(1);
    while let Some(name) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("`{name}` needs a value"));
        match &*name {
            "--count" => options.count = value()?.parse().map_err(|_| "`--count` needs a number")?,
            "--seed" => options.seed = value()?.parse().map_err(|_| "`--seed` needs a number")?,
            "--only" => options.areas.push(value()?),
            "--work" => options.work = value()?.into(),
            "--results" => options.results = Some(value()?.into()),
            "--help" => {
                print!("{HELP}");
                std::process::exit(0);
            }
            _ => return Err(format!("unknown option `{name}`\nhint: run it with `--help`")),
        }
    }
    options.areas = select_areas(&options.areas)?;
    Ok(options)
}

/// Returns the areas at or below the folders, and the folders that are below an area. Returns all areas if there is no
/// folder.
fn select_areas(folders: &[String]) -> Result<Vec<String>, String> {
    let mut selected: Vec<String> = Vec::new();
    for folder in folders {
        let is_below = |path: &str, folder: &str| Path::new(path).starts_with(folder);
        let below = AREAS.iter().filter(|area| is_below(area, folder)).map(|area| (*area).to_owned());
        let count = selected.len();
        selected.extend(below);
        if AREAS.iter().any(|area| is_below(folder, area) && folder != area) {
            selected.push(folder.clone());
        }
        if selected.len() == count {
            return Err(format!("no faults are planted in `{folder}`, only in:\n  {}", AREAS.join("\n  ")));
        }
    }
    if folders.is_empty() {
        selected = AREAS.map(str::to_owned).to_vec();
    }
    Ok(selected)
}

fn main() -> ExitCode {
    match parse_options().map_err(io::Error::other).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Plants the faults, runs the tests and prints the results.
fn run(options: &Options) -> io::Result<()> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let mut all = find_all(&source, &options.areas)?;
    let header = format!(
        "seed {}, {}, sources {:016x}",
        options.seed,
        options.areas.join(" "),
        sample::hash_sources(&source, &all)
    );
    println!("{} places for faults", all.len());
    sample::shuffle(&mut all, options.seed);
    std::fs::create_dir_all(&options.work)?;
    let results_path = options.results.clone().unwrap_or_else(|| options.work.join("results.tsv"));
    let mut results = Results::open(&results_path, &header)?;
    let copy = Copy::new(&source, &options.work)?;
    let faults = plant_valid(&source, &copy, &all, options.count, &mut results)?;
    run_all(&source, &copy, &faults, &mut results)?;
    print_summary(&source, &faults, &results);
    println!("results: {}", results_path.display());
    Ok(())
}

/// Finds the faults of all areas, in the order of the files.
fn find_all(source: &Path, areas: &[String]) -> io::Result<Vec<Fault>> {
    let mut files = Vec::new();
    for area in areas {
        collect_files(&source.join(area), &mut files)?;
    }
    files.sort();
    let mut faults = Vec::new();
    for file in files {
        let path = file.strip_prefix(source).unwrap_or(&file).display().to_string();
        let text = std::fs::read_to_string(&file)?;
        faults.extend(
            find::find_faults(&path, &text).map_err(|error| io::Error::other(format!("{path}: {error}")))?,
        );
    }
    Ok(faults)
}

/// Adds the Rust files at or below a path, without tests.
fn collect_files(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.file_stem().is_some_and(|name| name == "tests") {
        return Ok(());
    }
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            collect_files(&entry?.path(), files)?;
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        files.push(path.to_owned());
    }
    Ok(())
}

/// Plants `count` faults that compile. Faults that do not are recorded as invalid and replaced by others.
fn plant_valid(
    source: &Path,
    copy: &Copy,
    all: &[Fault],
    count: usize,
    results: &mut Results,
) -> io::Result<Vec<Fault>> {
    loop {
        let is_valid = |fault: &&Fault| results.by_key.get(&fault.key()) != Some(&FaultResult::Invalid);
        let chosen: Vec<Fault> =
            sample::choose(all.iter().filter(is_valid), count).into_iter().cloned().collect();
        let planted = copy.write(&chosen)?;
        let invalid: BTreeSet<usize> = check(copy, &planted)?;
        if invalid.is_empty() {
            return Ok(chosen);
        }
        for id in invalid {
            let fault = &chosen[id];
            let description = describe(source, fault);
            results.add(&fault.key(), &fault.function, &description, 0.0, FaultResult::Invalid)?;
        }
    }
}

/// Runs the tests with every fault that has no result yet.
fn run_all(source: &Path, copy: &Copy, faults: &[Fault], results: &mut Results) -> io::Result<()> {
    let is_open = |fault: &Fault| !results.by_key.contains_key(&fault.key());
    let open: Vec<usize> = (0..faults.len()).filter(|&id| is_open(&faults[id])).collect();
    if open.is_empty() {
        return Ok(());
    }
    let mut binaries: Vec<TestBinary> = build_tests(copy)?;
    let baselines = run_baseline(copy, &binaries)?;
    // Packages keep their order. Within one, the fastest program is the first.
    let package = |binary: &TestBinary| binary.name.split("::").next().map(str::to_owned);
    let order: Vec<_> = binaries.iter().map(package).collect();
    binaries.sort_by_key(|binary| {
        (
            order.iter().position(|name| *name == package(binary)),
            baselines.get(&binary.name).map(|baseline| baseline.time),
        )
    });
    for id in open {
        let fault = &faults[id];
        let start = Instant::now();
        let is_reached = baselines.values().any(|baseline| baseline.reached.contains(&id));
        let result = match run_fault(copy, &binaries, &baselines, id, &fault.path)? {
            _ if !is_reached => FaultResult::Unreached,
            None => FaultResult::Survived,
            Some((binary, RunOutcome::Failed(test) | RunOutcome::Crashed(test))) => {
                FaultResult::Killed(format!("{binary} {test}"))
            }
            Some((binary, _)) => FaultResult::TimedOut(binary),
        };
        results.add(
            &fault.key(),
            &fault.function,
            &describe(source, fault),
            start.elapsed().as_secs_f64(),
            result,
        )?;
    }
    std::fs::write(&copy.selection, "")
}

fn describe(source: &Path, fault: &Fault) -> String {
    let text = std::fs::read_to_string(source.join(&fault.path)).unwrap_or_default();
    fault.describe(text.get(fault.range.clone()).unwrap_or_default())
}

/// Prints the noticed faults by module, and a table of those that no test noticed.
fn print_summary(source: &Path, faults: &[Fault], results: &Results) {
    let module = |fault: &Fault| {
        fault
            .path
            .split('/')
            .filter(|part| !["crates", "src"].contains(part))
            .take(2)
            .collect::<Vec<_>>()
            .join("/")
    };
    let modules: BTreeSet<String> = faults.iter().map(module).collect();
    println!("\nnoticed of planted:");
    for name in modules {
        let of_module: Vec<&Fault> = faults.iter().filter(|fault| module(fault) == name).collect();
        let is_noticed =
            |fault: &&&Fault| results.by_key.get(&fault.key()).is_some_and(FaultResult::is_noticed);
        println!("  {name}: {}/{}", of_module.iter().filter(is_noticed).count(), of_module.len());
    }
    println!("\n| place | function | fault | result |\n|---|---|---|---|");
    for fault in faults {
        let result = results.by_key.get(&fault.key());
        if let Some(FaultResult::Survived | FaultResult::Unreached) = result {
            let result = if result == Some(&FaultResult::Survived) { "survived" } else { "unreached" };
            let description = describe(source, fault).replace('|', "\\|");
            println!("| {}:{} | {} | {description} | {result} |", fault.path, fault.line, fault.function);
        }
    }
}

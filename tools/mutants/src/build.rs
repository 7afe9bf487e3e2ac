//! Builds the copy with cargo and reads the messages of the compiler.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::plant::{Copy, PlantedFaults};

/// The test programs of a package, in the order in which they are run.
#[derive(Debug, Clone)]
pub struct TestBinary {
    /// The package and the name of the target, such as `rethread-core::tree`.
    pub name: String,
    pub program: PathBuf,
    /// The folder of the package.
    pub folder: PathBuf,
    /// The arguments that select tests of the program.
    pub args: &'static [&'static str],
    /// The folder whose faults the tests are for. `None` for all faults.
    pub area: Option<&'static str>,
}

/// The crash tests take longer than all other tests together. They test what the writer promises.
const WRITER: &str = "crates/engine/src/writer";

fn cargo(copy: &Copy, args: &[&str]) -> io::Result<(bool, Vec<Value>)> {
    let mut command = Command::new("cargo");
    command
        .args(args)
        .args(["--message-format=json", "--target-dir"])
        .arg(copy.root.with_file_name("target"));
    command.current_dir(&copy.root).env("RUSTFLAGS", "--cap-lints allow");
    command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "1").env_remove("CARGO_TARGET_DIR");
    let output = command.stderr(Stdio::inherit()).output()?;
    let lines = output.stdout.split(|&byte| byte == b'\n');
    Ok((output.status.success(), lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()))
}

/// Checks the copy. Returns the faults that do not compile.
///
/// Returns an error if the copy does not compile and no fault is to blame.
pub fn check(copy: &Copy, planted: &PlantedFaults) -> io::Result<BTreeSet<usize>> {
    let (is_success, messages) = cargo(copy, &["check", "-p", "rethread-core", "-p", "rethread-engine"])?;
    if is_success {
        return Ok(BTreeSet::new());
    }
    let errors = messages
        .iter()
        .filter(|message| message["message"]["level"] == "error")
        .map(|message| &message["message"]);
    let mut blamed = BTreeSet::new();
    for error in errors {
        for span in error["spans"].as_array().into_iter().flatten().filter(|span| span["is_primary"] == true)
        {
            let offset = |key: &str| span[key].as_u64().unwrap_or_default() as usize;
            let file = span["file_name"].as_str().unwrap_or_default();
            blamed.extend(planted.find_at(file, &(offset("byte_start")..offset("byte_end"))));
        }
    }
    if blamed.is_empty() {
        let texts: Vec<&str> =
            messages.iter().filter_map(|message| message["message"]["rendered"].as_str()).collect();
        return Err(io::Error::other(format!("the copy does not compile:\n{}", texts.join("\n"))));
    }
    Ok(blamed)
}

/// Returns the names of the tests in a folder of integration tests.
fn list_tests(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_test =
        |path: &PathBuf| path.extension().is_some_and(|ext| ext == "rs") || path.join("main.rs").is_file();
    entries.filter(is_test).filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
}

/// Builds the tests of core and engine and those of the command line.
pub fn build_tests(copy: &Copy) -> io::Result<Vec<TestBinary>> {
    let packages = ["rethread-core", "rethread-engine", "rethread"];
    let mut args = vec!["test", "--no-run", "--lib"];
    packages.iter().for_each(|package| args.extend(["-p", package]));
    let mut tests: Vec<String> = ["core", "engine"]
        .iter()
        .flat_map(|name| list_tests(&copy.root.join("crates").join(name).join("tests")))
        .collect();
    tests.push("cli".to_owned());
    tests.iter().for_each(|test| args.extend(["--test", test]));
    let (is_success, messages) = cargo(copy, &args)?;
    if !is_success {
        let texts: Vec<&str> =
            messages.iter().filter_map(|message| message["message"]["rendered"].as_str()).collect();
        return Err(io::Error::other(format!("the tests do not build:\n{}", texts.join("\n"))));
    }
    let mut binaries = Vec::new();
    for package in packages {
        for message in &messages {
            let folder = Path::new(message["manifest_path"].as_str().unwrap_or_default())
                .parent()
                .unwrap_or(Path::new(""));
            let owner = if package == "rethread" { "app" } else { &package[9..] };
            if let (Some(program), true) =
                (message["executable"].as_str(), folder.ends_with(Path::new("crates").join(owner)))
                && message["profile"]["test"] == true
            {
                let target = message["target"]["name"].as_str().unwrap_or_default();
                let name = format!("{package}::{target}");
                let tests = TestBinary {
                    name,
                    program: program.into(),
                    folder: folder.to_owned(),
                    args: &[],
                    area: None,
                };
                if target == "cli" {
                    let name = format!("{} (crash tests)", tests.name);
                    binaries.push(TestBinary { args: &["--skip", "crash"], ..tests.clone() });
                    binaries.push(TestBinary { name, args: &["crash"], area: Some(WRITER), ..tests });
                } else {
                    binaries.push(tests);
                }
            }
        }
    }
    Ok(binaries)
}

//! The file of results: one line per fault, appended when its run ends, so that a run can be continued.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The result of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultResult {
    /// A test fails.
    Killed(String),
    /// A test does not end.
    TimedOut(String),
    /// All tests pass.
    Survived,
    /// No test executes the code.
    Unreached,
    /// It does not compile.
    Invalid,
}

impl FaultResult {
    fn name(&self) -> &'static str {
        match self {
            FaultResult::Killed(_) => "killed",
            FaultResult::TimedOut(_) => "timed-out",
            FaultResult::Survived => "survived",
            FaultResult::Unreached => "unreached",
            FaultResult::Invalid => "invalid",
        }
    }

    fn parse(name: &str, test: &str) -> Option<FaultResult> {
        Some(match name {
            "killed" => FaultResult::Killed(test.to_owned()),
            "timed-out" => FaultResult::TimedOut(test.to_owned()),
            "survived" => FaultResult::Survived,
            "unreached" => FaultResult::Unreached,
            "invalid" => FaultResult::Invalid,
            _ => return None,
        })
    }

    /// Returns `true` if a test noticed the fault.
    pub fn is_noticed(&self) -> bool {
        matches!(self, FaultResult::Killed(_) | FaultResult::TimedOut(_))
    }
}

/// The results of a run, by the key of the fault.
pub struct Results {
    path: PathBuf,
    pub by_key: BTreeMap<String, FaultResult>,
}

impl Results {
    /// Opens a file of results. `header` identifies the sources and the sample.
    ///
    /// Returns an error if the file is of other sources or of another sample.
    pub fn open(path: &Path, header: &str) -> io::Result<Results> {
        let header = format!("# {header}");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        match text.lines().next() {
            None => std::fs::write(path, format!("{header}\n"))?,
            Some(line) if line == header => {}
            Some(line) => {
                let message =
                    format!("{} has the results of another run:\n  {line}\n  {header}", path.display());
                return Err(io::Error::other(message));
            }
        }
        let mut by_key = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let columns: Vec<&str> = line.split('\t').collect();
            if let [name, key, _, _, _, test] = columns[..] {
                by_key.extend(FaultResult::parse(name, test).map(|result| (key.to_owned(), result)));
            }
        }
        Ok(Results { path: path.to_owned(), by_key })
    }

    /// Appends a result.
    pub fn add(
        &mut self,
        key: &str,
        function: &str,
        description: &str,
        seconds: f64,
        result: FaultResult,
    ) -> io::Result<()> {
        let test = match &result {
            FaultResult::Killed(test) | FaultResult::TimedOut(test) => test,
            _ => "",
        };
        let line = format!("{}\t{key}\t{function}\t{description}\t{seconds:.1}\t{test}\n", result.name());
        let mut file = std::fs::OpenOptions::new().append(true).open(&self.path)?;
        file.write_all(line.as_bytes())?;
        print!("{line}");
        self.by_key.insert(key.to_owned(), result);
        Ok(())
    }
}

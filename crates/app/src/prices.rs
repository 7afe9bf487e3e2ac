//! Loads the price table of the user, with the built-in table as a fallback.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rethread_engine::core::usage::{PriceTable, PriceTableError};
use rethread_engine::describe_io_error;

use crate::env;
use crate::text::figures::count_noun;

/// The file name of the price table in the settings folder.
const FILE_NAME: &str = "prices.toml";

/// The error for a price table that cannot be used.
#[derive(Debug)]
pub(crate) struct PricesError {
    /// The file of the table.
    pub(crate) path: PathBuf,
    /// The reason why the table cannot be used.
    pub(crate) problem: PriceTableProblem,
}

/// The reason why a price table cannot be used.
#[derive(Debug)]
pub(crate) enum PriceTableProblem {
    /// It cannot be read.
    Unreadable(io::Error),
    /// It is larger than 1 MiB.
    TooLong,
    /// It is not UTF-8.
    NotText,
    /// One of its lines is invalid.
    Invalid(PriceTableError),
}

/// The price table that the user configured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum PricesSource {
    /// The file in the settings folder, if it exists.
    #[default]
    Default,
    /// Another file.
    File(PathBuf),
    /// A table in the configuration file.
    Table(Box<PriceTable>),
}

impl PricesSource {
    /// Describes the source in a few words: a path, or the number of models.
    pub(crate) fn describe(&self) -> String {
        match self {
            PricesSource::Default => FILE_NAME.to_owned(),
            PricesSource::File(path) => path.display().to_string(),
            PricesSource::Table(table) => {
                format!("{} in [prices]", count_noun(table.models().count() as u64, "row"))
            }
        }
    }
}

/// Loads the price table in the file `named`, or else the one in the settings folder.
///
/// Built-in prices are used for models that the table does not contain. Returns an error if `named` does not exist,
/// or if the table is unreadable or invalid.
pub(crate) fn load_prices(named: Option<&Path>) -> Result<PriceTable, PricesError> {
    load_with_default(named, env::config_dir().map(|folder| folder.join(FILE_NAME)))
}

/// Loads the configured price table, with the built-in prices as a fallback. Returns an error like [`load_prices`].
pub(crate) fn load_configured_prices(source: &PricesSource) -> Result<PriceTable, PricesError> {
    match source {
        PricesSource::Default => load_prices(None),
        PricesSource::File(path) => load_prices(Some(path)),
        PricesSource::Table(table) => Ok(table.as_ref().clone().with_fallback(PriceTable::built_in())),
    }
}

/// Returns the reason why the price table in a file cannot be used. Returns `None` if it can.
pub(crate) fn check_price_table(path: &Path) -> Option<String> {
    let problem = read_table(path).err()?;
    let shown = path.display();
    Some(match problem {
        PriceTableProblem::Unreadable(error) => format!("cannot read {shown}: {}", describe_io_error(&error)),
        PriceTableProblem::TooLong => format!("{shown} is larger than 1 MiB"),
        PriceTableProblem::NotText => format!("{shown} is not text in UTF-8"),
        PriceTableProblem::Invalid(error) => format!("{shown}, line {}: {}", error.line, error.message),
    })
}

/// Loads the table in the file `named`, or else in the file `default`, with the built-in prices as a fallback.
///
/// Returns an error if `named` does not exist, or if the table is unreadable or invalid. Returns the built-in table if
/// `default` does not exist.
fn load_with_default(named: Option<&Path>, default: Option<PathBuf>) -> Result<PriceTable, PricesError> {
    let table = match (named, default) {
        (Some(path), _) => read_table(path).map_err(|problem| PricesError { path: path.to_owned(), problem }),
        (None, None) => return Ok(PriceTable::built_in()),
        (None, Some(path)) => match read_table(&path) {
            Err(PriceTableProblem::Unreadable(error)) if is_missing(&error) => {
                return Ok(PriceTable::built_in());
            }
            result => result.map_err(|problem| PricesError { path, problem }),
        },
    };
    Ok(table?.with_fallback(PriceTable::built_in()))
}

/// Returns `true` if the error means that the file does not exist.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reads and parses a price table, a text file of at most 1 MiB. The path is its source unless the table states one.
fn read_table(path: &Path) -> Result<PriceTable, PriceTableProblem> {
    const MAX_BYTES: u64 = 1 << 20;
    let mut bytes = Vec::new();
    // The path may be an endless device.
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    if read.map_err(PriceTableProblem::Unreadable)? as u64 > MAX_BYTES {
        return Err(PriceTableProblem::TooLong);
    }
    let text = String::from_utf8(bytes).map_err(|_| PriceTableProblem::NotText)?;
    Ok(PriceTable::parse(&text).map_err(PriceTableProblem::Invalid)?.with_source(&path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const USER_TABLE: &[u8] = b"[[price]]\nmodels = 'claude-opus-5'\ninput = 1\noutput = 2\n";

    /// Writes a price table into a temporary file.
    fn write_table(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(bytes).expect("it can be written");
        file
    }

    fn input_price(prices: &PriceTable, model: &str) -> Option<f64> {
        Some(prices.find_model(model)?.row_at(None).rates.input.times(1_000_000).dollars())
    }

    #[test]
    fn user_table_takes_precedence() {
        let (own_table, other) =
            (write_table(USER_TABLE), write_table(b"[[price]]\nmodels = 'x'\ninput = 9\noutput = 9\n"));
        let existing = || Some(own_table.path().to_owned());
        let missing = || Some(own_table.path().with_extension("gone"));
        let below_a_file = || Some(own_table.path().join(FILE_NAME));
        let cases = [
            (None, None, Some(5.0), None),
            (None, missing(), Some(5.0), None),
            (None, below_a_file(), Some(5.0), None),
            (None, existing(), Some(1.0), None),
            (Some(own_table.path()), None, Some(1.0), None),
            // The named table replaces the default one.
            (Some(other.path()), existing(), Some(5.0), Some(9.0)),
        ];
        for (named, default, opus, x) in cases {
            let case = format!("{named:?} {default:?}");
            let prices = load_with_default(named, default).expect("prices");
            assert_eq!(
                (input_price(&prices, "claude-opus-5"), input_price(&prices, "x")),
                (opus, x),
                "{case}"
            );
            assert_eq!(input_price(&prices, "claude-opus-4-1"), Some(15.0), "{case}");
        }
        let prices = load_with_default(Some(own_table.path()), None).expect("prices");
        assert_eq!(prices.source(), own_table.path().display().to_string());
    }

    #[test]
    fn unusable_table_reports_its_path() {
        let long = vec![b'#'; (1 << 20) + 1];
        let load_problem = |bytes: &[u8]| {
            let file = write_table(bytes);
            let named = load_with_default(Some(file.path()), None).expect_err("it is broken");
            let default = load_with_default(None, Some(file.path().to_owned())).expect_err("it is broken");
            assert_eq!((named.path.as_path(), default.path.as_path()), (file.path(), file.path()));
            default.problem
        };
        assert!(matches!(load_problem(b"\xff"), PriceTableProblem::NotText));
        assert!(matches!(load_problem(&long), PriceTableProblem::TooLong));
        assert!(matches!(
            load_problem(b"[[price]]\nx = 1"),
            PriceTableProblem::Invalid(PriceTableError { line: 2, .. })
        ));
        let missing = Path::new("/nowhere/prices.toml");
        assert!(matches!(
            load_with_default(Some(missing), None),
            Err(PricesError { problem: PriceTableProblem::Unreadable(_), .. })
        ));
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(matches!(
            load_with_default(None, Some(folder.path().to_owned())),
            Err(PricesError { problem: PriceTableProblem::Unreadable(_), .. })
        ));
    }
}

//! The prices that hold for this user: a table of their own, if there is one, before the built-in one.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rethread_engine::core::usage::{PriceProblem, Prices};

use crate::env;

/// The name of the user's table in the folder of settings.
const FILE: &str = "prices.toml";

/// A table that cannot be taken.
#[derive(Debug)]
pub(crate) struct BadTable {
    /// Which.
    pub(crate) path: PathBuf,
    /// Why.
    pub(crate) why: Why,
}

/// Why a table cannot be taken.
#[derive(Debug)]
pub(crate) enum Why {
    /// It cannot be read.
    Unreadable(io::Error),
    /// It is longer than any table.
    TooLong,
    /// It is not UTF-8.
    NotText,
    /// One of its lines is wrong.
    Wrong(PriceProblem),
}

/// Returns the prices: those of the named table, or else of the one among the user's settings, before the built-in ones.
pub(crate) fn prices(named: Option<&Path>) -> Result<Prices, BadTable> {
    own(named, env::config().map(|folder| folder.join(FILE)))
}

/// Only a table that was named must be there.
fn own(named: Option<&Path>, usual: Option<PathBuf>) -> Result<Prices, BadTable> {
    let read = match (named, usual) {
        (Some(path), _) => table(path).map_err(|why| BadTable { path: path.to_owned(), why }),
        (None, None) => return Ok(Prices::built_in()),
        (None, Some(path)) => match table(&path) {
            Err(Why::Unreadable(error)) if missing(&error) => return Ok(Prices::built_in()),
            read => read.map_err(|why| BadTable { path, why }),
        },
    };
    Ok(read?.before(Prices::built_in()))
}

fn missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn table(path: &Path) -> Result<Prices, Why> {
    const MOST: u64 = 1 << 20;
    let mut bytes = Vec::new();
    // A path may name what never ends.
    let read = File::open(path).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes));
    if read.map_err(Why::Unreadable)? as u64 > MOST {
        return Err(Why::TooLong);
    }
    let text = String::from_utf8(bytes).map_err(|_| Why::NotText)?;
    Ok(Prices::parse(&text).map_err(Why::Wrong)?.called(&path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const OWN: &[u8] = b"[[price]]\nmodels = 'claude-opus-5'\ninput = 1\noutput = 2\n";

    /// Makes a table that goes away by itself.
    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(bytes).expect("it can be written");
        file
    }

    fn input(prices: &Prices, model: &str) -> Option<f64> {
        Some(prices.tariff(model)?.row(None).rates.input.times(1_000_000).dollars())
    }

    #[test]
    fn a_table_of_ones_own_comes_first() {
        let (own_table, other) = (file(OWN), file(b"[[price]]\nmodels = 'x'\ninput = 9\noutput = 9\n"));
        let there = || Some(own_table.path().to_owned());
        let gone = || Some(own_table.path().with_extension("gone"));
        let below = || Some(own_table.path().join(FILE));
        let cases = [
            (None, None, Some(5.0), None),
            (None, gone(), Some(5.0), None),
            (None, below(), Some(5.0), None),
            (None, there(), Some(1.0), None),
            (Some(own_table.path()), None, Some(1.0), None),
            // The named table stands in for the usual one.
            (Some(other.path()), there(), Some(5.0), Some(9.0)),
        ];
        for (named, usual, opus, x) in cases {
            let said = format!("{named:?} {usual:?}");
            let prices = own(named, usual).expect("prices");
            assert_eq!((input(&prices, "claude-opus-5"), input(&prices, "x")), (opus, x), "{said}");
            assert_eq!(input(&prices, "claude-opus-4-1"), Some(15.0), "{said}");
        }
        let prices = own(Some(own_table.path()), None).expect("prices");
        assert_eq!(prices.source(), own_table.path().display().to_string());
    }

    #[test]
    fn a_table_that_cannot_be_taken_is_named() {
        let long = vec![b'#'; (1 << 20) + 1];
        let why = |bytes: &[u8]| {
            let file = file(bytes);
            let named = own(Some(file.path()), None).expect_err("it is broken");
            let usual = own(None, Some(file.path().to_owned())).expect_err("it is broken");
            assert_eq!((named.path.as_path(), usual.path.as_path()), (file.path(), file.path()));
            usual.why
        };
        assert!(matches!(why(b"\xff"), Why::NotText));
        assert!(matches!(why(&long), Why::TooLong));
        assert!(matches!(why(b"[[price]]\nx = 1"), Why::Wrong(PriceProblem { line: 2, .. })));
        let gone = Path::new("/nowhere/prices.toml");
        assert!(matches!(own(Some(gone), None), Err(BadTable { why: Why::Unreadable(_), .. })));
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(matches!(
            own(None, Some(folder.path().to_owned())),
            Err(BadTable { why: Why::Unreadable(_), .. })
        ));
    }
}

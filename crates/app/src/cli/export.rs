//! `rethread export`: a session to take along.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rethread_engine::Error;
use rethread_engine::ops::{self, BranchSelector};

use super::args;
use super::error::{CliError, Exit};
use super::figures::size;
use super::out::Out;
use super::{AppContext, clean};
use crate::export::{ExportContext, ExportError, ExportOptions, Format, SaveError, save, write};
use crate::{env, prices};

/// Stdout as something to write to.
struct Pipe<'a> {
    out: &'a mut Out,
}

impl Write for Pipe<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.bytes(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs the command.
pub(crate) fn run(args: &args::Export, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let file = args.output.as_deref().filter(|file| *file != Path::new("-"));
    let ending = file.and_then(|file| file.extension()?.to_str());
    let format = match (args.format, out.is_json()) {
        (Some(format), _) => format,
        (None, true) => Format::Json,
        (None, false) => ending.and_then(Format::of_ending).unwrap_or(Format::Md),
    };
    let which = match &args.branch {
        Some(entry) => BranchSelector::Through(entry.clone()),
        None if args.all => BranchSelector::Everything,
        None => BranchSelector::Active,
    };
    let order = ExportOptions { format, detail: args.detail.unwrap_or(format.detail()), which };
    let path = place.session(&args.session)?;
    let prices = prices::prices(None)?;
    let reading = ops::open_view(&path, &prices)?;
    let tilde = |path: &str| place.tilde(path);
    let around = ExportContext { prices: &prices, tilde: &tilde };
    let told = |to: &mut dyn Write| write(&reading, &order, &around, to);
    match file {
        None => {
            out.may_page();
            told(&mut Pipe { out })?;
        }
        Some(file) => {
            let bytes =
                save(file, &stores(place, &path), args.force, told).map_err(|why| refused(file, why))?;
            let name = clean::line(&file.display().to_string());
            out.note(&format!("wrote `{name}`, {}", size(bytes)));
        }
    }
    Ok(Exit::Done)
}

/// Returns where no export may lie: where sessions are looked for, where the client keeps them, and the session itself.
fn stores(place: &AppContext, session: &Path) -> Vec<PathBuf> {
    let roots = place.roots.paths.iter().cloned();
    roots.chain(env::claude()).chain([session.to_owned()]).collect()
}

fn refused(file: &Path, why: SaveError) -> CliError {
    let path = file.to_owned();
    match why {
        SaveError::Taken => CliError::Taken(path),
        SaveError::NoFile => CliError::NoFile(path),
        SaveError::InStore(store) => CliError::InStore(path, store),
        SaveError::Unwritable(source) => CliError::Unwritable(path, source),
        SaveError::Trouble(trouble) => trouble.into(),
    }
}

impl From<ExportError> for CliError {
    fn from(trouble: ExportError) -> CliError {
        match trouble {
            ExportError::Failure(failure) => Error::into(failure),
            ExportError::Io(error) => error.into(),
        }
    }
}

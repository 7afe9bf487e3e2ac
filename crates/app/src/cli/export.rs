//! `rethread export`: a session to take along.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rethread_engine::Failure;
use rethread_engine::ops::{self, Which};

use super::args;
use super::figures::size;
use super::out::Out;
use super::report::{Exit, Stop};
use super::{Place, clean};
use crate::export::{Around, Format, Order, Refusal, Trouble, save, write};
use crate::{paths, prices};

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
pub(crate) fn run(args: &args::Export, place: &Place, out: &mut Out) -> Result<Exit, Stop> {
    let file = args.output.as_deref().filter(|file| *file != Path::new("-"));
    let ending = file.and_then(|file| file.extension()?.to_str());
    let format = match (args.format, out.is_json()) {
        (Some(format), _) => format,
        (None, true) => Format::Json,
        (None, false) => ending.and_then(Format::of_ending).unwrap_or(Format::Md),
    };
    let which = match &args.branch {
        Some(entry) => Which::Through(entry.clone()),
        None if args.all => Which::Everything,
        None => Which::Active,
    };
    let order = Order { format, detail: args.detail.unwrap_or(format.detail()), which };
    let path = place.session(&args.session)?;
    let prices = prices::prices(None)?;
    let reading = ops::read(&path, &prices)?;
    let tilde = |path: &str| place.tilde(path);
    let around = Around { prices: &prices, tilde: &tilde };
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
fn stores(place: &Place, session: &Path) -> Vec<PathBuf> {
    let roots = place.roots.paths.iter().cloned();
    roots.chain(paths::claude()).chain([session.to_owned()]).collect()
}

fn refused(file: &Path, why: Refusal) -> Stop {
    let path = file.to_owned();
    match why {
        Refusal::Taken => Stop::Taken(path),
        Refusal::NoFile => Stop::NoFile(path),
        Refusal::InStore(store) => Stop::InStore(path, store),
        Refusal::Unwritable(source) => Stop::Unwritable(path, source),
        Refusal::Trouble(trouble) => trouble.into(),
    }
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Stop {
        match trouble {
            Trouble::Failure(failure) => Failure::into(failure),
            Trouble::Io(error) => error.into(),
        }
    }
}

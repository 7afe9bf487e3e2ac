//! The copy of the workspace, with the faults behind switches.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fault::Fault;

const RUNTIME: &str = include_str!("runtime.rs");
/// The crates that contain faults.
const CRATES: [&str; 2] = ["core", "engine"];

/// A copy of the workspace.
pub struct Copy {
    source: PathBuf,
    /// The folder of the copy.
    pub root: PathBuf,
    /// The file that selects the active fault.
    pub selection: PathBuf,
    /// The files of the workspace, relative to it.
    files: Vec<String>,
}

/// The place of a planted fault in a file of the copy.
struct Place {
    /// The number of the fault.
    id: usize,
    /// The bytes of both versions.
    range: Range<usize>,
    /// The bytes of the function.
    function: Range<usize>,
}

/// The planted faults by file.
pub struct PlantedFaults {
    places: BTreeMap<String, Vec<Place>>,
}

impl Copy {
    /// Creates or updates the copy in `work`. Files that are equal keep their time, so that cargo builds only what changed.
    pub fn new(source: &Path, work: &Path) -> io::Result<Copy> {
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = Command::new("git").args(args).current_dir(source).output()?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let is_needed = |file: &&str| source.join(file).is_file() && !file.starts_with("docs/");
        let files =
            listed.split('\0').filter(|file| !file.is_empty()).filter(is_needed).map(str::to_owned).collect();
        let root = work.join("workspace");
        std::fs::create_dir_all(&root)?;
        let root = root.canonicalize()?;
        let selection = root.with_file_name("active-fault");
        Ok(Copy { source: source.to_owned(), root, selection, files })
    }

    /// Writes all files, with the faults planted. The number of a fault is its index in `faults`.
    pub fn write(&self, faults: &[Fault]) -> io::Result<PlantedFaults> {
        let mut places = BTreeMap::new();
        let mut written: BTreeSet<PathBuf> = BTreeSet::new();
        for file in &self.files {
            let in_file: Vec<(usize, &Fault)> =
                faults.iter().enumerate().filter(|(_, fault)| fault.path == *file).collect();
            let mut bytes = std::fs::read(self.source.join(file))?;
            if !in_file.is_empty() {
                let (text, file_places) = plant(&String::from_utf8_lossy(&bytes), &in_file);
                places.insert(file.clone(), file_places);
                bytes = text.into_bytes();
            } else if CRATES.iter().any(|name| *file == format!("crates/{name}/Cargo.toml")) {
                let text = String::from_utf8_lossy(&bytes);
                let dependency = "[dependencies]\nrethread-mutant = { path = \"../mutant\" }\n";
                bytes = text.replacen("[dependencies]\n", dependency, 1).into_bytes();
            }
            self.write_file(file, &bytes)?;
            written.insert(self.root.join(file));
        }
        let selection = self.selection.display().to_string();
        let runtime =
            RUNTIME.replace("@SELECTION@", &selection).replace("@FAULTS@", &faults.len().to_string());
        let manifest = "[package]\nname = \"rethread-mutant\"\nversion = \"0.0.0\"\nedition = \"2024\"\n";
        for (file, text) in [("crates/mutant/src/lib.rs", &*runtime), ("crates/mutant/Cargo.toml", manifest)]
        {
            self.write_file(file, text.as_bytes())?;
            written.insert(self.root.join(file));
        }
        remove_others(&self.root, &written)?;
        Ok(PlantedFaults { places })
    }

    /// Writes a file unless it already has these bytes.
    fn write_file(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.root.join(file);
        if std::fs::read(&path).is_ok_and(|old| old == bytes) {
            return Ok(());
        }
        std::fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
        std::fs::write(&path, bytes)?;
        std::fs::set_permissions(
            &path,
            std::fs::metadata(self.source.join(file)).map_or_else(
                |_| std::fs::metadata(&path).map(|metadata| metadata.permissions()),
                |metadata| Ok(metadata.permissions()),
            )?,
        )
    }
}

/// Removes the files below `folder` that are not in `written`, except `Cargo.lock`.
fn remove_others(folder: &Path, written: &BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, written)?;
        } else if !written.contains(&path) && path.file_name().is_none_or(|name| name != "Cargo.lock") {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Returns the text of a file with faults, and the place of each fault and its function in it.
fn plant(source: &str, faults: &[(usize, &Fault)]) -> (String, Vec<Place>) {
    let mut sorted = faults.to_vec();
    sorted.sort_by_key(|(_, fault)| (fault.range.start, fault.range.end));
    let mut text = String::with_capacity(source.len() * 2);
    let mut places = Vec::new();
    // The offsets of the source at which the offset in the text changes, with the new offset.
    let mut shifts: Vec<(usize, usize)> = vec![(0, 0)];
    let mut position = 0;
    for &(id, fault) in &sorted {
        text.push_str(&source[position..fault.range.start]);
        let start = text.len();
        text.push_str(&fault.render_switch(&source[fault.range.clone()], id));
        position = fault.range.end;
        shifts.push((position, text.len()));
        places.push(Place { id, range: start..text.len(), function: 0..0 });
    }
    text.push_str(&source[position..]);
    let move_offset = |offset: usize| {
        let (from, to) = shifts[shifts.partition_point(|(from, _)| *from <= offset) - 1];
        to + (offset - from)
    };
    for (&(_, fault), place) in sorted.iter().zip(&mut places) {
        place.function = move_offset(fault.function_range.start)..move_offset(fault.function_range.end);
    }
    (text, places)
}

impl PlantedFaults {
    /// Returns the faults to blame for a compiler error at these bytes of a file: those at the place, else those in the
    /// same function, else those in the same file.
    pub fn find_at(&self, file: &str, error: &Range<usize>) -> Vec<usize> {
        let overlaps =
            |range: &Range<usize>| range.start < error.end.max(error.start + 1) && error.start < range.end;
        let places = self.places.get(file).map(Vec::as_slice).unwrap_or_default();
        let select = |matches: &dyn Fn(&Place) -> bool| -> Vec<usize> {
            places.iter().filter(|place| matches(place)).map(|place| place.id).collect()
        };
        let at_place = select(&|place| overlaps(&place.range));
        let in_function = select(&|place| overlaps(&place.function));
        [at_place, in_function, select(&|_| true)].into_iter().find(|ids| !ids.is_empty()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::plant;
    use crate::find::find_faults;

    #[test]
    fn planted_faults_compile_to_both_versions() {
        let source = "fn f(a: u32) -> bool { g(a); a.h(); a < 3 }\n";
        let faults = find_faults("a.rs", source).expect("Rust");
        let chosen: Vec<_> = faults
            .iter()
            .enumerate()
            .filter(|(_, fault)| ["drop", "boundary", "return true"].contains(&fault.kind))
            .collect();
        let (text, places) = plant(source, &chosen);
        assert_eq!(
            text,
            "fn f(a: u32) -> bool { if ::rethread_mutant::is_active(0) { return true; }  g(a); if !::rethread_mutant::is_active(2) { a.h(); } (if ::rethread_mutant::is_active(3) { a <= 3 } else { a < 3 }) }\n"
        );
        assert!(
            places
                .iter()
                .all(|place| place.function.start <= place.range.start
                    && place.range.end <= place.function.end)
        );
        assert!(
            text[places[2].range.clone()].starts_with("(if ")
                && text[places[2].function.clone()].ends_with(") }")
        );
    }
}

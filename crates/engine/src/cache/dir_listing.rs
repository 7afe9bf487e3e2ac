//! What stands in the folders below some roots, kept so that those that have not changed need not be listed again.

use std::io;
use std::path::Path;

use rethread_core::pack::Pack;

use super::cache_dir::{CacheDir, code_fingerprint, private};
use super::lock::Lock;
use super::paged_file::{PagedReader, PagedWriter};
use crate::Error;
use crate::disk::{DirCache, Folder, Roots, SessionFile, find, find_all};

const NAME: &str = "folders";

impl CacheDir {
    /// Finds all session files below `roots`, in the order of their paths.
    pub(crate) fn find(&self, roots: &Roots) -> (Vec<SessionFile>, Vec<Error>) {
        let Some(home) = self.folder_for(roots) else { return find(roots) };
        let (mut files, failures) = find_known(&home, roots);
        files.retain(|file| !file.is_result());
        (files, failures)
    }
}

/// Finds all session files below `roots` and the large results beside them; `home` is the folder in which the index of these
/// roots lies.
pub(crate) fn find_known(home: &Path, roots: &Roots) -> (Vec<SessionFile>, Vec<Error>) {
    let known = read(&home.join(NAME)).unwrap_or_default();
    let mut folders = DirCache::of(&known);
    let found = find_all(roots, &mut folders);
    if folders.has_news() {
        // What is not kept is listed again the next time: whoever has more to keep says what is wrong with the folder.
        let _ = write(home, folders.remembered());
    }
    found
}

/// Reads what was kept; nothing where it is damaged or of other code.
fn read(path: &Path) -> Option<Vec<Folder>> {
    let bytes = PagedReader::open(path).ok()?.read_section(0).ok()?;
    let (made_by, folders) = <(u64, Vec<Folder>)>::unpacked(&bytes)?;
    (made_by == code_fingerprint()).then_some(folders)
}

fn write(home: &Path, folders: Vec<Folder>) -> io::Result<()> {
    let Some(_lock) = Lock::take(home, NAME)? else { return Ok(()) };
    let draft = home.join(format!("{NAME}.new"));
    let mut printer = PagedWriter::new(private().write(true).create(true).truncate(true).open(&draft)?);
    printer.section();
    printer.write(&(code_fingerprint(), folders).packed())?;
    printer.finish()?;
    std::fs::rename(&draft, home.join(NAME))
}

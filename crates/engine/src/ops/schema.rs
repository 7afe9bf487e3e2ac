//! Every type, subtype, block and field under the roots, by client version.

use rayon::prelude::*;
use rethread_core::schema::SchemaCollector;

use crate::Error;
use crate::disk::{Roots, ScanEvent, find, scan};

/// What was seen.
#[derive(Debug, Default)]
pub struct Schema {
    /// Everything.
    pub census: SchemaCollector,
    /// How many files were read.
    pub files: usize,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
}

/// Looks at every line under `roots`.
pub fn schema(roots: &Roots) -> Schema {
    let (files, failures) = find(roots);
    let seen = files.par_iter().map(|file| {
        let mut census = SchemaCollector::default();
        let scanned = scan(&file.path, |seen| {
            if let ScanEvent::Entry(entry, ..) = seen {
                census.add(entry);
            }
        });
        let files = usize::from(scanned.is_ok());
        let failures = scanned.err().map(Error::reading(&file.path)).into_iter().collect();
        Schema { census, files, failures }
    });
    let mut schema = seen.reduce(Schema::default, |mut a, b| {
        a.census.merge(b.census);
        a.files += b.files;
        a.failures.extend(b.failures);
        a
    });
    schema.failures.extend(failures);
    schema
}

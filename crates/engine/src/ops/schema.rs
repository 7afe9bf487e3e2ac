//! Collects every type, subtype, block and field under the roots, by client version.

use rayon::prelude::*;
use rethread_core::schema::SchemaCollector;

use crate::Error;
use crate::disk::{ReadReporter, Roots, ScanEvent, ScanOptions, SessionFile, find_sessions, scan};

/// The types and fields in session files.
#[derive(Debug, Default)]
pub struct SchemaReport {
    /// The types, subtypes, blocks and fields.
    pub fields: SchemaCollector,
    /// The number of files that were read.
    pub files: usize,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
}

/// Collects the types and fields of every entry under `roots`.
pub fn collect_schema(roots: &Roots) -> SchemaReport {
    let (files, failures) = find_sessions(roots);
    let reporter = ReadReporter::new(&files);
    let read_one = |file: &SessionFile| {
        let mut fields = SchemaCollector::default();
        let scan_result = scan(&file.path, &ScanOptions::default(), |event| {
            if let ScanEvent::Entry(entry, ..) = event {
                fields.add(entry);
            }
        });
        let files = usize::from(scan_result.is_ok());
        let failures = scan_result.err().map(Error::reading(&file.path)).into_iter().collect();
        SchemaReport { fields, files, failures }
    };
    let reports = files.par_iter().map(|file| reporter.count(file, read_one));
    let mut report = reports.reduce(SchemaReport::default, |mut a, b| {
        a.fields.merge(b.fields);
        a.files += b.files;
        a.failures.extend(b.failures);
        a
    });
    report.failures.extend(failures);
    report
}

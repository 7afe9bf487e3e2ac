//! The folder of a lake, and the only place of the crate that changes files.
//!
//! ```text
//! LAKE/lake.json                                     the manifest
//! LAKE/v1/<table>/day=2026-11-18/<dev>-<push>.parquet
//! LAKE/text/v1/texts/day=…/…                         text of conversations
//! LAKE/.pending/<dev>-…                              objects that are being written
//! ```

#![expect(clippy::disallowed_methods, reason = "a lake is a folder of the team, which the user names")]

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::LakeError;
use crate::key::TeamKey;
use crate::object_writer::ObjectWriter;
use crate::schema::{LakeTable, SCHEMA_VERSION};

/// The name of the manifest.
const MANIFEST: &str = "lake.json";
/// The folder of objects that are being written.
const PENDING: &str = ".pending";
/// The day of the objects without rows that every table has, so that engines find its columns.
const SCHEMA_DAY: &str = "1970-01-01";

/// The content of `lake.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LakeManifest {
    /// The id of the lake.
    pub lake_id: String,
    /// The version of the schema.
    pub schema_version: u64,
    /// The value by which the lake recognises its key.
    pub key_check: String,
}

impl LakeManifest {
    /// Creates the manifest of a new lake.
    pub fn new(lake_id: String, key: &TeamKey) -> LakeManifest {
        LakeManifest { lake_id, schema_version: SCHEMA_VERSION, key_check: key.check_value() }
    }

    /// Parses the text of a manifest. Returns `None` if it is not one.
    pub fn parse(text: &str) -> Option<LakeManifest> {
        let value: Value = serde_json::from_str(text).ok()?;
        (value["type"] == "rethread-lake").then_some(())?;
        let lake_id = value["lake_id"].as_str()?;
        // It names a folder of the state.
        let is_plain =
            !lake_id.is_empty() && lake_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_plain.then_some(())?;
        Some(LakeManifest {
            lake_id: lake_id.to_owned(),
            schema_version: value["schema_version"].as_u64()?,
            key_check: value["key_check"].as_str()?.to_owned(),
        })
    }

    /// Returns the text of the manifest.
    pub fn to_text(&self) -> String {
        let value = json!({
            "type": "rethread-lake",
            "lake_id": self.lake_id,
            "schema_version": self.schema_version,
            "key_check": self.key_check,
        });
        format!("{value}\n")
    }

    /// Returns an error if the schema is newer than this program or the key is of another lake.
    pub fn check(&self, key: Option<&TeamKey>) -> Result<(), LakeError> {
        if self.schema_version > SCHEMA_VERSION {
            return Err(LakeError::NewerSchema(self.schema_version));
        }
        if key.is_some_and(|key| key.check_value() != self.key_check) {
            return Err(LakeError::WrongKey);
        }
        Ok(())
    }
}

/// An object of a lake.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LakeObject {
    /// The file.
    pub path: PathBuf,
    /// The table.
    pub table: LakeTable,
    /// The part of the name before the id of the push: the developer, or the bucket of a compaction.
    pub owner: String,
    /// The id of the push or of the compaction.
    pub push_id: String,
    /// The size in bytes.
    pub bytes: u64,
}

/// The folder of a lake.
#[derive(Debug, Clone)]
pub struct LakeFolder {
    root: PathBuf,
}

/// Creates a lake in a folder that is missing or empty, or in one that only has the manifest's own files.
pub fn init_folder(root: &Path, manifest: &LakeManifest) -> Result<LakeFolder, LakeError> {
    if root.join(MANIFEST).exists() {
        return Err(LakeError::AlreadyALake(root.to_owned()));
    }
    if !list(root)?.is_empty() {
        return Err(LakeError::NotEmpty(root.to_owned()));
    }
    let folder = LakeFolder { root: root.to_owned() };
    folder.write_schema_objects()?;
    let draft = folder.create_pending("lake")?;
    let path = draft.path().to_owned();
    draft.finish(manifest.to_text().as_bytes())?;
    let target = root.join(MANIFEST);
    fs::rename(&path, &target).map_err(LakeError::io(&target))?;
    Ok(folder)
}

impl LakeFolder {
    /// Opens a lake. Returns an error if the folder is not one.
    pub fn open(root: &Path) -> Result<(LakeFolder, LakeManifest), LakeError> {
        let not_a_lake = || LakeError::NotALake(root.to_owned());
        let text = fs::read_to_string(root.join(MANIFEST)).map_err(|_| not_a_lake())?;
        let manifest = LakeManifest::parse(&text).ok_or_else(not_a_lake)?;
        manifest.check(None)?;
        Ok((LakeFolder { root: root.to_owned() }, manifest))
    }

    /// Returns `true` if the folder is a lake.
    pub fn exists(root: &Path) -> bool {
        root.join(MANIFEST).exists()
    }

    /// Uses a folder for objects that another program copies to the lake.
    pub fn stage(root: &Path) -> LakeFolder {
        LakeFolder { root: root.to_owned() }
    }

    /// Returns the folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes an object without rows for each table.
    pub fn write_schema_objects(&self) -> Result<(), LakeError> {
        for table in LakeTable::all() {
            let name = format!("schema-{SCHEMA_VERSION}");
            let draft = self.create_pending(&format!("{}-{name}", table.name()))?;
            let path = draft.path().to_owned();
            ObjectWriter::new(table, draft)?.finish()?.finish(&[])?;
            self.publish(&path, table, SCHEMA_DAY, &name)?;
        }
        Ok(())
    }

    /// Lists the objects of a table, in the order of their paths. Objects without rows are omitted.
    pub fn list_objects(&self, table: LakeTable) -> Result<Vec<LakeObject>, LakeError> {
        let folder = self.root.join(table.folder());
        let mut objects = Vec::new();
        for day in list(&folder)?.into_iter().filter(|path| path.is_dir()) {
            for path in list(&day)? {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let Some(stem) = name.strip_suffix(".parquet").filter(|stem| !stem.starts_with("schema-"))
                else {
                    continue;
                };
                let Some((owner, push_id)) = stem.rsplit_once('-') else { continue };
                let meta = fs::metadata(&path).map_err(LakeError::io(&path))?;
                objects.push(LakeObject {
                    table,
                    owner: owner.to_owned(),
                    push_id: push_id.to_owned(),
                    bytes: meta.len(),
                    path: path.clone(),
                });
            }
        }
        objects.sort();
        Ok(objects)
    }

    /// Creates a file for an object that is being written.
    pub(crate) fn create_pending(&self, name: &str) -> Result<PendingObject, LakeError> {
        let folder = self.root.join(PENDING);
        fs::create_dir_all(&folder).map_err(LakeError::io(&folder))?;
        let path = folder.join(format!("{name}.{}", std::process::id()));
        let file = File::create(&path).map_err(LakeError::io(&path))?;
        Ok(PendingObject { path, out: BufWriter::with_capacity(1 << 16, file), bytes: 0 })
    }

    /// Moves a complete object to its place. Its name depends on its content, so an equal object is replaced.
    pub(crate) fn publish(
        &self,
        pending: &Path,
        table: LakeTable,
        day: &str,
        name: &str,
    ) -> Result<PathBuf, LakeError> {
        let folder = self.root.join(table.folder()).join(format!("day={day}"));
        fs::create_dir_all(&folder).map_err(LakeError::io(&folder))?;
        let target = folder.join(format!("{name}.parquet"));
        fs::rename(pending, &target).map_err(LakeError::io(&target))?;
        // The rename is durable before the heads are written.
        #[cfg(unix)]
        File::open(&folder).and_then(|folder| folder.sync_all()).map_err(LakeError::io(&folder))?;
        Ok(target)
    }

    /// Deletes the files that interrupted pushes and compactions of an owner left.
    pub(crate) fn remove_pending(&self, owner: &str) -> Result<(), LakeError> {
        for path in list(&self.root.join(PENDING))? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.starts_with(owner) {
                remove(&path)?;
            }
        }
        Ok(())
    }

    /// Deletes an object. A missing one is not an error.
    pub(crate) fn remove_object(&self, object: &LakeObject) -> Result<(), LakeError> {
        remove(&object.path)?;
        if let Some(folder) = object.path.parent() {
            // Fails if other objects are in the folder.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }
}

fn remove(path: &Path) -> Result<(), LakeError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(LakeError::io(path)(error)),
        _ => Ok(()),
    }
}

/// Returns the paths in a folder. A missing folder is empty.
fn list(folder: &Path) -> Result<Vec<PathBuf>, LakeError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(LakeError::io(folder))?,
    };
    let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    paths.map_err(LakeError::io(folder))
}

/// A file that is being written, below `.pending`.
#[derive(Debug)]
pub(crate) struct PendingObject {
    path: PathBuf,
    out: BufWriter<File>,
    bytes: u64,
}

impl PendingObject {
    /// Returns the path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends the last bytes and makes the file durable. Returns its size.
    pub(crate) fn finish(mut self, last: &[u8]) -> Result<u64, LakeError> {
        self.write_all(last).map_err(LakeError::io(&self.path))?;
        self.out.flush().map_err(LakeError::io(&self.path))?;
        self.out.get_ref().sync_all().map_err(LakeError::io(&self.path))?;
        Ok(self.bytes)
    }
}

impl Write for PendingObject {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

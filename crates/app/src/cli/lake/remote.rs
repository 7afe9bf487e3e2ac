//! Copies a push to a bucket with `aws` or `rclone`.

use std::path::Path;
use std::process::Command;

use rethread_lake::remote::{CopyProgram, RemoteLake};
use rethread_lake::{LakeFolder, LakeManifest};
use tempfile::TempDir;

use crate::cli::error::CliError;

/// A lake in a bucket, the program that reaches it, and a folder for the files to copy.
pub(super) struct RemoteCopier {
    lake: RemoteLake,
    program: CopyProgram,
    stage: TempDir,
}

impl RemoteCopier {
    /// Returns `None` if the lake is a folder. Returns an error if no program can reach it.
    pub(super) fn open(lake: &str) -> Result<Option<RemoteCopier>, CliError> {
        let Some(lake) = RemoteLake::parse(lake) else { return Ok(None) };
        let is_installed = |program: &&CopyProgram| {
            let name = match program {
                CopyProgram::Aws => "aws",
                CopyProgram::Rclone => "rclone",
            };
            Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
        };
        let program = lake.programs().iter().find(is_installed).copied().ok_or(CliError::NoCopyProgram)?;
        let stage = tempfile::Builder::new().prefix("rethread-lake-").tempdir()?;
        Ok(Some(RemoteCopier { lake, program, stage }))
    }

    /// Returns the folder for the files to copy.
    pub(super) fn stage(&self) -> &Path {
        self.stage.path()
    }

    /// Reads the manifest of the lake.
    pub(super) fn read_manifest(&self) -> Result<LakeManifest, CliError> {
        let text = run(&self.lake.read_command(self.program, "lake.json"))?;
        let failed = || CliError::CopyFailed {
            command: "reading lake.json".to_owned(),
            reason: "it is not the manifest of a lake".to_owned(),
        };
        LakeManifest::parse(&text).ok_or_else(failed)
    }

    /// Creates the lake. The manifest is written last.
    pub(super) fn init(&self, manifest: &LakeManifest) -> Result<(), CliError> {
        if run(&self.lake.read_command(self.program, "lake.json")).is_ok_and(|text| !text.trim().is_empty()) {
            return Err(CliError::CopyFailed {
                command: "creating the lake".to_owned(),
                reason: "it exists already".to_owned(),
            });
        }
        LakeFolder::stage(self.stage()).write_schema_objects()?;
        self.push()?;
        let mut file = tempfile::NamedTempFile::new()?;
        std::io::Write::write_all(&mut file, manifest.to_text().as_bytes())?;
        run(&self.lake.write_command(self.program, file.path(), "lake.json"))?;
        Ok(())
    }

    /// Copies the objects: the heads last, and only if everything else was copied.
    pub(super) fn push(&self) -> Result<(), CliError> {
        for command in self.lake.push_commands(self.program, self.stage()) {
            run(&command)?;
        }
        Ok(())
    }
}

/// Runs a command and returns its output. Returns an error if its exit code is not 0.
fn run(words: &[String]) -> Result<String, CliError> {
    let failed = |reason: String| CliError::CopyFailed { command: words.join(" "), reason };
    let Some((program, args)) = words.split_first() else { return Ok(String::new()) };
    let output = Command::new(program).args(args).output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(failed(text.lines().last().unwrap_or("it failed without a message").to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

//! Buckets: the commands of other programs that copy a push.

use std::path::Path;

/// A program that copies files to and from a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyProgram {
    /// `rclone`, for all kinds of buckets.
    Rclone,
    /// `aws`, for `s3://`.
    Aws,
}

/// The address of a lake in a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteLake {
    scheme: String,
    path: String,
}

impl RemoteLake {
    /// Parses an address: `s3://bucket/folder`, `gs://…` or `az://…`. Returns `None` for a folder.
    pub fn parse(address: &str) -> Option<RemoteLake> {
        let (scheme, path) = address.split_once("://")?;
        let is_known = ["s3", "gs", "az"].contains(&scheme);
        let path = path.trim_end_matches('/');
        (is_known && !path.is_empty())
            .then(|| RemoteLake { scheme: scheme.to_owned(), path: path.to_owned() })
    }

    /// Returns the programs that can copy to the lake, the preferred one first.
    pub fn programs(&self) -> &'static [CopyProgram] {
        if self.scheme == "s3" { &[CopyProgram::Aws, CopyProgram::Rclone] } else { &[CopyProgram::Rclone] }
    }

    /// Returns the address of a file of the lake as a program expects it. `rclone` gets its credentials from the environment.
    fn address(&self, program: CopyProgram, file: &str) -> String {
        let path = if file.is_empty() { self.path.clone() } else { format!("{}/{file}", self.path) };
        match (program, self.scheme.as_str()) {
            (CopyProgram::Aws, _) => format!("s3://{path}"),
            (CopyProgram::Rclone, "gs") => format!(":gcs,env_auth:{path}"),
            (CopyProgram::Rclone, "az") => format!(":azureblob,env_auth:{path}"),
            (CopyProgram::Rclone, _) => format!(":s3,env_auth:{path}"),
        }
    }

    /// Returns the command that prints a file of the lake.
    pub fn read_command(&self, program: CopyProgram, file: &str) -> Vec<String> {
        let address = self.address(program, file);
        match program {
            CopyProgram::Aws => to_words(&["aws", "s3", "cp", "--only-show-errors", &address, "-"]),
            CopyProgram::Rclone => to_words(&["rclone", "cat", &address]),
        }
    }

    /// Returns the command that copies a file to the lake.
    pub fn write_command(&self, program: CopyProgram, local: &Path, file: &str) -> Vec<String> {
        let (local, address) = (local.display().to_string(), self.address(program, file));
        match program {
            CopyProgram::Aws => to_words(&["aws", "s3", "cp", "--only-show-errors", &local, &address]),
            CopyProgram::Rclone => to_words(&["rclone", "copyto", &local, &address]),
        }
    }

    /// Returns the commands that copy the objects in a folder to the lake: all others first, the heads last.
    pub fn push_commands(&self, program: CopyProgram, local: &Path) -> [Vec<String>; 2] {
        let (local, address) = (local.display().to_string(), self.address(program, ""));
        match program {
            CopyProgram::Aws => {
                let base = ["aws", "s3", "cp", "--recursive", "--only-show-errors", &local, &address];
                let filters: [&[&str]; 2] = [
                    &["--exclude", ".pending/*", "--exclude", "v1/sources/*"],
                    &["--exclude", "*", "--include", "v1/sources/*"],
                ];
                filters.map(|filter| to_words(&[&base, filter].concat()))
            }
            CopyProgram::Rclone => {
                let base = ["rclone", "copy", &local, &address];
                let filters: [&[&str]; 2] = [
                    &["--exclude", "/.pending/**", "--exclude", "/v1/sources/**"],
                    &["--include", "/v1/sources/**"],
                ];
                filters.map(|filter| to_words(&[&base, filter].concat()))
            }
        }
    }
}

fn to_words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_buckets_are_remote() {
        for address in ["/srv/lake", "lake", "http://host/lake", "s3://", "C://lake"] {
            assert_eq!(RemoteLake::parse(address), None, "{address}");
        }
        assert!(RemoteLake::parse("s3://bucket/lake/").is_some());
    }

    #[test]
    fn heads_are_copied_last() {
        for address in ["s3://bucket/lake", "gs://bucket/lake", "az://bucket/lake"] {
            let lake = RemoteLake::parse(address).unwrap();
            for program in lake.programs() {
                let [data, heads] = lake.push_commands(*program, Path::new("/tmp/stage"));
                let has = |words: &[String], pair: [&str; 2]| {
                    words.windows(2).any(|words| words[0] == pair[0] && words[1].contains(pair[1]))
                };
                assert!(has(&data, ["--exclude", "v1/sources/"]), "{data:?}");
                assert!(has(&heads, ["--include", "v1/sources/"]), "{heads:?}");
            }
        }
    }
}

//! Tells which sessions belong to a project: those that were started in a folder or below it.

use std::io::Read;
use std::path::{Path, PathBuf};

use rethread_core::entry::members;

/// The maximum length of a project folder name. The client truncates longer ones and appends a hash.
pub(crate) const MAX_NAME_BYTES: usize = 200;
/// The number of bytes at the start of a session file that are searched for its working folder.
const HEAD_BYTES: u64 = 256 << 10;

/// A folder of the user: its sessions are those that were started in it or below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectScope {
    /// The folder, and the same without symbolic links if it exists.
    dirs: Vec<PathBuf>,
    /// The names that the client gives to project folders for `dirs`.
    names: Vec<String>,
}

impl ProjectScope {
    pub(crate) fn new(dir: &Path) -> ProjectScope {
        let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        let mut dirs: Vec<PathBuf> = absolute.canonicalize().into_iter().chain([absolute]).collect();
        dirs.dedup();
        let names = dirs.iter().map(|dir| encode_project_name(&dir.to_string_lossy())).collect();
        ProjectScope { dirs, names }
    }

    /// Returns `true` if the client's project folder with this name may contain sessions of the project. Different folders
    /// can have the same name, so [`Self::contains_session`] decides.
    pub(crate) fn may_contain_folder(&self, name: &str) -> bool {
        let is_match = |own: &String| {
            let own = &own[..own.len().min(MAX_NAME_BYTES)];
            let rest = name.strip_prefix(own);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-') || own.ends_with('-'))
        };
        self.names.iter().any(is_match)
    }

    /// Returns `true` if the client's project folder with this name is that of the folder itself, judging by the name.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    /// Returns `true` if a session belongs to the project. `folder_name` is the name of its project folder, which decides if
    /// the session file does not state where it was started.
    pub(crate) fn contains_session(&self, folder_name: &str, file: impl Read) -> bool {
        match find_working_folder(file) {
            Some(folder) => self.dirs.iter().any(|dir| folder.starts_with(dir)),
            None => self.is_named(folder_name),
        }
    }
}

/// Returns the first working folder that a session file states. Returns `None` if its start states none.
pub(crate) fn find_working_folder(file: impl Read) -> Option<PathBuf> {
    let mut head = Vec::new();
    // What was read before an error counts.
    let _ = file.take(HEAD_BYTES).read_to_end(&mut head);
    let find_in_line = |line: &[u8]| {
        let (_, value) = members(line).find(|(key, _)| key.equals("cwd"))?;
        serde_json::from_slice::<String>(value).ok()
    };
    head.split(|&byte| byte == b'\n').find_map(find_in_line).map(PathBuf::from)
}

/// Encodes a path as the client names project folders: every character except ASCII letters and digits becomes a dash.
pub(crate) fn encode_project_name(path: &str) -> String {
    let encode_unit = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
        _ => '-',
    };
    path.encode_utf16().map(encode_unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_name_matches_the_client_encoding() {
        assert_eq!(encode_project_name("/home/ann/my garden_2.0"), "-home-ann-my-garden-2-0");
        // JavaScript counts UTF-16 units: one dash for an umlaut, two for an emoji.
        assert_eq!(encode_project_name("/ü/🌱"), "-----");
    }

    #[test]
    fn sessions_in_a_folder_and_below_belong_to_its_project() {
        let scope = ProjectScope::new(Path::new("/nowhere/ann/shop"));
        let line = |cwd: &str| format!("{{\"type\":\"summary\"}}\n{{\"cwd\":{cwd:?},\"x\":1}}\n");
        for (folder, cwd, is_own) in [
            ("-nowhere-ann-shop", "/nowhere/ann/shop", true),
            ("-nowhere-ann-shop-api", "/nowhere/ann/shop/api", true),
            ("-nowhere-ann-shop-api", "/nowhere/ann/shop-api", false),
            ("-nowhere-ann-shop", "/nowhere/ann.shop", false),
        ] {
            assert!(scope.may_contain_folder(folder), "{folder}");
            assert_eq!(scope.contains_session(folder, line(cwd).as_bytes()), is_own, "{cwd}");
        }
        assert!(!scope.may_contain_folder("-nowhere-ann-shopping"));
        assert!(!scope.may_contain_folder("-nowhere-ann"));
        // Without a stated folder, the name of the project folder decides.
        assert!(scope.contains_session("-nowhere-ann-shop", &b"{\"type\":\"user\"}\nnoise"[..]));
        assert!(!scope.contains_session("-nowhere-ann-shop-api", &b""[..]));
        // A nested key is not the folder of the session.
        let nested = b"{\"message\":{\"cwd\":\"/nowhere/ann/shop\"},\"cwd\":\"/else\"}";
        assert!(!scope.contains_session("-nowhere-ann-shop", &nested[..]));
        assert!(ProjectScope::new(Path::new("/")).may_contain_folder("-home-ann"));
    }
}

//! The files that a tool call accesses.

use crate::entry::{JsonStr, find_member, list_objects, list_strings, members, value_text};

/// The access of a tool call to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAccess {
    /// The kind of access.
    pub op: FileAccessKind,
    /// The path, as the input names it.
    pub path: String,
    /// The number of lines that the call added. `None` if the client recorded no change.
    pub lines_added: Option<u32>,
    /// The number of lines that the call removed. `None` if the client recorded no change.
    pub lines_removed: Option<u32>,
}

/// The kind of access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileAccessKind {
    /// The call read the file.
    Read,
    /// The call wrote a file that did not exist.
    Create,
    /// The call wrote the whole file.
    Write,
    /// The call changed parts of the file.
    Edit,
    /// The call searched in the file or folder.
    Search,
}

impl FileAccessKind {
    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            FileAccessKind::Read => "read",
            FileAccessKind::Create => "create",
            FileAccessKind::Write => "write",
            FileAccessKind::Edit => "edit",
            FileAccessKind::Search => "search",
        }
    }
}

impl FileAccess {
    /// Returns the access of a call of `tool` with the JSON `input`. Returns `None` if the tool accesses no file or the input
    /// names none.
    pub fn from_call(tool: &str, input: &[u8]) -> Option<FileAccess> {
        let (op, member) = match tool {
            "Read" => (FileAccessKind::Read, "file_path"),
            "NotebookRead" => (FileAccessKind::Read, "notebook_path"),
            "Write" => (FileAccessKind::Write, "file_path"),
            "Edit" | "MultiEdit" => (FileAccessKind::Edit, "file_path"),
            "NotebookEdit" => (FileAccessKind::Edit, "notebook_path"),
            "Grep" | "Glob" | "LS" => (FileAccessKind::Search, "path"),
            _ => return None,
        };
        let path = find_member(input, member).and_then(JsonStr::from_value)?.decode().into_owned();
        (!path.is_empty()).then_some(FileAccess { op, path, lines_added: None, lines_removed: None })
    }

    /// Adds what the client recorded of the result of the call: whether the file was new, and the changed lines.
    pub fn add_result(&mut self, tool_use_result: &[u8]) {
        if !matches!(self.op, FileAccessKind::Write | FileAccessKind::Edit) {
            return;
        }
        let (mut patch, mut content) = (None, None);
        for (key, value) in members(tool_use_result) {
            match key.decode().as_ref() {
                "type" if value_text(value) == "create" => self.op = FileAccessKind::Create,
                "structuredPatch" => patch = Some(value),
                "content" => content = JsonStr::from_value(value),
                _ => {}
            }
        }
        let (mut added, mut removed) = (0, 0);
        for hunk in patch.map(list_objects).unwrap_or_default() {
            for line in find_member(hunk, "lines").map(list_strings).unwrap_or_default() {
                added += u32::from(line.raw().first() == Some(&b'+'));
                removed += u32::from(line.raw().first() == Some(&b'-'));
            }
        }
        // The patch of a new file is empty.
        if self.op == FileAccessKind::Create && added == 0 {
            added = content.map_or(0, |content| content.decode().lines().count() as u32);
        }
        if patch.is_some() {
            (self.lines_added, self.lines_removed) = (Some(added), Some(removed));
        }
    }

    /// Returns the extension of the file name in lower case. Returns `None` if it has none.
    pub fn extension(&self) -> Option<String> {
        let name = self.path.rsplit(['/', '\\']).next()?;
        let (stem, extension) = name.rsplit_once('.')?;
        (!stem.is_empty() && !extension.is_empty()).then(|| extension.to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::{FileAccess, FileAccessKind};

    fn access(tool: &str, input: &str, result: &str) -> Option<FileAccess> {
        let mut access = FileAccess::from_call(tool, input.as_bytes())?;
        access.add_result(result.as_bytes());
        Some(access)
    }

    #[test]
    fn changed_lines_are_those_of_the_patch() {
        let edit = access(
            "Edit",
            r#"{"file_path":"/garden/beds.MD","old_string":"a","new_string":"b"}"#,
            r#"{"filePath":"/garden/beds.MD","structuredPatch":[{"lines":[" x","-a","+b","+c"]},{"lines":["-d"]}]}"#,
        )
        .expect("an access");
        assert_eq!((edit.op, edit.lines_added, edit.lines_removed), (FileAccessKind::Edit, Some(2), Some(2)));
        assert_eq!(edit.extension().as_deref(), Some("md"));
    }

    #[test]
    fn a_new_file_has_all_lines_added() {
        let result = r#"{"type":"create","filePath":"a","content":"one\ntwo\n","structuredPatch":[]}"#;
        let write =
            access("Write", r#"{"file_path":"a","content":"one\ntwo\n"}"#, result).expect("an access");
        assert_eq!(
            (write.op, write.lines_added, write.lines_removed),
            (FileAccessKind::Create, Some(2), Some(0))
        );
        assert_eq!(write.extension(), None);
    }

    #[test]
    fn unrecorded_changes_are_unknown() {
        let write = access("Write", r#"{"file_path":".env"}"#, "\"Error: no\"").expect("an access");
        assert_eq!((write.op, write.lines_added), (FileAccessKind::Write, None));
        assert_eq!(write.extension(), None);
        assert_eq!(access("Bash", r#"{"command":"ls"}"#, "{}"), None);
        assert_eq!(access("Read", r#"{"file_path":7}"#, "{}"), None);
    }
}

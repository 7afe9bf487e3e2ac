//! The clipboard.

use serde_json::json;

use super::page::Page;

impl Page {
    /// Allows pages of an origin to write and read the clipboard. All pages of the browser share it.
    #[track_caller]
    pub fn allow_clipboard(&self, origin: &str) {
        let permissions = json!({
            "origin": origin,
            "browserContextId": self.context,
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"],
        });
        self.connection.call(None, "Browser.grantPermissions", &permissions);
    }

    /// Returns the text in the clipboard. The page needs [`Page::allow_clipboard`].
    #[track_caller]
    pub fn clipboard_text(&self) -> String {
        let text = self.eval("navigator.clipboard.readText()");
        text.as_str().unwrap_or_default().to_owned()
    }
}

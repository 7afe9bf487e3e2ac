//! What a page copies.

use serde_json::json;

use super::page::Page;

impl Page {
    /// Lets pages of an origin write and read the clipboard. All pages of the browser share one.
    #[track_caller]
    pub fn allow_clipboard(&self, origin: &str) {
        let wished = json!({
            "origin": origin,
            "browserContextId": self.context,
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"],
        });
        self.wire.call(None, "Browser.grantPermissions", &wished);
    }

    /// Returns the text that was copied last, where the page was allowed to read it.
    #[track_caller]
    pub fn copied(&self) -> String {
        let text = self.eval("navigator.clipboard.readText()");
        text.as_str().unwrap_or_default().to_owned()
    }
}

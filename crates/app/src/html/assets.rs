//! The style sheet and the script, each joined from the files in `assets`.

use std::sync::LazyLock;

/// A static file that the pages of the web UI request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    /// The file name. It contains a hash of the text, so that browsers can cache the file.
    pub(crate) name: &'static str,
    /// The media type.
    pub(crate) media_type: &'static str,
    /// The style sheet or the script itself.
    pub(crate) text: &'static str,
}

const STYLE: &[&str] = &[
    include_str!("../../assets/style/base.css"),
    include_str!("../../assets/style/session.css"),
    include_str!("../../assets/style/text.css"),
    include_str!("../../assets/style/tools.css"),
    include_str!("../../assets/style/action.css"),
    include_str!("../../assets/style/home.css"),
    include_str!("../../assets/style/list.css"),
    include_str!("../../assets/style/search.css"),
    include_str!("../../assets/style/sql.css"),
];

const SCRIPT: &[&str] = &[
    include_str!("../../assets/script/base.js"),
    include_str!("../../assets/script/session.js"),
    include_str!("../../assets/script/map.js"),
    include_str!("../../assets/script/find.js"),
    include_str!("../../assets/script/live.js"),
    include_str!("../../assets/script/present.js"),
    include_str!("../../assets/script/action.js"),
    include_str!("../../assets/script/list.js"),
    include_str!("../../assets/script/search.js"),
];

/// The scripts of an exported page. It has no server, so the scripts that search, follow or change a session are omitted.
const EXPORT_SCRIPT: &[&str] = &[
    include_str!("../../assets/script/base.js"),
    include_str!("../../assets/script/export.js"),
    include_str!("../../assets/script/session.js"),
    include_str!("../../assets/script/map.js"),
    include_str!("../../assets/script/present.js"),
];

/// Returns the style sheet of all pages.
pub(crate) fn style() -> Asset {
    static STYLES: LazyLock<(String, String)> = LazyLock::new(|| {
        let palette = super::text::palette_css();
        build_file(&[STYLE, &[&palette]].concat(), "css")
    });
    Asset { name: &STYLES.0, media_type: "text/css; charset=utf-8", text: &STYLES.1 }
}

/// Returns the script of the pages that the server sends.
pub(crate) fn script() -> Asset {
    static SCRIPTS: LazyLock<(String, String)> = LazyLock::new(|| build_file(SCRIPT, "js"));
    Asset { name: &SCRIPTS.0, media_type: "text/javascript; charset=utf-8", text: &SCRIPTS.1 }
}

/// Returns the script of an exported page.
pub(crate) fn export_script() -> &'static str {
    static SCRIPTS: LazyLock<String> = LazyLock::new(|| EXPORT_SCRIPT.join("\n"));
    &SCRIPTS
}

/// Joins the texts `parts` into one file. Returns its name, which contains a hash of the text, and the text.
fn build_file(parts: &[&str], extension: &str) -> (String, String) {
    use sha2::Digest;
    let text = parts.join("\n");
    let hash = sha2::Sha256::digest(text.as_bytes());
    let short: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    (format!("rethread-{short}.{extension}"), text)
}

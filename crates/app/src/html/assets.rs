//! The one style sheet and the one script, joined from their parts when the program is built.

use std::sync::LazyLock;

/// A file that pages ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    /// Its name, which changes with its bytes.
    pub(crate) name: &'static str,
    /// Its media type.
    pub(crate) kind: &'static str,
    /// What it holds.
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

/// What an exported page needs: nobody fetches, finds or follows there.
const PAGE_SCRIPT: &[&str] = &[
    include_str!("../../assets/script/base.js"),
    include_str!("../../assets/script/export.js"),
    include_str!("../../assets/script/session.js"),
    include_str!("../../assets/script/map.js"),
    include_str!("../../assets/script/present.js"),
];

/// Returns the style sheet.
pub(crate) fn style() -> Asset {
    static STYLES: LazyLock<(String, String)> = LazyLock::new(|| {
        let palette = super::text::palette();
        joined(&[STYLE, &[&palette]].concat(), "css")
    });
    Asset { name: &STYLES.0, kind: "text/css; charset=utf-8", text: &STYLES.1 }
}

/// Returns the script.
pub(crate) fn script() -> Asset {
    static SCRIPTS: LazyLock<(String, String)> = LazyLock::new(|| joined(SCRIPT, "js"));
    Asset { name: &SCRIPTS.0, kind: "text/javascript; charset=utf-8", text: &SCRIPTS.1 }
}

/// Returns the script of an exported page.
pub(crate) fn page_script() -> &'static str {
    static SCRIPTS: LazyLock<String> = LazyLock::new(|| PAGE_SCRIPT.join("\n"));
    &SCRIPTS
}

fn joined(parts: &[&str], ending: &str) -> (String, String) {
    use sha2::Digest;
    let text = parts.join("\n");
    let hash = sha2::Sha256::digest(text.as_bytes());
    let short: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    (format!("rethread-{short}.{ending}"), text)
}

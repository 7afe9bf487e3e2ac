//! What an exported page may do: run the one script and use the one style sheet it was made with, and show its own pictures.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Writes the policy of a page that holds this script and this style sheet.
pub(super) fn policy(script: &str, style: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(style)
    )
}

#[cfg(test)]
mod tests {
    use super::policy;
    use crate::html::assets;

    #[test]
    fn the_policy_names_both_by_their_hash() {
        let empty = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";
        assert_eq!(
            policy("", ""),
            format!(
                "default-src 'none'; script-src {empty}; style-src {empty}; img-src data:; base-uri 'none'; form-action 'none'"
            )
        );
    }

    #[test]
    fn nothing_in_them_ends_them_early() {
        for text in [assets::style().text, assets::page_script()] {
            let text = text.to_ascii_lowercase();
            for end in ["</s", "<!--", "\r", "\0"] {
                assert!(!text.contains(end), "{end:?}");
            }
        }
    }
}

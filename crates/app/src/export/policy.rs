//! The content security policy of an exported page: only its own script, its own style sheet and embedded images.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Returns the policy of a page with this script and this style sheet.
pub(super) fn build_security_policy(script: &str, style: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(style)
    )
}

#[cfg(test)]
mod tests {
    use super::build_security_policy;
    use crate::html::assets;

    #[test]
    fn policy_contains_the_hashes_of_script_and_style() {
        let empty = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";
        assert_eq!(
            build_security_policy("", ""),
            format!(
                "default-src 'none'; script-src {empty}; style-src {empty}; img-src data:; base-uri 'none'; form-action 'none'"
            )
        );
    }

    #[test]
    fn script_and_style_contain_no_end_tags() {
        for text in [assets::style().text, assets::export_script()] {
            let text = text.to_ascii_lowercase();
            for end in ["</s", "<!--", "\r", "\0"] {
                assert!(!text.contains(end), "{end:?}");
            }
        }
    }
}

//! Hostile text in sessions, forms and URLs is always escaped.

use rethread_testkit::sample_session::EDITED_PROMPT;

use super::action_server::{ActionServer, SESSION, url_encode};

/// A session whose text contains markup.
const MARKUP_SESSION: &str = "
    u1: <script>alert(1)</script>
      a1: <img src=x onerror=alert(2)>
        u2: <svg onload=alert(3)> \"quoted\"
          a2: <b>fine</b>
        u3: </text></svg><script>alert(4)</script>
          a3: <iframe>
";

fn is_harmless(body: &str) -> bool {
    ["<script>alert", "<img src=x", "<svg onload", "<b>", "<iframe", "<i>"]
        .iter()
        .all(|tag| !body.contains(tag))
}

#[test]
fn session_text_is_escaped_in_every_page() {
    let server = ActionServer::new(MARKUP_SESSION);
    for path in [
        "branches",
        "tree",
        "diff?a=L4&b=L6",
        "action/goto?at=L4",
        "action/fork?at=L4",
        "action/clone",
        "action/rename",
    ] {
        let response = server.get_page(&format!("/s/{SESSION}/{path}"));
        assert_eq!(response.status, 200, "{path}: {}", response.body);
        assert!(is_harmless(&response.body), "{path}: {}", response.body);
    }
}

#[test]
fn form_values_are_neither_markup_nor_paths() {
    let server = ActionServer::new(EDITED_PROMPT);
    let before = server.snapshot();
    let hostile_values = [
        "../../x",
        "<i>x</i>",
        "L99999999999999999999",
        "\"><script>alert(1)</script>",
        "\u{202e}x",
        "",
        "%00",
        "L1\r\nx: y",
    ];
    for entry in hostile_values {
        for action in ["goto", "fork"] {
            let response =
                server.post(&format!("/s/{SESSION}/action/{action}"), &[("at", entry), ("go", "preview")]);
            let expected = if action == "fork" && entry.is_empty() { 200 } else { 404 };
            assert_eq!(response.status, expected, "{action} {entry:?}: {}", response.body);
            assert!(is_harmless(&response.body), "{action} {entry:?}: {}", response.body);
        }
        let diff = server.get_page(&format!("/s/{SESSION}/diff?a={}&b=L6", url_encode(entry)));
        assert!(diff.status == 404 && is_harmless(&diff.body), "{entry:?}: {}", diff.body);
    }
    for key in ["..", "%2e%2e%2f%2e%2e", "x~2", "%3Ci%3E"] {
        for path in ["branches", "tree", "diff?a=L1&b=L2", "action/goto?at=L1", "action/none"] {
            let response = server.get_fragment(&format!("/s/{key}/{path}"));
            assert!(response.status == 404 && is_harmless(&response.body), "{key} {path}: {}", response.body);
        }
    }
    let title = "<i>bold</i> \"title\" $(rm -rf ~) 'x'";
    let preview = server.post(&format!("/s/{SESSION}/action/rename"), &[("title", title), ("go", "preview")]);
    assert!(preview.status == 200 && is_harmless(&preview.body), "{}", preview.body);
    assert!(
        preview.body.contains("'&lt;i&gt;bold&lt;/i&gt; &quot;title&quot; $(rm -rf ~) '\\''x'\\'''"),
        "{}",
        preview.body
    );
    let long = "x".repeat(100_000);
    assert_eq!(
        server.post(&format!("/s/{SESSION}/action/rename"), &[("title", &long), ("go", "do")]).status,
        422
    );
    assert_eq!(server.snapshot(), before);
}

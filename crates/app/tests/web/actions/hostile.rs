//! Hostile words in sessions, forms and addresses stay words.

use super::action_server::{Deck, EDITED, SESSION, encoded};

/// A session whose words would be markup.
const MARKUP: &str = "
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
        .all(|mark| !body.contains(mark))
}

#[test]
fn what_a_session_says_is_never_markup() {
    let deck = Deck::new(MARKUP);
    for path in
        ["branches", "tree", "diff?a=L4&b=L6", "act/goto?at=L4", "act/fork?at=L4", "act/clone", "act/rename"]
    {
        let answer = deck.page(&format!("/s/{SESSION}/{path}"));
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(is_harmless(&answer.body), "{path}: {}", answer.body);
    }
}

#[test]
fn what_a_form_says_is_never_markup_and_never_a_path() {
    let deck = Deck::new(EDITED);
    let before = deck.picture();
    let words = [
        "../../x",
        "<i>x</i>",
        "L99999999999999999999",
        "\"><script>alert(1)</script>",
        "\u{202e}x",
        "",
        "%00",
        "L1\r\nx: y",
    ];
    for at in words {
        for what in ["goto", "fork"] {
            let answer = deck.post(&format!("/s/{SESSION}/act/{what}"), &[("at", at), ("go", "preview")]);
            let expected = if what == "fork" && at.is_empty() { 200 } else { 404 };
            assert_eq!(answer.status, expected, "{what} {at:?}: {}", answer.body);
            assert!(is_harmless(&answer.body), "{what} {at:?}: {}", answer.body);
        }
        let diff = deck.page(&format!("/s/{SESSION}/diff?a={}&b=L6", encoded(at)));
        assert!(diff.status == 404 && is_harmless(&diff.body), "{at:?}: {}", diff.body);
    }
    for key in ["..", "%2e%2e%2f%2e%2e", "x~2", "%3Ci%3E"] {
        for path in ["branches", "tree", "diff?a=L1&b=L2", "act/goto?at=L1", "act/none"] {
            let answer = deck.get(&format!("/s/{key}/{path}"));
            assert!(answer.status == 404 && is_harmless(&answer.body), "{key} {path}: {}", answer.body);
        }
    }
    let title = "<i>bold</i> \"title\" $(rm -rf ~) 'x'";
    let preview = deck.post(&format!("/s/{SESSION}/act/rename"), &[("title", title), ("go", "preview")]);
    assert!(preview.status == 200 && is_harmless(&preview.body), "{}", preview.body);
    assert!(
        preview.body.contains("'&lt;i&gt;bold&lt;/i&gt; &quot;title&quot; $(rm -rf ~) '\\''x'\\'''"),
        "{}",
        preview.body
    );
    let long = "x".repeat(100_000);
    assert_eq!(deck.post(&format!("/s/{SESSION}/act/rename"), &[("title", &long), ("go", "do")]).status, 422);
    assert_eq!(deck.picture(), before);
}

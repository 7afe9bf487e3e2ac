//! Pages without the frame, for browsers that are not signed in or are being signed in.

use maud::{DOCTYPE, Markup, html};

/// Renders a page that leads to `address` at once. It contains no script, and the browser does not record it.
pub(crate) fn render_redirect(address: &str) -> Markup {
    let refresh = html! { meta http-equiv="refresh" content={ "0;url=" (address) }; };
    let body = html! { p { a href=(address) { "Open rethread" } } };
    render_bare_page("rethread", &refresh, &body)
}

/// Renders a page with a message and the next steps of the visitor.
pub(crate) fn render_refusal(title: &str, steps: &[&str]) -> Markup {
    let body = html! { h1 { (title) } @for step in steps { p { (step) } } };
    render_bare_page(title, &html! {}, &body)
}

/// Renders a page that loads nothing and sends no referrer. `head` contains further elements of its head.
fn render_bare_page(title: &str, head: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'";
                title { (title) }
                (head)
            }
            body { main { (body) } }
        }
    }
}

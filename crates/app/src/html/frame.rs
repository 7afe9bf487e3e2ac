//! The page around what is shown: head, bar, search box, switches.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::assets;

/// What a page says of itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Frame<'a> {
    /// Its title.
    pub(crate) title: &'a str,
    /// Which place of the bar is the present one: `home`, `sessions`, `search`, `log` or none.
    pub(crate) here: &'a str,
    /// Words in the search box.
    pub(crate) query: &'a str,
    /// Whether the sessions are invented.
    pub(crate) demo: bool,
}

/// Draws a whole page around its body, which is or holds `<main id="main">`.
pub(crate) fn page(frame: &Frame<'_>, body: &Markup) -> Markup {
    html! { (head(frame)) (body) (foot()) }
}

/// Draws what stands before the body: a page may be sent in pieces.
pub(crate) fn head(frame: &Frame<'_>) -> Markup {
    let title = if frame.title == "rethread" {
        frame.title.to_owned()
    } else {
        format!("{} · rethread", frame.title)
    };
    let link = |name: &str| if frame.here == name { Some("page") } else { None };
    let looks = html! {
        link rel="stylesheet" href={ "/assets/" (assets::style().name) };
        // It runs before the first paint, so that a chosen theme does not flash; it touches no element before they are there.
        script src={ "/assets/" (assets::script().name) } {}
    };
    let bar = html! {
        a class="bar-name" href="/" { "rethread" }
        nav class="bar-nav" aria-label="Places" {
            a href="/" aria-current=[link("home")] { "Home" }
            a href="/sessions" aria-current=[link("sessions")] { "Sessions" }
            a href="/search" aria-current=[link("search")] { "Search" }
            a href="/log" aria-current=[link("log")] { "Changes" }
        }
        // Where the page has a search box of its own, a second one would only confuse.
        @if matches!(frame.here, "home" | "search") { div class="bar-search" {} } @else {
            form class="bar-search" action="/search" role="search" {
                input type="search" name="q" value=(frame.query) placeholder="Search all sessions"
                    aria-label="Search all sessions" autocomplete="off" spellcheck="false";
            }
        }
    };
    html! {
        (opening(&title, &looks, &bar))
        @if frame.demo {
            p class="demo" role="note" { strong { "Demo: " } "these sessions are invented, none of them is yours." }
        }
    }
}

/// Draws what every page begins with: its head, which holds its looks, and the bar.
pub(crate) fn opening(title: &str, looks: &Markup, bar: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        (PreEscaped("<html lang=\"en\">"))
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) }
            link rel="icon" href="data:,";
            (looks)
        }
        (PreEscaped("<body>"))
        a class="skip" href="#main" { "Skip to the text" }
        header class="bar" {
            (bar)
            button type="button" class="bar-button" data-do="theme" aria-label="Switch between light and dark" { "◐" }
            button type="button" class="bar-button" data-do="keys" aria-label="Show the keyboard map" { "?" }
        }
    }
}

/// Draws what stands behind the body.
pub(crate) fn foot() -> Markup {
    PreEscaped("<div id=\"say\" role=\"status\" aria-live=\"polite\"></div></body></html>".to_owned())
}

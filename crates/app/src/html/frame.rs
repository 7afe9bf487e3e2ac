//! The frame of every page: head, bar, search box, buttons.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::assets;
use super::link::Site;

/// The title and the state of the frame of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// The addresses of the pages to which the bar links.
    pub(crate) site: &'a Site,
    /// The title of the page.
    pub(crate) title: &'a str,
    /// The section of the bar to which the page belongs: `home`, `sessions`, `search`, `sql`, `log` or empty.
    pub(crate) section: &'a str,
    /// Whether the sessions are generated examples.
    pub(crate) demo: bool,
    /// The theme, `light` or `dark`. `None` is that of the system. A choice in the browser overrides it.
    pub(crate) theme: Option<&'static str>,
}

/// Renders a whole page. `body` must contain `<main id="main">`, or be that element.
pub(crate) fn render_page(frame: &Frame<'_>, body: &Markup) -> Markup {
    html! { (render_start(frame)) (body) (render_end()) }
}

/// Renders everything before the body: `<head>`, bar and demo banner. Separate from [`render_page`] because a page
/// may be sent in chunks.
pub(crate) fn render_start(frame: &Frame<'_>) -> Markup {
    let title = if frame.title == "rethread" {
        frame.title.to_owned()
    } else {
        format!("{} · rethread", frame.title)
    };
    let site = frame.site;
    let current = |section: &str| if frame.section == section { Some("page") } else { None };
    let head = html! {
        link rel="stylesheet" href=(site.page(&format!("/assets/{}", assets::style().name)));
        // Runs before the first paint, so that the page does not flash in another theme. Accesses elements only once
        // they exist.
        script src=(site.page(&format!("/assets/{}", assets::script().name))) {}
    };
    let bar = html! {
        a class="bar-name" href=(site.page("/")) { "rethread" }
        nav class="bar-nav" aria-label="Sections" {
            a href=(site.page("/")) aria-current=[current("home")] { "Home" }
            a href=(site.page("/sessions")) aria-current=[current("sessions")] { "Sessions" }
            a href=(site.page("/search")) aria-current=[current("search")] { "Search" }
            a href=(site.page("/sql")) aria-current=[current("sql")] { "SQL" }
            a href=(site.page("/log")) aria-current=[current("log")] { "Changes" }
        }
        // These pages contain a search box themselves.
        @if matches!(frame.section, "home" | "search") { div class="bar-search" {} } @else {
            form class="bar-search" action=(site.page("/search")) role="search" {
                input type="search" name="q" placeholder="Search all sessions"
                    aria-label="Search all sessions" autocomplete="off" spellcheck="false";
            }
        }
    };
    html! {
        (render_opening(&title, &head, &bar, frame.theme))
        @if frame.demo {
            p class="demo-banner" role="note" { strong { "Demo: " } "these sessions are generated, none of them is yours." }
        }
    }
}

/// Renders the beginning of a page: its `<head>` with the additional elements `head`, and the bar with the content
/// `bar`. `theme` is `light` or `dark`; `None` is that of the system.
pub(crate) fn render_opening(
    title: &str,
    head: &Markup,
    bar: &Markup,
    theme: Option<&'static str>,
) -> Markup {
    let theme = theme.map(|theme| format!(" data-theme=\"{theme}\"")).unwrap_or_default();
    html! {
        (DOCTYPE)
        (PreEscaped(format!("<html lang=\"en\"{theme}>")))
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) }
            link rel="icon" href="data:,";
            (head)
        }
        (PreEscaped("<body>"))
        a class="skip-link" href="#main" { "Skip to content" }
        header class="bar" {
            (bar)
            button type="button" class="bar-button" data-command="theme" aria-label="Switch between light and dark" { "◐" }
            button type="button" class="bar-button" data-command="keys" aria-label="Show keyboard shortcuts" { "?" }
        }
    }
}

/// Renders everything after the body.
pub(crate) fn render_end() -> Markup {
    PreEscaped("<div id=\"toast\" role=\"status\" aria-live=\"polite\"></div></body></html>".to_owned())
}

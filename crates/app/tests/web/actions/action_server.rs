//! A server on one session, and what is asked of it: forms with the seal of the run, pieces as the script fetches them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rethread_testkit::script;

use crate::client::{Answer, Site};
use crate::home::Home;

/// The session that tests act on, by its id, which is its key too.
pub(crate) const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A session with an edited prompt and a pin on the newer way.
pub(crate) const EDITED: &str = "
    u1: sort the harbours
      a1: sorted
        u2: by name
          a2: !Bash sort
            u3: =a2 done
              a3: by name it is
        u4: by code instead
          a4: by code it is
    last-prompt ~a4: by code instead
";

/// A running server.
pub(crate) struct Deck {
    site: Site,
}

const PIECE: (&str, &str) = ("x-rethread", "piece");
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

fn file() -> String {
    format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl")
}

impl Deck {
    /// Starts a server on a session that was written by a script an hour ago.
    pub(crate) fn new(text: &str) -> Deck {
        Deck::with(text, |_| {})
    }

    /// Starts a server on such a session; `more` may put more into the home folder.
    pub(crate) fn with(text: &str, more: impl FnOnce(&Home)) -> Deck {
        let home = Home::new();
        home.write_old(&file(), script::bytes(text));
        more(&home);
        Deck { site: Site::of(home) }
    }

    /// Writes more to the session, an hour ago.
    pub(crate) fn append(&self, text: &str) {
        let bytes = [self.session(), script::bytes(text)].concat();
        self.site.home().write_old(&file(), bytes);
    }

    /// Reads the session file.
    pub(crate) fn session(&self) -> Vec<u8> {
        std::fs::read(self.site.home().path().join(file())).unwrap()
    }

    /// Returns everything below `.claude`, and what it holds.
    pub(crate) fn picture(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        self.site.home().picture()
    }

    /// Asks for a page as the script does: for a piece of one.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.site.get_with(path, &[PIECE])
    }

    /// Asks for a whole page.
    pub(crate) fn page(&self, path: &str) -> Answer {
        self.site.get(path)
    }

    /// Sends a form with the seal of this run.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let seal = self.seal();
        let fields: Vec<(&str, &str)> =
            [("seal", seal.as_str())].into_iter().chain(fields.iter().copied()).collect();
        self.post_with(path, &fields, &[PIECE])
    }

    /// Sends a form as it is; headers take the place of the usual ones, and one without a value leaves it out.
    pub(crate) fn post_with(&self, path: &str, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
        let body: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        let typed = headers.iter().any(|(name, _)| *name == FORM.0);
        let usual = if typed { None } else { Some(FORM) };
        let headers: Vec<(&str, &str)> = usual.into_iter().chain(headers.iter().copied()).collect();
        self.site.ask("POST", path, &headers, &body.join("&"))
    }

    /// Reads the seal out of a form.
    pub(crate) fn seal(&self) -> String {
        let form = self.get(&format!("/s/{SESSION}/act/rename"));
        between(&form.body, "name=\"seal\" value=\"", "\"").expect("forms are sealed").to_owned()
    }
}

/// Returns what stands between two texts.
pub(crate) fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    Some(text.split_once(from)?.1.split_once(to)?.0)
}

/// Writes a value as forms do.
pub(crate) fn encoded(value: &str) -> String {
    value
        .bytes()
        .map(|b| if b.is_ascii_alphanumeric() { (b as char).to_string() } else { format!("%{b:02X}") })
        .collect()
}

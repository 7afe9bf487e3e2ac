//! Lighter copies: what a form chose, as a trim and as what to type.

use maud::{Markup, html};
use rethread_engine::Error;
use rethread_engine::core::trim::{ContentKind, Preset, TrimOptions};
use rethread_engine::ops::{self, CloneRequest, RescueRequest};

use super::actions::title_option;
use super::fields::Fields;
use super::request::{ActionRequest, ActionStage};
use crate::html::action;

/// Fields that the form of a copy has.
const FIELDS: [&str; 6] = ["preset", "fit", "drop", "older", "last", "title"];

/// Tokens that there is room for, where the form does not say.
const ROOM: u64 = 120_000;

/// Makes a lighter copy, or one that fits.
pub(super) fn clone(case: &ActionRequest<'_>) -> Result<Markup, Error> {
    if case.go == ActionStage::Ask {
        return Ok(action::form("Make a lighter copy", &case.form(Vec::new(), ""), &action::clone()));
    }
    if case.fields.get("preset") == "fit" { rescue(case) } else { trimmed(case) }
}

fn trimmed(case: &ActionRequest<'_>) -> Result<Markup, Error> {
    let chosen = chosen(case.fields);
    let title = case.fields.words("title");
    let request = CloneRequest {
        path: case.target.path.clone(),
        branch: None,
        trim: chosen.trim,
        what: chosen.what.to_owned(),
        title: title.clone(),
        into: None,
        now: case.now(),
        dry_run: case.is_dry(),
    };
    let copy = ops::clone(&request, &case.server.place.pen)?;
    let mut rest = chosen.options;
    rest.extend(title_option(title.as_deref()));
    let form = case.form(again(case.fields), &case.command("clone", &rest));
    Ok(case.told(action::lighter(&copy, &case.server.place), &form, &html! {}, Some(&copy.born)))
}

fn rescue(case: &ActionRequest<'_>) -> Result<Markup, Error> {
    let fit = case.fields.number("fit").unwrap_or(ROOM);
    let title = case.fields.words("title");
    let request = RescueRequest {
        path: case.target.path.clone(),
        branch: None,
        fit,
        title: title.clone(),
        now: case.now(),
        dry_run: case.is_dry(),
    };
    let rescue = ops::rescue(&request, &case.server.place.pen)?;
    let mut rest = vec!["--fit".to_owned(), fit.to_string()];
    rest.extend(title_option(title.as_deref()));
    let form = case.form(again(case.fields), &case.command("rescue", &rest));
    let born = rescue.copy.as_ref().map(|copy| &copy.born);
    let mut sheet = action::rescued(&rescue, fit, &case.server.place);
    sheet.idle |= born.is_none();
    Ok(case.told(sheet, &form, &html! {}, born))
}

/// Takes what was chosen along to the next form.
fn again(fields: &Fields) -> Vec<(&'static str, String)> {
    let of = |name: &'static str| fields.all(name).map(move |value| (name, value.to_owned()));
    FIELDS.into_iter().flat_map(of).collect()
}

/// What a form chose.
struct Chosen {
    trim: TrimOptions,
    /// What the title says of the copy.
    what: &'static str,
    /// The same as options.
    options: Vec<String>,
}

fn chosen(fields: &Fields) -> Chosen {
    let preset = Preset::named(fields.get("preset")).unwrap_or(Preset::Light);
    let mut trim = preset.trim();
    let mut options = vec!["--preset".to_owned(), preset.name().to_owned()];
    for what in fields.all("drop").filter_map(ContentKind::named) {
        if trim.leave_out(what) {
            options.extend(["--drop".to_owned(), what.name().to_owned()]);
        }
    }
    if let Some(turns) = fields.number("older") {
        trim.older_than = Some(turns);
        options.extend(["--older-than-turns".to_owned(), turns.to_string()]);
    }
    if let Some(turns) = fields.number::<u32>("last").filter(|turns| *turns > 0) {
        trim.keep_last = Some(turns);
        options.extend(["--keep-last".to_owned(), turns.to_string()]);
    }
    Chosen { what: preset.copy_name(&trim), trim, options }
}

#[cfg(test)]
mod tests {
    use rethread_engine::core::trim::{ContentKind, Preset};

    use super::{Fields, chosen};

    fn of(pairs: &[(&str, &str)]) -> Fields {
        Fields(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn choices_are_those_of_the_command_line() {
        let light = chosen(&of(&[]));
        assert_eq!((light.trim, light.what), (Preset::Light.trim(), "light"));
        let form = of(&[
            ("preset", "whole"),
            ("drop", "thinking"),
            ("drop", "../x"),
            ("drop", "thinking"),
            ("older", "7"),
            ("last", "0"),
        ]);
        let whole = chosen(&form);
        assert_eq!((whole.trim.drop, whole.trim.older_than), (vec![ContentKind::Thinking], Some(7)));
        assert_eq!((whole.what, whole.trim.keep_last), ("trimmed", None));
        assert_eq!(whole.options.join(" "), "--preset whole --drop thinking --older-than-turns 7");
    }
}

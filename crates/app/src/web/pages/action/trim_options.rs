//! Trimmed copies: the choices of the form, as trim options and as shell arguments.

use maud::{Markup, html};
use rethread_engine::core::trim::{ContentKind, TrimOptions, TrimPreset};
use rethread_engine::ops;
use rethread_engine::ops::clone::CloneRequest;
use rethread_engine::ops::rescue::RescueRequest;
use rethread_engine::{Error, Roots};

use super::actions::build_title_args;
use super::fields::FormFields;
use super::request::{ActionRequest, ActionStage};
use crate::html::action;

/// The fields of the form.
const CLONE_FIELDS: [&str; 6] = ["preset", "fit", "drop", "older", "last", "title"];

/// The context size to fit into if the form does not contain one, in tokens.
const DEFAULT_FIT_TOKENS: u64 = 120_000;

/// Creates a trimmed copy of the session: with the chosen content omitted, or small enough for a context size.
/// Renders the form or the preview in the earlier stages.
pub(super) fn clone(action_request: &ActionRequest<'_>) -> Result<Markup, Error> {
    if action_request.stage == ActionStage::Input {
        return Ok(action::render_form(
            "Clone with less context",
            &action_request.form(Vec::new(), ""),
            &action::render_clone_inputs(),
        ));
    }
    if action_request.fields.get("preset") == "fit" {
        clone_to_fit(action_request)
    } else {
        clone_trimmed(action_request)
    }
}

/// Creates or previews a copy without the content that the form selects.
fn clone_trimmed(action_request: &ActionRequest<'_>) -> Result<Markup, Error> {
    let choice = read_choice(action_request.fields);
    let title = action_request.fields.text("title");
    let request = CloneRequest {
        path: action_request.target.path.clone(),
        branch: None,
        trim: choice.trim,
        title_suffix: choice.title_suffix.to_owned(),
        title: title.clone(),
        project_folder: None,
        roots: Roots::default(),
        now: action_request.now(),
        dry_run: action_request.is_dry_run(),
    };
    let copy = ops::clone::clone(&request, &action_request.server.context.writer)?;
    let mut args = choice.args;
    args.extend(build_title_args(title.as_deref()));
    let form =
        action_request.form(repeat_fields(action_request.fields), &action_request.command("clone", &args));
    Ok(action_request.render_summary(
        action::summarize_clone(&copy, &action_request.server.context),
        &form,
        &html! {},
        Some(&copy.session),
    ))
}

/// Creates or previews a copy that fits into the context size of the form.
fn clone_to_fit(action_request: &ActionRequest<'_>) -> Result<Markup, Error> {
    let max_tokens = action_request.fields.number("fit").unwrap_or(DEFAULT_FIT_TOKENS);
    let title = action_request.fields.text("title");
    let request = RescueRequest {
        path: action_request.target.path.clone(),
        branch: None,
        max_tokens,
        title: title.clone(),
        now: action_request.now(),
        dry_run: action_request.is_dry_run(),
    };
    let outcome = ops::rescue::rescue(&request, &action_request.server.context.writer)?;
    let mut args = vec!["--fit".to_owned(), max_tokens.to_string()];
    args.extend(build_title_args(title.as_deref()));
    let form =
        action_request.form(repeat_fields(action_request.fields), &action_request.command("rescue", &args));
    let session = outcome.copy.as_ref().map(|copy| &copy.session);
    let mut summary = action::summarize_rescue(&outcome, max_tokens, &action_request.server.context);
    summary.disabled |= session.is_none();
    Ok(action_request.render_summary(summary, &form, &html! {}, session))
}

/// Returns the choices of the form as hidden fields for the form of the preview.
fn repeat_fields(fields: &FormFields) -> Vec<(&'static str, String)> {
    let pairs_of = |name: &'static str| fields.all(name).map(move |value| (name, value.to_owned()));
    CLONE_FIELDS.into_iter().flat_map(pairs_of).collect()
}

/// The choices of the form.
struct TrimChoice {
    trim: TrimOptions,
    /// The suffix of the title of the copy.
    title_suffix: &'static str,
    /// The equivalent shell arguments.
    args: Vec<String>,
}

/// Reads the preset, the omitted kinds of content and the turns to keep. An unknown preset means `light`.
fn read_choice(fields: &FormFields) -> TrimChoice {
    let preset = TrimPreset::from_name(fields.get("preset")).unwrap_or(TrimPreset::Light);
    let mut trim = preset.options();
    let mut args = vec!["--preset".to_owned(), preset.name().to_owned()];
    for kind in fields.all("drop").filter_map(ContentKind::from_name) {
        if trim.add_kind(kind) {
            args.extend(["--drop".to_owned(), kind.name().to_owned()]);
        }
    }
    if let Some(turns) = fields.number("older") {
        trim.older_than = Some(turns);
        args.extend(["--older-than-turns".to_owned(), turns.to_string()]);
    }
    if let Some(turns) = fields.number::<u32>("last").filter(|turns| *turns > 0) {
        trim.keep_last = Some(turns);
        args.extend(["--keep-last".to_owned(), turns.to_string()]);
    }
    TrimChoice { title_suffix: preset.copy_name(&trim), trim, args }
}

#[cfg(test)]
mod tests {
    use rethread_engine::core::trim::{ContentKind, TrimPreset};

    use super::{FormFields, read_choice};

    fn form_fields(pairs: &[(&str, &str)]) -> FormFields {
        FormFields(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn choices_become_options_and_equivalent_arguments() {
        let light = read_choice(&form_fields(&[]));
        assert_eq!((light.trim, light.title_suffix), (TrimPreset::Light.options(), "light"));
        let fields = form_fields(&[
            ("preset", "whole"),
            ("drop", "thinking"),
            ("drop", "../x"),
            ("drop", "thinking"),
            ("older", "7"),
            ("last", "0"),
        ]);
        let whole = read_choice(&fields);
        assert_eq!((whole.trim.drop, whole.trim.older_than), (vec![ContentKind::Thinking], Some(7)));
        assert_eq!((whole.title_suffix, whole.trim.keep_last), ("trimmed", None));
        assert_eq!(whole.args.join(" "), "--preset whole --drop thinking --older-than-turns 7");
    }
}

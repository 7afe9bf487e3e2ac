//! Parses the text of the configuration file. An invalid value leaves the setting as it is.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use rethread_engine::core::lines::line_number;
use rethread_engine::core::usage::PriceTable;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{SECTIONS, find_nearest};
use super::palette::NamedStyle;
use super::problem::{ConfigProblem, Severity};
use super::setting::{Origin, Setting, choice_name, path_text};
use super::statusline_format::StatuslineFormat;
use super::{Config, LsColumn, LsColumns, Separator};
use crate::prices::PricesSource;
use crate::text::resume_command::ResumeTemplate;
use crate::text::template::check_characters;
use crate::text::time::Clock;

/// A value of the file with its place.
type Value<'v, 'i> = &'v Spanned<DeValue<'i>>;

/// The maximum number of folders.
const MAX_ROOTS: usize = 100;

/// The reason why a value cannot be used.
struct ValueError {
    /// The byte at which the invalid part begins.
    offset: usize,
    message: String,
}

impl ValueError {
    fn new(value: Value<'_, '_>, message: impl Into<String>) -> ValueError {
        ValueError { offset: value.span().start, message: message.into() }
    }
}

/// The surroundings on which values of the file depend.
pub(super) struct ReadContext<'c> {
    /// The home folder, for paths that begin with `~/`.
    pub(super) home: Option<&'c Path>,
    /// The file, which is the source of prices in it.
    pub(super) path: &'c Path,
    /// Knows the time zones.
    pub(super) clock: &'c Clock,
}

/// Sets the valid values of `text` in `config` and returns the problems in the order of their lines.
pub(super) fn read_config(text: &str, context: &ReadContext<'_>, config: &mut Config) -> Vec<ConfigProblem> {
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let line = error.span().map(|span| line_number(text, span.start));
            let message = format!("this is not TOML: {}", error.message());
            return vec![ConfigProblem { line, ..ConfigProblem::in_file(Severity::Error, message) }];
        }
    };
    let mut problems = Vec::new();
    let mut values = Vec::new();
    collect_values(document.get_ref(), "", &mut values);
    values.sort_by_key(|(_, offset, _)| *offset);
    for (key, offset, value) in values {
        let (severity, offset, message) = match set_value(&key, value, text, context, config) {
            Some(Ok(())) => continue,
            Some(Err(error)) => (Severity::Error, error.offset, error.message),
            None => {
                let nearest = find_nearest(&key).map(|name| format!("; did you mean `{name}`?"));
                let shown: String = key.chars().take(80).collect();
                let message = format!("unknown key `{shown}`{}", nearest.unwrap_or_default());
                (Severity::Warning, offset, message)
            }
        };
        problems.push(ConfigProblem { severity, line: Some(line_number(text, offset)), key, message });
    }
    problems
}

/// Collects the values with their dotted keys and the places of these. Only known tables are entered.
fn collect_values<'v, 'i>(
    table: &'v DeTable<'i>,
    prefix: &str,
    values: &mut Vec<(String, usize, Value<'v, 'i>)>,
) {
    for (key, value) in table {
        let name = format!("{prefix}{}", key.get_ref());
        match value.get_ref().as_table().filter(|_| SECTIONS.contains(&name.as_str())) {
            Some(section) => collect_values(section, &format!("{name}."), values),
            None => values.push((name, key.span().start, value)),
        }
    }
}

/// Sets the value of a key. Returns `None` if there is no such key.
fn set_value(
    key: &str,
    value: Value<'_, '_>,
    text: &str,
    context: &ReadContext<'_>,
    config: &mut Config,
) -> Option<Result<(), ValueError>> {
    let origin = Origin::File { line: line_number(text, value.span().start) };
    if let Some(role) = key.strip_prefix("palette.") {
        let setting = config.palette.setting_mut(role)?;
        return Some(assign(setting, origin, parse_with(key, value, NamedStyle::parse)));
    }
    Some(match key {
        "roots" => assign(&mut config.roots, origin, parse_roots(key, value, context)),
        "kept" => assign(&mut config.kept, origin, parse_choice(key, value)),
        "color" => assign(&mut config.color, origin, parse_choice(key, value)),
        "theme" => assign(&mut config.theme, origin, parse_choice(key, value)),
        "time_zone" => assign(&mut config.time_zone, origin, parse_zone(key, value, context)),
        "prices" => assign(&mut config.prices, origin, parse_prices(key, value, text, context)),
        "ls.columns" => assign(&mut config.ls_columns, origin, parse_columns(key, value)),
        "archive.exclude" => assign(&mut config.archive_exclude, origin, parse_roots(key, value, context)),
        "resume.command" => {
            assign(&mut config.resume_command, origin, parse_with(key, value, ResumeTemplate::parse))
        }
        "statusline.format" => {
            assign(&mut config.statusline_format, origin, parse_with(key, value, StatuslineFormat::parse))
        }
        "statusline.separator" => {
            assign(&mut config.statusline_separator, origin, parse_with(key, value, parse_separator))
        }
        "export.format" => assign(&mut config.export_format, origin, parse_choice(key, value).map(Some)),
        "export.detail" => assign(&mut config.export_detail, origin, parse_choice(key, value).map(Some)),
        "export.only_typed" => assign(&mut config.export_only_typed, origin, parse_bool(key, value)),
        "export.theme" => assign(&mut config.export_theme, origin, parse_choice(key, value)),
        "export.secrets" => assign(&mut config.export_secrets, origin, parse_choice(key, value)),
        section if SECTIONS.contains(&section) => {
            Err(ValueError::new(value, format!("`{section}` must be a table: `[{section}]`")))
        }
        _ => return None,
    })
}

/// Sets a setting, or leaves it as it is if the value is invalid.
fn assign<T>(
    setting: &mut Setting<T>,
    origin: Origin,
    parsed: Result<T, ValueError>,
) -> Result<(), ValueError> {
    *setting = Setting::new(parsed?, origin);
    Ok(())
}

/// Describes the type of a value, with an article.
fn type_name(value: Value<'_, '_>) -> &'static str {
    match value.get_ref() {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Returns an error that names the expected and the actual type.
fn type_error(key: &str, value: Value<'_, '_>, expected: &str) -> ValueError {
    ValueError::new(value, format!("`{key}` must be {expected}, not {}", type_name(value)))
}

fn parse_text<'v>(key: &str, value: Value<'v, '_>) -> Result<&'v str, ValueError> {
    let text = value.get_ref().as_str().ok_or_else(|| type_error(key, value, "a text in quotes"))?;
    check_characters(text).map_err(|message| ValueError::new(value, format!("`{key}`: {message}")))?;
    Ok(text)
}

fn parse_bool(key: &str, value: Value<'_, '_>) -> Result<bool, ValueError> {
    value.get_ref().as_bool().ok_or_else(|| type_error(key, value, "true or false"))
}

/// Parses a text by `parse`, whose error message is about the text.
fn parse_with<T>(
    key: &str,
    value: Value<'_, '_>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<T, ValueError> {
    let text = parse_text(key, value)?;
    parse(text).map_err(|message| ValueError::new(value, format!("`{key}`: {message}")))
}

/// Parses one of the names of a choice.
fn parse_choice<T: ValueEnum>(key: &str, value: Value<'_, '_>) -> Result<T, ValueError> {
    let text = parse_text(key, value)?;
    T::from_str(text, false).map_err(|_| {
        let names: Vec<String> = T::value_variants().iter().map(choice_name).collect();
        let shown: String = text.chars().take(40).collect();
        ValueError::new(value, format!("`{key}` must be {}, not `{shown}`", join_or(&names)))
    })
}

/// Joins names as in `a, b or c`.
fn join_or(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// Parses a list of texts, of at least one.
fn parse_list<'v, 'i>(
    key: &str,
    value: Value<'v, 'i>,
    expected: &str,
) -> Result<&'v [Spanned<DeValue<'i>>], ValueError> {
    let list = value.get_ref().as_array().ok_or_else(|| type_error(key, value, expected))?;
    if list.is_empty() {
        return Err(ValueError::new(value, format!("`{key}` must not be empty")));
    }
    Ok(list)
}

fn parse_roots(
    key: &str,
    value: Value<'_, '_>,
    context: &ReadContext<'_>,
) -> Result<Vec<PathBuf>, ValueError> {
    let list = parse_list(key, value, "a list of folders: `[\"~/.claude\"]`")?;
    if list.len() > MAX_ROOTS {
        return Err(ValueError::new(value, format!("`{key}` has more than {MAX_ROOTS} folders")));
    }
    list.iter().map(|item| parse_path(key, item, context)).collect()
}

/// Parses a path that is absolute or begins with `~/`.
fn parse_path(key: &str, value: Value<'_, '_>, context: &ReadContext<'_>) -> Result<PathBuf, ValueError> {
    let text = parse_text(key, value)?;
    let path = match (text.strip_prefix('~'), context.home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(text),
    };
    if path.is_absolute() {
        return Ok(path);
    }
    let shown: String = text.chars().take(80).collect();
    Err(ValueError::new(value, format!("`{key}`: the path `{shown}` must be absolute or begin with `~/`")))
}

fn parse_zone(
    key: &str,
    value: Value<'_, '_>,
    context: &ReadContext<'_>,
) -> Result<Option<String>, ValueError> {
    let text = parse_text(key, value)?;
    let shown: String = text.chars().take(40).collect();
    let is_known = context.clock.in_zone(text).is_some();
    let unknown =
        || format!("`{key}`: unknown time zone `{shown}`; use a name such as Europe/Berlin, UTC or +02:00");
    if is_known { Ok(Some(text.to_owned())) } else { Err(ValueError::new(value, unknown())) }
}

fn parse_columns(key: &str, value: Value<'_, '_>) -> Result<LsColumns, ValueError> {
    let list = parse_list(key, value, "a list of columns: `[\"id\", \"age\", \"title\"]`")?;
    let mut columns: Vec<LsColumn> = Vec::new();
    for item in list {
        let column = parse_choice(key, item)?;
        if columns.contains(&column) {
            let name = choice_name(&column);
            return Err(ValueError::new(item, format!("`{key}` contains `{name}` twice")));
        }
        columns.push(column);
    }
    Ok(LsColumns(columns))
}

fn parse_separator(text: &str) -> Result<Separator, String> {
    const MAX_BYTES: usize = 40;
    if text.len() > MAX_BYTES {
        return Err(format!("the separator is longer than {MAX_BYTES} bytes"));
    }
    Ok(Separator(text.to_owned()))
}

fn parse_prices(
    key: &str,
    value: Value<'_, '_>,
    text: &str,
    context: &ReadContext<'_>,
) -> Result<PricesSource, ValueError> {
    if value.get_ref().is_str() {
        return parse_path(key, value, context).map(PricesSource::File);
    }
    match PriceTable::parse_section(text, key) {
        Ok(Some(table)) => Ok(PricesSource::Table(Box::new(table.with_source(&path_text(context.path))))),
        Ok(None) => Err(type_error(key, value, "the path of a price table, or a table: `[prices]`")),
        Err(error) => {
            let offset: usize =
                text.split_inclusive('\n').take(error.line.saturating_sub(1)).map(str::len).sum();
            Err(ValueError { offset, message: format!("`{key}`: {}", error.message) })
        }
    }
}

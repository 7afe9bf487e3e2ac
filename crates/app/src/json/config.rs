//! JSON of `config`.

use std::path::Path;

use serde::Serialize;

use super::object::{ObjectJson, build_object};

#[derive(Serialize)]
pub(crate) struct ConfigSettingJson<'a> {
    key: &'a str,
    value: &'a str,
    origin: &'static str,
    source: Option<String>,
    line: Option<usize>,
}

/// Builds a `config_setting` object. `source` is the option, the variable or the file that sets the value.
pub(crate) fn build_config_setting<'a>(
    key: &'a str,
    value: &'a str,
    origin: &'static str,
    source: Option<String>,
    line: Option<usize>,
) -> ObjectJson<ConfigSettingJson<'a>> {
    build_object("config_setting", ConfigSettingJson { key, value, origin, source, line })
}

#[derive(Serialize)]
pub(crate) struct ConfigProblemJson<'a> {
    severity: &'static str,
    file: String,
    line: Option<usize>,
    key: Option<&'a str>,
    message: &'a str,
}

/// Builds a `config_problem` object. `key` is empty if the whole file is concerned.
pub(crate) fn build_config_problem<'a>(
    severity: &'static str,
    file: &Path,
    line: Option<usize>,
    key: &'a str,
    message: &'a str,
) -> ObjectJson<ConfigProblemJson<'a>> {
    let key = Some(key).filter(|key| !key.is_empty());
    let file = file.display().to_string();
    build_object("config_problem", ConfigProblemJson { severity, file, line, key, message })
}

#[derive(Serialize)]
pub(crate) struct ConfigCheckJson {
    file: String,
    exists: bool,
    errors: usize,
    warnings: usize,
}

/// Builds the `config_check` object. `counts` are the numbers of errors and warnings.
pub(crate) fn build_config_check(
    file: &Path,
    exists: bool,
    counts: (usize, usize),
) -> ObjectJson<ConfigCheckJson> {
    let (errors, warnings) = counts;
    build_object(
        "config_check",
        ConfigCheckJson { file: file.display().to_string(), exists, errors, warnings },
    )
}

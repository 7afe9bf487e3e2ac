//! Tests of the values, their origins and the problems of configuration files.

use std::path::Path;

use super::file::TEMPLATE;
use super::keys::list_keys;
use super::read::{ReadContext, read_config};
use super::{Config, Origin, Severity};
use crate::text::time::Clock;

/// Reads a file. Returns the settings and the problems as `severity line: message`.
fn read(text: &str) -> (Config, Vec<String>) {
    let mut config = Config::default();
    let context =
        ReadContext { home: Some(Path::new("/h")), path: Path::new("/c.toml"), clock: &Clock::utc() };
    let problems = read_config(text, &context, &mut config);
    let format = |problem: super::ConfigProblem| {
        let severity = if problem.severity == Severity::Error { "error" } else { "warning" };
        format!("{severity} {}: {}", problem.line.unwrap_or_default(), problem.message)
    };
    (config, problems.into_iter().map(format).collect())
}

/// Returns the value and the origin of a key.
fn setting(config: &Config, key: &str) -> (String, Origin) {
    let settings = config.list_settings();
    let found = settings.into_iter().find(|setting| setting.key == key).expect(key);
    (found.value, found.origin)
}

/// Returns the TOML examples of a Markdown document.
fn list_examples(document: &str) -> Vec<&str> {
    document.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn every_key_is_set_by_the_file() {
    let text = "roots = ['~/a', \"/b\"]\ncolor = 'always'\ntheme = 'dark'\nkept = 'only'\ntime_zone = '+02:00'\nprices = '~/p.toml'\n\
        [ls]\ncolumns = ['title', 'id']\n[resume]\ncommand = 'c {id}'\n[statusline]\nformat = '{model} | {week}'\n\
        separator = ' / '\n[archive]\nexclude = ['~/a']\n[export]\nformat = 'html'\ndetail = 'tools'\nonly_typed = true\ntheme = 'light'\nsecrets = 'keep'\n\
        [palette]\nquiet = 'red'\nstrong = 'red'\nname = 'red'\nprompt = 'red'\ntool = 'red'\nmark = 'red'\n\
        bad = 'blue'\ngood = 'red'\nmatch = 'red'\n";
    let (config, problems) = read(text);
    assert!(problems.is_empty(), "{problems:?}");
    let default = Config::default();
    for key in list_keys() {
        let (value, origin) = setting(&config, &key);
        assert!(matches!(origin, Origin::File { .. }), "{key}: {origin:?}");
        assert_ne!(setting(&default, &key), (value, Origin::Default), "{key}");
    }
    assert_eq!(setting(&config, "roots"), ("/h/a, /b".to_owned(), Origin::File { line: 1 }));
    assert_eq!(setting(&config, "export.theme"), ("light".to_owned(), Origin::File { line: 20 }));
    assert_eq!(config.list_settings().len(), list_keys().len());
}

#[test]
fn invalid_values_are_reported_and_leave_the_default() {
    let cases = [
        ("color = 'blue'", "error 1: `color` must be auto, always or never, not `blue`"),
        ("\ncolor = 3", "error 2: `color` must be a text in quotes, not a number"),
        ("color = 'Auto'", "error 1: `color` must be auto, always or never, not `Auto`"),
        ("roots = '~/a'", "error 1: `roots` must be a list of folders: `[\"~/.claude\"]`, not a text"),
        ("roots = []", "error 1: `roots` must not be empty"),
        ("roots = [\n '/a',\n 'b']", "error 3: `roots`: the path `b` must be absolute or begin with `~/`"),
        ("roots = ['~x']", "error 1: `roots`: the path `~x` must be absolute or begin with `~/`"),
        ("roots = ['/a', 3]", "error 1: `roots` must be a text in quotes, not a number"),
        ("time_zone = 'Mars'", "error 1: `time_zone`: unknown time zone `Mars`"),
        ("[ls]\ncolumns = ['id', 'id']", "error 2: `ls.columns` contains `id` twice"),
        ("[ls]\ncolumns = ['idd']", "error 2: `ls.columns` must be id, age, date,"),
        ("ls = 3", "error 1: `ls` must be a table: `[ls]`"),
        ("[export]\nonly_typed = 'yes'", "error 2: `export.only_typed` must be true or false, not a text"),
        ("[resume]\ncommand = 'claude'", "error 2: `resume.command`: the command must contain {id}"),
        (
            "[resume]\ncommand = \"claude {id} \\u001b[2J\"",
            "error 2: `resume.command`: control and invisible",
        ),
        ("[statusline]\nformat = '{cost'", "error 2: `statusline.format`: a `{` is not closed"),
        ("[statusline]\nseparator = \"\\n\"", "error 2: `statusline.separator`: control"),
        ("[palette]\nname = 'pink'", "error 2: `palette.name`: unknown style `pink`"),
        (
            "prices = 3",
            "error 1: `prices` must be the path of a price table, or a table: `[prices]`, not a number",
        ),
        ("[prices]\n[[prices.price]]\nmodels = 'm'\ninput = 1", "error 2: `prices`: this price lacks"),
        ("[prices]\n\n[[prices.price]]\nmodels = 'm'\nx = 1", "error 5: `prices`: no price is called `x`"),
        ("colour = 'auto'", "warning 1: unknown key `colour`; did you mean `color`?"),
        ("\n[lss]\ncolumns = []", "warning 2: unknown key `lss`; did you mean `ls`?"),
        ("[ls]\nsort = 1", "warning 2: unknown key `ls.sort`"),
        ("[palette]\nquite = 'red'", "warning 2: unknown key `palette.quite`; did you mean `palette.quiet`?"),
        ("color = 'auto", "error 1: this is not TOML: "),
        ("color = 'auto'\ncolor = 'auto'", "error 2: this is not TOML: "),
    ];
    let default = Config::default().list_settings();
    for (text, message) in cases {
        let (config, problems) = read(text);
        assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        assert!(problems[0].starts_with(message), "{text}: {problems:?}");
        assert_eq!(config.list_settings(), default, "{text}");
    }
}

#[test]
fn a_valid_value_next_to_an_invalid_one_is_used() {
    let (config, problems) = read("color = 3\ntheme = 'dark'\nnothing = 1\n");
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(setting(&config, "theme"), ("dark".to_owned(), Origin::File { line: 2 }));
    assert_eq!(setting(&config, "color").1, Origin::Default);
}

#[test]
fn any_text_is_read_without_a_panic() {
    let nested = format!("x = {}1{}", "[".repeat(5000), "]".repeat(5000));
    let tables = "[a.b.c.d.e.f]\n".repeat(500);
    for text in [
        &*nested,
        &*tables,
        "\u{0}",
        "\u{feff}color = 'auto'",
        "=",
        "[",
        "[[ls]]",
        "[ls.columns]",
        "palette.x.y = 1",
    ] {
        let (config, _) = read(text);
        assert_eq!(setting(&config, "resume.command").1, Origin::Default);
    }
}

/// Returns the template with all keys set: the `#` before a key is removed.
fn uncomment(template: &str) -> String {
    let is_key = |line: &str| {
        let name = line.split_once(" = ").map_or("", |(name, _)| name);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
    };
    let line = |line: &str| match line.strip_prefix("# ") {
        Some(rest) if is_key(rest) => format!("{rest}\n"),
        _ => format!("{line}\n"),
    };
    template.lines().map(line).collect()
}

#[test]
fn the_template_explains_every_key_with_its_default() {
    let (config, problems) = read(TEMPLATE);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(config.list_settings(), Config::default().list_settings(), "all keys are commented out");
    let (config, problems) = read(&uncomment(TEMPLATE));
    assert!(problems.is_empty(), "{problems:?}");
    let default = Config::default();
    // These have no default that every machine shares, or depend on other options.
    let examples = ["roots", "archive.exclude", "time_zone", "prices", "export.format", "export.detail"];
    for key in list_keys() {
        let (value, origin) = setting(&config, &key);
        assert!(matches!(origin, Origin::File { .. }), "{key} is missing");
        assert!(examples.contains(&key.as_str()) || value == setting(&default, &key).0, "{key}: {value}");
    }
}

#[test]
fn the_examples_of_the_documentation_are_valid_and_cover_every_key() {
    let document = include_str!("../../../../docs/config.md");
    let examples = list_examples(document);
    let mut documented: Vec<String> = Vec::new();
    for example in &examples {
        let (config, problems) = read(example);
        assert!(problems.is_empty(), "{example}\n{problems:?}");
        let settings = config.list_settings();
        documented.extend(settings.into_iter().filter(|s| s.origin != Origin::Default).map(|s| s.key));
    }
    for key in list_keys() {
        assert!(documented.contains(&key), "docs/config.md has no example of `{key}`");
        assert!(document.contains(&format!("`{key}`")), "docs/config.md does not explain `{key}`");
    }
    let readme = include_str!("../../../../README.md");
    for example in list_examples(readme) {
        assert_eq!(read(example).1, Vec::<String>::new(), "{example}");
    }
}

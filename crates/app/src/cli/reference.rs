//! Tests that `docs/cli.md` matches the help texts.
#![expect(clippy::disallowed_methods, reason = "the test regenerates docs/cli.md on request")]

use std::fmt::Write;
use std::path::Path;

use clap::CommandFactory;

use super::args::Args;

const HEADER: &str = "# The command line

Generated from the help texts by a test; do not edit. To regenerate it: `UPDATE_DOCS=1 cargo test -p rethread reference`.
Every command also takes the global options, which are described below `rethread`.
";

/// Appends the long help of a command to `page`, below a heading with its name.
///
/// The global options are described once, in the section of the program itself.
fn write_section(command: &mut clap::Command, name: &str, page: &mut String) {
    let help = command.clone().bin_name(name).term_width(100).render_long_help();
    let help = help.to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
}

#[test]
fn reference_matches_the_help_texts() {
    let mut command = Args::command();
    command.build();
    let mut page = HEADER.to_owned();
    write_section(&mut command, "rethread", &mut page);
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for name in names.iter().filter(|name| *name != "help") {
        if let Some(sub) = command.find_subcommand(name).filter(|sub| !sub.is_hide_set()) {
            let hide_global = |arg: clap::Arg| if arg.is_global_set() { arg.hide(true) } else { arg };
            write_section(&mut sub.clone().mut_args(hide_global), &format!("rethread {name}"), &mut page);
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        current == page,
        "docs/cli.md is out of date: run `UPDATE_DOCS=1 cargo test -p rethread reference`"
    );
}

#[test]
fn help_begins_with_a_short_imperative() {
    let command = Args::command();
    for sub in command.get_subcommands().chain([&command]) {
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(
            !about.is_empty() && about.len() < 80 && !about.ends_with('.'),
            "{}: {about}",
            sub.get_name()
        );
        assert!(sub.get_long_about().is_some(), "{} has no description", sub.get_name());
        assert!(sub.get_after_help().is_some(), "{} has no examples", sub.get_name());
    }
    Args::command().debug_assert();
}

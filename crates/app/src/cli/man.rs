//! `rethread man`: the manual pages, generated from the help texts.

use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use super::args::{self, Args};
use super::error::{CliError, Exit};
use super::figures::count_noun;
use super::out::Out;
use super::{clean, convert_save_error};
use crate::export::save_file;

/// A manual page.
struct ManPage {
    /// The name of its file, such as `rethread-show.1`.
    file_name: String,
    roff: Vec<u8>,
}

/// Runs `rethread man`: prints rethread.1, or writes all pages to a folder.
pub(crate) fn run(man: &args::Man, out: &mut Out) -> Result<Exit, CliError> {
    let pages = render_pages()?;
    let Some(folder) = &man.output else {
        let first = pages.first().map(|page| page.roff.as_slice()).unwrap_or_default();
        out.bytes(first)?;
        return Ok(Exit::Done);
    };
    create_folder(folder).map_err(|source| CliError::Unwritable(folder.clone(), source))?;
    for page in &pages {
        write_page(page, folder)?;
    }
    let name = clean::line(&folder.display().to_string());
    out.note(&format!("wrote {} to `{name}`", count_noun(pages.len() as u64, "page")));
    Ok(Exit::Done)
}

/// Creates the folder of the pages, such as `~/.local/share/man/man1`, which new machines do not have.
#[expect(clippy::disallowed_methods, reason = "`man` creates the folder that the user names")]
fn create_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// Writes a page to a folder. Replaces an existing one.
fn write_page(page: &ManPage, folder: &Path) -> Result<(), CliError> {
    let path = folder.join(&page.file_name);
    let write = |out: &mut dyn Write| Ok(out.write_all(&page.roff)?);
    save_file(&path, &[], true, write).map(drop).map_err(|error| convert_save_error(&path, error))
}

/// Renders the pages of the program and of all visible commands.
fn render_pages() -> io::Result<Vec<ManPage>> {
    let mut program = Args::command();
    program.build();
    let mut pages = Vec::new();
    render_command(&program, "rethread", &mut pages)?;
    Ok(pages)
}

/// Renders the page of a command and those of its subcommands. `name` is the name of the page.
fn render_command(command: &clap::Command, name: &str, pages: &mut Vec<ManPage>) -> io::Result<()> {
    // The examples are laid out: `.nf` keeps their lines.
    let examples = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let page_command = command.clone().display_name(name.to_owned()).after_help("").after_long_help("");
    let mut roff = Vec::new();
    Man::new(page_command).title(name.to_owned()).render(&mut roff)?;
    if let Some(examples) = examples {
        roff.extend_from_slice(format_examples(&examples).as_bytes());
    }
    pages.push(ManPage { file_name: format!("{name}.1"), roff });
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        render_command(sub, &format!("{name}-{}", sub.get_name()), pages)?;
    }
    Ok(())
}

/// Formats the text below the options as a section in which lines are kept.
fn format_examples(text: &str) -> String {
    let mut roff = ".SH NOTES\n.nf\n".to_owned();
    for line in text.lines() {
        let escaped = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
        // A dot at the start of a line would be a request.
        roff.push_str(if escaped.starts_with('.') { "\\&" } else { "" });
        roff.push_str(&escaped);
        roff.push('\n');
    }
    roff.push_str(".fi\n");
    roff
}

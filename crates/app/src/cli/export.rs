//! `rethread export`: writes a session to a file or stdout.

use std::io::{self, Write};
use std::path::Path;

use rethread_engine::Error;
use rethread_engine::core::secrets::RedactOptions;
use rethread_engine::ops;
use rethread_engine::ops::read::BranchSelector;
use rethread_engine::ops::redact::RulePreview;

use super::args;
use super::error::{CliError, Exit};
use super::figures::{format_size, group_digits};
use super::out::Out;
use super::output_path::resolve_output_path;
use super::prices::load_price_table;
use super::style::{NAME, PLAIN};
use super::table::{Align, Cell, Table};
use super::turn_range::{note_turns_elsewhere, parse_turns};
use super::{AppContext, clean};
use crate::config::Config;
use crate::env;
use crate::export::{
    ExportContext, ExportError, ExportOptions, ExportSource, Format, SaveError, SecretPolicy, SecretsSetting,
    join_kinds, save_file,
};
use crate::json;

/// Passes rendered bytes to [`Out::bytes`].
struct StdoutWriter<'a> {
    out: &'a mut Out,
}

impl Write for StdoutWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.bytes(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs `rethread export`: writes the session to stdout or to a file. The format defaults to the file extension.
pub(crate) fn run(
    args: &args::Export,
    app: &AppContext,
    settings: &Config,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let file = args.output.as_deref().filter(|file| *file != Path::new("-"));
    let extension = file.and_then(|file| file.extension()?.to_str());
    let format = match (args.format, out.is_json(), extension) {
        (Some(format), _, _) => format,
        (None, true, _) => Format::Json,
        (None, false, None) => settings.export_format.value.unwrap_or(Format::Md),
        (None, false, Some(extension)) => {
            Format::from_extension(extension).ok_or_else(|| CliError::UnknownFormat(extension.to_owned()))?
        }
    };
    let selector = match &args.branch {
        Some(entry) => BranchSelector::Through(entry.clone()),
        None if args.all => BranchSelector::AllTurns,
        None => BranchSelector::Active,
    };
    let detail = args.detail.or(settings.export_detail.value).unwrap_or(format.default_detail());
    let only_typed = args.only_typed || settings.export_only_typed.value;
    let turns = args.turns.as_deref().map(parse_turns).transpose()?;
    let options = ExportOptions { format, detail, only_typed, selector, turns };
    let path = app.find_session(&args.session)?;
    if args.dry_run {
        return print_preview(
            &ops::redact::preview_redaction(&path, &build_redact_options(args, app)?)?,
            out,
        );
    }
    let prices = load_price_table(None, app, out)?;
    let policy = choose_policy(args, format, app, settings)?;
    let source = ExportSource::open(&path, &policy, &prices)?;
    let view = &source.view;
    let mut elsewhere = 0;
    if options.turns.is_some() {
        let branch = view.branch_view_of_turns(&options.selector, options.turns.as_ref())?;
        if branch.turns.is_empty() {
            let all = if args.all { "" } else { " (--all includes other branches)" };
            out.note(&format!("no exported turn has this number{all}"));
            return Ok(Exit::Nothing);
        }
        elsewhere = branch.scope.requested_elsewhere;
    }
    let format_path = |path: &str| app.format_path(path);
    let context = ExportContext {
        prices: &prices,
        format_path: &format_path,
        theme: settings.export_theme.value.attribute(),
        masked: source.describe_masked(),
    };
    let export = |writer: &mut dyn Write| source.write(&options, &context, writer);
    match file {
        None => {
            out.allow_pager();
            export(&mut StdoutWriter { out })?;
        }
        Some(file) => {
            let target = resolve_output_path(file, app, &path)?;
            let sources = ops::read::find_source_files(&path);
            let bytes = save_file(&target, &sources, args.force, export)
                .map_err(|error| convert_save_error(file, error))?;
            let name = clean::line(&file.display().to_string());
            out.note(&format!("wrote `{name}`, {}", format_size(bytes)));
        }
    }
    note_turns_elsewhere(elsewhere, out);
    if let Some(masked) = &context.masked {
        out.note(&format!("{masked}; --keep-secrets keeps them"));
    }
    Ok(Exit::Done)
}

/// Returns what happens to secrets: they are replaced, but JSON is exact and not written if it contains one.
///
/// Returns an error if the file with further words cannot be read.
fn choose_policy(
    args: &args::Export,
    format: Format,
    app: &AppContext,
    settings: &Config,
) -> Result<SecretPolicy, CliError> {
    let asks_for_tokens = args.redact
        || args.redact_words.is_some()
        || args.redact_names
        || args.redact_emails
        || args.remove_thinking;
    if args.keep_secrets || (settings.export_secrets.value == SecretsSetting::Keep && !asks_for_tokens) {
        return Ok(SecretPolicy::Keep);
    }
    if format == Format::Json && !asks_for_tokens {
        return Ok(SecretPolicy::Refuse);
    }
    Ok(SecretPolicy::Redact(build_redact_options(args, app)?))
}

/// Returns what an export replaces.
///
/// Returns an error if the file with further words cannot be read.
fn build_redact_options(args: &args::Export, app: &AppContext) -> Result<RedactOptions, CliError> {
    let words = match &args.redact_words {
        Some(file) => {
            std::fs::read_to_string(file).map_err(|error| CliError::Unreadable(file.clone(), error))?
        }
        None => String::new(),
    };
    let home = app.home.as_deref().and_then(Path::to_str);
    let user = home.and_then(|home| home.rsplit('/').find(|name| !name.is_empty()));
    Ok(RedactOptions {
        home: home.map(str::to_owned),
        user: user.filter(|_| args.redact_names).map(str::to_owned),
        host: env::host_name().filter(|_| args.redact_names),
        emails: args.redact_emails,
        words: words.lines().map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect(),
        remove_thinking: args.remove_thinking,
    })
}

/// Prints what an export replaces, by rule: how often, and the text around the first places.
fn print_preview(rules: &[RulePreview], out: &mut Out) -> Result<Exit, CliError> {
    if out.is_json() {
        for rule in rules {
            out.json(&json::build_rule_preview(rule))?;
        }
        return Ok(Exit::Done);
    }
    if rules.is_empty() {
        out.note("nothing is replaced");
        return Ok(Exit::Done);
    }
    out.allow_pager();
    let mut table = Table::new(0)
        .column("rule", Align::Left, 24)
        .column("texts", Align::Right, 9)
        .column("places", Align::Right, 9)
        .column("context", Align::Left, 110)
        .shrinking();
    for rule in rules {
        for (idx, context) in rule.contexts.iter().enumerate() {
            let cells = match idx {
                0 => [
                    Cell::new(NAME, clean::line(&rule.rule)),
                    group_digits(rule.texts as u64).into(),
                    group_digits(rule.places).into(),
                ],
                _ => ["", "", ""].map(|text| Cell::new(PLAIN, text)),
            };
            table.row(cells.into_iter().chain([Cell::new(PLAIN, clean::line(context))]).collect());
        }
    }
    table.print(out)?;
    out.note("in all files of the session; nothing was written");
    Ok(Exit::Done)
}

/// Converts an error of writing a file that the user named.
pub(crate) fn convert_save_error(file: &Path, error: SaveError) -> CliError {
    let path = file.to_owned();
    match error {
        SaveError::Exists => CliError::FileExists(path),
        SaveError::NotAFile => CliError::NotAFile(path),
        SaveError::Unwritable(source) => CliError::Unwritable(path, source),
        SaveError::Export(error) => error.into(),
    }
}

impl From<ExportError> for CliError {
    fn from(error: ExportError) -> CliError {
        match error {
            ExportError::Engine(error) => Error::into(error),
            ExportError::Io(error) => error.into(),
            ExportError::HasSecrets { kinds, is_redacted } => {
                CliError::HasSecrets { kinds: join_kinds(&kinds), is_redacted }
            }
        }
    }
}

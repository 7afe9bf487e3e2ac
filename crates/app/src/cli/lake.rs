//! `rethread lake`: shares sessions with a team as Parquet.

mod membership;
mod remote;

use std::path::{Path, PathBuf};

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::PriceTable;
use rethread_lake::remote::RemoteLake;
use rethread_lake::views::build_view_sql;
use rethread_lake::{
    CompactRequest, Finding, ForgetScope, LakeError, LakeFolder, LakeForgetRequest, LakeManifest, Level,
    PushReport, PushRequest, PushState, TeamKey, check_lake, compact_lake, forget, init_folder, push,
    read_status,
};

use self::membership::{Membership, find_dev_id, read_key, refuse_key_inside, write_key};
use self::remote::RemoteCopier;
use super::args::{Lake, LakeAction};
use super::error::{CliError, Exit, print_cache_warning, print_hint, print_warnings};
use super::facts::print_fact;
use super::figures::{count_noun, format_size, group_digits};
use super::out::Out;
use super::output_path::resolve_output_path;
use super::style::{NAME, PLAIN, QUIET, paint};
use super::table::{Align, Cell, Table};
use super::{AppContext, clean, env};
use crate::json;
use crate::prices::load_configured_prices;
use crate::text::command::quote_command;

/// Runs `rethread lake`.
pub(crate) fn run(args: &Lake, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    match &args.action {
        LakeAction::Init { lake, key, level } => init(lake, key, *level, app, out),
        LakeAction::Join { lake, key, level } => join(lake, key, *level, app, out),
        LakeAction::Push { lake, dry_run } => run_push(lake, *dry_run, app, out),
        LakeAction::Status { lake } => print_status(lake, app, out),
        LakeAction::Check { lake } => print_check(lake, out),
        LakeAction::Forget { lake, session, me: _, yes, dry_run } => {
            run_forget(lake, session.as_deref(), *yes, *dry_run, app, out)
        }
        LakeAction::Compact { lake, grace, dry_run } => run_compact(lake, grace, *dry_run, app, out),
        LakeAction::Views { lake, engine, with_text } => {
            for statement in build_view_sql(*engine, lake, *with_text) {
                out.line(&format!("{statement};\n"))?;
            }
            Ok(Exit::Done)
        }
    }
}

fn now(app: &AppContext) -> Timestamp {
    Timestamp(app.clock.now().as_millisecond())
}

/// Returns the current day in UTC.
fn today(app: &AppContext) -> String {
    app.clock.now().strftime("%Y-%m-%d").to_string()
}

/// Returns the folder of a lake that is not inside a folder with sessions or one of rethread.
fn resolve_lake(lake: &Path, app: &AppContext) -> Result<PathBuf, CliError> {
    let session = app.roots.paths.first().cloned().or_else(env::claude_dir).unwrap_or_else(|| lake.join("-"));
    resolve_output_path(lake, app, &session)
}

fn init(
    lake: &str,
    key_file: &Path,
    level: Option<Level>,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let key_file = std::path::absolute(key_file).unwrap_or_else(|_| key_file.to_owned());
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    bytes[16..].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    let key = TeamKey::from_bytes(bytes);
    let manifest = LakeManifest::new(uuid::Uuid::new_v4().to_string(), &key);
    match RemoteCopier::open(lake)? {
        Some(copier) => {
            write_key(&key_file, &key)?;
            copier.init(&manifest)?;
        }
        None => {
            let folder = resolve_lake(Path::new(lake), app)?;
            refuse_key_inside(&key_file, &folder)?;
            if folder.join("lake.json").exists() {
                return Err(LakeError::AlreadyALake(folder).into());
            }
            // Before the key is written, so that a refusal leaves no file.
            if std::fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some()) {
                return Err(LakeError::NotEmpty(folder).into());
            }
            write_key(&key_file, &key)?;
            init_folder(&folder, &manifest)?;
        }
    }
    out.line(&format!("created the lake `{}`", clean::line(lake)))?;
    out.line(&format!(
        "wrote the key of the team to `{}`",
        app.format_path(&key_file.display().to_string())
    ))?;
    match level {
        Some(level) => join(lake, &key_file, level, app, out),
        None => {
            let key = key_file.display().to_string();
            print_hint(
                &format!("{} sets up this machine", quote_command(&["lake", "join", lake, "--key", &key])),
                out,
            );
            Ok(Exit::Done)
        }
    }
}

fn join(
    lake: &str,
    key_file: &Path,
    level: Level,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let key_file = std::path::absolute(key_file).unwrap_or_else(|_| key_file.to_owned());
    let manifest = match RemoteCopier::open(lake)? {
        Some(copier) => copier.read_manifest()?,
        None => {
            let folder = resolve_lake(Path::new(lake), app)?;
            refuse_key_inside(&key_file, &folder)?;
            LakeFolder::open(&folder)?.1
        }
    };
    manifest.check(Some(&read_key(&key_file)?))?;
    let membership = Membership { level, key_file };
    membership.save(&manifest.lake_id, app)?;
    out.line(&format!("joined `{}` at level {}", clean::line(lake), paint(NAME, level.name())))?;
    print_hint(
        &format!(
            "{} shows what would leave the machine",
            quote_command(&["lake", "push", lake, "--dry-run"])
        ),
        out,
    );
    Ok(Exit::Done)
}

/// Returns `true` if the folder of a lake is not there. A bucket is always taken to be there.
pub(super) fn is_absent(lake: &str) -> bool {
    RemoteLake::parse(lake).is_none() && !LakeFolder::exists(Path::new(lake))
}

/// Returns the address of a bucket, or the absolute path of a folder that can be a lake.
pub(super) fn resolve_address(lake: &str, app: &AppContext) -> Result<String, CliError> {
    if RemoteLake::parse(lake).is_some() {
        return Ok(lake.to_owned());
    }
    let folder = resolve_lake(Path::new(lake), app)?;
    folder.to_str().map(str::to_owned).ok_or_else(|| CliError::UnwritablePath(lake.to_owned()))
}

/// Returns an error if this machine did not join a lake, or if the lake cannot be opened.
pub(super) fn check_membership(lake: &str, app: &AppContext) -> Result<(), CliError> {
    let (_, folder, manifest) = open_lake(lake, app)?;
    open_membership(lake, &folder, &manifest, app).map(|_| ())
}

/// Opens a lake to push to.
fn open_lake(
    lake: &str,
    app: &AppContext,
) -> Result<(Option<RemoteCopier>, LakeFolder, LakeManifest), CliError> {
    let copier = RemoteCopier::open(lake)?;
    let (folder, manifest) = match &copier {
        Some(copier) => (LakeFolder::stage(copier.stage()), copier.read_manifest()?),
        None => LakeFolder::open(&resolve_lake(Path::new(lake), app)?)?,
    };
    Ok((copier, folder, manifest))
}

/// Runs `rethread lake push`.
pub(super) fn run_push(lake: &str, dry_run: bool, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let (copier, folder, manifest) = open_lake(lake, app)?;
    let (membership, key) = open_membership(lake, &folder, &manifest, app)?;
    let prices = load_configured_prices(&app.prices)?;
    let state_file = app.writer.private_file(&state_name(&manifest.lake_id))?;
    // The file may be larger than the private files that are read as a whole.
    let state = PushState::parse(&std::fs::read_to_string(state_file.path()).unwrap_or_default());
    let request = PushRequest {
        roots: &app.roots,
        prices: &prices,
        prices_origin: describe_prices(&prices),
        level: membership.level,
        key: &key,
        dev_id: find_dev_id(&key, app)?,
        now: now(app),
        day: today(app),
        dry_run,
        stop_after: None,
    };
    let report = push(&folder, &request, &state, app.cache.as_ref())?;
    if !dry_run {
        if let Some(copier) = copier.filter(|_| report.pushed > 0) {
            copier.push()?;
        }
        if report.state != state {
            state_file.write(&report.state.to_text())?;
        }
    }
    print_push(&report, membership.level, dry_run, out)?;
    print_warnings(&report.failures, out);
    print_cache_warning(report.warning.as_ref(), out);
    Ok(if report.failures.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Returns the name of the file with the push state of a lake.
fn state_name(lake_id: &str) -> String {
    format!("lake/{lake_id}/pushed")
}

/// Returns how this machine joined the lake, and the key. Returns an error if it did not, or if the key is inside the lake.
fn open_membership(
    lake: &str,
    folder: &LakeFolder,
    manifest: &LakeManifest,
    app: &AppContext,
) -> Result<(Membership, TeamKey), CliError> {
    let membership = Membership::load(&manifest.lake_id, app)?
        .ok_or_else(|| CliError::NotJoined { lake: lake.to_owned() })?;
    refuse_key_inside(&membership.key_file, folder.root())?;
    let key = read_key(&membership.key_file)?;
    manifest.check(Some(&key))?;
    Ok((membership, key))
}

/// Returns the origin of the prices. It names no path of the user.
fn describe_prices(prices: &PriceTable) -> String {
    let date: String = prices.date().chars().filter(|c| c.is_ascii_digit() || *c == '-').take(10).collect();
    let kind = if *prices == PriceTable::built_in() { "built-in" } else { "own" };
    format!("{kind} {date}").trim_end().to_owned()
}

fn print_push(report: &PushReport, level: Level, dry_run: bool, out: &mut Out) -> Result<(), CliError> {
    if out.is_json() {
        return out.json(&json::build_lake_push(report, level, dry_run));
    }
    out.line(&format!("level {}: {}", paint(NAME, level.name()), level.description()))?;
    if report.pushed == 0 {
        return out.line(&format!("nothing new in {}", count_noun(report.files as u64, "file")));
    }
    let bytes: u64 = report.tables.iter().map(|table| table.bytes).sum();
    let verb = if dry_run { "would push" } else { "pushed" };
    out.line(&format!(
        "{verb} {} of {}: {} in {}",
        group_digits(report.pushed as u64),
        count_noun(report.files as u64, "file"),
        format_size(report.pushed_bytes),
        format_size(bytes),
    ))?;
    let rows = report.tables.iter();
    print_table("rows", rows.map(|table| (table.name, table.rows, table.bytes)), out)?;
    for summary in report.tables.iter().filter(|summary| !summary.samples.is_empty()) {
        out.line("")?;
        out.line(&paint(QUIET, &format!("first rows of {}:", summary.name)))?;
        for sample in &summary.samples {
            out.line(&clean::line(&sample.to_string()))?;
        }
    }
    Ok(())
}

/// Prints a row per table: its name, a number and its size.
fn print_table(
    head: &'static str,
    rows: impl Iterator<Item = (&'static str, u64, u64)>,
    out: &mut Out,
) -> Result<(), CliError> {
    let mut table = Table::new(2).column("table", Align::Left, 40).column(head, Align::Right, 20).column(
        "size",
        Align::Right,
        20,
    );
    for (name, number, bytes) in rows {
        table.row(vec![
            Cell::new(NAME, name),
            Cell::new(PLAIN, group_digits(number)),
            Cell::new(PLAIN, format_size(bytes)),
        ]);
    }
    table.print(out)
}

fn print_status(lake: &Path, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let (folder, manifest) = LakeFolder::open(lake)?;
    let membership = Membership::load(&manifest.lake_id, app)?;
    let dev_id = match &membership {
        Some(membership) => Some(find_dev_id(&read_key(&membership.key_file)?, app)?),
        None => None,
    };
    let status = read_status(&folder, dev_id.as_deref())?;
    let level = membership.map(|membership| membership.level);
    if out.is_json() {
        out.json(&json::build_lake_status(&status, level))?;
        return Ok(Exit::Done);
    }
    let mut fact = |label: &str, text: String| print_fact(label, &vec![(PLAIN, text)], out);
    fact("level", level.map_or("this machine did not join", Level::name).to_owned())?;
    fact("developers", group_digits(status.developers as u64))?;
    let own = group_digits(status.own_sources as u64);
    fact("sources", format!("{}, {own} of this machine", group_digits(status.sources as u64)))?;
    fact("rows", group_digits(status.rows))?;
    fact("last push", app.clock.format_age(status.last_push.map(Timestamp)))?;
    let rows = status.tables.iter();
    print_table("objects", rows.map(|(name, objects, bytes)| (*name, *objects as u64, *bytes)), out)?;
    Ok(Exit::Done)
}

fn print_check(lake: &Path, out: &mut Out) -> Result<Exit, CliError> {
    let report = check_lake(&LakeFolder::open(lake)?.0)?;
    if out.is_json() {
        out.json(&json::build_lake_check(&report))?;
        return Ok(Exit::from_clean(report.findings.is_empty()));
    }
    for finding in &report.findings {
        let text = match finding {
            Finding::Unreadable { path, message } => format!("{}: {message}", path.display()),
            Finding::RowCount { source_id, push_id, expected, found } => format!(
                "source {source_id}, push {push_id}: {} of {}",
                group_digits(*found),
                count_noun(*expected, "row")
            ),
        };
        out.line(&clean::line(&text))?;
    }
    out.line(&format!(
        "{}, {}, {}, {} superseded or unfinished: {}",
        count_noun(report.objects as u64, "object"),
        count_noun(report.heads as u64, "source"),
        count_noun(report.rows, "row"),
        group_digits(report.unnamed_rows),
        count_noun(report.findings.len() as u64, "fault"),
    ))?;
    Ok(Exit::from_clean(report.findings.is_empty()))
}

fn run_forget(
    lake: &Path,
    session: Option<&str>,
    yes: bool,
    dry_run: bool,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let lake_text = lake.display().to_string();
    let (folder, manifest) = LakeFolder::open(&resolve_lake(lake, app)?)?;
    let (_, key) = open_membership(&lake_text, &folder, &manifest, app)?;
    if !yes && !dry_run {
        let mut words = vec!["lake", "forget", &lake_text];
        words.extend(session.map_or(vec!["--me"], |id| vec!["--session", id]));
        words.push("--yes");
        let command = crate::text::command::build_command(&words);
        return Err(CliError::Unconfirmed { action: "lake forget".to_owned(), command });
    }
    let request = LakeForgetRequest {
        scope: session.map_or(ForgetScope::Developer, |id| ForgetScope::Session(id.to_owned())),
        key: &key,
        dev_id: find_dev_id(&key, app)?,
        now: now(app),
        day: today(app),
        dry_run,
    };
    let state_file = app.writer.private_file(&state_name(&manifest.lake_id))?;
    if !dry_run {
        // First of all, so that no later push brings the session back.
        let mut state = PushState::parse(&std::fs::read_to_string(state_file.path()).unwrap_or_default());
        state.forgotten.extend(session.map(str::to_owned));
        state_file.write(&state.to_text())?;
    }
    let report = forget(&folder, &request)?;
    if !dry_run && session.is_none() {
        Membership::remove(&manifest.lake_id, app)?;
        state_file.remove()?;
    }
    if out.is_json() {
        out.json(&json::build_lake_forget(&report, dry_run))?;
    } else {
        let verb = if dry_run { "would remove" } else { "removed" };
        let files = count_noun(report.sources as u64, "session file");
        out.line(&format!(
            "{verb} {files} from the lake; {} deleted, {} written again",
            count_noun(report.objects as u64, "object"),
            group_digits(report.rewritten as u64)
        ))?;
    }
    Ok(Exit::from_found(report.sources > 0))
}

fn run_compact(
    lake: &Path,
    grace: &str,
    dry_run: bool,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let (folder, _) = LakeFolder::open(&resolve_lake(lake, app)?)?;
    let grace_millis = parse_grace(grace).ok_or_else(|| CliError::BadInterval(grace.to_owned()))?;
    let request = CompactRequest { now: now(app), day: today(app), grace_millis, dry_run };
    let report = compact_lake(&folder, &request)?;
    if out.is_json() {
        out.json(&json::build_lake_compact(&report, dry_run))?;
        return Ok(Exit::Done);
    }
    let verb = if dry_run { "would merge" } else { "merged" };
    out.line(&format!(
        "{verb} {} of {} into {}; {} deleted ({}), {} kept for readers",
        group_digits(report.merged as u64),
        count_noun(report.objects_before as u64, "object"),
        group_digits(report.written as u64),
        group_digits(report.deleted as u64),
        format_size(report.deleted_bytes),
        group_digits(report.kept as u64),
    ))?;
    Ok(Exit::Done)
}

/// Parses a time in minutes, hours or days: `15m`, `2h`, `1d`, or 0. Returns milliseconds.
fn parse_grace(text: &str) -> Option<i64> {
    const MINUTE_MILLIS: i64 = 60_000;
    if text == "0" {
        return Some(0);
    }
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let factor = match unit {
        "m" => MINUTE_MILLIS,
        "h" => 60 * MINUTE_MILLIS,
        "d" => 24 * 60 * MINUTE_MILLIS,
        _ => return None,
    };
    number.parse::<u32>().ok().map(|number| i64::from(number) * factor)
}

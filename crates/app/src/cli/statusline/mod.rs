//! `rethread statusline`: prints one line about the running session for the status line of the client.

mod draw;

use std::io::Write;
use std::process::{Command, Stdio};

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops;
use rethread_engine::ops::usage::StatuslineRequest;

use super::AppContext;
use super::args;
use super::error::{self, CliError, Exit};
use super::out::Out;
use super::prices::load_price_table;
use crate::config::{Config, StatuslineField};
use crate::json;
use crate::json::statusline_input::{InputError, StatuslineInput, read_statusline_input};

/// Runs `rethread statusline`. Unreadable data only omits its part of the line, because the client shows nothing if the
/// command fails.
pub(crate) fn run(
    args: &args::Statusline,
    app: &AppContext,
    settings: &Config,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let input = match read_statusline_input() {
        Ok(value) => {
            if let Some(command) = &args.after {
                print_other_line(command, &value.to_string(), out)?;
            }
            StatuslineInput::from_json(&value)
        }
        Err(InputError::Missing) => return Err(CliError::NoStatusInput),
        Err(InputError::Unreadable) => {
            error::print_warning("stdin is not a JSON object", out);
            StatuslineInput::default()
        }
    };
    let prices = load_price_table(args.prices.file(), app, out).unwrap_or_else(|error| {
        error::print_error(&error, out);
        PriceTable::built_in()
    });
    let now = Timestamp(app.clock.now().as_millisecond());
    let request = StatuslineRequest {
        transcript: input.transcript.clone(),
        session: input.session.clone(),
        window: input.window,
        block_end: input.resets_at,
        includes_week: out.is_json() || settings.statusline_format.value.contains(StatuslineField::Week),
        week_end: input.week_resets_at,
        prompt_cache: input.prompt_cache,
        zone: app.clock.zone(),
        now,
        prices: &prices,
    };
    let usage = ops::usage::statusline_usage(&app.roots, &request, app.cache.as_ref());
    if out.is_json() {
        out.json(&json::build_statusline(&input, &usage, now))?;
    } else {
        out.line(&draw::render_line(&input, &usage, now, settings))?;
    }
    error::print_warnings(&usage.failures, out);
    error::print_cache_warning(usage.warning.as_ref(), out);
    Ok(Exit::Done)
}

/// Prints the status line of another program, which gets the same input. Prints nothing if it fails.
fn print_other_line(command: &str, input: &str, out: &mut Out) -> Result<(), CliError> {
    let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let child = Command::new(shell)
        .args([option, command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return Ok(()) };
    if let Some(mut stdin) = child.stdin.take() {
        // A program that needs no input may end before it is written.
        let _ = stdin.write_all(input.as_bytes());
    }
    let Ok(output) = child.wait_with_output() else { return Ok(()) };
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        out.line(line)?;
    }
    Ok(())
}

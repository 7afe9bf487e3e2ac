//! `rethread statusline`: one line about the running session, for the client's own screen.

mod draw;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::Prices;
use rethread_engine::ops::{self, MeterRequest};

use super::AppContext;
use super::args;
use super::error::{self, CliError, Exit};
use super::out::Out;
use crate::json;
use crate::json::statusline_input::{self, Input, Missing};

/// Runs `rethread statusline`. What cannot be read costs its piece of the line and nothing else: a client shows no line at
/// all of a command that fails.
pub(crate) fn run(args: &args::Statusline, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let input = match statusline_input::read() {
        Ok(input) => input,
        Err(Missing::Nothing) => return Err(CliError::NoStatus),
        Err(Missing::Unreadable) => {
            error::caution("what came on stdin is no JSON object", out);
            Input::default()
        }
    };
    let prices = args.prices.prices().unwrap_or_else(|stop| {
        error::print_error(&stop, out);
        Prices::built_in()
    });
    let now = Timestamp(place.clock.now().as_millisecond());
    let request = MeterRequest {
        transcript: input.transcript.clone(),
        session: input.session.clone(),
        window: input.window,
        resets: input.resets,
        zone: place.clock.zone(),
        now,
        prices: &prices,
    };
    let meter = ops::meter(&place.roots, &request, place.index.as_ref());
    if out.is_json() {
        out.json(&json::statusline(&input, &meter, now))?;
    } else {
        out.line(&draw::line(&input, &meter, now))?;
    }
    error::warn(&meter.failures, out);
    error::notice(meter.notice.as_ref(), out);
    Ok(Exit::Done)
}

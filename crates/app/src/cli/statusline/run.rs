//! Runs the command.

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::Prices;
use rethread_engine::ops::{self, MeterRequest};

use super::super::args;
use super::super::out::Out;
use super::super::report::{self, CliError, Exit};
use super::super::{AppContext, wire};
use super::draw;
use super::input::{self, Input, Missing};

/// Runs `rethread statusline`. What cannot be read costs its piece of the line and nothing else: a client shows no line at
/// all of a command that fails.
pub(crate) fn run(args: &args::Statusline, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let input = match input::read() {
        Ok(input) => input,
        Err(Missing::Nothing) => return Err(CliError::NoStatus),
        Err(Missing::Unreadable) => {
            report::caution("what came on stdin is no JSON object", out);
            Input::default()
        }
    };
    let prices = args.prices.prices().unwrap_or_else(|stop| {
        report::print_error(&stop, out);
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
        out.json(&wire::statusline(&input, &meter, now))?;
    } else {
        out.line(&draw::line(&input, &meter, now))?;
    }
    report::warn(&meter.failures, out);
    report::notice(meter.notice.as_ref(), out);
    Ok(Exit::Done)
}

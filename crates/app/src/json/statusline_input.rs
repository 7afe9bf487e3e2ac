//! Reads the JSON that the client passes to a status line command on stdin. Any field may be missing or have
//! another type in another version of the client.

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::entry::Usage;
use rethread_engine::ops::usage::{ReportedPromptCache, ReportedWindow};
use serde_json::Value;

/// The time limit for the client to send its input.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum number of bytes read from stdin.
const MAX_BYTES: u64 = 4 << 20;

/// The description of a running session by the client. A field is `None` if it is missing or has an unexpected type.
#[derive(Debug, Default)]
pub(crate) struct StatuslineInput {
    /// The session id.
    pub(crate) session: Option<String>,
    /// The session file.
    pub(crate) transcript: Option<PathBuf>,
    /// The display name of the model, or else its API id.
    pub(crate) model: Option<String>,
    /// The cost of the session in dollars, computed by the client.
    pub(crate) cost_usd: Option<f64>,
    /// The size and use of the context window, as reported by the client.
    pub(crate) window: ReportedWindow,
    /// The end of the running five-hour block.
    pub(crate) resets_at: Option<Timestamp>,
    /// The used percentage of the limit of the five-hour block.
    pub(crate) limit_percent: Option<f64>,
    /// The end of the running window of seven days.
    pub(crate) week_resets_at: Option<Timestamp>,
    /// The used percentage of the limit of seven days.
    pub(crate) week_limit_percent: Option<f64>,
    /// The prompt cache.
    pub(crate) prompt_cache: ReportedPromptCache,
}

/// The reason why there is no usable input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputError {
    /// Stdin is a terminal, is empty, or no complete JSON value arrived in time.
    Missing,
    /// The input is not valid JSON, or not a JSON object.
    Unreadable,
}

/// Reads one JSON object of the client from stdin. Waits at most [`TIMEOUT`], and not at all for a terminal.
///
/// Returns an error if there is no input in time or the input is not a JSON object.
pub(crate) fn read_statusline_input() -> Result<Value, InputError> {
    if io::stdin().is_terminal() {
        return Err(InputError::Missing);
    }
    let (sender, receiver) = mpsc::channel();
    // A read blocks forever on a pipe that no process writes to or closes.
    std::thread::spawn(move || {
        let input = io::stdin().lock().take(MAX_BYTES);
        let mut values = serde_json::Deserializer::from_reader(input).into_iter::<Value>();
        // Sends the first value without waiting for the end of the input.
        let _ = sender.send(values.next());
    });
    match receiver.recv_timeout(TIMEOUT) {
        Ok(Some(Ok(value @ Value::Object(_)))) => Ok(value),
        Ok(Some(_)) => Err(InputError::Unreadable),
        Ok(None) | Err(_) => Err(InputError::Missing),
    }
}

impl StatuslineInput {
    /// Takes the known fields. Empty texts, negative numbers and fields of another type are ignored.
    pub(crate) fn from_json(value: &Value) -> StatuslineInput {
        let get = |path: &str| value.pointer(path);
        let text = |path: &str| get(path).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let number = |path: &str| get(path).and_then(Value::as_f64).filter(|n| n.is_finite() && *n >= 0.0);
        let count = |path: &str| number(path).map(|number| number as u64);
        let model_id = text("/model/id");
        let keys = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let counts = keys.map(|key| count(&format!("/context_window/current_usage/{key}")));
        let time = |path: &str| {
            let parsed = text(path).and_then(|text| text.parse::<jiff::Timestamp>().ok());
            let parsed = parsed.map(|time| Timestamp(time.as_millisecond()));
            number(path).and_then(Timestamp::from_number).or(parsed)
        };
        let last_usage = counts.iter().any(Option::is_some).then(|| Usage {
            input: counts[0].unwrap_or(0),
            cache_write: counts[1].unwrap_or(0),
            cache_read: counts[2].unwrap_or(0),
            ..Usage::default()
        });
        let used = counts.iter().flatten().fold(0, |sum: u64, tokens| sum.saturating_add(*tokens));
        let is_long = get("/exceeds_200k_tokens").and_then(Value::as_bool).unwrap_or(false)
            || model_id.is_some_and(|id| id.to_ascii_lowercase().contains("[1m]"));
        StatuslineInput {
            session: text("/session_id").map(str::to_owned),
            transcript: text("/transcript_path").map(PathBuf::from),
            model: text("/model/display_name").or(model_id).map(str::to_owned),
            cost_usd: number("/cost/total_cost_usd"),
            window: ReportedWindow {
                percent: number("/context_window/used_percentage"),
                size_tokens: count("/context_window/context_window_size"),
                used_tokens: counts.iter().any(Option::is_some).then_some(used),
                is_long,
            },
            resets_at: time("/rate_limits/five_hour/resets_at"),
            limit_percent: number("/rate_limits/five_hour/used_percentage"),
            week_resets_at: time("/rate_limits/seven_day/resets_at"),
            week_limit_percent: number("/rate_limits/seven_day/used_percentage"),
            prompt_cache: ReportedPromptCache {
                last_usage,
                expires_at: time("/prompt_cache/expires_at"),
                lifetime_ms: number("/prompt_cache/ttl")
                    .map(|seconds| (seconds * 1000.0) as i64)
                    .or_else(|| text("/prompt_cache/ttl").and_then(parse_lifetime)),
                misses: count("/prompt_cache/misses"),
            },
        }
    }
}

/// Parses a lifetime such as `5m` or `1h` to milliseconds.
fn parse_lifetime(text: &str) -> Option<i64> {
    let (number, unit) = text.trim().split_at_checked(text.trim().len().checked_sub(1)?)?;
    let unit_ms = match unit {
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<i64>().ok().filter(|number| *number >= 0)?.checked_mul(unit_ms)
}

#[cfg(test)]
mod tests {
    use super::{StatuslineInput, parse_lifetime};

    #[test]
    fn fields_with_unexpected_types_are_ignored() {
        let complete = serde_json::json!({
            "session_id": "s", "transcript_path": "/t.jsonl", "model": {"id": "claude-x[1m]", "display_name": "X"},
            "cost": {"total_cost_usd": 1.5}, "exceeds_200k_tokens": false,
            "context_window": {"context_window_size": 1000, "used_percentage": 43.6, "current_usage":
                {"input_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 4, "output_tokens": 8}},
            "rate_limits": {"five_hour": {"used_percentage": 12.5, "resets_at": 1_770_000_000},
                "seven_day": {"used_percentage": 31, "resets_at": "2026-02-02T02:40:00Z"}},
            "prompt_cache": {"ttl": 300, "expires_at": 1_770_000_300, "misses": 2},
        });
        let input = StatuslineInput::from_json(&complete);
        assert_eq!((input.session.as_deref(), input.model.as_deref()), (Some("s"), Some("X")));
        assert_eq!((input.cost_usd, input.limit_percent), (Some(1.5), Some(12.5)));
        let window = input.window;
        assert_eq!(
            (window.percent, window.size_tokens, window.used_tokens),
            (Some(43.6), Some(1000), Some(7))
        );
        assert!(window.is_long);
        assert_eq!(input.resets_at.map(|time| time.0), Some(1_770_000_000_000));
        assert_eq!(input.week_resets_at, input.resets_at);
        assert_eq!(input.week_limit_percent, Some(31.0));
        let cache = input.prompt_cache;
        assert_eq!((cache.lifetime_ms, cache.misses), (Some(300_000), Some(2)));
        assert_eq!(cache.expires_at.map(|time| time.0), Some(1_770_000_300_000));
        assert_eq!(
            cache.last_usage.map(|usage| (usage.input, usage.cache_write, usage.cache_read)),
            Some((1, 2, 4))
        );
        let lifetimes = ["5m", "1h", "30s", "", "m", "-1m", "5µ", "9999999999999999h"].map(parse_lifetime);
        assert_eq!(lifetimes, [Some(300_000), Some(3_600_000), Some(30_000), None, None, None, None, None]);
        let malformed = serde_json::json!({
            "session_id": 7, "transcript_path": null, "model": "x", "cost": [], "context_window": {"used_percentage": "43",
            "context_window_size": -1, "current_usage": null}, "rate_limits": {"five_hour": {"resets_at": "soon"}},
            "exceeds_200k_tokens": "yes", "prompt_cache": {"ttl": {}, "expires_at": "soon", "misses": -1},
        });
        let input = StatuslineInput::from_json(&malformed);
        assert!(input.session.is_none() && input.transcript.is_none() && input.model.is_none());
        assert!(input.cost_usd.is_none() && input.resets_at.is_none() && input.limit_percent.is_none());
        assert_eq!(input.prompt_cache, super::ReportedPromptCache::default());
        let window = input.window;
        assert!(
            window.percent.is_none()
                && window.size_tokens.is_none()
                && window.used_tokens.is_none()
                && !window.is_long
        );
    }
}

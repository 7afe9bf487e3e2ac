//! What the client says on stdin. Any of it may be missing, or be something else than it was.

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::Window;
use serde_json::Value;

/// How long the client has to say something.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many bytes it may say.
const MOST: u64 = 4 << 20;

/// What the client says of a session.
#[derive(Debug, Default)]
pub(crate) struct Input {
    pub(crate) session: Option<String>,
    pub(crate) transcript: Option<PathBuf>,
    /// What the model is called, as a reader knows it or else as the API does.
    pub(crate) model: Option<String>,
    /// What the client reckons that the session cost, in dollars.
    pub(crate) cost: Option<f64>,
    pub(crate) window: Window,
    /// When the running block ends, and how much of it is used up, in per cent.
    pub(crate) resets: Option<Timestamp>,
    pub(crate) limit: Option<f64>,
}

/// Why there is nothing to go by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Nothing came.
    Nothing,
    /// Something came that is no JSON object.
    Unreadable,
}

/// Reads what the client says; does not wait where nobody says anything.
pub(crate) fn read() -> Result<Input, Missing> {
    if io::stdin().is_terminal() {
        return Err(Missing::Nothing);
    }
    let (tell, hear) = mpsc::channel();
    // A pipe that nobody writes to and nobody closes would hold us forever.
    std::thread::spawn(move || {
        let said = io::stdin().lock().take(MOST);
        let mut values = serde_json::Deserializer::from_reader(said).into_iter::<Value>();
        // The object is enough: what comes behind it is not waited for.
        let _ = tell.send(values.next());
    });
    match hear.recv_timeout(PATIENCE) {
        Ok(Some(Ok(value @ Value::Object(_)))) => Ok(Input::of(&value)),
        Ok(Some(_)) => Err(Missing::Unreadable),
        Ok(None) | Err(_) => Err(Missing::Nothing),
    }
}

impl Input {
    fn of(value: &Value) -> Input {
        let at = |path: &str| value.pointer(path);
        let text = |path: &str| at(path).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let number = |path: &str| at(path).and_then(Value::as_f64).filter(|n| n.is_finite() && *n >= 0.0);
        let count = |path: &str| number(path).map(|number| number as u64);
        let id = text("/model/id");
        let parts = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let parts = parts.map(|part| count(&format!("/context_window/current_usage/{part}")));
        let used = parts.iter().flatten().fold(0, |sum: u64, part| sum.saturating_add(*part));
        let long = at("/exceeds_200k_tokens").and_then(Value::as_bool).unwrap_or(false)
            || id.is_some_and(|id| id.to_ascii_lowercase().contains("[1m]"));
        Input {
            session: text("/session_id").map(str::to_owned),
            transcript: text("/transcript_path").map(PathBuf::from),
            model: text("/model/display_name").or(id).map(str::to_owned),
            cost: number("/cost/total_cost_usd"),
            window: Window {
                percent: number("/context_window/used_percentage"),
                size: count("/context_window/context_window_size"),
                used: parts.iter().any(Option::is_some).then_some(used),
                long,
            },
            resets: number("/rate_limits/five_hour/resets_at").and_then(Timestamp::from_number),
            limit: number("/rate_limits/five_hour/used_percentage"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Input;

    #[test]
    fn whatever_is_said_is_taken_or_left() {
        let all = serde_json::json!({
            "session_id": "s", "transcript_path": "/t.jsonl", "model": {"id": "claude-x[1m]", "display_name": "X"},
            "cost": {"total_cost_usd": 1.5}, "exceeds_200k_tokens": false,
            "context_window": {"context_window_size": 1000, "used_percentage": 43.6, "current_usage":
                {"input_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 4, "output_tokens": 8}},
            "rate_limits": {"five_hour": {"used_percentage": 12.5, "resets_at": 1_770_000_000}},
        });
        let input = Input::of(&all);
        assert_eq!((input.session.as_deref(), input.model.as_deref()), (Some("s"), Some("X")));
        assert_eq!((input.cost, input.limit), (Some(1.5), Some(12.5)));
        let window = input.window;
        assert_eq!((window.percent, window.size, window.used), (Some(43.6), Some(1000), Some(7)));
        assert!(window.long);
        assert_eq!(input.resets.map(|resets| resets.0), Some(1_770_000_000_000));
        let odd = serde_json::json!({
            "session_id": 7, "transcript_path": null, "model": "x", "cost": [], "context_window": {"used_percentage": "43",
            "context_window_size": -1, "current_usage": null}, "rate_limits": {"five_hour": {"resets_at": "soon"}},
            "exceeds_200k_tokens": "yes",
        });
        let input = Input::of(&odd);
        assert!(input.session.is_none() && input.transcript.is_none() && input.model.is_none());
        assert!(input.cost.is_none() && input.resets.is_none() && input.limit.is_none());
        let window = input.window;
        assert!(window.percent.is_none() && window.size.is_none() && window.used.is_none() && !window.long);
    }
}

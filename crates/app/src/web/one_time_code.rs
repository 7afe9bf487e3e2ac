//! A code that signs in one browser: it works once and for a short time.

use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::keys::{generate_key, is_equal};

/// How long a code is valid.
pub(super) const LIFETIME: Duration = Duration::from_secs(30);

/// The uses of a code so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodeState {
    Unused,
    Used,
    /// The code was used and then presented again.
    Reused,
}

/// The result of presenting a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodeOutcome {
    /// The code signs in.
    Accepted,
    /// The code was used before.
    AlreadyUsed,
    /// The code was never used and is too old.
    Expired,
    /// It is not our code.
    Unknown,
}

/// A code and its uses.
#[derive(Debug)]
pub(super) struct OneTimeCode {
    code: String,
    created: Instant,
    state: watch::Sender<CodeState>,
}

impl OneTimeCode {
    /// Creates an unguessable code, valid from now on.
    pub(super) fn new() -> OneTimeCode {
        OneTimeCode {
            code: generate_key(),
            created: Instant::now(),
            state: watch::Sender::new(CodeState::Unused),
        }
    }

    /// Returns the secret.
    pub(super) fn as_str(&self) -> &str {
        &self.code
    }

    /// Checks a presented code at the time `now`, and records its use. A browser that is signed in may present it again.
    pub(super) fn present(&self, code: &str, now: Instant, is_signed_in: bool) -> CodeOutcome {
        if !is_equal(code, &self.code) {
            return CodeOutcome::Unknown;
        }
        let is_expired = now.saturating_duration_since(self.created) > LIFETIME;
        let mut outcome = CodeOutcome::Expired;
        self.state.send_if_modified(|state| {
            let before = *state;
            (outcome, *state) = match before {
                CodeState::Unused if is_expired => (CodeOutcome::Expired, before),
                CodeState::Unused => (CodeOutcome::Accepted, CodeState::Used),
                CodeState::Used if is_signed_in => (CodeOutcome::AlreadyUsed, before),
                CodeState::Used | CodeState::Reused => (CodeOutcome::AlreadyUsed, CodeState::Reused),
            };
            *state != before
        });
        outcome
    }

    /// Waits until the code was used.
    pub(super) async fn wait_until_used(&self) {
        // The sender is not dropped while `self` is borrowed.
        let _ = self.state.subscribe().wait_for(|state| *state != CodeState::Unused).await;
    }

    /// Waits until the code was presented after its use.
    pub(super) async fn wait_until_reused(&self) {
        let _ = self.state.subscribe().wait_for(|state| *state == CodeState::Reused).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CodeOutcome, CodeState, LIFETIME, OneTimeCode};

    #[test]
    fn a_code_works_once() {
        let code = OneTimeCode::new();
        let (text, now) = (code.as_str().to_owned(), code.created);
        assert_eq!(code.present(&text[1..], now, false), CodeOutcome::Unknown);
        assert_eq!(code.present("", now, false), CodeOutcome::Unknown);
        assert_eq!(*code.state.borrow(), CodeState::Unused);
        assert_eq!(code.present(&text, now + LIFETIME, false), CodeOutcome::Accepted);
        assert_eq!(code.present(&text, now, true), CodeOutcome::AlreadyUsed);
        assert_eq!(*code.state.borrow(), CodeState::Used);
        for _ in 0..2 {
            assert_eq!(code.present(&text, now + 2 * LIFETIME, false), CodeOutcome::AlreadyUsed);
            assert_eq!(*code.state.borrow(), CodeState::Reused);
        }
    }

    #[test]
    fn an_unused_code_expires() {
        let code = OneTimeCode::new();
        let text = code.as_str().to_owned();
        let late = code.created + LIFETIME + Duration::from_millis(1);
        assert_eq!(code.present(&text, late, false), CodeOutcome::Expired);
        assert_eq!(*code.state.borrow(), CodeState::Unused);
    }
}

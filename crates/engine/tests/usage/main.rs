//! Usage of generated stores and of real sessions: every sum is exact or marked as a lower bound.

#![expect(clippy::disallowed_methods, reason = "the test writes the store that it reads")]

#[cfg(test)]
mod check_and_trace;
#[cfg(test)]
mod expected_rows;
#[cfg(test)]
mod groups;
#[cfg(test)]
mod real_sessions;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod written_store;

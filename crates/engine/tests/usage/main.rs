//! Stores of which it is known what was spent in them, and real ones: every sum is exact, or says that it is not.

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
mod written_store;

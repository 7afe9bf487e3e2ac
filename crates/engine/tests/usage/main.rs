//! Stores of which it is known what was spent in them, and real ones: every sum is exact, or says that it is not.

#![expect(clippy::disallowed_methods, reason = "the test writes the store that it reads")]

#[cfg(test)]
mod disk;
#[cfg(test)]
mod groups;
#[cfg(test)]
mod proofs;
#[cfg(test)]
mod real;
#[cfg(test)]
mod reckon;

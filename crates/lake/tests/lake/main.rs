//! Tests of the lake: pushes of several machines, and the rows that the views select.

#![expect(clippy::disallowed_methods, reason = "the tests write session files of their own")]

mod archived;
mod changes;
mod privacy;
mod property;
mod view_rule;
mod world;

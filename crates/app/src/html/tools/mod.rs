//! Tool calls: for each tool what a reader wants to see of it.

mod draw;

pub(crate) use draw::{Around, Picture, body, gist, is_long};

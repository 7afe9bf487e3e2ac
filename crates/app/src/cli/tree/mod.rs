//! `rethread tree`: a session drawn as a tree, as text, for Graphviz or as a picture.

mod dot;
mod run;
mod text;

pub(crate) use run::run;

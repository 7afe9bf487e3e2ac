//! `rethread tree`: a session drawn as a tree, as text, for Graphviz or as a picture.

mod dot;
mod label;
mod run;
mod svg;
mod text;

pub(crate) use run::run;

//! The interface of collectors: one pass over a file feeds any number of them.

use super::{LineSpan, TreeBuilder};
use crate::entry::{Entry, EntryRole};

/// Receives every entry of a file once, in file order.
///
/// Collectors implement it. A tuple of visitors passes each entry to all of them, in order.
pub trait EntryVisitor {
    /// Receives the next entry, the position of its line, and its role from the tree builder.
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, role: EntryRole);
}

impl EntryVisitor for () {
    fn visit_entry(&mut self, _: &Entry<'_>, _: LineSpan, _: EntryRole) {}
}

impl<V: EntryVisitor> EntryVisitor for &mut V {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, role: EntryRole) {
        V::visit_entry(self, entry, span, role);
    }
}

/// Passes the entries to the visitor, if there is one.
impl<V: EntryVisitor> EntryVisitor for Option<V> {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, role: EntryRole) {
        if let Some(visitor) = self {
            visitor.visit_entry(entry, span, role);
        }
    }
}

impl<A: EntryVisitor, B: EntryVisitor> EntryVisitor for (A, B) {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, role: EntryRole) {
        self.0.visit_entry(entry, span, role);
        self.1.visit_entry(entry, span, role);
    }
}

impl<A: EntryVisitor, B: EntryVisitor, C: EntryVisitor> EntryVisitor for (A, B, C) {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, role: EntryRole) {
        self.0.visit_entry(entry, span, role);
        self.1.visit_entry(entry, span, role);
        self.2.visit_entry(entry, span, role);
    }
}

/// A visitor that calls a closure with each entry and the position of its line.
#[derive(Debug)]
pub struct VisitFn<F>(pub F);

impl<F: FnMut(&Entry<'_>, LineSpan)> EntryVisitor for VisitFn<F> {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, _: EntryRole) {
        self.0(entry, span);
    }
}

impl TreeBuilder {
    /// Adds the next entry of the file, and passes it to `visitor` with its role.
    pub fn add_and_visit(&mut self, entry: &Entry<'_>, span: LineSpan, visitor: &mut impl EntryVisitor) {
        let role = self.add_entry(entry, span);
        visitor.visit_entry(entry, span, role);
    }
}

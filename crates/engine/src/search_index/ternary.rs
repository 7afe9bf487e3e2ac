//! Three-valued logic: what the index knows about a doc before its text is read.

/// Whether a doc matches a condition. `Maybe` must be decided on the text or the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Ternary {
    No = 0,
    Maybe = 1,
    Yes = 2,
}

impl Ternary {
    /// Returns the larger of both, in the order `No`, `Maybe`, `Yes`.
    #[inline]
    pub(crate) fn or(self, other: Ternary) -> Ternary {
        if self as u8 >= other as u8 { self } else { other }
    }

    /// Returns the smaller of both, in the order `No`, `Maybe`, `Yes`.
    #[inline]
    pub(crate) fn and(self, other: Ternary) -> Ternary {
        if self as u8 <= other as u8 { self } else { other }
    }

    /// Returns the negation. `Maybe` stays.
    #[inline]
    pub(crate) fn negate(self) -> Ternary {
        match self {
            Ternary::No => Ternary::Yes,
            Ternary::Maybe => Ternary::Maybe,
            Ternary::Yes => Ternary::No,
        }
    }
}

impl From<bool> for Ternary {
    #[inline]
    fn from(value: bool) -> Ternary {
        if value { Ternary::Yes } else { Ternary::No }
    }
}

/// Converts match strengths into `Yes`, or `No` if they are 0.
pub(crate) fn from_strengths(strengths: Vec<u8>) -> Vec<Ternary> {
    strengths.into_iter().map(|strength| Ternary::from(strength != 0)).collect()
}

/// Combines `values` with another column by `or`, doc by doc.
pub(crate) fn or_assign(values: &mut [Ternary], other: &[Ternary]) {
    values.iter_mut().zip(other).for_each(|(value, other)| *value = value.or(*other));
}

/// Combines `values` with another column by `and`, doc by doc.
pub(crate) fn and_assign(values: &mut [Ternary], other: &[Ternary]) {
    values.iter_mut().zip(other).for_each(|(value, other)| *value = value.and(*other));
}

/// Negates a column.
pub(crate) fn negate_all(mut values: Vec<Ternary>) -> Vec<Ternary> {
    values.iter_mut().for_each(|value| *value = value.negate());
    values
}

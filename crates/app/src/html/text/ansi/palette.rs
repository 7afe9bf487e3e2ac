//! The 256 colours of terminals.

use std::fmt::Write;

/// Returns the style rules of the colours: `f0`…`f255` for text, `b0`…`b255` for what is behind it.
///
/// The first sixteen belong to the theme. The others are mixed with the colour of text, so that none of them vanishes on a
/// background it was not made for.
pub(crate) fn palette() -> String {
    let mut rules = String::with_capacity(24 * 1024);
    for number in 0..=255u8 {
        // Writing to a string cannot fail.
        let _ = if number < 16 {
            writeln!(
                rules,
                ".ansi .f{number}{{color:var(--c{number})}}.ansi .b{number}{{background:var(--c{number})}}"
            )
        } else {
            let (r, g, b) = components(number);
            let hex = format!("#{r:02x}{g:02x}{b:02x}");
            writeln!(
                rules,
                ".ansi .f{number}{{color:color-mix(in srgb,{hex} 55%,var(--fg))}}.ansi .b{number}{{background:{hex}}}"
            )
        };
    }
    rules
}

/// The six steps of a component in the cube of colours.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Returns what a colour beyond the first sixteen is made of: a cube of 216, then 24 greys.
fn components(number: u8) -> (u8, u8, u8) {
    if number >= 232 {
        let grey = 8 + (number - 232) * 10;
        return (grey, grey, grey);
    }
    let step = |by: u8| STEPS[usize::from(number.saturating_sub(16) / by % 6)];
    (step(36), step(6), step(1))
}

/// Finds the colour that is nearest to one of sixteen millions.
pub(super) fn nearest(r: u8, g: u8, b: u8) -> u8 {
    let step = |part: u8| {
        let far = |at: &usize| STEPS[*at].abs_diff(part);
        (0..6).min_by_key(far).unwrap_or(0) as u8
    };
    let cube = 16 + 36 * step(r) + 6 * step(g) + step(b);
    let mean = (u16::from(r) + u16::from(g) + u16::from(b)) / 3;
    let grey = 232 + (mean.saturating_sub(3) / 10).min(23) as u8;
    let distance = |number: u8| {
        let (x, y, z) = components(number);
        let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
        square(x, r) + square(y, g) + square(z, b)
    };
    if distance(grey) < distance(cube) { grey } else { cube }
}

#[cfg(test)]
mod tests {
    use super::{components, nearest, palette};

    #[test]
    fn every_colour_is_nearest_to_itself() {
        for number in 16..=255u8 {
            let (r, g, b) = components(number);
            assert_eq!(components(nearest(r, g, b)), (r, g, b), "{number}");
        }
        assert_eq!([nearest(255, 0, 0), nearest(250, 3, 2), nearest(128, 128, 128)], [196, 196, 244]);
    }

    #[test]
    fn every_colour_has_its_rules() {
        let rules = palette();
        assert_eq!(rules.lines().count(), 256);
        assert!(rules.starts_with(".ansi .f0{color:var(--c0)}.ansi .b0{background:var(--c0)}\n"));
        assert!(rules.contains(".b196{background:#ff0000}"));
        assert!(rules.ends_with(".b255{background:#eeeeee}\n"));
    }
}

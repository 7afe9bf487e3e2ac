//! The 256 colours of terminals.

/// A colour: red, green, blue.
pub(crate) type Color = [u8; 3];

/// The six steps of a component in the colour cube.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Returns the RGB components of a palette colour from 16 on: a cube of 216 colours, then 24 greys.
pub(crate) fn components(number: u8) -> Color {
    if number >= 232 {
        return [8 + (number - 232) * 10; 3];
    }
    let step = |by: u8| STEPS[usize::from(number.saturating_sub(16) / by % 6)];
    [step(36), step(6), step(1)]
}

/// Returns the number of the palette colour that is nearest to an RGB colour. The first sixteen, which belong to the
/// theme, are not considered.
pub(super) fn find_nearest_color(r: u8, g: u8, b: u8) -> u8 {
    let step = |part: u8| {
        let distance = |at: &usize| STEPS[*at].abs_diff(part);
        (0..6).min_by_key(distance).unwrap_or(0) as u8
    };
    let cube = 16 + 36 * step(r) + 6 * step(g) + step(b);
    let mean = (u16::from(r) + u16::from(g) + u16::from(b)) / 3;
    let grey = 232 + (mean.saturating_sub(3) / 10).min(23) as u8;
    let distance = |number: u8| {
        let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
        components(number).iter().zip([r, g, b]).map(|(a, b)| square(*a, b)).sum::<u32>()
    };
    if distance(grey) < distance(cube) { grey } else { cube }
}

#[cfg(test)]
mod tests {
    use super::{components, find_nearest_color};

    #[test]
    fn palette_colours_are_nearest_to_themselves() {
        for number in 16..=255u8 {
            let [r, g, b] = components(number);
            assert_eq!(components(find_nearest_color(r, g, b)), [r, g, b], "{number}");
        }
        assert_eq!(
            [find_nearest_color(255, 0, 0), find_nearest_color(250, 3, 2), find_nearest_color(128, 128, 128)],
            [196, 196, 244]
        );
    }
}

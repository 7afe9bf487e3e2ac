//! A bar chart of amounts by day.

use maud::{Markup, html};

/// The bar of one day.
#[derive(Debug, Clone)]
pub(crate) struct DayBar {
    /// The height of the bar, in the unit of the scale.
    pub(crate) amount: f64,
    /// The tooltip.
    pub(crate) title: String,
    /// The label below the bar. Empty for most bars.
    pub(crate) label: String,
    /// The address to which the bar links. `None` for no link.
    pub(crate) address: Option<String>,
}

/// The width of the chart, in pixels.
const WIDTH: f64 = 772.0;
/// The height of the chart, in pixels.
const HEIGHT: f64 = 116.0;
/// The space left of the bars, for the scale.
const LEFT: f64 = 52.0;
/// The space above the bars.
const TOP: f64 = 10.0;
/// The space below the bars, for the labels.
const BOTTOM: f64 = 18.0;

/// Renders the bars on a scale that ends at a round number. `label` is the accessible name; `format` formats the
/// numbers of the scale.
pub(crate) fn render_days(bars: &[DayBar], label: &str, format: impl Fn(f64) -> String) -> Markup {
    let max = round_up(bars.iter().map(|bar| bar.amount).fold(0.0, f64::max));
    let plot_height = HEIGHT - TOP - BOTTOM;
    let step = (WIDTH - LEFT) / bars.len().max(1) as f64;
    let y_of = |amount: f64| TOP + plot_height * (1.0 - (amount / max).clamp(0.0, 1.0));
    html! {
        svg class="days" role="img" aria-label=(label) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) }
            width=(WIDTH) height=(HEIGHT) {
            @for mark in [0.0, max / 2.0, max] {
                line class="grid" x1=(LEFT) x2=(WIDTH) y1=(round_tenth(y_of(mark))) y2=(round_tenth(y_of(mark))) {}
                text class="axis axis-end" x=(LEFT - 6.0) y=(round_tenth(y_of(mark) + 4.0)) { (format(mark)) }
            }
            @for (idx, bar) in bars.iter().enumerate() {
                @let x = LEFT + step * idx as f64;
                @if !bar.label.is_empty() {
                    text class="axis" x=(round_tenth(x)) y=(HEIGHT - 3.0) { (bar.label) }
                }
                @match &bar.address {
                    Some(address) => a href=(address) aria-label=(bar.title) { (render_column(x, step, y_of(bar.amount), bar)) },
                    None => (render_column(x, step, y_of(bar.amount), bar)),
                }
            }
        }
    }
}

/// Renders a bar that starts at height `top`, and an invisible area of full height that shows the tooltip. `step` is
/// the width of a column.
fn render_column(x: f64, step: f64, top: f64, bar: &DayBar) -> Markup {
    let floor = HEIGHT - BOTTOM;
    let height = if bar.amount > 0.0 { (floor - top).max(1.5) } else { 0.0 };
    html! {
        g {
            title { (bar.title) }
            rect class="days-hover" x=(round_tenth(x)) y=(TOP) width=(round_tenth(step)) height=(floor - TOP) {}
            rect class="days-bar" x=(round_tenth(x + step * 0.12)) y=(round_tenth(floor - height)) width=(round_tenth(step * 0.76))
                height=(round_tenth(height)) rx="1.5" {}
        }
    }
}

fn round_tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// Rounds up to a number that is easy to halve: 1, 2, 4 or 10 times a power of ten. Returns 1 for numbers that are
/// not positive.
fn round_up(number: f64) -> f64 {
    if number.is_nan() || number <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(number.log10().floor().clamp(-9.0, 15.0));
    [1.0, 2.0, 4.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|mark| *mark >= number)
        .unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::{DayBar, render_days, round_up};

    #[test]
    fn scale_ends_at_a_round_number() {
        let marks = [0.0, 0.03, 1.0, 1.5, 3.0, 7.0, 72.0, f64::NAN, -3.0].map(round_up);
        assert_eq!(marks, [1.0, 0.04, 1.0, 2.0, 4.0, 10.0, 100.0, 1.0, 1.0]);
        assert!(round_up(f64::INFINITY).is_infinite());
    }

    #[test]
    fn nonzero_bars_are_visible_and_have_tooltips() {
        let bar =
            |amount| DayBar { amount, title: format!("{amount} <"), label: String::new(), address: None };
        let markup =
            render_days(&[bar(0.0), bar(0.001), bar(50.0)], "cost", |mark| format!("${mark}")).into_string();
        assert!(markup.contains("<title>0.001 &lt;</title>"), "{markup}");
        assert!(
            markup.contains(r#"height="1.5" rx="1.5""#) && markup.contains(r#"height="0" rx="1.5""#),
            "{markup}"
        );
        assert!(markup.contains("$100") && markup.contains("$50"), "{markup}");
        assert!(
            !markup.contains("NaN")
                && !render_days(&[], "none", |_| String::new()).into_string().contains("NaN")
        );
    }
}

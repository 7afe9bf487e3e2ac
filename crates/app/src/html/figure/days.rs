//! Amounts by day, as bars.

use maud::{Markup, html};

/// A day.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    /// How much.
    pub(crate) amount: f64,
    /// What to say of it.
    pub(crate) title: String,
    /// What to write below it; mostly nothing.
    pub(crate) name: String,
    /// Where it leads, where there is something.
    pub(crate) address: Option<String>,
}

/// The size of the drawing, and what stands left of, above and below the bars.
const WIDTH: f64 = 772.0;
const HEIGHT: f64 = 116.0;
const LEFT: f64 = 52.0;
const TOP: f64 = 10.0;
const BELOW: f64 = 18.0;

/// Draws bars up to a mark that is a round number; `say` writes it.
pub(crate) fn days(bars: &[Bar], label: &str, say: impl Fn(f64) -> String) -> Markup {
    let most = round(bars.iter().map(|bar| bar.amount).fold(0.0, f64::max));
    let room = HEIGHT - TOP - BELOW;
    let step = (WIDTH - LEFT) / bars.len().max(1) as f64;
    let at = |amount: f64| TOP + room * (1.0 - (amount / most).clamp(0.0, 1.0));
    html! {
        svg class="days" role="img" aria-label=(label) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) }
            width=(WIDTH) height=(HEIGHT) {
            @for mark in [0.0, most / 2.0, most] {
                line class="grid" x1=(LEFT) x2=(WIDTH) y1=(tenth(at(mark))) y2=(tenth(at(mark))) {}
                text class="axis axis-end" x=(LEFT - 6.0) y=(tenth(at(mark) + 4.0)) { (say(mark)) }
            }
            @for (no, bar) in bars.iter().enumerate() {
                @let x = LEFT + step * no as f64;
                @if !bar.name.is_empty() {
                    text class="axis" x=(tenth(x)) y=(HEIGHT - 3.0) { (bar.name) }
                }
                @match &bar.address {
                    Some(address) => a href=(address) aria-label=(bar.title) { (column(x, step, at(bar.amount), bar)) },
                    None => (column(x, step, at(bar.amount), bar)),
                }
            }
        }
    }
}

/// A bar, and above it as much ground as can be pointed at.
fn column(x: f64, step: f64, top: f64, bar: &Bar) -> Markup {
    let floor = HEIGHT - BELOW;
    let height = if bar.amount > 0.0 { (floor - top).max(1.5) } else { 0.0 };
    html! {
        g {
            title { (bar.title) }
            rect class="days-ground" x=(tenth(x)) y=(TOP) width=(tenth(step)) height=(floor - TOP) {}
            rect class="days-bar" x=(tenth(x + step * 0.12)) y=(tenth(floor - height)) width=(tenth(step * 0.76))
                height=(tenth(height)) rx="1.5" {}
        }
    }
}

fn tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// Returns the next number above that is easy to halve: 1, 2, 4 or 10 times a power of ten.
fn round(number: f64) -> f64 {
    if number.is_nan() || number <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(number.log10().floor().clamp(-9.0, 15.0));
    [1.0, 2.0, 4.0, 10.0]
        .into_iter()
        .map(|times| times * power)
        .find(|mark| *mark >= number)
        .unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::{Bar, days, round};

    #[test]
    fn the_scale_ends_at_a_round_number() {
        let marks = [0.0, 0.03, 1.0, 1.5, 3.0, 7.0, 72.0, f64::NAN, -3.0].map(round);
        assert_eq!(marks, [1.0, 0.04, 1.0, 2.0, 4.0, 10.0, 100.0, 1.0, 1.0]);
        assert!(round(f64::INFINITY).is_infinite());
    }

    #[test]
    fn every_bar_shows_and_says_what_it_is() {
        let bar = |amount| Bar { amount, title: format!("{amount} <"), name: String::new(), address: None };
        let drawn = days(&[bar(0.0), bar(0.001), bar(50.0)], "cost", |mark| format!("${mark}")).into_string();
        assert!(drawn.contains("<title>0.001 &lt;</title>"), "{drawn}");
        assert!(
            drawn.contains(r#"height="1.5" rx="1.5""#) && drawn.contains(r#"height="0" rx="1.5""#),
            "{drawn}"
        );
        assert!(drawn.contains("$100") && drawn.contains("$50"), "{drawn}");
        assert!(
            !drawn.contains("NaN") && !days(&[], "none", |_| String::new()).into_string().contains("NaN")
        );
    }
}

//! A heatmap of a year: one column per week, darker for larger amounts.

use maud::{Markup, html};
use rethread_engine::core::usage::Day;

/// The cell of one day.
#[derive(Debug, Clone)]
pub(crate) struct DayCell {
    /// The day.
    pub(crate) day: Day,
    /// The amount that determines the colour.
    pub(crate) amount: u64,
    /// The tooltip.
    pub(crate) title: String,
    /// The address to which the cell links. `None` for no link.
    pub(crate) address: Option<String>,
}

/// The number of weeks shown.
pub(crate) const WEEKS: i32 = 53;

/// The side length of a cell, in pixels.
const SIDE: i32 = 11;
/// The distance between the left edges of two cells, in pixels.
const STEP: i32 = 14;
/// The space left of the cells, for the weekdays.
const LEFT: i32 = 30;
/// The space above the cells, for the months.
const TOP: i32 = 18;

/// Renders the cells of consecutive days, oldest first. `label` is the accessible name.
pub(crate) fn render_heatmap(cells: &[DayCell], label: &str) -> Markup {
    let first = cells.first().map_or(Day(0), |cell| cell.day.week_start());
    let max = cells.iter().map(|cell| cell.amount).max().unwrap_or(0);
    let (width, height) = (LEFT + WEEKS * STEP, TOP + 7 * STEP);
    html! {
        svg class="heatmap" role="img" aria-label=(label) viewBox={ "0 0 " (width) " " (height) }
            width=(width) height=(height) {
            @for (row, name) in [(0, "Mon"), (2, "Wed"), (4, "Fri")] {
                text class="axis" x="0" y=(TOP + row * STEP + SIDE - 1) { (name) }
            }
            @for (week, name) in place_month_labels(first, cells.last().map_or(first, |cell| cell.day)) {
                text class="axis" x=(LEFT + week * STEP) y="11" { (name) }
            }
            @for cell in cells {
                @let (x, y) = compute_cell_position(first, cell.day);
                @let class = format!("heatmap-{}", level(cell.amount, max));
                @match &cell.address {
                    Some(address) => a href=(address) aria-label=(cell.title) { (render_square(x, y, &class, &cell.title)) },
                    None => (render_square(x, y, &class, &cell.title)),
                }
            }
        }
    }
}

fn render_square(x: i32, y: i32, class: &str, title: &str) -> Markup {
    html! { rect class=(class) x=(x) y=(y) width=(SIDE) height=(SIDE) rx="2" { title { (title) } } }
}

/// Returns the left and top edge of the cell of a day, in pixels. `first` is the Monday of the first week.
fn compute_cell_position(first: Day, day: Day) -> (i32, i32) {
    let days = day.0.saturating_sub(first.0);
    (LEFT + days.div_euclid(7) * STEP, TOP + days.rem_euclid(7) * STEP)
}

/// Returns the colour level of an amount, from 0 for none to 4. The square root keeps a few busy days from making all
/// others seem idle.
fn level(amount: u64, max: u64) -> u32 {
    if amount == 0 || max == 0 {
        return 0;
    }
    let share = (amount as f64 / max as f64).sqrt();
    (share * 4.0).ceil().clamp(1.0, 4.0) as u32
}

/// Returns the names of the months, each with the index of its first week. Week 0 starts at `first`, a Monday. Omits a
/// name that would overlap the next one.
fn place_month_labels(first: Day, last: Day) -> Vec<(i32, &'static str)> {
    const NAMES: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut labels: Vec<(i32, &'static str)> = Vec::new();
    let mut previous = 0;
    for week in 0..WEEKS {
        let monday = Day(first.0.saturating_add(week * 7));
        if monday > last {
            break;
        }
        let month = monday.date().month();
        if month != previous {
            // The name of a month with only a few weeks would overlap the next one.
            if labels.last().is_some_and(|(at, _)| week - at < 3) {
                labels.pop();
            }
            labels.push((week, NAMES[usize::from(month.unsigned_abs() - 1) % 12]));
            previous = month;
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::{Day, DayCell, level, place_month_labels, render_heatmap};

    #[test]
    fn nonzero_amounts_have_a_level_above_zero() {
        let levels = [0, 1, 10, 50, 100].map(|amount| level(amount, 100));
        assert_eq!(levels, [0, 1, 2, 3, 4]);
        assert_eq!((level(0, 0), level(5, 0), level(u64::MAX, u64::MAX)), (0, 0, 4));
    }

    #[test]
    fn months_are_labelled_at_their_first_week() {
        // 2026-01-26 is a Monday: its month has no space for a name before the next.
        let first = Day(20_479);
        assert_eq!(first.date().to_string(), "2026-01-26");
        assert_eq!(place_month_labels(first, Day(first.0 + 70)), [(1, "Feb"), (5, "Mar"), (10, "Apr")]);
    }

    #[test]
    fn every_day_is_in_the_column_of_its_week() {
        let cell = |idx: i32, amount| DayCell {
            day: Day(20_479 + idx),
            amount,
            title: format!("day {idx} <"),
            address: (amount > 0).then(|| "/x?a=1&b=2".to_owned()),
        };
        let markup = render_heatmap(&[cell(0, 0), cell(8, 3)], "a year").into_string();
        assert!(markup.contains(r#"<rect class="heatmap-0" x="30" y="18""#), "{markup}");
        assert!(
            markup.contains(
                r#"<a href="/x?a=1&amp;b=2" aria-label="day 8 &lt;"><rect class="heatmap-4" x="44" y="32""#
            ),
            "{markup}"
        );
        assert!(markup.contains("<title>day 8 &lt;</title>"), "{markup}");
        assert!(render_heatmap(&[], "nothing").into_string().contains("<svg"));
    }
}

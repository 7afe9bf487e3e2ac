//! A year of days: a column for each week, darker where more was done.

use maud::{Markup, html};
use rethread_engine::core::usage::Day;

/// A day with something to say.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    /// Which day.
    pub(crate) day: Day,
    /// How much was done.
    pub(crate) amount: u64,
    /// What to say of it.
    pub(crate) title: String,
    /// Where it leads, where there is something.
    pub(crate) address: Option<String>,
}

/// So many weeks are shown.
pub(crate) const WEEKS: i32 = 53;

/// The side of a day, the room from one to the next, and what stands left of and above them.
const SIDE: i32 = 11;
const STEP: i32 = 14;
const LEFT: i32 = 30;
const TOP: i32 = 18;

/// Draws days in their order, the last of them in the last week.
pub(crate) fn heatmap(cells: &[Cell], label: &str) -> Markup {
    let first = cells.first().map_or(Day(0), |cell| cell.day.week());
    let most = cells.iter().map(|cell| cell.amount).max().unwrap_or(0);
    let (width, height) = (LEFT + WEEKS * STEP, TOP + 7 * STEP);
    html! {
        svg class="heat" role="img" aria-label=(label) viewBox={ "0 0 " (width) " " (height) }
            width=(width) height=(height) {
            @for (row, name) in [(0, "Mon"), (2, "Wed"), (4, "Fri")] {
                text class="axis" x="0" y=(TOP + row * STEP + SIDE - 1) { (name) }
            }
            @for (week, name) in months(first, cells.last().map_or(first, |cell| cell.day)) {
                text class="axis" x=(LEFT + week * STEP) y="11" { (name) }
            }
            @for cell in cells {
                @let (x, y) = place(first, cell.day);
                @let class = format!("heat-{}", level(cell.amount, most));
                @match &cell.address {
                    Some(address) => a href=(address) aria-label=(cell.title) { (square(x, y, &class, &cell.title)) },
                    None => (square(x, y, &class, &cell.title)),
                }
            }
        }
    }
}

fn square(x: i32, y: i32, class: &str, title: &str) -> Markup {
    html! { rect class=(class) x=(x) y=(y) width=(SIDE) height=(SIDE) rx="2" { title { (title) } } }
}

fn place(first: Day, day: Day) -> (i32, i32) {
    let days = day.0.saturating_sub(first.0);
    (LEFT + days.div_euclid(7) * STEP, TOP + days.rem_euclid(7) * STEP)
}

/// Grades an amount from 0 to 4: a few busy days must not make all others look idle.
fn level(amount: u64, most: u64) -> u32 {
    if amount == 0 || most == 0 {
        return 0;
    }
    let share = (amount as f64 / most as f64).sqrt();
    (share * 4.0).ceil().clamp(1.0, 4.0) as u32
}

/// Names the months where they begin, if there is room for the name.
fn months(first: Day, last: Day) -> Vec<(i32, &'static str)> {
    const NAMES: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut months: Vec<(i32, &'static str)> = Vec::new();
    let mut before = 0;
    for week in 0..WEEKS {
        let monday = Day(first.0.saturating_add(week * 7));
        if monday > last {
            break;
        }
        let month = monday.date().month();
        if month != before {
            // The name of a month that is nearly over would run into the next one.
            if months.last().is_some_and(|(at, _)| week - at < 3) {
                months.pop();
            }
            months.push((week, NAMES[usize::from(month.unsigned_abs() - 1) % 12]));
            before = month;
        }
    }
    months
}

#[cfg(test)]
mod tests {
    use super::{Cell, Day, heatmap, level, months};

    #[test]
    fn anything_above_nothing_shows() {
        let levels = [0, 1, 10, 50, 100].map(|amount| level(amount, 100));
        assert_eq!(levels, [0, 1, 2, 3, 4]);
        assert_eq!((level(0, 0), level(5, 0), level(u64::MAX, u64::MAX)), (0, 0, 4));
    }

    #[test]
    fn months_are_named_where_they_begin() {
        // 2026-01-26 is a Monday: its month has no room for a name before the next.
        let first = Day(20_479);
        assert_eq!(first.date().to_string(), "2026-01-26");
        assert_eq!(months(first, Day(first.0 + 70)), [(1, "Feb"), (5, "Mar"), (10, "Apr")]);
    }

    #[test]
    fn every_day_is_drawn_in_its_week() {
        let cell = |no: i32, amount| Cell {
            day: Day(20_479 + no),
            amount,
            title: format!("day {no} <"),
            address: (amount > 0).then(|| "/x?a=1&b=2".to_owned()),
        };
        let drawn = heatmap(&[cell(0, 0), cell(8, 3)], "a year").into_string();
        assert!(drawn.contains(r#"<rect class="heat-0" x="30" y="18""#), "{drawn}");
        assert!(
            drawn.contains(
                r#"<a href="/x?a=1&amp;b=2" aria-label="day 8 &lt;"><rect class="heat-4" x="44" y="32""#
            ),
            "{drawn}"
        );
        assert!(drawn.contains("<title>day 8 &lt;</title>"), "{drawn}");
        assert!(heatmap(&[], "nothing").into_string().contains("<svg"));
    }
}

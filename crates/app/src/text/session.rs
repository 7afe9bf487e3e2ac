//! What a session is called, in the words that tell it from others.

use super::clean;
use super::fit::truncate_to_width;

/// What is longer is no title, in columns.
const LONGEST: usize = 300;

/// What clients write before a plan that they carry out, in the words of the user.
const PLAN: &str = "Implement the following plan:";

/// Says what a session is called, given its title. Of a plan that is carried out, its heading says more than that it is one.
pub(crate) fn display_title(title: &str) -> String {
    let title = truncate_to_width(&clean::line(title), LONGEST);
    let Some(plan) = title.strip_prefix(PLAN).map(str::trim_start).filter(|plan| plan.starts_with('#'))
    else {
        return title;
    };
    let heading = plan.trim_start_matches(['#', ' ']);
    let end = heading.find(" #").unwrap_or(heading.len());
    let heading = heading[..end].trim();
    if heading.is_empty() { title } else { heading.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::display_title;

    #[test]
    fn a_plan_is_called_by_its_heading() {
        assert_eq!(display_title("Implement the following plan: # Hang marks ## Context Why"), "Hang marks");
        assert_eq!(
            display_title("Implement the following plan:  ## Hang marks 1. Measure"),
            "Hang marks 1. Measure"
        );
        for other in
            ["Implement the following plan: hang marks", "Implement the following plan: #", "# Hang", ""]
        {
            assert_eq!(display_title(other), other);
        }
    }
}

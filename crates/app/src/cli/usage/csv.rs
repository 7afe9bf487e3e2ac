//! Prints rows as comma-separated values.

use rethread_engine::core::usage::CostTotals;
use rethread_engine::ops::usage::GroupRow;

use super::label::Labels;
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::cli::time::format_rfc3339;

/// The columns after those that name the group.
const HEADER: &str = "title,first,last,responses,input,output,cache_write_5m,cache_write_1h,cache_read,web_searches,\
tokens,cost_usd,unpriced_responses,unpriced_tokens,lower_bound_responses,subagent_responses,subagent_tokens,subagent_cost_usd";

/// Prints a header and all rows. With a second grouping, prints the groups within each row instead of the row, so that every
/// column adds up.
pub(super) fn print(rows: &[GroupRow], labels: &Labels<'_>, out: &mut Out) -> Result<(), CliError> {
    let part_labels = labels.of_parts();
    let part_header = if part_labels.is_some() { "then_by,then_key," } else { "" };
    out.line(&format!("by,key,{part_header}{HEADER}"))?;
    for row in rows {
        let group_cells = name_cells(row, labels);
        match &part_labels {
            None => print_row(row, group_cells.to_vec(), out)?,
            Some(part_labels) => {
                for part in &row.parts {
                    let cells = group_cells.iter().cloned().chain(name_cells(part, part_labels)).collect();
                    let title = part.title.as_ref().or(row.title.as_ref()).cloned();
                    print_row(&GroupRow { title, ..part.clone() }, cells, out)?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the name of the grouping and of the group.
fn name_cells(row: &GroupRow, labels: &Labels<'_>) -> [String; 2] {
    [labels.by.name().to_owned(), escape_cell(&labels.machine_name(&row.key).unwrap_or_default())]
}

/// Prints a row. `cells` name its group.
fn print_row(row: &GroupRow, mut cells: Vec<String>, out: &mut Out) -> Result<(), CliError> {
    let time = |timestamp| format_rfc3339(timestamp).unwrap_or_default();
    let (first, last) = row.time_range.map(|(first, last)| (time(first), time(last))).unwrap_or_default();
    let total = row.totals.total();
    cells.extend([escape_cell(row.title.as_deref().unwrap_or_default()), first, last]);
    cells.extend(number_cells(&total));
    let agents = row.totals.agents;
    cells.push(agents.counts.responses.to_string());
    cells.push(agents.counts.usage.total().to_string());
    cells.push(cost_cell(&agents));
    out.line(&cells.join(","))
}

/// Returns the cells from `responses` to `lower_bound_responses`, in the order of [`HEADER`].
fn number_cells(totals: &CostTotals) -> Vec<String> {
    let usage = totals.counts.usage;
    let numbers = [
        totals.counts.responses as u64,
        usage.input,
        usage.output,
        usage.cache_write.saturating_sub(usage.cache_write_1h),
        usage.cache_write_1h,
        usage.cache_read,
        usage.web_searches,
        usage.total(),
    ];
    let mut cells: Vec<String> = numbers.iter().map(u64::to_string).collect();
    cells.push(cost_cell(totals));
    cells.push(totals.unpriced.responses.to_string());
    cells.push(totals.unpriced.usage.total().to_string());
    cells.push(totals.lower_bounds.to_string());
    cells
}

/// Formats the cost in dollars with six decimals. Returns an empty cell if no response has a price.
fn cost_cell(totals: &CostTotals) -> String {
    let has_price = totals.unpriced.responses < totals.counts.responses || totals.counts.responses == 0;
    if has_price { format!("{:.6}", totals.cost.dollars()) } else { String::new() }
}

/// Escapes the text of a cell. A quote prevents spreadsheets from interpreting session text as a formula.
fn escape_cell(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let prefix = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    if prefix.is_empty() && !text.contains([',', '"', '\'']) {
        return text;
    }
    format!("\"{prefix}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::escape_cell;

    #[test]
    fn formulas_and_separators_are_escaped() {
        assert_eq!(
            ["plain", "a,b", "say \"hi\"", "=1+1", "-2", "a\nb"].map(escape_cell),
            ["plain", "\"a,b\"", "\"say \"\"hi\"\"\"", "\"'=1+1\"", "\"'-2\"", "a b"]
        );
    }
}

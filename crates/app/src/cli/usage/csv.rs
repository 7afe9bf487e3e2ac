//! Rows as comma-separated values.

use rethread_engine::core::usage::CostTotals;
use rethread_engine::ops::GroupRow;

use super::super::error::CliError;
use super::super::out::Out;
use super::super::time::rfc3339;
use super::label::Labels;

const HEAD: &str = "by,key,title,first,last,responses,input,output,cache_write_5m,cache_write_1h,cache_read,web_searches,\
tokens,cost_usd,unpriced_responses,unpriced_tokens,lower_bound_responses,subagent_responses,subagent_tokens,subagent_cost_usd";

/// Prints all rows.
pub(super) fn print(rows: &[GroupRow], labels: &Labels<'_>, by: &str, out: &mut Out) -> Result<(), CliError> {
    out.line(HEAD)?;
    for row in rows {
        let key = labels.plain(&row.key).unwrap_or_default();
        let title = labels.titles.get(&key).cloned().unwrap_or_default();
        let time = |moment| rfc3339(moment).unwrap_or_default();
        let (first, last) = row.span.map(|(first, last)| (time(first), time(last))).unwrap_or_default();
        let total = row.account.total();
        let mut cells = vec![by.to_owned(), cell(&key), cell(&title), first, last];
        cells.extend(figures(&total));
        let agents = row.account.agents;
        cells.push(agents.spent.responses.to_string());
        cells.push(agents.spent.usage.total().to_string());
        cells.push(cost(&agents));
        out.line(&cells.join(","))?;
    }
    Ok(())
}

fn figures(sum: &CostTotals) -> Vec<String> {
    let usage = sum.spent.usage;
    let numbers = [
        sum.spent.responses as u64,
        usage.input,
        usage.output,
        usage.cache_write.saturating_sub(usage.cache_write_1h),
        usage.cache_write_1h,
        usage.cache_read,
        usage.web_searches,
        usage.total(),
    ];
    let mut cells: Vec<String> = numbers.iter().map(u64::to_string).collect();
    cells.push(cost(sum));
    cells.push(sum.unpriced.responses.to_string());
    cells.push(sum.unpriced.usage.total().to_string());
    cells.push(sum.open.to_string());
    cells
}

/// Says what a sum costs; nothing where nothing of it has a price.
fn cost(sum: &CostTotals) -> String {
    let priced = sum.unpriced.responses < sum.spent.responses || sum.spent.responses == 0;
    if priced { format!("{:.6}", sum.cost.dollars()) } else { String::new() }
}

/// Writes a text. Programs that take a cell for a formula must not find one in what a session says.
fn cell(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let guard = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    if guard.is_empty() && !text.contains([',', '"', '\'']) {
        return text;
    }
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn no_cell_is_a_formula_or_breaks_the_row() {
        assert_eq!(
            ["plain", "a,b", "say \"hi\"", "=1+1", "-2", "a\nb"].map(cell),
            ["plain", "\"a,b\"", "\"say \"\"hi\"\"\"", "\"'=1+1\"", "\"'-2\"", "a b"]
        );
    }
}

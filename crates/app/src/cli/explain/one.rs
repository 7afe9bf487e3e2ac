//! The full report on the entries that one client loads.

use rethread_engine::core::resume::{LoadFailure, MessageRole, SkipReason};
use rethread_engine::core::tree::NodeId;
use rethread_engine::core::usage::ReturnCost;
use rethread_engine::ops::explain::{ClientVerdict, EntryReader, Explanation, OmittedLines};

use super::{labels, strip, unreachable};
use crate::cli::error::CliError;
use crate::cli::facts::{print_detail, print_fact, wrap_styled};
use crate::cli::figures::{count_noun, format_tokens};
use crate::cli::out::Out;
use crate::cli::style::{BAD, MARK, NAME, PLAIN, QUIET, STRONG, STRONG_MARK};
use crate::cli::{AppContext, clean, entry, facts};
use crate::text::command::build_command;
use crate::text::money::format_money;

/// The maximum number of listed rejections.
const MAX_REJECTIONS: usize = 5;

/// Prints the report on one session and one client.
pub(super) struct ReportPrinter<'a> {
    pub(super) explanation: &'a Explanation,
    pub(super) verdict: &'a ClientVerdict,
    pub(super) entries: EntryReader<'a>,
    /// The session name as typed.
    pub(super) session: &'a str,
}

/// Prints the report. `session` is the session name as typed.
pub(super) fn print<'a>(
    explanation: &'a Explanation,
    verdict: &'a ClientVerdict,
    return_cost: Option<ReturnCost>,
    session: &'a str,
    app: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    let mut printer = ReportPrinter { explanation, verdict, entries: explanation.open_entries()?, session };
    let style = if verdict.is_loss() { STRONG_MARK } else { STRONG };
    for line in wrap_styled(&vec![(style, labels::load_summary(&explanation.session, verdict))], out.width())
    {
        out.line(&line)?;
    }
    out.line("")?;
    strip::print(explanation, verdict, out)?;
    printer.print_client(out)?;
    printer.print_leaf(app, out)?;
    match verdict.resume.failure {
        Some(failure) => printer.print_failure(failure, out),
        None => {
            printer.print_start(out)?;
            printer.print_context(out)?;
            if let Some(cost) = return_cost {
                print_return_cost(cost, out)?;
            }
            printer.print_changes(out)?;
            printer.print_rejections(out)?;
            unreachable::print(&mut printer, out)
        }
    }
}

/// Prints what the first request after the resume costs, by the state of the prompt cache.
fn print_return_cost(cost: ReturnCost, out: &mut Out) -> Result<(), CliError> {
    let text = format!(
        "about {} while the prompt cache is warm, {} to {} after it has expired",
        format_money(cost.warm),
        format_money(cost.expired),
        format_money(cost.expired_1h)
    );
    print_fact("coming back", &vec![(PLAIN, text)], out)
}

impl ReportPrinter<'_> {
    fn handle(&self, id: NodeId) -> String {
        self.explanation.session.entry_handle(id)
    }

    /// Formats the line handle of an entry, and its turn if it has one: `L118 t9`.
    pub(super) fn format_name(&self, id: NodeId) -> String {
        let turn = self.entries.turn(id).map(|turn| format!(" t{turn}")).unwrap_or_default();
        format!("{}{turn}", self.handle(id))
    }

    /// Reads an entry and returns its preview on one line.
    pub(super) fn read_preview(&mut self, id: NodeId) -> Result<String, CliError> {
        let node = self.explanation.session.tree.node(id);
        let previewed = self.entries.preview(id)?;
        Ok(entry::format_entry_line(&previewed, node.role, node.kind, &self.explanation.header.folder))
    }

    /// Prints the client version, whether it wrote the newest line, and whether it was measured.
    fn print_client(&self, out: &mut Out) -> Result<(), CliError> {
        let Some((client, measured)) = self.verdict.client.as_ref().zip(self.verdict.rules_of) else {
            let text = "no measured client reads a session by this rule; some descriptions of the format do";
            return print_fact("note", &vec![(MARK, text.to_owned())], out);
        };
        let mut facts = Vec::new();
        match &self.explanation.written_by {
            None => facts.push("no line names the client that wrote it".to_owned()),
            Some(writer) if writer == client => facts.push("which wrote the newest line".to_owned()),
            Some(writer) => {
                facts.push(format!("the newest line was written by {}", clean::line(&writer.text)));
            }
        }
        if client.text != measured {
            facts.push(format!("not measured, uses the rules of {measured}"));
        }
        let name = crate::cli::table::truncate_to_width(&clean::line(&client.text), 24);
        print_fact("client", &vec![(PLAIN, name), (QUIET, format!(", {}", facts.join("; ")))], out)
    }

    /// Prints the leaf, the rule that selected it, its time, and the preview of the nearest message.
    fn print_leaf(&mut self, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
        let Some((leaf, rule)) = self.verdict.resume.leaf else { return Ok(()) };
        let time = self.explanation.session.tree.node(leaf).time();
        let time = time.map(|time| format!(", {}", app.clock.format_minute(time))).unwrap_or_default();
        let text = vec![
            (NAME, self.format_name(leaf)),
            (PLAIN, format!(", {}", labels::leaf_rule_text(rule))),
            (QUIET, time),
        ];
        print_fact("resumes from", &text, out)?;
        let message = self.explanation.nearest_message(leaf);
        let preview = self.read_preview(message)?;
        let prefix =
            if message == leaf { String::new() } else { format!("after {}: ", self.handle(message)) };
        print_detail(PLAIN, &format!("{prefix}{preview}"), out)
    }

    /// Prints the entry at which loading starts, and the reason.
    fn print_start(&mut self, out: &mut Out) -> Result<(), CliError> {
        let Some(end) = self.verdict.resume.early_end else {
            let Some(&first) = self.verdict.resume.chain.first() else { return Ok(()) };
            let text =
                vec![(NAME, self.format_name(first)), (QUIET, ", a root: it has no parent".to_owned())];
            return print_fact("starts at", &text, out);
        };
        let name = self.format_name(end.node);
        let tree = &self.explanation.session.tree;
        let parent = tree.node(end.node).parent();
        let reason = match end.reason {
            SkipReason::Compacted => {
                return print_fact(
                    "starts at",
                    &vec![(NAME, name), (QUIET, ", a compaction".to_owned())],
                    out,
                );
            }
            SkipReason::UnreadParent => {
                let parent =
                    parent.map(|id| format!("{}, a {} line,", self.handle(id), tree.node(id).kind.name()));
                let parent = parent.unwrap_or_else(|| "a line".to_owned());
                format!(": its parent is {parent} which this client does not read")
            }
            SkipReason::Cycle => ": its parents form a cycle".to_owned(),
            _ => match self.entries.parent_uuid(end.node)? {
                Some(uuid) => format!(": its parent {} is not in the file", clean::line(&uuid)),
                None => ": its parent is not in the file".to_owned(),
            },
        };
        print_fact("stops at", &vec![(NAME, name), (MARK, reason)], out)?;
        let preview = self.read_preview(end.node)?;
        print_detail(PLAIN, &preview, out)?;
        let command = build_command(&["tree", self.session, &self.handle(end.node)]);
        facts::print_command("see where", &command, out)
    }

    /// Prints the compaction on the path, its summary and the entries it kept, and the context size in tokens.
    fn print_context(&mut self, out: &mut Out) -> Result<(), CliError> {
        if let Some(compaction) = self.verdict.find_compaction(self.explanation) {
            if let Some(boundary) = compaction.boundary {
                let preview = self.read_preview(boundary)?;
                print_detail(PLAIN, &preview, out)?;
            }
            if let Some(summary) = compaction.summary {
                let mut text = vec![(NAME, self.handle(summary))];
                if compaction.entries > 0 {
                    let (entries, turns) = (compaction.entries as u64, compaction.turns as u64);
                    text.push((
                        PLAIN,
                        format!(", for {}, {}", count_noun(entries, "entry"), count_noun(turns, "turn")),
                    ));
                }
                print_fact("summary", &text, out)?;
                let preview = self.read_preview(summary)?;
                print_detail(PLAIN, &preview, out)?;
            }
            if !compaction.preserved.is_empty() {
                let tree = &self.explanation.session.tree;
                let lines: Vec<u32> =
                    compaction.preserved.iter().map(|&id| tree.node(id).span.line).collect();
                let entry_count = count_noun(lines.len() as u64, "entry");
                let text = format!(", {entry_count} from before the compaction, unchanged");
                print_fact("kept", &vec![(NAME, labels::line_list(&lines)), (PLAIN, text)], out)?;
            }
        }
        let text = format!("about {} tokens", format_tokens(self.verdict.tokens));
        print_fact("context", &vec![(PLAIN, text)], out)
    }

    /// Prints the entries that the client omits and the blocks that it adds.
    fn print_changes(&self, out: &mut Out) -> Result<(), CliError> {
        let mut label = "omitted";
        for OmittedLines { reason, lines } in self.verdict.omitted_lines() {
            let text = format!("{}: ", labels::omitted_count_text(reason, lines.len() as u64));
            print_fact(label, &vec![(PLAIN, text), (NAME, labels::line_list(&lines))], out)?;
            label = "";
        }
        let mut label = "added";
        for added in self.verdict.added_blocks() {
            let sender = if added.role == MessageRole::User { "as the user" } else { "as the model" };
            let mut text = vec![(PLAIN, format!("“{}” ", added.block.text())), (QUIET, sender.to_owned())];
            if let Some(after) = added.after {
                text.push((QUIET, ", after ".to_owned()));
                text.push((NAME, self.handle(after)));
            }
            print_fact(label, &text, out)?;
            label = "";
        }
        Ok(())
    }

    /// Prints the first 5 blocks that the API rejects, and a hint.
    fn print_rejections(&self, out: &mut Out) -> Result<(), CliError> {
        let rejections = &self.verdict.rejections;
        let mut label = "API rejects";
        for rejection in rejections.iter().take(MAX_REJECTIONS) {
            let text = vec![
                (NAME, self.format_name(rejection.node())),
                (BAD, format!(", {}", labels::rejection_text(*rejection))),
            ];
            print_fact(label, &text, out)?;
            label = "";
        }
        if rejections.len() > MAX_REJECTIONS {
            let more = format!("… {} more", rejections.len() - MAX_REJECTIONS);
            print_fact("", &vec![(QUIET, more)], out)?;
        }
        let Some(first) = rejections.first() else { return Ok(()) };
        let turn = self
            .entries
            .turn(first.node())
            .map_or_else(|| self.handle(first.node()), |turn| format!("t{turn}"));
        let hint = format!("every prompt will fail; rewind in the client to before {turn}");
        print_fact("", &vec![(QUIET, hint)], out)
    }

    /// Prints the cycle that makes loading fail, if any, and commands that read the session.
    fn print_failure(&mut self, failure: LoadFailure, out: &mut Out) -> Result<(), CliError> {
        if let Some(id) = self.verdict.cycle_entry(self.explanation) {
            let parent = self.entries.parent_uuid(id)?.map(|uuid| clean::line(&uuid)).unwrap_or_default();
            let text = format!(": its parent {parent} is one of its descendants");
            print_fact("cycle at", &vec![(NAME, self.format_name(id)), (MARK, text)], out)?;
            let preview = self.read_preview(id)?;
            print_detail(PLAIN, &preview, out)?;
        }
        if self.verdict.resume.entries == 0 {
            return Ok(());
        }
        out.line("")?;
        facts::print_command("read it", &build_command(&["show", self.session, "--all"]), out)?;
        if failure == LoadFailure::Nothing || self.explanation.session.tree.is_sidechain_file() {
            return Ok(());
        }
        let command = build_command(&["explain", self.session, "--client", "all"]);
        facts::print_command("other clients", &command, out)
    }
}

//! Writes responses like clients do: one line per block, each with the usage known when the line is written.

use rethread_core::entry::Usage;
use serde_json::{Value, json};

use super::generator::{MINUTE, StoreGenerator};
use super::store::{GeneratedLine, ResponseRecord};

/// Models. The price table of the tests has rows by date, a price for long prompts, and no price for the last model.
const MODELS: [&str; 5] = [
    "claude-opus-4-5-20251101",
    "claude-sonnet-4-5-20250929",
    "claude-haiku-4-5-20251001",
    "claude-opus-4-5-20251101",
    "local-model-7b",
];
const TOOLS: [&str; 4] = ["Read", "Bash", "mcp__shed__open", "WebSearch"];
/// Zone offsets from UTC in minutes. Some responses span midnight in one of these zones.
const ZONE_OFFSETS: [i64; 4] = [0, -8 * 60, 5 * 60 + 30, 13 * 60];

/// The usage that the lines of a response contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UsageStyle {
    /// Every line has the final usage and the stop reason.
    Final,
    /// Only the last line has the final usage. The lines before it have a placeholder.
    FinalInLast,
    /// Like `FinalInLast`, and the first line is repeated after the last.
    FinalInLastRepeated,
    /// Every line has a placeholder.
    Placeholder,
    /// Every line has the final usage, but no line has a stop reason.
    NoStopReason,
}

const USAGE_STYLES: [UsageStyle; 8] = [
    UsageStyle::Final,
    UsageStyle::Final,
    UsageStyle::FinalInLast,
    UsageStyle::FinalInLast,
    UsageStyle::FinalInLast,
    UsageStyle::FinalInLastRepeated,
    UsageStyle::Placeholder,
    UsageStyle::NoStopReason,
];

impl StoreGenerator {
    /// Adds a response and the results of its calls.
    ///
    /// `launch` is the name and the type of a subagent to start. Returns the id of the call that starts it.
    pub(super) fn add_response(&mut self, idx: usize, launch: Option<(&str, &str)>) -> Option<String> {
        let response_id = self.response_count;
        self.response_count += 1;
        self.advance_clock(idx);
        let style = *self.rng.pick(&USAGE_STYLES);
        let is_gateway = self.store.files[idx].is_gateway;
        let whole = ResponseRecord {
            response_id,
            message_id: if is_gateway {
                self.reused_message_id(idx)
            } else {
                format!("msg_{response_id:06}")
            },
            request_id: (!is_gateway).then(|| format!("req_{response_id:06}")),
            time: None,
            usage: self.random_usage(response_id),
            has_stop_reason: false,
            has_fork_marker: false,
            is_sidechain: false,
            model: (*self.rng.pick(&MODELS)).to_owned(),
            branch: String::new(),
            calls: Vec::new(),
        };
        let blocks = self.random_blocks(response_id, launch);
        let is_single_line = is_gateway || self.rng.chance(15);
        let lines: Vec<Vec<Value>> =
            if is_single_line { vec![blocks] } else { blocks.into_iter().map(|block| vec![block]).collect() };
        let first_line = self.store.files[idx].lines.len();
        let last = lines.len() - 1;
        let mut calls: Vec<(String, String)> = Vec::new();
        for (at, blocks) in lines.into_iter().enumerate() {
            let record = line_record(&whole, style, at == last, &blocks);
            calls.extend(record.calls.iter().cloned());
            self.push_line(idx, response_line(&record, &blocks), Some(record));
        }
        let lines = &mut self.store.files[idx].lines;
        if style == UsageStyle::FinalInLastRepeated {
            let first = lines[first_line].clone();
            lines.push(first);
        } else if self.rng.chance(12) {
            let repeated = lines[lines.len() - 1].clone();
            lines.push(repeated);
        }
        self.add_results(idx, &calls, launch);
        if self.rng.chance(8) {
            self.push_line(idx, synthetic_line(response_id), None);
        }
        launch.and_then(|_| calls.last()).map(|(id, _)| id.clone())
    }

    /// Advances the clock of a file, in some cases to 150 ms before midnight in one of the zones.
    fn advance_clock(&mut self, idx: usize) {
        let to_midnight = self.rng.chance(20);
        let zone_offset = *self.rng.pick(&ZONE_OFFSETS) * MINUTE;
        let delay = self.rng.below(3 * MINUTE as u64) as i64;
        let clock = &mut self.store.files[idx].clock;
        *clock += delay;
        if to_midnight {
            const DAY: i64 = 86_400_000;
            *clock = ((*clock + zone_offset).div_euclid(DAY) + 1) * DAY - zone_offset - 150;
        }
    }

    /// Returns a message id that other sessions use for other responses.
    fn reused_message_id(&self, idx: usize) -> String {
        let records = self.store.files[idx].lines.iter().filter_map(|line| line.response.as_ref());
        let mut response_ids: Vec<usize> = records.map(|record| record.response_id).collect();
        response_ids.sort_unstable();
        response_ids.dedup();
        format!("chatcmpl-{}", response_ids.len())
    }

    /// Returns a usage. No two responses have the same.
    fn random_usage(&mut self, response_id: usize) -> Usage {
        let rng = &mut self.rng;
        let cache_write = if rng.chance(60) { rng.below(9000) } else { 0 };
        let cache_write_1h = match rng.below(3) {
            0 => cache_write,
            1 => rng.below(cache_write + 1),
            _ => 0,
        };
        Usage {
            input: 3 + response_id as u64,
            output: 20 + rng.below(3000),
            cache_write,
            cache_write_1h,
            cache_read: if rng.chance(15) { 190_000 + rng.below(90_000) } else { rng.below(60_000) },
            web_searches: if rng.chance(10) { 1 + rng.below(3) } else { 0 },
        }
    }

    /// Returns one to four blocks.
    fn random_blocks(&mut self, response_id: usize, launch: Option<(&str, &str)>) -> Vec<Value> {
        let call = |at: u64, tool: &str, input: Value| json!({"type": "tool_use", "id": format!("toolu_{response_id:06}_{at}"), "name": tool, "input": input});
        let count = if launch.is_some() { self.rng.below(3) } else { 1 + self.rng.below(4) };
        let mut blocks = Vec::new();
        for at in 0..count {
            blocks.push(match self.rng.below(5) {
                0 => json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"}),
                1 => json!({"type": "text", "text": "there is a rake"}),
                _ => call(at, self.rng.pick::<&str>(&TOOLS), json!({"path": "shed"})),
            });
        }
        if let Some((_, agent_type)) = launch {
            let input = json!({"subagent_type": agent_type, "description": "look", "prompt": "look into it"});
            blocks.push(call(count, "Task", input));
        }
        blocks
    }

    /// Adds the results of calls. The result of a subagent repeats its tokens, which must not be counted here.
    fn add_results(&mut self, idx: usize, calls: &[(String, String)], launch: Option<(&str, &str)>) {
        for (id, tool) in calls {
            let content = json!([{"type": "tool_result", "tool_use_id": id, "content": "done"}]);
            let mut line = json!({"type": "user", "message": {"role": "user", "content": content}});
            if let Some((name, _)) = launch.filter(|_| tool == "Task") {
                line["toolUseResult"] = json!({"agentId": name, "status": "completed", "totalTokens": 4711,
                    "usage": {"input_tokens": 4000, "output_tokens": 711}});
            }
            self.push_line(idx, line, None);
        }
    }

    /// Returns the number of a random response of a file.
    pub(super) fn pick_response(&mut self, idx: usize) -> usize {
        let records = self.store.files[idx].lines.iter().filter_map(|line| line.response.as_ref());
        let response_ids: Vec<usize> = records.map(|record| record.response_id).collect();
        *self.rng.pick(&response_ids)
    }

    /// Repeats the lines of a response under another request id.
    pub(super) fn replay_response(&mut self, from: usize, to: usize, response_id: usize) {
        let is_part = |line: &&GeneratedLine| {
            line.response.as_ref().is_some_and(|record| record.response_id == response_id)
        };
        let lines: Vec<GeneratedLine> =
            self.store.files[from].lines.iter().filter(is_part).cloned().collect();
        for line in lines {
            let request_id = Some(format!("req_replay_{response_id}"));
            let body =
                json!({"message": line.value["message"], "requestId": request_id, "type": "assistant"});
            self.push_line(to, body, line.response.map(|record| ResponseRecord { request_id, ..record }));
        }
    }
}

/// Returns the response data that a line contains.
fn line_record(whole: &ResponseRecord, style: UsageStyle, is_last: bool, blocks: &[Value]) -> ResponseRecord {
    let has_final_usage = match style {
        UsageStyle::Final | UsageStyle::NoStopReason => true,
        UsageStyle::FinalInLast | UsageStyle::FinalInLastRepeated => is_last,
        UsageStyle::Placeholder => false,
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
    ResponseRecord {
        usage: if has_final_usage {
            whole.usage
        } else {
            Usage { output: 1 + whole.usage.output % 7, web_searches: 0, ..whole.usage }
        },
        has_stop_reason: has_final_usage && style != UsageStyle::NoStopReason,
        calls: calls.map(|call| (text(&call["id"]), text(&call["name"]))).collect(),
        ..whole.clone()
    }
}

/// Returns the JSON of a line.
fn response_line(record: &ResponseRecord, blocks: &[Value]) -> Value {
    let Usage { input, output, cache_write, cache_write_1h, cache_read, web_searches } = record.usage;
    let mut usage = json!({"input_tokens": input, "cache_creation_input_tokens": cache_write,
        "cache_read_input_tokens": cache_read, "output_tokens": output, "service_tier": "standard"});
    if cache_write > 0 {
        usage["cache_creation"] = json!({"ephemeral_5m_input_tokens": cache_write - cache_write_1h,
            "ephemeral_1h_input_tokens": cache_write_1h});
    }
    if web_searches > 0 {
        usage["server_tool_use"] = json!({"web_search_requests": web_searches});
    }
    let reason = if blocks.iter().any(|block| block["type"] == "tool_use") { "tool_use" } else { "end_turn" };
    let mut line = json!({"message": {"id": record.message_id, "type": "message", "role": "assistant",
        "model": record.model, "content": blocks, "stop_reason": record.has_stop_reason.then_some(reason),
        "stop_sequence": null, "usage": usage}});
    if let Some(request_id) = &record.request_id {
        line["requestId"] = json!(request_id);
    }
    line["type"] = json!("assistant");
    line
}

/// Returns a line that the client made up. Its usage must not be counted.
fn synthetic_line(response_id: usize) -> Value {
    json!({"type": "assistant", "isApiErrorMessage": true, "message": {"id": format!("msg_made_up_{response_id}"),
        "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error"}],
        "stop_reason": "stop_sequence", "usage": {"input_tokens": 5, "output_tokens": 7}}})
}

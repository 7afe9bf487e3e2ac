//! How clients write a response: a line for each block, with what they know of its tokens by then.

use rethread_core::entry::Usage;
use serde_json::{Value, json};

use super::generator::{MINUTE, StoreGenerator};
use super::store::{Line, Said};

/// Models: with a price, with another since a day, with one for long prompts, and without any.
const MODELS: [&str; 5] = [
    "claude-opus-4-5-20251101",
    "claude-sonnet-4-5-20250929",
    "claude-haiku-4-5-20251001",
    "claude-opus-4-5-20251101",
    "local-model-7b",
];
const TOOLS: [&str; 4] = ["Read", "Bash", "mcp__shed__open", "WebSearch"];
/// How far ahead of UTC clocks are whose midnights lie within a response, in minutes.
const AHEAD: [i64; 4] = [0, -8 * 60, 5 * 60 + 30, 13 * 60];

/// What the client knows of the tokens when it writes a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// All of it, from the first line on, and why the model stopped.
    Whole,
    /// A placeholder until the last line.
    Rising,
    /// The same, and the first line comes once more behind the last.
    RisingRepeated,
    /// A placeholder only.
    Placeholder,
    /// All of it, but never why the model stopped.
    Endless,
}

const STYLES: [Style; 8] = [
    Style::Whole,
    Style::Whole,
    Style::Rising,
    Style::Rising,
    Style::Rising,
    Style::RisingRepeated,
    Style::Placeholder,
    Style::Endless,
];

impl StoreGenerator {
    /// Writes a response, and the results of its calls; it may start a subagent of a name and a kind, and then returns the
    /// id of that call.
    pub(super) fn respond(&mut self, no: usize, launch: Option<(&str, &str)>) -> Option<String> {
        let response = self.responses;
        self.responses += 1;
        self.pass_time(no);
        let style = *self.dice.pick(&STYLES);
        let gateway = self.store.files[no].gateway;
        let said = Said {
            response,
            message: if gateway { self.reused(no) } else { format!("msg_{response:06}") },
            request: (!gateway).then(|| format!("req_{response:06}")),
            time: None,
            usage: self.tokens(response),
            stopped: false,
            marked: false,
            side: false,
            model: (*self.dice.pick(&MODELS)).to_owned(),
            branch: String::new(),
            calls: Vec::new(),
        };
        let blocks = self.blocks(response, launch);
        let together = gateway || self.dice.chance(15);
        let lines: Vec<Vec<Value>> =
            if together { vec![blocks] } else { blocks.into_iter().map(|block| vec![block]).collect() };
        let begin = self.store.files[no].lines.len();
        let last = lines.len() - 1;
        let mut calls: Vec<(String, String)> = Vec::new();
        for (at, blocks) in lines.into_iter().enumerate() {
            let said = known(&said, style, at == last, &blocks);
            calls.extend(said.calls.iter().cloned());
            self.push(no, line(&said, &blocks), Some(said));
        }
        let lines = &mut self.store.files[no].lines;
        if style == Style::RisingRepeated {
            let first = lines[begin].clone();
            lines.push(first);
        } else if self.dice.chance(12) {
            let same = lines[lines.len() - 1].clone();
            lines.push(same);
        }
        self.results(no, &calls, launch);
        if self.dice.chance(8) {
            self.push(no, synthetic(response), None);
        }
        launch.and_then(|_| calls.last()).map(|(id, _)| id.clone())
    }

    /// Lets time go by; at times until a second before midnight, somewhere.
    fn pass_time(&mut self, no: usize) {
        let midnight = self.dice.chance(20);
        let ahead = *self.dice.pick(&AHEAD) * MINUTE;
        let later = self.dice.below(3 * MINUTE as u64) as i64;
        let clock = &mut self.store.files[no].clock;
        *clock += later;
        if midnight {
            const DAY: i64 = 86_400_000;
            *clock = ((*clock + ahead).div_euclid(DAY) + 1) * DAY - ahead - 150;
        }
    }

    /// Returns a name that other sessions use, too, for other responses.
    fn reused(&self, no: usize) -> String {
        let said = self.store.files[no].lines.iter().filter_map(|line| line.said.as_ref());
        let mut seen: Vec<usize> = said.map(|said| said.response).collect();
        seen.sort_unstable();
        seen.dedup();
        format!("chatcmpl-{}", seen.len())
    }

    /// Returns tokens; no two responses have the same.
    fn tokens(&mut self, response: usize) -> Usage {
        let dice = &mut self.dice;
        let cache_write = if dice.chance(60) { dice.below(9000) } else { 0 };
        let cache_write_1h = match dice.below(3) {
            0 => cache_write,
            1 => dice.below(cache_write + 1),
            _ => 0,
        };
        Usage {
            input: 3 + response as u64,
            output: 20 + dice.below(3000),
            cache_write,
            cache_write_1h,
            cache_read: if dice.chance(15) { 190_000 + dice.below(90_000) } else { dice.below(60_000) },
            web_searches: if dice.chance(10) { 1 + dice.below(3) } else { 0 },
        }
    }

    /// Returns one to four blocks.
    fn blocks(&mut self, response: usize, launch: Option<(&str, &str)>) -> Vec<Value> {
        let call = |at: u64, tool: &str, input: Value| json!({"type": "tool_use", "id": format!("toolu_{response:06}_{at}"), "name": tool, "input": input});
        let count = if launch.is_some() { self.dice.below(3) } else { 1 + self.dice.below(4) };
        let mut blocks = Vec::new();
        for at in 0..count {
            blocks.push(match self.dice.below(5) {
                0 => json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"}),
                1 => json!({"type": "text", "text": "there is a rake"}),
                _ => call(at, self.dice.pick::<&str>(&TOOLS), json!({"path": "shed"})),
            });
        }
        if let Some((_, kind)) = launch {
            let input = json!({"subagent_type": kind, "description": "look", "prompt": "look into it"});
            blocks.push(call(count, "Task", input));
        }
        blocks
    }

    /// Writes the results of calls; that of a subagent tells its tokens, which are counted where it got them.
    fn results(&mut self, no: usize, calls: &[(String, String)], launch: Option<(&str, &str)>) {
        for (id, tool) in calls {
            let content = json!([{"type": "tool_result", "tool_use_id": id, "content": "done"}]);
            let mut line = json!({"type": "user", "message": {"role": "user", "content": content}});
            if let Some((name, _)) = launch.filter(|_| tool == "Task") {
                line["toolUseResult"] = json!({"agentId": name, "status": "completed", "totalTokens": 4711,
                    "usage": {"input_tokens": 4000, "output_tokens": 711}});
            }
            self.push(no, line, None);
        }
    }

    /// Returns a response of a file.
    pub(super) fn any_response(&mut self, no: usize) -> usize {
        let said = self.store.files[no].lines.iter().filter_map(|line| line.said.as_ref());
        let all: Vec<usize> = said.map(|said| said.response).collect();
        *self.dice.pick(&all)
    }

    /// Writes the lines of a response once more, under another request.
    pub(super) fn replay(&mut self, from: usize, to: usize, response: usize) {
        let same = |line: &&Line| line.said.as_ref().is_some_and(|said| said.response == response);
        let lines: Vec<Line> = self.store.files[from].lines.iter().filter(same).cloned().collect();
        for line in lines {
            let request = Some(format!("req_replay_{response}"));
            let body = json!({"message": line.value["message"], "requestId": request, "type": "assistant"});
            self.push(to, body, line.said.map(|said| Said { request, ..said }));
        }
    }
}

/// Returns what a line says of a response.
fn known(whole: &Said, style: Style, last: bool, blocks: &[Value]) -> Said {
    let heard = match style {
        Style::Whole | Style::Endless => true,
        Style::Rising | Style::RisingRepeated => last,
        Style::Placeholder => false,
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
    Said {
        usage: if heard {
            whole.usage
        } else {
            Usage { output: 1 + whole.usage.output % 7, web_searches: 0, ..whole.usage }
        },
        stopped: heard && style != Style::Endless,
        calls: calls.map(|call| (text(&call["id"]), text(&call["name"]))).collect(),
        ..whole.clone()
    }
}

/// Returns the line that says it.
fn line(said: &Said, blocks: &[Value]) -> Value {
    let Usage { input, output, cache_write, cache_write_1h, cache_read, web_searches } = said.usage;
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
    let mut line = json!({"message": {"id": said.message, "type": "message", "role": "assistant",
        "model": said.model, "content": blocks, "stop_reason": said.stopped.then_some(reason),
        "stop_sequence": null, "usage": usage}});
    if let Some(request) = &said.request {
        line["requestId"] = json!(request);
    }
    line["type"] = json!("assistant");
    line
}

/// Returns a line that the client itself made up; what it says of tokens is no more true than the rest.
fn synthetic(response: usize) -> Value {
    json!({"type": "assistant", "isApiErrorMessage": true, "message": {"id": format!("msg_made_up_{response}"),
        "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error"}],
        "stop_reason": "stop_sequence", "usage": {"input_tokens": 5, "output_tokens": 7}}})
}

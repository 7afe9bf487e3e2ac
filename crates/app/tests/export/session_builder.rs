//! Sessions that tests export, line by line.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The id of the session.
pub(crate) const SESSION: &str = "11111111-2222-4333-8444-555555550001";

/// A session that grows line by line, each below the one before it.
#[derive(Default)]
pub(crate) struct Talk {
    lines: Vec<String>,
    last: Option<String>,
    agent: Option<String>,
}

impl Talk {
    /// Begins the conversation of a subagent.
    pub(crate) fn of_agent(id: &str) -> Talk {
        Talk { agent: Some(id.to_owned()), ..Talk::default() }
    }

    /// Adds a line of a user or of the model.
    pub(crate) fn line(mut self, kind: &str, content: &Value, more: &Value) -> Talk {
        let no = self.lines.len();
        let uuid = format!("{no:08}-0000-4000-8000-000000000000");
        let mut message = json!({ "role": kind, "content": content });
        if kind == "assistant" {
            message["id"] = json!(format!("msg_{no}"));
            message["model"] = json!("claude-opus-4-5");
            message["usage"] = json!({ "input_tokens": 10, "output_tokens": 5 });
        }
        let mut line = json!({
            "type": kind, "uuid": uuid, "parentUuid": self.last, "sessionId": SESSION, "cwd": "/home/ada/garden",
            "gitBranch": "main", "version": "2.1.0", "message": message,
            "timestamp": format!("2026-01-{:02}T10:{:02}:{:02}.000Z", 1 + no / 3600 % 28, no / 60 % 60, no % 60),
        });
        if let Some(agent) = &self.agent {
            line["isSidechain"] = json!(true);
            line["agentId"] = json!(agent);
        }
        for (name, value) in more.as_object().into_iter().flatten() {
            line[name] = value.clone();
        }
        self.last = Some(uuid);
        self.lines.push(line.to_string());
        self
    }

    /// Adds a prompt.
    pub(crate) fn asks(self, words: &str) -> Talk {
        self.line("user", &json!(words), &Value::Null)
    }

    /// Adds an answer.
    pub(crate) fn says(self, words: &str) -> Talk {
        self.line("assistant", &json!([{ "type": "text", "text": words }]), &Value::Null)
    }

    /// Adds a call and its result.
    pub(crate) fn calls(self, id: &str, name: &str, input: &Value, result: &Value, noted: &Value) -> Talk {
        let call = json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": result }]);
        self.line("assistant", &call, &Value::Null).line("user", &result, &json!({ "toolUseResult": noted }))
    }

    /// Goes back to an earlier line, so that the next one begins another way.
    pub(crate) fn back_to(mut self, no: usize) -> Talk {
        self.last = Some(format!("{no:08}-0000-4000-8000-000000000000"));
        self
    }

    /// Returns the file.
    pub(crate) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }
}

/// A talk with something of everything.
pub(crate) fn garden() -> Talk {
    Talk::default()
        .asks("Plant *three* trees")
        .line(
            "assistant",
            &json!([{ "type": "thinking", "thinking": "An oak first.", "signature": "x" }]),
            &Value::Null,
        )
        .says("# Plan\n\nI will plant an **oak**.")
        .calls(
            "toolu_1",
            "Bash",
            &json!({ "command": "plant oak" }),
            &json!("planted\nan oak"),
            &json!({ "stdout": "planted\nan oak" }),
        )
        .calls(
            "toolu_2",
            "Write",
            &json!({ "file_path": "/home/ada/garden/list.md", "content": "sapling" }),
            &json!("ok"),
            &Value::Null,
        )
        .says("Done: one oak.")
        .asks("And a birch?")
        .says("A birch it is.")
        .back_to(7)
        .asks("Rather an elm")
        .says("An elm it is.")
}

/// Returns all markup of a page: what stands in it, and what is packed in it.
pub(crate) fn unpacked(page: &str) -> String {
    let mut all = String::new();
    let mut rest = page;
    while let Some(at) = rest.find("<script type=\"text/plain\" class=\"packed\"") {
        all.push_str(&rest[..at]);
        let from = at + rest[at..].find('>').unwrap() + 1;
        let to = from + rest[from..].find("</script>").unwrap();
        let packed = STANDARD.decode(&rest[from..to]).unwrap();
        let mut inner = String::new();
        flate2::read::DeflateDecoder::new(&packed[..]).read_to_string(&mut inner).unwrap();
        // What is packed may hold what is packed.
        all.push_str(&unpacked(&inner));
        rest = &rest[to..];
    }
    all + rest
}

//! Builds the sessions that the tests export.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rethread_testkit::home::Home;
use serde_json::{Value, json};

use crate::new_home;

/// The session id.
pub(crate) const SESSION: &str = "11111111-2222-4333-8444-555555550001";

/// The project folder of the session, relative to the home.
pub(crate) const PROJECT: &str = ".claude/projects/-home-ada-garden";

/// A session file under construction. Each entry is a child of the previous one.
#[derive(Default)]
pub(crate) struct SessionBuilder {
    lines: Vec<String>,
    tip: Option<String>,
    agent_id: Option<String>,
}

impl SessionBuilder {
    /// Starts the file of a subagent.
    pub(crate) fn new_subagent(id: &str) -> SessionBuilder {
        SessionBuilder { agent_id: Some(id.to_owned()), ..SessionBuilder::default() }
    }

    /// Adds an entry of `user` or `assistant`. `fields` replace the default ones.
    pub(crate) fn add_entry(mut self, role: &str, content: &Value, fields: &Value) -> SessionBuilder {
        let idx = self.lines.len();
        let uuid = format!("{idx:08}-0000-4000-8000-000000000000");
        let mut message = json!({ "role": role, "content": content });
        if role == "assistant" {
            message["id"] = json!(format!("msg_{idx}"));
            message["model"] = json!("claude-opus-4-5");
            message["usage"] = json!({ "input_tokens": 10, "output_tokens": 5 });
        }
        let mut line = json!({
            "type": role, "uuid": uuid, "parentUuid": self.tip, "sessionId": SESSION, "cwd": "/home/ada/garden",
            "gitBranch": "main", "version": "2.1.0", "message": message,
            "timestamp": format!("2026-01-{:02}T10:{:02}:{:02}.000Z", 1 + idx / 3600 % 28, idx / 60 % 60, idx % 60),
        });
        if let Some(agent_id) = &self.agent_id {
            line["isSidechain"] = json!(true);
            line["agentId"] = json!(agent_id);
        }
        for (name, value) in fields.as_object().into_iter().flatten() {
            line[name] = value.clone();
        }
        self.tip = Some(uuid);
        self.lines.push(line.to_string());
        self
    }

    /// Adds a prompt.
    pub(crate) fn add_prompt(self, text: &str) -> SessionBuilder {
        self.add_entry("user", &json!(text), &Value::Null)
    }

    /// Adds an answer.
    pub(crate) fn add_answer(self, text: &str) -> SessionBuilder {
        self.add_entry("assistant", &json!([{ "type": "text", "text": text }]), &Value::Null)
    }

    /// Adds a call and its result. `client_result` is the client's own record, `toolUseResult`.
    pub(crate) fn add_call(
        self,
        id: &str,
        name: &str,
        input: &Value,
        result: &Value,
        client_result: &Value,
    ) -> SessionBuilder {
        let call = json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": result }]);
        self.add_entry("assistant", &call, &Value::Null).add_entry(
            "user",
            &result,
            &json!({ "toolUseResult": client_result }),
        )
    }

    /// Makes the next entry a child of the entry at `idx`, which starts a branch.
    pub(crate) fn continue_from(mut self, idx: usize) -> SessionBuilder {
        self.tip = Some(format!("{idx:08}-0000-4000-8000-000000000000"));
        self
    }

    /// Returns the contents of the file.
    pub(crate) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    /// Writes the session file into a home.
    pub(crate) fn write_to(&self, home: &Home) {
        home.write_old(&format!("{PROJECT}/{SESSION}.jsonl"), self.text());
    }

    /// Creates a home that contains only this session.
    pub(crate) fn write_to_new_home(&self) -> Home {
        let home = new_home();
        self.write_to(&home);
        home
    }
}

/// Returns a session with thinking, calls and two branches.
pub(crate) fn garden_session() -> SessionBuilder {
    SessionBuilder::default()
        .add_prompt("Plant *three* trees")
        .add_entry(
            "assistant",
            &json!([{ "type": "thinking", "thinking": "An oak first.", "signature": "x" }]),
            &Value::Null,
        )
        .add_answer("# Plan\n\nI will plant an **oak**.")
        .add_call(
            "toolu_1",
            "Bash",
            &json!({ "command": "plant oak" }),
            &json!("planted\nan oak"),
            &json!({ "stdout": "planted\nan oak" }),
        )
        .add_call(
            "toolu_2",
            "Write",
            &json!({ "file_path": "/home/ada/garden/list.md", "content": "sapling" }),
            &json!("ok"),
            &Value::Null,
        )
        .add_answer("Done: one oak.")
        .add_prompt("And a birch?")
        .add_answer("A birch it is.")
        .continue_from(7)
        .add_prompt("Rather an elm")
        .add_answer("An elm it is.")
}

/// Returns the markup of a page with all packed parts unpacked.
pub(crate) fn unpack_page(page: &str) -> String {
    let mut markup = String::new();
    let mut rest = page;
    while let Some(start) = rest.find("<script type=\"text/plain\" class=\"packed\"") {
        markup.push_str(&rest[..start]);
        let from = start + rest[start..].find('>').unwrap() + 1;
        let to = from + rest[from..].find("</script>").unwrap();
        let packed = STANDARD.decode(&rest[from..to]).unwrap();
        let mut unpacked = String::new();
        flate2::read::DeflateDecoder::new(&packed[..]).read_to_string(&mut unpacked).unwrap();
        // A packed part may contain packed parts.
        markup.push_str(&unpack_page(&unpacked));
        rest = &rest[to..];
    }
    markup + rest
}

//! A session of an older client about a garden diary: slash commands, a shell command, and a truncated last line.

use serde_json::json;

use super::transcript::TranscriptWriter;
use super::{DAY, DemoSession, MINUTE};

pub(super) fn sessions(now: i64) -> Vec<DemoSession> {
    let folder = "/home/ada/garden-log";
    let mut transcript = TranscriptWriter::new(
        "e4f81b69-0d27-4ac3-8f50-b6c92e7a1d38",
        folder,
        "main",
        "2.0.76",
        now - 34 * DAY,
    );
    transcript.user(
        json!("<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>sonnet</command-args>"),
        json!({}),
    );
    transcript.user(json!("<local-command-stdout>Set model to sonnet</local-command-stdout>"), json!({}));
    transcript.wait(MINUTE);
    transcript.user(json!("<bash-input>wc -l entries/*.md</bash-input>"), json!({}));
    transcript.user(json!("<bash-stdout>  212 entries/beans.md\n   98 entries/quince.md\n  310 total</bash-stdout><bash-stderr></bash-stderr>"), json!({}));
    transcript.wait(MINUTE);
    transcript.prompt("When did the quince flower in each year? Make a small table.");
    transcript.call_with_result(
        "Grep",
        json!({"pattern": "flower", "path": "entries/quince.md", "output_mode": "content"}),
        60,
        "2023-04-21 first flower\n2024-04-09 first flower\n2025-04-15 first flower",
    );
    transcript.say("| year | first flower |\n|------|--------------|\n| 2023 | 21 April     |\n| 2024 | 9 April      |\n| 2025 | 15 April     |");
    transcript.wait(2 * MINUTE);
    transcript.prompt("And the beans?");
    let call = transcript.call("Grep", json!({"pattern": "sown|picked", "path": "entries/beans.md"}));
    transcript.error(
        &call,
        20,
        "<tool_use_error>entries/beans.md is being written by another program</tool_use_error>",
    );
    let torn_line = "{\"parentUuid\":\"0c5d\",\"isSidechain\":false,\"type\":\"assistant\",\"message\":{\"role\":\"assist";
    vec![DemoSession { torn_line, ..transcript.into() }]
}

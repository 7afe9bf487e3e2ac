//! A session of an older client about a garden diary: commands, a shell line, and a crash in the middle of a line.

use serde_json::json;

use super::transcript::TranscriptWriter;
use super::{DAY, MINUTE, Tale};

pub(super) fn tales(now: i64) -> Vec<Tale> {
    let folder = "/home/ada/garden-log";
    let mut pen = TranscriptWriter::new(
        "e4f81b69-0d27-4ac3-8f50-b6c92e7a1d38",
        folder,
        "main",
        "2.0.76",
        now - 34 * DAY,
    );
    pen.user(
        json!("<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>sonnet</command-args>"),
        json!({}),
    );
    pen.user(json!("<local-command-stdout>Set model to sonnet</local-command-stdout>"), json!({}));
    pen.wait(MINUTE);
    pen.user(json!("<bash-input>wc -l entries/*.md</bash-input>"), json!({}));
    pen.user(json!("<bash-stdout>  212 entries/beans.md\n   98 entries/quince.md\n  310 total</bash-stdout><bash-stderr></bash-stderr>"), json!({}));
    pen.wait(MINUTE);
    pen.prompt("When did the quince flower in each year? Make a small table.");
    pen.does(
        "Grep",
        json!({"pattern": "flower", "path": "entries/quince.md", "output_mode": "content"}),
        60,
        "2023-04-21 first flower\n2024-04-09 first flower\n2025-04-15 first flower",
    );
    pen.say("| year | first flower |\n|------|--------------|\n| 2023 | 21 April     |\n| 2024 | 9 April      |\n| 2025 | 15 April     |");
    pen.wait(2 * MINUTE);
    pen.prompt("And the beans?");
    let call = pen.call("Grep", json!({"pattern": "sown|picked", "path": "entries/beans.md"}));
    pen.error(
        &call,
        20,
        "<tool_use_error>entries/beans.md is being written by another program</tool_use_error>",
    );
    let torn = "{\"parentUuid\":\"0c5d\",\"isSidechain\":false,\"type\":\"assistant\",\"message\":{\"role\":\"assist";
    vec![Tale { torn, ..pen.into() }]
}

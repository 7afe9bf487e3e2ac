//! Sessions about a typesetting program: a plan, its implementation, and a long conversation with a compaction.

use serde_json::json;

use super::transcript::TranscriptWriter;
use super::{DAY, DemoSession, HOUR, MINUTE};

const FOLDER: &str = "/home/ada/letterpress";
const SLUG: &str = "inky-humming-otter";
const PLAN: &str = "# Hanging punctuation\n\n1. Measure how far each mark reaches past the edge\n2. Let the line breaker see the margin it gains\n3. Turn it off for ragged text";

pub(super) fn sessions(now: i64) -> Vec<DemoSession> {
    vec![plan(now - 5 * HOUR).into(), implementation(now - 4 * HOUR).into(), ligatures(now - 9 * DAY).into()]
}

fn plan(at: i64) -> TranscriptWriter {
    let mut transcript =
        TranscriptWriter::new("c90b1f47-52ae-4d83-b7f6-3a8e5d10c729", FOLDER, "margins", "2.1.221", at)
            .slug(SLUG);
    transcript.state(json!({"type": "permission-mode", "permissionMode": "plan"}));
    transcript.prompt("Plan how punctuation could hang into the margin");
    transcript.call_with_result(
        "Glob",
        json!({"pattern": "src/**/*.rs"}),
        35,
        "src/break.rs\nsrc/glyph.rs\nsrc/margin.rs",
    );
    transcript.call_with_result(
        "Read",
        json!({"file_path": format!("{FOLDER}/src/break.rs")}),
        45,
        "     1\t//! Breaks paragraphs into lines.",
    );
    let exit = transcript.call("ExitPlanMode", json!({"plan": PLAN}));
    transcript.result(&exit, 38_000, "User has approved your plan.");
    transcript
}

fn implementation(at: i64) -> TranscriptWriter {
    let mut transcript =
        TranscriptWriter::new("0e6d38b5-94c1-47fa-a2d9-61f7c8035be4", FOLDER, "margins", "2.1.221", at)
            .slug(SLUG);
    transcript.user(json!(format!("Implement the following plan:\n\n{PLAN}")), json!({"planContent": PLAN}));
    let todos = |done_count: usize| {
        let steps = ["Measure marks", "Tell the line breaker", "Leave ragged text alone"];
        let status = |idx: usize| if idx < done_count { "completed" } else { "pending" };
        let todos: Vec<_> = steps
            .iter()
            .enumerate()
            .map(|(idx, step)| json!({"content": step, "status": status(idx)}))
            .collect();
        json!({"todos": todos})
    };
    transcript.call_with_result("TodoWrite", todos(0), 12, "Todos have been modified successfully.");
    transcript.call_with_result(
        "Write",
        json!({"file_path": format!("{FOLDER}/src/hang.rs"), "content": "//! How far marks reach past the edge.\n\npub fn overhang(mark: char) -> f32 {\n    match mark {\n        '.' | ',' => 0.7,\n        '-' => 0.5,\n        _ => 0.0,\n    }\n}\n"}),
        55,
        "File created successfully at: /home/ada/letterpress/src/hang.rs",
    );
    transcript.call_with_result("TodoWrite", todos(1), 11, "Todos have been modified successfully.");
    transcript.call_with_result(
        "Bash",
        json!({"command": "cargo build", "description": "Build"}),
        12_600,
        "   Compiling letterpress v0.3.0\n    Finished dev profile",
    );
    transcript.call_with_result("TodoWrite", todos(3), 11, "Todos have been modified successfully.");
    transcript.say("All three steps are done. Full stops and commas hang by 70 % of their width, hyphens by half; ragged text stays as it was.");
    transcript.wait(3 * MINUTE);
    transcript.prompt("Make the amounts configurable");
    transcript
        .say("They now come from `[hang]` in the style file, with these numbers where nothing is said.");
    transcript
}

fn ligatures(at: i64) -> TranscriptWriter {
    let mut transcript =
        TranscriptWriter::new("71ad6c02-e8f9-4b14-95c7-d20b4f3e8a56", FOLDER, "ligatures", "2.1.163", at);
    let exchanges = [
        (
            "Which ligatures does the old specimen book use?",
            "It shows *fi*, *fl*, *ff*, *ffi* and, on two pages, *ct*.",
        ),
        ("Where do we decide about them?", "In `shape.rs`, once per run of glyphs, before kerning."),
        (
            "Should *ct* be on by default?",
            "I would leave it off: the book has it only in headings, and readers stumble over it in text.",
        ),
    ];
    for (prompt, answer) in exchanges {
        transcript.prompt(prompt);
        transcript.call_with_result(
            "Read",
            json!({"file_path": format!("{FOLDER}/notes/specimen.md")}),
            30,
            "# The specimen book",
        );
        transcript.say(answer);
        transcript.wait(11 * MINUTE);
    }
    transcript.compact("auto", "Summary:\n1. The specimen book uses fi, fl, ff, ffi; ct only in headings.\n2. Ligatures are chosen in shape.rs, before kerning.\n3. Pending: switch ct off by default.");
    transcript.prompt("Go on");
    transcript.call_with_result(
        "Edit",
        json!({"file_path": format!("{FOLDER}/src/shape.rs"), "old_string": "ct: true", "new_string": "ct: false"}),
        40,
        "The file has been updated.",
    );
    transcript.say("*ct* is now off unless a style asks for it.");
    transcript
}

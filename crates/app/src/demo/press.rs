//! Sessions about a typesetter: a plan, its implementation, and a long talk that was compacted.

use serde_json::json;

use super::transcript::TranscriptWriter;
use super::{DAY, HOUR, MINUTE, Tale};

const FOLDER: &str = "/home/ada/letterpress";
const SLUG: &str = "inky-humming-otter";
const PLAN: &str = "# Hanging punctuation\n\n1. Measure how far each mark reaches past the edge\n2. Let the line breaker see the margin it gains\n3. Turn it off for ragged text";

pub(super) fn tales(now: i64) -> Vec<Tale> {
    vec![plan(now - 5 * HOUR).into(), implementation(now - 4 * HOUR).into(), ligatures(now - 9 * DAY).into()]
}

fn plan(at: i64) -> TranscriptWriter {
    let mut pen =
        TranscriptWriter::new("c90b1f47-52ae-4d83-b7f6-3a8e5d10c729", FOLDER, "margins", "2.1.221", at)
            .slug(SLUG);
    pen.state(json!({"type": "permission-mode", "permissionMode": "plan"}));
    pen.prompt("Plan how punctuation could hang into the margin");
    pen.does("Glob", json!({"pattern": "src/**/*.rs"}), 35, "src/break.rs\nsrc/glyph.rs\nsrc/margin.rs");
    pen.does(
        "Read",
        json!({"file_path": format!("{FOLDER}/src/break.rs")}),
        45,
        "     1\t//! Breaks paragraphs into lines.",
    );
    let exit = pen.call("ExitPlanMode", json!({"plan": PLAN}));
    pen.result(&exit, 38_000, "User has approved your plan.");
    pen
}

fn implementation(at: i64) -> TranscriptWriter {
    let mut pen =
        TranscriptWriter::new("0e6d38b5-94c1-47fa-a2d9-61f7c8035be4", FOLDER, "margins", "2.1.221", at)
            .slug(SLUG);
    pen.user(json!(format!("Implement the following plan:\n\n{PLAN}")), json!({"planContent": PLAN}));
    let todos = |done: usize| {
        let steps = ["Measure marks", "Tell the line breaker", "Leave ragged text alone"];
        let status = |k: usize| if k < done { "completed" } else { "pending" };
        let todos: Vec<_> =
            steps.iter().enumerate().map(|(k, step)| json!({"content": step, "status": status(k)})).collect();
        json!({"todos": todos})
    };
    pen.does("TodoWrite", todos(0), 12, "Todos have been modified successfully.");
    pen.does(
        "Write",
        json!({"file_path": format!("{FOLDER}/src/hang.rs"), "content": "//! How far marks reach past the edge.\n\npub fn overhang(mark: char) -> f32 {\n    match mark {\n        '.' | ',' => 0.7,\n        '-' => 0.5,\n        _ => 0.0,\n    }\n}\n"}),
        55,
        "File created successfully at: /home/ada/letterpress/src/hang.rs",
    );
    pen.does("TodoWrite", todos(1), 11, "Todos have been modified successfully.");
    pen.does(
        "Bash",
        json!({"command": "cargo build", "description": "Build"}),
        12_600,
        "   Compiling letterpress v0.3.0\n    Finished dev profile",
    );
    pen.does("TodoWrite", todos(3), 11, "Todos have been modified successfully.");
    pen.say("All three steps are done. Full stops and commas hang by 70 % of their width, hyphens by half; ragged text stays as it was.");
    pen.wait(3 * MINUTE);
    pen.prompt("Make the amounts configurable");
    pen.say("They now come from `[hang]` in the style file, with these numbers where nothing is said.");
    pen
}

fn ligatures(at: i64) -> TranscriptWriter {
    let mut pen =
        TranscriptWriter::new("71ad6c02-e8f9-4b14-95c7-d20b4f3e8a56", FOLDER, "ligatures", "2.1.163", at);
    let talk = [
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
    for (prompt, answer) in talk {
        pen.prompt(prompt);
        pen.does(
            "Read",
            json!({"file_path": format!("{FOLDER}/notes/specimen.md")}),
            30,
            "# The specimen book",
        );
        pen.say(answer);
        pen.wait(11 * MINUTE);
    }
    pen.compact("auto", "Summary:\n1. The specimen book uses fi, fl, ff, ffi; ct only in headings.\n2. Ligatures are chosen in shape.rs, before kerning.\n3. Pending: switch ct off by default.");
    pen.prompt("Go on");
    pen.does(
        "Edit",
        json!({"file_path": format!("{FOLDER}/src/shape.rs"), "old_string": "ct: true", "new_string": "ct: false"}),
        40,
        "The file has been updated.",
    );
    pen.say("*ct* is now off unless a style asks for it.");
    pen
}

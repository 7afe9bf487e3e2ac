//! Two sessions about a program that computes tides: one with many tools and a subagent, one with a fork.

use serde_json::json;

use super::transcript::TranscriptWriter;
use super::{DAY, DemoSession, HOUR, MINUTE};

const FOLDER: &str = "/home/ada/tide-tables";

pub(super) fn sessions(now: i64) -> Vec<DemoSession> {
    vec![spring_tide(now - 52 * MINUTE), harbour_names(now - 2 * DAY - 3 * HOUR).into()]
}

fn spring_tide(at: i64) -> DemoSession {
    let mut transcript =
        TranscriptWriter::new("5f0c2a1e-7b3d-4c58-9a61-0e4d2f8b6c13", FOLDER, "moon-phase", "2.1.325", at);
    transcript = transcript.model("claude-opus-4-5");
    transcript.state(json!({"type": "permission-mode", "permissionMode": "default"}));
    transcript.prompt("High water at new moon comes out an hour late. Find out why, and add a test that would have caught it.");
    transcript.think(
        "An hour late, and only at new moon. That smells of the age of the tide being added twice, or of a clock \
         change. Look at where the phase enters the sum, and run the tests first to see what they cover.",
    );
    transcript.say(
        "I will look at the code that turns the moon's phase into a delay, and run the tests beside it.",
    );
    let read = transcript.call("Read", json!({"file_path": format!("{FOLDER}/src/moon.rs")}));
    let after_read = transcript.tip();
    let test =
        transcript.call("Bash", json!({"command": "cargo test --quiet", "description": "Run the tests"}));
    let after_test = transcript.tip();
    transcript.rewind_to(after_read);
    transcript.result(&read, 40, "     1\tpub fn delay(phase: f64) -> f64 {\n     2\t    let age = tide_age(phase);\n     3\t    lag(phase) + age + age * f64::from(phase < 0.02)\n     4\t}");
    transcript.rewind_to(after_test);
    transcript.error(&test, 4_200, "Exit code 101\n\u{1b}[31mtest new_moon ... FAILED\u{1b}[0m\nassertion `left == right` failed\n  left: 13.4\n right: 12.4");
    transcript.say(
        "The age of the tide is counted **twice** when the phase is near zero:\n\n```rust\nlag(phase) + age + age * f64::from(phase < 0.02)\n```\n\nThe last term looks like a guard that was meant to replace `age`, not to join it.",
    );
    let edit = transcript.call(
        "Edit",
        json!({
            "file_path": format!("{FOLDER}/src/moon.rs"),
            "old_string": "    lag(phase) + age + age * f64::from(phase < 0.02)",
            "new_string": "    lag(phase) + age",
        }),
    );
    transcript.result(&edit, 60, "The file /home/ada/tide-tables/src/moon.rs has been updated.");
    transcript.call_with_result(
        "Bash",
        json!({"command": "cargo test --quiet", "description": "Run the tests again"}),
        3_900,
        "running 14 tests\n..............\ntest result: ok. 14 passed",
    );
    transcript.say("Fixed: `delay` adds the age once, and all 14 tests pass.");
    transcript.system("turn_duration", json!({"durationMs": 41_300}));
    transcript.wait(6 * MINUTE);

    transcript.prompt("Could an agent check whether any other formula has the same slip?");
    let task = json!({
        "subagent_type": "Explore", "description": "Look for doubled terms",
        "prompt": "Look through src/ for sums in which the same term is added twice under a condition. Report file and line.",
    });
    let call = transcript.call("Task", task.clone());
    let mut agent = transcript.agent("a31c09d7e5b8f2464");
    agent.prompt(task["prompt"].as_str().unwrap_or_default());
    agent.call_with_result(
        "Grep",
        json!({"pattern": "f64::from\\(", "path": "src", "output_mode": "content", "-n": true}),
        90,
        "src/lunar.rs:88:    + f64::from(is_new) * SPRING\nsrc/solar.rs:41:    + f64::from(is_south) * TILT",
    );
    agent.call_with_result(
        "Read",
        json!({"file_path": format!("{FOLDER}/src/solar.rs"), "offset": 30, "limit": 20}),
        30,
        "    30\tfn declination(day: f64) -> f64 {",
    );
    agent.call_with_result(
        "Read",
        json!({"file_path": format!("{FOLDER}/src/lunar.rs"), "offset": 80, "limit": 20}),
        30,
        "    80\tfn parallax(day: f64) -> f64 {",
    );
    agent
        .say("Two conditional sums, both sound: `solar.rs:41` switches a sign, `lunar.rs:88` picks a table.");
    let took = agent.now() - transcript.now();
    transcript.answer(
        &call,
        took,
        "Two conditional sums, both sound.",
        false,
        json!({"status": "completed", "agentId": "a31c09d7e5b8f2464", "totalDurationMs": took}),
    );
    transcript.say("No other formula has it. Two sums depend on a condition; both choose *between* terms and add nothing twice.");
    transcript.system("turn_duration", json!({"durationMs": took + 3_000}));
    transcript.state(json!({"type": "ai-title", "aiTitle": "Fix high water at new moon"}));
    let meta = json!({"agentType": "Explore", "description": "Look for doubled terms", "toolUseId": call});
    DemoSession { transcript, torn_line: "", agents: vec![(agent, meta)] }
}

fn harbour_names(at: i64) -> TranscriptWriter {
    let mut transcript =
        TranscriptWriter::new("b27e94d0-1c6f-4f0a-8d35-9b1a7e02c4f8", FOLDER, "main", "2.1.104", at);
    transcript.prompt("The list of harbours is sorted by code. Sort it by name.");
    transcript.call_with_result(
        "Grep",
        json!({"pattern": "sort", "path": "src/harbour.rs", "output_mode": "content", "-n": true}),
        70,
        "19:    list.sort_by_key(|h| h.code);",
    );
    transcript.say("It is sorted in one place, `harbour.rs:19`. By name, then: shall letters with accents stand beside the plain ones?");
    transcript.wait(2 * MINUTE);
    let fork = transcript.tip();
    transcript.prompt("Yes, as in a dictionary");
    transcript.say("Then the sort needs a collation table. That adds a dependency of about 2 MB.");
    transcript.wait(4 * MINUTE);
    transcript.rewind_to(fork);
    transcript.prompt("Yes, but without a new dependency: fold accents by hand for the twelve names we have");
    transcript.call_with_result(
        "Edit",
        json!({
            "file_path": format!("{FOLDER}/src/harbour.rs"),
            "old_string": "list.sort_by_key(|h| h.code);",
            "new_string": "list.sort_by_cached_key(|h| fold(&h.name));",
        }),
        50,
        "The file has been updated.",
    );
    transcript.say("Done: `fold` maps the five letters with accents that occur, and Árnes now stands between Almería and Brest.");
    transcript.state(json!({"type": "custom-title", "customTitle": "harbour names"}));
    transcript
}

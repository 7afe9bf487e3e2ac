//! Two sessions about a program that computes tides: tools of all kinds with a subagent, and a fork.

use serde_json::json;

use super::transcript::TranscriptWriter;
use super::{DAY, HOUR, MINUTE, Tale};

const FOLDER: &str = "/home/ada/tide-tables";

pub(super) fn tales(now: i64) -> Vec<Tale> {
    vec![spring_tide(now - 52 * MINUTE), harbour_names(now - 2 * DAY - 3 * HOUR).into()]
}

fn spring_tide(at: i64) -> Tale {
    let mut pen =
        TranscriptWriter::new("5f0c2a1e-7b3d-4c58-9a61-0e4d2f8b6c13", FOLDER, "moon-phase", "2.1.325", at);
    pen = pen.model("claude-opus-4-5");
    pen.state(json!({"type": "permission-mode", "permissionMode": "default"}));
    pen.prompt("High water at new moon comes out an hour late. Find out why, and add a test that would have caught it.");
    pen.think(
        "An hour late, and only at new moon. That smells of the age of the tide being added twice, or of a clock \
         change. Look at where the phase enters the sum, and run the tests first to see what they cover.",
    );
    pen.say("I will look at the code that turns the moon's phase into a delay, and run the tests beside it.");
    let read = pen.call("Read", json!({"file_path": format!("{FOLDER}/src/moon.rs")}));
    let after_read = pen.tip();
    let test = pen.call("Bash", json!({"command": "cargo test --quiet", "description": "Run the tests"}));
    let after_test = pen.tip();
    pen.back(after_read);
    pen.result(&read, 40, "     1\tpub fn delay(phase: f64) -> f64 {\n     2\t    let age = tide_age(phase);\n     3\t    lag(phase) + age + age * f64::from(phase < 0.02)\n     4\t}");
    pen.back(after_test);
    pen.error(&test, 4_200, "Exit code 101\n\u{1b}[31mtest new_moon ... FAILED\u{1b}[0m\nassertion `left == right` failed\n  left: 13.4\n right: 12.4");
    pen.say(
        "The age of the tide is counted **twice** when the phase is near zero:\n\n```rust\nlag(phase) + age + age * f64::from(phase < 0.02)\n```\n\nThe last term looks like a guard that was meant to replace `age`, not to join it.",
    );
    let edit = pen.call(
        "Edit",
        json!({
            "file_path": format!("{FOLDER}/src/moon.rs"),
            "old_string": "    lag(phase) + age + age * f64::from(phase < 0.02)",
            "new_string": "    lag(phase) + age",
        }),
    );
    pen.result(&edit, 60, "The file /home/ada/tide-tables/src/moon.rs has been updated.");
    pen.does(
        "Bash",
        json!({"command": "cargo test --quiet", "description": "Run the tests again"}),
        3_900,
        "running 14 tests\n..............\ntest result: ok. 14 passed",
    );
    pen.say("Fixed: `delay` adds the age once, and all 14 tests pass.");
    pen.system("turn_duration", json!({"durationMs": 41_300}));
    pen.wait(6 * MINUTE);

    pen.prompt("Could an agent check whether any other formula has the same slip?");
    let task = json!({
        "subagent_type": "Explore", "description": "Look for doubled terms",
        "prompt": "Look through src/ for sums in which the same term is added twice under a condition. Report file and line.",
    });
    let call = pen.call("Task", task.clone());
    let mut agent = pen.agent("a31c09d7e5b8f2464");
    agent.prompt(task["prompt"].as_str().unwrap_or_default());
    agent.does(
        "Grep",
        json!({"pattern": "f64::from\\(", "path": "src", "output_mode": "content", "-n": true}),
        90,
        "src/lunar.rs:88:    + f64::from(is_new) * SPRING\nsrc/solar.rs:41:    + f64::from(is_south) * TILT",
    );
    agent.does(
        "Read",
        json!({"file_path": format!("{FOLDER}/src/solar.rs"), "offset": 30, "limit": 20}),
        30,
        "    30\tfn declination(day: f64) -> f64 {",
    );
    agent.does(
        "Read",
        json!({"file_path": format!("{FOLDER}/src/lunar.rs"), "offset": 80, "limit": 20}),
        30,
        "    80\tfn parallax(day: f64) -> f64 {",
    );
    agent
        .say("Two conditional sums, both sound: `solar.rs:41` switches a sign, `lunar.rs:88` picks a table.");
    let took = agent.now() - pen.now();
    pen.answer(
        &call,
        took,
        "Two conditional sums, both sound.",
        false,
        json!({"status": "completed", "agentId": "a31c09d7e5b8f2464", "totalDurationMs": took}),
    );
    pen.say("No other formula has it. Two sums depend on a condition; both choose *between* terms and add nothing twice.");
    pen.system("turn_duration", json!({"durationMs": took + 3_000}));
    pen.state(json!({"type": "ai-title", "aiTitle": "Fix high water at new moon"}));
    let meta = json!({"agentType": "Explore", "description": "Look for doubled terms", "toolUseId": call});
    Tale { pen, torn: "", agents: vec![(agent, meta)] }
}

fn harbour_names(at: i64) -> TranscriptWriter {
    let mut pen =
        TranscriptWriter::new("b27e94d0-1c6f-4f0a-8d35-9b1a7e02c4f8", FOLDER, "main", "2.1.104", at);
    pen.prompt("The list of harbours is sorted by code. Sort it by name.");
    pen.does(
        "Grep",
        json!({"pattern": "sort", "path": "src/harbour.rs", "output_mode": "content", "-n": true}),
        70,
        "19:    list.sort_by_key(|h| h.code);",
    );
    pen.say("It is sorted in one place, `harbour.rs:19`. By name, then: shall letters with accents stand beside the plain ones?");
    pen.wait(2 * MINUTE);
    let fork = pen.tip();
    pen.prompt("Yes, as in a dictionary");
    pen.say("Then the sort needs a collation table. That adds a dependency of about 2 MB.");
    pen.wait(4 * MINUTE);
    pen.back(fork);
    pen.prompt("Yes, but without a new dependency: fold accents by hand for the twelve names we have");
    pen.does(
        "Edit",
        json!({
            "file_path": format!("{FOLDER}/src/harbour.rs"),
            "old_string": "list.sort_by_key(|h| h.code);",
            "new_string": "list.sort_by_cached_key(|h| fold(&h.name));",
        }),
        50,
        "The file has been updated.",
    );
    pen.say("Done: `fold` maps the five letters with accents that occur, and Árnes now stands between Almería and Brest.");
    pen.state(json!({"type": "custom-title", "customTitle": "harbour names"}));
    pen
}

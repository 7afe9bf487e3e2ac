//! Sessions for the browser tests: one with every kind of content, a long one, and many short ones.

use rethread_testkit::home::Home;
use serde_json::json;

use crate::session_builder::SessionBuilder;

/// The number of turns in the long session.
pub(crate) const LONG_SESSION_TURNS: u32 = 2000;
/// The turn of the long session whose call output contains the word to find.
pub(crate) const NEEDLE_TURN: u32 = 1500;
/// A PNG of 3 × 2 pixels, in base64.
pub(crate) const PNG_IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";

/// Writes a session with calls, an image, nested subagents and a fork.
pub(crate) fn write_varied_session(home: &Home) -> SessionBuilder {
    let mut session = SessionBuilder::new("1");
    session.add_prompt("Measure the depth of the harbour");
    session.add_thinking("The lead line is in the **locker**.");
    let soundings: String = (1..=900).map(|idx| format!("sounding {idx}: {} fathoms\n", idx % 17)).collect();
    let client_result = json!({ "stdout": soundings, "stderr": "", "interrupted": false });
    session.add_call(
        "Bash",
        &json!({ "command": "sound --all", "description": "Sound the harbour" }),
        &json!(soundings),
        &client_result,
    );
    let edit = json!({ "file_path": "/code/harbour/chart.rs", "old_string": "let depth = 3;", "new_string": "let depth = 5;" });
    session.add_call("Edit", &edit, &json!("The file was updated."), &json!({}));
    session.add_text("It is *five* fathoms deep.");
    session.add_prompt(json!([
        { "type": "text", "text": "Look at this chart" },
        { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PNG_IMAGE } },
    ]));
    session.add_text("A small chart, three by two.");
    add_nested_subagents(&mut session, home);
    add_fork(&mut session);
    session.write_to(home);
    session
}

/// Adds a turn in which a subagent starts another one.
fn add_nested_subagents(session: &mut SessionBuilder, home: &Home) {
    session.add_prompt("Send an agent to the buoys");
    let task =
        json!({ "description": "Count the buoys", "prompt": "Count all buoys", "subagent_type": "Explore" });
    let outer_call = session.add_call(
        "Task",
        &task,
        &json!([{ "type": "text", "text": "Nine buoys" }]),
        &json!({ "status": "completed", "agentId": "a0000001", "content": [{ "type": "text", "text": "Nine buoys" }] }),
    );
    let mut outer_agent = session.new_subagent("a0000001");
    outer_agent.add_prompt("Count all buoys");
    let task = json!({ "description": "Count the red ones", "prompt": "Count red buoys", "subagent_type": "Explore" });
    let inner_call = outer_agent.add_call(
        "Task",
        &task,
        &json!([{ "type": "text", "text": "Four red buoys" }]),
        &json!({ "status": "completed", "agentId": "a0000002", "content": [{ "type": "text", "text": "Four red buoys" }] }),
    );
    outer_agent.add_text("Nine, of which four are red; said by the outer agent");
    outer_agent.write_subagent_to(home, &outer_call, "Explore");
    let mut inner_agent = session.new_subagent("a0000002");
    inner_agent.add_prompt("Count red buoys");
    inner_agent.add_text("Four; said by the inner agent");
    inner_agent.write_subagent_to(home, &inner_call, "Explore");
    session.add_text("There are nine buoys.");
}

/// Adds three branches of two turns each. The last one is the active branch.
fn add_fork(session: &mut SessionBuilder) {
    let fork_point = session.tip();
    for direction in ["north", "south", "west"] {
        session.set_tip(fork_point.clone());
        session.add_prompt(format!("Sail {direction}"));
        session.add_text(&format!("Sailing {direction}."));
        session.add_prompt(format!("And on to the {direction}"));
        session.add_text(&format!("Far in the {direction}."));
    }
}

/// Writes a session of [`LONG_SESSION_TURNS`] turns.
pub(crate) fn write_long_session(home: &Home) -> SessionBuilder {
    let mut session = SessionBuilder::new("2");
    for turn in 1..=LONG_SESSION_TURNS {
        session.add_prompt(format!("Log of watch {turn}"));
        if turn % 10 == 0 {
            let line_text = if turn == NEEDLE_TURN { "the needle lies here" } else { "nothing but hay" };
            let output: String = (0..200)
                .map(|idx| {
                    format!(
                        "{idx:03} {} {turn}\n",
                        if idx == 150 { line_text } else { "calm sea and a steady breeze" }
                    )
                })
                .collect();
            session.add_call(
                "Bash",
                &json!({ "command": format!("log --watch {turn}") }),
                &json!(output),
                &json!({}),
            );
        }
        session.add_text(&format!(
            "Watch {turn} was calm.\n\nWind from the west, sea slight, nothing in sight."
        ));
    }
    session.write_to(home);
    session
}

/// Writes `count` sessions of one turn.
pub(crate) fn write_short_sessions(home: &Home, count: u32) {
    for idx in 0..count {
        let mut session = SessionBuilder::new(&format!("9{idx:03}"));
        session.add_prompt(format!("Errand {idx}"));
        session.add_text("Done.");
        session.write_to(home);
    }
}

//! The home that most visits go to: one session with something of everything, a long one, and many short ones.

use serde_json::json;

use crate::home::Home;
use crate::session_builder::Tale;

/// How many turns the long session has.
pub(crate) const TURNS: u32 = 2000;
/// In which turn of the long session, in a folded call, the needle lies.
pub(crate) const NEEDLE_TURN: u32 = 1500;
/// A picture of three times two pixels.
pub(crate) const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";

/// Writes the session with something of everything.
pub(crate) fn varied(home: &Home) -> Tale {
    let mut tale = Tale::new("1");
    tale.prompt("Measure the depth of the harbour");
    tale.thinks("The lead line is in the **locker**.");
    let soundings: String = (1..=900).map(|no| format!("sounding {no}: {} fathoms\n", no % 17)).collect();
    let note = json!({ "stdout": soundings, "stderr": "", "interrupted": false });
    tale.calls(
        "Bash",
        &json!({ "command": "sound --all", "description": "Sound the harbour" }),
        &json!(soundings),
        &note,
    );
    let edit = json!({ "file_path": "/code/harbour/chart.rs", "old_string": "let depth = 3;", "new_string": "let depth = 5;" });
    tale.calls("Edit", &edit, &json!("The file was updated."), &json!({}));
    tale.says("It is *five* fathoms deep.");
    tale.prompt(json!([
        { "type": "text", "text": "Look at this chart" },
        { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PICTURE } },
    ]));
    tale.says("A small chart, three by two.");
    agents(&mut tale, home);
    fork(&mut tale);
    tale.keep(home);
    tale
}

/// A subagent that starts another.
fn agents(tale: &mut Tale, home: &Home) {
    tale.prompt("Let somebody look at the buoys");
    let task =
        json!({ "description": "Count the buoys", "prompt": "Count all buoys", "subagent_type": "Explore" });
    let outer = tale.calls(
        "Task",
        &task,
        &json!([{ "type": "text", "text": "Nine buoys" }]),
        &json!({ "status": "completed", "agentId": "a0000001", "content": [{ "type": "text", "text": "Nine buoys" }] }),
    );
    let mut agent = tale.agent("a0000001");
    agent.prompt("Count all buoys");
    let task = json!({ "description": "Count the red ones", "prompt": "Count red buoys", "subagent_type": "Explore" });
    let inner = agent.calls(
        "Task",
        &task,
        &json!([{ "type": "text", "text": "Four red buoys" }]),
        &json!({ "status": "completed", "agentId": "a0000002", "content": [{ "type": "text", "text": "Four red buoys" }] }),
    );
    agent.says("Nine, of which four are red; said by the outer agent");
    agent.keep_agent(home, &outer, "Explore");
    let mut deep = tale.agent("a0000002");
    deep.prompt("Count red buoys");
    deep.says("Four; said by the inner agent");
    deep.keep_agent(home, &inner, "Explore");
    tale.says("There are nine buoys.");
}

/// A prompt that was asked in three ways, each followed by two turns; the last goes on.
fn fork(tale: &mut Tale) {
    let here = tale.tip();
    for way in ["north", "south", "west"] {
        tale.back(here.clone());
        tale.prompt(format!("Sail {way}"));
        tale.says(&format!("Sailing {way}."));
        tale.prompt(format!("And on to the {way}"));
        tale.says(&format!("Far in the {way}."));
    }
}

/// Writes the long session.
pub(crate) fn long(home: &Home) -> Tale {
    let mut tale = Tale::new("2");
    for turn in 1..=TURNS {
        tale.prompt(format!("Log of watch {turn}"));
        if turn % 10 == 0 {
            let words = if turn == NEEDLE_TURN { "the needle lies here" } else { "nothing but hay" };
            let output: String = (0..200)
                .map(|no| {
                    format!(
                        "{no:03} {} {turn}\n",
                        if no == 150 { words } else { "calm sea and a steady breeze" }
                    )
                })
                .collect();
            tale.calls(
                "Bash",
                &json!({ "command": format!("log --watch {turn}") }),
                &json!(output),
                &json!({}),
            );
        }
        tale.says(&format!("Watch {turn} was calm.\n\nWind from the west, sea slight, nothing in sight."));
    }
    tale.keep(home);
    tale
}

/// Writes many short sessions.
pub(crate) fn short(home: &Home, count: u32) {
    for no in 0..count {
        let mut tale = Tale::new(&format!("9{no:03}"));
        tale.prompt(format!("Errand {no}"));
        tale.says("Done.");
        tale.keep(home);
    }
}

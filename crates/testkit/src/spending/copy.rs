//! Sessions that begin with lines of another.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::generator::{MINUTE, StoreGenerator};
use super::store::{File, Line, Said};
use super::turn::stamp;

/// How lines come into another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// As they are, each with a mark that says where it is from.
    Fork,
    /// As clients up to 2.0.1 do: with new uuids, the time of the copy, and without requests.
    Resume,
    /// As they are, in a session of its own, without a mark.
    Background,
    /// As they are, under the same name in another folder.
    SameName,
}

impl StoreGenerator {
    /// Copies some turns of a session, and mostly goes on from there.
    pub(super) fn copy(&mut self, way: Way) {
        let fits = |file: &File| {
            let alone = |no: &File| no.agent.is_none() || no.session != file.session;
            file.agent.is_none()
                && !file.replayed
                && file.torn.is_none()
                && !file.turns.is_empty()
                && (way != Way::SameName || !file.gateway && self.store.files.iter().all(alone))
        };
        let sources: Vec<usize> =
            (0..self.store.files.len()).filter(|&no| fits(&self.store.files[no])).collect();
        if sources.is_empty() {
            return;
        }
        let source = self.store.files[*self.dice.pick(&sources)].clone();
        let turns = 1 + self.dice.below(source.turns.len() as u64) as usize;
        let session = if way == Way::SameName { source.session.clone() } else { self.uuid() };
        let folder = match way {
            Way::SameName => {
                format!("{}-moved-{}", StoreGenerator::folder(&source.cwd), self.store.files.len())
            }
            _ => StoreGenerator::folder(&source.cwd),
        };
        let mut file = File {
            path: format!("{folder}/{session}.jsonl"),
            session,
            cwd: source.cwd.clone(),
            turns: source.turns[..turns].to_vec(),
            gateway: source.gateway,
            branch: source.branch.clone(),
            clock: source.clock + MINUTE + self.dice.below(300 * MINUTE as u64) as i64,
            ..File::default()
        };
        let kept = source.lines.iter().filter(|line| line.turn < turns && line.value["isSidechain"] != true);
        let kept: Vec<Line> = kept.cloned().collect();
        let names: HashMap<String, String> = match way {
            Way::Resume => kept.iter().filter_map(uuid_of).map(|old| (old, self.uuid())).collect(),
            _ => HashMap::new(),
        };
        for turn in &mut file.turns {
            turn.end = renamed(&names, &turn.end);
        }
        file.lines = kept.into_iter().map(|line| copied(line, way, &source, &file, &names)).collect();
        self.store.files.push(file);
        if way != Way::SameName && self.dice.chance(80) {
            self.grow(self.store.files.len() - 1);
        }
    }
}

fn uuid_of(line: &Line) -> Option<String> {
    line.value["uuid"].as_str().map(str::to_owned)
}

fn renamed(names: &HashMap<String, String>, uuid: &str) -> String {
    names.get(uuid).map_or(uuid, String::as_str).to_owned()
}

fn copied(line: Line, way: Way, from: &File, to: &File, names: &HashMap<String, String>) -> Line {
    let Line { mut value, turn, said } = line;
    let said = said.map(|said| match way {
        Way::Fork => Said { marked: true, ..said },
        Way::Resume => Said { request: None, time: Some(to.clock), ..said },
        Way::Background | Way::SameName => said,
    });
    let is_entry = value["uuid"].is_string();
    if let Some(object) = value.as_object_mut().filter(|_| is_entry) {
        object.insert("sessionId".to_owned(), json!(to.session));
        match way {
            Way::Fork => {
                let mark = json!({"sessionId": from.session, "messageUuid": object["uuid"]});
                object.insert("forkedFrom".to_owned(), mark);
            }
            Way::Resume => {
                object.remove("requestId");
                object.insert("timestamp".to_owned(), json!(stamp(to.clock)));
                for key in ["uuid", "parentUuid", "logicalParentUuid"] {
                    if let Some(Value::String(uuid)) = object.get_mut(key) {
                        *uuid = renamed(names, uuid);
                    }
                }
            }
            Way::Background | Way::SameName => {}
        }
    }
    Line { value, turn, said }
}

//! Trims: what goes, what stays, and that what stays is sound.

use std::collections::HashSet;

use insta::assert_snapshot;
use proptest::prelude::*;
use rethread_core::edit::{Anchor, Draft, Piece, way};
use rethread_core::entry::{self, Moment};
use rethread_core::id::Id;
use rethread_core::lines::Splitter;
use rethread_core::resume::{Facts, MEASURED, Resume, resume, resume_at};
use rethread_core::tree::{Node, NodeNo, Place, Tree, Weaver};
use rethread_core::trim::{Cut, Preset, Scene, Survey, Taken, Trim, What, escalate};
use rethread_core::version::Version;
use rethread_testkit::{random, script};
use serde_json::Value;

const SESSION: &str = "0af00000-0000-4000-8000-000000000001";
const NOTE: &str = "00000000-0000-4000-8000-00000000aaaa";

struct Known {
    file: Vec<u8>,
    tree: Tree,
    facts: Facts,
    survey: Survey,
}

/// Reads what the rooms know of a file.
fn know(file: &[u8]) -> Known {
    let mut weaver = Weaver::default();
    let mut facts = Facts::default();
    let mut survey = Survey::default();
    Splitter::default().feed(file, true, &mut Vec::new(), |line, problems| {
        entry::read(&line, problems, |entry, offset| {
            let place = Place { offset, len: entry.raw.len() as u32, line: line.no };
            weaver.add(&entry, place);
            facts.add(&entry, place);
            survey.add(&entry, place);
        });
    });
    Known { file: file.to_vec(), tree: weaver.finish(), facts, survey }
}

impl Known {
    fn line(&self, place: Place) -> Vec<u8> {
        self.file[place.offset as usize..place.offset as usize + place.len as usize].to_vec()
    }

    fn ids(&self, path: &[NodeNo]) -> Vec<Id> {
        path.iter().map(|&no| self.tree.node(no).id).collect()
    }

    /// Cuts the way to an entry, as a client would go on from it.
    fn cut(&self, client: &Version, leaf: NodeNo, cut: impl Fn(&Scene<'_>) -> Cut) -> Option<(Resume, Cut)> {
        let asked = resume_at(&self.tree, &self.facts, client, leaf).filter(|asked| asked.halt.is_none())?;
        let way = way(&self.tree, &self.facts, std::slice::from_ref(client), leaf);
        let scene = Scene::new(&self.tree, &self.facts, &self.survey, SESSION, (&way, leaf, &asked));
        let cut = cut(&scene);
        Some((asked, cut))
    }

    /// Writes the copy, to go on from where the cut says.
    fn write(&self, cut: Cut) -> Vec<u8> {
        let leaf = cut.leaf.map(|leaf| self.tree.node(leaf).id.hyphenated());
        let now = self.tree.nodes().iter().filter_map(Node::time).max().map_or(0, |time| time.0) + 1000;
        let note = cut.note.as_ref().map(|note| {
            let parent = note.parent.as_ref().map_or("null".to_owned(), |parent| format!("\"{parent}\""));
            format!(r#"{{"type":"user","uuid":"{NOTE}","parentUuid":{parent},"timestamp":"2025-01-01T00:00:00.000Z","message":{{"role":"user","content":"note"}}}}"#)
        });
        let draft = Draft::default();
        let mut file = Vec::new();
        for piece in cut.pieces(|no| self.tree.node(no).place, note.map(String::into_bytes)) {
            match piece {
                Piece::Line(place, changes) => {
                    file.extend_from_slice(&draft.render(&self.line(place), &changes));
                }
                Piece::New(line) => file.extend(line),
                Piece::Copy(_) => unreachable!("a cut copies line by line"),
            }
            file.push(b'\n');
        }
        let anchor = Anchor {
            leaf: leaf.as_deref().unwrap_or_default(),
            uuid: "00000000-0000-4000-8000-00000000ffff",
            session: SESSION,
            time: Some(Moment(now)),
            ..Anchor::default()
        };
        [&file[..], &anchor.child(), b"\n", &anchor.pin(), b"\n"].concat()
    }
}

fn by(trim: &Trim) -> impl Fn(&Scene<'_>, &Known) -> Cut + '_ {
    |scene, known| {
        let read = |place| Ok::<_, std::convert::Infallible>(known.line(place));
        Cut::by(scene, trim, read).unwrap_or_else(|never| match never {})
    }
}

fn last(known: &Known) -> NodeNo {
    known.tree.nodes().len() as NodeNo - 1
}

/// Trims a script and shows every line that stays, its parent and its blocks in a word, and what went.
fn check(text: &str, trim: &Trim) -> String {
    let known = know(&script::bytes(text));
    let client = Version::read("2.1.325");
    let (_, cut) = known.cut(&client, last(&known), |scene| by(trim)(scene, &known)).expect("a way");
    let rows: Vec<String> =
        cut.ledger.rows().map(|(cause, row)| format!("{} {}", cause.name(), row.count)).collect();
    let file = known.write(cut);
    let lines = String::from_utf8(file).expect("text");
    let mut shown: Vec<String> = lines.lines().map(show).collect();
    shown.truncate(shown.len() - 2);
    format!("{}\n- {}", shown.join("\n"), rows.join(", "))
}

fn show(line: &str) -> String {
    let value: Value = serde_json::from_str(line).expect("a line is JSON");
    let name = |key: &str| {
        value[key].as_str().map_or("null".into(), |uuid| script::name_of(uuid).unwrap_or_else(|| uuid.into()))
    };
    let blocks = match &value["message"]["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(word).collect::<Vec<_>>().join(" | "),
        _ => value["type"].as_str().unwrap_or_default().to_owned(),
    };
    let twin = if value["toolUseResult"].is_null() { "" } else { " +twin" };
    format!("{} ^{}: {blocks}{twin}", name("uuid"), name("parentUuid"))
}

fn word(block: &Value) -> String {
    let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
    match block["type"].as_str() {
        Some("text") => text("text"),
        Some("thinking") => format!("?{}", text("thinking")),
        Some("tool_use") => format!("!{}", text("name")),
        Some("tool_result") => match &block["content"] {
            Value::String(words) => format!("={}", words.chars().take(90).collect::<String>()),
            other => format!("={other}"),
        },
        other => format!("[{}]", other.unwrap_or_default()),
    }
}

fn drop(what: &[What]) -> Trim {
    Trim { drop: what.to_vec(), ..Trim::default() }
}

/// Words that are worth a stub.
fn long(words: &str) -> String {
    format!("{words} ").repeat(400 / words.len())
}

#[test]
fn calls_and_results_leave_together_and_what_hung_on_them_hangs_above() {
    let talk = "
u1: dig a bed
  a1 #m1: ?where to
    a2 #m1: I look first
      a3 #m1: !Bash ls
        a4 #m1: !Bash pwd
          u3: =a4 /garden
        u2: =a3 beds
          a5: Done
            p1: hook_progress stop
              u4: thanks
                a6: welcome
";
    assert_snapshot!(check(talk, &drop(&[What::Tools])), @"
    u1 ^null: dig a bed
    a2 ^u1: I look first
    a5 ^a2: Done
    p1 ^a5: progress
    u4 ^p1: thanks
    a6 ^u4: welcome
    - tools 2
    ");
    assert_snapshot!(check(talk, &drop(&[What::Thinking, What::Progress])), @"
    u1 ^null: dig a bed
    a2 ^u1: I look first
    a3 ^a2: !Bash
    a4 ^a3: !Bash
    u3 ^a4: =/garden +twin
    u2 ^a3: =beds +twin
    a5 ^u2: Done
    u4 ^a5: thanks
    a6 ^u4: welcome
    - progress 1, thinking 1
    ");
    assert_snapshot!(check(talk, &drop(&[])), @"
    u1 ^null: dig a bed
    a1 ^u1: ?where to
    a2 ^a1: I look first
    a3 ^a2: !Bash
    a4 ^a3: !Bash
    u3 ^a4: =/garden +twin
    u2 ^a3: =beds +twin
    a5 ^u2: Done
    p1 ^a5: progress
    u4 ^p1: thanks
    a6 ^u4: welcome
    -
    ");
    assert_snapshot!(check(talk, &Trim { keep_last: Some(1), ..Trim::default() }), @"
    u4 ^null: thanks
    a6 ^u4: welcome
    - turns 1
    ");
    assert_snapshot!(check(talk, &Preset::Bare.trim()), @"
    u1 ^null: dig a bed
    a2 ^u1: I look first
    a5 ^a2: Done
    u4 ^a5: thanks
    a6 ^u4: welcome
    - progress 1, thinking 1, tools 2
    ");
}

#[test]
fn stubs_say_where_the_original_is_and_the_second_copy_goes() {
    let talk = format!(
        "
u1: read it
  a1: !Read shed.md
    u2: =a1 {long}
      a2: !Read shed.md
        u3: =a2 {long}
          a3: !Bash ls
            u4: =a3 short
              a4: Done
                u5: look | [image]
                  a5: nice
",
        long = long("planks")
    );
    assert_snapshot!(check(&talk, &Trim { dedupe_reads: true, ..Trim::default() }), @"
    u1 ^null: read it
    a1 ^u1: !Read
    u2 ^a1: =[read of 538 bytes left out by rethread, the file is read again below: session 0af00000 li
    a2 ^u2: !Read
    u3 ^a2: =planks planks planks planks planks planks planks planks planks planks planks planks planks +twin
    a3 ^u3: !Bash
    u4 ^a3: =short +twin
    a4 ^u4: Done
    u5 ^a4: look | [image]
    a5 ^u5: nice
    - reads 1
    ");
    assert_snapshot!(check(&talk, &Trim { results_over: Some(300), ..Trim::default() }), @"
    u1 ^null: read it
    a1 ^u1: !Read
    u2 ^a1: =[tool result of 538 bytes left out by rethread: session 0af00000 line 3]
    a2 ^u2: !Read
    u3 ^a2: =[tool result of 538 bytes left out by rethread: session 0af00000 line 5]
    a3 ^u3: !Bash
    u4 ^a3: =short +twin
    a4 ^u4: Done
    u5 ^a4: look | [image]
    a5 ^u5: nice
    - tool-results 2
    ");
    assert_snapshot!(check(&talk, &drop(&[What::ToolResults, What::Images])), @"
    u1 ^null: read it
    a1 ^u1: !Read
    u2 ^a1: =[tool result of 538 bytes left out by rethread: session 0af00000 line 3]
    a2 ^u2: !Read
    u3 ^a2: =[tool result of 538 bytes left out by rethread: session 0af00000 line 5]
    a3 ^u3: !Bash
    u4 ^a3: =short +twin
    a4 ^u4: Done
    u5 ^a4: look | [picture of 90 bytes left out by rethread: session 0af00000 line 9]
    a5 ^u5: nice
    - tool-results 2, images 1
    ");
    assert_snapshot!(check(&talk, &Trim { older_than: Some(1), ..drop(&[What::ToolResults, What::Images]) }), @"
    u1 ^null: read it
    a1 ^u1: !Read
    u2 ^a1: =[tool result of 538 bytes left out by rethread: session 0af00000 line 3]
    a2 ^u2: !Read
    u3 ^a2: =[tool result of 538 bytes left out by rethread: session 0af00000 line 5]
    a3 ^u3: !Bash
    u4 ^a3: =short +twin
    a4 ^u4: Done
    u5 ^a4: look | [image]
    a5 ^u5: nice
    - tool-results 2
    ");
}

#[test]
fn attachments_that_say_something_stay_in_a_light_copy() {
    let talk = "
u1: dig
  t1: file a bed
    t2: hook_success fine
      t3: queued_command and the hose
        a1: Done
";
    assert_snapshot!(check(talk, &Preset::Light.trim()), @"
    u1 ^null: dig
    t1 ^u1: attachment
    t3 ^t1: attachment
    a1 ^t3: Done
    - attachments 1
    ");
    assert_snapshot!(check(talk, &drop(&[What::Attachments])), @"
    u1 ^null: dig
    t3 ^u1: attachment
    a1 ^t3: Done
    - attachments 2
    ");
}

#[test]
fn what_a_compaction_kept_is_named_only_as_far_as_it_stays() {
    let talk = "
u1: dig
  a1 #m1: ?deep
    a2 #m1: !Bash ls
      u2: =a2 beds
        a3: Done
          s1 run=a1..a3>u3 list=a1,a2,u2,a3>u3: compact_boundary
u3 ^s1 recap: so far
  u4: go on
    a4: yes
";
    let known = know(&script::bytes(talk));
    let client = Version::read("2.1.325");
    for (trim, kept) in [
        (drop(&[]), "a1 a2 u2 a3 / a1..a3"),
        (drop(&[What::Thinking]), "a2 u2 a3 / a2..a3"),
        (drop(&[What::Tools]), "a3 / a3..a3"),
    ] {
        let (asked, cut) = known.cut(&client, last(&known), |scene| by(&trim)(scene, &known)).expect("a way");
        let stays: HashSet<Id> = cut.lines.iter().map(|(no, _)| known.tree.node(*no).id).collect();
        let file = known.write(cut);
        let boundary =
            file.split(|b| *b == b'\n').find(|line| line.windows(16).any(|w| w == b"compact_boundary"));
        let boundary: Value = serde_json::from_slice(boundary.expect("the boundary")).expect("JSON");
        let name = |value: &Value| script::name_of(value.as_str().expect("a uuid")).expect("a name");
        let metadata = &boundary["compactMetadata"];
        let listed = metadata["preservedMessages"]["uuids"].as_array().expect("a list");
        let listed: Vec<String> = listed.iter().map(name).collect();
        let run = &metadata["preservedSegment"];
        let run = format!("{}..{}", name(&run["headUuid"]), name(&run["tailUuid"]));
        assert_eq!(format!("{} / {run}", listed.join(" ")), kept);
        let copy = know(&file);
        let found = resume(&copy.tree, &copy.facts, &client);
        let wanted: Vec<Id> = known.ids(&asked.path).into_iter().filter(|id| stays.contains(id)).collect();
        assert_eq!(copy.ids(&found.path), wanted);
    }
}

#[test]
fn a_copy_counts_the_context_that_it_has() {
    let talk = format!(
        "
u1: read it
  a1 in=10 out=20 write=30 read=90000: !Read shed.md
    u2: =a1 {}
      a2 in=10 out=20 write=1000 read=100000: Done
        u3: thanks
",
        long("planks").repeat(20)
    );
    let known = know(&script::bytes(&talk));
    let client = Version::read("2.1.325");
    let trim = drop(&[What::ToolResults]);
    let (asked, cut) = known.cut(&client, last(&known), |scene| by(&trim)(scene, &known)).expect("a way");
    let saved = cut.ledger.total().tokens();
    let copy = know(&known.write(cut));
    let found = resume(&copy.tree, &copy.facts, &client);
    assert!(saved > 1800, "{saved}");
    assert_eq!(found.tokens(&copy.facts), asked.tokens(&known.facts) - saved);
}

/// Makes a script fit and tells each step, then the lines that stay.
fn fitted(text: &str, fit: u64) -> String {
    let known = know(&script::bytes(text));
    let client = Version::read("2.1.325");
    let steps = std::cell::RefCell::new(Vec::new());
    let read = |place| Ok::<_, std::convert::Infallible>(known.line(place));
    let made = |scene: &Scene<'_>| {
        let made = escalate(scene, fit, NOTE, read).unwrap_or_else(|never| match never {});
        let step = |taken: &Taken| {
            format!("{} {}: {} -> {}", taken.stage.name(), taken.count, taken.before, taken.after)
        };
        steps.borrow_mut().extend(made.taken.iter().map(step));
        steps.borrow_mut().push(if made.fits { "fits".to_owned() } else { "too long".to_owned() });
        made.cut
    };
    let (_, cut) = known.cut(&client, last(&known), made).expect("a way");
    let lines = String::from_utf8(known.write(cut)).expect("text");
    let mut shown: Vec<String> = lines.lines().map(|line| show(line).chars().take(60).collect()).collect();
    shown.truncate(shown.len() - 2);
    format!("{}\n{}", steps.borrow().join("\n"), shown.join("\n"))
}

#[test]
fn more_and_more_goes_until_it_fits() {
    let words = "planks ".repeat(800);
    let talk = format!(
        "
u1: dig the first bed
  a1 #m1: ?long thoughts about beds
    a2 #m1: !Bash ls
      u2: =a2 {words}
        a3: !Bash pwd
          u3: =a3 {words}
            a4: Done
              u4: the second bed
                a5: Done, too
                  u5: the third bed
                    a6: !Bash ls
                      u6: =a6 {words}
                        a7: Done again
                          u7: thanks
                            a8 read=4400: welcome
"
    );
    assert_snapshot!(fitted(&talk, 3500), @"
    large-results 1: 4415 -> 3013
    fits
    u1 ^null: dig the first bed
    a1 ^u1: ?long thoughts about beds
    a2 ^a1: !Bash
    u2 ^a2: =[tool result of 6 kB left out by rethread: session 
    a3 ^u2: !Bash
    u3 ^a3: =planks planks planks planks planks planks planks pl
    a4 ^u3: Done
    u4 ^a4: the second bed
    a5 ^u4: Done, too
    u5 ^a5: the third bed
    a6 ^u5: !Bash
    u6 ^a6: =planks planks planks planks planks planks planks pl
    a7 ^u6: Done again
    u7 ^a7: thanks
    a8 ^u7: welcome
    ");
    assert_snapshot!(fitted(&talk, 2000), @"
    large-results 2: 4415 -> 1611
    fits
    u1 ^null: dig the first bed
    a1 ^u1: ?long thoughts about beds
    a2 ^a1: !Bash
    u2 ^a2: =[tool result of 6 kB left out by rethread: session 
    a3 ^u2: !Bash
    u3 ^a3: =[tool result of 6 kB left out by rethread: session 
    a4 ^u3: Done
    u4 ^a4: the second bed
    a5 ^u4: Done, too
    u5 ^a5: the third bed
    a6 ^u5: !Bash
    u6 ^a6: =planks planks planks planks planks planks planks pl
    a7 ^u6: Done again
    u7 ^a7: thanks
    a8 ^u7: welcome
    ");
    assert_snapshot!(fitted(&talk, 1570), @"
    large-results 2: 4415 -> 1611
    thinking 1: 1611 -> 1591
    tools 2: 1591 -> 1520
    fits
    u1 ^null: dig the first bed
    a4 ^u1: Done
    u4 ^a4: the second bed
    a5 ^u4: Done, too
    u5 ^a5: the third bed
    a6 ^u5: !Bash
    u6 ^a6: =planks planks planks planks planks planks planks pl
    a7 ^u6: Done again
    u7 ^a7: thanks
    a8 ^u7: welcome
    ");
    assert_snapshot!(fitted(&talk, 100), @"
    large-results 2: 4415 -> 1611
    thinking 1: 1611 -> 1591
    tools 2: 1591 -> 1520
    turns 2: 1520 -> 1497
    recent-results 1: 1497 -> 95
    fits
    00000000-0000-4000-8000-00000000aaaa ^null: note
    u5 ^00000000-0000-4000-8000-00000000aaaa: the third bed
    a6 ^u5: !Bash
    u6 ^a6: =[tool result of 6 kB left out by rethread: session 
    a7 ^u6: Done again
    u7 ^a7: thanks
    a8 ^u7: welcome
    ");
}

/// A part of a turn.
#[derive(Debug, Clone)]
enum Beat {
    /// An answer: whether it thinks, whether it speaks, how many calls it makes.
    Answer(bool, bool, u8),
    Progress,
    Attachment(bool),
    /// A prompt that was taken back.
    Aside,
}

fn beat() -> impl Strategy<Value = Beat> {
    prop_oneof![
        6 => (any::<bool>(), any::<bool>(), 0u8..4).prop_map(|(think, speak, calls)| Beat::Answer(think, speak, calls)),
        1 => Just(Beat::Progress),
        1 => any::<bool>().prop_map(Beat::Attachment),
        1 => Just(Beat::Aside),
    ]
}

/// Writes a conversation as clients do.
fn talk() -> impl Strategy<Value = String> {
    let turn = (any::<bool>(), prop::collection::vec(beat(), 0..5));
    prop::collection::vec(turn, 1..6).prop_map(|turns| {
        let mut talk = Talk { text: String::new(), above: "null".into(), count: 0 };
        for (picture, beats) in turns {
            let words = if picture { "look | [image]" } else { "please" };
            talk.hang("u", "", words);
            beats.iter().for_each(|beat| talk.beat(beat));
            talk.hang("a", "", "Done");
        }
        talk.text
    })
}

struct Talk {
    text: String,
    above: String,
    count: u32,
}

impl Talk {
    fn line(&mut self, sort: &str, parent: &str, marks: &str, body: &str) -> String {
        self.count += 1;
        let name = format!("{sort}{}", self.count);
        self.text += &format!("{name} ^{parent} {marks}: {body}\n");
        name
    }

    fn hang(&mut self, sort: &str, marks: &str, body: &str) {
        let above = self.above.clone();
        self.above = self.line(sort, &above, marks, body);
    }

    fn beat(&mut self, beat: &Beat) {
        let words = "planks ".repeat(self.count as usize % 3 * 60 + 1);
        match beat {
            Beat::Progress => self.hang("p", "", "hook_progress so far"),
            Beat::Attachment(idle) => {
                self.hang("t", "", if *idle { "hook_success ok" } else { "file a bed" });
            }
            Beat::Aside => {
                let above = self.above.clone();
                self.line("u", &above, "", "never mind");
            }
            Beat::Answer(think, speak, calls) => {
                let message = format!("#m{}", self.count);
                if *think && (*speak || *calls > 0) {
                    self.hang("a", &message, "?hm");
                }
                if *speak {
                    self.hang("a", &message, "I see");
                }
                let mut called = Vec::new();
                for call in 0..*calls {
                    let tool = if call % 2 == 0 { "!Read shed.md" } else { "!Bash ls" };
                    self.hang("a", &message, tool);
                    called.push(self.above.clone());
                }
                for call in called {
                    self.above = self.line("u", &call, "", &format!("={call} {words}"));
                }
            }
        }
    }
}

fn trim() -> impl Strategy<Value = Trim> {
    let drop = prop::sample::subsequence(What::ALL.to_vec(), 0..=What::ALL.len());
    let some = |most: u32| prop::option::of(0..most);
    (drop, any::<bool>(), some(4), some(2), some(4), any::<bool>()).prop_map(
        |(drop, idle, keep_last, over, older_than, dedupe_reads)| Trim {
            drop,
            idle,
            keep_last,
            results_over: over.map(|over| u64::from(over) * 300),
            older_than,
            dedupe_reads,
        },
    )
}

/// What every copy holds to, whatever went.
fn is_sound(known: &Known, copy: &Known) -> Result<(), TestCaseError> {
    let line =
        |known: &Known, no: &Node| -> Value { serde_json::from_slice(&known.line(no.place)).expect("JSON") };
    let mut answered: Vec<(HashSet<String>, HashSet<String>)> = Vec::new();
    for known in [known, copy] {
        let (mut calls, mut results) = (HashSet::new(), HashSet::new());
        for node in known.tree.nodes() {
            for block in line(known, node)["message"]["content"].as_array().into_iter().flatten() {
                calls.extend(block["id"].as_str().filter(|_| block["type"] == "tool_use").map(str::to_owned));
                results.extend(block["tool_use_id"].as_str().map(str::to_owned));
            }
        }
        answered.push((calls, results));
    }
    for call in answered[0].0.intersection(&answered[0].1) {
        prop_assert_eq!(answered[1].0.contains(call), answered[1].1.contains(call), "{}", call);
    }
    for node in copy.tree.nodes() {
        let now = line(copy, node);
        // Lines of subagents may repeat a uuid: then the original is one of several.
        let was: Vec<Value> =
            known.tree.nodes().iter().filter(|was| was.id == node.id).map(|was| line(known, was)).collect();
        let said = |value: &Value| value["message"]["content"].clone();
        let empty = said(&now) == Value::Array(Vec::new());
        prop_assert!(!empty || was.iter().any(|was| said(was) == said(&now)));
        let thoughts = |value: &Value| -> Vec<Value> {
            let blocks = value["message"]["content"].as_array().cloned().unwrap_or_default();
            blocks.into_iter().filter(|block| block["type"] == "thinking").collect()
        };
        let verbatim = |thought: &Value| was.iter().any(|was| thoughts(was).contains(thought));
        prop_assert!(thoughts(&now).iter().all(verbatim));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_copy_of_a_conversation_loads_what_stays_and_nothing_else(text in talk(), trim in trim()) {
        let known = know(&script::bytes(&text));
        for version in MEASURED {
            let client = Version::read(version);
            let cut = known.cut(&client, last(&known), |scene| by(&trim)(scene, &known));
            let Some((asked, cut)) = cut else { continue };
            if cut.leaf.is_none() { continue }
            let stays: HashSet<Id> = cut.lines.iter().map(|(no, _)| known.tree.node(*no).id).collect();
            let copy = know(&known.write(cut));
            is_sound(&known, &copy)?;
            let found = resume(&copy.tree, &copy.facts, &client);
            let wanted: Vec<Id> = known.ids(&asked.path).into_iter().filter(|id| stays.contains(id)).collect();
            let mut found_ids = copy.ids(&found.path);
            if text.contains("progress") {
                // A client that does not read progress lines was cut off by them, and no longer is.
                found_ids.drain(..found_ids.len().saturating_sub(wanted.len()));
            }
            prop_assert_eq!(found_ids, wanted, "{}\n{}", version, text);
            let no_parent = |node: &Node| node.link == rethread_core::tree::Link::Missing;
            prop_assert!(!copy.tree.nodes().iter().any(no_parent), "{}", text);
            prop_assert!(found.refusals().len() <= asked.refusals().len(), "{}\n{}", version, text);
        }
    }

    /// That such a copy loads what its origin would is a law of `edit`.
    #[test]
    fn where_nothing_is_to_go_nothing_changes(records in random::records()) {
        let known = know(&script::file(&records));
        for k in 0..known.tree.nodes().len() as NodeNo {
            for version in MEASURED {
                let client = Version::read(version);
                let cut = known.cut(&client, k, |scene| by(&Trim::default())(scene, &known));
                let Some((_, cut)) = cut else { continue };
                let kept: Vec<NodeNo> = cut.lines.iter().map(|(no, _)| *no).collect();
                prop_assert_eq!(kept, way(&known.tree, &known.facts, std::slice::from_ref(&client), k));
                prop_assert!(cut.lines.iter().all(|(_, changes)| changes.is_empty()));
                prop_assert_eq!(cut.ledger.total(), rethread_core::trim::Row::default());
            }
        }
    }

    #[test]
    fn any_file_can_be_trimmed(records in random::records(), trim in trim(), fit in 0u64..200) {
        let known = know(&script::file(&records));
        for k in 0..known.tree.nodes().len() as NodeNo {
            for version in ["1.0.98", "2.1.42", "2.1.325"] {
                let client = Version::read(version);
                let cut = |trim: &Trim| known.cut(&client, k, |scene| by(trim)(scene, &known)).map(|(_, cut)| cut);
                let (Some(whole), Some(cut)) = (cut(&Trim::default()), cut(&trim)) else { continue };
                let whole = know(&known.write(whole));
                is_sound(&whole, &know(&known.write(cut)))?;
                let read = |place| Ok::<_, std::convert::Infallible>(known.line(place));
                let made = |scene: &Scene<'_>| escalate(scene, fit, NOTE, read).unwrap_or_else(|never| match never {}).cut;
                let Some((_, cut)) = known.cut(&client, k, made) else { continue };
                is_sound(&whole, &know(&known.write(cut)))?;
            }
        }
    }
}

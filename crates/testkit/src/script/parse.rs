//! The script language: text into records.

use super::name::uuid_of;
use super::record::{Part, Record, Role, Setting, Stamp};

/// Reads a script.
///
/// A line is `name marks: body`, ended by ` <- note` where a note is wanted. Blank lines and lines that start with
/// `#` say nothing.
///
/// | name | the line is | body |
/// |---|---|---|
/// | `u…` | user | parts, see below; a single text becomes a plain string |
/// | `a…` | assistant | parts |
/// | `s…` | system | subtype and words: `turn_duration 1200`, `local_command <command-name>/x</command-name>` |
/// | `p…` | progress | `data.type` and words: `bash_progress so far` |
/// | `t…` | attachment | `attachment.type` and words: `queued_command and the hose` |
/// | `raw` | these very bytes | anything |
/// | `*` | nothing: sets marks of all lines below | — |
/// | else | a line without uuid, called by its type: `summary`, `custom-title`, `last-prompt`, … | its words |
///
/// Parts are parted by ` | `: `words`, `?thinking`, `!Tool command`, `=a1 result` (`=a1.2` for the second call of
/// a1, `=!a1` for an error), `[image]`, `{"type":…}`, `[]` for no part at all. In words, `\n` is a line break and `\` before anything else
/// takes away its meaning.
///
/// | mark | meaning |
/// |---|---|
/// | `^u1` `^null` `^` | parent: that name (which need not exist), none, the entry above; else the indentation says it |
/// | `~a1` | logical parent of a boundary, leaf of a summary or last prompt, call of a progress line, prompt of a snapshot |
/// | `#m1` | message id and request id; lines with the same mark are one message |
/// | `@+30` `@2025-…Z` `@none` | seconds after the line above (else 1), this text, no timestamp |
/// | `meta` `side` `recap` `apierror` `update` | the flags |
/// | `in=1` `out=2` `write=3` `read=4` `model=…` | usage and model |
/// | `v=…` `cwd=…` `session=…` `branch=…` | the client's version, its folder, the session's short name, the git branch |
/// | `run=u3..a4>u6` `list=u3,a4>u6` | what a boundary keeps behind the entry named last: a run, or entries one by one |
/// | `+key=json` | one more field |
///
/// A `compact_boundary` without `^` has no parent, and its indentation says the logical parent, as clients write it.
/// A name that occurs twice is a repeated uuid.
pub fn parse(script: &str) -> Vec<Record> {
    let mut state = State { setting: Setting::default(), second: -1, above: None, open: Vec::new() };
    script.lines().filter_map(|line| state.record(line)).collect()
}

struct State {
    setting: Setting,
    second: i64,
    above: Option<String>,
    /// Indentation and name of the entries that a deeper line could hang under.
    open: Vec<(usize, String)>,
}

impl State {
    fn record(&mut self, line: &str) -> Option<Record> {
        let indent = line.len() - line.trim_start().len();
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            return None;
        }
        if let Some(marks) = text.strip_prefix("* ") {
            let mut all = Record::new("*", Role::Raw(String::new()));
            all.setting = self.setting.clone();
            marks.split(' ').for_each(|mark| self.mark(&mut all, mark));
            self.setting = all.setting;
            return None;
        }
        let (text, note) = match text.split_once(" <- ") {
            Some((text, note)) => (text.trim_end(), Some(note.to_owned())),
            None => (text, None),
        };
        let (head, body) = text.split_once(": ").unwrap_or_else(|| (text.trim_end_matches(':'), ""));
        let mut words = head.split_whitespace();
        let name = words.next().unwrap_or_default();
        let mut record = Record::new(name, role(name, body));
        record.note = note;
        record.setting = self.setting.clone();
        self.open.retain(|(depth, _)| *depth < indent);
        let above = self.open.last().map(|(_, name)| name.clone());
        let boundary = matches!(&record.role, Role::System(subtype, _) if subtype == "compact_boundary");
        if boundary {
            record.link = above;
        } else if record.is_entry() {
            record.parent = above;
        }
        if !matches!(record.role, Role::Raw(_)) {
            self.second += 1;
        }
        record.stamp = Stamp::Second(self.second);
        words.for_each(|mark| self.mark(&mut record, mark));
        if let Stamp::Second(second) = record.stamp {
            self.second = second;
        }
        if record.is_entry() {
            self.open.push((indent, record.name.clone()));
            self.above = Some(record.name.clone());
        }
        Some(record)
    }

    fn mark(&self, record: &mut Record, mark: &str) {
        let named = |name: &str| (name != "null").then(|| name.to_owned());
        if mark == "^" {
            record.parent.clone_from(&self.above);
        } else if let Some(name) = mark.strip_prefix('^') {
            record.parent = named(name);
        } else if let Some(name) = mark.strip_prefix('~') {
            record.link = named(name);
        } else if let Some(name) = mark.strip_prefix('#') {
            record.message = Some(name.into());
        } else if let Some(stamp) = mark.strip_prefix('@') {
            record.stamp = match (stamp, stamp.strip_prefix('+').and_then(|later| later.parse::<i64>().ok()))
            {
                ("none", _) => Stamp::None,
                (_, Some(later)) => Stamp::Second(self.second - 1 + later),
                _ => Stamp::Text(stamp.into()),
            };
        } else if let Some((key, value)) = mark.split_once('=') {
            self.set(record, key, value);
        } else {
            *match mark {
                "meta" => &mut record.meta,
                "side" => &mut record.side,
                "recap" => &mut record.recap,
                "apierror" => &mut record.api_error,
                "update" => &mut record.update,
                _ => panic!("no such mark: `{mark}`"),
            } = true;
        }
    }

    fn set(&self, record: &mut Record, key: &str, value: &str) {
        let count = || value.parse().unwrap_or_else(|_| panic!("no whole number: `{value}`"));
        match key {
            "in" => record.usage[0] = count(),
            "out" => record.usage[1] = count(),
            "write" => record.usage[2] = count(),
            "read" => record.usage[3] = count(),
            "model" => record.model = value.into(),
            "v" => record.setting.version = value.into(),
            "cwd" => record.setting.cwd = value.into(),
            "session" => record.setting.session = value.into(),
            "branch" => record.setting.branch = value.into(),
            "run" | "list" => {
                let metadata = kept(key, value);
                match record.extra.iter_mut().find(|(key, _)| key == "compactMetadata") {
                    Some((_, known)) => {
                        known.replace_range(known.len() - 1.., &format!(",{}", &metadata[1..]));
                    }
                    None => record.extra.push(("compactMetadata".into(), metadata)),
                }
            }
            _ => match key.strip_prefix('+') {
                Some(key) => record.extra.push((key.into(), value.into())),
                None => panic!("no such mark: `{key}={value}`"),
            },
        }
    }
}

/// Writes what a boundary keeps: `u3..a4>u6` or `u3,a4>u6`.
fn kept(how: &str, value: &str) -> String {
    let (entries, anchor) = value.split_once('>').unwrap_or_else(|| panic!("no anchor: `{value}`"));
    let id = |name: &str| format!("\"{}\"", uuid_of(name));
    let anchor = id(anchor);
    if how == "list" {
        let ids: Vec<String> = entries.split(',').map(id).collect();
        return format!(r#"{{"preservedMessages":{{"anchorUuid":{anchor},"uuids":[{}]}}}}"#, ids.join(","));
    }
    let (head, tail) = entries.split_once("..").unwrap_or_else(|| panic!("no run: `{entries}`"));
    let (head, tail) = (id(head), id(tail));
    format!(r#"{{"preservedSegment":{{"headUuid":{head},"anchorUuid":{anchor},"tailUuid":{tail}}}}}"#)
}

fn role(name: &str, body: &str) -> Role {
    let number = name.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let letters = &name[..name.len() - number.len()];
    let two = || {
        let (first, words) = body.split_once(' ').unwrap_or((body, ""));
        (first.to_owned(), plain(words))
    };
    match letters {
        "raw" => Role::Raw(body.into()),
        "u" => Role::User(parts(body)),
        "a" => Role::Assistant(parts(body)),
        "s" => two_of(two(), Role::System),
        "p" => two_of(two(), Role::Progress),
        "t" => two_of(two(), Role::Attachment),
        _ => Role::State(name.into(), plain(body)),
    }
}

fn two_of(two: (String, String), role: fn(String, String) -> Role) -> Role {
    role(two.0, two.1)
}

fn parts(body: &str) -> Vec<Part> {
    if body.is_empty() {
        return Vec::new();
    }
    body.split(" | ").map(part).collect()
}

fn part(text: &str) -> Part {
    let two = |text: &str| {
        let (first, words) = text.split_once(' ').unwrap_or((text, ""));
        (first.to_owned(), plain(words))
    };
    match text.as_bytes() {
        [b'?', ..] => Part::Thinking(plain(&text[1..])),
        [b'!', b'A'..=b'Z' | b'a'..=b'z', ..] => {
            let (tool, command) = two(&text[1..]);
            Part::Call(tool, command)
        }
        [b'=', b'!', ..] => {
            let (of, words) = two(&text[2..]);
            Part::Result { of, words, error: true }
        }
        [b'=', ..] => {
            let (of, words) = two(&text[1..]);
            Part::Result { of, words, error: false }
        }
        b"[image]" => Part::Image,
        b"[]" => Part::Json(String::new()),
        [b'{', ..] => Part::Json(text.into()),
        _ => Part::Words(plain(text)),
    }
}

/// Resolves the backslashes of a script's words.
fn plain(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    let mut chars = words.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some(other)) => out.push(other),
            _ => out.push(c),
        }
    }
    out
}

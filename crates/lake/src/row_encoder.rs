//! Converts rows of the engine to rows of the lake: adds ids, and removes what the level does not include.

use std::collections::BTreeMap;

use rethread_engine::core::id::{Id, IdMap};
use rethread_engine::ops::tables::{ColumnPrivacy, EntryTableRow, TableKind, TableRow, TableValue};

use crate::column_buffer::{CellValue, ColumnBuffer};
use crate::key::TeamKey;
use crate::level::Level;
use crate::schema::{ColumnOrigin, ID_DOMAIN, LakeColumn, LakeTable};
use crate::text_redactor::NameRedactor;
use crate::vocabulary::Vocabulary;

/// Columns with ids that clients, the API or gateways choose. At level `metrics`, ids that are no UUIDs become keys.
const ID_COLUMNS: &[&str] = &[
    "session_id",
    "agent_id",
    "uuid",
    "parent_uuid",
    "tip_uuid",
    "message_id",
    "request_id",
    "prompt_id",
    "call_id",
    "forked_from",
    "continued_from",
    "plan",
];

/// Columns of texts that only the program chooses.
const OWN_COLUMNS: &[&str] = &[
    "response_id",
    "source_id",
    "title_source",
    "role",
    "context_status",
    "failed",
    "op",
    "fork_kind",
    "code",
    "severity",
];

/// The number of keys after which the results so far are dropped.
const MAX_KNOWN_KEYS: usize = 1 << 17;

/// The number of digits of a key that replaces an id.
const FULL_KEY_LEN: usize = 32;
/// The number of digits by which calls are distinguished: 96 bits, so that billions of calls have different keys.
const ID_KEY_LEN: usize = 24;
/// The number of digits by which messages are distinguished. A collision matters only within a session.
const MESSAGE_KEY_LEN: usize = 16;

/// How a text leaves the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextRule {
    /// As it is.
    Keep,
    /// Without secrets.
    Redact,
    /// As it is if it is a UUID, else as a key.
    KeyUnlessUuid,
    /// The known name, or `other`.
    Vocabulary,
    /// Not at all.
    Omit,
}

/// A column with what its values need.
struct EncodedColumn {
    name: &'static str,
    origin: ColumnOrigin,
    rule: TextRule,
    /// The hash of the name.
    name_id: Id,
    last: LastText,
}

/// The last text of a column and what became of it. The texts of most columns equal those of the row before.
#[derive(Default)]
struct LastText {
    text: String,
    encoded: String,
}

impl LastText {
    /// Returns what becomes of a text. Calls `encode` unless it is the last one.
    fn encode(&mut self, text: &str, encode: impl FnOnce() -> String) -> &str {
        // The encoded form of the empty text is not known at first.
        if self.text != text || text.is_empty() {
            self.encoded = encode();
            text.clone_into(&mut self.text);
        }
        &self.encoded
    }
}

/// Converts the rows of a push.
pub(crate) struct RowEncoder {
    level: Level,
    key: TeamKey,
    dev_id: String,
    push_id: String,
    tables: BTreeMap<TableKind, Vec<EncodedColumn>>,
    vocabulary: Vocabulary,
    names: NameRedactor,
    known_names: IdMap<String>,
    known_keys: IdMap<String>,
    /// The file whose lines are known.
    source_id: String,
    /// The line of each uuid of the file.
    lines: IdMap<i64>,
}

impl RowEncoder {
    pub(crate) fn new(level: Level, key: TeamKey, dev_id: String, push_id: String) -> RowEncoder {
        let encode = |kind: TableKind| {
            let rule = |origin: ColumnOrigin| match origin {
                ColumnOrigin::Row(idx) | ColumnOrigin::OtherParent(idx) => {
                    let column = &kind.columns()[idx];
                    choose_rule(level, column.name, column.privacy)
                }
                _ => TextRule::Omit,
            };
            let columns = LakeTable::Data(kind).columns();
            let encode = |column: LakeColumn| EncodedColumn {
                name: column.name,
                origin: column.origin,
                rule: rule(column.origin),
                name_id: Id::from_text(column.name.as_bytes()),
                last: LastText::default(),
            };
            columns.into_iter().map(encode).collect()
        };
        RowEncoder {
            level,
            key,
            dev_id,
            push_id,
            tables: TableKind::ALL.iter().map(|kind| (*kind, encode(*kind))).collect(),
            vocabulary: Vocabulary::new(),
            names: NameRedactor::default(),
            known_names: IdMap::default(),
            known_keys: IdMap::default(),
            source_id: String::new(),
            lines: IdMap::default(),
        }
    }

    /// Notes the line of an entry. Returns the line of its parent, if it is an earlier line of the same file.
    fn find_parent(&mut self, source_id: &str, entry: &EntryTableRow) -> Option<i64> {
        if self.source_id != source_id {
            source_id.clone_into(&mut self.source_id);
            self.lines.clear();
        }
        let id = |uuid: &String| Id::from_text(uuid.as_bytes());
        let parent = entry.parent_uuid.as_ref().and_then(|uuid| self.lines.get(&id(uuid))).copied();
        if let Some(uuid) = &entry.uuid {
            self.lines.entry(id(uuid)).or_insert(entry.line.into());
        }
        parent
    }

    /// Writes a row of the file with this id in the lake to the columns of its table.
    pub(crate) fn encode(&mut self, row: &TableRow<'_>, source_id: &str, out: &mut [ColumnBuffer]) {
        let parent_line = match row {
            TableRow::Entries(entry) => self.find_parent(source_id, entry),
            _ => None,
        };
        let values = row.values();
        let RowEncoder {
            level,
            key,
            dev_id,
            push_id,
            tables,
            vocabulary,
            names,
            known_names,
            known_keys,
            ..
        } = self;
        let Some(columns) = tables.get_mut(&row.table()) else { return };
        let mut push_key =
            |domain: &'static str, text: &str, len: usize, last: &mut LastText, buffer: &mut ColumnBuffer| {
                // Ids rarely repeat, so only names are kept.
                if domain == ID_DOMAIN {
                    let key = key.derive(domain, &[text]);
                    return buffer.push(CellValue::Text(key.get(..len).unwrap_or(&key)));
                }
                if known_keys.len() >= MAX_KNOWN_KEYS {
                    known_keys.clear();
                }
                let encoded = last.encode(text, || {
                    let id = Id::from_text(domain.as_bytes()).combine(Id::from_text(text.as_bytes()));
                    known_keys.entry(id).or_insert_with(|| key.derive(domain, &[text])).clone()
                });
                buffer.push(CellValue::Text(encoded));
            };
        let mut push_value =
            |column: &mut EncodedColumn, value: TableValue<'_>, buffer: &mut ColumnBuffer| match (
                value,
                column.rule,
            ) {
                (TableValue::Text(_), TextRule::Omit) => buffer.push(CellValue::Null),
                (TableValue::Text(text), TextRule::Keep) => buffer.push(CellValue::Text(text)),
                (TableValue::Text(text), TextRule::Redact) => {
                    let encoded = column.last.encode(text, || names.redact(text).to_owned());
                    buffer.push(CellValue::Text(encoded));
                }
                (TableValue::Text(text), TextRule::KeyUnlessUuid) if is_uuid(text) => {
                    buffer.push(CellValue::Text(text));
                }
                (TableValue::Text(text), TextRule::KeyUnlessUuid) => {
                    push_key(ID_DOMAIN, text, FULL_KEY_LEN, &mut column.last, buffer);
                }
                (TableValue::Text(text), TextRule::Vocabulary) => {
                    if known_names.len() >= MAX_KNOWN_KEYS {
                        known_names.clear();
                    }
                    let encoded = column.last.encode(text, || {
                        let id = column.name_id.combine(Id::from_text(text.as_bytes()));
                        let known = known_names.entry(id);
                        known.or_insert_with(|| vocabulary.normalize(column.name, text)).clone()
                    });
                    buffer.push(CellValue::Text(encoded));
                }
                (value, _) => buffer.push(convert_number(value)),
            };
        for (column, buffer) in columns.iter_mut().zip(&mut *out) {
            match column.origin {
                ColumnOrigin::Dev => buffer.push(CellValue::Text(dev_id)),
                ColumnOrigin::Source => buffer.push(CellValue::Text(source_id)),
                ColumnOrigin::Push => buffer.push(CellValue::Text(push_id)),
                ColumnOrigin::Level => buffer.push(CellValue::Integer(level.number())),
                ColumnOrigin::Row(idx) => push_value(column, values[idx], buffer),
                ColumnOrigin::ParentLine => {
                    buffer.push(parent_line.map_or(CellValue::Null, CellValue::Integer));
                }
                ColumnOrigin::OtherParent(_) if parent_line.is_some() => buffer.push(CellValue::Null),
                ColumnOrigin::OtherParent(idx) => push_value(column, values[idx], buffer),
                ColumnOrigin::IsPresent(idx) => {
                    buffer.push(CellValue::Boolean(values[idx] != TableValue::Null));
                }
                ColumnOrigin::Head => buffer.push(CellValue::Null),
                // The keys follow.
                ColumnOrigin::Key(..) | ColumnOrigin::KeyOr(..) => {}
            }
        }
        for (column, buffer) in columns.iter_mut().zip(out) {
            match column.origin {
                ColumnOrigin::Key(idx, domain) => match values[idx] {
                    TableValue::Text(text) => push_key(domain, text, ID_KEY_LEN, &mut column.last, buffer),
                    _ => buffer.push(CellValue::Null),
                },
                ColumnOrigin::KeyOr(first, second, domain) => match (values[first], values[second]) {
                    (TableValue::Text(text), _) | (_, TableValue::Text(text)) => {
                        push_key(domain, text, MESSAGE_KEY_LEN, &mut column.last, buffer);
                    }
                    _ => buffer.push(CellValue::Null),
                },
                _ => {}
            }
        }
    }
}

/// Returns an id as it leaves the machine.
pub(crate) fn encode_id(level: Level, key: &TeamKey, id: &str) -> String {
    if level >= Level::Names || is_uuid(id) { id.to_owned() } else { key.derive(ID_DOMAIN, &[id]) }
}

/// Returns `true` for a UUID in its usual form, which cannot contain a word.
fn is_uuid(text: &str) -> bool {
    Id::is_uuid(text.as_bytes()) && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

fn choose_rule(level: Level, name: &str, privacy: ColumnPrivacy) -> TextRule {
    match privacy {
        ColumnPrivacy::Metrics if OWN_COLUMNS.contains(&name) => TextRule::Keep,
        ColumnPrivacy::Metrics if level >= Level::Names && ID_COLUMNS.contains(&name) => TextRule::Keep,
        ColumnPrivacy::Metrics => TextRule::KeyUnlessUuid,
        ColumnPrivacy::Vocabulary if level == Level::Metrics => TextRule::Vocabulary,
        // The texts of a file are redacted together, before they are encoded.
        ColumnPrivacy::Text if level.includes(privacy) => TextRule::Keep,
        _ if level.includes(privacy) => TextRule::Redact,
        _ => TextRule::Omit,
    }
}

fn convert_number(value: TableValue<'_>) -> CellValue<'static> {
    match value {
        TableValue::Integer(number) => CellValue::Integer(number),
        TableValue::Boolean(value) => CellValue::Boolean(value),
        TableValue::Time(time) => CellValue::Integer(time.0),
        TableValue::Money(money) => {
            // 18 digits are a million dollars for one row.
            let limit = 999_999_999_999_999_999;
            CellValue::Integer(i64::try_from(money.picodollars()).unwrap_or(limit).min(limit))
        }
        TableValue::Null | TableValue::Text(_) => CellValue::Null,
    }
}

#[cfg(test)]
mod tests {
    use rethread_engine::ops::tables::ColumnType;

    use super::*;

    /// A new text column must be decided here: it is an id, or only the program chooses its texts.
    #[test]
    fn every_text_of_level_metrics_is_known() {
        for kind in TableKind::ALL {
            for column in kind.columns() {
                if column.privacy == ColumnPrivacy::Metrics && column.column_type == ColumnType::Text {
                    let count =
                        [ID_COLUMNS, OWN_COLUMNS].iter().filter(|names| names.contains(&column.name)).count();
                    assert_eq!(count, 1, "{kind:?}.{}", column.name);
                }
            }
        }
    }

    #[test]
    fn only_uuids_stay_at_level_metrics() {
        let key = TeamKey::from_bytes([1; 32]);
        let uuid = "0b1c5d3e-6a7f-4e21-9c55-1d2e3f405162";
        assert_eq!(encode_id(Level::Metrics, &key, uuid), uuid);
        assert_ne!(encode_id(Level::Metrics, &key, "secret-plan"), "secret-plan");
        assert_eq!(encode_id(Level::Names, &key, "secret-plan"), "secret-plan");
    }
}

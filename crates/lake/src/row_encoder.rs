//! Converts rows of the engine to rows of the lake: adds ids, and removes what the level does not include.

use std::collections::HashMap;

use rethread_engine::core::id::Id;
use rethread_engine::ops::tables::{ColumnPrivacy, TableKind, TableValue};

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

/// Converts the rows of a push.
pub(crate) struct RowEncoder {
    level: Level,
    key: TeamKey,
    dev_id: String,
    push_id: String,
    /// The id in the lake of each file, by its id in the engine.
    source_ids: HashMap<String, String>,
    tables: HashMap<TableKind, (Vec<LakeColumn>, Vec<TextRule>)>,
    vocabulary: Vocabulary,
    names: NameRedactor,
    known_names: HashMap<(&'static str, String), String>,
    known_keys: HashMap<(&'static str, String), String>,
}

impl RowEncoder {
    pub(crate) fn new(
        level: Level,
        key: TeamKey,
        dev_id: String,
        push_id: String,
        source_ids: HashMap<String, String>,
    ) -> RowEncoder {
        let rules = |kind: TableKind| {
            kind.columns().iter().map(|column| choose_rule(level, column.name, column.privacy)).collect()
        };
        let tables =
            TableKind::ALL.iter().map(|kind| (*kind, (LakeTable::Data(*kind).columns(), rules(*kind))));
        RowEncoder {
            level,
            key,
            dev_id,
            push_id,
            source_ids,
            tables: tables.collect(),
            vocabulary: Vocabulary::new(),
            names: NameRedactor::default(),
            known_names: HashMap::new(),
            known_keys: HashMap::new(),
        }
    }

    /// Writes a row to the columns of its table.
    pub(crate) fn encode(
        &mut self,
        kind: TableKind,
        source_id: &str,
        values: &[TableValue<'_>],
        out: &mut [ColumnBuffer],
    ) {
        let RowEncoder {
            level,
            key,
            dev_id,
            push_id,
            source_ids,
            tables,
            vocabulary,
            names,
            known_names,
            known_keys,
        } = self;
        let Some((columns, rules)) = tables.get(&kind) else { return };
        let mut derive = |domain: &'static str, text: &str, push: &mut dyn FnMut(&str)| {
            // Ids rarely repeat, so only names are kept.
            if domain == ID_DOMAIN {
                return push(&key.derive(domain, &[text]));
            }
            if known_keys.len() >= MAX_KNOWN_KEYS {
                known_keys.clear();
            }
            let known = known_keys.entry((domain, text.to_owned()));
            push(known.or_insert_with(|| key.derive(domain, &[text])));
        };
        for (column, buffer) in columns.iter().zip(out) {
            match column.origin {
                ColumnOrigin::Dev => buffer.push(CellValue::Text(dev_id)),
                ColumnOrigin::Source => {
                    let id = source_ids.get(source_id).map_or("", String::as_str);
                    buffer.push(CellValue::Text(id));
                }
                ColumnOrigin::Push => buffer.push(CellValue::Text(push_id)),
                ColumnOrigin::Level => buffer.push(CellValue::Integer(level.number())),
                ColumnOrigin::Row(idx) => match (values[idx], rules[idx]) {
                    (TableValue::Text(_), TextRule::Omit) => buffer.push(CellValue::Null),
                    (TableValue::Text(text), TextRule::Keep) => buffer.push(CellValue::Text(text)),
                    (TableValue::Text(text), TextRule::Redact) => {
                        buffer.push(CellValue::Text(names.redact(text)));
                    }
                    (TableValue::Text(text), TextRule::KeyUnlessUuid) => {
                        if is_uuid(text) {
                            buffer.push(CellValue::Text(text));
                        } else {
                            derive(ID_DOMAIN, text, &mut |key| buffer.push(CellValue::Text(key)));
                        }
                    }
                    (TableValue::Text(text), TextRule::Vocabulary) => {
                        if known_names.len() >= MAX_KNOWN_KEYS {
                            known_names.clear();
                        }
                        let known = known_names.entry((column.name, text.to_owned()));
                        let name = known.or_insert_with(|| vocabulary.normalize(column.name, text));
                        buffer.push(CellValue::Text(name));
                    }
                    (value, _) => buffer.push(convert_number(value)),
                },
                ColumnOrigin::Key(idx, domain) => match values[idx] {
                    TableValue::Text(text) => {
                        derive(domain, text, &mut |key| buffer.push(CellValue::Text(key)));
                    }
                    _ => buffer.push(CellValue::Null),
                },
                ColumnOrigin::KeyOr(first, second, domain) => match (values[first], values[second]) {
                    (TableValue::Text(text), _) | (_, TableValue::Text(text)) => {
                        derive(domain, text, &mut |key| buffer.push(CellValue::Text(key)));
                    }
                    _ => buffer.push(CellValue::Null),
                },
                ColumnOrigin::IsPresent(idx) => {
                    buffer.push(CellValue::Boolean(values[idx] != TableValue::Null));
                }
                ColumnOrigin::Head => buffer.push(CellValue::Null),
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

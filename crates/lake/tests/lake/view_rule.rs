//! The rule of the views, written once more in Rust.

use std::collections::{BTreeMap, HashMap, HashSet};

use rethread_engine::ops::tables::TableKind;
use rethread_lake::{
    CellValue, LakeFolder, LakeTable, ObjectReader, SourceHead, read_heads, select_current_heads,
};

/// A value of a row that does not borrow from it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Cell {
    Null,
    Number(i64),
    Text(String),
}

/// A row of a table.
pub(crate) type Row = BTreeMap<&'static str, Cell>;

pub(crate) fn number(row: &Row, column: &str) -> i64 {
    match &row[column] {
        Cell::Number(number) => *number,
        Cell::Null => 0,
        Cell::Text(text) => panic!("{column} is `{text}`"),
    }
}

pub(crate) fn text<'r>(row: &'r Row, column: &str) -> &'r str {
    match &row[column] {
        Cell::Text(text) => text,
        _ => "",
    }
}

/// Reads all rows of a raw table.
pub(crate) fn read_raw(folder: &LakeFolder, table: LakeTable) -> Vec<Row> {
    let mut rows = Vec::new();
    for object in folder.list_objects(table).expect("the lake can be listed") {
        let reader = ObjectReader::open(table, &object.path).expect("an object");
        let read = reader.read(
            |_| true,
            |group| {
                for idx in 0..group.rows() {
                    let cells = group.iter().map(|(name, column)| {
                        let cell = match column.value(idx) {
                            CellValue::Null => Cell::Null,
                            CellValue::Integer(number) => Cell::Number(number),
                            CellValue::Boolean(value) => Cell::Number(value.into()),
                            CellValue::Text(text) => Cell::Text(text.to_owned()),
                        };
                        (name, cell)
                    });
                    rows.push(cells.collect());
                }
                Ok(())
            },
        );
        read.expect("an object can be read");
    }
    rows
}

/// The heads that count and are not deleted, by source.
pub(crate) fn heads(folder: &LakeFolder) -> HashMap<String, SourceHead> {
    let mut heads = select_current_heads(read_heads(folder).expect("the heads can be read"));
    heads.retain(|_, head| !head.deleted);
    heads
}

/// Reads the rows that heads name.
pub(crate) fn read_all(folder: &LakeFolder, kind: TableKind) -> Vec<Row> {
    let heads = heads(folder);
    let is_named = |row: &Row| {
        heads.get(text(row, "source_id")).is_some_and(|head| head.push_id == text(row, "push_id"))
    };
    read_raw(folder, LakeTable::Data(kind)).into_iter().filter(is_named).collect()
}

/// Reads the rows of the longest copy of each file.
pub(crate) fn read_once(folder: &LakeFolder, kind: TableKind) -> Vec<Row> {
    let mut best: HashMap<String, SourceHead> = HashMap::new();
    for head in heads(folder).into_values() {
        let rank = |head: &SourceHead| (-head.bytes, -head.generation, head.source_id.clone());
        match best.get(&head.file_key) {
            Some(other) if rank(other) <= rank(&head) => {}
            _ => {
                best.insert(head.file_key.clone(), head);
            }
        }
    }
    let sources: HashSet<String> = best.into_values().map(|head| head.source_id).collect();
    read_all(folder, kind).into_iter().filter(|row| sources.contains(text(row, "source_id"))).collect()
}

/// Returns the smallest value of each group.
fn smallest<K: std::hash::Hash + Eq, V: Ord>(pairs: impl Iterator<Item = (K, V)>) -> HashMap<K, V> {
    let mut smallest: HashMap<K, V> = HashMap::new();
    for (key, value) in pairs {
        match smallest.get(&key) {
            Some(other) if *other <= value => {}
            _ => {
                smallest.insert(key, value);
            }
        }
    }
    smallest
}

/// Reads each response once.
pub(crate) fn read_responses(folder: &LakeFolder) -> Vec<Row> {
    let mut rows = read_all(folder, TableKind::Responses);
    let message = |row: &Row| text(row, "message_key").to_owned();
    let in_session = |row: &Row| (message(row), text(row, "session_id").to_owned());
    let id = |row: &Row| text(row, "response_id").to_owned();
    let with_request = rows.iter().filter(|row| number(row, "has_request") == 1);
    let by_message = smallest(with_request.map(|row| (message(row), id(row))));
    let by_session = smallest(rows.iter().map(|row| (in_session(row), id(row))));
    for row in &mut rows {
        if number(row, "has_request") == 0 {
            let request = by_message.get(&message(row)).or_else(|| by_session.get(&in_session(row)));
            let request = request.cloned().expect("the row itself is in its session");
            row.insert("response_id", Cell::Text(request));
        }
    }
    let main = rows.iter().filter(|row| number(row, "is_agent") == 0);
    let main = smallest(main.map(|row| (in_session(row), id(row))));
    let mut copies: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in rows {
        let own = id(&row);
        let copy_id = match main.get(&in_session(&row)) {
            Some(main) if number(&row, "is_agent") == 1 => main.clone(),
            _ => own,
        };
        copies.entry(copy_id).or_default().push(row);
    }
    let settle = |(copy_id, rows): (String, Vec<Row>)| {
        let origin_rank = |row: &Row| {
            let names = (text(row, "session_id").to_owned(), text(row, "source_id").to_owned());
            (row["ts"] == Cell::Null, number(row, "ts"), number(row, "copied"), names)
        };
        let mut origin = rows.iter().min_by_key(|row| origin_rank(row)).expect("a row").clone();
        let best = rows.iter().min_by_key(|row| (-number(row, "output_tokens"), origin_rank(row)));
        let best = best.expect("a row");
        for column in [
            "input_tokens",
            "output_tokens",
            "cache_creation_input_tokens",
            "cache_creation_1h_input_tokens",
            "cache_read_input_tokens",
            "web_searches",
            "cost_usd",
        ] {
            origin.insert(column, best[column].clone());
        }
        origin.insert("response_id", Cell::Text(copy_id));
        origin
    };
    copies.into_iter().map(settle).collect()
}

/// Reads each tool call once.
pub(crate) fn read_calls(folder: &LakeFolder) -> Vec<Row> {
    let rank = |row: &Row| {
        let names = (text(row, "session_id").to_owned(), text(row, "source_id").to_owned());
        (row["result_line"] == Cell::Null, row["ts"] == Cell::Null, number(row, "ts"), names)
    };
    let mut best: BTreeMap<String, Row> = BTreeMap::new();
    for row in read_all(folder, TableKind::ToolCalls) {
        match best.get(text(&row, "call_key")) {
            Some(other) if rank(other) <= rank(&row) => {}
            _ => {
                best.insert(text(&row, "call_key").to_owned(), row);
            }
        }
    }
    best.into_values().collect()
}

//! Sessions that the user wants to be forgotten. Their content is hidden at once, and deleted by a later prune.
//!
//! Each machine records tombstones in its own catalogs, and readers unite those of all machines. The state with the highest
//! version counts, so the result does not depend on clocks or on the order in which copies are synchronised.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog_record::{StoredPath, TombstoneRecord};

/// The length of a session id.
const ID_BYTES: usize = 36;

/// The tombstones of an archive or a part of one.
#[derive(Debug, Clone, Default)]
pub(crate) struct TombstoneSet {
    by_session: BTreeMap<String, TombstoneRecord>,
    /// The sessions that list a file, also in a state that does not count any more.
    listed_by: BTreeMap<StoredPath, BTreeSet<String>>,
}

impl TombstoneSet {
    /// Adds a state of a tombstone, unless a newer one is known. Of two states with the same version, the one that forgets
    /// counts.
    pub(crate) fn add(&mut self, record: TombstoneRecord) {
        for file in &record.files {
            self.listed_by.entry(file.clone()).or_default().insert(record.session.clone());
        }
        let Some(known) = self.by_session.get_mut(&record.session) else {
            self.by_session.insert(record.session.clone(), record);
            return;
        };
        let rank = |record: &TombstoneRecord| (record.version, record.forgotten);
        match rank(&record).cmp(&rank(known)) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Greater => *known = record,
            std::cmp::Ordering::Equal => {
                known.time = known.time.max(record.time);
                known.files.extend(record.files);
            }
        }
    }

    /// Adds all tombstones of another set.
    pub(crate) fn unite(&mut self, other: &TombstoneSet) {
        other.records().cloned().for_each(|record| self.add(record));
    }

    /// Returns `true` if there are no tombstones, also none that were taken back.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_session.is_empty()
    }

    /// Returns the current state of all tombstones, also of those that were taken back.
    pub(crate) fn records(&self) -> impl Iterator<Item = &TombstoneRecord> {
        self.by_session.values()
    }

    /// Returns the tombstones in effect.
    pub(crate) fn forgotten(&self) -> impl Iterator<Item = &TombstoneRecord> {
        self.records().filter(|record| record.forgotten)
    }

    /// Returns `true` if the session is forgotten.
    pub(crate) fn has_session(&self, session: &str) -> bool {
        self.by_session.get(session).is_some_and(|record| record.forgotten)
    }

    /// Returns the session to which a file belongs that is forgotten. Returns `None` for a file that is not forgotten.
    pub(crate) fn find_session(&self, path: &StoredPath) -> Option<&str> {
        if self.by_session.is_empty() {
            return None;
        }
        let is_named = |record: &&TombstoneRecord| record.forgotten;
        let is_listed = |record: &&TombstoneRecord| record.forgotten && record.files.contains(path);
        let names = find_session_names(&path.to_text());
        let by_name = names.iter().filter_map(|name| self.by_session.get(name)).find(is_named);
        let listed_by = self.listed_by.get(path).into_iter().flatten();
        let mut by_list = listed_by.filter_map(|session| self.by_session.get(session));
        by_name.or_else(|| by_list.find(is_listed)).map(|record| record.session.as_str())
    }

    /// Builds the next state of a tombstone.
    pub(crate) fn next_record(
        &self,
        session: &str,
        forgotten: bool,
        files: BTreeSet<StoredPath>,
        time: i64,
    ) -> TombstoneRecord {
        let version = self.by_session.get(session).map_or(0, |known| known.version).saturating_add(1);
        TombstoneRecord { session: session.to_owned(), version, forgotten, time, files }
    }
}

/// Returns the session ids with which the names of a path begin: `<id>`, `<id>.jsonl` or `<id>-agent-<id>.json`.
pub(crate) fn find_session_names(path: &str) -> Vec<String> {
    let names = path.split(['/', '\\']).filter_map(|name| {
        let id = name.get(..ID_BYTES).filter(|id| is_session_id(id))?;
        let is_whole = matches!(name.as_bytes().get(ID_BYTES), None | Some(b'.' | b'-'));
        is_whole.then(|| id.to_owned())
    });
    names.collect()
}

/// Returns `true` if a name has the form of a session id.
pub(crate) fn is_session_id(name: &str) -> bool {
    name.len() == ID_BYTES && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const ID: &str = "0b1c5d3e-6a7f-4e21-9c55-1d2e3f405162";

    fn path(text: &str) -> StoredPath {
        StoredPath::from_path(Path::new(text))
    }

    #[test]
    fn all_files_of_a_forgotten_session_are_found_and_no_others() {
        let mut tombstones = TombstoneSet::default();
        let listed = BTreeSet::from([path("projects/-x/agent-1.jsonl")]);
        tombstones.add(tombstones.next_record(ID, true, listed, 1));
        for name in [
            format!("projects/-x/{ID}.jsonl"),
            format!("projects/-x/{ID}/subagents/agent-1.jsonl"),
            format!("projects\\-x\\{ID}\\tool-results\\a.txt"),
            format!("file-history/{ID}/abc@v1"),
            format!("todos/{ID}-agent-{ID}.json"),
            "projects/-x/agent-1.jsonl".to_owned(),
        ] {
            assert_eq!(tombstones.find_session(&path(&name)), Some(ID), "{name}");
        }
        let other = ID.replace("0b", "0c");
        for name in [
            format!("projects/-x/{other}.jsonl"),
            format!("projects/-x/{ID}0.jsonl"),
            format!("projects/-x/a{ID}.jsonl"),
            "projects/-y/agent-1.jsonl".to_owned(),
            "history.jsonl".to_owned(),
            "projects/-x/memory/MEMORY.md".to_owned(),
        ] {
            assert_eq!(tombstones.find_session(&path(&name)), None, "{name}");
        }
        tombstones.add(tombstones.next_record(ID, false, BTreeSet::new(), 0));
        assert_eq!(tombstones.find_session(&path(&format!("projects/-x/{ID}.jsonl"))), None);
        assert_eq!(tombstones.find_session(&path("projects/-x/agent-1.jsonl")), None);
    }

    /// The union of sets of records does not depend on their order or on repetitions.
    #[test]
    fn union_is_commutative_and_idempotent() {
        let record = |version, forgotten, time, file: &str| TombstoneRecord {
            session: ID.to_owned(),
            version,
            forgotten,
            time,
            files: BTreeSet::from([path(file)]),
        };
        let records = [
            record(1, true, 5, "a"),
            record(1, true, 9, "b"),
            record(2, false, 1, "c"),
            record(2, true, 0, "d"),
        ];
        let unite = |order: &[usize]| {
            let mut set = TombstoneSet::default();
            order.iter().for_each(|&idx| set.add(records[idx].clone()));
            set.by_session
        };
        let expected = unite(&[0, 1, 2, 3]);
        assert!(expected[ID].forgotten, "of two states with one version, the one that forgets counts");
        for order in [[3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1], [3, 3, 3, 0]] {
            assert_eq!(unite(&order), expected, "{order:?}");
        }
        assert_eq!(unite(&[0, 1]), unite(&[1, 0, 1]));
    }
}

//! Decides what a statement may do, and records which tables and columns it reads.

use std::sync::{Arc, Mutex, PoisonError};

use rethread_engine::ops::tables::{TableKind, TableSelection};
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// The tables and columns that a statement reads, and the action that it was refused.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordedAccess {
    /// The tables and columns.
    pub(crate) selection: TableSelection,
    /// Whether it reads the list of tables.
    pub(crate) reads_schema: bool,
    /// The first action that was refused. `None` if all were allowed.
    pub(crate) forbidden: Option<String>,
}

/// Allows only reading, and records it, between [`AccessRecorder::start`] and [`AccessRecorder::finish`].
#[derive(Debug, Clone, Default)]
pub(crate) struct AccessRecorder(Arc<Mutex<Option<RecordedAccess>>>);

impl AccessRecorder {
    /// Makes a connection ask the recorder before every action of a statement that is prepared.
    pub(crate) fn install(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        let recorder = self.clone();
        connection.authorizer(Some(move |context: AuthContext<'_>| recorder.authorize(&context.action)))
    }

    /// Refuses everything but reading from now on.
    pub(crate) fn start(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(RecordedAccess::default());
    }

    /// Allows everything from now on. Returns what was recorded.
    pub(crate) fn finish(&self) -> RecordedAccess {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }

    fn authorize(&self, action: &AuthAction<'_>) -> Authorization {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(recorded) = &mut *state else { return Authorization::Allow };
        if let Some(name) = find_forbidden(action) {
            recorded.forbidden.get_or_insert(name);
            return Authorization::Deny;
        }
        if let AuthAction::Read { table_name, column_name } = action {
            if let Some(table) = TableKind::from_name(table_name) {
                recorded.selection.add_table(table);
                // The name is empty if no column is read, as by `count(*)`.
                recorded.selection.add_column(table, column_name);
            }
            recorded.reads_schema |= table_name.starts_with("sqlite_");
        }
        Authorization::Allow
    }
}

/// Returns the name of an action that is not allowed. Returns `None` for an allowed action.
fn find_forbidden(action: &AuthAction<'_>) -> Option<String> {
    let name = match action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => return None,
        AuthAction::Function { function_name } if *function_name != "load_extension" => return None,
        AuthAction::Function { .. } => "load_extension",
        AuthAction::Attach { .. } => "ATTACH",
        AuthAction::Detach { .. } => "DETACH",
        AuthAction::Pragma { .. } => "PRAGMA",
        AuthAction::Insert { .. } => "INSERT",
        AuthAction::Update { .. } => "UPDATE",
        AuthAction::Delete { .. } => "DELETE",
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => "a transaction",
        AuthAction::Reindex { .. } | AuthAction::Analyze { .. } => "ANALYZE",
        _ => "changing the tables",
    };
    Some(name.to_owned())
}

//! The types that `--json` prints, described in `docs/json.md`. They are versioned and separate from the reports
//! of the engine (**wire-is-separate**).

mod archive;
mod config;
mod context;
mod deleted;
mod diff;
mod doctor;
mod export;
mod find;
mod install;
mod lake;
mod line;
mod new_session;
mod object;
mod picker;
mod repair;
mod resume;
mod running;
mod search;
mod secrets;
mod serve;
mod session;
mod sql;
mod stats;
mod statusline;
pub(crate) mod statusline_input;
mod tree;
mod trimmed;
mod turn;
mod usage;
mod write;

pub(crate) use self::archive::{
    ScheduledCopies, build_archive_damage, build_archive_exclude, build_archive_forget, build_archive_prune,
    build_archive_remember, build_archive_restore, build_archive_schedule, build_archive_status,
    build_archive_sync, build_archive_update, build_archived_session, build_removed_session,
};
pub(crate) use self::config::{build_config_check, build_config_problem, build_config_setting};
pub(crate) use self::context::{
    build_context, build_context_cause, build_context_drop, build_context_item, build_context_reread,
    build_context_turn,
};
pub(crate) use self::deleted::{build_deleted_prompt, build_deleted_session};
pub(crate) use self::diff::build_diff;
pub(crate) use self::doctor::{build_doctor_session, build_doctor_store, build_finding, build_store_finding};
pub(crate) use self::export::build_export;
pub(crate) use self::find::build_entry_match;
pub(crate) use self::install::{build_install, build_install_status};
pub(crate) use self::lake::{
    build_lake_check, build_lake_compact, build_lake_forget, build_lake_push, build_lake_status,
};
pub(crate) use self::line::{serialize_line, write_line};
pub(crate) use self::new_session::{build_goto, build_new_session};
pub(crate) use self::picker::build_picker;
pub(crate) use self::repair::{build_fix, build_repair};
pub(crate) use self::resume::build_resume;
pub(crate) use self::running::{build_interrupted_session, build_running_session};
pub(crate) use self::search::{
    SessionResult, build_index_dropped, build_index_status, build_search_hit, build_search_resume,
    build_search_session, build_search_total,
};
pub(crate) use self::secrets::{build_detector, build_rule_preview, build_secret, build_secret_total};
pub(crate) use self::serve::build_serve;
pub(crate) use self::session::{build_agent, build_schema_item, build_session};
pub(crate) use self::sql::{build_sql_column, build_sql_example, build_sql_plan, build_sql_row};
pub(crate) use self::stats::{build_file, build_stats};
pub(crate) use self::statusline::build_statusline;
pub(crate) use self::tree::{build_branch, build_tree_node};
pub(crate) use self::trimmed::{build_rescue, build_trimmed_copy};
pub(crate) use self::turn::{build_tool, build_turn, path_relation_name};
pub(crate) use self::usage::{build_usage_check, build_usage_row, build_usage_total, build_usage_trace};
pub(crate) use self::write::{build_op, build_prune, build_remove, build_rename, build_restore, build_undo};

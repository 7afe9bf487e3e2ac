//! Runs the built program with arguments, in a home directory of its own.

#[cfg(test)]
mod archive;
mod archive_crash;
#[cfg(test)]
mod archive_encrypt;
#[cfg(test)]
mod archive_forget;
mod archive_restore;
mod archive_schedule;
mod branches_tree;
#[cfg(test)]
mod cache;
#[cfg(test)]
mod clone_rescue;
#[cfg(test)]
mod completion;
#[cfg(test)]
mod config;
#[cfg(test)]
mod context;
#[cfg(test)]
mod conventions;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod crash_campaign;
#[cfg(test)]
mod deleted;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod diff;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod early_descriptions;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod file_system;
#[cfg(test)]
mod find;
#[cfg(test)]
mod goto_fork;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod index_crash;
#[cfg(test)]
mod install;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod kept;
mod lake;
#[cfg(all(test, target_os = "linux"))]
mod long_line;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod options;
#[cfg(test)]
mod other_writers;
#[cfg(test)]
mod ps;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod rendering;
#[cfg(test)]
mod repair;
#[cfg(test)]
mod rm;
#[cfg(test)]
mod search;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod sql;
#[cfg(test)]
mod stats;
#[cfg(test)]
mod statusline;
#[cfg(test)]
mod stores;
#[cfg(test)]
mod suggestions;
#[cfg(test)]
mod usage;

/// Creates an empty home in which to run the built program.
#[cfg(test)]
fn new_home() -> rethread_testkit::home::Home {
    rethread_testkit::home::Home::new(env!("CARGO_BIN_EXE_rethread"))
}

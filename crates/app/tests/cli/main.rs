//! Runs the built program as a user would, in a home folder of its own.

#[cfg(test)]
mod branches_tree;
#[cfg(test)]
mod cache;
#[cfg(test)]
mod clone_rescue;
#[cfg(test)]
mod context;
#[cfg(test)]
mod conventions;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod diff;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod file_system;
#[cfg(test)]
mod find;
#[cfg(test)]
mod goto_fork;
#[cfg(test)]
#[path = "../../../testkit/src/home.rs"]
mod home;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod index_crash;
#[cfg(test)]
mod journal;
mod repair;
#[cfg(test)]
mod search;
#[cfg(test)]
mod statusline;
#[cfg(test)]
mod usage;

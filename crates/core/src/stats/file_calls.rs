//! The tool calls of one file, and the copies of calls that forks make in other files.

use std::collections::hash_map::Entry as Slot;

use crate::entry::Timestamp;
use crate::id::{Id, IdMap};
use crate::turn::{ToolCallIndex, ToolCallRecord};

/// The tool calls of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileCalls {
    /// The names of the tools.
    tools: Vec<String>,
    /// The calls, in the order in which their ids first occur.
    pub calls: Vec<CountedCall>,
}

/// A tool call as one file has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedCall {
    /// The id of the call.
    pub id: Id,
    /// The index of the name of its tool in the file.
    tool: u32,
    /// The time of the call. `None` if unknown.
    pub called_at: Option<Timestamp>,
    /// The milliseconds to its result. `None` if unknown.
    pub millis: Option<u64>,
    /// Whether the file has its result.
    pub has_result: bool,
    /// Whether its result is marked as an error.
    pub is_error: bool,
}

crate::pack_fields!(FileCalls { tools, calls });
crate::pack_fields!(CountedCall { id, tool, called_at, millis, has_result, is_error });

impl FileCalls {
    /// Lists the calls of a file. Results without a call are omitted.
    pub(crate) fn from_index(index: &ToolCallIndex) -> FileCalls {
        let is_call = |call: &&ToolCallRecord| call.call.is_some();
        let calls = index.calls().iter().filter(is_call).map(|call| CountedCall {
            id: call.id,
            tool: call.tool,
            called_at: call.called_at,
            millis: call.millis().map(i64::unsigned_abs),
            has_result: call.result.is_some(),
            is_error: call.is_error,
        });
        FileCalls {
            calls: calls.collect(),
            tools: index.tools().iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// Returns the name of the tool of one of its calls.
    pub fn tool_name(&self, call: &CountedCall) -> &str {
        self.tools.get(call.tool as usize).map_or("", String::as_str)
    }
}

impl CountedCall {
    /// Returns the key by which the copies of a call are sorted. The first one represents the call: one with a result, then
    /// the earliest.
    fn rank(&self) -> (bool, i64) {
        (!self.has_result, self.called_at.map_or(i64::MAX, |time| time.0))
    }
}

/// Returns the indices of the file and of the call for all but the best copy of each call, in no particular order.
///
/// The best copy has a result and is the earliest. Of equal copies, it is in the first file.
pub fn find_extra_copies(files: &[FileCalls]) -> Vec<(usize, usize)> {
    let mut best: IdMap<(usize, usize)> = IdMap::default();
    let mut extra = Vec::new();
    for (file_idx, file) in files.iter().enumerate() {
        for (call_idx, call) in file.calls.iter().enumerate() {
            match best.entry(call.id) {
                Slot::Vacant(slot) => {
                    slot.insert((file_idx, call_idx));
                }
                Slot::Occupied(mut slot) => {
                    let (best_file, best_call) = *slot.get();
                    let is_better = call.rank() < files[best_file].calls[best_call].rank();
                    let copy = (file_idx, call_idx);
                    extra.push(if is_better { slot.insert(copy) } else { copy });
                }
            }
        }
    }
    extra
}

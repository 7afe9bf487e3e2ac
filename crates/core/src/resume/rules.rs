//! The table of client behaviours by version, with the test cases that show each of them.

use crate::version::Version;

/// A client version as three numbers.
pub(super) type VersionTriple = [u64; 3];

/// A row of the table: the name of a behaviour, and its value from each version on, oldest first.
pub(super) struct Rule<T: 'static> {
    name: &'static str,
    values: &'static [(VersionTriple, T)],
    cases: &'static [&'static str],
}

impl<T: Copy> Rule<T> {
    const fn new(
        name: &'static str,
        values: &'static [(VersionTriple, T)],
        cases: &'static [&'static str],
    ) -> Rule<T> {
        Rule { name, values, cases }
    }

    /// Returns the value for a client version. Versions older than all measured ones get the oldest value.
    fn value_for(&self, client: &Version) -> T {
        let newest = self.values.iter().rev().find(|(since, _)| client.is_at_least(*since));
        newest.map_or(self.values[0].1, |(_, value)| *value)
    }

    fn to_row(&self) -> RuleRow {
        RuleRow {
            name: self.name,
            since: self.values.iter().map(|(since, _)| *since).collect(),
            cases: self.cases,
        }
    }
}

/// The behaviour of a client that resumes a session by the path of its file (measured with `docs/oracle/resume_path`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathResume {
    /// It reports an error.
    Refused,
    /// It continues in a copy with a new id, in the project of the current folder.
    CopiedWithNewId,
    /// It continues in a copy with the id of the session, in the project of the current folder.
    CopiedWithId,
    /// It continues in the file if that has the name of the session id, else in a copy next to it.
    Appended,
}

const PATH_RESUME: Rule<PathResume> = Rule::new(
    "path-resume",
    &[
        ([1, 0, 37], PathResume::Refused),
        ([1, 0, 124], PathResume::CopiedWithNewId),
        ([2, 1, 83], PathResume::CopiedWithId),
        ([2, 1, 187], PathResume::Appended),
    ],
    &[],
);

/// Predicts what a client does when it resumes a session by the path of its file.
pub fn predict_path_resume(client: &Version) -> PathResume {
    PATH_RESUME.value_for(client)
}

/// Returns the first client that resumes by path in this way, as in `2.1.187`.
pub fn find_first_path_resume(behaviour: PathResume) -> String {
    let first = PATH_RESUME.values.iter().find(|(_, value)| *value == behaviour);
    first.map_or_else(String::new, |([major, minor, patch], _)| format!("{major}.{minor}.{patch}"))
}

/// The measured client versions, oldest first: the first version of each set of rules, and versions between them.
pub const KNOWN_CLIENTS: &[&str] = &[
    "1.0.37", "1.0.98", "1.0.109", "2.0.1", "2.0.23", "2.0.24", "2.0.32", "2.0.47", "2.0.57", "2.0.76",
    "2.1.7", "2.1.9", "2.1.15", "2.1.20", "2.1.21", "2.1.30", "2.1.32", "2.1.42", "2.1.45", "2.1.63",
    "2.1.69", "2.1.73", "2.1.75", "2.1.76", "2.1.80", "2.1.85", "2.1.86", "2.1.88", "2.1.90", "2.1.91",
    "2.1.101", "2.1.104", "2.1.116", "2.1.120", "2.1.121", "2.1.124", "2.1.141", "2.1.149", "2.1.152",
    "2.1.163", "2.1.191", "2.1.200", "2.1.221", "2.1.234", "2.1.257", "2.1.261", "2.1.265", "2.1.267",
    "2.1.268", "2.1.281", "2.1.323", "2.1.325", "2.1.326", "2.1.327",
];

/// How the leaf is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeafChoice {
    /// The first after a sort by time, newest first.
    Sorted,
    /// The newest timestamp; the first of several. The client exits with an error if there is none.
    Newest,
    /// The only leaf of the file, or the last line if there are several. Then the nearest message at or above it. The client
    /// exits with an error if there is no leaf.
    Only,
    /// The nearest message at or above the last line.
    LastMessage,
    /// The last line.
    LastLine,
    /// The last line. If it is not the newest entry, its newest descendant.
    LastLineOrBelow,
}

/// How the client treats progress lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgressRule {
    /// They are not loaded. Their children are cut off.
    Ignored,
    /// They are loaded like other entries.
    Loaded,
    /// They are not loaded. Their children are linked to the nearest ancestor that is not a progress line.
    Bridged,
}

/// Which kinds of preserved entries the client restores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PreservedSupport {
    None,
    /// `preservedSegment`.
    Segment,
    /// `preservedMessages`, else `preservedSegment`.
    Messages,
}

/// How the other lines of a response and the results of its calls are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RejoinRule {
    Never,
    /// After the last line of the response on the walk. Results are found by parent and precede those on the walk.
    AfterLast,
    /// After the line on the walk that precedes them in the file, else after the first. Results are found by parent.
    InOrder,
    /// Like `InOrder`, but results are found by call.
    InOrderByCall,
}

/// Which entries the client loads below the last message at or above the leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrailingRule {
    /// The entries on the walk to the leaf.
    Walk,
    /// Every entry that is no message and that no message separates from it, sorted by time.
    ByTime,
    /// Like `ByTime`, but each is followed by its descendants.
    Depth,
}

/// When a turn is complete because the user rewound to its last message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RewindRule {
    Ignored,
    /// If it is the last message that is sent.
    LastSent,
    /// If it is the last message that is loaded.
    LastLoaded,
}

/// How calls without a result are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnansweredRule {
    /// The call is removed; other blocks of its line stay.
    DropCall,
    /// A line is removed if it has calls and none of them has a result.
    DropLine,
    /// Like `DropLine`, but calls of a turn that ends with a result, apart from such calls, get synthetic results.
    AnswerBeforeResult,
    /// Like `DropLine`, but calls of an interrupted turn get synthetic results, whether a call or a result is the end.
    AnswerInterruptedTurn,
}

/// Which blank answers are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlankRule {
    Sent,
    /// Whitespace.
    Dropped,
    /// Whitespace and `(no content)`.
    DroppedWithPlaceholder,
}

/// The position at which "No response requested." is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FillerRule {
    /// After a user line at the end of the chain.
    Entry,
    /// After the last message, if it is a user message.
    Message,
    /// Like `Message`, but not after lines of a local command that are marked as meta.
    MessageNotLocal,
}

/// The position at which "Continue from where you left off." is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContinuePrompt {
    Never,
    /// After a tool result, or if the chain ends with an attachment.
    ResultOrAttachment,
    /// After a tool result, or if the chain ends with an attachment to a user message.
    ResultOrAttachmentToPrompt,
}

/// How results without a call in the message before them are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OrphanRule {
    Sent,
    /// Removed except in the first message.
    DroppedAfterFirst,
    Dropped,
}

/// Which repeated calls and results are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RepeatRule {
    Sent,
    /// Repeats in the message of the first one are removed.
    DroppedInMessage,
    /// Repeated calls are removed from all messages, repeated results from their message.
    Dropped,
}

/// Which messages without blocks get a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlaceholderRule {
    None,
    Answers,
    /// All except the first.
    Later,
    /// All. The first gets another text.
    All,
}

const LEAF: Rule<LeafChoice> = Rule::new(
    "leaf",
    &[
        ([1, 0, 37], LeafChoice::Sorted),
        ([2, 1, 75], LeafChoice::Newest),
        ([2, 1, 101], LeafChoice::Only),
        ([2, 1, 116], LeafChoice::LastMessage),
        ([2, 1, 120], LeafChoice::LastLine),
        ([2, 1, 257], LeafChoice::LastLineOrBelow),
    ],
    &[
        "no_timestamp_first",
        "branch_last_in_file_but_older",
        "line_repeated_at_the_end",
        "last_line_has_a_child",
        "local_command_last",
    ],
);
const LEAF_WITHOUT_TIME: Rule<bool> = Rule::new(
    "a leaf without a timestamp can be loaded",
    &[([1, 0, 37], true), ([2, 1, 101], false)],
    &["no_timestamp_last"],
);
const SIDECHAIN_LEAF: Rule<bool> =
    Rule::new("sidechain leaf", &[([1, 0, 37], true), ([2, 0, 23], false)], &["sidechain_last"]);
const PIN: Rule<bool> = Rule::new(
    "pin",
    &[([1, 0, 37], false), ([2, 1, 120], true)],
    &["last_prompt_names_other_tip", "last_prompt_rewound_names_middle", "pinned_tip_then_branch"],
);
const PROGRESS: Rule<ProgressRule> = Rule::new(
    "progress",
    &[
        ([1, 0, 37], ProgressRule::Ignored),
        ([2, 1, 9], ProgressRule::Loaded),
        ([2, 1, 85], ProgressRule::Ignored),
        ([2, 1, 86], ProgressRule::Bridged),
    ],
    &["progress_in_the_chain", "progress_below_the_middle_last"],
);
const CYCLE_HANGS: Rule<bool> =
    Rule::new("a cycle hangs the client", &[([1, 0, 37], true), ([2, 1, 30], false)], &["cycle"]);
const LINK_BY_TIME: Rule<bool> = Rule::new(
    "an entry with a missing parent is linked to the newest entry of the five seconds before it",
    &[([1, 0, 37], false), ([2, 1, 91], true)],
    &["parent_missing", "parent_missing_with_recent_line"],
);
const CUT_AT_BOUNDARY: Rule<bool> = Rule::new(
    "entries above a compaction are dropped even if it has a parent",
    &[([1, 0, 37], false), ([1, 0, 109], true)],
    &["boundary_with_a_parent", "two_boundaries_with_parents"],
);
const PRESERVED: Rule<PreservedSupport> = Rule::new(
    "entries preserved by a compaction",
    &[
        ([1, 0, 37], PreservedSupport::None),
        ([2, 1, 76], PreservedSupport::Segment),
        ([2, 1, 141], PreservedSupport::Messages),
    ],
    &["preserved_segment", "preserved_messages"],
);
const LINK_TO_PRESERVED: Rule<bool> = Rule::new(
    "children of dropped entries are linked to the last preserved entry",
    &[([1, 0, 37], false), ([2, 1, 149], true)],
    &["preserved_then_branch_from_before"],
);
const REJOIN: Rule<RejoinRule> = Rule::new(
    "rejoin",
    &[
        ([1, 0, 37], RejoinRule::Never),
        ([2, 1, 80], RejoinRule::AfterLast),
        ([2, 1, 261], RejoinRule::InOrder),
        ([2, 1, 281], RejoinRule::InOrderByCall),
    ],
    &["parallel_tools", "chunks_of_one_message_as_siblings", "results_out_of_order", "result_elsewhere"],
);
const TRAILING: Rule<TrailingRule> = Rule::new(
    "trailing",
    &[
        ([1, 0, 37], TrailingRule::Walk),
        ([2, 1, 120], TrailingRule::ByTime),
        ([2, 1, 268], TrailingRule::Depth),
    ],
    &["pinned_prompt_with_local_commands_below", "local_commands_below_each_other"],
);
const REWIND: Rule<RewindRule> = Rule::new(
    "a turn that ends with the message that the user rewound to is not interrupted",
    &[
        ([1, 0, 37], RewindRule::Ignored),
        ([2, 1, 191], RewindRule::LastSent),
        ([2, 1, 234], RewindRule::LastLoaded),
    ],
    &["rewound_to_a_result", "rewound_to_a_call_without_result"],
);
const REWIND_WAITS: Rule<bool> = Rule::new(
    "a message that the user rewound to and that an attachment follows waits for an answer",
    &[([1, 0, 37], false), ([2, 1, 323], true)],
    &["rewound_to_a_result_before_an_attachment"],
);
const API_ERRORS: Rule<bool> =
    Rule::new("API errors are sent", &[([1, 0, 37], true), ([2, 0, 47], false)], &["api_error_last"]);
const LOCAL_COMMANDS: Rule<bool> = Rule::new(
    "system lines of local commands are sent",
    &[([1, 0, 37], false), ([2, 1, 63], true)],
    &["local_command_in_the_chain"],
);
const UNANSWERED: Rule<UnansweredRule> = Rule::new(
    "calls without a result",
    &[
        ([1, 0, 37], UnansweredRule::DropCall),
        ([2, 1, 30], UnansweredRule::DropLine),
        ([2, 1, 265], UnansweredRule::AnswerBeforeResult),
        ([2, 1, 281], UnansweredRule::AnswerInterruptedTurn),
    ],
    &[
        "tool_use_without_result_at_the_end",
        "text_next_to_a_call_without_result",
        "calls_without_result_in_an_interrupted_turn",
        "call_without_result_after_a_result",
        "calls_without_result_of_the_last_response",
    ],
);
const LONE_THINKING: Rule<bool> =
    Rule::new("thinking alone is sent", &[([1, 0, 37], true), ([2, 1, 7], false)], &["thinking_alone"]);
const BLANK: Rule<BlankRule> = Rule::new(
    "blank answers",
    &[
        ([1, 0, 37], BlankRule::Sent),
        ([2, 1, 32], BlankRule::Dropped),
        ([2, 1, 124], BlankRule::DroppedWithPlaceholder),
    ],
    &["blank_answer", "placeholder_answer"],
);
const EMPTY_LAST: Rule<bool> = Rule::new(
    "the last message may have no content",
    &[([1, 0, 37], false), ([2, 1, 30], true)],
    &["empty_prompt_last", "empty_answer_last"],
);
const BLANK_PROMPTS: Rule<bool> = Rule::new(
    "blank blocks of the user are sent",
    &[([1, 0, 37], true), ([2, 1, 152], false)],
    &["blank_prompt"],
);
const FILLER: Rule<FillerRule> = Rule::new(
    "filler",
    &[
        ([1, 0, 37], FillerRule::Entry),
        ([2, 1, 45], FillerRule::Message),
        ([2, 1, 267], FillerRule::MessageNotLocal),
    ],
    &["ends_with_a_prompt", "system_child_of_a_prompt", "meta_user_child_of_middle"],
);
const CONTINUE_PROMPT: Rule<ContinuePrompt> = Rule::new(
    "continue",
    &[
        ([1, 0, 37], ContinuePrompt::Never),
        ([2, 1, 42], ContinuePrompt::ResultOrAttachment),
        ([2, 1, 191], ContinuePrompt::ResultOrAttachmentToPrompt),
        ([2, 1, 281], ContinuePrompt::Never),
    ],
    &["attachment_last", "attachment_after_a_prompt_last", "ends_with_a_result"],
);
const SUMMARY_WAITS: Rule<bool> = Rule::new(
    "a compaction summary followed by attachments waits for an answer",
    &[([1, 0, 37], true), ([2, 1, 191], false)],
    &["summary_then_attachment_last"],
);
const MERGE_LINES: Rule<bool> = Rule::new(
    "lines of one response are merged into one message",
    &[([1, 0, 37], false), ([2, 0, 57], true)],
    &["result_between_two_calls"],
);
const TEXT_FIRST: Rule<bool> = Rule::new(
    "text precedes calls in a merged message",
    &[([1, 0, 37], false), ([2, 1, 121], true)],
    &["call_before_text"],
);
const RESULTS_FIRST: Rule<bool> = Rule::new(
    "results precede text in a user message",
    &[([1, 0, 37], false), ([2, 0, 24], true)],
    &["result_after_text"],
);
const ANSWER_CALLS: Rule<bool> = Rule::new(
    "a call without a result in the next message gets a synthetic one",
    &[([1, 0, 37], false), ([2, 1, 20], true)],
    &["result_after_another_answer"],
);
const ORPHANS: Rule<OrphanRule> = Rule::new(
    "results without a call",
    &[
        ([1, 0, 37], OrphanRule::Sent),
        ([2, 1, 21], OrphanRule::DroppedAfterFirst),
        ([2, 1, 69], OrphanRule::Dropped),
    ],
    &["tool_result_without_use", "result_without_call_first", "result_after_another_answer"],
);
const REPEATS: Rule<RepeatRule> = Rule::new(
    "repeated calls and results",
    &[
        ([1, 0, 37], RepeatRule::Sent),
        ([2, 1, 76], RepeatRule::DroppedInMessage),
        ([2, 1, 88], RepeatRule::Dropped),
    ],
    &["result_twice", "call_twice", "call_twice_in_one_response"],
);
const PLACEHOLDER: Rule<PlaceholderRule> = Rule::new(
    "(no content)",
    &[
        ([1, 0, 37], PlaceholderRule::None),
        ([2, 1, 30], PlaceholderRule::Answers),
        ([2, 1, 88], PlaceholderRule::Later),
        ([2, 1, 268], PlaceholderRule::All),
    ],
    &["empty_content", "tool_result_without_use", "result_without_call_alone_first"],
);

/// A row of the table without its values: the versions at which the value changes, and the cases that show it.
#[derive(Debug, Clone)]
pub struct RuleRow {
    /// The name of the behaviour.
    pub name: &'static str,
    /// The first client version of each value, oldest first.
    pub since: Vec<[u64; 3]>,
    /// The names of the test cases that show the behaviour.
    pub cases: &'static [&'static str],
}

/// Returns `true` if two client versions load and send the same entries of every session.
pub fn have_same_rules(a: &Version, b: &Version) -> bool {
    Rules::for_client(a) == Rules::for_client(b)
}

macro_rules! rules {
    ($($field:ident: $kind:ty = $rule:ident),* $(,)?) => {
        /// The rules of one client version.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) struct Rules {
            $(pub(super) $field: $kind,)*
        }

        impl Rules {
            /// Returns the rules that apply to a client version.
            pub(super) fn for_client(client: &Version) -> Rules {
                Rules { $($field: $rule.value_for(client),)* }
            }
        }

        /// Returns a row for each rule, in the order of the table.
        pub fn list_rules() -> Vec<RuleRow> {
            vec![$($rule.to_row()),*]
        }
    };
}

rules! {
    leaf: LeafChoice = LEAF,
    leaf_without_time: bool = LEAF_WITHOUT_TIME,
    sidechain_leaf: bool = SIDECHAIN_LEAF,
    pin: bool = PIN,
    progress: ProgressRule = PROGRESS,
    cycle_hangs: bool = CYCLE_HANGS,
    link_by_time: bool = LINK_BY_TIME,
    cut_at_boundary: bool = CUT_AT_BOUNDARY,
    preserved: PreservedSupport = PRESERVED,
    link_to_preserved: bool = LINK_TO_PRESERVED,
    rejoin: RejoinRule = REJOIN,
    trailing: TrailingRule = TRAILING,
    rewind: RewindRule = REWIND,
    rewind_waits: bool = REWIND_WAITS,
    api_errors: bool = API_ERRORS,
    local_commands: bool = LOCAL_COMMANDS,
    unanswered: UnansweredRule = UNANSWERED,
    lone_thinking: bool = LONE_THINKING,
    blank: BlankRule = BLANK,
    empty_last: bool = EMPTY_LAST,
    blank_prompts: bool = BLANK_PROMPTS,
    filler: FillerRule = FILLER,
    continue_prompt: ContinuePrompt = CONTINUE_PROMPT,
    summary_waits: bool = SUMMARY_WAITS,
    merge_lines: bool = MERGE_LINES,
    text_first: bool = TEXT_FIRST,
    results_first: bool = RESULTS_FIRST,
    answer_calls: bool = ANSWER_CALLS,
    orphans: OrphanRule = ORPHANS,
    repeats: RepeatRule = REPEATS,
    placeholder: PlaceholderRule = PLACEHOLDER,
}

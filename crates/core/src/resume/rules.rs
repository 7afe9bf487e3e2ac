//! The table: what clients do, by version, and the cases that show it.

use crate::version::Version;

/// A client version as three numbers.
pub(super) type V = [u64; 3];

/// One row of the table: an answer for each range of versions, the oldest first.
pub(super) struct Rule<T: 'static> {
    name: &'static str,
    answers: &'static [(V, T)],
    cases: &'static [&'static str],
}

impl<T: Copy> Rule<T> {
    const fn new(name: &'static str, answers: &'static [(V, T)], cases: &'static [&'static str]) -> Rule<T> {
        Rule { name, answers, cases }
    }

    /// Returns the answer for a client; older clients than any measured are taken for the oldest.
    fn of(&self, client: &Version) -> T {
        let newest = self.answers.iter().rev().find(|(since, _)| client.is_since(*since));
        newest.map_or(self.answers[0].1, |(_, answer)| *answer)
    }

    fn row(&self) -> Row {
        Row {
            name: self.name,
            since: self.answers.iter().map(|(since, _)| *since).collect(),
            cases: self.cases,
        }
    }
}

/// The clients that were asked.
pub const KNOWN_CLIENTS: &[&str] = &[
    "1.0.37", "1.0.98", "2.0.1", "2.0.32", "2.0.76", "2.1.15", "2.1.42", "2.1.73", "2.1.104", "2.1.163",
    "2.1.221", "2.1.281", "2.1.325",
];

/// How the leaf is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaf {
    /// The newest timestamp, the first of several.
    Newest,
    /// The only leaf of the file; where there are several, its last line; where there is none, the client gives up. Then
    /// up to a line that speaks.
    Only,
    /// The last line.
    LastLine,
    /// The last line; where it is not the newest and others hang below it, the newest of those.
    LastLineOrBelow,
}

/// What a progress line is to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Nothing: what hangs on it is cut off.
    Unread,
    /// An entry as any other.
    Entry,
    /// Nothing, but what hangs on it hangs on what is above it.
    SeenThrough,
}

/// Which of the entries kept by a compaction are put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PreservedSupport {
    Nothing,
    /// `preservedSegment`.
    Run,
    /// `preservedMessages`, else `preservedSegment`; what hung on dropped lines hangs on the last kept one.
    List,
}

/// How the other lines of a response and the results of its calls come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rejoin {
    Never,
    /// Behind the last line of the response on the walk; results by parent, before those on the walk.
    Behind,
    /// Behind the line on the walk that stands before it in the file, else behind the first; results by call.
    InOrder,
}

/// What becomes of calls without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// The call is left out, words beside it stay.
    LeaveOutCall,
    /// A line whose calls all lack a result is left out.
    LeaveOutLine,
    /// As before, but calls of a turn that was cut off get a made-up result.
    AnswerOpenTurn,
}

/// Which answers without words are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blank {
    Sent,
    /// White space.
    LeftOut,
    /// White space and `(no content)`.
    LeftOutAlsoPlaceholder,
}

/// Where "No response requested." is put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filler {
    /// Behind a user line that ends the chain.
    Entry,
    /// Behind the last line that speaks, if it is the user's.
    Speaker,
    /// The same, but not behind the lines of a local command that the client marked as its own.
    SpeakerNotLocal,
}

/// Where "Continue from where you left off." is put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContinuePrompt {
    Never,
    /// Behind a tool result.
    Result,
    /// Behind a tool result, or where an attachment ends the chain.
    ResultOrAttachment,
    /// Behind a tool result, or where an attachment to what the user said ends the chain.
    ResultOrAttachmentToPrompt,
}

/// What becomes of results without a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Orphans {
    Sent,
    /// Left out behind the first answer.
    LeftOutLater,
    LeftOut,
}

/// Which messages that lost everything say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placeholder {
    None,
    Answers,
    /// All but the first.
    Later,
    /// All, the first in other words.
    All,
}

const LEAF: Rule<Leaf> = Rule::new(
    "leaf",
    &[
        ([1, 0, 37], Leaf::Newest),
        ([2, 1, 104], Leaf::Only),
        ([2, 1, 163], Leaf::LastLine),
        ([2, 1, 281], Leaf::LastLineOrBelow),
    ],
    &["branch_last_in_file_but_older", "branch_in_the_middle_but_newest", "line_repeated_at_the_end"],
);
const TIMELESS_LEAF: Rule<bool> = Rule::new(
    "a leaf without a timestamp can be loaded",
    &[([1, 0, 37], true), ([2, 1, 104], false)],
    &["no_timestamp_last"],
);
const SIDE_LEAF: Rule<bool> =
    Rule::new("side leaf", &[([1, 0, 37], true), ([2, 0, 32], false)], &["sidechain_last"]);
const PIN: Rule<bool> = Rule::new(
    "pin",
    &[([1, 0, 37], false), ([2, 1, 163], true)],
    &["last_prompt_names_other_tip", "last_prompt_rewound_names_middle", "pinned_tip_then_branch"],
);
const PROGRESS: Rule<Progress> = Rule::new(
    "progress",
    &[([1, 0, 37], Progress::Unread), ([2, 1, 15], Progress::Entry), ([2, 1, 104], Progress::SeenThrough)],
    &["progress_in_the_chain", "progress_below_the_middle_last"],
);
const CYCLE_HANGS: Rule<bool> =
    Rule::new("a cycle hangs the client", &[([1, 0, 37], true), ([2, 1, 42], false)], &["cycle"]);
const BRIDGE: Rule<bool> = Rule::new(
    "a line whose parent is missing hangs on the newest of the five seconds before it",
    &[([1, 0, 37], false), ([2, 1, 104], true)],
    &["parent_missing", "parent_missing_written_at_once"],
);
const CUT_AT_BOUNDARY: Rule<bool> = Rule::new(
    "what is above a compaction is left out, also where it has a parent",
    &[([1, 0, 37], false), ([2, 0, 1], true)],
    &["boundary_with_a_parent"],
);
const KEEP: Rule<PreservedSupport> = Rule::new(
    "kept by a compaction",
    &[
        ([1, 0, 37], PreservedSupport::Nothing),
        ([2, 1, 104], PreservedSupport::Run),
        ([2, 1, 163], PreservedSupport::List),
    ],
    &["kept_run", "kept_list"],
);
const REJOIN: Rule<Rejoin> = Rule::new(
    "re-join",
    &[([1, 0, 37], Rejoin::Never), ([2, 1, 104], Rejoin::Behind), ([2, 1, 281], Rejoin::InOrder)],
    &["parallel_tools", "chunks_of_one_message_as_siblings", "results_out_of_order"],
);
const API_ERRORS: Rule<bool> =
    Rule::new("API errors are sent", &[([1, 0, 37], true), ([2, 0, 65], false)], &["api_error_last"]);
const LOCAL: Rule<bool> = Rule::new(
    "system lines of local commands are sent",
    &[([1, 0, 37], false), ([2, 1, 73], true)],
    &["local_command_in_the_chain"],
);
const UNANSWERED: Rule<Unanswered> = Rule::new(
    "calls without result",
    &[
        ([1, 0, 37], Unanswered::LeaveOutCall),
        ([2, 1, 42], Unanswered::LeaveOutLine),
        ([2, 1, 281], Unanswered::AnswerOpenTurn),
    ],
    &[
        "tool_use_without_result_at_the_end",
        "words_beside_a_call_without_result",
        "calls_without_result_of_the_last_response",
    ],
);
const LONE_THINKING: Rule<bool> =
    Rule::new("thinking alone is sent", &[([1, 0, 37], true), ([2, 1, 15], false)], &["thinking_alone"]);
const BLANK: Rule<Blank> = Rule::new(
    "answers without words",
    &[([1, 0, 37], Blank::Sent), ([2, 1, 42], Blank::LeftOut), ([2, 1, 163], Blank::LeftOutAlsoPlaceholder)],
    &["blank_answer", "placeholder_answer"],
);
const EMPTY_PROMPT_FILLS: Rule<bool> = Rule::new(
    "an empty prompt at the end is followed by a filler",
    &[([1, 0, 37], false), ([2, 1, 42], true)],
    &["empty_prompt_last"],
);
const BLANK_PROMPTS: Rule<bool> = Rule::new(
    "blank blocks of the user are sent",
    &[([1, 0, 37], true), ([2, 1, 163], false)],
    &["blank_prompt"],
);
const FILLER: Rule<Filler> = Rule::new(
    "filler",
    &[([1, 0, 37], Filler::Entry), ([2, 1, 73], Filler::Speaker), ([2, 1, 281], Filler::SpeakerNotLocal)],
    &["ends_with_a_prompt", "system_child_of_a_prompt", "meta_user_child_of_middle"],
);
const GO_ON: Rule<ContinuePrompt> = Rule::new(
    "continue",
    &[
        ([1, 0, 37], ContinuePrompt::Never),
        ([2, 1, 42], ContinuePrompt::ResultOrAttachment),
        ([2, 1, 104], ContinuePrompt::Result),
        ([2, 1, 163], ContinuePrompt::ResultOrAttachment),
        ([2, 1, 221], ContinuePrompt::ResultOrAttachmentToPrompt),
        ([2, 1, 281], ContinuePrompt::Never),
    ],
    &["attachment_last", "attachment_behind_a_prompt_last", "ends_with_a_result"],
);
const RECAP_WAITS: Rule<bool> = Rule::new(
    "the summary of a compaction, with attachments behind it, waits for an answer",
    &[([1, 0, 37], true), ([2, 1, 221], false)],
    &["summary_then_attachment_last"],
);
const UNITE: Rule<bool> = Rule::new(
    "lines of one response become one message",
    &[([1, 0, 37], false), ([2, 0, 76], true)],
    &["result_between_two_calls"],
);
const WORDS_FIRST: Rule<bool> = Rule::new(
    "words before calls in a united message",
    &[([1, 0, 37], false), ([2, 1, 163], true)],
    &["call_before_words"],
);
const RESULTS_FIRST: Rule<bool> = Rule::new(
    "results before words in a user message",
    &[([1, 0, 37], false), ([2, 0, 32], true)],
    &["result_behind_words"],
);
const ORPHANS: Rule<Orphans> = Rule::new(
    "results without call",
    &[([1, 0, 37], Orphans::Sent), ([2, 1, 42], Orphans::LeftOutLater), ([2, 1, 73], Orphans::LeftOut)],
    &["tool_result_without_use", "result_without_call_first"],
);
const PLACEHOLDER: Rule<Placeholder> = Rule::new(
    "(no content)",
    &[
        ([1, 0, 37], Placeholder::None),
        ([2, 1, 42], Placeholder::Answers),
        ([2, 1, 104], Placeholder::Later),
        ([2, 1, 281], Placeholder::All),
    ],
    &["empty_content", "tool_result_without_use", "result_without_call_alone_first"],
);

/// A row of the table, for those who look at it: since which versions it has another answer, and what shows it.
#[derive(Debug, Clone)]
pub struct Row {
    /// What it is about.
    pub name: &'static str,
    /// Where each answer begins.
    pub since: Vec<[u64; 3]>,
    /// The cases.
    pub cases: &'static [&'static str],
}

macro_rules! rules {
    ($($field:ident: $kind:ty = $rule:ident),* $(,)?) => {
        /// The rules of one client version.
        #[derive(Debug, Clone, Copy)]
        pub(super) struct Rules {
            $(pub(super) $field: $kind,)*
        }

        impl Rules {
            /// Reads the table's column for a client.
            pub(super) fn of(client: &Version) -> Rules {
                Rules { $($field: $rule.of(client),)* }
            }
        }

        /// Returns the rows of the table.
        pub fn rows() -> Vec<Row> {
            vec![$($rule.row()),*]
        }
    };
}

rules! {
    leaf: Leaf = LEAF,
    timeless_leaf: bool = TIMELESS_LEAF,
    side_leaf: bool = SIDE_LEAF,
    pin: bool = PIN,
    progress: Progress = PROGRESS,
    cycle_hangs: bool = CYCLE_HANGS,
    bridge: bool = BRIDGE,
    cut_at_boundary: bool = CUT_AT_BOUNDARY,
    keep: PreservedSupport = KEEP,
    rejoin: Rejoin = REJOIN,
    api_errors: bool = API_ERRORS,
    local: bool = LOCAL,
    unanswered: Unanswered = UNANSWERED,
    lone_thinking: bool = LONE_THINKING,
    blank: Blank = BLANK,
    empty_prompt_fills: bool = EMPTY_PROMPT_FILLS,
    blank_prompts: bool = BLANK_PROMPTS,
    filler: Filler = FILLER,
    go_on: ContinuePrompt = GO_ON,
    recap_waits: bool = RECAP_WAITS,
    unite: bool = UNITE,
    words_first: bool = WORDS_FIRST,
    results_first: bool = RESULTS_FIRST,
    orphans: Orphans = ORPHANS,
    placeholder: Placeholder = PLACEHOLDER,
}

//! Metadata of a session file: title, project, versions, activity, links to other sessions.

mod agent;
mod info;
mod prompt_history;
mod title;

pub use agent::{Agent, AgentCall, AgentCallIndex, AgentMeta};
pub use info::{ForkOrigin, PullRequest, SessionInfo, SessionInfoBuilder, SummaryTitles};
pub use prompt_history::{HistoryPrompt, PastedContent};
pub use title::{Title, TitleSource};

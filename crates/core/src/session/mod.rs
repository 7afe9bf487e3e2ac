//! Metadata of a session file: title, project, versions, activity, links to other sessions.

mod agent;
mod info;
mod title;

pub use agent::{Agent, AgentCall, AgentCallIndex, AgentMeta};
pub use info::{ForkOrigin, PullRequest, SessionInfo, SessionInfoBuilder, SummaryTitles};
pub use title::{Title, TitleSource};

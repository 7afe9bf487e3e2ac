//! What one file says of itself: title, project, versions, activity, links to other sessions.

mod agent;
mod sketch;
mod title;

pub use agent::{Agent, AgentCall, AgentCallIndex, AgentMeta};
pub use sketch::{Origin, PullRequest, SessionInfo, SessionInfoBuilder, Summaries};
pub use title::{Title, TitleSource};

//! What one file says of itself: title, project, versions, activity, links to other sessions.

mod agent;
mod info;
mod title;

pub use agent::{Agent, AgentCall, AgentCallIndex, AgentMeta};
pub use info::{Origin, PullRequest, SessionInfo, SessionInfoBuilder, Summaries};
pub use title::{Title, TitleSource};

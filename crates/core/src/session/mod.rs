//! What one file says of itself: title, project, versions, activity, links to other sessions.

mod agent;
mod sketch;
mod title;

pub use agent::{Agent, AgentMeta, Launch, Launches};
pub use sketch::{Origin, PullRequest, Sketch, Sketcher, Summaries};
pub use title::{Title, TitleSource};

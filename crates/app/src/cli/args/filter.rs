//! Conditions on sessions, for `ls` and `rm`.

use rethread_engine::ops::list::SessionFilter;

use crate::cli::error::CliError;
use crate::text::time::Clock;

/// The options that select sessions. All of them must match.
#[derive(Debug, clap::Args)]
pub(crate) struct FilterArgs {
    /// Only projects with this text in their path
    #[arg(long, value_name = "TEXT")]
    pub(crate) project: Option<String>,
    /// Only sessions with this text in their title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Only sessions used since: today, yesterday, monday, 7d, 12h, 2w, 2026-01-31
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Only sessions started before
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<String>,
    /// Only sessions last used before: 90d, 12w, 2026-01-31
    #[arg(long, value_name = "WHEN")]
    pub(crate) older_than: Option<String>,
    /// Only git branches with this text in their name
    #[arg(long, value_name = "TEXT")]
    pub(crate) git_branch: Option<String>,
    /// Only sessions that used a model with this text in its name
    #[arg(long, value_name = "TEXT")]
    pub(crate) model: Option<String>,
    /// Only sessions without messages
    #[arg(long)]
    pub(crate) empty: bool,
}

impl FilterArgs {
    /// Returns `true` if no option is given, so that all sessions match.
    pub(crate) fn is_unset(&self) -> bool {
        let FilterArgs { project, title, since, until, older_than, git_branch, model, empty } = self;
        !empty
            && [project, title, since, until, older_than, git_branch, model].iter().all(|text| text.is_none())
    }

    /// Converts the options to a filter. Returns an error if a time cannot be parsed.
    pub(crate) fn to_filter(&self, clock: &Clock) -> Result<SessionFilter, CliError> {
        let parse_time = |text: &Option<String>| match text {
            Some(text) => clock.parse_time(text).map(Some).ok_or_else(|| CliError::BadTime(text.clone())),
            None => Ok(None),
        };
        Ok(SessionFilter {
            // Empty sessions are hidden otherwise.
            all: self.empty,
            only_empty: self.empty,
            project: self.project.clone(),
            title: self.title.clone(),
            branch: self.git_branch.clone(),
            model: self.model.clone(),
            since: parse_time(&self.since)?,
            until: parse_time(&self.until)?,
            last_before: parse_time(&self.older_than)?,
            ..SessionFilter::default()
        })
    }
}

//! Sessions for the tests of the server.

use rethread_testkit::home::Home;

use crate::new_home;

/// Text that a browser or a terminal could interpret.
pub(crate) const HOSTILE_TEXT: &str =
    "<script>alert(1)</script>\"><img src=x onerror=alert(2)>&lt;'`${7}\u{1b}[2J\u{202e}\0end";

/// A session in which every prompt has a short answer.
#[derive(Debug, Clone)]
pub(crate) struct SessionFixture<'s> {
    /// The last four characters of the id.
    pub(crate) id: &'s str,
    /// The working directory of the client.
    pub(crate) cwd: &'s str,
    /// The git branch.
    pub(crate) branch: &'s str,
    /// The prompts, one per turn.
    pub(crate) prompts: &'s [&'s str],
    /// The date of all entries.
    pub(crate) day: &'s str,
    /// The way in which the client was started.
    pub(crate) entrypoint: &'s str,
}

impl Default for SessionFixture<'_> {
    fn default() -> Self {
        SessionFixture {
            id: "0001",
            cwd: "/code/shop",
            branch: "main",
            prompts: &["hello"],
            day: "2026-01-01",
            entrypoint: "cli",
        }
    }
}

impl SessionFixture<'_> {
    /// Returns the full session id, which is also its key in URLs.
    pub(crate) fn key(&self) -> String {
        format!("11111111-2222-4333-8444-55555555{}", self.id)
    }

    /// Writes the session file into `home`.
    pub(crate) fn write(&self, home: &Home) {
        let key = self.key();
        let json = |text: &str| serde_json::to_string(text).unwrap();
        let mut lines = String::new();
        let mut parent = "null".to_owned();
        for (idx, prompt) in self.prompts.iter().enumerate() {
            let common_fields = |uuid: &str, parent: &str, minute: usize| {
                format!(
                    r#""uuid":"{uuid}","parentUuid":{parent},"sessionId":"{key}","cwd":{},"gitBranch":{},"version":"2.1.0","entrypoint":{},"timestamp":"{}T10:{minute:02}:00.000Z""#,
                    json(self.cwd),
                    json(self.branch),
                    json(self.entrypoint),
                    self.day
                )
            };
            let (prompt_uuid, answer_uuid) = (format!("{}-u{idx}", self.id), format!("{}-a{idx}", self.id));
            lines.push_str(&format!(
                "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":{}}},{}}}\n",
                json(prompt),
                common_fields(&prompt_uuid, &parent, idx * 2)
            ));
            lines.push_str(&format!(
                "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m-{answer_uuid}\",\"role\":\"assistant\",\"model\":\"claude-opus-4-1-20250805\",\"content\":[{{\"type\":\"text\",\"text\":\"an answer\"}}],\"usage\":{{\"input_tokens\":10,\"output_tokens\":20}}}},{}}}\n",
                common_fields(&answer_uuid, &format!("\"{prompt_uuid}\""), idx * 2 + 1)
            ));
            parent = format!("\"{answer_uuid}\"");
        }
        home.write_old(&format!(".claude/projects/-code/{key}.jsonl"), lines);
    }
}

/// Creates a home with three sessions in two repositories. The third is headless.
pub(crate) fn new_three_session_home() -> Home {
    let home = new_home();
    SessionFixture { prompts: &["fix the kraken", "and its arms"], ..SessionFixture::default() }.write(&home);
    SessionFixture {
        id: "0002",
        cwd: "/code/shop/.claude/worktrees/blue",
        branch: "blue",
        prompts: &["paint it blue"],
        day: "2026-02-02",
        ..SessionFixture::default()
    }
    .write(&home);
    SessionFixture {
        id: "0003",
        cwd: "/code/tides",
        prompts: &["ebb"],
        entrypoint: "sdk-cli",
        ..SessionFixture::default()
    }
    .write(&home);
    home
}

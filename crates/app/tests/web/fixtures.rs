//! Sessions that tests ask for.

use crate::home::Home;

/// What a page could obey, and what a terminal could, in one string.
pub(crate) const POISON: &str =
    "<script>alert(1)</script>\"><img src=x onerror=alert(2)>&lt;'`${7}\u{1b}[2J\u{202e}\0end";

/// One session.
#[derive(Debug, Clone)]
pub(crate) struct Session<'s> {
    /// The last four letters of its id.
    pub(crate) id: &'s str,
    /// The folder it was started in.
    pub(crate) cwd: &'s str,
    /// The git branch.
    pub(crate) branch: &'s str,
    /// What the user says, turn by turn.
    pub(crate) prompts: &'s [&'s str],
    /// When the first was said.
    pub(crate) day: &'s str,
    /// How the client was started.
    pub(crate) entrypoint: &'s str,
}

impl Default for Session<'_> {
    fn default() -> Self {
        Session {
            id: "0001",
            cwd: "/code/shop",
            branch: "main",
            prompts: &["hello"],
            day: "2026-01-01",
            entrypoint: "cli",
        }
    }
}

impl Session<'_> {
    /// Returns its whole id.
    pub(crate) fn key(&self) -> String {
        format!("11111111-2222-4333-8444-55555555{}", self.id)
    }

    /// Writes it into a home.
    pub(crate) fn write(&self, home: &Home) {
        let key = self.key();
        let json = |text: &str| serde_json::to_string(text).unwrap();
        let mut lines = String::new();
        let mut parent = "null".to_owned();
        for (no, prompt) in self.prompts.iter().enumerate() {
            let head = |uuid: &str, parent: &str, minute: usize| {
                format!(
                    r#""uuid":"{uuid}","parentUuid":{parent},"sessionId":"{key}","cwd":{},"gitBranch":{},"version":"2.1.0","entrypoint":{},"timestamp":"{}T10:{minute:02}:00.000Z""#,
                    json(self.cwd),
                    json(self.branch),
                    json(self.entrypoint),
                    self.day
                )
            };
            let (asks, answers) = (format!("{}-u{no}", self.id), format!("{}-a{no}", self.id));
            lines.push_str(&format!(
                "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":{}}},{}}}\n",
                json(prompt),
                head(&asks, &parent, no * 2)
            ));
            lines.push_str(&format!(
                "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m-{answers}\",\"role\":\"assistant\",\"model\":\"claude-opus-4-1-20250805\",\"content\":[{{\"type\":\"text\",\"text\":\"an answer\"}}],\"usage\":{{\"input_tokens\":10,\"output_tokens\":20}}}},{}}}\n",
                head(&answers, &format!("\"{asks}\""), no * 2 + 1)
            ));
            parent = format!("\"{answers}\"");
        }
        home.write_old(&format!(".claude/projects/-code/{key}.jsonl"), lines);
    }
}

/// Three sessions in two repositories, one of them headless.
pub(crate) fn small() -> Home {
    let home = Home::new();
    Session { prompts: &["fix the kraken", "and its arms"], ..Session::default() }.write(&home);
    Session {
        id: "0002",
        cwd: "/code/shop/.claude/worktrees/blue",
        branch: "blue",
        prompts: &["paint it blue"],
        day: "2026-02-02",
        ..Session::default()
    }
    .write(&home);
    Session {
        id: "0003",
        cwd: "/code/tides",
        prompts: &["ebb"],
        entrypoint: "sdk-cli",
        ..Session::default()
    }
    .write(&home);
    home
}

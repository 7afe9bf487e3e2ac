//! The files and commands with which systemd, launchd, the Task Scheduler and cron run `archive` regularly.

use std::path::{Path, PathBuf};

use crate::text::shell::quote;

/// The name of the systemd units, without extension.
const UNIT_NAME: &str = "rethread-archive";
/// The label of the launchd agent.
const AGENT_LABEL: &str = "rethread.archive";
/// The name of the Windows task.
const TASK_NAME: &str = "rethread archive";

/// The system that runs a command regularly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SystemKind {
    Systemd,
    Launchd,
    TaskScheduler,
}

impl SystemKind {
    /// Returns the system of this machine.
    pub(super) fn current() -> SystemKind {
        if cfg!(target_os = "macos") {
            SystemKind::Launchd
        } else if cfg!(windows) {
            SystemKind::TaskScheduler
        } else {
            SystemKind::Systemd
        }
    }
}

/// A command that the system runs regularly.
#[derive(Debug, Clone)]
pub(super) struct ScheduledCommand {
    /// The absolute path of the program.
    pub(super) program: String,
    pub(super) args: Vec<String>,
    /// The value of `XDG_STATE_HOME`, so that the run has the same state folder as this one.
    pub(super) state_home: String,
    pub(super) minutes: u32,
}

/// The folders in which files of a schedule are.
#[derive(Debug, Clone)]
pub(super) struct ScheduleFolders {
    pub(super) home: PathBuf,
    /// `$XDG_CONFIG_HOME` or `~/.config`.
    pub(super) config_home: PathBuf,
}

/// Returns `true` if the files of a system can contain a word.
///
/// The Task Scheduler replaces `%NAME%` and `$(Arg0)`, and has no way to escape them.
pub(super) fn is_writable(system: SystemKind, word: &str) -> bool {
    let is_replaced = || word.matches('%').count() > 1 || word.contains("$(");
    let is_unwritable =
        word.chars().any(char::is_control) || system == SystemKind::TaskScheduler && is_replaced();
    !is_unwritable
}

/// Returns the paths of the files, the one that the system starts first.
pub(super) fn list_paths(system: SystemKind, folders: &ScheduleFolders) -> Vec<PathBuf> {
    match system {
        SystemKind::Systemd => ["timer", "service"]
            .map(|kind| folders.config_home.join("systemd/user").join(format!("{UNIT_NAME}.{kind}")))
            .to_vec(),
        SystemKind::Launchd => {
            vec![folders.home.join("Library/LaunchAgents").join(format!("{AGENT_LABEL}.plist"))]
        }
        SystemKind::TaskScheduler => vec![folders.config_home.join("rethread").join("archive-task.xml")],
    }
}

/// Formats the content of the files, in the order of [`list_paths`].
pub(super) fn format_files(system: SystemKind, command: &ScheduledCommand) -> Vec<String> {
    match system {
        SystemKind::Systemd => vec![format_timer(command), format_service(command)],
        SystemKind::Launchd => vec![format_agent(command)],
        SystemKind::TaskScheduler => vec![format_task(command)],
    }
}

/// Returns the commands, each as its words, that make the system start the schedule, or stop it.
pub(super) fn list_commands(system: SystemKind, path: &Path, is_removed: bool) -> Vec<Vec<String>> {
    let path = path.display().to_string();
    let timer = format!("{UNIT_NAME}.timer");
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    match (system, is_removed) {
        (SystemKind::Systemd, false) => vec![
            words(&["systemctl", "--user", "daemon-reload"]),
            words(&["systemctl", "--user", "enable", "--now", &timer]),
        ],
        (SystemKind::Systemd, true) => vec![words(&["systemctl", "--user", "disable", "--now", &timer])],
        (SystemKind::Launchd, false) => vec![words(&["launchctl", "load", "-w", &path])],
        (SystemKind::Launchd, true) => vec![words(&["launchctl", "unload", "-w", &path])],
        (SystemKind::TaskScheduler, false) => {
            vec![words(&["schtasks", "/Create", "/F", "/TN", TASK_NAME, "/XML", &path])]
        }
        (SystemKind::TaskScheduler, true) => vec![words(&["schtasks", "/Delete", "/F", "/TN", TASK_NAME])],
    }
}

fn format_timer(command: &ScheduledCommand) -> String {
    format!(
        "# Written by `rethread archive schedule`.\n[Unit]\nDescription=Archive Claude Code sessions\n\n\
        [Timer]\nOnActiveSec=1min\nOnUnitActiveSec={}min\n\n[Install]\nWantedBy=timers.target\n",
        command.minutes
    )
}

fn format_service(command: &ScheduledCommand) -> String {
    // systemd expands no variables in the program.
    let program = quote_for_systemd(&command.program, false);
    let args: String = command.args.iter().map(|arg| format!(" {}", quote_for_systemd(arg, true))).collect();
    let state = quote_for_systemd(&format!("XDG_STATE_HOME={}", command.state_home), false);
    format!(
        "# Written by `rethread archive schedule`.\n[Unit]\nDescription=Archive Claude Code sessions\n\n\
        [Service]\nType=oneshot\nNice=10\nEnvironment={state}\nStandardOutput=null\nExecStart={program}{args}\n"
    )
}

/// Quotes a word of a unit file.
fn quote_for_systemd(word: &str, expands_variables: bool) -> String {
    let mut quoted = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    if expands_variables {
        quoted = quoted.replace('$', "$$");
    }
    format!("\"{quoted}\"")
}

fn format_agent(command: &ScheduledCommand) -> String {
    let words = std::iter::once(&command.program).chain(&command.args);
    let words: String =
        words.map(|word| format!("        <string>{}</string>\n", escape_xml(word))).collect();
    let (seconds, state) = (command.minutes * 60, escape_xml(&command.state_home));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
        <plist version=\"1.0\">\n<dict>\n    <key>Label</key>\n    <string>{AGENT_LABEL}</string>\n    \
        <key>ProgramArguments</key>\n    <array>\n{words}    </array>\n    \
        <key>EnvironmentVariables</key>\n    <dict>\n        <key>XDG_STATE_HOME</key>\n        \
        <string>{state}</string>\n    </dict>\n    <key>StartInterval</key>\n    <integer>{seconds}</integer>\n    \
        <key>RunAtLoad</key>\n    <true/>\n    <key>ProcessType</key>\n    <string>Background</string>\n    \
        <key>StandardOutPath</key>\n    <string>/dev/null</string>\n</dict>\n</plist>\n"
    )
}

fn format_task(command: &ScheduledCommand) -> String {
    let args: Vec<String> = command.args.iter().map(|arg| quote_for_windows(arg)).collect();
    let (program, args) = (escape_xml(&command.program), escape_xml(&args.join(" ")));
    format!(
        "<Task version=\"1.2\" xmlns=\"http://schemas.microsoft.com/windows/2004/02/mit/task\">\n  \
        <Triggers>\n    <TimeTrigger>\n      <Repetition><Interval>PT{}M</Interval></Repetition>\n      \
        <StartBoundary>2026-01-01T00:00:00</StartBoundary>\n    </TimeTrigger>\n  </Triggers>\n  \
        <Settings>\n    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>\n    \
        <StartWhenAvailable>true</StartWhenAvailable>\n    <Hidden>true</Hidden>\n  </Settings>\n  \
        <Actions>\n    <Exec>\n      <Command>{program}</Command>\n      <Arguments>{args}</Arguments>\n    \
        </Exec>\n  </Actions>\n</Task>\n",
        command.minutes
    )
}

/// Quotes an argument as programs on Windows parse it: backslashes count only before a quote.
fn quote_for_windows(arg: &str) -> String {
    let mut quoted = String::from("\"");
    let mut backslashes = 0;
    for c in arg.chars() {
        if c == '"' {
            quoted.push_str(&"\\".repeat(backslashes + 1));
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        quoted.push(c);
    }
    quoted.push_str(&"\\".repeat(backslashes));
    quoted.push('"');
    quoted
}

fn escape_xml(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('"', "&quot;").replace('\'', "&apos;")
}

/// Formats a line for `crontab -e` that runs about as often.
pub(super) fn format_cron_line(command: &ScheduledCommand) -> String {
    let when = match command.minutes {
        minutes @ ..60 => format!("*/{minutes} * * * *"),
        minutes @ ..1440 => format!("0 */{} * * *", minutes / 60),
        minutes => format!("0 0 */{} * *", (minutes / 1440).min(28)),
    };
    let words = std::iter::once(&command.program).chain(&command.args);
    let words: Vec<String> = words.map(|word| quote(word)).collect();
    let line = format!("XDG_STATE_HOME={} {} >/dev/null", quote(&command.state_home), words.join(" "));
    // A plain % is a line feed for cron.
    format!("{when} {}", line.replace('%', "\\%"))
}

/// Parses how often a command runs: `15m`, `2h`, `1d`. Returns minutes, or `None` if it is not between a minute and 28 days.
pub(super) fn parse_interval(text: &str) -> Option<u32> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let factor = match unit {
        "m" => 1,
        "h" => 60,
        "d" => 24 * 60,
        _ => return None,
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let minutes = number.parse::<u32>().ok().filter(|_| is_number)?.checked_mul(factor)?;
    (1..=28 * 24 * 60).contains(&minutes).then_some(minutes)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A path with everything that has a meaning in one of the files.
    pub(in crate::cli::archive::schedule) const HOSTILE: &str = "/home/ann b/100%/$HOME/\"q\" & <x> 'y' \\z";

    pub(in crate::cli::archive::schedule) fn command() -> ScheduledCommand {
        ScheduledCommand {
            program: "/opt/my tools/50% $x/rethread".to_owned(),
            args: vec!["--root".to_owned(), HOSTILE.to_owned(), "archive".to_owned()],
            state_home: "/home/ann b/.local/state".to_owned(),
            minutes: 15,
        }
    }

    #[test]
    fn units_quote_spaces_percent_signs_dollars_and_quotes() {
        let [timer, service] = format_files(SystemKind::Systemd, &command()).try_into().unwrap();
        assert!(timer.contains("\nOnUnitActiveSec=15min\n"), "{timer}");
        let line = "ExecStart=\"/opt/my tools/50%% $x/rethread\" \"--root\" \
            \"/home/ann b/100%%/$$HOME/\\\"q\\\" & <x> 'y' \\\\z\" \"archive\"\n";
        assert!(service.contains(line), "{service}");
        assert!(service.contains("Environment=\"XDG_STATE_HOME=/home/ann b/.local/state\"\n"), "{service}");
    }

    #[test]
    fn the_agent_and_the_task_are_valid_xml() {
        let agent = format_files(SystemKind::Launchd, &command()).remove(0);
        let escaped = "/home/ann b/100%/$HOME/&quot;q&quot; &amp; &lt;x&gt; &apos;y&apos; \\z";
        assert!(agent.contains(&format!("        <string>{escaped}</string>\n")), "{agent}");
        assert!(agent.contains("<integer>900</integer>"), "{agent}");
        let task = format_files(SystemKind::TaskScheduler, &command()).remove(0);
        let argument =
            "&quot;/home/ann b/100%/$HOME/\\&quot;q\\&quot; &amp; &lt;x&gt; &apos;y&apos; \\z&quot;";
        assert!(
            task.contains(&format!("<Arguments>&quot;--root&quot; {argument} &quot;archive&quot;<")),
            "{task}"
        );
        assert!(task.contains("<Interval>PT15M</Interval>"), "{task}");
    }

    #[test]
    fn words_that_the_system_would_replace_are_refused() {
        for (word, is_task) in
            [(HOSTILE, true), ("C:\\%TEMP%", false), ("/a/$(Arg0)", false), ("/a\nb", false)]
        {
            assert_eq!(is_writable(SystemKind::TaskScheduler, word), is_task, "{word}");
            assert_eq!(is_writable(SystemKind::Systemd, word), !word.contains('\n'), "{word}");
        }
    }

    #[test]
    fn windows_arguments_double_backslashes_only_before_quotes() {
        assert_eq!(quote_for_windows(r"C:\a b\"), r#""C:\a b\\""#);
        assert_eq!(quote_for_windows(r#"a\"b"#), r#""a\\\"b""#);
        assert_eq!(quote_for_windows(r"a\b"), r#""a\b""#);
    }

    #[test]
    fn cron_lines_escape_percent_signs() {
        let line = format_cron_line(&command());
        assert!(line.starts_with("*/15 * * * * XDG_STATE_HOME='/home/ann b/.local/state' "), "{line}");
        assert!(line.contains("100\\%/") && !line.replace("\\%", "").contains('%'), "{line}");
        for (minutes, start) in [(60, "0 */1 "), (180, "0 */3 "), (2880, "0 0 */2 ")] {
            let line = format_cron_line(&ScheduledCommand { minutes, ..command() });
            assert!(line.starts_with(start), "{line}");
        }
    }

    #[test]
    fn intervals_are_parsed() {
        for (text, minutes) in
            [("15m", Some(15)), ("2h", Some(120)), ("1d", Some(1440)), ("28d", Some(40_320)), ("29d", None)]
        {
            assert_eq!(parse_interval(text), minutes, "{text}");
        }
        for text in ["", "m", "0m", "15", "-1m", "+1m", "1.5h", "15s", "99999999999d", "ü"] {
            assert_eq!(parse_interval(text), None, "{text}");
        }
    }
}

//! Finds, starts and stops Chromium.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use super::connection::{Connection, lock};
use super::page::Page;
use crate::process::ProcessCommand;

/// The program names of Chromium.
const PROGRAM_NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Command-line options: no window, no network, and the same pixels on every machine.
const OPTIONS: [&str; 28] = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--mute-audio",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--renderer-process-limit=2",
    "--disable-features=SpareRendererForSitePerProcess,MediaRouter,Translate,OptimizationHints",
    "--no-startup-window",
    "--lang=en-US",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    // local-only: a request to a foreign host is detected by the test and must not leave the machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];

/// The supervisor script: starts Chromium with our pipes as file descriptors 3 and 4, waits until it exits, and removes
/// its folder, even if the test process has died.
const SUPERVISOR: &str =
    r#"folder=$1; shift; "$@" 3<&0 4>&1 </dev/null >/dev/null; exec <&- >&-; cd /; rm -rf "$folder""#;

/// The time that Chromium has to exit before it is killed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of bytes of Chromium's stderr that are kept.
const STDERR_BYTES: usize = 4096;

/// A running Chromium. It exits when this value is dropped or when the process ends.
pub struct Browser {
    connection: Arc<Connection>,
    supervisor: Child,
    folder: TempDir,
}

impl Browser {
    /// Starts a new Chromium. Returns `None` and prints a message if Chromium is not installed or does not start.
    ///
    /// Panics instead if `RETHREAD_NEEDS_CHROMIUM` is set.
    #[track_caller]
    pub fn start() -> Option<Browser> {
        let reason = match find_program().map(|program| launch(&program)) {
            Some(Ok(browser)) => return Some(browser),
            Some(Err(reason)) => reason,
            None => "no Chromium was found".to_owned(),
        };
        let is_required = std::env::var_os("RETHREAD_NEEDS_CHROMIUM").is_some_and(|value| !value.is_empty());
        assert!(!is_required, "RETHREAD_NEEDS_CHROMIUM is set, but {reason}");
        print_skipped(&reason);
        None
    }

    /// Returns the Chromium that all tests of a binary share. The first call starts it.
    #[track_caller]
    pub fn shared() -> Option<&'static Browser> {
        static SHARED: OnceLock<Option<Browser>> = OnceLock::new();
        // `get_or_init` would hide the line of the test from `track_caller`, because a closure has its own location.
        if SHARED.get().is_none() {
            static START_LOCK: Mutex<()> = Mutex::new(());
            let _guard = lock(&START_LOCK);
            if SHARED.get().is_none() {
                let _ = SHARED.set(Browser::start());
            }
        }
        SHARED.get().and_then(Option::as_ref)
    }

    /// Opens an empty page with its own cookies and storage.
    #[track_caller]
    pub fn open_page(&self) -> Page {
        Page::open(&self.connection)
    }

    /// Returns the process id of the supervisor, which is also the id of the process group of Chromium.
    pub fn process_id(&self) -> u32 {
        self.supervisor.id()
    }

    /// Returns the folder of the profile, which is removed after Chromium has exited.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.connection.close();
        let deadline = Instant::now() + EXIT_TIMEOUT;
        while Instant::now() < deadline {
            if !matches!(self.supervisor.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let group = format!("-{}", self.supervisor.id());
        let _ = ProcessCommand::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.supervisor.wait();
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test prints a message")]
fn print_skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// Returns the Chromium to start: the value of `RETHREAD_CHROMIUM`, or the first one in `PATH`.
fn find_program() -> Option<PathBuf> {
    if let Some(program) = std::env::var_os("RETHREAD_CHROMIUM").filter(|name| !name.is_empty()) {
        return Some(PathBuf::from(program));
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let candidates =
        PROGRAM_NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates.into_iter().find(|candidate| candidate.is_file())
}

/// Starts Chromium and waits until it responds. Returns the reason if it fails.
fn launch(program: &Path) -> Result<Browser, String> {
    let shown = program.display();
    let folder = tempfile::Builder::new().prefix("rt-").tempdir().map_err(|e| format!("no folder: {e}"))?;
    let mut supervisor = build_command(program, folder.path())
        .spawn()
        .map_err(|error| format!("`{shown}` could not be started: {error}"))?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (supervisor.stdin.take(), supervisor.stdout.take(), supervisor.stderr.take())
    else {
        return Err(format!("`{shown}` has no pipes"));
    };
    let stderr_tail = read_stderr(stderr);
    let browser = Browser { connection: Connection::new(stdin, stdout), supervisor, folder };
    match browser.connection.try_call(None, "Browser.getVersion", &json!({})) {
        Ok(_) => Ok(browser),
        Err(reason) => {
            drop(browser);
            let stderr_tail = lock(&stderr_tail);
            Err(format!("`{shown}` does not respond: {reason}\n{}", String::from_utf8_lossy(&stderr_tail)))
        }
    }
}

/// Returns the command that starts the supervisor and Chromium, with its own home directory.
fn build_command(program: &Path, folder: &Path) -> ProcessCommand {
    let mut profile = OsString::from("--user-data-dir=");
    profile.push(folder.join("profile"));
    let mut command = Command::new("sh");
    command.arg("-c").arg(SUPERVISOR).arg("supervisor").arg(folder).arg(program).args(OPTIONS).arg(profile);
    for name in ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
        command.env(name, folder);
    }
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    // A separate process group: a signal that the terminal sends to the tests must not stop the supervisor.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut command = ProcessCommand::from(command);
    command.stdin(Stdio::piped());
    command
}

/// Reads stderr in a thread and keeps its last bytes.
fn read_stderr(mut stderr: ChildStderr) -> Arc<Mutex<Vec<u8>>> {
    let tail = Arc::new(Mutex::new(Vec::new()));
    let thread_tail = Arc::clone(&tail);
    std::thread::spawn(move || {
        let mut chunk = [0; 1024];
        while let Ok(len @ 1..) = stderr.read(&mut chunk) {
            let mut tail = lock(&thread_tail);
            tail.extend_from_slice(&chunk[..len]);
            let surplus = tail.len().saturating_sub(STDERR_BYTES);
            tail.drain(..surplus);
        }
    });
    tail
}

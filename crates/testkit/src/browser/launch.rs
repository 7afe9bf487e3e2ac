//! Finds Chromium, starts it and sees to its end.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use super::connection::{Wire, held};
use super::page::Page;

/// Names under which Chromium is installed.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// What Chromium is told: no window, nothing from outside, and the same pixels on every machine.
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
    // stays-home: a page that asks for a foreign host is caught by its request, which must not leave the machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];

/// The keeper: gives Chromium our pipes as 3 and 4, waits for its end, and removes its folder even when we are dead by then.
const KEEPER: &str =
    r#"folder=$1; shift; "$@" 3<&0 4>&1 </dev/null >/dev/null; exec <&- >&-; cd /; rm -rf "$folder""#;

/// How long Chromium may take to end by itself before it is killed.
const FAREWELL: Duration = Duration::from_secs(5);

/// How much of what Chromium says on stderr is kept.
const LAST_WORDS: usize = 4096;

/// A running Chromium; it ends when this is dropped, or when the process ends.
pub struct Browser {
    wire: Arc<Wire>,
    keeper: Child,
    folder: TempDir,
}

impl Browser {
    /// Starts a Chromium of its own, where there is one.
    ///
    /// Where there is none, this says so on stderr, or panics where `RETHREAD_NEEDS_CHROMIUM` is set.
    #[track_caller]
    pub fn start() -> Option<Browser> {
        let why = match find().map(|program| launch(&program)) {
            Some(Ok(browser)) => return Some(browser),
            Some(Err(why)) => why,
            None => "no Chromium was found".to_owned(),
        };
        let needed = std::env::var_os("RETHREAD_NEEDS_CHROMIUM").is_some_and(|value| !value.is_empty());
        assert!(!needed, "RETHREAD_NEEDS_CHROMIUM is set, but {why}");
        skipped(&why);
        None
    }

    /// Returns the one Chromium that all tests of a binary share, started by the first that asks.
    #[track_caller]
    pub fn shared() -> Option<&'static Browser> {
        static SHARED: OnceLock<Option<Browser>> = OnceLock::new();
        // A closure would hide the line of the test: it is only called where nothing was started yet.
        if SHARED.get().is_none() {
            static TURN: Mutex<()> = Mutex::new(());
            let _turn = held(&TURN);
            if SHARED.get().is_none() {
                let _ = SHARED.set(Browser::start());
            }
        }
        SHARED.get().and_then(Option::as_ref)
    }

    /// Opens an empty page with cookies and storage of its own.
    #[track_caller]
    pub fn page(&self) -> Page {
        Page::open(&self.wire)
    }

    /// Returns the process that keeps Chromium; it leads a process group that holds all others.
    pub fn process(&self) -> u32 {
        self.keeper.id()
    }

    /// Returns the folder of the profile, which is gone when Chromium has ended.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.wire.close();
        let deadline = Instant::now() + FAREWELL;
        while Instant::now() < deadline {
            if !matches!(self.keeper.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let group = format!("-{}", self.keeper.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.keeper.wait();
    }
}

/// Says that tests were skipped.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

/// Returns the Chromium to start: the one that is named, or the first on the path.
fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("RETHREAD_CHROMIUM").filter(|name| !name.is_empty()) {
        return Some(PathBuf::from(named));
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let candidates = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates.into_iter().find(|candidate| candidate.is_file())
}

/// Starts a Chromium and waits until it answers.
fn launch(program: &Path) -> Result<Browser, String> {
    let shown = program.display();
    let folder = tempfile::Builder::new().prefix("rt-").tempdir().map_err(|e| format!("no folder: {e}"))?;
    let mut keeper = command(program, folder.path())
        .spawn()
        .map_err(|failure| format!("`{shown}` could not be started: {failure}"))?;
    let (Some(to), Some(from), Some(said)) =
        (keeper.stdin.take(), keeper.stdout.take(), keeper.stderr.take())
    else {
        return Err(format!("`{shown}` has no pipes"));
    };
    let last_words = listen(said);
    let browser = Browser { wire: Wire::new(to, from), keeper, folder };
    match browser.wire.try_call(None, "Browser.getVersion", &json!({})) {
        Ok(_) => Ok(browser),
        Err(why) => {
            drop(browser);
            Err(format!("`{shown}` does not answer: {why}\n{}", String::from_utf8_lossy(&held(&last_words))))
        }
    }
}

/// Returns the command that starts Chromium under its keeper, with a home of its own.
fn command(program: &Path, folder: &Path) -> Command {
    let mut profile = OsString::from("--user-data-dir=");
    profile.push(folder.join("profile"));
    let mut command = Command::new("sh");
    command.arg("-c").arg(KEEPER).arg("keeper").arg(folder).arg(program).args(OPTIONS).arg(profile);
    for name in ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
        command.env(name, folder);
    }
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: a signal that a terminal sends to the tests does not keep the keeper from tidying up.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

/// Keeps the last of what is said on stderr.
fn listen(mut said: ChildStderr) -> Arc<Mutex<Vec<u8>>> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let ours = Arc::clone(&kept);
    std::thread::spawn(move || {
        let mut piece = [0; 1024];
        while let Ok(read @ 1..) = said.read(&mut piece) {
            let mut kept = held(&ours);
            kept.extend_from_slice(&piece[..read]);
            let surplus = kept.len().saturating_sub(LAST_WORDS);
            kept.drain(..surplus);
        }
    });
    kept
}

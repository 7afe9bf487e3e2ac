//! A server on a store of its own, and what is asked of it.
#![expect(clippy::disallowed_methods, reason = "tests make their own store in a temporary folder")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use rethread_testkit::script;
use serde_json::Value;

/// The session that tests act on, by its id, which is its key too.
pub(crate) const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A session with an edited prompt and a pin on the newer way.
pub(crate) const EDITED: &str = "
    u1: sort the harbours
      a1: sorted
        u2: by name
          a2: !Bash sort
            u3: =a2 done
              a3: by name it is
        u4: by code instead
          a4: by code it is
    last-prompt ~a4: by code instead
";

/// A running server.
pub(crate) struct Site {
    home: tempfile::TempDir,
    child: Child,
    port: u16,
    /// The address that lets a browser in.
    pub(crate) entry: String,
    cookie: String,
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Site {
    /// Starts a server on a session that was written by a script an hour ago.
    pub(crate) fn new(text: &str) -> Site {
        Site::with(&script::bytes(text), |_| {})
    }

    /// Starts a server on a session of these bytes; `more` may put more into the home folder.
    pub(crate) fn with(bytes: &[u8], more: impl FnOnce(&Path)) -> Site {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        let old = SystemTime::now() - Duration::from_secs(3600);
        std::fs::File::options().append(true).open(&path).unwrap().set_modified(old).unwrap();
        more(home.path());
        let mut command = Command::new(env!("CARGO_BIN_EXE_rethread"));
        command
            .args(["serve", "--port", "0", "--json"])
            .env_clear()
            .env("HOME", home.path())
            .env("TZ", "UTC");
        command.env("TMPDIR", home.path()).current_dir(home.path()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let entry = said["address"].as_str().unwrap().to_owned();
        let port = entry.split([':', '/']).find_map(|part| part.parse().ok()).unwrap();
        let mut site = Site { home, child, port, entry, cookie: String::new() };
        let key = site.entry.split_once("key=").unwrap().1.to_owned();
        let answer = site.send("GET", &format!("/?key={key}"), &[], "");
        let cookie = answer.head.split("set-cookie: ").nth(1).unwrap();
        site.cookie = cookie.split(';').next().unwrap().to_owned();
        site
    }

    /// Returns the origin of the pages.
    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the home folder.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Reads the session file.
    pub(crate) fn session(&self) -> Vec<u8> {
        let path = self.home().join(format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"));
        std::fs::read(path).unwrap()
    }

    /// Returns every file below `.claude`, and what it holds.
    pub(crate) fn picture(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut picture = BTreeMap::new();
        let mut folders = vec![self.home().join(".claude")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    picture.insert(path.clone(), std::fs::read(&path).unwrap());
                }
            }
        }
        picture
    }

    /// Asks for a page as the script does: for a piece of one.
    pub(crate) fn get(&self, path: &str) -> Answer {
        let cookie = format!("Cookie: {}", self.cookie);
        self.send("GET", path, &[&cookie, "x-rethread: piece"], "")
    }

    /// Asks for a whole page.
    pub(crate) fn page(&self, path: &str) -> Answer {
        self.send("GET", path, &[&format!("Cookie: {}", self.cookie)], "")
    }

    /// Sends a form with the seal of this run.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let seal = self.seal();
        let fields: Vec<(&str, &str)> =
            [("seal", seal.as_str())].into_iter().chain(fields.iter().copied()).collect();
        self.post_with(path, &fields, &["x-rethread: piece"])
    }

    /// Sends a form as it is, with further headers.
    pub(crate) fn post_with(&self, path: &str, fields: &[(&str, &str)], headers: &[&str]) -> Answer {
        let cookie = format!("Cookie: {}", self.cookie);
        let kind = "Content-Type: application/x-www-form-urlencoded";
        let headers: Vec<&str> = [cookie.as_str(), kind].into_iter().chain(headers.iter().copied()).collect();
        let body: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        self.send("POST", path, &headers, &body.join("&"))
    }

    /// Reads the seal out of a form.
    pub(crate) fn seal(&self) -> String {
        let form = self.get(&format!("/s/{SESSION}/act/rename"));
        between(&form.body, "name=\"seal\" value=\"", "\"").expect("forms are sealed").to_owned()
    }

    /// Sends a request and reads all of the answer.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            request += &format!("Host: 127.0.0.1:{}\r\n", self.port);
        }
        headers.iter().for_each(|header| request += &format!("{header}\r\n"));
        request += &format!("\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect("an answer has a head");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns what stands between two texts.
pub(crate) fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    Some(text.split_once(from)?.1.split_once(to)?.0)
}

/// Writes a value as forms do.
pub(crate) fn encoded(value: &str) -> String {
    value
        .bytes()
        .map(|b| if b.is_ascii_alphanumeric() { (b as char).to_string() } else { format!("%{b:02X}") })
        .collect()
}

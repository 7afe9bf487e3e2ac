//! A server in a home of its own, and just enough of a browser to ask it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::home::Home;

/// A server that ends with the test.
pub(crate) struct Site {
    home: Home,
    child: Child,
    port: u16,
    key: String,
}

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    /// The status.
    pub(crate) status: u16,
    /// Names in lower case, and values.
    pub(crate) headers: Vec<(String, String)>,
    /// The body, as text; of a picture, what can be read as such.
    pub(crate) body: String,
}

impl Site {
    /// Serves the sessions of a home.
    pub(crate) fn of(home: Home) -> Site {
        Site::start(home, &["serve", "--port", "0", "--json"])
    }

    /// Serves the invented sessions.
    pub(crate) fn demo() -> Site {
        Site::start(Home::new(), &["--demo", "serve", "--port", "0", "--json"])
    }

    /// Serves the sessions below a folder.
    pub(crate) fn root(root: &Path) -> Site {
        let root = root.to_str().unwrap();
        Site::start(Home::new(), &["--root", root, "serve", "--port", "0", "--json"])
    }

    fn start(home: Home, args: &[&str]) -> Site {
        let command = home.command(args);
        Site::run(home, command)
    }

    /// Serves by a command of its own.
    pub(crate) fn run(home: Home, mut command: Command) -> Site {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no address: {line:?}"));
        let address = told["address"].as_str().unwrap().to_owned();
        let (start, key) = address.split_once("/?key=").unwrap();
        let port = start.rsplit(':').next().unwrap().parse().unwrap();
        Site { home, child, port, key: key.to_owned() }
    }

    /// Returns the home it serves.
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Returns how much memory the server holds, in kB, where the system tells.
    pub(crate) fn memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    /// Asks the server to stop, and waits for that; says how long it took.
    pub(crate) fn stop(&mut self, signal: &str) -> Option<Duration> {
        let start = Instant::now();
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        while start.elapsed() < Duration::from_secs(20) {
            if self.child.try_wait().unwrap().is_some() {
                return Some(start.elapsed());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }

    /// Returns its port.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the key of this run.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Asks for a page as somebody who was let in.
    pub(crate) fn get(&self, target: &str) -> Answer {
        self.get_with(target, &[])
    }

    /// Asks for a page that must be there, and returns it.
    pub(crate) fn page(&self, target: &str) -> String {
        let answer = self.get(target);
        assert_eq!(answer.status, 200, "{target}: {}", answer.body);
        answer.body
    }

    /// Asks for a page with headers of one's own; those take the place of the usual ones.
    pub(crate) fn get_with(&self, target: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask("GET", target, headers, "")
    }

    /// Sends a form as a page of ours does.
    pub(crate) fn post(&self, target: &str, form: &str) -> Answer {
        let origin = format!("http://127.0.0.1:{}", self.port);
        let kind = "application/x-www-form-urlencoded";
        self.ask("POST", target, &[("Origin", &origin), ("Content-Type", kind)], form)
    }

    /// Asks anything. A header without a value is left out.
    pub(crate) fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let usual = [
            ("Host", format!("127.0.0.1:{}", self.port)),
            ("Cookie", format!("rethread-{}={}", self.port, self.key)),
            ("Connection", "close".to_owned()),
        ];
        let mut request = format!("{method} {target} HTTP/1.1\r\n");
        for (name, value) in &usual {
            if !headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)) {
                request.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            request.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        request.push_str(&format!("\r\n{body}"));
        self.send(request.as_bytes())
    }

    /// Sends bytes as they are, and reads until the server closes.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        Answer::read(&bytes)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    /// Returns a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn read(bytes: &[u8]) -> Answer {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
        let head = std::str::from_utf8(&bytes[..end]).expect("a plain head");
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
        let pair = |line: &str| {
            let (name, value) = line.split_once(':').expect("a header");
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        let headers: Vec<(String, String)> = lines.map(pair).collect();
        let is_chunked =
            headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body = &bytes[end + 4..];
        let body = if is_chunked { joined(body) } else { body.to_vec() };
        let is_picture =
            headers.iter().any(|(name, value)| name == "content-type" && value.starts_with("image/"));
        let body = match String::from_utf8(body) {
            Err(bytes) if is_picture => String::from_utf8_lossy(bytes.as_bytes()).into_owned(),
            text => text.expect("answers are text, unless they are pictures"),
        };
        Answer { status: status.expect("a status"), headers, body }
    }
}

/// Puts the pieces of a body together.
fn joined(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let size =
            std::str::from_utf8(&rest[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let size = size.expect("the size of a piece");
        if size == 0 {
            break;
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 2 + size + 2..];
    }
    body
}

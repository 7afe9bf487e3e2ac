//! A running web server of the program, and a minimal HTTP client for it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::home::Home;
use crate::process::ProcessCommand;
use crate::wait::{DEADLINE, wait_for};

/// A server process with its home. The process is killed when dropped.
pub struct WebServer {
    home: Home,
    process: ServerProcess,
    /// The text printed to stderr so far.
    err: Arc<Mutex<String>>,
    port: u16,
    /// The path of the home page without its last slash. All pages are below it.
    prefix: String,
    key: String,
}

/// A parsed HTTP response.
#[derive(Debug, Clone)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body. Bytes of images that are not UTF-8 are replaced.
    pub body: String,
}

impl WebServer {
    /// Serves the sessions of `home`.
    pub fn start(home: Home) -> WebServer {
        WebServer::start_with_args(home, &["serve", "--port", "0", "--json"])
    }

    /// Serves the generated demo sessions.
    pub fn start_demo(home: Home) -> WebServer {
        WebServer::start_with_args(home, &["--demo", "serve", "--port", "0", "--json"])
    }

    /// Serves the sessions below the directory `root`.
    pub fn start_at_root(home: Home, root: &Path) -> WebServer {
        let root = root.to_str().expect("the path is UTF-8");
        WebServer::start_with_args(home, &["--root", root, "serve", "--port", "0", "--json"])
    }

    fn start_with_args(home: Home, args: &[&str]) -> WebServer {
        let command = home.command(args);
        WebServer::start_command(home, command)
    }

    /// Serves the sessions of `home` and opens a browser, which does nothing. See [`WebServer::wait_for_opened_page`].
    #[cfg(unix)]
    pub fn start_and_open(home: Home) -> WebServer {
        let script = "#!/bin/sh\nprintf %s \"$*\" > \"$HOME/new\" && mv \"$HOME/new\" \"$HOME/opened\"\n";
        home.write_program("bin/xdg-open", script);
        let mut command = home.command(&["serve", "--port", "0", "--json", "--open"]);
        command.env("PATH", format!("{}:/usr/bin:/bin", home.path().join("bin").display()));
        WebServer::start_command(home, command)
    }

    /// Waits until the server has started the browser, and returns the arguments of the browser.
    #[track_caller]
    pub fn wait_for_opened_page(&self) -> String {
        let path = self.home.path().join("opened");
        wait_for("the start of a browser", || std::fs::read_to_string(&path).ok())
    }

    /// Starts a prepared `serve --json` command and waits until it prints its address.
    pub fn start_command(home: Home, mut command: ProcessCommand) -> WebServer {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be started");
        let err = collect_lines(child.stderr.take().expect("stderr is a pipe"));
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout is a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("stdout can be read");
        let report: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no address: {line:?}"));
        let address = report["address"].as_str().expect("an address");
        let (home_page, key) = address.split_once("/?key=").expect("the address has a key");
        let (origin, prefix) = home_page.rsplit_once('/').expect("the address has a prefix");
        let port =
            origin.rsplit(':').next().and_then(|port| port.parse().ok()).expect("the address has a port");
        WebServer {
            home,
            process: ServerProcess(child),
            err,
            port,
            prefix: format!("/{prefix}"),
            key: key.to_owned(),
        }
    }

    /// Waits until the process has printed `text` to stderr, and returns all that it has printed there.
    #[track_caller]
    pub fn wait_for_err(&self, text: &str) -> String {
        wait_for(&format!("{text:?} on stderr"), || {
            let err = self.err.lock().expect("no thread panicked").clone();
            err.contains(text).then_some(err)
        })
    }

    /// Returns the home of the server process.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Kills the server process and returns its home.
    pub fn into_home(self) -> Home {
        self.home
    }

    /// Returns the resident memory of the process in kB. Returns `None` if the system has no `/proc`.
    pub fn memory_kb(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.0.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    /// Sends a signal and waits until the process has ended.
    #[track_caller]
    pub fn stop(&mut self, signal: &str) {
        let pid = self.process.0.id().to_string();
        let kill =
            ProcessCommand::new("kill").args(["-s", signal, &pid]).status().expect("`kill` can be started");
        assert!(kill.success());
        wait_for("the end of the server", || self.process.0.try_wait().expect("the child can be waited for"));
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the access key of this process.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the prefix of all addresses: a slash and a random name.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the path of a page below the prefix.
    pub fn path(&self, target: &str) -> String {
        format!("{}{target}", self.prefix)
    }

    /// Sends a GET request with the cookie of a signed-in browser.
    pub fn get(&self, target: &str) -> HttpResponse {
        self.get_with_headers(target, &[])
    }

    /// Sends a GET request that must succeed and returns the body.
    #[track_caller]
    pub fn get_body(&self, target: &str) -> String {
        let response = self.get(target);
        assert_eq!(response.status, 200, "{target}: {}", response.body);
        response.body
    }

    /// Sends GET requests until a response is as expected, and returns it. The server may show lists that are seconds old.
    #[track_caller]
    pub fn wait_for_response(
        &self,
        target: &str,
        is_expected: impl Fn(&HttpResponse) -> bool,
    ) -> HttpResponse {
        wait_for(target, || Some(self.get(target)).filter(&is_expected))
    }

    /// Sends GET requests until the page contains `text`, and returns the body.
    #[track_caller]
    pub fn wait_for_text(&self, target: &str, text: &str) -> String {
        self.wait_for_response(target, |response| response.status == 200 && response.body.contains(text)).body
    }

    /// Sends a GET request; see [`WebServer::request`] for the headers.
    pub fn get_with_headers(&self, target: &str, headers: &[(&str, &str)]) -> HttpResponse {
        self.request("GET", target, headers, "")
    }

    /// Sends a form from our own origin.
    pub fn post(&self, target: &str, form: &str) -> HttpResponse {
        let origin = format!("http://127.0.0.1:{}", self.port);
        let content_type = "application/x-www-form-urlencoded";
        self.request("POST", target, &[("Origin", &origin), ("Content-Type", content_type)], form)
    }

    /// Sends a request for a page below the prefix and removes the prefix from all addresses in the response.
    ///
    /// `headers` replace the default ones; a header with an empty value is not sent.
    pub fn request(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> HttpResponse {
        let mut response = self.request_path(method, &self.path(target), headers, body);
        response.body = response.body.replace(&self.prefix, "");
        for (_, value) in &mut response.headers {
            *value = value.replace(&self.prefix, "");
        }
        response
    }

    /// Sends a request for any path, like [`WebServer::request`], and returns the response as it is.
    pub fn request_path(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> HttpResponse {
        let defaults = [
            ("Host", format!("127.0.0.1:{}", self.port)),
            ("Cookie", format!("rethread-{}={}", self.port, self.key)),
            ("Connection", "close".to_owned()),
        ];
        let mut request = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in &defaults {
            if !headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)) {
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
        self.send_bytes(request.as_bytes())
    }

    /// Returns the head of a GET request with the cookie of a signed-in browser, for [`WebServer::send_bytes`].
    pub fn build_request(&self, target: &str) -> String {
        let (path, port, key) = (self.path(target), self.port, &self.key);
        format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: rethread-{port}={key}\r\n\r\n")
    }

    /// Sends raw bytes and reads the response until the server closes the connection.
    pub fn send_bytes(&self, request: &[u8]) -> HttpResponse {
        let mut stream =
            TcpStream::connect(("127.0.0.1", self.port)).expect("the server accepts connections");
        stream.set_read_timeout(Some(DEADLINE)).expect("a timeout can be set");
        stream.write_all(request).expect("the request can be sent");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("the response can be read");
        HttpResponse::parse(&bytes)
    }
}

/// Collects the lines of a stream on another thread, until it ends.
fn collect_lines(stream: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let collected = Arc::<Mutex<String>>::default();
    let text = collected.clone();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut text = text.lock().expect("no thread panicked");
            text.push_str(&line);
            text.push('\n');
        }
    });
    collected
}

/// The process of a server, killed when dropped.
struct ServerProcess(Child);

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Both fail if the process has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl HttpResponse {
    /// Returns the value of a header. `name` must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn parse(bytes: &[u8]) -> HttpResponse {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a complete head");
        let head = std::str::from_utf8(&bytes[..end]).expect("the head is UTF-8");
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
        let parse_header = |line: &str| {
            let (name, value) = line.split_once(':').expect("a header has a colon");
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        let headers: Vec<(String, String)> = lines.map(parse_header).collect();
        let is_chunked =
            headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body = &bytes[end + 4..];
        let body = if is_chunked { join_chunks(body) } else { body.to_vec() };
        let is_image =
            headers.iter().any(|(name, value)| name == "content-type" && value.starts_with("image/"));
        let body = match String::from_utf8(body) {
            Err(error) if is_image => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            text => text.expect("every body but an image is UTF-8"),
        };
        HttpResponse { status: status.expect("a status code"), headers, body }
    }
}

/// Decodes a chunked body.
fn join_chunks(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size =
            std::str::from_utf8(&rest[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let size = size.expect("a chunk starts with its size");
        if size == 0 {
            break;
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 2 + size + 2..];
    }
    body
}

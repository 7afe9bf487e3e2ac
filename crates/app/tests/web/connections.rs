//! Connections without the key do not lock out clients that have it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rethread_testkit::process::ProcessCommand;
use rethread_testkit::web_server::WebServer;

use crate::fixtures;

/// Starts a server that may open `max_files` files.
fn start_with_file_limit(max_files: usize) -> WebServer {
    let home = fixtures::new_three_session_home();
    let mut command = ProcessCommand::new("sh");
    command.args(["-c", &format!("ulimit -n {max_files} && exec \"$0\" serve --port 0 --json")]);
    command.arg(home.program()).env_clear().env("HOME", home.path()).env("TZ", "UTC");
    command.env("TMPDIR", home.path()).current_dir(home.path());
    WebServer::start_command(home, command)
}

/// Opens connections that send the beginning of a request.
fn open_half_requests(server: &WebServer, count: usize) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
        stream
    };
    (0..count).map(open).collect()
}

#[test]
fn half_open_connections_do_not_lock_out_a_client_with_the_key() {
    // Below and above the number of connections that the server keeps open.
    for max_files in [128, 512] {
        let server = start_with_file_limit(max_files);
        assert_eq!(server.get("/").status, 200);
        let streams = open_half_requests(&server, 600);
        for page in ["/", "/sessions", "/search?q=kraken"] {
            assert_eq!(server.get(page).status, 200, "{page} with {max_files} files");
        }
        drop(streams);
        assert_eq!(server.get("/").status, 200);
    }
}

#[test]
fn connections_without_the_key_are_closed() {
    let server = WebServer::start(fixtures::new_three_session_home());
    let request = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port());
    for sent in ["", "GET / HTTP/1.1\r\nHost: ", &request] {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(sent.as_bytes()).unwrap();
        let mut received = Vec::new();
        // The server closes the connection, or resets it if it has sent something.
        let end = stream.read_to_end(&mut received);
        let is_open = end.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!is_open, "{sent:?} {}", String::from_utf8_lossy(&received));
        assert!(!String::from_utf8_lossy(&received).contains("200 OK"));
    }
}

#[test]
fn a_connection_with_the_key_stays_open() {
    let server = WebServer::start(fixtures::new_three_session_home());
    let port = server.port();
    let request = server.build_request("/assets/none");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let read_response = |stream: &mut TcpStream| {
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"</html>") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            bytes.push(byte[0]);
        }
        assert!(bytes.starts_with(b"HTTP/1.1 404"), "{}", String::from_utf8_lossy(&bytes));
    };
    read_response(&mut stream);
    // A connection without the key that was opened later is closed first.
    let mut anonymous = TcpStream::connect(("127.0.0.1", port)).unwrap();
    anonymous.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    assert_eq!(anonymous.read(&mut [0]).ok(), Some(0));
    drop(open_half_requests(&server, 300));
    read_response(&mut stream);
}

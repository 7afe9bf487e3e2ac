//! Start and stop of the server.

use std::io::{Read, Write};
use std::net::TcpStream;

use rethread_testkit::web_server::WebServer;

use crate::fixtures::{self, SessionFixture};
use crate::new_home;

#[test]
fn signals_stop_the_server_while_a_client_is_connected() {
    for signal in ["INT", "TERM"] {
        let mut server = WebServer::start(fixtures::new_three_session_home());
        let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        let request = server.build_request(&format!("/s/{}/events", SessionFixture::default().key()));
        stream.write_all(request.as_bytes()).unwrap();
        let mut status_line = [0; 12];
        stream.read_exact(&mut status_line).unwrap();
        assert_eq!(&status_line, b"HTTP/1.1 200", "the event stream is open");
        server.stop(signal);
    }
}

#[test]
fn a_port_in_use_is_reported() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let run = fixtures::new_three_session_home().run(&["serve", "--port", &port.to_string()]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains(&format!("port {port} is in use by another program")), "{}", run.err);
}

#[test]
fn demo_sessions_are_kept_and_cannot_be_reset_while_the_server_runs() {
    for signal in ["INT", "TERM"] {
        let mut server = WebServer::start_demo(new_home());
        let run = server.home().run(&["--demo", "--reset", "ls"]);
        assert!(run.code == 3 && run.err.contains("in use by another process"), "{}", run.err);
        assert_eq!(server.home().run(&["--demo", "ls"]).code, 0, "other commands can use them");
        server.stop(signal);
        assert!(server.home().state_path().join("demo/store/.claude").exists());
        assert_eq!(server.home().run(&["--demo", "--reset", "ls"]).code, 0, "{signal}");
    }
}

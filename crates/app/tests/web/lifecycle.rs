//! Start and stop of the server.
#![expect(clippy::disallowed_methods, reason = "tests make their own store in a temporary folder")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use rethread_testkit::wait::wait_for;
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
fn demo_sessions_are_deleted_when_the_server_stops() {
    for signal in ["INT", "TERM"] {
        let mut server = WebServer::start_demo(new_home());
        let list_folders = |server: &WebServer| -> Vec<_> {
            let entries = std::fs::read_dir(server.home().path()).unwrap();
            entries.map(|entry| entry.unwrap().file_name()).filter(|name| name != ".cache").collect()
        };
        assert_ne!(
            list_folders(&server),
            Vec::<std::ffi::OsString>::new(),
            "the demo store is in the temporary folder"
        );
        server.stop(signal);
        assert_eq!(list_folders(&server), Vec::<std::ffi::OsString>::new(), "{signal}");
    }
}

#[test]
fn the_url_passed_to_the_browser_signs_in_only_once() {
    let home = new_home();
    SessionFixture::default().write(&home);
    let opener = home.write(
        "bin/xdg-open",
        "#!/bin/sh\nprintf %s \"$1\" > \"$HOME/new\"; mv \"$HOME/new\" \"$HOME/opened\"\n",
    );
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = home.command(&["serve", "--port", "0", "--json", "--open"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", home.path().join("bin").display()));
    let server = WebServer::start_command(home, command);
    let opened_path = server.home().path().join("opened");
    let opened_url = wait_for("the start of a browser", || std::fs::read_to_string(&opened_path).ok());
    assert!(!opened_url.contains(server.key()), "{opened_url}");
    let target = opened_url.split_once(server.prefix()).unwrap().1;
    let response = server.get_with_headers(target, &[("Cookie", "")]);
    assert_eq!((response.status, response.header("location")), (303, Some("/")));
    let cookie = response.header("set-cookie").and_then(|cookie| cookie.split(';').next()).unwrap();
    assert_eq!(server.get_with_headers("/", &[("Cookie", cookie)]).status, 200);
    let key = target.split_once("key=").unwrap().1;
    assert!(!cookie.contains(key), "the key in the URL is not the cookie");
    assert_eq!(server.get_with_headers(target, &[("Cookie", "")]).status, 403, "a key signs in once");
}

//! How the server is started and stopped.
#![expect(clippy::disallowed_methods, reason = "tests make their own store in a temporary folder")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::client::Site;
use crate::fixtures::{self, Session};
use crate::home::Home;

#[test]
fn it_stops_when_it_is_told_to_also_while_somebody_reads() {
    for signal in ["INT", "TERM"] {
        let mut site = Site::of(fixtures::small());
        let mut stream = TcpStream::connect(("127.0.0.1", site.port())).unwrap();
        let (key, port) = (Session::default().key(), site.port());
        let ask = format!(
            "GET /s/{key}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: rethread-{port}={}\r\n\r\n",
            site.key()
        );
        stream.write_all(ask.as_bytes()).unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200", "somebody listens");
        let took = site.stop(signal);
        assert!(took.is_some_and(|took| took < Duration::from_secs(8)), "{signal}: {took:?}");
    }
}

#[test]
fn a_port_that_is_taken_is_told() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let run = fixtures::small().run(&["serve", "--port", &port.to_string()]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains(&format!("another program has port {port}")), "{}", run.err);
}

#[test]
fn nothing_is_left_of_invented_sessions() {
    for signal in ["INT", "TERM"] {
        let mut site = Site::demo();
        let folders = |site: &Site| -> Vec<_> {
            let inside = std::fs::read_dir(site.home().path()).unwrap();
            inside.map(|entry| entry.unwrap().file_name()).filter(|name| name != ".cache").collect()
        };
        assert_ne!(
            folders(&site),
            Vec::<std::ffi::OsString>::new(),
            "they stand in the folder for such things"
        );
        assert!(site.stop(signal).is_some(), "{signal}");
        assert_eq!(folders(&site), Vec::<std::ffi::OsString>::new(), "{signal}");
    }
}

#[test]
fn who_sees_how_the_browser_was_started_does_not_come_in() {
    let home = Home::new();
    Session::default().write(&home);
    let opener = home.write(
        "bin/xdg-open",
        "#!/bin/sh\nprintf %s \"$1\" > \"$HOME/new\"; mv \"$HOME/new\" \"$HOME/opened\"\n",
    );
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = home.command(&["serve", "--port", "0", "--json", "--open"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", home.path().join("bin").display()));
    let site = Site::run(home, command);
    let start = Instant::now();
    let opened = loop {
        match std::fs::read_to_string(site.home().path().join("opened")) {
            Ok(opened) => break opened,
            Err(_) => assert!(start.elapsed() < Duration::from_secs(20), "no browser was started"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(!opened.contains(site.key()), "{opened}");
    let target = opened.split_once(&format!(":{}", site.port())).unwrap().1;
    let first = site.get_with(target, &[("Cookie", "")]);
    assert_eq!((first.status, first.header("location")), (303, Some("/")));
    let cookie = first.header("set-cookie").and_then(|cookie| cookie.split(';').next()).unwrap();
    assert_eq!(site.get_with("/", &[("Cookie", cookie)]).status, 200);
    let key = target.split_once("key=").unwrap().1;
    assert!(!cookie.contains(key), "what was seen is no cookie");
    assert_eq!(site.get_with(target, &[("Cookie", "")]).status, 403, "it lets in once");
}

//! Access to the server from a real browser.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use rethread_testkit::browser::Browser;
use rethread_testkit::web_server::WebServer;

use crate::server_page::ServerPage;
use crate::{fixtures, new_home};

/// Answers the first request for `/` and returns its header lines.
fn answer_request(listener: &TcpListener) -> Vec<String> {
    loop {
        let (mut stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(&stream).lines().map_while(Result::ok);
        let lines: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        let page = "<!DOCTYPE html><title>other</title>other";
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n";
        let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{page}", page.len());
        if lines.first().is_some_and(|line| line.starts_with("GET / ")) {
            return lines;
        }
    }
}

/// The page is a file, so the navigation comes from another site, with which browsers send no strict cookie.
#[cfg(target_os = "linux")]
#[test]
fn the_page_of_open_signs_the_browser_in() {
    let Some(browser) = Browser::shared() else { return };
    let home = new_home();
    fixtures::write_short_sessions(&home, 1);
    let server = WebServer::start_and_open(home);
    let page = browser.open_page();
    page.goto(&format!("file://{}", server.wait_for_opened_page()));
    page.wait_for(&format!(
        "location.href === 'http://127.0.0.1:{}{}/' && document.querySelector('.row-link')",
        server.port(),
        server.prefix()
    ));
    page.click(".row-link");
    page.wait_for("document.querySelector('.turn')");
}

#[test]
fn a_server_at_another_port_gets_neither_cookie_nor_address() {
    let home = new_home();
    fixtures::write_short_sessions(&home, 1);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, "/sessions") else { return };
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let other = std::thread::spawn(move || answer_request(&listener));
    // A link is followed with a referrer, unless the policy forbids it.
    page.eval(&format!(
        "(() => {{ const link = document.createElement('a'); link.href = 'http://127.0.0.1:{port}/'; \
         document.body.append(link); link.click(); }})()"
    ));
    page.wait_for("document.title === 'other'");
    let request = other.join().unwrap().join("\n");
    assert!(request.starts_with("GET / "), "{request}");
    assert!(!request.contains(server.key()) && !request.contains(server.prefix()), "{request}");
}

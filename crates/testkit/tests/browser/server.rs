//! A web server with a few pages on its own port.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

/// A page: path, further headers, body. The status is 303 if the headers contain a location.
pub(crate) type ServedPage = (&'static str, &'static str, String);

/// A server that runs until the process exits. Unknown paths give 404.
pub(crate) struct TestServer {
    pub(crate) origin: String,
}

impl TestServer {
    /// Serves pages on a free port.
    pub(crate) fn new(pages: Vec<ServedPage>) -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let origin = format!("http://{}", listener.local_addr().expect("it is bound"));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // The browser may have closed the connection meanwhile.
                let _ = respond(stream, &pages);
            }
        });
        TestServer { origin }
    }

    /// Serves a valid page with this body at `/`.
    pub(crate) fn with_body(body: &str) -> TestServer {
        TestServer::new(vec![("/", "", valid_page(body))])
    }

    /// Returns the URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }
}

/// Returns a page without accessibility problems, with this body in its `main` element.
pub(crate) fn valid_page(body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>\
         <link rel=icon href='data:,'><title>Good</title><body><main><h1>Good</h1>{body}</main></body></html>"
    )
}

fn respond(mut stream: TcpStream, pages: &[ServedPage]) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let target = first.split(' ').nth(1).unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default();
    let page = pages.iter().find(|page| page.0 == path);
    let (status, headers, body) =
        page.map_or(("404 Not Found", "", "not found"), |p| (status_line(p.1), p.1, &p.2));
    let content_type = match path.rsplit('.').next() {
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        _ => "text/html; charset=utf-8",
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}"
    )
}

fn status_line(headers: &str) -> &'static str {
    if headers.contains("Location:") { "303 See Other" } else { "200 OK" }
}
